//! A strain, a weight and a potential together: an element that damps.

use glam::DVec3;
use plisse_core::range::{FACTOR, SPEED, largest_coordinate, limit, limit_vector, rates, scaled_matrix};
use plisse_core::{
    Blocks, ElementStep, Id, Positive, Psd, StepElement, StepEnergy, Vertices, outer, rarely, saturate,
};

use crate::start::{StrainStart, limited};
use crate::strain::{Strain, product};
use crate::velocity_form::VelocityForm;
use crate::viscosity::Potential;

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

/// Damping of one element: `weight · Ψ(ε̇)` with a [`Strain`] over `V` nodes and a [`Potential`] of
/// its `K` rates.
///
/// The force lies in the span of the strain's gradient. It is zero, and so is its power, for rigid
/// motions (joints of rods that are slightly bent excepted, see
/// [`JointViscosity`](crate::JointViscosity)); its power is never positive.
///
/// As an element of a time step ([`StepElement`]) it takes the rate from strains,
/// `(ε(x) - ε(start))/dt` for backward Euler: the force is the derivative of a potential of the
/// step, which is zero at the start and never negative, and exactly zero for rigid motions over a
/// step of any length. [`Dissipation::in_velocity_form`] takes it from velocities, for comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dissipation<S, P, const V: usize, const K: usize> {
    nodes: [Id<Vertices>; V],
    strain: S,
    potential: P,
    weight: f64,
}

impl<S: Strain<V, K>, P: Potential<K>, const V: usize, const K: usize> Dissipation<S, P, V, K> {
    /// `weight` is the rest area in m² of a triangle with viscosities in N s/m, the rest length in
    /// m of an edge with a viscosity in N s, one for hinges and joints with viscosities in N m s.
    #[must_use]
    pub fn new(nodes: [Id<Vertices>; V], strain: S, potential: P, weight: Positive) -> Self {
        Self { nodes, strain, potential, weight: weight.get() }
    }

