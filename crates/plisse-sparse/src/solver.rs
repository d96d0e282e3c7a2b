//! One solver for one matrix after the other, with everything that can be kept between solves.

use std::sync::Arc;

use crate::cg::{self, BlockJacobi, Limits, Outcome, Workspace};
use crate::error::LinearError;
use crate::factor::{Analysis, Factor};
use crate::indefinite::{FaerAnalysis, FaerFactor, Kind};
use crate::matrix::BlockMatrix;
use crate::operator::Operator;
use crate::pattern::Pattern;
use crate::single::{Ending, Single};

/// Which method solves the linear systems of Newton's method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinearSolver {
    /// Sparse Cholesky in double precision, a new factor for every matrix.
    Cholesky,
    /// `L D Lᵀ` without pivoting, for matrices that may be indefinite. Nothing guards the growth of
    /// the factor but the residual, which is checked. Not for operators with dense parts.
    Ldlt,
    /// Conjugate gradients preconditioned with the inverses of the diagonal blocks. The method for
    /// steps dominated by mass: small steps, soft cloth.
    BlockJacobi,
    /// Conjugate gradients preconditioned with the factor of an earlier matrix, in single
    /// precision. A new factor is made when keeping the old one no longer pays.
    StaleCholesky,
    /// [`Self::BlockJacobi`] or [`Self::StaleCholesky`], by what the last solves have cost. Costs
    /// are counted, not timed, so that the choice is the same in every run.
    #[default]
    Auto,
}

/// What a solve did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveReport {
    /// The method that gave the solution; never [`LinearSolver::Auto`].
    pub method: LinearSolver,
    /// Iterations of conjugate gradients, or refinements.
    pub iterations: usize,
    /// Numeric factorisations.
    pub factorisations: usize,
    /// `‖b - A x‖ / ‖b‖` of the solution, computed from it.
    pub relative_residual: f64,
}

/// Iterations with a factor of the matrix itself. One is enough without dense parts; each of those
/// costs one more, single precision and bad conditioning a few.
const FRESH: Limits = Limits { iterations: 100, trusted: true, foresees: false };

/// Solves one system after the other, keeping the symbolic analysis, factors and memory.
///
/// Patterns may change between solves; the same [revision](crate::Revision) is analysed once. An
/// old factor serves conjugate gradients after a change of the pattern, too, as long as the number
/// of unknowns stays.
pub struct Linear {
    choice: LinearSolver,
    analysis: Option<Arc<Analysis>>,
    exact: Option<Factor<f64>>,
    indefinite_analysis: Option<Arc<FaerAnalysis>>,
    indefinite: Option<FaerFactor<f64>>,
    stale: Stale,
    jacobi: BlockJacobi,
    single: Single,
    auto: Auto,
    work: Workspace,
    analyses: usize,
}

impl Linear {
    /// A solver. Nothing is analysed before the first solve.
    #[must_use]
    pub fn new(choice: LinearSolver) -> Self {
        Self {
            choice,
            analysis: None,
            exact: None,
            indefinite_analysis: None,
            indefinite: None,
            stale: Stale::default(),
            jacobi: BlockJacobi::default(),
            single: Single::default(),
            auto: Auto::default(),
            work: Workspace::default(),
            analyses: 0,
        }
    }

    /// The method that was asked for.
    #[must_use]
    pub fn choice(&self) -> LinearSolver {
        self.choice
    }

    /// Forgets factors and statistics, but not the analysis: the next solve does not depend on
    /// earlier ones.
    pub fn forget(&mut self) {
        self.stale.age = None;
        self.auto = Auto::default();
    }

