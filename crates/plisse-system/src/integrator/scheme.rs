//! The formulas of the schemes: which quadratic a step adds to the energy, and what follows from its minimum.

use glam::DVec3;
use plisse_core::{Field, Past, Space};

use crate::state::{Previous, State};

/// A time integration scheme whose steps minimise an incremental potential.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scheme {
    /// Energy alone: equilibria. Velocities are set to zero.
    Quasistatic,
    /// Backward Euler, first order: dissipates fast motion.
    BackwardEuler,
    /// The two-step backward differentiation formula, second order, started by a step of backward Euler; steps may vary.
    Bdf2,
    /// Newmark's scheme with average acceleration (γ = 1/2, β = 1/4), second order, without dissipation. For steps that resolve
    /// the vibrations of the sheet: longer ones gain energy once the motion is nonlinear, and BDF2 is the choice.
    Newmark,
}

impl Scheme {
    /// Name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quasistatic => "the quasistatic integrator",
            Self::BackwardEuler => "backward Euler",
            Self::Bdf2 => "BDF2",
            Self::Newmark => "Newmark's scheme",
        }
    }
}

/// Newmark's γ and β.
const GAMMA: f64 = 0.5;
const BETA: f64 = 0.25;

/// A step as an optimisation problem: minimise `½ inertia Σ m |x - target|² + E(x)`; the velocity is `rate (x - reference)`.
pub(super) struct Incremental<S: Space> {
    pub(super) inertia: f64,
    pub(super) target: Field<S, DVec3>,
    pub(super) rate: f64,
    pub(super) reference: Field<S, DVec3>,
}

impl<S: Space> Incremental<S> {
    /// `acceleration` is that of the state, needed by Newmark's scheme only.
    pub(super) fn new(
        scheme: Scheme,
        state: &State<S>,
        dt: f64,
        acceleration: Option<&Field<S, DVec3>>,
    ) -> Self {
        let (x, v) = (state.x(), state.v());
        let moved = |t: f64| Field::from_fn(x.len(), |i| x[i] + v[i] * t);
        match (scheme, state.previous(), acceleration) {
            (Scheme::Quasistatic, _, _) => {
                Self { inertia: 0.0, target: x.clone(), rate: 0.0, reference: x.clone() }
            }
            (Scheme::Bdf2, Some(previous), _) => Self::bdf2(state, previous, dt),
            (Scheme::Newmark, _, Some(a)) => {
                let target = Field::from_fn(x.len(), |i| x[i] + v[i] * dt + a[i] * ((0.5 - BETA) * dt * dt));
                let rate = GAMMA / (BETA * dt);
                // v' = v + (1 - γ) dt a + γ dt a', with a' = (x' - target) / (β dt²).
                let reference =
                    Field::from_fn(x.len(), |i| target[i] - (v[i] + a[i] * ((1.0 - GAMMA) * dt)) / rate);
                Self { inertia: 1.0 / (BETA * dt * dt), target, rate, reference }
            }
            _ => Self { inertia: 1.0 / (dt * dt), target: moved(dt), rate: 1.0 / dt, reference: x.clone() },
        }
    }

    /// Variable-step BDF2 with `w = dt / dt_previous`:
    /// `x' = (1+w)²/(1+2w) x - w²/(1+2w) x₋ + (1+w)/(1+2w) dt v'`, and the same for `v'`.
    fn bdf2(state: &State<S>, previous: &Previous<S>, dt: f64) -> Self {
        let w = dt / previous.dt;
        let (now, before) = ((1.0 + w).powi(2) / (1.0 + 2.0 * w), bdf2_weight(w));
        let time = (1.0 + w) / (1.0 + 2.0 * w) * dt;
        let blend = |a: &Field<S, DVec3>, b: &Field<S, DVec3>| {
            Field::from_fn(a.len(), |i| a[i] * now - b[i] * before)
        };
        let (reference, v) = (blend(state.x(), &previous.x), blend(state.v(), &previous.v));
        let target = Field::from_fn(v.len(), |i| reference[i] + v[i] * time);
        Self { inertia: 1.0 / (time * time), target, rate: 1.0 / time, reference }
    }

    /// Positions extrapolated from velocity and acceleration, as a start for the solver. `earlier` is the acceleration one step
    /// before, of which a trend is made.
    pub(super) fn predict(
        scheme: Scheme,
        state: &State<S>,
        dt: f64,
        earlier: Option<&Field<S, DVec3>>,
    ) -> Field<S, DVec3> {
        let (x, v) = (state.x(), state.v());
        // Backward Euler moves by its new velocity, v + dt a; the others by the mean of old and new.
        let share = if scheme == Scheme::BackwardEuler { 1.0 } else { 0.5 };
        let share = share * dt * dt;
        Field::from_fn(x.len(), |i| {
            let a = state.acceleration().map_or(DVec3::ZERO, |a| a[i]);
            let change = earlier.map_or(DVec3::ZERO, |earlier| a - earlier[i]);
            x[i] + v[i] * dt + (a + change) * share
        })
    }

    /// What the rates of quantities other than positions follow from.
    pub(super) fn past<'a>(&self, scheme: Scheme, state: &'a State<S>, dt: f64) -> Past<&'a Field<S, DVec3>> {
        match (scheme, state.previous()) {
            (Scheme::Bdf2, Some(previous)) => {
                Past::Earlier { weight: bdf2_weight(dt / previous.dt), x: &previous.x }
            }
            (Scheme::Newmark, _) => Past::Velocity { time: 1.0 / self.rate, v: state.v() },
            _ => Past::Start,
        }
    }

    pub(super) fn velocity(&self, x: &Field<S, DVec3>) -> Field<S, DVec3> {
        Field::from_fn(x.len(), |i| (x[i] - self.reference[i]) * self.rate)
    }

    pub(super) fn acceleration(&self, x: &Field<S, DVec3>) -> Field<S, DVec3> {
        Field::from_fn(x.len(), |i| (x[i] - self.target[i]) * self.inertia)
    }
}

/// Weight of the positions before the last, for the ratio `w` of this step to the last one.
fn bdf2_weight(w: f64) -> f64 {
    w * w / (1.0 + 2.0 * w)
}
