//! Energies of the stretch of fibres, and the Baraff-Witkin stretch made of two of them.
//!
//! For one fibre with unit direction `a`, `y = F a`, `s = |y|`, `n = y/s` (Kim20, section 4.2, for
//! any law and any rest stretch):
//!
//! ```text
//! P = ψ' n aᵀ
//! H = a aᵀ ⊗ [ ψ'' n nᵀ + (ψ'/s) (I - n nᵀ) ]
//! ```

use glam::{DMat3, DVec2, DVec3};
use plisse_core::{Blocks, Mat3x2, Positive, Psd, UnitDir2, project_numeric, saturate};
use plisse_eigen::{Eigenpairs, FibreImage, MembraneEigenpairs, radial_hessian};

use crate::energy::{Eigenanalysis, Evaluation, MembraneEnergy};
use crate::law::{FibreLaw, Green, Quadratic, Quartic};

/// One family of fibres: `k ψ(‖Fa‖; b)`.
///
/// A collapsed fibre, `F a = 0` exactly, has no direction: it exerts no force and has the stiffness
/// [`FibreLaw::collapsed`] in all directions. Down to the smallest positive stretch the derivatives
/// are the true ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fibre<L> {
    direction: UnitDir2,
    rest: f64,
    stiffness: f64,
    law: L,
}

impl<L: FibreLaw> Fibre<L> {
    /// A fibre with unit stiffness.
    ///
    /// `direction` in material coordinates, `rest` the stretch at which it has no tension (Baraff
    /// and Witkin's `b`, usually one).
    #[must_use]
    pub fn new(direction: UnitDir2, rest: Positive, law: L) -> Self {
        Self { direction, rest: rest.get(), stiffness: 1.0, law }
    }

    /// The same fibre with another stiffness, in N/m.
    #[must_use]
    pub fn with_stiffness(self, stiffness: Positive) -> Self {
        Self { stiffness: stiffness.get(), ..self }
    }

    /// The direction in material coordinates.
    #[must_use]
    pub fn direction(&self) -> UnitDir2 {
        self.direction
    }

    /// The stretch without tension.
    #[must_use]
    pub fn rest(&self) -> f64 {
        self.rest
    }

    /// The stiffness in N/m.
    #[must_use]
    pub fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// Laws may overflow; an infinity times a positive stiffness is still an infinity, never NaN.
    #[inline]
    fn scale(&self, value: f64) -> f64 {
        saturate(value * self.stiffness)
    }

    #[inline(always)]
    fn energy_at(&self, image: &FibreImage) -> f64 {
        self.scale(self.law.energy(image.length, self.rest))
    }

    /// A collapsed fibre has the direction zero, hence no stress.
    #[inline(always)]
    fn stress_at(&self, image: &FibreImage) -> Mat3x2 {
        let tension = self.scale(self.law.tension(image.length, self.rest));
        Mat3x2::outer(image.direction * tension, self.direction.get())
    }

    /// Stiffness along and across the fibre.
    #[inline(always)]
    fn moduli_at(&self, image: &FibreImage) -> [f64; 2] {
        let (s, b) = (image.length, self.rest);
        if s == 0.0 {
            [self.scale(self.law.collapsed(b)); 2]
        } else {
            [self.scale(self.law.along(s, b)), self.scale(self.law.across(s, image.inverse, b))]
        }
    }

    /// The 3×3 Hessian by `F a`.
    #[inline(always)]
    fn block_at(&self, image: &FibreImage, psd: Psd) -> DMat3 {
        let [along, across] = self.moduli_at(image).map(|value| psd.apply(value));
        radial_hessian(image.direction, along, across)
    }

    /// Three modes along `a`, with their eigenvalues.
    fn modes(&self, f: &Mat3x2) -> [(f64, [DVec3; 2]); 3] {
        let a = self.direction.get();
        let image = FibreImage::new(f, a);
        let [along, across] = self.moduli_at(&image);
        let n = if image.length == 0.0 { DVec3::X } else { image.direction };
        let (t, u) = n.any_orthonormal_pair();
        let mode = |v: DVec3| [v * a.x, v * a.y];
        [(along, mode(n)), (across, mode(t)), (across, mode(u))]
    }
}

