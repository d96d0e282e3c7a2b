//! Wrinkles from files.

use std::f64::consts::TAU;
use std::path::PathBuf;

use plisse::core::{Edges, Field, Vertices};
use plisse::wrinkle::{Kkt, Quadrature, WrinkleProblem, WrinkleSettings, solve_wrinkles_from};

use super::Outcome;
use super::arguments::WrinkleOptions;
use super::input::{Input, numbers};
use crate::error::Failure;

/// What is known of amplitudes and differences without solving.
#[derive(Clone, Debug)]
pub(super) struct Slopes {
    /// Derivatives by the amplitudes of all vertices, J/m, and by the differences of all edges,
    /// J/rad.
    pub(super) gradient_amplitude: Field<Vertices, f64>,
    pub(super) gradient_omega: Field<Edges, f64>,
    /// Largest sum around a face that may wrinkle, rad.
    pub(super) curl: f64,
    /// Largest amplitude where it should be zero: on wrinkle-free faces and at clamped vertices, m.
    pub(super) held_amplitude: f64,
    /// Turns around the generators.
    pub(super) periods: Vec<f64>,
    /// Residual without curl and with zeros where they should be; `None` if nothing may wrinkle.
    pub(super) kkt: Option<Kkt>,
}

pub(super) fn evaluate<'a>(
    options: &'a WrinkleOptions,
    input: &'a Input,
    problem: &'a WrinkleProblem,
    files: &[PathBuf],
) -> Result<Outcome<'a>, Failure> {
    let [amplitude, omega] = files else {
        return Err(Failure::Input(
            "--evaluate takes two files: amplitudes and phase differences".to_owned(),
        ));
    };
    let mesh = &input.mesh;
    let amplitude = Field::from_vec(numbers(amplitude, "vertices", mesh.vertex_count())?);
    let omega = Field::from_vec(numbers(omega, "edges", mesh.edge_count())?);
    let quadrature = problem.quadrature();
    let (gradient_amplitude, gradient_omega) = gradient(problem, &amplitude, &omega, quadrature);
    let mut curl: f64 = 0.0;
    for (face, _) in problem.kept().iter().filter(|(_, kept)| **kept) {
        curl = curl.max(problem.complex().curl(face, &omega)?.abs());
    }
    let held = problem.held().iter().filter(|(_, held)| **held);
    let held_amplitude = held.fold(0.0, |m: f64, (v, _)| m.max(amplitude[v].abs()));
    // No step is taken: the residual is that of the start.
    let settings = WrinkleSettings { max_iterations: 0, ..WrinkleSettings::default() };
    let start = solve_wrinkles_from(problem, &amplitude, &omega, &settings)?;
    let slopes = Slopes {
        gradient_amplitude,
        gradient_omega,
        curl,
        held_amplitude,
        periods: problem.complex().periods(&omega)?.into_iter().map(|period| period / TAU).collect(),
        kkt: start.report.run().map(|run| run.kkt),
    };
    Ok(Outcome {
        options,
        input,
        problem,
        terms: problem.sheet().terms(&amplitude, &omega, quadrature),
        smooth_energy: start.report.smooth_energy,
        amplitude,
        omega,
        solves: Vec::new(),
        slopes: Some(slopes),
        phase: None,
        surface: None,
    })
}

/// By every amplitude and every difference as if nothing tied them. Each face sees its edges 01 and
/// 02 only: the third follows without curl.
fn gradient(
    problem: &WrinkleProblem,
    amplitude: &Field<Vertices, f64>,
    omega: &Field<Edges, f64>,
    quadrature: Quadrature,
) -> (Field<Vertices, f64>, Field<Edges, f64>) {
    let (sheet, mesh) = (problem.sheet(), problem.sheet().mesh());
    let mut by_amplitude = Field::filled(mesh.vertex_count(), 0.0);
    let mut by_omega = Field::filled(mesh.edge_count(), 0.0);
    for (face, constants) in sheet.faces().iter() {
        let corners = mesh.faces()[face];
        let [_, e02, e01] = mesh.face_edges()[face];
        let g = constants.gradient(corners.map(|v| amplitude[v]), sheet.face_omega(face, omega), quadrature);
        for (vertex, slope) in corners.into_iter().zip(g) {
            by_amplitude[vertex] += slope;
        }
        for (edge, end, slope) in [(e01, corners[1], g[3]), (e02, corners[2], g[4])] {
            by_omega[edge] += if corners[0] < end { slope } else { -slope };
        }
    }
    (by_amplitude, by_omega)
}
