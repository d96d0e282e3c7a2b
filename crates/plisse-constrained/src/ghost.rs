//! The ghost conforming mesh: averaged corners, and how what happens to them comes back (EB08,
//! section 3.3, eqs 3-7).
//!
//! Row `v` of the averaging matrix `A` is the mean over the faces at vertex `v` of that corner as
//! the face sees it. A collision moves the ghost from `A x` to `x*`; edges follow by `x += W Aᵀ μ`,
//! `(A W Aᵀ) μ = x* - A x`, with `W` the inverse masses, so that the correction is an impulse, or
//! one as in the paper. Either matrix is constant, well conditioned (eigenvalues without masses
//! from 0.33 to 3.43, whatever the size) and factorised once.

use glam::DVec3;
use plisse_core::{Edges, Field, Id, Vertices};
use plisse_sparse::{BlockMatrix, Layout, Linear, LinearSolver, Pattern, Sink, Slot};

use crate::element::CrMesh;
use crate::error::ConstrainedError;

/// What corrections of edges are weighted with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GhostWeights {
    /// Inverse masses: the correction is an impulse. For meshes whose elements differ in size.
    #[default]
    InverseMasses,
    /// All alike, as in the paper. Held edges stay.
    Equal,
}

/// The averaging matrix and the factor of its normal equations.
pub struct Ghost {
    /// Row `v` is `starts[v]..starts[v + 1]`.
    starts: Vec<usize>,
    entries: Vec<(Id<Edges>, f64)>,
    weights: Field<Edges, f64>,
    inverse_masses: Field<Edges, f64>,
    linear: Linear,
    right: [Vec<f64>; 3],
    multipliers: [Vec<f64>; 3],
}

impl Ghost {
    /// The ghost of a mesh whose edges have these inverse masses in 1/kg, zero for held ones.
    ///
    /// # Errors
    /// [`ConstrainedError`] for a vertex without a face, inverse masses of another mesh, and a
    /// matrix that has no factor.
    pub fn new(
        mesh: &CrMesh,
        inverse_masses: &Field<Edges, f64>,
        weights: GhostWeights,
    ) -> Result<Self, ConstrainedError> {
        let length = |source| ConstrainedError::Length { what: "inverse masses", source };
        inverse_masses.check_len(mesh.mesh().edge_count()).map_err(length)?;
        let (starts, entries) = averages(mesh)?;
        let weights = inverse_masses.map(|w| match weights {
            GhostWeights::InverseMasses => *w,
            GhostWeights::Equal => f64::from(u8::from(*w > 0.0)),
        });
        let matrix = normal_matrix(&starts, &entries, &weights)?;
        let mut linear = Linear::new(LinearSolver::Cholesky);
        let refused = |source| ConstrainedError::Linear { what: "the ghost mesh", source };
        linear.factorise(&matrix).map_err(refused)?;
        let zeros = || vec![0.0; starts.len() - 1];
        let [right, multipliers] = [0, 1].map(|_| [zeros(), zeros(), zeros()]);
        let inverse_masses = inverse_masses.clone();
        Ok(Self { starts, entries, weights, inverse_masses, linear, right, multipliers })
    }

    /// Row `v` of the averaging matrix.
    #[must_use]
    pub fn row(&self, v: Id<Vertices>) -> &[(Id<Edges>, f64)] {
        &self.entries[self.starts[v.index()]..self.starts[v.index() + 1]]
    }

    pub(crate) fn inverse_mass(&self, edge: Id<Edges>) -> f64 {
        self.inverse_masses[edge]
    }

    /// `A x`: positions of the ghost from those of edges, or velocities from velocities.
    ///
    /// # Panics
    /// If there are fewer values than edges.
    #[must_use]
    pub fn average(&self, x: &Field<Edges, DVec3>) -> Field<Vertices, DVec3> {
        Field::from_fn(self.starts.len() - 1, |v| self.row(v).iter().map(|(e, a)| x[*e] * *a).sum())
    }

