//! Quadratic bending: constant matrices, assembled once.
//!
//! For a sheet that hardly stretches, bending energy is quadratic in the positions:
//! `E = k/2 Σ xᵀ Q x` over the three coordinates, with a matrix that depends on the flat rest shape
//! only. Forces are linear, the Hessian is constant and positive semidefinite as it is. What would
//! overflow for positions far away saturates.

use glam::DVec3;
use plisse_core::range::{largest_coordinate, multiply};
use plisse_core::{Edges, Faces, Field, Id, Positive, RestShape, Space, TriMesh, Vertices, saturate};

/// A constant symmetric matrix over one space, the same for each of the three coordinates, in N/m.
///
/// Rows hold every entry of the pattern, zeros included, so that the pattern depends on the mesh
/// alone.
#[derive(Clone, Debug, PartialEq)]
pub struct QuadraticBending<S: Space> {
    start: Vec<usize>,
    columns: Vec<Id<S>>,
    values: Vec<f64>,
}

impl QuadraticBending<Vertices> {
    /// On vertices: `Q = Lᵀ M⁻¹ L` with the cotangent Laplacian `L` and the lumped areas `M`
    /// (Chen21, section 4, after Bergou and Wardetzky), for the rigidity `D = E h³/(12 (1 - ν²))`
    /// in N m.
    ///
    /// On the boundary the flux through the free edge is taken out of `L`, so that every affine map
    /// of the sheet, rigid motions and stretching included, has no energy. Vertices on a cylinder
    /// have the energy of the plate in the limit where every ring is alike (a grid with parallel
    /// diagonals), and 9/8 of it on a chessboard of diagonals.
    #[must_use]
    pub fn on_vertices(mesh: &TriMesh, rest: &RestShape, rigidity: Positive) -> Self {
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); mesh.vertex_count()];
        for (face, corners) in mesh.faces().iter() {
            let cot = cotangents(rest, face);
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                let (a, b, c) = (corners[i].get(), corners[j].get(), corners[k].get());
                let half = 0.5 * cot[k];
                rows[a as usize].extend([(b, half), (a, -half)]);
                rows[b as usize].extend([(a, half), (b, -half)]);
                if mesh.edges()[mesh.face_edges()[face][k]].is_boundary() {
                    // |e|/2 dx/dn of the edge opposite k, in the rows of both its ends.
                    let flux = [(a, 0.5 * cot[j]), (b, 0.5 * cot[i]), (c, -0.5 * (cot[i] + cot[j]))];
                    rows[a as usize].extend(flux);
                    rows[b as usize].extend(flux);
                }
            }
        }
        let areas = rest.vertex_areas(mesh);
        let weighted = rows.into_iter().zip(areas.as_slice()).filter(|(row, _)| !row.is_empty());
        Self::from_rows(mesh.vertex_count(), weighted.map(|(row, area)| (rigidity.get() / area, row)))
    }
}

impl QuadraticBending<Edges> {
    /// On mid-edge unknowns of nonconforming elements: `Q = Σ l_eᵀ l_e/A_e` over interior edges
    /// with the rows `l_e` of the Crouzeix-Raviart stiffness matrix and `A_e` a third of the two
    /// areas (EB08, section 3.2), for the rigidity `D` in N m.
    ///
    /// Rows of boundary edges are left out: they contain the flux through the boundary, and affine
    /// maps would have energy. The operator is only weakly consistent: midpoints sampled on a
    /// cylinder have 9/8 to 3/2 of the energy of the plate, depending on the mesh; minimisers
    /// converge.
    #[must_use]
    pub fn on_edges(mesh: &TriMesh, rest: &RestShape, rigidity: Positive) -> Self {
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); mesh.edge_count()];
        for (face, edges) in mesh.face_edges().iter() {
            let cot = cotangents(rest, face);
            for k in 0..3 {
                let (a, b) = (edges[(k + 1) % 3].get(), edges[(k + 2) % 3].get());
                let twice = 2.0 * cot[k];
                rows[a as usize].extend([(a, twice), (b, -twice)]);
                rows[b as usize].extend([(b, twice), (a, -twice)]);
            }
        }
        let interior = mesh.edges().iter().zip(rows).filter_map(|((_, edge), row)| {
            let right = edge.faces.1?;
            let area = (rest.map(edge.faces.0).area() + rest.map(right).area()) / 3.0;
            Some((rigidity.get() / area, row))
        });
        Self::from_rows(mesh.edge_count(), interior)
    }
}

