//! What of an obstacle takes part in contact.

use glam::DVec3;
use plisse_contact::Shape as ContactShape;
use plisse_core::{Field, Vertices};

use super::super::touching::PLANE;
use super::{Obstacle, Shape};

/// What of an obstacle takes part in contact.
pub(in crate::scene) struct Parts {
    pub(in crate::scene) shape: ContactShape,
    /// Its vertices, in the frame in which the obstacle was placed.
    pub(in crate::scene) local: Vec<DVec3>,
    /// Of a ball or rod, m.
    pub(in crate::scene) radius: f64,
    /// Of a plane, how far its triangle reaches around the bodies, m.
    pub(in crate::scene) plane: Option<f64>,
}

impl Obstacle {
    /// What takes part in contact, in the frame in which it was placed and as it is at the
    /// start; none for shapes of the
    /// user's own, which only keep vertices away. `around` are the positions of what may touch it.
    pub(in crate::scene) fn parts(&self, around: &Field<Vertices, DVec3>) -> Option<Parts> {
        Some(match &self.shape {
            Shape::Plane { .. } => {
                let sum =
                    |f: fn(DVec3, DVec3) -> DVec3, from| around.as_slice().iter().copied().fold(from, f);
                let (low, high) = (sum(DVec3::min, DVec3::INFINITY), sum(DVec3::max, DVec3::NEG_INFINITY));
                let height = self.distance(0.0, 0.5 * (low + high)).value.abs();
                let size = PLANE * (low.distance(high) + height);
                Parts { plane: Some(size), ..Parts::surface(vec![[0, 1, 2]], vec![DVec3::ZERO; 3]) }
            }
            Shape::Sphere { centre, radius } => Parts::round(ContactShape::Points, vec![*centre], *radius),
            Shape::Capsule { a, b, radius } if a == b => {
                Parts::round(ContactShape::Points, vec![*a], *radius)
            }
            Shape::Capsule { a, b, radius } => {
                Parts::round(ContactShape::Lines(vec![[0, 1]]), vec![*a, *b], *radius)
            }
            Shape::Frustum(frustum) => {
                let (corners, faces) = frustum.surface();
                Parts::surface(faces, corners)
            }
            Shape::Box { centre, rotation, half } => {
                let sign = |k: usize, bit: usize| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
                let corner =
                    |k: usize| *centre + *rotation * (*half * DVec3::new(sign(k, 0), sign(k, 1), sign(k, 2)));
                let quads: [[u32; 4]; 6] =
                    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
                let halves = quads.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
                Parts::surface(halves.collect(), (0..8).map(corner).collect())
            }
            Shape::Mesh(mesh) => {
                let (x, faces) = mesh.surface();
                Parts::surface(faces.to_vec(), x.to_vec())
            }
            Shape::Sequence(sequence) => Parts::surface(sequence.faces(), sequence.positions(0.0).collect()),
            Shape::Own { .. } => return None,
        })
    }

    /// As contact within this range, m, sees it: round surfaces have as many flat sides as that
    /// needs.
    pub(in crate::scene) fn resolving(self, range: f64) -> Self {
        let range = self.contact.range.map_or(range, |own| range.min(own.get()));
        match self.shape {
            Shape::Frustum(frustum) => Self { shape: Shape::Frustum(frustum.resolving(range)), ..self },
            _ => self,
        }
    }

    /// Whether it is made of triangles that can cross others: neither round, nor a plane, nor of
    /// one's own.
    pub(in crate::scene) fn is_faceted(&self) -> bool {
        matches!(self.shape, Shape::Box { .. } | Shape::Frustum(_) | Shape::Mesh(_) | Shape::Sequence(_))
    }

    /// How far what takes part in contact reaches out of the shape at most, m.
    pub(in crate::scene) fn bulge(&self) -> f64 {
        match &self.shape {
            Shape::Frustum(frustum) => frustum.bulge(),
            _ => 0.0,
        }
    }

    /// Where the vertices of what takes part in contact are at a time, given where they are in the
    /// frame in which the obstacle was placed.
    pub(in crate::scene) fn place_parts(&self, time: f64, local: &[DVec3], out: &mut [DVec3]) {
        match &self.shape {
            Shape::Sequence(sequence) => {
                for (out, local) in out.iter_mut().zip(sequence.positions(time)) {
                    *out = self.to_world(time, local);
                }
            }
            _ => {
                for (out, local) in out.iter_mut().zip(local) {
                    *out = self.to_world(time, *local);
                }
            }
        }
    }

    /// The corners of a triangle of a plane around a point, in the frame in which it was placed.
    pub(in crate::scene) fn plane_around(&self, local: DVec3, size: f64) -> [DVec3; 3] {
        let Shape::Plane { point, normal } = &self.shape else { return [local; 3] };
        let foot = local - *normal * normal.dot(local - *point);
        let (u, v) = normal.any_orthonormal_pair();
        [0.0, 1.0, 2.0].map(|k: f64| {
            let (sin, cos) = (k * std::f64::consts::TAU / 3.0).sin_cos();
            foot + (u * cos + v * sin) * size
        })
    }
}
