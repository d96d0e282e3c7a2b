//! What takes part in contact: surfaces, thick lines and points, by the numbers of their vertices.

use plisse_core::{Edges, Faces, Id, TriMesh, Vertices};
use thiserror::Error;

/// The number of a body. Numbers need not be consecutive; filters decide by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Body(pub u32);

/// Why something cannot take part in contact.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ColliderError {
    /// A vertex that the scene does not have.
    #[error("{vertex} does not exist: there are {vertex_count} vertices")]
    NoSuchVertex {
        /// The vertex.
        vertex: Id<Vertices>,
        /// How many there are.
        vertex_count: usize,
    },
    /// A segment whose two ends are the same vertex.
    #[error("segment {segment} begins and ends at {vertex}: remove it")]
    RepeatedVertex {
        /// The index of the segment in the list that was given.
        segment: usize,
        /// Its only vertex.
        vertex: Id<Vertices>,
    },
    /// A vertex that another body already has.
    #[error("{vertex} belongs to body {} already: give both parts the same body", body.0)]
    TwoBodies {
        /// The vertex.
        vertex: Id<Vertices>,
        /// The body that has it.
        body: Body,
    },
    /// A radius that is negative, infinite or not a number.
    #[error("the radius is {radius}: give a length in metres, zero or more")]
    BadRadius {
        /// The radius.
        radius: f64,
    },
    /// More parts than trees can name.
    #[error("{count} {what} are too many: at most {most} can take part in contact")]
    TooMany {
        /// "vertices", "edges" or "faces".
        what: &'static str,
        /// How many there would be.
        count: usize,
        /// How many there may be.
        most: usize,
    },
}

/// A tree of `n` leaves has `2 n - 1` nodes, and its links keep one of 32 bits for leaves.
const MOST: usize = 1 << 30;

/// Vertices, edges and faces that can touch. Vertices have the numbers of the scene; edges and
/// faces are numbered in the order in which they were added, those of one surface in the order of
/// its mesh.
///
/// Every part has a radius in metres: half the thickness of a sheet, the radius of a wire. Parts
/// touch where their distance is the sum of their radii.
///
/// ```
/// use plisse_collision::{Body, Colliders};
/// use plisse_core::{Id, TriMesh};
///
/// let sheet = TriMesh::new(4, &[[0, 1, 2], [2, 1, 3]])?;
/// let mut colliders = Colliders::new(6);
/// colliders.add_surface(Body(0), &sheet, 0.0)?;
/// colliders.add_lines(Body(1), &[[Id::new(4), Id::new(5)]], 1e-3)?;
/// assert_eq!((colliders.face_count(), colliders.edge_count()), (2, 6));
/// assert_eq!(colliders.edge_radius(Id::new(5)), 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Colliders {
    /// For every vertex of the scene its body, if it takes part, and its largest radius.
    vertices: Vec<(Option<Body>, f64)>,
    edges: Vec<Part<2>>,
    faces: Vec<Part<3>>,
    /// The edges of lines, ascending.
    lines: Vec<u32>,
}

/// An edge or a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part<const N: usize> {
    pub(crate) vertices: [Id<Vertices>; N],
    pub(crate) body: Body,
    pub(crate) radius: f64,
}

