//! St. Venant-Kirchhoff: linear in the Green strain.

use plisse_core::saturate;
use plisse_eigen::{IsotropicModuli, Stretches, Sym2};

use super::{Isotropic, IsotropicLaw};
use crate::material::Lame;

/// `ψ = μ ‖E‖² + λ/2 tr²E` with the Green strain `E = (FᵀF - I)/2`.
///
/// A polynomial: smooth at every `F`, zero and rank one included. It softens in compression and has
/// no stress at all when collapsed; its Hessian is strongly indefinite there.
pub type StVenantKirchhoff = Isotropic<StVenantKirchhoffLaw>;

/// The law of [`StVenantKirchhoff`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StVenantKirchhoffLaw {
    mu: f64,
    lambda: f64,
}

impl StVenantKirchhoff {
    /// From the Lamé parameters of the sheet.
    #[must_use]
    pub fn new(lame: Lame) -> Self {
        Self::from_law(StVenantKirchhoffLaw::new(lame))
    }
}

/// `σ² - 1`, without cancellation near rest.
#[inline]
pub(super) fn twice_green(s: f64) -> f64 {
    saturate((s - 1.0) * (s + 1.0))
}

impl StVenantKirchhoffLaw {
    pub(super) fn new(lame: Lame) -> Self {
        Self { mu: lame.mu(), lambda: lame.lambda() }
    }

    /// The Lamé parameters `μ` and `λ`, N/m.
    #[must_use]
    pub fn parameters(&self) -> (f64, f64) {
        (self.mu, self.lambda)
    }

    /// `ψᵢ/σᵢ`, which has no singularity: the principal values of the second Piola-Kirchhoff
    /// stress.
    #[inline]
    pub(super) fn second_stress(&self, g: [f64; 2]) -> [f64; 2] {
        let pressure = saturate(0.5 * self.lambda * (g[0] + g[1]));
        g.map(|g| saturate(self.mu * g) + pressure)
    }
}

impl IsotropicLaw for StVenantKirchhoffLaw {
    #[inline]
    fn energy(&self, s: &Stretches) -> f64 {
        let g = s.values.map(twice_green);
        let trace = g[0] + g[1];
        saturate(0.25 * self.mu * saturate(g[0] * g[0] + g[1] * g[1]))
            + saturate(0.125 * self.lambda * saturate(trace * trace))
    }

    #[inline]
    fn stress(&self, s: &Stretches) -> [f64; 2] {
        let t = self.second_stress(s.values.map(twice_green));
        [t[0] * s.values[0], t[1] * s.values[1]]
    }

    #[inline]
    fn moduli(&self, s: &Stretches) -> IsotropicModuli {
        let normal = self.second_stress(s.values.map(twice_green));
        let [s0, s1] = s.values;
        let (ss, tt, st) = (saturate(s0 * s0), saturate(s1 * s1), saturate(s0 * s1));
        let stiff = saturate(2.0 * self.mu + self.lambda);
        // twist = μ (σ₀² - σ₀σ₁ + σ₁² - 1) + λ/2 (I2 - 2): the first normal modulus plus μ σ₁ (σ₁ -
        // σ₀).
        let (mu_tt, mu_st) = (saturate(self.mu * tt), saturate(self.mu * st));
        IsotropicModuli {
            stretch: Sym2::new(
                normal[0] + saturate(stiff * ss),
                saturate(self.lambda * st),
                normal[1] + saturate(stiff * tt),
            ),
            twist: normal[0] + (mu_tt - mu_st),
            flip: normal[0] + (mu_tt + mu_st),
            normal,
        }
    }
}
