//! The least-squares problem of the phase with its real unknowns eliminated: what is left are the
//! numbers of waves.

use std::f64::consts::TAU;
use std::sync::Arc;

use plisse_core::{Edges, Field};
use plisse_sparse::{BlockMatrix, Layout, Linear, LinearSolver, Operator, Pattern};

use crate::complex::{ComplexEdge, KeptComplex, Nodes};
use crate::error::WrinkleError;
use crate::lattice::{ClosestIntegers, closest_integers, quadratic_form};

/// `Σ D (B φ + 2π Γ k - ω)²` over the edges of the kept faces, minimised over `φ`.
///
/// For given `k` the best phase is `φ = φ_ω - 2π Σ k_j φ_j`, where `L φ_j = Bᵀ D Γ_j`,
/// `L φ_ω = Bᵀ D ω` and `L = Bᵀ D B`. What no phase can represent, `Γ~_j = Γ_j - B φ_j` and
/// `ω~ = ω - B φ_ω`, are residuals, orthogonal in `D` to all gradients. The sum is then
///
/// ```text
/// (k - k*)ᵀ G (k - k*) + const,     G_ij = 4π² Γ~_iᵀ D Γ~_j,     G k* = 2π Γ~ᵀ D ω~
/// ```
///
/// which is the Schur complement of `L`, written so that rounding cannot make it indefinite.
pub(super) struct Reduced {
    weights: Vec<f64>,
    omega: Vec<f64>,
    /// `φ_ω`, then one per generator.
    solutions: Vec<Vec<f64>>,
    pub(super) gram: Vec<f64>,
    /// `k*`.
    pub(super) real: Vec<f64>,
}

impl Reduced {
    /// `weights` and `omega` per edge of the complex, in its order.
    pub(super) fn new(
        complex: &KeptComplex,
        weights: Vec<f64>,
        omega: Vec<f64>,
    ) -> Result<Self, WrinkleError> {
        let b1 = complex.betti();
        let generators = generators(complex);
        let mut sides: Vec<&[f64]> = vec![&omega];
        sides.extend(generators.iter().map(Vec::as_slice));
        let solutions = gradients(complex, &weights, &sides)?;
        // What remains of the right sides is in place of the gradients from here on.
        let remain = |side: &[f64], phi: &[f64]| -> Vec<f64> {
            let edges = complex.edges().iter().zip(side);
            edges.map(|(e, value)| value - (phi[e.nodes[1].index()] - phi[e.nodes[0].index()])).collect()
        };
        let residuals: Vec<Vec<f64>> = sides.iter().zip(&solutions).map(|(s, phi)| remain(s, phi)).collect();
        let product = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).zip(&weights).map(|((a, b), d)| d * a * b).sum()
        };
        let mut gram = vec![0.0; b1 * b1];
        for i in 0..b1 {
            for j in 0..=i {
                let value = TAU * TAU * product(&residuals[1 + i], &residuals[1 + j]);
                gram[i * b1 + j] = value;
                gram[j * b1 + i] = value;
            }
        }
        let side: Vec<f64> =
            residuals[1..].iter().map(|residual| TAU * product(residual, &residuals[0])).collect();
        let real = solve_dense(&gram, &side)?;
        Ok(Self { weights, omega, solutions, gram, real })
    }

    /// The integers of least cost.
    pub(super) fn closest(&self, node_limit: usize) -> Result<ClosestIntegers, WrinkleError> {
        closest_integers(&self.gram, &self.real, node_limit)
    }

    /// Integers that another choice `j` must beat by more than `η (j - k)ᵀ G (j - k)`, starting
    /// from `first`.
    ///
    /// Each pass minimises `cost(j) + η ‖j - k‖²`, which is again a problem of closest integers,
    /// with the target drawn towards `k`, and continues from its answer. A pass that moves lowers
    /// the cost, so they come to an end.
    pub(super) fn closest_from(
        &self,
        first: &[i64],
        hysteresis: f64,
        node_limit: usize,
    ) -> Result<ClosestIntegers, WrinkleError> {
        let (mut k, mut nodes, mut proven) = (first.to_vec(), 0, true);
        loop {
            let target: Vec<f64> = self
                .real
                .iter()
                .zip(&k)
                .map(|(real, k)| (real + hysteresis * *k as f64) / (1.0 + hysteresis))
                .collect();
            let next = closest_integers(&self.gram, &target, node_limit)?;
            nodes += next.nodes;
            proven &= next.proven;
            let (cost, before) = (self.cost(&next.integers), self.cost(&k));
            if next.integers == k || cost >= before {
                return Ok(ClosestIntegers { integers: k, cost: before, nodes, proven });
            }
            k = next.integers;
        }
    }

    /// `(k - k*)ᵀ G (k - k*)`.
    pub(super) fn cost(&self, k: &[i64]) -> f64 {
        quadratic_form(&self.gram, &self.real, k)
    }

    /// The best phase with these integers, zero at the root of every component.
    pub(super) fn phase(&self, k: &[i64]) -> Field<Nodes, f64> {
        Field::from_fn(self.solutions[0].len(), |node| {
            let of = |s: usize| self.solutions[s][node.index()];
            k.iter().enumerate().fold(of(0), |phi, (j, k)| phi - TAU * *k as f64 * of(1 + j))
        })
    }

    /// `Σ D (ω_k - ω)²` and the largest `|ω_k - ω|`, of a form on all edges of the mesh.
    pub(super) fn misfit(&self, complex: &KeptComplex, form: &Field<Edges, f64>) -> (f64, f64) {
        let edges = complex.edges().iter().zip(&self.omega).zip(&self.weights);
        edges.fold((0.0, 0.0), |(sum, largest): (f64, f64), ((edge, omega), weight)| {
            let off = form[edge.edge] - omega;
            (sum + weight * off * off, largest.max(off.abs()))
        })
    }
}

