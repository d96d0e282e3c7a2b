//! A term made of many equal elements that store energy and resist change.

use glam::DVec3;
use plisse_core::{DampedElement, Element, Field, Id, Psd, RateElement, Space};

use crate::inside::{self, Inside};
use crate::memory::Memory;
use crate::pose::{Pose, StepMap};
use crate::sums;
use crate::term::{Account, HessianSink, Term};

/// The sum of elements of one kind that store energy and are damped: one evaluation for both. Outside of a step and in equilibria the stored
/// energy alone, which is also what reports have.
///
/// Evaluated as [`ElementTerm`](crate::ElementTerm) is, with the same bits for any number of threads.
#[derive(Clone, Debug)]
pub struct DampedTerm<E, const V: usize> {
    name: String,
    elements: Vec<E>,
}

impl<E, const V: usize> DampedTerm<E, V> {
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

impl<S: Space, E: DampedElement<V> + Element<V, Space = S>, const V: usize> DampedTerm<E, V> {
    fn stored(&self, pose: &Pose<'_, S>) -> f64 {
        sums::sum_in_chunks(&self.elements, |(_, element)| {
            Element::energy(element, &pose.gather(Element::nodes(element)))
        })
    }
}

impl<S: Space, E: DampedElement<V> + Element<V, Space = S>, const V: usize> Term<S> for DampedTerm<E, V> {
    fn name(&self) -> &str {
        &self.name
    }

    fn has_potential(&self) -> bool {
        self.elements.iter().all(E::has_potential)
    }

    fn pattern(&self, pair: &mut dyn FnMut(Id<S>, Id<S>)) {
        sums::pattern(self.elements.iter().map(Element::nodes), pair);
    }

    fn remember(&self, step: &StepMap<'_, S>, memory: &mut Memory) {
        inside::remember(&self.elements, step, memory);
    }

    fn energy(&self, pose: &Pose<'_, S>) -> f64 {
        let Some(inside) = Inside::new(pose, &self.elements) else { return self.stored(pose) };
        sums::sum_in_chunks(&self.elements, |item| {
            inside.with(item, |start, x| RateElement::energy(item.1, x, start))
        })
    }

    fn add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Field<S, DVec3>) {
        let inside = Inside::new(pose, &self.elements);
        sums::add_gradients(&self.elements, gradient, Element::nodes, |item, nodes| match &inside {
            Some(inside) => inside.with(item, |start, x| RateElement::gradient(item.1, x, start)),
            None => Element::gradient(item.1, &pose.gather(nodes)),
        });
    }

    fn energy_and_add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Field<S, DVec3>) -> f64 {
        if !sums::is_serial(self.elements.len()) {
            self.add_gradient(pose, gradient);
            return self.energy(pose);
        }
        let inside = Inside::new(pose, &self.elements);
        sums::energies_and_gradients(&self.elements, gradient, Element::nodes, |item, nodes| match &inside {
            Some(inside) => inside.with(item, |start, x| RateElement::energy_and_gradient(item.1, x, start)),
            None => Element::energy_and_gradient(item.1, &pose.gather(nodes)),
        })
    }

    fn add_hessian(&self, pose: &Pose<'_, S>, psd: Psd, sink: &mut HessianSink<'_>) {
        let inside = Inside::new(pose, &self.elements);
        sums::add_hessians(&self.elements, sink, |item| match &inside {
            Some(inside) => inside.with(item, |start, x| RateElement::hessian(item.1, x, start, psd)).0,
            None => Element::hessian(item.1, &pose.gather(Element::nodes(item.1)), psd).0,
        });
    }

    fn account(&self, pose: &Pose<'_, S>, _: f64) -> Account {
        let Some(inside) = Inside::new(pose, &self.elements) else {
            return Account { energy: self.stored(pose), dissipated: 0.0 };
        };
        sums::sum_in_chunks(&self.elements, |item| {
            let (energy, dissipated) = inside.with(item, |start, x| item.1.stored_and_dissipated(x, start));
            Account { energy, dissipated }
        })
    }
}
