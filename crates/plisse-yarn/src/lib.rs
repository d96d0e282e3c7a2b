//! Woven cloth as yarns that cross, stick and slide (Sánchez-Banderas and Otaduy 2018, SO18, after
//! Cirio, Lopez-Moreno, Miraut and Otaduy 2014).
//!
//! | what | items |
//! |---|---|
//! | patches | [`Woven`], [`patch_of_quads`], [`Patch`], [`Weave`], [`Yarn`], [`YarnMaterial`], [`Contacts`], [`PatchError`] |
//! | elements | [`Stretch`], [`Bend`], [`Corner`], [`Jam`], [`Weight`], [`SegmentInertia`], [`YarnElement`], [`ArcLength`] |
//! | everything as terms of a system | [`YarnModel`], [`YarnEvent`] |
//! | virtual tests: a patch as a sheet | [`Moduli`], [`Specimen`], [`VirtualTest`], [`Reading`], [`TestSettings`], [`ModuliError`] |
//! | curves and tubes with crimp | [`centre_lines`], [`CentreLine`], [`tubes`], [`Tubes`] |
//!
//! A crossing has five unknowns: its position, and how much material of each of its two yarns has
//! passed it. The crate knows no obstacle and no file. Lengths are metres.

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod bend;
mod cut;
mod element;
mod error;
mod friction;
mod gravity;
mod inertia;
mod jam;
mod lines;
mod model;
mod moduli;
mod patch;
mod quads;
mod shear;
mod stretch;
mod term;
mod weave;
mod woven;
mod yarn;

pub use bend::{Bend, BendStart};
pub use element::{ArcLength, YarnElement};
pub use error::PatchError;
pub use gravity::Weight;
pub use inertia::{InertiaStart, SegmentInertia};
pub use jam::Jam;
pub use lines::{CentreLine, Tubes, centre_lines, tubes};
pub use model::{YarnEvent, YarnModel};
pub use moduli::{Moduli, ModuliError, Reading, Specimen, TestSettings, VirtualTest};
pub use patch::{Passing, Patch};
pub use quads::patch_of_quads;
pub use shear::Corner;
pub use stretch::{Stretch, StretchStart};
pub use weave::Weave;
pub use woven::Woven;
pub use yarn::{Contacts, Family, Yarn, YarnMaterial};
