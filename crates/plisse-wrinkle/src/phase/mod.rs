//! The phase of wrinkles from their frequencies.

mod field;

pub use field::{CornerPhase, PhaseField};
