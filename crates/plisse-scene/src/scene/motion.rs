//! Rigid motions by keyframes.

use glam::{DQuat, DVec3};

use super::SceneError;

/// A rigid motion through keyframes: at rest in the first before its time, in the last after its
/// time.
///
/// Between keyframes, translation and rotation follow `3s² - 2s³` of the time that has passed: the
/// motion stops at each keyframe without a jerk. [`Keyframes::linear`] keeps the speed between
/// keyframes instead.
///
/// ```
/// use glam::{DQuat, DVec3};
/// use plisse_scene::scene::{Keyframe, Keyframes};
/// let lift = Keyframes::new(vec![
///     Keyframe { time: 0.0, translation: DVec3::ZERO, rotation: DQuat::IDENTITY },
///     Keyframe { time: 2.0, translation: DVec3::Z, rotation: DQuat::from_rotation_z(1.0) },
/// ])?;
/// assert_eq!(lift.place(1.0, DVec3::ZERO, DVec3::ZERO), DVec3::new(0.0, 0.0, 0.5));
/// assert_eq!(lift.clone().linear().at(0.5).1.z, 0.25);
/// assert!(lift.moves() && !Keyframes::still().moves());
/// # Ok::<(), plisse_scene::scene::SceneError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframes {
    frames: Vec<Keyframe>,
    linear: bool,
}

/// Where a body is at some time, relative to where it was placed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe {
    /// Seconds.
    pub time: f64,
    /// Displacement in metres.
    pub translation: DVec3,
    /// Rotation about the centre of the body, before the displacement.
    pub rotation: DQuat,
}

/// Radians; the chord of such an arc stays within 2 % of its radius.
const LARGEST_TURN: f64 = std::f64::consts::FRAC_PI_8;

impl Keyframes {
    /// Checks that there is a keyframe, that times ascend, and that all numbers are finite.
    pub fn new(mut frames: Vec<Keyframe>) -> Result<Self, SceneError> {
        if frames.is_empty() {
            return Err(SceneError::Keyframes { index: 0, reason: "a motion needs at least one keyframe" });
        }
        for (index, frame) in frames.iter_mut().enumerate() {
            let wrong = |reason| Err(SceneError::Keyframes { index, reason });
            if !(frame.time.is_finite() && frame.translation.is_finite() && frame.rotation.is_finite()) {
                return wrong("time, translation and rotation must be finite");
            }
            if frame.rotation.length_squared() < 1e-12 {
                return wrong("the rotation has no direction; a quaternion must not be zero");
            }
            frame.rotation = frame.rotation.normalize();
        }
        match frames.windows(2).position(|pair| pair[1].time <= pair[0].time) {
            Some(index) => Err(SceneError::Keyframes {
                index: index + 1,
                reason: "times must ascend from keyframe to keyframe",
            }),
            None => Ok(Self { frames, linear: false }),
        }
    }

    /// A body that stays where it is placed.
    #[must_use]
    pub fn still() -> Self {
        let frame = Keyframe { time: 0.0, translation: DVec3::ZERO, rotation: DQuat::IDENTITY };
        Self { frames: vec![frame], linear: false }
    }

    /// The same keyframes with constant speed between them.
    #[must_use]
    pub fn linear(self) -> Self {
        Self { linear: true, ..self }
    }

