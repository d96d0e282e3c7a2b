//! Factors by faer, with the symbolic part kept: `L D Lᵀ` for matrices that may be indefinite, and
//! `L Lᵀ` to compare our own with.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::perm::PermRef;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::traits::ComplexField;
use faer::{Conj, MatMut, Par, Side};
use glam::DMat3;

use crate::error::LinearError;
use crate::matrix::BlockMatrix;
use crate::order;
use crate::pattern::{Pattern, Revision};

/// One thread: faer's sparse factors do not gain from more, and the bits would depend on their
/// number.
const PAR: Par = Par::Seq;

/// `f32` for preconditioners, `f64` for everything else.
pub(crate) trait Precision: ComplexField + Copy + Send {
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
pub(crate) struct FaerAnalysis {
    revision: Revision,
    unknowns: usize,
    column_starts: Vec<u32>,
    rows: Vec<u32>,
    symbolic: SymbolicCholesky<u32>,
}

impl FaerAnalysis {
    /// With the order of nodes, or of groups of nodes where that has less fill; see
    /// [`order`](crate::order).
    pub(crate) fn new(blocks: &Pattern) -> Result<Self, LinearError> {
        let unknowns = blocks.layout().unknowns();
        let (column_starts, rows) = scalar_pattern(blocks)?;
        let pattern = SymbolicSparseColMatRef::new_checked(unknowns, unknowns, &column_starts, None, &rows);
        let nodes = symbolic(blocks, pattern, &order::by_nodes(blocks)?);
        let symbolic = match order::by_groups(blocks)? {
            None => nodes?,
            // Of large systems only one of the two may fit into memory.
            Some(groups) => match (nodes, symbolic(blocks, pattern, &groups)) {
                (Ok(nodes), Ok(groups)) if groups.len_val() < nodes.len_val() => groups,
                (Ok(nodes), _) => nodes,
                (Err(_), groups) => groups?,
            },
        };
        Ok(Self { revision: blocks.revision(), unknowns, column_starts, rows, symbolic })
    }

    pub(crate) fn is_of(&self, pattern: &Pattern) -> bool {
        self.revision == pattern.revision()
    }

    /// Numbers in the factor.
    pub(crate) fn factor_len(&self) -> usize {
        self.symbolic.len_val()
    }

    fn pattern(&self) -> SymbolicSparseColMatRef<'_, u32> {
        let n = self.unknowns;
        SymbolicSparseColMatRef::new_checked(n, n, &self.column_starts, None, &self.rows)
    }
}

/// The symbolic factor of an order of nodes, each expanded to its unknowns.
fn symbolic(
    blocks: &Pattern,
    pattern: SymbolicSparseColMatRef<'_, u32>,
    nodes: &[u32],
) -> Result<SymbolicCholesky<u32>, LinearError> {
    let (layout, unknowns) = (blocks.layout(), blocks.layout().unknowns());
    let expand = |node: &u32| layout.range(*node as usize).map(|unknown| unknown as u32);
    let order: Vec<u32> = nodes.iter().flat_map(expand).collect();
    let mut rank = vec![0; unknowns];
    for (place, &unknown) in order.iter().enumerate() {
        rank[unknown as usize] = place as u32;
    }
    let ordering = SymmetricOrdering::Custom(PermRef::new_checked(&order, &rank, unknowns));
    factorize_symbolic_cholesky(pattern, Side::Lower, ordering, CholeskySymbolicParams::default())
        .map_err(|_| LinearError::OutOfMemory)
}

/// The lower triangle of scalars, column by column.
fn scalar_pattern(blocks: &Pattern) -> Result<(Vec<u32>, Vec<u32>), LinearError> {
    let layout = blocks.layout();
    let mut starts = vec![0];
    let mut rows = Vec::with_capacity(blocks.number_count());
    for j in 0..blocks.size() {
        let (below, own) = (&blocks.rows_of_column(j)[1..], layout.range(j));
        for first in own.clone() {
            rows.extend((first..own.end).map(|row| row as u32));
            for &i in below {
                rows.extend(layout.range(i as usize).map(|row| row as u32));
            }
            starts.push(u32::try_from(rows.len()).map_err(|_| LinearError::OutOfMemory)?);
        }
    }
    Ok((starts, rows))
}

