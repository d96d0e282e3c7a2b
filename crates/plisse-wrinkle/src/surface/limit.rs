//! Wrinkles beside an obstacle.

use glam::DVec3;
use plisse_core::length_and_direction;

/// An obstacle that wrinkles must not enter.
///
/// The part of a displacement that points towards the obstacle is limited smoothly to the room
/// there is; what points away is left alone. Cutting both sides alike would be wrong: crests meet
/// nothing, and a garment on a body has wrinkles just because they can go outwards. The surface
/// loses some of the length it should have in the flattened troughs; keeping it would need a larger
/// wavelength or a lifted base, which is for the energy to decide and not for its picture.
///
/// Vertices that are still closer than the margin, because the obstacle is curved, the base already
/// too close, or a coarse base triangle cuts through it, are moved out along the gradient of the
/// distance.
#[derive(Clone, Copy)]
pub struct ObstacleLimit<'a> {
    /// Signed distance in m, positive outside, and its gradient, which points outwards. Values that
    /// are not finite count as far away.
    pub distance: &'a dyn Fn(DVec3) -> (f64, DVec3),
    /// The least distance of the wrinkled surface, in m; finite.
    pub margin: f64,
}

impl std::fmt::Debug for ObstacleLimit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObstacleLimit").field("margin", &self.margin).finish_non_exhaustive()
    }
}

/// Steps along the gradient; one is enough for a true distance, a few for corners.
const MOVES: usize = 20;

/// What became of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limited {
    pub(super) x: DVec3,
    /// Whether anything was changed.
    pub(super) changed: bool,
    /// Whether it is still too close, because the distance leads nowhere.
    pub(super) stuck: bool,
}

impl ObstacleLimit<'_> {
    /// `base` displaced by `displacement`, as far as the obstacle lets it.
    pub(super) fn apply(&self, base: DVec3, displacement: DVec3) -> Limited {
        let mut x = base + displacement;
        let mut changed = false;
        if let Some((distance, outwards)) = self.at(base) {
            let towards = -displacement.dot(outwards);
            let allowed = soft_limit(towards, distance - self.margin);
            if allowed < towards {
                x += outwards * (towards - allowed);
                changed = true;
            }
        }
        // Rounding of the position itself is no reason to move again.
        let grain = 4.0 * f64::EPSILON * (x.abs().max_element() + self.margin.abs());
        for _ in 0..MOVES {
            match self.at(x) {
                Some((distance, outwards)) if distance < self.margin - grain => {
                    x += outwards * (self.margin - distance);
                    changed = true;
                }
                _ => return Limited { x, changed, stuck: false },
            }
        }
        let stuck = self.at(x).is_some_and(|(distance, _)| distance < self.margin - grain);
        Limited { x, changed, stuck }
    }

    fn at(&self, x: DVec3) -> Option<(f64, DVec3)> {
        let (distance, gradient) = (self.distance)(x);
        (distance.is_finite() && gradient.is_finite()).then(|| (distance, length_and_direction(gradient).1))
    }
}

/// `s` up to half of `room`, then bending smoothly so that it never exceeds `room`; once
/// differentiable, increasing. Without room nothing positive is left.
fn soft_limit(s: f64, room: f64) -> f64 {
    let half = 0.5 * room.max(0.0);
    if s <= half {
        s
    } else if half > 0.0 {
        let over = (s - half) / half;
        half * (1.0 + over / (1.0 + over))
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_limit_is_smooth_and_one_sided() {
        assert_eq!(soft_limit(-5.0, 1.0), -5.0);
        assert_eq!(soft_limit(0.4, 1.0), 0.4);
        assert_eq!(soft_limit(0.4, -1.0), 0.0);
        assert_eq!(soft_limit(-0.4, -1.0), -0.4);
        // The slope is one on both sides of the bend.
        let slope = |s: f64| (soft_limit(s + 1e-7, 1.0) - soft_limit(s - 1e-7, 1.0)) / 2e-7;
        assert!((slope(0.5 - 1e-6) - 1.0).abs() < 1e-5 && (slope(0.5 + 1e-6) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn a_distance_that_leads_nowhere_is_reported() {
        let flat = |_: DVec3| (-1.0, DVec3::ZERO);
        let limited = ObstacleLimit { distance: &flat, margin: 0.0 }.apply(DVec3::X, DVec3::Y);
        assert!(limited.stuck && limited.x.is_finite());
        let broken = |_: DVec3| (f64::NAN, DVec3::X);
        let limited = ObstacleLimit { distance: &broken, margin: 0.0 }.apply(DVec3::X, DVec3::Y);
        assert_eq!(limited, Limited { x: DVec3::X + DVec3::Y, changed: false, stuck: false });
    }

    proptest! {
        #[test]
        fn nothing_enters_a_sphere(
            base in prop::array::uniform3(-2.0..2.0f64),
            displacement in prop::array::uniform3(-3.0..3.0f64),
            margin in 0.0..0.2f64,
        ) {
            let (base, displacement) = (DVec3::from(base), DVec3::from(displacement));
            prop_assume!(base.length() > 1e-3);
            let sphere = |x: DVec3| (x.length() - 1.0, x);
            let limited = ObstacleLimit { distance: &sphere, margin }.apply(base, displacement);
            prop_assert!(!limited.stuck);
            prop_assert!(limited.x.length() >= 1.0 + margin - 1e-13);
            if displacement.dot(base) >= 0.0 && base.length() >= 1.0 + margin {
                prop_assert_eq!(limited.x, base + displacement);
            }
        }
    }
}
