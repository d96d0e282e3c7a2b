//! Loads: gravity, forces, springs to points, pressure, wind.

mod attachment;
mod enclosure;
mod gravity;
mod point_loads;
mod wind;

pub use attachment::Attachments;
pub use enclosure::{Pressure, Volume};
pub use gravity::Gravity;
pub use point_loads::PointLoads;
pub use wind::Wind;
