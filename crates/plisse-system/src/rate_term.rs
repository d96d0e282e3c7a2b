//! A term made of many equal elements that resist change.

use glam::DVec3;
use plisse_core::{Field, Id, Psd, RateElement};

use crate::inside::{self, Inside};
use crate::memory::Memory;
use crate::pose::{Pose, StepMap};
use crate::sums;
use crate::term::{Account, HessianSink, Role, Term};

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
        sums::sum_in_chunks(&self.elements, |item| inside.with(item, |start, x| item.1.energy(x, start)))
    }

    fn add_gradient(&self, pose: &Pose<'_, E::Space>, gradient: &mut Field<E::Space, DVec3>) {
        let Some(inside) = Inside::new(pose, &self.elements) else { return };
        sums::add_gradients(&self.elements, gradient, E::nodes, |item, _| {
            inside.with(item, |start, x| item.1.gradient(x, start))
        });
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, E::Space>,
        gradient: &mut Field<E::Space, DVec3>,
    ) -> f64 {
        let Some(inside) = Inside::new(pose, &self.elements) else { return 0.0 };
        if !sums::is_serial(self.elements.len()) {
            self.add_gradient(pose, gradient);
            return self.energy(pose);
        }
        sums::energies_and_gradients(&self.elements, gradient, E::nodes, |item, _| {
            inside.with(item, |start, x| item.1.energy_and_gradient(x, start))
        })
    }

    fn add_hessian(&self, pose: &Pose<'_, E::Space>, psd: Psd, sink: &mut HessianSink<'_>) {
        let Some(inside) = Inside::new(pose, &self.elements) else { return };
        sums::add_hessians(&self.elements, sink, |item| {
            inside.with(item, |start, x| item.1.hessian(x, start, psd)).0
        });
    }

    fn account(&self, pose: &Pose<'_, E::Space>, energy: f64) -> Account {
        Account { energy, dissipated: inside::dissipated(&self.elements, pose) }
    }
}
