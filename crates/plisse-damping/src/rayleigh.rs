//! Rayleigh damping: the usual choice, for comparison.

use glam::DVec3;
use plisse_core::range::{dot, multiply};
use plisse_core::{Blocks, Element, ElementStep, Id, Positive, Psd, StepElement, StepEnergy, saturate};

/// Where the stiffness is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RayleighStiffness {
    /// At the start of the step: the force is linear in the velocities, and the derivative of a
    /// potential of the step.
    #[default]
    AtStart,
    /// At the end of the step: second order with schemes that are, but no potential has this force,
    /// and solvers must not use the energy to accept steps (no line search). The Hessian leaves out
    /// how the stiffness changes with positions.
    AtEnd,
}

/// Damping in proportion to stiffness, `f = -β K(x) v`, with the Hessian `K` of an elastic element.
///
/// **Not recommended.** `K` contains the geometric stiffness of tensions, which resists turning:
/// hanging cloth that swings as a whole is slowed down although nothing deforms, the more the
/// heavier it is (see the chapter on damping of the book). Compressed elements have negative
/// eigenvalues, along which it drives the motion. Damping in proportion to mass, the other half of
/// Rayleigh's model, slows down free fall. Here to be compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayleighElement<E> {
    element: E,
    beta: f64,
    stiffness: RayleighStiffness,
}

impl<E> RayleighElement<E> {
    /// `beta` in seconds.
    #[must_use]
    pub fn new(element: E, beta: Positive) -> Self {
        Self { element, beta: beta.get(), stiffness: RayleighStiffness::AtStart }
    }

    /// With the stiffness taken elsewhere.
    #[must_use]
    pub fn with_stiffness(self, stiffness: RayleighStiffness) -> Self {
        Self { stiffness, ..self }
    }

    fn matrix<const V: usize>(&self, x: &[DVec3; V], step: &ElementStep<V>, psd: Psd) -> Blocks<V>
    where
        E: Element<V>,
    {
        let at = match self.stiffness {
            RayleighStiffness::AtStart => &step.start,
            RayleighStiffness::AtEnd => x,
        };
        self.element.hessian(at, psd).mul_saturating(self.beta)
    }
}

impl<const V: usize, E: Element<V>> StepElement<V> for RayleighElement<E> {
    type Space = E::Space;
    type Start = ElementStep<V>;

    fn nodes(&self) -> [Id<E::Space>; V] {
        self.element.nodes()
    }

    fn start(&self, step: &ElementStep<V>) -> ElementStep<V> {
        *step
    }

    fn has_potential(&self) -> bool {
        self.stiffness == RayleighStiffness::AtStart
    }

    fn gradient(&self, x: &[DVec3; V], step: &ElementStep<V>) -> [DVec3; V] {
        let (matrix, v) = (self.matrix(x, step, Psd::Exact), step.velocity(x));
        // Speeds are limited to 1e100 m/s: only matrices beyond 1e190 N s/m can make the sums
        // overflow.
        let largest = matrix.max_abs();
        if largest < 1e190 {
            return matrix.mul_vector(&v);
        }
        (matrix * (1.0 / largest)).mul_vector(&v).map(|force| multiply(force, largest))
    }

    fn energies_and_gradient(&self, x: &[DVec3; V], step: &ElementStep<V>) -> (StepEnergy, [DVec3; V]) {
        let (v, gradient) = (step.velocity(x), self.gradient(x, step));
        let potential = saturate(0.5 * dot(&gradient, &v) / step.rate);
        (StepEnergy::of_loss(potential, step.work(&gradient, x)), gradient)
    }

    fn hessian(&self, x: &[DVec3; V], step: &ElementStep<V>, psd: Psd) -> Blocks<V> {
        self.matrix(x, step, psd).mul_saturating(step.rate)
    }
}
