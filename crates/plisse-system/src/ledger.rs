//! Energy that a motion has gained although nothing explains it.

use crate::integrator::{Balance, Energies};

/// The energy account of the last seconds of a motion: what went in, what was lost, and what
/// appeared from nowhere.
///
/// A time integration scheme should lose a little energy or keep it. One that gains energy gives a
/// motion that looks plausible and is wrong, so [`Adaptive`](crate::Adaptive) rejects and finally
/// refuses steps by this account.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Potential of the loads, J, as it was in the mean.
    pub external: f64,
    /// Work of pins, moving obstacles and wind, J.
    pub work: f64,
    /// What damping, friction and wind have taken, J; negative where wind drives the motion.
    pub dissipated: f64,
    /// The largest energy that was in play, J: kinetic and elastic energy at one time, the change
    /// of potential, the work, or the dissipation. Where the excess is a large part of these, at
    /// least what rounding errors of positions can store.
    pub scale: f64,
    /// Gains without an explanation less the losses since, J; never negative.
    pub excess: f64,
}

/// All of them fade within this time, s: a motion that has come to rest must not excuse a later
/// gain by what it once was.
const MEMORY: f64 = 10.0;

/// Relative rounding error of a sum of energies.
const ROUNDING: f64 = 1e-12;

impl Ledger {
    /// A fraction of unexplained energy above which a result deserves a warning, and steps are
    /// shortened.
    pub const WARNING: f64 = 0.1;
    /// A fraction above which a run ends.
    pub const LIMIT: f64 = 0.15;

    /// The account of a motion that starts with these energies.
    #[must_use]
    pub fn new(start: &Energies) -> Self {
        let scale = start.kinetic + start.elastic().abs();
        Self { external: start.external(), scale, ..Self::default() }
    }

    /// The account after a step of `dt` seconds. `driven` is the work of pins, obstacles and wind;
    /// `excused` the work of forces that the solver may leave unbalanced.
    ///
    /// A gain is what the energy has grown by beyond the work. What damping took does not count
    /// against it: with other schemes than backward Euler it is known to first order only, and
    /// strong damping would make a gain of its error.
    #[must_use]
    pub fn after(self, balance: &Balance, end: &Energies, driven: f64, excused: f64, dt: f64) -> Self {
        let size = end.kinetic + end.terms.iter().map(|term| term.energy.abs()).sum::<f64>();
        let gain = balance.after - balance.before - driven - excused - ROUNDING * size;
        let kept = MEMORY / (MEMORY + dt);
        let work = kept * self.work + driven;
        let dissipated = kept * self.dissipated + balance.dissipated;
        let stored = (end.kinetic + end.elastic().abs()).max((end.external() - self.external).abs());
        let scale = (kept * self.scale).max(stored).max(work.abs()).max(dissipated.abs());
        let excess = kept * self.excess + gain;
        // Written so that NaN is kept.
        let excess = if excess < 0.0 { 0.0 } else { excess };
        let external = end.external() + kept * (self.external - end.external());
        Self { external, work, dissipated, scale, excess }
    }

    /// The same with a scale of at least this energy, J.
    ///
    /// A motion at rest has an energy of rounding errors, of which any part can appear and
    /// disappear. What rounding can store is the least energy that means something.
    pub(crate) fn at_least(self, floor: f64) -> Self {
        Self { scale: self.scale.max(floor), ..self }
    }

    /// The excess as a fraction of the scale; zero where nothing has moved yet.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        if self.excess == 0.0 { 0.0 } else { self.excess / self.scale }
    }

    pub(crate) fn is_finite(&self) -> bool {
        let Self { external, work, dissipated, scale, excess } = self;
        [external, work, dissipated, scale, excess].iter().all(|value| value.is_finite())
    }
}
