//! How the solver works.

use crate::error::WrinkleError;
use crate::start::WrinkleStart;

/// How the Hessian of a face is made positive semidefinite far from a minimum. Neither is better
/// everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaceProjection {
    /// Negative eigenvalues become zero, amplitudes counted in metres. Long steps.
    Clamp,
    /// Eigenvalues become their absolute values, amplitudes counted in the largest one of the
    /// start. Shorter steps.
    #[default]
    ScaledAbs,
}

/// What the solver may do with the periods of the frequencies, their sums around loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Periods {
    /// They are unknowns like the phases.
    #[default]
    Free,
    /// They stay those of the start. Only for [`solve_wrinkles_from`](crate::solve_wrinkles_from),
    /// as nothing is known of other starts: the frequencies of a phase
    /// ([`Phase::omega`](crate::Phase)): the numbers of waves are whole and remain so while
    /// everything else adapts.
    Held,
}

/// Settings of [`solve_wrinkles`](crate::solve_wrinkles).
#[derive(Clone, Debug, PartialEq)]
pub struct WrinkleSettings {
    /// Where to start, one run for each; the lowest energy is the answer. At least one.
    pub starts: Vec<WrinkleStart>,
    /// The [relative residual](crate::Kkt::relative) at which a run ends. Positive.
    pub tolerance: f64,
    /// Steps per run.
    pub max_iterations: usize,
    /// The Hessian far from a minimum.
    pub projection: FaceProjection,
    /// A step that gains less than this part of the energy above its
    /// [floor](crate::WrinkleSystem::floor) is followed by one that is nearer to Newton's: with
    /// less of the projection, as long as that works, and in the end with none. Zero keeps the
    /// whole projection. In `[0, 1)`.
    pub switch: f64,
    /// The part of its value that an amplitude keeps at least in a step of the projected Hessian:
    /// zero is a saddle of the energy from which it would not come back. In `[0, 1)`.
    pub shrink: f64,
    /// The part of the gain foreseen by the slope that a step must make. In `(0, 1/2)`.
    pub armijo: f64,
    /// Whether periods are unknowns.
    pub periods: Periods,
}

impl Default for WrinkleSettings {
    /// Both starts, 1e-8, 300 steps, absolute eigenvalues, nearer to Newton below a gain of a
    /// tenth, amplitudes not below a tenth, 1e-4, free periods.
    fn default() -> Self {
        Self {
            starts: vec![WrinkleStart::Strain, WrinkleStart::Stress],
            tolerance: 1e-8,
            max_iterations: 300,
            projection: FaceProjection::default(),
            switch: 0.1,
            shrink: 0.1,
            armijo: 1e-4,
            periods: Periods::Free,
        }
    }
}

impl WrinkleSettings {
    pub(crate) fn check(&self) -> Result<(), WrinkleError> {
        let need = |name, value: f64, holds: bool, range| {
            if holds { Ok(()) } else { Err(WrinkleError::Setting { name, value, range }) }
        };
        need("starts", self.starts.len() as f64, !self.starts.is_empty(), "one or more")?;
        let positive = self.tolerance > 0.0 && self.tolerance.is_finite();
        need("tolerance", self.tolerance, positive, "a positive number such as 1e-8")?;
        need("switch", self.switch, (0.0..1.0).contains(&self.switch), "a number in [0, 1) such as 0.1")?;
        need("shrink", self.shrink, (0.0..1.0).contains(&self.shrink), "a number in [0, 1) such as 0.1")?;
        let armijo = self.armijo > 0.0 && self.armijo < 0.5;
        need("armijo", self.armijo, armijo, "a number between 0 and 0.5 such as 1e-4")
    }
}
