//! Multistep fast projection in time (EB08, section 4).
//!
//! A step of backward Euler or BDF2 without constraints is the *predictor*: it minimises the
//! incremental potential of all terms, so that bending is implicit. The constraints then pull it
//! back, weighted by mass, and the velocity follows from the positions as in the scheme itself:
//! `v = rate (x - reference)`, which the projection changes by `rate (x - x_predicted)`.

use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Field, Positive, Space};
use plisse_system::{
    Balance, Cause, Criterion, Implicit, Integrator, Ledger, NewtonSettings, Scheme, State, StepError,
    StepFormula, StepReport, System,
};

use crate::constraint::Constraint;
use crate::error::ConstrainedError;
use crate::forces::StepForces;
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
        constraints: Vec<Arc<dyn Constraint<S>>>,
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
        constraints: Vec<Arc<dyn Constraint<S>>>,
        scheme: Scheme,
        settings: ProjectionSettings,
        newton: NewtonSettings,
    ) -> Result<Self, ConstrainedError> {
        if !matches!(scheme, Scheme::BackwardEuler | Scheme::Bdf2) {
            return Err(ConstrainedError::Scheme { scheme: scheme.name() });
        }
        let predictor = Implicit::new(system, scheme, newton)?;
        let projector = Projector::new(system, constraints, settings)?;
        Ok(Self { predictor, projector })
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

/// A step without constraints, and what follows from it.
pub(crate) struct Predicted<S: Space> {
    pub(crate) trial: State<S>,
    report: StepReport,
    formula: StepFormula<S>,
    /// Where inertia alone would lead.
    pub(crate) coasted: Field<S, DVec3>,
    start: f64,
    dt: f64,
}

impl<S: Space> Predicted<S> {
    /// Forces act on positions through inverse masses times this, in s².
    pub(crate) fn factor(&self) -> f64 {
        1.0 / (self.formula.rate() * self.formula.rate())
    }

    /// What terms do in this step, which began at `state`.
    pub(crate) fn forces<'a>(&'a self, system: &'a System<S>, state: &'a State<S>) -> StepForces<'a, S> {
        let own = &self.trial.own().values;
        StepForces { system, map: self.formula.map(state), own, time: self.trial.time() }
    }

    pub(crate) fn failed(&self, may_heal: bool, cause: Cause) -> StepError {
        StepError::Failed { time: self.start, dt: self.dt, may_heal, cause }
    }

    /// Velocities of a step that ends at `x` instead.
    pub(crate) fn velocities(&self, x: &Field<S, DVec3>) -> Field<S, DVec3> {
        let (from, v) = (self.trial.x(), self.trial.v());
        Field::from_fn(x.len(), |node| v[node] + (x[node] - from[node]) * self.formula.rate())
    }
}

impl<S: Space> FastProjection<S> {
    pub(crate) fn predict(
        &mut self,
        system: &System<S>,
        state: &State<S>,
        dt: Positive,
    ) -> Result<Predicted<S>, StepError> {
        let mut trial = state.clone();
        let report = self.predictor.step(system, &mut trial, dt)?;
        let formula = StepFormula::new(self.predictor.scheme(), state, dt);
        let (x, v) = (state.x(), state.v());
        let coasted = Field::from_fn(x.len(), |node| x[node] + v[node] * dt.get());
        Ok(Predicted { trial, report, formula, coasted, start: state.time(), dt: dt.get() })
    }

    /// Positions on the constraints near the predicted ones, for a step from `state`.
    pub(crate) fn project(
        &mut self,
        system: &System<S>,
        state: &State<S>,
        predicted: &Predicted<S>,
    ) -> Result<Field<S, DVec3>, StepError> {
        let mut x: Field<S, DVec3> = predicted.trial.x().clone();
        let forces = predicted.forces(system, state);
        self.projector
            .project_with(&mut x, forces.time, (Some(&forces), predicted.factor()), Some(&predicted.coasted))
            .map_err(|error| predicted.failed(true, Cause::new(error)))?;
        Ok(x)
    }

    /// The state at the end of a step with these positions and velocities, and its report. `by` is
    /// what has projected them, `most_lift` what obstacles that move and what repulsion can have
    /// given at most, J.
    pub(crate) fn finish(
        system: &System<S>,
        state: &State<S>,
        predicted: Predicted<S>,
        (x, v): (Field<S, DVec3>, Field<S, DVec3>),
        by: &Projector<S>,
        most_lift: [f64; 2],
    ) -> Result<(State<S>, StepReport), StepError> {
        let factor = predicted.factor();
        // Loads that depend on velocity have seen another motion in the predictor.
        let forces = predicted.forces(system, state);
        let [without, with] = [predicted.trial.x(), &x].map(|end| system.dissipation(&forces.pose(end)));
        let work = predicted.report.balance.work - without.fed + with.fed + by.work(state.x(), &x, factor);
        let (own, time) = (predicted.trial.own().clone(), predicted.trial.time());
        let previous = predicted.trial.previous().cloned();
        let failed = |error| predicted.failed(true, Cause::new(error));
        let next = State::resume(x, v, own, time, previous, None, None).map_err(failed)?;
        let energies = by.energies(system, &next);
        let stored = by.elastic(state.x(), state.time()).unwrap_or(0.0);
        let before = predicted.report.balance.before + stored;
        let after = energies.total() + by.stored(factor);
        let gain = after - before - work;
        let driven = gain.clamp(0.0, most_lift[0]);
        let excused = by.slack(factor) + (gain - driven).clamp(0.0, most_lift[1]);
        let work = work + driven;
        let balance = Balance { before, after, work, dissipated: with.dissipated };
        let ledger = state.ledger().copied().unwrap_or_else(|| Ledger::new(&by.energies(system, state)));
        let ledger = ledger.after(&balance, &energies, work, excused, predicted.dt);
        let next = with_ledger(&next, ledger).map_err(failed)?;
        let (momentum, angular_momentum) = system.momenta(&next);
        let unexplained = ledger.fraction();
        let report =
            StepReport { energies, balance, unexplained, momentum, angular_momentum, ..predicted.report };
        Ok((next, report))
    }
}

impl<S: Space> Integrator<S> for FastProjection<S> {
    fn step(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        dt: Positive,
    ) -> Result<StepReport, StepError> {
        let predicted = self.predict(system, state, dt)?;
        let x = self.project(system, state, &predicted)?;
        let v = predicted.velocities(&x);
        let (next, report) = Self::finish(system, state, predicted, (x, v), &self.projector, [0.0; 2])?;
        *state = next;
        Ok(report)
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
