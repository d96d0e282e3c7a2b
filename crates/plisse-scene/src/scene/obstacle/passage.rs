//! How far a point may go along a straight line before it could meet an obstacle. What deforms is
//! taken as it is at the time that is given.

use glam::DVec3;

use super::{Obstacle, Shape};

/// Part of the gap that a free path leaves.
const KEPT: f64 = 0.1;
/// Paths that are much shorter than the distance are not followed.
const FAR: f64 = 64.0;
/// Points at which the distance is evaluated at most.
const POINTS: usize = 256;
/// Advances shorter than this part of the path are not worth another evaluation.
const SHORTEST: f64 = 1e-4;

impl Obstacle {
    /// The largest multiple of the path between two points in the frame of the obstacle along which
    /// something of this radius keeps at least a tenth of its gap; zero if it has none. A lower
    /// bound: what it allows is free.
    ///
    /// A distance changes no faster than the point moves, so a path shorter than nine tenths of the
    /// gap is free. Longer ones, up to a multiple of one, are followed in pieces. The distance to a
    /// convex body is a convex function: it lies above its tangent planes, so that only the part of
    /// the path towards the body counts, and sliding along it is not limited.
    pub(super) fn free_path(&self, time: f64, from: DVec3, to: DVec3, radius: f64) -> f64 {
        self.path_that_keeps(time, KEPT, from, to, radius)
    }

    /// Whether something of this radius can go all the way between two points in the frame of the
    /// obstacle.
    pub(super) fn is_free(&self, time: f64, from: DVec3, to: DVec3, radius: f64) -> bool {
        self.path_that_keeps(time, 0.0, from, to, radius) >= 1.0
    }

    /// Whether the surface faces ways that are more than 45 degrees apart at two points in the
    /// frame of the obstacle.
    pub(super) fn turns_round(&self, time: f64, from: DVec3, to: DVec3) -> bool {
        let [a, b] = [from, to].map(|x| self.local_distance(time, x).gradient);
        a.dot(b) < std::f64::consts::FRAC_1_SQRT_2
    }

    /// The largest multiple of a path along which at least this part of the gap is kept.
    fn path_that_keeps(&self, time: f64, part: f64, from: DVec3, to: DVec3, radius: f64) -> f64 {
        let path = to - from;
        let length = path.length();
        if length == 0.0 {
            return f64::INFINITY;
        }
        if self.is_beyond(time, from, radius + FAR * length) {
            return FAR;
        }
        let mut here = self.local_distance(time, from);
        let gap = here.value - radius;
        if gap <= 0.0 {
            return 0.0;
        }
        let kept = part * gap;
        let bound = (gap - kept) / length;
        if bound >= 1.0 {
            return bound;
        }
        let mut free = 0.0;
        for _ in 0..POINTS {
            let approach = if self.is_convex() { -here.gradient.dot(path) } else { length };
            if approach <= 0.0 {
                return f64::INFINITY;
            }
            let advance = (here.value - radius - kept) / approach;
            free += advance;
            if free >= 1.0 {
                return 1.0;
            }
            if advance < SHORTEST {
                break;
            }
            here = self.local_distance(time, from + path * free);
        }
        free
    }

    fn is_convex(&self) -> bool {
        match &self.shape {
            Shape::Mesh(_) | Shape::Sequence(_) => false,
            Shape::Own { solid, .. } => solid.is_convex(),
            Shape::Plane { .. }
            | Shape::Sphere { .. }
            | Shape::Capsule { .. }
            | Shape::Frustum(_)
            | Shape::Box { .. } => true,
        }
    }

    /// Whether a point in the frame of the obstacle is known to be farther away than this, without
    /// an effort.
    pub(super) fn is_beyond(&self, time: f64, local: DVec3, range: f64) -> bool {
        match &self.shape {
            Shape::Mesh(mesh) => mesh.is_beyond(local, range),
            Shape::Sequence(sequence) => sequence.at(time).is_beyond(local, range),
            _ => false,
        }
    }
}
