//! What patterns and solves refuse.

use thiserror::Error;

/// A layout or a pattern that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PatternError {
    /// A node without unknowns, or with more than six.
    #[error("node {node} has {size} unknowns; a node has one to six")]
    NodeSize {
        /// The node.
        node: usize,
        /// Its number of unknowns.
        size: usize,
    },
    /// The numbers of a matrix do not fit into 31-bit indices.
    #[error(
        "the matrix would have {count} numbers, more than 31-bit indices can address; use a coarser mesh"
    )]
    TooLarge {
        /// How many there would be.
        count: usize,
    },
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
