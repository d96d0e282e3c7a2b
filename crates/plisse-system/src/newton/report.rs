//! What Newton's method did, whether it succeeded or not.

use std::fmt;

use thiserror::Error;

use plisse_sparse::{LinearError, SolveReport};

/// One iteration: a gradient, a linear solve and a line search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iteration {
    /// Largest force per mass before the step, in m/s²; largest force in newtons in a system
    /// without masses; whatever a problem of somebody's own calls its residual.
    pub residual: f64,
    /// Energy before the step, in joules.
    pub energy: f64,
    /// Energy that a quadratic model promised, in joules.
    pub decrement: f64,
    /// Whether the Hessian was the exact one.
    pub exact: bool,
    /// Multiple of the mean diagonal that was added to the Hessian.
    pub regularisation: f64,
    /// Multiple of the step that the line search took: `limit`, halved any number of times, or
    /// powers of 2, or with secants any number; 0 if it found none.
    pub length: f64,
    /// Multiple of the step that the search began with: 1, or less where a term such as contact
    /// allowed no more.
    pub limit: f64,
    /// Hessians assembled: one; none where the last one was kept; more where the first was not
    /// positive definite.
    pub hessians: usize,
    /// The linear solve that gave the step.
    pub linear: SolveReport,
}

/// Which criterion ended the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// The force per mass is below the tolerance.
    Residual,
    /// The energy still to be gained is below the tolerance.
    Decrement,
    /// Steps are as small as the spacing of floating-point numbers, and the residual is what
    /// rounding leaves of the forces that cancel in it: no smaller one exists in this arithmetic.
    Rounding,
    /// The number of iterations that was asked for was done, without a test of convergence.
    Fixed,
}

/// History of a run of Newton's method.
#[derive(Clone, Debug, PartialEq)]
pub struct NewtonReport {
    /// What ended it; none if nothing did.
    pub ended: Option<Ended>,
    /// Every iteration.
    pub iterations: Vec<Iteration>,
    /// Largest force per mass at the end, in m/s² (newtons without masses).
    pub residual: f64,
}

impl NewtonReport {
    /// Residuals from first to last.
    pub fn residuals(&self) -> impl Iterator<Item = f64> + '_ {
        self.iterations.iter().map(|iteration| iteration.residual).chain([self.residual])
    }

    /// Numeric factorisations in all iterations.
    #[must_use]
    pub fn factorisations(&self) -> usize {
        self.iterations.iter().map(|iteration| iteration.linear.factorisations).sum()
    }

    /// Iterations of the linear solver in all iterations.
    #[must_use]
    pub fn linear_iterations(&self) -> usize {
        self.iterations.iter().map(|iteration| iteration.linear.iterations).sum()
    }

    /// Hessians assembled in all iterations.
    #[must_use]
    pub fn hessians(&self) -> usize {
        self.iterations.iter().map(|iteration| iteration.hessians).sum()
    }

    /// How often steps were halved in all iterations, without those where no length was found.
    #[must_use]
    pub fn halvings(&self) -> usize {
        let halvings =
            |length: f64| if length > 0.0 { (-length.log2()).round().max(0.0) as usize } else { 0 };
        self.iterations.iter().map(|iteration| halvings(iteration.length / iteration.limit)).sum()
    }

    /// Iterations whose step a term such as contact or a strain limit has cut short.
    #[must_use]
    pub fn limited(&self) -> usize {
        self.iterations.iter().filter(|iteration| iteration.limit < 1.0).count()
    }
}

/// Why Newton's method gave up.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Failure {
    /// The limit of iterations was reached.
    #[error("the limit of iterations was reached")]
    Iterations,
    /// No linear system could be solved, however strongly regularised.
    #[error("the linear solve failed: {0}")]
    Linear(#[from] LinearError),
    /// No step along the search direction lowers the energy.
    #[error("the line search found no lower energy")]
    LineSearch,
    /// Energy or forces are not finite.
    #[error("energy or forces are not finite")]
    NotFinite,
    /// The step has no place to begin: every first guess is outside of the domain of a barrier.
    #[error("no room is left for something between what moves towards it")]
    NoRoom,
    /// An equilibrium is sought, but something moves away for ever: more than a thousand times the
    /// size of the system.
    #[error(
        "something moves away without end, so that there is no equilibrium; hold it with pins or give it something to lie on"
    )]
    RunsAway,
}

/// Newton's method did not converge. The state was not changed.
#[derive(Clone, Debug, PartialEq)]
pub struct NewtonError {
    /// What went wrong.
    pub failure: Failure,
    /// What was tried.
    pub report: NewtonReport,
    /// The residual that was asked for, in m/s², or the decrement in joules.
    pub tolerance: f64,
}

impl fmt::Display for NewtonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let residuals: Vec<f64> = self.report.residuals().collect();
        write!(
            f,
            "no convergence after {} iterations ({} halvings, {} factorisations",
            self.report.iterations.len(),
            self.report.halvings(),
            self.report.factorisations(),
        )?;
        let limited = self.report.limited();
        if limited > 0 {
            write!(f, ", {limited} steps cut short by contact or a strain limit")?;
        }
        write!(f, "): {}. Residuals (m/s²):", self.failure)?;
        // The first and the last few tell the story.
        let tail = residuals.len().saturating_sub(5);
        for (index, residual) in residuals.iter().enumerate() {
            if index == 0 || index >= tail {
                write!(f, " {residual:.2e}")?;
            } else if index == 1 {
                f.write_str(" …")?;
            }
        }
        write!(f, "; asked for {:.2e}", self.tolerance)
    }
}

impl std::error::Error for NewtonError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.failure)
    }
}
