//! Sparse Cholesky factors of block matrices, on faer, with the symbolic part kept.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::perm::PermRef;
use faer::sparse::linalg::amd;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::traits::ComplexField;
use faer::{Conj, MatMut, Par, Side};
use glam::DVec3;

use super::LinearError;
use crate::matrix::{BlockMatrix, BlockPattern};

/// One thread: faer's sparse Cholesky does not gain from more, and the bits would depend on their number.
const PAR: Par = Par::Seq;

/// `f32` for preconditioners, `f64` for everything else.
pub(super) trait Precision: ComplexField + Copy + Send {
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
}
impl Precision for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
}
impl Precision for f32 {
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

/// Ordering, elimination tree and supernodes of a pattern.
pub(super) struct Analysis {
    blocks: Arc<BlockPattern>,
    column_starts: Vec<u32>,
    rows: Vec<u32>,
    symbolic: SymbolicCholesky<u32>,
}

impl Analysis {
    /// Minimum degree on the graph of nodes, each expanded to its three unknowns: the same fill as on scalars, for a
    /// fraction of the time.
    pub(super) fn new(blocks: &Arc<BlockPattern>) -> Result<Self, LinearError> {
        let n = blocks.size();
        let (mut node_order, mut node_rank) = (vec![0u32; n], vec![0u32; n]);
        let starts: Vec<u32> =
            (0..n).map(|j| blocks.column(j).start as u32).chain([blocks.block_count() as u32]).collect();
        let graph = SymbolicSparseColMatRef::new_checked(n, n, &starts, None, blocks.rows());
        let mut memory = buffer(amd::order_scratch::<u32>(n, blocks.block_count()))?;
        amd::order(
            &mut node_order,
            &mut node_rank,
            graph,
            amd::Control::default(),
            MemStack::new(&mut memory),
        )
        .map_err(|_| LinearError::OutOfMemory)?;
        let expand = |nodes: &[u32]| -> Vec<u32> {
            nodes.iter().flat_map(|&v| [3 * v, 3 * v + 1, 3 * v + 2]).collect()
        };
        let (order, rank) = (expand(&node_order), expand(&node_rank));
        let (column_starts, rows) = scalar_pattern(blocks);
        let pattern = SymbolicSparseColMatRef::new_checked(3 * n, 3 * n, &column_starts, None, &rows);
        let ordering = SymmetricOrdering::Custom(PermRef::new_checked(&order, &rank, 3 * n));
        let symbolic =
            factorize_symbolic_cholesky(pattern, Side::Lower, ordering, CholeskySymbolicParams::default())
                .map_err(|_| LinearError::OutOfMemory)?;
        Ok(Self { blocks: Arc::clone(blocks), column_starts, rows, symbolic })
    }

    pub(super) fn is_of(&self, pattern: &Arc<BlockPattern>) -> bool {
        Arc::ptr_eq(&self.blocks, pattern)
    }

    /// Numbers in the factor.
    pub(super) fn factor_len(&self) -> usize {
        self.symbolic.len_val()
    }

    fn pattern(&self) -> SymbolicSparseColMatRef<'_, u32> {
        let n = 3 * self.blocks.size();
        SymbolicSparseColMatRef::new_checked(n, n, &self.column_starts, None, &self.rows)
    }
}

/// The lower triangle of scalars, column by column.
fn scalar_pattern(blocks: &BlockPattern) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0];
    let mut rows = Vec::with_capacity(9 * blocks.block_count());
    for j in 0..blocks.size() {
        let below = &blocks.rows()[blocks.column(j)][1..];
        for c in 0..3 {
            rows.extend((c..3).map(|r| 3 * j as u32 + r));
            rows.extend(below.iter().flat_map(|&i| [3 * i, 3 * i + 1, 3 * i + 2]));
            starts.push(rows.len() as u32);
        }
    }
    (starts, rows)
}

