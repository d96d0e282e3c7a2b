//! The contract of terms with elements: energies of a time step, with what is stored and what is
//! lost.

use std::ops::Add;

use glam::DVec3;

use crate::blocks::Blocks;
use crate::element::Element;
use crate::psd::Psd;
use crate::quantity::Positive;
use crate::range::{SPEED, dot, limit_vector, multiply, rates};
use crate::scalar::SATURATION;
use crate::space::{Id, Space};

/// What a time integrator remembers of the motion besides the positions at the start of a step.
///
/// Inside a step the rate of any quantity `q(x)` is `rate · (q(x) - q_ref)`, where `q_ref` follows
/// from the past:
///
/// | past | `q_ref` | integrator |
/// |---|---|---|
/// | [`Past::Start`] | `q(start)` | backward Euler |
/// | [`Past::Earlier`] | `q(start) + weight (q(start) - q(x))` | BDF2 |
/// | [`Past::Velocity`] | `q(start) + time · ∂q/∂x(start) v` | Newmark, and forces at a given velocity |
///
/// For `q = x` this is the velocity of the integrator. For a strain it is a rate that vanishes for
/// rigid motions over a step of any length, which the strain rate of that velocity does not; for
/// [`Past::Velocity`], if the velocities at the start are those of a rigid motion. (Those that
/// Newmark's scheme itself leaves after a turn by `φ` in a step are, but for a part `φ³/12` of the
/// speed.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Past<X> {
    /// Nothing else.
    Start,
    /// The positions one step before, and their weight.
    Earlier {
        /// Weight, not negative.
        weight: f64,
        /// Positions in metres.
        x: X,
    },
    /// Velocities at the start.
    Velocity {
        /// In seconds; the negative of `1/rate` gives the rate at the start itself.
        time: f64,
        /// Velocities in m/s.
        v: X,
    },
}

impl<X> Past<X> {
    /// The same with other data.
    #[inline]
    pub fn map<Y>(self, convert: impl FnOnce(X) -> Y) -> Past<Y> {
        match self {
            Self::Start => Past::Start,
            Self::Earlier { weight, x } => Past::Earlier { weight, x: convert(x) },
            Self::Velocity { time, v } => Past::Velocity { time, v: convert(v) },
        }
    }
}

/// The step that leads to the positions of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementStep<const V: usize> {
    /// Positions at the start of the step, in metres.
    pub start: [DVec3; V],
    /// Factor of rates, in 1/s: positive.
    pub rate: f64,
    /// What else is remembered.
    pub past: Past<[DVec3; V]>,
}

impl<const V: usize> ElementStep<V> {
    /// A step of backward Euler of `dt` seconds.
    #[must_use]
    pub fn backward_euler(start: [DVec3; V], dt: Positive) -> Self {
        Self { start, rate: 1.0 / dt.get(), past: Past::Start }
    }

    /// Velocities at positions `x`, in m/s, with components up to
    /// [`range::SPEED`](crate::range::SPEED).
    #[inline]
    #[must_use]
    pub fn velocity(&self, x: &[DVec3; V]) -> [DVec3; V] {
        std::array::from_fn(|i| {
            let start = self.start[i];
            let way = difference(x[i], start);
            let way = match &self.past {
                Past::Start => way,
                Past::Earlier { weight, x: earlier } => {
                    way - multiply(difference(start, earlier[i]), *weight)
                }
                Past::Velocity { time, v } => way - multiply(v[i], *time),
            };
            limit_vector(way * self.rate, SPEED)
        })
    }

    /// How much some numbers that depend on the positions would have to change within the step for
    /// their rates to be zero, by the table of [`Past`]: given what they have changed by from
    /// earlier positions to the start, and their derivatives at the start. None where one of these
    /// is not defined.
    #[inline(always)]
    pub fn expected<const K: usize>(
        &self,
        change_since: impl FnOnce(&[DVec3; V]) -> Option<[f64; K]>,
        gradient: impl FnOnce() -> Option<[[DVec3; V]; K]>,
    ) -> Option<[f64; K]> {
        Some(match &self.past {
            Past::Start => [0.0; K],
            Past::Earlier { weight, x } => change_since(x)?.map(|change| change * weight),
            Past::Velocity { time, v } => rates(&gradient()?, v).map(|change| change * time),
        })
    }

    /// Work of forces along the way from the start to `x`, in joules; saturated.
    #[inline]
    #[must_use]
    pub fn work(&self, forces: &[DVec3; V], x: &[DVec3; V]) -> f64 {
        let way: [DVec3; V] = std::array::from_fn(|i| difference(x[i], self.start[i]));
        dot(forces, &way)
    }
}

/// `a - b`, saturated.
#[inline]
fn difference(a: DVec3, b: DVec3) -> DVec3 {
    limit_vector(a - b, SATURATION)
}

/// Energies of a time step, in joules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepEnergy {
    /// What a solver minimises: its derivative by the positions at the end is the negative of the
    /// force.
    pub potential: f64,
    /// The part of the potential that is stored at the end of the step and can be given back.
    pub stored: f64,
    /// What is taken from the motion: the dissipative force at the end times the way of its nodes;
    /// of a strain, stress times change of strain, which becomes heat. Negative where the force
    /// drives instead, as wind, moving obstacles, and Rayleigh's damping under compression do; of
    /// strains, with schemes other than backward Euler, where one turns around.
    pub dissipated: f64,
}

