//! What can be wrong with a wrinkle problem.

use plisse_core::{Faces, Field, FieldError, Id, MeshError, RestError, Space, Vertices};
use plisse_system::{Failure, SetupError};
use thiserror::Error;

use crate::solver::WrinkleEnd;
use crate::tension::BaseSolution;

/// What can be wrong with a wrinkle problem. Each message names the element, the value and the
/// remedy.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum WrinkleError {
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
    /// A surface with more triangles than can be computed.
    #[error(
        "{levels} levels on {faces} faces would give {triangles:.4e} triangles, at most {limit} are possible: take fewer levels"
    )]
    TooManyTriangles {
        /// How often each face was to be divided into four.
        levels: usize,
        /// Faces of the base.
        faces: usize,
        /// Triangles of the surface; a float as there is no end to levels.
        triangles: f64,
        /// How many are accepted.
        limit: usize,
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
    /// Periods that are to be held, but were not given.
    #[error(
        "periods can be held only at those of a given start: use `solve_wrinkles_from` with frequencies that have them, or free periods"
    )]
    HeldPeriods,
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
    /// A bending rigidity that is no positive number.
    #[error(
        "the bending rigidity is {value} N m: it must be positive. The authors' value nu D needs a positive Poisson's ratio; \
         use the rigidity of the plate"
    )]
    Rigidity {
        /// What follows from the sheet, N m.
        value: f64,
    },
    /// A number outside of its domain.
    #[error("{what} is {value}; {expected}")]
    Parameter {
        /// Which number.
        what: &'static str,
        /// What was given.
        value: f64,
        /// What is accepted.
        expected: &'static str,
    },
    /// A field for another mesh.
    #[error("{what}: {source}")]
    Length {
        /// Which field.
        what: &'static str,
        /// Expected and found numbers.
        source: FieldError,
    },
    /// A vertex is held at a place that is not finite.
    #[error("{vertex} is held at {place:?}, which is not finite")]
    PinPlace {
        /// The vertex.
        vertex: Id<Vertices>,
        /// Where it was to be held.
        place: [f64; 3],
    },
    /// A vertex is held at two places.
    #[error("{vertex} is held at {first:?} and at {second:?}; keep one of them")]
    PinTwice {
        /// The vertex.
        vertex: Id<Vertices>,
        /// The first place.
        first: [f64; 3],
        /// The second place.
        second: [f64; 3],
    },
    /// Panels with another number of faces than the mesh they are sewn to.
    #[error("the panels have {panels} faces, the sewn mesh {mesh}: give the same faces in the same order")]
    PanelFaces {
        /// Faces of the panels.
        panels: usize,
        /// Faces of the sewn mesh.
        mesh: usize,
    },
    /// A vertex of the panels that is two vertices of the sewn mesh.
    #[error(
        "{panel} of the panels, a corner of {face}, is sewn to {} and to {}: panels are cut where the mesh is, and have its faces \
         in its order",
        vertices[0], vertices[1]
    )]
    PanelCorner {
        /// A face that has it.
        face: Id<Faces>,
        /// The vertex of the panels.
        panel: Id<Vertices>,
        /// The vertices of the sewn mesh.
        vertices: [Id<Vertices>; 2],
    },
    /// A vertex of the panels that no face has.
    #[error("{panel} of the panels belongs to no face: remove it")]
    PanelVertex {
        /// The vertex.
        panel: Id<Vertices>,
    },
    /// Pressure on a sheet with a boundary that may move.
    #[error(
        "{vertex} is on the boundary and not held: pressure on an open sheet has no energy. Hold the whole boundary, or close the surface"
    )]
    OpenPressure {
        /// A vertex of the boundary.
        vertex: Id<Vertices>,
    },
    /// Weight without anything that carries it.
    #[error("the sheet is heavy and nothing holds it: pin a vertex, add an obstacle, or remove gravity")]
    Falls,
    /// A mesh that cannot be built: it is no surface, or too large.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The rest shape is none.
    #[error(transparent)]
    Rest(#[from] RestError),
    /// The system cannot be built.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A vertex starts at a place that is not finite.
    #[error("{vertex} starts at {place:?}, which is not finite")]
    StartPlace {
        /// The vertex.
        vertex: Id<Vertices>,
        /// Where it was to start.
        place: [f64; 3],
    },
    /// No equilibrium was found.
    #[error(
        "no equilibrium of the base mesh after {iterations} iterations: {failure}. Unbalanced are {residual:.2e} Pa, asked for were \
         {tolerance:.2e} Pa; start closer, allow more iterations or a larger tolerance"
    )]
    NoEquilibrium {
        /// What went wrong.
        failure: Failure,
        /// Iterations that were done.
        iterations: usize,
        /// Largest unbalanced force per area that is left, Pa.
        residual: f64,
        /// What was asked for, Pa.
        tolerance: f64,
        /// Where it ended, to look at or to go on from.
        last: Box<BaseSolution>,
    },
    /// The wrinkles of a base were not found.
    #[error(
        "the wrinkles did not converge: {end} after {iterations} steps with a relative residual of {residual:.1e}, the tolerance \
         is {tolerance:.1e}; the largest amplitude is {amplitude:.2e} m. Hold the amplitudes of pinned vertices at zero (clamped) \
         if nothing else limits the length of the waves, move pins and obstacles less from frame to frame, or take a finer mesh"
    )]
    NotConverged {
        /// How the solver ended.
        end: WrinkleEnd,
        /// Steps of the run that gave the answer.
        iterations: usize,
        /// Its relative residual.
        residual: f64,
        /// What was asked for.
        tolerance: f64,
        /// The largest amplitude, m.
        amplitude: f64,
    },
    /// Waves that the sheet has no material for.
    #[error(
        "{vertex} has an amplitude of {amplitude:.2e} m, but no two points of the sheet are farther than {:.2e} m from each other: \
         nothing limits the length of its waves. Hold the amplitudes of pinned vertices at zero (clamped), or pull the sheet along \
         the crests",
        2.0 * reach
    )]
    TooHigh {
        /// The vertex.
        vertex: Id<Vertices>,
        /// Its amplitude, m.
        amplitude: f64,
        /// The largest possible one, m.
        reach: f64,
    },
    /// A sheet for which plates or membranes are not made.
    #[error("the sheet as {what}: {reason}")]
    Sheet {
        /// Membrane or plate.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

/// That a field has one value per element of its mesh.
pub(crate) fn fits<S: Space, T>(
    what: &'static str,
    field: &Field<S, T>,
    expected: usize,
) -> Result<(), WrinkleError> {
    field.check_len(expected).map_err(|source| WrinkleError::Length { what, source })
}
