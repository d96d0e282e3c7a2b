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

use crate::error::SetupError;

/// Accepts finite numbers above zero.
fn check_positive(what: &'static str, value: f64, expected: &'static str) -> Result<(), SetupError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(SetupError::BadParameter { what, value, expected })
    }
}
