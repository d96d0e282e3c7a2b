//! Scalar laws: how a fibre resists being stretched and two fibres resist being sheared.
//!
//! A law knows no vector and no stiffness. Add one by giving its three functions; the derivatives
//! by `F`, the projection and the eigensystem follow from [`Fibre`](crate::Fibre) and
//! [`CrossFibre`](crate::CrossFibre).

use plisse_core::saturate;

/// An energy `ψ(s)` of the stretch `s = ‖Fa‖` of a fibre with the rest stretch `b`.
///
/// Results may overflow to an infinity (they are saturated afterwards) but must not be NaN for
/// finite input.
pub trait FibreLaw: Copy + Send + Sync {
    /// `ψ(s)`, for `s ≥ 0`.
    fn energy(&self, s: f64, b: f64) -> f64;
    /// `ψ'(s)`, for `s ≥ 0`.
    fn tension(&self, s: f64, b: f64) -> f64;
    /// `ψ''(s)`, for `s ≥ 0`: the stiffness along the fibre.
    fn along(&self, s: f64, b: f64) -> f64;
    /// `ψ'(s)/s`, for `s > 0`: the stiffness across the fibre. `inverse` is `1/s`, already at hand.
    fn across(&self, s: f64, inverse: f64, b: f64) -> f64 {
        self.tension(s, b) * inverse
    }
    /// The stiffness in all directions at `s = 0`, where the direction of the fibre is lost:
    /// `ψ''(0)` where the energy is smooth, else a value `k` for which `ψ(0) + ½ k s²` is not below
    /// `ψ` between zero and rest.
    fn collapsed(&self, b: f64) -> f64;
}

/// An energy `φ(c)` of the shear `c = I6(a, b) - d`, with `φ'' ≥ 0`.
///
/// Results may overflow to an infinity (they are saturated afterwards) but must not be NaN for
/// finite input.
pub trait ShearLaw: Copy + Send + Sync {
    /// `φ(c)`.
    fn energy(&self, c: f64) -> f64;
    /// `φ'(c)`.
    fn slope(&self, c: f64) -> f64;
    /// `φ''(c)`, never negative.
    fn curvature(&self, c: f64) -> f64;
}

/// The square: `(s - b)²` for a fibre, `c²` for shear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quadratic;

impl FibreLaw for Quadratic {
    #[inline]
    fn energy(&self, s: f64, b: f64) -> f64 {
        (s - b) * (s - b)
    }
    #[inline]
    fn tension(&self, s: f64, b: f64) -> f64 {
        2.0 * (s - b)
    }
    #[inline]
    fn along(&self, _: f64, _: f64) -> f64 {
        2.0
    }
    #[inline]
    fn across(&self, _: f64, inverse: f64, b: f64) -> f64 {
        2.0 - 2.0 * b * inverse
    }
    /// `(s - b)² ≤ b² + s²`: the stiffness 2 majorises the energy from the collapsed state.
    #[inline]
    fn collapsed(&self, _: f64) -> f64 {
        2.0
    }
}

impl ShearLaw for Quadratic {
    #[inline]
    fn energy(&self, c: f64) -> f64 {
        c * c
    }
    #[inline]
    fn slope(&self, c: f64) -> f64 {
        2.0 * c
    }
    #[inline]
    fn curvature(&self, _: f64) -> f64 {
        2.0
    }
}

/// The fourth power: `(s - b)⁴` for a fibre, `c⁴` for shear. No stiffness at rest: a companion,
/// never alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quartic;

impl FibreLaw for Quartic {
    #[inline]
    fn energy(&self, s: f64, b: f64) -> f64 {
        let e = s - b;
        (e * e) * (e * e)
    }
    #[inline]
    fn tension(&self, s: f64, b: f64) -> f64 {
        let e = s - b;
        4.0 * e * e * e
    }
    #[inline]
    fn along(&self, s: f64, b: f64) -> f64 {
        let e = s - b;
        12.0 * e * e
    }
    /// `ψ''(0) = 12 b²`.
    #[inline]
    fn collapsed(&self, b: f64) -> f64 {
        12.0 * b * b
    }
}

impl ShearLaw for Quartic {
    #[inline]
    fn energy(&self, c: f64) -> f64 {
        (c * c) * (c * c)
    }
    #[inline]
    fn slope(&self, c: f64) -> f64 {
        4.0 * c * c * c
    }
    #[inline]
    fn curvature(&self, c: f64) -> f64 {
        12.0 * c * c
    }
}

/// The square of a Green strain: `(s² - b²)²`. Smooth everywhere, but softens in compression: `ψ''`
/// is negative for `s < b/√3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Green;

impl Green {
    #[inline]
    fn strain(s: f64, b: f64) -> f64 {
        (s - b) * (s + b)
    }
}

impl FibreLaw for Green {
    #[inline]
    fn energy(&self, s: f64, b: f64) -> f64 {
        Self::strain(s, b) * Self::strain(s, b)
    }
    #[inline]
    fn tension(&self, s: f64, b: f64) -> f64 {
        4.0 * saturate(Self::strain(s, b)) * s
    }
    #[inline]
    fn along(&self, s: f64, b: f64) -> f64 {
        // Saturated first: both squares may overflow, and their difference would be NaN.
        12.0 * saturate(s * s) - 4.0 * saturate(b * b)
    }
    #[inline]
    fn across(&self, s: f64, _: f64, b: f64) -> f64 {
        4.0 * Self::strain(s, b)
    }
    /// Exact: the energy is smooth at zero.
    #[inline]
    fn collapsed(&self, b: f64) -> f64 {
        -4.0 * b * b
    }
}
