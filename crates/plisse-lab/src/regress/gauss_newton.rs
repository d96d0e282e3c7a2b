//! Elements with another Hessian: the outer product of first derivatives only, which most cloth
//! programs use.

use glam::DVec3;
use plisse::bending::{HingeElement, QuadraticAngle};
use plisse::core::{Blocks, Element, HingeFrame, Id, Mat3x2, Psd, Vertices, outer};
use plisse::membrane::{BaraffWitkin, MembraneEnergy};

/// What is assembled in the place of a hinge's Hessian, whatever is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    /// The filtered Hessian.
    Filtered,
    /// The exact Hessian.
    Unfiltered,
    /// `ψ'' ∇θ ∇θᵀ` alone.
    GaussNewton,
}

/// A hinge with a fixed choice of Hessian.
pub(crate) struct Hinge {
    pub(crate) element: HingeElement<QuadraticAngle>,
    pub(crate) filter: Filter,
}

impl Element<4> for Hinge {
    type Space = Vertices;

    fn nodes(&self) -> [Id<Vertices>; 4] {
        self.element.nodes()
    }

    fn energy(&self, x: &[DVec3; 4]) -> f64 {
        self.element.energy(x)
    }

    fn gradient(&self, x: &[DVec3; 4]) -> [DVec3; 4] {
        self.element.gradient(x)
    }

    fn hessian(&self, x: &[DVec3; 4], _: Psd) -> Blocks<4> {
        match self.filter {
            Filter::Filtered => self.element.hessian(x, Psd::Clamp),
            Filter::Unfiltered => self.element.hessian(x, Psd::Exact),
            Filter::GaussNewton => {
                let mut out = Blocks::ZERO;
                if let Some(frame) = HingeFrame::new(x) {
                    // ψ'' of the quadratic law is 1.
                    out.add_outer(&frame.gradient(), self.element.stiffness());
                }
                out
            }
        }
    }
}

/// An energy with its projection, whatever is asked for.
pub(crate) struct AlwaysProjected<E>(pub(crate) E);

impl<E: MembraneEnergy> MembraneEnergy for AlwaysProjected<E> {
    fn energy(&self, f: &Mat3x2) -> f64 {
        self.0.energy(f)
    }
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        self.0.pk1(f)
    }
    fn hessian(&self, f: &Mat3x2, _: Psd) -> Blocks<2> {
        self.0.hessian(f, Psd::Clamp)
    }
}

/// Baraff-Witkin with warp and weft along the axes and `k (∇C ∇Cᵀ)` for a Hessian.
pub(crate) struct GaussNewtonCloth {
    pub(crate) cloth: BaraffWitkin,
    pub(crate) moduli: [f64; 3],
}

impl MembraneEnergy for GaussNewtonCloth {
    fn energy(&self, f: &Mat3x2) -> f64 {
        self.cloth.energy(f)
    }

    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        self.cloth.pk1(f)
    }

    fn hessian(&self, f: &Mat3x2, _: Psd) -> Blocks<2> {
        let [warp, weft, shear] = self.moduli;
        let along = |c: DVec3, k: f64| {
            let n = c.normalize_or_zero();
            outer(n * k, n)
        };
        let mut out = Blocks::ZERO;
        out.0[0][0] = along(f.c0, warp);
        out.0[1][1] = along(f.c1, weft);
        // I₆ = F₀·F₁.
        out.add_outer(&[f.c1, f.c0], shear);
        out
    }
}
