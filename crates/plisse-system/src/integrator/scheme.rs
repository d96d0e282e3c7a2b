//! The formulas of the schemes: which quadratic a step adds to the energy, and what follows from
//! its minimum.

use glam::DVec3;
use plisse_core::{Field, Past, Positive, Space};

use crate::error::SetupError;
use crate::pose::StepMap;
use crate::state::{Previous, State};

/// A time integration scheme whose steps minimise an incremental potential.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scheme {
    /// Energy alone: equilibria. Velocities are set to zero. One that Newton's method does not find
    /// from the start is sought by way of steps without velocity, if the system has masses.
    ///
    /// Newton's method can end at a saddle, where a symmetry of the start keeps it: a sheet that
    /// stands on its edge. So [`StepReport::stable`](crate::StepReport::stable) says whether the
    /// exact Hessian at the end is positive definite. Neutral directions count as stable, and
    /// instabilities so slow that a perturbation needs more than ten seconds to grow by a factor of
    /// e, or so weak that forces below the tolerance could cause them.
    Quasistatic,
    /// Backward Euler, first order: dissipates fast motion.
    BackwardEuler,
    /// The two-step backward differentiation formula, second order, started by a step of backward
    /// Euler; steps may vary.
    Bdf2,
    /// Newmark's scheme, second order, with as much dissipation of fast vibrations as the
    /// [`SpectralRadius`] says (Wood, Bossak and Zienkiewicz 1980): a generalised-α method whose
    /// forces are those at the end of the step.
    ///
    /// With a radius of one it is the rule of average acceleration, without dissipation, for steps
    /// that resolve the vibrations of the sheet: longer ones gain energy once the motion is
    /// nonlinear. A smaller radius delays that; nothing excludes it, so
    /// [`Adaptive`](crate::Adaptive) watches the energy balance.
    Newmark(SpectralRadius),
}

/// The factor from step to step of vibrations that are much faster than the step: from one, which
/// keeps them, to zero, which removes them at once.
///
/// ```
/// use plisse_system::{Scheme, SpectralRadius};
/// let scheme = Scheme::Newmark(SpectralRadius::new(0.8)?);
/// assert_ne!(scheme, Scheme::NEWMARK);
/// assert!(SpectralRadius::new(1.1).is_err());
/// # Ok::<(), plisse_system::SetupError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpectralRadius(f64);

impl SpectralRadius {
    /// No dissipation.
    pub const ONE: Self = Self(1.0);

    /// Refuses numbers that are not from zero to one.
    pub fn new(radius: f64) -> Result<Self, SetupError> {
        if (0.0..=1.0).contains(&radius) {
            return Ok(Self(radius));
        }
        let expected = "give a number from 0 (fast vibrations vanish) to 1 (nothing is dissipated)";
        Err(SetupError::BadParameter { what: "the spectral radius", value: radius, expected })
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// Share of the last acceleration in the inertia, never positive; γ and β follow from it.
    fn alpha(self) -> f64 {
        (self.0 - 1.0) / (self.0 + 1.0)
    }

    fn gamma(self) -> f64 {
        0.5 - self.alpha()
    }

    fn beta(self) -> f64 {
        0.25 * (1.0 - self.alpha()).powi(2)
    }
}

impl Scheme {
    /// Newmark's scheme without dissipation.
    pub const NEWMARK: Self = Self::Newmark(SpectralRadius::ONE);

    /// Name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quasistatic => "the quasistatic integrator",
            Self::BackwardEuler => "backward Euler",
            Self::Bdf2 => "BDF2",
            Self::Newmark(_) => "Newmark's scheme",
        }
    }

    /// What helps where a motion gains energy from nowhere: what dissipates more than this scheme,
    /// and shorter steps.
    pub(super) fn remedy(self) -> &'static str {
        match self {
            Self::Quasistatic | Self::BackwardEuler => "Take a shorter time step, or a smaller tolerance",
            Self::Bdf2 => "Take a shorter time step, or backward Euler, which dissipates more",
            Self::Newmark(radius) if radius.get() > 0.0 => {
                "Take a smaller spectral radius, BDF2 or backward Euler, or a shorter time step"
            }
            Self::Newmark(_) => "Take BDF2 or backward Euler, or a shorter time step",
        }
    }
}

