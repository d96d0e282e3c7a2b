//! Projected Newton's method with a line search.

mod objective;
mod report;
mod stiffness;
mod stopping;

use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Field, Positive, Psd, Space, StepEnergy};

pub(crate) use objective::{Objective, Value};
pub use report::{Ended, Failure, Iteration, NewtonError, NewtonReport};
use stopping::{is_rounding, largest, runs_away};

use crate::linear::{Linear, LinearError, LinearSolver, Operator, SolveReport, dot};
use crate::matrix::BlockMatrix;
use crate::system::System;

/// When the iteration has converged. No criterion depends on the mesh: all are densities or integrals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// Accelerations are right to this, in m/s²: either no node has an unbalanced force per mass above it, or the Newton
    /// decrement says that the step left to do changes accelerations by less than a tenth of it, in the root mean square
    /// over mass: `√(2 · decrement · inertia / mass)`, a bound where the stiffness is positive semidefinite. Stiff sheets need the latter: forces of 1 N on an edge of 1e8 N/m are
    /// 10 nm.
    Acceleration(Positive),
    /// No node has an unbalanced force per mass above this, in m/s².
    ForcePerMass(Positive),
    /// The energy that the next step would gain is below this, in joules.
    Decrement(Positive),
}

impl Criterion {
    /// The number, in the unit of the criterion.
    #[must_use]
    pub fn tolerance(self) -> f64 {
        let (Self::Acceleration(tolerance) | Self::ForcePerMass(tolerance) | Self::Decrement(tolerance)) =
            self;
        tolerance.get()
    }

    /// Whether masses are part of it.
    #[must_use]
    pub fn needs_mass(self) -> bool {
        !matches!(self, Self::Decrement(_))
    }

    /// Whether unbalanced forces are small enough.
    fn met_by_force(self, force_per_mass: f64) -> bool {
        self.needs_mass() && force_per_mass <= self.tolerance()
    }

    /// Whether the energy left to gain is small enough.
    fn met_by_decrement<S: Space>(self, objective: &Objective<'_, S>, decrement: f64) -> bool {
        match self {
            Self::ForcePerMass(_) => false,
            Self::Decrement(tolerance) => decrement <= tolerance.get(),
            Self::Acceleration(tolerance) => {
                let nodes = objective.system.unknowns().iter();
                let mass: f64 =
                    objective.system.mass().map_or(0.0, |mass| nodes.map(|&node| mass[node]).sum());
                let square = 2.0 * decrement * objective.inertia / mass;
                objective.inertia > 0.0 && square <= (0.1 * tolerance.get()).powi(2)
            }
        }
    }
}

/// Which Hessian the steps are computed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HessianPolicy {
    /// Projected at first; exact once full steps converge; projected again where the exact one is not positive definite.
    ProjectedThenExact,
    /// Exact at first; projected where that is not positive definite, until full steps converge again.
    #[default]
    OnDemand,
    /// Always with this policy. With [`Psd::Exact`] nothing is projected and indefinite matrices are regularised.
    Always(Psd),
}

/// How equations are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonSettings {
    /// When to stop.
    pub criterion: Criterion,
    /// Iterations after which it is an error not to have converged.
    pub max_iterations: usize,
    /// Which Hessian to use.
    pub hessian: HessianPolicy,
    /// How to solve linear systems.
    pub solver: LinearSolver,
    /// Relative residual of linear solves; none lets it follow the progress of the outer iteration.
    pub linear_tolerance: Option<Positive>,
    /// Whether to accept only steps that lower the energy enough.
    pub line_search: bool,
    /// Whether to add to the diagonal when a matrix is not positive definite or steps are poor.
    pub regularise: bool,
    /// Do `max_iterations` and do not test for convergence; only forces that vanish exactly end it sooner.
    pub fixed: bool,
}

impl Default for NewtonSettings {
    /// 0.1 m/s² (a hundredth of gravity), 100 iterations, everything automatic.
    fn default() -> Self {
        Self {
            criterion: Criterion::Acceleration(DEFAULT_ACCELERATION),
            max_iterations: 100,
            hessian: HessianPolicy::default(),
            solver: LinearSolver::Auto,
            linear_tolerance: None,
            line_search: true,
            regularise: true,
            fixed: false,
        }
    }
}

