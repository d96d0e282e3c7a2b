//! Wind: drag along the normals of the faces.

use std::fmt;
use std::sync::Arc;

use glam::DVec3;
use plisse_core::range::{SPEED, dot, limit_vector};
use plisse_core::{
    Id, Positive, Psd, SATURATION, Space, StepEnergy, TriMesh, Vertices, length_and_direction, outer,
    saturate,
};
use plisse_sparse::Sink;

use super::enclosure::area_vector;
use crate::pins::Motion;
use crate::pose::{Pose, StepMap};
use crate::term::{Gradient, Role, Term, Unknown};

/// Quadratic drag normal to each face: the force is `-½ ρ c A |u| u n` with `u = (v - w)·n`, `v`
/// the mean velocity of the corners, `w` the wind, `A` and `n` area and unit normal.
///
/// Area and normal are those at the start of the step. With them the force is the derivative of a
/// convex potential, `ρ c A |u|³ / (6 rate)`, so that steps stay minimisations; the price is first
/// order in time for the wind alone. A face without area takes no force. In an equilibrium the
/// nodes are at rest, and the force is that of the wind on the shape at the start.
///
/// The three nodes of a face are its corners, or any others whose triangle is parallel to it, such
/// as the midpoints of its edges ([`Wind::over`]).
pub struct Wind<S: Space = Vertices> {
    name: String,
    faces: Vec<[Id<S>; 3]>,
    velocity: Motion,
    /// `½ ρ c` in kg/m³, times the area of a face over that of the triangle of its nodes.
    drag: f64,
}

impl Wind {
    /// A steady wind in m/s, air density in kg/m³ (about 1.2), drag coefficient (about 1 to 2 for a
    /// plate).
    #[must_use]
    pub fn new(mesh: &TriMesh, velocity: DVec3, density: Positive, coefficient: Positive) -> Self {
        Self::gusts(mesh, move |_| velocity, density, coefficient)
    }

    /// A wind that changes with time.
    #[must_use]
    pub fn gusts(
        mesh: &TriMesh,
        velocity: impl Fn(f64) -> DVec3 + Send + Sync + 'static,
        density: Positive,
        coefficient: Positive,
    ) -> Self {
        let faces = mesh.faces().as_slice().to_vec();
        Self::over((faces, Positive::ONE), velocity, density, coefficient)
    }
}

impl<S: Space> Wind<S> {
    /// The same for triangles of any nodes, each a part of a face whose area is so many times that
    /// of the triangle: four times, if the nodes are the midpoints of its edges.
    #[must_use]
    pub fn over(
        (faces, times): (Vec<[Id<S>; 3]>, Positive),
        velocity: impl Fn(f64) -> DVec3 + Send + Sync + 'static,
        density: Positive,
        coefficient: Positive,
    ) -> Self {
        let drag = 0.5 * density.get() * coefficient.get() * times.get();
        Self { name: "wind".to_owned(), faces, velocity: Arc::new(velocity), drag }
    }

    /// The same load under another name.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Faces with their normal, their drag and their normal velocity relative to the wind.
    fn each<'a>(&'a self, pose: &'a Pose<'_, S>) -> impl Iterator<Item = Face<S>> + 'a {
        let wind = limit_vector((self.velocity)(pose.time), SPEED);
        let start = pose.step.map_or(pose.x, |step| step.start);
        self.faces.iter().map(move |&corners| {
            let (area, normal) = length_and_direction(area_vector(corners.map(|v| start[v])));
            let v = corners.map(|v| pose.velocity(v)).into_iter().sum::<DVec3>() / 3.0;
            Face { corners, normal, drag: saturate(self.drag * area), slip: (v - wind).dot(normal) }
        })
    }

    /// What each corner of a face bears of the gradient.
    fn share(face: &Face<S>) -> DVec3 {
        face.normal * saturate(face.drag * face.slip.abs() * face.slip / 3.0)
    }

    fn potential(face: &Face<S>, pose: &Pose<'_, S>, step: &StepMap<'_, S>) -> f64 {
        if step.rate > 0.0 {
            saturate(face.drag * face.slip.abs().powi(3) / (3.0 * step.rate))
        } else {
            dot(&[Self::share(face)], &[face.way(pose, step)])
        }
    }
}

struct Face<S: Space> {
    corners: [Id<S>; 3],
    normal: DVec3,
    /// `½ ρ c A` in kg/m.
    drag: f64,
    slip: f64,
}

impl<S: Space> Face<S> {
    /// How far the corners went, summed.
    fn way(&self, pose: &Pose<'_, S>, step: &StepMap<'_, S>) -> DVec3 {
        self.corners.map(|v| limit_vector(pose.x[v] - step.start[v], SATURATION)).into_iter().sum()
    }
}

impl<S: Space> fmt::Debug for Wind<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wind").field("faces", &self.faces.len()).field("drag", &self.drag).finish()
    }
}

impl<S: Space> Term<S> for Wind<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::Dissipative
    }

    fn drives(&self) -> bool {
        true
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<S>, Unknown<S>)) {
        for corners in &self.faces {
            for a in 0..3 {
                for b in 0..=a {
                    pair(corners[a].into(), corners[b].into());
                }
            }
        }
    }

    fn energy(&self, pose: &Pose<'_, S>) -> f64 {
        let Some(step) = pose.step else { return 0.0 };
        self.each(pose).map(|face| Self::potential(&face, pose, &step)).sum()
    }

    fn add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Gradient<'_, S>) {
        for face in self.each(pose) {
            let share = Self::share(&face);
            for v in face.corners {
                gradient[v] += share;
            }
        }
    }

    fn energy_and_add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Gradient<'_, S>) -> StepEnergy {
        let mut sum = StepEnergy::default();
        for face in self.each(pose) {
            let share = Self::share(&face);
            for v in face.corners {
                gradient[v] += share;
            }
            if let Some(step) = &pose.step {
                sum.potential += Self::potential(&face, pose, step);
                sum.dissipated += dot(&[share], &[face.way(pose, step)]);
            }
        }
        sum
    }

    fn add_hessian(&self, pose: &Pose<'_, S>, _: Psd, sink: &mut Sink<'_>) {
        let rate = pose.step.map_or(0.0, |step| step.rate);
        for (k, face) in self.each(pose).enumerate() {
            let weight = saturate(saturate(2.0 * face.drag * face.slip.abs()) * rate / 9.0);
            let block = outer(face.normal * weight, face.normal);
            for pair in 0..6 {
                sink.add(6 * k + pair, &block);
            }
        }
    }
}
