//! The force that keeps vertices out of an obstacle.

use glam::DVec3;
use plisse_core::{Field, Id, Psd, StepEnergy, Vertices, outer};
use plisse_system::{HessianSink, Pose, Role, Term};

use super::{Distance, Obstacle, Touch};

/// `E = Σᵢ Aᵢ p r/3 (1 - gᵢ/r)³` over the vertices with a gap `gᵢ < r`, where `A` is the area of a vertex, `p` the pressure
/// at the surface and `r` the range.
pub(in crate::scene) struct ContactTerm {
    name: String,
    obstacle: Obstacle,
    touch: Touch,
}

impl ContactTerm {
    pub(in crate::scene) fn new(name: String, obstacle: Obstacle, touch: Touch) -> Self {
        Self { name, obstacle, touch }
    }

    /// The vertices in contact.
    fn touching<'a>(
        &'a self,
        pose: &'a Pose<'_, Vertices>,
    ) -> impl Iterator<Item = (Id<Vertices>, Distance)> + 'a {
        pose.x.iter().filter_map(|(v, x)| {
            self.obstacle.touch(pose.time, *x, self.touch.radii[v]).map(|distance| (v, distance))
        })
    }

    /// Energy, slope and curvature by the gap.
    fn law(&self, area: f64, gap: f64) -> [f64; 3] {
        law(&self.obstacle, area, gap)
    }
}

/// Energy, slope and curvature of contact by the gap.
pub(super) fn law(obstacle: &Obstacle, area: f64, gap: f64) -> [f64; 3] {
    let (range, pressure) = (obstacle.contact.range.get(), obstacle.contact.stiffness.get());
    let depth = (1.0 - gap / range).max(0.0);
    let force = area * pressure * depth * depth;
    [force * depth * range / 3.0, -force, 2.0 * area * pressure * depth / range]
}

impl Term<Vertices> for ContactTerm {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::Elastic
    }

    fn depends_on_time(&self) -> bool {
        self.obstacle.motion.moves()
    }

    fn pattern(&self, pair: &mut dyn FnMut(Id<Vertices>, Id<Vertices>)) {
        for v in self.touch.areas.ids() {
            pair(v, v);
        }
    }

    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        self.touching(pose).map(|(v, d)| self.law(self.touch.areas[v], d.value)[0]).sum()
    }

    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Field<Vertices, DVec3>) {
        for (v, d) in self.touching(pose) {
            gradient[v] += d.gradient * self.law(self.touch.areas[v], d.value)[1];
        }
    }

    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, Vertices>,
        gradient: &mut Field<Vertices, DVec3>,
    ) -> StepEnergy {
        let each = self.touching(pose).map(|(v, d)| {
            let [energy, slope, _] = self.law(self.touch.areas[v], d.value);
            gradient[v] += d.gradient * slope;
            energy
        });
        StepEnergy::of_storage(each.sum())
    }

    /// The two parts act in directions at right angles, so that each is projected by itself. The curvature of the surface
    /// counts with the sign of the force: around a convex body it is the negative part.
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut HessianSink<'_>) {
        for (v, d) in self.touching(pose) {
            let [_, slope, curvature] = self.law(self.touch.areas[v], d.value);
            let trace = d.hessian.x_axis.x + d.hessian.y_axis.y + d.hessian.z_axis.z;
            let around = if trace == 0.0 { 0.0 } else { psd.apply(slope * trace) / trace };
            let block = outer(d.gradient * curvature, d.gradient) + d.hessian * around;
            sink.add(v.index(), &block);
        }
    }
}
