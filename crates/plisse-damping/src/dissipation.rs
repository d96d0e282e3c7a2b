//! A strain, a weight and a potential together: an element that damps.

use glam::DVec3;
use plisse_core::{Blocks, ElementStep, Id, Past, Positive, Psd, RateElement, Vertices, outer, saturate};

use crate::strain::{Strain, rate};
use crate::viscosity::Potential;

/// Rates beyond this count as this, in 1/s.
const FASTEST: f64 = 1e60;

/// How the strain rate of a step is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// From strains, `(ε(x) - ε(start))/dt` for backward Euler: the force is the derivative of a potential of the step, and exactly zero for
    /// rigid motions over a step of any length. The choice.
    #[default]
    Increment,
    /// From velocities, `∂ε/∂x(x) · v` (SO18, equation 7). No potential of the step has this force: the energy of the element is only an
    /// indication, so that solvers must not use it to accept steps (no line search). For comparison.
    Velocity(PositionJacobian),
}

/// Which part of the derivative of the force by positions is used (SO18, equation 9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionJacobian {
    /// All of it. Not symmetric; solvers for symmetric matrices get its symmetric part.
    Full,
    /// The symmetric first part: the geometric stiffness of the viscous stress.
    #[default]
    Symmetric,
    /// The same with a stress that has only tension, which makes it negative semidefinite.
    ClampedStress,
}

/// Damping of one element: `weight · Ψ(ε̇)` with a [`Strain`] over `V` nodes and a [`Potential`] of its `K` rates.
///
/// The force lies in the span of the strain's gradient. It is zero, and so is its power, for rigid motions; its power is never positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dissipation<S, P, const V: usize, const K: usize> {
    nodes: [Id<Vertices>; V],
    strain: S,
    potential: P,
    weight: f64,
    form: Form,
}

impl<S: Strain<V, K>, P: Potential<K>, const V: usize, const K: usize> Dissipation<S, P, V, K> {
    /// `weight` is the rest area in m² of a triangle with viscosities in N s/m, the rest length in m of an edge with a viscosity in N s, one
    /// for hinges and joints with viscosities in N m s.
    #[must_use]
    pub fn new(nodes: [Id<Vertices>; V], strain: S, potential: P, weight: Positive) -> Self {
        Self { nodes, strain, potential, weight: weight.get(), form: Form::Increment }
    }

