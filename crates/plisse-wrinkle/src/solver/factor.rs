//! The Newton matrix of scalars: a pattern that stays, filled through places, and its factor.

use std::sync::Arc;

use plisse_sparse::{BlockMatrix, Layout, Linear, LinearSolver, Pattern};

use crate::error::WrinkleError;

/// A symmetric sparse matrix and its Cholesky factor.
pub(super) struct NewtonMatrix {
    /// What is factorised.
    matrix: BlockMatrix,
    /// The exact Hessian, and what its projection adds to it. Each has one number more than the
    /// matrix: the last takes what belongs to fixed unknowns.
    parts: [Vec<f64>; 2],
    linear: Linear,
}

impl NewtonMatrix {
    /// The pattern with these pairs of unknowns, in any order and any number of times.
    pub(super) fn new(size: usize, pairs: Vec<(u32, u32)>) -> Result<Self, WrinkleError> {
        let too_large = || WrinkleError::OutOfMemory { unknowns: size };
        let pattern = Pattern::new(Layout::scalars(size), pairs.into_iter()).map_err(|_| too_large())?;
        let mut linear = Linear::new(LinearSolver::Cholesky);
        linear.prepare(&pattern).map_err(|_| too_large())?;
        let part = vec![0.0; pattern.number_count() + 1];
        Ok(Self { matrix: BlockMatrix::zeros(pattern), parts: [part.clone(), part], linear })
    }

    pub(super) fn size(&self) -> usize {
        self.matrix.pattern().size()
    }

    pub(super) fn factor_len(&self) -> usize {
        self.linear.factor_len().unwrap_or(0)
    }

    pub(super) fn bytes(&self) -> usize {
        let parts: usize = self.parts.iter().map(|part| size_of_val(part.as_slice())).sum();
        self.matrix.bytes() + parts + self.linear.bytes()
    }

    /// Where the parts have an entry; of a pair that is not in the pattern, the place that counts
    /// for nothing.
    pub(super) fn place(&self, i: u32, j: u32) -> u32 {
        self.matrix.pattern().slot(i, j).map_or(self.nowhere(), |slot| slot.offset() as u32)
    }

    /// The place that counts for nothing.
    pub(super) fn nowhere(&self) -> u32 {
        self.matrix.values().len() as u32
    }

    /// The exact Hessian and the correction, to fill.
    pub(super) fn clear(&mut self) -> [&mut [f64]; 2] {
        let [hessian, correction] = &mut self.parts;
        hessian.fill(0.0);
        correction.fill(0.0);
        [hessian, correction]
    }

    /// Makes the matrix the Hessian plus a part of the correction.
    pub(super) fn load(&mut self, part: f64) {
        let [hessian, correction] = &self.parts;
        for ((value, h), c) in self.matrix.values_mut().iter_mut().zip(hessian).zip(correction) {
            *value = h + part * c;
        }
    }

    /// The diagonal entry of an unknown.
    pub(super) fn diagonal(&self, unknown: usize) -> f64 {
        self.matrix.diagonal(unknown)[0]
    }

    pub(super) fn add_to_diagonal(&mut self, unknown: usize, value: f64) {
        self.matrix.add_to_diagonal(unknown, value);
    }

    /// Turns the rows and columns of held unknowns into those of the identity. The pattern, and
    /// with it the symbolic part, stays.
    pub(super) fn hold(&mut self, held: &[bool]) {
        let pattern = Arc::clone(self.matrix.pattern());
        for column in 0..pattern.size() {
            for (row, numbers) in pattern.column(column) {
                if held[column] || held[row] {
                    self.matrix.values_mut()[numbers.start] = f64::from(u8::from(row == column));
                }
            }
        }
    }

    /// Whether the matrix is positive definite; if so the factor is there to solve with.
    pub(super) fn factorise(&mut self) -> bool {
        self.linear.factorise(&self.matrix).is_ok()
    }

    /// Replaces `b` by the solution, with the last factor.
    pub(super) fn solve(&mut self, b: &mut [f64]) {
        let side = b.to_vec();
        self.linear.substitute(&side, b);
    }

    /// Entry `(i, j)` of the matrix.
    #[cfg(test)]
    pub(super) fn entry(&self, i: u32, j: u32) -> f64 {
        self.matrix.pattern().slot(i, j).map_or(0.0, |slot| self.matrix.values()[slot.offset()])
    }
}
