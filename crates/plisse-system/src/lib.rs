//! Assembly, sparse solves, Newton's method and implicit time integration for cloth and thin
//! shells.
//!
//! | what | items |
//! |---|---|
//! | parts of the energy | [`Term`], [`ElementTerm`], [`MixedTerm`], [`MappedTerm`], [`SparseMap`], [`ConstantTerm`], [`Role`], [`Unknown`], [`OwnUnknown`], [`Gradient`], [`Pose`], [`StepMap`], [`Inertia`], [`Moving`], [`Way`], [`Memory`], [`Sink`], [`RankOne`] |
//! | loads | [`Gravity`], [`PointLoads`], [`SharedLoad`], [`Attachments`], [`Pressure`], [`Volume`], [`Wind`] |
//! | the whole | [`System`], [`SystemBuilder`], [`Pin`], [`Motion`], [`State`], [`OwnState`], [`Previous`], [`SetupError`] |
//! | time and equilibrium | [`Integrator`], [`Implicit`], [`Scheme`], [`Adaptive`], [`SymplecticEuler`], [`StepReport`], [`StepError`], [`Cause`] |
//! | Newton's method | [`Newton`], [`Problem`], [`Value`], [`NewtonSettings`], [`Criterion`], [`HessianPolicy`], [`NewtonReport`], [`NewtonError`] |
//! | matrices, of [`plisse_sparse`] | [`BlockMatrix`], [`Pattern`], [`Operator`], [`Linear`], [`LinearSolver`] |
//!
//! Elements come from anywhere: whatever implements [`plisse_core::Element`] can be a term.
//!
//! ```
//! use glam::DVec3;
//! use plisse_core::{Field, Id, Positive, Vertices};
//! use plisse_system::{Attachments, Gravity, Implicit, Integrator, NewtonSettings, Scheme, State, System};
//!
//! // A mass of 1 kg on a spring of 100 N/m, falling into its equilibrium.
//! let mass: Field<Vertices, f64> = Field::filled(1, 1.0);
//! let spring = Attachments::new("spring").to_point(Id::new(0), DVec3::ZERO, Positive::literal(100.0));
//! let gravity = Gravity::new(DVec3::new(0.0, 0.0, -9.81), &mass)?;
//! let system = System::builder(mass).term(spring).term(gravity).build()?;
//! let mut state = State::at_rest(Field::filled(1, DVec3::ZERO))?;
//! let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, NewtonSettings::default())?;
//! for _ in 0..500 {
//!     integrator.step(&system, &mut state, Positive::literal(0.05))?;
//! }
//! // The default tolerance of 0.1 m/s² is a millimetre for this spring.
//! assert!((state.x()[Id::new(0)].z + 0.0981).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod integrator;
mod ledger;
mod loads;
mod mapped_term;
mod memory;
mod mixed_term;
mod newton;
mod parts;
mod pins;
mod pose;
mod shared_term;
mod state;
mod sums;
mod system;
mod term;

pub use constant_term::ConstantTerm;
pub use element_term::ElementTerm;
pub use error::SetupError;
pub use integrator::{
    Adaptive, Balance, Cause, Closest, Energies, Implicit, Integrator, Scheme, SpectralRadius, StepError,
    StepFormula, StepReport, SymplecticEuler, Tautest, Worst,
};
pub use ledger::Ledger;
pub use loads::{Attachments, Gravity, PointLoads, Pressure, SharedLoad, Volume, Wind};
pub use mapped_term::{MappedTerm, SparseMap};
pub use memory::Memory;
pub use mixed_term::MixedTerm;
pub use newton::{
    Criterion, Ended, Failure, HessianPolicy, Iteration, Newton, NewtonError, NewtonReport, NewtonSettings,
    Problem, Search, Value,
};
pub use pins::{Motion, Pin};
/// What solves and terms need of the sparse room.
pub use plisse_sparse::{
    BlockMatrix, Linear, LinearError, LinearSolver, Operator, Pattern, Sink, SolveReport,
};
pub use pose::{Inertia, Pose, StepMap};
pub use state::{OwnState, Previous, State};
pub use system::{System, SystemBuilder, TermEnergy};
pub use term::{Clearance, Gradient, Moving, OwnUnknown, RankOne, Role, Taut, Term, Unknown, Way};
