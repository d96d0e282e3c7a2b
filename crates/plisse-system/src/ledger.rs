//! Energy that a motion has gained although nothing explains it.

use crate::integrator::{Balance, Energies};

/// The energy account of a motion since its start: what went in, what was lost, and what appeared from nowhere.
///
/// A time integration scheme should lose a little energy or keep it. One that gains energy gives a motion that looks
/// plausible and is wrong, so [`Adaptive`](crate::Adaptive) rejects and finally refuses steps by this account.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Potential of the loads at the start, J.
    pub external_at_start: f64,
    /// Work of pins and moving obstacles so far, J.
    pub work: f64,
    /// What damping, friction and wind have taken so far, J; negative where wind drives the motion.
    pub dissipated: f64,
    /// The largest energy that was in play so far, J: kinetic and elastic energy and the change of potential at one time, the
    /// work, or the dissipation.
    pub scale: f64,
    /// Gains without an explanation less the losses since, J; never negative.
    pub excess: f64,
}

/// Relative rounding error of a sum of energies.
const ROUNDING: f64 = 1e-12;

impl Ledger {
    /// A fraction of unexplained energy above which a result deserves a warning, and steps are shortened.
    pub const WARNING: f64 = 0.1;
    /// A fraction above which a run ends.
    pub const LIMIT: f64 = 0.25;

    pub(crate) fn new(start: &Energies) -> Self {
        let scale = start.kinetic + start.elastic().abs();
        Self { external_at_start: start.external(), scale, ..Self::default() }
    }

    /// The account after a step. `unbalanced` is the work of the forces that the solver has left unbalanced.
    pub(crate) fn after(self, balance: &Balance, end: &Energies, unbalanced: f64) -> Self {
        let size = end.kinetic + end.terms.iter().map(|term| term.energy.abs()).sum::<f64>();
        let gain = -balance.numerical() - unbalanced.abs() - ROUNDING * size;
        let work = self.work + balance.work;
        let dissipated = self.dissipated + balance.dissipated;
        let stored = end.kinetic + end.elastic().abs() + (end.external() - self.external_at_start).abs();
        let scale = self.scale.max(stored).max(work.abs()).max(dissipated.abs());
        Self { work, dissipated, scale, excess: (self.excess + gain).max(0.0), ..self }
    }

    /// The excess as a fraction of the scale; zero where nothing has moved yet.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        if self.excess > 0.0 { self.excess / self.scale } else { 0.0 }
    }

    pub(crate) fn is_finite(&self) -> bool {
        let Self { external_at_start, work, dissipated, scale, excess } = self;
        [external_at_start, work, dissipated, scale, excess].iter().all(|value| value.is_finite())
    }
}
