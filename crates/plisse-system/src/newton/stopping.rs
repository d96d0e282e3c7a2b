//! When Newton's method must stop although its criterion is not met: at the floor of rounding, and where there is no
//! minimum.

use glam::{DMat3, DVec3};
use plisse_core::{Field, Space};

use super::objective::Objective;
use crate::matrix::BlockMatrix;

/// The rounding error of a force, in units of `stiffness · spacing of the coordinates`. A row of the stiffness has about
/// seven blocks whose sizes sum to twice that of the diagonal one, and elements lose a few bits of their own.
const ROUNDINGS: f64 = 64.0;
/// An equilibrium that is farther away than this many times the size of the system is none.
const FARTHEST: f64 = 1e3;

/// Whether the residual is what rounding leaves of the forces that cancel in it.
///
/// A coordinate of size `s` is known to `ε s`, so the force on a node is known to `‖Hᵢᵢ‖ ε s`: no smaller residual can be
/// asked for. `scale` is the size of the coordinates at the start of the solve, not the present one: an iterate that has
/// run away would excuse any residual.
pub(super) fn is_rounding<S: Space>(
    objective: &Objective<'_, S>,
    x: &Field<S, DVec3>,
    force: &[DVec3],
    matrix: &BlockMatrix,
    scale: f64,
) -> bool {
    let spacing = ROUNDINGS * f64::EPSILON * scale;
    let dense = objective.rank_ones(x);
    let sums: Vec<f64> = dense.iter().map(|(_, v)| v.iter().map(|v| v.length()).sum()).collect();
    force.iter().enumerate().all(|(i, force)| {
        let coupled: f64 = dense.iter().zip(&sums).map(|((w, v), sum)| w.abs() * v[i].length() * sum).sum();
        force.length() <= spacing * (size(matrix.diagonal(i)) + coupled)
    })
}

/// Whether an equilibrium solve has run away: energies without a minimum fall for ever.
pub(super) fn runs_away<S: Space>(objective: &Objective<'_, S>, x: &Field<S, DVec3>) -> bool {
    if objective.inertia > 0.0 {
        return false;
    }
    let start = objective.map.start.as_slice();
    let (low, high) = start
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    let extent = low.distance(high);
    // A system without extent: where it is, or a metre.
    let extent = [extent, largest(start)].into_iter().find(|size| *size > 0.0).unwrap_or(1.0);
    x.as_slice().iter().zip(start).any(|(x, start)| x.distance(*start) > FARTHEST * extent)
}

/// Largest entry.
pub(super) fn size(block: &DMat3) -> f64 {
    block.to_cols_array().iter().fold(0.0, |m: f64, value| m.max(value.abs()))
}

/// Largest coordinate.
pub(super) fn largest(v: &[DVec3]) -> f64 {
    v.iter().fold(0.0, |m, v| v.abs().max_element().max(m))
}
