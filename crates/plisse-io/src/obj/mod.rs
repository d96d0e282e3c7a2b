//! Wavefront OBJ: what a file holds.

mod error;
mod parse;
mod quads;
mod statement;
mod surface;
mod triangulate;
mod weld;
mod write;

use std::collections::BTreeMap;
use std::path::Path;

use glam::{DVec2, DVec3};

pub use error::{ObjError, ObjProblem};
pub use quads::ObjQuad;
pub use surface::ObjSurface;
pub use write::{ObjPart, ObjSource, write_obj};

use crate::file::read_bytes_up_to;

/// Most bytes of an OBJ file, 1 GiB: ten times what a million vertices take.
const LARGEST: u64 = 1 << 30;

/// A triangle of an OBJ file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjFace {
    /// Its vertices, counted from 0.
    pub corners: [u32; 3],
    /// Its texture coordinates, counted from 0; `None` if the face has none.
    pub uv: Option<[u32; 3]>,
    /// The corner of its polygon that it starts with, counted from 0 in the order of the file.
    pub apex: u32,
    /// The line it stands on, counted from 1. Triangles of one polygon share a line.
    pub line: u32,
}

/// The vertices, triangles and segments of an OBJ file, with the lines they stand on.
///
/// Polygons come as triangles: quads are split along the shorter diagonal, larger convex polygons
/// into a fan; polygons that are not convex are refused. Normals, materials, free-form curves and
/// whatever else a cloth does not need are skipped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Obj {
    /// Name of the file, for messages.
    pub name: String,
    /// Vertices (`v`). OBJ has no unit; plisse takes metres.
    pub positions: Vec<DVec3>,
    /// The line of each vertex, counted from 1.
    pub position_lines: Vec<u32>,
    /// Texture coordinates (`vt`). plisse takes them as material coordinates in metres.
    pub uv: Vec<DVec2>,
    /// Triangles (`f`), in the order of the file.
    pub faces: Vec<ObjFace>,
    /// Pieces of polylines (`l`), in the order of the file: two vertices each, counted from 0.
    pub segments: Vec<[u32; 2]>,
    /// The line of each segment, counted from 1.
    pub segment_lines: Vec<u32>,
    /// For each group (`g`) and each object (`o`) the vertices of its faces and polylines:
    /// ascending, each once, counted from 0. Groups without any are left out. A new object ends the
    /// groups before it.
    pub groups: BTreeMap<String, Vec<u32>>,
}

impl Obj {
    /// Reads the text of an OBJ file. `name` is the name of the file in messages.
    ///
    /// # Errors
    /// [`ObjError::Line`] for the first line that cannot be understood.
    ///
    /// ```
    /// use plisse_io::Obj;
    /// let obj = Obj::parse("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\ng sheet\nf 1 2 3 4", "quad.obj")?;
    /// assert_eq!(obj.faces.len(), 2);
    /// assert_eq!(obj.groups["sheet"], [0, 1, 2, 3]);
    ///
    /// let error = Obj::parse("v 0 0 zero", "quad.obj").unwrap_err();
    /// assert_eq!(error.to_string(),
    ///     "quad.obj, line 1: `zero` is not a number: write numbers like -1.25 or 3e-4");
    /// # Ok::<(), plisse_io::ObjError>(())
    /// ```
    pub fn parse(text: &str, name: &str) -> Result<Self, ObjError> {
        parse::parse(text, name)
    }

    /// Reads an OBJ file of at most 1 GiB.
    ///
    /// # Errors
    /// [`ObjError::File`] if there is no such text, [`ObjError::Line`] for the first line that
    /// cannot be understood.
    pub fn read(path: &Path) -> Result<Self, ObjError> {
        // Comments and names may be in any encoding; numbers are ASCII in all of them.
        let text = String::from_utf8_lossy(&read_bytes_up_to(path, LARGEST)?).into_owned();
        Self::parse(text.trim_start_matches('\u{feff}'), &path.display().to_string())
    }

    /// The triangles as a mesh with positions, material coordinates and groups. Segments are left
    /// behind.
    ///
    /// Where all faces have texture coordinates, they become material coordinates per corner, so
    /// the two sides of a seam keep their own.
    ///
    /// # Errors
    /// [`ObjError`] if there is no face, if only some faces have texture coordinates, if a vertex
    /// has no face, or if the triangles are no mesh; with the lines in question.
    pub fn into_surface(self) -> Result<ObjSurface, ObjError> {
        surface::from_obj(self)
    }
}