/// A hundredth of gravity.
const DEFAULT_ACCELERATION: Positive = Positive::literal(0.1);

/// Newton's method for a system, with all that is kept between solves.
pub(crate) struct Newton<S: Space> {
    settings: NewtonSettings,
    linear: Linear,
    matrix: BlockMatrix,
    gradient: Field<S, DVec3>,
    trial: Field<S, DVec3>,
    /// Energies of each term at the last iterate, and at the last trial whose derivative was asked for.
    parts: Vec<StepEnergy>,
    trial_parts: Vec<StepEnergy>,
}

/// Armijo's fraction of the promised decrease.
const SUFFICIENT: f64 = 1e-4;
/// Relative rounding error of an energy. Much above the spacing of numbers: a strain is the difference of two lengths, and one of
/// 1e-7 has lost half of its digits.
const NOISE: f64 = 1e-9;
/// Steps below `2^-SMALLEST` are no steps.
const SMALLEST: usize = 40;
/// A full step after which the energy still falls at this fraction of its first rate was too short.
const STEEP: f64 = 0.6;
/// Longest multiple of a Newton step.
const LONGEST: f64 = 32.0;
/// Regularisation beyond which a matrix is given up.
const LARGEST_REGULARISATION: f64 = 1e6;

impl<S: Space> Newton<S> {
    pub(crate) fn new(system: &System<S>, settings: NewtonSettings) -> Self {
        Self {
            settings,
            linear: Linear::new(settings.solver, system.pattern()),
            matrix: BlockMatrix::zeros(Arc::clone(system.pattern())),
            gradient: Field::filled(system.size(), DVec3::ZERO),
            trial: Field::filled(system.size(), DVec3::ZERO),
            parts: Vec::new(),
            trial_parts: Vec::new(),
        }
    }

    pub(crate) fn settings(&self) -> &NewtonSettings {
        &self.settings
    }

    pub(crate) fn linear(&self) -> &Linear {
        &self.linear
    }

    pub(crate) fn forget(&mut self) {
        self.linear.forget();
    }

    pub(crate) fn is_for(&self, system: &System<S>) -> bool {
        self.linear.is_for(system.pattern())
    }

    /// The derivative of the objective at the result of the last solve, by every node.
    pub(crate) fn gradient(&self) -> &Field<S, DVec3> {
        &self.gradient
    }

    /// The energies of each term at the result of the last solve.
    pub(crate) fn term_energies(&self) -> &[StepEnergy] {
        &self.parts
    }

    /// Evaluates the objective at a place from which [`Self::minimise`] may start.
    pub(crate) fn evaluate(&mut self, objective: &Objective<'_, S>, x: &Field<S, DVec3>) -> Value {
        objective.value_and_gradient(x, &mut self.parts, &mut self.gradient)
    }

    /// Minimises from `x`, where [`Self::evaluate`] gave `value` last. `x` holds the result; on error the last iterate.
    pub(crate) fn minimise(
        &mut self,
        objective: &Objective<'_, S>,
        x: &mut Field<S, DVec3>,
        value: Value,
    ) -> Result<NewtonReport, NewtonError> {
        let mut run = Run {
            report: NewtonReport { ended: None, iterations: Vec::new(), residual: f64::INFINITY },
            exact: matches!(
                self.settings.hessian,
                HessianPolicy::OnDemand | HessianPolicy::Always(Psd::Exact)
            ),
            wait: 0,
            patience: 1,
            regularisation: 0.0,
            gained: 1.0,
            keeps_matrix: false,
            used_exact: false,
        };
        let result = self.iterate(objective, x, value, &mut run);
        let report = run.report;
        match result {
            Ok(ended) => Ok(NewtonReport { ended: Some(ended), ..report }),
            Err(failure) => {
                Err(NewtonError { failure, report, tolerance: self.settings.criterion.tolerance() })
            }
        }
    }