/// `a aᵀ ⊗ x`.
#[inline]
fn lift(x: DMat3, a: DVec2) -> Blocks<2> {
    let mixed = x * (a.x * a.y);
    Blocks([[x * (a.x * a.x), mixed], [mixed, x * (a.y * a.y)]])
}

/// `a aᵀ ⊗ x + b bᵀ ⊗ y`.
#[inline(always)]
fn lift_pair([x, y]: [DMat3; 2], [a, b]: [DVec2; 2]) -> Blocks<2> {
    let mixed = x * (a.x * a.y) + y * (b.x * b.y);
    Blocks([[x * (a.x * a.x) + y * (b.x * b.x), mixed], [mixed, x * (a.y * a.y) + y * (b.y * b.y)]])
}

impl<L: FibreLaw> Fibre<L> {
    #[inline(always)]
    fn with_image<T>(&self, f: &Mat3x2, body: impl Fn(&FibreImage) -> T) -> T {
        FibreImage::with(f, self.direction.get(), |image| body(&image))
    }
}

impl<L: FibreLaw> MembraneEnergy for Fibre<L> {
    #[inline]
    fn energy(&self, f: &Mat3x2) -> f64 {
        self.with_image(f, |image| self.energy_at(image))
    }
    #[inline]
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        self.with_image(f, |image| self.stress_at(image))
    }
    #[inline]
    fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2> {
        self.with_image(f, |image| lift(self.block_at(image, psd), self.direction.get()))
    }
    #[inline]
    fn evaluate(&self, f: &Mat3x2, psd: Psd) -> Evaluation {
        self.with_image(f, |image| Evaluation {
            energy: self.energy_at(image),
            pk1: self.stress_at(image),
            hessian: lift(self.block_at(image, psd), self.direction.get()),
        })
    }
}

impl<L: FibreLaw> Eigenanalysis for Fibre<L> {
    /// The three modes along the fibre, then three zeros.
    fn eigensystem(&self, f: &Mat3x2) -> MembraneEigenpairs {
        let across = self.direction.perp().get();
        let zero = |v: DVec3| (0.0, [v * across.x, v * across.y]);
        let [p, q, r] = self.modes(f);
        collect([p, q, r, zero(DVec3::X), zero(DVec3::Y), zero(DVec3::Z)])
    }
}

fn collect(pairs: [(f64, [DVec3; 2]); 6]) -> MembraneEigenpairs {
    Eigenpairs { values: pairs.map(|pair| pair.0), modes: pairs.map(|pair| pair.1) }
}

/// Two families of fibres, warp and weft.
///
/// For orthogonal directions the two terms live in orthogonal subspaces and everything is
/// closed-form. For other directions the exact eigensystem of the pair has no closed form:
/// projection and eigensystem are then computed numerically (about 1.5 µs). Where speed matters
/// more than the nearest matrix, use [`Sum`](crate::Sum)`(Fibre, Fibre)`, which projects each fibre
/// by itself: positive semidefinite too, but up to 0.4 ‖H‖ away from the nearest such matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FibrePair<L> {
    fibres: [Fibre<L>; 2],
    layout: Layout,
}

/// How the two directions lie to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    /// Along the material axes: the Hessian is block-diagonal. By far the most common, and twice as
    /// fast.
    Axes,
    /// Orthogonal: the terms do not interact.
    Orthogonal,
    /// Anything else.
    Oblique,
}

/// Baraff-Witkin stretch, `(‖Fa‖ - bu)² + (‖Fb‖ - bv)²` (Kim20, equation 13).
pub type Stretch = FibrePair<Quadratic>;
/// The quartic companion of [`Stretch`], `(‖Fa‖ - bu)⁴ + (‖Fb‖ - bv)⁴` (Kim20, equation 43 as a
/// density).
pub type QuarticStretch = FibrePair<Quartic>;
/// The fibre term of a St. Venant-Kirchhoff material, `(I5(a) - bu²)² + (I5(b) - bv²)²`.
pub type GreenStretch = FibrePair<Green>;

impl<L: FibreLaw> FibrePair<L> {
    /// Two fibres, each with its own direction, rest stretch, stiffness and law.
    #[must_use]
    pub fn from_fibres(warp: Fibre<L>, weft: Fibre<L>) -> Self {
        let layout = if warp.direction == UnitDir2::U && weft.direction == UnitDir2::V {
            Layout::Axes
        } else if warp.direction.dot(weft.direction).abs() <= 1e-12 {
            // The coupling is smaller than the rounding of directions that came from a file.
            Layout::Orthogonal
        } else {
            Layout::Oblique
        };
        Self { fibres: [warp, weft], layout }
    }

