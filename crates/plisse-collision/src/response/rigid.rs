//! Rigid motions that replace the motions of a zone.

use glam::{DQuat, DVec3};
use plisse_core::{length_and_direction, symmetric_eigen};

/// The largest rotation in one step that a momentum may ask for. Straight paths to the rotated
/// places shrink distances on the way, by `cos(φ/2)` at most.
const LARGEST_ANGLE: f64 = std::f64::consts::FRAC_PI_2;

/// Eigenvalues of the inertia below this share of the largest one count as zero: points on a line.
const FLAT: f64 = 1e-10;

/// Anchors nearer to each other, or to a line, than this share of the zone's size do not say
/// anything about a rotation.
const NEAR: f64 = 1e-9;

/// A vertex with a mass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    pub(super) x: DVec3,
    pub(super) displacement: DVec3,
    pub(super) mass: f64,
}

/// A vertex whose displacement is prescribed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    pub(super) x: DVec3,
    pub(super) displacement: DVec3,
}

/// A rotation about a point, and then a shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RigidMotion {
    centre: DVec3,
    rotation: DQuat,
    shift: DVec3,
}

impl RigidMotion {
    /// Where a point goes. Without a rotation the shift is added and nothing else is rounded.
    pub(super) fn apply(&self, x: DVec3) -> DVec3 {
        let r = x - self.centre;
        x + (self.shift + (self.rotation * r - r))
    }

    /// The motion with the momentum and the angular momentum of these points, or the one that
    /// follows the anchors if there are any: about a single anchor, or about the line of several,
    /// the points keep their angular momentum.
    pub(super) fn new(points: &[Moving], anchors: &[Anchor]) -> Self {
        let Some(first) = anchors.first() else {
            let (centre, shift) = means(points);
            let rotation = DQuat::from_scaled_axis(turn(points, centre, shift));
            return Self { centre, rotation, shift };
        };
        let (centre, shift) = (first.x, first.displacement);
        Self { centre, rotation: anchored_rotation(points, anchors, centre, shift), shift }
    }

    /// The motion without rotation: the mean displacement of the anchors or, without them, of the
    /// masses.
    pub(super) fn translation(points: &[Moving], anchors: &[Anchor]) -> Self {
        let sum: DVec3 = anchors.iter().map(|anchor| anchor.displacement).sum();
        let shift = if anchors.is_empty() { means(points).1 } else { sum / anchors.len() as f64 };
        Self { centre: DVec3::ZERO, rotation: DQuat::IDENTITY, shift }
    }
}

/// Centre of mass and mean displacement.
fn means(points: &[Moving]) -> (DVec3, DVec3) {
    let mass: f64 = points.iter().map(|p| p.mass).sum();
    let mean = |of: fn(&Moving) -> DVec3| points.iter().map(|p| of(p) * (p.mass / mass)).sum::<DVec3>();
    (mean(|p| p.x), mean(|p| p.displacement))
}

/// The rotation vector `I⁺ L` about a centre that is shifted.
fn turn(points: &[Moving], centre: DVec3, shift: DVec3) -> DVec3 {
    let mut momentum = DVec3::ZERO;
    let mut inertia = [[0.0; 3]; 3];
    for p in points {
        let r = p.x - centre;
        momentum += r.cross(p.displacement - shift) * p.mass;
        for i in 0..3 {
            inertia[i][i] += p.mass * r.length_squared();
            for j in 0..3 {
                inertia[i][j] -= p.mass * r[i] * r[j];
            }
        }
    }
    if !(momentum.is_finite() && inertia.as_flattened().iter().all(|x| x.is_finite())) {
        return DVec3::ZERO;
    }
    let (values, vectors) = symmetric_eigen(&inertia);
    let mut turn = DVec3::ZERO;
    for (value, vector) in values.iter().zip(vectors) {
        // Not `≥`: one point has no inertia at all.
        if *value > FLAT * values[2] {
            let axis = DVec3::from_array(vector);
            turn += axis * (axis.dot(momentum) / value);
        }
    }
    let (angle, axis) = length_and_direction(turn);
    if turn.is_finite() { axis * angle.min(LARGEST_ANGLE) } else { DVec3::ZERO }
}

