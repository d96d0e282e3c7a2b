//! Signs of determinants without rounding error.

use glam::DVec3;
use robust::{Coord, Coord3D};

/// The range of coordinates within which no product of the predicates leaves `f64`.
///
/// A determinant has products of three differences: 2³⁰⁰ keeps them below 2⁹⁰⁶. Where a coordinate
/// is at least 2⁻²⁹⁸, or zero, all are multiples of 2⁻³⁵⁰, and products of three of them are
/// multiples of 2⁻¹⁰⁵⁰, which is above the smallest number.
const LARGEST: f64 = power(300);
const SMALLEST: f64 = power(-298);

const fn power(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Points, scaled by a power of two to where the predicates are exact.
///
/// Nothing happens to ordinary coordinates. Those of extreme scenes are scaled; then, and only
/// where the largest coordinate is more than 10¹⁷⁹ times the smallest, the smallest are rounded.
/// All points of a test are scaled and rounded together, so that equal ones stay equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaled<const N: usize> {
    pub(crate) points: [DVec3; N],
    /// The exponent of the scale.
    exponent: i64,
}

impl<const N: usize> Scaled<N> {
    pub(crate) fn new(points: [DVec3; N]) -> Self {
        let is_fine = |c: f64| c == 0.0 || (SMALLEST..=LARGEST).contains(&c.abs());
        if points.iter().all(|x| x.to_array().into_iter().all(is_fine)) {
            return Self { points, exponent: 0 };
        }
        let largest = points.iter().fold(0.0f64, |largest, x| largest.max(x.abs().max_element()));
        // The largest coordinate comes to lie between 2²⁹⁹ and 2³⁰⁰.
        let exponent = 299 - exponent_of(largest);
        let rounded = |c: f64| {
            let c = scale(c, exponent);
            // Adding and subtracting this leaves a multiple of 2⁻³⁴⁹.
            const GRID: f64 = 1.5 * power(-297);
            if c.abs() < SMALLEST { (c + GRID) - GRID } else { c }
        };
        Self { points: points.map(|x| DVec3::from_array(x.to_array().map(rounded))), exponent }
    }

    /// Takes a point back to where it came from.
    pub(crate) fn restore(&self, x: DVec3) -> DVec3 {
        if self.exponent == 0 { x } else { DVec3::from_array(x.to_array().map(|c| scale(c, -self.exponent))) }
    }
}

/// `c 2ᵏ` for `k` up to ±2000, in two steps: a single factor could leave `f64`.
fn scale(c: f64, k: i64) -> f64 {
    c * power(k / 2) * power(k - k / 2)
}

/// The `k` with `2ᵏ ≤ x < 2ᵏ⁺¹`, for finite `x > 0`.
fn exponent_of(x: f64) -> i64 {
    let of_normal = |x: f64| ((x.to_bits() >> 52) & 0x7FF) as i64 - 1023;
    if x < f64::MIN_POSITIVE { of_normal(x * power(64)) - 64 } else { of_normal(x) }
}

/// Six times the signed volume of a tetrahedron; its sign is exact.
pub(crate) fn orient3(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> f64 {
    let point = |x: DVec3| Coord3D { x: x.x, y: x.y, z: x.z };
    robust::orient3d(point(a), point(b), point(c), point(d))
}

/// A coordinate plane, named by the coordinate that it drops. Dropping one is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plane(pub(crate) usize);

pub(crate) const PLANES: [Plane; 3] = [Plane(0), Plane(1), Plane(2)];

impl Plane {
    pub(crate) fn axes(self) -> [usize; 2] {
        [(self.0 + 1) % 3, (self.0 + 2) % 3]
    }

    /// Twice the signed area of a triangle in the plane; its sign is exact.
    pub(crate) fn orient2(self, a: DVec3, b: DVec3, c: DVec3) -> f64 {
        let [u, v] = self.axes();
        let point = |x: DVec3| Coord { x: x[u], y: x[v] };
        robust::orient2d(point(a), point(b), point(c))
    }
}

/// -1, 0 or 1.
pub(crate) fn sign(x: f64) -> i8 {
    i8::from(x > 0.0) - i8::from(x < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_coordinates_are_left_alone() {
        let points = [DVec3::new(0.0, -1e-80, 1e80), DVec3::new(-0.0, 3.0, 1.0 / 3.0)];
        assert_eq!(Scaled::new(points).points, points);
    }

    proptest! {
        #[test]
        fn extreme_coordinates_come_back_and_are_in_range(
            x in prop::array::uniform6(any::<f64>().prop_filter("finite", |x| x.is_finite())), same in -1074..1000i32,
        ) {
            // One scale for all, so that nothing is rounded but what was subnormal.
            let one = x.map(|c| (c.to_bits() >> 12) as f64 * power(-52) * power(i64::from(same / 2)) * power(i64::from(same - same / 2)).max(f64::MIN_POSITIVE));
            for (x, exact) in [(x, false), (one, true)] {
                let points = [DVec3::new(x[0], x[1], x[2]), DVec3::new(x[3], x[4], x[5])];
                let scaled = Scaled::new(points);
                for (point, original) in scaled.points.iter().zip(points) {
                    prop_assert!(point.is_finite() && point.abs().max_element() <= LARGEST);
                    let back = scaled.restore(*point);
                    let largest = points[0].abs().max(points[1].abs()).max_element();
                    let off = (back - original).abs().max_element();
                    prop_assert!(off <= largest * 1e-179 && (!exact || off == 0.0), "{back} {original}");
                }
            }
        }
    }
}
