//! Symmetric sparse matrices of small blocks.

use std::sync::Arc;

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::pattern::Pattern;

/// Rows per task of a parallel product.
const ROWS: usize = 512;

/// A symmetric matrix of blocks; its lower triangle is stored.
#[derive(Clone, Debug)]
pub struct BlockMatrix {
    pattern: Arc<Pattern>,
    values: Vec<f64>,
}

impl BlockMatrix {
    /// A matrix of zeros.
    #[must_use]
    pub fn zeros(pattern: Arc<Pattern>) -> Self {
        let values = vec![0.0; pattern.number_count()];
        Self { pattern, values }
    }

    /// Makes this a matrix of zeros, of another pattern if need be. Memory is kept.
    pub fn reset(&mut self, pattern: &Arc<Pattern>) {
        if self.pattern.revision() != pattern.revision() {
            self.pattern = Arc::clone(pattern);
        }
        self.values.clear();
        self.values.resize(pattern.number_count(), 0.0);
    }

    /// The pattern.
    #[must_use]
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The numbers of all stored blocks, each block column by column.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The numbers of all stored blocks, to be changed. Diagonal blocks must stay symmetric.
    #[must_use]
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    pub(crate) fn parts_mut(&mut self) -> (&Pattern, &mut [f64]) {
        (&self.pattern, &mut self.values)
    }

    /// The diagonal block of a node, column by column.
    #[inline]
    #[must_use]
    pub fn diagonal(&self, node: usize) -> &[f64] {
        &self.values[self.pattern.numbers(self.diagonal_place(node))]
    }

    /// The diagonal block of a node, to be changed.
    #[inline]
    #[must_use]
    pub fn diagonal_mut(&mut self, node: usize) -> &mut [f64] {
        let range = self.pattern.numbers(self.diagonal_place(node));
        &mut self.values[range]
    }

    #[inline]
    fn diagonal_place(&self, node: usize) -> usize {
        self.pattern.place(self.pattern.entries(node).start)
    }

    /// Adds a multiple of the identity to the diagonal block of a node.
    #[inline]
    pub fn add_to_diagonal(&mut self, node: usize, value: f64) {
        let size = self.pattern.layout().size(node);
        self.diagonal_mut(node).iter_mut().step_by(size + 1).for_each(|entry| *entry += value);
    }

