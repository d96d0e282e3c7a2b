//! Vertices of kept faces, split where fans touch only in a point.

use plisse_core::{Edges, Faces, Field, Id, TriMesh, Vertices};

use super::{ComplexEdge, Nodes};

/// Nodes, and the edges between them.
pub(super) struct Split {
    pub(super) face_nodes: Field<Faces, Option<[Id<Nodes>; 3]>>,
    pub(super) node_vertex: Field<Nodes, Id<Vertices>>,
    pub(super) edges: Vec<ComplexEdge>,
    pub(super) edge_place: Field<Edges, Option<u32>>,
}

/// Corners are joined across every edge with two kept faces; what stays apart is a node of its own.
pub(super) fn split(mesh: &TriMesh, kept: &Field<Faces, bool>) -> Split {
    let mut joined = Sets::new(3 * mesh.face_count());
    for (_, edge) in mesh.edges().iter() {
        let (left, Some(right)) = edge.faces else { continue };
        if kept[left] && kept[right] {
            for vertex in edge.vertices {
                joined.join(corner_of(mesh, left, vertex), corner_of(mesh, right, vertex));
            }
        }
    }

    let mut node_of_set = vec![None; 3 * mesh.face_count()];
    let mut face_nodes = kept.map(|keep| keep.then_some([Id::new(0); 3]));
    let mut node_vertex = Vec::new();
    for vertex in mesh.vertices() {
        for &face in mesh.vertex_faces(vertex) {
            let Some(nodes) = &mut face_nodes[face] else { continue };
            let corner = corner_of(mesh, face, vertex);
            let node = *node_of_set[joined.find(corner)].get_or_insert_with(|| {
                node_vertex.push(vertex);
                Id::new(node_vertex.len() as u32 - 1)
            });
            nodes[corner % 3] = node;
        }
    }

    let mut edges = Vec::new();
    let edge_place = Field::from_fn(mesh.edge_count(), |id| {
        let edge = &mesh.edges()[id];
        let (left, right) = edge.faces;
        let face = [Some(left), right].into_iter().flatten().find(|face| kept[*face])?;
        let nodes = face_nodes[face]?;
        let [a, b] = edge.vertices;
        let ends = [a.min(b), a.max(b)];
        edges.push(ComplexEdge { edge: id, nodes: ends.map(|v| nodes[corner_of(mesh, face, v) % 3]) });
        Some(edges.len() as u32 - 1)
    });
    Split { face_nodes, node_vertex: Field::from_vec(node_vertex), edges, edge_place }
}

/// Corner `i` of face `f` is numbered `3 f + i`. The vertex is one of the face.
fn corner_of(mesh: &TriMesh, face: Id<Faces>, vertex: Id<Vertices>) -> usize {
    let corners = mesh.faces()[face];
    3 * face.index() + usize::from(corners[1] == vertex) + 2 * usize::from(corners[2] == vertex)
}

/// Disjoint sets of small integers, each known by its smallest member.
struct Sets {
    parent: Vec<u32>,
}

impl Sets {
    fn new(len: usize) -> Self {
        Self { parent: (0..len as u32).collect() }
    }

    fn find(&mut self, mut member: usize) -> usize {
        while self.parent[member] as usize != member {
            // Halving the path keeps later searches short.
            let grandparent = self.parent[self.parent[member] as usize];
            self.parent[member] = grandparent;
            member = grandparent as usize;
        }
        member
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }
}
