//! Values that change with time.

use std::ops::{Add, Mul};

use glam::DVec3;
use plisse_core::range::PARAMETER;

use super::SceneError;

/// A number or vector over time: straight lines between the times that are given, constant before
/// the first and after the last.
///
/// ```
/// use glam::DVec3;
/// use plisse_scene::scene::Timeline;
/// let breath = Timeline::new([(0.0, 0.0), (1.0, 50.0), (3.0, 0.0)])?;
/// assert_eq!([-1.0, 0.5, 2.0, 9.0].map(|t| breath.at(t)), [0.0, 25.0, 25.0, 0.0]);
/// assert_eq!(Timeline::from(DVec3::X).at(4.0), DVec3::X);
/// assert!(Timeline::new([(1.0, 0.0), (1.0, 1.0)]).is_err());
/// # Ok::<(), plisse_scene::scene::SceneError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline<V> {
    /// At least one, times ascending.
    frames: Vec<(f64, V)>,
}

/// What a [`Timeline`] can hold: `f64` and `DVec3`.
pub trait Interpolated: Copy + Add<Output = Self> + Mul<f64, Output = Self> + sealed::Sealed {
    /// The largest absolute value of a component; NaN if one of them is not finite.
    #[must_use]
    fn largest(self) -> f64;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for glam::DVec3 {}
}

impl Interpolated for f64 {
    fn largest(self) -> f64 {
        if self.is_finite() { self.abs() } else { Self::NAN }
    }
}

impl Interpolated for DVec3 {
    fn largest(self) -> f64 {
        if self.is_finite() { self.abs().max_element() } else { f64::NAN }
    }
}

impl<V: Interpolated> Timeline<V> {
    /// Values at times in seconds, which ascend. Numbers must be finite, and at most 1e60.
    pub fn new(frames: impl IntoIterator<Item = (f64, V)>) -> Result<Self, SceneError> {
        let frames: Vec<(f64, V)> = frames.into_iter().collect();
        let wrong = |index, reason| Err(SceneError::Keyframes { index, reason });
        if frames.is_empty() {
            return wrong(0, "values over time need at least one time");
        }
        let is_fine = |number: f64| number <= *PARAMETER.end();
        if let Some(index) =
            frames.iter().position(|(time, value)| !(is_fine(time.largest()) && is_fine(value.largest())))
        {
            return wrong(index, "times and values must be finite, and at most 1e60");
        }
        match frames.windows(2).position(|pair| pair[1].0 <= pair[0].0) {
            Some(index) => wrong(index + 1, "times must ascend from keyframe to keyframe"),
            None => Ok(Self { frames }),
        }
    }

    /// The value at a time.
    #[must_use]
    pub fn at(&self, time: f64) -> V {
        let after = self.frames.partition_point(|(at, _)| *at <= time);
        let last = self.frames.len() - 1;
        let ((from, before), (to, next)) =
            (self.frames[after.saturating_sub(1)], self.frames[after.min(last)]);
        // They are one and the same before the first and after the last.
        if from < to {
            let s = (time - from) / (to - from);
            before * (1.0 - s) + next * s
        } else {
            before
        }
    }
}

impl<V: Interpolated> From<V> for Timeline<V> {
    /// The same for ever. A value that is not finite gives forces that are not, which a step
    /// reports.
    fn from(value: V) -> Self {
        Self { frames: vec![(0.0, value)] }
    }
}
