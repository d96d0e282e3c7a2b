//! What the solver did.

use std::fmt;

use crate::energy::Terms;
use crate::start::WrinkleStart;

/// How far a state is from a minimum over `a ≥ 0` (the conditions of Karush, Kuhn and Tucker).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kkt {
    /// Largest derivative of the energy by an amplitude, in J/m. Where the amplitude is zero and
    /// the energy would grow with it, the derivative does not count.
    pub amplitude: f64,
    /// Largest derivative by a phase or a period, in J/rad.
    pub omega: f64,
    /// The larger of both without a unit: derivatives times the largest amplitude (or the
    /// thickness, if that is larger) and times one radian, over the energy above its
    /// [floor](crate::WrinkleSystem::floor). Roughly the part of what wrinkles cost that a change
    /// of everything by its own size would still gain.
    pub relative: f64,
}

/// One step of the solver, with the state it started from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrinkleIteration {
    /// Energy before the step, in J.
    pub energy: f64,
    /// Residual before the step.
    pub kkt: Kkt,
    /// Amplitudes held at zero because the energy would grow with them.
    pub active: usize,
    /// Which part of the correction that makes the Hessians of faces positive semidefinite was
    /// added to the exact one: 0 for Newton's own step, 1 for that of the projected Hessian.
    pub part: f64,
    /// Multiple of the step that was taken.
    pub length: f64,
    /// Matrices factorised for the step: one, or more where the first was not positive definite or
    /// gave no descent.
    pub factorisations: usize,
    /// Energies evaluated by the line search.
    pub evaluations: usize,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrinkleEnd {
    /// The residual is below the tolerance.
    Converged,
    /// The number of iterations is used up.
    IterationLimit,
    /// No step lowered the energy: what is left is below rounding, or the model is not smooth
    /// enough there.
    Stalled,
    /// The energy or a derivative is infinite or NaN: amplitudes or frequencies are too large.
    NotFinite,
}

impl fmt::Display for WrinkleEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Converged => "converged",
            Self::IterationLimit => "out of steps",
            Self::Stalled => "no step lowered the energy",
            Self::NotFinite => "energy or derivatives are not finite",
        })
    }
}

/// One run, from one start.
#[derive(Clone, Debug, PartialEq)]
pub struct WrinkleRun {
    /// Where it started; `None` for a state that was given.
    pub start: Option<WrinkleStart>,
    /// How it ended.
    pub end: WrinkleEnd,
    /// Every step.
    pub iterations: Vec<WrinkleIteration>,
    /// Energy at the end, in J.
    pub energy: f64,
    /// Residual at the end.
    pub kkt: Kkt,
    /// Amplitudes at zero at the end because the energy would grow with them.
    pub active: usize,
}

/// What the solver did and found.
#[derive(Clone, Debug, PartialEq)]
pub struct WrinkleReport {
    /// Every run in the order of the settings. Empty if there was nothing to solve.
    pub runs: Vec<WrinkleRun>,
    /// Which run gave the answer, the one with the lowest energy, but one that converged unless
    /// another is lower by more than the tolerance times its energy above the
    /// [floor](crate::WrinkleSystem::floor); `None` if there was nothing to solve, or if every run
    /// ended with [`WrinkleEnd::NotFinite`]: then the answer has no wrinkles.
    pub chosen: Option<usize>,
    /// The energy of the answer by its terms.
    pub terms: Terms,
    /// Energy of the base without any wrinkle, in J.
    pub smooth_energy: f64,
    /// [Wavelength](crate::BaseSheet::wavelength) of the answer in m at rest; `None` without
    /// wrinkles.
    pub wavelength: Option<f64>,
    /// Number of generators of the kept faces.
    pub betti: usize,
    /// Number of unknowns: free amplitudes, phases, periods.
    pub unknowns: usize,
}

impl WrinkleReport {
    /// The run that gave the answer.
    #[must_use]
    pub fn run(&self) -> Option<&WrinkleRun> {
        self.chosen.and_then(|at| self.runs.get(at))
    }

    /// Whether there was no face or no vertex that could wrinkle. The answer then has no wrinkles.
    #[must_use]
    pub fn is_trivial(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether the answer meets the tolerance. True if there was nothing to solve.
    #[must_use]
    pub fn converged(&self) -> bool {
        self.is_trivial() || self.run().is_some_and(|run| run.end == WrinkleEnd::Converged)
    }
}
