//! Isotropic energies, written in the principal stretches.

mod arap;
mod corotational;
mod neo_hookean;
mod stvk;

use plisse_core::{Blocks, Mat3x2, Psd, saturate};
use plisse_eigen::{IsotropicModuli, MembraneEigenpairs, PolarFrame};

use crate::energy::{Eigenanalysis, Evaluation, MembraneEnergy};

pub use arap::{Arap, ArapLaw};
pub use corotational::{Corotational, CorotationalLaw};
pub use neo_hookean::{
    NeoHookeanIncompressible, NeoHookeanIncompressibleLaw, NeoHookeanLog, NeoHookeanLogLaw, NeoHookeanStable,
    NeoHookeanStableLaw,
};
pub use stvk::{StVenantKirchhoff, StVenantKirchhoffLaw};

/// A density `ψ(σ₀, σ₁)` of the principal stretches `σ₀ ≥ σ₁ ≥ 0`, symmetric in both.
///
/// Results may overflow to an infinity (they are saturated afterwards) but must not be NaN for finite input, zero
/// included.
pub trait IsotropicLaw: Copy + Send + Sync {
    /// `ψ`.
    fn energy(&self, s: [f64; 2]) -> f64;
    /// `∂ψ/∂σ₀, ∂ψ/∂σ₁`: the principal stresses.
    fn stress(&self, s: [f64; 2]) -> [f64; 2];
    /// The second derivatives in the principal frame.
    fn moduli(&self, s: [f64; 2]) -> IsotropicModuli;
}

/// The membrane energy of an isotropic law; everything but the law is shared ([`PolarFrame`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Isotropic<L> {
    law: L,
}

impl<L: IsotropicLaw> Isotropic<L> {
    /// From a law, one's own for instance.
    #[must_use]
    pub fn from_law(law: L) -> Self {
        Self { law }
    }

    /// The law.
    #[must_use]
    pub fn law(&self) -> &L {
        &self.law
    }

    #[inline]
    fn principal_stress(&self, frame: &PolarFrame) -> [f64; 2] {
        self.law.stress(frame.stretches()).map(saturate)
    }

    #[inline]
    fn moduli(&self, frame: &PolarFrame) -> IsotropicModuli {
        self.law.moduli(frame.stretches()).saturated()
    }
}

impl<L: IsotropicLaw> MembraneEnergy for Isotropic<L> {
    #[inline]
    fn energy(&self, f: &Mat3x2) -> f64 {
        saturate(self.law.energy(PolarFrame::new(f).stretches()))
    }
    #[inline]
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        let frame = PolarFrame::new(f);
        frame.stress(self.principal_stress(&frame))
    }
    #[inline]
    fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2> {
        let frame = PolarFrame::new(f);
        frame.hessian(&self.moduli(&frame), psd)
    }
    #[inline]
    fn evaluate(&self, f: &Mat3x2, psd: Psd) -> Evaluation {
        let frame = PolarFrame::new(f);
        Evaluation {
            energy: saturate(self.law.energy(frame.stretches())),
            pk1: frame.stress(self.principal_stress(&frame)),
            hessian: frame.hessian(&self.moduli(&frame), psd),
        }
    }
}

impl<L: IsotropicLaw> Eigenanalysis for Isotropic<L> {
    fn eigensystem(&self, f: &Mat3x2) -> MembraneEigenpairs {
        let frame = PolarFrame::new(f);
        frame.eigenpairs(&self.moduli(&frame))
    }
}

/// `ψᵢ/σᵢ` with `σᵢ` not below the rounding of `σ₀`.
///
/// A stretch smaller than that is noise; without the floor an exactly rank-deficient triangle would answer 1e300
/// and poison a factorisation.
#[inline]
fn over_stretch(principal: [f64; 2], s: [f64; 2]) -> [f64; 2] {
    [principal[0] / s[0], principal[1] / floor_stretch(s)]
}

#[inline]
fn floor_stretch(s: [f64; 2]) -> f64 {
    s[1].max(f64::EPSILON * s[0])
}
