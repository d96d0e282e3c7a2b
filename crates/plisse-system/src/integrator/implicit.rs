//! Implicit steps by minimisation.

use glam::DVec3;
use plisse_core::{Field, Id, Positive, Psd, Space};

use super::Integrator;
use super::report::{Balance, Energies, StepError, StepReport, momenta};
use super::scheme::{Incremental, Scheme};
use crate::error::SetupError;
use crate::linear::Linear;
use crate::newton::{HessianPolicy, Newton, NewtonReport, NewtonSettings, Objective, Value};
use crate::pose::{Pose, StepMap};
use crate::state::{Previous, State};
use crate::system::System;
use crate::term::Role;

/// An implicit integrator: each step minimises the incremental potential of its [`Scheme`] by Newton's method.
pub struct Implicit<S: Space> {
    scheme: Scheme,
    start: Start,
    newton: Newton<S>,
    last: Option<Last<S>>,
}

/// Where Newton's method starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// The positions of the last step.
    Previous,
    /// The last positions, or extrapolated ones, whichever has the lower potential.
    Better,
}

/// The energies at the end of the last step, which is the start of the next unless somebody has changed the state.
struct Last<S: Space> {
    x: Field<S, DVec3>,
    v: Field<S, DVec3>,
    energies: Energies,
}

impl<S: Space> Implicit<S> {
    /// An integrator for this system. Refuses a system or a criterion that does not fit the scheme.
    pub fn new(system: &System<S>, scheme: Scheme, settings: NewtonSettings) -> Result<Self, SetupError> {
        if system.mass().is_none() {
            if scheme != Scheme::Quasistatic {
                return Err(SetupError::Massless { integrator: scheme.name() });
            }
            if settings.criterion.needs_mass() {
                return Err(SetupError::CriterionNeedsMass);
            }
        }
        if scheme == Scheme::Quasistatic
            && let Some(node) = system.loose_node()
        {
            return Err(SetupError::Loose { node: node.to_string() });
        }
        Ok(Self { scheme, start: Start::Better, newton: Newton::new(system, settings), last: None })
    }

    /// Backward Euler with one linear solve per step and no test of convergence, as in BW98: the forces are linearised at
    /// the start of the step. `psd` is the policy of the Hessian.
    ///
    /// Cheap and not accurate: nothing but the stiffness of the Hessian limits the error. The report carries the residual
    /// that is left.
    pub fn one_iteration(system: &System<S>, psd: Psd, settings: NewtonSettings) -> Result<Self, SetupError> {
        let settings = NewtonSettings {
            max_iterations: 1,
            hessian: HessianPolicy::Always(psd),
            line_search: false,
            regularise: false,
            fixed: true,
            ..settings
        };
        Ok(Self { start: Start::Previous, ..Self::new(system, Scheme::BackwardEuler, settings)? })
    }

    /// The scheme.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// How equations are solved.
    #[must_use]
    pub fn settings(&self) -> &NewtonSettings {
        self.newton.settings()
    }

    /// The linear solver, for its statistics.
    #[must_use]
    pub fn linear(&self) -> &Linear {
        self.newton.linear()
    }

    /// Forgets what earlier steps left in the linear solver, so that the next step depends on the state alone, bit by
    /// bit.
    pub fn forget(&mut self) {
        self.newton.forget();
        self.last = None;
    }

    /// Finds the equilibrium at the time of the state, and leaves the state there without velocity.
    ///
    /// The same as [`Integrator::step`] with [`Scheme::Quasistatic`], without advancing time.
    pub fn equilibrate(&mut self, system: &System<S>, state: &mut State<S>) -> Result<StepReport, StepError> {
        self.advance(system, state, 0.0, Scheme::Quasistatic)
    }

    fn advance(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        dt: f64,
        scheme: Scheme,
    ) -> Result<StepReport, StepError> {
        if !self.newton.is_for(system) {
            return Err(StepError::WrongSystem);
        }
        if state.x().len() != system.size() {
            return Err(StepError::WrongSize { expected: system.size(), found: state.x().len() });
        }
        let time = state.time() + dt;
        let targets = pin_targets(system, time)?;
        let acceleration = match (scheme, state.acceleration()) {
            (Scheme::Newmark, None) => Some(initial_acceleration(system, state, dt)),
            (Scheme::Newmark, Some(a)) => Some(a.clone()),
            _ => None,
        };
        let problem = Incremental::new(scheme, state, dt, acceleration.as_ref());
        let step_length = if scheme == Scheme::Quasistatic { f64::INFINITY } else { dt };
        let map =
            StepMap { start: state.x(), dt: step_length, reference: &problem.reference, rate: problem.rate };
        let objective = Objective { system, time, map, inertia: problem.inertia, target: &problem.target };
        let before = match &self.last {
            Some(last) if last.x == *state.x() && last.v == *state.v() => last.energies.clone(),
            _ => Energies::of(system, &Pose { x: state.x(), time: state.time(), step: None }, state.v()),
        };
        let (mut x, value) = self.first_guess(&objective, scheme, state, &targets, dt, &before);
        let solve = self
            .newton
            .minimise(&objective, &mut x, value)
            .map_err(|error| StepError::NotConverged { time: state.time(), dt, error: Box::new(error) })?;

        let mut v = problem.velocity(&x);
        let mut a = problem.acceleration(&x);
        // The trapezoidal rule rings on prescribed positions; a difference does not.
        for (node, target) in &targets {
            if scheme == Scheme::Newmark {
                v[*node] = (*target - state.x()[*node]) / dt;
            }
            a[*node] = DVec3::ZERO;
        }
        let energies = Energies::with_parts(system, self.newton.term_energies(), &v);
        let balance = Balance {
            before: before.total(),
            after: energies.total(),
            work: self.work_of_pins(state.x(), &targets),
            dissipated: dissipated(system, &objective, state.x(), &x),
        };
        let previous =
            (scheme == Scheme::Bdf2).then(|| Previous { x: state.x().clone(), v: state.v().clone(), dt });
        let a = (scheme != Scheme::Quasistatic).then_some(a);
        state.advance(x, v, time, previous, a);
        self.last = Some(Last { x: state.x().clone(), v: state.v().clone(), energies: energies.clone() });
        Ok(report(system, state, dt, solve, energies, balance))
    }

