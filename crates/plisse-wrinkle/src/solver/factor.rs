//! The Newton matrix: a fixed pattern, filled through slots, factorised with the symbolic part kept.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

use crate::error::WrinkleError;

/// One thread: these matrices are small, and the bits would depend on the number of threads.
const PAR: Par = Par::Seq;

/// A symmetric sparse matrix, its lower triangle by columns, and its Cholesky factor.
pub(super) struct NewtonMatrix {
    starts: Vec<u32>,
    rows: Vec<u32>,
    /// What is factorised. One more than entries here and below: the last takes what belongs to fixed unknowns.
    values: Vec<f64>,
    /// The exact Hessian, and what its projection adds to it.
    parts: [Vec<f64>; 2],
    /// Where the diagonal entries are.
    diagonal: Vec<u32>,
    symbolic: SymbolicCholesky<u32>,
    factor: Vec<f64>,
    memory: MemBuffer,
}

impl NewtonMatrix {
    /// The pattern with these entries below the diagonal, each a (column, row), in any order and any number of times.
    pub(super) fn new(size: usize, mut entries: Vec<(u32, u32)>) -> Result<Self, WrinkleError> {
        entries.extend((0..size as u32).map(|j| (j, j)));
        entries.sort_unstable();
        entries.dedup();
        let mut starts = vec![0u32; size + 1];
        for &(column, _) in &entries {
            starts[column as usize + 1] += 1;
        }
        for j in 0..size {
            starts[j + 1] += starts[j];
        }
        let diagonal = starts[..size].to_vec();
        let rows: Vec<u32> = entries.iter().map(|(_, row)| *row).collect();
        let pattern = SymbolicSparseColMatRef::new_checked(size, size, &starts, None, &rows);
        let symbolic = factorize_symbolic_cholesky(
            pattern,
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .map_err(|_| WrinkleError::OutOfMemory { unknowns: size })?;
        let scratch = symbolic
            .factorize_numeric_llt_scratch::<f64>(PAR, Default::default())
            .or(symbolic.solve_in_place_scratch::<f64>(1, PAR));
        let memory = MemBuffer::try_new(scratch).map_err(|_| WrinkleError::OutOfMemory { unknowns: size })?;
        Ok(Self {
            values: vec![0.0; rows.len() + 1],
            parts: [vec![0.0; rows.len() + 1], vec![0.0; rows.len() + 1]],
            factor: vec![0.0; symbolic.len_val()],
            starts,
            rows,
            diagonal,
            symbolic,
            memory,
        })
    }

    pub(super) fn size(&self) -> usize {
        self.diagonal.len()
    }

    pub(super) fn factor_len(&self) -> usize {
        self.factor.len()
    }

    pub(super) fn bytes(&self) -> usize {
        let [hessian, correction] = &self.parts;
        let reals = self.values.len() + hessian.len() + correction.len() + self.factor.len();
        let indices = self.starts.len() + self.rows.len() + self.diagonal.len();
        reals * size_of::<f64>() + indices * size_of::<u32>() + self.memory.len()
    }

    /// Where `values` has an entry; of a pair that is not in the pattern, the slot that counts for nothing.
    pub(super) fn slot(&self, i: u32, j: u32) -> u32 {
        let (column, row) = (i.min(j) as usize, i.max(j));
        let start = self.starts[column] as usize;
        let found = self.rows[start..self.starts[column + 1] as usize].binary_search(&row);
        found.map_or(self.nowhere(), |at| (start + at) as u32)
    }

    /// The slot that counts for nothing.
    pub(super) fn nowhere(&self) -> u32 {
        self.rows.len() as u32
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
        for ((value, h), c) in self.values.iter_mut().zip(hessian).zip(correction) {
            *value = h + part * c;
        }
    }

    /// The diagonal entry of an unknown.
    pub(super) fn diagonal(&self, unknown: usize) -> f64 {
        self.values[self.diagonal[unknown] as usize]
    }

    pub(super) fn add_to_diagonal(&mut self, unknown: usize, value: f64) {
        self.values[self.diagonal[unknown] as usize] += value;
    }

    /// Turns the rows and columns of held unknowns into those of the identity. The pattern, and with it the symbolic part, stays.
    pub(super) fn hold(&mut self, held: &[bool]) {
        for column in 0..self.size() {
            for at in self.starts[column] as usize..self.starts[column + 1] as usize {
                let row = self.rows[at] as usize;
                if held[column] || held[row] {
                    self.values[at] = f64::from(u8::from(row == column));
                }
            }
        }
    }

    /// Whether the matrix is positive definite; if so the factor is there to solve with.
    pub(super) fn factorise(&mut self) -> bool {
        let n = self.size();
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.starts, None, &self.rows);
        let matrix = SparseColMatRef::new(pattern, &self.values[..self.rows.len()]);
        let stack = MemStack::new(&mut self.memory);
        self.symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                matrix,
                Side::Lower,
                Default::default(),
                PAR,
                stack,
                Default::default(),
            )
            .is_ok()
    }

    /// Replaces `b` by the solution, with the last factor.
    pub(super) fn solve(&mut self, b: &mut [f64]) {
        let n = b.len();
        LltRef::<u32, f64>::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(b, n, 1),
            PAR,
            MemStack::new(&mut self.memory),
        );
    }

    /// Entry `(i, j)` of the matrix.
    #[cfg(test)]
    pub(super) fn entry(&self, i: u32, j: u32) -> f64 {
        let slot = self.slot(i, j);
        if slot == self.nowhere() { 0.0 } else { self.values[slot as usize] }
    }
}
