//! A term made of many equal elements, evaluated in parallel and summed in a fixed order.

use glam::DVec3;
use plisse_core::{Element, Field, Id, Psd, StepEnergy};
use plisse_sparse::Sink as HessianSink;

use crate::pose::Pose;
use crate::sums;
use crate::term::Term;

/// The sum of elements of one kind.
///
/// With more than one thread, each owns a range of the result and evaluates the elements that touch it, in their order. Every
/// number is thus summed in the order of a single thread, and the bits are the same for any number of threads. Elements that
/// touch two ranges are evaluated twice: few, if nodes that are close in space are close in number.
#[derive(Clone, Debug)]
pub struct ElementTerm<E, const V: usize> {
    name: String,
    elements: Vec<E>,
}

impl<E: Element<V>, const V: usize> ElementTerm<E, V> {
    /// The sum of `elements`, as stored energy.
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

impl<E: Element<V>, const V: usize> Term<E::Space> for ElementTerm<E, V> {
    fn name(&self) -> &str {
        &self.name
    }

    fn pattern(&self, pair: &mut dyn FnMut(Id<E::Space>, Id<E::Space>)) {
        sums::pattern(self.elements.iter().map(E::nodes), pair);
    }

    fn energy(&self, pose: &Pose<'_, E::Space>) -> f64 {
        sums::sum_in_chunks(&self.elements, |(_, element)| element.energy(&pose.gather(element.nodes())))
    }

    fn add_gradient(&self, pose: &Pose<'_, E::Space>, gradient: &mut Field<E::Space, DVec3>) {
        sums::add_gradients(&self.elements, gradient, E::nodes, |(_, element), nodes| {
            element.gradient(&pose.gather(nodes))
        });
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, E::Space>,
        gradient: &mut Field<E::Space, DVec3>,
    ) -> StepEnergy {
        StepEnergy::of_storage(if sums::is_serial(self.elements.len()) {
            sums::energies_and_gradients(&self.elements, gradient, E::nodes, |(_, element), nodes| {
                element.energy_and_gradient(&pose.gather(nodes))
            })
        } else {
            self.add_gradient(pose, gradient);
            self.energy(pose)
        })
    }

    fn add_hessian(&self, pose: &Pose<'_, E::Space>, psd: Psd, sink: &mut HessianSink<'_>) {
        sums::add_hessians(&self.elements, sink, |(_, element)| {
            element.hessian(&pose.gather(element.nodes()), psd).0
        });
    }
}
