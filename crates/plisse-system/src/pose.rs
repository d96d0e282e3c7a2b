//! Where the nodes are, when, and how fast: what a term is evaluated at.

use glam::DVec3;
use plisse_core::range::{SPEED, limit_vector};
use plisse_core::{ElementStep, Field, Id, Past, SATURATION, Space};

use crate::memory::Memory;

/// A configuration at which terms are evaluated.
///
/// Inside a time step the velocity of a node is an affine function of its position,
/// `v = rate (x - reference)`, with numbers that depend on the integrator. Terms that depend on
/// velocity (wind, damping) are functions of `x` through it, which makes them potentials of the
/// step as well.
#[derive(Debug)]
pub struct Pose<'a, S: Space> {
    /// Positions in metres.
    pub x: &'a Field<S, DVec3>,
    /// Values of the unknowns that terms bring along ([`Term::own`](crate::Term::own)): for a term
    /// its own, for a system those of all its terms, one after the other. A system takes the values
    /// at the start where there are none.
    pub own: &'a [f64],
    /// Time in seconds at which `x` is, or will be, reached.
    pub time: f64,
    /// The step that leads to `x`; none outside of one, where velocities count as zero.
    pub step: Option<StepMap<'a, S>>,
}

/// How velocities follow from positions inside a step.
#[derive(Debug)]
pub struct StepMap<'a, S: Space> {
    /// Positions at the start of the step.
    pub start: &'a Field<S, DVec3>,
    /// Length of the step in seconds; infinite in an equilibrium solve.
    pub dt: f64,
    /// Positions at which the velocity would vanish.
    pub reference: &'a Field<S, DVec3>,
    /// Factor of the velocity, in 1/s; zero in an equilibrium solve.
    pub rate: f64,
    /// What rates of other quantities than positions follow from.
    pub past: Past<&'a Field<S, DVec3>>,
    /// Values of the unknowns that terms bring along at the start of the step, as [`Pose::own`] has
    /// them; empty where nobody needs them.
    pub own: &'a [f64],
    /// What bodies would do without forces, in a time step.
    pub inertia: Option<Inertia<'a, S>>,
    /// What the term that is evaluated has kept of this step, if somebody asked it to
    /// ([`Term::remember`](crate::Term::remember)).
    pub memory: Option<&'a Memory>,
}

/// The potential of inertia inside a step: `½ factor (x - target)ᵀ M (x - target)`. A system adds
/// that of its masses; terms can add more ([`Role::Inertial`](crate::Role::Inertial)).
#[derive(Debug)]
pub struct Inertia<'a, S: Space> {
    /// In 1/s².
    pub factor: f64,
    /// Where the nodes would be without forces, m.
    pub target: &'a Field<S, DVec3>,
    /// Where the unknowns of terms' own would be, as [`Pose::own`] has them.
    pub own_target: &'a [f64],
}

impl<S: Space> Clone for Inertia<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Space> Copy for Inertia<'_, S> {}
impl<S: Space> Clone for Pose<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Space> Copy for Pose<'_, S> {}
impl<S: Space> Clone for StepMap<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Space> Copy for StepMap<'_, S> {}

impl<S: Space> StepMap<'_, S> {
    /// The step of the nodes of an element.
    #[inline]
    #[must_use]
    pub fn gather<const V: usize>(&self, nodes: [Id<S>; V]) -> ElementStep<V> {
        ElementStep {
            start: nodes.map(|node| self.start[node]),
            rate: self.rate,
            past: self.past.map(|field| nodes.map(|node| field[node])),
        }
    }
}

impl<'a, S: Space> Pose<'a, S> {
    /// Positions alone, at time zero and at rest.
    #[must_use]
    pub fn at(x: &'a Field<S, DVec3>) -> Self {
        Self { x, own: &[], time: 0.0, step: None }
    }

    /// The positions of the nodes of an element.
    #[inline]
    #[must_use]
    pub fn gather<const V: usize>(&self, nodes: [Id<S>; V]) -> [DVec3; V] {
        nodes.map(|node| self.x[node])
    }

    /// Velocity of a node in m/s, with components up to
    /// [`range::SPEED`](plisse_core::range::SPEED); zero outside of a step.
    #[inline]
    #[must_use]
    pub fn velocity(&self, node: Id<S>) -> DVec3 {
        let Some(step) = &self.step else { return DVec3::ZERO };
        let way = limit_vector(self.x[node] - step.reference[node], SATURATION);
        limit_vector(way * step.rate, SPEED)
    }
}
