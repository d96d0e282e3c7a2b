//! Loop's subdivision of a mesh and of values on its vertices.

use std::f64::consts::{FRAC_PI_4, PI};
use std::ops::{Add, Mul, Sub};

use glam::DVec3;
use plisse_core::{Faces, Field, Id, MeshError, TriMesh, Vertices};

use crate::complex::KeptComplex;
use crate::error::WrinkleError;

/// How a vertex moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// Not at all.
    Keep,
    /// Along the boundary: 1/8, 3/4, 1/8.
    Boundary,
    /// By this weight towards each of its neighbours.
    Interior(f64),
}

impl Rule {
    /// What the other end of an edge weighs.
    pub(super) fn weight(self, on_boundary: bool) -> f64 {
        match self {
            Self::Keep => 0.0,
            Self::Boundary => {
                if on_boundary {
                    0.125
                } else {
                    0.0
                }
            }
            Self::Interior(beta) => beta,
        }
    }
}

/// One level of Loop's subdivision (Loop87): each triangle becomes four.
///
/// ```text
///             2                  vertex v of the coarse mesh keeps its number,
///            / \                 the point on edge e is vertex V + e,
///           / 2 \                face f becomes faces 4 f to 4 f + 3
///        e1 ----- e0
///         / \ 3 / \
///        / 0 \ / 1 \
///       0 --- e2 ---- 1
/// ```
pub(super) struct Subdivision<'a> {
    mesh: &'a TriMesh,
    pub(super) rules: Field<Vertices, Rule>,
}

impl<'a> Subdivision<'a> {
    pub(super) fn new(mesh: &'a TriMesh, sharp: &Field<Vertices, bool>) -> Self {
        let rules = Field::from_fn(mesh.vertex_count(), |v| {
            let valence = mesh.vertex_edges(v).len();
            if sharp[v] || valence == 0 {
                Rule::Keep
            } else if mesh.is_boundary_vertex(v) {
                Rule::Boundary
            } else if valence == 3 {
                Rule::Interior(3.0 / 16.0)
            } else {
                Rule::Interior(3.0 / (8.0 * valence as f64))
            }
        });
        Self { mesh, rules }
    }

    /// The triangles.
    pub(super) fn refine_mesh(&self) -> Result<TriMesh, MeshError> {
        let mesh = self.mesh;
        let count = mesh.vertex_count();
        let mut faces = Vec::with_capacity(4 * mesh.face_count());
        for (face, corners) in mesh.faces().iter() {
            let middle = mesh.face_edges()[face].map(|e| count as u32 + e.get());
            for i in 0..3 {
                faces.push([corners[i].get(), middle[(i + 2) % 3], middle[(i + 1) % 3]]);
            }
            faces.push(middle);
        }
        TriMesh::with_isolated_vertices(count + mesh.edge_count(), &faces)
    }

    /// Values on the vertices of the finer mesh. All weights are positive and sum to one.
    pub(super) fn refine<T>(&self, values: &Field<Vertices, T>) -> Field<Vertices, T>
    where
        T: Copy + Add<Output = T> + Sub<Output = T> + Mul<f64, Output = T>,
    {
        let mesh = self.mesh;
        let mut fine = Vec::with_capacity(mesh.vertex_count() + mesh.edge_count());
        for v in mesh.vertices() {
            let mut value = values[v];
            for edge in mesh.vertex_edges(v) {
                let edge = &mesh.edges()[*edge];
                let weight = self.rules[v].weight(edge.is_boundary());
                let other = edge.vertices[usize::from(edge.vertices[0] == v)];
                value = value + (values[other] - values[v]) * weight;
            }
            fine.push(value);
        }
        for (id, edge) in mesh.edges().iter() {
            let ends = edge.vertices.map(|v| values[v]);
            let sides = [Some(edge.faces.0), edge.faces.1].map(|f| mesh.opposite_vertex(f?, id));
            fine.push(match sides {
                [Some(left), Some(right)] => {
                    (ends[0] + ends[1]) * 0.375 + (values[left] + values[right]) * 0.125
                }
                _ => (ends[0] + ends[1]) * 0.5,
            });
        }
        Field::from_vec(fine)
    }
}

/// Boundary vertices whose angle differs from a straight line by more than 45 degrees. Angles are
/// those of the base: one that is folded flat at its boundary has other corners than its pattern.
pub(super) fn boundary_corners(mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Field<Vertices, bool> {
    let mut angles = Field::filled(mesh.vertex_count(), 0.0);
    for (_, corners) in mesh.faces().iter() {
        for i in 0..3 {
            let [a, b, c] = [0, 1, 2].map(|k| x[corners[(i + k) % 3]]);
            angles[corners[i]] += angle(b - a, c - a);
        }
    }
    Field::from_fn(mesh.vertex_count(), |v| {
        let off: f64 = angles[v] - PI;
        mesh.is_boundary_vertex(v) && off.abs() > FRAC_PI_4
    })
}

/// Vertices where fans of faces touch in a point: no rule fits them.
pub(super) fn pinched(mesh: &TriMesh) -> Result<Field<Vertices, bool>, WrinkleError> {
    let whole: Field<Faces, bool> = Field::filled(mesh.face_count(), true);
    let mut pinched = Field::filled(mesh.vertex_count(), false);
    // Nodes are in the order of their vertices.
    for pair in KeptComplex::new(mesh, &whole)?.node_vertices().as_slice().windows(2) {
        if pair[0] == pair[1] {
            pinched[pair[0]] = true;
        }
    }
    Ok(pinched)
}

fn angle(a: DVec3, b: DVec3) -> f64 {
    a.cross(b).length().atan2(a.dot(b))
}

/// The gradient in space of a function that is linear on a triangle, from its differences along the
/// edges 01 and 02; zero on a triangle without area.
pub(super) fn gradient(x: [DVec3; 3], differences: [f64; 2]) -> DVec3 {
    let (a, b) = (x[1] - x[0], x[2] - x[0]);
    let normal = a.cross(b);
    let square = normal.length_squared();
    // Below this the height of the triangle is what rounding left.
    if square > 1e-24 * a.length_squared() * b.length_squared() {
        (b.cross(normal) * differences[0] + normal.cross(a) * differences[1]) / square
    } else {
        DVec3::ZERO
    }
}

/// The positions of the corners of a face.
pub(super) fn corners(mesh: &TriMesh, x: &Field<Vertices, DVec3>, face: Id<Faces>) -> [DVec3; 3] {
    mesh.faces()[face].map(|v| x[v])
}