    fn first_guess(
        &mut self,
        objective: &Objective<'_, S>,
        scheme: Scheme,
        state: &State<S>,
        targets: &[(Id<S>, DVec3)],
        dt: f64,
        before: &Energies,
    ) -> (Field<S, DVec3>, Value) {
        let mut still = state.x().clone();
        for (node, target) in targets {
            still[*node] = *target;
        }
        if self.start == Start::Previous || objective.inertia == 0.0 {
            let value = self.newton.evaluate(objective, &still);
            return (still, value);
        }
        let predicted = Incremental::predict(scheme, state, dt);
        let mut moved = still.clone();
        for (i, &node) in objective.system.unknowns().iter().enumerate() {
            let mut step = predicted[node] - state.x()[node];
            if let Some(Some(allowed)) = objective.system.pins().allowed().get(i) {
                step = *allowed * step;
            }
            moved[node] += step;
        }
        // The energy of not moving is known from the last step, up to what depends on time.
        let energy_still = before.elastic() + before.external() + objective.inertial_energy(&still);
        let value = self.newton.evaluate(objective, &moved);
        if value.sum <= energy_still {
            return (moved, value);
        }
        let value = self.newton.evaluate(objective, &still);
        (still, value)
    }

    /// Force on moving pins times the way they went.
    fn work_of_pins(&self, start: &Field<S, DVec3>, targets: &[(Id<S>, DVec3)]) -> f64 {
        let gradient = self.newton.gradient();
        targets.iter().map(|(node, target)| gradient[*node].dot(*target - start[*node])).sum()
    }
}

impl<S: Space> Integrator<S> for Implicit<S> {
    fn step(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        dt: Positive,
    ) -> Result<StepReport, StepError> {
        self.advance(system, state, dt.get(), self.scheme)
    }
}

fn report<S: Space>(
    system: &System<S>,
    state: &State<S>,
    dt: f64,
    solve: NewtonReport,
    energies: Energies,
    balance: Balance,
) -> StepReport {
    let (momentum, angular_momentum) = momenta(system, state);
    StepReport { dt, solves: vec![solve], rejected: 0, energies, balance, momentum, angular_momentum }
}

fn pin_targets<S: Space>(system: &System<S>, time: f64) -> Result<Vec<(Id<S>, DVec3)>, StepError> {
    let mut targets = Vec::new();
    for (node, motion) in system.moving() {
        let target = motion(time);
        if !target.is_finite() {
            return Err(StepError::BadMotion { node: node.to_string(), time, value: target.to_array() });
        }
        targets.push((node, target));
    }
    Ok(targets)
}

/// `a = -M⁻¹ ∇E` at the start; zero at held nodes and in directions that sliding nodes may not take.
fn initial_acceleration<S: Space>(system: &System<S>, state: &State<S>, dt: f64) -> Field<S, DVec3> {
    let x = state.x();
    let reference = Field::from_fn(x.len(), |i| x[i] - state.v()[i] * dt);
    let map = StepMap { start: x, dt, reference: &reference, rate: 1.0 / dt };
    let mut gradient = Field::filled(x.len(), DVec3::ZERO);
    system.gradient(&Pose { x, time: state.time(), step: Some(map) }, &mut gradient);
    let mut forces: Vec<DVec3> = system.unknowns().iter().map(|&node| -gradient[node]).collect();
    system.pins().filter(&mut forces);
    let mut a = Field::filled(x.len(), DVec3::ZERO);
    if let Some(mass) = system.mass() {
        for (&node, force) in system.unknowns().iter().zip(&forces) {
            a[node] = *force / mass[node];
        }
    }
    a
}

/// Work of dissipative forces against the motion of the step.
fn dissipated<S: Space>(
    system: &System<S>,
    objective: &Objective<'_, S>,
    start: &Field<S, DVec3>,
    end: &Field<S, DVec3>,
) -> f64 {
    let mut gradient = Field::filled(end.len(), DVec3::ZERO);
    let mut any = false;
    for term in system.terms().filter(|term| term.role() == Role::Dissipative) {
        term.add_gradient(&objective.pose(end), &mut gradient);
        any = true;
    }
    if any { gradient.iter().map(|(node, g)| g.dot(end[node] - start[node])).sum() } else { 0.0 }
}
