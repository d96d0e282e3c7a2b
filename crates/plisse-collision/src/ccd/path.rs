//! The motion of a set of difference vectors, and the bisection of time that proves it free.
//!
//! A pair of primitives touches at time `t` if and only if the origin is in the convex hull of
//! their difference vectors `Dᵢ(t)`: point minus corner, or end minus end. Each `Dᵢ` is linear in
//! `t`. For any vector `r`, if `r·Dᵢ > 0` for all `i` at both ends of an interval of time, then
//! there is no contact in between: `r·Dᵢ(t)` is linear in `t`, and `r·y` of a point `y` of the hull
//! is a mean of the `r·Dᵢ`. Bisecting time is thus enough, and any `r` will do: nothing about how
//! it is computed needs a proof. (Wang21 subdivides time and both parameters of the primitives; its
//! test of boxes is this one with the axes for `r`.)
//!
//! Rounding, with u = 2⁻⁵³ and `mₖ` the largest `|Dᵢₖ|` at both ends: differences of coordinates
//! have an error of u mₖ, the interpolation at a dyadic time another 2u mₖ (`1 - t` is exact), and
//! the scalar product 3u |rₖ| mₖ: together `6u Σ |rₖ| mₖ`. The test asks for `8u Σ |rₖ| mₖ`, which
//! also covers the rounding of the bound itself. Where numbers underflow, each operation may lose
//! another 2⁻¹⁰⁷⁵; one `f64::MIN_POSITIVE` pays for all of them.

use glam::DVec3;

const UNIT: f64 = f64::EPSILON / 2.0;

/// The nodes that a search visits at most; then it stops where it is.
const BUDGET: u32 = 256;

/// The relative error of `ξ|r|`, of which 5.5 u are counted: the length of `r` 2.5, two products
/// and a sum.
const ROUND_UP: f64 = 1.0 + 8.0 * UNIT;

/// Difference vectors at both ends of the time, with what their tests need.
pub(super) struct Path<const K: usize> {
    ends: [[DVec3; K]; 2],
    /// `8u m`.
    error: DVec3,
    separation: f64,
    volume: Option<Volume>,
}

impl<const K: usize> Path<K> {
    #[inline]
    pub(super) fn new(ends: [[DVec3; K]; 2], volume: Option<Volume>, separation: f64) -> Self {
        let mut m = DVec3::ZERO;
        for d in ends.as_flattened() {
            m = m.max(d.abs());
        }
        // The signed volume says nothing about distances.
        let volume = if separation == 0.0 { volume } else { None };
        Self { ends, error: m * (8.0 * UNIT), separation, volume }
    }

    /// The start of the first interval of length `2^-levels` that is not proven free.
    #[inline]
    pub(super) fn search(&self, levels: u32, nearest: impl Fn(&[DVec3; K]) -> DVec3) -> Option<f64> {
        // NaN must not pass for a free path: comparisons with it are all false, but minima and
        // maxima leave it out.
        if !self.ends.as_flattened().iter().all(|d| d.is_finite()) || self.separation.is_nan() {
            return Some(0.0);
        }
        // The node is [index, index + 1] / 2^level. A node that is proven free is followed by the
        // right sibling of its last left ancestor, which is the next number without its trailing
        // zeros: no stack is needed.
        let (mut index, mut level) = (0u64, 0u32);
        let (mut left, mut right) = (self.at(0.0), self.at(1.0));
        for _ in 0..BUDGET {
            let mut middle = self.at(0.5 * (left.time + right.time));
            if self.is_free(&mut left, &mut middle, &mut right, &nearest) {
                index += 1;
                let up = index.trailing_zeros().min(level);
                (index, level) = (index >> up, level - up);
                if level == 0 {
                    return None;
                }
                left = right;
                right = self.at((index + 1) as f64 * 0.5f64.powi(level as i32));
            } else if level >= levels {
                break;
            } else {
                (index, level) = (2 * index, level + 1);
                right = middle;
            }
        }
        Some(left.time)
    }

    /// The state at a dyadic time. Always from both ends of the path: means of means would add up
    /// their errors.
    #[inline]
    fn at(&self, time: f64) -> Moment<K> {
        let d = std::array::from_fn(|i| self.ends[0][i] * (1.0 - time) + self.ends[1][i] * time);
        Moment { time, d, direction: None }
    }

