//! What can be wrong with an OBJ file.

use plisse_core::MeshError;
use thiserror::Error;

use super::parse::{MAX_NAMES, MAX_VERTICES};
use crate::file::FileError;

/// Why an OBJ file was refused. Every message names the file and, where there is one, the line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ObjError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line that is wrong.
    #[error("{file}, line {line}: {problem}")]
    Line {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: u32,
        /// What is wrong with it.
        problem: ObjProblem,
    },
    /// A file without a single face.
    #[error("{file} has no faces (`f`): export the surface as polygons, not as points, curves or NURBS")]
    NoFaces {
        /// The file.
        file: String,
    },
    /// A face or a line that loses a corner when vertices are merged.
    #[error(
        "{file}, line {line}: welding vertices within {tolerance} m leaves nothing of this face or line; \
         choose a smaller distance"
    )]
    Weld {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: u32,
        /// Distance within which vertices are merged, m.
        tolerance: f64,
    },
    /// Triangles that are no mesh.
    #[error("{file}{} (faces and vertices counted from 0): {source}", listed(lines))]
    Mesh {
        /// The file.
        file: String,
        /// The lines of the faces in question, counted from 1.
        lines: Vec<u32>,
        /// What is wrong with the mesh.
        source: MeshError,
    },
}

/// What is wrong with a line of an OBJ file. Vertices are counted from 1, as the file does.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ObjProblem {
    /// A line that starts with something else than a keyword. Its text is not repeated: the file
    /// may be of another kind, and private.
    #[error("the line starts with no keyword of OBJ: check that this is an OBJ file, or remove the line")]
    Keyword,
    /// Too few or too many numbers.
    #[error("`{keyword}` takes {expected}, found {found}: give as many, or export the file again")]
    NumberCount {
        /// The keyword.
        keyword: &'static str,
        /// What belongs there.
        expected: &'static str,
        /// How many there were.
        found: usize,
    },
    /// A word where a number should be.
    #[error("`{word}` is not a number: write numbers like -1.25 or 3e-4")]
    Number {
        /// The word.
        word: String,
    },
    /// An infinite number, or none.
    #[error("`{word}` is not a finite number: repair the mesh before the export")]
    NotFinite {
        /// The number as written.
        word: String,
    },
    /// A word where the indices of a corner should be.
    #[error("`{word}` is not a corner: write v, v/vt, v//vn or v/vt/vn in whole numbers")]
    Index {
        /// The word.
        word: String,
    },
    /// The index 0.
    #[error("`{word}` has the index 0: OBJ counts from 1, or backwards from -1")]
    IndexZero {
        /// The word.
        word: String,
    },
    /// An index past the end of the file's list.
    #[error("index {index} is out of range, the file has {count} `{keyword}` in all: export the file again")]
    IndexOutOfRange {
        /// The index, counted from 1.
        index: i64,
        /// "v" or "vt".
        keyword: &'static str,
        /// How many there are.
        count: usize,
    },
    /// A negative index that reaches back before the first element.
    #[error("index {index} is out of range, only {count} `{keyword}` stand above: export the file again")]
    RelativeOutOfRange {
        /// The index, negative.
        index: i64,
        /// "v" or "vt".
        keyword: &'static str,
        /// How many there are above.
        count: usize,
    },
    /// Too few corners.
    #[error("`{keyword}` needs at least {expected} vertices, found {found}: remove the line")]
    Corners {
        /// "f" or "l".
        keyword: &'static str,
        /// How many it takes.
        expected: usize,
        /// How many there were.
        found: usize,
    },
    /// A face or a segment that uses a vertex twice.
    #[error("`{keyword}` uses vertex {vertex} twice: remove the line or merge the vertices properly")]
    RepeatedVertex {
        /// "f" or "l".
        keyword: &'static str,
        /// The vertex, counted from 1.
        vertex: i64,
    },
    /// A face with texture coordinates on some of its corners.
    #[error("some corners of the face have a `vt` and some have none: give all of them one, or none")]
    CornerWithoutUv,
    /// A face without texture coordinates among others that have them.
    #[error(
        "the face has no `vt`, while the face on line {other} has: unwrap the whole surface, or export it \
         without UVs"
    )]
    FaceWithoutUv {
        /// The line of the first face with texture coordinates, counted from 1.
        other: u32,
    },
    /// A polygon that a fan of triangles does not fill.
    #[error("the face has {corners} corners and is not clearly convex: triangulate on export")]
    NotConvex {
        /// How many corners.
        corners: usize,
    },
    /// A face that is no quad, where quads are needed.
    #[error("the face has {corners} corners: a patch of yarns needs quads")]
    NoQuad {
        /// Number of corners.
        corners: usize,
    },
    /// A polygon without area.
    #[error("the face has {corners} corners and no area: remove it, or triangulate on export")]
    NoArea {
        /// How many corners.
        corners: usize,
    },
    /// A vertex that no face uses.
    #[error(
        "vertex {vertex} belongs to no face ({count} such vertices in all): delete loose vertices before \
         the export"
    )]
    UnreferencedVertex {
        /// The first one, counted from 1.
        vertex: usize,
        /// How many there are.
        count: usize,
    },
    /// More group names on one line than a sane file has.
    #[error("`g` has {found} names, at most {MAX_NAMES} are read: split the line")]
    TooManyNames {
        /// How many.
        found: usize,
    },
    /// More vertices than can be numbered.
    #[error("more than {MAX_VERTICES} `{keyword}`: split the file")]
    TooLarge {
        /// "v" or "vt".
        keyword: &'static str,
    },
}

/// ", line 3" or ", lines 3, 4 and 7"; nothing without lines.
fn listed(lines: &[u32]) -> String {
    match lines {
        [] => String::new(),
        [only] => format!(", line {only}"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(u32::to_string).collect();
            format!(", lines {} and {last}", first.join(", "))
        }
    }
}
