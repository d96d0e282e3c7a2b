//! What the terms of a system do on the way of a projection.

use glam::DVec3;
use plisse_core::{Field, Psd, Space};
use plisse_sparse::BlockMatrix;
use plisse_system::{Pose, StepMap, System};

/// The forces of all terms inside a step, as functions of where it ends.
///
/// Predicted positions balance them without constraints. From there the projection needs their
/// change, which is not linear: a wind blows harder on what constraints hold back, and membranes
/// turn.
pub(crate) struct StepForces<'a, S: Space> {
    pub(crate) system: &'a System<S>,
    pub(crate) map: StepMap<'a, S>,
    /// Values of the unknowns that terms bring along.
    pub(crate) own: &'a [f64],
    /// At the end of the step, s.
    pub(crate) time: f64,
}

impl<'a, S: Space> StepForces<'a, S> {
    /// A step that ends at `x`.
    pub(crate) fn pose<'b>(&'b self, x: &'b Field<S, DVec3>) -> Pose<'b, S>
    where
        'a: 'b,
    {
        Pose { x, own: self.own, time: self.time, step: Some(self.map) }
    }

    /// Derivative of the potentials of all terms, N.
    pub(crate) fn gradient(&self, x: &Field<S, DVec3>, out: &mut Field<S, DVec3>) {
        self.system.gradient(&self.pose(x), out);
    }

    /// Their second derivative over the free nodes, positive semidefinite, N/m.
    pub(crate) fn stiffness(&self, x: &Field<S, DVec3>, out: &mut BlockMatrix) {
        self.system.hessian(&self.pose(x), Psd::Clamp, out);
    }
}
