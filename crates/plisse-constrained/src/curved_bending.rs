//! Bending of sheets that are curved or folded at rest, beyond EB08.
//!
//! Row `e` of the stiffness matrix of the element is `lₑ x = T₁ + T₂`, with `T = |e| F ν` of both
//! faces: their edge length times the image of the outward conormal `ν`. If both hinge on the edge
//! with the angle `θ` (positive in a valley), then with `N = |e| n` and their normals `n`
//!
//! `T₁ + T₂ = -2 |e| sin(θ/2) w`, `N₁ + N₂ = 2 |e| cos(θ/2) w`, with a unit vector `w`.
//!
//! So `d = cos(θ₀/2) (T₁ + T₂) + sin(θ₀/2) (N₁ + N₂)` has the length `2 |e| sin(|θ - θ₀|/2)`, and
//!
//! `E = k/2 Σₑ |dₑ|²/Aₑ`
//!
//! is the energy of the flat sheet measured from the rest angle `θ₀`; for `θ₀ = 0` it is that of
//! [`EdgeBending`](crate::EdgeBending). The normal is a product, `n = 2 (m₁ - m₀) × (m₂ - m₀)/A`
//! with the midpoints `m`, so that the energy is a polynomial of degree four.

use glam::{DMat3, DVec3};
use plisse_core::range::limit_vector;
use plisse_core::{Blocks, Edges, Element, Id, Psd, saturate};
use plisse_system::ElementTerm;

use crate::element::CrMesh;

/// Bending of one interior edge from its rest angle.
///
/// ```text
///        1 ---- .          nodes: 0 the edge itself, 1 and 2 the other edges of its first face,
///       / 2    /           3 and 4 those of its second face, each in the order of the face
///      .------.  0
///       \ 3    \ 4
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvedEdge {
    nodes: [Id<Edges>; 5],
    /// `T₁ + T₂ = Σ wⱼ xⱼ`.
    weights: [f64; 5],
    faces: [Normal; 2],
    cos: f64,
    sin: f64,
    /// `k/Aₑ`, N/m³ times m: J/m².
    stiffness: f64,
}

/// `N` of a face.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Normal {
    /// Where the edges of the face are among the five nodes.
    places: [u8; 3],
    /// `2 |e|/A`, 1/m.
    factor: f64,
}

impl Normal {
    fn sides(&self, x: &[DVec3; 5]) -> [DVec3; 2] {
        let [m0, m1, m2] = self.places.map(|place| x[usize::from(place)]);
        [m1 - m0, m2 - m0].map(|side| limit_vector(side, FARTHEST))
    }
}

/// Sides beyond this, in m, count as this long: products of four stay within range.
const FARTHEST: f64 = 1e60;

/// Rest angles below this are flat, rad.
pub const FLAT: f64 = 1e-9;

impl CurvedEdge {
    /// The bending of an interior edge with a rigidity in J and a rest angle in rad, in the sense
    /// of [`hinge_angle`](plisse_core::hinge_angle). None for an edge of the boundary.
    #[must_use]
    pub fn new(mesh: &CrMesh, edge: Id<Edges>, rigidity: f64, angle: f64) -> Option<Self> {
        let topology = mesh.mesh();
        let (first, Some(second)) = topology.edges()[edge].faces else { return None };
        let (mut nodes, mut weights) = ([edge; 5], [0.0; 5]);
        let mut count = 1;
        let faces = [first, second].map(|face| {
            let (edges, gradients) = (topology.face_edges()[face], mesh.gradients(face));
            let own = edges.iter().position(|other| *other == edge).unwrap_or(0);
            let places = [0, 1, 2].map(|k| {
                let place = if k == own {
                    0
                } else {
                    nodes[count] = edges[k];
                    count += 1;
                    count - 1
                };
                weights[place] += mesh.area(face) * gradients[own].dot(gradients[k]);
                place as u8
            });
            Normal { places, factor: 2.0 * mesh.lengths(face)[own] / mesh.area(face) }
        });
        let stiffness = 3.0 * rigidity / (mesh.area(first) + mesh.area(second));
        let (sin, cos) = (0.5 * angle).sin_cos();
        Some(Self { nodes, weights, faces, cos, sin, stiffness })
    }

