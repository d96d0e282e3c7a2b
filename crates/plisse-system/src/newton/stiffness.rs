//! What the stiffness at a state says about it: whether an equilibrium is stable, and which
//! energies mean nothing.

use glam::DVec3;
use plisse_core::{Field, Psd, Space};
use plisse_sparse::BlockMatrix;

use super::objective::Objective;
use super::problem::Problem;
use super::stopping::largest;
use super::{Criterion, Newton};
use crate::state::Configuration;
use crate::system::System;

/// Rounding errors of a coordinate, in units of its spacing, that schemes and elements make of one:
/// velocities are differences of up to three positions with weights up to four, strains are
/// differences of positions, and both lose a few bits.
const ROUNDINGS: f64 = 64.0;
/// Instabilities that grow more slowly than this, 1/s, are none: by a factor of e in ten seconds.
const SLOW: f64 = 0.1;
/// Relative rounding error of the pivots of a factorisation. A column of the factor has some
/// thousand entries at most, each of which adds an error of `ε` times the diagonal.
const PIVOTS: f64 = 1e-12;

impl Newton {
    /// The largest energy, J, that rounding alone can put into a state: `½ Σ tr(Hᵢᵢ) δ²`, where all
    /// coordinates are off by `δ = 64 ε s` at random and `s` is the largest of them. With inertia,
    /// `H` has the kinetic energy of such velocities, too.
    ///
    /// Assembles the Hessian: to be asked for only where it matters.
    pub(crate) fn rounding_energy<P: Problem>(&mut self, problem: &mut P, x: &P::Point) -> f64 {
        let mut matrix = self.take_matrix(problem);
        problem.hessian(x, Psd::Clamp, &mut matrix);
        let delta = ROUNDINGS * f64::EPSILON * problem.extent(x);
        let trace = |node| matrix.diagonal_entries(node).sum::<f64>();
        let stiffness: f64 = (0..matrix.pattern().size()).map(trace).sum();
        self.matrix = Some(matrix);
        0.5 * stiffness * delta * delta
    }

    /// Whether the exact Hessian at a point is positive definite: where the gradient vanishes, too,
    /// that is a minimum. `None` if that is not known, since there is not enough memory, or since
    /// dense parts, as of a volume that is kept, would have to make up for a sparse part that is
    /// not.
    pub fn is_minimum<P: Problem>(&mut self, problem: &mut P, x: &P::Point) -> Option<bool> {
        self.is_definite(problem, x, |_| ())
    }

    /// Whether a state in equilibrium is a minimum of the energy, as [`Self::is_minimum`] tells.
    ///
    /// Directions that are neutral or nearly so count as stable: a perturbation has to grow by a
    /// factor of e within ten seconds, and by more than what forces below the tolerance could do,
    /// which are not known.
    pub(crate) fn is_stable<S: Space>(
        &mut self,
        objective: &mut Objective<'_, S>,
        at: &Configuration<S>,
    ) -> Option<bool> {
        let (system, criterion) = (objective.system, self.settings.criterion);
        self.is_definite(objective, at, |matrix| shift_what_is_unknown(criterion, system, &at.x, matrix))
    }

    fn is_definite<P: Problem>(
        &mut self,
        problem: &mut P,
        x: &P::Point,
        change: impl FnOnce(&mut BlockMatrix),
    ) -> Option<bool> {
        let mut matrix = self.take_matrix(problem);
        problem.hessian(x, Psd::Exact, &mut matrix);
        problem.restrict_matrix(&mut matrix);
        change(&mut matrix);
        let is_definite = self.linear.is_positive_definite(&matrix);
        self.matrix = Some(matrix);
        let dense = problem.dense_parts(x);
        let adds = dense.iter().all(|(weight, _)| *weight >= 0.0);
        match (is_definite.ok()?, dense.is_empty()) {
            (true, _) => adds.then_some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }
}

/// Adds to the diagonal what would make an instability that is too slow or too weak to be known a
/// stable direction.
fn shift_what_is_unknown<S: Space>(
    criterion: Criterion,
    system: &System<S>,
    x: &Field<S, DVec3>,
    matrix: &mut BlockMatrix,
) {
    // An unbalanced acceleration turns or shifts the system by its extent before it matters.
    let unknown = match criterion {
        Criterion::Acceleration(tolerance) | Criterion::ForcePerMass(tolerance) => {
            tolerance.get() / extent(x)
        }
        Criterion::Decrement(_) => 0.0,
    };
    let growth = unknown.max(SLOW * SLOW);
    for (i, &node) in system.unknowns().iter().enumerate() {
        let mass = system.mass().map_or(0.0, |mass| mass[node]);
        let shift = growth * mass + PIVOTS * largest(matrix.diagonal(i));
        matrix.add_to_diagonal(i, shift);
    }
    let first = system.unknowns().len();
    for (i, own) in system.own().iter().enumerate() {
        let inertia = if system.mass().is_some() { own.inertia() } else { 0.0 };
        let shift = growth * inertia + PIVOTS * largest(matrix.diagonal(first + i));
        matrix.add_to_diagonal(first + i, shift);
    }
}

/// The diagonal of the box around a state, m; a metre for a single point.
fn extent<S: Space>(x: &Field<S, DVec3>) -> f64 {
    let (low, high) = x
        .as_slice()
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    let extent = low.distance(high);
    if extent > 0.0 { extent } else { 1.0 }
}