/// The values that belong to [`scalar_pattern`].
fn scalar_values<T: Precision>(a: &BlockMatrix, out: &mut Vec<T>) {
    out.clear();
    let pattern = &**a.pattern();
    if pattern.layout().uniform() == Some(3) && pattern.is_in_order() {
        let blocks: &[DMat3] = bytemuck::cast_slice(a.values());
        for j in 0..pattern.size() {
            let column = &blocks[pattern.entries(j)];
            for c in 0..3 {
                let diagonal = column[0].col(c).to_array();
                out.extend(diagonal[c..].iter().map(|&v| T::from_f64(v)));
                for block in &column[1..] {
                    out.extend(block.col(c).to_array().map(T::from_f64));
                }
            }
        }
        return;
    }
    for j in 0..pattern.size() {
        for c in 0..pattern.layout().size(j) {
            for (i, numbers) in pattern.column(j) {
                let size = pattern.layout().size(i);
                let column = &a.values()[numbers][c * size..(c + 1) * size];
                let stored = if i == j { &column[c..] } else { column };
                out.extend(stored.iter().map(|&v| T::from_f64(v)));
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `L Lᵀ`; fails unless the matrix is positive definite.
    Llt,
    /// `L D Lᵀ` without pivoting; for quasi-definite matrices.
    Ldlt,
}

/// A numeric factor with its analysis and memory, reused from one factorisation to the next.
pub(crate) struct FaerFactor<T: Precision> {
    kind: Kind,
    analysis: Arc<FaerAnalysis>,
    is_filled: bool,
    values: Vec<T>,
    factor: Vec<T>,
    rhs: Vec<T>,
    memory: MemBuffer,
}

impl<T: Precision> FaerFactor<T> {
    /// Room for a factor, which must be filled before it is used.
    fn new(analysis: &Arc<FaerAnalysis>, kind: Kind) -> Result<Self, LinearError> {
        let symbolic = &analysis.symbolic;
        let factorise = match kind {
            Kind::Llt => symbolic.factorize_numeric_llt_scratch::<T>(PAR, Default::default()),
            Kind::Ldlt => symbolic.factorize_numeric_ldlt_scratch::<T>(PAR, Default::default()),
        };
        Ok(Self {
            kind,
            analysis: Arc::clone(analysis),
            is_filled: false,
            values: Vec::with_capacity(analysis.rows.len()),
            factor: vec![T::from_f64(0.0); symbolic.len_val()],
            rhs: vec![T::from_f64(0.0); analysis.unknowns],
            memory: buffer(factorise.or(symbolic.solve_in_place_scratch::<T>(1, PAR)))?,
        })
    }

    /// Makes room for a factor in `place`, unless it is there.
    pub(crate) fn make_room<'a>(
        place: &'a mut Option<Self>,
        analysis: &Arc<FaerAnalysis>,
        kind: Kind,
    ) -> Result<&'a mut Self, LinearError> {
        let fits = |old: &Self| Arc::ptr_eq(&old.analysis, analysis) && old.kind == kind;
        Ok(match place.take().filter(fits) {
            Some(old) => place.insert(old),
            None => place.insert(Self::new(analysis, kind)?),
        })
    }

    /// Factorises a matrix of the analysed pattern into `place`, with the memory that is there if
    /// it fits. After an error the memory stays, but there is no factor.
    pub(crate) fn fill<'a>(
        place: &'a mut Option<Self>,
        analysis: &Arc<FaerAnalysis>,
        kind: Kind,
        a: &BlockMatrix,
    ) -> Result<&'a mut Self, LinearError> {
        let factor = Self::make_room(place, analysis, kind)?;
        factor.is_filled = false;
        factor.factorise(a)?;
        factor.is_filled = true;
        Ok(factor)
    }

    fn factorise(&mut self, a: &BlockMatrix) -> Result<(), LinearError> {
        scalar_values(a, &mut self.values);
        let Self { kind, analysis, values, factor, memory, .. } = self;
        let matrix = SparseColMatRef::new(analysis.pattern(), values.as_slice());
        let (symbolic, stack, side) = (&analysis.symbolic, MemStack::new(memory), Side::Lower);
        let (plain, parameters) = (Default::default(), Default::default());
        match kind {
            Kind::Llt => symbolic
                .factorize_numeric_llt(factor, matrix, side, plain, PAR, stack, parameters)
                .map(|_| ())
                .map_err(|_| LinearError::NotPositiveDefinite),
            Kind::Ldlt => symbolic
                .factorize_numeric_ldlt(
                    factor,
                    matrix,
                    side,
                    Default::default(),
                    PAR,
                    stack,
                    Default::default(),
                )
                .map(|_| ())
                .map_err(|_| LinearError::ZeroPivot),
        }
    }

    /// `out = A⁻¹ b` with the matrix of the last factorisation.
    ///
    /// # Panics
    /// If that has failed.
    pub(crate) fn solve(&mut self, b: &[f64], out: &mut [f64]) {
        assert!(self.is_filled, "the last factorisation has succeeded");
        for (to, from) in self.rhs.iter_mut().zip(b) {
            *to = T::from_f64(*from);
        }
        let Self { analysis, factor, rhs, memory, .. } = self;
        let n = rhs.len();
        let (symbolic, stack) = (&analysis.symbolic, MemStack::new(memory));
        let side = MatMut::from_column_major_slice_mut(rhs, n, 1);
        match self.kind {
            Kind::Llt => {
                LltRef::<u32, T>::new(symbolic, factor).solve_in_place_with_conj(Conj::No, side, PAR, stack);
            }
            Kind::Ldlt => {
                LdltRef::<u32, T>::new(symbolic, factor).solve_in_place_with_conj(Conj::No, side, PAR, stack);
            }
        }
        for (to, from) in out.iter_mut().zip(&self.rhs) {
            *to = from.to_f64();
        }
    }

    /// Bytes of factor, values and work space.
    pub(crate) fn bytes(&self) -> usize {
        (self.factor.len() + self.values.capacity() + self.rhs.len()) * size_of::<T>() + self.memory.len()
    }
}

/// Work memory; refuses instead of aborting when there is not enough.
pub(crate) fn buffer(size: StackReq) -> Result<MemBuffer, LinearError> {
    MemBuffer::try_new(size).map_err(|_| LinearError::OutOfMemory)
}