impl<S: Space> QuadraticBending<S> {
    /// `Σ weight · rowᵀ row`, summed in a fixed order.
    fn from_rows(size: usize, rows: impl Iterator<Item = (f64, Vec<(u32, f64)>)>) -> Self {
        let mut triplets: Vec<(u32, u32, f64)> = Vec::new();
        for (weight, mut row) in rows {
            row.sort_by_key(|entry| entry.0);
            let mut merged: Vec<(u32, f64)> = Vec::new();
            for (column, value) in row {
                match merged.last_mut() {
                    Some(last) if last.0 == column => last.1 += value,
                    _ => merged.push((column, value)),
                }
            }
            for (i, a) in &merged {
                triplets.extend(merged.iter().map(|(j, b)| (*i, *j, weight * a * b)));
            }
        }
        Self::from_triplets(size, triplets)
    }

    fn from_triplets(size: usize, mut triplets: Vec<(u32, u32, f64)>) -> Self {
        // Stable: equal entries are added in the order in which they come.
        triplets.sort_by_key(|t| (t.0, t.1));
        let mut out = Self { start: vec![0; size + 1], columns: Vec::new(), values: Vec::new() };
        let mut previous = None;
        for (i, j, value) in triplets {
            if previous == Some((i, j)) {
                if let Some(last) = out.values.last_mut() {
                    *last += value;
                }
                continue;
            }
            previous = Some((i, j));
            out.columns.push(Id::new(j));
            out.values.push(value);
            out.start[i as usize + 1] = out.columns.len();
        }
        for i in 0..size {
            out.start[i + 1] = out.start[i + 1].max(out.start[i]);
        }
        out
    }

    /// The same form over fewer unknowns: entry `i` of `target` says which new unknown the old one
    /// has become. Panels that were built apart are sewn this way, so that a seam bends freely.
    ///
    /// # Panics
    /// If `target` has another length than [`Self::size`] or names an unknown beyond `size`.
    #[must_use]
    pub fn merged(&self, target: &Field<S, Id<S>>, size: usize) -> Self {
        assert_eq!(target.len(), self.size(), "one target per {} is needed", S::NAME);
        let row = |i| self.row(i).map(move |(j, value)| (target[i].get(), target[j].get(), value));
        Self::from_triplets(size, target.ids().flat_map(row).collect())
    }

    /// How many unknowns per coordinate.
    #[must_use]
    pub fn size(&self) -> usize {
        self.start.len() - 1
    }

    /// The entries of one row, by ascending column.
    pub fn row(&self, i: Id<S>) -> impl Iterator<Item = (Id<S>, f64)> + '_ {
        let range = self.start[i.index()]..self.start[i.index() + 1];
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// `½ Σ xᵀ Q x` in joules, saturated.
    ///
    /// # Panics
    /// If `x` has another length than [`Self::size`].
    #[must_use]
    pub fn energy(&self, x: &Field<S, DVec3>) -> f64 {
        let plain = self.energy_at(x);
        if plain.is_finite() {
            return plain;
        }
        let largest = largest_coordinate(x.as_slice());
        saturate(saturate(self.energy_at(&x.map(|x| *x / largest)) * largest) * largest)
    }

    fn energy_at(&self, x: &Field<S, DVec3>) -> f64 {
        let (gradient, origin) = (self.gradient(x), origin(x));
        0.5 * x.as_slice().iter().zip(gradient.as_slice()).map(|(x, g)| (*x - origin).dot(*g)).sum::<f64>()
    }

    /// `Q x` in newtons, saturated: the force is its negative.
    ///
    /// # Panics
    /// If `x` has another length than [`Self::size`].
    #[must_use]
    pub fn gradient(&self, x: &Field<S, DVec3>) -> Field<S, DVec3> {
        assert_eq!(x.len(), self.size(), "one position per {} is needed", S::NAME);
        let origin = origin(x);
        Field::from_fn(self.size(), |i| {
            let plain: DVec3 = self.row(i).map(|(j, value)| (x[j] - origin) * value).sum();
            if plain.is_finite() {
                return plain;
            }
            let largest = largest_coordinate(x.as_slice());
            let unit = |p: DVec3| p / largest;
            multiply(self.row(i).map(|(j, value)| (unit(x[j]) - unit(origin)) * value).sum(), largest)
        })
    }
}

/// Cotangents of the rest angles at the three corners.
fn cotangents(rest: &RestShape, face: Id<Faces>) -> [f64; 3] {
    let map = rest.map(face);
    let gradient = |i: usize| map.barycentric_gradient(i % 3);
    [0, 1, 2].map(|k: usize| -2.0 * map.area() * gradient(k + 1).dot(gradient(k + 2)))
}

/// Translations cost nothing, but a sheet far from the origin would lose digits: positions count
/// from the first one.
fn origin<S: Space>(x: &Field<S, DVec3>) -> DVec3 {
    x.as_slice().first().copied().unwrap_or(DVec3::ZERO)
}
