//! One solver for a frozen pattern, with everything that can be kept between solves.

use std::sync::Arc;

use glam::DVec3;

use super::cg::{self, BlockJacobi, Limits, Outcome, Workspace};
use super::factor::{Analysis, Factor, Kind};
use super::{LinearError, LinearSolver, Operator, SolveReport};
use crate::matrix::{BlockMatrix, BlockPattern};

/// Iterations with a factor of the matrix itself. One is enough without dense parts; each of those costs one more, single
/// precision and bad conditioning a few.
const FRESH: Limits = Limits { iterations: 100, trusted: true };

/// Solves systems with one pattern after the other, keeping the symbolic analysis, factors and memory.
pub struct Linear {
    choice: LinearSolver,
    pattern: Arc<BlockPattern>,
    analysis: Option<Analysis>,
    exact: Option<Factor<f64>>,
    indefinite: Option<Factor<f64>>,
    stale: Stale,
    jacobi: BlockJacobi,
    auto: Auto,
    work: Workspace,
}

impl Linear {
    /// A solver for matrices with this pattern. Nothing is analysed before the first solve.
    #[must_use]
    pub fn new(choice: LinearSolver, pattern: &Arc<BlockPattern>) -> Self {
        Self {
            choice,
            pattern: Arc::clone(pattern),
            analysis: None,
            exact: None,
            indefinite: None,
            stale: Stale::default(),
            jacobi: BlockJacobi::default(),
            auto: Auto::default(),
            work: Workspace::default(),
        }
    }

    /// The method that was asked for.
    #[must_use]
    pub fn choice(&self) -> LinearSolver {
        self.choice
    }

    /// Whether matrices of this pattern are expected.
    #[must_use]
    pub fn is_for(&self, pattern: &Arc<BlockPattern>) -> bool {
        Arc::ptr_eq(&self.pattern, pattern)
    }

    /// Forgets factors and statistics, but not the analysis: the next solve does not depend on earlier ones.
    pub fn forget(&mut self) {
        self.stale.age = None;
        self.auto = Auto::default();
    }