impl Colliders {
    /// Nothing yet, in a scene with so many vertices.
    #[must_use]
    pub fn new(vertex_count: usize) -> Self {
        Self {
            vertices: vec![(None, 0.0); vertex_count],
            edges: Vec::new(),
            faces: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Adds the faces of a mesh, their edges and their vertices. Vertices without a face are left
    /// out, so that a mesh may be a part of the scene ([`TriMesh::among`]).
    ///
    /// `radius` is half the thickness, in metres, zero or more.
    ///
    /// # Errors
    /// [`ColliderError`]; nothing is added then.
    pub fn add_surface(&mut self, body: Body, mesh: &TriMesh, radius: f64) -> Result<(), ColliderError> {
        let used = mesh.vertices().filter(|vertex| !mesh.vertex_faces(*vertex).is_empty());
        self.check(body, used, radius)?;
        check_count("edges", self.edges.len() + mesh.edge_count())?;
        check_count("faces", self.faces.len() + mesh.face_count())?;
        for corners in mesh.faces().as_slice() {
            self.faces.push(Part { vertices: *corners, body, radius });
            self.take(body, corners, radius);
        }
        let edges = mesh.edges().as_slice().iter();
        self.edges.extend(edges.map(|edge| Part { vertices: edge.vertices, body, radius }));
        Ok(())
    }

    /// Adds segments and their ends: a wire, a yarn, the edges of a net.
    ///
    /// `radius` is in metres, zero or more.
    ///
    /// # Errors
    /// [`ColliderError`]; nothing is added then.
    pub fn add_lines(
        &mut self,
        body: Body,
        segments: &[[Id<Vertices>; 2]],
        radius: f64,
    ) -> Result<(), ColliderError> {
        self.check(body, segments.iter().flatten().copied(), radius)?;
        if let Some(segment) = segments.iter().position(|ends| ends[0] == ends[1]) {
            return Err(ColliderError::RepeatedVertex { segment, vertex: segments[segment][0] });
        }
        check_count("edges", self.edges.len() + segments.len())?;
        for ends in segments {
            self.lines.push(self.edges.len() as u32);
            self.edges.push(Part { vertices: *ends, body, radius });
            self.take(body, ends, radius);
        }
        Ok(())
    }

    /// Adds vertices alone: grains, or ends that touch with nothing between them.
    ///
    /// `radius` is in metres, zero or more. A vertex that is added again keeps the largest radius.
    ///
    /// # Errors
    /// [`ColliderError`]; nothing is added then.
    pub fn add_points(
        &mut self,
        body: Body,
        points: &[Id<Vertices>],
        radius: f64,
    ) -> Result<(), ColliderError> {
        self.check(body, points.iter().copied(), radius)?;
        self.take(body, points, radius);
        Ok(())
    }

    /// How many vertices the scene has, whether they take part or not.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    /// How many edges take part.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// How many faces take part.
    #[must_use]
    pub fn face_count(&self) -> usize {
        self.faces.len()
    }

    /// The ends of an edge.
    ///
    /// # Panics
    /// If there is no such edge.
    #[must_use]
    pub fn edge(&self, edge: Id<Edges>) -> [Id<Vertices>; 2] {
        self.edges[edge.index()].vertices
    }

    /// The corners of a face.
    ///
    /// # Panics
    /// If there is no such face.
    #[must_use]
    pub fn face(&self, face: Id<Faces>) -> [Id<Vertices>; 3] {
        self.faces[face.index()].vertices
    }

    /// The body of a vertex, if it takes part.
    ///
    /// # Panics
    /// If the scene has no such vertex.
    #[must_use]
    pub fn body(&self, vertex: Id<Vertices>) -> Option<Body> {
        self.vertices[vertex.index()].0
    }

    /// The radius of a vertex in metres: the largest of what it is a part of; zero if it takes no
    /// part.
    ///
    /// # Panics
    /// If the scene has no such vertex.
    #[must_use]
    pub fn vertex_radius(&self, vertex: Id<Vertices>) -> f64 {
        self.vertices[vertex.index()].1
    }

    /// The radius of an edge in metres.
    ///
    /// # Panics
    /// If there is no such edge.
    #[must_use]
    pub fn edge_radius(&self, edge: Id<Edges>) -> f64 {
        self.edges[edge.index()].radius
    }

    /// The radius of a face in metres.
    ///
    /// # Panics
    /// If there is no such face.
    #[must_use]
    pub fn face_radius(&self, face: Id<Faces>) -> f64 {
        self.faces[face.index()].radius
    }

    pub(crate) fn edges(&self) -> &[Part<2>] {
        &self.edges
    }

    pub(crate) fn faces(&self) -> &[Part<3>] {
        &self.faces
    }

    /// Every vertex that takes part, as a part, ascending.
    pub(crate) fn vertices(&self) -> impl Iterator<Item = Part<1>> {
        self.vertices.iter().enumerate().filter_map(|(i, (body, radius))| {
            body.map(|body| Part { vertices: [Id::new(i as u32)], body, radius: *radius })
        })
    }

    /// The edges of lines, ascending.
    pub(crate) fn lines(&self) -> &[u32] {
        &self.lines
    }

    fn check(
        &self,
        body: Body,
        mut vertices: impl Iterator<Item = Id<Vertices>>,
        radius: f64,
    ) -> Result<(), ColliderError> {
        if !(radius >= 0.0 && radius.is_finite()) {
            return Err(ColliderError::BadRadius { radius });
        }
        check_count("vertices", self.vertices.len())?;
        vertices.try_for_each(|vertex| match self.vertices.get(vertex.index()) {
            None => Err(ColliderError::NoSuchVertex { vertex, vertex_count: self.vertices.len() }),
            Some((Some(other), _)) if *other != body => {
                Err(ColliderError::TwoBodies { vertex, body: *other })
            }
            Some(_) => Ok(()),
        })
    }

    fn take(&mut self, body: Body, vertices: &[Id<Vertices>], radius: f64) {
        for vertex in vertices {
            let (owner, largest) = &mut self.vertices[vertex.index()];
            *owner = Some(body);
            *largest = largest.max(radius);
        }
    }
}

fn check_count(what: &'static str, count: usize) -> Result<(), ColliderError> {
    if count <= MOST { Ok(()) } else { Err(ColliderError::TooMany { what, count, most: MOST }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_take_part_is_named_and_nothing_is_added() {
        let mesh = TriMesh::new(3, &[[0, 1, 2]]).unwrap();
        let id = Id::new;
        let mut colliders = Colliders::new(5);
        colliders.add_surface(Body(7), &mesh, 1e-3).unwrap();
        let before = colliders.clone();
        let mut refused = |segments: &[[Id<Vertices>; 2]], body: u32, radius: f64, message: &str| {
            let error = colliders.add_lines(Body(body), segments, radius).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert_eq!(colliders, before);
        };
        refused(&[[id(3), id(4)], [id(4), id(5)]], 1, 0.0, "vertex 5 does not exist: there are 5 vertices");
        refused(
            &[[id(3), id(4)], [id(4), id(4)]],
            1,
            0.0,
            "segment 1 begins and ends at vertex 4: remove it",
        );
        refused(
            &[[id(3), id(0)]],
            1,
            0.0,
            "vertex 0 belongs to body 7 already: give both parts the same body",
        );
        refused(&[[id(3), id(4)]], 1, -1.0, "the radius is -1: give a length in metres, zero or more");
        refused(&[[id(3), id(4)]], 1, f64::NAN, "the radius is NaN: give a length in metres, zero or more");
        assert!(colliders.add_lines(Body(7), &[[id(3), id(0)]], 2e-3).is_ok());
        assert_eq!(colliders.vertex_radius(id(0)), 2e-3);
        assert_eq!(colliders.vertex_radius(id(1)), 1e-3);
        assert_eq!((colliders.body(id(3)), colliders.body(id(4))), (Some(Body(7)), None));
    }
}
