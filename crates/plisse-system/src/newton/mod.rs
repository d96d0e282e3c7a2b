//! Projected Newton's method with a line search.

mod objective;
mod problem;
mod report;
mod secant;
mod settings;
mod stiffness;
mod stopping;

use std::sync::Arc;

use plisse_core::{Positive, Psd};
use plisse_sparse::{BlockMatrix, Linear, LinearError, LinearSolver, Operator, SolveReport, dot};

pub(crate) use objective::{Objective, Scratch};
pub use problem::{Problem, Value};
pub use report::{Ended, Failure, Iteration, NewtonError, NewtonReport};
pub use settings::{Criterion, HessianPolicy, NewtonSettings, Search};
use stopping::{is_rounding, largest};

/// Newton's method, with all that is kept between solves: analysis, factors and memory.
///
/// ```
/// use std::sync::Arc;
///
/// use plisse_core::Psd;
/// use plisse_sparse::{BlockMatrix, Layout, Pattern};
/// use plisse_system::{Criterion, Newton, NewtonSettings, Problem, Value};
///
/// /// cosh(x - 3) of one number.
/// struct Chain(Arc<Pattern>);
///
/// impl Problem for Chain {
///     type Point = f64;
///     fn pattern(&self) -> &Arc<Pattern> {
///         &self.0
///     }
///     fn value(&mut self, x: &f64) -> Value {
///         Value::of((x - 3.0).cosh())
///     }
///     fn value_and_gradient(&mut self, x: &f64, gradient: &mut [f64]) -> Value {
///         gradient[0] = (x - 3.0).sinh();
///         self.value(x)
///     }
///     fn hessian(&mut self, x: &f64, _: Psd, out: &mut BlockMatrix) {
///         out.reset(&self.0);
///         out.add_to_diagonal(0, (x - 3.0).cosh());
///     }
///     fn retract(&self, x: &f64, step: &[f64], length: f64, out: &mut f64) {
///         *out = x + length * step[0];
///     }
///     fn extent(&self, x: &f64) -> f64 {
///         x.abs().max(1.0)
///     }
/// }
///
/// let pattern = Pattern::new(Layout::scalars(1), [].into_iter())?;
/// let criterion = Criterion::Decrement(plisse_core::Positive::literal(1e-20));
/// let mut newton = Newton::new(NewtonSettings { criterion, ..NewtonSettings::default() });
/// let mut x = 0.0;
/// newton.minimise(&mut Chain(pattern), &mut x)?;
/// assert!((x - 3.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Newton {
    settings: NewtonSettings,
    linear: Linear,
    matrix: Option<BlockMatrix>,
    gradient: Vec<f64>,
}

/// What a solve works on: the iterate, and a place to try.
struct Places<'a, P: Problem> {
    problem: &'a mut P,
    x: &'a mut P::Point,
    trial: P::Point,
    matrix: BlockMatrix,
    /// Mean diagonal of the last Hessian.
    diagonal: f64,
}

/// Armijo's fraction of the promised decrease.
const SUFFICIENT: f64 = 1e-4;
/// Relative rounding error of an energy. Much above the spacing of numbers: a strain is the
/// difference of two lengths, and one of 1e-7 has lost half of its digits.
const NOISE: f64 = 1e-9;
/// Steps below `2^-SMALLEST` are no steps.
const SMALLEST: usize = 40;
/// A full step after which the energy still falls at this fraction of its first rate was too short.
const STEEP: f64 = 0.6;
/// Longest multiple of a Newton step.
const LONGEST: f64 = 32.0;
/// Regularisation beyond which a matrix is given up.
const LARGEST_REGULARISATION: f64 = 1e6;
/// A full step that promises less than this part of the energies is near the minimum.
const NEAR: f64 = 1e-2;

impl Newton {
    /// Newton's method with these settings. Nothing is analysed before the first solve.
    #[must_use]
    pub fn new(settings: NewtonSettings) -> Self {
        Self { settings, linear: Linear::new(settings.solver), matrix: None, gradient: Vec::new() }
    }

    /// How equations are solved.
    #[must_use]
    pub fn settings(&self) -> &NewtonSettings {
        &self.settings
    }

    /// The linear solver, for its statistics.
    #[must_use]
    pub fn linear(&self) -> &Linear {
        &self.linear
    }

    /// Forgets what earlier solves left in the linear solver, so that the next one depends on its
    /// start alone, bit by bit.
    pub fn forget(&mut self) {
        self.linear.forget();
        // A pattern that has grown orders the unknowns in another way than the next one would.
        self.matrix = None;
    }

