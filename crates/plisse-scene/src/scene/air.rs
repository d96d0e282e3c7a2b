//! The air around the cloth.

use glam::DVec3;
use plisse_core::Positive;

use super::SceneError;
use super::timeline::Timeline;

/// Moving or still air around the cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Air {
    /// Mean wind in m/s; zero for still air, which only drags. A wind over time
    /// ([`SceneBuilder::wind`](super::SceneBuilder::wind)) takes its place.
    pub velocity: DVec3,
    /// Part of the wind that comes and goes, as a multiple of the mean: zero for a steady wind.
    pub gusts: f64,
    /// kg/m³.
    pub density: Positive,
    /// Drag coefficient of a plate across the wind.
    pub coefficient: Positive,
}

impl Default for Air {
    /// Still air: 1.2 kg/m³, drag coefficient 1.2.
    fn default() -> Self {
        Self {
            velocity: DVec3::ZERO,
            gusts: 0.0,
            density: Positive::literal(1.2),
            coefficient: Positive::literal(1.2),
        }
    }
}

impl Air {
    /// The wind at a time. Gusts are three sines without a common period, the same in every run.
    #[must_use]
    pub fn at(&self, time: f64) -> DVec3 {
        self.blowing(self.velocity, time)
    }

    /// The same with another mean wind.
    fn blowing(&self, mean: DVec3, time: f64) -> DVec3 {
        let wave = (2.1 * time).sin() + 0.6 * (5.3 * time + 1.0).sin() + 0.4 * (11.7 * time + 2.0).sin();
        mean * (1.0 + 0.5 * self.gusts * wave)
    }

    /// The wind by time, with a mean of its own or one that changes.
    pub(super) fn wind(self, mean: Option<Timeline<DVec3>>) -> impl Fn(f64) -> DVec3 {
        let mean = mean.unwrap_or_else(|| self.velocity.into());
        move |time| self.blowing(mean.at(time), time)
    }
}

/// Refuses air that cannot blow.
pub(super) fn check_air(air: &Air) -> Result<(), SceneError> {
    if !air.velocity.is_finite() {
        return Err(SceneError::NotFinite { what: "the wind", value: air.velocity.to_array() });
    }
    if !(0.0..=1.0).contains(&air.gusts) {
        let expected = "give a number from 0 (steady) to 1";
        return Err(SceneError::BadParameter { what: "the strength of gusts", value: air.gusts, expected });
    }
    Ok(())
}