    fn iterate(
        &mut self,
        objective: &Objective<'_, S>,
        x: &mut Field<S, DVec3>,
        mut value: Value,
        run: &mut Run,
    ) -> Result<Ended, Failure> {
        let mut force = negated(objective.reduce(&self.gradient));
        run.report.residual = residual(objective, &force);
        let mut step = vec![DVec3::ZERO; force.len()];
        let scale = largest(x.as_slice()).max(largest(objective.map.start.as_slice()));
        loop {
            let iteration = run.report.iterations.len();
            let before = run.report.residual;
            if iteration == 0 && value.sum == f64::INFINITY {
                return Err(Failure::NoRoom);
            }
            if !(before.is_finite() && value.sum.is_finite()) {
                return Err(Failure::NotFinite);
            }
            // Forces that vanish exactly leave nothing to do under any criterion.
            if before == 0.0 || (!self.settings.fixed && self.settings.criterion.met_by_force(before)) {
                return Ok(Ended::Residual);
            }
            if iteration >= self.settings.max_iterations {
                return if self.settings.fixed { Ok(Ended::Fixed) } else { Err(Failure::Iterations) };
            }
            let (linear, hessians) = self.direction(objective, x, &force, &mut step, run)?;
            let promised = dot(&force, &step);
            let decrement = 0.5 * promised;
            // A regularised step is short, and promises little, anywhere.
            let plain = run.regularisation == 0.0;
            let at_rounding = plain && largest(&step) <= 8.0 * f64::EPSILON * scale;
            let (search, limit) = self.search(objective, x, &force, &step, value);
            run.report.iterations.push(Iteration {
                residual: before,
                decrement,
                exact: run.used_exact,
                regularisation: run.regularisation,
                length: search.as_ref().map_or(0.0, |(_, length)| *length),
                limit,
                hessians,
                linear,
            });
            let Some((next, length)) = search else {
                // The search has left the gradient of a trial behind.
                objective.gradient(x, &mut self.gradient);
                if at_rounding && is_rounding(objective, x, &force, &self.matrix, scale) {
                    return Ok(Ended::Rounding);
                }
                run.poor_step(&self.settings)?;
                continue;
            };
            std::mem::swap(x, &mut self.trial);
            std::mem::swap(&mut self.parts, &mut self.trial_parts);
            value = next;
            force = negated(objective.reduce(&self.gradient));
            let after = residual(objective, &force);
            run.report.residual = after;
            if !self.settings.fixed {
                let criterion = self.settings.criterion;
                if criterion.met_by_force(after) {
                    return Ok(Ended::Residual);
                }
                // The decrement is believed where the model was right: a full step, no more and no less.
                let full = plain && (1.0..2.0).contains(&length) && decrement >= 0.0;
                if full && criterion.met_by_decrement(objective, decrement) {
                    return Ok(Ended::Decrement);
                }
                let stays = at_rounding && after >= 0.5 * before;
                if stays && is_rounding(objective, x, &force, &self.matrix, scale) {
                    return Ok(Ended::Rounding);
                }
            }
            if runs_away(objective, x) {
                return Err(Failure::RunsAway);
            }
            // A step that contact has cut short was not a poor one, unless nothing but the stiffness keeps it short.
            let relative = if objective.inertia > 0.0 { length / limit } else { length };
            run.adapt(&self.settings, relative, after / before);
            run.keeps_matrix &= limit >= 1.0;
        }
    }

    /// Solves for a direction of descent, with another Hessian or more regularisation until there is one.
    fn direction(
        &mut self,
        objective: &Objective<'_, S>,
        x: &Field<S, DVec3>,
        force: &[DVec3],
        step: &mut [DVec3],
        run: &mut Run,
    ) -> Result<(SolveReport, usize), Failure> {
        let rank_ones = objective.rank_ones(x);
        let tolerance = self.linear_tolerance(run.report.residual, run.gained);
        let mut hessians = 0;
        loop {
            let psd = match self.settings.hessian {
                HessianPolicy::Always(psd) => psd,
                _ if run.exact => Psd::Exact,
                _ => Psd::Clamp,
            };
            if !std::mem::take(&mut run.keeps_matrix) {
                objective.hessian(x, psd, run.regularisation, &mut self.matrix);
                hessians += 1;
                run.used_exact = psd == Psd::Exact;
            }
            let operator = Operator { matrix: &self.matrix, rank_ones: &rank_ones };
            let error = match self.linear.solve(&operator, force, step, tolerance) {
                Ok(report) => {
                    // Rounding in the solve must not move sliding nodes off their lines and planes.
                    objective.system.pins().filter(step);
                    // An indefinite factorisation can give a direction of ascent.
                    let descends = dot(force, step) > 0.0 || !self.settings.line_search;
                    if descends && step.iter().all(|s| s.is_finite()) {
                        return Ok((report, hessians));
                    }
                    LinearError::NegativeCurvature
                }
                Err(
                    error @ (LinearError::NotFinite | LinearError::OutOfMemory | LinearError::DenseParts),
                ) => {
                    return Err(error.into());
                }
                Err(error) => error,
            };
            run.failed_solve(&self.settings, error)?;
        }
    }

