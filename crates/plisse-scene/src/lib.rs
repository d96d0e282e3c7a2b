//! Whole scenes of plisse: what a material means, where bodies are, what holds and touches them.
//!
//! | module | what | feature |
//! |---|---|---|
//! | [`scene`] | bodies, materials, pins, obstacles, scenes in code | always |
//! | [`mod@file`] | scenes from files | `file` (default) |
//!
//! ```
//! use plisse_scene::scene::{Cloth, Material, Pick, Scene};
//! let towel = Cloth::sheet([8, 8], [0.5, 0.5])?.material(Material::cotton()).pin(Pick::group("top"));
//! let mut scene = Scene::builder().cloth(towel).build()?;
//! scene.step()?;
//! let lowest = scene.state().x().as_slice().iter().map(|x| x.z).fold(0.0, f64::min);
//! assert!(lowest < 0.0);
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

#[cfg(feature = "file")]
pub mod file;
pub mod scene;
