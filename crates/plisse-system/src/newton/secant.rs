//! A line search for energies with kinks in the slope.

use plisse_sparse::dot;

use super::problem::{Problem, Value};
use super::{LONGEST, Newton, Places, SMALLEST, SUFFICIENT};

/// Relative rounding error of an energy. Smaller than where steps are halved: here places are
/// compared with each other, too, and one behind a kink must not pass for as low as one before it.
const NOISE: f64 = 1e-11;
/// A whole step that leaves this part of the slope is taken as it is.
const FALLEN: f64 = 0.5;
/// The search ends where this part of the slope is left.
const FLAT: f64 = 0.1;
/// Lengths that are tried after the first good one: secants need three or four of them.
const REFINEMENTS: usize = 6;

impl Newton {
    /// Finds a step length near the minimum along the step, as [`Search::Secant`] says. `trial` is
    /// the first length to try; the accepted place is there afterwards, its derivative in
    /// `gradient`.
    ///
    /// [`Search::Secant`]: super::Search::Secant
    pub(super) fn secant<P: Problem>(
        &mut self,
        at: &mut Places<'_, P>,
        force: &[f64],
        step: &[f64],
        value: Value,
        [first, longest]: [f64; 2],
    ) -> Option<(Value, f64)> {
        let promised = dot(force, step);
        let noise = NOISE * value.magnitude;
        let mut length = first;
        let mut next = self.evaluate_trial(at);
        // The minimum lies between `low`, where the energy falls, and `high`: lengths and slopes.
        let (mut low, mut high) = ((0.0, -promised), None);
        let mut best: Option<(f64, f64)> = None;
        let mut refinements = 0;
        for _ in 0..SMALLEST {
            let slope = dot(&self.gradient, step);
            let is_low = next.sum <= value.sum - SUFFICIENT * length * promised;
            let is_lost = promised * length < noise && next.sum <= value.sum + noise;
            let is_good = is_low || is_lost;
            if is_good && best.is_none_or(|(lowest, _)| next.sum <= lowest + noise) {
                let left = if best.is_none() && length >= first { FALLEN } else { FLAT };
                best = Some((next.sum, length));
                if slope.abs() <= left * promised {
                    break;
                }
            }
            if is_good && slope <= 0.0 {
                low = (length, slope);
            } else {
                high = Some((length, if slope > 0.0 { slope } else { f64::INFINITY }));
            }
            refinements += usize::from(best.is_some());
            if refinements > REFINEMENTS {
                break;
            }
            length = match high {
                None if 2.0 * length > longest.min(LONGEST) => break,
                None => 2.0 * length,
                Some((high, _)) if best.is_none() => 0.5 * high,
                // The secant, kept away from the ends.
                Some((high, slope)) => {
                    let part = if slope.is_finite() { -low.1 / (slope - low.1) } else { 0.5 };
                    low.0 + (high - low.0) * part.clamp(0.1, 0.9)
                }
            };
            at.go(step, length);
            next = self.evaluate_trial(at);
        }
        let (_, found) = best?;
        if found.to_bits() != length.to_bits() {
            at.go(step, found);
            next = self.evaluate_trial(at);
        }
        Some((next, found))
    }
}
