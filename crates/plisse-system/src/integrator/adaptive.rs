//! Shorter steps where a step fails.

use plisse_core::{Positive, Space};

use super::Integrator;
use super::report::{StepError, StepReport};
use crate::error::SetupError;
use crate::state::State;
use crate::system::System;

/// Takes a step in as many substeps as it needs: a substep that does not converge, or that moves a node too far, is thrown
/// away and tried again with half the length; after each success the length grows again.
///
/// It remembers the length that worked last, which no [`State`] holds: two runs have the same bits only if both start with a new one.
#[derive(Debug)]
pub struct Adaptive<I> {
    inner: I,
    shortest: Positive,
    largest_displacement: f64,
    /// Length that worked last; none before the first step.
    length: Option<f64>,
}

impl<I> Adaptive<I> {
    /// Substeps no shorter than `shortest`, in seconds.
    #[must_use]
    pub fn new(inner: I, shortest: Positive) -> Self {
        Self { inner, shortest, largest_displacement: f64::INFINITY, length: None }
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

    /// Forgets the length of the last substep: the next step starts as the first one did.
    pub fn forget(&mut self) {
        self.length = None;
    }
}

impl<S: Space, I: Integrator<S>> Integrator<S> for Adaptive<I> {
    fn step(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        dt: Positive,
    ) -> Result<StepReport, StepError> {
        let saved = state.clone();
        let (start, end) = (state.time(), state.time() + dt.get());
        // Time must advance.
        let shortest = self.shortest.get().max(4.0 * f64::EPSILON * end.abs());
        let mut length = self.length.unwrap_or(dt.get()).min(dt.get());
        let mut rejected = 0;
        let mut total: Option<StepReport> = None;
        loop {
            let left = end - state.time();
            // The last two substeps share what is left: a tiny rest would upset BDF2.
            let this = if left <= 1.01 * length {
                left
            } else if left < 2.0 * length && 0.5 * left >= shortest {
                0.5 * left
            } else {
                length
            };
            let last = state.clone();
            let attempt = Positive::new(this).unwrap_or(dt);
            let result = self.inner.step(system, state, attempt);
            let may_shorten = this > shortest;
            let too_far = |state: &State<S>| {
                let moved = state.x().iter().map(|(i, x)| x.distance(last.x()[i])).fold(0.0, f64::max);
                moved > self.largest_displacement && may_shorten
            };
            match result {
                Ok(report) if !too_far(state) => {
                    total = Some(match total {
                        None => report,
                        Some(before) => combined(before, report),
                    });
                    length = (2.0 * this).min(dt.get());
                    // A rest below the spacing of floating-point numbers is none.
                    if state.time() + 1e-9 * dt.get() >= end {
                        self.length = Some(length);
                        let report =
                            total.take().map(|r| StepReport { dt: state.time() - start, rejected, ..r });
                        // `total` was set a few lines above.
                        return report.ok_or(StepError::WrongSystem);
                    }
                }
                Ok(_) => {
                    *state = last;
                    rejected += 1;
                    length = (0.5 * this).max(shortest);
                }
                Err(error @ StepError::NotConverged { .. }) if !may_shorten => {
                    *state = saved;
                    return Err(StepError::TooShort { shortest, last: Box::new(error) });
                }
                Err(StepError::NotConverged { .. }) => {
                    rejected += 1;
                    length = (0.5 * this).max(shortest);
                }
                Err(error) => {
                    *state = saved;
                    return Err(error);
                }
            }
        }
    }
}

fn combined(before: StepReport, mut after: StepReport) -> StepReport {
    let mut solves = before.solves;
    solves.append(&mut after.solves);
    StepReport { solves, balance: before.balance.followed_by(after.balance), ..after }
}
