//! A hinge that stores energy and resists change.

use glam::DVec3;
use plisse_core::range::FACTOR;
use plisse_core::{
    Blocks, Element, ElementStep, HingeFrame, HingeSpring, Id, Positive, Psd, RateElement, StepEnergy,
    Vertices, rarely,
};
use plisse_eigen::{HingeFade, HingeFilter, hinge_hessian};

use crate::angles::HingeAngle;
use crate::start::StrainStart;
use crate::strain::Strain;

/// Changes of angle beyond this count as this, rad: with the above and the smallest hinges, Hessians are still finite.
const LARGEST_CHANGE: f64 = 1e20;

/// A spring and a dashpot in one hinge (a Kelvin-Voigt element): energy and dissipation of the same angle, so that the geometry of
/// the hinge, which is nearly all of its cost, is computed once.
///
/// The viscosity is `beta` times the stiffness of the spring at the start of the step, or zero where that is negative (SO18,
/// equation 12). For other laws, and for other filters than `V2`, put a [`Dissipation`](crate::Dissipation) of the [`HingeAngle`] beside a hinge.
///
/// As an [`Element`] it is the spring, as a [`RateElement`] the sum of both. Hessians other than exact have the filter
/// [`V2`](HingeFilter::V2), for the sum of both.
///
/// Where a triangle collapses, the energy of the spring fades, and so does what resists: by the weight ([`HingeFade`]) of the
/// start of the step times that of its end, so that neither force nor rate of an angle that has no limit remains. A hinge without
/// length or height has no angle: derivatives are zero there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DampedHinge<W> {
    spring: W,
    beta: f64,
}

/// What a [`DampedHinge`] keeps of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HingeStart {
    /// The angle, rad.
    at: f64,
    /// How much it would have to change for the rate to be zero, rad.
    expected: f64,
    /// Viscosity times the factor of rates, N m; zero where the hinge had no angle.
    resists: f64,
}

impl<W: HingeSpring> DampedHinge<W> {
    /// A spring with damping; `beta` in seconds.
    #[must_use]
    pub fn new(spring: W, beta: Positive) -> Self {
        Self { spring, beta: beta.get() }
    }
}

impl HingeStart {
    /// Nothing resists: the hinge had no angle, or there is no step.
    const FREE: Self = Self { at: 0.0, expected: 0.0, resists: 0.0 };

    /// The change of the angle since the start, the shorter way.
    #[inline(always)]
    fn change(&self, theta: f64) -> f64 {
        HingeAngle::default().difference(&[theta], &[self.at])[0]
    }

    #[inline(always)]
    fn moment(&self, theta: f64) -> f64 {
        self.resists * (self.change(theta) - self.expected)
    }

    /// With what a spring stores.
    #[inline(always)]
    fn energies(&self, stored: f64, theta: f64) -> StepEnergy {
        let change = self.change(theta);
        let excess = change - self.expected;
        let moment = self.resists * excess;
        StepEnergy { potential: stored + 0.5 * moment * excess, stored, dissipated: moment * change }
    }
}

/// Energies of a step, forces and stiffness.
type All = (StepEnergy, [DVec3; 4], Blocks<4>);

/// What a hinge without an angle answers: nothing, unless a position is NaN, which must not be hidden.
// Always in line: a call that is given a reference keeps the positions in memory, where they cost half as much again as in registers.
#[inline(always)]
fn nothing(x: &[DVec3; 4]) -> f64 {
    if x.iter().any(|p| p.is_nan()) { f64::NAN } else { 0.0 }
}

/// The frame of a hinge that is far from a collapse; leaves the function otherwise.
// Copies for whatever is rare: references would keep positions and start in memory.
macro_rules! open_frame {
    ($self:ident, $x:expr, $start:expr, $psd:expr, $part:expr) => {
        match HingeFrame::new($x) {
            Some(frame) if frame.is_higher_than($self.spring.reach()) => frame,
            _ => {
                let (x, start) = (*$x, *$start);
                return rarely(move || $part($self.near_collapse(&x, &start, $psd)));
            }
        }
    };
}

impl<W: HingeSpring> DampedHinge<W> {
    #[inline(always)]
    fn hessian_of(&self, x: &[DVec3; 4], start: &HingeStart, psd: Psd) -> Blocks<4> {
        let frame = open_frame!(self, x, start, psd, |all: All| all.2);
        self.stiffness_of(&frame, start, psd)
    }

