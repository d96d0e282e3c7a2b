//! How a sequence is solved.

use crate::error::WrinkleError;
use crate::phase::PhaseOptions;
use crate::solver::{Periods, WrinkleSettings};

/// Settings of a [`WrinkleSequence`](crate::WrinkleSequence).
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceSettings {
    /// How every frame is solved; with free periods, as the sequence holds them where it should.
    pub wrinkles: WrinkleSettings,
    /// How phases are recovered.
    pub phase: PhaseOptions,
    /// How much a frame may lose by continuing the one before with the same numbers of waves,
    /// before it snaps to better ones: a part of the bending energy of the waves (`W_b2`, Chen21,
    /// equation 26), or of what wrinkling gains in all where that is less. At least 0, may be
    /// infinite; default 0.5.
    ///
    /// Bending grows with the square of the number of waves, what resists long waves falls with it,
    /// and at the optimum both are equal: a number that is off by the factor `r` costs `(r - 1/r)²`
    /// of the bending energy. The default is a factor of `√2`. Zero lets numbers follow their
    /// optimum, with the [hysteresis of rounding](PhaseOptions::hysteresis) only, and wrinkles pop
    /// whenever it crosses that. With infinity they never change around loops that stay.
    pub snap: f64,
    /// Whether the first frame is solved once more with whole numbers of waves held, like all
    /// others.
    pub rounded: bool,
}

impl Default for SequenceSettings {
    fn default() -> Self {
        Self {
            wrinkles: WrinkleSettings::default(),
            phase: PhaseOptions::default(),
            snap: 0.5,
            rounded: false,
        }
    }
}

impl SequenceSettings {
    pub(super) fn check(&self) -> Result<(), WrinkleError> {
        self.wrinkles.check()?;
        if self.wrinkles.periods == Periods::Held {
            return Err(WrinkleError::HeldPeriods);
        }
        self.phase.check()?;
        if self.snap >= 0.0 {
            return Ok(());
        }
        let range = "a number from 0 on such as 0.5, or infinity";
        Err(WrinkleError::Setting { name: "snap", value: self.snap, range })
    }
}