    /// Bytes of factors and work space.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let factors = [&self.exact, &self.indefinite, &self.stale.double];
        let double: usize = factors.into_iter().flatten().map(Factor::bytes).sum();
        double + self.stale.single.as_ref().map_or(0, Factor::bytes)
    }

    /// Numbers in the triangular factor, once it was needed.
    #[must_use]
    pub fn factor_len(&self) -> Option<usize> {
        self.analysis.as_ref().map(Analysis::factor_len)
    }

    /// Solves `A x = b` to the relative residual `tolerance`, or says why not. Direct methods are refined to `tolerance`
    /// and accepted at rounding error if that is larger; the report tells.
    ///
    /// `x` is overwritten; on error it holds no solution.
    ///
    /// # Panics
    /// If sizes differ.
    pub fn solve(
        &mut self,
        a: &Operator<'_>,
        b: &[DVec3],
        x: &mut [DVec3],
        tolerance: f64,
    ) -> Result<SolveReport, LinearError> {
        assert!(self.is_for(a.matrix.pattern()), "the matrix has the pattern of this solver");
        assert!(
            b.len() == self.pattern.size() && x.len() == b.len(),
            "vectors and matrix must have one size"
        );
        x.fill(DVec3::ZERO);
        if b.is_empty() {
            let method =
                if self.choice == LinearSolver::Auto { LinearSolver::BlockJacobi } else { self.choice };
            return Ok(SolveReport { method, iterations: 0, factorisations: 0, relative_residual: 0.0 });
        }
        match self.choice {
            LinearSolver::Cholesky => self.cholesky(a, b, x, tolerance),
            LinearSolver::Ldlt => self.ldlt(a, b, x, tolerance),
            LinearSolver::BlockJacobi => {
                let limit = 100 + 30 * self.pattern.size();
                let outcome = self.block_jacobi(a, b, x, tolerance, limit)?;
                accept(outcome, LinearSolver::BlockJacobi, 0, tolerance)
            }
            LinearSolver::StaleCholesky => self.stale_cholesky(a, b, x, tolerance),
            LinearSolver::Auto => self.auto(a, b, x, tolerance),
        }
    }

    /// Makes a new factor of the matrix, in double precision (single for [`LinearSolver::StaleCholesky`] and
    /// [`LinearSolver::Auto`]), for [`Self::substitute`].
    ///
    /// # Panics
    /// If the matrix has another pattern.
    pub fn factorise(&mut self, a: &BlockMatrix) -> Result<(), LinearError> {
        assert!(self.is_for(a.pattern()), "the matrix has the pattern of this solver");
        let analysis = analysis(&mut self.analysis, &self.pattern)?;
        match self.choice {
            LinearSolver::Ldlt => factor(&mut self.indefinite, analysis, Kind::Ldlt)?.factorise(analysis, a),
            LinearSolver::StaleCholesky | LinearSolver::Auto => self.stale.factorise(analysis, a).map(|_| ()),
            _ => factor(&mut self.exact, analysis, Kind::Llt)?.factorise(analysis, a),
        }
    }

    /// Whether a matrix is positive definite, by a factorisation in double precision whatever the method.
    ///
    /// # Panics
    /// If the matrix has another pattern.
    ///
    /// # Errors
    /// [`LinearError::OutOfMemory`] if the factor has no room.
    pub fn is_positive_definite(&mut self, a: &BlockMatrix) -> Result<bool, LinearError> {
        assert!(self.is_for(a.pattern()), "the matrix has the pattern of this solver");
        let analysis = analysis(&mut self.analysis, &self.pattern)?;
        match factor(&mut self.exact, analysis, Kind::Llt)?.factorise(analysis, a) {
            Ok(()) => Ok(true),
            Err(LinearError::NotPositiveDefinite) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Applies the factor of [`Self::factorise`] to one right side, without checking the residual; copies it if there is
    /// no factor.
    pub fn substitute(&mut self, b: &[DVec3], x: &mut [DVec3]) {
        let Some(analysis) = &self.analysis else {
            x.copy_from_slice(b);
            return;
        };
        let factor = match self.choice {
            LinearSolver::StaleCholesky | LinearSolver::Auto => return self.stale.apply(analysis, b, x),
            LinearSolver::Ldlt => &mut self.indefinite,
            _ => &mut self.exact,
        };
        match factor {
            Some(factor) => factor.solve(analysis, b, x),
            None => x.copy_from_slice(b),
        }
    }

    fn cholesky(
        &mut self,
        a: &Operator<'_>,
        b: &[DVec3],
        x: &mut [DVec3],
        tolerance: f64,
    ) -> Result<SolveReport, LinearError> {
        let analysis = analysis(&mut self.analysis, &self.pattern)?;
        let factor = factor(&mut self.exact, analysis, Kind::Llt)?;
        factor.factorise(analysis, a.matrix)?;
        let precondition = |r: &[DVec3], z: &mut [DVec3]| factor.solve(analysis, r, z);
        let outcome = cg::solve(a, precondition, b, x, tolerance, FRESH, &mut self.work)?;
        accept_rounding(&outcome, LinearSolver::Cholesky, 1, tolerance)
    }

    /// Plain iterative refinement: conjugate gradients would need a definite matrix.
    fn ldlt(
        &mut self,
        a: &Operator<'_>,
        b: &[DVec3],
        x: &mut [DVec3],
        tolerance: f64,
    ) -> Result<SolveReport, LinearError> {
        if !a.rank_ones.is_empty() {
            return Err(LinearError::DenseParts);
        }
        let analysis = analysis(&mut self.analysis, &self.pattern)?;
        let factor = factor(&mut self.indefinite, analysis, Kind::Ldlt)?;
        factor.factorise(analysis, a.matrix)?;
        let (mut r, mut step) = (b.to_vec(), vec![DVec3::ZERO; b.len()]);
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
            factor.solve(analysis, &r, &mut step);
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
        b: &[DVec3],
        x: &mut [DVec3],
        tolerance: f64,
        limit: usize,
    ) -> Result<Outcome, LinearError> {
        self.jacobi.update(a.matrix);
        let jacobi = &self.jacobi;
        let limits = Limits { iterations: limit, trusted: false };
        cg::solve(a, |r, z| jacobi.apply(r, z), b, x, tolerance, limits, &mut self.work)
    }

    fn stale_cholesky(
        &mut self,
        a: &Operator<'_>,
        b: &[DVec3],
        x: &mut [DVec3],
        tolerance: f64,
    ) -> Result<SolveReport, LinearError> {
        let analysis = analysis(&mut self.analysis, &self.pattern)?;
        let cost = Cost::of(&self.pattern, Some(analysis));
        let stale = &mut self.stale;
        let mut spent = 0;
        if let Some(age) = stale.age.take_if(|age| age.pays(&cost)) {
            let limits = Limits { iterations: 2 + cost.factor_in_solves() as usize, trusted: false };
            let precondition = |r: &[DVec3], z: &mut [DVec3]| stale.apply(analysis, r, z);
            let result = cg::solve(a, precondition, b, x, tolerance, limits, &mut self.work);
            match result {
                Ok(outcome) if outcome.converged => {
                    stale.age = Some(age.older(outcome.iterations));
                    return accept(outcome, LinearSolver::StaleCholesky, 0, tolerance);
                }
                // Too slow or too different: what was found so far is kept as a start.
                Ok(outcome) => spent = outcome.iterations,
                Err(LinearError::NotFinite) => return Err(LinearError::NotFinite),
                Err(_) => x.fill(DVec3::ZERO),
            }
        }
        let factorisations = stale.factorise(analysis, a.matrix)?;
        let limits = Limits { trusted: stale.is_double, ..FRESH };
        let precondition = |r: &[DVec3], z: &mut [DVec3]| stale.apply(analysis, r, z);
        let mut outcome = cg::solve(a, precondition, b, x, tolerance, limits, &mut self.work)?;
        stale.age = Some(Age::default().older(outcome.iterations));
        outcome.iterations += spent;
        accept_rounding(&outcome, LinearSolver::StaleCholesky, factorisations, tolerance)
    }

    fn auto(
        &mut self,
        a: &Operator<'_>,
        b: &[DVec3],
        x: &mut [DVec3],
        tolerance: f64,
    ) -> Result<SolveReport, LinearError> {
        let mut spent = 0;
        if self.auto.tries_iteration() {
            let limit = Auto::iteration_limit(&self.pattern);
            let outcome = self.block_jacobi(a, b, x, tolerance, limit)?;
            self.auto.record(outcome.converged);
            if outcome.converged {
                return accept(outcome, LinearSolver::BlockJacobi, 0, tolerance);
            }
            spent = outcome.iterations;
            x.fill(DVec3::ZERO);
        }
        let report = self.stale_cholesky(a, b, x, tolerance)?;
        Ok(SolveReport { iterations: report.iterations + spent, ..report })
    }
}

fn analysis<'a>(
    place: &'a mut Option<Analysis>,
    pattern: &Arc<BlockPattern>,
) -> Result<&'a Analysis, LinearError> {
    if !place.as_ref().is_some_and(|a| a.is_of(pattern)) {
        *place = Some(Analysis::new(pattern)?);
    }
    place.as_ref().ok_or(LinearError::OutOfMemory)
}

