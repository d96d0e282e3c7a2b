//! Files of plisse: meshes, caches, pictures, plots and scene files. No other crate of plisse touches files.

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod canvas;
mod file;
mod font;
mod obj;
mod pc2;
mod plot;
mod render;
pub mod scene_file;
mod ticks;
mod vtk;
mod write_error;

pub use file::{FileError, read_bytes, read_text, write_atomically};
pub use obj::{Obj, ObjError, ObjFace, ObjPart, ObjProblem, ObjSource, ObjSurface, write_obj};
pub use pc2::{Pc2Error, PointCache, read_pc2, write_pc2};
pub use plot::{Curve, Plot};
pub use render::{
    Background, Camera, ColourMap, Drawing, Ground, Look, NO_VALUE, Part, Picture, RenderError,
    RenderOptions, Rgb, Surface, Wires, render, value_range,
};
pub use vtk::{VtkCellScalars, VtkFrame, write_vtk, write_vtk_series};
pub use write_error::WriteError;
