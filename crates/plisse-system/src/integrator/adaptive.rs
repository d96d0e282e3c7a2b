//! Shorter steps where a step fails.

use std::cmp::Ordering;

use plisse_core::{Positive, Space};

use super::Integrator;
use super::report::{StepError, StepReport};
use crate::error::SetupError;
use crate::ledger::Ledger;
use crate::state::State;
use crate::system::System;

/// Takes a step in as many substeps as it needs. A substep that does not converge, that moves a
/// node too far, or that gains energy from nowhere ([`Ledger`](crate::Ledger)) is thrown away and
/// tried again with half the size. After several successes the size doubles again; each time that
/// turns out to be too early, it waits twice as long.
///
/// It remembers the size that worked last, which no [`State`] holds: two runs have the same bits
/// only if both start with a new one, or [`forget`](Self::forget) at the same times.
#[derive(Debug)]
pub struct Adaptive<I> {
    inner: I,
    shortest: Positive,
    largest_displacement: f64,
    pace: Option<Pace>,
}

/// The size of substeps, and when it may grow.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Seconds.
    size: f64,
    /// Substeps since the last change.
    successes: u32,
    /// Successes after which the size doubles.
    patience: u32,
    /// Whether the size has just doubled.
    grown: bool,
}

/// Successes after which the size first doubles, and at most.
const PATIENCE: [u32; 2] = [4, 64];
/// A substep that gains more than this fraction of the energy in play, while the account is above
/// [`Ledger::WARNING`], is tried with half the size.
const GAIN: f64 = 0.01;
/// Substeps are shortened for their energy down to this part of a step. Where that does not help,
/// nothing does.
const SHORTEST_FOR_ENERGY: f64 = 1.0 / 16.0;

impl Pace {
    fn new(size: f64) -> Self {
        Self { size, successes: 0, patience: PATIENCE[0], grown: false }
    }

    fn succeeded(&mut self, this: f64, longest: f64) {
        self.successes += 1;
        // A rest of the step that was shorter than the size tells nothing about a longer one.
        let tried = this >= 0.5 * self.size;
        if self.size >= longest {
            (self.successes, self.grown) = (0, false);
        } else if tried && self.successes >= self.patience {
            (self.size, self.successes, self.grown) = ((2.0 * self.size).min(longest), 0, true);
        }
    }

    fn failed(&mut self, this: f64, shortest: f64) {
        if self.grown && self.successes < self.patience {
            self.patience = (2 * self.patience).min(PATIENCE[1]);
        }
        *self = Self { size: (0.5 * this).max(shortest), successes: 0, grown: false, ..*self };
    }
}

impl<I> Adaptive<I> {
    /// Substeps no shorter than `shortest`, in seconds.
    #[must_use]
    pub fn new(inner: I, shortest: Positive) -> Self {
        Self { inner, shortest, largest_displacement: f64::INFINITY, pace: None }
    }

    /// Also rejects substeps that move a node by more than this, in metres.
    ///
    /// Fast motion at the shortest step is accepted: no length would satisfy every speed.
    pub fn with_largest_displacement(self, metres: f64) -> Result<Self, SetupError> {
        if metres > 0.0 {
            Ok(Self { largest_displacement: metres, ..self })
        } else {
            let expected = "give a positive number of metres";
            Err(SetupError::BadParameter { what: "the largest displacement", value: metres, expected })
        }
    }

    /// The integrator that takes the substeps.
    #[must_use]
    pub fn inner(&self) -> &I {
        &self.inner
    }

    /// The integrator that takes the substeps, to change it.
    pub fn inner_mut(&mut self) -> &mut I {
        &mut self.inner
    }

    /// Forgets the size of the last substep: the next step starts as the first one did.
    pub fn forget(&mut self) {
        self.pace = None;
    }
}

