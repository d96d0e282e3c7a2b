//! Implicit steps by minimisation.

use glam::DVec3;
use plisse_core::{Field, Id, Positive, Psd, Space, StepEnergy};
use plisse_sparse::{Linear, Revision};

use super::Integrator;
use super::forces::{acceleration_of, pin_targets, work_at_start};
use super::report::{Balance, Closest, Energies, StepError, StepReport, Tautest, momenta};
use super::scheme::{Incremental, Scheme};
use super::worst::Worst;
use crate::error::SetupError;
use crate::ledger::Ledger;
use crate::memory::Memory;
use crate::newton::{
    Criterion, Ended, Failure, HessianPolicy, Newton, NewtonError, NewtonReport, NewtonSettings, Objective,
    Problem, Scratch, Value,
};
use crate::pose::{Inertia, Pose, StepMap};
use crate::state::{Configuration, Kept, OwnState, Previous, State};
use crate::system::System;
use crate::term::{Moving, Role, Term, Way};

/// An implicit integrator: each step minimises the incremental potential of its [`Scheme`] by
/// Newton's method.
pub struct Implicit<S: Space> {
    scheme: Scheme,
    start: Start,
    newton: Newton,
    /// The pattern of the system that this is for.
    revision: Revision,
    scratch: Scratch<S>,
    last: Option<Last<S>>,
    /// What terms keep of a step, filled anew in each.
    memories: Vec<Memory>,
}

/// A step that took no more iterations than this was smooth.
const SMOOTH: usize = 3;
/// How much larger the tolerance of a solve is whose estimates will be refined.
const ROUGH: Positive = Positive::literal(10.0);

/// Where Newton's method starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// The positions of the last step.
    Previous,
    /// The last positions, or extrapolated ones, whichever has the lower potential.
    Better,
}

/// What is known from the end of the last step, which is the start of the next unless somebody has
/// changed the state.
struct Last<S: Space> {
    x: Field<S, DVec3>,
    v: Field<S, DVec3>,
    own: Vec<f64>,
    time: f64,
    energies: Energies,
    /// Acceleration one step before, if the motion was smooth: its trend is then worth following.
    earlier: Option<Field<S, DVec3>>,
}

