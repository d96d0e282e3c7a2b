//! Loads: gravity, forces, springs to points, pressure, wind.

mod attachment;
mod enclosure;
mod gravity;
mod point_loads;
mod shared_load;
mod wind;

pub use attachment::Attachments;
pub use enclosure::{Pressure, Volume};
pub use gravity::Gravity;
pub use point_loads::PointLoads;
pub use shared_load::SharedLoad;
pub use wind::Wind;
