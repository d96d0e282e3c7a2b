//! Scalars and vectors that stay finite: saturation, and norms that neither overflow nor underflow.
//!
//! Energies are polynomials of degree up to eight in the deformation gradient, so a perfectly
//! finite state can have an energy beyond the range of `f64`. plisse never answers infinity or NaN
//! to a finite input: a quantity that does not fit is reported as ±[`SATURATION`], with the right
//! sign. The margin between `SATURATION` and `f64::MAX` is there so that sums of a few saturated
//! numbers are still finite.

use glam::DVec3;

/// The largest magnitude that an evaluation returns, `1e300`.
pub const SATURATION: f64 = 1e300;

/// Limits `x` to ±[`SATURATION`]. Infinities become ±`SATURATION`; NaN stays NaN.
#[inline]
#[must_use]
pub fn saturate(x: f64) -> f64 {
    x.clamp(-SATURATION, SATURATION)
}

/// The largest absolute value; NaN does not count.
///
/// The comparison is one instruction where `f64::max`, which must look for NaN, is three.
#[inline]
pub(crate) fn largest_abs(values: &[f64]) -> f64 {
    let mut largest = 0.0;
    for value in values {
        let size = value.abs();
        largest = if size > largest { size } else { largest };
    }
    largest
}

/// `factor`, or what is left of it so that `largest · factor` does not exceed `limit`.
#[inline(always)]
pub(crate) fn limit_to(limit: f64, factor: f64, largest: f64) -> f64 {
    if largest * factor.abs() > limit { (limit / largest).copysign(factor) } else { factor }
}

/// [`limit_to`] with the limit of results, [`SATURATION`].
#[inline]
pub(crate) fn limit_factor(factor: f64, largest: f64) -> f64 {
    limit_to(SATURATION, factor, largest)
}

/// Calls `body` out of line and tells the compiler that this is rare.
///
/// Kernels evaluate extreme states by a second, careful instance of the same code. A slow branch
/// that instead handed a structure back to the fast path would force it into memory there:
/// measured, that doubled the time of every Hessian.
#[cold]
#[inline(never)]
pub fn rarely<T>(body: impl FnOnce() -> T) -> T {
    body()
}

/// Squares inside this range carry full precision and cannot overflow when a few are added.
const SAFE_SQUARE: std::ops::Range<f64> = 1e-280..1e280;

/// `sqrt(x² + y²)` without overflow or underflow.
///
/// The plain formula where it is safe (measured about five times faster than the library function),
/// the library function elsewhere.
#[inline]
#[must_use]
pub fn hypot(x: f64, y: f64) -> f64 {
    let square = x * x + y * y;
    if SAFE_SQUARE.contains(&square) { square.sqrt() } else { library_hypot(x, y) }
}

// Out of line, so that the call does not disturb the registers of the fast path.
#[cold]
#[inline(never)]
fn library_hypot(x: f64, y: f64) -> f64 {
    x.hypot(y)
}

/// Length and unit direction of a vector; the direction of exactly zero is zero.
///
/// Correct to rounding for every finite input, from subnormal components to `f64::MAX` (where the
/// length itself saturates at [`SATURATION`]). Differences that have overflown to infinity have
/// that length and the direction of their infinite components.
#[inline]
#[must_use]
pub fn length_and_direction(y: DVec3) -> (f64, DVec3) {
    let square = y.length_squared();
    if SAFE_SQUARE.contains(&square) {
        let length = square.sqrt();
        (length, y * (1.0 / length))
    } else {
        length_and_direction_scaled(y)
    }
}

#[cold]
#[inline(never)]
fn length_and_direction_scaled(y: DVec3) -> (f64, DVec3) {
    // Not `largest == 0`: NaN does not count there, and must not pass for zero.
    if y == DVec3::ZERO {
        return (0.0, DVec3::ZERO);
    }
    let whole = |c: f64| if c.is_infinite() { c.signum() } else { 0.0 * c };
    let y = if y.is_finite() { y } else { DVec3::from_array(y.to_array().map(whole)) * SATURATION };
    let largest = y.abs().max_element();
    // Division, not multiplication by the reciprocal: 1/largest overflows for subnormal numbers.
    let scaled = y / largest;
    let length = scaled.length();
    (saturate(largest * length), scaled / length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn saturation_keeps_sign_and_nan() {
        assert_eq!(saturate(f64::INFINITY), SATURATION);
        assert_eq!(saturate(f64::NEG_INFINITY), -SATURATION);
        assert_eq!(saturate(-2.5), -2.5);
        assert!(saturate(f64::NAN).is_nan());
    }

    #[test]
    fn infinite_vectors_have_a_direction_and_nan_has_none() {
        let (length, n) = length_and_direction(DVec3::new(f64::NEG_INFINITY, 3.0, f64::INFINITY));
        assert_eq!(length, SATURATION);
        assert!((n - DVec3::new(-1.0, 0.0, 1.0).normalize()).length() < 1e-15);
        assert!(length_and_direction(DVec3::new(1.0, f64::NAN, f64::INFINITY)).1.is_nan());
    }

    #[test]
    fn zero_has_no_direction() {
        assert_eq!(length_and_direction(DVec3::ZERO), (0.0, DVec3::ZERO));
    }

    proptest! {
        #[test]
        fn direction_is_unit_at_every_scale(x in prop::array::uniform3(-1.0..1.0f64), exponent in -320..308i32) {
            let y = DVec3::from(x) * 10f64.powi(exponent);
            let (length, n) = length_and_direction(y);
            prop_assert_eq!(length == 0.0, y == DVec3::ZERO);
            if length > 0.0 {
                prop_assert!(length <= SATURATION);
                prop_assert!((n.length() - 1.0).abs() < 1e-15, "{n}");
                if length < SATURATION {
                    // Subnormal lengths have an absolute grain of 5e-324.
                    prop_assert!((n * length - y).abs().max_element() <= 4.0 * f64::EPSILON * length + 1e-323);
                }
            }
        }

        #[test]
        fn hypot_agrees_with_the_library(x in -1.0..1.0f64, y in -1.0..1.0f64, a in -300..300i32, b in -300..300i32) {
            let (x, y) = (x * 10f64.powi(a), y * 10f64.powi(b));
            let (ours, theirs) = (hypot(x, y), x.hypot(y));
            prop_assert!((ours - theirs).abs() <= 4.0 * f64::EPSILON * theirs, "{ours} {theirs}");
        }
    }
}
