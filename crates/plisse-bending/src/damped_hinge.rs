//! A hinge that stores energy and resists change.

use glam::DVec3;
use plisse_core::range::{FACTOR, RATE, limit};
use plisse_core::{
    Blocks, Element, ElementStep, HingeFrame, Id, Positive, Psd, StepElement, StepEnergy, Vertices,
    angle_change,
};
use plisse_eigen::HingeFade;

use crate::hinge::{HingeElement, Resistance};
use crate::law::AngleEnergy;

/// Changes of angle beyond this count as this, rad: with the above and the smallest hinges,
/// Hessians are still finite.
const LARGEST_CHANGE: f64 = 1e20;

/// A spring and a dashpot in one hinge (a Kelvin-Voigt element): energy and dissipation of the same
/// angle, so that the geometry of the hinge, which is nearly all of its cost, is computed once.
///
/// The viscosity is `beta` times the stiffness of the spring at the start of the step, or zero
/// where that is negative (SO18, equation 12). For other viscosities put a `Dissipation` of
/// `plisse-damping` beside a hinge.
///
/// Hessians other than exact have the filter of the hinge, for the sum of both. Outside of a step
/// it is the hinge alone.
///
/// Where a triangle collapses, the energy of the spring fades, and so does what resists: by the
/// weight ([`HingeFade`]) of the start of the step times that of its end, so that neither force nor
/// rate of an angle that has no limit remains. A hinge without length or height has no angle:
/// derivatives are zero there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DampedHinge<L> {
    spring: HingeElement<L>,
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

impl HingeStart {
    /// Nothing resists: the hinge had no angle, or there is no step.
    const FREE: Self = Self { at: 0.0, expected: 0.0, resists: 0.0 };
}

impl Resistance for HingeStart {
    #[inline(always)]
    fn energies(&self, theta: f64, stored: f64) -> StepEnergy {
        let change = angle_change(theta, self.at);
        let excess = change - self.expected;
        let moment = self.resists * excess;
        StepEnergy { potential: stored + 0.5 * moment * excess, stored, dissipated: moment * change }
    }

    #[inline(always)]
    fn moment(&self, theta: f64, spring: f64) -> f64 {
        spring + self.resists * (angle_change(theta, self.at) - self.expected)
    }

    #[inline(always)]
    fn stiffness(&self, spring: f64) -> f64 {
        spring + self.resists
    }
}

impl<L: AngleEnergy> DampedHinge<L> {
    /// A hinge with damping; `beta` in seconds.
    #[must_use]
    pub fn new(spring: HingeElement<L>, beta: Positive) -> Self {
        Self { spring, beta: beta.get() }
    }

    /// None where the hinge has no angle.
    #[inline(always)]
    fn resistance(&self, step: &ElementStep<4>) -> Option<HingeStart> {
        let at = HingeFrame::angle(&step.start)?;
        let [expected] = step.expected(
            |x| Some([angle_change(at, HingeFrame::angle(x)?)]),
            || Some([HingeFrame::new(&step.start)?.gradient()]),
        )?;
        let weight = HingeFade::weight_at(&step.start, self.spring.reach());
        let viscosity = self.beta * self.spring.stiffness_at(at) * weight;
        Some(HingeStart {
            at,
            expected: expected.clamp(-LARGEST_CHANGE, LARGEST_CHANGE),
            // A clamp keeps the NaN of a velocity.
            resists: (viscosity * limit(step.rate, RATE)).clamp(0.0, FACTOR),
        })
    }
}

impl<L: AngleEnergy> StepElement<4> for DampedHinge<L> {
    type Space = Vertices;
    type Start = HingeStart;

    const STILL: Option<HingeStart> = Some(HingeStart::FREE);

    #[inline(always)]
    fn nodes(&self) -> [Id<Vertices>; 4] {
        Element::nodes(&self.spring)
    }

    #[inline(always)]
    fn start(&self, step: &ElementStep<4>) -> HingeStart {
        self.resistance(step).unwrap_or(HingeStart::FREE)
    }

    #[inline(always)]
    fn energies_and_gradient(&self, x: &[DVec3; 4], start: &HingeStart) -> (StepEnergy, [DVec3; 4]) {
        self.spring.energies_and_gradient_with(x, start)
    }

    #[inline(always)]
    fn hessian(&self, x: &[DVec3; 4], start: &HingeStart, psd: Psd) -> Blocks<4> {
        self.spring.hessian_with(x, start, psd)
    }

    #[inline(always)]
    fn energies(&self, x: &[DVec3; 4], start: &HingeStart) -> StepEnergy {
        self.spring.energies_with(x, start)
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 4], start: &HingeStart) -> [DVec3; 4] {
        self.spring.gradient_with(x, start)
    }
}
