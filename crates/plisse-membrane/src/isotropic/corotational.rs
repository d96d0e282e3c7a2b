//! Corotational (linear elasticity in the rotated frame).

use plisse_core::{Blocks, Psd, saturate};
use plisse_eigen::{IsotropicModuli, PolarFrame, Stretches, Sym2};

use super::{Isotropic, IsotropicLaw, biot_hessian};
use crate::material::Lame;

/// `ψ = μ ‖F - R‖² + λ/2 (σ₀ + σ₁ - 2)²`.
///
/// At rank one with `λ (σ₀ - 2) > 2μ` the energy has a convex ridge: its stiffness out of the plane
/// is infinite there and is reported with the inverse that [`Stretches`] gives. At `F = 0` the
/// gradient is zero and the Hessian `2 (μ + max(λ, 0)) I`, which majorises the energy.
pub type Corotational = Isotropic<CorotationalLaw>;

/// The law of [`Corotational`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorotationalLaw {
    mu: f64,
    lambda: f64,
}

impl Corotational {
    /// From the Lamé parameters of the sheet.
    #[must_use]
    pub fn new(lame: Lame) -> Self {
        Self::from_law(CorotationalLaw { mu: lame.mu(), lambda: lame.lambda() })
    }
}

impl CorotationalLaw {
    /// The Lamé parameters `μ` and `λ`, N/m.
    #[must_use]
    pub fn parameters(&self) -> (f64, f64) {
        (self.mu, self.lambda)
    }

    #[inline]
    fn principal(&self, s: &Stretches) -> [f64; 2] {
        let [e0, e1] = s.values.map(|s| s - 1.0);
        let pressure = saturate(self.lambda * (e0 + e1));
        s.values.map(|s| saturate(2.0 * self.mu * (s - 1.0)) + pressure)
    }
}

impl IsotropicLaw for CorotationalLaw {
    #[inline]
    fn energy(&self, s: &Stretches) -> f64 {
        let [e0, e1] = s.values.map(|s| s - 1.0);
        let trace = e0 + e1;
        saturate(self.mu * saturate(e0 * e0 + e1 * e1))
            + saturate(0.5 * self.lambda * saturate(trace * trace))
    }

    #[inline]
    fn stress(&self, s: &Stretches) -> [f64; 2] {
        if s.values[0] == 0.0 { [0.0; 2] } else { self.principal(s) }
    }

    #[inline]
    fn moduli(&self, s: &Stretches) -> IsotropicModuli {
        let (mu, lambda) = (self.mu, self.lambda);
        if s.values[0] == 0.0 {
            // ψ(F) - ψ(0) = μ I2 + λ/2 I1² - 2 (μ + λ) I1 ≤ (μ + max(λ, 0)) I2, because I1² ≤ 2 I2
            // and μ + λ > 0.
            let k = 2.0 * (mu + lambda.max(0.0));
            return IsotropicModuli { stretch: Sym2::new(k, 0.0, k), twist: k, flip: k, normal: [k; 2] };
        }
        let principal = self.principal(s);
        IsotropicModuli {
            stretch: Sym2::new(2.0 * mu + lambda, lambda, 2.0 * mu + lambda),
            twist: (principal[0] + principal[1]) * s.inverse_sum,
            flip: 2.0 * mu,
            normal: [principal[0] * s.inverses[0], principal[1] * s.inverses[1]],
        }
    }
    #[inline(always)]
    fn hessian(&self, frame: &PolarFrame, psd: Psd) -> Blocks<2> {
        biot_hessian(&self.moduli(frame.stretches()), frame, psd)
    }
}
