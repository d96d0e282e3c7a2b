//! Conjugate gradients with any preconditioner.

use glam::{DMat3, DVec3};

use crate::error::LinearError;
use crate::layout::LARGEST_NODE;
use crate::matrix::BlockMatrix;
use crate::operator::Operator;

/// Vectors of the iteration, kept between solves.
#[derive(Default)]
pub(crate) struct Workspace {
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    ap: Vec<f64>,
}

/// How long to go on, and how much to believe.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) iterations: usize,
    /// Whether the preconditioner is the inverse of this very matrix, up to rounding.
    pub(crate) trusted: bool,
    /// Whether to give up once the rate so far says that the limit will not suffice.
    pub(crate) foresees: bool,
}

impl Limits {
    /// Whether the iterations left to do are more than all that are allowed, at the rate of those
    /// so far: the residual has become `reached` of what it was, and should become `target`. What
    /// was spent is lost either way. Conjugate gradients become faster on their way, so that a few
    /// iterations tell little.
    pub(crate) fn is_hopeless(&self, iterations: usize, reached: f64, target: f64) -> bool {
        if !self.foresees || 4 * iterations < self.iterations || iterations < 3 {
            return false;
        }
        let gained = -reached.ln();
        let left = (reached / target).ln();
        gained <= 0.0 || left / gained * iterations as f64 > self.iterations as f64
    }
}

/// How a run of the iteration ended.
#[derive(Clone, Copy)]
pub(crate) struct Outcome {
    pub(crate) iterations: usize,
    /// `‖b - A x‖ / ‖b‖`, computed from `x` and not from the recursion.
    pub(crate) relative_residual: f64,
    pub(crate) converged: bool,
}

/// Solves `A x = b` from the given `x` until `‖b - A x‖ <= tolerance ‖b‖` or `limit` iterations are
/// spent.
///
/// Forces of a stiff system hide errors in its soft directions, so the error in energy is asked as
/// well, unless the preconditioner is `trusted` to be the inverse: an iteration must gain less than
/// a fifth of `tolerance` of what all have gained. That costs nothing to know (Hestenes and
/// Stiefel: step `k` gains `αₖ rₖ·zₖ`).
///
/// A direction of negative curvature ends it with an error: the matrix is not positive definite.
pub(crate) fn solve(
    a: &Operator<'_>,
    mut precondition: impl FnMut(&[f64], &mut [f64]),
    b: &[f64],
    x: &mut [f64],
    tolerance: f64,
    limits: Limits,
    work: &mut Workspace,
) -> Result<Outcome, LinearError> {
    let Limits { iterations: limit, trusted, .. } = limits;
    let n = b.len();
    let Workspace { r, z, p, ap } = work;
    for v in [&mut *r, &mut *z, &mut *p, &mut *ap] {
        v.resize(n, 0.0);
    }
    let norm_b = norm(b);
    if norm_b == 0.0 {
        x.fill(0.0);
        return Ok(Outcome { iterations: 0, relative_residual: 0.0, converged: true });
    }
    let mut iterations = 0;
    let mut last = f64::INFINITY;
    let mut energy = 0.0;
    // Each pass ends when the recursion says so; the next one starts from the true residual. That
    // is iterative refinement, with the preconditioner as the approximate inverse.
    loop {
        a.residual(b, x, r);
        let relative_residual = norm(r) / norm_b;
        if !relative_residual.is_finite() {
            return Err(LinearError::NotFinite);
        }
        let converged = relative_residual <= tolerance;
        // A pass that gained less than a factor of two has reached the rounding error of this
        // matrix.
        if converged || iterations >= limit || relative_residual > 0.5 * last {
            return Ok(Outcome { iterations, relative_residual, converged });
        }
        last = relative_residual;
        precondition(r, z);
        p.copy_from_slice(z);
        let mut rz = dot(r, z);
        while iterations < limit {
            a.apply(p, ap);
            let curvature = dot(p, ap);
            if rz.is_nan() || curvature.is_nan() {
                return Err(LinearError::NotFinite);
            }
            if curvature <= 0.0 || rz <= 0.0 {
                return Err(LinearError::NegativeCurvature);
            }
            let alpha = rz / curvature;
            for i in 0..n {
                x[i] += p[i] * alpha;
                r[i] -= ap[i] * alpha;
            }
            iterations += 1;
            energy += alpha * rz;
            let settled = trusted || alpha * rz <= 0.2 * tolerance * energy;
            let size = norm(r);
            if size == 0.0 || (settled && size <= tolerance * norm_b) {
                break;
            }
            if limits.is_hopeless(iterations, size / norm_b, tolerance) {
                let relative_residual = size / norm_b;
                return Ok(Outcome { iterations, relative_residual, converged: false });
            }
            precondition(r, z);
            let next = dot(r, z);
            // Solved as well as this preconditioner can tell; the true residual decides.
            if next == 0.0 {
                break;
            }
            let beta = next / rz;
            rz = next;
            for i in 0..n {
                p[i] = z[i] + p[i] * beta;
            }
        }
    }
}

