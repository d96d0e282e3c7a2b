//! Axis-aligned boxes in single precision, rounded outwards.
//!
//! Half the memory of double precision, and a comparison of three axes is one instruction. What a
//! box loses by rounding, it gains in width: it always contains what it bounds.

use glam::{DVec3, Vec3A};

/// A box in the coordinates of a [`Frame`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) low: Vec3A,
    pub(crate) high: Vec3A,
}

impl Bounds {
    /// Contains nothing.
    pub(crate) const EMPTY: Self = Self { low: Vec3A::INFINITY, high: Vec3A::NEG_INFINITY };

    /// The smallest box around both.
    #[inline]
    pub(crate) fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Whether the closed boxes have a point in common.
    #[inline]
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        (self.low.cmple(other.high) & other.low.cmple(self.high)).all()
    }

    /// The box of everything within `distance` of it, in the units of the frame.
    ///
    /// The sum is off by at most half a unit in the last place; the correction is at least that of
    /// two, and still at least one after its own rounding. `MIN_POSITIVE` is for sums so small that
    /// their relative error is not bounded.
    #[inline]
    pub(crate) fn inflated(self, distance: f32) -> Self {
        let slack = |sum: Vec3A| sum.abs() * (2.0 * f32::EPSILON) + Vec3A::splat(f32::MIN_POSITIVE);
        let (low, high) = (self.low - Vec3A::splat(distance), self.high + Vec3A::splat(distance));
        Self { low: low - slack(low), high: high + slack(high) }
    }

    /// Twice the centre.
    #[inline]
    pub(crate) fn centre(&self) -> Vec3A {
        self.low + self.high
    }
}

/// Coordinates in which a scene has about the size one and lies around the origin, so that single
/// precision is enough far from the world's origin, and at every scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    origin: DVec3,
    /// A power of two: multiplication is exact.
    scale: f64,
}

impl Frame {
    /// Around these points.
    pub(crate) fn around(points: impl Iterator<Item = DVec3>) -> Self {
        let (low, high) =
            points.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if !low.cmple(high).all() {
            return Self { origin: DVec3::ZERO, scale: 1.0 };
        }
        // Halves first: the sum and the difference of the largest numbers would overflow.
        let (low, high) = (low * 0.5, high * 0.5);
        Self { origin: low + high, scale: inverse_power(((high - low).max_element()).min(f64::MAX)) }
    }

    /// The box of a point.
    #[inline]
    pub(crate) fn point(&self, x: DVec3) -> Bounds {
        // Both steps round outwards: the difference in double, the result in single precision.
        let local = x - self.origin;
        Bounds {
            low: Vec3A::from_array(local.to_array().map(|c| down(c.next_down() * self.scale))),
            high: Vec3A::from_array(local.to_array().map(|c| up(c.next_up() * self.scale))),
        }
    }

    /// A length in metres in the units of the frame, not less than it is.
    #[inline]
    pub(crate) fn length(&self, length: f64) -> f32 {
        // The product can underflow, where the next number above is not zero.
        up((length * self.scale).next_up()).max(0.0)
    }
}

/// `1/2ᵏ` for `2ᵏ ≤ x < 2ᵏ⁺¹`; for zero and subnormal numbers the largest power of two whose
/// inverse is a normal number.
fn inverse_power(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7FF0_0000_0000_0000;
    let power = f64::from_bits(x.to_bits() & EXPONENT);
    if power == 0.0 { 1.0 / f64::MIN_POSITIVE } else { 1.0 / power }
}

/// The largest single-precision number that is not above `x`.
#[inline]
fn down(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) > x { near.next_down() } else { near }
}

/// The smallest single-precision number that is not below `x`.
#[inline]
fn up(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) < x { near.next_up() } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_finite() -> impl Strategy<Value = f64> {
        prop_oneof![-2.0..2.0f64, any::<f64>().prop_filter("finite", |x| x.is_finite())]
    }

    proptest! {
        #[test]
        fn rounding_goes_outwards_and_not_farther_than_the_neighbour(x in any_finite()) {
            let (low, high) = (down(x), up(x));
            prop_assert!(f64::from(low) <= x && x <= f64::from(high));
            prop_assert!(low == high || low.next_up() == high);
        }

        /// Two points within `d` of each other on one axis, anywhere and at any scale.
        #[test]
        fn boxes_of_points_within_a_distance_overlap(
            a in any_finite(), d in any_finite(), share in -1.0..=1.0f64, others in prop::collection::vec(any_finite(), 0..4),
        ) {
            let d = d.abs();
            let b = a + d * share;
            // The share was rounded: ask for what the two points really have between them.
            let half = ((b - a).abs().next_up() * 0.5).next_up();
            prop_assume!(b.is_finite() && half.is_finite());
            let points = others.iter().chain([&a, &b]).map(|c| DVec3::splat(*c));
            let frame = Frame::around(points);
            let bounds = |c: f64| frame.point(DVec3::splat(c)).inflated(frame.length(half));
            prop_assert!(bounds(a).overlaps(&bounds(b)), "{:?} {:?} {frame:?}", bounds(a), bounds(b));
        }
    }

    #[test]
    fn boxes_far_from_the_origin_stay_thin() {
        let far = DVec3::splat(1e6);
        let frame = Frame::around([far, far + DVec3::ONE].into_iter());
        let bounds = |t: f64| frame.point(far + DVec3::splat(t)).inflated(frame.length(1e-3));
        assert!(bounds(0.5).overlaps(&bounds(0.5019)));
        assert!(!bounds(0.5).overlaps(&bounds(0.5021)));
    }

    #[test]
    fn powers_of_two_are_exact_at_the_ends_of_the_range() {
        for x in [f64::MAX, f64::MIN_POSITIVE, 1.0, 3.0, 5e-324, 0.0] {
            let s = inverse_power(x);
            assert!(s > 0.0 && s.is_finite() && x * s < 2.0, "{x}: {s}");
        }
    }
}
