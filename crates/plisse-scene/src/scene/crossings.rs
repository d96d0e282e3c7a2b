//! Triangles of a scene that cross each other, found exactly.

use std::fmt;

use glam::DVec3;
use plisse_collision::{Crossing, SurfaceFace, intersections, tangles, untangle};
use plisse_contact::Shape;
use plisse_core::{Field, Id, TriMesh, Vertices};

use super::obstacle::{Obstacle, Parts};
use super::scene::{BodyInfo, Kind};
use super::touching::BodyContact;

/// Which triangles of a scene cross each other: see [`Scene::crossings`](super::Scene::crossings).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crossings {
    /// Names of the cloths, and of the boxes and meshes among the obstacles, whose triangles were
    /// compared.
    pub checked: Vec<String>,
    /// Names of what has no triangles and was not compared: wires, yarns, planes, balls,
    /// capsules and shapes of one's own.
    pub unchecked: Vec<String>,
    /// Pairs of triangles that contact keeps apart and that cross all the same, in the order of
    /// their bodies and faces.
    pub forbidden: Vec<CrossedFaces>,
    /// Pairs of triangles that may cross, with the reason.
    pub allowed: Vec<(CrossedFaces, MayCross)>,
}

/// What is done about triangles that cross at the start: see
/// [`SceneBuilder::crossed_start`](super::SceneBuilder::crossed_start).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrossedStart {
    /// The scene is refused, with the names and the place.
    #[default]
    Refuse,
    /// What crosses, with two rings of triangles around it and what it cuts off, passes through
    /// each other until it has come apart, and is kept apart from then on. All else is protected.
    Ignore,
    /// Vertices that no pin holds are moved until nothing crosses. If that fails, the scene is
    /// refused.
    Untangle,
}

/// Passes of untangling, each a tenth of an edge: a corner that is a few edges deep needs some
/// tens.
const PASSES: usize = 100;

/// Two triangles that cross, or touch.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossedFaces {
    /// Names of their bodies.
    pub bodies: [String; 2],
    /// Their numbers, each counted from the first of its body.
    pub faces: [u32; 2],
    /// A place in both, m.
    pub place: DVec3,
}

impl fmt::Display for CrossedFaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bodies: [a, b], faces: [i, j], place } = self;
        write!(f, "face {i} of {a} and face {j} of {b} at ({:.4}, {:.4}, {:.4})", place.x, place.y, place.z)
    }
}

/// Why two triangles may cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MayCross {
    /// The body does not touch itself ([`BodyContact::touches_itself`]).
    NoSelfContact,
    /// Corners of both started in one place: they are neighbours, sewn or not.
    Neighbours,
    /// A pin holds a corner, which contact cannot move out of the obstacle.
    Held,
}

impl fmt::Display for MayCross {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSelfContact => "of a body that does not touch itself (self_contact = false)",
            Self::Neighbours => "with corners that started in one place",
            Self::Held => "that a pin holds in an obstacle",
        })
    }
}

/// What of a scene has triangles, and which of them may cross.
pub(super) struct Surfaces<'a> {
    list: Vec<Surface<'a>>,
    /// The triangles of each, among all vertices.
    meshes: Vec<TriMesh>,
    unchecked: Vec<String>,
    /// Of the bodies.
    start: &'a Field<Vertices, DVec3>,
    /// Of each vertex of the bodies, whether a pin says where it is.
    held: &'a [bool],
}

struct Surface<'a> {
    name: String,
    is: Owner<'a>,
}

enum Owner<'a> {
    Cloth { touches_itself: bool },
    Solid { obstacle: &'a Obstacle, local: Vec<DVec3> },
}

impl<'a> Surfaces<'a> {
    pub(super) fn new(
        bodies: &[BodyInfo],
        contacts: &[BodyContact],
        obstacles: &'a [Obstacle],
        start: &'a Field<Vertices, DVec3>,
        held: &'a [bool],
    ) -> Self {
        let solids: Vec<_> = obstacles
            .iter()
            .enumerate()
            .map(|(i, obstacle)| (i, obstacle, triangles(obstacle, start)))
            .collect();
        let of_solids = solids.iter().flat_map(|(_, _, parts)| parts).map(|(_, local)| local.len());
        let total = start.len() + of_solids.sum::<usize>();
        let (mut list, mut meshes, mut unchecked) = (Vec::new(), Vec::new(), Vec::new());
        for (body, contact) in bodies.iter().zip(contacts) {
            match &body.kind {
                Kind::Cloth { mesh, .. } => {
                    let is = Owner::Cloth { touches_itself: contact.touches_itself };
                    list.push(Surface { name: body.name.clone(), is });
                    meshes.push(mesh.among(body.vertices.start as u32, total));
                }
                Kind::Wires { .. } | Kind::Yarns { .. } => unchecked.push(body.name.clone()),
            }
        }
        let mut first = start.len();
        for (index, obstacle, parts) in solids {
            let name = obstacle.called(index);
            let Some((mesh, local)) = parts else {
                unchecked.push(name);
                continue;
            };
            meshes.push(mesh.among(first as u32, total));
            first += local.len();
            list.push(Surface { name, is: Owner::Solid { obstacle, local } });
        }
        Self { list, meshes, unchecked, start, held }
    }