/// The values that belong to [`scalar_pattern`].
fn scalar_values<T: Precision>(a: &BlockMatrix, out: &mut Vec<T>) {
    out.clear();
    for j in 0..a.pattern().size() {
        let column = &a.values()[a.pattern().column(j)];
        for c in 0..3 {
            let diagonal = column[0].col(c).to_array();
            out.extend(diagonal[c..].iter().map(|&v| T::from_f64(v)));
            for block in &column[1..] {
                out.extend(block.col(c).to_array().map(T::from_f64));
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `L Lᵀ`; fails unless the matrix is positive definite.
    Llt,
    /// `L D Lᵀ` without pivoting; for quasi-definite matrices.
    Ldlt,
}

/// A numeric factor and its memory, reused from one factorisation to the next.
pub(super) struct Factor<T: Precision> {
    kind: Kind,
    values: Vec<T>,
    factor: Vec<T>,
    rhs: Vec<T>,
    memory: MemBuffer,
}

impl<T: Precision> Factor<T> {
    pub(super) fn new(analysis: &Analysis, kind: Kind) -> Result<Self, LinearError> {
        let symbolic = &analysis.symbolic;
        let factorise = match kind {
            Kind::Llt => symbolic.factorize_numeric_llt_scratch::<T>(PAR, Default::default()),
            Kind::Ldlt => symbolic.factorize_numeric_ldlt_scratch::<T>(PAR, Default::default()),
        };
        Ok(Self {
            kind,
            values: Vec::with_capacity(analysis.rows.len()),
            factor: vec![T::from_f64(0.0); symbolic.len_val()],
            rhs: vec![T::from_f64(0.0); 3 * analysis.blocks.size()],
            memory: buffer(factorise.or(symbolic.solve_in_place_scratch::<T>(1, PAR)))?,
        })
    }

    pub(super) fn factorise(&mut self, analysis: &Analysis, a: &BlockMatrix) -> Result<(), LinearError> {
        scalar_values(a, &mut self.values);
        let matrix = SparseColMatRef::new(analysis.pattern(), &self.values);
        let stack = MemStack::new(&mut self.memory);
        let symbolic = &analysis.symbolic;
        let (factor, none) = (&mut self.factor, Default::default());
        match self.kind {
            Kind::Llt => {
                let result = symbolic.factorize_numeric_llt(
                    factor,
                    matrix,
                    Side::Lower,
                    none,
                    PAR,
                    stack,
                    Default::default(),
                );
                result.map(|_| ()).map_err(|_| LinearError::NotPositiveDefinite)?;
            }
            Kind::Ldlt => {
                let result = symbolic.factorize_numeric_ldlt(
                    factor,
                    matrix,
                    Side::Lower,
                    Default::default(),
                    PAR,
                    stack,
                    Default::default(),
                );
                result.map(|_| ()).map_err(|_| LinearError::ZeroPivot)?;
            }
        }
        Ok(())
    }

    /// `out = A⁻¹ b` with the matrix of the last factorisation.
    pub(super) fn solve(&mut self, analysis: &Analysis, b: &[DVec3], out: &mut [DVec3]) {
        for (to, from) in self.rhs.chunks_exact_mut(3).zip(b) {
            to.copy_from_slice(&from.to_array().map(T::from_f64));
        }
        let n = self.rhs.len();
        let rhs = MatMut::from_column_major_slice_mut(&mut self.rhs, n, 1);
        let stack = MemStack::new(&mut self.memory);
        match self.kind {
            Kind::Llt => {
                LltRef::<u32, T>::new(&analysis.symbolic, &self.factor).solve_in_place_with_conj(
                    Conj::No,
                    rhs,
                    PAR,
                    stack,
                );
            }
            Kind::Ldlt => {
                LdltRef::<u32, T>::new(&analysis.symbolic, &self.factor).solve_in_place_with_conj(
                    Conj::No,
                    rhs,
                    PAR,
                    stack,
                );
            }
        }
        for (to, from) in out.iter_mut().zip(self.rhs.chunks_exact(3)) {
            *to = DVec3::new(from[0].to_f64(), from[1].to_f64(), from[2].to_f64());
        }
    }

    /// Bytes of factor, values and work space.
    pub(super) fn bytes(&self) -> usize {
        (self.factor.len() + self.values.capacity() + self.rhs.len()) * size_of::<T>() + self.memory.len()
    }
}

/// Work memory; refuses instead of aborting when there is not enough.
pub(super) fn buffer(size: StackReq) -> Result<MemBuffer, LinearError> {
    MemBuffer::try_new(size).map_err(|_| LinearError::OutOfMemory)
}
