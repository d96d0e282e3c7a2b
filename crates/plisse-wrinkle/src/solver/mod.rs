//! Minimises the wrinkle energy.

mod factor;
mod newton;
mod problem;
mod report;
mod settings;
mod system;
#[cfg(test)]
mod tests;

use plisse_core::{Edges, Field, Vertices};

use crate::complex::Nodes;
use crate::error::WrinkleError;
use crate::start;

pub(crate) use newton::Point;
pub use problem::WrinkleProblem;
pub use report::{Kkt, WrinkleEnd, WrinkleIteration, WrinkleReport, WrinkleRun};
pub use settings::{FaceProjection, WrinkleSettings};
pub use system::{FaceHessian, WrinkleSystem};

/// Amplitudes and frequencies of wrinkles.
#[derive(Clone, Debug, PartialEq)]
pub struct WrinkleField {
    /// Amplitude in m, nowhere negative.
    pub amplitude: Field<Vertices, f64>,
    /// Difference of the phase along every edge, from its smaller to its larger vertex, in rad. Without curl on kept faces, zero on edges
    /// of none.
    pub omega: Field<Edges, f64>,
    /// The phases of which `omega` is the difference, in rad, zero at the root of every component; up to the periods.
    pub phi: Field<Nodes, f64>,
    /// The sum of `omega` around the primal loop of each generator of [`WrinkleProblem::complex`], in rad. Not a multiple of 2π yet.
    pub periods: Vec<f64>,
    /// How it was found.
    pub report: WrinkleReport,
}

/// Finds amplitudes `a ≥ 0` and curl-free frequencies `ω` of least wrinkle energy (Chen21, equation 27).
///
/// Frequencies are written as `ω = B φ + Γ c` (see [`KeptComplex`](crate::KeptComplex)), so that `a ≥ 0` is the only constraint, and
/// projected Newton steps are taken from each start. A minimum is a local one: several starts may find several, of which the lowest is
/// returned. A run that did not converge is not an error: see [`WrinkleReport::converged`]. Where no face or no vertex may wrinkle, the
/// answer is no wrinkles at once, and [`WrinkleReport::is_trivial`] says so.
///
/// The same input gives the same bits.
///
/// # Errors
/// [`WrinkleError::Setting`] for settings out of range, [`WrinkleError::OutOfMemory`].
pub fn solve_wrinkles(
    problem: &WrinkleProblem,
    settings: &WrinkleSettings,
) -> Result<WrinkleField, WrinkleError> {
    settings.check()?;
    if problem.held().as_slice().iter().all(|held| *held) {
        return Ok(without_wrinkles(problem));
    }
    let mut system = WrinkleSystem::new(problem)?;
    let mut runs = Vec::with_capacity(settings.starts.len());
    let mut best: Option<(usize, Point)> = None;
    for &start in &settings.starts {
        let mut point = start::start(&mut system, start);
        runs.push(newton::minimise(&mut system, &mut point, settings, start));
        let energy = |at: usize| runs[at].energy;
        let at = runs.len() - 1;
        if best.as_ref().is_none_or(|(chosen, _)| energy(at) < energy(*chosen)) {
            best = Some((at, point));
        }
    }
    let Some((chosen, point)) = best else { return Ok(without_wrinkles(problem)) };
    let mut field = without_wrinkles(problem);
    field.report.terms = terms(problem, &point.a, &point.omega);
    field.report.runs = runs;
    field.report.chosen = Some(chosen);
    field.report.unknowns = system.unknown_count();
    field.amplitude = point.a;
    field.omega = point.omega;
    field.phi = Field::from_vec(point.phi);
    field.periods = point.c;
    Ok(field)
}

fn without_wrinkles(problem: &WrinkleProblem) -> WrinkleField {
    let (mesh, complex) = (problem.sheet().mesh(), problem.complex());
    let amplitude = Field::filled(mesh.vertex_count(), 0.0);
    let omega = Field::filled(mesh.edge_count(), 0.0);
    let terms = terms(problem, &amplitude, &omega);
    WrinkleField {
        amplitude,
        omega,
        phi: Field::filled(complex.node_count(), 0.0),
        periods: vec![0.0; complex.betti()],
        report: WrinkleReport {
            runs: Vec::new(),
            chosen: None,
            terms,
            smooth_energy: terms.total(),
            betti: complex.betti(),
            unknowns: 0,
        },
    }
}

fn terms(
    problem: &WrinkleProblem,
    a: &Field<Vertices, f64>,
    omega: &Field<Edges, f64>,
) -> crate::energy::Terms {
    problem.sheet().terms(a, omega, problem.quadrature())
}