    /// Bytes of factors and work space.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let factors = [&self.exact, &self.stale.double];
        let double: usize = factors.into_iter().flatten().map(Factor::bytes).sum();
        let indefinite = self.indefinite.as_ref().map_or(0, FaerFactor::bytes);
        double + indefinite + self.stale.single.as_ref().map_or(0, Factor::bytes) + self.single.bytes()
    }

    /// Numbers in the triangular factor, once it was needed.
    #[must_use]
    pub fn factor_len(&self) -> Option<usize> {
        match self.choice {
            LinearSolver::Ldlt => self.indefinite_analysis.as_ref().map(|analysis| analysis.factor_len()),
            _ => self.analysis.as_ref().map(|analysis| analysis.factor_len()),
        }
    }

    /// How many patterns were analysed so far.
    #[must_use]
    pub fn analyses(&self) -> usize {
        self.analyses
    }

    /// Solves `A x = b` to the relative residual `tolerance`, or says why not. Direct methods are
    /// refined to `tolerance` and accepted at rounding error if that is larger; the report tells.
    ///
    /// `x` is overwritten; on error it holds no solution.
    ///
    /// # Panics
    /// If sizes differ.
    pub fn solve(
        &mut self,
        a: &Operator<'_>,
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
    ) -> Result<SolveReport, LinearError> {
        let pattern = &**a.matrix.pattern();
        assert!(
            b.len() == pattern.layout().unknowns() && x.len() == b.len(),
            "vectors and matrix must have one size"
        );
        x.fill(0.0);
        if b.is_empty() {
            let method =
                if self.choice == LinearSolver::Auto { LinearSolver::BlockJacobi } else { self.choice };
            return Ok(SolveReport { method, iterations: 0, factorisations: 0, relative_residual: 0.0 });
        }
        match self.choice {
            LinearSolver::Cholesky => self.cholesky(a, b, x, tolerance),
            LinearSolver::Ldlt => self.ldlt(a, b, x, tolerance),
            LinearSolver::BlockJacobi => {
                let limit = 100 + 10 * b.len();
                let outcome = self.block_jacobi(a, b, x, tolerance, limit, false)?;
                accept(outcome, LinearSolver::BlockJacobi, 0, tolerance)
            }
            LinearSolver::StaleCholesky => self.stale_cholesky(a, b, x, tolerance),
            LinearSolver::Auto => self.auto(a, b, x, tolerance),
        }
    }

    /// Analyses a pattern in advance, and makes room for a factor in double precision.
    ///
    /// # Errors
    /// [`LinearError::OutOfMemory`] if the factor does not fit into memory.
    pub fn prepare(&mut self, pattern: &Pattern) -> Result<(), LinearError> {
        if self.choice == LinearSolver::Ldlt {
            let analysis = self.analyse_indefinite(pattern)?;
            return FaerFactor::make_room(&mut self.indefinite, &analysis, Kind::Ldlt).map(drop);
        }
        let analysis = self.analyse(pattern)?;
        Factor::make_room(&mut self.exact, &analysis).map(drop)
    }

    /// Makes a new factor of the matrix, in double precision (single for
    /// [`LinearSolver::StaleCholesky`] and [`LinearSolver::Auto`]), for [`Self::substitute`]. After
    /// an error there is no factor.
    pub fn factorise(&mut self, a: &BlockMatrix) -> Result<(), LinearError> {
        if self.choice == LinearSolver::Ldlt {
            let analysis = self.analyse_indefinite(a.pattern())?;
            return FaerFactor::fill(&mut self.indefinite, &analysis, Kind::Ldlt, a).map(drop);
        }
        let analysis = self.analyse(a.pattern())?;
        match self.choice {
            LinearSolver::StaleCholesky | LinearSolver::Auto => self.stale.factorise(&analysis, a).map(drop),
            _ => Factor::fill(&mut self.exact, &analysis, a).map(drop),
        }
    }

    /// Whether a matrix is positive definite, by a factorisation in double precision whatever the
    /// method.
    ///
    /// # Errors
    /// [`LinearError::OutOfMemory`] if the factor has no room.
    pub fn is_positive_definite(&mut self, a: &BlockMatrix) -> Result<bool, LinearError> {
        let analysis = self.analyse(a.pattern())?;
        match Factor::fill(&mut self.exact, &analysis, a) {
            Ok(_) => Ok(true),
            Err(LinearError::NotPositiveDefinite) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Applies the factor of [`Self::factorise`] to one right side, without checking the residual.
    ///
    /// # Panics
    /// If there is no factor: [`Self::factorise`] must have succeeded before.
    #[expect(clippy::expect_used, reason = "a solution without a factor would be made up")]
    pub fn substitute(&mut self, b: &[f64], x: &mut [f64]) {
        const FILLED: &str = "factorise has succeeded before";
        match self.choice {
            LinearSolver::StaleCholesky | LinearSolver::Auto => self.stale.apply(b, x),
            LinearSolver::Ldlt => self.indefinite.as_mut().expect(FILLED).solve(b, x),
            _ => self.exact.as_mut().expect(FILLED).solve(b, x),
        }
    }

    /// The analysis of a pattern: the last one, or a new one.
    fn analyse(&mut self, pattern: &Pattern) -> Result<Arc<Analysis>, LinearError> {
        if let Some(analysis) = self.analysis.as_ref().filter(|analysis| analysis.is_of(pattern)) {
            return Ok(Arc::clone(analysis));
        }
        let analysis = Arc::new(Analysis::new(pattern)?);
        self.analyses += 1;
        self.analysis = Some(Arc::clone(&analysis));
        Ok(analysis)
    }

    /// The same for `L D Lᵀ`.
    fn analyse_indefinite(&mut self, pattern: &Pattern) -> Result<Arc<FaerAnalysis>, LinearError> {
        let last = self.indefinite_analysis.as_ref();
        if let Some(analysis) = last.filter(|analysis| analysis.is_of(pattern)) {
            return Ok(Arc::clone(analysis));
        }
        let analysis = Arc::new(FaerAnalysis::new(pattern)?);
        self.analyses += 1;
        self.indefinite_analysis = Some(Arc::clone(&analysis));
        Ok(analysis)
    }

    fn cholesky(
        &mut self,
        a: &Operator<'_>,
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
    ) -> Result<SolveReport, LinearError> {
        let analysis = self.analyse(a.matrix.pattern())?;
        let factor = Factor::fill(&mut self.exact, &analysis, a.matrix)?;
        let precondition = |r: &[f64], z: &mut [f64]| factor.solve(r, z);
        let outcome = cg::solve(a, precondition, b, x, tolerance, FRESH, &mut self.work)?;
        accept_rounding(&outcome, LinearSolver::Cholesky, 1, tolerance)
    }

    /// Plain iterative refinement: conjugate gradients would need a definite matrix.
    fn ldlt(
        &mut self,
        a: &Operator<'_>,
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
    ) -> Result<SolveReport, LinearError> {
        if !a.rank_ones.is_empty() {
            return Err(LinearError::DenseParts);
        }
        let analysis = self.analyse_indefinite(a.matrix.pattern())?;
        let factor = FaerFactor::fill(&mut self.indefinite, &analysis, Kind::Ldlt, a.matrix)?;
        let (mut r, mut step) = (b.to_vec(), vec![0.0; b.len()]);
        let norm_b = cg::norm(b);
        let (mut iterations, mut last) = (0, f64::INFINITY);
        loop {
            let relative_residual = if norm_b > 0.0 { cg::norm(&r) / norm_b } else { 0.0 };
            if !relative_residual.is_finite() {
                return Err(LinearError::NotFinite);
            }
            let converged = relative_residual <= tolerance;
            if converged || relative_residual > 0.5 * last {
                let outcome = Outcome { iterations, relative_residual, converged };
                return accept_rounding(&outcome, LinearSolver::Ldlt, 1, tolerance);
            }
            last = relative_residual;
            factor.solve(&r, &mut step);
            for (x, step) in x.iter_mut().zip(&step) {
                *x += *step;
            }
            a.residual(b, x, &mut r);
            iterations += 1;
        }
    }

    fn block_jacobi(
        &mut self,
        a: &Operator<'_>,
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
        limit: usize,
        foresees: bool,
    ) -> Result<Outcome, LinearError> {
        self.jacobi.update(a.matrix);
        let jacobi = &self.jacobi;
        let limits = Limits { iterations: limit, trusted: false, foresees };
        let spent = match self.single.solve(a, jacobi, b, x, tolerance, limits) {
            Ending::Done(outcome) => return Ok(outcome),
            Ending::GoOn(spent) => spent,
        };
        // In double precision, from what was found in single precision.
        let limits = Limits { iterations: limit.saturating_sub(spent), ..limits };
        let precondition = |r: &[f64], z: &mut [f64]| jacobi.apply(a.matrix, r, z);
        let outcome = cg::solve(a, precondition, b, x, tolerance, limits, &mut self.work)?;
        Ok(Outcome { iterations: spent + outcome.iterations, ..outcome })
    }

    fn stale_cholesky(
        &mut self,
        a: &Operator<'_>,
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
    ) -> Result<SolveReport, LinearError> {
        let pattern = &**a.matrix.pattern();
        let stale = &mut self.stale;
        let mut spent = 0;
        // What a new factor would cost is taken from the old one: a pattern that has changed is
        // analysed only for a factor.
        let cost = Cost::of(pattern, stale.age.map(|age| age.numbers));
        if let Some(age) = stale.age.take_if(|age| age.pays(&cost) && age.unknowns == b.len()) {
            let limits =
                Limits { iterations: 2 + cost.factor_in_solves() as usize, trusted: false, foresees: true };
            let precondition = |r: &[f64], z: &mut [f64]| stale.apply(r, z);
            let result = cg::solve(a, precondition, b, x, tolerance, limits, &mut self.work);
            match result {
                Ok(outcome) if outcome.converged => {
                    stale.age = Some(age.older(outcome.iterations));
                    return accept(outcome, LinearSolver::StaleCholesky, 0, tolerance);
                }
                // Too slow or too different: what was found so far is kept as a start.
                Ok(outcome) => spent = outcome.iterations,
                Err(LinearError::NotFinite) => return Err(LinearError::NotFinite),
                Err(_) => x.fill(0.0),
            }
        }
        let analysis = self.analyse(pattern)?;
        let stale = &mut self.stale;
        let factorisations = stale.factorise(&analysis, a.matrix)?;
        let limits = Limits { trusted: stale.is_double, ..FRESH };
        let precondition = |r: &[f64], z: &mut [f64]| stale.apply(r, z);
        let mut outcome = cg::solve(a, precondition, b, x, tolerance, limits, &mut self.work)?;
        stale.age = Some(Age::new(b.len(), analysis.factor_len()).older(outcome.iterations));
        outcome.iterations += spent;
        accept_rounding(&outcome, LinearSolver::StaleCholesky, factorisations, tolerance)
    }

    fn auto(
        &mut self,
        a: &Operator<'_>,
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
    ) -> Result<SolveReport, LinearError> {
        let pattern = &**a.matrix.pattern();
        let numbers = |linear: &Self| linear.stale.age.map(|age| age.numbers);
        let iteration = if Single::suits(a, tolerance) { SINGLE_ITERATION } else { DOUBLE_ITERATION };
        // Tolerances follow the progress of Newton's method: costs are compared per digit.
        let digits = (-tolerance.log10()).max(0.5);
        let cost = Cost::of(pattern, numbers(self));
        let mut wasted = 0;
        if let Some(most) = self.auto.budget(&cost, digits) {
            let limit = (most / iteration) as usize;
            let outcome = self.block_jacobi(a, b, x, tolerance, limit, true)?;
            let spent = outcome.iterations as f64 * iteration;
            self.auto.record_iteration(spent / digits, outcome.converged, &cost, digits);
            if outcome.converged {
                return accept(outcome, LinearSolver::BlockJacobi, 0, tolerance);
            }
            wasted = outcome.iterations;
            x.fill(0.0);
        }
        let report = self.stale_cholesky(a, b, x, tolerance)?;
        let cost = Cost::of(pattern, numbers(self));
        let spent =
            report.iterations as f64 * (1.0 + cost.solve) + report.factorisations as f64 * cost.factorisation;
        self.auto.record_factor(spent / digits, cost.with_factor() / digits);
        Ok(SolveReport { iterations: report.iterations + wasted, ..report })
    }
}

/// A solution at the tolerance.
fn accept(
    outcome: Outcome,
    method: LinearSolver,
    factorisations: usize,
    tolerance: f64,
) -> Result<SolveReport, LinearError> {
    let Outcome { iterations, relative_residual, converged } = outcome;
    if converged {
        Ok(SolveReport { method, iterations, factorisations, relative_residual })
    } else {
        Err(LinearError::NotConverged { relative_residual, tolerance, iterations })
    }
}

/// A solution of a direct method: at the tolerance, or where rounding ends the refinement, if that
/// is good for a step.
fn accept_rounding(
    outcome: &Outcome,
    method: LinearSolver,
    factorisations: usize,
    tolerance: f64,
) -> Result<SolveReport, LinearError> {
    let Outcome { iterations, relative_residual, converged } = *outcome;
    let converged = converged || relative_residual < 1e-3;
    accept(Outcome { iterations, relative_residual, converged }, method, factorisations, tolerance)
}

/// What solving costs, in products of the matrix with a vector. Counted from the sizes with ratios
/// as measured by `cargo xtask bench step`; the clock is never asked.
struct Cost {
    /// A backward and forward substitution in single precision.
    solve: f64,
    /// A factorisation in single precision.
    factorisation: f64,
}

impl Cost {
    /// With a factor of so many numbers. Before the first one it is that of a triangle mesh with as
    /// many vertices: about 45 log₂ n numbers per vertex, and more where a vertex has more
    /// neighbours than membrane and bending give it, as in a stack of sheets.
    fn of(pattern: &Pattern, numbers: Option<usize>) -> Self {
        // In blocks of three by three.
        let (blocks, rows) = (pattern.number_count() as f64 / 9.0, pattern.layout().unknowns() as f64 / 3.0);
        let numbers = numbers.map_or_else(
            || 45.0 * rows * (rows + 1.0).log2() * (blocks / (7.0 * rows.max(1.0))).max(1.0),
            |numbers| numbers as f64,
        );
        let solve = 0.14 * numbers / blocks;
        // Work grows as numbers²/rows.
        let factorisation = solve * numbers / (60.0 * rows);
        Self { solve, factorisation }
    }

    /// A solve with a factor that serves for five solves of three iterations each.
    fn with_factor(&self) -> f64 {
        self.factorisation / 5.0 + 3.0 * self.solve
    }

    /// Iterations with an old factor that cost as much as a new factor.
    fn factor_in_solves(&self) -> f64 {
        self.factorisation / (1.0 + self.solve)
    }
}

/// The factor of an earlier matrix.
#[derive(Default)]
struct Stale {
    single: Option<Factor<f32>>,
    double: Option<Factor<f64>>,
    is_double: bool,
    age: Option<Age>,
}

/// How long a factor has served.
#[derive(Clone, Copy)]
struct Age {
    /// Of the matrix that it is of.
    unknowns: usize,
    /// Of the factor.
    numbers: usize,
    solves: usize,
    iterations: usize,
    last: usize,
}

impl Age {
    fn new(unknowns: usize, numbers: usize) -> Self {
        Self { unknowns, numbers, solves: 0, iterations: 0, last: 0 }
    }

    fn older(self, iterations: usize) -> Self {
        let (solves, iterations_so_far) = (self.solves + 1, self.iterations + iterations);
        Self { solves, iterations: iterations_so_far, last: iterations, ..self }
    }

    /// An old factor pays while one more solve like the last one costs less than the average so
    /// far, the factorisation included: that minimises the average.
    fn pays(&self, cost: &Cost) -> bool {
        let average = (cost.factor_in_solves() + self.iterations as f64) / self.solves.max(1) as f64;
        (self.last as f64) < average
    }
}

impl Stale {
    /// Single precision; double where that finds a pivot which is not positive and the matrix may
    /// be definite all the same. Gives the number of attempts.
    fn factorise(&mut self, analysis: &Analysis, a: &BlockMatrix) -> Result<usize, LinearError> {
        self.age = None;
        self.is_double = false;
        let single = Factor::make_room(&mut self.single, analysis)?;
        match single.factorise(a) {
            Ok(()) => return Ok(1),
            Err(LinearError::NotPositiveDefinite) if !single.is_surely_indefinite(a) => {}
            Err(error) => return Err(error),
        }
        self.is_double = true;
        Factor::fill(&mut self.double, analysis, a)?;
        Ok(2)
    }

    #[expect(clippy::expect_used, reason = "the identity in place of a factor would hide the mistake")]
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        if self.is_double {
            self.double.as_mut().expect("factorised before it is applied").solve(r, z);
        } else {
            self.single.as_mut().expect("factorised before it is applied").solve(r, z);
        }
    }
}

