//! A hinge that stores energy and resists change.

use glam::DVec3;
use plisse_core::{
    Blocks, DampedElement, Element, ElementStep, HingeFrame, Id, Positive, Psd, RateElement, Vertices,
};
use plisse_eigen::{HingeFilter, hinge_hessian};

use crate::angles::HingeAngle;
use crate::start::StrainStart;
use crate::strain::Strain;

/// An energy of the angle of a hinge, in joules and radians. Values and derivatives must be finite, and small enough that inverse
/// squares of lengths do not overflow them.
pub trait HingeSpring: Send + Sync {
    /// The energy.
    fn energy(&self, theta: f64) -> f64;

    /// Its derivative.
    fn moment(&self, theta: f64) -> f64;

    /// Its second derivative.
    fn stiffness(&self, theta: f64) -> f64;
}

/// Viscosities beyond this count as this, N m s: inverse squares of lengths multiply them.
const LARGEST: f64 = 1e150;

/// A spring and a dashpot in one hinge (a Kelvin-Voigt element): energy and dissipation of the same angle, so that the geometry of
/// the hinge, which is nearly all of its cost, is computed once.
///
/// The viscosity is `beta` times the stiffness of the spring at the start of the step, or zero where that is negative (SO18,
/// equation 12). For other laws put a [`Dissipation`](crate::Dissipation) of the [`HingeAngle`] beside a hinge.
///
/// As an [`Element`] it is the spring, as a [`RateElement`] the sum of both. Hessians other than exact have the filter
/// [`V2`](HingeFilter::V2), for the sum of both. A hinge without length or height has no angle: energies and derivatives are zero
/// there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DampedHinge<W> {
    nodes: [Id<Vertices>; 4],
    spring: W,
    beta: f64,
}

/// What a [`DampedHinge`] keeps of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HingeStart {
    angle: StrainStart<1>,
    /// N m s.
    viscosity: f64,
}

impl<W: HingeSpring> DampedHinge<W> {
    /// A spring over four vertices in the order of [`Hinge`](plisse_core::Hinge), and `beta` in seconds.
    #[must_use]
    pub fn new(nodes: [Id<Vertices>; 4], spring: W, beta: Positive) -> Self {
        Self { nodes, spring, beta: beta.get() }
    }
}

impl HingeStart {
    #[inline(always)]
    fn rate(&self, theta: f64) -> f64 {
        self.angle.rate(&HingeAngle, &[theta])[0]
    }

    #[inline(always)]
    fn energy(&self, theta: f64) -> f64 {
        let rate = self.rate(theta);
        0.5 * self.viscosity * rate * rate / self.angle.factor
    }

    #[inline(always)]
    fn moment(&self, theta: f64) -> f64 {
        self.viscosity * self.rate(theta)
    }

    #[inline(always)]
    fn dissipated(&self, theta: f64) -> f64 {
        self.moment(theta) * HingeAngle.difference(&[theta], &self.angle.at)[0]
    }
}

/// What a hinge without an angle answers: nothing, unless a position is NaN, which must not be hidden.
#[cold]
fn nothing(x: &[DVec3; 4]) -> f64 {
    if x.iter().any(|p| p.is_nan()) { f64::NAN } else { 0.0 }
}

impl<W: HingeSpring> DampedHinge<W> {
    #[inline(always)]
    fn moment(&self, theta: f64, start: Option<&HingeStart>) -> f64 {
        self.spring.moment(theta) + start.map_or(0.0, |start| start.moment(theta))
    }

    #[inline(always)]
    fn energy_and_gradient_of(&self, x: &[DVec3; 4], start: Option<&HingeStart>) -> (f64, [DVec3; 4]) {
        let Some(frame) = HingeFrame::new(x) else { return (nothing(x), [DVec3::splat(nothing(x)); 4]) };
        let theta = frame.theta();
        let energy = self.spring.energy(theta) + start.map_or(0.0, |start| start.energy(theta));
        let moment = self.moment(theta, start);
        (energy, frame.gradient().map(|v| v * moment))
    }

    #[inline(always)]
    fn hessian_of(&self, x: &[DVec3; 4], start: Option<&HingeStart>, psd: Psd) -> Blocks<4> {
        let Some(frame) = HingeFrame::new(x) else { return Blocks::identity() * nothing(x) };
        let theta = frame.theta();
        let resists = start.map_or(0.0, |start| start.viscosity * start.angle.factor);
        let stiffness = self.spring.stiffness(theta) + resists;
        hinge_hessian(&frame, self.moment(theta, start), stiffness, HingeFilter::V2, psd)
    }
}

impl<W: HingeSpring> Element<4> for DampedHinge<W> {
    type Space = Vertices;

    #[inline(always)]
    fn nodes(&self) -> [Id<Vertices>; 4] {
        self.nodes
    }

    #[inline(always)]
    fn energy(&self, x: &[DVec3; 4]) -> f64 {
        HingeFrame::angle(x).map_or_else(|| nothing(x), |theta| self.spring.energy(theta))
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 4]) -> [DVec3; 4] {
        self.energy_and_gradient_of(x, None).1
    }

    #[inline(always)]
    fn energy_and_gradient(&self, x: &[DVec3; 4]) -> (f64, [DVec3; 4]) {
        self.energy_and_gradient_of(x, None)
    }

    #[inline(always)]
    fn hessian(&self, x: &[DVec3; 4], psd: Psd) -> Blocks<4> {
        self.hessian_of(x, None, psd)
    }
}

impl<W: HingeSpring> RateElement<4> for DampedHinge<W> {
    type Space = Vertices;
    /// None where the hinge had no angle.
    type Start = Option<HingeStart>;

    #[inline(always)]
    fn nodes(&self) -> [Id<Vertices>; 4] {
        self.nodes
    }

    #[inline(always)]
    fn start(&self, step: &ElementStep<4>) -> Self::Start {
        let angle = StrainStart::new(&HingeAngle, step)?;
        let viscosity = (self.beta * self.spring.stiffness(angle.at[0])).clamp(0.0, LARGEST);
        Some(HingeStart { angle, viscosity })
    }

    #[inline(always)]
    fn energy(&self, x: &[DVec3; 4], start: &Self::Start) -> f64 {
        let Some(theta) = HingeFrame::angle(x) else { return nothing(x) };
        self.spring.energy(theta) + start.map_or(0.0, |start| start.energy(theta))
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 4], start: &Self::Start) -> [DVec3; 4] {
        self.energy_and_gradient_of(x, start.as_ref()).1
    }

    #[inline(always)]
    fn energy_and_gradient(&self, x: &[DVec3; 4], start: &Self::Start) -> (f64, [DVec3; 4]) {
        self.energy_and_gradient_of(x, start.as_ref())
    }

    #[inline(always)]
    fn hessian(&self, x: &[DVec3; 4], start: &Self::Start, psd: Psd) -> Blocks<4> {
        self.hessian_of(x, start.as_ref(), psd)
    }

    #[inline(always)]
    fn dissipated(&self, x: &[DVec3; 4], start: &Self::Start) -> f64 {
        self.stored_and_dissipated(x, start).1
    }
}

impl<W: HingeSpring> DampedElement<4> for DampedHinge<W> {
    #[inline(always)]
    fn stored_and_dissipated(&self, x: &[DVec3; 4], start: &Self::Start) -> (f64, f64) {
        let Some(theta) = HingeFrame::angle(x) else { return (nothing(x), 0.0) };
        (self.spring.energy(theta), start.map_or(0.0, |start| start.dissipated(theta)))
    }
}
