//! Triangles whose warp, weft and shear give way by a compliance each: woven cloth, beyond EB08.

use glam::{DVec2, DVec3};
use plisse_core::{Edges, Faces, Field, Id};

use super::ribbon::RibbonEdge;
use crate::constraint::{Constraint, Rows};
use crate::element::CrMesh;
use crate::error::ConstrainedError;

/// How much a sheet gives way in its plane, in m/N: strain over force per width. Zero is
/// inextensible. Infinity leaves a direction to the terms of the system: to a membrane energy, for
/// instance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compliance {
    /// Along the first material axis.
    pub warp: f64,
    /// Along the second material axis.
    pub weft: f64,
    /// Of the angle between the two.
    pub shear: f64,
}

impl Compliance {
    /// Softer than this, in m/N, is no cloth; it also keeps products within range.
    pub const LARGEST: f64 = 1e6;

    /// No rows at all: an elastic sheet on edge unknowns.
    pub const FREE: Self = Self { warp: f64::INFINITY, weft: f64::INFINITY, shear: f64::INFINITY };

    /// Whether some direction is left to the terms of the system.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.parts().contains(&f64::INFINITY)
    }

    /// Whether nothing gives way.
    #[must_use]
    pub fn is_hard(&self) -> bool {
        self.parts().into_iter().all(|part| part <= 0.0)
    }

    /// Refuses numbers below zero or between [`Compliance::LARGEST`] and infinity.
    ///
    /// # Errors
    /// [`ConstrainedError::BadNumber`], which names the direction.
    pub fn check(&self) -> Result<(), ConstrainedError> {
        let named = ["warp", "weft", "shear"].into_iter().zip(self.parts());
        for (direction, value) in named {
            if !(0.0..=Self::LARGEST).contains(&value) && value != f64::INFINITY {
                let what = format!("the compliance of {direction}");
                return Err(ConstrainedError::BadNumber {
                    what,
                    value,
                    expected: "a number from 0 to 1e6, in m/N",
                });
            }
        }
        Ok(())
    }

    fn parts(&self) -> [f64; 3] {
        [self.warp, self.weft, self.shear]
    }
}

/// Green's strain `(FᵀF - I)/2` of faces in their material frame: the rows are `E_uu`, `E_vv` and
/// the angle `2 E_uv`. A face of area `A` stores `A E²/(2 S)` for a compliance `S`, so that the
/// compliance of a row is `S/A`.
#[derive(Clone, Debug)]
pub struct WovenTriangles {
    faces: Vec<Face>,
}

#[derive(Clone, Debug)]
struct Face {
    id: Id<Faces>,
    edges: [Id<Edges>; 3],
    gradients: [DVec2; 3],
    /// Which strains are rows, and the compliance of each in 1/J.
    rows: [(u8, f64); 3],
    count: u8,
}

/// Sine of the angle up to which an edge lies along a thread: rounding of material coordinates.
const ALIGNED: f64 = 1e-6;

impl WovenTriangles {
    /// The strains of every face that gives way, but for those that follow from the rows of a
    /// [`Ribbon`](crate::Ribbon) over these edges: where the edge lies along inextensible threads
    /// on both sides, the strain of the second face is that of the first. Any other edge has a
    /// soft part, and both sides are needed.
    ///
    /// # Errors
    /// [`ConstrainedError::BadNumber`] for compliances out of their range.
    pub fn new(
        mesh: &CrMesh,
        ribbon: &[RibbonEdge],
        compliance: impl Fn(Id<Faces>) -> Compliance,
    ) -> Result<Self, ConstrainedError> {
        let topology = mesh.mesh();
        let mut dropped = Field::<Faces, [bool; 3]>::filled(topology.face_count(), [false; 3]);
        for RibbonEdge { edge, second, corner, .. } in ribbon {
            let first = topology.edges()[*edge].faces.0;
            let Some(own) = topology.face_edges()[first].iter().position(|e| e == edge) else { continue };
            let thread = |face, corner| hard_thread(mesh.gradients(face)[corner], compliance(face));
            if let (Some(_), Some(row)) = (thread(first, own), thread(*second, *corner)) {
                dropped[*second][row] = true;
            }
        }
        let mut faces = Vec::new();
        for (id, edges) in topology.face_edges().iter() {
            let of_face = compliance(id);
            of_face.check()?;
            if of_face.is_hard() {
                continue;
            }
            let (mut rows, mut count) = ([(0, 0.0); 3], 0);
            let kept = |(k, part): &(usize, f64)| !dropped[id][*k] && part.is_finite();
            for (k, part) in of_face.parts().into_iter().enumerate().filter(kept) {
                rows[count] = (k as u8, part / mesh.area(id));
                count += 1;
            }
            if count == 0 {
                continue;
            }
            faces.push(Face { id, edges: *edges, gradients: *mesh.gradients(id), rows, count: count as u8 });
        }
        Ok(Self { faces })
    }
}