/// What an iteration with diagonal blocks costs, in products: estimated from the bytes that it
/// reads beside the matrix, and in single precision from half of the bytes. Where the estimates
/// decide, both methods cost about the same.
const SINGLE_ITERATION: f64 = 0.45;
const DOUBLE_ITERATION: f64 = 1.2;

/// What the two methods have cost in the last solves, and when to try the dearer one again.
#[derive(Default)]
struct Auto {
    /// Products per digit of a solve with diagonal blocks, a running mean.
    iteration: Option<f64>,
    /// The same with a factor, its share of factorisations included.
    factor: Option<f64>,
    /// Solves with a factor until the iteration is tried again.
    wait: usize,
    /// Length of the next wait; doubles with every failure.
    patience: usize,
}

impl Auto {
    /// Weight of the last solve in the mean for a factor: solves with one factor are cheap, and
    /// every few of them pay for the next.
    const FACTOR: f64 = 0.1;
    /// And for the iteration, where every solve tells.
    const ITERATION: f64 = 0.25;

    /// What a solve with a factor is thought to cost: what the last ones have, or, before the
    /// first, by an estimate of the factor's size, even if there is an analysis: the choice must
    /// not depend on what was analysed before.
    fn factor_cost(&self, cost: &Cost, digits: f64) -> f64 {
        self.factor.map_or(cost.with_factor(), |seen| seen * digits)
    }

