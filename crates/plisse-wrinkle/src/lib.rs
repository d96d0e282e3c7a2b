//! Fine wrinkles on coarse meshes of thin sheets (Chen21): equilibrium of a sheet that gives way to
//! compression, amplitude and frequency of the wrinkles on it, their phase, and the surface with
//! every wave.
//!
//! | stage | what | how |
//! |---|---|---|
//! | base | [`BaseProblem`], [`BaseSolution`] | tension field with quadratic bending, pressure, weight, obstacles; or bring your own mesh |
//! | base with its rest shape | [`BaseSheet`] of an [`IsotropicSheet`](plisse_core::IsotropicSheet), [`Curvature`] | strains, directions and curvature of every face |
//! | where | [`wrinkle_free`], [`FreeRule`] | faces under tension do not wrinkle |
//! | energy | [`Terms`], [`Quadrature`] | of amplitudes per vertex and phase differences per edge, with both derivatives |
//! | closed forms | [`KeptComplex`] | frequencies without curl as phases per node and periods per loop |
//! | wrinkle field | [`solve_wrinkles`], [`WrinkleField`] | projected Newton steps over amplitudes that are not negative |
//! | phase | [`recover_phase`], [`Phase`], [`closest_integers`] | whole numbers of waves around loops, exactly the best ones |
//! | animation | [`WrinkleSequence`], [`phase_step`] | numbers of waves, signs and shifts follow the frame before |
//! | surface | [`wrinkled_surface`], [`WrinkledSurface`] | subdivision without seams, displacement, obstacles |
//!
//! [`beds`] are the examples of the paper as far as it describes them; [`elastic_reference`] is a
//! sheet that does bear compression.
//!
//! All lengths are in metres, phases in radians. Phase differences belong to edges and run **from
//! the smaller to the larger vertex**. This crate knows no thread and no file: the same input gives
//! the same bits.
//!
//! ```
//! use plisse_wrinkle::{
//!     BaseSettings, BaseSheet, Curvature, FreeRule, PhaseOptions, PhaseProblem, SurfaceOptions, WrinkleProblem, WrinkleSettings, beds,
//!     recover_phase, solve_wrinkles, wrinkle_free, wrinkled_surface,
//! };
//!
//! // A disk of rubber, clamped at four fifths of its radius and inflated.
//! let bed = beds::pressurised_disk(600.0, 5, 1)?;
//! let (mesh, rest) = (bed.problem.mesh(), bed.problem.rest());
//! let x = bed.problem.solve(&bed.start, &BaseSettings::default())?.x;
//! let base = BaseSheet::new(mesh, rest, &x, bed.problem.sheet(), Curvature::default())?;
//! let free = wrinkle_free(&base, FreeRule::default());
//! let field = solve_wrinkles(&WrinkleProblem::with_free_faces(base, &free)?, &WrinkleSettings::default())?;
//! assert!(field.report.converged() && field.report.terms.total() < field.report.smooth_energy);
//!
//! // Waves run all around the rim, in a whole number; none is lost in the surface.
//! let (amplitude, omega) = (&field.amplitude, &field.omega);
//! let problem = PhaseProblem { mesh, rest, amplitude, omega, free: &free };
//! let phase = recover_phase(&problem, &PhaseOptions::default())?;
//! assert!(phase.proven && phase.waves.iter().any(|k| k.abs() > 20));
//! let surface = wrinkled_surface(mesh, &x, amplitude, &phase.field, &SurfaceOptions::default())?;
//! assert_eq!(surface.mesh.face_count(), 64 * mesh.face_count());
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

pub mod beds;
mod complex;
mod curvature;
mod energy;
mod error;
mod free;
mod geometry;
mod lattice;
mod phase;
mod reach;
mod sequence;
mod solver;
mod start;
mod surface;
mod tension;
mod wavelength;

pub use complex::{ComplexEdge, Crossing, KeptComplex, Nodes, Step};
pub use curvature::{Curvature, PrincipalCurvature, principal_curvatures};
pub use energy::{Quadrature, Terms};
pub use error::WrinkleError;
pub use free::{FreeRule, wrinkle_free};
pub use geometry::{BaseFace, BaseSheet};
pub use lattice::{ClosestIntegers, DEFAULT_NODE_LIMIT, closest_integers};
pub use phase::{
    CornerPhase, Phase, PhaseFaces, PhaseField, PhaseOptions, PhaseProblem, PhaseStep, phase_step,
    recover_phase, recover_phase_following,
};
pub use sequence::{FrameChange, SequenceFrame, SequenceSettings, WaveChange, WrinkleSequence};
pub use solver::{
    FaceHessian, FaceProjection, Kkt, Periods, WrinkleEnd, WrinkleField, WrinkleIteration, WrinkleProblem,
    WrinkleReport, WrinkleRun, WrinkleSettings, WrinkleSystem, solve_wrinkles, solve_wrinkles_from,
};
pub use start::WrinkleStart;
pub use surface::{
    CurvatureShift, ObstacleLimit, PhaseExtension, Profile, SharpVertices, SurfaceOptions, WrinkledSurface,
    wrinkled_surface,
};
pub use tension::{
    BaseProblem, BaseReport, BaseSettings, BaseSolution, BendingStiffness, ElasticReference,
    elastic_reference,
};