    /// The same with the strain rate of velocities, `∂ε/∂x(x) · v` (SO18, equation 7). `part` is
    /// what the Hessian keeps of the derivative by positions.
    #[must_use]
    pub fn in_velocity_form(self, part: PositionJacobian) -> VelocityForm<S, P, V, K> {
        VelocityForm::new(self, part)
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
            saturate(self.potential.value(&self.strain.strain(&frame), &rate) * self.weight_at(x))
        })
    }

    /// Forces on the nodes in N (SO18, equation 7).
    #[must_use]
    pub fn force(&self, x: &[DVec3; V], v: &[DVec3; V]) -> [DVec3; V] {
        let Some(frame) = self.strain.frame(x) else { return [DVec3::ZERO; V] };
        let stress = self.stress(&self.strain.strain(&frame), &self.rate_at(&frame, v), self.weight_at(x));
        self.strain.pull_back(&frame, &stress.map(|s| -s)).map(saturated)
    }

    /// What the force does to the motion, in W: not positive.
    #[must_use]
    pub fn power(&self, x: &[DVec3; V], v: &[DVec3; V]) -> f64 {
        let Some(frame) = self.strain.frame(x) else { return 0.0 };
        let rate = self.rate_at(&frame, v);
        let stress = self.stress(&self.strain.strain(&frame), &rate, self.weight_at(x));
        saturate(-stress.iter().zip(&rate).map(|(s, r)| s * r).sum::<f64>())
    }

    /// Derivative of the force by velocities in N s/m (SO18, equation 8): symmetric, negative
    /// semidefinite.
    #[must_use]
    pub fn velocity_jacobian(&self, x: &[DVec3; V], v: &[DVec3; V]) -> Blocks<V> {
        let Some(frame) = self.strain.frame(x) else { return Blocks::ZERO };
        let weight = self.weight_at(x);
        let tangent = self.tangent(&self.strain.strain(&frame), &self.rate_at(&frame, v), -weight);
        product(&self.strain.gradient(&frame), &tangent)
    }

    /// Derivative of the force by positions in N/m (SO18, equation 9), in full or in part.
    /// Potentials that depend on the strain at the start of a step count as constant, and so does
    /// the weight of a strain that fades.
    #[must_use]
    pub fn position_jacobian(&self, x: &[DVec3; V], v: &[DVec3; V], part: PositionJacobian) -> Blocks<V> {
        let Some(frame) = self.strain.frame(x) else { return Blocks::ZERO };
        let (at, rate) = (self.strain.strain(&frame), self.rate_at(&frame, v));
        let weight = self.weight_at(x);
        let stress = self.stress(&at, &rate, weight);
        let psd = if part == PositionJacobian::ClampedStress { Psd::Clamp } else { Psd::Exact };
        let mut sum = self.strain.geometric(&frame, &stress, psd) * -1.0;
        if part == PositionJacobian::Full {
            sum += self.second_part(&frame, &self.tangent(&at, &rate, weight), v);
        }
        sum
    }

    /// `-Σ_kl t_kl g_k (∂²ε_l/∂x² v)ᵀ`, with velocities divided by the largest so that nothing
    /// overflows.
    fn second_part(&self, frame: &S::Frame, tangent: &[[f64; K]; K], v: &[DVec3; V]) -> Blocks<V> {
        let v = v.map(|v| limit_vector(v, SPEED));
        let fastest = largest_coordinate(&v).max(f64::MIN_POSITIVE);
        let v = v.map(|v| v / fastest);
        let gradient = self.strain.gradient(frame);
        let mut sum = Blocks::ZERO;
        for l in 0..K {
            let mut unit = [0.0; K];
            unit[l] = 1.0;
            // Tiny rest lengths make both factors large.
            let turned = self.strain.geometric(frame, &unit, Psd::Exact).mul_vector(&v);
            let turned = turned.map(|turned| limit_vector(turned, FACTOR));
            for k in 0..K {
                for i in 0..V {
                    let push = limit_vector(gradient[k][i] * -tangent[k][l], FACTOR);
                    for j in 0..V {
                        sum.0[i][j] += outer(push, turned[j]);
                    }
                }
            }
        }
        sum.mul_saturating(fastest)
    }

    #[inline(always)]
    fn rate_at(&self, frame: &S::Frame, v: &[DVec3; V]) -> [f64; K] {
        limited(rates(&self.strain.gradient(frame), v))
    }

    /// The weight, less where the strain fades.
    #[inline(always)]
    fn weight_at(&self, x: &[DVec3; V]) -> f64 {
        self.weight * self.strain.weight(x)
    }

    #[inline(always)]
    fn stress(&self, at: &[f64; K], rate: &[f64; K], weight: f64) -> [f64; K] {
        self.potential.stress(at, rate).map(|s| limit(s * weight, FACTOR))
    }

    /// Energies of a step that ends with a strain, a rate and a stress.
    #[inline(always)]
    fn energies_at(
        &self,
        start: &StrainStart<K>,
        strain: &[f64; K],
        rate: &[f64; K],
        stress: &[f64; K],
    ) -> StepEnergy {
        let change = self.strain.difference(strain, &start.at);
        let dissipated = stress.iter().zip(&change).map(|(s, c)| s * c).sum();
        let weight = self.weight * start.weight;
        let potential = self.potential.value(&start.at, rate) * weight / start.factor;
        StepEnergy::of_loss(saturate(potential), saturate(dissipated))
    }

    #[inline(always)]
    fn tangent(&self, at: &[f64; K], rate: &[f64; K], factor: f64) -> [[f64; K]; K] {
        scaled_matrix(&self.potential.tangent(at, rate), factor)
    }

    /// Weighted energies, forces and stiffness of a step that ends where the strain may fade.
    fn near_collapse(
        &self,
        x: &[DVec3; V],
        start: &StrainStart<K>,
        psd: Psd,
    ) -> (StepEnergy, [DVec3; V], Blocks<V>) {
        let Some(frame) = self.strain.frame(x) else {
            return (StepEnergy::default(), [DVec3::ZERO; V], Blocks::ZERO);
        };
        let strain = self.strain.strain(&frame);
        let rate = start.rate(&self.strain, &strain);
        let weight = self.weight * start.weight;
        let stress = self.stress(&start.at, &rate, weight);
        let tangent = self.tangent(&start.at, &rate, weight * start.factor);
        let energies = self.energies_at(start, &strain, &rate, &stress);
        let (w, force, stiffness) = self.strain.faded(x, &frame, energies.potential, &stress, &tangent, psd);
        let energies = StepEnergy::of_loss(w * energies.potential, w * energies.dissipated);
        (energies, force.map(saturated), stiffness.mirrored())
    }
}

