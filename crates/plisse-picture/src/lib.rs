//! Pictures of plisse: surfaces and wires drawn by the CPU, plots, PNG and SVG files.
//!
//! | what | items |
//! |---|---|
//! | pictures | [`render`], [`Drawing`], [`Part`], [`Surface`], [`Wires`], [`Look`], [`Camera`], [`RenderOptions`], [`Picture`] |
//! | films | [`Film`], [`OtherSize`] |
//! | plots | [`Plot`], [`Curve`], [`Mark`], [`Figure`] |
//!
//! ```
//! use glam::DVec3;
//! use plisse_picture::{Camera, Drawing, Part, RenderOptions, Surface, render};
//! let positions = [DVec3::ZERO, DVec3::X, DVec3::Y];
//! let cloth = Part::Surface(Surface::cloth(&positions, &[[0, 1, 2]]));
//! let options = RenderOptions { size: [64, 48], ..RenderOptions::default() };
//! let camera =
//!     Camera::framing(positions, Camera::three_quarter(DVec3::Z), DVec3::Z, options.aspect())?;
//! let picture = render(&Drawing { parts: vec![cloth] }, &camera, &options)?;
//! assert_eq!((picture.width(), picture.height()), (64, 48));
//! # Ok::<(), plisse_picture::RenderError>(())
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod canvas;
mod film;
mod font;
mod plot;
mod render;
mod ticks;

pub use film::{Film, OtherSize};
pub use plot::{Curve, Figure, Mark, Plot};
pub use render::{
    Background, Camera, ColourMap, Drawing, Ground, Look, NO_VALUE, Part, Picture, RenderError,
    RenderOptions, Rgb, Surface, Wires, render, value_range,
};