    /// As small as the outer iteration can use: no smaller than what the criterion needs, quadratic when converging.
    fn linear_tolerance(&self, residual: f64, gained: f64) -> f64 {
        if let Some(tolerance) = self.settings.linear_tolerance {
            return tolerance.get();
        }
        if matches!(self.settings.solver, LinearSolver::Cholesky | LinearSolver::Ldlt) || self.settings.fixed
        {
            return 1e-10;
        }
        let follow = (0.5 * gained * gained).clamp(1e-6, 0.05);
        let criterion = self.settings.criterion;
        if criterion.needs_mass() {
            follow.max(0.3 * criterion.tolerance() / residual).min(0.05)
        } else {
            follow
        }
    }

    /// Finds a step length at which the energy falls enough: halves the longest step that the terms allow, or doubles a
    /// full one while that pays. The accepted place is in `trial`, its derivative in `gradient`, its energies in
    /// `trial_parts`. None if there is none. Also gives the length it began with.
    fn search(
        &mut self,
        objective: &Objective<'_, S>,
        x: &Field<S, DVec3>,
        force: &[DVec3],
        step: &[DVec3],
        value: Value,
    ) -> (Option<(Value, f64)>, f64) {
        self.go(objective, x, step, 1.0);
        let longest = objective.longest_step(x, &self.trial);
        let first = longest.min(1.0);
        if first < 1.0 {
            self.go(objective, x, step, first);
        }
        (self.search_from(objective, x, force, step, value, [first, longest]), first)
    }

    fn search_from(
        &mut self,
        objective: &Objective<'_, S>,
        x: &Field<S, DVec3>,
        force: &[DVec3],
        step: &[DVec3],
        value: Value,
        [first, longest]: [f64; 2],
    ) -> Option<(Value, f64)> {
        let promised = dot(force, step);
        let full = self.evaluate_trial(objective);
        if !self.settings.line_search {
            return Some((full, first));
        }
        if full.sum <= value.sum - SUFFICIENT * first * promised {
            let slope = -dot(&objective.reduce(&self.gradient), step);
            return Some(if first >= 1.0 && slope > STEEP * promised {
                self.expand(objective, x, step, full, longest)
            } else {
                (full, first)
            });
        }
        let mut length = first;
        let mut next = full;
        for _ in 0..SMALLEST {
            // Close to the minimum the difference of two energies is lost in rounding, their slopes are not: accept where
            // the slope has fallen, as Hager and Zhang's approximate Wolfe conditions do.
            let noise = NOISE * value.magnitude.max(next.magnitude);
            if next.sum.is_finite() && next.sum <= value.sum + noise && promised * length < noise {
                if length < first {
                    self.evaluate_trial(objective);
                }
                let slope = -dot(&objective.reduce(&self.gradient), step);
                if slope.abs() <= 0.9 * promised {
                    return Some((next, length));
                }
            }
            length *= 0.5;
            self.go(objective, x, step, length);
            next = objective.value(&self.trial);
            if next.sum <= value.sum - SUFFICIENT * length * promised {
                self.evaluate_trial(objective);
                return Some((next, length));
            }
        }
        None
    }

    /// Doubles a step that was accepted while the energy keeps falling. Projection overestimates stiffness under
    /// compression, and full steps are then many times too short; an energy costs a tenth of an iteration.
    fn expand(
        &mut self,
        objective: &Objective<'_, S>,
        x: &Field<S, DVec3>,
        step: &[DVec3],
        full: Value,
        longest: f64,
    ) -> (Value, f64) {
        let (mut best, mut length) = (full, 1.0);
        while 2.0 * length <= longest.min(LONGEST) {
            self.go(objective, x, step, 2.0 * length);
            let next = objective.value(&self.trial);
            // NaN ends it, too.
            if next.sum < best.sum {
                (best, length) = (next, 2.0 * length);
            } else {
                break;
            }
        }
        self.go(objective, x, step, length);
        (self.evaluate_trial(objective), length)
    }

