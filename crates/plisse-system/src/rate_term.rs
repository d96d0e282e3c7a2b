//! A term made of many equal elements that resist change.

use glam::DVec3;
use plisse_core::{Field, Id, Psd, RateElement, StepEnergy};
use plisse_sparse::Sink as HessianSink;

use crate::inside::{self, Inside};
use crate::memory::Memory;
use crate::pose::{Pose, StepMap};
use crate::sums;
use crate::term::{Role, Term};

/// The sum of rate elements of one kind: damping. Nothing outside of a step and in equilibria. Elements that also store energy belong into a
/// [`DampedTerm`](crate::DampedTerm): what they store would be lost here.
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

impl<E: RateElement<V>, const V: usize> Term<E::Space> for RateTerm<E, V> {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::Dissipative
    }

    fn has_potential(&self) -> bool {
        self.elements.iter().all(E::has_potential)
    }

    fn pattern(&self, pair: &mut dyn FnMut(Id<E::Space>, Id<E::Space>)) {
        sums::pattern(self.elements.iter().map(E::nodes), pair);
    }

    fn remember(&self, step: &StepMap<'_, E::Space>, memory: &mut Memory) {
        inside::remember(&self.elements, step, memory);
    }

    fn energy(&self, pose: &Pose<'_, E::Space>) -> f64 {
        let Some(inside) = Inside::new(pose, &self.elements).filter(|inside| !inside.is_at_rest()) else {
            return 0.0;
        };
        inside.energies(&self.elements).potential
    }

    fn add_gradient(&self, pose: &Pose<'_, E::Space>, gradient: &mut Field<E::Space, DVec3>) {
        if let Some(inside) = Inside::new(pose, &self.elements) {
            inside.add_gradient(&self.elements, gradient);
        }
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, E::Space>,
        gradient: &mut Field<E::Space, DVec3>,
    ) -> StepEnergy {
        match Inside::new(pose, &self.elements) {
            Some(inside) => inside.energies_and_add_gradient(&self.elements, gradient),
            None => StepEnergy::default(),
        }
    }

    fn add_hessian(&self, pose: &Pose<'_, E::Space>, psd: Psd, sink: &mut HessianSink<'_>) {
        if let Some(inside) = Inside::new(pose, &self.elements) {
            inside.add_hessian(&self.elements, psd, sink);
        }
    }
}
