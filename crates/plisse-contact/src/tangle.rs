//! Parts of bodies that start through each other and may stay so until they come apart.

use std::sync::{Mutex, MutexGuard, PoisonError};

use glam::DVec3;
use plisse_collision::{Body, Crossing, SurfaceFace, intersections, tangles};
use plisse_core::{Field, Id, TriMesh, Vertices};

use crate::model::{Model, Place};

/// What is tangled where a step starts: what crosses, two rings of triangles around it, and what it
/// cuts off. Pairs within one tangle do not touch in this step; all others are kept apart. What has
/// come apart therefore stays so.
///
/// This depends on the positions at the start of a step alone, so that a run that is resumed goes
/// on as it would have.
pub(crate) struct Tangles {
    /// The triangles of each body and obstacle, among all vertices.
    meshes: Vec<TriMesh>,
    now: Mutex<Now>,
}

/// At the start of the present step.
struct Now {
    x: Field<Vertices, DVec3>,
    /// Of every vertex, the number of its tangle; empty if there is none.
    of_vertex: Vec<Option<u32>>,
}

impl Tangles {
    pub(crate) fn new(vertices: usize, surfaces: &[Vec<[u32; 3]>]) -> Self {
        let mesh = |faces: &Vec<[u32; 3]>| TriMesh::with_isolated_vertices(vertices, faces).ok();
        let now = Now { x: Field::from_vec(Vec::new()), of_vertex: Vec::new() };
        Self { meshes: surfaces.iter().filter_map(mesh).collect(), now: Mutex::new(now) }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model {
    /// A step starts here.
    pub(crate) fn begin(&self, at: &Place<'_>) {
        let Some(tangles_of) = &self.tangles else { return };
        let mut now = tangles_of.now();
        let x = at.field();
        if now.x == x {
            return;
        }
        let meshes: Vec<&TriMesh> = tangles_of.meshes.iter().collect();
        let counts = |crossing: &Crossing| self.crosses(&meshes, crossing);
        let crossings: Vec<Crossing> =
            intersections(&meshes, &x).crossings.into_iter().filter(counts).collect();
        let mut of_vertex = Vec::new();
        if !crossings.is_empty() {
            of_vertex.resize(x.len(), None);
            for (tangle, set) in tangles(&meshes, &crossings, x.len()).into_iter().enumerate() {
                for v in set {
                    of_vertex[v.index()] = Some(tangle as u32);
                }
            }
        }
        *now = Now { x, of_vertex };
    }

    /// Whether contact would keep two triangles that cross apart.
    fn crosses(&self, meshes: &[&TriMesh], crossing: &Crossing) -> bool {
        let corners = |face: SurfaceFace| meshes[face.surface].faces()[face.face];
        let [a, b] = crossing.faces.map(corners);
        let body = |face: [Id<Vertices>; 3]| self.colliders.body(face[0]).unwrap_or(Body(u32::MAX));
        let (p, q) = (body(a), body(b));
        let is_inside = |v: &Id<Vertices>| self.inside.contains(&(v.get(), p.max(q).0));
        let start_together = || a.iter().any(|v| b.iter().any(|w| self.start[*v] == self.start[*w]));
        self.laws.meet(p, q) && !a.iter().chain(&b).any(is_inside) && !(p == q && start_together())
    }

    /// Whether a pair does not touch in this step, because it is tangled.
    pub(crate) fn ignores(&self, vertices: &[u32]) -> bool {
        let Some(tangles) = &self.tangles else { return false };
        let now = tangles.now();
        let of = |v: &u32| now.of_vertex.get(*v as usize).copied().flatten();
        let Some(first) = vertices.first().and_then(of) else { return false };
        vertices.iter().all(|v| of(v) == Some(first))
    }

    /// Where tangles can have come apart: where everything is at the start of the step.
    pub(crate) fn start_of_step(&self, vertices: [u32; 4]) -> Option<[DVec3; 4]> {
        let now = self.tangles.as_ref()?.now();
        (!now.x.is_empty()).then(|| vertices.map(|v| now.x[Id::new(v)]))
    }
}