    #[inline(always)]
    fn stiffness_of(&self, frame: &HingeFrame, start: &HingeStart, psd: Psd) -> Blocks<4> {
        let theta = frame.theta();
        let moment = self.spring.moment_at(theta) + start.moment(theta);
        let stiffness = self.spring.stiffness_at(theta) + start.resists;
        hinge_hessian(frame, moment, stiffness, HingeFilter::V2, psd)
    }

    #[inline(always)]
    fn forces_of(&self, frame: &HingeFrame, start: &HingeStart) -> (StepEnergy, [DVec3; 4]) {
        let theta = frame.theta();
        let moment = self.spring.moment_at(theta) + start.moment(theta);
        (start.energies(self.spring.energy_at(theta), theta), frame.gradient().map(|v| v * moment))
    }

    /// Everything, where a triangle may have collapsed.
    fn near_collapse(&self, x: &[DVec3; 4], start: &HingeStart, psd: Psd) -> All {
        let rest = self.spring.collapsed_energy();
        let Some(frame) = HingeFrame::new(x) else {
            let nothing = nothing(x);
            let energies = StepEnergy::of_storage(rest + nothing);
            return (energies, [DVec3::splat(nothing); 4], Blocks::identity() * nothing);
        };
        let Some(fade) = HingeFade::new(x, self.spring.reach()) else {
            let (energies, forces) = self.forces_of(&frame, start);
            return (energies, forces, self.stiffness_of(&frame, start, psd));
        };
        let (theta, w) = (frame.theta(), fade.weight());
        let moment = self.spring.moment_at(theta) + start.moment(theta);
        let stiffness = self.spring.stiffness_at(theta) + start.resists;
        let all = start.energies(self.spring.energy_at(theta) - rest, theta);
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

impl<W: HingeSpring> Element<4> for DampedHinge<W> {
    type Space = Vertices;

    #[inline(always)]
    fn nodes(&self) -> [Id<Vertices>; 4] {
        self.spring.hinge()
    }

    #[inline(always)]
    fn energy(&self, x: &[DVec3; 4]) -> f64 {
        let frame = open_frame!(self, x, &HingeStart::FREE, Psd::Exact, |all: All| all.0.stored);
        self.spring.energy_at(frame.theta())
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 4]) -> [DVec3; 4] {
        self.energies_and_gradient(x, &HingeStart::FREE).1
    }

    #[inline(always)]
    fn energy_and_gradient(&self, x: &[DVec3; 4]) -> (f64, [DVec3; 4]) {
        let (energies, gradient) = self.energies_and_gradient(x, &HingeStart::FREE);
        (energies.stored, gradient)
    }

    #[inline(always)]
    fn hessian(&self, x: &[DVec3; 4], psd: Psd) -> Blocks<4> {
        self.hessian_of(x, &HingeStart::FREE, psd)
    }
}

impl<W: HingeSpring> RateElement<4> for DampedHinge<W> {
    type Space = Vertices;
    type Start = HingeStart;

    #[inline(always)]
    fn nodes(&self) -> [Id<Vertices>; 4] {
        self.spring.hinge()
    }

    #[inline(always)]
    fn start(&self, step: &ElementStep<4>) -> HingeStart {
        let Some(angle) = StrainStart::new(&HingeAngle::fading_below(self.spring.reach()), step) else {
            return HingeStart::FREE;
        };
        let viscosity = self.beta * self.spring.stiffness_at(angle.at[0]) * angle.weight;
        HingeStart {
            at: angle.at[0],
            expected: angle.expected[0].clamp(-LARGEST_CHANGE, LARGEST_CHANGE),
            // A clamp keeps the NaN of a velocity.
            resists: (viscosity * angle.factor).clamp(0.0, FACTOR),
        }
    }

    #[inline(always)]
    fn energies(&self, x: &[DVec3; 4], start: &HingeStart) -> StepEnergy {
        let frame = open_frame!(self, x, start, Psd::Exact, |all: All| all.0);
        let theta = frame.theta();
        start.energies(self.spring.energy_at(theta), theta)
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 4], start: &HingeStart) -> [DVec3; 4] {
        self.energies_and_gradient(x, start).1
    }

    #[inline(always)]
    fn energies_and_gradient(&self, x: &[DVec3; 4], start: &HingeStart) -> (StepEnergy, [DVec3; 4]) {
        let frame = open_frame!(self, x, start, Psd::Exact, |all: All| (all.0, all.1));
        self.forces_of(&frame, start)
    }

    #[inline(always)]
    fn hessian(&self, x: &[DVec3; 4], start: &HingeStart, psd: Psd) -> Blocks<4> {
        self.hessian_of(x, start, psd)
    }
}
