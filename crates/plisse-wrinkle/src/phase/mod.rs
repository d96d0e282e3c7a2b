//! The phase of wrinkles from their frequencies.

mod field;
mod follow;
mod recover;
mod reduced;
#[cfg(test)]
mod tests;

pub(crate) use field::LARGEST_PHASE;
pub use field::{CornerPhase, PhaseField};
pub use follow::recover_phase_following;
pub use recover::{Phase, PhaseFaces, PhaseOptions, PhaseProblem, recover_phase};
