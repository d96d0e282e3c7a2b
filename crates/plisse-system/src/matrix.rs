//! Symmetric sparse matrices of 3×3 blocks with a frozen pattern.

use std::sync::Arc;

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::error::SetupError;
use crate::term::Slot;

/// Rows per task of a parallel product.
const ROWS: usize = 512;

/// Which blocks of a symmetric matrix are stored: the lower triangle, column by column.
#[derive(Debug, PartialEq, Eq)]
pub struct BlockPattern {
    /// Blocks of column `j` are `starts[j]..starts[j + 1]`; the first of them is the diagonal.
    starts: Vec<u32>,
    /// Row of each block, ascending within a column.
    rows: Vec<u32>,
    /// Blocks left of the diagonal in row `i` are `left_starts[i]..left_starts[i + 1]`.
    left_starts: Vec<u32>,
    /// Column and index of each block left of the diagonal, by ascending column.
    left: Vec<(u32, u32)>,
}

impl BlockPattern {
    /// The pattern of `size` block rows with the given pairs, in any order and with repetitions. Every diagonal block is
    /// there.
    ///
    /// # Panics
    /// If a pair names a row beyond `size`.
    pub fn new(size: usize, pairs: impl Iterator<Item = (u32, u32)>) -> Result<Self, SetupError> {
        let key = |i: u32, j: u32| u64::from(i.min(j)) << 32 | u64::from(i.max(j));
        let mut keys: Vec<u64> = pairs.map(|(i, j)| key(i, j)).collect();
        keys.extend((0..size as u32).map(|i| key(i, i)));
        keys.sort_unstable();
        keys.dedup();
        if keys.len() >= Slot::LIMIT {
            return Err(SetupError::TooLarge { count: keys.len() });
        }
        let mut starts = vec![0; size + 1];
        let mut left_starts = vec![0; size + 1];
        for &k in &keys {
            let (column, row) = ((k >> 32) as usize, k as u32 as usize);
            starts[column + 1] += 1;
            if row != column {
                left_starts[row + 1] += 1;
            }
        }
        for i in 0..size {
            starts[i + 1] += starts[i];
            left_starts[i + 1] += left_starts[i];
        }
        let rows: Vec<u32> = keys.iter().map(|&k| k as u32).collect();
        let mut next = left_starts.clone();
        let mut left = vec![(0, 0); left_starts[size] as usize];
        for (index, &k) in keys.iter().enumerate() {
            let (column, row) = ((k >> 32) as u32, k as u32);
            if row != column {
                left[next[row as usize] as usize] = (column, index as u32);
                next[row as usize] += 1;
            }
        }
        Ok(Self { starts, rows, left_starts, left })
    }

    /// Number of block rows.
    #[must_use]
    pub fn size(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of stored blocks.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.rows.len()
    }

    /// Indices of the stored blocks of a column; the first is the diagonal.
    #[inline]
    pub fn column(&self, j: usize) -> std::ops::Range<usize> {
        self.starts[j] as usize..self.starts[j + 1] as usize
    }

    /// Block row of each stored block.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The slot of block `(i, j)`.
    pub(crate) fn slot(&self, i: u32, j: u32) -> Slot {
        let (column, row) = (i.min(j), i.max(j));
        let range = self.column(column as usize);
        match self.rows[range.clone()].binary_search(&row) {
            Ok(k) => Slot::new(range.start + k, i < j),
            Err(_) => Slot::NONE,
        }
    }

    fn left(&self, i: usize) -> &[(u32, u32)] {
        &self.left[self.left_starts[i] as usize..self.left_starts[i + 1] as usize]
    }
}

/// A symmetric matrix of 3×3 blocks; its lower triangle is stored.
#[derive(Clone, Debug)]
pub struct BlockMatrix {
    pattern: Arc<BlockPattern>,
    values: Vec<DMat3>,
}

impl BlockMatrix {
    /// A matrix of zeros.
    #[must_use]
    pub fn zeros(pattern: Arc<BlockPattern>) -> Self {
        let values = vec![DMat3::ZERO; pattern.block_count()];
        Self { pattern, values }
    }

    /// The pattern.
    #[must_use]
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// The stored blocks, column by column.
    #[must_use]
    pub fn values(&self) -> &[DMat3] {
        &self.values
    }

    /// The stored blocks, to be changed. Diagonal blocks must stay symmetric.
    #[must_use]
    pub fn values_mut(&mut self) -> &mut [DMat3] {
        &mut self.values
    }

    /// The diagonal block of a row.
    #[inline]
    #[must_use]
    pub fn diagonal(&self, i: usize) -> &DMat3 {
        &self.values[self.pattern.starts[i] as usize]
    }

    /// The diagonal block of a row, to be changed.
    #[inline]
    #[must_use]
    pub fn diagonal_mut(&mut self, i: usize) -> &mut DMat3 {
        &mut self.values[self.pattern.starts[i] as usize]
    }

    /// Mean of the diagonal entries; zero for a matrix without rows.
    #[must_use]
    pub fn mean_diagonal(&self) -> f64 {
        let size = self.pattern.size();
        let sum: f64 = (0..size).map(|i| trace(self.diagonal(i))).sum();
        if size == 0 { 0.0 } else { sum / (3 * size) as f64 }
    }

    /// Mean of the absolute values of the diagonal entries.
    pub(crate) fn mean_abs_diagonal(&self) -> f64 {
        let size = self.pattern.size();
        let of_block = |d: &DMat3| d.x_axis.x.abs() + d.y_axis.y.abs() + d.z_axis.z.abs();
        let sum: f64 = (0..size).map(|i| of_block(self.diagonal(i))).sum();
        if size == 0 { 0.0 } else { sum / (3 * size) as f64 }
    }

