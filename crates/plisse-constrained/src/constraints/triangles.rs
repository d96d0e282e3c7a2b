//! Triangles that do not stretch: three distances between midpoints each (EB08, eq 1).

use glam::DVec3;
use plisse_core::{Edges, Faces, Field, Id};

use super::ribbon::RibbonEdge;
use crate::constraint::{Constraint, Rows};
use crate::element::CrMesh;

/// `cᵢⱼ = (|xᵢ - xⱼ|² - d²)/(2 d²)` for the pairs of midpoints of every face, with `d` half the
/// rest length of the third edge: about the relative error of a length. Row `k` of a face is the
/// pair without edge `k`.
#[derive(Clone, Debug)]
pub struct RigidTriangles {
    faces: Vec<Face>,
}

#[derive(Clone, Debug)]
struct Face {
    id: Id<Faces>,
    edges: [Id<Edges>; 3],
    /// Which rows are asked for, and `1/d²` of each.
    rows: [(u8, f64); 3],
    count: u8,
}

impl RigidTriangles {
    /// All three distances of every face, but for those that follow from the rows of a
    /// [`Ribbon`](crate::Ribbon) over these edges and the distances of the neighbour: with both the
    /// matrix of the projection is singular.
    #[must_use]
    pub fn new(mesh: &CrMesh, ribbon: &[RibbonEdge]) -> Self {
        let mut dropped = Field::<Faces, [bool; 3]>::filled(mesh.mesh().face_count(), [false; 3]);
        for edge in ribbon {
            dropped[edge.second][edge.corner] = true;
        }
        let faces = mesh.mesh().face_edges().iter().filter_map(|(id, edges)| {
            let mut rows = [(0, 0.0); 3];
            let mut count = 0;
            for k in (0..3).filter(|k| !dropped[id][*k]) {
                let d = 0.5 * mesh.lengths(id)[k];
                rows[count] = (k as u8, 1.0 / (d * d));
                count += 1;
            }
            (count > 0).then_some(Face { id, edges: *edges, rows, count: count as u8 })
        });
        Self { faces: faces.collect() }
    }
}

impl Constraint<Edges> for RigidTriangles {
    fn name(&self) -> &str {
        "rigid triangles"
    }

    fn groups(&self) -> usize {
        self.faces.len()
    }

    fn nodes(&self, group: usize) -> &[Id<Edges>] {
        &self.faces[group].edges
    }

    fn rows(&self, group: usize) -> usize {
        usize::from(self.faces[group].count)
    }

    #[inline]
    fn evaluate(&self, group: usize, x: &Field<Edges, DVec3>, _: f64, out: &mut Rows<'_>) {
        let face = &self.faces[group];
        for (row, &(k, weight)) in face.rows[..usize::from(face.count)].iter().enumerate() {
            let (i, j) = ((usize::from(k) + 1) % 3, (usize::from(k) + 2) % 3);
            let u = x[face.edges[i]] - x[face.edges[j]];
            out.set(row, 0.5 * (u.length_squared() * weight - 1.0));
            out.add(row, i, u * weight);
            out.add(row, j, u * -weight);
        }
    }

    fn describe(&self, group: usize) -> String {
        format!("the lengths of {}", self.faces[group].id)
    }
}
