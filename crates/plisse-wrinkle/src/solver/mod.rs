//! Minimises the wrinkle energy.

mod factor;
mod newton;
mod problem;
mod projection;
mod report;
mod settings;
mod system;
#[cfg(test)]
mod tests;

use plisse_core::{Edges, Field, Vertices};

use crate::complex::Nodes;
use crate::error::{WrinkleError, fits};
use crate::start::{self, WrinkleStart};

pub(crate) use newton::Point;
pub use problem::WrinkleProblem;
pub use projection::FaceHessian;
pub use report::{Kkt, WrinkleEnd, WrinkleIteration, WrinkleReport, WrinkleRun};
pub use settings::{FaceProjection, Periods, WrinkleSettings};
pub use system::WrinkleSystem;

/// Amplitudes and frequencies of wrinkles.
#[derive(Clone, Debug, PartialEq)]
pub struct WrinkleField {
    /// Amplitude in m, nowhere negative.
    pub amplitude: Field<Vertices, f64>,
    /// Difference of the phase along every edge, from its smaller to its larger vertex, in rad.
    /// Without curl on kept faces, zero on edges of none.
    pub omega: Field<Edges, f64>,
    /// The phases of which `omega` is the difference, in rad, zero at the root of every component;
    /// up to the periods.
    pub phi: Field<Nodes, f64>,
    /// The sum of `omega` around the primal loop of each generator of [`WrinkleProblem::complex`],
    /// in rad. Not a multiple of 2π yet.
    pub periods: Vec<f64>,
    /// How it was found.
    pub report: WrinkleReport,
}

/// Finds amplitudes `a ≥ 0` and curl-free frequencies `ω` of least wrinkle energy (Chen21, equation
/// 27).
///
/// Frequencies are written as `ω = B φ + Γ c` (see [`KeptComplex`](crate::KeptComplex)), so that
/// `a ≥ 0` is the only constraint, and projected Newton steps are taken from each start. A minimum
/// is a local one: several starts may find several, of which the lowest is returned, but one that
/// converged unless another is lower by more than the tolerance. A run that did not converge is not
/// an error: see [`WrinkleReport::converged`]. Where no face or no vertex may wrinkle, the answer
/// is no wrinkles at once, and [`WrinkleReport::is_trivial`] says so.
///
/// If energies or derivatives are not finite from any start, the answer is no wrinkles, and has not
/// converged.
///
/// The same input gives the same bits.
///
/// # Errors
/// [`WrinkleError::Setting`] for settings out of range, [`WrinkleError::HeldPeriods`] if periods
/// are to be held, [`WrinkleError::OutOfMemory`].
pub fn solve_wrinkles(
    problem: &WrinkleProblem,
    settings: &WrinkleSettings,
) -> Result<WrinkleField, WrinkleError> {
    settings.check()?;
    if settings.periods == Periods::Held {
        return Err(WrinkleError::HeldPeriods);
    }
    if problem.held().as_slice().iter().all(|held| *held) {
        return Ok(without_wrinkles(problem));
    }
    let mut system = WrinkleSystem::new(problem)?;
    let starts = settings
        .starts
        .iter()
        .map(|&start| Ok((Some(start), start::start(&mut system, start)?)))
        .collect::<Result<_, WrinkleError>>()?;
    Ok(best_of(&mut system, starts, settings))
}

/// The same from one state instead of the starts of the settings: the answer for a base that has
/// changed a little, for instance.
///
/// Negative amplitudes and those of held vertices become zero. Of `omega` with a curl on kept
/// faces, only the values on the spanning trees and the primal loops count
/// ([`KeptComplex::integrate`](crate::KeptComplex::integrate)). Amplitudes that are zero together
/// with their neighbours stay zero: that is a saddle of the energy.
///
/// # Errors
/// [`WrinkleError::Setting`] and [`WrinkleError::OutOfMemory`] as above, [`WrinkleError::Length`]
/// if a field does not fit the mesh, [`WrinkleError::StartNotFinite`] if a value is not finite.
pub fn solve_wrinkles_from(
    problem: &WrinkleProblem,
    amplitude: &Field<Vertices, f64>,
    omega: &Field<Edges, f64>,
    settings: &WrinkleSettings,
) -> Result<WrinkleField, WrinkleError> {
    settings.check()?;
    fits("amplitudes to start from", amplitude, problem.held().len())?;
    let (phi, c) = problem.complex().integrate(omega)?;
    let first = |values: &[f64]| values.iter().position(|value| !value.is_finite());
    if let Some(index) = first(amplitude.as_slice()) {
        return Err(WrinkleError::StartNotFinite { what: "amplitude of vertex", index });
    }
    if let Some(index) = first(omega.as_slice()) {
        return Err(WrinkleError::StartNotFinite { what: "frequency of edge", index });
    }
    if problem.held().as_slice().iter().all(|held| *held) {
        return Ok(without_wrinkles(problem));
    }
    let mut system = WrinkleSystem::new(problem)?;
    let a = Field::from_fn(amplitude.len(), |v| if problem.held()[v] { 0.0 } else { amplitude[v].max(0.0) });
    let point = Point::new(&system, a, phi.into_vec(), c);
    Ok(best_of(&mut system, vec![(None, point)], settings))
}

/// Whether a run is preferred to an earlier one: lower energies are. Between one that converged and
/// one that did not, differences up to `slack`, in J, are rounding, and do not count against the
/// one that converged.
fn preferred(run: &WrinkleRun, earlier: &WrinkleRun, slack: f64) -> bool {
    let converged = |run: &WrinkleRun| run.end == WrinkleEnd::Converged;
    match (converged(run), converged(earlier)) {
        (true, false) => run.energy <= earlier.energy + slack,
        (false, true) => run.energy < earlier.energy - slack,
        _ => run.energy < earlier.energy,
    }
}

/// Runs from every start; the first of the lowest energy is the answer.
fn best_of(
    system: &mut WrinkleSystem<'_>,
    starts: Vec<(Option<WrinkleStart>, Point)>,
    settings: &WrinkleSettings,
) -> WrinkleField {
    let problem = system.problem();
    let mut field = without_wrinkles(problem);
    field.report.unknowns = system.unknown_count();
    for (start, mut point) in starts {
        let run = newton::minimise(system, &mut point, settings, start);
        let better = match field.report.run() {
            None => run.end != WrinkleEnd::NotFinite,
            Some(_) if run.end == WrinkleEnd::NotFinite => false,
            Some(best) => {
                let slack = settings.tolerance * system.excess(run.energy.min(best.energy));
                preferred(&run, best, slack)
            }
        };
        if better {
            field.report.chosen = Some(field.report.runs.len());
            field.amplitude = point.a;
            field.omega = point.omega;
            field.phi = Field::from_vec(point.phi);
            field.periods = point.c;
        }
        field.report.runs.push(run);
    }
    field.report.terms = terms(problem, &field.amplitude, &field.omega);
    field.report.wavelength = problem.sheet().wavelength(&field.amplitude, &field.omega);
    field
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
            wavelength: None,
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
