//! The rest shape: what a mesh looks like without stress.

use glam::{DVec2, DVec3};
use thiserror::Error;

use super::hinge::{COLLAPSE, Hinge, hinge_angle};
use super::triangle_map::TriangleMap;
use crate::mesh::TriMesh;
use crate::scalar::length_and_direction;
use crate::space::{Edges, Faces, Field, FieldError, Id, Vertices};

/// Why coordinates are not a rest shape.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RestError {
    /// A triangle without area, or with edges outside 1e-30 m to 1e30 m.
    #[error(
        "{face} ({}, {}, {}) has no rest area ({area:e} m², longest edge {longest_edge:e} m): \
         remove the triangle, move a vertex, or check the material coordinates and their unit",
        vertices[0], vertices[1], vertices[2]
    )]
    ZeroArea {
        /// The face.
        face: Id<Faces>,
        /// Its corners.
        vertices: [Id<Vertices>; 3],
        /// Area found, m².
        area: f64,
        /// Length of its longest edge, m.
        longest_edge: f64,
    },
    /// A coordinate that is infinite or NaN.
    #[error("{vertex} of {face}: the coordinate {coordinate} is not finite")]
    NotFinite {
        /// The face.
        face: Id<Faces>,
        /// Its corner.
        vertex: Id<Vertices>,
        /// The coordinate as given.
        coordinate: String,
    },
    /// Coordinates for another mesh.
    #[error(transparent)]
    Length(#[from] FieldError),
}

/// Areas, maps and hinges of a mesh at rest. Every rest area is positive.
///
/// Coordinates are metres. Material coordinates may be given per vertex ([`Self::from_uv`]) or per
/// corner ([`Self::from_corner_uv`]), so that panels can be sewn along seams; or the rest shape may
/// be curved ([`Self::from_positions`]).
#[derive(Clone, Debug, PartialEq)]
pub struct RestShape {
    vertex_count: usize,
    maps: Field<Faces, TriangleMap>,
    hinges: Vec<Hinge>,
}

impl RestShape {
    /// A flat rest shape from one pair of material coordinates per vertex. All rest angles are
    /// zero.
    ///
    /// # Errors
    /// [`RestError`] names the face without area, or the coordinate that is not finite.
    pub fn from_uv(mesh: &TriMesh, uv: &Field<Vertices, DVec2>) -> Result<Self, RestError> {
        uv.check_len(mesh.vertex_count())?;
        Self::from_corners(mesh, |_, corners| corners.map(|v| uv[v]))
    }

    /// A rest shape from material coordinates per corner: the two sides of a seam have coordinates
    /// of their own. All rest angles are zero; see [`Self::with_rest_angles`].
    ///
    /// # Errors
    /// [`RestError`] names the face without area, or the coordinate that is not finite.
    pub fn from_corner_uv(mesh: &TriMesh, uv: &Field<Faces, [DVec2; 3]>) -> Result<Self, RestError> {
        uv.check_len(mesh.face_count())?;
        Self::from_corners(mesh, |face, _| uv[face])
    }

