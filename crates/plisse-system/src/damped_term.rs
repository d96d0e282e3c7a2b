//! A term made of many equal elements that store energy and resist change.

use glam::DVec3;
use plisse_core::{Element, Field, Id, Psd, RateElement, Space, StepEnergy};
use plisse_sparse::Sink as HessianSink;

use crate::element_term::ElementTerm;
use crate::inside::{self, Inside};
use crate::memory::Memory;
use crate::pose::{Pose, StepMap};
use crate::term::Term;

/// The sum of elements of one kind that store energy and are damped: one evaluation for both. Outside of a step and in equilibria the stored
/// energy alone, which is also what reports have.
///
/// As [`Element`]s they give what is stored, as [`RateElement`]s the sum of what is stored and what resists, over the same nodes;
/// [`StepEnergy::stored`] has the bits of [`Element::energy`].
///
/// Evaluated as [`ElementTerm`](crate::ElementTerm) is, with the same bits for any number of threads.
#[derive(Clone, Debug)]
pub struct DampedTerm<E, const V: usize> {
    /// What is stored.
    stored: ElementTerm<E, V>,
}

impl<E, const V: usize> DampedTerm<E, V>
where
    E: Element<V> + RateElement<V, Space = <E as Element<V>>::Space>,
{
    /// The sum of `elements`.
    #[must_use]
    pub fn new(name: impl Into<String>, elements: Vec<E>) -> Self {
        debug_assert!(elements.iter().all(|e| Element::nodes(e) == RateElement::nodes(e)));
        Self { stored: ElementTerm::new(name, elements) }
    }

    /// The elements.
    #[must_use]
    pub fn elements(&self) -> &[E] {
        self.stored.elements()
    }
}

impl<S: Space, E, const V: usize> Term<S> for DampedTerm<E, V>
where
    E: Element<V, Space = S> + RateElement<V, Space = S>,
{
    fn name(&self) -> &str {
        self.stored.name()
    }

    fn has_potential(&self) -> bool {
        self.elements().iter().all(E::has_potential)
    }

    fn pattern(&self, pair: &mut dyn FnMut(Id<S>, Id<S>)) {
        self.stored.pattern(pair);
    }

    fn remember(&self, step: &StepMap<'_, S>, memory: &mut Memory) {
        inside::remember(self.elements(), step, memory);
    }

    fn energy(&self, pose: &Pose<'_, S>) -> f64 {
        match Inside::new(pose, self.elements()) {
            Some(inside) => inside.energies(self.elements()).potential,
            None => self.stored.energy(pose),
        }
    }

    fn add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Field<S, DVec3>) {
        match Inside::new(pose, self.elements()) {
            Some(inside) => inside.add_gradient(self.elements(), gradient),
            None => self.stored.add_gradient(pose, gradient),
        }
    }

    fn energy_and_add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Field<S, DVec3>) -> StepEnergy {
        match Inside::new(pose, self.elements()) {
            Some(inside) => inside.energies_and_add_gradient(self.elements(), gradient),
            None => self.stored.energy_and_add_gradient(pose, gradient),
        }
    }

    fn add_hessian(&self, pose: &Pose<'_, S>, psd: Psd, sink: &mut HessianSink<'_>) {
        match Inside::new(pose, self.elements()) {
            Some(inside) => inside.add_hessian(self.elements(), psd, sink),
            None => self.stored.add_hessian(pose, psd, sink),
        }
    }
}