    /// Minimises from `x`, which holds the result; on error the last iterate.
    ///
    /// # Errors
    /// [`NewtonError`] with the history if the criterion is not met.
    pub fn minimise<P: Problem>(
        &mut self,
        problem: &mut P,
        x: &mut P::Point,
    ) -> Result<NewtonReport, NewtonError> {
        self.gradient.resize(problem.pattern().layout().unknowns(), 0.0);
        let value = problem.value_and_gradient(x, &mut self.gradient);
        problem.accepted(x);
        self.minimise_from(problem, x, value)
    }

    /// The value at a place from which [`Self::minimise_from`] may start.
    pub(crate) fn evaluate<P: Problem>(&mut self, problem: &mut P, x: &P::Point) -> Value {
        self.gradient.resize(problem.pattern().layout().unknowns(), 0.0);
        problem.value_and_gradient(x, &mut self.gradient)
    }

    /// The same with a tolerance that is larger by a factor.
    pub(crate) fn minimise_roughly<P: Problem>(
        &mut self,
        problem: &mut P,
        x: &mut P::Point,
        value: Value,
        factor: Positive,
    ) -> Result<NewtonReport, NewtonError> {
        let criterion = self.settings.criterion;
        self.settings.criterion = criterion.times(factor);
        let result = self.minimise_from(problem, x, value);
        self.settings.criterion = criterion;
        result
    }

    /// Minimises from `x`, where [`Self::evaluate`] gave `value` last.
    pub(crate) fn minimise_from<P: Problem>(
        &mut self,
        problem: &mut P,
        x: &mut P::Point,
        value: Value,
    ) -> Result<NewtonReport, NewtonError> {
        let mut run = Run {
            report: NewtonReport { ended: None, iterations: Vec::new(), residual: f64::INFINITY },
            exact: matches!(
                self.settings.hessian,
                HessianPolicy::OnDemand | HessianPolicy::Always(Psd::Exact)
            ),
            near: false,
            wait: 0,
            patience: 1,
            regularisation: 0.0,
            gained: 1.0,
            keeps_matrix: false,
            used_exact: false,
        };
        let matrix = self.take_matrix(problem);
        let trial = x.clone();
        let mut places = Places { problem, x, trial, matrix, diagonal: 0.0 };
        let result = self.iterate(&mut places, value, &mut run);
        self.matrix = Some(places.matrix);
        let report = run.report;
        match result {
            Ok(ended) => Ok(NewtonReport { ended: Some(ended), ..report }),
            Err(failure) => {
                Err(NewtonError { failure, report, tolerance: self.settings.criterion.tolerance() })
            }
        }
    }

    /// The last matrix, or zeros for another problem.
    fn take_matrix<P: Problem>(&mut self, problem: &P) -> BlockMatrix {
        let last = self.matrix.take().filter(|last| last.pattern().size() == problem.pattern().size());
        last.unwrap_or_else(|| BlockMatrix::zeros(Arc::clone(problem.pattern())))
    }

    fn iterate<P: Problem>(
        &mut self,
        at: &mut Places<'_, P>,
        mut value: Value,
        run: &mut Run,
    ) -> Result<Ended, Failure> {
        let mut force = negated(&self.gradient);
        run.report.residual = at.problem.residual(&force);
        let mut step = vec![0.0; force.len()];
        let scale = at.problem.extent(at.x);
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
            let untouched = if iteration == 0 { before / at.problem.untouched() } else { before };
            if before == 0.0 || (!self.settings.fixed && self.settings.criterion.met_by_residual(untouched)) {
                return Ok(Ended::Residual);
            }
            if iteration >= self.settings.max_iterations {
                return if self.settings.fixed { Ok(Ended::Fixed) } else { Err(Failure::Iterations) };
            }
            let dense_parts = at.problem.dense_parts(at.x);
            // An iteration that was not needed may fail.
            let met =
                iteration == 0 && !self.settings.fixed && self.settings.criterion.met_by_residual(before);
            let (linear, hessians) = match self.direction(at, &dense_parts, &force, &mut step, run) {
                Err(_) if met => return Ok(Ended::Residual),
                result => result?,
            };
            let promised = dot(&force, &step);
            let decrement = 0.5 * promised;
            // A regularised step is short, and promises little, anywhere.
            let plain = run.regularisation == 0.0;
            let at_rounding = plain && largest(&step) <= 8.0 * f64::EPSILON * scale;
            let (search, limit) = self.search(at, &force, &step, value);
            run.report.iterations.push(Iteration {
                residual: before,
                energy: value.sum,
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
                at.problem.value_and_gradient(at.x, &mut self.gradient);
                let rounding = at_rounding && is_rounding(&force, &at.matrix, &dense_parts, scale);
                if rounding || met {
                    return Ok(if met { Ended::Residual } else { Ended::Rounding });
                }
                run.poor_step(&self.settings)?;
                continue;
            };
            std::mem::swap(at.x, &mut at.trial);
            at.problem.accepted(at.x);
            let energies = std::mem::replace(&mut value, next).magnitude;
            let old = std::mem::replace(&mut force, negated(&self.gradient));
            let after = at.problem.residual(&force);
            run.report.residual = after;
            if !self.settings.fixed {
                let criterion = self.settings.criterion;
                if criterion.met_by_residual(after) {
                    return Ok(Ended::Residual);
                }
                // The decrement is believed where the model was right: a full step, no more and no
                // less.
                let full = plain && (1.0..2.0).contains(&length) && decrement >= 0.0;
                if full
                    && criterion.met_by_decrement(decrement, at.problem.error_of_step(decrement, &old, &step))
                {
                    return Ok(Ended::Decrement);
                }
                let stays = at_rounding && after >= 0.5 * before;
                if stays && is_rounding(&force, &at.matrix, &at.problem.dense_parts(at.x), scale) {
                    return Ok(Ended::Rounding);
                }
            }
            if at.problem.runs_away(at.x) {
                return Err(Failure::RunsAway);
            }
            // A step that contact has cut short was not a poor one, unless nothing but the
            // stiffness keeps it short.
            let relative = if at.problem.forgives_short_steps() { length / limit } else { length };
            run.near |= self.settings.hessian == HessianPolicy::ExactWhenNear
                && relative >= 1.0
                && promised < NEAR * energies;
            run.adapt(&self.settings, relative, after / before, || at.curvature(&step, promised));
            run.keeps_matrix &= limit >= 1.0;
        }
    }