    /// The vector `d`, in m.
    fn bent(&self, x: &[DVec3; 5]) -> DVec3 {
        let flat: DVec3 = (1..5).map(|j| limit_vector(x[j] - x[0], FARTHEST) * self.weights[j]).sum();
        let normals: DVec3 = self
            .faces
            .iter()
            .map(|face| {
                let [a, b] = face.sides(x);
                a.cross(b) * face.factor
            })
            .sum();
        flat * self.cos + normals * self.sin
    }

    /// `∂d/∂xⱼ`.
    fn jacobian(&self, x: &[DVec3; 5]) -> [DMat3; 5] {
        let mut out = self.weights.map(|weight| DMat3::from_diagonal(DVec3::splat(weight * self.cos)));
        for face in &self.faces {
            let [a, b] = face.sides(x).map(|side| cross_matrix(side) * (face.factor * self.sin));
            for (place, part) in face.places.into_iter().zip([b - a, -b, a]) {
                out[usize::from(place)] += part;
            }
        }
        out
    }
}

/// `[v]×`, the matrix of `w ↦ v × w`.
fn cross_matrix(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}

impl Element<5> for CurvedEdge {
    type Space = Edges;

    fn nodes(&self) -> [Id<Edges>; 5] {
        self.nodes
    }

    fn energy(&self, x: &[DVec3; 5]) -> f64 {
        saturate(0.5 * self.stiffness * self.bent(x).length_squared())
    }

    fn gradient(&self, x: &[DVec3; 5]) -> [DVec3; 5] {
        let force = self.bent(x) * self.stiffness;
        self.jacobian(x).map(|part| (part.transpose() * force).map_saturated())
    }

    /// Made positive semidefinite, it is that of the linearised `d`, `k/Aₑ JᵀJ`: exact at rest.
    fn hessian(&self, x: &[DVec3; 5], psd: Psd) -> Blocks<5> {
        let jacobian = self.jacobian(x);
        let mut out = Blocks::ZERO;
        for (i, row) in out.0.iter_mut().enumerate() {
            for (block, other) in row.iter_mut().zip(&jacobian) {
                *block = jacobian[i].transpose() * *other * self.stiffness;
            }
        }
        if psd == Psd::Exact {
            // g·(m₁ - m₀) × (m₂ - m₀) = g·(m₁×m₂ + m₂×m₀ + m₀×m₁).
            let force = self.bent(x) * (self.stiffness * self.sin);
            for face in &self.faces {
                let block = cross_matrix(force * -face.factor);
                let [m0, m1, m2] = face.places.map(usize::from);
                for (p, q) in [(m1, m2), (m2, m0), (m0, m1)] {
                    out.0[p][q] += block;
                    out.0[q][p] += block.transpose();
                }
            }
        }
        out
    }
}

/// Numbers of any size become finite ones.
trait Saturated {
    fn map_saturated(self) -> Self;
}

impl Saturated for DVec3 {
    fn map_saturated(self) -> Self {
        Self::from_array(self.to_array().map(saturate))
    }
}

/// The bending of all interior edges that `of` gives a rigidity in J above zero, and a rest angle
/// in rad.
#[must_use]
pub fn curved_bending(mesh: &CrMesh, of: impl Fn(Id<Edges>) -> (f64, f64)) -> ElementTerm<CurvedEdge, 5> {
    let elements = mesh.mesh().edges().ids().filter_map(|edge| {
        let (rigidity, angle) = of(edge);
        (rigidity > 0.0).then(|| CurvedEdge::new(mesh, edge, rigidity, angle))?
    });
    ElementTerm::new("curved bending", elements.collect())
}