    /// The same fibres with other stiffnesses, in N/m.
    #[must_use]
    pub fn with_stiffness(self, [warp, weft]: [Positive; 2]) -> Self {
        let [a, b] = self.fibres;
        Self::from_fibres(a.with_stiffness(warp), b.with_stiffness(weft))
    }

    /// The two fibres.
    #[must_use]
    pub fn fibres(&self) -> &[Fibre<L>; 2] {
        &self.fibres
    }

    #[inline]
    fn directions(&self) -> [DVec2; 2] {
        [self.fibres[0].direction.get(), self.fibres[1].direction.get()]
    }

    #[inline(always)]
    fn blocks_at(&self, images: &[FibreImage; 2], psd: Psd) -> [DMat3; 2] {
        [self.fibres[0].block_at(&images[0], psd), self.fibres[1].block_at(&images[1], psd)]
    }

    #[inline(always)]
    fn hessian_at(&self, images: &[FibreImage; 2], psd: Psd) -> Blocks<2> {
        if self.layout == Layout::Axes {
            let [x, y] = self.blocks_at(images, psd);
            Blocks([[x, DMat3::ZERO], [DMat3::ZERO, y]])
        } else {
            self.hessian_of_turned(images, psd)
        }
    }

    /// Out of line: beside it, the common case of aligned fibres would have fewer registers.
    #[inline(never)]
    fn hessian_of_turned(&self, images: &[FibreImage; 2], psd: Psd) -> Blocks<2> {
        if self.layout == Layout::Orthogonal || psd == Psd::Exact {
            return lift_pair(self.blocks_at(images, psd), self.directions());
        }
        let exact = lift_pair(self.blocks_at(images, Psd::Exact), self.directions());
        Blocks::from_matrix(&project_numeric(&exact.to_matrix::<6>(), psd))
    }
}

impl<L: FibreLaw + Default> FibrePair<L> {
    /// Two directions with the stretches at which they have no tension, unit stiffness.
    #[must_use]
    pub fn new(directions: [UnitDir2; 2], rest: [Positive; 2]) -> Self {
        let fibre = |i: usize| Fibre::new(directions[i], rest[i], L::default());
        Self::from_fibres(fibre(0), fibre(1))
    }

    /// Warp and weft along the material axes, at rest for stretch one, unit stiffness.
    #[must_use]
    pub fn warp_weft() -> Self {
        Self::new([UnitDir2::U, UnitDir2::V], [Positive::ONE; 2])
    }
}

impl<L: FibreLaw> MembraneEnergy for FibrePair<L> {
    #[inline]
    fn energy(&self, f: &Mat3x2) -> f64 {
        let [a, b] = &self.fibres;
        FibreImage::with_pair(f, self.directions(), |[x, y]| a.energy_at(&x) + b.energy_at(&y))
    }
    #[inline]
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        let [a, b] = &self.fibres;
        FibreImage::with_pair(f, self.directions(), |[x, y]| a.stress_at(&x) + b.stress_at(&y))
    }
    #[inline]
    fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2> {
        FibreImage::with_pair(f, self.directions(), |images| self.hessian_at(&images, psd))
    }
    #[inline]
    fn evaluate(&self, f: &Mat3x2, psd: Psd) -> Evaluation {
        let [a, b] = &self.fibres;
        FibreImage::with_pair(f, self.directions(), |images| Evaluation {
            energy: a.energy_at(&images[0]) + b.energy_at(&images[1]),
            pk1: a.stress_at(&images[0]) + b.stress_at(&images[1]),
            hessian: self.hessian_at(&images, psd),
        })
    }
}

impl<L: FibreLaw> Eigenanalysis for FibrePair<L> {
    /// Closed-form for orthogonal directions, numeric otherwise.
    fn eigensystem(&self, f: &Mat3x2) -> MembraneEigenpairs {
        if self.layout == Layout::Oblique {
            return Eigenpairs::numeric(&self.hessian(f, Psd::Exact));
        }
        let ([p, q, r], [s, t, u]) = (self.fibres[0].modes(f), self.fibres[1].modes(f));
        collect([p, q, r, s, t, u])
    }
}
