//! The hinge element of shells.

use glam::DVec3;
use plisse_core::{
    Angle, Blocks, Element, ElementEvaluation, Hinge, HingeFrame, Id, Positive, Psd, StepEnergy, Vertices,
    rarely, saturate,
};
use plisse_eigen::{Eigenpairs, HingeFade, HingeFilter, hinge_hessian};

use crate::law::{AngleEnergy, limited, nothing};

/// How the rest shape enters the stiffness of a hinge: `stiffness = rigidity · weight`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HingeWeight {
    /// `3 l²/A` with the rest length `l` of the edge and the area `A = A0 + A1` of both triangles
    /// (Discrete Shells).
    ///
    /// What `rigidity` means then: for a sheet whose vertices lie on a cylinder, the energy is that
    /// of a plate with the bending rigidity `D = c · rigidity`, where `c` depends on the mesh. It
    /// is 3 on a grid of right triangles bent along or across its cells and on equilateral
    /// triangles, 9 on a grid bent along its diagonals, and 3 to 4 on irregular meshes.
    #[default]
    DiscreteShells,
    /// `l²/A`: a third of that, so that `rigidity` is the `D = E h³/(12 (1 - ν²))` of a plate, in N
    /// m, on grids that bend along their cells and nearly so on irregular meshes.
    AreaSum,
    /// One: the stiffness is that of the hinge itself, N m.
    Unit,
}

impl HingeWeight {
    /// The factor for a hinge.
    #[must_use]
    pub fn of(self, hinge: &Hinge) -> f64 {
        let ratio =
            hinge.rest_length() * hinge.rest_length() / (hinge.rest_areas()[0] + hinge.rest_areas()[1]);
        match self {
            Self::DiscreteShells => 3.0 * ratio,
            Self::AreaSum => ratio,
            Self::Unit => 1.0,
        }
    }
}

/// Two triangles that share an edge, with an energy `stiffness · ψ(θ; θr)` of the angle between
/// them.
///
/// `Psd::Clamp` and `Psd::Abs` apply the [`HingeFilter`]: positive semidefinite, for `Numeric` the
/// nearest such matrix.
///
/// **Collapse.** The angle has no limit where a triangle loses its height. A hinge of a rest shape
/// therefore has the energy `ψr + w0 w1 (ψ - ψr)` with a weight per triangle ([`HingeFade`]): one,
/// and nothing but the above, while the mean height `(Σ 1/h²)^(-1/2)` of the triangle is above
/// [`Hinge::reach`], a tenth of that of the smaller triangle at rest; falling to zero below, twice
/// differentiable. `ψr = ψ(θr; θr)`. For laws that are bounded the forces then are, too: over all
/// four vertices `|∇E| ≤ stiffness (2.2 max|ψ'| + 4.4 max|ψ - ψr|)/reach`, whatever the state.
/// Where it fades, every filter is the numeric one.
///
/// A hinge whose edge or one of whose heights is below 1e-12 of its longest edge has no angle:
/// energy `ψr`, derivatives zero. A full fold is the jump of the angle from π to -π; derivatives
/// are those of +π.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HingeElement<L> {
    nodes: [Id<Vertices>; 4],
    stiffness: f64,
    rest: f64,
    reach: f64,
    law: L,
    filter: HingeFilter,
}

impl<L: AngleEnergy> HingeElement<L> {
    /// A hinge of a rest shape, at rest in its rest angle.
    #[must_use]
    pub fn new(hinge: &Hinge, law: L, rigidity: Positive, weight: HingeWeight) -> Self {
        let stiffness = saturate(rigidity.get() * weight.of(hinge));
        Self {
            nodes: hinge.vertices(),
            stiffness,
            rest: hinge.rest_angle(),
            reach: hinge.reach(),
            law,
            filter: HingeFilter::V2,
        }
    }

    /// A hinge over any four vertices, in the order of [`Hinge`]; stiffness in N m. Without a rest
    /// shape it does not know what a collapse is: it does not fade, unless
    /// [`HingeElement::with_reach`] says where, and its forces grow as one over its heights.
    #[must_use]
    pub fn from_parts(nodes: [Id<Vertices>; 4], law: L, stiffness: Positive, rest: Angle) -> Self {
        Self { nodes, stiffness: stiffness.get(), rest: rest.get(), reach: 0.0, law, filter: HingeFilter::V2 }
    }

    /// With another mean height below which a triangle fades, in metres.
    #[must_use]
    pub fn with_reach(self, reach: Positive) -> Self {
        Self { reach: reach.get(), ..self }
    }

