//! Assembly, sparse solves, Newton's method and implicit time integration.

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod constant_term;
mod element_term;
mod error;
mod linear;
mod loads;
mod matrix;
mod pins;
mod pose;
mod state;
mod system;
mod term;

pub use constant_term::ConstantTerm;
pub use element_term::ElementTerm;
pub use error::SetupError;
pub use linear::{ConstraintRow, KktSolver, Linear, LinearError, LinearSolver, Operator, SolveReport};
pub use loads::{Attachments, Gravity, PointLoads, Pressure, Volume, Wind};
pub use matrix::{BlockMatrix, BlockPattern};
pub use pins::{Motion, Pin};
pub use pose::{Pose, StepMap};
pub use state::{Previous, State};
pub use system::{System, SystemBuilder, TermEnergy};
pub use term::{HessianSink, RankOne, Role, Term};
mod integrator;
mod newton;
pub use integrator::{Adaptive, Balance, Energies, Implicit, Integrator, Scheme, StepError, StepReport};
pub use newton::{
    Criterion, Ended, Failure, HessianPolicy, Iteration, NewtonError, NewtonReport, NewtonSettings,
};
