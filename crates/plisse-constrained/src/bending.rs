//! Bending on edge unknowns: a constant matrix (EB08, section 3.2; Wardetzky et al. 2007 without
//! the projection onto conforming surfaces).
//!
//! The stiffness matrix of the element, `Lᵢⱼ = ∫ ∇φᵢ·∇φⱼ`, applied to the positions gives the mean
//! curvature vector times area at every edge. Squared and divided by the area,
//!
//! `E = k/2 Σₑ (1/Aₑ) |lₑ x|²`, `Aₑ = (A₁ + A₂)/3`, over interior edges `e` with row `lₑ` of `L`.
//!
//! Rows of boundary edges hold the flux through the boundary, which is no curvature: with them even
//! an affine map would have an energy.

use glam::DVec3;
use plisse_core::{Edges, Field, Id, Positive};
use plisse_system::ConstantTerm;

use crate::element::CrMesh;

/// The matrix `k Q` of the bending energy `½ Σ qᵢⱼ xᵢ·xⱼ`, in N/m.
#[derive(Clone, Debug)]
pub struct EdgeBending {
    starts: Vec<usize>,
    entries: Vec<(Id<Edges>, f64)>,
}

/// Row `e` of the stiffness matrix: the edge itself and the four others of its two faces.
fn laplace_row(mesh: &CrMesh, edge: Id<Edges>) -> Vec<(Id<Edges>, f64)> {
    let (left, right) = mesh.mesh().edges()[edge].faces;
    let mut row: Vec<(Id<Edges>, f64)> = Vec::with_capacity(5);
    for face in [Some(left), right].into_iter().flatten() {
        let (edges, gradients) = (mesh.mesh().face_edges()[face], mesh.gradients(face));
        let Some(own) = edges.iter().position(|e| *e == edge) else { continue };
        for (other, gradient) in edges.into_iter().zip(gradients) {
            let value = mesh.area(face) * gradients[own].dot(*gradient);
            match row.iter_mut().find(|(e, _)| *e == other) {
                Some((_, sum)) => *sum += value,
                None => row.push((other, value)),
            }
        }
    }
    row
}

impl EdgeBending {
    /// The bending of a sheet with this rigidity in joules: `E h³/(12 (1 - ν²))` of a plate.
    #[must_use]
    pub fn new(mesh: &CrMesh, rigidity: Positive) -> Self {
        Self::varied(mesh, |_| rigidity.get())
    }

    /// The same with a rigidity of each interior edge in joules, zero or more. An edge of none is a
    /// crease: the sheet turns there freely.
    #[must_use]
    pub fn varied(mesh: &CrMesh, rigidity: impl Fn(Id<Edges>) -> f64) -> Self {
        let count = mesh.mesh().edge_count();
        let mut triplets: Vec<(u32, u32, f64)> = Vec::with_capacity(25 * count);
        for (id, edge) in mesh.mesh().edges().iter() {
            let (left, Some(right)) = edge.faces else { continue };
            let own = rigidity(id);
            if own == 0.0 {
                continue;
            }
            let row = laplace_row(mesh, id);
            let scale = 3.0 * own / (mesh.area(left) + mesh.area(right));
            for (i, a) in &row {
                triplets.extend(row.iter().map(|(j, b)| (i.get(), j.get(), scale * a * b)));
            }
        }
        // Stable, so that sums have one order.
        triplets.sort_by_key(|(i, j, _)| (*i, *j));
        let mut starts = vec![0; count + 1];
        let mut entries: Vec<(Id<Edges>, f64)> = Vec::with_capacity(triplets.len());
        for same in triplets.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            entries.push((Id::new(same[0].1), same.iter().map(|(_, _, value)| value).sum()));
            starts[same[0].0 as usize + 1] = entries.len();
        }
        // Edges far from any interior edge have empty rows.
        for i in 0..count {
            starts[i + 1] = starts[i + 1].max(starts[i]);
        }
        Self { starts, entries }
    }

    /// The stiffness matrix `L` of the element, row by row; rows of boundary edges included.
    #[must_use]
    pub fn laplacian(mesh: &CrMesh) -> Field<Edges, Vec<(Id<Edges>, f64)>> {
        Field::from_fn(mesh.mesh().edge_count(), |edge| laplace_row(mesh, edge))
    }

    /// Row `i` of the matrix, in N/m.
    pub fn row(&self, i: Id<Edges>) -> impl Iterator<Item = (Id<Edges>, f64)> + '_ {
        self.entries[self.starts[i.index()]..self.starts[i.index() + 1]].iter().copied()
    }

    /// Energy of positions, J.
    #[must_use]
    pub fn energy(&self, x: &Field<Edges, DVec3>) -> f64 {
        x.iter().map(|(i, xi)| 0.5 * xi.dot(self.row(i).map(|(j, q)| x[j] * q).sum())).sum()
    }

    /// The energy as a term of a system.
    #[must_use]
    pub fn term(&self) -> ConstantTerm<Edges> {
        ConstantTerm::from_rows("bending", self.starts.len() - 1, |i| self.row(i))
    }
}