    /// With another rest angle.
    #[must_use]
    pub fn with_rest_angle(self, rest: Angle) -> Self {
        Self { rest: rest.get(), ..self }
    }

    /// The same over other vertices.
    #[must_use]
    pub fn with_nodes(self, nodes: [Id<Vertices>; 4]) -> Self {
        Self { nodes, ..self }
    }

    /// With another filter than `V2`.
    #[must_use]
    pub fn with_filter(self, filter: HingeFilter) -> Self {
        Self { filter, ..self }
    }

    /// The law.
    #[must_use]
    pub fn law(&self) -> &L {
        &self.law
    }

    /// The filter.
    #[must_use]
    pub fn filter(&self) -> HingeFilter {
        self.filter
    }

    /// The stiffness in N m: rigidity times weight.
    #[must_use]
    pub fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// The rest angle in radians.
    #[must_use]
    pub fn rest_angle(&self) -> f64 {
        self.rest
    }

    /// The height in metres below which a triangle fades; zero if none does.
    #[inline]
    pub(crate) fn reach(&self) -> f64 {
        self.reach
    }

    /// The energy at an angle in radians, in joules: `ψ` times the stiffness, limited to 1e150, as
    /// are its derivatives.
    #[inline]
    #[must_use]
    pub fn energy_at(&self, theta: f64) -> f64 {
        limited(self.law.psi(theta, self.rest), self.stiffness)
    }

    /// Its derivative by the angle, N m.
    #[inline]
    #[must_use]
    pub fn moment_at(&self, theta: f64) -> f64 {
        limited(self.law.g(theta, self.rest), self.stiffness)
    }

    /// Its second derivative by the angle, N m.
    #[inline]
    #[must_use]
    pub fn stiffness_at(&self, theta: f64) -> f64 {
        limited(self.law.h(theta, self.rest), self.stiffness)
    }

    /// The twelve eigenpairs of the exact Hessian, numerically; see the page *Modes* of the book.
    /// For a hinge away from rest four are positive, four negative and four zero.
    #[must_use]
    pub fn eigensystem(&self, x: &[DVec3; 4]) -> Eigenpairs<4, 12> {
        Eigenpairs::numeric(&self.hessian(x, Psd::Exact))
    }
}

/// What resists a change of the angle beside the spring: nothing, or a dashpot.
pub(crate) trait Resistance: Copy {
    /// Energies of a step that ends at an angle, where the spring stores this.
    fn energies(&self, theta: f64, stored: f64) -> StepEnergy;
    /// The moment at an angle, with that of the spring.
    fn moment(&self, theta: f64, spring: f64) -> f64;
    /// The stiffness, with that of the spring.
    fn stiffness(&self, spring: f64) -> f64;
}

impl Resistance for () {
    #[inline(always)]
    fn energies(&self, _: f64, stored: f64) -> StepEnergy {
        StepEnergy::of_storage(stored)
    }

    #[inline(always)]
    fn moment(&self, _: f64, spring: f64) -> f64 {
        spring
    }

    #[inline(always)]
    fn stiffness(&self, spring: f64) -> f64 {
        spring
    }
}

/// Energies of a step, forces and stiffness.
type All = (StepEnergy, [DVec3; 4], Blocks<4>);

/// The frame of a hinge that is far from a collapse; leaves the function otherwise. Copies for
/// whatever is rare: references would keep positions and resistance in memory.
macro_rules! open_frame {
    ($self:ident, $x:ident, $resists:ident, $psd:expr, $part:expr) => {
        match HingeFrame::new($x) {
            Some(frame) if frame.is_higher_than($self.reach) => frame,
            _ => {
                let (x, resists) = (*$x, *$resists);
                return rarely(move || $part($self.near_collapse(&x, &resists, $psd)));
            }
        }
    };
}

/// Spring and resistance together.
// Always in line: a call that is given a reference keeps the positions in memory, where they cost
// half as much again as in registers.
impl<L: AngleEnergy> HingeElement<L> {
    #[inline(always)]
    pub(crate) fn energies_with<R: Resistance>(&self, x: &[DVec3; 4], resists: &R) -> StepEnergy {
        let frame = open_frame!(self, x, resists, Psd::Exact, |all: All| all.0);
        resists.energies(frame.theta(), self.energy_at(frame.theta()))
    }

    #[inline(always)]
    pub(crate) fn gradient_with<R: Resistance>(&self, x: &[DVec3; 4], resists: &R) -> [DVec3; 4] {
        let frame = open_frame!(self, x, resists, Psd::Exact, |all: All| all.1);
        let moment = resists.moment(frame.theta(), self.moment_at(frame.theta()));
        frame.gradient().map(|v| v * moment)
    }

