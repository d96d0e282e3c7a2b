//! Fine wrinkles on coarsely meshed thin sheets (Chen21): tension field, wrinkle field, phase, surface.

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

pub mod beds;
mod complex;
mod curvature;
mod energy;
mod error;
mod free;
mod geometry;
mod lattice;
mod phase;
mod random;
mod sheet;
mod solver;
mod start;
mod surface;
mod tension;

pub use error::WrinkleError;
pub use sheet::ThinSheet;
pub use tension::{
    BaseFailure, BaseIteration, BaseProblem, BaseReport, BaseSettings, BaseSolution, BendingStiffness,
    ElasticReference, elastic_reference,
};
