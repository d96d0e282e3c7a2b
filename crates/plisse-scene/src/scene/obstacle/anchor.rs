//! Points that obstacles carry along.

use glam::DVec3;

use super::{Obstacle, Shape};

/// A point that is fixed to an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::scene) enum Anchor {
    /// By its coordinates in the frame in which the obstacle was placed.
    Placed(DVec3),
    /// By a face of a mesh that deforms.
    Face {
        /// Its corners.
        corners: [u32; 3],
        /// Parts of the corners, which sum to one.
        weights: DVec3,
        /// Above the plane of the face, m.
        height: f64,
    },
}

impl Obstacle {
    /// The point that is at `x` at time zero.
    pub(in crate::scene) fn anchor(&self, x: DVec3) -> Anchor {
        let local = self.to_local(0.0, x);
        let Shape::Sequence(sequence) = &self.shape else { return Anchor::Placed(local) };
        let start = sequence.at(0.0);
        let corners = start.nearest_face(local);
        let [a, b, c] = corners.map(|v| start.surface().0[v as usize]);
        let normal = (b - a).cross(c - a);
        let squared = normal.length_squared();
        // Between two frames a face may have no area: there the first corner carries.
        if squared == 0.0 {
            return Anchor::Face { corners, weights: DVec3::X, height: 0.0 };
        }
        let weight = |from: DVec3, to: DVec3| (to - from).cross(local - from).dot(normal) / squared;
        let (first, second) = (weight(b, c), weight(c, a));
        let weights = DVec3::new(first, second, 1.0 - first - second);
        Anchor::Face { corners, weights, height: normal.dot(local - a) / squared.sqrt() }
    }

    /// Where that point is at a time, m.
    pub(in crate::scene) fn carried(&self, time: f64, anchor: &Anchor) -> DVec3 {
        let local = match (anchor, &self.shape) {
            (Anchor::Face { corners, weights, height }, Shape::Sequence(sequence)) => {
                let [a, b, c] = corners.map(|v| sequence.position(time, v as usize));
                let normal = (b - a).cross(c - a).normalize_or_zero();
                a * weights.x + b * weights.y + c * weights.z + normal * *height
            }
            (Anchor::Face { .. }, _) => unreachable!("only mesh sequences have such anchors"),
            (Anchor::Placed(local), _) => *local,
        };
        self.to_world(time, local)
    }
}
