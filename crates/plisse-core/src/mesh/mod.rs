//! Triangle mesh topology and deterministic generators.

mod connect;
mod delaunay;
mod error;
pub mod generate;
mod tri_mesh;
mod volume;

pub use connect::{coincident, connected_pieces};
pub use error::MeshError;
pub use tri_mesh::{Edge, TriMesh};
pub use volume::InvertedPiece;