    /// The diagonal entries of a node.
    #[inline]
    pub fn diagonal_entries(&self, node: usize) -> impl Iterator<Item = f64> + '_ {
        let size = self.pattern.layout().size(node);
        self.diagonal(node).iter().step_by(size + 1).copied()
    }

    /// Mean of the diagonal entries; zero for a matrix without rows.
    #[must_use]
    pub fn mean_diagonal(&self) -> f64 {
        self.mean_of_diagonal(|entry| entry)
    }

    /// Mean of the absolute values of the diagonal entries; zero for a matrix without rows.
    #[must_use]
    pub fn mean_abs_diagonal(&self) -> f64 {
        self.mean_of_diagonal(f64::abs)
    }

    fn mean_of_diagonal(&self, of_entry: impl Fn(f64) -> f64) -> f64 {
        let of_node = |node| self.diagonal_entries(node).map(&of_entry).sum::<f64>();
        let sum: f64 = (0..self.pattern.size()).map(of_node).sum();
        let unknowns = self.pattern.layout().unknowns();
        if unknowns == 0 { 0.0 } else { sum / unknowns as f64 }
    }

    /// `out = A x`. Each row is one sum in a fixed order, so the bits do not depend on the number
    /// of threads.
    ///
    /// # Panics
    /// If a vector has another length than the matrix.
    pub fn mul(&self, x: &[f64], out: &mut [f64]) {
        let unknowns = self.pattern.layout().unknowns();
        assert!(x.len() == unknowns && out.len() == unknowns, "vectors and matrix must have one size");
        match self.pattern.layout().uniform() {
            Some(3) => {
                let (x, blocks) = (bytemuck::cast_slice(x), bytemuck::cast_slice(&self.values));
                let out: &mut [DVec3] = bytemuck::cast_slice_mut(out);
                self.rows_in_parallel(out, 1, |i, out| out[0] = self.row_of_vectors(i, blocks, x));
            }
            Some(size) => self.rows_in_parallel(out, size, |i, out| self.row_product(i, x, out)),
            None => self.mixed_rows_in_parallel(x, out),
        }
    }

    fn mixed_rows_in_parallel(&self, x: &[f64], out: &mut [f64]) {
        let (layout, size) = (self.pattern.layout(), self.pattern.size());
        let rows = |first: usize, out: &mut [f64]| {
            let mut rest = out;
            for i in first..size {
                let Some((row, after)) = rest.split_at_mut_checked(layout.size(i)) else { break };
                self.row_product(i, x, row);
                rest = after;
            }
        };
        if size < 4 * ROWS || rayon::current_num_threads() == 1 {
            return rows(0, out);
        }
        let (mut parts, mut rest) = (Vec::with_capacity(size.div_ceil(ROWS)), out);
        for first in (0..size).step_by(ROWS) {
            let end = layout.start((first + ROWS).min(size));
            let (part, after) = rest.split_at_mut(end - layout.start(first));
            parts.push((first, part));
            rest = after;
        }
        parts.into_par_iter().for_each(|(first, part)| rows(first, part));
    }

    /// Works on the `size` numbers of each row.
    fn rows_in_parallel<T: Send>(&self, out: &mut [T], size: usize, row: impl Fn(usize, &mut [T]) + Sync) {
        if self.pattern.size() < 4 * ROWS || rayon::current_num_threads() == 1 {
            out.chunks_exact_mut(size).enumerate().for_each(|(i, out)| row(i, out));
            return;
        }
        out.par_chunks_mut(ROWS * size).enumerate().for_each(|(chunk, out)| {
            for (k, out) in out.chunks_exact_mut(size).enumerate() {
                row(chunk * ROWS + k, out);
            }
        });
    }

    /// Row `i` of the product, of nodes with three unknowns: blocks left of the diagonal as they
    /// are stored, blocks right of it transposed from column `i`.
    #[inline]
    fn row_of_vectors(&self, i: usize, blocks: &[DMat3], x: &[DVec3]) -> DVec3 {
        let pattern = &*self.pattern;
        let mut sum = DVec3::ZERO;
        for &(column, block) in pattern.left(i) {
            sum += blocks[block as usize] * x[column as usize];
        }
        let entries = pattern.entries(i);
        sum += blocks[pattern.place(entries.start)] * x[i];
        let right = entries.start + 1..entries.end;
        let rows = &pattern.rows()[right.clone()];
        let transposed = |block: &DMat3, v: DVec3| {
            DVec3::new(block.x_axis.dot(v), block.y_axis.dot(v), block.z_axis.dot(v))
        };
        if pattern.is_in_order() {
            for (block, &row) in blocks[right].iter().zip(rows) {
                sum += transposed(block, x[row as usize]);
            }
        } else {
            for (entry, &row) in right.zip(rows) {
                sum += transposed(&blocks[pattern.place(entry)], x[row as usize]);
            }
        }
        sum
    }

    /// Row `i` of the product, of nodes of any size.
    fn row_product(&self, i: usize, x: &[f64], out: &mut [f64]) {
        match out.len() {
            1 => self.row_of::<1>(i, x, out),
            2 => self.row_of::<2>(i, x, out),
            3 => self.row_of::<3>(i, x, out),
            4 => self.row_of::<4>(i, x, out),
            5 => self.row_of::<5>(i, x, out),
            _ => self.row_of::<6>(i, x, out),
        }
    }

    /// [`Self::row_product`] of a node with `R` unknowns, in registers. Its neighbours are mostly
    /// positions and single numbers.
    #[inline]
    fn row_of<const R: usize>(&self, i: usize, x: &[f64], out: &mut [f64]) {
        let (pattern, layout) = (&*self.pattern, self.pattern.layout());
        let mut sum = [0.0; R];
        for &(column, block) in pattern.left(i) {
            let block = &self.values[pattern.numbers_before(block as usize)..];
            add_block_product(&mut sum, block, &x[layout.range(column as usize)]);
        }
        add_block_product(&mut sum, self.diagonal(i), &x[layout.range(i)]);
        let entries = pattern.entries(i);
        for entry in entries.start + 1..entries.end {
            let block = &self.values[pattern.numbers_before(pattern.place(entry))..];
            let x = &x[layout.range(pattern.rows()[entry] as usize)];
            match x {
                [x] => add_transposed(&mut sum, block, &[*x]),
                [x, y, z] => add_transposed(&mut sum, block, &[*x, *y, *z]),
                _ => {
                    for (sum, column) in sum.iter_mut().zip(block.chunks_exact(x.len())) {
                        *sum += column.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
                    }
                }
            }
        }
        out.copy_from_slice(&sum);
    }

    /// Restricts the matrix to the directions that are allowed per node: `A ← P A P + s (I - P)`
    /// with `s` the mean diagonal, so that a right side within those directions has its solution
    /// there, too.
    ///
    /// `allowed` gives the projection `P` of a node, column by column; none where all directions
    /// are allowed.
    pub fn restrict<'a>(&mut self, allowed: impl Fn(usize) -> Option<&'a [f64]>) {
        let scale = self.mean_diagonal();
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let pattern = Arc::clone(&self.pattern);
        let layout = pattern.layout();
        for j in 0..pattern.size() {
            for (i, numbers) in pattern.column(j) {
                let block = &mut self.values[numbers];
                if let Some(p) = allowed(i) {
                    multiply_from_left(p, layout.size(i), block);
                }
                if let Some(p) = allowed(j) {
                    multiply_from_right(p, layout.size(j), block);
                }
            }
            if let Some(p) = allowed(j) {
                let size = layout.size(j);
                for (at, (entry, p)) in self.diagonal_mut(j).iter_mut().zip(p).enumerate() {
                    let identity = f64::from(u8::from(at.is_multiple_of(size + 1)));
                    *entry += (identity - p) * scale;
                }
            }
        }
    }

    /// All numbers, row by row, both triangles: to look at small matrices.
    #[must_use]
    pub fn to_dense(&self) -> Vec<Vec<f64>> {
        let layout = self.pattern.layout();
        let mut out = vec![vec![0.0; layout.unknowns()]; layout.unknowns()];
        for j in 0..self.pattern.size() {
            for (i, numbers) in self.pattern.column(j) {
                let columns = self.values[numbers].chunks_exact(layout.size(i));
                for (column, numbers) in layout.range(j).zip(columns) {
                    for (row, value) in layout.range(i).zip(numbers) {
                        out[row][column] = *value;
                        out[column][row] = *value;
                    }
                }
            }
        }
        out
    }

    /// Bytes of values and pattern.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice()) + self.pattern.bytes()
    }
}

