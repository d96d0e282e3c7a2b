//! Solvers of symmetric linear systems of 3×3 blocks.

mod cg;
mod factor;
mod kkt;
mod solver;

use glam::DVec3;
use thiserror::Error;

pub(crate) use cg::dot;
pub use kkt::{ConstraintRow, KktSolver};
pub use solver::Linear;

use crate::matrix::BlockMatrix;

/// Which method solves the linear systems of Newton's method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinearSolver {
    /// Sparse Cholesky in double precision, a new factor for every matrix.
    Cholesky,
    /// `L D Lᵀ` without pivoting, for matrices that may be indefinite. Nothing guards the growth of the factor but the
    /// residual, which is checked. Not for systems with dense parts ([`Term::rank_ones`](crate::Term::rank_ones)).
    Ldlt,
    /// Conjugate gradients preconditioned with the inverses of the diagonal blocks. The method for steps dominated by mass:
    /// small steps, soft cloth.
    BlockJacobi,
    /// Conjugate gradients preconditioned with the factor of an earlier matrix, in single precision. A new factor is
    /// made when keeping the old one no longer pays.
    StaleCholesky,
    /// [`Self::BlockJacobi`] or [`Self::StaleCholesky`], by what the last solves have cost. Costs are counted, not
    /// timed, so that the choice is the same in every run.
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

/// Why a linear system has no solution here.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LinearError {
    /// A pivot of the Cholesky factor is not positive.
    #[error("the matrix is not positive definite")]
    NotPositiveDefinite,
    /// Conjugate gradients met a direction of negative curvature.
    #[error("the matrix has a direction of negative curvature")]
    NegativeCurvature,
    /// A pivot of `L D Lᵀ` is zero.
    #[error("the factorisation met a zero pivot")]
    ZeroPivot,
    /// The residual stayed above what was asked for.
    #[error(
        "the relative residual is {relative_residual:.1e} after {iterations} iterations, above {tolerance:.1e}"
    )]
    NotConverged {
        /// What was reached.
        relative_residual: f64,
        /// What was asked for.
        tolerance: f64,
        /// Iterations spent.
        iterations: usize,
    },
    /// `L D Lᵀ` was asked to solve a matrix with dense parts, such as that of a volume term.
    #[error("L D Lᵀ cannot solve a matrix with dense parts; choose another linear solver")]
    DenseParts,
    /// The matrix or the right side contains NaN or infinity.
    #[error("the matrix or the right side is not finite")]
    NotFinite,
    /// The factor does not fit into memory or into 32-bit indices.
    #[error("the factor does not fit into memory")]
    OutOfMemory,
}

/// A matrix with dense parts: `A + Σ w u uᵀ`.
pub struct Operator<'a> {
    /// The sparse part.
    pub matrix: &'a BlockMatrix,
    /// Positive weights and vectors of the dense parts.
    pub rank_ones: &'a [(f64, Vec<DVec3>)],
}

impl Operator<'_> {
    /// `out = A x`.
    ///
    /// # Panics
    /// If a vector has another length than the matrix.
    pub fn apply(&self, x: &[DVec3], out: &mut [DVec3]) {
        self.matrix.mul(x, out);
        for (weight, u) in self.rank_ones {
            let along = weight * dot(u, x);
            for (out, u) in out.iter_mut().zip(u) {
                *out += *u * along;
            }
        }
    }

    fn residual(&self, b: &[DVec3], x: &[DVec3], out: &mut [DVec3]) {
        self.apply(x, out);
        for (r, b) in out.iter_mut().zip(b) {
            *r = *b - *r;
        }
    }
}
