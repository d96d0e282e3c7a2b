//! A term made of many equal elements that resist change.

use glam::DVec3;
use plisse_core::{Field, Id, Psd, RateElement};

use crate::pose::{Pose, StepMap};
use crate::sums;
use crate::term::{HessianSink, Role, Term};

/// The sum of rate elements of one kind: damping. Nothing outside of a step and in equilibria.
///
/// Evaluated as [`ElementTerm`](crate::ElementTerm) is, with the same bits for any number of threads.
#[derive(Clone, Debug)]
pub struct RateTerm<E, const V: usize> {
    name: String,
    elements: Vec<E>,
}

impl<E: RateElement<V>, const V: usize> RateTerm<E, V> {
    /// The sum of `elements`.
    #[must_use]
    pub fn new(name: impl Into<String>, elements: Vec<E>) -> Self {
        Self { name: name.into(), elements }
    }

    /// The elements.
    #[must_use]
    pub fn elements(&self) -> &[E] {
        &self.elements
    }
}

/// The step of a pose in which something moves.
#[inline]
fn step<'a, S: plisse_core::Space>(pose: &Pose<'a, S>) -> Option<StepMap<'a, S>> {
    pose.step.filter(|step| step.rate > 0.0)
}

impl<E: RateElement<V>, const V: usize> Term<E::Space> for RateTerm<E, V> {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::Dissipative
    }

    fn pattern(&self, pair: &mut dyn FnMut(Id<E::Space>, Id<E::Space>)) {
        sums::pattern(self.elements.iter().map(E::nodes), pair);
    }

    fn energy(&self, pose: &Pose<'_, E::Space>) -> f64 {
        let Some(step) = step(pose) else { return 0.0 };
        sums::sum_in_chunks(&self.elements, |element| {
            let nodes = element.nodes();
            element.energy(&pose.gather(nodes), &step.gather(nodes))
        })
    }

    fn add_gradient(&self, pose: &Pose<'_, E::Space>, gradient: &mut Field<E::Space, DVec3>) {
        let Some(step) = step(pose) else { return };
        sums::add_gradients(&self.elements, gradient, E::nodes, |element, nodes| {
            element.gradient(&pose.gather(nodes), &step.gather(nodes))
        });
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, E::Space>,
        gradient: &mut Field<E::Space, DVec3>,
    ) -> f64 {
        let Some(step) = step(pose) else { return 0.0 };
        if !sums::is_serial(self.elements.len()) {
            self.add_gradient(pose, gradient);
            return self.energy(pose);
        }
        sums::energies_and_gradients(&self.elements, gradient, E::nodes, |element, nodes| {
            element.energy_and_gradient(&pose.gather(nodes), &step.gather(nodes))
        })
    }

    fn add_hessian(&self, pose: &Pose<'_, E::Space>, psd: Psd, sink: &mut HessianSink<'_>) {
        let Some(step) = step(pose) else { return };
        sums::add_hessians(&self.elements, sink, |element| {
            let nodes = element.nodes();
            element.hessian(&pose.gather(nodes), &step.gather(nodes), psd).0
        });
    }
}
