//! Tension fields: a sheet that wrinkles instead of bearing compression.

use plisse_core::saturate;
use plisse_eigen::{IsotropicModuli, Stretches, Sym2};

use super::stvk::{StVenantKirchhoffLaw, twice_green};
use super::{Isotropic, IsotropicLaw};
use crate::material::Lame;

/// The relaxed St. Venant-Kirchhoff energy: the least that fine wrinkles leave of it (Chen21,
/// section 4.1 and appendix B).
///
/// With `gᵢ = σᵢ² - 1`, `σ₀ ≥ σ₁`, Young's modulus times thickness `Eh` and Poisson's ratio `ν`:
///
/// ```text
/// taut      g₁ ≥ -ν g₀            ψ = μ/4 (g₀² + g₁²) + λ/8 (g₀ + g₁)²
/// wrinkled  g₁ < -ν g₀, g₀ > 0    ψ = Eh/8 g₀²
/// slack     otherwise             ψ = 0
/// ```
///
/// Continuous with its stress; the Hessian jumps where the regime changes (on the border itself the
/// regime that comes first in the table counts). The Hessian is positive semidefinite everywhere:
/// all policies of projection give the same matrix. Slack triangles, zero and rank-deficient ones
/// among them, have neither stress nor stiffness.
pub type TensionField = Isotropic<TensionFieldLaw>;

/// The law of [`TensionField`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TensionFieldLaw {
    taut: StVenantKirchhoffLaw,
    /// Young's modulus times thickness, N/m.
    tensile: f64,
    /// `μ = Eh/(2 (1 + ν))`, N/m.
    shear: f64,
}

/// What a triangle under a [`TensionField`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensionRegime {
    /// Pulled in both directions.
    Taut,
    /// Pulled in one direction; wrinkles run along it.
    Wrinkled,
    /// Pulled in none.
    Slack,
}

impl TensionField {
    /// From the Lamé parameters of the sheet; [`Lame::plane_stress`] makes them from Young's
    /// modulus, Poisson's ratio and thickness.
    #[must_use]
    pub fn new(lame: Lame) -> Self {
        Self::from_law(TensionFieldLaw {
            taut: StVenantKirchhoffLaw::new(lame),
            tensile: lame.tensile_stiffness(),
            shear: lame.mu(),
        })
    }
}

/// The strains `gᵢ` and the principal second Piola-Kirchhoff stresses of one state.
struct Pull {
    regime: TensionRegime,
    green: [f64; 2],
    stress: [f64; 2],
}

impl TensionFieldLaw {
    /// Young's modulus times thickness, N/m.
    #[must_use]
    pub fn tensile_stiffness(&self) -> f64 {
        self.tensile
    }

    /// Which part of the table holds at these stretches.
    #[must_use]
    pub fn regime(&self, s: &Stretches) -> TensionRegime {
        self.pull(s).regime
    }

    #[inline]
    fn pull(&self, s: &Stretches) -> Pull {
        let green = s.values.map(twice_green);
        let stress = self.taut.second_stress(green);
        // The smaller stress is (μ + λ/2)(g₁ + ν g₀): its sign is the first condition of the table,
        // and what is taut has no negative stress, not even by rounding. NaN is taut, so that it is
        // not hidden.
        let (regime, stress) = if stress[1] < 0.0 {
            if green[0] > 0.0 {
                (TensionRegime::Wrinkled, [saturate(0.5 * self.tensile * green[0]), 0.0])
            } else {
                (TensionRegime::Slack, [0.0; 2])
            }
        } else {
            (TensionRegime::Taut, stress)
        };
        Pull { regime, green, stress }
    }
}

impl IsotropicLaw for TensionFieldLaw {
    #[inline]
    fn energy(&self, s: &Stretches) -> f64 {
        let Pull { regime, green, .. } = self.pull(s);
        match regime {
            TensionRegime::Taut => self.taut.energy(s),
            TensionRegime::Wrinkled => 0.125 * self.tensile * saturate(green[0] * green[0]),
            TensionRegime::Slack => 0.0,
        }
    }

    #[inline]
    fn stress(&self, s: &Stretches) -> [f64; 2] {
        let Pull { stress, .. } = self.pull(s);
        [stress[0] * s.values[0], stress[1] * s.values[1]]
    }

    #[inline]
    fn moduli(&self, s: &Stretches) -> IsotropicModuli {
        let Pull { regime, green, stress: normal } = self.pull(s);
        let [s0, s1] = s.values;
        // The mean of the two stresses with the stretches as weights: not negative where they are
        // not.
        let part = s1 * s.inverse_sum;
        let twist = normal[0] * (1.0 - part) + normal[1] * part;
        match regime {
            TensionRegime::Taut => IsotropicModuli { twist, ..self.taut.moduli(s) },
            TensionRegime::Wrinkled => {
                let stiff = saturate(self.tensile * saturate(s0 * s0));
                // Tσ₀/(σ₀ - σ₁) without the difference of the stretches. In this regime g₀/(g₀ -
                // g₁) < 1/(1 + ν), at the border equal: the modulus is then that of the taut sheet.
                // The minimum also covers a quotient lost to rounding.
                let turn = (0.5 * self.tensile * (green[0] / (green[0] - green[1]))).min(self.shear);
                IsotropicModuli {
                    stretch: Sym2::new(normal[0] + stiff, 0.0, 0.0),
                    twist,
                    flip: turn * saturate(s0 * (s0 + s1)),
                    normal,
                }
            }
            TensionRegime::Slack => {
                IsotropicModuli { stretch: Sym2::new(0.0, 0.0, 0.0), twist: 0.0, flip: 0.0, normal }
            }
        }
    }
}
