//! One level finer: base, amplitude and phase.

use glam::DVec3;
use plisse_core::{Edges, Faces, Field, Id, TriMesh, Vertices};

use super::PhaseExtension;
use super::subdivide::{Subdivision, corners, gradient};
use crate::complex::Nodes;
use crate::error::WrinkleError;
use crate::phase::{CornerPhase, PhaseField};

/// A mesh with everything that is subdivided.
pub(super) struct Level {
    pub(super) mesh: TriMesh,
    pub(super) x: Field<Vertices, DVec3>,
    pub(super) amplitude: Field<Vertices, f64>,
    pub(super) phase: PhaseField,
    /// Vertices that stay where they are.
    pub(super) sharp: Field<Vertices, bool>,
    /// The face of the coarsest mesh.
    pub(super) parent: Field<Faces, Id<Faces>>,
    /// The normals of the coarsest mesh, subdivided, if curvatures are asked for. Curvatures of the
    /// subdivided positions would not do: they grow without bound at vertices of irregular valence.
    pub(super) normals: Option<Field<Vertices, DVec3>>,
}

impl Level {
    /// Each face divided into four.
    pub(super) fn finer(&self, extension: PhaseExtension) -> Result<Self, WrinkleError> {
        let subdivision = Subdivision::new(&self.mesh, &self.sharp);
        let mesh = subdivision.refine_mesh()?;
        let x = subdivision.refine(&self.x);
        let phase = Step::new(self, &subdivision, &x, extension).finish();
        let amplitude = subdivision.refine(&self.amplitude);
        let mut sharp = self.sharp.as_slice().to_vec();
        sharp.resize(mesh.vertex_count(), false);
        let parent = Field::from_fn(mesh.face_count(), |f| self.parent[Id::new(f.get() / 4)]);
        let normals = self.normals.as_ref().map(|normals| subdivision.refine(normals));
        let mut level = Self { mesh, x, amplitude, phase, sharp: Field::from_vec(sharp), parent, normals };
        level.flatten();
        Ok(level)
    }

    /// No amplitude at the vertices of faces without a phase.
    pub(super) fn flatten(&mut self) {
        for (face, phase) in self.phase.corners().iter() {
            if phase.is_none() {
                for v in self.mesh.faces()[face] {
                    self.amplitude[v] = 0.0;
                }
            }
        }
    }
}

/// The nodes of a vertex.
#[derive(Clone, Copy, PartialEq)]
enum AtVertex {
    None,
    One(Id<Nodes>),
    /// Fans that touch in the vertex.
    Several,
}

/// The node on an edge of the coarse mesh. Its value is on the branch of `reference`, an end of the
/// edge: where the turns of that one are zero.
#[derive(Clone, Copy)]
struct Middle {
    node: Id<Nodes>,
    reference: Id<Vertices>,
}

/// The phase, one level finer.
///
/// Stencils are sums of differences between corners of one face, which no turns enter but those of
/// that face; so all values around a vertex are on the vertex's branch, and the integers of the
/// finer corners are copies of the coarse ones.
struct Step<'a> {
    coarse: &'a Level,
    subdivision: &'a Subdivision<'a>,
    fine_x: &'a Field<Vertices, DVec3>,
    extension: PhaseExtension,
    at_vertex: Field<Vertices, AtVertex>,
    /// Mean gradient around every node, by area.
    gradients: Field<Nodes, DVec3>,
    values: Vec<f64>,
    middles: Field<Edges, Option<Middle>>,
}

impl<'a> Step<'a> {
    fn new(
        coarse: &'a Level,
        subdivision: &'a Subdivision<'a>,
        fine_x: &'a Field<Vertices, DVec3>,
        extension: PhaseExtension,
    ) -> Self {
        let (mesh, phase) = (&coarse.mesh, &coarse.phase);
        let mut at_vertex = Field::filled(mesh.vertex_count(), AtVertex::None);
        let mut gradients = Field::filled(phase.values().len(), DVec3::ZERO);
        let mut areas: Field<Nodes, f64> = Field::filled(phase.values().len(), 0.0);
        for (face, of_face) in phase.corners().iter() {
            let Some(of_face) = of_face else { continue };
            let x = corners(mesh, &coarse.x, face);
            let area = (x[1] - x[0]).cross(x[2] - x[0]).length();
            let gradient = face_gradient(coarse, face);
            for (corner, v) in of_face.iter().zip(mesh.faces()[face]) {
                gradients[corner.node] += gradient * area;
                areas[corner.node] += area;
                at_vertex[v] = match at_vertex[v] {
                    AtVertex::None => AtVertex::One(corner.node),
                    AtVertex::One(node) if node == corner.node => AtVertex::One(node),
                    _ => AtVertex::Several,
                };
            }
        }
        for (gradient, area) in gradients.as_mut_slice().iter_mut().zip(areas.as_slice()) {
            if *area > 0.0 {
                *gradient /= *area;
            }
        }
        let middles = Field::filled(mesh.edge_count(), None);
        let values = Vec::with_capacity(phase.values().len() + mesh.edge_count());
        let mut step = Self { coarse, subdivision, fine_x, extension, at_vertex, gradients, values, middles };
        step.move_nodes();
        step.insert_nodes();
        step
    }

