//! Saddle-point systems: a positive definite matrix with linear constraints.

use std::sync::Arc;

use crate::cg::{dot, norm};
use crate::error::{LinearError, PatternError};
use crate::layout::Layout;
use crate::matrix::BlockMatrix;
use crate::pattern::Pattern;
use crate::solver::{Linear, LinearSolver, SolveReport};

/// One scalar constraint: the derivative by each unknown that it involves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintRow {
    /// Unknowns, ascending, and the derivative by each.
    pub entries: Vec<(u32, f64)>,
}

/// `A x + Cᵀ λ = f`, `C x = g`.
#[derive(Clone, Copy, Debug)]
pub struct KktSystem<'a> {
    /// `A`, positive definite.
    pub matrix: &'a BlockMatrix,
    /// The rows of `C`.
    pub constraints: &'a [ConstraintRow],
    /// `f`.
    pub force: &'a [f64],
    /// `g`.
    pub target: &'a [f64],
}

/// Solves saddle-point systems by `L D Lᵀ` of the quasi-definite matrix with `-δ` in the lower
/// right corner, refined against the matrix without it.
///
/// `δ` is 1e-9 of the scale of `C A⁻¹ Cᵀ`, the matrix that the multipliers see. Both equations are
/// asked for: the one of forces relative to `f`, the one of constraints relative to `g` and to what
/// cancels in it. Constraints that contradict or repeat each other are an error.
pub struct KktSolver {
    blocks: Arc<Pattern>,
    /// The matrix with a node for each constraint, and where the numbers of each row of `C` go.
    whole: BlockMatrix,
    rows: Vec<Vec<(u32, usize)>>,
    linear: Linear,
}

impl KktSolver {
    /// Prepares for matrices and constraints of this pattern.
    ///
    /// # Errors
    /// If there are too many numbers for 31-bit indices.
    ///
    /// # Panics
    /// If a constraint names an unknown that does not exist.
    #[expect(clippy::expect_used, reason = "every entry of a constraint is a pair of the pattern")]
    pub fn new(blocks: &Arc<Pattern>, constraints: &[ConstraintRow]) -> Result<Self, PatternError> {
        let (layout, n) = (blocks.layout(), blocks.size());
        let node_of: Vec<u32> =
            (0..n).flat_map(|node| std::iter::repeat_n(node as u32, layout.size(node))).collect();
        let sizes = (0..n).map(|node| layout.size(node)).chain(constraints.iter().map(|_| 1));
        let pairs = (0..n).flat_map(|j| blocks.rows_of_column(j).iter().map(move |i| (*i, j as u32))).chain(
            constraints.iter().zip(n as u32..).flat_map(|(row, node)| {
                row.entries.iter().map({
                    let node_of = &node_of;
                    move |(unknown, _)| (node, node_of[*unknown as usize])
                })
            }),
        );
        let pattern = Pattern::new(Layout::mixed(sizes)?, pairs)?;
        let place = |constraint: usize, unknown: u32| {
            let node = node_of[unknown as usize];
            let slot = pattern.slot((n + constraint) as u32, node).expect("a pair of the pattern above");
            (unknown, slot.offset() + unknown as usize - layout.start(node as usize))
        };
        let rows = constraints
            .iter()
            .enumerate()
            .map(|(k, row)| row.entries.iter().map(|(unknown, _)| place(k, *unknown)).collect())
            .collect();
        let linear = Linear::new(LinearSolver::Ldlt);
        Ok(Self { blocks: Arc::clone(blocks), whole: BlockMatrix::zeros(pattern), rows, linear })
    }

    /// Solves for `x` and the multipliers `λ` to the relative residual `tolerance`, or to rounding
    /// error if that is larger and below 1e-6.
    ///
    /// # Panics
    /// If the matrix or the constraints have another pattern than the solver was made for, or sizes
    /// differ.
    pub fn solve(
        &mut self,
        system: &KktSystem<'_>,
        x: &mut [f64],
        lambda: &mut [f64],
        tolerance: f64,
    ) -> Result<SolveReport, LinearError> {
        let KktSystem { matrix, constraints, force: f, target: g } = *system;
        let (n, m) = (self.blocks.layout().unknowns(), self.rows.len());
        assert!(
            matrix.pattern().revision() == self.blocks.revision(),
            "the matrix has the pattern of this solver"
        );
        assert!(constraints.len() == m && g.len() == m && lambda.len() == m, "one value per constraint");
        assert!(f.len() == n && x.len() == n, "one value per unknown");
        for (row, places) in constraints.iter().zip(&self.rows) {
            let expected = places.iter().map(|(unknown, _)| unknown);
            assert!(row.entries.iter().map(|(u, _)| u).eq(expected), "constraints keep their unknowns");
        }
        self.factorise(matrix, constraints)?;
        x.fill(0.0);
        lambda.fill(0.0);
        let rows_size =
            constraints.iter().flat_map(|row| &row.entries).map(|(_, c)| c * c).sum::<f64>().sqrt();
        let (force_scale, mut length_scale) = (norm(f), norm(g));
        let relative =
            |value: f64, scale: f64| if value == 0.0 { 0.0 } else { value / scale.max(f64::MIN_POSITIVE) };
        let (mut r, mut s) = (f.to_vec(), g.to_vec());
        let (mut iterations, mut last) = (0, f64::INFINITY);
        let (mut rhs, mut step) = (vec![0.0; n + m], vec![0.0; n + m]);
        loop {
            let force_scale = force_scale.max(rows_size * norm(lambda));
            let relative_residual = relative(norm(&r), force_scale).max(relative(norm(&s), length_scale));
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
            rhs[..n].copy_from_slice(&r);
            rhs[n..].copy_from_slice(&s);
            self.linear.substitute(&rhs, &mut step);
            for (value, step) in x.iter_mut().chain(lambda.iter_mut()).zip(&step) {
                *value += step;
            }
            matrix.mul(x, &mut r);
            for (r, f) in r.iter_mut().zip(f) {
                *r = *f - *r;
            }
            for (k, row) in constraints.iter().enumerate() {
                s[k] = g[k];
                for (unknown, c) in &row.entries {
                    s[k] -= c * x[*unknown as usize];
                    r[*unknown as usize] -= c * lambda[k];
                }
            }
            // Where g is zero, the constraint is as good as the lengths that cancel in it.
            length_scale = length_scale.max(1e-3 * rows_size * dot(x, x).sqrt() / (m.max(1) as f64).sqrt());
            iterations += 1;
        }
    }

    fn factorise(&mut self, a: &BlockMatrix, constraints: &[ConstraintRow]) -> Result<(), LinearError> {
        let n = self.blocks.size();
        let pattern = Arc::clone(self.whole.pattern());
        self.whole.reset(&pattern);
        for j in 0..n {
            // The blocks of a column come first in the larger pattern.
            for ((_, to), (_, from)) in pattern.column(j).zip(self.blocks.column(j)) {
                self.whole.values_mut()[to].copy_from_slice(&a.values()[from]);
            }
        }
        let mut square = 0.0;
        for (row, places) in constraints.iter().zip(&self.rows) {
            for ((_, c), (_, place)) in row.entries.iter().zip(places) {
                self.whole.values_mut()[*place] = *c;
                square += c * c;
            }
        }
        let scale = square / (constraints.len().max(1) as f64 * a.mean_diagonal());
        let delta = if scale > 0.0 && scale.is_finite() { 1e-9 * scale } else { 1e-9 };
        for k in 0..constraints.len() {
            self.whole.add_to_diagonal(n + k, -delta);
        }
        self.linear.factorise(&self.whole)
    }
}
