//! What can be wrong with a scene.

use plisse_bending::NetError;
use plisse_core::{InvertedPiece, MeshError, QuantityError, RestError};
use plisse_damping::ViscosityError;
use plisse_membrane::MaterialError;
use plisse_system::SetupError;
use thiserror::Error;

use super::warning::short;

/// Why a scene was refused. Names the body, the value and the remedy.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SceneError {
    /// A mesh is not a mesh.
    #[error("{body}: {source}")]
    Mesh {
        /// Which body.
        body: String,
        /// What is wrong.
        source: MeshError,
    },
    /// A rest shape is not one.
    #[error("{body}: {source}")]
    Rest {
        /// Which body.
        body: String,
        /// What is wrong.
        source: RestError,
    },
    /// Wires are not a net.
    #[error("{body}: {source}")]
    Net {
        /// Which body.
        body: String,
        /// What is wrong.
        source: NetError,
    },
    /// Damping that would drive.
    #[error("{body}: {source}")]
    Viscosity {
        /// Which body.
        body: String,
        /// What is wrong.
        source: ViscosityError,
    },
    /// Viscosities of warp and weft without warp and weft.
    #[error(
        "{body} has viscosities of warp and weft, but no material coordinates; give it `vt`, or an isotropic viscosity"
    )]
    NoViscousDirections {
        /// Which body.
        body: String,
    },
    /// Viscosities of sheets on wires.
    #[error("{body}: wires have no viscosity of sheets; give damping in proportion to stiffness, in seconds")]
    WireViscosity {
        /// Which body.
        body: String,
    },
    /// A bending law of the user's own without hinges.
    #[error(
        "{body} has a bending law of its own, but its material does not bend by hinges; give it `Bending::hinges`"
    )]
    NoHinges {
        /// Which body.
        body: String,
    },
    /// A term of the user's own could not be made.
    #[error("a term of the scene could not be made: {reason}")]
    Term {
        /// What went wrong.
        reason: String,
    },
    /// Vertices that do not exist were picked.
    #[error("{body}: {reason}")]
    Pick {
        /// Which body.
        body: String,
        /// What is wrong, and what there is.
        reason: String,
    },
    /// Two bodies or obstacles have one name.
    #[error("two bodies are called \"{name}\"; give each a name of its own")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// Nothing to simulate.
    #[error("the scene has no cloth and no wires; add one")]
    Empty,
    /// A motion that cannot be followed.
    #[error("keyframe {index}: {reason}")]
    Keyframes {
        /// Which keyframe, from zero.
        index: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// A direction without length.
    #[error("{what} is {value:?}; give a vector that is finite and not zero")]
    Direction {
        /// Which direction.
        what: &'static str,
        /// The value.
        value: [f64; 3],
    },
    /// A vector that is not finite.
    #[error("{what} is {value:?}, which is not finite")]
    NotFinite {
        /// What it is.
        what: &'static str,
        /// The value.
        value: [f64; 3],
    },
    /// A coefficient of friction that is not one.
    #[error("the coefficient of friction is {value}; give zero or a positive number")]
    Friction {
        /// The value.
        value: f64,
    },
    /// Friction of a pair that cannot be what it says.
    #[error("friction between \"{}\" and \"{}\": {reason}", names[0], names[1])]
    FrictionBetween {
        /// The two names.
        names: [String; 2],
        /// What is wrong, and what there is.
        reason: String,
    },
    /// A body is so far from the origin that its mesh is lost in rounding.
    #[error(
        "\"{body}\" starts {distance:.1e} m from the origin, where the numbers of its positions do not resolve the mesh any more; \
         stay within {farthest:.1e} m"
    )]
    TooFar {
        /// Name of the body.
        body: String,
        /// m.
        distance: f64,
        /// m.
        farthest: f64,
    },
    /// An obstacle without inside.
    #[error(
        "the mesh of an obstacle is open: {edge} has one face. An obstacle needs an inside; close the hole"
    )]
    OpenObstacle {
        /// A boundary edge.
        edge: String,
    },
    /// An obstacle with its inside outside.
    #[error("the mesh of an obstacle: {0}")]
    InsideOutObstacle(InvertedPiece),
    /// A cylinder or cone that is none.
    #[error("{shape}: {what} is {value}; {expected}")]
    RoundObstacle {
        /// `cylinder` or `cone`.
        shape: &'static str,
        /// The parameter.
        what: &'static str,
        /// Its value, m.
        value: f64,
        /// What would fit.
        expected: &'static str,
    },
    /// A shape that cannot be stretched.
    #[error(
        "{shape} cannot be scaled by {factors:?}; give three equal factors, or a mesh of the shape you want"
    )]
    ObstacleScale {
        /// Which shape.
        shape: &'static str,
        /// The factors.
        factors: [f64; 3],
    },
    /// A mesh sequence whose times cannot be followed.
    #[error("frame {frame} of a mesh sequence: {reason}")]
    SequenceTimes {
        /// Which frame, from zero.
        frame: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// A mesh sequence of which one mesh is no obstacle.
    #[error("frame {frame} of a mesh sequence: {source}")]
    SequenceFrame {
        /// Which frame, from zero.
        frame: usize,
        /// What is wrong.
        source: Box<SceneError>,
    },
    /// Quadratic bending of a curved sheet.
    #[error(
        "{body} is curved at rest, which the quadratic bending model cannot represent; choose hinges or mid-edge bending"
    )]
    CurvedQuadratic {
        /// Which body.
        body: String,
    },
    /// A crease that does not follow the mesh.
    #[error("the crease from {from:?} to {to:?}: {reason}")]
    Crease {
        /// One end, m.
        from: [f64; 3],
        /// The other, m.
        to: [f64; 3],
        /// What is wrong, and what helps.
        reason: String,
    },
    /// A woven material on a cloth without material coordinates.
    #[error(
        "{body} has no material coordinates, so warp and weft have no direction; give it some (vt in OBJ files), or choose an \
         isotropic membrane without shear term, such as corotational"
    )]
    NoWarp {
        /// Which body.
        body: String,
    },
    /// Two bending rigidities on a cloth without material coordinates.
    #[error(
        "{body} has no material coordinates, so that a rigidity along warp and another along weft have no direction; give it some \
         (vt in OBJ files), or one rigidity"
    )]
    NoBendingDirections {
        /// Which body.
        body: String,
    },
    /// A limit along warp and weft on a cloth without material coordinates.
    #[error(
        "{body} has no material coordinates, so that a strain limit along warp and weft has no direction; give it some (vt in OBJ \
         files), or limit any stretch"
    )]
    NoLimitDirections {
        /// Which body.
        body: String,
    },
    /// A cloth that starts beyond its strain limit.
    #[error(
        "{body} starts beyond its strain limit: face {face} is {} times as long as at rest, at most {limit}; start with a \
         smaller scale, or raise the limit",
        short(*stretch)
    )]
    StartsStretched {
        /// Which body.
        body: String,
        /// The face that is stretched most.
        face: usize,
        /// Its length as a multiple of that at rest.
        stretch: f64,
        /// The limit.
        limit: f64,
    },
    /// A body that starts inside an obstacle.
    #[error(
        "{body} starts inside {obstacle}, or on its surface: {count} of its {total} vertices. The deepest, vertex {vertex} at \
         {place:?}, is {} m inside; move {body} by more than that along {:?}, or the obstacle, or pin what belongs inside",
        short(*depth), outwards.map(|c| short(c) + 0.0)
    )]
    StartsInside {
        /// Which body.
        body: String,
        /// Which obstacle.
        obstacle: String,
        /// How many vertices are inside.
        count: u32,
        /// How many vertices the body has.
        total: u32,
        /// The deepest vertex, counted from the first of the body.
        vertex: u32,
        /// Where it is, m.
        place: [f64; 3],
        /// How deep it is inside, m.
        depth: f64,
        /// Direction of the shortest way out.
        outwards: [f64; 3],
    },
    /// Triangles that cross each other at the start.
    #[error(
        "{} and {} cross each other at the start: {count} pairs of triangles, the first of them {} and {} (counted from 0) \
         at {place:?}; move them apart, have them moved (start = \"untangle\") or left alone until they come apart (start = \
         \"ignore\"), or switch the contact of the body with itself off (self_contact = false)",
        bodies[0], bodies[1], faces[0], faces[1]
    )]
    StartsCrossing {
        /// Their names.
        bodies: [String; 2],
        /// The first pair of faces, each counted from the first of its body.
        faces: [u32; 2],
        /// Where, m.
        place: [f64; 3],
        /// How many pairs of triangles cross.
        count: usize,
    },
    /// Triangles that cross when pins let go: the pins have moved them through each other.
    #[error(
        "pins that let go now have moved {} and {} through each other: {count} pairs of triangles cross, the first of them {} \
         and {} (counted from 0) at {place:?}; let them go elsewhere, or move them on another way",
        bodies[0], bodies[1], faces[0], faces[1]
    )]
    ReleasedCrossing {
        /// Their names.
        bodies: [String; 2],
        /// The first pair of faces, each counted from the first of its body.
        faces: [u32; 2],
        /// Where, m.
        place: [f64; 3],
        /// How many pairs of triangles cross.
        count: usize,
    },
    /// Pressure on a surface that is neither closed nor held.
    #[error(
        "{body} is open, and vertex {vertex} of its boundary is free or moves: pressure needs a closed surface, or pins \
         that hold all of its boundary where it starts, for ever. For a sail, blow with the wind of the air instead"
    )]
    OpenPressure {
        /// Which body.
        body: String,
        /// A vertex of its boundary, counted from the first of the body.
        vertex: u32,
    },
    /// Bodies that touch at the start, or something that cannot take part in contact.
    #[error("contact: {source}; move bodies apart that touch, or make them thinner")]
    Contact {
        /// What is wrong.
        source: plisse_contact::ContactError,
    },
    /// Seams that bend freely, with a bending model that has no hinges.
    #[error("the seams of {body} bend freely, which only hinges can represent; choose bending by hinges")]
    FreeSeams {
        /// Which body.
        body: String,
    },
    /// A parameter outside its domain.
    #[error("{what} is {value}; {expected}")]
    BadParameter {
        /// Which parameter.
        what: &'static str,
        /// The value.
        value: f64,
        /// What is accepted.
        expected: &'static str,
    },
    /// A material whose moduli are impossible.
    #[error(transparent)]
    Material(#[from] MaterialError),
    /// A quantity outside of its range.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// A body cannot be what it should be: filled without being closed, for example.
    #[error("{body}: {source}")]
    Body {
        /// Which body.
        body: String,
        /// What is wrong.
        source: SetupError,
    },
    /// A cloth that cannot wrinkle as a scene of wrinkles has it.
    #[error("{body}: {reason}")]
    NotForWrinkles {
        /// Which body.
        body: String,
        /// What is in the way.
        reason: &'static str,
    },
    /// A scene that a developable cloth cannot be in.
    #[error("{body} is developable: {reason}")]
    NotDevelopable {
        /// Which body.
        body: String,
        /// What is in the way, and the remedy.
        reason: &'static str,
    },
    /// A developable cloth that was refused.
    #[error("{body}: {source}")]
    Constrained {
        /// Which body.
        body: String,
        /// What is wrong.
        source: Box<plisse_constrained::ConstrainedError>,
    },
    /// Contact of a developable cloth that was refused.
    #[error("{body}: {source}")]
    GhostContact {
        /// Which body.
        body: String,
        /// What is wrong.
        source: plisse_constrained::GhostContactError,
    },
    /// Yarns that cannot be woven.
    #[error("{body}: {source}")]
    Patch {
        /// Which body.
        body: String,
        /// What is wrong, with the yarn and the crossing.
        source: plisse_yarn::PatchError,
    },
    /// A cut beside all yarns.
    #[error(
        "cut {number} (counted from zero) from {:?} to {:?} meets no yarn between two crossings; coordinates are \
         metres from the middle of the cloth",
        ends[0], ends[1]
    )]
    BadCut {
        /// Which cut, from zero.
        number: usize,
        /// Its ends, m.
        ends: [[f64; 2]; 2],
    },
    /// A scene that yarns cannot be in.
    #[error("{body} is made of yarns: {reason}")]
    NotForYarns {
        /// Which body.
        body: String,
        /// What is in the way, and the remedy.
        reason: &'static str,
    },
    /// A sheet or a problem of wrinkles that is none.
    #[cfg(feature = "wrinkle")]
    #[error(transparent)]
    Wrinkle(#[from] plisse_wrinkle::WrinkleError),
    /// The system could not be built.
    #[error(transparent)]
    Setup(#[from] SetupError),
}