    /// Old nodes. Neighbours that the fan of a node does not reach have no phase there; they are
    /// extrapolated, all at once, since only the sum of their positions matters to a linear
    /// function.
    fn move_nodes(&mut self) {
        let (mesh, phase, x) = (&self.coarse.mesh, &self.coarse.phase, &self.coarse.x);
        let count = phase.values().len();
        let mut moved: Field<Nodes, f64> = phase.values().clone();
        let mut reached = Field::filled(count, DVec3::ZERO);
        for (id, edge) in mesh.edges().iter() {
            let [a, b] = edge.vertices;
            let Some((from, to)) = phase.along(mesh, id, a, b) else { continue };
            let difference = phase.difference(from, to);
            for (v, node, other, sign) in [(a, from.node, b, 1.0), (b, to.node, a, -1.0)] {
                let weight = self.subdivision.rules[v].weight(edge.is_boundary());
                moved[node] += weight * sign * difference;
                reached[node] += weight * (x[other] - x[v]);
            }
        }
        if self.extension == PhaseExtension::Linear {
            let mut seen = vec![false; count];
            for (face, of_face) in phase.corners().iter() {
                for (corner, v) in of_face.iter().flatten().zip(mesh.faces()[face]) {
                    if !std::mem::replace(&mut seen[corner.node.index()], true) {
                        let missing = self.fine_x[v] - x[v] - reached[corner.node];
                        moved[corner.node] += self.gradients[corner.node].dot(missing);
                    }
                }
            }
        }
        self.values.extend_from_slice(moved.as_slice());
    }

    /// Nodes on edges: of faces with a phase, and on edges that lead from there into faces without.
    fn insert_nodes(&mut self) {
        let (mesh, phase, x) = (&self.coarse.mesh, &self.coarse.phase, &self.coarse.x);
        for (id, edge) in mesh.edges().iter() {
            let [a, b] = edge.vertices;
            let inserted = if let Some((from, to)) = phase.along(mesh, id, a, b) {
                let along = phase.difference(from, to);
                let off = if edge.is_boundary() {
                    0.5 * along
                } else {
                    let side = |face: Option<Id<Faces>>| self.beyond(face?, id, a);
                    let sides = [side(Some(edge.faces.0)), side(edge.faces.1)];
                    // A missing side is extrapolated from the other one.
                    let known = sides[0].or(sides[1]).map_or(DVec3::ZERO, |(_, gradient)| gradient);
                    let extrapolated = |face: Option<Id<Faces>>| match self.extension {
                        PhaseExtension::OwnValue => 0.5 * along,
                        PhaseExtension::Linear => {
                            let apex = face.and_then(|face| mesh.opposite_vertex(face, id));
                            let out = apex.map_or(DVec3::ZERO, |v| x[v] - x[a].midpoint(x[b]));
                            0.5 * along + known.dot(out)
                        }
                    };
                    let value = |side: Option<(f64, DVec3)>, face| {
                        side.map_or_else(|| extrapolated(face), |(value, _)| value)
                    };
                    0.375 * along
                        + 0.125 * (value(sides[0], Some(edge.faces.0)) + value(sides[1], edge.faces.1))
                };
                Some((a, phase.values()[from.node] + off))
            } else {
                // A chord, with a phase at both ends, would tie what nothing ties: it gets none.
                match (self.at_vertex[a], self.at_vertex[b]) {
                    (AtVertex::One(node), AtVertex::None) => Some((a, self.extend(node, a, id))),
                    (AtVertex::None, AtVertex::One(node)) => Some((b, self.extend(node, b, id))),
                    _ => None,
                }
            };
            if let Some((reference, value)) = inserted {
                self.middles[id] = Some(Middle { node: Id::new(self.values.len() as u32), reference });
                self.values.push(value);
            }
        }
    }

