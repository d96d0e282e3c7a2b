//! Coulomb friction on obstacles, as a potential of the step.

use std::sync::Arc;

use glam::DVec3;
use plisse_contact::Coulomb;
use plisse_core::{Id, Psd, StepEnergy, Vertices};
use plisse_system::{Gradient, Pose, Role, Sink, Term, Unknown};

use super::Obstacle;
use super::contact::{ContactLaw, Toucher, law};

/// Friction with the normal force and the normal of the start of the step: `E = Σ μ λ f(|u|)/rate`
/// with the tangential velocity `u` against the obstacle. The force `μ λ f'` rises to `μ λ` within
/// the slip speed `s`, as `2u/s - u²/s²`, and stays there. Convex, with continuous first
/// derivatives. In an equilibrium nothing slides, and there is no friction.
pub(in crate::scene) struct FrictionTerm {
    name: String,
    obstacle: Obstacle,
    touchers: Arc<[Toucher]>,
    /// Of each toucher, its coefficient of friction.
    coefficients: Vec<f64>,
}

/// A vertex that was in contact when the step began.
struct Rubbing {
    /// Its place among the touchers.
    index: usize,
    vertex: Id<Vertices>,
    /// `μ λ` in newtons.
    limit: f64,
    normal: DVec3,
    /// Tangential velocity against the obstacle.
    slip: DVec3,
}

impl FrictionTerm {
    /// With one coefficient of friction per toucher.
    pub(in crate::scene) fn new(
        name: String,
        obstacle: Obstacle,
        touchers: Arc<[Toucher]>,
        coefficients: Vec<f64>,
    ) -> Self {
        Self { name, obstacle, touchers, coefficients }
    }

    fn rubbing<'a>(&'a self, pose: &'a Pose<'_, Vertices>) -> impl Iterator<Item = Rubbing> + 'a {
        let step = pose.step.filter(|step| step.rate > 0.0);
        let touchers = if step.is_some() { &*self.touchers } else { &[] };
        touchers.iter().enumerate().filter_map(move |(index, toucher)| {
            let (step, vertex) = (step?, toucher.vertex);
            let (start, before) = (step.start[vertex], pose.time - step.dt);
            // At the start of a motion that begins in the middle, `before` may be a time at which
            // it would have been inside.
            let distance = self.obstacle.touch(before, start, toucher).filter(|d| d.value > 0.0)?;
            let limit = -self.coefficients[index]
                * law(&self.obstacle, ContactLaw::Barrier, toucher, distance.value)[1];
            let normal = distance.gradient;
            let relative = pose.velocity(vertex) - self.obstacle.velocity(start, before, step.dt);
            Some(Rubbing { index, vertex, limit, normal, slip: relative - normal * normal.dot(relative) })
        })
    }

    fn law(&self) -> Coulomb {
        Coulomb { slip: self.obstacle.contact.slip }
    }
}

impl Term<Vertices> for FrictionTerm {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::Dissipative
    }

    fn drives(&self) -> bool {
        self.obstacle.moves()
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        for toucher in &*self.touchers {
            pair(toucher.vertex.into(), toucher.vertex.into());
        }
    }

    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        let rate = pose.step.map_or(1.0, |step| step.rate);
        self.rubbing(pose).map(|r| r.limit * self.law().evaluate(r.slip.length())[0] / rate).sum()
    }

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        for r in self.rubbing(pose) {
            gradient[r.vertex] += r.slip * (r.limit * self.law().evaluate(r.slip.length())[1]);
        }
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, Vertices>,
        gradient: &mut Gradient<'_, Vertices>,
    ) -> StepEnergy {
        let mut sum = StepEnergy::default();
        let Some(step) = pose.step else { return sum };
        for r in self.rubbing(pose) {
            let [value, slope, _] = self.law().evaluate(r.slip.length());
            let force = r.slip * (r.limit * slope);
            gradient[r.vertex] += force;
            sum.potential += r.limit * value / step.rate;
            sum.dissipated += force.dot(pose.x[r.vertex] - step.start[r.vertex]);
        }
        sum
    }

    /// `f'/|u|` across the velocity and `f''` along it, both never negative.
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, _: Psd, sink: &mut Sink<'_>) {
        let rate = pose.step.map_or(0.0, |step| step.rate);
        for r in self.rubbing(pose) {
            sink.add(r.index, &(self.law().hessian(r.slip, r.normal) * (r.limit * rate)));
        }
    }
}
