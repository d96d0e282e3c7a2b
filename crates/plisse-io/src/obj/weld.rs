//! Units and welding: what most exported files need before they are one surface in metres.

use glam::DVec3;
use plisse_core::coincident;

use super::Obj;
use super::error::ObjError;

impl Obj {
    /// With every position multiplied by a factor: metres per unit of the file. Texture coordinates
    /// stay.
    #[must_use]
    pub fn scaled(mut self, metres: f64) -> Self {
        self.positions.iter_mut().for_each(|x| *x *= metres);
        self
    }

    /// The diagonal of the box around all vertices; zero without vertices.
    #[must_use]
    pub fn size(&self) -> f64 {
        let low = self.positions.iter().fold(DVec3::INFINITY, |low, x| low.min(*x));
        let high = self.positions.iter().fold(DVec3::NEG_INFINITY, |high, x| high.max(*x));
        if self.positions.is_empty() { 0.0 } else { (high - low).length() }
    }

    /// With vertices at most `tolerance` metres apart merged into the first of them.
    ///
    /// Exporters often give every face vertices of its own, which makes loose triangles of a
    /// surface. Corners keep their own texture coordinates, so that what had different ones becomes
    /// a seam. The vertices that stay keep their order and are numbered anew.
    ///
    /// # Errors
    /// [`ObjError::Weld`] for a face or a segment that would lose a corner: the tolerance is too
    /// large.
    ///
    /// ```
    /// use plisse_io::Obj;
    /// let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 4 5 6";
    /// let loose = Obj::parse(text, "loose.obj")?;
    /// let one = loose.clone().welded(1e-6 * loose.size())?;
    /// assert_eq!((loose.positions.len(), one.positions.len()), (6, 4));
    /// assert_eq!(one.faces[1].corners, [0, 2, 3]);
    /// assert!(loose.scaled(1e-3).welded(0.5).is_err());
    /// # Ok::<(), plisse_io::ObjError>(())
    /// ```
    pub fn welded(mut self, tolerance: f64) -> Result<Self, ObjError> {
        let first = coincident(&self.positions, tolerance);
        let is_kept = |v: usize| first[v] as usize == v;
        let mut next = 0;
        // The new number of each vertex that is kept.
        let number: Vec<u32> = (0..first.len()).map(|v| (next, next += u32::from(is_kept(v))).0).collect();
        // The fields are open to all: an index out of range stays out of range, and is refused
        // later.
        let new = |v: u32| first.get(v as usize).map_or(u32::MAX, |kept| number[*kept as usize]);
        let refuse = |line| ObjError::Weld { file: self.name.clone(), line, tolerance };
        for face in &mut self.faces {
            face.corners = face.corners.map(new);
            let [a, b, c] = face.corners;
            if a == b || b == c || c == a {
                return Err(refuse(face.line));
            }
        }
        for (index, segment) in self.segments.iter_mut().enumerate() {
            *segment = segment.map(new);
            if segment[0] == segment[1] {
                return Err(refuse(self.segment_lines.get(index).copied().unwrap_or(0)));
            }
        }
        for group in self.groups.values_mut() {
            group.iter_mut().for_each(|v| *v = new(*v));
            group.sort_unstable();
            group.dedup();
        }
        let mut v = 0..;
        self.positions.retain(|_| v.next().is_some_and(is_kept));
        let mut v = 0..;
        self.position_lines.retain(|_| v.next().is_some_and(|v| v >= first.len() || is_kept(v)));
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_segments_and_lines_follow() {
        let text = "g a\nv 0 0 0\nv 1 0 0\nv 1 0 1e-9\nv 2 0 0\nl 1 2\ng b\nl 3 4\n";
        let obj = Obj::parse(text, "wires.obj").unwrap();
        let welded = obj.clone().welded(1e-6).unwrap();
        assert_eq!(welded.segments, [[0, 1], [1, 2]]);
        assert_eq!(welded.position_lines, [2, 3, 5]);
        assert_eq!(
            (welded.groups["a"].as_slice(), welded.groups["b"].as_slice()),
            (&[0, 1][..], &[1, 2][..])
        );
        assert_eq!(
            obj.welded(3.0).unwrap_err().to_string(),
            "wires.obj, line 6: welding vertices within 3 m leaves nothing of this face or line; choose a smaller distance"
        );
    }

    #[test]
    fn seams_keep_the_coordinates_of_both_sides() {
        let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 0 0\nv 1 1 0\nv 0 1 0\n\
                    vt 0 0\nvt 1 0\nvt 1 1\nvt 5 5\nvt 6 6\nvt 5 6\nf 1/1 2/2 3/3\nf 4/4 5/5 6/6";
        let surface = Obj::parse(text, "seam.obj").unwrap().welded(0.0).unwrap().into_surface().unwrap();
        assert_eq!((surface.mesh.vertex_count(), surface.mesh.edge_count()), (4, 5));
        let uv = surface.uv.unwrap();
        assert_eq!((uv.as_slice()[0][0].x, uv.as_slice()[1][0].x), (0.0, 5.0));
    }
}