impl<S: Space> Last<S> {
    fn is(&self, state: &State<S>) -> bool {
        self.time.to_bits() == state.time().to_bits()
            && self.x == *state.x()
            && self.v == *state.v()
            && self.own == state.own().values
    }
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
        if let Some(tolerance) = settings.linear_tolerance.filter(|t| t.get() >= 1.0) {
            let (what, expected) = ("the linear tolerance", "give a number between 0 and 1");
            return Err(SetupError::BadParameter { what, value: tolerance.get(), expected });
        }
        if settings.line_search
            && let Some(term) = system.terms().find(|term| !term.has_potential())
        {
            return Err(SetupError::NoPotential { term: term.name().to_owned() });
        }
        if matches!(scheme, Scheme::Bdf2 | Scheme::Newmark(_))
            && let Some(term) = system.terms().find(|term| term.role() == Role::Inertial)
        {
            let (term, integrator) = (term.name().to_owned(), scheme.name());
            return Err(SetupError::OwnInertia { term, integrator });
        }
        if scheme == Scheme::Quasistatic
            && let Some(node) = system.loose_node()
        {
            return Err(SetupError::Loose { node: node.to_string() });
        }
        Ok(Self {
            scheme,
            start: Start::Better,
            newton: Newton::new(settings),
            revision: system.pattern().revision(),
            scratch: Scratch::default(),
            last: None,
            memories: Vec::new(),
        })
    }

    /// Backward Euler with one linear solve per step and no test of convergence, as in BW98: the
    /// forces are linearised at the start of the step. `psd` is the policy of the Hessian.
    ///
    /// Cheap and not accurate: nothing but the stiffness of the Hessian limits the error. The
    /// report carries the residual that is left.
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

    /// Forgets what earlier steps left in the linear solver, so that the next step depends on the
    /// state alone, bit by bit.
    pub fn forget(&mut self) {
        self.newton.forget();
        self.last = None;
    }

    /// Finds the equilibrium at the time of the state, and leaves the state there without velocity.
    ///
    /// The same as [`Integrator::step`] with [`Scheme::Quasistatic`], without advancing time.
    pub fn equilibrate(&mut self, system: &System<S>, state: &mut State<S>) -> Result<StepReport, StepError> {
        self.find_equilibrium(system, state, 0.0)
    }

    /// A step. An equilibrium may be `held_back`, by steps of so many seconds.
    pub(super) fn advance(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        dt: f64,
        scheme: Scheme,
        held_back: Option<f64>,
    ) -> Result<StepReport, StepError> {
        if self.revision != system.pattern().revision() {
            return Err(StepError::WrongSystem);
        }
        if state.x().len() != system.size() {
            return Err(StepError::WrongSize { expected: system.size(), found: state.x().len() });
        }
        let time = state.time() + dt;
        let targets = pin_targets(system, time)?;
        let acceleration = match (scheme, state.acceleration()) {
            (Scheme::Newmark(_), None) => Some(acceleration_of(system, state, dt)),
            (Scheme::Newmark(_), Some(a)) => Some(a.clone()),
            _ => None,
        };
        let problem = match held_back {
            Some(h) => Incremental::held_back(state, h),
            None => Incremental::new(scheme, state, dt, acceleration.as_ref()),
        };
        let own_start = system.own_values(&state.own().values).to_vec();
        let own_rates = if state.own().rates.len() == own_start.len() { &*state.own().rates } else { &[] };
        let mut own_target = own_start.clone();
        own_target.iter_mut().zip(own_rates).for_each(|(own, rate)| *own += dt * rate);
        let step_length = if scheme == Scheme::Quasistatic { f64::INFINITY } else { dt };
        let map = StepMap {
            start: state.x(),
            dt: step_length,
            reference: &problem.reference,
            rate: problem.rate,
            past: problem.past(scheme, state, dt),
            own: &own_start,
            inertia: (problem.inertia > 0.0).then_some(Inertia {
                factor: problem.inertia,
                target: &problem.target,
                own_target: &own_target,
            }),
            memory: None,
        };
        let mut memories = std::mem::take(&mut self.memories);
        memories.resize_with(system.terms().len(), Memory::default);
        for (i, (term, memory)) in system.terms().zip(&mut memories).enumerate() {
            term.remember(&system.step_seen_by(i, &map), memory);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut objective = Objective {
            system,
            time,
            map,
            inertia: problem.inertia,
            target: &problem.target,
            touched: false,
            memories: &mut memories,
            scratch: &mut scratch,
        };
        let last = self.last.take().filter(|last| last.is(state));
        let before = match &last {
            Some(last) => last.energies.clone(),
            None => Energies::of(system, state),
        };
        let earlier = last.and_then(|last| last.earlier);
        let predicted = Incremental::predict(scheme, state, dt, earlier.as_ref());
        let (mut at, mut value) = self.first_guess(&mut objective, &predicted, state, &targets, &before);
        let mut solved: Option<NewtonReport> = None;
        let mut pass = 0;
        let solve = loop {
            let is_rough = pass == 0 && objective.refines() && !self.newton.settings().fixed;
            let solve = if is_rough {
                self.newton.minimise_roughly(&mut objective, &mut at, value, ROUGH)
            } else {
                self.newton.minimise_from(&mut objective, &mut at, value)
            };
            let solve = solve.map_err(|error| not_converged(&mut objective, state, &at, error, dt))?;
            // One history, however often a term has refined what it knows.
            let solve = match solved.take() {
                None => solve,
                Some(mut before) => {
                    before.iterations.extend(solve.iterations);
                    NewtonReport { iterations: before.iterations, ..solve }
                }
            };
            pass += 1;
            if !objective.refine(&at, pass) && !is_rough {
                break solve;
            }
            solved = Some(solve);
            objective.touched = true;
            value = self.evaluate(&mut objective, &at, true);
        };

        let x = &at.x;
        let mut v = problem.velocity(x);
        let mut a = problem.acceleration(x);
        if matches!(scheme, Scheme::Newmark(_)) {
            settle_held_nodes(system, state.x(), x, dt, &mut v, &mut a);
        }
        let Scratch { gradient, parts, .. } = &*objective.scratch;
        let own = OwnState {
            rates: rates(&own_start, &at.own, if scheme == Scheme::Quasistatic { 0.0 } else { dt }),
            values: at.own.clone(),
        };
        let moving = Moving { x, v: &v, own: &own.values, own_rates: &own.rates };
        let energies = Energies::at_end_of_step(system, parts, &moving);
        let balance = Balance {
            before: before.total(),
            after: energies.total(),
            work: work_of_pins(&objective, gradient, state, x, &v, dt)
                + work_of_time(&objective, &state.pose(), &at),
            dissipated: parts.iter().map(|part| part.dissipated).sum(),
        };
        let fed = fed(system, parts);
        let ledger = (scheme != Scheme::Quasistatic).then(|| {
            let driven = balance.work + self.work_of_loads(system, state, x, parts, dt);
            let excused = excused(&objective, gradient, state, x, &solve, self.newton.settings());
            let ledger = state.ledger().copied().unwrap_or_else(|| Ledger::new(&before));
            ledger.after(&balance, &energies, driven, excused, dt)
        });
        let ledger = ledger.map(|ledger| {
            if ledger.fraction() > Ledger::WARNING {
                ledger.at_least(self.newton.rounding_energy(&mut objective, &at))
            } else {
                ledger
            }
        });
        let balance = Balance { work: balance.work + fed, dissipated: balance.dissipated + fed, ..balance };
        let is_equilibrium = scheme == Scheme::Quasistatic && held_back.is_none();
        let stable = if is_equilibrium { self.newton.is_stable(&mut objective, &at) } else { None };
        let closest = closest_at(&objective, &at);
        let crossed = crossed(&objective, state, x, closest.as_ref());
        let tautest = Tautest::of(system, &at.pose(time));
        let own = OwnState { values: objective.settle(&at), ..own };
        self.memories = memories;
        self.scratch = scratch;
        if let Some((node, term)) = crossed {
            return Err(StepError::Crossed { time: state.time(), dt, node, term });
        }
        let previous =
            (scheme == Scheme::Bdf2).then(|| Previous { x: state.x().clone(), v: state.v().clone(), dt });
        let a = (scheme != Scheme::Quasistatic).then_some(a);
        let smooth = solve.iterations.len() <= SMOOTH;
        let earlier = state.acceleration().filter(|_| smooth).cloned();
        state.advance(at.x, v, own, time, Kept { previous, acceleration: a, ledger });
        let (x, v, own) = (state.x().clone(), state.v().clone(), state.own().values.clone());
        self.last = Some(Last { x, v, own, time, energies: energies.clone(), earlier });
        let (momentum, angular_momentum) = momenta(system, state);
        Ok(StepReport {
            dt,
            solves: vec![solve],
            rejected: 0,
            energies,
            balance,
            stable,
            unexplained: ledger.map_or(0.0, |ledger| ledger.fraction()),
            closest,
            tautest,
            momentum,
            angular_momentum,
        })
    }

    /// What terms that drive, such as wind, have done on the motion, never less than nothing. What
    /// damping gives back under schemes that ring is no work of a load.
    /// Newmark's scheme moves by the mean of the forces at both ends of a step, the others by those
    /// at its end, which the balance has.
    fn work_of_loads(
        &self,
        system: &System<S>,
        state: &State<S>,
        x: &Field<S, DVec3>,
        parts: &[StepEnergy],
        dt: f64,
    ) -> f64 {
        let driving = system.terms().zip(parts).filter(|(term, _)| term.drives());
        let at_end = -driving.map(|(_, part)| part.dissipated).sum::<f64>();
        let work = if matches!(self.scheme, Scheme::Newmark(_)) {
            0.5 * (at_end + work_at_start(system, state, x, dt))
        } else {
            at_end
        };
        work.max(at_end).max(0.0)
    }

    fn first_guess(
        &mut self,
        objective: &mut Objective<'_, S>,
        predicted: &Field<S, DVec3>,
        state: &State<S>,
        targets: &[(Id<S>, DVec3)],
        before: &Energies,
    ) -> (Configuration<S>, Value) {
        let own = objective.system.own_values(&state.own().values);
        let with_own = |x| Configuration { x, own: own.to_vec() };
        let mut still = state.x().clone();
        for (node, target) in targets {
            still[*node] = *target;
        }
        objective.follow(&with_own(state.x().clone()));
        let is_reachable = admit(objective, state, &mut still);
        let mut moved = still.clone();
        let still = with_own(still);
        if self.start == Start::Previous || objective.inertia == 0.0 {
            let value = self.evaluate(objective, &still, is_reachable);
            return (still, value);
        }
        for (i, &node) in objective.system.unknowns().iter().enumerate() {
            let mut step = predicted[node] - state.x()[node];
            if let Some(Some(allowed)) = objective.system.pins().allowed().get(i) {
                step = *allowed * step;
            }
            moved[node] += step;
        }
        let is_moved_reachable = admit(objective, state, &mut moved);
        let own = objective.map.inertia.map_or(own, |inertia| inertia.own_target).to_vec();
        let moved = Configuration { x: moved, own };
        let value = self.evaluate(objective, &moved, is_moved_reachable);
        // The energy of not moving is known from the last step, but for what depends on time or
        // velocity. What damped elastic terms would add with schemes that remember more than the
        // start is left out: this only decides where to begin.
        let changes = |term: &dyn Term<S>| term.depends_on_time() || term.role() == Role::Dissipative;
        let energy_still = if still.x == *state.x() {
            let terms = objective.system.terms().enumerate().zip(&before.terms);
            let energies = terms.map(|((i, term), before)| {
                if changes(term) { term.energy(&objective.pose_at_start(i, &still)) } else { before.energy }
            });
            energies.sum::<f64>() + objective.inertial_energy(&still.x)
        } else {
            objective.value(&still).sum
        };
        if value.sum <= energy_still && is_moved_reachable {
            return (moved, value);
        }
        let value = self.evaluate(objective, &still, is_reachable);
        (still, value)
    }

    /// The objective at a first guess; infinite at one that cannot be reached.
    fn evaluate(
        &mut self,
        objective: &mut Objective<'_, S>,
        at: &Configuration<S>,
        is_reachable: bool,
    ) -> Value {
        objective.follow(at);
        let value = self.newton.evaluate(objective, at);
        objective.accepted(at);
        if is_reachable { value } else { Value { sum: f64::INFINITY, ..value } }
    }
}