    /// Whether anything ever moves.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.frames.windows(2).any(|w| w[0].translation != w[1].translation || w[0].rotation != w[1].rotation)
    }

    /// Rotation and translation at a time.
    #[must_use]
    pub fn at(&self, time: f64) -> (DQuat, DVec3) {
        let after = self.frames.partition_point(|frame| frame.time <= time);
        let Some(before) = after.checked_sub(1).map(|i| &self.frames[i]) else {
            let first = &self.frames[0];
            return (first.rotation, first.translation);
        };
        let Some(next) = self.frames.get(after) else {
            return (before.rotation, before.translation);
        };
        let s = (time - before.time) / (next.time - before.time);
        let s = if self.linear { s } else { s * s * (3.0 - 2.0 * s) };
        (before.rotation.slerp(next.rotation, s), before.translation.lerp(next.translation, s))
    }

    /// Times from `from` to `to`, ascending, both included, between which the motion turns by a
    /// quarter of a right angle at most and passes no keyframe. Two of them if it moves not at all.
    pub(super) fn pieces(&self, from: f64, to: f64) -> Vec<f64> {
        let inner = self.frames.iter().map(|frame| frame.time).filter(|time| *time > from && *time < to);
        let stops: Vec<f64> = [from].into_iter().chain(inner).chain([to]).collect();
        let mut times = vec![from];
        for stop in stops.windows(2) {
            let turn = self.at(stop[0]).0.angle_between(self.at(stop[1]).0);
            let count = (turn / LARGEST_TURN).ceil().max(1.0);
            times.extend((1..count as u32).map(|k| stop[0] + (stop[1] - stop[0]) * f64::from(k) / count));
            times.push(stop[1]);
        }
        times
    }

    /// Where a point of a body with this centre is at a time, given where it was placed.
    #[must_use]
    pub fn place(&self, time: f64, centre: DVec3, point: DVec3) -> DVec3 {
        let (rotation, translation) = self.at(time);
        rotation * (point - centre) + centre + translation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(time: f64, x: f64, angle: f64) -> Keyframe {
        Keyframe { time, translation: DVec3::X * x, rotation: DQuat::from_rotation_z(angle) }
    }

    #[test]
    fn the_ends_stay_and_the_middle_moves() {
        let keys = Keyframes::new(vec![frame(1.0, 0.0, 0.0), frame(2.0, 1.0, 1.0)]).unwrap();
        assert_eq!(keys.at(0.0).1, DVec3::ZERO);
        assert_eq!(keys.at(1.0).1, DVec3::ZERO);
        assert_eq!(keys.at(5.0).1, DVec3::X);
        assert_eq!(keys.at(1.5).1, DVec3::X * 0.5);
        assert!((keys.at(1.25).1.x - 0.15625).abs() < 1e-15);
        assert!((keys.clone().linear().at(1.25).1.x - 0.25).abs() < 1e-15);
        let turned = keys.place(2.0, DVec3::Y, DVec3::Y + DVec3::X);
        assert!((turned - (DVec3::Y + DVec3::X + DVec3::new(1f64.cos(), 1f64.sin(), 0.0))).length() < 1e-14);
        assert!(keys.moves() && !Keyframes::still().moves());
    }

    #[test]
    fn pieces_stop_at_keyframes_and_turn_little() {
        let keys =
            Keyframes::new(vec![frame(0.0, 0.0, 0.0), frame(1.0, 1.0, 3.0), frame(2.0, 0.0, 0.0)]).unwrap();
        let times = keys.pieces(0.5, 1.5);
        assert_eq!((times[0], *times.last().unwrap()), (0.5, 1.5));
        assert!(times.contains(&1.0) && times.windows(2).all(|t| t[0] < t[1]));
        let turn = |t: &[f64]| keys.at(t[0]).0.angle_between(keys.at(t[1]).0);
        // The motion is not uniform between keyframes: pieces of equal time turn by up to one and a
        // half times the mean.
        assert!(times.windows(2).all(|t| turn(t) < 1.6 * LARGEST_TURN), "{times:?}");
        assert_eq!(Keyframes::still().pieces(0.0, 1.0), [0.0, 1.0]);
    }

    #[test]
    fn mistakes_name_the_keyframe() {
        let message = |frames| Keyframes::new(frames).unwrap_err().to_string();
        assert!(message(vec![]).contains("at least one"));
        assert!(message(vec![frame(1.0, 0.0, 0.0), frame(1.0, 0.0, 0.0)]).contains("keyframe 1"));
        assert!(message(vec![frame(f64::NAN, 0.0, 0.0)]).contains("finite"));
    }
}
