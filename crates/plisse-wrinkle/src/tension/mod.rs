//! The base mesh: equilibrium of a sheet that cannot bear compression.
//!
//! Chen21, section 4.1: before wrinkles are added, the coarse shape is that of a tension field
//! ([`plisse_membrane::TensionField`]) with quadratic bending
//! ([`plisse_bending::QuadraticBending`]), under pressure, gravity and what the caller adds. The
//! elastic reference is the same sheet with its compression and mid-edge bending.

mod bending;
mod energy;
mod problem;
mod reference;
mod report;
mod solve;

pub use bending::BendingStiffness;
pub use problem::BaseProblem;
pub use reference::{ElasticReference, elastic_reference};
pub use report::{BaseReport, BaseSolution};
pub use solve::BaseSettings;

/// Names of the terms in reports.
const MEMBRANE: &str = "membrane";
const BENDING: &str = "bending";
const PRESSURE: &str = "pressure";
const GRAVITY: &str = "gravity";