/// Changes per second; zero without time.
fn rates(start: &[f64], end: &[f64], dt: f64) -> Vec<f64> {
    start.iter().zip(end).map(|(start, end)| if dt > 0.0 { (end - start) / dt } else { 0.0 }).collect()
}

/// The smallest gap where the solver is.
fn closest_at<S: Space>(objective: &Objective<'_, S>, at: &Configuration<S>) -> Option<Closest> {
    let terms = objective.system.terms().enumerate();
    Closest::of(terms.map(|(i, term)| (term, objective.pose_for(i, at))))
}

/// The smallest gap of a step that failed, if gaps had to do with it. A guess that was rejected may
/// be on the wrong side of everything: there the start of the step tells more, unless nothing was
/// close.
fn closest_of_failure<S: Space>(
    objective: &Objective<'_, S>,
    start: &State<S>,
    at: &Configuration<S>,
    error: &NewtonError,
) -> Option<Closest> {
    let is_close = |closest: &Closest| closest.gap.is_finite();
    if error.failure == Failure::NoRoom {
        let pose = start.pose();
        let before = Closest::of(objective.system.at(&pose)).filter(is_close);
        return before.or_else(|| closest_at(objective, at).filter(is_close));
    }
    (error.report.limited() > 0).then(|| closest_at(objective, at))?.filter(is_close)
}

