//! Obstacles as pictures show them.

use glam::{DQuat, DVec3};
use plisse_core::Id;

use super::{DrawnSurface, Obstacle, Shape};

impl Obstacle {
    /// The surface at a time, for pictures. A plane has none: pictures have a ground of their own.
    #[must_use]
    pub fn surface(&self, time: f64) -> Option<DrawnSurface> {
        let (x, faces) = match &self.shape {
            Shape::Plane { .. } => return None,
            Shape::Sphere { centre, radius } => round_surface(|n| *centre + n * *radius),
            Shape::Capsule { a, b, radius } => {
                let axis = (*b - *a).normalize_or(DVec3::Z);
                round_surface(|n| (if n.dot(axis) > 0.0 { *b } else { *a }) + n * *radius)
            }
            Shape::Frustum(frustum) => frustum.drawn(),
            Shape::Box { centre, rotation, half } => box_surface(*centre, *rotation, *half),
            Shape::Mesh(mesh) => {
                let (x, faces) = mesh.surface();
                (x.to_vec(), faces.to_vec())
            }
            Shape::Sequence(sequence) => (sequence.positions(time).collect(), sequence.faces()),
            Shape::Own { solid, turn, by } => {
                let (x, faces) = solid.surface()?;
                (x.into_iter().map(|x| *turn * x + *by).collect(), faces)
            }
        };
        Some((x.into_iter().map(|x| self.to_world(time, x)).collect(), faces))
    }
}

#[expect(clippy::expect_used, reason = "constant arguments within their ranges")]
fn round_surface(place: impl Fn(DVec3) -> DVec3) -> DrawnSurface {
    let (mesh, x) = plisse_core::generate::sphere(4, 1.0).expect("a unit sphere, divided four times");
    let faces = mesh.faces().as_slice().iter().map(|f| f.map(Id::get)).collect();
    (x.as_slice().iter().map(|n| place(*n)).collect(), faces)
}

/// Twenty-four vertices, so that shading does not smooth the edges.
fn box_surface(centre: DVec3, rotation: DQuat, half: DVec3) -> DrawnSurface {
    let (mut x, mut faces) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let first = x.len() as u32;
            for (u, v) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let mut p = DVec3::ZERO;
                p[axis] = side * half[axis];
                p[(axis + 1) % 3] = u * side * half[(axis + 1) % 3];
                p[(axis + 2) % 3] = v * half[(axis + 2) % 3];
                x.push(centre + rotation * p);
            }
            faces.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    (x, faces)
}
