//! Fine wrinkles on coarsely meshed thin sheets (Chen21): tension field, wrinkle field, phase, surface.

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod complex;
mod curvature;
mod energy;
mod error;
mod free;
mod geometry;
mod lattice;
mod phase;
mod sheet;
mod solver;
mod start;
mod surface;
mod tension;

pub use complex::{ComplexEdge, Crossing, KeptComplex, Nodes, Step};
pub use curvature::{Curvature, PrincipalCurvature, principal_curvatures};
pub use energy::{Quadrature, Terms};
pub use error::WrinkleError;
pub use free::{FreeRule, wrinkle_free};
pub use geometry::{BaseFace, BaseSheet};
pub use lattice::{ClosestIntegers, DEFAULT_NODE_LIMIT, closest_integers};
pub use phase::{
    CornerPhase, Phase, PhaseFaces, PhaseField, PhaseOptions, PhaseProblem, recover_phase,
    recover_phase_following,
};
pub use sheet::ThinSheet;
pub use solver::{
    FaceHessian, FaceProjection, Kkt, Periods, WrinkleEnd, WrinkleField, WrinkleIteration, WrinkleProblem,
    WrinkleReport, WrinkleRun, WrinkleSettings, WrinkleSystem, solve_wrinkles, solve_wrinkles_from,
};
pub use start::WrinkleStart;
pub use surface::{
    CurvatureShift, ObstacleLimit, PhaseExtension, Profile, SharpVertices, SurfaceOptions, WrinkledSurface,
    wrinkled_surface,
};
