//! The energies in play in a run.

use plisse::system::{Balance, Energies};

/// What a run had to do with, by which its figures are measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Energy {
    /// External energy at the start, J.
    external_at_start: f64,
    /// J, since the start.
    work: f64,
    /// J, since the start; positive where the scheme has lost.
    numerical: f64,
    scale: f64,
}

impl Energy {
    /// Takes the external energy before the first step, in joules.
    pub(super) fn new(external_at_start: f64) -> Self {
        Self { external_at_start, ..Self::default() }
    }

    /// Adds a step: energies at its end, and what happened to them.
    pub(super) fn add(&mut self, energies: &Energies, balance: &Balance) {
        let fallen = energies.external() - self.external_at_start;
        self.work += balance.work;
        self.numerical += balance.numerical();
        let scale = energies.kinetic + energies.elastic() + self.work.abs() + fallen.abs();
        self.scale = self.scale.max(scale);
    }

    /// The largest sum so far of kinetic and elastic energy, work done, and change of external
    /// energy, J.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Lost by the scheme in all, J.
    pub(super) fn numerical(&self) -> f64 {
        self.numerical
    }
}
