//! Saddle-point systems: a positive definite matrix with linear constraints.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use glam::DVec3;

use super::factor::buffer;
use super::{LinearError, LinearSolver, SolveReport, dot};
use crate::matrix::{BlockMatrix, BlockPattern};

/// One scalar constraint: the derivative by each unknown that it involves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintRow {
    /// Unknowns, ascending, and the derivative by each.
    pub entries: Vec<(u32, DVec3)>,
}

/// Solves `[A Cᵀ; C 0] [x; λ] = [f; g]` by `L D Lᵀ` of the quasi-definite matrix with `-δ` in the lower right corner,
/// refined against the matrix without it.
///
/// `δ` is 1e-9 of the scale of `C A⁻¹ Cᵀ`, the matrix that the multipliers see. Both equations are asked for: the one
/// of forces relative to `f`, the one of constraints relative to `g` and to what cancels in it. Constraints that contradict or
/// repeat each other are an error.
pub struct KktSolver {
    blocks: Arc<BlockPattern>,
    /// Unknowns of each constraint.
    involved: Vec<Vec<u32>>,
    /// Constraints that involve an unknown, with the place in the row's list of entries.
    by_unknown: Vec<Vec<(u32, u32)>>,
    column_starts: Vec<u32>,
    rows: Vec<u32>,
    symbolic: SymbolicCholesky<u32>,
    values: Vec<f64>,
    factor: Vec<f64>,
    memory: MemBuffer,
}