    /// Moves edges so that the ghost is at `target`: the smallest such change in the norm of the
    /// weights. Where the ghost is there already, nothing changes, to the last bit.
    ///
    /// # Panics
    /// If there are fewer values than edges or vertices.
    pub fn follow(&mut self, target: &Field<Vertices, DVec3>, x: &mut Field<Edges, DVec3>) {
        // The second pass takes what rounding and the factor have left of the first.
        for _ in 0..2 {
            let now = self.average(x);
            let mut is_there = true;
            for (v, now) in now.iter() {
                let gap = target[v] - *now;
                is_there &= gap == DVec3::ZERO;
                for axis in 0..3 {
                    self.right[axis][v.index()] = gap[axis];
                }
            }
            if is_there {
                return;
            }
            for axis in 0..3 {
                self.linear.substitute(&self.right[axis], &mut self.multipliers[axis]);
            }
            for v in now.ids() {
                let mu = DVec3::from_array([0, 1, 2].map(|axis| self.multipliers[axis][v.index()]));
                for (edge, a) in &self.entries[self.starts[v.index()]..self.starts[v.index() + 1]] {
                    x[*edge] += mu * (a * self.weights[*edge]);
                }
            }
        }
    }
}

type Rows = (Vec<usize>, Vec<(Id<Edges>, f64)>);

fn averages(mesh: &CrMesh) -> Result<Rows, ConstrainedError> {
    let topology = mesh.mesh();
    let (mut starts, mut entries) = (vec![0], Vec::new());
    for vertex in topology.vertices() {
        let faces = topology.vertex_faces(vertex);
        if faces.is_empty() {
            return Err(ConstrainedError::LooseVertex { vertex });
        }
        let first = entries.len();
        for face in faces {
            let at = mesh.corner_at(*face, vertex);
            for (k, edge) in topology.face_edges()[*face].into_iter().enumerate() {
                let value = if at == Some(k) { -1.0 } else { 1.0 } / faces.len() as f64;
                match entries[first..].iter_mut().find(|(e, _)| *e == edge) {
                    Some((_, sum)) => *sum += value,
                    None => entries.push((edge, value)),
                }
            }
        }
        starts.push(entries.len());
    }
    Ok((starts, entries))
}

/// `A W Aᵀ`; ones on the diagonal of vertices all of whose edges are held.
fn normal_matrix(
    starts: &[usize],
    entries: &[(Id<Edges>, f64)],
    weights: &Field<Edges, f64>,
) -> Result<BlockMatrix, ConstrainedError> {
    let mut of_edge: Vec<Vec<(u32, f64)>> = vec![Vec::new(); weights.len()];
    for (vertex, range) in starts.windows(2).enumerate() {
        for (edge, a) in &entries[range[0]..range[1]] {
            of_edge[edge.index()].push((vertex as u32, *a));
        }
    }
    let pairs = |list: &[(u32, f64)], weight: f64| -> Vec<(u32, u32, f64)> {
        let row = |k: usize| list[..=k].iter().map(move |(w, b)| (list[k].0, *w, weight * list[k].1 * b));
        (0..list.len()).flat_map(row).collect()
    };
    let all: Vec<(u32, u32, f64)> =
        of_edge.iter().zip(weights.as_slice()).flat_map(|(list, w)| pairs(list, *w)).collect();
    let layout = Layout::scalars(starts.len() - 1);
    let pattern = Pattern::new(layout, all.iter().map(|(v, w, _)| (*v, *w)))?;
    let slots: Vec<Slot> = all.iter().map(|(v, w, _)| pattern.slot(*v, *w).unwrap_or(Slot::NONE)).collect();
    let mut matrix = BlockMatrix::zeros(pattern);
    let mut sink = Sink::new(&mut matrix, &slots);
    for (index, (_, _, value)) in all.iter().enumerate() {
        sink.add_block(index, &[[*value]]);
    }
    for vertex in 0..starts.len() - 1 {
        let diagonal = &mut matrix.diagonal_mut(vertex)[0];
        if *diagonal <= 0.0 {
            *diagonal = 1.0;
        }
    }
    Ok(matrix)
}
