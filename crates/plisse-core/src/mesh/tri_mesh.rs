//! The triangle mesh: who is next to whom. Positions live in fields beside it.

use super::connect::connected_pieces;
use super::error::MeshError;
use crate::space::{Edges, Faces, Field, Id, Space, Vertices};

/// An edge with its end points and its one or two faces.
///
/// ```text
///            v1
///           /|\
///          / | \       faces.0 lies on the left of v0 → v1: its winding contains v0, v1 in this order.
///    left /  |  \ right
///         \  |  /      faces.1, if there is one, lies on the right and contains v1, v0.
///          \ | /
///           \|/
///            v0
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// End points. For an interior edge the smaller index comes first.
    pub vertices: [Id<Vertices>; 2],
    /// The face on the left, which always exists, and the one on the right, absent on the boundary.
    pub faces: (Id<Faces>, Option<Id<Faces>>),
}

impl Edge {
    /// Whether only one face has this edge.
    #[inline]
    #[must_use]
    pub fn is_boundary(&self) -> bool {
        self.faces.1.is_none()
    }
}

/// An oriented triangle mesh in which every edge has at most two faces.
///
/// Checked on construction: indices in range, no triangle with a repeated vertex, no duplicate
/// triangle, at most two faces per edge, neighbours wound consistently, no unreferenced vertex
/// (unless asked for). Vertices where several fans of triangles touch in a point are allowed.
///
/// Edge `i` of a face is the one **opposite** its corner `i`:
///
/// ```text
///            2
///           / \
///       e1 /   \ e0        e0 = (1, 2), e1 = (2, 0), e2 = (0, 1)
///         /     \
///        0 ----- 1
///            e2
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TriMesh {
    vertex_count: usize,
    faces: Field<Faces, [Id<Vertices>; 3]>,
    edges: Field<Edges, Edge>,
    face_edges: Field<Faces, [Id<Edges>; 3]>,
    vertex_faces: Incidence<Faces>,
    vertex_edges: Incidence<Edges>,
}

/// For every vertex a list of ids, stored end to end.
#[derive(Clone, Debug, PartialEq)]
struct Incidence<S: Space> {
    start: Vec<u32>,
    ids: Vec<Id<S>>,
}

impl<S: Space> Incidence<S> {
    /// Lists come out ascending because `pairs` is walked in the order of the ids.
    fn new<P: Iterator<Item = (Id<Vertices>, Id<S>)>>(vertex_count: usize, pairs: impl Fn() -> P) -> Self {
        let mut start = vec![0u32; vertex_count + 1];
        for (vertex, _) in pairs() {
            start[vertex.index() + 1] += 1;
        }
        for i in 0..vertex_count {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut ids = vec![Id::new(0); start[vertex_count] as usize];
        for (vertex, id) in pairs() {
            let slot = &mut next[vertex.index()];
            ids[*slot as usize] = id;
            *slot += 1;
        }
        Self { start, ids }
    }

    /// The same lists for vertices that follow `first` others, of `total`.
    fn among(&self, first: usize, total: usize) -> Self {
        let mut start = vec![0; first];
        start.extend_from_slice(&self.start);
        start.resize(total + 1, self.ids.len() as u32);
        Self { start, ids: self.ids.clone() }
    }

    fn of(&self, vertex: Id<Vertices>) -> &[Id<S>] {
        &self.ids[self.start[vertex.index()] as usize..self.start[vertex.index() + 1] as usize]
    }
}

impl TriMesh {
    /// Checks the triangles and builds edges and incident lists.
    ///
    /// # Errors
    /// [`MeshError`], naming the first face, edge or vertex that breaks a rule.
    ///
    /// ```
    /// use plisse_core::TriMesh;
    /// let mesh = TriMesh::new(4, &[[0, 1, 2], [2, 1, 3]])?;
    /// assert_eq!((mesh.edge_count(), mesh.boundary_edges().count()), (5, 4));
    ///
    /// let error = TriMesh::new(4, &[[0, 1, 2], [1, 2, 3]]).unwrap_err();
    /// assert_eq!(error.to_string(), "face 0 and face 1 run along the edge between vertex 1 and vertex 2 \
    ///     in the same direction: reverse the winding of one of them");
    /// # Ok::<(), plisse_core::MeshError>(())
    /// ```
    pub fn new(vertex_count: usize, faces: &[[u32; 3]]) -> Result<Self, MeshError> {
        if faces.is_empty() {
            return Err(MeshError::Empty);
        }
        let mesh = Self::with_isolated_vertices(vertex_count, faces)?;
        let mut isolated = mesh.vertices().filter(|v| mesh.vertex_faces(*v).is_empty());
        match isolated.next() {
            Some(vertex) => Err(MeshError::UnreferencedVertex { vertex, count: 1 + isolated.count() }),
            None => Ok(mesh),
        }
    }

