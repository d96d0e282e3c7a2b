//! Rest geometry: areas, maps to deformation gradients, hinges.

mod hinge;
mod rest_shape;
mod triangle_map;

pub use hinge::{Hinge, HingeFrame, angle_change, hinge_angle};
pub use rest_shape::{RestError, RestShape};
pub use triangle_map::TriangleMap;
