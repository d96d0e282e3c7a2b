//! The traits of a membrane energy, and the two ways to combine energies.

use plisse_core::{Blocks, Mat3x2, Positive, Psd, saturate};
use plisse_eigen::MembraneEigenpairs;

/// Energy density, stress and Hessian at one deformation gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// Density in J/m² of rest area.
    pub energy: f64,
    /// First Piola-Kirchhoff stress `∂ψ/∂F` in N/m.
    pub pk1: Mat3x2,
    /// `∂²ψ/∂F²` in N/m, with the policy that was asked for.
    pub hessian: Blocks<2>,
}

/// An energy density per rest area, as a function of the deformation gradient.
///
/// Evaluation never fails, never allocates, never panics, and returns finite numbers for every
/// finite `f`.
pub trait MembraneEnergy: Send + Sync {
    /// Density in J/m² of rest area.
    fn energy(&self, f: &Mat3x2) -> f64;

    /// First Piola-Kirchhoff stress `∂ψ/∂F` in N/m.
    fn pk1(&self, f: &Mat3x2) -> Mat3x2;

    /// `∂²ψ/∂F²` in N/m: exact, or with its negative eigenvalues clamped or mirrored.
    fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2>;

    /// All three at once, with shared work done once. Gives the same numbers as the three calls.
    fn evaluate(&self, f: &Mat3x2, psd: Psd) -> Evaluation {
        Evaluation { energy: self.energy(f), pk1: self.pk1(f), hessian: self.hessian(f, psd) }
    }

    /// This energy times a stiffness.
    fn scaled(self, stiffness: Positive) -> Scaled<Self>
    where
        Self: Sized,
    {
        Scaled { stiffness, energy: self }
    }

    /// This energy plus another.
    fn plus<E: MembraneEnergy>(self, other: E) -> Sum<Self, E>
    where
        Self: Sized,
    {
        Sum(self, other)
    }
}

/// An energy whose eigensystem is known.
///
/// Whoever implements it promises `eigensystem(f).rebuild(psd) == hessian(f, psd)` to rounding.
pub trait Eigenanalysis: MembraneEnergy {
    /// The six eigenvalues and eigenmatrices of the exact Hessian.
    fn eigensystem(&self, f: &Mat3x2) -> MembraneEigenpairs;
}

macro_rules! forward {
    ($($pointer:ty),*) => { $(
        impl<E: MembraneEnergy + ?Sized> MembraneEnergy for $pointer {
            #[inline]
            fn energy(&self, f: &Mat3x2) -> f64 {
                (**self).energy(f)
            }
            #[inline]
            fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
                (**self).pk1(f)
            }
            #[inline]
            fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2> {
                (**self).hessian(f, psd)
            }
            #[inline]
            fn evaluate(&self, f: &Mat3x2, psd: Psd) -> Evaluation {
                (**self).evaluate(f, psd)
            }
        }

        impl<E: Eigenanalysis + ?Sized> Eigenanalysis for $pointer {
            fn eigensystem(&self, f: &Mat3x2) -> MembraneEigenpairs {
                (**self).eigensystem(f)
            }
        }
    )* };
}
forward!(&E, Box<E>, std::sync::Arc<E>);

/// A term that may be absent: `None` is no energy at all.
impl<E: MembraneEnergy> MembraneEnergy for Option<E> {
    #[inline]
    fn energy(&self, f: &Mat3x2) -> f64 {
        self.as_ref().map_or(0.0, |energy| energy.energy(f))
    }
    #[inline]
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        self.as_ref().map_or(Mat3x2::ZERO, |energy| energy.pk1(f))
    }
    #[inline]
    fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2> {
        self.as_ref().map_or(Blocks::ZERO, |energy| energy.hessian(f, psd))
    }
    #[inline]
    fn evaluate(&self, f: &Mat3x2, psd: Psd) -> Evaluation {
        match self {
            Some(energy) => energy.evaluate(f, psd),
            None => Evaluation { energy: 0.0, pk1: Mat3x2::ZERO, hessian: Blocks::ZERO },
        }
    }
}

/// An energy times a stiffness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled<E> {
    /// The factor, in N/m for energies that are dimensionless.
    pub stiffness: Positive,
    /// The energy that is scaled.
    pub energy: E,
}

impl<E: MembraneEnergy> MembraneEnergy for Scaled<E> {
    #[inline]
    fn energy(&self, f: &Mat3x2) -> f64 {
        saturate(self.energy.energy(f) * self.stiffness.get())
    }
    #[inline]
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        self.energy.pk1(f).mul_saturating(self.stiffness.get())
    }
    #[inline]
    fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2> {
        self.energy.hessian(f, psd).mul_saturating(self.stiffness.get())
    }
    #[inline]
    fn evaluate(&self, f: &Mat3x2, psd: Psd) -> Evaluation {
        let inner = self.energy.evaluate(f, psd);
        let k = self.stiffness.get();
        Evaluation {
            energy: saturate(inner.energy * k),
            pk1: inner.pk1.mul_saturating(k),
            hessian: inner.hessian.mul_saturating(k),
        }
    }
}

impl<E: Eigenanalysis> Eigenanalysis for Scaled<E> {
    fn eigensystem(&self, f: &Mat3x2) -> MembraneEigenpairs {
        let mut pairs = self.energy.eigensystem(f);
        pairs.values = pairs.values.map(|value| saturate(value * self.stiffness.get()));
        pairs
    }
}

/// The sum of two energies.
///
/// Projection acts on each part, so the result is positive semidefinite and majorises the exact
/// Hessian, but it is not the nearest such matrix: the eigenvectors of the parts differ. For the
/// same reason a sum has no [`Eigenanalysis`]; where its eigenvalues are needed, use
/// [`Eigenpairs::numeric`](plisse_eigen::Eigenpairs::numeric) on the exact Hessian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum<A, B>(pub A, pub B);

impl<A: MembraneEnergy, B: MembraneEnergy> MembraneEnergy for Sum<A, B> {
    #[inline]
    fn energy(&self, f: &Mat3x2) -> f64 {
        self.0.energy(f) + self.1.energy(f)
    }
    #[inline]
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        self.0.pk1(f) + self.1.pk1(f)
    }
    #[inline]
    fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2> {
        self.0.hessian(f, psd) + self.1.hessian(f, psd)
    }
    #[inline]
    fn evaluate(&self, f: &Mat3x2, psd: Psd) -> Evaluation {
        let (a, b) = (self.0.evaluate(f, psd), self.1.evaluate(f, psd));
        Evaluation { energy: a.energy + b.energy, pk1: a.pk1 + b.pk1, hessian: a.hessian + b.hessian }
    }
}
