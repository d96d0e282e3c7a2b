//! A conforming ribbon along the boundary (EB08, section 3.1): corners of triangles at boundary
//! vertices coincide, so that the outline is a curve.

use glam::DVec3;
use plisse_core::{Edges, Faces, Field, Id};

use crate::constraint::{Constraint, Rows};
use crate::element::CrMesh;

/// An interior edge along which two triangles coincide.
///
/// Both have the midpoint in common. If they agree in one end, they agree in the other: three
/// equations per edge, whichever ends lie on the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RibbonEdge {
    /// The edge.
    pub edge: Id<Edges>,
    /// `a₁, c₁, a₂, c₂`: of each face the other edge at the chosen end, and the one opposite it.
    pub nodes: [Id<Edges>; 4],
    /// The second face, one of whose distances follows from the others.
    pub second: Id<Faces>,
    /// The corner of the second face opposite the edge, which is the row of that distance.
    pub corner: usize,
}

/// Every interior edge with an end on the boundary, ascending. Seams whose sides have different
/// rest lengths cannot coincide and are left out.
#[must_use]
pub fn ribbon_edges(mesh: &CrMesh) -> Vec<RibbonEdge> {
    let topology = mesh.mesh();
    let touches = |edge: &plisse_core::Edge| edge.vertices.iter().any(|v| topology.is_boundary_vertex(*v));
    let of_edge = |(id, edge): (Id<Edges>, &plisse_core::Edge)| {
        let (first, second) = (edge.faces.0, edge.faces.1?);
        if !touches(edge) {
            return None;
        }
        let side = |face: Id<Faces>| {
            let edges = topology.face_edges()[face];
            let own = edges.iter().position(|e| *e == id)?;
            let at = mesh.corner_at(face, edge.vertices[0])?;
            Some((edges[3 - own - at], edges[at], own))
        };
        let ((a1, c1, own1), (a2, c2, own2)) = (side(first)?, side(second)?);
        let (one, other) = (mesh.lengths(first)[own1], mesh.lengths(second)[own2]);
        // Rounding of coordinates far from the origin.
        let gathered = (one - other).abs() > 1e-6 * one.max(other);
        (!gathered).then_some(RibbonEdge { edge: id, nodes: [a1, c1, a2, c2], second, corner: own2 })
    };
    topology.edges().iter().filter_map(of_edge).collect()
}

/// `((x_a₁ - x_c₁) - (x_a₂ - x_c₂))/h` for edges of the ribbon, with `h` the mean edge length.
#[derive(Clone, Debug)]
pub struct Ribbon {
    edges: Vec<RibbonEdge>,
    scale: f64,
}

/// Signs of the four midpoints.
const SIGNS: [f64; 4] = [1.0, -1.0, -1.0, 1.0];

impl Ribbon {
    /// The rows of these edges of the mesh.
    #[must_use]
    pub fn new(mesh: &CrMesh, edges: Vec<RibbonEdge>) -> Self {
        Self { edges, scale: 1.0 / mesh.mean_edge() }
    }
}

impl Constraint<Edges> for Ribbon {
    fn name(&self) -> &str {
        "conforming ribbon"
    }

    fn groups(&self) -> usize {
        self.edges.len()
    }

    fn nodes(&self, group: usize) -> &[Id<Edges>] {
        &self.edges[group].nodes
    }

    fn rows(&self, _: usize) -> usize {
        3
    }

    #[inline]
    fn evaluate(&self, group: usize, x: &Field<Edges, DVec3>, _: f64, out: &mut Rows<'_>) {
        let nodes = self.edges[group].nodes;
        let mut sum = DVec3::ZERO;
        for (node, sign) in nodes.into_iter().zip(SIGNS) {
            sum += x[node] * sign;
        }
        for (axis, direction) in DVec3::AXES.into_iter().enumerate() {
            out.set(axis, sum[axis] * self.scale);
            for (k, sign) in SIGNS.into_iter().enumerate() {
                out.add(axis, k, direction * (sign * self.scale));
            }
        }
    }

    fn describe(&self, group: usize) -> String {
        format!("the two sides of {}", self.edges[group].edge)
    }
}
