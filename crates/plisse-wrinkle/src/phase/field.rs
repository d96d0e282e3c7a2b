//! A phase on part of a mesh: real numbers at nodes, whole turns at corners.

use std::f64::consts::TAU;

use plisse_core::{Edges, Faces, Field, Id, TriMesh, Vertices};

use crate::complex::{KeptComplex, Nodes};
use crate::error::{WrinkleError, fits};

/// The phase at a corner of a face: that of its node and a number of whole turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CornerPhase {
    /// The node. A vertex has one node for each fan of faces with a phase around it: usually one,
    /// none where all its faces are without, two or more where such fans touch in the vertex only.
    pub node: Id<Nodes>,
    /// Whole turns of 2π on top of the value of the node.
    pub turns: i64,
}

/// A phase in radians on some of the faces of a mesh, defined up to whole turns.
///
/// A phase that winds around a hole is no function of the vertices: it returns with `2π k` more. So
/// each corner has the value of its node and an integer of its own (Chen21, section E.4, keeps
/// three values per face for the same reason). Across an edge both ends jump by the *same* integer;
/// `cos φ`, `sin φ` and differences along edges do not notice it. Integers are exact: neither
/// recovery nor subdivision can open a seam by rounding.
///
/// ```text
///        n2 + 0            n2 + 3·2π
///          | \             / |
///          |  f \       / g  |       the jump between f and g is three turns at both ends
///          | /             \ |
///        n0 - 1·2π         n0 + 2·2π
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseField {
    values: Field<Nodes, f64>,
    corners: Field<Faces, Option<[CornerPhase; 3]>>,
}

/// Phases given per corner may be this many turns away from a whole number of them: text files have
/// few digits.
const TURN_TOLERANCE: f64 = 1e-6;

/// Phases up to here (rad) are accepted: beyond, a sine has few digits left.
pub(crate) const LARGEST_PHASE: f64 = 1e12;

impl PhaseField {
    /// From a phase in radians at each corner, `None` for faces without. Corners of one vertex may
    /// differ by whole turns between neighbouring faces.
    ///
    /// # Errors
    /// [`WrinkleError::Phase`] if a value is not finite or beyond 1e12, or neighbours differ by
    /// something else than the same number of whole turns at both ends of their edge (to 1e-6
    /// turns); [`WrinkleError::Length`] for another mesh.
    pub fn from_corners(
        mesh: &TriMesh,
        phases: &Field<Faces, Option<[f64; 3]>>,
    ) -> Result<Self, WrinkleError> {
        fits("phases", phases, mesh.face_count())?;
        for (face, phase) in phases.iter() {
            if let Some(value) =
                phase.and_then(|p| p.into_iter().find(|p| p.is_nan() || p.abs() > LARGEST_PHASE))
            {
                return Err(WrinkleError::Phase {
                    place: face.to_string(),
                    reason: format!(
                        "{value:e} rad is no phase; numbers up to {LARGEST_PHASE:e} are accepted"
                    ),
                });
            }
        }
        let complex = KeptComplex::new(mesh, &phases.map(Option::is_some))?;
        let mut values: Field<Nodes, Option<f64>> = Field::filled(complex.node_count(), None);
        let mut corners = Field::filled(mesh.face_count(), None);
        for (face, phase) in phases.iter() {
            let (Some(phase), Some(nodes)) = (phase, complex.face_nodes(face)) else { continue };
            let mut of_face = nodes.map(|node| CornerPhase { node, turns: 0 });
            for i in 0..3 {
                let first = *values[nodes[i]].get_or_insert(phase[i]);
                let turns = (phase[i] - first) / TAU;
                if (turns - turns.round()).abs() > TURN_TOLERANCE {
                    let reason = format!(
                        "the phase at {} is {} here and {first} in a neighbouring face: not whole turns apart",
                        mesh.faces()[face][i],
                        phase[i]
                    );
                    return Err(WrinkleError::Phase { place: face.to_string(), reason });
                }
                of_face[i].turns = turns.round() as i64;
            }
            corners[face] = Some(of_face);
        }
        let field = Self { values: values.map(|v| v.unwrap_or(0.0)), corners };
        match field.torn_edge(mesh) {
            None => Ok(field),
            Some(edge) => Err(WrinkleError::Phase {
                place: edge.to_string(),
                reason: "its two faces disagree about the difference of phase along it".to_owned(),
            }),
        }
    }