impl<S: Space, I: Integrator<S>> Integrator<S> for Adaptive<I> {
    /// Also what the inner integrator keeps.
    fn forget(&mut self) {
        Self::forget(self);
        self.inner.forget();
    }

    fn step(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        dt: Positive,
    ) -> Result<StepReport, StepError> {
        if state.time() + dt.get() <= state.time() {
            return Err(StepError::NoAdvance { time: state.time(), dt: dt.get() });
        }
        let saved = state.clone();
        let (start, end, longest) = (state.time(), state.time() + dt.get(), dt.get());
        // Time must advance.
        let shortest = self.shortest.get().max(4.0 * f64::EPSILON * end.abs());
        let mut pace = self.pace.unwrap_or_else(|| Pace::new(longest));
        pace.size = pace.size.min(longest);
        let mut rejected = 0;
        let mut total: Option<StepReport> = None;
        loop {
            let left = end - state.time();
            // The last two substeps share what is left: a tiny rest would upset BDF2.
            let this = if left <= 1.01 * pace.size {
                left
            } else if left < 2.0 * pace.size && 0.5 * left >= shortest {
                0.5 * left
            } else {
                pace.size
            };
            let last = state.clone();
            #[expect(clippy::expect_used, reason = "the loop ends before nothing is left of the step")]
            let attempt = Positive::new(this).expect("a substep has a length");
            let result = self.inner.step(system, state, attempt);
            let may_shorten = this > shortest;
            match result {
                Ok(_) if may_shorten && self.is_too_far(&last, state) => {
                    *state = last;
                    rejected += 1;
                    pace.failed(this, shortest);
                }
                Ok(_) if gains_energy(&last, state) && this > shortest.max(SHORTEST_FOR_ENERGY * longest) => {
                    *state = last;
                    rejected += 1;
                    pace.failed(this, shortest);
                }
                Ok(report) => {
                    // Written so that NaN is refused.
                    let is_wrong = |ledger: &&Ledger| {
                        ledger.fraction().partial_cmp(&Ledger::LIMIT).is_none_or(Ordering::is_gt)
                    };
                    if let Some(ledger) = state.ledger().filter(is_wrong) {
                        let (excess, scale) = (ledger.excess, ledger.scale);
                        let error = StepError::EnergyGained {
                            time: state.time(),
                            excess,
                            scale,
                            remedy: self.inner.remedy(),
                        };
                        *state = saved;
                        return Err(error);
                    }
                    let so_far = match total.take() {
                        None => report,
                        Some(before) => before.followed_by(report),
                    };
                    pace.succeeded(this, longest);
                    // A rest below the spacing of floating-point numbers is none.
                    if state.time() + 1e-9 * longest >= end {
                        self.pace = Some(pace);
                        return Ok(StepReport { dt: state.time() - start, rejected, ..so_far });
                    }
                    total = Some(so_far);
                }
                Err(error) if error.may_heal() && may_shorten => {
                    rejected += 1;
                    pace.failed(this, shortest);
                }
                Err(error) => {
                    *state = saved;
                    return Err(if error.may_heal() {
                        StepError::TooShort { shortest, last: Box::new(error) }
                    } else {
                        error
                    });
                }
            }
        }
    }

    fn remedy(&self) -> &'static str {
        self.inner.remedy()
    }
}

impl<I> Adaptive<I> {
    fn is_too_far<S: Space>(&self, from: &State<S>, to: &State<S>) -> bool {
        self.largest_displacement < f64::INFINITY
            && from.x().iter().any(|(i, x)| x.distance(to.x()[i]) > self.largest_displacement)
    }
}

/// Whether a substep has added to energy that nothing explains and that is more than a warning is
/// worth.
fn gains_energy<S: Space>(from: &State<S>, to: &State<S>) -> bool {
    let Some(now) = to.ledger() else { return false };
    let before = from.ledger().map_or(0.0, |ledger| ledger.excess);
    now.fraction() > Ledger::WARNING && now.excess - before > GAIN * now.scale
}
