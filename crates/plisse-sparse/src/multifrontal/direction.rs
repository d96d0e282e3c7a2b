//! Whether a matrix without a factor is indefinite for sure, or only to the precision at hand.

use super::dense::{Shape, run};
use super::real::Real;
use super::substitute::{Backward, rows_from_parent};
use super::{Broken, Multifrontal};
use crate::cg::dot;
use crate::matrix::BlockMatrix;

impl<T: Real> Multifrontal<T> {
    /// After a factorisation that found a pivot which is not positive: whether the matrix has
    /// negative curvature along the direction `v` of that pivot, `Lᵀ v = e` with what there is of
    /// the factor. `vᵀ A v` is computed in double precision, so that rounding errors of the factor
    /// do not matter. A matrix that is not finite is as good as indefinite.
    pub(crate) fn is_surely_indefinite(&mut self, a: &BlockMatrix) -> bool {
        let Some(broken) = self.broken else { return false };
        let v = self.direction(broken, a.pattern().layout().unknowns());
        let mut product = vec![0.0; v.len()];
        a.mul(&v, &mut product);
        let curvature = dot(&v, &product);
        curvature < 0.0 || curvature.is_nan()
    }

    fn direction(&mut self, broken: Broken, unknowns: usize) -> Vec<f64> {
        let Self { plan, starts, panels, vector_starts, vectors, .. } = self;
        let Broken { front, pivot } = broken;
        let panel = &panels[starts[front]..];
        let entry = |row: usize, column: usize| {
            let line = Shape::pivot_strip::<T>(row / T::WIDTH) + column;
            T::lanes(&panel[line])[row % T::WIDTH].to_f64()
        };
        let mut x = vec![0.0; pivot + 1];
        x[pivot] = 1.0;
        for column in (0..pivot).rev() {
            let sum: f64 = (column + 1..=pivot).map(|row| entry(row, column) * x[row]).sum();
            // The diagonal holds inverses.
            x[column] = -sum * entry(column, column);
        }
        let mut v = vec![0.0; unknowns];
        let own = &mut vectors[vector_starts[front]..vector_starts[front + 1]];
        own.fill(T::zeros());
        for (k, (value, unknown)) in x.iter().zip(plan.unknowns(front)).enumerate() {
            T::lanes_mut(&mut own[k / T::WIDTH])[k % T::WIDTH] = T::from_f64(*value);
            v[*unknown as usize] = *value;
        }
        // Rows beyond are zero; what is below in the tree follows.
        for k in (plan.fronts[front].subtree as usize..front).rev() {
            let shape = plan.fronts[k].shape;
            let own = rows_from_parent::<T>(plan, vector_starts, vectors, k);
            own[..shape.pivot_strips::<T>()].fill(T::zeros());
            let mut sums = vec![T::zeros(); shape.pivots];
            let panel = &panels[starts[k]..starts[k + 1]];
            run::<T, _>(Backward { panel, shape, vector: own, sums: &mut sums });
            for (line, unknowns) in own.iter().zip(plan.unknowns(k).chunks(T::WIDTH)) {
                for (from, to) in T::lanes(line).iter().zip(unknowns) {
                    v[*to as usize] = from.to_f64();
                }
            }
        }
        v
    }
}
