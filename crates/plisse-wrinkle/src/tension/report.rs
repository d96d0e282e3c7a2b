//! What a solve for a base mesh gives and how it may fail.

use glam::DVec3;
use plisse_core::{Field, Vertices};
use plisse_system::{Iteration, TermEnergy};

/// An equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct BaseSolution {
    /// Positions in metres.
    pub x: Field<Vertices, DVec3>,
    /// What it took, and what it is like.
    pub report: BaseReport,
}

/// What a solve did, and the equilibrium in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct BaseReport {
    /// Largest unbalanced force on a vertex that may move, in N.
    pub force: f64,
    /// Largest unbalanced force per rest area, in Pa; above the tolerance only where rounding lets
    /// it fall no further.
    pub residual: f64,
    /// What the residual had to fall below, in Pa.
    pub tolerance: f64,
    /// Whether the Hessian is positive definite: a minimum. Otherwise it may be a saddle, kept by a
    /// symmetry of the start, or have soft directions that rounding hides.
    pub minimum: bool,
    /// Energy of each term in J; pressure counts as `-p V`.
    pub energies: Vec<TermEnergy>,
    /// Volume on the side that pressure acts from, in m³; none without pressure. For an open sheet,
    /// that of the cone to the mean place of its boundary.
    pub volume: Option<f64>,
    /// How many faces are taut, wrinkled and slack.
    pub regimes: [usize; 3],
    /// Every iteration of Newton's method; residuals are forces per rest area, in Pa.
    pub iterations: Vec<Iteration>,
}

impl BaseReport {
    /// The energy of a term, J; zero if there is none of that name.
    #[must_use]
    pub fn energy(&self, name: &str) -> f64 {
        self.energies.iter().filter(|term| term.name == name).map(|term| term.energy).sum()
    }

    /// The sum of all energies, J.
    #[must_use]
    pub fn total_energy(&self) -> f64 {
        self.energies.iter().map(|term| term.energy).sum()
    }
}