    #[inline(always)]
    pub(crate) fn energies_and_gradient_with<R: Resistance>(
        &self,
        x: &[DVec3; 4],
        resists: &R,
    ) -> (StepEnergy, [DVec3; 4]) {
        let frame = open_frame!(self, x, resists, Psd::Exact, |all: All| (all.0, all.1));
        self.forces_at(&frame, resists)
    }

    #[inline(always)]
    pub(crate) fn hessian_with<R: Resistance>(&self, x: &[DVec3; 4], resists: &R, psd: Psd) -> Blocks<4> {
        let frame = open_frame!(self, x, resists, psd, |all: All| all.2);
        self.hessian_at(&frame, resists, psd)
    }

    #[inline(always)]
    fn slopes(&self, theta: f64, resists: &impl Resistance) -> (f64, f64) {
        (resists.moment(theta, self.moment_at(theta)), resists.stiffness(self.stiffness_at(theta)))
    }

    #[inline(always)]
    fn forces_at(&self, frame: &HingeFrame, resists: &impl Resistance) -> (StepEnergy, [DVec3; 4]) {
        let theta = frame.theta();
        let moment = resists.moment(theta, self.moment_at(theta));
        (resists.energies(theta, self.energy_at(theta)), frame.gradient().map(|v| v * moment))
    }

    #[inline(always)]
    fn hessian_at(&self, frame: &HingeFrame, resists: &impl Resistance, psd: Psd) -> Blocks<4> {
        let (moment, stiffness) = self.slopes(frame.theta(), resists);
        hinge_hessian(frame, moment, stiffness, self.filter, psd)
    }

    #[inline(always)]
    fn all_at(&self, frame: &HingeFrame, resists: &impl Resistance, psd: Psd) -> All {
        let (energies, gradient) = self.forces_at(frame, resists);
        (energies, gradient, self.hessian_at(frame, resists, psd))
    }

    /// Everything, where a triangle may have collapsed.
    fn near_collapse(&self, x: &[DVec3; 4], resists: &impl Resistance, psd: Psd) -> All {
        let rest = self.energy_at(self.rest);
        let Some(frame) = HingeFrame::new(x) else {
            // No angle: the energy of rest, no derivatives; but what is no number stays none.
            let nothing = nothing(x);
            let energies = StepEnergy::of_storage(rest + nothing);
            return (energies, [DVec3::splat(nothing); 4], Blocks::identity() * nothing);
        };
        let Some(fade) = HingeFade::new(x, self.reach) else { return self.all_at(&frame, resists, psd) };
        let (theta, w) = (frame.theta(), fade.weight());
        let (moment, stiffness) = self.slopes(theta, resists);
        let all = resists.energies(theta, self.energy_at(theta) - rest);
        let energies = StepEnergy {
            potential: rest + w * all.potential,
            stored: rest + w * all.stored,
            dissipated: w * all.dissipated,
        };
        (
            energies,
            fade.gradient_of(&frame, all.potential, moment),
            fade.hessian_of(&frame, all.potential, moment, stiffness, psd),
        )
    }
}

impl<L: AngleEnergy> Element<4> for HingeElement<L> {
    type Space = Vertices;

    fn nodes(&self) -> [Id<Vertices>; 4] {
        self.nodes
    }

    #[inline]
    fn energy(&self, x: &[DVec3; 4]) -> f64 {
        self.energies_with(x, &()).stored
    }

    #[inline]
    fn gradient(&self, x: &[DVec3; 4]) -> [DVec3; 4] {
        self.gradient_with(x, &())
    }

    #[inline]
    fn energy_and_gradient(&self, x: &[DVec3; 4]) -> (f64, [DVec3; 4]) {
        let (energies, gradient) = self.energies_and_gradient_with(x, &());
        (energies.stored, gradient)
    }

    #[inline]
    fn hessian(&self, x: &[DVec3; 4], psd: Psd) -> Blocks<4> {
        self.hessian_with(x, &(), psd)
    }

    #[inline]
    fn evaluate(&self, x: &[DVec3; 4], psd: Psd) -> ElementEvaluation<4> {
        let of = |(energies, gradient, hessian): All| ElementEvaluation {
            energy: energies.stored,
            gradient,
            hessian,
        };
        let resists = &();
        let frame = open_frame!(self, x, resists, psd, of);
        of(self.all_at(&frame, resists, psd))
    }
}