    /// The vertices of the bodies, and those of obstacles at a time.
    fn all(&self, time: f64, nodes: &Field<Vertices, DVec3>) -> Field<Vertices, DVec3> {
        let solids = self.list.iter().flat_map(|surface| match &surface.is {
            Owner::Cloth { .. } => Vec::new(),
            Owner::Solid { obstacle, local } => {
                let mut placed = vec![DVec3::ZERO; local.len()];
                obstacle.place_parts(time, local, &mut placed);
                placed
            }
        });
        Field::from_vec(nodes.as_slice().iter().copied().chain(solids).collect())
    }

    /// All crossings where the vertices of the bodies are here at a time.
    pub(super) fn find(&self, time: f64, nodes: &Field<Vertices, DVec3>) -> Crossings {
        let x = self.all(time, nodes);
        let mut found = Crossings {
            checked: self.list.iter().map(|surface| surface.name.clone()).collect(),
            unchecked: self.unchecked.clone(),
            ..Crossings::default()
        };
        for crossing in &intersections(&self.meshes.iter().collect::<Vec<_>>(), &x).crossings {
            let faces = CrossedFaces {
                bodies: crossing.faces.map(|face| self.list[face.surface].name.clone()),
                faces: crossing.faces.map(|face| face.face.get()),
                place: crossing.place,
            };
            match self.judge(crossing) {
                Verdict::Ignored => {}
                Verdict::Forbidden => found.forbidden.push(faces),
                Verdict::Allowed(reason) => found.allowed.push((faces, reason)),
            }
        }
        found
    }

    /// Moves what `may_move` until no triangles cross at the start. Says how many pairs crossed,
    /// and how far a vertex was moved; none if nothing crossed.
    pub(super) fn untangle(
        &self,
        nodes: &mut Field<Vertices, DVec3>,
        may_move: impl Fn(Id<Vertices>) -> bool,
    ) -> Option<(usize, f64)> {
        let pairs = self.find(0.0, nodes).forbidden.len();
        if pairs == 0 {
            return None;
        }
        let mut x = self.all(0.0, nodes);
        let count = nodes.len();
        let done = untangle(
            &self.meshes.iter().collect::<Vec<_>>(),
            &mut x,
            PASSES,
            |v| v.index() < count && may_move(v),
            |crossing| matches!(self.judge(crossing), Verdict::Forbidden),
        );
        nodes.as_mut_slice().copy_from_slice(&x.as_slice()[..count]);
        Some((pairs, done.farthest))
    }

    /// How many pairs of triangles cross at the start, and the vertices of what is tangled there,
    /// bodies' first.
    pub(super) fn tangles(&self, nodes: &Field<Vertices, DVec3>) -> (usize, Vec<Vec<Id<Vertices>>>) {
        let x = self.all(0.0, nodes);
        let meshes: Vec<&TriMesh> = self.meshes.iter().collect();
        let forbidden = |crossing: &Crossing| matches!(self.judge(crossing), Verdict::Forbidden);
        let crossings: Vec<Crossing> =
            intersections(&meshes, &x).crossings.into_iter().filter(forbidden).collect();
        (crossings.len(), tangles(&meshes, &crossings, x.len()))
    }

    fn judge(&self, crossing: &Crossing) -> Verdict {
        let [a, b] = crossing.faces;
        let held = |face: SurfaceFace| {
            let corners = self.meshes[face.surface].faces()[face.face];
            corners.iter().any(|v| self.held.get(v.index()).is_some_and(|held| *held))
        };
        match [a, b].map(|face| &self.list[face.surface].is) {
            // Obstacles do not see each other.
            [Owner::Solid { .. }, Owner::Solid { .. }] => Verdict::Ignored,
            [Owner::Cloth { .. }, Owner::Solid { .. }] if held(a) => Verdict::Allowed(MayCross::Held),
            [Owner::Solid { .. }, Owner::Cloth { .. }] if held(b) => Verdict::Allowed(MayCross::Held),
            [Owner::Cloth { touches_itself }, _] if a.surface == b.surface => {
                if !touches_itself {
                    Verdict::Allowed(MayCross::NoSelfContact)
                } else if self.start_together(a, b) {
                    Verdict::Allowed(MayCross::Neighbours)
                } else {
                    Verdict::Forbidden
                }
            }
            _ => Verdict::Forbidden,
        }
    }

    /// Whether two triangles started with corners in one place.
    fn start_together(&self, a: SurfaceFace, b: SurfaceFace) -> bool {
        let [a, b] = [a, b].map(|face| {
            let corners = self.meshes[face.surface].faces()[face.face];
            corners.map(|v| self.start.as_slice().get(v.index()).copied())
        });
        a.iter().any(|x| b.contains(x))
    }
}

enum Verdict {
    Forbidden,
    Allowed(MayCross),
    Ignored,
}

/// The triangles of an obstacle, as it was placed; none of a plane, which is a triangle that
/// reaches beyond everything.
pub(super) fn triangles(
    obstacle: &Obstacle,
    start: &Field<Vertices, DVec3>,
) -> Option<(TriMesh, Vec<DVec3>)> {
    if !obstacle.is_faceted() {
        return None;
    }
    let Parts { shape: Shape::Surface(faces), local, .. } = obstacle.parts(start)? else { return None };
    Some((TriMesh::with_isolated_vertices(local.len(), &faces).ok()?, local))
}
