//! The ranges that plisse computes in, named once.
//!
//! Three rules keep every result finite:
//!
//! 1. **Parameters are refused** outside of their range when something is built: [`PARAMETER`] by
//!    [`Positive`](crate::Positive), [`LENGTH`] by rest shapes. Where a constructor cannot fail, it says what it does.
//! 2. **States are never refused.** Every finite position, velocity and step is accepted. What lies beyond a range counts
//!    as its end ([`STRETCH`], [`SPEED`], [`RATE`], [`POSITION`]), or has no angle ([`LENGTH`] for hinges and rods).
//! 3. **Results saturate.** What multiplies geometry (stresses, moments, stiffnesses) is limited to [`FACTOR`], and what
//!    is returned stays near ±[`SATURATION`](crate::SATURATION) or below. Vectors and matrices are limited as a whole, so
//!    that they keep their direction and stay positive semidefinite.
//!
//! The numbers are chosen together: with parameters and states at the ends of all ranges at once, no product of the
//! formulas leaves the range of `f64`, so that evaluation needs no further check. They are far beyond anything physical.

use std::ops::RangeInclusive;

use glam::DVec3;

use crate::scalar::{largest_abs, limit_to};

/// Parameters in SI units, whatever they measure: stiffness, rigidity, density, viscosity, duration, rest area.
///
/// [`Positive`](crate::Positive) refuses others.
pub const PARAMETER: RangeInclusive<f64> = 1e-60..=1e60;

/// Lengths of edges in metres.
///
/// Rest shapes refuse others. Hinges and rods whose edges leave the range in a state have no angle there, hence neither
/// energy nor force.
pub const LENGTH: RangeInclusive<f64> = 1e-30..=1e30;

/// Coordinates in metres, of loads and constant matrices: beyond ±1e60 they count as ±1e60.
pub const POSITION: f64 = 1e60;

/// Entries of the deformation gradient, of damping: beyond ±1e30 they count as ±1e30.
pub const STRETCH: f64 = 1e30;

/// Velocities in m/s: components beyond ±1e100 count as ±1e100.
pub const SPEED: f64 = 1e100;

/// Rates in 1/s, of strains and of steps: beyond ±1e60 they count as ±1e60.
pub const RATE: f64 = 1e60;

/// What multiplies derivatives of strains and angles: stresses, moments and stiffnesses of an element. Larger ones count as 1e150,
/// because inverse squares of lengths multiply them.
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

/// `values` times a finite `factor`, made smaller as a whole where one of them would exceed [`FACTOR`]: the direction is kept.
///
/// ```
/// use plisse_core::range::{FACTOR, scaled};
/// assert_eq!(scaled([2.0, -3.0], 10.0), [20.0, -30.0]);
/// assert_eq!(scaled([1.0, -2.0], 1e200), [0.5 * FACTOR, -FACTOR]);
/// ```
#[inline(always)]
#[must_use]
pub fn scaled<const K: usize>(values: [f64; K], factor: f64) -> [f64; K] {
    let factor = limit_to(FACTOR, factor, largest_abs(&values));
    values.map(|value| value * factor)
}
