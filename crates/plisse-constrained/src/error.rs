//! What is refused, and why a projection fails.

use plisse_core::{FieldError, Id, MeshError, RestError, Vertices};
use plisse_sparse::{LinearError, PatternError};
use plisse_system::SetupError;
use thiserror::Error;

/// Why there is no constrained system, or no step of it.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ConstrainedError {
    /// A number out of its range.
    #[error("{what} is {value}: give {expected}")]
    BadNumber {
        /// What the number is of.
        what: String,
        /// What it is.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// Values for another mesh.
    #[error("{what}: {source}")]
    Length {
        /// Which values.
        what: &'static str,
        /// Both lengths.
        source: FieldError,
    },
    /// A group that names a node beyond the last one.
    #[error("{group} names {node}, but there are {count}: give nodes of this system")]
    NoSuchNode {
        /// The group in words.
        group: String,
        /// The node.
        node: String,
        /// How many there are.
        count: usize,
    },
    /// A group with no row or too many, with no node, or with one twice.
    #[error("{group} has {rows} rows and {nodes} nodes: give one to six rows over nodes that differ")]
    BadGroup {
        /// The group in words.
        group: String,
        /// Its rows.
        rows: usize,
        /// Its nodes.
        nodes: usize,
    },
    /// A vertex without a face, which no edge can carry.
    #[error("{vertex} belongs to no face: remove it or pin another vertex")]
    LooseVertex {
        /// The vertex.
        vertex: Id<Vertices>,
    },
    /// A vertex that is pinned twice.
    #[error("{vertex} is pinned twice: give it one pin")]
    PinnedTwice {
        /// The vertex.
        vertex: Id<Vertices>,
    },
    /// Pins that are further apart than the cloth between them is long.
    #[error(
        "the pin of {first} and the pin of {second} are {distance:.6} m apart at t = {time} s, but the \
         cloth between them is only {length:.6} m long: {missing:.6} m are missing. Move the pins \
         closer together or give the cloth more length"
    )]
    OutOfReach {
        /// One pinned vertex.
        first: Id<Vertices>,
        /// The other.
        second: Id<Vertices>,
        /// How far apart their targets are, m.
        distance: f64,
        /// Length of a shortest path between them over the cloth, m.
        length: f64,
        /// The difference, m.
        missing: f64,
        /// When, s.
        time: f64,
    },
    /// The path of a pin gives a place that is none.
    #[error("the path of the pin of {vertex} gives {value:?} at t = {time} s, which is not finite")]
    BadMotion {
        /// The vertex.
        vertex: Id<Vertices>,
        /// When, s.
        time: f64,
        /// The place.
        value: [f64; 3],
    },
    /// Contact and lengths that do not fit together.
    #[error(
        "contact moves {vertex} at ({:.4}, {:.4}, {:.4}) by {apart:.2e} m, which the lengths of the cloth do \
         not allow. Take a shorter step, slower obstacles, or a finer mesh",
        place[0], place[1], place[2]
    )]
    Unmet {
        /// The vertex that is worst.
        vertex: Id<Vertices>,
        /// How far contact moves it from where the edges see it, m.
        apart: f64,
        /// Where it is, m.
        place: [f64; 3],
    },
    /// Friction found no state that obeys Coulomb's law.
    #[error(
        "{:.0} % of the forces of contact do not obey Coulomb's law after all passes: take a shorter time \
         step, or less friction", 100.0 * part
    )]
    Unsettled {
        /// The part of the sum of all forces of contact that is wrong.
        part: f64,
    },
    /// Nodes that slide on lines and planes have no inverse mass.
    #[error("a node slides on a line or in a plane: hold it or set it free for a fast projection")]
    Slides,
    /// A system without masses has no fast projection.
    #[error("the system has no masses: fast projection weighs corrections with them")]
    Massless,
    /// Only backward Euler and BDF2 have a fast projection.
    #[error("{scheme} has no fast projection: choose backward Euler or BDF2")]
    Scheme {
        /// Its name.
        scheme: &'static str,
    },
    /// A saved state of another sheet.
    #[error("the saved state has {found} numbers of its edges, this sheet {expected}")]
    ForeignState {
        /// How many this sheet has.
        expected: usize,
        /// How many were saved.
        found: usize,
    },
    /// The mesh was refused.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The rest shape was refused.
    #[error(transparent)]
    Rest(#[from] RestError),
    /// The system was refused.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The matrix of the projection is too large.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A constant matrix could not be factorised.
    #[error("the matrix of {what} has no factor: {source}")]
    Linear {
        /// Which matrix.
        what: &'static str,
        /// Why not.
        source: LinearError,
    },
}

/// Why a projection found no point that satisfies the constraints. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Error)]
#[error(
    "the projection ended with an error of {error:.2e} in {worst} after {iterations} iterations \
     ({ended}); {tolerance:.1e} was asked for. Take a shorter step, or pins that are less taut"
)]
pub struct ProjectionError {
    /// How it ended.
    pub ended: ProjectionFailure,
    /// Largest absolute value of a row at the end.
    pub error: f64,
    /// The group of that row, in words.
    pub worst: String,
    /// Iterations done.
    pub iterations: usize,
    /// What was asked for.
    pub tolerance: f64,
}

/// How a projection can fail.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ProjectionFailure {
    /// The limit of iterations was reached.
    #[error("the limit of iterations was reached")]
    Iterations,
    /// The error grew.
    #[error("the error grew")]
    Diverged,
    /// A position or a row is not finite.
    #[error("a number is not finite")]
    NotFinite,
    /// A linear system was not solved.
    #[error("the linear solve failed: {0}")]
    Linear(#[from] LinearError),
}
