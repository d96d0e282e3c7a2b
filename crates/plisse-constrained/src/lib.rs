//! Cloth that bends and does not stretch: nonconforming elements, fast projection in time, and the
//! ghost mesh that collides and is drawn (English and Bridson 2008, EB08).
//!
//! | what | items |
//! |---|---|
//! | the element on edge midpoints | [`CrMesh`], [`EdgeBending`], [`CurvedEdge`] |
//! | a constraint, and how to add one | [`Constraint`], [`Rows`] |
//! | constraints of developable cloth | [`RigidTriangles`], [`Ribbon`], [`ribbon_edges`], [`Anchors`] |
//! | woven cloth, inextensible along threads | [`WovenTriangles`], [`Compliance`] |
//! | other constraints | [`Distances`], [`Tethers`] |
//! | projection and time | [`Projector`], [`FastProjection`] |
//! | the mesh that collides and is drawn | [`Ghost`], [`GhostContact`] |
//! | everything together | [`Developable`], [`DevelopableBuilder`] |
//!
//! The crate knows no material but a bending rigidity, no shape of an obstacle and no file. Lengths
//! are metres.

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod bending;
mod constraint;
mod constraints;
mod contact;
mod curved_bending;
mod element;
mod error;
mod forces;
mod ghost;
mod integrator;
mod projector;
mod reach;
mod sheet;
mod tangent;

pub use bending::EdgeBending;
pub use constraint::{Constraint, LARGEST_GROUP, Rows};
pub use constraints::{
    Anchor, Anchors, Compliance, Distances, Ribbon, RibbonEdge, RigidTriangles, Tethers, WovenTriangles,
    ribbon_edges,
};
pub use contact::{GhostContact, GhostContactError, GhostResponseError, Places};
pub use curved_bending::{CurvedEdge, FLAT, curved_bending};
pub use element::CrMesh;
pub use error::{ConstrainedError, ProjectionError, ProjectionFailure};
pub use ghost::{Ghost, GhostWeights};
pub use integrator::FastProjection;
pub use projector::{Directions, ProjectionReport, ProjectionSettings, Projector};
pub use reach::{PinTarget, VertexPin};
pub use sheet::{Developable, DevelopableBuilder, DevelopableReport};
