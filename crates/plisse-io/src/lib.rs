//! Files of plisse: meshes, caches and scene files. No other crate of plisse reads or writes their
//! formats.
//!
//! | what | items |
//! |---|---|
//! | files, whole or not at all | [`read_text`], [`read_bytes`], [`read_text_up_to`], [`read_bytes_up_to`], [`write_atomically`], [`append`], [`FileError`], [`WriteError`] |
//! | OBJ | [`Obj`], [`ObjFace`], [`ObjQuad`], [`ObjSurface`], [`write_obj`], [`ObjSource`], [`ObjPart`], [`ObjError`], [`ObjProblem`] |
//! | PC2 | [`write_pc2`], [`read_pc2`], [`PointCache`], [`Pc2Error`] |
//! | VTK | [`write_vtk`], [`VtkFrame`], [`VtkCellScalars`], [`write_vtk_series`] |
//! | scene files | [`scene_file`] |
//!
//! ```
//! use glam::DVec3;
//! use plisse_io::{write_obj, Obj, ObjPart, ObjSource};
//! let positions = [DVec3::ZERO, DVec3::X, DVec3::Y];
//! let parts = [ObjPart { name: "triangle", faces: &[[0, 1, 2]], ..ObjPart::default() }];
//! let path = std::env::temp_dir().join("plisse doctest triangle.obj");
//! write_obj(&path, &ObjSource { positions: &positions, parts: &parts })?;
//! assert_eq!(Obj::read(&path)?.positions, positions); // the same bits
//! # std::fs::remove_file(path)?;
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

mod file;
mod obj;
mod pc2;
pub mod scene_file;
mod vtk;
mod write_error;

pub use file::{
    FileError, append, read_bytes, read_bytes_up_to, read_text, read_text_up_to, write_atomically,
};
pub use obj::{Obj, ObjError, ObjFace, ObjPart, ObjProblem, ObjQuad, ObjSource, ObjSurface, write_obj};
pub use pc2::{Pc2Error, PointCache, read_pc2, write_pc2};
pub use vtk::{VtkCellScalars, VtkFrame, write_vtk, write_vtk_series};
pub use write_error::WriteError;
