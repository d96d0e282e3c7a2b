//! What can be wrong with a list of triangles.

use thiserror::Error;

use crate::space::{Faces, Id, Vertices};

/// Why a list of triangles is not a mesh. Every message names the place and says what would help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// No triangle at all.
    #[error("the mesh has no faces: give at least one triangle")]
    Empty,
    /// A corner points past the end of the vertex list.
    #[error("{face}, corner {corner}: index {index} is out of range, the mesh has {vertex_count} vertices (0 to {})", vertex_count.saturating_sub(1))]
    IndexOutOfRange {
        /// The face.
        face: Id<Faces>,
        /// Which corner, 0 to 2.
        corner: usize,
        /// The index found there.
        index: u32,
        /// How many vertices there are.
        vertex_count: usize,
    },
    /// A triangle that uses one vertex twice.
    #[error("{face} uses {vertex} twice: remove the face or merge its vertices properly")]
    RepeatedVertex {
        /// The face.
        face: Id<Faces>,
        /// The vertex.
        vertex: Id<Vertices>,
    },
    /// Two triangles over the same three vertices.
    #[error("{} and {} have the same three vertices: remove one of them", faces[0], faces[1])]
    DuplicateFace {
        /// The two faces.
        faces: [Id<Faces>; 2],
    },
    /// An edge with more than two triangles.
    #[error("the edge between {} and {} has more than two faces ({}, {}, {}): split the mesh along it", edge[0], edge[1], faces[0], faces[1], faces[2])]
    NonManifoldEdge {
        /// End points of the edge.
        edge: [Id<Vertices>; 2],
        /// The first three faces found.
        faces: [Id<Faces>; 3],
    },
    /// Two neighbouring triangles that turn in opposite senses.
    #[error("{} and {} run along the edge between {} and {} in the same direction: reverse the winding of one of them", faces[0], faces[1], edge[0], edge[1])]
    InconsistentWinding {
        /// End points of the edge.
        edge: [Id<Vertices>; 2],
        /// The two faces.
        faces: [Id<Faces>; 2],
    },
    /// A vertex that no triangle uses.
    #[error(
        "{vertex} belongs to no face ({count} such vertices in all): remove them, or allow them with TriMesh::with_isolated_vertices"
    )]
    UnreferencedVertex {
        /// The first one.
        vertex: Id<Vertices>,
        /// How many there are.
        count: usize,
    },
    /// More elements than 32-bit ids can name.
    #[error("{count} {what} are more than 32-bit ids can name")]
    TooLarge {
        /// "vertices" or "faces".
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// A generator was asked for something that has no shape.
    #[error("cannot generate the {shape}: {reason}")]
    BadShape {
        /// The generator.
        shape: &'static str,
        /// What is wrong, with the value.
        reason: String,
    },
}