    /// How much to spend on the iteration before a factor is used; none if it is not its turn.
    fn budget(&mut self, cost: &Cost, digits: f64) -> Option<f64> {
        let factor = self.factor_cost(cost, digits);
        let pays = self.iteration.is_none_or(|seen| seen * digits <= factor);
        if pays {
            // One solve that is harder than the others is no reason to change.
            return Some(if self.iteration.is_some() { 2.0 * factor } else { factor });
        }
        self.wait = self.wait.saturating_sub(1);
        (self.wait == 0).then_some(factor)
    }

    fn record_iteration(&mut self, spent: f64, converged: bool, cost: &Cost, digits: f64) {
        if converged {
            self.patience = 0;
            let before = self.iteration.unwrap_or(spent);
            // Tried again, it is as good as it was just now.
            let before = if self.wait == 0 && before > spent { spent } else { before };
            self.iteration = Some(before + Self::ITERATION * (spent - before));
            // What factors have cost long ago is forgotten slowly: matrices change.
            let model = cost.with_factor() / digits;
            if let Some(factor) = self.factor.as_mut().filter(|factor| **factor > model) {
                *factor += 0.02 * (model - *factor);
            }
        } else {
            self.patience = (2 * self.patience).clamp(8, 256);
            self.wait = self.patience;
            self.iteration = Some(f64::INFINITY);
        }
    }

    /// The mean starts from `expected`: the first solve pays for a factor that others use.
    fn record_factor(&mut self, spent: f64, expected: f64) {
        let mean = self.factor.unwrap_or(expected);
        self.factor = Some(mean + Self::FACTOR * (spent - mean));
    }
}