    /// A curved rest shape from positions in space, with its angles as rest angles.
    ///
    /// Each triangle is laid flat on its own: the first material axis runs along its edge from
    /// corner 0 to corner
    /// 1. Isotropic energies do not notice; directions of anisotropic ones then refer to that edge.
    ///
    /// # Errors
    /// [`RestError`] names the face without area, or the coordinate that is not finite.
    pub fn from_positions(mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Result<Self, RestError> {
        x.check_len(mesh.vertex_count())?;
        Self::from_corners(mesh, |_, corners| corners.map(|v| x[v]))?.with_rest_angles(x)
    }

    /// Replaces the rest angles by those of positions in space; areas and maps stay.
    ///
    /// # Errors
    /// [`RestError::Length`] for positions of another mesh, [`RestError::NotFinite`] for one that
    /// is infinite or NaN.
    pub fn with_rest_angles(mut self, x: &Field<Vertices, DVec3>) -> Result<Self, RestError> {
        x.check_len(self.vertex_count)?;
        for hinge in &self.hinges {
            if let Some(corner) = hinge.vertices.iter().position(|v| !x[*v].is_finite()) {
                let vertex = hinge.vertices[corner];
                let (face, coordinate) = (hinge.faces[usize::from(corner == 3)], x[vertex].to_string());
                return Err(RestError::NotFinite { face, vertex, coordinate });
            }
        }
        for hinge in &mut self.hinges {
            hinge.rest_angle = hinge_angle(&hinge.vertices.map(|v| x[v]));
        }
        Ok(self)
    }

    fn from_corners<P: Corner>(
        mesh: &TriMesh,
        corners: impl Fn(Id<Faces>, [Id<Vertices>; 3]) -> [P; 3],
    ) -> Result<Self, RestError> {
        let mut maps = Vec::with_capacity(mesh.face_count());
        let mut flat = Vec::with_capacity(mesh.face_count());
        for (face, vertices) in mesh.faces().iter() {
            let given = corners(face, *vertices);
            if let Some(corner) = given.iter().position(|p| !p.finite()) {
                let coordinate = given[corner].to_string();
                return Err(RestError::NotFinite { face, vertex: vertices[corner], coordinate });
            }
            let u = P::lay_flat(given);
            let Some(map) = TriangleMap::new(u) else {
                let edges = [u[1] - u[0], u[2] - u[1], u[0] - u[2]];
                return Err(RestError::ZeroArea {
                    face,
                    vertices: *vertices,
                    area: 0.5 * edges[0].perp_dot(u[2] - u[0]).abs(),
                    longest_edge: edges.iter().fold(0.0, |l: f64, e| l.max(e.length())),
                });
            };
            maps.push(map);
            flat.push(u);
        }
        let maps = Field::from_vec(maps);
        let hinges = hinges(mesh, &maps, &Field::from_vec(flat));
        Ok(Self { vertex_count: mesh.vertex_count(), maps, hinges })
    }

    /// The same shape for the mesh that [`TriMesh::among`] gives.
    #[must_use]
    pub fn among(&self, first: u32, total: usize) -> Self {
        let id = |v: Id<Vertices>| Id::new(v.get() + first);
        let hinge = |hinge: &Hinge| Hinge { vertices: hinge.vertices.map(id), ..*hinge };
        Self { vertex_count: total, maps: self.maps.clone(), hinges: self.hinges.iter().map(hinge).collect() }
    }

    /// The map of a face.
    #[inline]
    #[must_use]
    pub fn map(&self, face: Id<Faces>) -> &TriangleMap {
        &self.maps[face]
    }

    /// The maps of all faces.
    #[inline]
    #[must_use]
    pub fn maps(&self) -> &Field<Faces, TriangleMap> {
        &self.maps
    }

    /// One hinge per interior edge, in the order of the edges.
    #[inline]
    #[must_use]
    pub fn hinges(&self) -> &[Hinge] {
        &self.hinges
    }

    /// The hinge on an edge; `None` on the boundary.
    #[must_use]
    pub fn hinge_on(&self, edge: Id<Edges>) -> Option<&Hinge> {
        self.hinges.binary_search_by_key(&edge, |hinge| hinge.edge).ok().map(|at| &self.hinges[at])
    }

    /// Total rest area in m².
    #[must_use]
    pub fn area(&self) -> f64 {
        self.maps.as_slice().iter().map(TriangleMap::area).sum()
    }

    /// A third of the area of the faces around each vertex, in m²: times the area density, the
    /// lumped mass. Zero for isolated vertices.
    #[must_use]
    pub fn vertex_areas(&self, mesh: &TriMesh) -> Field<Vertices, f64> {
        Field::from_fn(mesh.vertex_count(), |v| {
            mesh.vertex_faces(v).iter().map(|face| self.maps[*face].area()).sum::<f64>() / 3.0
        })
    }
}

/// Corner coordinates, in the plane or in space.
trait Corner: Copy + std::fmt::Display {
    fn finite(self) -> bool;
    fn lay_flat(corners: [Self; 3]) -> [DVec2; 3];
}

impl Corner for DVec2 {
    fn finite(self) -> bool {
        self.is_finite()
    }
    fn lay_flat(corners: [Self; 3]) -> [DVec2; 3] {
        corners
    }
}

impl Corner for DVec3 {
    fn finite(self) -> bool {
        self.is_finite()
    }
    /// Corner 0 in the origin, corner 1 on the positive first axis, corner 2 above it.
    fn lay_flat(x: [Self; 3]) -> [DVec2; 3] {
        let (a, b) = (x[1] - x[0], x[2] - x[0]);
        let (length, t) = length_and_direction(a);
        let along = t.dot(b);
        let height = (b - t * along).length();
        [DVec2::ZERO, DVec2::new(length, 0.0), DVec2::new(along, height)]
    }
}

fn hinges(mesh: &TriMesh, maps: &Field<Faces, TriangleMap>, flat: &Field<Faces, [DVec2; 3]>) -> Vec<Hinge> {
    let mut out = Vec::new();
    for (id, edge) in mesh.edges().iter() {
        let (left, Some(right)) = edge.faces else { continue };
        let faces = [left, right];
        let corner = faces.map(|f| mesh.face_edges()[f].iter().position(|e| *e == id).unwrap_or(0));
        // Edge i of a face runs between the two other corners.
        let length = |side: usize| {
            let u = flat[faces[side]];
            (u[(corner[side] + 1) % 3] - u[(corner[side] + 2) % 3]).length()
        };
        let wing = |side: usize| mesh.faces()[faces[side]][corner[side]];
        out.push(Hinge {
            edge: id,
            vertices: [edge.vertices[0], edge.vertices[1], wing(0), wing(1)],
            faces,
            rest_length: 0.5 * (length(0) + length(1)),
            rest_areas: faces.map(|f| maps[f].area()),
            reach: COLLAPSE * maps[left].mean_height().min(maps[right].mean_height()),
            rest_angle: 0.0,
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate;

    #[test]
    fn refusals_name_face_and_vertices() {
        let mesh = TriMesh::new(4, &[[0, 1, 2], [2, 1, 3]]).unwrap();
        let mut uv =
            Field::from_vec([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]].map(DVec2::from).to_vec());
        assert_eq!(
            RestShape::from_uv(&mesh, &uv).unwrap_err().to_string(),
            "face 1 (vertex 2, vertex 1, vertex 3) has no rest area (0e0 m², longest edge 1.4142135623730951e0 m): \
             remove the triangle, move a vertex, or check the material coordinates and their unit"
        );
        uv[Id::new(3)] = DVec2::new(1.0, f64::NAN);
        assert_eq!(
            RestShape::from_uv(&mesh, &uv).unwrap_err().to_string(),
            "vertex 3 of face 1: the coordinate [1, NaN] is not finite"
        );
        let short = Field::from_vec(vec![DVec2::ZERO; 3]);
        assert_eq!(
            RestShape::from_uv(&mesh, &short).unwrap_err().to_string(),
            "expected one value per vertex, that is 4, got 3"
        );
    }

    #[test]
    fn flat_sheet() {
        let (mesh, uv) = generate::irregular_grid(6, 5, [1.2, 0.7], 3).unwrap();
        let rest = RestShape::from_uv(&mesh, &uv).unwrap();
        assert!((rest.area() - 0.84).abs() < 1e-14);
        assert!((rest.vertex_areas(&mesh).as_slice().iter().sum::<f64>() - 0.84).abs() < 1e-14);
        assert_eq!(rest.hinges().len(), mesh.edge_count() - mesh.boundary_edges().count());
        let x = generate::embed(&uv);
        let same = RestShape::from_positions(&mesh, &x).unwrap();
        for (a, b) in rest.hinges().iter().zip(same.hinges()) {
            assert_eq!(a.vertices(), b.vertices());
            assert!((a.rest_length() - b.rest_length()).abs() < 1e-15);
            assert_eq!(b.rest_angle(), 0.0);
            // x0, x1, x2 wind as the left face does, x1, x0, x3 as the right one.
            for (face, order) in a.faces().into_iter().zip([[0, 1, 2], [1, 0, 3]]) {
                let corners = mesh.faces()[face];
                let first = corners.iter().position(|v| *v == a.vertices()[order[0]]).unwrap();
                assert_eq!([0, 1, 2].map(|i| corners[(first + i) % 3]), order.map(|i| a.vertices()[i]));
            }
        }
    }

    #[test]
    fn cylinder_has_the_angles_of_its_polygon() {
        let around = 12;
        let tube = generate::cylinder(around, 3, 0.4, 1.0, generate::Diagonal::Right).unwrap();
        let generate::Tube { mesh, positions: x, uv } = tube;
        let rest = RestShape::from_corner_uv(&mesh, &uv).unwrap().with_rest_angles(&x).unwrap();
        let turn = std::f64::consts::TAU / around as f64;
        for hinge in rest.hinges() {
            let [a, b] = [hinge.vertices()[0], hinge.vertices()[1]].map(|v| x[v]);
            assert!((hinge.rest_length() - (a - b).length()).abs() < 1e-14);
            // Normals point outwards, so every fold is a ridge: negative. Diagonals and rings are
            // flat.
            let axial = (a - b).truncate().length() < 1e-12;
            let expected = if axial { -turn } else { 0.0 };
            assert!((hinge.rest_angle() - expected).abs() < 1e-13, "{} {expected}", hinge.rest_angle());
        }
    }

    #[test]
    fn reversed_material_winding_is_accepted() {
        let mesh = TriMesh::new(3, &[[0, 1, 2]]).unwrap();
        let uv = Field::from_vec([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]].map(DVec2::from).to_vec());
        assert_eq!(RestShape::from_uv(&mesh, &uv).unwrap().area(), 0.5);
    }
}
