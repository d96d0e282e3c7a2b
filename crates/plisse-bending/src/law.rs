//! Scalar laws of an angle.
//!
//! All restoring laws are normalised to `ψ''(0) = 1` at rest angle zero, so that they agree around
//! a flat rest state and the stiffness of an element means the same for each. Angles are radians,
//! in [-π, π].

use glam::DVec3;
use plisse_core::range::{FACTOR, limit};
use plisse_core::saturate;

/// An energy `ψ(θ)` with the rest angle as a parameter; dimensionless, multiplied by the stiffness
/// of the element.
///
/// Give the three functions and get everything else. Results must not be NaN for `θ` in [-π, π];
/// infinities are saturated by the elements.
pub trait AngleEnergy: Send + Sync {
    /// `ψ(θ)`.
    fn psi(&self, theta: f64, rest: f64) -> f64;
    /// `ψ'(θ)`.
    fn g(&self, theta: f64, rest: f64) -> f64;
    /// `ψ''(θ)`.
    fn h(&self, theta: f64, rest: f64) -> f64;
}

macro_rules! forward {
    ($($pointer:ty),*) => { $(
        impl<L: AngleEnergy + ?Sized> AngleEnergy for $pointer {
            fn psi(&self, theta: f64, rest: f64) -> f64 {
                (**self).psi(theta, rest)
            }
            fn g(&self, theta: f64, rest: f64) -> f64 {
                (**self).g(theta, rest)
            }
            fn h(&self, theta: f64, rest: f64) -> f64 {
                (**self).h(theta, rest)
            }
        }
    )* };
}
forward!(&L, Box<L>, std::sync::Arc<L>);

/// A law's value times a stiffness, limited to [`FACTOR`]: inverse squares of lengths multiply it.
#[inline]
pub(crate) fn limited(value: f64, stiffness: f64) -> f64 {
    limit(value * stiffness, FACTOR)
}

/// What a stencil without an angle answers: nothing, unless a position is NaN, which must not be
/// hidden.
#[inline]
pub(crate) fn nothing(x: &[DVec3]) -> f64 {
    if x.iter().any(|p| p.is_nan()) { f64::NAN } else { 0.0 }
}

/// `ψ = (θ - θr)²/2` (WK23, equations 34 and 37). Constant stiffness; jumps where the angle jumps,
/// at a full fold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuadraticAngle;

impl AngleEnergy for QuadraticAngle {
    #[inline]
    fn psi(&self, theta: f64, rest: f64) -> f64 {
        0.5 * (theta - rest) * (theta - rest)
    }
    #[inline]
    fn g(&self, theta: f64, rest: f64) -> f64 {
        theta - rest
    }
    #[inline]
    fn h(&self, _: f64, _: f64) -> f64 {
        1.0
    }
}

/// `ψ = 2 (tan(θ/2) - tan(θr/2))²`: discrete elastic rods (WK23, equation 33 with `μ/l = 2`).
///
/// A barrier against folding: `ψ`, `g` and `h` grow without bound towards ±π (as `cos⁻²`, `cos⁻³`,
/// `cos⁻⁴` of half the angle); steps that end within 1e-3 of a fold should be shortened. To match a
/// bending modulus `B` over the length `l`, the stiffness is `B/l`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TangentAngle;

impl TangentAngle {
    /// `tan` of half the angle, and `1/cos²`; finite at ±π.
    #[inline]
    fn half(theta: f64) -> (f64, f64) {
        let t = saturate((0.5 * theta).tan());
        (t, 1.0 + t * t)
    }
}

impl AngleEnergy for TangentAngle {
    #[inline]
    fn psi(&self, theta: f64, rest: f64) -> f64 {
        let d = Self::half(theta).0 - Self::half(rest).0;
        2.0 * d * d
    }
    #[inline]
    fn g(&self, theta: f64, rest: f64) -> f64 {
        let (t, sec) = Self::half(theta);
        2.0 * (t - Self::half(rest).0) * sec
    }
    #[inline]
    fn h(&self, theta: f64, rest: f64) -> f64 {
        let (t, sec) = Self::half(theta);
        sec * (sec + 2.0 * t * (t - Self::half(rest).0))
    }
}

/// `ψ = 1 - cos(θ - θr)` (WK23, equation 39 with `μ = 2`, where the rest angle is zero).
///
/// Softens with the angle: `h` is negative more than a right angle away from rest, and a full fold
/// of a flat hinge is an unstable equilibrium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SineAngle;