impl KktSolver {
    /// Analyses the pattern of matrix and constraints.
    ///
    /// # Panics
    /// If a constraint names an unknown that does not exist.
    pub fn new(blocks: &Arc<BlockPattern>, constraints: &[ConstraintRow]) -> Result<Self, LinearError> {
        let n = blocks.size();
        let mut by_unknown = vec![Vec::new(); n];
        for (k, row) in constraints.iter().enumerate() {
            for (place, (unknown, _)) in row.entries.iter().enumerate() {
                by_unknown[*unknown as usize].push((k as u32, place as u32));
            }
        }
        let mut starts = vec![0u32];
        let mut rows = Vec::new();
        for j in 0..n {
            let below = &blocks.rows()[blocks.column(j)][1..];
            for c in 0..3 {
                rows.extend((c..3).map(|r| 3 * j as u32 + r));
                rows.extend(below.iter().flat_map(|&i| [3 * i, 3 * i + 1, 3 * i + 2]));
                rows.extend(by_unknown[j].iter().map(|(k, _)| 3 * n as u32 + k));
                starts.push(rows.len() as u32);
            }
        }
        for k in 0..constraints.len() {
            rows.push((3 * n + k) as u32);
            starts.push(rows.len() as u32);
        }
        let size = 3 * n + constraints.len();
        let pattern = SymbolicSparseColMatRef::new_checked(size, size, &starts, None, &rows);
        let symbolic = factorize_symbolic_cholesky(
            pattern,
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .map_err(|_| LinearError::OutOfMemory)?;
        let scratch = symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Default::default());
        let memory = buffer(scratch.or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq)))?;
        Ok(Self {
            blocks: Arc::clone(blocks),
            involved: constraints.iter().map(|row| row.entries.iter().map(|(u, _)| *u).collect()).collect(),
            by_unknown,
            column_starts: starts,
            rows,
            factor: vec![0.0; symbolic.len_val()],
            values: Vec::new(),
            symbolic,
            memory,
        })
    }

    /// Solves for `x` and the multipliers to the relative residual `tolerance`, or to rounding error if that is larger
    /// and below 1e-6.
    ///
    /// # Panics
    /// If the matrix or the constraints have another pattern than the solver was made for, or sizes differ.
    #[expect(clippy::too_many_arguments, reason = "a matrix, two right sides, two solutions")]
    pub fn solve(
        &mut self,
        a: &BlockMatrix,
        constraints: &[ConstraintRow],
        f: &[DVec3],
        g: &[f64],
        x: &mut [DVec3],
        lambda: &mut [f64],
        tolerance: f64,
    ) -> Result<SolveReport, LinearError> {
        let (n, m) = (self.blocks.size(), self.involved.len());
        assert!(Arc::ptr_eq(a.pattern(), &self.blocks), "the matrix has the pattern of this solver");
        assert!(constraints.len() == m && g.len() == m && lambda.len() == m, "one value per constraint");
        assert!(f.len() == n && x.len() == n, "one value per unknown");
        for (row, involved) in constraints.iter().zip(&self.involved) {
            assert!(row.entries.iter().map(|(u, _)| u).eq(involved), "constraints keep their unknowns");
        }
        self.factorise(a, constraints)?;
        x.fill(DVec3::ZERO);
        lambda.fill(0.0);
        let size = |s: &[f64]| s.iter().map(|s| s * s).sum::<f64>().sqrt();
        let rows_size = constraints
            .iter()
            .flat_map(|row| &row.entries)
            .map(|(_, c)| c.length_squared())
            .sum::<f64>()
            .sqrt();
        let (force_scale, mut length_scale) = (dot(f, f).sqrt(), size(g));
        let relative =
            |value: f64, scale: f64| if value == 0.0 { 0.0 } else { value / scale.max(f64::MIN_POSITIVE) };
        let (mut r, mut s) = (f.to_vec(), g.to_vec());
        let (mut iterations, mut last) = (0, f64::INFINITY);
        let mut rhs = vec![0.0; 3 * n + m];
        loop {
            let force_scale = force_scale.max(rows_size * size(lambda));
            let relative_residual =
                relative(dot(&r, &r).sqrt(), force_scale).max(relative(size(&s), length_scale));
            if !relative_residual.is_finite() {
                return Err(LinearError::NotFinite);
            }
            if relative_residual <= tolerance || relative_residual > 0.5 * last {
                let method = LinearSolver::Ldlt;
                let report = SolveReport { method, iterations, factorisations: 1, relative_residual };
                let good = relative_residual <= tolerance.max(1e-6);
                let error = LinearError::NotConverged { relative_residual, tolerance, iterations };
                return if good { Ok(report) } else { Err(error) };
            }
            last = relative_residual;
            for (to, from) in rhs.chunks_exact_mut(3).zip(&r) {
                to.copy_from_slice(&from.to_array());
            }
            rhs[3 * n..].copy_from_slice(&s);
            let size = rhs.len();
            LdltRef::<u32, f64>::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
                Conj::No,
                MatMut::from_column_major_slice_mut(&mut rhs, size, 1),
                Par::Seq,
                MemStack::new(&mut self.memory),
            );
            for (x, step) in x.iter_mut().zip(rhs.chunks_exact(3)) {
                *x += DVec3::from_slice(step);
            }
            for (lambda, step) in lambda.iter_mut().zip(&rhs[3 * n..]) {
                *lambda += step;
            }
            a.mul(x, &mut r);
            for (r, f) in r.iter_mut().zip(f) {
                *r = *f - *r;
            }
            for (k, row) in constraints.iter().enumerate() {
                s[k] = g[k];
                for (unknown, c) in &row.entries {
                    s[k] -= c.dot(x[*unknown as usize]);
                    r[*unknown as usize] -= *c * lambda[k];
                }
            }
            // Where g is zero, the constraint is as good as the lengths that cancel in it.
            length_scale = length_scale.max(1e-3 * rows_size * dot(x, x).sqrt() / (m.max(1) as f64).sqrt());
            iterations += 1;
        }
    }

    fn factorise(&mut self, a: &BlockMatrix, constraints: &[ConstraintRow]) -> Result<(), LinearError> {
        let n = self.blocks.size();
        self.values.clear();
        for j in 0..n {
            let column = &a.values()[self.blocks.column(j)];
            for c in 0..3 {
                self.values.extend_from_slice(&column[0].col(c).to_array()[c..]);
                for block in &column[1..] {
                    self.values.extend(block.col(c).to_array());
                }
                for &(k, place) in &self.by_unknown[j] {
                    self.values.push(constraints[k as usize].entries[place as usize].1[c]);
                }
            }
        }
        let square: f64 =
            constraints.iter().flat_map(|row| &row.entries).map(|(_, c)| c.length_squared()).sum();
        let scale = square / (constraints.len().max(1) as f64 * a.mean_diagonal());
        let delta = if scale > 0.0 && scale.is_finite() { 1e-9 * scale } else { 1e-9 };
        self.values.extend(constraints.iter().map(|_| -delta));
        let size = 3 * n + constraints.len();
        let pattern = SymbolicSparseColMatRef::new_checked(size, size, &self.column_starts, None, &self.rows);
        let matrix = SparseColMatRef::new(pattern, &self.values);
        let result = self.symbolic.factorize_numeric_ldlt(
            &mut self.factor,
            matrix,
            Side::Lower,
            Default::default(),
            Par::Seq,
            MemStack::new(&mut self.memory),
            Default::default(),
        );
        result.map(|_| ()).map_err(|_| LinearError::ZeroPivot)
    }
}
