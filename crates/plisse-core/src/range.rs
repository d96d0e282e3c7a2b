//! The ranges that plisse computes in, named once.
//!
//! Three rules keep every result finite:
//!
//! 1. **Parameters are refused** outside of their range when something is built: [`PARAMETER`] by
//!    [`Positive`](crate::Positive), [`LENGTH`] by rest shapes. Where a constructor cannot fail, it
//!    says what it does.
//! 2. **States are never refused.** Every finite position, velocity and step is accepted. What lies
//!    beyond a range counts as its end ([`STRETCH`], [`SPEED`], [`RATE`]), or has no angle
//!    ([`LENGTH`] for hinges and rods).
//! 3. **Results saturate.** What multiplies geometry (stresses, moments, stiffnesses) is limited to
//!    [`FACTOR`], and what is returned stays near ±[`SATURATION`] or below. Matrices are limited as
//!    a whole, so that they stay positive semidefinite.
//!
//! The numbers are chosen together: with parameters and states at the ends of all ranges at once,
//! no product of the formulas leaves the range of `f64`, so that evaluation needs no further check.
//! They are far beyond anything physical.

use std::ops::RangeInclusive;

use glam::DVec3;

use crate::scalar::{SATURATION, largest_abs, limit_to, saturate};

/// Parameters in SI units, whatever they measure: stiffness, rigidity, density, viscosity,
/// duration, rest area.
///
/// [`Positive`](crate::Positive) refuses others.
pub const PARAMETER: RangeInclusive<f64> = 1e-60..=1e60;

/// Lengths of edges in metres.
///
/// Rest shapes refuse others. Hinges and rods whose edges leave the range in a state have no angle
/// there, hence neither energy nor force.
pub const LENGTH: RangeInclusive<f64> = 1e-30..=1e30;

/// Entries of the deformation gradient and strains of edges, in damping: beyond ±1e30 they count as
/// ±1e30.
pub const STRETCH: f64 = 1e30;

/// Velocities in m/s: components beyond ±1e100 count as ±1e100.
pub const SPEED: f64 = 1e100;

/// Rates in 1/s, of strains and of steps: beyond ±1e60 they count as ±1e60.
pub const RATE: f64 = 1e60;

/// What multiplies derivatives of strains and angles: stresses, moments and stiffnesses of an
/// element. Larger ones count as 1e150, because inverse squares of lengths multiply them.
pub const FACTOR: f64 = 1e150;

/// `value` limited to ±`limit`. Infinities become ±`limit`; NaN stays NaN.
#[inline(always)]
#[must_use]
pub fn limit(value: f64, limit: f64) -> f64 {
    value.clamp(-limit, limit)
}

/// [`limit`] for each component; glam's own `clamp` would lose NaN.
#[inline(always)]
#[must_use]
pub fn limit_vector(v: DVec3, limit: f64) -> DVec3 {
    DVec3::from_array(v.to_array().map(|c| c.clamp(-limit, limit)))
}

/// A symmetric, positive semidefinite matrix times a finite factor, made smaller as a whole where
/// an entry would exceed
/// [`FACTOR`]: it stays positive semidefinite. The largest entry is on the diagonal.
///
/// ```
/// use plisse_core::range::{FACTOR, scaled_matrix};
/// assert_eq!(scaled_matrix(&[[4.0, 2.0], [2.0, 1.0]], 10.0), [[40.0, 20.0], [20.0, 10.0]]);
/// assert_eq!(scaled_matrix(&[[2.0]], 1e200), [[FACTOR]]);
/// ```
#[inline(always)]
#[must_use]
pub fn scaled_matrix<const K: usize>(matrix: &[[f64; K]; K], factor: f64) -> [[f64; K]; K] {
    let diagonal: [f64; K] = std::array::from_fn(|k| matrix[k][k]);
    let factor = limit_to(FACTOR, factor, largest_abs(&diagonal));
    matrix.map(|row| row.map(|value| value * factor))
}

/// A finite vector times a finite factor, shortened where a component would exceed [`SATURATION`]:
/// the direction is kept.
#[inline]
#[must_use]
pub fn multiply(v: DVec3, factor: f64) -> DVec3 {
    v * limit_to(SATURATION, factor, largest_abs(&v.to_array()))
}

/// `Σ aᵢ·bᵢ` of finite vectors, saturated: work and power of large forces.
#[inline]
#[must_use]
pub fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    let product = |a: &DVec3, b: &DVec3| saturate(a.x * b.x) + saturate(a.y * b.y) + saturate(a.z * b.z);
    saturate(a.iter().zip(b).map(|(a, b)| product(a, b)).sum())
}

/// Rates of numbers with these derivatives at velocities `v`, whose components are limited to
/// [`SPEED`].
#[inline(always)]
#[must_use]
pub fn rates<const V: usize, const K: usize>(gradient: &[[DVec3; V]; K], v: &[DVec3; V]) -> [f64; K] {
    let limited = v.map(|v| limit_vector(v, SPEED));
    gradient.map(|row| row.iter().zip(&limited).map(|(g, v)| g.dot(*v)).sum())
}

/// The largest absolute coordinate of some points; NaN does not count.
///
/// Sums that overflow are evaluated on points divided by it, and multiplied back.
#[must_use]
pub fn largest_coordinate<'a>(points: impl IntoIterator<Item = &'a DVec3>) -> f64 {
    points.into_iter().fold(0.0, |largest, p| largest_abs(&[largest, p.x, p.y, p.z]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_keep_signs_directions_and_nan() {
        assert_eq!(limit(f64::NEG_INFINITY, RATE), -RATE);
        assert!(limit(f64::NAN, RATE).is_nan());
        let v = limit_vector(DVec3::new(f64::INFINITY, f64::NAN, -2.0), SPEED);
        assert!(v.x == SPEED && v.y.is_nan() && v.z == -2.0);
        assert_eq!(multiply(DVec3::new(1.0, -2.0, 0.0), 1e300), DVec3::new(0.5, -1.0, 0.0) * SATURATION);
    }

    #[test]
    fn sums_of_large_products_are_numbers() {
        let (a, b) = ([DVec3::splat(1e200), DVec3::X], [DVec3::new(1e200, -1e200, 1.0), DVec3::X]);
        assert!((dot(&a, &b) - 1e200).abs() <= 1e200);
        assert_eq!(dot(&[DVec3::ONE], &[DVec3::new(1.0, 2.0, 3.0)]), 6.0);
        assert_eq!(largest_coordinate(&[DVec3::ZERO, DVec3::new(1.0, -4.0, f64::NAN)]), 4.0);
    }
}