/// Why a step failed, with what can be seen of it.
fn not_converged<S: Space>(
    objective: &mut Objective<'_, S>,
    start: &State<S>,
    at: &Configuration<S>,
    error: NewtonError,
    dt: f64,
) -> StepError {
    // Of a step without a place to begin, the guess shows what was pulled too far.
    let has_room = error.failure != Failure::NoRoom;
    let x = if has_room { start.x() } else { &at.x };
    let taut = Tautest::of(objective.system, &Pose { x, ..start.pose() }).filter(Tautest::is_taut);
    let closest = closest_of_failure(objective, start, at, &error);
    let worst = if has_room { Worst::of(objective, at) } else { None };
    StepError::NotConverged {
        time: start.time(),
        dt,
        is_equilibrium: objective.map.dt.is_infinite(),
        error: Box::new(error),
        taut: taut.map(Box::new),
        closest: closest.map(Box::new),
        worst: worst.map(Box::new),
    }
}

/// A node that has come to the wrong side of something, and the name of the term that should have
/// kept it away.
fn crossed<S: Space>(
    objective: &Objective<'_, S>,
    start: &State<S>,
    x: &Field<S, DVec3>,
    closest: Option<&Closest>,
) -> Option<(usize, String)> {
    if let Some(inside) = closest.filter(|closest| closest.gap <= 0.0) {
        return Some((inside.node, inside.term.clone()));
    }
    let of = |(i, term): (usize, &dyn Term<S>)| {
        let node = term.crossed(&way(objective, start, i), x)?;
        Some((node.index(), term.name().to_owned()))
    };
    objective.system.terms().enumerate().find_map(of)
}

