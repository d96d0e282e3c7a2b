//! Constraints that plisse brings along, one per file.

mod anchors;
mod distances;
mod ribbon;
mod supports;
mod tethers;
mod triangles;
mod woven;

pub use anchors::{Anchor, Anchors};
pub use distances::Distances;
pub use ribbon::{Ribbon, RibbonEdge, ribbon_edges};
pub(crate) use supports::{Grip, Rub, Rubs, Support, Supports};
pub use tethers::Tethers;
pub use triangles::RigidTriangles;
pub use woven::{Compliance, WovenTriangles};
