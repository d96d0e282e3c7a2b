//! Isotropic energies, written in the principal stretches.

mod arap;
mod corotational;
mod neo_hookean;
mod stvk;
mod tension_field;

use plisse_core::{Blocks, Mat3x2, Psd, saturate};
use plisse_eigen::{IsotropicModuli, MembraneEigenpairs, PolarFrame, Stretches};

use crate::energy::{Eigenanalysis, Evaluation, MembraneEnergy};

pub use arap::{Arap, ArapLaw};
pub use corotational::{Corotational, CorotationalLaw};
pub use neo_hookean::{
    NeoHookeanIncompressible, NeoHookeanIncompressibleLaw, NeoHookeanLog, NeoHookeanLogLaw, NeoHookeanStable,
    NeoHookeanStableLaw,
};
pub use stvk::{StVenantKirchhoff, StVenantKirchhoffLaw};
pub use tension_field::{TensionField, TensionFieldLaw, TensionRegime};

/// A density `ψ(σ₀, σ₁)` of the principal stretches, symmetric in both.
///
/// Results may overflow to an infinity (they are saturated afterwards) but must not be NaN for
/// finite input, zero included.
pub trait IsotropicLaw: Copy + Send + Sync {
    /// `ψ`.
    fn energy(&self, s: &Stretches) -> f64;
    /// `∂ψ/∂σ₀, ∂ψ/∂σ₁`: the principal stresses.
    fn stress(&self, s: &Stretches) -> [f64; 2];
    /// The second derivatives in the principal frame.
    fn moduli(&self, s: &Stretches) -> IsotropicModuli;
    /// The Hessian; laws override it where a cheaper form of [`Self::moduli`] exists.
    #[inline(always)]
    fn hessian(&self, frame: &PolarFrame, psd: Psd) -> Blocks<2> {
        frame.hessian(&self.moduli(frame.stretches()).saturated(), psd)
    }
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
}

impl<L: IsotropicLaw> MembraneEnergy for Isotropic<L> {
    #[inline]
    fn energy(&self, f: &Mat3x2) -> f64 {
        PolarFrame::with(f, |frame| saturate(self.law.energy(frame.stretches())))
    }
    #[inline]
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        PolarFrame::with(f, |frame| frame.stress(self.principal_stress(frame)))
    }
    #[inline]
    fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2> {
        PolarFrame::with(f, |frame| self.law.hessian(frame, psd))
    }
    #[inline]
    fn evaluate(&self, f: &Mat3x2, psd: Psd) -> Evaluation {
        PolarFrame::with(f, |frame| Evaluation {
            energy: saturate(self.law.energy(frame.stretches())),
            pk1: frame.stress(self.principal_stress(frame)),
            hessian: self.law.hessian(frame, psd),
        })
    }
}

impl<L: IsotropicLaw> Eigenanalysis for Isotropic<L> {
    fn eigensystem(&self, f: &Mat3x2) -> MembraneEigenpairs {
        let frame = PolarFrame::new(f);
        frame.eigenpairs(&self.law.moduli(frame.stretches()).saturated())
    }
}

/// [`IsotropicLaw::hessian`] for laws that are quadratic in the Biot strain.
#[inline(always)]
fn biot_hessian(moduli: &IsotropicModuli, frame: &PolarFrame, psd: Psd) -> Blocks<2> {
    let (twist, normal) = (saturate(moduli.twist), moduli.normal.map(saturate));
    frame.biot_hessian(moduli.flip, moduli.stretch.b, twist, normal, psd)
}
