//! Elements of one body among many.

use glam::DVec3;
use plisse_core::{Blocks, Element, ElementEvaluation, Id, Psd};

/// An element whose nodes count from the first node of its body.
pub(super) struct Shifted<E> {
    pub(super) element: E,
    pub(super) first: u32,
}

impl<const V: usize, E: Element<V>> Element<V> for Shifted<E> {
    type Space = E::Space;

    fn nodes(&self) -> [Id<E::Space>; V] {
        self.element.nodes().map(|node| Id::new(node.get() + self.first))
    }

    fn energy(&self, x: &[DVec3; V]) -> f64 {
        self.element.energy(x)
    }

    fn gradient(&self, x: &[DVec3; V]) -> [DVec3; V] {
        self.element.gradient(x)
    }

    fn hessian(&self, x: &[DVec3; V], psd: Psd) -> Blocks<V> {
        self.element.hessian(x, psd)
    }

    fn energy_and_gradient(&self, x: &[DVec3; V]) -> (f64, [DVec3; V]) {
        self.element.energy_and_gradient(x)
    }

    fn evaluate(&self, x: &[DVec3; V], psd: Psd) -> ElementEvaluation<V> {
        self.element.evaluate(x, psd)
    }
}