    /// Like [`TriMesh::new`], but vertices without a face are accepted, and so is a mesh without
    /// faces (rods).
    ///
    /// # Errors
    /// [`MeshError`] for every other rule.
    pub fn with_isolated_vertices(vertex_count: usize, faces: &[[u32; 3]]) -> Result<Self, MeshError> {
        check_size("vertices", vertex_count)?;
        // Incident lists have up to six entries per face, which must be countable too.
        if faces.len() > (u32::MAX / 6) as usize {
            return Err(MeshError::TooLarge { what: "faces", count: faces.len() });
        }
        for (i, corners) in faces.iter().enumerate() {
            check_face(Id::new(i as u32), *corners, vertex_count)?;
        }
        check_duplicates(faces)?;

        let (edges, face_edges) = build_edges(faces)?;
        let edges: Field<Edges, Edge> = Field::from_vec(edges);
        let faces: Field<Faces, _> =
            Field::from_vec(faces.iter().map(|corners| corners.map(Id::new)).collect());
        let vertex_faces =
            Incidence::new(vertex_count, || faces.iter().flat_map(|(id, corners)| corners.map(|v| (v, id))));
        let vertex_edges = Incidence::new(vertex_count, || {
            edges.iter().flat_map(|(id, edge)| edge.vertices.map(|v| (v, id)))
        });
        Ok(Self {
            vertex_count,
            faces,
            edges,
            face_edges: Field::from_vec(face_edges),
            vertex_faces,
            vertex_edges,
        })
    }

    /// The same triangles as a part of something larger: their vertices count from `first`, among
    /// `total`. Faces and edges keep their numbers.
    ///
    /// ```
    /// use plisse_core::TriMesh;
    /// let mesh = TriMesh::new(4, &[[0, 1, 2], [2, 1, 3]])?;
    /// let part = mesh.among(10, 20);
    /// assert_eq!(part, TriMesh::with_isolated_vertices(20, &[[10, 11, 12], [12, 11, 13]])?);
    /// # Ok::<(), plisse_core::MeshError>(())
    /// ```
    ///
    /// # Panics
    /// If there is no room for them.
    #[must_use]
    pub fn among(&self, first: u32, total: usize) -> Self {
        assert!(first as usize + self.vertex_count <= total, "more vertices than there is room for");
        let id = |v: Id<Vertices>| Id::new(v.get() + first);
        Self {
            vertex_count: total,
            faces: self.faces.map(|corners| corners.map(id)),
            edges: self.edges.map(|edge| Edge { vertices: edge.vertices.map(id), ..*edge }),
            face_edges: self.face_edges.clone(),
            vertex_faces: self.vertex_faces.among(first as usize, total),
            vertex_edges: self.vertex_edges.among(first as usize, total),
        }
    }

    /// How many vertices, isolated ones included.
    #[inline]
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// How many triangles.
    #[inline]
    #[must_use]
    pub fn face_count(&self) -> usize {
        self.faces.len()
    }

    /// How many edges.
    #[inline]
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Every vertex, ascending.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = Id<Vertices>> + use<> {
        (0..self.vertex_count as u32).map(Id::new)
    }

    /// The corners of every face, counter-clockwise seen from the side of the normal.
    #[inline]
    #[must_use]
    pub fn faces(&self) -> &Field<Faces, [Id<Vertices>; 3]> {
        &self.faces
    }

    /// Every edge, in the order of its sorted end points.
    #[inline]
    #[must_use]
    pub fn edges(&self) -> &Field<Edges, Edge> {
        &self.edges
    }

    /// The edges of every face; edge `i` is opposite corner `i`.
    #[inline]
    #[must_use]
    pub fn face_edges(&self) -> &Field<Faces, [Id<Edges>; 3]> {
        &self.face_edges
    }

    /// The faces around a vertex, ascending.
    #[inline]
    #[must_use]
    pub fn vertex_faces(&self, vertex: Id<Vertices>) -> &[Id<Faces>] {
        self.vertex_faces.of(vertex)
    }