    /// Solves for a direction of descent, with another Hessian or more regularisation until there
    /// is one.
    fn direction<P: Problem>(
        &mut self,
        at: &mut Places<'_, P>,
        dense_parts: &[(f64, Vec<f64>)],
        force: &[f64],
        step: &mut [f64],
        run: &mut Run,
    ) -> Result<(SolveReport, usize), Failure> {
        let tolerance = self.linear_tolerance(run.report.residual, run.gained);
        let mut hessians = 0;
        loop {
            let psd = match self.settings.hessian {
                HessianPolicy::Always(psd) => psd,
                _ if run.exact => Psd::Exact,
                _ => Psd::Clamp,
            };
            if !std::mem::take(&mut run.keeps_matrix) {
                at.assemble(psd, run.regularisation);
                hessians += 1;
                run.used_exact = psd == Psd::Exact;
            }
            let operator = Operator { matrix: &at.matrix, rank_ones: dense_parts };
            let error = match self.linear.solve(&operator, force, step, tolerance) {
                Ok(report) => {
                    // Rounding in the solve must not move sliding nodes off their lines and planes.
                    at.problem.restrict(step);
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

    /// As small as the outer iteration can use: no smaller than what the criterion needs, quadratic
    /// when converging.
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

    /// Finds a step length at which the value falls enough: halves the longest step that the
    /// problem allows, or doubles a full one while that pays. The accepted place is in `trial`, its
    /// derivative in `gradient`. None if there is none. Also gives the length it began with.
    fn search<P: Problem>(
        &mut self,
        at: &mut Places<'_, P>,
        force: &[f64],
        step: &[f64],
        value: Value,
    ) -> (Option<(Value, f64)>, f64) {
        at.go(step, 1.0);
        let longest = at.problem.longest_step(at.x, step, &at.trial);
        let first = longest.min(1.0);
        if first < 1.0 {
            at.go(step, first);
        }
        (self.search_from(at, force, step, value, [first, longest]), first)
    }

    fn search_from<P: Problem>(
        &mut self,
        at: &mut Places<'_, P>,
        force: &[f64],
        step: &[f64],
        value: Value,
        [first, longest]: [f64; 2],
    ) -> Option<(Value, f64)> {
        if self.settings.line_search && self.settings.search == Search::Secant {
            return self.secant(at, force, step, value, [first, longest]);
        }
        let promised = dot(force, step);
        let full = self.evaluate_trial(at);
        if !self.settings.line_search {
            return Some((full, first));
        }
        if full.sum <= value.sum - SUFFICIENT * first * promised {
            let slope = -dot(&self.gradient, step);
            return Some(if first >= 1.0 && slope > STEEP * promised {
                self.expand(at, step, full, longest)
            } else {
                (full, first)
            });
        }
        let mut length = first;
        let mut next = full;
        for _ in 0..SMALLEST {
            // Close to the minimum the difference of two energies is lost in rounding, their slopes
            // are not: accept where the slope has fallen, as Hager and Zhang's approximate Wolfe
            // conditions do.
            let noise = NOISE * value.magnitude.max(next.magnitude);
            if next.sum.is_finite() && next.sum <= value.sum + noise && promised * length < noise {
                if length < first {
                    self.evaluate_trial(at);
                }
                let slope = -dot(&self.gradient, step);
                if slope.abs() <= 0.9 * promised {
                    return Some((next, length));
                }
            }
            length *= 0.5;
            at.go(step, length);
            next = at.problem.value(&at.trial);
            if next.sum <= value.sum - SUFFICIENT * length * promised {
                self.evaluate_trial(at);
                return Some((next, length));
            }
        }
        None
    }

    /// Doubles a step that was accepted while the value keeps falling. Projection overestimates
    /// stiffness under compression, and full steps are then many times too short; a value costs a
    /// tenth of an iteration.
    fn expand<P: Problem>(
        &mut self,
        at: &mut Places<'_, P>,
        step: &[f64],
        full: Value,
        longest: f64,
    ) -> (Value, f64) {
        let (mut best, mut length) = (full, 1.0);
        while 2.0 * length <= longest.min(LONGEST) {
            at.go(step, 2.0 * length);
            let next = at.problem.value(&at.trial);
            // NaN ends it, too.
            if next.sum < best.sum {
                (best, length) = (next, 2.0 * length);
            } else {
                break;
            }
        }
        at.go(step, length);
        (self.evaluate_trial(at), length)
    }

    /// The value at `trial`, with its derivative in `gradient`.
    fn evaluate_trial<P: Problem>(&mut self, at: &mut Places<'_, P>) -> Value {
        at.problem.value_and_gradient(&at.trial, &mut self.gradient)
    }
}

impl<P: Problem> Places<'_, P> {
    /// `trial = x + length step`.
    fn go(&mut self, step: &[f64], length: f64) {
        self.problem.retract(self.x, step, length, &mut self.trial);
    }

    /// The Hessian with `regularisation` times its mean diagonal on the diagonal, restricted.
    fn assemble(&mut self, psd: Psd, regularisation: f64) {
        self.problem.hessian(self.x, psd, &mut self.matrix);
        self.diagonal = self.matrix.mean_abs_diagonal().max(f64::MIN_POSITIVE);
        if regularisation > 0.0 {
            self.problem.regularise(regularisation * self.diagonal, &mut self.matrix);
        }
        self.problem.restrict_matrix(&mut self.matrix);
    }

    /// The curvature along a step that promises so much, as a regularisation that would make it.
    fn curvature(&self, step: &[f64], promised: f64) -> f64 {
        let mut unit = BlockMatrix::zeros(Arc::clone(self.matrix.pattern()));
        self.problem.regularise(self.diagonal, &mut unit);
        let mut product = vec![0.0; step.len()];
        unit.mul(step, &mut product);
        promised / dot(step, &product)
    }
}

/// What changes from iteration to iteration.
struct Run {
    report: NewtonReport,
    /// Whether the next Hessian is the exact one.
    exact: bool,
    /// Whether it stays the exact one.
    near: bool,
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
    /// Both kinds of full steps do: those that converge fast, because only the exact Hessian makes
    /// that quadratic, and those that converge slowly, because then the projection is what slows
    /// them.
    ///
    /// `length` is relative to the longest step that was allowed, `curvature` that of the model
    /// along the step.
    fn adapt(
        &mut self,
        settings: &NewtonSettings,
        length: f64,
        gained: f64,
        curvature: impl FnOnce() -> f64,
    ) {
        self.wait = self.wait.saturating_sub(1);
        self.gained = gained;
        let may_change = !matches!(settings.hessian, HessianPolicy::Always(_));
        let finds_minimum = settings.line_search && settings.search == Search::Secant;
        let [short, long] = if finds_minimum { [0.25, 0.5] } else { [0.1, 1.0] };
        if length >= long {
            self.regularisation = if self.regularisation < 1e-9 { 0.0 } else { self.regularisation / 10.0 };
        } else if length < short && settings.regularise {
            let last = self.regularisation;
            self.regularisation = if finds_minimum {
                // The curvature was too small by the factor that the step was too long.
                (curvature() / length.max(1e-6)).clamp(4.0 * last, (100.0 * last).max(1e-4))
            } else {
                (4.0 * last).max(1e-6)
            };
        }
        if length >= 1.0 {
            self.exact |= may_change && self.wait == 0 && !(0.3..0.5).contains(&gained);
        }
        self.exact |= self.near;
        // An old matrix converges linearly, about at the rate at which the matrix changes, which is
        // that of the last step. It is kept where that is enough.
        let enough = settings.criterion.met_by_residual(2.0 * gained * self.report.residual);
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
        let leaves = self.exact && !self.near && !matches!(settings.hessian, HessianPolicy::Always(_));
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
        // Near the minimum too much costs more iterations than one more factorisation does.
        let factor = if self.near { 10.0 } else { 100.0 };
        self.regularisation = (factor * self.regularisation).max(1e-8);
        Ok(())
    }
}

fn negated(v: &[f64]) -> Vec<f64> {
    v.iter().map(|v| -v).collect()
}