/// The rotation about the first anchor that takes the others along; what they leave open is chosen
/// by the angular momentum.
fn anchored_rotation(points: &[Moving], anchors: &[Anchor], centre: DVec3, shift: DVec3) -> DQuat {
    let arms: Vec<[DVec3; 2]> = anchors
        .iter()
        .map(|anchor| [anchor.x - centre, anchor.x - centre + (anchor.displacement - shift)])
        .collect();
    let sizes = points.iter().map(|p| p.x - centre).chain(arms.iter().map(|arm| arm[0]));
    let size = sizes.fold(0.0f64, |size, r| size.max(r.length()));
    let (Some(second), false) = (farthest(&arms, |r| r, NEAR * size), size == 0.0) else {
        return DQuat::from_scaled_axis(turn(points, centre, shift));
    };
    let (from, to) = (second[0].normalize_or_zero(), second[1].normalize_or_zero());
    if from == DVec3::ZERO || to == DVec3::ZERO {
        return DQuat::IDENTITY;
    }
    let swing = DQuat::from_rotation_arc(from, to);
    let beside = |r: DVec3| r - to * to.dot(r);
    let swung: Vec<[DVec3; 2]> = arms.iter().map(|arm| [swing * arm[0], arm[1]]).collect();
    let angle = if let Some(third) = farthest(&swung, beside, NEAR * size) {
        let (p, q) = (beside(third[0]), beside(third[1]));
        to.dot(p.cross(q)).atan2(p.dot(q))
    } else {
        let (mut momentum, mut inertia) = (0.0, 0.0);
        for p in points {
            let r = p.x - centre;
            let swung = swing * r;
            let rest = p.displacement - shift - (swung - r);
            momentum += p.mass * to.dot(swung.cross(rest));
            inertia += p.mass * beside(swung).length_squared();
        }
        let angle = momentum / inertia;
        if angle.is_finite() { angle.clamp(-LARGEST_ANGLE, LARGEST_ANGLE) } else { 0.0 }
    };
    DQuat::from_axis_angle(to, angle) * swing
}