/// `out += block x`.
fn add_product(block: &[f64], x: &[f64], out: &mut [f64]) {
    for (column, x) in block.chunks_exact(out.len()).zip(x) {
        for (out, a) in out.iter_mut().zip(column) {
            *out += a * x;
        }
    }
}

/// Adds the product of a block of `R` rows, stored by columns, which may be followed by others.
#[inline]
fn add_block_product<const R: usize>(sum: &mut [f64; R], block: &[f64], x: &[f64]) {
    let (columns, _) = block.as_chunks::<R>();
    for (column, x) in columns.iter().zip(x) {
        for r in 0..R {
            sum[r] += column[r] * x;
        }
    }
}

/// Adds the product of the transpose of a block of `N` rows and `R` columns.
#[inline]
fn add_transposed<const R: usize, const N: usize>(sum: &mut [f64; R], block: &[f64], x: &[f64; N]) {
    let (columns, _) = block.as_chunks::<N>();
    for (sum, column) in sum.iter_mut().zip(columns) {
        *sum += column.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    }
}

/// `block ← P block`.
fn multiply_from_left(p: &[f64], size: usize, block: &mut [f64]) {
    for column in block.chunks_exact_mut(size) {
        let mut product = [0.0; crate::layout::LARGEST_NODE];
        add_product(p, column, &mut product[..size]);
        column.copy_from_slice(&product[..size]);
    }
}

/// `block ← block P`.
fn multiply_from_right(p: &[f64], size: usize, block: &mut [f64]) {
    let rows = block.len() / size;
    let before = {
        let mut copy = [0.0; crate::layout::LARGEST_NODE * crate::layout::LARGEST_NODE];
        copy[..block.len()].copy_from_slice(block);
        copy
    };
    for (column, p) in block.chunks_exact_mut(rows).zip(p.chunks_exact(size)) {
        column.fill(0.0);
        add_product(&before[..rows * size], p, column);
    }
}
