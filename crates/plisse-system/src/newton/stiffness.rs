//! What the stiffness at a state says about it: whether an equilibrium is stable, and which energies mean nothing.

use glam::{DMat3, DVec3};
use plisse_core::{Field, Psd, Space};

use super::objective::Objective;
use super::stopping::{largest, size};
use super::{Criterion, Newton};
use crate::matrix::trace;

/// Rounding errors of a coordinate, in units of its spacing, that schemes and elements make of one: velocities are differences
/// of up to three positions with weights up to four, strains are differences of positions, and both lose a few bits.
const ROUNDINGS: f64 = 64.0;
/// Instabilities that grow more slowly than this, 1/s, are none: by a factor of e in ten seconds.
const SLOW: f64 = 0.1;
/// Relative rounding error of the pivots of a factorisation. A column of the factor has some thousand entries at most, each
/// of which adds an error of `ε` times the diagonal.
const PIVOTS: f64 = 1e-12;

impl<S: Space> Newton<S> {
    /// The largest energy, J, that rounding alone can put into a state: `½ Σ tr(Hᵢᵢ) δ²`, where all coordinates are off by
    /// `δ = 64 ε s` at random and `s` is the largest of them. With inertia, `H` has the kinetic energy of such velocities, too.
    ///
    /// Assembles the Hessian: to be asked for only where it matters.
    pub(crate) fn rounding_energy(&mut self, objective: &Objective<'_, S>, x: &Field<S, DVec3>) -> f64 {
        objective.hessian(x, Psd::Clamp, 0.0, &mut self.matrix);
        let scale = largest(x.as_slice()).max(largest(objective.map.start.as_slice()));
        let delta = ROUNDINGS * f64::EPSILON * scale;
        let stiffness: f64 =
            (0..objective.system.unknowns().len()).map(|i| trace(self.matrix.diagonal(i))).sum();
        0.5 * stiffness * delta * delta
    }

    /// Whether a state in equilibrium is a minimum of the energy: the exact Hessian there is positive definite. `None` if
    /// that is not known, since there is not enough memory, or since dense parts, as of a volume that is kept, would have to
    /// make up for a sparse part that is not.
    ///
    /// Directions that are neutral or nearly so count as stable: a perturbation has to grow by a factor of e within ten
    /// seconds, and by more than what forces below the tolerance could do, which are not known.
    pub(crate) fn is_stable(&mut self, objective: &Objective<'_, S>, x: &Field<S, DVec3>) -> Option<bool> {
        let system = objective.system;
        let nodes = system.unknowns();
        if nodes.is_empty() {
            return Some(true);
        }
        objective.hessian(x, Psd::Exact, 0.0, &mut self.matrix);
        // An unbalanced acceleration turns or shifts the system by its extent before it matters.
        let unknown = match self.settings.criterion {
            Criterion::Acceleration(tolerance) | Criterion::ForcePerMass(tolerance) => {
                tolerance.get() / extent(x)
            }
            Criterion::Decrement(_) => 0.0,
        };
        let growth = unknown.max(SLOW * SLOW);
        for (i, &node) in nodes.iter().enumerate() {
            let mass = system.mass().map_or(0.0, |mass| mass[node]);
            let shift = growth * mass + PIVOTS * size(self.matrix.diagonal(i));
            *self.matrix.diagonal_mut(i) += DMat3::from_diagonal(DVec3::splat(shift));
        }
        let dense = objective.rank_ones(x);
        let is_definite = self.linear.is_positive_definite(&self.matrix).ok()?;
        let adds = dense.iter().all(|(weight, _)| *weight >= 0.0);
        match (is_definite, dense.is_empty()) {
            (true, _) => adds.then_some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
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
