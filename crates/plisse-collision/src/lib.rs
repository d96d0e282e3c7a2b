//! Contact of cloth: which parts can touch, and which triangles already cross.
//!
//! | what | items |
//! |---|---|
//! | what takes part | [`Colliders`], [`Body`], [`ColliderError`] |
//! | which pairs can touch | [`BroadPhase`], [`Candidates`], [`Pairs`] |
//! | which triangles cross | [`intersections`], [`Intersections`], [`Crossing`], [`Fold`], [`SurfaceFace`] |
//! | two triangles, without rounding error | [`triangles_meet`], [`triangles_meet_beyond_vertex`], [`triangles_fold_on_edge`] |
//!
//! The crate knows no energy, no solver and no file.

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod bounds;
mod broad_phase;
mod candidates;
mod colliders;
mod oracle;
mod predicate;
mod traverse;
mod tree;
mod triangles;

pub use broad_phase::BroadPhase;
pub use candidates::{Candidates, Pairs};
pub use colliders::{Body, ColliderError, Colliders};
pub use oracle::{Crossing, Fold, Intersections, SurfaceFace, intersections};
pub use triangles::{triangles_fold_on_edge, triangles_meet, triangles_meet_beyond_vertex};
