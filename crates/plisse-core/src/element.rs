//! The contract between an energy on a few nodes and a solver that sums many of them.

use glam::DVec3;

use crate::blocks::Blocks;
use crate::psd::Psd;
use crate::space::{Id, Space};

/// Energy, gradient and Hessian of an element at one state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementEvaluation<const V: usize> {
    /// Energy in joules.
    pub energy: f64,
    /// Derivative of the energy by each node's position, in newtons. The force is its negative.
    pub gradient: [DVec3; V],
    /// Second derivative, in newtons per metre, with the policy that was asked for.
    pub hessian: Blocks<V>,
}

macro_rules! forward {
    ($($pointer:ty),*) => { $(
        impl<E: Element<V> + ?Sized, const V: usize> Element<V> for $pointer {
            type Space = E::Space;
            fn nodes(&self) -> [Id<E::Space>; V] {
                (**self).nodes()
            }
            fn energy(&self, x: &[DVec3; V]) -> f64 {
                (**self).energy(x)
            }
            fn gradient(&self, x: &[DVec3; V]) -> [DVec3; V] {
                (**self).gradient(x)
            }
            fn energy_and_gradient(&self, x: &[DVec3; V]) -> (f64, [DVec3; V]) {
                (**self).energy_and_gradient(x)
            }
            fn hessian(&self, x: &[DVec3; V], psd: Psd) -> Blocks<V> {
                (**self).hessian(x, psd)
            }
            fn evaluate(&self, x: &[DVec3; V], psd: Psd) -> ElementEvaluation<V> {
                (**self).evaluate(x, psd)
            }
        }
    )* };
}
forward!(&E, Box<E>);

/// An energy over `V` nodes. One that also damps is a [`StepElement`](crate::StepElement), as every
/// element is.
///
/// Evaluation never fails, never allocates and never starts a thread; it returns finite numbers for
/// every finite `x`; only a barrier has an infinite energy outside of its domain. `x` holds the
/// positions of [`Element::nodes`] in that order, and so do the results. The **force** on a node is
/// the negative of its gradient.
pub trait Element<const V: usize>: Send + Sync {
    /// What the unknowns live on.
    type Space: Space;

    /// The nodes, in the order of `x`. A node may appear twice where a stencil has no neighbour;
    /// its second place then has zero derivatives.
    fn nodes(&self) -> [Id<Self::Space>; V];

    /// Energy in joules.
    fn energy(&self, x: &[DVec3; V]) -> f64;

    /// Derivative of the energy by the positions, in newtons.
    fn gradient(&self, x: &[DVec3; V]) -> [DVec3; V];

    /// Second derivative in newtons per metre, exact or made positive semidefinite.
    fn hessian(&self, x: &[DVec3; V], psd: Psd) -> Blocks<V>;

    /// Energy and gradient at once, with the same bits as the two calls; elements override it where
    /// work is shared.
    fn energy_and_gradient(&self, x: &[DVec3; V]) -> (f64, [DVec3; V]) {
        (self.energy(x), self.gradient(x))
    }

    /// All three at once; elements override it where work is shared.
    fn evaluate(&self, x: &[DVec3; V], psd: Psd) -> ElementEvaluation<V> {
        ElementEvaluation {
            energy: self.energy(x),
            gradient: self.gradient(x),
            hessian: self.hessian(x, psd),
        }
    }
}
