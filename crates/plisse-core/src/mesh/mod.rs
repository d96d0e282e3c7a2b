//! Triangle mesh topology and deterministic generators.

mod delaunay;
mod error;
pub mod generate;
mod tri_mesh;

pub use error::MeshError;
pub use tri_mesh::{Edge, TriMesh};
