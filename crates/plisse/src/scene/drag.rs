//! Damping in proportion to mass.

use glam::{DMat3, DVec3};
use plisse_core::{Field, Id, Psd, StepEnergy, Vertices};
use plisse_system::{HessianSink, Pose, Role, Term};

/// `E = Σ c m |v|²/(2 rate)` over some nodes, so that the force is `-c m v`. Nothing outside of a step and in equilibria.
pub(super) struct MassDamping {
    pub(super) name: String,
    /// `c m` in kg/s, by node.
    pub(super) coefficients: Vec<(Id<Vertices>, f64)>,
}

impl Term<Vertices> for MassDamping {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::Dissipative
    }

    fn pattern(&self, pair: &mut dyn FnMut(Id<Vertices>, Id<Vertices>)) {
        for (node, _) in &self.coefficients {
            pair(*node, *node);
        }
    }

    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        match pose.step {
            Some(step) if step.rate > 0.0 => {
                let each = self.coefficients.iter();
                each.map(|(node, c)| 0.5 * c * pose.velocity(*node).length_squared() / step.rate).sum()
            }
            _ => 0.0,
        }
    }

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Field<Vertices, DVec3>) {
        for (node, c) in &self.coefficients {
            gradient[*node] += pose.velocity(*node) * *c;
        }
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, Vertices>,
        gradient: &mut Field<Vertices, DVec3>,
    ) -> StepEnergy {
        let mut sum = StepEnergy { potential: self.energy(pose), ..StepEnergy::default() };
        for (node, c) in &self.coefficients {
            let force = pose.velocity(*node) * *c;
            gradient[*node] += force;
            sum.dissipated += pose.step.map_or(0.0, |step| force.dot(pose.x[*node] - step.start[*node]));
        }
        sum
    }

    fn add_hessian(&self, pose: &Pose<'_, Vertices>, _: Psd, sink: &mut HessianSink<'_>) {
        let rate = pose.step.map_or(0.0, |step| step.rate);
        for (index, (_, c)) in self.coefficients.iter().enumerate() {
            sink.add(index, &DMat3::from_diagonal(DVec3::splat(c * rate)));
        }
    }
}
