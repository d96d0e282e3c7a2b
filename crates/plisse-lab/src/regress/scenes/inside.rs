//! Vertices inside obstacles, and vertices that have passed through one.
//!
//! Found from positions alone, so that it does not depend on what the solver says about itself.

use glam::DVec3;
use plisse::scene::Obstacle;

/// The largest depth of a position inside any obstacle at a time, in metres; zero if all are
/// outside.
pub(super) fn largest_depth(obstacles: &[Obstacle], time: f64, x: &[DVec3]) -> f64 {
    let deepest = |x: &DVec3| obstacles.iter().map(|o| depth(o, time, *x)).fold(0.0, f64::max);
    x.iter().map(deepest).fold(0.0, f64::max)
}

/// The depth of a position inside an obstacle at a time, in metres; zero outside.
pub(in crate::regress) fn depth(obstacle: &Obstacle, time: f64, x: DVec3) -> f64 {
    (-obstacle.distance(time, x).value).max(0.0)
}

/// A vertex between two times.
#[derive(Clone, Copy)]
pub(in crate::regress) struct Path {
    pub(in crate::regress) times: [f64; 2],
    pub(in crate::regress) x: [DVec3; 2],
}

impl Path {
    fn at(&self, part: f64) -> (f64, DVec3) {
        let [start, end] = self.times;
        (start + part * (end - start), self.x[0].lerp(self.x[1], part))
    }

    /// Whether the straight path goes into an obstacle on one side and comes out on the other, or
    /// ends inside beyond its middle. Obstacles thinner than a thousandth of the path are not seen.
    pub(in crate::regress) fn passes(&self, obstacle: &Obstacle) -> bool {
        let distance = |part: f64| {
            let (time, x) = self.at(part);
            obstacle.distance(time, x)
        };
        // The gradient points away from the nearest place of the surface: it turns round on the way
        // through.
        let (start, end) = (distance(0.0), distance(1.0));
        if start.value <= 0.0 || start.gradient.dot(end.gradient) >= 0.0 {
            return false;
        }
        const PARTS: u32 = 1000;
        end.value < 0.0 || (1..PARTS).any(|k| distance(f64::from(k) / f64::from(PARTS)).value < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;
    use plisse::core::Positive;
    use plisse::scene::{Keyframe, Keyframes};

    use super::*;

    fn slab() -> Obstacle {
        let [wide, thin] = [3.0, 0.001].map(Positive::literal);
        Obstacle::cuboid(DVec3::ZERO, [wide, wide, thin], DQuat::IDENTITY)
    }

    fn falls(from: f64, to: f64) -> Path {
        let x = |z: f64| DVec3::new(0.1, 0.2, z);
        Path { times: [0.0, 0.01], x: [x(from), x(to)] }
    }

    #[test]
    fn depth_is_that_of_the_deepest() {
        let ball = Obstacle::sphere(DVec3::ZERO, Positive::literal(0.2));
        let x = [DVec3::X, DVec3::new(0.15, 0.0, 0.0), DVec3::new(0.0, 0.19, 0.0)];
        assert!((largest_depth(&[ball.clone(), slab()], 0.0, &x[..2]) - 0.05).abs() < 1e-12);
        assert!(largest_depth(&[ball], 0.0, &x[..1]) == 0.0);
    }

    #[test]
    fn a_way_through_a_thin_slab_is_seen() {
        assert!(falls(0.1, -0.1).passes(&slab()));
        assert!(!falls(0.1, 0.01).passes(&slab()));
        // Lying on it, softly.
        assert!(!falls(0.001, 0.0004).passes(&slab()));
        // Past its side.
        let aside = Path { times: [0.0, 0.01], x: [DVec3::new(2.0, 0.0, 0.1), DVec3::new(2.0, 0.0, -0.1)] };
        assert!(!aside.passes(&slab()));
    }

    #[test]
    fn a_slab_that_moves_through_a_vertex_is_seen() {
        let frame =
            |time: f64, z: f64| Keyframe { time, translation: DVec3::Z * z, rotation: DQuat::IDENTITY };
        let moving = slab().moving(Keyframes::new(vec![frame(0.0, 0.0), frame(0.01, 0.2)]).unwrap());
        assert!(falls(0.1, 0.1).passes(&moving));
    }
}
