//! Conjugate gradients with any preconditioner.

use glam::{DMat3, DVec3};

use super::{LinearError, Operator};
use crate::matrix::{BlockMatrix, trace};

/// Vectors of the iteration, kept between solves.
#[derive(Default)]
pub(super) struct Workspace {
    r: Vec<DVec3>,
    z: Vec<DVec3>,
    p: Vec<DVec3>,
    ap: Vec<DVec3>,
}

/// How long to go on, and how much to believe.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) iterations: usize,
    /// Whether the preconditioner is the inverse of this very matrix, up to rounding.
    pub(super) trusted: bool,
}

/// How a run of the iteration ended.
#[derive(Clone, Copy)]
pub(super) struct Outcome {
    pub(super) iterations: usize,
    /// `‖b - A x‖ / ‖b‖`, computed from `x` and not from the recursion.
    pub(super) relative_residual: f64,
    pub(super) converged: bool,
}

/// Solves `A x = b` from the given `x` until `‖b - A x‖ <= tolerance ‖b‖` or `limit` iterations are spent.
///
/// Forces of a stiff system hide errors in its soft directions, so the error in energy is asked as well, unless the
/// preconditioner is `trusted` to be the inverse: an iteration must gain less than a fifth of `tolerance` of what all have
/// gained. That costs nothing to know (Hestenes and Stiefel: step `k` gains `αₖ rₖ·zₖ`).
///
/// A direction of negative curvature ends it with an error: the matrix is not positive definite.
pub(super) fn solve(
    a: &Operator<'_>,
    mut precondition: impl FnMut(&[DVec3], &mut [DVec3]),
    b: &[DVec3],
    x: &mut [DVec3],
    tolerance: f64,
    Limits { iterations: limit, trusted }: Limits,
    work: &mut Workspace,
) -> Result<Outcome, LinearError> {
    let n = b.len();
    let Workspace { r, z, p, ap } = work;
    for v in [&mut *r, &mut *z, &mut *p, &mut *ap] {
        v.resize(n, DVec3::ZERO);
    }
    let norm_b = norm(b);
    if norm_b == 0.0 {
        x.fill(DVec3::ZERO);
        return Ok(Outcome { iterations: 0, relative_residual: 0.0, converged: true });
    }
    let mut iterations = 0;
    let mut last = f64::INFINITY;
    let mut energy = 0.0;
    // Each pass ends when the recursion says so; the next one starts from the true residual. That is iterative
    // refinement, with the preconditioner as the approximate inverse.
    loop {
        a.residual(b, x, r);
        let relative_residual = norm(r) / norm_b;
        if !relative_residual.is_finite() {
            return Err(LinearError::NotFinite);
        }
        let converged = relative_residual <= tolerance;
        // A pass that gained less than a factor of two has reached the rounding error of this matrix.
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
pub(super) struct BlockJacobi(Vec<DMat3>);

impl BlockJacobi {
    pub(super) fn update(&mut self, a: &BlockMatrix) {
        self.0.clear();
        self.0.extend((0..a.pattern().size()).map(|i| inverse(a.diagonal(i))));
    }

    pub(super) fn apply(&self, r: &[DVec3], z: &mut [DVec3]) {
        for ((z, r), inverse) in z.iter_mut().zip(r).zip(&self.0) {
            *z = *inverse * *r;
        }
    }
}

/// The inverse of a positive definite block; of any other one, of its trace alone, so that the preconditioner stays
/// positive definite.
fn inverse(block: &DMat3) -> DMat3 {
    let mean = trace(block) / 3.0;
    let minor = block.x_axis.x * block.y_axis.y - block.x_axis.y * block.y_axis.x;
    let scale = mean * mean;
    let definite =
        block.x_axis.x > 0.0 && minor > 1e-12 * scale && block.determinant() > 1e-12 * scale * mean;
    if definite {
        block.inverse()
    } else if mean > 0.0 {
        DMat3::from_diagonal(DVec3::splat(1.0 / mean))
    } else {
        DMat3::IDENTITY
    }
}

/// In two interleaved sums, in a fixed order.
pub(crate) fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    let (mut even, mut odd) = (DVec3::ZERO, DVec3::ZERO);
    for (a, b) in a.chunks(2).zip(b.chunks(2)) {
        even += a[0] * b[0];
        if let ([_, a], [_, b]) = (a, b) {
            odd += *a * *b;
        }
    }
    (even + odd).element_sum()
}

pub(super) fn norm(a: &[DVec3]) -> f64 {
    dot(a, a).sqrt()
}