impl AngleEnergy for SineAngle {
    #[inline]
    fn psi(&self, theta: f64, rest: f64) -> f64 {
        let s = (0.5 * (theta - rest)).sin();
        2.0 * s * s
    }
    #[inline]
    fn g(&self, theta: f64, rest: f64) -> f64 {
        (theta - rest).sin()
    }
    #[inline]
    fn h(&self, theta: f64, rest: f64) -> f64 {
        (theta - rest).cos()
    }
}

/// `ψ = 4 (1 - cos(θ/2)) - 2 sin(θr/2) θ`: the restoring law behind WK23's equation 38, with the
/// force `g = 2 (sin(θ/2) - sin(θr/2))`.
///
/// Convex on [-π, π]. At a rest angle other than zero the energy at rest is negative; only
/// differences matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CosineAngle;

impl AngleEnergy for CosineAngle {
    #[inline]
    fn psi(&self, theta: f64, rest: f64) -> f64 {
        let s = (0.25 * theta).sin();
        8.0 * s * s - 2.0 * (0.5 * rest).sin() * theta
    }
    #[inline]
    fn g(&self, theta: f64, rest: f64) -> f64 {
        2.0 * ((0.5 * theta).sin() - (0.5 * rest).sin())
    }
    #[inline]
    fn h(&self, theta: f64, _: f64) -> f64 {
        (0.5 * theta).cos()
    }
}

/// `ψ = cos(θ/2) - b θ`: WK23, equation 38, as printed. **Not restoring**: for `b = 0` the flat
/// state is a maximum.
///
/// Here to compare with; use [`CosineAngle`]. Ignores the rest angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedCosine {
    /// The constant torque `b`, a finite number.
    pub b: f64,
}

impl AngleEnergy for PrintedCosine {
    #[inline]
    fn psi(&self, theta: f64, _: f64) -> f64 {
        (0.5 * theta).cos() - self.b * theta
    }
    #[inline]
    fn g(&self, theta: f64, _: f64) -> f64 {
        -0.5 * (0.5 * theta).sin() - self.b
    }
    #[inline]
    fn h(&self, theta: f64, _: f64) -> f64 {
        -0.25 * (0.5 * theta).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_testkit::{check_gradient, check_jacobian};
    use proptest::prelude::*;

    fn check(law: &impl AngleEnergy, theta: f64, rest: f64) {
        let g = |x: &[f64; 1]| [law.g(x[0], rest)];
        if law.g(theta, rest).abs() > 1e-3 {
            check_gradient(|x| law.psi(x[0], rest), g, &[theta], 1e-7);
        }
        if law.h(theta, rest).abs() > 1e-3 {
            check_jacobian(g, |x| [[law.h(x[0], rest)]], &[theta], 1e-7);
        }
    }

    proptest! {
        #[test]
        fn derivatives(theta in -2.8..2.8f64, rest in -2.0..2.0f64) {
            check(&QuadraticAngle, theta, rest);
            check(&TangentAngle, theta, rest);
            check(&SineAngle, theta, rest);
            check(&CosineAngle, theta, rest);
            check(&PrintedCosine { b: 0.3 }, theta, rest);
        }

        #[test]
        fn restoring_laws_rest_at_rest(rest in -2.0..2.0f64) {
            for g in [QuadraticAngle.g(rest, rest), TangentAngle.g(rest, rest), SineAngle.g(rest, rest), CosineAngle.g(rest, rest)] {
                prop_assert_eq!(g, 0.0);
            }
        }
    }

    #[test]
    fn normalised_at_flat_rest() {
        for h in [
            QuadraticAngle.h(0.0, 0.0),
            TangentAngle.h(0.0, 0.0),
            SineAngle.h(0.0, 0.0),
            CosineAngle.h(0.0, 0.0),
        ] {
            assert_eq!(h, 1.0);
        }
        assert!(PrintedCosine { b: 0.0 }.h(0.0, 0.0) < 0.0, "as printed it pushes away from flat");
    }

    #[test]
    fn finite_at_a_full_fold() {
        for theta in [std::f64::consts::PI, -std::f64::consts::PI] {
            for value in
                [TangentAngle.psi(theta, 0.1), TangentAngle.g(theta, 0.1), TangentAngle.h(theta, 0.1)]
            {
                assert!(value.is_finite(), "{value}");
            }
        }
    }
}
