//! Equilibria that are too far away for Newton's method.

use plisse_core::Space;

use super::implicit::Implicit;
use super::report::{StepError, StepReport};
use super::scheme::Scheme;
use crate::newton::{Failure, NewtonError};
use crate::state::State;
use crate::system::System;

/// The first part of the way is as long as masses fall from rest in this time, s.
const FIRST: f64 = 1.0 / 32.0;
/// Shorter and longer parts are not tried, s. Beyond the longest, what is left to do is slower than
/// anybody waits for.
const SHORTEST: f64 = 1e-4;
const LONGEST: f64 = 128.0;
/// Parts of the way, rejected ones included, after which there seems to be no equilibrium.
const MOST: usize = 400;
/// Of the first unbalanced forces, those near an equilibrium.
const NEAR: f64 = 0.01;
/// Iterations of a part that was easy: the next one is longer.
const EASY: usize = 25;

impl<S: Space> Implicit<S> {
    /// The equilibrium after `dt`. Where Newton's method does not find it from the start, masses
    /// hold everything back (`Incremental::held_back`) while it goes there: each part of the way
    /// minimises `E(x) + ½ m |x - x₀|²/h²` with longer and longer `h`, so that the energy falls
    /// from part to part (pseudo-transient continuation). The last solve is that of the
    /// equilibrium.
    pub(super) fn find_equilibrium(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        dt: f64,
    ) -> Result<StepReport, StepError> {
        let error = match self.advance(system, state, dt, Scheme::Quasistatic, None) {
            Err(error) if system.mass().is_some() && is_too_far(&error) => error,
            result => return result,
        };
        let saved = state.clone();
        let found = self.relax(system, state, dt, error);
        if found.is_err() {
            *state = saved;
        }
        found
    }

    /// `error` is why it is not found at once.
    fn relax(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        mut dt: f64,
        error: StepError,
    ) -> Result<StepReport, StepError> {
        let mut h = FIRST;
        // Unbalanced force per mass at which the equilibrium is tried again, m/s².
        let mut near: Option<f64> = None;
        let mut total: Option<StepReport> = None;
        for _ in 0..MOST {
            let before = state.x().clone();
            let Ok(part) = self.advance(system, state, dt, Scheme::Quasistatic, Some(h)) else {
                h *= 0.25;
                if h < SHORTEST {
                    break;
                }
                continue;
            };
            // Time has advanced with the first part.
            dt = 0.0;
            let is_easy = part.iterations() <= EASY;
            let so_far = match total.take() {
                None => part,
                Some(total) => total.followed_by(part),
            };
            let way = state.x().iter().map(|(i, x)| x.distance_squared(before[i])).fold(0.0, f64::max);
            let unbalanced = way.sqrt() / (h * h);
            let limit = *near.get_or_insert(NEAR * unbalanced);
            if unbalanced <= limit {
                if let Ok(last) = self.advance(system, state, 0.0, Scheme::Quasistatic, None) {
                    return Ok(so_far.followed_by(last));
                }
                near = Some(NEAR * unbalanced);
            } else if h >= LONGEST {
                // What still falls after minutes falls for ever, and the solver says so.
                return self.advance(system, state, 0.0, Scheme::Quasistatic, None);
            }
            total = Some(so_far);
            if is_easy {
                h = (2.0 * h).min(LONGEST);
            }
        }
        Err(error)
    }
}

/// Whether another way to the equilibrium can help.
fn is_too_far(error: &StepError) -> bool {
    let StepError::NotConverged { error, .. } = error else { return false };
    matches!(**error, NewtonError { failure: Failure::Iterations | Failure::LineSearch, .. })
}