    /// The objective at `trial`, with its derivative in `gradient`.
    fn evaluate_trial(&mut self, objective: &Objective<'_, S>) -> Value {
        objective.value_and_gradient(&self.trial, &mut self.trial_parts, &mut self.gradient)
    }

    /// `trial = x + length step`.
    fn go(&mut self, objective: &Objective<'_, S>, x: &Field<S, DVec3>, step: &[DVec3], length: f64) {
        self.trial.as_mut_slice().copy_from_slice(x.as_slice());
        for (&node, step) in objective.system.unknowns().iter().zip(step) {
            self.trial[node] += *step * length;
        }
    }
}

/// What changes from iteration to iteration.
struct Run {
    report: NewtonReport,
    /// Whether the next Hessian is the exact one.
    exact: bool,
    /// Iterations until the exact Hessian is tried again.
    wait: usize,
    /// Length of the next wait; doubles with every failure.
    patience: usize,
    regularisation: f64,
    /// Residual after the last step relative to that before it.
    gained: f64,
    /// Whether the matrix of the last iteration serves once more.
    keeps_matrix: bool,
    /// Whether the last matrix was the exact Hessian.
    used_exact: bool,
}

impl Run {
    /// Full steps earn the exact Hessian and less regularisation.
    ///
    /// Both kinds of full steps do: those that converge fast, because only the exact Hessian makes that quadratic, and those
    /// that converge slowly, because then the projection is what slows them.
    ///
    /// `length` is relative to the longest step that was allowed.
    fn adapt(&mut self, settings: &NewtonSettings, length: f64, gained: f64) {
        self.wait = self.wait.saturating_sub(1);
        self.gained = gained;
        let may_change = !matches!(settings.hessian, HessianPolicy::Always(_));
        if length >= 1.0 {
            self.regularisation = if self.regularisation < 1e-9 { 0.0 } else { self.regularisation / 10.0 };
            self.exact |= may_change && self.wait == 0 && !(0.3..0.5).contains(&gained);
        } else if length < 0.1 && settings.regularise {
            self.regularisation = (4.0 * self.regularisation).max(1e-6);
        }
        // An old matrix converges linearly, about at the rate at which the matrix changes, which is that of the last step. It
        // is kept where that is enough.
        let enough = settings.criterion.met_by_force(2.0 * gained * self.report.residual);
        let plain = (1.0..2.0).contains(&length) && self.regularisation == 0.0;
        self.keeps_matrix = plain && enough && !settings.fixed;
    }

    fn failed_solve(&mut self, settings: &NewtonSettings, error: LinearError) -> Result<(), Failure> {
        if self.leaves_exact(settings) {
            return Ok(());
        }
        self.regularise(settings).map_err(|()| Failure::Linear(error))
    }

    fn poor_step(&mut self, settings: &NewtonSettings) -> Result<(), Failure> {
        if self.leaves_exact(settings) {
            return Ok(());
        }
        self.regularise(settings).map_err(|()| Failure::LineSearch)
    }

    /// Back to the projected Hessian for a while, if there is one.
    fn leaves_exact(&mut self, settings: &NewtonSettings) -> bool {
        let leaves = self.exact && !matches!(settings.hessian, HessianPolicy::Always(_));
        if leaves {
            self.exact = false;
            self.patience = (2 * self.patience).min(16);
            self.wait = self.patience;
        }
        leaves
    }

    fn regularise(&mut self, settings: &NewtonSettings) -> Result<(), ()> {
        if !settings.regularise || self.regularisation >= LARGEST_REGULARISATION {
            return Err(());
        }
        self.regularisation = (100.0 * self.regularisation).max(1e-8);
        Ok(())
    }
}

fn residual<S: Space>(objective: &Objective<'_, S>, force: &[DVec3]) -> f64 {
    let mut worst = 0.0;
    for (&node, force) in objective.system.unknowns().iter().zip(force) {
        let mass = objective.system.mass().map_or(1.0, |mass| mass[node]);
        let here = force.length() / mass;
        // Written so that NaN is kept.
        if here.is_nan() || here > worst {
            worst = here;
        }
    }
    worst
}

fn negated(mut v: Vec<DVec3>) -> Vec<DVec3> {
    for v in &mut v {
        *v = -*v;
    }
    v
}