impl StepEnergy {
    /// An energy that is stored, all of it.
    #[inline]
    #[must_use]
    pub fn of_storage(energy: f64) -> Self {
        Self { potential: energy, stored: energy, dissipated: 0.0 }
    }

    /// A potential of which nothing is stored, and what is lost.
    #[inline]
    #[must_use]
    pub fn of_loss(potential: f64, dissipated: f64) -> Self {
        Self { potential, stored: 0.0, dissipated }
    }
}

impl Add for StepEnergy {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            potential: self.potential + other.potential,
            stored: self.stored + other.stored,
            dissipated: self.dissipated + other.dissipated,
        }
    }
}

/// An energy of a time step over `V` nodes: what terms sum.
///
/// Every [`Element`] is one: it keeps nothing of a step and loses nothing. Elements that damp
/// implement this trait in place of [`Element`], whether they store energy as well
/// ([`StepElement::STILL`]) or not. Their gradient by the positions at the end is the negative of a
/// force that depends on velocities.
///
/// The rules are those of [`Element`]. Both traits have `nodes`, `gradient` and `hessian`: import
/// the one that is called.
///
/// ```
/// use glam::DVec3;
/// use plisse_core::{Blocks, ElementStep, Id, Psd, StepElement, StepEnergy, Vertices};
///
/// /// A force `-c v` on one node, with `c` in N s/m.
/// struct Drag(Id<Vertices>, f64);
///
/// impl StepElement<1> for Drag {
///     type Space = Vertices;
///     type Start = ElementStep<1>;
///
///     fn nodes(&self) -> [Id<Vertices>; 1] {
///         [self.0]
///     }
///
///     fn start(&self, step: &ElementStep<1>) -> ElementStep<1> {
///         *step
///     }
///
///     fn energies_and_gradient(&self, x: &[DVec3; 1], step: &ElementStep<1>) -> (StepEnergy, [DVec3; 1]) {
///         let [v] = step.velocity(x);
///         let (potential, gradient) = (0.5 * self.1 * v.length_squared() / step.rate, [v * self.1]);
///         (StepEnergy::of_loss(potential, step.work(&gradient, x)), gradient)
///     }
///
///     fn hessian(&self, _: &[DVec3; 1], step: &ElementStep<1>, _: Psd) -> Blocks<1> {
///         Blocks::identity() * (self.1 * step.rate)
///     }
/// }
/// ```
pub trait StepElement<const V: usize>: Send + Sync {
    /// What the unknowns live on.
    type Space: Space;

    /// What evaluations need of a step. It is the same for all positions at the end, and computed
    /// once: a strain at the start, for example.
    type Start: Send + Sync + 'static;

    /// What stands for [`StepElement::start`] where nothing moves, outside of a step and in
    /// equilibria: then the element stores energy. None for an element that only damps: it is not
    /// evaluated there.
    const STILL: Option<Self::Start> = None;

    /// The nodes, in the order of `x`.
    fn nodes(&self) -> [Id<Self::Space>; V];

    /// What the element keeps of a step.
    fn start(&self, step: &ElementStep<V>) -> Self::Start;

    /// Energies of a step to `x`, and the negative of the force at its end, in newtons.
    ///
    /// In a step whose past is [`Past::Start`] the potential is what is stored where nothing has
    /// changed since the start: zero, if nothing is.
    fn energies_and_gradient(&self, x: &[DVec3; V], start: &Self::Start) -> (StepEnergy, [DVec3; V]);

    /// Derivative of the gradient in newtons per metre, symmetric; exact or made positive
    /// semidefinite. Forces that no potential has give the part that is symmetric and cheap.
    fn hessian(&self, x: &[DVec3; V], start: &Self::Start, psd: Psd) -> Blocks<V>;

    /// The energies alone, with the same bits; elements override it where that is less work.
    #[inline(always)]
    fn energies(&self, x: &[DVec3; V], start: &Self::Start) -> StepEnergy {
        self.energies_and_gradient(x, start).0
    }

    /// The gradient alone, with the same bits; elements override it where that is less work.
    #[inline(always)]
    fn gradient(&self, x: &[DVec3; V], start: &Self::Start) -> [DVec3; V] {
        self.energies_and_gradient(x, start).1
    }

    /// Whether the gradient is that of the potential. Where it is not, solvers must not judge steps
    /// by the potential.
    fn has_potential(&self) -> bool {
        true
    }
}

impl<const V: usize, E: Element<V>> StepElement<V> for E {
    type Space = E::Space;
    type Start = ();

    const STILL: Option<()> = Some(());

    #[inline(always)]
    fn nodes(&self) -> [Id<E::Space>; V] {
        Element::nodes(self)
    }

    #[inline(always)]
    fn start(&self, _: &ElementStep<V>) {}

    #[inline(always)]
    fn energies_and_gradient(&self, x: &[DVec3; V], (): &()) -> (StepEnergy, [DVec3; V]) {
        let (energy, gradient) = self.energy_and_gradient(x);
        (StepEnergy::of_storage(energy), gradient)
    }

    #[inline(always)]
    fn hessian(&self, x: &[DVec3; V], (): &(), psd: Psd) -> Blocks<V> {
        Element::hessian(self, x, psd)
    }

    #[inline(always)]
    fn energies(&self, x: &[DVec3; V], (): &()) -> StepEnergy {
        StepEnergy::of_storage(self.energy(x))
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; V], (): &()) -> [DVec3; V] {
        Element::gradient(self, x)
    }
}
