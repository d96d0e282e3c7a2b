//! Damping in proportion to mass.

use glam::{DMat3, DVec3};
use plisse_core::{Id, Psd, StepEnergy, Vertices};
use plisse_system::{Gradient, Pose, Role, Sink, Term, Unknown};

/// `E = Σ c m |v|²/(2 rate)` over some nodes, so that the force is `-c m v`. Nothing outside of a
/// step and in equilibria.
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

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        for (node, _) in &self.coefficients {
            pair((*node).into(), (*node).into());
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

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        for (node, c) in &self.coefficients {
            gradient[*node] += pose.velocity(*node) * *c;
        }
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, Vertices>,
        gradient: &mut Gradient<'_, Vertices>,
    ) -> StepEnergy {
        let mut sum = StepEnergy { potential: self.energy(pose), ..StepEnergy::default() };
        for (node, c) in &self.coefficients {
            let force = pose.velocity(*node) * *c;
            gradient[*node] += force;
            sum.dissipated += pose.step.map_or(0.0, |step| force.dot(pose.x[*node] - step.start[*node]));
        }
        sum
    }

    fn add_hessian(&self, pose: &Pose<'_, Vertices>, _: Psd, sink: &mut Sink<'_>) {
        let rate = pose.step.map_or(0.0, |step| step.rate);
        for (index, (_, c)) in self.coefficients.iter().enumerate() {
            sink.add(index, &DMat3::from_diagonal(DVec3::splat(c * rate)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_core::Field;
    use plisse_core::Past;
    use plisse_system::StepMap;

    #[test]
    fn what_is_lost_is_the_work_of_the_force() {
        let term = MassDamping { name: "drag".into(), coefficients: vec![(Id::new(1), 0.7)] };
        let place = |x: f64| Field::from_vec(vec![DVec3::X * x, DVec3::new(x, -2.0 * x, 0.5)]);
        let (x, start, reference) = (place(1.0), place(0.9), place(0.8));
        let step = StepMap {
            start: &start,
            dt: 0.1,
            reference: &reference,
            rate: 10.0,
            past: Past::Start,
            own: &[],
            inertia: None,
            memory: None,
        };
        let pose = Pose { x: &x, own: &[], time: 0.0, step: Some(step) };
        let (mut apart, mut together) = (place(0.0), place(0.0));
        term.add_gradient(&pose, &mut Gradient::by_nodes(&mut apart));
        let energies = term.energy_and_add_gradient(&pose, &mut Gradient::by_nodes(&mut together));
        assert_eq!(together, apart);
        // v = 10 (0.2, -0.4, 0) m/s over the way (0.1, -0.2, 0) m.
        let expected = [0.5 * 0.7 * 20.0 / 10.0, 0.0, 0.7 * 1.0];
        for (found, expected) in
            [energies.potential, energies.stored, energies.dissipated].iter().zip(expected)
        {
            assert!((found - expected).abs() < 1e-14, "{energies:?}");
        }
    }
}