/// Inverses of the diagonal blocks.
#[derive(Default)]
pub(crate) struct BlockJacobi(Vec<f64>);

impl BlockJacobi {
    pub(crate) fn update(&mut self, a: &BlockMatrix) {
        self.0.clear();
        for node in 0..a.pattern().size() {
            match a.diagonal(node) {
                block @ [_, _, _, _, _, _, _, _, _] => {
                    self.0.extend(inverse_of_three(&DMat3::from_cols_slice(block)).to_cols_array());
                }
                block => push_inverse(block, a.pattern().layout().size(node), &mut self.0),
            }
        }
    }

    /// Nine numbers for each node, where all have three unknowns.
    pub(crate) fn inverses(&self) -> &[f64] {
        &self.0
    }

    pub(crate) fn apply(&self, a: &BlockMatrix, r: &[f64], z: &mut [f64]) {
        let layout = a.pattern().layout();
        if layout.uniform() == Some(3) {
            let (r, inverses): (&[DVec3], &[DMat3]) =
                (bytemuck::cast_slice(r), bytemuck::cast_slice(&self.0));
            let z: &mut [DVec3] = bytemuck::cast_slice_mut(z);
            for ((z, r), inverse) in z.iter_mut().zip(r).zip(inverses) {
                *z = *inverse * *r;
            }
            return;
        }
        let mut inverses = self.0.as_slice();
        for node in 0..layout.nodes() {
            let range = layout.range(node);
            let (inverse, rest) = inverses.split_at(range.len() * range.len());
            inverses = rest;
            let (r, z) = (&r[range.clone()], &mut z[range]);
            // Symmetric: rows are columns.
            for (z, row) in z.iter_mut().zip(inverse.chunks_exact(r.len())) {
                *z = row.iter().zip(r).map(|(a, r)| a * r).sum();
            }
        }
    }
}

/// The inverse of a positive definite block; of any other one, of its trace alone, so that the
/// preconditioner stays positive definite.
fn inverse_of_three(block: &DMat3) -> DMat3 {
    let mean = (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0;
    let minor = block.x_axis.x * block.y_axis.y - block.x_axis.y * block.y_axis.x;
    let scale = mean * mean;
    let definite =
        block.x_axis.x > 0.0 && minor > 1e-12 * scale && block.determinant() > 1e-12 * scale * mean;
    if definite { block.inverse() } else { DMat3::from_diagonal(DVec3::splat(inverse_of_mean(mean))) }
}

fn inverse_of_mean(mean: f64) -> f64 {
    if mean > 0.0 { 1.0 / mean } else { 1.0 }
}

/// The same for blocks of any size, by Gauss and Jordan's elimination: its pivots tell whether the
/// block is positive definite.
fn push_inverse(block: &[f64], size: usize, out: &mut Vec<f64>) {
    let mean = block.iter().step_by(size + 1).sum::<f64>() / size as f64;
    let mut a = [[0.0; LARGEST_NODE]; LARGEST_NODE];
    for (row, from) in a.iter_mut().zip(block.chunks_exact(size)) {
        row[..size].copy_from_slice(from);
    }
    for k in 0..size {
        let pivot = a[k][k];
        // NaN is not definite, either.
        if !(pivot > 1e-12 * mean && mean > 0.0) {
            let identity = |at: usize| f64::from(u8::from(at.is_multiple_of(size + 1)));
            out.extend((0..size * size).map(|at| identity(at) * inverse_of_mean(mean)));
            return;
        }
        a[k][k] = 1.0;
        a[k][..size].iter_mut().for_each(|entry| *entry /= pivot);
        for i in (0..size).filter(|i| *i != k) {
            let factor = std::mem::take(&mut a[i][k]);
            for j in 0..size {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    out.extend(a[..size].iter().flat_map(|row| &row[..size]));
}

/// In six interleaved sums, in a fixed order.
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 6];
    let (whole, rest) = a.as_chunks::<6>();
    let (other, other_rest) = b.as_chunks::<6>();
    for (a, b) in whole.iter().zip(other) {
        for k in 0..6 {
            sums[k] += a[k] * b[k];
        }
    }
    for (sum, (a, b)) in sums.iter_mut().zip(rest.iter().zip(other_rest)) {
        *sum += a * b;
    }
    let [a, b, c, d, e, f] = sums;
    (a + d) + (b + e) + (c + f)
}

pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