/// What an element without a strain answers: nothing, unless a position is NaN, which must not be
/// hidden.
#[inline(always)]
fn nothing<const V: usize>(x: &[DVec3; V]) -> f64 {
    if x.iter().any(|p| p.is_nan()) { f64::NAN } else { 0.0 }
}

#[inline(always)]
fn saturated(v: DVec3) -> DVec3 {
    DVec3::from_array(v.to_array().map(saturate))
}

impl<S: Strain<V, K>, P: Potential<K>, const V: usize, const K: usize> StepElement<V>
    for Dissipation<S, P, V, K>
{
    type Space = Vertices;
    type Start = Option<StrainStart<K>>;

    #[inline(always)]
    fn nodes(&self) -> [Id<Vertices>; V] {
        self.nodes
    }

    #[inline(always)]
    fn start(&self, step: &ElementStep<V>) -> Option<StrainStart<K>> {
        StrainStart::new(&self.strain, step)
    }

    #[inline(always)]
    fn energies(&self, x: &[DVec3; V], start: &Option<StrainStart<K>>) -> StepEnergy {
        let (Some(start), Some(strain)) = (start, self.strain.strain_at(x)) else {
            return StepEnergy::of_loss(nothing(x), 0.0);
        };
        if self.strain.may_fade(x) {
            let (x, start) = (*x, *start);
            return rarely(move || self.near_collapse(&x, &start, Psd::Exact).0);
        }
        let rate = start.rate(&self.strain, &strain);
        let stress = self.stress(&start.at, &rate, self.weight * start.weight);
        self.energies_at(start, &strain, &rate, &stress)
    }

    #[inline(always)]
    fn energies_and_gradient(
        &self,
        x: &[DVec3; V],
        start: &Option<StrainStart<K>>,
    ) -> (StepEnergy, [DVec3; V]) {
        let (Some(start), Some(frame)) = (start, self.strain.frame(x)) else {
            return (StepEnergy::of_loss(nothing(x), 0.0), [DVec3::splat(nothing(x)); V]);
        };
        if self.strain.may_fade(x) {
            let (x, start) = (*x, *start);
            return rarely(move || {
                let (energies, force, _) = self.near_collapse(&x, &start, Psd::Exact);
                (energies, force)
            });
        }
        let strain = self.strain.strain(&frame);
        let rate = start.rate(&self.strain, &strain);
        let stress = self.stress(&start.at, &rate, self.weight * start.weight);
        let force = self.strain.pull_back(&frame, &stress);
        (self.energies_at(start, &strain, &rate, &stress), force.map(saturated))
    }

    #[inline(always)]
    fn hessian(&self, x: &[DVec3; V], start: &Option<StrainStart<K>>, psd: Psd) -> Blocks<V> {
        let (Some(start), Some(frame)) = (start, self.strain.frame(x)) else {
            return Blocks::identity() * nothing(x);
        };
        if self.strain.may_fade(x) {
            let (x, start) = (*x, *start);
            return rarely(move || self.near_collapse(&x, &start, psd).2);
        }
        let rate = start.rate(&self.strain, &self.strain.strain(&frame));
        let weight = self.weight * start.weight;
        let tangent = self.tangent(&start.at, &rate, weight * start.factor);
        self.strain.stiffness(&frame, &self.stress(&start.at, &rate, weight), &tangent, psd).mirrored()
    }
}