/// A step as an optimisation problem: minimise `½ inertia Σ m |x - target|² + E(x)`; the velocity
/// is `rate (x - reference)`.
pub(super) struct Incremental<S: Space> {
    pub(super) inertia: f64,
    pub(super) target: Field<S, DVec3>,
    pub(super) rate: f64,
    pub(super) reference: Field<S, DVec3>,
    /// Newmark's scheme with dissipation: α and the acceleration at the start.
    damped: Option<(f64, Field<S, DVec3>)>,
    /// The same: the velocity that leads from the start to `reference` within `1/rate`.
    drift: Option<Field<S, DVec3>>,
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
            (Scheme::Quasistatic, _, _) => Self::plain(0.0, x.clone(), 0.0, x.clone()),
            (Scheme::Bdf2, Some(previous), _) => Self::bdf2(state, previous, dt),
            (Scheme::Newmark(radius), _, Some(a)) => Self::newmark(radius, state, dt, a),
            _ => Self::plain(1.0 / (dt * dt), moved(dt), 1.0 / dt, x.clone()),
        }
    }

    /// A part of the way to an equilibrium: the energy and `½ m |x - x₀|²/h²`, which holds
    /// everything back as a step of backward Euler from rest would. Nothing has a velocity.
    pub(super) fn held_back(state: &State<S>, h: f64) -> Self {
        let x = state.x();
        Self::plain(1.0 / (h * h), x.clone(), 0.0, x.clone())
    }

    fn plain(inertia: f64, target: Field<S, DVec3>, rate: f64, reference: Field<S, DVec3>) -> Self {
        Self { inertia, target, rate, reference, damped: None, drift: None }
    }

    /// Newmark's rules `a' = (x' - y)/(β dt²)` with `y = x + dt v + (1/2 - β) dt² a`, and
    /// `v' = v + (1 - γ) dt a + γ dt a'`; the equation of motion is `M ((1 - α) a' + α a) = f(x')`.
    fn newmark(radius: SpectralRadius, state: &State<S>, dt: f64, a: &Field<S, DVec3>) -> Self {
        let (alpha, beta, gamma) = (radius.alpha(), radius.beta(), radius.gamma());
        let (x, v) = (state.x(), state.v());
        let target = Field::from_fn(x.len(), |i| x[i] + v[i] * dt + a[i] * ((0.5 - beta) * dt * dt));
        let rate = gamma / (beta * dt);
        let reference = Field::from_fn(x.len(), |i| target[i] - (v[i] + a[i] * ((1.0 - gamma) * dt)) / rate);
        let inertia = 1.0 / (beta * dt * dt);
        if radius == SpectralRadius::ONE {
            return Self::plain(inertia, target, rate, reference);
        }
        let inertia = (1.0 - alpha) * inertia;
        let target = Field::from_fn(x.len(), |i| target[i] - a[i] * (alpha / inertia));
        let drift = Field::from_fn(x.len(), |i| (reference[i] - x[i]) * rate);
        Self {
            damped: Some((alpha, a.clone())),
            drift: Some(drift),
            ..Self::plain(inertia, target, rate, reference)
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
        Self::plain(1.0 / (time * time), target, 1.0 / time, reference)
    }

    /// Positions extrapolated from velocity and acceleration, as a start for the solver. `earlier`
    /// is the acceleration one step before, of which a trend is made.
    pub(super) fn predict(
        scheme: Scheme,
        state: &State<S>,
        dt: f64,
        earlier: Option<&Field<S, DVec3>>,
    ) -> Field<S, DVec3> {
        let (x, v) = (state.x(), state.v());
        // Backward Euler moves by its new velocity, v + dt a; the others by the mean of old and
        // new.
        let share = if scheme == Scheme::BackwardEuler { 1.0 } else { 0.5 };
        let share = share * dt * dt;
        Field::from_fn(x.len(), |i| {
            let a = state.acceleration().map_or(DVec3::ZERO, |a| a[i]);
            let change = earlier.map_or(DVec3::ZERO, |earlier| a - earlier[i]);
            x[i] + v[i] * dt + (a + change) * share
        })
    }

    /// What the rates of quantities other than positions follow from.
    pub(super) fn past<'a>(
        &'a self,
        scheme: Scheme,
        state: &'a State<S>,
        dt: f64,
    ) -> Past<&'a Field<S, DVec3>> {
        match (scheme, state.previous()) {
            (Scheme::Bdf2, Some(previous)) => {
                Past::Earlier { weight: bdf2_weight(dt / previous.dt), x: &previous.x }
            }
            (Scheme::Newmark(_), _) => {
                Past::Velocity { time: 1.0 / self.rate, v: self.drift.as_ref().unwrap_or(state.v()) }
            }
            _ => Past::Start,
        }
    }

    pub(super) fn velocity(&self, x: &Field<S, DVec3>) -> Field<S, DVec3> {
        Field::from_fn(x.len(), |i| (x[i] - self.reference[i]) * self.rate)
    }

    pub(super) fn acceleration(&self, x: &Field<S, DVec3>) -> Field<S, DVec3> {
        let balanced = |i| (x[i] - self.target[i]) * self.inertia;
        Field::from_fn(x.len(), |i| match &self.damped {
            None => balanced(i),
            Some((alpha, a)) => (balanced(i) - a[i] * *alpha) / (1.0 - alpha),
        })
    }
}

/// How positions and velocities hang together inside a step of backward Euler or BDF2: for what
/// solves the equations of such a step itself.
///
/// A step adds `½ rate² Σ m |x - target|²` to the energies of all terms, which are evaluated with
/// [`Self::map`]; the velocity is `rate (x - reference)`.
pub struct StepFormula<S: Space> {
    quadratic: Incremental<S>,
    scheme: Scheme,
    dt: f64,
}

impl<S: Space> StepFormula<S> {
    /// The formula of a step of `dt` from this state. BDF2 without a step before it, and all other
    /// schemes, are backward Euler here.
    #[must_use]
    pub fn new(scheme: Scheme, state: &State<S>, dt: Positive) -> Self {
        let scheme = if scheme == Scheme::Bdf2 { scheme } else { Scheme::BackwardEuler };
        let dt = dt.get();
        Self { quadratic: Incremental::new(scheme, state, dt, None), scheme, dt }
    }

    /// What velocities change by per change of position, 1/s: `1/dt`, or of BDF2 with a last step
    /// of `dt/w` `(1 + 2 w)/((1 + w) dt)`.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.quadratic.rate
    }

    /// The step as terms see it, which must be from the state that the formula was made for.
    #[must_use]
    pub fn map<'a>(&'a self, state: &'a State<S>) -> StepMap<'a, S> {
        StepMap {
            start: state.x(),
            dt: self.dt,
            reference: &self.quadratic.reference,
            rate: self.quadratic.rate,
            past: self.quadratic.past(self.scheme, state, self.dt),
            own: &state.own().values,
            inertia: None,
            memory: None,
        }
    }
}

/// Weight of the positions before the last, for the ratio `w` of this step to the last one.
fn bdf2_weight(w: f64) -> f64 {
    w * w / (1.0 + 2.0 * w)
}
