//! A sparse matrix with a few dense parts.

use crate::cg::dot;
use crate::matrix::BlockMatrix;

/// A matrix with dense parts: `A + Σ w u uᵀ`.
pub struct Operator<'a> {
    /// The sparse part.
    pub matrix: &'a BlockMatrix,
    /// Positive weights and vectors of the dense parts.
    pub rank_ones: &'a [(f64, Vec<f64>)],
}

impl Operator<'_> {
    /// `out = A x`.
    ///
    /// # Panics
    /// If a vector has another length than the matrix.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        self.matrix.mul(x, out);
        for (weight, u) in self.rank_ones {
            let along = weight * dot(u, x);
            for (out, u) in out.iter_mut().zip(u) {
                *out += *u * along;
            }
        }
    }

    pub(crate) fn residual(&self, b: &[f64], x: &[f64], out: &mut [f64]) {
        self.apply(x, out);
        for (r, b) in out.iter_mut().zip(b) {
            *r = *b - *r;
        }
    }
}