    /// The edges at a vertex, ascending.
    #[inline]
    #[must_use]
    pub fn vertex_edges(&self, vertex: Id<Vertices>) -> &[Id<Edges>] {
        self.vertex_edges.of(vertex)
    }

    /// The edges with only one face, ascending.
    pub fn boundary_edges(&self) -> impl Iterator<Item = Id<Edges>> + '_ {
        self.edges.iter().filter(|(_, edge)| edge.is_boundary()).map(|(id, _)| id)
    }

    /// Whether the vertex lies on the boundary.
    #[must_use]
    pub fn is_boundary_vertex(&self, vertex: Id<Vertices>) -> bool {
        self.vertex_edges(vertex).iter().any(|edge| self.edges[*edge].is_boundary())
    }

    /// The edge between two vertices, in either direction.
    #[must_use]
    pub fn edge_between(&self, a: Id<Vertices>, b: Id<Vertices>) -> Option<Id<Edges>> {
        self.vertex_edges(a).iter().copied().find(|edge| self.edges[*edge].vertices.contains(&b) && a != b)
    }

    /// The corner of a face that is not on the edge; `None` if the face does not have this edge.
    #[must_use]
    pub fn opposite_vertex(&self, face: Id<Faces>, edge: Id<Edges>) -> Option<Id<Vertices>> {
        let corner = self.face_edges[face].iter().position(|e| *e == edge)?;
        Some(self.faces[face][corner])
    }

    /// The same faces with vertices of their own on both sides of these edges, and in each of the
    /// fans that touch in a point. The first fan of a vertex keeps its number, the others get new
    /// ones after all old ones.
    ///
    /// # Errors
    /// [`MeshError`] if there would be too many vertices.
    pub fn cut(&self, edges: &[Id<Edges>]) -> Result<Self, MeshError> {
        let mut is_cut = vec![false; self.edge_count()];
        for edge in edges {
            is_cut[edge.index()] = true;
        }
        let mut faces: Vec<[u32; 3]> = self.faces.as_slice().iter().map(|face| face.map(Id::get)).collect();
        let mut count = self.vertex_count as u32;
        for vertex in self.vertices() {
            let around = self.vertex_faces(vertex);
            let mut left: Vec<Id<Faces>> = around.to_vec();
            let mut number = vertex.get();
            while let Some(first) = left.first().copied() {
                let mut fan = vec![first];
                left.retain(|face| *face != first);
                // Breadth first over the edges at this vertex that are not cut.
                let mut next = 0;
                while next < fan.len() {
                    let (face, corners) = (fan[next], self.faces[fan[next]]);
                    next += 1;
                    for edge in (0..3).filter(|k| corners[*k] != vertex).map(|k| self.face_edges[face][k]) {
                        let (one, other) = self.edges[edge].faces;
                        let beyond = if one == face { other } else { Some(one) };
                        if let Some(beyond) = beyond.filter(|f| !is_cut[edge.index()] && left.contains(f)) {
                            left.retain(|face| *face != beyond);
                            fan.push(beyond);
                        }
                    }
                }
                for face in fan {
                    for (corner, old) in faces[face.index()].iter_mut().zip(self.faces[face]) {
                        if old == vertex {
                            *corner = number;
                        }
                    }
                }
                if !left.is_empty() {
                    number = count;
                    count += 1;
                }
            }
        }
        Self::with_isolated_vertices(count as usize, &faces)
    }

    /// Vertices - edges + faces.
    #[must_use]
    pub fn euler_characteristic(&self) -> i64 {
        self.vertex_count as i64 - self.edge_count() as i64 + self.face_count() as i64
    }

    /// The pieces that the mesh falls into: the vertices of each, ascending, in the order of their
    /// first vertices. Faces that share a vertex belong together; an isolated vertex is a piece of
    /// its own.
    #[must_use]
    pub fn pieces(&self) -> Vec<Vec<Id<Vertices>>> {
        let links = self.edges.as_slice().iter().map(|edge| edge.vertices.map(Id::get));
        let pieces = connected_pieces(self.vertex_count, links);
        pieces.into_iter().map(|piece| piece.into_iter().map(Id::new).collect()).collect()
    }

