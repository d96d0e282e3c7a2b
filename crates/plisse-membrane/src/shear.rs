//! Energies of the shear between two fibres.

use plisse_core::{Blocks, Mat3x2, Positive, Psd, UnitDir2, saturate};
use plisse_eigen::{MembraneEigenpairs, ShearBasis, invariants};

use crate::energy::{Eigenanalysis, Evaluation, MembraneEnergy};
use crate::law::{Quadratic, Quartic, ShearLaw};

/// `φ(I6(a, b) - d)` for two unit directions, which need not be orthogonal and may even coincide.
///
/// Smooth at every `F`; nothing is singular (see [`ShearBasis`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossFibre<L> {
    a: UnitDir2,
    b: UnitDir2,
    offset: f64,
    stiffness: f64,
    basis: ShearBasis,
    law: L,
}

/// Baraff-Witkin shear, `(I6(a, b) - d)²`: Kim20, equation 11 for orthogonal directions, equation
/// 42 (as a density) in general.
pub type Shear = CrossFibre<Quadratic>;
/// The quartic companion of [`Shear`], `(I6(a, b) - d)⁴` (Kim20, equation 44 as a density). It has
/// no stiffness at rest: never the only shear term.
pub type QuarticShear = CrossFibre<Quartic>;

impl<L: ShearLaw> CrossFibre<L> {
    /// With a law and an offset of one's own, unit stiffness. A non-finite offset saturates.
    #[must_use]
    pub fn with_law(a: UnitDir2, b: UnitDir2, offset: f64, law: L) -> Self {
        Self { a, b, offset: saturate(offset), stiffness: 1.0, basis: ShearBasis::new(a, b), law }
    }

    /// The two directions in material coordinates.
    #[must_use]
    pub fn directions(&self) -> [UnitDir2; 2] {
        [self.a, self.b]
    }

    /// The offset `d`.
    #[must_use]
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// The stiffness in N/m.
    #[must_use]
    pub fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// The same with another stiffness, in N/m.
    #[must_use]
    pub fn with_stiffness(self, stiffness: Positive) -> Self {
        Self { stiffness: stiffness.get(), ..self }
    }

    #[inline]
    fn strain(&self, f: &Mat3x2) -> f64 {
        invariants::i6(f, self.a, self.b) - self.offset
    }

    /// Laws may overflow; an infinity times a positive stiffness is still an infinity, never NaN.
    #[inline]
    fn scale(&self, value: f64) -> f64 {
        saturate(value * self.stiffness)
    }

    /// `φ'` and `φ''`.
    #[inline]
    fn slopes(&self, c: f64) -> (f64, f64) {
        (self.scale(self.law.slope(c)), self.scale(self.law.curvature(c)))
    }
}

impl<L: ShearLaw + Default> CrossFibre<L> {
    /// At rest where the fibres keep their angle, `d = a·b` (zero for orthogonal ones).
    #[must_use]
    pub fn new(a: UnitDir2, b: UnitDir2) -> Self {
        Self::with_offset(a, b, a.dot(b))
    }

    /// Warp and weft along the material axes.
    #[must_use]
    pub fn warp_weft() -> Self {
        Self::with_offset(UnitDir2::U, UnitDir2::V, 0.0)
    }

    /// With an offset `d` of one's own.
    #[must_use]
    pub fn with_offset(a: UnitDir2, b: UnitDir2, offset: f64) -> Self {
        Self::with_law(a, b, offset, L::default())
    }
}

impl<L: ShearLaw> MembraneEnergy for CrossFibre<L> {
    #[inline]
    fn energy(&self, f: &Mat3x2) -> f64 {
        self.scale(self.law.energy(self.strain(f)))
    }
    #[inline]
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        self.basis.gradient(f).mul_saturating(self.slopes(self.strain(f)).0)
    }
    #[inline]
    fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2> {
        let (k, m) = self.slopes(self.strain(f));
        self.basis.hessian(f, k, m, psd)
    }
    #[inline]
    fn evaluate(&self, f: &Mat3x2, psd: Psd) -> Evaluation {
        let c = self.strain(f);
        let (k, m) = self.slopes(c);
        let (gradient, hessian) = self.basis.gradient_and_hessian(f, k, m, psd);
        Evaluation { energy: self.scale(self.law.energy(c)), pk1: gradient.mul_saturating(k), hessian }
    }
}

impl<L: ShearLaw> Eigenanalysis for CrossFibre<L> {
    fn eigensystem(&self, f: &Mat3x2) -> MembraneEigenpairs {
        let (k, m) = self.slopes(self.strain(f));
        self.basis.eigenpairs(f, k, m)
    }
}
