//! A strain, a weight and a potential together: an element that damps.

use glam::DVec3;
use plisse_core::{Blocks, ElementStep, Id, Past, Positive, Psd, RateElement, Vertices, outer, saturate};

use crate::strain::{Strain, product, rate};
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
    /// indication, so that solvers must not use it to accept steps (no line search). For comparison. Hessians that must be positive
    /// semidefinite take [`PositionJacobian::ClampedStress`], whatever is said here.
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
///
/// In a step of the increment form the energy is zero at the start and never negative, so that a step cannot gain by it; the work of its force
/// along a path that both turns and strains can have either sign, as forces at the end of a path do.
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
        self.strain.frame(x).map_or([0.0; K], |frame| self.rate_at(&frame, v))
    }

    /// The potential `V_d` in W (SO18, equation 6).
    #[must_use]
    pub fn potential(&self, x: &[DVec3; V], v: &[DVec3; V]) -> f64 {
        self.strain.frame(x).map_or(0.0, |frame| {
            let rate = self.rate_at(&frame, v);
            saturate(self.potential.value(&self.strain.strain(&frame), &rate) * self.weight)
        })
    }

    /// Forces on the nodes in N (SO18, equation 7).
    #[must_use]
    pub fn force(&self, x: &[DVec3; V], v: &[DVec3; V]) -> [DVec3; V] {
        let Some(frame) = self.strain.frame(x) else { return [DVec3::ZERO; V] };
        let stress = self.stress(&self.strain.strain(&frame), &self.rate_at(&frame, v));
        self.strain.pull_back(&frame, &stress.map(|s| -s)).map(saturated)
    }

    /// What the force does to the motion, in W: not positive.
    #[must_use]
    pub fn power(&self, x: &[DVec3; V], v: &[DVec3; V]) -> f64 {
        let Some(frame) = self.strain.frame(x) else { return 0.0 };
        let rate = self.rate_at(&frame, v);
        let stress = self.stress(&self.strain.strain(&frame), &rate);
        saturate(-stress.iter().zip(&rate).map(|(s, r)| s * r).sum::<f64>())
    }

    /// Derivative of the force by velocities in N s/m (SO18, equation 8): symmetric, negative semidefinite.
    #[must_use]
    pub fn velocity_jacobian(&self, x: &[DVec3; V], v: &[DVec3; V]) -> Blocks<V> {
        let Some(frame) = self.strain.frame(x) else { return Blocks::ZERO };
        let tangent = self.tangent(&self.strain.strain(&frame), &self.rate_at(&frame, v), -1.0);
        product(&self.strain.gradient(&frame), &tangent)
    }

    /// Derivative of the force by positions in N/m (SO18, equation 9), in full or in part. Potentials that depend on the strain at the
    /// start of a step count as constant.
    #[must_use]
    pub fn position_jacobian(&self, x: &[DVec3; V], v: &[DVec3; V], part: PositionJacobian) -> Blocks<V> {
        let Some(frame) = self.strain.frame(x) else { return Blocks::ZERO };
        let (at, rate) = (self.strain.strain(&frame), self.rate_at(&frame, v));
        let stress = self.stress(&at, &rate);
        let psd = if part == PositionJacobian::ClampedStress { Psd::Clamp } else { Psd::Exact };
        let mut sum = self.strain.geometric(&frame, &stress, psd) * -1.0;
        if part == PositionJacobian::Full {
            // Σ_kl t_kl g_k (∂²ε_l/∂x² v)ᵀ.
            let tangent = self.tangent(&at, &rate, 1.0);
            let gradient = self.strain.gradient(&frame);
            for l in 0..K {
                let mut unit = [0.0; K];
                unit[l] = 1.0;
                let turned = self.strain.geometric(&frame, &unit, Psd::Exact).mul_vector(v);
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

    #[inline(always)]
    fn rate_at(&self, frame: &S::Frame, v: &[DVec3; V]) -> [f64; K] {
        limited(rate(&self.strain.gradient(frame), v))
    }

    #[inline(always)]
    fn stress(&self, at: &[f64; K], rate: &[f64; K]) -> [f64; K] {
        self.potential.stress(at, rate).map(|s| saturate(s * self.weight))
    }

    #[inline(always)]
    fn tangent(&self, at: &[f64; K], rate: &[f64; K], factor: f64) -> [[f64; K]; K] {
        self.potential.tangent(at, rate).map(|row| row.map(|t| saturate(t * (self.weight * factor))))
    }

    /// The frame at the end of the step; the strain at its start; the rate in it. None where either end has no strain.
    #[inline(always)]
    fn increment(&self, x: &[DVec3; V], step: &ElementStep<V>) -> Option<(S::Frame, [f64; K], [f64; K])> {
        let (now, start) = (self.strain.frame(x)?, self.strain.strain_at(&step.start)?);
        let mut change = self.strain.difference(&self.strain.strain(&now), &start);
        match &step.past {
            Past::Start => {}
            Past::Earlier { weight, x } => {
                let last = self.strain.difference(&start, &self.strain.strain_at(x)?);
                for k in 0..K {
                    change[k] -= last[k] * weight;
                }
            }
            Past::Velocity { time, v } => {
                let last = rate(&self.strain.gradient(&self.strain.frame(&step.start)?), v);
                for k in 0..K {
                    change[k] -= last[k] * time;
                }
            }
        }
        Some((now, start, limited(change.map(|c| c * step.rate))))
    }
}

#[inline(always)]
fn limited<const K: usize>(rate: [f64; K]) -> [f64; K] {
    rate.map(|r| r.clamp(-FASTEST, FASTEST))
}

/// The symmetric part, symmetric to the last bit.
#[inline(always)]
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

#[inline(always)]
fn saturated(v: DVec3) -> DVec3 {
    DVec3::from_array(v.to_array().map(saturate))
}

impl<S: Strain<V, K>, P: Potential<K>, const V: usize, const K: usize> RateElement<V>
    for Dissipation<S, P, V, K>
{
    type Space = Vertices;

    #[inline(always)]
    fn nodes(&self) -> [Id<Vertices>; V] {
        self.nodes
    }

    fn has_potential(&self) -> bool {
        self.form == Form::Increment
    }

    #[inline(always)]
    fn energy(&self, x: &[DVec3; V], step: &ElementStep<V>) -> f64 {
        match self.form {
            Form::Increment => self.increment(x, step).map_or(0.0, |(_, at, rate)| {
                saturate(self.potential.value(&at, &rate) * self.weight / step.rate)
            }),
            Form::Velocity(_) => saturate(self.potential(x, &step.velocity(x)) / step.rate),
        }
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; V], step: &ElementStep<V>) -> [DVec3; V] {
        match self.form {
            Form::Increment => self.increment(x, step).map_or([DVec3::ZERO; V], |(frame, at, rate)| {
                self.strain.pull_back(&frame, &self.stress(&at, &rate)).map(saturated)
            }),
            Form::Velocity(_) => self.force(x, &step.velocity(x)).map(|f| -f),
        }
    }

    #[inline(always)]
    fn energy_and_gradient(&self, x: &[DVec3; V], step: &ElementStep<V>) -> (f64, [DVec3; V]) {
        match self.form {
            Form::Increment => {
                self.increment(x, step).map_or((0.0, [DVec3::ZERO; V]), |(frame, at, rate)| {
                    let energy = saturate(self.potential.value(&at, &rate) * self.weight / step.rate);
                    (energy, self.strain.pull_back(&frame, &self.stress(&at, &rate)).map(saturated))
                })
            }
            Form::Velocity(_) => (self.energy(x, step), self.gradient(x, step)),
        }
    }

    #[inline(always)]
    fn hessian(&self, x: &[DVec3; V], step: &ElementStep<V>, psd: Psd) -> Blocks<V> {
        match self.form {
            Form::Increment => self.increment(x, step).map_or(Blocks::ZERO, |(frame, at, rate)| {
                let tangent = self.tangent(&at, &rate, step.rate);
                self.strain.stiffness(&frame, &self.stress(&at, &rate), &tangent, psd)
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
