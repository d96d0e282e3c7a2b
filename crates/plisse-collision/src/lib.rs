//! Contact of cloth: distances with their derivatives, conservative continuous collision detection,
//! which parts can touch, and which triangles already cross.
//!
//! | what | items |
//! |---|---|
//! | closest points | [`point_point`], [`point_edge`], [`point_triangle`], [`edge_edge`], [`Closest`], [`Feature`] |
//! | derivatives of the distance and of energies of it | [`ContactFrame`], [`ContactHessian`] |
//! | nearly parallel edges | [`EdgeMollifier`] |
//! | contact times of linear motions | [`Ccd`] |
//! | what takes part | [`Colliders`], [`Body`], [`ColliderError`] |
//! | which pairs can touch | [`BroadPhase`], [`Candidates`], [`Pairs`] |
//! | motions past all contacts | [`Response`], [`ResponseSettings`], [`InverseMasses`], [`PairFilter`], [`ContactPair`], [`Impact`], [`ResponseReport`], [`ResponseError`] |
//! | which triangles cross | [`intersections`], [`Intersections`], [`Crossing`], [`Fold`], [`SurfaceFace`] |
//! | two triangles, without rounding error | [`triangles_meet`], [`triangles_meet_beyond_vertex`], [`triangles_fold_on_edge`] |
//!
//! This crate knows no contact energy, no solver and no file. Lengths are metres. Distances and
//! collision times never fail, never allocate, and answer finite numbers to finite input.
//!
//! ```
//! use glam::DVec3;
//! use plisse_collision::{Ccd, point_triangle};
//!
//! let triangle = [DVec3::ZERO, DVec3::X, DVec3::Y];
//! let p = DVec3::new(0.25, 0.25, 0.5);
//! let closest = point_triangle(p, triangle);
//! assert_eq!((closest.distance(), closest.normal()), (0.5, DVec3::Z));
//!
//! // The point falls by one metre and meets the triangle half-way.
//! let [a, b, c] = triangle;
//! let time = Ccd::default().point_triangle(&[p, a, b, c], &[p - DVec3::Z, a, b, c], 0.0);
//! assert!(time.is_some_and(|t| (0.4999..=0.5).contains(&t)));
//! ```

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
mod ccd;
mod closest;
mod colliders;
mod contour;
mod frame;
mod hull;
mod mollifier;
mod nearest_hessian;
mod oracle;
mod predicate;
mod response;
mod traverse;
mod tree;
mod triangles;
mod untangle;

pub use broad_phase::BroadPhase;
pub use candidates::{Candidates, Pairs};
pub use ccd::Ccd;
pub use closest::{Closest, Feature, edge_edge, point_edge, point_point, point_triangle};
pub use colliders::{Body, ColliderError, Colliders};
pub use frame::{ContactFrame, ContactHessian};
pub use mollifier::EdgeMollifier;
pub use oracle::{Crossing, Fold, Intersections, SurfaceFace, intersections};
pub use response::{
    ContactPair, Impact, Impulse, InverseMasses, PairFilter, Response, ResponseError, ResponseReport,
    ResponseSettings, ResponseSettingsError,
};
pub use triangles::{triangles_fold_on_edge, triangles_meet, triangles_meet_beyond_vertex};
pub use untangle::{Untangled, tangles, untangle};