fn factor<'a, T: super::factor::Precision>(
    place: &'a mut Option<Factor<T>>,
    analysis: &Analysis,
    kind: Kind,
) -> Result<&'a mut Factor<T>, LinearError> {
    if place.is_none() {
        *place = Some(Factor::new(analysis, kind)?);
    }
    place.as_mut().ok_or(LinearError::OutOfMemory)
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

/// A solution of a direct method: at the tolerance, or where rounding ends the refinement, if that is good for a step.
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

/// What solving costs, in products of the matrix with a vector. Counted from the sizes with ratios as measured by
/// `cargo xtask bench step`; the clock is never asked.
struct Cost {
    /// A backward and forward substitution in single precision.
    solve: f64,
    /// A factorisation in single precision.
    factorisation: f64,
}

impl Cost {
    /// Before the analysis, the size of the factor is that of a triangle mesh with as many vertices: about 45 log₂ n numbers
    /// per vertex.
    fn of(pattern: &BlockPattern, analysis: Option<&Analysis>) -> Self {
        let (blocks, rows) = (pattern.block_count() as f64, pattern.size() as f64);
        let numbers = analysis.map_or_else(|| 45.0 * rows * (rows + 1.0).log2(), |a| a.factor_len() as f64);
        let solve = 0.14 * numbers / blocks;
        // Work grows as numbers²/rows.
        let factorisation = solve * numbers / (60.0 * rows);
        Self { solve, factorisation }
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
#[derive(Clone, Copy, Default)]
struct Age {
    solves: usize,
    iterations: usize,
    last: usize,
}

impl Age {
    fn older(self, iterations: usize) -> Self {
        Self { solves: self.solves + 1, iterations: self.iterations + iterations, last: iterations }
    }

    /// An old factor pays while one more solve like the last one costs less than the average so far, the factorisation
    /// included: that minimises the average.
    fn pays(&self, cost: &Cost) -> bool {
        let average = (cost.factor_in_solves() + self.iterations as f64) / self.solves.max(1) as f64;
        (self.last as f64) < average
    }
}

impl Stale {
    /// Single precision, or double where that finds no positive pivots. Gives the number of attempts.
    fn factorise(&mut self, analysis: &Analysis, a: &BlockMatrix) -> Result<usize, LinearError> {
        self.age = None;
        let single = factor(&mut self.single, analysis, Kind::Llt)?;
        self.is_double = single.factorise(analysis, a).is_err();
        if self.is_double {
            factor(&mut self.double, analysis, Kind::Llt)?.factorise(analysis, a)?;
        }
        Ok(1 + usize::from(self.is_double))
    }

    fn apply(&mut self, analysis: &Analysis, r: &[DVec3], z: &mut [DVec3]) {
        match (self.is_double, &mut self.single, &mut self.double) {
            (false, Some(factor), _) => factor.solve(analysis, r, z),
            (true, _, Some(factor)) => factor.solve(analysis, r, z),
            // Not reached: factors exist before they are applied. The identity is a valid preconditioner.
            _ => z.copy_from_slice(r),
        }
    }
}

/// When to try the iteration, and for how long.
#[derive(Default)]
struct Auto {
    /// Solves until block-Jacobi is tried again.
    wait: usize,
    /// Length of the next wait; doubles with every failure.
    patience: usize,
}

impl Auto {
    fn tries_iteration(&mut self) -> bool {
        self.wait = self.wait.saturating_sub(1);
        self.wait == 0
    }

    fn record(&mut self, converged: bool) {
        if converged {
            self.patience = 0;
        } else {
            self.patience = (2 * self.patience).clamp(16, 1024);
            self.wait = self.patience;
        }
    }

    /// As many iterations as a solve with a factor costs that serves for five solves of three iterations each. By the
    /// estimate of its size even where it is known: the choice must not depend on what was analysed before.
    fn iteration_limit(pattern: &BlockPattern) -> usize {
        let cost = Cost::of(pattern, None);
        (cost.factorisation / 5.0 + 3.0 * cost.solve) as usize
    }
}
