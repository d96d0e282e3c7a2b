//! The phase of wrinkles from their frequencies.

mod field;
mod follow;
mod recover;
mod reduced;
mod step;
#[cfg(test)]
mod tests;

pub(crate) use field::LARGEST_PHASE;
pub use field::{CornerPhase, PhaseField};
pub use follow::recover_phase_following;
pub(crate) use follow::{omega_before, recover_phase_keeping, waves_before};
pub use recover::{Phase, PhaseFaces, PhaseOptions, PhaseProblem, recover_phase};
pub use step::{PhaseStep, phase_step};