    /// From parts that fit together.
    pub(crate) fn from_parts(
        values: Field<Nodes, f64>,
        corners: Field<Faces, Option<[CornerPhase; 3]>>,
    ) -> Self {
        Self { values, corners }
    }

    /// The values of the nodes, in radians.
    #[must_use]
    pub fn values(&self) -> &Field<Nodes, f64> {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut Field<Nodes, f64> {
        &mut self.values
    }

    /// Nodes and turns of every face, `None` for faces without a phase.
    #[must_use]
    pub fn corners(&self) -> &Field<Faces, Option<[CornerPhase; 3]>> {
        &self.corners
    }

    /// The phase at the corners of a face in radians, on one branch: differences between corners
    /// are those along the edges. `None` for a face without a phase.
    #[must_use]
    pub fn at(&self, face: Id<Faces>) -> Option<[f64; 3]> {
        self.corners[face].map(|corners| corners.map(|c| self.values[c.node] + TAU * c.turns as f64))
    }

    /// The phase along edges, `ω = dφ`, from the smaller to the larger vertex, in radians; zero
    /// where no face of the edge has a phase.
    #[must_use]
    pub fn differential(&self, mesh: &TriMesh) -> Field<Edges, f64> {
        Field::from_fn(mesh.edge_count(), |edge| {
            let [a, b] = mesh.edges()[edge].vertices;
            let (low, high) = (a.min(b), a.max(b));
            self.along(mesh, edge, low, high).map_or(0.0, |(from, to)| self.difference(from, to))
        })
    }

    /// How many turns the phase gains along a closed path of vertices, `None` if the path leaves
    /// the faces with a phase, or passes from fan to fan through a vertex. Exact.
    #[must_use]
    pub fn winding(&self, mesh: &TriMesh, path: &[Id<Vertices>]) -> Option<i64> {
        let (mut turns, mut arrived, mut first) = (0, None, None);
        for (i, &from) in path.iter().enumerate() {
            let to = path[(i + 1) % path.len()];
            let (start, end) = self.along(mesh, mesh.edge_between(from, to)?, from, to)?;
            if arrived.is_some_and(|node| node != start.node) {
                return None;
            }
            first.get_or_insert(start.node);
            arrived = Some(end.node);
            turns += end.turns - start.turns;
        }
        (arrived == first).then_some(turns)
    }

    /// The corners at both ends of an edge, in a face that has a phase.
    pub(crate) fn along(
        &self,
        mesh: &TriMesh,
        edge: Id<Edges>,
        from: Id<Vertices>,
        to: Id<Vertices>,
    ) -> Option<(CornerPhase, CornerPhase)> {
        let (left, right) = mesh.edges()[edge].faces;
        let face = if self.corners[left].is_some() { left } else { right? };
        let corners = self.corners[face]?;
        let at = |v: Id<Vertices>| mesh.faces()[face].iter().position(|c| *c == v).map(|i| corners[i]);
        Some((at(from)?, at(to)?))
    }

    /// From one corner of a face to another, in radians.
    pub(crate) fn difference(&self, from: CornerPhase, to: CornerPhase) -> f64 {
        self.values[to.node] - self.values[from.node] + TAU * (to.turns - from.turns) as f64
    }

    /// The first edge whose two faces jump differently at its ends or have different nodes there;
    /// there is none in a field that fits together.
    pub(crate) fn torn_edge(&self, mesh: &TriMesh) -> Option<Id<Edges>> {
        let torn = |edge: &plisse_core::Edge| {
            let (left, Some(right)) = edge.faces else { return false };
            let (Some(l), Some(r)) = (self.corners[left], self.corners[right]) else { return false };
            let at = |face: Id<Faces>, corners: [CornerPhase; 3], v: Id<Vertices>| {
                mesh.faces()[face].iter().position(|c| *c == v).map(|i| corners[i])
            };
            let jump = edge.vertices.map(|v| {
                let (l, r) = (at(left, l, v)?, at(right, r, v)?);
                (l.node == r.node).then_some(r.turns - l.turns)
            });
            jump[0].is_none() || jump[0] != jump[1]
        };
        mesh.edges().iter().find(|(_, edge)| torn(edge)).map(|(id, _)| id)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use glam::DVec2;
    use plisse_core::generate::{self, Diagonal};

    /// `waves` turns around the origin plus a linear part, on the faces that `with` names.
    pub(crate) fn winding_phase(
        mesh: &TriMesh,
        uv: &Field<Vertices, DVec2>,
        waves: i64,
        slope: DVec2,
        with: impl Fn(Id<Faces>) -> bool,
    ) -> Field<Faces, Option<[f64; 3]>> {
        Field::from_fn(mesh.face_count(), |face| {
            let at = mesh.faces()[face].map(|v| uv[v]);
            let angle = at[0].to_angle();
            let angles = at.map(|p| angle + at[0].perp_dot(p).atan2(at[0].dot(p)));
            with(face).then(|| std::array::from_fn(|i| waves as f64 * angles[i] + slope.dot(at[i])))
        })
    }

    #[test]
    fn a_winding_phase_is_kept_exactly() {
        let (mesh, uv) = generate::annulus(13, 3, 1.0, 2.0, Diagonal::Alternating).unwrap();
        let phases = winding_phase(&mesh, &uv, -17, DVec2::new(0.3, 0.0), |_| true);
        let field = PhaseField::from_corners(&mesh, &phases).unwrap();
        assert_eq!(field.values().len(), mesh.vertex_count());
        for boundary in mesh.boundary_loops() {
            let sense = boundary.iter().map(|v| uv[*v]).collect::<Vec<_>>();
            let area: f64 = (0..sense.len()).map(|i| sense[i].perp_dot(sense[(i + 1) % sense.len()])).sum();
            assert_eq!(field.winding(&mesh, &boundary), Some(-17 * area.signum() as i64));
        }
        for (face, phase) in phases.iter() {
            let (given, kept) = (phase.unwrap(), field.at(face).unwrap());
            for i in 0..3 {
                assert!((given[i] - kept[i]).abs() < 1e-12);
            }
        }
        let omega = field.differential(&mesh);
        for (face, edges) in mesh.face_edges().iter() {
            let around: f64 = (0..3)
                .map(|i| {
                    let corners = mesh.faces()[face];
                    let sign = if corners[(i + 1) % 3] < corners[(i + 2) % 3] { 1.0 } else { -1.0 };
                    sign * omega[edges[i]]
                })
                .sum();
            // Phases are up to 17 · 2π; that is what is rounded.
            assert!(around.abs() < 1e-13, "{face} {around}");
        }
    }

    #[test]
    fn fans_that_touch_in_a_vertex_need_not_agree() {
        // A hexagon around vertex 0 of which two opposite triangles have a phase.
        let faces: Vec<[u32; 3]> = (0..6).map(|i| [0, 1 + i, 1 + (i + 1) % 6]).collect();
        let mesh = TriMesh::new(7, &faces).unwrap();
        let phases =
            Field::from_fn(6, |face| (face.get() % 3 == 0).then(|| [f64::from(face.get()), 0.5, 0.7]));
        let field = PhaseField::from_corners(&mesh, &phases).unwrap();
        assert_eq!(field.values().len(), 6);
        assert_eq!((field.at(Id::new(0)), field.at(Id::new(3))), (phases[Id::new(0)], phases[Id::new(3)]));
        assert_eq!(field.at(Id::new(1)), None);
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let mesh = TriMesh::new(4, &[[0, 1, 2], [2, 1, 3]]).unwrap();
        let check = |phases: [[f64; 3]; 2]| {
            PhaseField::from_corners(&mesh, &Field::from_vec(phases.map(Some).to_vec()))
                .map_err(|e| e.to_string())
        };
        assert!(check([[0.0, 1.0, 2.0], [2.0 + TAU, 1.0 + TAU, 0.0]]).is_ok());
        assert!(check([[0.0, 1.0, 2.0], [2.5, 1.0, 0.0]]).unwrap_err().contains("face 1"));
        assert!(check([[0.0, 1.0, 2.0], [2.0 + TAU, 1.0, 0.0]]).unwrap_err().contains("disagree"));
        assert!(check([[0.0, f64::NAN, 2.0], [2.0, 1.0, 0.0]]).unwrap_err().contains("face 0"));
    }
}