    /// With another form.
    #[must_use]
    pub fn with_form(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// The strain.
    #[must_use]
    pub fn strain(&self) -> &S {
        &self.strain
    }

    /// Strain rates at positions in m and velocities in m/s; zero where the strain is not defined.
    #[must_use]
    pub fn strain_rate(&self, x: &[DVec3; V], v: &[DVec3; V]) -> [f64; K] {
        limited(rate(&self.strain.gradient(x), v))
    }

    /// The potential `V_d` in W (SO18, equation 6).
    #[must_use]
    pub fn potential(&self, x: &[DVec3; V], v: &[DVec3; V]) -> f64 {
        self.at(x)
            .map_or(0.0, |at| saturate(self.potential.value(&at, &self.strain_rate(x, v)) * self.weight))
    }

    /// Forces on the nodes in N (SO18, equation 7).
    #[must_use]
    pub fn force(&self, x: &[DVec3; V], v: &[DVec3; V]) -> [DVec3; V] {
        let Some(at) = self.at(x) else { return [DVec3::ZERO; V] };
        self.strain.pull_back(x, &self.stress(&at, &self.strain_rate(x, v)).map(|s| -s)).map(saturated)
    }

    /// What the force does to the motion, in W: not positive.
    #[must_use]
    pub fn power(&self, x: &[DVec3; V], v: &[DVec3; V]) -> f64 {
        let Some(at) = self.at(x) else { return 0.0 };
        let rate = self.strain_rate(x, v);
        -self.stress(&at, &rate).iter().zip(&rate).map(|(s, r)| s * r).sum::<f64>()
    }

    /// Derivative of the force by velocities in N s/m (SO18, equation 8): symmetric, negative semidefinite.
    #[must_use]
    pub fn velocity_jacobian(&self, x: &[DVec3; V], v: &[DVec3; V]) -> Blocks<V> {
        let Some(at) = self.at(x) else { return Blocks::ZERO };
        let tangent = self.tangent(&at, &self.strain_rate(x, v), -1.0);
        crate::strain::product(&self.strain.gradient(x), &tangent)
    }

    /// Derivative of the force by positions in N/m (SO18, equation 9), in full or in part. Potentials that depend on the strain at the
    /// start of a step count as constant.
    #[must_use]
    pub fn position_jacobian(&self, x: &[DVec3; V], v: &[DVec3; V], part: PositionJacobian) -> Blocks<V> {
        let Some(at) = self.at(x) else { return Blocks::ZERO };
        let rate = self.strain_rate(x, v);
        let stress = self.stress(&at, &rate);
        let psd = if part == PositionJacobian::ClampedStress { Psd::Clamp } else { Psd::Exact };
        let mut sum = self.strain.geometric(x, &stress, psd) * -1.0;
        if part == PositionJacobian::Full {
            // Σ_kl t_kl g_k (∂²ε_l/∂x² v)ᵀ.
            let tangent = self.tangent(&at, &rate, 1.0);
            let gradient = self.strain.gradient(x);
            for l in 0..K {
                let mut unit = [0.0; K];
                unit[l] = 1.0;
                let turned = self.strain.geometric(x, &unit, Psd::Exact).mul_vector(v);
                for k in 0..K {
                    for i in 0..V {
                        for j in 0..V {
                            sum.0[i][j] += outer(gradient[k][i] * -tangent[k][l], turned[j]);
                        }
                    }
                }
            }
        }
        sum
    }

    /// The strain at which the potential is taken.
    #[inline]
    fn at(&self, x: &[DVec3; V]) -> Option<[f64; K]> {
        self.strain.strain(x)
    }

    #[inline]
    fn stress(&self, at: &[f64; K], rate: &[f64; K]) -> [f64; K] {
        self.potential.stress(at, rate).map(|s| saturate(s * self.weight))
    }

    #[inline]
    fn tangent(&self, at: &[f64; K], rate: &[f64; K], factor: f64) -> [[f64; K]; K] {
        self.potential.tangent(at, rate).map(|row| row.map(|t| saturate(t * (self.weight * factor))))
    }

    /// Strain at the start of the step, and its rate in the step; none where either end has no strain.
    #[inline]
    fn increment(&self, x: &[DVec3; V], step: &ElementStep<V>) -> Option<([f64; K], [f64; K])> {
        let (now, start) = (self.strain.strain(x)?, self.strain.strain(&step.start)?);
        let mut change = self.strain.difference(&now, &start);
        match &step.past {
            Past::Start => {}
            Past::Earlier { weight, x } => {
                let last = self.strain.difference(&start, &self.strain.strain(x)?);
                for k in 0..K {
                    change[k] -= last[k] * weight;
                }
            }
            Past::Velocity { time, v } => {
                let last = rate(&self.strain.gradient(&step.start), v);
                for k in 0..K {
                    change[k] -= last[k] * time;
                }
            }
        }
        Some((start, limited(change.map(|c| c * step.rate))))
    }
}

#[inline]
fn limited<const K: usize>(rate: [f64; K]) -> [f64; K] {
    rate.map(|r| r.clamp(-FASTEST, FASTEST))
}

/// The symmetric part, symmetric to the last bit.
#[inline]
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

#[inline]
fn saturated(v: DVec3) -> DVec3 {
    DVec3::from_array(v.to_array().map(saturate))
}

impl<S: Strain<V, K>, P: Potential<K>, const V: usize, const K: usize> RateElement<V>
    for Dissipation<S, P, V, K>
{
    type Space = Vertices;

    #[inline]
    fn nodes(&self) -> [Id<Vertices>; V] {
        self.nodes
    }

    #[inline]
    fn energy(&self, x: &[DVec3; V], step: &ElementStep<V>) -> f64 {
        match self.form {
            Form::Increment => self.increment(x, step).map_or(0.0, |(at, rate)| {
                saturate(self.potential.value(&at, &rate) * self.weight / step.rate)
            }),
            Form::Velocity(_) => saturate(self.potential(x, &step.velocity(x)) / step.rate),
        }
    }

    #[inline]
    fn gradient(&self, x: &[DVec3; V], step: &ElementStep<V>) -> [DVec3; V] {
        match self.form {
            Form::Increment => self.increment(x, step).map_or([DVec3::ZERO; V], |(at, rate)| {
                self.strain.pull_back(x, &self.stress(&at, &rate)).map(saturated)
            }),
            Form::Velocity(_) => self.force(x, &step.velocity(x)).map(|f| -f),
        }
    }

    #[inline]
    fn energy_and_gradient(&self, x: &[DVec3; V], step: &ElementStep<V>) -> (f64, [DVec3; V]) {
        match self.form {
            Form::Increment => self.increment(x, step).map_or((0.0, [DVec3::ZERO; V]), |(at, rate)| {
                let energy = saturate(self.potential.value(&at, &rate) * self.weight / step.rate);
                (energy, self.strain.pull_back(x, &self.stress(&at, &rate)).map(saturated))
            }),
            Form::Velocity(_) => (self.energy(x, step), self.gradient(x, step)),
        }
    }

    #[inline]
    fn hessian(&self, x: &[DVec3; V], step: &ElementStep<V>, psd: Psd) -> Blocks<V> {
        match self.form {
            Form::Increment => self.increment(x, step).map_or(Blocks::ZERO, |(at, rate)| {
                let tangent = self.tangent(&at, &rate, step.rate);
                symmetric(&self.strain.stiffness(x, &self.stress(&at, &rate), &tangent, psd))
            }),
            Form::Velocity(part) => {
                let v = step.velocity(x);
                let part = if psd == Psd::Exact { part } else { PositionJacobian::ClampedStress };
                let sum =
                    self.velocity_jacobian(x, &v) * -step.rate + self.position_jacobian(x, &v, part) * -1.0;
                symmetric(&sum)
            }
        }
    }
}
