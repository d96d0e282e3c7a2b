//! Damping by the strain rate of velocities, as SO18 has it.

use glam::DVec3;
use plisse_core::{Blocks, ElementStep, Id, Psd, StepElement, StepEnergy, Vertices, saturate};

use crate::dissipation::{Dissipation, PositionJacobian};
use crate::strain::Strain;
use crate::viscosity::Potential;

/// A [`Dissipation`] with the strain rate `∂ε/∂x(x) · v` at the end of the step (SO18, equation 7),
/// for comparison.
///
/// No potential of the step has this force: the energy is only an indication, so that solvers must
/// not use it to accept steps (no line search). Hessians that must be positive semidefinite take
/// [`PositionJacobian::ClampedStress`], whatever is said here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VelocityForm<S, P, const V: usize, const K: usize> {
    damping: Dissipation<S, P, V, K>,
    part: PositionJacobian,
}

impl<S, P, const V: usize, const K: usize> VelocityForm<S, P, V, K> {
    pub(crate) fn new(damping: Dissipation<S, P, V, K>, part: PositionJacobian) -> Self {
        Self { damping, part }
    }
}

/// The symmetric part, symmetric to the last bit.
#[inline(always)]
fn symmetric<const V: usize>(h: &Blocks<V>) -> Blocks<V> {
    let mut sum = *h;
    for i in 0..V {
        for j in 0..=i {
            let block = (h.0[i][j] + h.0[j][i].transpose()) * 0.5;
            sum.0[i][j] = block;
            sum.0[j][i] = block.transpose();
        }
    }
    sum
}

impl<S: Strain<V, K>, P: Potential<K>, const V: usize, const K: usize> StepElement<V>
    for VelocityForm<S, P, V, K>
{
    type Space = Vertices;
    type Start = ElementStep<V>;

    fn nodes(&self) -> [Id<Vertices>; V] {
        self.damping.nodes()
    }

    fn start(&self, step: &ElementStep<V>) -> ElementStep<V> {
        *step
    }

    fn has_potential(&self) -> bool {
        false
    }

    fn gradient(&self, x: &[DVec3; V], step: &ElementStep<V>) -> [DVec3; V] {
        self.damping.force(x, &step.velocity(x)).map(|f| -f)
    }

    fn energies_and_gradient(&self, x: &[DVec3; V], step: &ElementStep<V>) -> (StepEnergy, [DVec3; V]) {
        let gradient = self.gradient(x, step);
        let potential = saturate(self.damping.potential(x, &step.velocity(x)) / step.rate);
        (StepEnergy::of_loss(potential, step.work(&gradient, x)), gradient)
    }

    fn hessian(&self, x: &[DVec3; V], step: &ElementStep<V>, psd: Psd) -> Blocks<V> {
        let v = step.velocity(x);
        let part = if psd == Psd::Exact { self.part } else { PositionJacobian::ClampedStress };
        let by_velocity = self.damping.velocity_jacobian(x, &v).mul_saturating(-step.rate);
        symmetric(&(by_velocity + self.damping.position_jacobian(x, &v, part) * -1.0))
    }
}
