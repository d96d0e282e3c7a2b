//! `plisse wrinkle`.

mod arguments;
mod evaluate;
mod input;
mod output;
mod report;

use plisse::core::{Edges, Field, IsotropicSheet, Vertices};
use plisse::file::MOST_TRIANGLES;
use plisse::file::Meaning;
use plisse::wrinkle::{
    BaseSheet, Periods, Phase, PhaseFaces, PhaseOptions, PhaseProblem, SharpVertices, SurfaceOptions, Terms,
    WrinkleError, WrinkleField, WrinkleProblem, WrinkleReport, WrinkleSettings, WrinkledSurface,
    recover_phase, solve_wrinkles, solve_wrinkles_from, wrinkled_surface,
};

pub(crate) use arguments::WrinkleOptions;

use crate::arguments::Talk;
use crate::error::Failure;
use crate::progress::say;
use evaluate::Slopes;
use input::Input;

/// Everything that is known in the end.
struct Outcome<'a> {
    options: &'a WrinkleOptions,
    input: &'a Input,
    problem: &'a WrinkleProblem,
    amplitude: Field<Vertices, f64>,
    omega: Field<Edges, f64>,
    terms: Terms,
    /// Energy without wrinkles, J.
    smooth_energy: f64,
    /// How it was solved, first with free periods, then with whole ones; empty if it was not.
    solves: Vec<WrinkleReport>,
    /// What is known of amplitudes and differences that were given.
    slopes: Option<Slopes>,
    phase: Option<Phase>,
    surface: Option<WrinkledSurface>,
}

/// Solves for wrinkles, or evaluates them.
pub(crate) fn wrinkle(options: &WrinkleOptions, talk: &Talk) -> Result<(), Failure> {
    output::spare_the_input(options)?;
    output::spare_others(options)?;
    let input = Input::read(options)?;
    let triangles = input.mesh.face_count() << (2 * options.levels);
    if options.out.is_some() && triangles > MOST_TRIANGLES {
        return Err(Failure::Input(format!(
            "--levels {}: the surface would have {triangles} triangles; at most {MOST_TRIANGLES} are possible, take fewer levels",
            options.levels
        )));
    }
    if !(0.05..20.0).contains(&input.area_ratio) {
        let ratio = input.area_ratio;
        say(
            talk,
            &format!("warning: the base has {ratio:.3e} times the area of the rest; are both in metres?"),
        );
    }
    let about_base = |error: WrinkleError| {
        Failure::Input(format!("{} (faces and vertices counted from 0): {error}", options.base.display()))
    };
    let sheet = IsotropicSheet::new(options.young, options.poisson, options.thickness);
    let base = BaseSheet::new(&input.mesh, &input.rest, &input.x, sheet, options.curvature.meaning())
        .map_err(about_base)?;
    let problem = WrinkleProblem::new(base, options.free_rule.meaning())?
        .with_clamped(&input.clamped)?
        .with_quadrature(options.quadrature());
    let mut outcome = match &options.evaluate {
        Some(files) => evaluate::evaluate(options, &input, &problem, files)?,
        None => solve(options, &input, &problem)?,
    };
    if let Some(folder) = &options.out {
        outcome.add_surface()?;
        output::write(folder, &outcome)?;
    }
    report::print(&outcome, talk);
    let open = outcome.solves.iter().find(|solve| !solve.converged());
    let failed = open.and_then(|solve| solve.run().or(solve.runs.last()));
    match failed {
        None if outcome.solves.is_empty() => Ok(()),
        None => {
            let checked = outcome.problem.sheet().check_amplitudes(&outcome.amplitude);
            checked.map_err(|error| Failure::NotConverged(error.to_string()))
        }
        Some(run) => Err(Failure::NotConverged(format!(
            "the wrinkles did not converge: {} after {} steps with a relative residual of {:.1e}, asked for were {:.1e}. Allow more \
             with --max-iterations, accept more with --tolerance, or try another --start",
            run.end,
            run.iterations.len(),
            run.kkt.relative,
            options.tolerance.get()
        ))),
    }
}

fn solve<'a>(
    options: &'a WrinkleOptions,
    input: &'a Input,
    problem: &'a WrinkleProblem,
) -> Result<Outcome<'a>, Failure> {
    let settings = WrinkleSettings {
        starts: options.start.meaning(),
        tolerance: options.tolerance.get(),
        max_iterations: options.max_iterations,
        ..WrinkleSettings::default()
    };
    let mut field = solve_wrinkles(problem, &settings)?;
    let mut solves = vec![field.report.clone()];
    if options.rounded && !field.report.is_trivial() {
        // On all faces that may wrinkle, so that the periods are those of the solver.
        let whole = phase(input, problem, &field, PhaseFaces::Wrinkling)?;
        let settings = WrinkleSettings { periods: Periods::Held, ..settings };
        field = solve_wrinkles_from(problem, &field.amplitude, &whole.omega, &settings)?;
        solves.push(field.report.clone());
    }
    let phase = phase(input, problem, &field, PhaseFaces::Visible)?;
    let WrinkleField { amplitude, omega, report, .. } = field;
    Ok(Outcome {
        options,
        input,
        problem,
        amplitude,
        omega,
        terms: report.terms,
        smooth_energy: report.smooth_energy,
        solves,
        slopes: None,
        phase: Some(phase),
        surface: None,
    })
}

fn phase(
    input: &Input,
    problem: &WrinkleProblem,
    field: &WrinkleField,
    faces: PhaseFaces,
) -> Result<Phase, WrinkleError> {
    recover(input, problem, &field.amplitude, &field.omega, faces)
}

fn recover(
    input: &Input,
    problem: &WrinkleProblem,
    amplitude: &Field<Vertices, f64>,
    omega: &Field<Edges, f64>,
    faces: PhaseFaces,
) -> Result<Phase, WrinkleError> {
    let free = problem.kept().map(|kept| !kept);
    let problem = PhaseProblem { mesh: &input.mesh, rest: &input.rest, amplitude, omega, free: &free };
    recover_phase(&problem, &PhaseOptions { faces, ..PhaseOptions::default() })
}

impl Outcome<'_> {
    /// The wrinkled surface, and the phase that it needs.
    fn add_surface(&mut self) -> Result<(), WrinkleError> {
        let (options, input) = (self.options, self.input);
        let phase = match self.phase.take() {
            Some(phase) => phase,
            None => recover(input, self.problem, &self.amplitude, &self.omega, PhaseFaces::Visible)?,
        };
        let sharp = match input.clamped.as_slice() {
            [] => SharpVertices::Corners,
            clamped => SharpVertices::Given(clamped),
        };
        let settings = SurfaceOptions {
            levels: options.levels.into(),
            sharp,
            profile: options.profile(),
            ..SurfaceOptions::default()
        };
        let surface = wrinkled_surface(&input.mesh, &input.x, &self.amplitude, &phase.field, &settings)?;
        (self.phase, self.surface) = (Some(phase), Some(surface));
        Ok(())
    }

    fn wrinkles(&self) -> bool {
        self.amplitude.as_slice().iter().any(|a| *a != 0.0)
    }
}