    /// The boundary as closed loops of vertices, the surface on the left. Each loop starts at the
    /// boundary edge with the smallest id; where fans touch in a point, a loop stays on its own
    /// fan.
    #[must_use]
    pub fn boundary_loops(&self) -> Vec<Vec<Id<Vertices>>> {
        let mut seen = vec![false; self.edge_count()];
        let mut loops = Vec::new();
        for first in self.boundary_edges() {
            let mut edge = first;
            let mut vertices = Vec::new();
            while !seen[edge.index()] {
                seen[edge.index()] = true;
                vertices.push(self.edges[edge].vertices[0]);
                edge = self.next_boundary_edge(edge);
            }
            if !vertices.is_empty() {
                loops.push(vertices);
            }
        }
        loops
    }

    /// Turns around the end of a boundary edge, through the fan it belongs to, until the next
    /// boundary edge.
    fn next_boundary_edge(&self, edge: Id<Edges>) -> Id<Edges> {
        let pivot = self.edges[edge].vertices[1];
        let mut face = self.edges[edge].faces.0;
        let mut current = edge;
        loop {
            // The other edge of `face` at the pivot.
            let other = self.face_edges[face]
                .into_iter()
                .find(|e| *e != current && self.edges[*e].vertices.contains(&pivot))
                .unwrap_or(current);
            current = other;
            let (left, right) = self.edges[current].faces;
            match right {
                None => return current,
                Some(right) => face = if left == face { right } else { left },
            }
        }
    }
}

fn check_size(what: &'static str, count: usize) -> Result<(), MeshError> {
    if u32::try_from(count).is_ok() { Ok(()) } else { Err(MeshError::TooLarge { what, count }) }
}

fn check_face(face: Id<Faces>, corners: [u32; 3], vertex_count: usize) -> Result<(), MeshError> {
    for (corner, index) in corners.into_iter().enumerate() {
        if index as usize >= vertex_count {
            return Err(MeshError::IndexOutOfRange { face, corner, index, vertex_count });
        }
    }
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        if corners[i] == corners[j] {
            return Err(MeshError::RepeatedVertex { face, vertex: Id::new(corners[i]) });
        }
    }
    Ok(())
}

fn check_duplicates(faces: &[[u32; 3]]) -> Result<(), MeshError> {
    let mut sorted: Vec<([u32; 3], u32)> = faces
        .iter()
        .enumerate()
        .map(|(i, corners)| {
            let mut key = *corners;
            key.sort_unstable();
            (key, i as u32)
        })
        .collect();
    sorted.sort_unstable();
    for pair in sorted.windows(2) {
        if pair[0].0 == pair[1].0 {
            return Err(MeshError::DuplicateFace { faces: [Id::new(pair[0].1), Id::new(pair[1].1)] });
        }
    }
    Ok(())
}

/// One side of an edge: the face, which of its edges it is, and whether it runs from the smaller
/// vertex up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HalfEdge {
    low: u32,
    high: u32,
    face: u32,
    corner: u8,
    ascending: bool,
}

type EdgeTables = (Vec<Edge>, Vec<[Id<Edges>; 3]>);

