//! As-rigid-as-possible: the isotropic energy that Baraff-Witkin stretch approximates.

use plisse_core::{Blocks, Positive, Psd};
use plisse_eigen::{IsotropicModuli, PolarFrame, Stretches, Sym2};

use super::{Isotropic, IsotropicLaw, biot_hessian};

/// `ψ = μ ‖F - R‖² = μ ((σ₀ - 1)² + (σ₁ - 1)²)` with the polar factor `R` (Kim20, equations 14 and
/// 27 to 28).
///
/// The Lamé parameters are `μ` and `λ = 0`. Twist turns negative when `σ₀ + σ₁ < 2` (Kim20 prints
/// 1), a normal mode when its stretch is below one. At `F = 0` the gradient is zero and the Hessian
/// `2μ I`, which majorises the energy; at rank one the missing direction is chosen.
pub type Arap = Isotropic<ArapLaw>;

/// The law of [`Arap`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArapLaw {
    mu: f64,
}

impl Arap {
    /// With the shear modulus of the sheet in N/m.
    #[must_use]
    pub fn new(mu: Positive) -> Self {
        Self::from_law(ArapLaw { mu: mu.get() })
    }
}

impl ArapLaw {
    /// Shear modulus, N/m.
    #[must_use]
    pub fn mu(&self) -> f64 {
        self.mu
    }
}

impl IsotropicLaw for ArapLaw {
    #[inline]
    fn energy(&self, s: &Stretches) -> f64 {
        let [e0, e1] = s.values.map(|s| s - 1.0);
        self.mu * (e0 * e0 + e1 * e1)
    }

    #[inline]
    fn stress(&self, s: &Stretches) -> [f64; 2] {
        if s.values[0] == 0.0 { [0.0; 2] } else { s.values.map(|s| 2.0 * self.mu * (s - 1.0)) }
    }

    #[inline]
    fn moduli(&self, s: &Stretches) -> IsotropicModuli {
        let k = 2.0 * self.mu;
        let stretch = Sym2::new(k, 0.0, k);
        if s.values[0] == 0.0 {
            // ψ = ψ(0) - 2μ (σ₀ + σ₁) + μ ‖F‖² never exceeds ψ(0) + ½ 2μ ‖F‖².
            return IsotropicModuli { stretch, twist: k, flip: k, normal: [k; 2] };
        }
        IsotropicModuli {
            stretch,
            twist: k - 2.0 * k * s.inverse_sum,
            flip: k,
            normal: s.inverses.map(|inverse| k - k * inverse),
        }
    }

    #[inline(always)]
    fn hessian(&self, frame: &PolarFrame, psd: Psd) -> Blocks<2> {
        biot_hessian(&self.moduli(frame.stretches()), frame, psd)
    }
}