/// The way of a step as a term sees it.
fn way<'a, S: Space>(objective: &'a Objective<'_, S>, start: &'a State<S>, term: usize) -> Way<'a, S> {
    Way { start: start.x(), from: start.time(), time: objective.time, memory: objective.memories.get(term) }
}

/// Rounds in which terms may change a first guess.
const ADMISSIONS: usize = 3;

/// Changes a first guess so that every term admits it and sliding nodes stay on their lines and
/// planes; false where that is not possible.
fn admit<S: Space>(objective: &Objective<'_, S>, state: &State<S>, guess: &mut Field<S, DVec3>) -> bool {
    let system = objective.system;
    for _ in 0..ADMISSIONS {
        let before = guess.clone();
        for (i, term) in system.terms().enumerate() {
            term.admit(&way(objective, state, i), guess);
        }
        for (&node, allowed) in system.unknowns().iter().zip(system.pins().allowed()) {
            if let Some(p) = allowed {
                guess[node] = state.x()[node] + *p * (guess[node] - state.x()[node]);
            }
        }
        let mut terms = system.terms().enumerate();
        if terms.all(|(i, term)| term.is_reachable(&way(objective, state, i), guess)) {
            return true;
        }
        // Terms that changed nothing will change nothing.
        if *guess == before {
            return false;
        }
    }
    false
}

impl<S: Space> Integrator<S> for Implicit<S> {
    fn step(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        dt: Positive,
    ) -> Result<StepReport, StepError> {
        match self.scheme {
            Scheme::Quasistatic => self.find_equilibrium(system, state, dt.get()),
            scheme => self.advance(system, state, dt.get(), scheme, None),
        }
    }

    fn forget(&mut self) {
        Self::forget(self);
    }

