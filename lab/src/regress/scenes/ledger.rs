//! Where the energy of a run came from.

use plisse::system::{Balance, Energies};

/// Energy that a run has gained without a cause, beside the energies in play.
///
/// In each step, energy after is energy before plus the work of moving pins, less what damping took,
/// less what the scheme lost. A negative loss of the scheme is energy from nowhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// External energy at the start, J.
    external_at_start: f64,
    /// J, since the start.
    work: f64,
    /// J, since the start; positive where the scheme has lost.
    numerical: f64,
    /// The largest of `numerical` so far.
    highest: f64,
    /// The largest energy gained without a cause over any stretch of time, J.
    ///
    /// Not the sum over the steps that gained: schemes of second order gain and lose in turn what the
    /// first-order work and dissipation of the report leave open, and that sum grows with their number.
    gained: f64,
    scale: f64,
}

impl Ledger {
    /// Takes the external energy before the first step, in joules.
    pub(super) fn new(external_at_start: f64) -> Self {
        Self { external_at_start, ..Self::default() }
    }

    /// Adds a step: energies at its end, and what happened to them.
    pub(super) fn add(&mut self, energies: &Energies, balance: &Balance) {
        let fallen = energies.external() - self.external_at_start;
        self.work += balance.work;
        self.numerical += balance.numerical();
        self.highest = self.highest.max(self.numerical);
        self.gained = self.gained.max(self.highest - self.numerical);
        let scale = energies.kinetic + energies.elastic() + self.work.abs() + fallen.abs();
        self.scale = self.scale.max(scale);
    }

    /// The largest sum so far of kinetic and elastic energy, work done, and change of external energy, J.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Energy gained without a cause in percent of the energies in play; zero where nothing happens.
    pub(super) fn gain_in_percent(&self) -> f64 {
        if self.scale > 0.0 { 100.0 * self.gained / self.scale } else { 0.0 }
    }

    /// Lost by the scheme in all, J.
    pub(super) fn numerical(&self) -> f64 {
        self.numerical
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_count_over_any_stretch_of_time() {
        let mut ledger = Ledger::new(0.0);
        // 1 J of work, half of it lost, then 0.3 J from nowhere in two parts with a loss in between.
        let energies =
            [(0.0, 0.5, 1.0), (0.5, 0.7, 0.0), (0.7, 0.65, 0.0), (0.65, 0.8, 0.0), (0.8, 0.2, 0.0)];
        for (before, after, work) in energies {
            let energies = Energies { kinetic: after, terms: Vec::new() };
            ledger.add(&energies, &Balance { before, after, work, ..Balance::default() });
        }
        assert!((ledger.gained - 0.3).abs() < 1e-12, "{ledger:?}");
        assert!((ledger.scale() - 1.8).abs() < 1e-12, "{ledger:?}");
        assert!((ledger.gain_in_percent() - 100.0 * 0.3 / 1.8).abs() < 1e-9);
        assert!((ledger.numerical() - 0.8).abs() < 1e-12, "{ledger:?}");
    }
}
