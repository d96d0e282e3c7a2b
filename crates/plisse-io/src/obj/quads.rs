//! The faces of an OBJ file as quads.

use super::error::{ObjError, ObjProblem};
use super::{Obj, ObjFace};

/// A quad of an OBJ file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjQuad {
    /// Its vertices, counted from 0, in the order of the file.
    pub corners: [u32; 4],
    /// The line it stands on, counted from 1.
    pub line: u32,
}

impl Obj {
    /// The faces as quads, in the order of the file.
    ///
    /// # Errors
    /// [`ObjError`] if there is no face, or with the line of a face that has another number of
    /// corners.
    ///
    /// ```
    /// use plisse_io::Obj;
    /// let corners = "v 0 0 0\nv 3 0 0\nv 2 1 0\nv 0 1 0\n";
    /// let quads = Obj::parse(&format!("{corners}f 4 1 2 3"), "a.obj")?.quads()?;
    /// assert_eq!((quads[0].corners, quads[0].line), ([3, 0, 1, 2], 5));
    /// let refused = Obj::parse(&format!("{corners}f 1 2 3"), "a.obj")?.quads().unwrap_err();
    /// assert_eq!(refused.to_string(), "a.obj, line 5: the face has 3 corners: a patch of yarns needs quads");
    /// # Ok::<(), plisse_io::ObjError>(())
    /// ```
    pub fn quads(&self) -> Result<Vec<ObjQuad>, ObjError> {
        if self.faces.is_empty() {
            return Err(ObjError::NoFaces { file: self.name.clone() });
        }
        self.faces.chunk_by(|a, b| a.line == b.line).map(|polygon| self.quad(polygon)).collect()
    }

    /// The quad of the triangles on one line.
    fn quad(&self, polygon: &[ObjFace]) -> Result<ObjQuad, ObjError> {
        let line = polygon[0].line;
        let [first, second] = polygon else {
            let problem = ObjProblem::NoQuad { corners: polygon.len() + 2 };
            return Err(ObjError::Line { file: self.name.clone(), line, problem });
        };
        let [a, b, c] = first.corners;
        let mut corners = [a, b, c, second.corners[2]];
        // The fan starts at the apex.
        corners.rotate_right(first.apex as usize % 4);
        Ok(ObjQuad { corners, line })
    }
}