    fn remedy(&self) -> &'static str {
        self.scheme.remedy()
    }
}

/// Force on moving pins times the way they went. `gradient` is that of the objective at the end;
/// its inertial part is replaced by the change of the pin's momentum, which is what its path makes
/// of it under every scheme.
fn work_of_pins<S: Space>(
    objective: &Objective<'_, S>,
    gradient: &Field<S, DVec3>,
    start: &State<S>,
    x: &Field<S, DVec3>,
    v: &Field<S, DVec3>,
    dt: f64,
) -> f64 {
    let system = objective.system;
    let work = |node: Id<S>| {
        let mass = system.mass().map_or(0.0, |mass| mass[node]);
        let of_terms = gradient[node] - (x[node] - objective.target[node]) * (mass * objective.inertia);
        let momentum = if dt > 0.0 { (v[node] - start.v()[node]) * (mass / dt) } else { DVec3::ZERO };
        (of_terms + momentum).dot(x[node] - start.x()[node])
    };
    system.moving().map(|(node, _)| work(node)).sum()
}

/// What dissipative terms that [drive](Term::drives) have fed into the motion, J, each on the
/// whole: never negative.
fn fed<S: Space>(system: &System<S>, parts: &[StepEnergy]) -> f64 {
    let driving = system.terms().zip(parts).filter(|(term, _)| term.drives());
    driving.map(|(_, part)| (-part.dissipated).max(0.0)).sum()
}

/// The work of forces that the solver has left unbalanced, as far as its criterion lets it: more
/// than that is no excuse for a gain of energy.
fn excused<S: Space>(
    objective: &Objective<'_, S>,
    gradient: &Field<S, DVec3>,
    start: &State<S>,
    x: &Field<S, DVec3>,
    solve: &NewtonReport,
    settings: &NewtonSettings,
) -> f64 {
    let system = objective.system;
    let way = |node: Id<S>| x[node] - start.x()[node];
    let unbalanced: f64 = system.unknowns().iter().map(|&node| gradient[node].dot(way(node))).sum();
    let allowed = match (solve.ended, settings.criterion, system.mass()) {
        (Some(Ended::Fixed), ..) => 0.0,
        (Some(Ended::Rounding), ..) => f64::INFINITY,
        (_, Criterion::Decrement(joules), _) => 2.0 * joules.get(),
        (_, criterion, Some(mass)) => {
            let moment = |&node: &Id<S>| mass[node] * way(node).length();
            criterion.tolerance() * system.unknowns().iter().map(moment).sum::<f64>()
        }
        (_, _, None) => 0.0,
    };
    unbalanced.abs().min(allowed)
}

/// Work of what moves by itself, by the forces of the step.
fn work_of_time<S: Space>(objective: &Objective<'_, S>, start: &Pose<'_, S>, end: &Configuration<S>) -> f64 {
    let changes = |term: &dyn Term<S>| term.depends_on_time() && term.role() != Role::Dissipative;
    let terms = objective.system.at(start).enumerate().filter(|(_, (term, _))| changes(*term));
    terms.map(|(i, (term, start))| term.work(&start, &objective.pose_for(i, end))).sum()
}

/// Newmark's rule rings on prescribed positions; a difference does not. Held nodes get the velocity
/// of their path and no acceleration, sliding nodes lose what points off their line or plane.
fn settle_held_nodes<S: Space>(
    system: &System<S>,
    start: &Field<S, DVec3>,
    end: &Field<S, DVec3>,
    dt: f64,
    v: &mut Field<S, DVec3>,
    a: &mut Field<S, DVec3>,
) {
    for node in end.ids().filter(|&node| system.is_held(node)) {
        v[node] = (end[node] - start[node]) / dt;
        a[node] = DVec3::ZERO;
    }
    for (&node, allowed) in system.unknowns().iter().zip(system.pins().allowed()) {
        if let Some(p) = allowed {
            v[node] = *p * v[node];
            a[node] = *p * a[node];
        }
    }
}