    /// Whether one of the tests proves that there is no contact between `left` and `right`. The
    /// cheap ones, and those that succeed most often, come first.
    #[inline]
    fn is_free(
        &self,
        left: &mut Moment<K>,
        middle: &mut Moment<K>,
        right: &mut Moment<K>,
        nearest: &impl Fn(&[DVec3; K]) -> DVec3,
    ) -> bool {
        if self.separated_by_axis(&left.d, &right.d)
            || self.separated(middle.direction(nearest), &left.d, &right.d)
            || self.volume.is_some_and(|volume| volume.keeps_its_sign([left.time, right.time]))
        {
            return true;
        }
        let [r, s] = [left.direction(nearest), right.direction(nearest)];
        [r, s, unit(r + s)].into_iter().any(|r| self.separated(r, &left.d, &right.d))
    }

    /// The test with the six directions of the axes: boxes.
    #[inline]
    fn separated_by_axis(&self, left: &[DVec3; K], right: &[DVec3; K]) -> bool {
        let (mut low, mut high) = (left[0].min(right[0]), left[0].max(right[0]));
        for i in 1..K {
            low = low.min(left[i].min(right[i]));
            high = high.max(left[i].max(right[i]));
        }
        let bound = self.error + (self.separation * ROUND_UP + f64::MIN_POSITIVE);
        low.cmpgt(bound).any() || high.cmplt(-bound).any()
    }

    /// The test with a direction whose largest component is one.
    #[inline]
    fn separated(&self, r: DVec3, left: &[DVec3; K], right: &[DVec3; K]) -> bool {
        let mut bound = r.abs().dot(self.error) + f64::MIN_POSITIVE;
        if self.separation > 0.0 {
            bound += self.separation * (r.length() * ROUND_UP);
        }
        // Zero, infinite and NaN directions fail.
        left.iter().chain(right).all(|d| r.dot(*d) > bound)
    }
}

/// The difference vectors at one time.
struct Moment<const K: usize> {
    time: f64,
    d: [DVec3; K],
    /// The direction of their nearest point, once it is asked for: the middle of a node is the end
    /// of its halves, and asks once.
    direction: Option<DVec3>,
}

impl<const K: usize> Moment<K> {
    #[inline]
    fn direction(&mut self, nearest: &impl Fn(&[DVec3; K]) -> DVec3) -> DVec3 {
        let d = &self.d;
        *self.direction.get_or_insert_with(|| unit(nearest(d)))
    }
}

/// Scales a direction to a largest component of one (but for rounding), so that products neither
/// overflow nor underflow.
#[inline]
fn unit(r: DVec3) -> DVec3 {
    r * (1.0 / r.abs().max_element())
}

/// The signed volume that vanishes at every contact: of `A`, from one primitive to the other, and
/// two edges `U` and `V` of them, of which `A` is a combination when they touch.
///
/// It is a cubic of time. If all its coefficients in Bernstein's basis of an interval have the same
/// sign, so has the cubic, and there is no contact. That rejects rotations for which separating
/// directions need many intervals. A change of sign proves nothing.
#[derive(Clone, Copy)]
pub(super) struct Volume {
    ends: [[DVec3; 3]; 2],
    error: f64,
}

impl Volume {
    /// From `A`, `U`, `V` at both ends of the time. None where products may underflow.
    ///
    /// With the largest components `a`, `u`, `v` of the three, interpolation has errors of 3 u
    /// times these, which is 54 u·auv in the six products of a determinant. Evaluation adds 5
    /// roundings to each, 30 u·auv, and the mean of three determinants 12 u·auv: together 96
    /// u·auv.
    #[inline]
    pub(super) fn new(ends: [[DVec3; 3]; 2]) -> Option<Self> {
        let largest = |k: usize| ends[0][k].abs().max(ends[1][k].abs()).max_element();
        let (a, area) = (largest(0), largest(1) * largest(2));
        // An underflow in a product loses 5e-324, times `a` or another pair of at most 1e100: far
        // below the error bound of 1.7e-14 times these.
        let exact = area > 1e-200 && a * area > 1e-200;
        exact.then_some(Self { ends, error: 160.0 * UNIT * a * area })
    }

    #[inline]
    fn keeps_its_sign(&self, times: [f64; 2]) -> bool {
        let [[a0, u0, v0], [a1, u1, v1]] = times.map(|t| {
            let at = |k: usize| self.ends[0][k] * (1.0 - t) + self.ends[1][k] * t;
            [at(0), at(1), at(2)]
        });
        let (n00, n11) = (u0.cross(v0), u1.cross(v1));
        let n01 = [u0.cross(v1), u1.cross(v0)];
        // Those in the middle are three times the coefficients.
        let outer = [a0.dot(n00), a1.dot(n11)];
        let inner = [
            a1.dot(n00) + (a0.dot(n01[0]) + a0.dot(n01[1])),
            a0.dot(n11) + (a1.dot(n01[0]) + a1.dot(n01[1])),
        ];
        let sign = outer[0].signum();
        outer.iter().all(|b| b * sign > self.error) && inner.iter().all(|b| b * sign > 3.0 * self.error)
    }
}
