//! Energies of the stretch of fibres, and the Baraff-Witkin stretch made of two of them.
//!
//! For one fibre with unit direction `a`, `y = F a`, `s = |y|`, `n = y/s` (Kim20, section 4.2, for any law and
//! any rest stretch):
//!
//! ```text
//! P = ψ' n aᵀ
//! H = a aᵀ ⊗ [ ψ'' n nᵀ + (ψ'/s) (I - n nᵀ) ]
//! ```

use plisse_core::{Blocks, Mat3x2, Positive, Psd, UnitDir2, length_and_direction, project_numeric, saturate};
use plisse_eigen::{Eigenpairs, MembraneEigenpairs, radial_hessian};

use glam::{DMat3, DVec2, DVec3};

use crate::energy::{Eigenanalysis, Evaluation, MembraneEnergy};
use crate::law::{FibreLaw, Green, Quadratic, Quartic};

/// One family of fibres: `k ψ(‖Fa‖; b)`.
///
/// A collapsed fibre, `F a = 0` exactly, has no direction: it exerts no force, and every policy but the sign of
/// [`FibreLaw::collapsed`] returns that stiffness in all directions. Down to the smallest positive stretch the
/// derivatives are the true ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fibre<L> {
    direction: UnitDir2,
    rest: f64,
    stiffness: f64,
    law: L,
}

/// What the law says at one stretch.
struct FibreState {
    energy: f64,
    tension: f64,
    n: DVec3,
    along: f64,
    across: f64,
}

impl<L: FibreLaw> Fibre<L> {
    /// A fibre with unit stiffness.
    ///
    /// `direction` in material coordinates, `rest` the stretch at which it has no tension (Baraff and Witkin's
    /// `b`, usually one).
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

    /// Stretch and direction of the deformed fibre.
    #[inline]
    fn image(&self, f: &Mat3x2) -> (f64, Option<DVec3>) {
        let y = *f * self.direction.get();
        match length_and_direction(y) {
            Some((s, n)) if s.is_finite() && n.is_finite() => (s, Some(n)),
            None => (0.0, None),
            Some(_) => self.image_saturated(f),
        }
    }

    /// Beyond the largest numbers `F a` itself overflows: a shortened `F` has the same direction.
    #[cold]
    fn image_saturated(&self, f: &Mat3x2) -> (f64, Option<DVec3>) {
        let shorter = f.saturated();
        match length_and_direction(shorter * self.direction.get()) {
            Some((s, n)) => (s, Some(n)),
            None => (0.0, None),
        }
    }

    #[inline]
    fn scale(&self, value: f64) -> f64 {
        saturate(saturate(value) * self.stiffness)
    }

    #[inline]
    fn state(&self, f: &Mat3x2) -> FibreState {
        let b = self.rest;
        match self.image(f) {
            (s, Some(n)) => FibreState {
                energy: self.scale(self.law.energy(s, b)),
                tension: self.scale(self.law.tension(s, b)),
                n,
                along: self.scale(self.law.along(s, b)),
                across: self.scale(self.law.across(s, b)),
            },
            (s, None) => {
                let stiffness = self.scale(self.law.collapsed(b));
                let energy = self.scale(self.law.energy(s, b));
                FibreState { energy, tension: 0.0, n: DVec3::X, along: stiffness, across: stiffness }
            }
        }
    }

    #[inline]
    fn value(&self, f: &Mat3x2) -> f64 {
        self.scale(self.law.energy(self.image(f).0, self.rest))
    }

    #[inline]
    fn stress(&self, f: &Mat3x2) -> Mat3x2 {
        match self.image(f) {
            (s, Some(n)) => {
                Mat3x2::outer(n * self.scale(self.law.tension(s, self.rest)), self.direction.get())
            }
            (_, None) => Mat3x2::ZERO,
        }
    }

    #[inline]
    fn block(&self, f: &Mat3x2, psd: Psd) -> DMat3 {
        self.state(f).block(psd)
    }
}

impl FibreState {
    /// The 3×3 Hessian by `F a`.
    #[inline]
    fn block(&self, psd: Psd) -> DMat3 {
        radial_hessian(self.n, psd.apply(self.along), psd.apply(self.across))
    }

    /// Three modes along `a`, with their eigenvalues.
    fn modes(&self, a: DVec2) -> [(f64, [DVec3; 2]); 3] {
        let (t, u) = self.n.any_orthonormal_pair();
        let mode = |v: DVec3| [v * a.x, v * a.y];
        [(self.along, mode(self.n)), (self.across, mode(t)), (self.across, mode(u))]
    }
}

/// `a aᵀ ⊗ x`.
#[inline]
fn lift(x: DMat3, a: DVec2) -> Blocks<2> {
    let mixed = x * (a.x * a.y);
    Blocks([[x * (a.x * a.x), mixed], [mixed, x * (a.y * a.y)]])
}

/// `a aᵀ ⊗ x + b bᵀ ⊗ y`.
#[inline]
fn lift_pair(x: DMat3, a: DVec2, y: DMat3, b: DVec2) -> Blocks<2> {
    let mixed = x * (a.x * a.y) + y * (b.x * b.y);
    Blocks([[x * (a.x * a.x) + y * (b.x * b.x), mixed], [mixed, x * (a.y * a.y) + y * (b.y * b.y)]])
}

