//! What can be wrong with a wrinkle problem.

use plisse_core::FieldError;
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
    /// A field whose length does not fit the mesh.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// Periods that do not fit the generators of the kept faces.
    #[error("expected one period per generator of the kept faces, that is {expected}, got {found}")]
    PeriodCount {
        /// How many generators there are.
        expected: usize,
        /// How many periods were given.
        found: usize,
    },
}
