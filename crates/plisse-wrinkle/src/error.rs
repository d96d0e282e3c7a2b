//! What can be wrong with a wrinkle problem.

use plisse_core::{Faces, FieldError, Id, MeshError, Vertices};
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
    /// A mesh that cannot be built, because it is too large.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Values for another mesh.
    #[error(transparent)]
    Length(#[from] FieldError),
    /// A position of the base that is infinite or NaN.
    #[error(
        "{vertex}: the position {position} of the base is not finite: repair the input or stop the solver earlier"
    )]
    NotFinite {
        /// The vertex.
        vertex: Id<Vertices>,
        /// The position as given.
        position: String,
    },
    /// A base triangle so much larger than its rest triangle that its energy has no meaning left.
    #[error(
        "{face}: its largest strain is {strain:e} (at most 1e50): check the units of rest and base, they are a factor of \
         {:e} apart", strain.abs().sqrt()
    )]
    TooLarge {
        /// The face.
        face: Id<Faces>,
        /// The largest entry of its strain.
        strain: f64,
    },
    /// Periods that do not fit the generators of the kept faces.
    #[error("expected one period per generator of the kept faces, that is {expected}, got {found}")]
    PeriodCount {
        /// How many generators there are.
        expected: usize,
        /// How many periods were given.
        found: usize,
    },
    /// A vertex that the mesh does not have.
    #[error("{vertex} cannot be clamped: the mesh has {count} vertices (0 to {})", count.saturating_sub(1))]
    NoSuchVertex {
        /// The vertex.
        vertex: Id<Vertices>,
        /// How many there are.
        count: usize,
    },
    /// A setting of the solver out of its range.
    #[error("the setting `{name}` of the wrinkle solver is {value}: give {range}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What it can be.
        range: &'static str,
    },
    /// A factorisation that does not fit in memory.
    #[error("the factorisation of {unknowns} unknowns does not fit in memory: use a coarser mesh")]
    OutOfMemory {
        /// How many unknowns.
        unknowns: usize,
    },
    /// A state to start from that is infinite or NaN.
    #[error("in the start, the {what} {index} is not finite: leave it to the solver, or repair the input")]
    StartNotFinite {
        /// Which value.
        what: &'static str,
        /// Of which element.
        index: usize,
    },
}