/// The arm that is longest in this measure, if it is longer than `least`; the first of equals.
fn farthest(arms: &[[DVec3; 2]], measure: impl Fn(DVec3) -> DVec3, least: f64) -> Option<[DVec3; 2]> {
    let mut best = (least, None);
    for arm in arms {
        let length = measure(arm[0]).length();
        if length > best.0 {
            best = (length, Some(*arm));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_core::SplitMix;
    use serde_json::Value;

    fn vector(random: &mut SplitMix) -> DVec3 {
        DVec3::new(random.signed(), random.signed(), random.signed())
    }

    fn momenta(points: &[Moving], about: DVec3) -> (DVec3, DVec3) {
        points.iter().fold((DVec3::ZERO, DVec3::ZERO), |(p, l), point| {
            let momentum = point.displacement * point.mass;
            (p + momentum, l + (point.x - about).cross(momentum))
        })
    }

    #[test]
    fn a_zone_turns_as_the_vector_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/contact.json");
        let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let zone = &all["bridson"]["zone"];
        let read = |value: &Value| DVec3::from_array(std::array::from_fn(|k| value[k].as_f64().unwrap()));
        let points: Vec<Moving> = (0..4)
            .map(|i| Moving {
                x: read(&zone["x"][i]),
                displacement: read(&zone["v"][i]),
                mass: zone["m"][i].as_f64().unwrap(),
            })
            .collect();
        let (centre, shift) = means(&points);
        assert!((centre - read(&zone["xc"])).length() < 1e-15);
        assert!((shift - read(&zone["vc"])).length() < 1e-15);
        let (_, momentum) = momenta(&points, centre);
        assert!((momentum - read(&zone["L"])).length() < 1e-14);
        assert!((turn(&points, centre, shift) - read(&zone["omega"])).length() < 1e-14);
    }

    /// Points in space, in a plane, on a line, two and one: the rotation has the angular momentum
    /// that the points have, whatever their inertia cannot carry.
    #[test]
    fn degenerate_zones_keep_their_momenta() {
        let mut random = SplitMix::new(5);
        for case in 0..1000 {
            let count = [6, 6, 6, 2, 1][case % 5];
            let (axis, other) = (vector(&mut random), vector(&mut random));
            let points: Vec<Moving> = (0..count)
                .map(|_| {
                    let (s, t) = (random.signed(), random.signed());
                    let x = match case % 5 {
                        0 | 3 | 4 => vector(&mut random),
                        1 => axis * s + other * t,
                        _ => axis * s + DVec3::ONE,
                    };
                    // Small enough for the cap not to act in most of the cases.
                    let displacement = vector(&mut random) * 0.1;
                    Moving { x, displacement, mass: 10f64.powf(2.0 * random.signed()) }
                })
                .collect();
            let (centre, shift) = means(&points);
            let omega = turn(&points, centre, shift);
            if omega.length() > 1.5 {
                continue;
            }
            let rigid: Vec<Moving> = points
                .iter()
                .map(|p| Moving { displacement: shift + omega.cross(p.x - centre), ..*p })
                .collect();
            let (before, after) = (momenta(&points, centre), momenta(&rigid, centre));
            let mass: f64 = points.iter().map(|p| p.mass).sum();
            assert!((before.0 - after.0).length() < 1e-13 * mass, "{case}: {before:?} {after:?}");
            assert!((before.1 - after.1).length() < 1e-9 * mass, "{case}: {before:?} {after:?}");
            // The motion itself keeps all distances and the momentum.
            let motion = RigidMotion::new(&points, &[]);
            let moved: Vec<Moving> =
                points.iter().map(|p| Moving { displacement: motion.apply(p.x) - p.x, ..*p }).collect();
            assert!((momenta(&moved, centre).0 - before.0).length() < 1e-13 * mass);
            for (p, q) in moved.iter().zip(&moved[1..]) {
                let (old, new) = (p.x - q.x, p.x + p.displacement - q.x - q.displacement);
                assert!((old.length() - new.length()).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn a_rotation_is_capped_at_a_right_angle() {
        let point = |x: f64, y: f64| Moving {
            x: DVec3::new(x, 0.0, 0.0),
            displacement: DVec3::new(0.0, y, 0.0),
            mass: 1.0,
        };
        let motion = RigidMotion::new(&[point(1.0, 100.0), point(-1.0, -100.0)], &[]);
        assert!((motion.apply(DVec3::X) - DVec3::Y).length() < 1e-15);
        let slow = RigidMotion::new(&[point(1.0, 0.1), point(-1.0, -0.1)], &[]);
        assert!((slow.apply(DVec3::X) - DVec3::new(0.1f64.cos(), 0.1f64.sin(), 0.0)).length() < 1e-15);
    }

    /// One to four anchors that move rigidly: the zone takes them along, and points that moved with
    /// them already go where they went.
    #[test]
    fn a_zone_follows_its_anchors() {
        let mut random = SplitMix::new(6);
        for case in 0..400 {
            let (centre, shift) = (vector(&mut random), vector(&mut random));
            let turn = DQuat::from_scaled_axis(vector(&mut random) * 0.05);
            let go = |x: DVec3| shift + (turn * (x - centre) - (x - centre));
            let line = case % 2 == 0;
            let count = 1 + case / 100;
            let (origin, axis) = (vector(&mut random), vector(&mut random));
            let anchors: Vec<Anchor> = (0..count)
                .map(|_| {
                    let x = if line { origin + axis * random.signed() } else { vector(&mut random) };
                    Anchor { x, displacement: go(x) }
                })
                .collect();
            let points: Vec<Moving> = (0..5)
                .map(|_| {
                    let x = vector(&mut random);
                    Moving { x, displacement: go(x), mass: 1.5 + random.signed() }
                })
                .collect();
            let motion = RigidMotion::new(&points, &anchors);
            for anchor in &anchors {
                let miss = motion.apply(anchor.x) - anchor.x - anchor.displacement;
                assert!(miss.length() < 1e-12, "{case}: {miss}");
            }
            // Velocities of straight paths are those of the rotation up to the square of its angle;
            // three anchors off a line leave nothing to them.
            let allowed = if count >= 3 && !line { 1e-9 } else { 0.05 };
            for p in &points {
                let miss = motion.apply(p.x) - p.x - p.displacement;
                assert!(miss.length() < allowed, "{case}: {miss}");
            }
        }
    }

    #[test]
    fn anchors_that_contradict_each_other_lead_to_finite_motions() {
        let anchor = |x: DVec3, displacement: DVec3| Anchor { x, displacement };
        let point = Moving { x: DVec3::ONE, displacement: DVec3::Y, mass: 1.0 };
        let sets = [
            vec![anchor(DVec3::ZERO, DVec3::X), anchor(DVec3::ZERO, DVec3::Y)],
            vec![anchor(DVec3::ZERO, DVec3::X), anchor(DVec3::X, DVec3::ZERO)],
            vec![anchor(DVec3::ZERO, DVec3::ZERO), anchor(DVec3::X, DVec3::NEG_X * 2.0)],
            vec![anchor(DVec3::ONE, DVec3::X), anchor(DVec3::ONE, DVec3::X)],
            vec![anchor(DVec3::splat(1e200), DVec3::X), anchor(DVec3::splat(-1e200), DVec3::X)],
        ];
        for anchors in &sets {
            for motion in [RigidMotion::new(&[point], anchors), RigidMotion::translation(&[point], anchors)] {
                assert!(motion.apply(point.x).is_finite(), "{anchors:?}: {motion:?}");
            }
        }
    }
}
