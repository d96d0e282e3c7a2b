//! What can be wrong with a wrinkle problem.

use thiserror::Error;

/// What can be wrong with a wrinkle problem. Each message names the element, the value and the remedy.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum WrinkleError {
    /// A ratio that no sheet has.
    #[error("Poisson's ratio {value} is outside of (-1, 1); metals have 0.3, rubber nearly 0.5")]
    Poisson {
        /// What was given.
        value: f64,
    },
    /// A problem of integer least squares that has no answer.
    #[error("the numbers of waves cannot be chosen: {reason}")]
    Lattice {
        /// What is wrong with the matrix or the real solution.
        reason: String,
    },
    /// A phase that does not fit together.
    #[error("{place}: {reason}")]
    Phase {
        /// The face or edge.
        place: String,
        /// What is wrong there.
        reason: String,
    },
    /// Values for another mesh.
    #[error(transparent)]
    Length(#[from] plisse_core::FieldError),
    /// A mesh that cannot be built, because it is too large.
    #[error(transparent)]
    Mesh(#[from] plisse_core::MeshError),
}
