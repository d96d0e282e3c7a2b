//! Files of plisse: meshes, caches, pictures, plots and scene files. No other crate of plisse touches files.

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod file;
mod obj;
mod pc2;
pub mod scene_file;
mod vtk;
mod write_error;

pub use file::{FileError, read_bytes, read_text, write_atomically};
pub use obj::{Obj, ObjError, ObjFace, ObjPart, ObjProblem, ObjSource, Surface, write_obj};
pub use pc2::{Pc2Error, PointCache, read_pc2, write_pc2};
pub use vtk::{VtkCellScalars, VtkFrame, write_vtk, write_vtk_series};
pub use write_error::WriteError;
