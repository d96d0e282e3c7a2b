//! Multistep fast projection in time (EB08, section 4).
//!
//! A step of backward Euler or BDF2 without constraints is the *predictor*: it minimises the
//! incremental potential of all terms, so that bending is implicit. The constraints then pull it
//! back, weighted by mass, and the velocity follows from the positions as in the scheme itself:
//! `v = rate (x - reference)`, which the projection changes by `rate (x - x_predicted)`.

use glam::DVec3;
use plisse_core::{Field, Positive, Space};
use plisse_system::{
    Balance, Cause, Criterion, Energies, Implicit, Integrator, Ledger, NewtonSettings, Scheme, State,
    StepError, StepReport, System,
};

use crate::constraint::Constraint;
use crate::error::ConstrainedError;
use crate::projector::{ProjectionReport, ProjectionSettings, Projector};

/// Steps of backward Euler or BDF2 whose ends satisfy constraints.
///
/// [`Adaptive`](plisse_system::Adaptive) around it halves steps whose projection fails.
pub struct FastProjection<S: Space> {
    predictor: Implicit<S>,
    projector: Projector<S>,
}

/// What the predictor asks for: a ten-thousandth of gravity.
const PREDICTOR: Positive = Positive::literal(1e-3);

impl<S: Space> FastProjection<S> {
    /// An integrator for this system with these constraints.
    ///
    /// # Errors
    /// [`ConstrainedError`] for other schemes than backward Euler and BDF2, and for what
    /// [`Projector::new`] and [`Implicit::new`] refuse.
    pub fn new(
        system: &System<S>,
        constraints: Vec<Box<dyn Constraint<S>>>,
        scheme: Scheme,
        settings: ProjectionSettings,
    ) -> Result<Self, ConstrainedError> {
        let newton = NewtonSettings { criterion: Criterion::Acceleration(PREDICTOR), ..Default::default() };
        Self::with_newton(system, constraints, scheme, settings, newton)
    }

    /// The same, with settings for the predictor.
    ///
    /// # Errors
    /// Those of [`FastProjection::new`].
    pub fn with_newton(
        system: &System<S>,
        constraints: Vec<Box<dyn Constraint<S>>>,
        scheme: Scheme,
        settings: ProjectionSettings,
        newton: NewtonSettings,
    ) -> Result<Self, ConstrainedError> {
        if !matches!(scheme, Scheme::BackwardEuler | Scheme::Bdf2) {
            return Err(ConstrainedError::Scheme { scheme: scheme.name() });
        }
        let predictor = Implicit::new(system, scheme, newton)?;
        Ok(Self { predictor, projector: Projector::new(system, constraints, settings)? })
    }

    /// What finds positions that satisfy the constraints.
    #[must_use]
    pub fn projector(&self) -> &Projector<S> {
        &self.projector
    }

    /// The same, to evaluate constraints with.
    pub fn projector_mut(&mut self) -> &mut Projector<S> {
        &mut self.projector
    }

    /// What the projection of the last step that succeeded did.
    #[must_use]
    pub fn last(&self) -> &ProjectionReport {
        self.projector.last()
    }
}

/// What velocities change by per change of position, in 1/s: `1/dt`, or of BDF2 with the last step
/// `dt/w` long `(1 + 2 w)/((1 + w) dt)`.
fn rate<S: Space>(scheme: Scheme, state: &State<S>, dt: f64) -> f64 {
    match (scheme, state.previous()) {
        (Scheme::Bdf2, Some(previous)) => {
            let w = dt / previous.dt;
            (1.0 + 2.0 * w) / ((1.0 + w) * dt)
        }
        _ => 1.0 / dt,
    }
}

impl<S: Space> Integrator<S> for FastProjection<S> {
    fn step(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        dt: Positive,
    ) -> Result<StepReport, StepError> {
        let (start, dt) = (state.time(), dt.get());
        let failed = |may_heal: bool, cause: Cause| StepError::Failed { time: start, dt, may_heal, cause };
        let mut trial = state.clone();
        let step = Positive::new(dt).map_err(|error| failed(false, Cause::new(error)))?;
        let report = self.predictor.step(system, &mut trial, step)?;
        let rate = rate(self.predictor.scheme(), state, dt);
        // Forces act through M⁻¹ times this.
        let factor = 1.0 / (rate * rate);
        let mut x: Field<S, DVec3> = trial.x().clone();
        self.projector
            .project(&mut x, trial.time(), factor)
            .map_err(|error| failed(true, Cause::new(error)))?;
        let v = Field::from_fn(x.len(), |node| trial.v()[node] + (x[node] - trial.x()[node]) * rate);
        let work = report.balance.work + self.projector.work(state.x(), &x, factor);
        let (own, time, previous) = (trial.own().clone(), trial.time(), trial.previous().cloned());
        let resume = |ledger| State::resume(x, v, own, time, previous, None, ledger);
        let mut next = resume(None).map_err(|error| failed(true, Cause::new(error)))?;
        let energies = Energies::of(system, &next);
        let stored = self.projector.stored(factor);
        let balance =
            Balance { after: energies.total() + stored, work, ..report.balance };
        let ledger = state.ledger().copied().unwrap_or_else(|| Ledger::new(&Energies::of(system, state)));
        let ledger = ledger.after(&balance, &energies, work, 0.0, dt);
        next = with_ledger(&next, ledger).map_err(|error| failed(true, Cause::new(error)))?;
        let (momentum, angular_momentum) = system.momenta(&next);
        *state = next;
        Ok(StepReport {
            energies,
            balance,
            unexplained: ledger.fraction(),
            momentum,
            angular_momentum,
            ..report
        })
    }

    fn forget(&mut self) {
        self.predictor.forget();
        self.projector.forget();
    }

    fn remedy(&self) -> &'static str {
        "Take a shorter time step, or backward Euler, which dissipates more"
    }
}

/// The same state with another energy account.
pub(crate) fn with_ledger<S: Space>(
    state: &State<S>,
    ledger: Ledger,
) -> Result<State<S>, plisse_system::SetupError> {
    let (x, v, previous) = (state.x().clone(), state.v().clone(), state.previous().cloned());
    State::resume(x, v, state.own().clone(), state.time(), previous, None, Some(ledger))
}
