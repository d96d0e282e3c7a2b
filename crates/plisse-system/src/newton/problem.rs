//! What Newton's method minimises.

use std::sync::Arc;

use plisse_core::Psd;
use plisse_sparse::{BlockMatrix, Pattern};

/// A value and the size of the parts it was summed from, which bounds its rounding error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The value itself; infinite outside of the domain of a barrier.
    pub sum: f64,
    /// The sum of the absolute values of its parts.
    pub magnitude: f64,
}

impl Value {
    /// A value of one part.
    #[must_use]
    pub fn of(sum: f64) -> Self {
        Self { sum, magnitude: sum.abs() }
    }
}

/// A function that [`Newton`](crate::Newton) can minimise: the potential of a time step, the energy
/// of an equilibrium, or a user's own.
///
/// A point may be of any type. Steps are vectors over the unknowns, in the
/// [layout](plisse_sparse::Layout) of the pattern; [`Problem::retract`] says where a step leads.
/// Evaluations take `&mut self` so that a problem can keep what it computes on the way.
pub trait Problem {
    /// Where the function is evaluated.
    type Point: Clone;

    /// The pattern of the Hessian, or of its part that never changes.
    fn pattern(&self) -> &Arc<Pattern>;

    /// The value at a point.
    fn value(&mut self, x: &Self::Point) -> Value;

    /// The value and its derivative by the unknowns.
    fn value_and_gradient(&mut self, x: &Self::Point, gradient: &mut [f64]) -> Value;

    /// Writes the second derivative, exact or made positive semidefinite. `out` holds the last
    /// matrix of this problem, or zeros; [`BlockMatrix::reset`] clears it and gives it the pattern
    /// that is needed here.
    fn hessian(&mut self, x: &Self::Point, psd: Psd, out: &mut BlockMatrix);

    /// Writes the point that `length` times the step leads to.
    fn retract(&self, x: &Self::Point, step: &[f64], length: f64, out: &mut Self::Point);

    /// Dense parts `w u uᵀ` of the Hessian, with positive weights.
    fn dense_parts(&mut self, x: &Self::Point) -> Vec<(f64, Vec<f64>)> {
        _ = x;
        Vec::new()
    }

    /// The largest multiple of the step that may be taken, all smaller ones included; infinite
    /// where nothing limits it. `to` is where the whole step leads.
    fn longest_step(&mut self, x: &Self::Point, step: &[f64], to: &Self::Point) -> f64 {
        _ = (x, step, to);
        f64::INFINITY
    }

    /// Removes directions that unknowns may not take from a vector.
    fn restrict(&self, vector: &mut [f64]) {
        _ = vector;
    }

    /// Removes them from the Hessian, with something positive in their place.
    fn restrict_matrix(&self, matrix: &mut BlockMatrix) {
        _ = matrix;
    }

    /// How large a gradient is, in the unit of the tolerance. Zero only if the gradient is; NaN if
    /// it contains NaN.
    fn residual(&self, gradient: &[f64]) -> f64 {
        largest_of_nodes(self.pattern(), gradient, |_| 1.0)
    }

    /// How wrong the quantity of the residual still is where a step is left to do, in the unit of
    /// the tolerance; none if that cannot be said. The decrement is half of `force · step`.
    fn error_of_step(&self, decrement: f64, force: &[f64], step: &[f64]) -> Option<f64> {
        _ = (decrement, force, step);
        None
    }

    /// Adds `amount`, on average, to the diagonal of the Hessian.
    fn regularise(&self, amount: f64, matrix: &mut BlockMatrix) {
        for node in 0..matrix.pattern().size() {
            matrix.add_to_diagonal(node, amount);
        }
    }

    /// The size of the numbers that unknowns are differences of: coordinates, for example. Steps
    /// below its rounding error are none.
    fn extent(&self, x: &Self::Point) -> f64;

    /// Whether a step that [`Problem::longest_step`] has cut short was a good one: so it is where
    /// inertia bounds all steps, but not where nothing but the stiffness does.
    fn forgives_short_steps(&self) -> bool {
        false
    }

    /// The part of the tolerance that a start must meet to be taken as it is, without an iteration.
    /// Less than one where what is left adds up from solve to solve, as that of time steps does.
    fn untouched(&self) -> f64 {
        1.0
    }

    /// Whether the iteration has left for infinity, so that there is no minimum.
    fn runs_away(&self, x: &Self::Point) -> bool {
        _ = x;
        false
    }

    /// The point whose value and gradient were computed last is the new iterate.
    fn accepted(&mut self, x: &Self::Point) {
        _ = x;
    }
}

/// The largest length of a node's part of a vector, each divided by a positive weight. NaN is kept.
pub(crate) fn largest_of_nodes(pattern: &Pattern, vector: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    let mut worst = 0.0;
    for node in 0..pattern.size() {
        let part = &vector[pattern.layout().range(node)];
        let here = part.iter().map(|v| v * v).sum::<f64>().sqrt() / weight(node);
        // Written so that NaN is kept.
        if here.is_nan() || here > worst {
            worst = here;
        }
    }
    worst
}
