//! When Newton's method must stop although its criterion is not met: at the floor of rounding.

use plisse_sparse::BlockMatrix;

/// The rounding error of a force, in units of `stiffness · spacing of the coordinates`. A row of
/// the stiffness has about seven blocks whose sizes sum to twice that of the diagonal one, and
/// elements lose a few bits of their own.
const ROUNDINGS: f64 = 64.0;

/// Whether the residual is what rounding leaves of the forces that cancel in it.
///
/// A coordinate of size `s` is known to `ε s`, so the force on a node is known to `‖Hᵢᵢ‖ ε s`: no
/// smaller residual can be asked for. `scale` is the size of the coordinates at the start of the
/// solve, not the present one: an iterate that has run away would excuse any residual.
pub(super) fn is_rounding(
    force: &[f64],
    matrix: &BlockMatrix,
    dense_parts: &[(f64, Vec<f64>)],
    scale: f64,
) -> bool {
    let spacing = ROUNDINGS * f64::EPSILON * scale;
    let layout = matrix.pattern().layout();
    let of_node = |v: &[f64], node| length(&v[layout.range(node)]);
    let sum_of_nodes = |v: &[f64]| (0..layout.nodes()).map(|node| of_node(v, node)).sum();
    let sums: Vec<f64> = dense_parts.iter().map(|(_, v)| sum_of_nodes(v)).collect();
    (0..layout.nodes()).all(|node| {
        let parts = dense_parts.iter().zip(&sums);
        let coupled: f64 = parts.map(|((w, v), sum)| w.abs() * of_node(v, node) * sum).sum();
        of_node(force, node) <= spacing * (largest(matrix.diagonal(node)) + coupled)
    })
}

fn length(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Largest absolute value.
pub(crate) fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, v| v.abs().max(m))
}