/// `Γ_k` as one number per edge of the complex.
fn generators(complex: &KeptComplex) -> Vec<Vec<f64>> {
    let mut all = vec![vec![0.0; complex.edges().len()]; complex.betti()];
    for (place, edge) in complex.edges().iter().enumerate() {
        for crossing in complex.crossings(edge.edge) {
            all[crossing.generator][place] = crossing.sign;
        }
    }
    all
}

/// The `φ` whose gradient is closest to each of the sides: one factor for all, with the roots held
/// at zero.
fn gradients(
    complex: &KeptComplex,
    weights: &[f64],
    sides: &[&[f64]],
) -> Result<Vec<Vec<f64>>, WrinkleError> {
    let n = complex.node_count();
    let mut place = vec![Some(0u32); n];
    for root in complex.roots() {
        place[root.index()] = None;
    }
    let mut free = 0;
    for place in place.iter_mut().flatten() {
        *place = free;
        free += 1;
    }
    let ends = |edge: &ComplexEdge| edge.nodes.map(|node| place[node.index()]);
    let pairs = complex.edges().iter().filter_map(|edge| {
        let [tail, head] = ends(edge);
        tail.zip(head)
    });
    let too_large = |_| unsolvable("the matrix of the phase does not fit into memory");
    let pattern = Pattern::new(Layout::scalars(free as usize), pairs).map_err(too_large)?;
    let mut matrix = BlockMatrix::zeros(Arc::clone(&pattern));
    let mut right = vec![vec![0.0; free as usize]; sides.len()];
    for (at, (edge, weight)) in complex.edges().iter().zip(weights).enumerate() {
        let ends = ends(edge);
        for (end, sign) in ends.into_iter().zip([-1.0, 1.0]) {
            let Some(row) = end else { continue };
            matrix.add_to_diagonal(row as usize, *weight);
            for (right, side) in right.iter_mut().zip(sides) {
                right[row as usize] += sign * weight * side[at];
            }
        }
        if let [Some(tail), Some(head)] = ends
            && let Some(slot) = pattern.slot(tail, head)
        {
            matrix.values_mut()[slot.offset()] -= weight;
        }
    }
    let mut linear = Linear::new(LinearSolver::Cholesky);
    linear.factorise(&matrix).map_err(|_| {
        unsolvable("the matrix of the phase is singular to working precision: rest areas are too different")
    })?;
    let solution = |right: &Vec<f64>| {
        let mut found = vec![0.0; free as usize];
        linear.substitute(right, &mut found);
        let value = |row: &Option<u32>| row.map_or(0.0, |row| found[row as usize]);
        place.iter().map(value).collect()
    };
    Ok(right.iter().map(solution).collect())
}

/// Solves a small symmetric positive definite system, its matrix given row by row.
fn solve_dense(matrix: &[f64], side: &[f64]) -> Result<Vec<f64>, WrinkleError> {
    let n = side.len() as u32;
    let too_large = |_| unsolvable("there are too many generators");
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    let pattern = Pattern::new(Layout::scalars(side.len()), pairs).map_err(too_large)?;
    let mut a = BlockMatrix::zeros(Arc::clone(&pattern));
    for j in 0..side.len() {
        for (i, numbers) in pattern.column(j) {
            a.values_mut()[numbers.start] = matrix[i * side.len() + j];
        }
    }
    let mut x = vec![0.0; side.len()];
    Linear::new(LinearSolver::Cholesky)
        .solve(&Operator { matrix: &a, rank_ones: &[] }, side, &mut x, 1e-14)
        .map_err(|_| unsolvable("the generators are not independent to working precision"))?;
    Ok(x)
}

fn unsolvable(reason: &str) -> WrinkleError {
    WrinkleError::Lattice { reason: reason.to_owned() }
}