    /// `out = A x`. Each row is one sum in a fixed order, so the bits do not depend on the number of threads.
    ///
    /// # Panics
    /// If a vector has another length than the matrix.
    pub fn mul(&self, x: &[DVec3], out: &mut [DVec3]) {
        let size = self.pattern.size();
        assert!(x.len() == size && out.len() == size, "vectors and matrix must have one size");
        if size < 4 * ROWS || rayon::current_num_threads() == 1 {
            for (i, out) in out.iter_mut().enumerate() {
                *out = self.row_product(i, x);
            }
        } else {
            out.par_chunks_mut(ROWS).enumerate().for_each(|(chunk, out)| {
                for (k, out) in out.iter_mut().enumerate() {
                    *out = self.row_product(chunk * ROWS + k, x);
                }
            });
        }
    }

    /// Row `i` of the product: blocks left of the diagonal as they are stored, blocks right of it transposed from column `i`.
    #[inline]
    fn row_product(&self, i: usize, x: &[DVec3]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for &(column, block) in self.pattern.left(i) {
            sum += self.values[block as usize] * x[column as usize];
        }
        let range = self.pattern.column(i);
        let mut blocks = self.values[range.clone()].iter().zip(&self.pattern.rows[range]);
        if let Some((diagonal, _)) = blocks.next() {
            sum += *diagonal * x[i];
        }
        for (block, &row) in blocks {
            let v = x[row as usize];
            sum += DVec3::new(block.x_axis.dot(v), block.y_axis.dot(v), block.z_axis.dot(v));
        }
        sum
    }

    /// Restricts the matrix to the directions that `allowed` keeps per node: `A ← P A P + s (I - P)` with `s` the mean
    /// diagonal, so that a right side within those directions has its solution there, too.
    pub(crate) fn restrict(&mut self, allowed: &[Option<DMat3>]) {
        let scale = self.mean_diagonal();
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let pattern = Arc::clone(&self.pattern);
        for j in 0..pattern.size() {
            for index in pattern.column(j) {
                let i = pattern.rows[index] as usize;
                if let Some(p) = &allowed[i] {
                    self.values[index] = *p * self.values[index];
                }
                if let Some(p) = &allowed[j] {
                    self.values[index] *= *p;
                }
            }
            if let Some(p) = &allowed[j] {
                *self.diagonal_mut(j) += (DMat3::IDENTITY - *p) * scale;
            }
        }
    }

    /// Bytes of values and pattern.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let blocks = self.values.len() * size_of::<DMat3>();
        let indices = self.pattern.rows.len() + self.pattern.starts.len() + self.pattern.left_starts.len();
        blocks + 4 * indices + 8 * self.pattern.left.len()
    }
}

pub(crate) fn trace(m: &DMat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> BlockMatrix {
        let pairs = [(0, 1), (3, 1), (2, 0), (1, 0)];
        let pattern = Arc::new(BlockPattern::new(4, pairs.into_iter()).unwrap());
        let mut a = BlockMatrix::zeros(pattern);
        for (k, value) in a.values_mut().iter_mut().enumerate() {
            *value = DMat3::from_cols_array(&std::array::from_fn(|e| ((7 * k + 3 * e) % 11) as f64 - 4.0));
        }
        for i in 0..4 {
            let d = *a.diagonal(i);
            *a.diagonal_mut(i) = (d + d.transpose()) * 0.5 + DMat3::IDENTITY * 40.0;
        }
        a
    }

    fn dense(a: &BlockMatrix) -> Vec<Vec<f64>> {
        let n = a.pattern().size();
        let mut out = vec![vec![0.0; 3 * n]; 3 * n];
        for j in 0..n {
            for index in a.pattern().column(j) {
                let i = a.pattern().rows()[index] as usize;
                for c in 0..3 {
                    for r in 0..3 {
                        let value = a.values()[index].col(c)[r];
                        out[3 * i + r][3 * j + c] = value;
                        out[3 * j + c][3 * i + r] = value;
                    }
                }
            }
        }
        out
    }

    #[test]
    fn product_equals_the_dense_one() {
        let a = sample();
        let x: Vec<DVec3> = (0..4).map(|i| DVec3::new(1.0 + i as f64, -0.5, 0.25 * i as f64)).collect();
        let mut y = vec![DVec3::ZERO; 4];
        a.mul(&x, &mut y);
        let full = dense(&a);
        for i in 0..12 {
            let expected: f64 = (0..12).map(|j| full[i][j] * x[j / 3][j % 3]).sum();
            assert!((y[i / 3][i % 3] - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn restricted_directions_decouple() {
        let mut a = sample();
        let p = DMat3::from_diagonal(DVec3::new(1.0, 0.0, 1.0));
        a.restrict(&[None, Some(p), None, None]);
        let full = dense(&a);
        for (k, row) in full.iter().enumerate() {
            assert!(k == 4 || row[4] == 0.0);
        }
        assert!(full[4][4] > 0.0);
    }

    #[test]
    fn slots_know_their_orientation() {
        let a = sample();
        assert_eq!(a.pattern().slot(0, 3), Slot::NONE);
        assert_ne!(a.pattern().slot(1, 3), a.pattern().slot(3, 1));
        assert_eq!(a.pattern().slot(2, 2), Slot::new(a.pattern().column(2).start, false));
    }
}