fn build_edges(faces: &[[u32; 3]]) -> Result<EdgeTables, MeshError> {
    let mut halves: Vec<HalfEdge> = Vec::with_capacity(3 * faces.len());
    for (face, corners) in faces.iter().enumerate() {
        for corner in 0..3 {
            let (from, to) = (corners[(corner + 1) % 3], corners[(corner + 2) % 3]);
            halves.push(HalfEdge {
                low: from.min(to),
                high: from.max(to),
                face: face as u32,
                corner: corner as u8,
                ascending: from < to,
            });
        }
    }
    halves.sort_unstable();

    let mut edges = Vec::new();
    let mut face_edges = vec![[Id::new(0); 3]; faces.len()];
    for group in halves.chunk_by(|a, b| (a.low, a.high) == (b.low, b.high)) {
        let (low, high) = (Id::new(group[0].low), Id::new(group[0].high));
        let face = |half: &HalfEdge| Id::new(half.face);
        let edge = match group {
            [only] => Edge {
                vertices: if only.ascending { [low, high] } else { [high, low] },
                faces: (face(only), None),
            },
            [a, b] if a.ascending != b.ascending => {
                let (left, right) = if a.ascending { (a, b) } else { (b, a) };
                Edge { vertices: [low, high], faces: (face(left), Some(face(right))) }
            }
            [a, b] => {
                return Err(MeshError::InconsistentWinding { edge: [low, high], faces: [face(a), face(b)] });
            }
            [a, b, c, ..] => {
                return Err(MeshError::NonManifoldEdge {
                    edge: [low, high],
                    faces: [face(a), face(b), face(c)],
                });
            }
            [] => continue,
        };
        for half in group {
            face_edges[half.face as usize][half.corner as usize] = Id::new(edges.len() as u32);
        }
        edges.push(edge);
    }
    Ok((edges, face_edges))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_error(vertex_count: usize, faces: &[[u32; 3]], message: &str) {
        assert_eq!(TriMesh::new(vertex_count, faces).unwrap_err().to_string(), message);
    }

    #[test]
    fn refusals_name_the_place_and_the_remedy() {
        check_error(3, &[], "the mesh has no faces: give at least one triangle");
        check_error(
            3,
            &[[0, 1, 3]],
            "face 0, corner 2: index 3 is out of range, the mesh has 3 vertices (0 to 2)",
        );
        check_error(
            3,
            &[[0, 1, 1]],
            "face 0 uses vertex 1 twice: remove the face or merge its vertices properly",
        );
        check_error(
            3,
            &[[0, 1, 2], [1, 0, 2]],
            "face 0 and face 1 have the same three vertices: remove one of them",
        );
        check_error(
            5,
            &[[0, 1, 2], [1, 0, 3], [0, 1, 4]],
            "the edge between vertex 0 and vertex 1 has more than two faces (face 0, face 1, face 2): split the mesh along it",
        );
        check_error(
            6,
            &[[0, 1, 2]],
            "vertex 3 belongs to no face (3 such vertices in all): remove them, or allow them with TriMesh::with_isolated_vertices",
        );
        assert!(TriMesh::with_isolated_vertices(6, &[[0, 1, 2]]).is_ok());
    }

    #[test]
    fn edges_are_opposite_corners_and_keep_their_left_face() {
        let mesh = TriMesh::new(4, &[[0, 1, 2], [2, 1, 3]]).unwrap();
        for (face, corners) in mesh.faces().iter() {
            for corner in 0..3 {
                let edge = mesh.face_edges()[face][corner];
                assert_eq!(mesh.opposite_vertex(face, edge), Some(corners[corner]));
                assert!(!mesh.edges()[edge].vertices.contains(&corners[corner]));
            }
        }
        for (_, edge) in mesh.edges().iter() {
            let corners = mesh.faces()[edge.faces.0];
            let at = corners.iter().position(|v| *v == edge.vertices[0]).unwrap();
            assert_eq!(corners[(at + 1) % 3], edge.vertices[1], "the left face runs v0 to v1");
        }
        let shared = mesh.edge_between(Id::new(2), Id::new(1)).unwrap();
        assert_eq!(mesh.edges()[shared].faces, (Id::new(0), Some(Id::new(1))));
        assert_eq!(mesh.edge_between(Id::new(0), Id::new(3)), None);
        assert_eq!(mesh.edge_between(Id::new(0), Id::new(0)), None);
    }

    #[test]
    fn boundary_loops_run_with_the_surface_on_the_left() {
        let mesh = TriMesh::new(4, &[[0, 1, 2], [2, 1, 3]]).unwrap();
        assert_eq!(mesh.boundary_loops(), vec![[0, 1, 3, 2].map(Id::new).to_vec()]);
        assert!(mesh.vertices().all(|v| mesh.is_boundary_vertex(v)));
    }

    #[test]
    fn touching_fans_have_a_loop_each() {
        // Two triangles that share only vertex 2.
        let mesh = TriMesh::new(5, &[[0, 1, 2], [2, 3, 4]]).unwrap();
        let loops = mesh.boundary_loops();
        assert_eq!(loops.len(), 2);
        assert!(loops.iter().all(|l| l.len() == 3));
        assert_eq!(mesh.vertex_faces(Id::new(2)), [Id::new(0), Id::new(1)]);
    }

    #[test]
    fn closed_surface_has_no_boundary() {
        let tetrahedron = TriMesh::new(4, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]).unwrap();
        assert_eq!(tetrahedron.boundary_loops(), Vec::<Vec<_>>::new());
        assert_eq!(tetrahedron.euler_characteristic(), 2);
        assert_eq!(tetrahedron.vertex_edges(Id::new(3)).len(), 3);
    }
}