/// The thread, warp or weft, along which the edge with this gradient lies, if it is inextensible.
/// The gradient is normal to its edge.
pub(super) fn hard_thread(gradient: DVec2, compliance: Compliance) -> Option<usize> {
    let limit = ALIGNED * gradient.length();
    if compliance.is_hard() {
        // Any direction will do.
        return Some(0);
    }
    if gradient.x.abs() <= limit && compliance.warp == 0.0 {
        Some(0)
    } else if gradient.y.abs() <= limit && compliance.weft == 0.0 {
        Some(1)
    } else {
        None
    }
}

impl Constraint<Edges> for WovenTriangles {
    fn name(&self) -> &str {
        "woven triangles"
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
        let (mut u, mut v) = (DVec3::ZERO, DVec3::ZERO);
        for (edge, g) in face.edges.into_iter().zip(face.gradients) {
            u += x[edge] * g.x;
            v += x[edge] * g.y;
        }
        for (row, (strain, _)) in face.rows[..usize::from(face.count)].iter().enumerate() {
            let value = match strain {
                0 => 0.5 * (u.length_squared() - 1.0),
                1 => 0.5 * (v.length_squared() - 1.0),
                _ => u.dot(v),
            };
            out.set(row, value);
            for (k, g) in face.gradients.into_iter().enumerate() {
                let gradient = match strain {
                    0 => u * g.x,
                    1 => v * g.y,
                    _ => v * g.x + u * g.y,
                };
                out.add(row, k, gradient);
            }
        }
    }

    fn compliance(&self, group: usize, row: usize) -> f64 {
        self.faces[group].rows[row].1
    }

    /// `G S Gᵀ` with the gradients `G` of the shape functions and the positive part of the stress
    /// `S`.
    fn tension(&self, group: usize, multipliers: &[f64], out: &mut [f64]) {
        let face = &self.faces[group];
        let mut stress = [0.0; 3];
        for ((strain, _), multiplier) in face.rows.iter().zip(multipliers) {
            stress[usize::from(*strain)] = -multiplier;
        }
        let [a, b, c] = positive_part(stress);
        for (i, g) in face.gradients.into_iter().enumerate() {
            for (j, h) in face.gradients.into_iter().enumerate() {
                out[3 * i + j] += a * g.x * h.x + b * g.y * h.y + c * (g.x * h.y + g.y * h.x);
            }
        }
    }

    fn is_curved(&self) -> bool {
        true
    }

    fn describe(&self, group: usize) -> String {
        format!("the strains of {}", self.faces[group].id)
    }
}

/// The positive semi-definite part of `[[a, c], [c, b]]`.
fn positive_part([a, b, c]: [f64; 3]) -> [f64; 3] {
    let (mean, half) = (0.5 * (a + b), 0.5 * (a - b));
    let radius = half.hypot(c);
    let (high, low) = (mean + radius, mean - radius);
    if high <= 0.0 {
        [0.0; 3]
    } else if low >= 0.0 {
        [a, b, c]
    } else {
        // The radius is above zero where one eigenvalue is positive and the other negative.
        [1.0 + half / radius, 1.0 - half / radius, c / radius].map(|part| 0.5 * high * part)
    }
}