    /// From the end `a` of an edge to the corner of a face that is not on it, and the gradient
    /// there.
    fn beyond(&self, face: Id<Faces>, edge: Id<Edges>, a: Id<Vertices>) -> Option<(f64, DVec3)> {
        let of_face = self.coarse.phase.corners()[face]?;
        let mesh = &self.coarse.mesh;
        let from = mesh.faces()[face].iter().position(|v| *v == a)?;
        let to = mesh.face_edges()[face].iter().position(|e| *e == edge)?;
        Some((self.coarse.phase.difference(of_face[from], of_face[to]), face_gradient(self.coarse, face)))
    }

    /// The value of a node carried to the point on an edge that leads away from it.
    fn extend(&self, node: Id<Nodes>, v: Id<Vertices>, edge: Id<Edges>) -> f64 {
        let own = self.coarse.phase.values()[node];
        match self.extension {
            PhaseExtension::OwnValue => own,
            PhaseExtension::Linear => {
                let middle: Id<Vertices> = Id::new((self.coarse.mesh.vertex_count() + edge.index()) as u32);
                own + self.gradients[node].dot(self.fine_x[middle] - self.coarse.x[v])
            }
        }
    }

    /// Nodes and turns of the finer faces.
    fn finish(self) -> PhaseField {
        let mesh = &self.coarse.mesh;
        let mut fine = Vec::with_capacity(4 * mesh.face_count());
        for (face, of_face) in self.coarse.phase.corners().iter() {
            let vertices = mesh.faces()[face];
            let edges = mesh.face_edges()[face];
            match of_face {
                Some(of_face) => {
                    let middle = edges.map(|edge| self.in_face(of_face, vertices, edge));
                    let whole = |corners: [Option<CornerPhase>; 3]| {
                        let [Some(a), Some(b), Some(c)] = corners else { return None };
                        Some([a, b, c])
                    };
                    for i in 0..3 {
                        fine.push(whole([Some(of_face[i]), middle[(i + 2) % 3], middle[(i + 1) % 3]]));
                    }
                    fine.push(whole(middle));
                }
                None => {
                    for i in 0..3 {
                        let before = self.seen_from(vertices[i], edges[(i + 2) % 3]);
                        let after = self.seen_from(vertices[i], edges[(i + 1) % 3]);
                        fine.push(match (self.at_vertex[vertices[i]], before, after) {
                            (AtVertex::One(node), Some(before), Some(after)) => {
                                Some([CornerPhase { node, turns: 0 }, before, after])
                            }
                            _ => None,
                        });
                    }
                    fine.push(None);
                }
            }
        }
        PhaseField::from_parts(Field::from_vec(self.values), Field::from_vec(fine))
    }

    /// The node on an edge of a face with a phase, on the branch of that face.
    fn in_face(
        &self,
        of_face: &[CornerPhase; 3],
        vertices: [Id<Vertices>; 3],
        edge: Id<Edges>,
    ) -> Option<CornerPhase> {
        let Middle { node, reference } = self.middles[edge]?;
        let at = vertices.iter().position(|v| *v == reference)?;
        Some(CornerPhase { node, turns: of_face[at].turns })
    }

    /// The node on an edge next to a face without a phase, on the branch of the end `v`.
    fn seen_from(&self, v: Id<Vertices>, edge: Id<Edges>) -> Option<CornerPhase> {
        let Middle { node, reference } = self.middles[edge]?;
        let mesh = &self.coarse.mesh;
        let turns = if reference == v {
            0
        } else {
            let (from, to) = self.coarse.phase.along(mesh, edge, v, reference)?;
            to.turns - from.turns
        };
        Some(CornerPhase { node, turns })
    }
}

/// The gradient of the phase on a face, zero without one.
pub(super) fn face_gradient(level: &Level, face: Id<Faces>) -> DVec3 {
    level.phase.corners()[face].map_or(DVec3::ZERO, |c| {
        let differences = [level.phase.difference(c[0], c[1]), level.phase.difference(c[0], c[2])];
        gradient(corners(&level.mesh, &level.x, face), differences)
    })
}
