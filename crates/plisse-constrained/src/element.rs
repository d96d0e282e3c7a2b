//! The Crouzeix-Raviart element: unknowns are the places of edge midpoints (EB08, section 3).
//!
//! ```text
//!            2              edge k is opposite corner k; φₖ = 1 - 2 λₖ is 1 along edge k,
//!           / \             0 at the two other midpoints, -1 at corner k
//!       m1 *   * m0
//!         /     \           x = Σ mₖ φₖ,   corner k lies at m₍ₖ₊₁₎ + m₍ₖ₊₂₎ - mₖ
//!        0 --*-- 1
//!            m2
//! ```

use glam::{DVec2, DVec3};
use plisse_core::{Edges, Faces, Field, FieldError, Id, Mat3x2, RestShape, TriMesh, TriangleMap, Vertices};

use crate::error::ConstrainedError;

/// A triangle mesh whose unknowns live on edge midpoints.
#[derive(Clone, Debug)]
pub struct CrMesh {
    mesh: TriMesh,
    maps: Field<Faces, TriangleMap>,
    area: Field<Faces, f64>,
    /// `∇φₖ` in material coordinates, 1/m.
    gradients: Field<Faces, [DVec2; 3]>,
    /// Rest length of the edge opposite each corner, m.
    lengths: Field<Faces, [f64; 3]>,
    mean_edge: f64,
}

impl CrMesh {
    /// The element on this mesh at rest. Meshes may be open or closed, flat or curved at rest, with
    /// seams or without.
    ///
    /// # Errors
    /// [`ConstrainedError::Length`] for a rest shape of another mesh.
    pub fn new(mesh: TriMesh, rest: &RestShape) -> Result<Self, ConstrainedError> {
        Self::from_maps(mesh, rest.maps())
    }

    /// The same with the rest shape of each face: of several bodies together.
    ///
    /// # Errors
    /// [`ConstrainedError::Length`] for maps of another mesh.
    pub fn from_maps(mesh: TriMesh, maps: &Field<Faces, TriangleMap>) -> Result<Self, ConstrainedError> {
        let length = |source| ConstrainedError::Length { what: "the rest shape", source };
        maps.check_len(mesh.face_count()).map_err(length)?;
        let area = maps.map(TriangleMap::area);
        let maps = maps.map(TriangleMap::of_midpoints);
        let gradients = maps.map(|map| [0, 1, 2].map(|k| map.barycentric_gradient(k)));
        // The height over edge k is 1/|∇λₖ|.
        let lengths = Field::from_fn(mesh.face_count(), |face| {
            [0, 1, 2].map(|k| area[face] * gradients[face][k].length())
        });
        let all: f64 = mesh.face_edges().ids().map(|f| lengths[f].iter().sum::<f64>()).sum();
        let mean_edge = all / (3 * mesh.face_count()).max(1) as f64;
        Ok(Self { mesh, maps, area, gradients, lengths, mean_edge })
    }

    /// Who is next to whom.
    #[must_use]
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Mean rest length of edges, m: linear rows are divided by it.
    #[must_use]
    pub fn mean_edge(&self) -> f64 {
        self.mean_edge
    }

    /// Rest area of a face, m².
    #[must_use]
    pub fn area(&self, face: Id<Faces>) -> f64 {
        self.area[face]
    }

    /// The map from the midpoints of a face's edges to its deformation gradient: with it an energy
    /// of `F` is one of edges.
    #[must_use]
    pub fn map(&self, face: Id<Faces>) -> &TriangleMap {
        &self.maps[face]
    }

    /// `∇φₖ` of the three edges of a face, in 1/m.
    #[must_use]
    pub fn gradients(&self, face: Id<Faces>) -> &[DVec2; 3] {
        &self.gradients[face]
    }

    /// Rest lengths of the edges of a face, opposite its corners, m. The two sides of a gathered
    /// seam may differ.
    #[must_use]
    pub fn lengths(&self, face: Id<Faces>) -> &[f64; 3] {
        &self.lengths[face]
    }

    /// A third of the area of the faces of each edge, m². Times the density it is the mass matrix,
    /// which is exactly diagonal: `∫ φᵢ φⱼ = A/3 δᵢⱼ`, since midpoint quadrature is exact for
    /// quadratics.
    #[must_use]
    pub fn edge_areas(&self) -> Field<Edges, f64> {
        self.edge_sums(|face| self.area[face])
    }

    /// The mass matrix of faces with these densities in kg/m², in kg.
    ///
    /// # Panics
    /// If there are fewer densities than faces.
    #[must_use]
    pub fn edge_masses(&self, densities: &Field<Faces, f64>) -> Field<Edges, f64> {
        self.edge_sums(|face| densities[face] * self.area[face])
    }

    /// A third of what the faces of each edge have.
    fn edge_sums(&self, of: impl Fn(Id<Faces>) -> f64) -> Field<Edges, f64> {
        self.mesh.edges().map(|edge| (of(edge.faces.0) + edge.faces.1.map_or(0.0, &of)) / 3.0)
    }

    /// Midpoints of a conforming surface, m.
    ///
    /// # Errors
    /// [`FieldError`] if the positions are not those of this mesh's vertices.
    pub fn midpoints(&self, x: &Field<Vertices, DVec3>) -> Result<Field<Edges, DVec3>, FieldError> {
        x.check_len(self.mesh.vertex_count())?;
        Ok(self.mesh.edges().map(|edge| (x[edge.vertices[0]] + x[edge.vertices[1]]) * 0.5))
    }

    /// Where a face has its corners, m: `Xₖ = m₍ₖ₊₁₎ + m₍ₖ₊₂₎ - mₖ`.
    #[must_use]
    pub fn corners(&self, face: Id<Faces>, x: &Field<Edges, DVec3>) -> [DVec3; 3] {
        let m = self.mesh.face_edges()[face].map(|edge| x[edge]);
        let sum = m[0] + m[1] + m[2];
        m.map(|m| sum - m * 2.0)
    }

    /// The deformation gradient of a face: `F = Σ mₖ (∇φₖ)ᵀ`.
    #[must_use]
    pub fn deformation_gradient(&self, face: Id<Faces>, x: &Field<Edges, DVec3>) -> Mat3x2 {
        let (edges, gradients) = (self.mesh.face_edges()[face], &self.gradients[face]);
        let mut columns = [DVec3::ZERO; 2];
        for (edge, gradient) in edges.into_iter().zip(gradients) {
            columns[0] += x[edge] * gradient.x;
            columns[1] += x[edge] * gradient.y;
        }
        let [a, b] = columns;
        Mat3x2::from_array([a.x, a.y, a.z, b.x, b.y, b.z])
    }

    /// The largest relative change of length of any edge of any triangle: what does not stretch has
    /// none.
    #[must_use]
    pub fn largest_stretch(&self, x: &Field<Edges, DVec3>) -> f64 {
        let of_face = |face: Id<Faces>| {
            let corners = self.corners(face, x);
            (0..3).map(move |k| {
                let length = corners[(k + 1) % 3].distance(corners[(k + 2) % 3]);
                (length / self.lengths[face][k] - 1.0).abs()
            })
        };
        self.area.ids().flat_map(of_face).fold(0.0, f64::max)
    }

    /// The corner of a face at a vertex.
    pub(crate) fn corner_at(&self, face: Id<Faces>, vertex: Id<Vertices>) -> Option<usize> {
        self.mesh.faces()[face].iter().position(|v| *v == vertex)
    }
}