impl<L: FibreLaw> MembraneEnergy for Fibre<L> {
    #[inline]
    fn energy(&self, f: &Mat3x2) -> f64 {
        self.value(f)
    }
    #[inline]
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        self.stress(f)
    }
    #[inline]
    fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2> {
        lift(self.block(f, psd), self.direction.get())
    }
    #[inline]
    fn evaluate(&self, f: &Mat3x2, psd: Psd) -> Evaluation {
        let (state, a) = (self.state(f), self.direction.get());
        Evaluation {
            energy: state.energy,
            pk1: Mat3x2::outer(state.n * state.tension, a),
            hessian: lift(state.block(psd), a),
        }
    }
}

impl<L: FibreLaw> Eigenanalysis for Fibre<L> {
    /// The three modes along the fibre, then three zeros.
    fn eigensystem(&self, f: &Mat3x2) -> MembraneEigenpairs {
        let a = self.direction.get();
        let zero = |v: DVec3| (0.0, [v * a.perp().x, v * a.perp().y]);
        let [p, q, r] = self.state(f).modes(a);
        collect([p, q, r, zero(DVec3::X), zero(DVec3::Y), zero(DVec3::Z)])
    }
}

fn collect(pairs: [(f64, [DVec3; 2]); 6]) -> MembraneEigenpairs {
    Eigenpairs { values: pairs.map(|pair| pair.0), modes: pairs.map(|pair| pair.1) }
}

/// Two families of fibres, warp and weft.
///
/// For orthogonal directions the two terms live in orthogonal subspaces and everything is closed-form. For other
/// directions the exact eigensystem of the pair has no closed form: projection and eigensystem are then computed
/// numerically (about 1.5 µs). Where speed matters more than the nearest matrix, use
/// [`Sum`](crate::Sum)`(Fibre, Fibre)`, which projects each fibre by itself: positive semidefinite too, but up to
/// 0.4 ‖H‖ away from the nearest such matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FibrePair<L> {
    fibres: [Fibre<L>; 2],
    orthogonal: bool,
}

/// Baraff-Witkin stretch, `(‖Fa‖ - bu)² + (‖Fb‖ - bv)²` (Kim20, equation 13).
pub type Stretch = FibrePair<Quadratic>;
/// The quartic companion of [`Stretch`], `(‖Fa‖ - bu)⁴ + (‖Fb‖ - bv)⁴` (Kim20, equation 43 as a density).
pub type QuarticStretch = FibrePair<Quartic>;
/// The fibre term of a St. Venant-Kirchhoff material, `(I5(a) - bu²)² + (I5(b) - bv²)²`.
pub type GreenStretch = FibrePair<Green>;

impl<L: FibreLaw> FibrePair<L> {
    /// Two fibres, each with its own direction, rest stretch, stiffness and law.
    #[must_use]
    pub fn from_fibres(warp: Fibre<L>, weft: Fibre<L>) -> Self {
        // Below this the coupling is smaller than the rounding of directions that came from a file.
        let orthogonal = warp.direction.dot(weft.direction).abs() <= 1e-12;
        Self { fibres: [warp, weft], orthogonal }
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

    #[inline]
    fn assemble(&self, x: &FibreState, y: &FibreState, psd: Psd) -> Blocks<2> {
        let [a, b] = self.directions();
        if self.orthogonal || psd == Psd::Exact {
            lift_pair(x.block(psd), a, y.block(psd), b)
        } else {
            let exact = lift_pair(x.block(Psd::Exact), a, y.block(Psd::Exact), b);
            Blocks::from_matrix(&project_numeric(&exact.to_matrix::<6>(), psd))
        }
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
        self.fibres[0].value(f) + self.fibres[1].value(f)
    }
    #[inline]
    fn pk1(&self, f: &Mat3x2) -> Mat3x2 {
        self.fibres[0].stress(f) + self.fibres[1].stress(f)
    }
    #[inline]
    fn hessian(&self, f: &Mat3x2, psd: Psd) -> Blocks<2> {
        self.assemble(&self.fibres[0].state(f), &self.fibres[1].state(f), psd)
    }
    #[inline]
    fn evaluate(&self, f: &Mat3x2, psd: Psd) -> Evaluation {
        let (x, y) = (self.fibres[0].state(f), self.fibres[1].state(f));
        let [a, b] = self.directions();
        Evaluation {
            energy: x.energy + y.energy,
            pk1: Mat3x2::outer(x.n * x.tension, a) + Mat3x2::outer(y.n * y.tension, b),
            hessian: self.assemble(&x, &y, psd),
        }
    }
}

impl<L: FibreLaw> Eigenanalysis for FibrePair<L> {
    /// Closed-form for orthogonal directions, numeric otherwise.
    fn eigensystem(&self, f: &Mat3x2) -> MembraneEigenpairs {
        if !self.orthogonal {
            return Eigenpairs::numeric(&self.hessian(f, Psd::Exact));
        }
        let [a, b] = self.directions();
        let [p, q, r] = self.fibres[0].state(f).modes(a);
        let [s, t, u] = self.fibres[1].state(f).modes(b);
        collect([p, q, r, s, t, u])
    }
}
