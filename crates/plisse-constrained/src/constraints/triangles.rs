//! Triangles that do not stretch: three distances between midpoints each (EB08, eq 1).

use std::f64::consts::FRAC_1_SQRT_2;

use glam::DVec3;
use plisse_core::{Edges, Faces, Field, Id};

use super::ribbon::RibbonEdge;
use super::woven::{Compliance, hard_thread};
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
        Self::among(mesh, ribbon, |_| Compliance::default())
    }

    /// The same for the faces that do not give way.
    pub(crate) fn among(
        mesh: &CrMesh,
        ribbon: &[RibbonEdge],
        compliance: impl Fn(Id<Faces>) -> Compliance,
    ) -> Self {
        let mut dropped = Field::<Faces, [bool; 3]>::filled(mesh.mesh().face_count(), [false; 3]);
        for edge in ribbon {
            let first = mesh.mesh().edges()[edge.edge].faces.0;
            let own = mesh.mesh().face_edges()[first].iter().position(|e| *e == edge.edge);
            // A neighbour that gives way along the edge does not hold its length.
            let holds = |own| hard_thread(mesh.gradients(first)[own], compliance(first)).is_some();
            dropped[edge.second][edge.corner] = own.is_some_and(holds);
        }
        let hard = mesh.mesh().face_edges().iter().filter(|(id, _)| compliance(*id).is_hard());
        let faces = hard.filter_map(|(id, edges)| {
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

    fn tension(&self, group: usize, multipliers: &[f64], out: &mut [f64]) {
        let face = &self.faces[group];
        let mut stress = [0.0; 3];
        for (&(k, weight), multiplier) in face.rows.iter().zip(multipliers) {
            stress[usize::from(k)] = -multiplier * weight;
        }
        pulling(stress, out);
    }

    fn is_curved(&self) -> bool {
        true
    }

    fn describe(&self, group: usize) -> String {
        format!("the lengths of {}", self.faces[group].id)
    }
}

/// Orthonormal, and orthogonal to (1, 1, 1).
const BASIS: [[f64; 3]; 2] = [
    [FRAC_1_SQRT_2, -FRAC_1_SQRT_2, 0.0],
    [0.408_248_290_463_863, 0.408_248_290_463_863, -0.816_496_580_927_726_1],
];

/// The positive part of `Σ sₖ (eᵢ - eⱼ)(eᵢ - eⱼ)ᵀ`, the pairs `i, j` being those without `k`: what
/// springs of these forces per length do across their direction. A triangle can pull with one
/// spring pushing, as under shear; it is the whole that counts.
fn pulling(springs: [f64; 3], out: &mut [f64]) {
    let mut m = [0.0; 3];
    for (k, s) in springs.into_iter().enumerate() {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let [a, b] = BASIS.map(|v| v[i] - v[j]);
        m[0] += s * a * a;
        m[1] += s * a * b;
        m[2] += s * b * b;
    }
    // Eigenvalues of [[m0, m1], [m1, m2]].
    let (mean, half) = (0.5 * (m[0] + m[2]), 0.5 * (m[0] - m[2]));
    let radius = half.hypot(m[1]);
    let (high, low) = (mean + radius, mean - radius);
    if high <= 0.0 {
        return;
    }
    if low < 0.0 {
        // high v vᵀ with v vᵀ = (I + (m - mean)/radius)/2; the radius is above zero here.
        let (c, s) = (half / radius, m[1] / radius);
        m = [0.5 * high * (1.0 + c), 0.5 * high * s, 0.5 * high * (1.0 - c)];
    }
    for i in 0..3 {
        for j in 0..3 {
            let [a, b] = BASIS.map(|v| v[i]);
            let [c, d] = BASIS.map(|v| v[j]);
            out[3 * i + j] += m[0] * a * c + m[1] * (a * d + b * c) + m[2] * b * d;
        }
    }
}
