//! A sheet that falls from the horizontal: its shapes, and its energy under three schemes.

use std::path::Path;

use glam::DVec3;
use plisse::core::{Field, Positive, TriMesh, Vertices, generate};
use plisse::picture::{Curve, Figure, Mark, Plot};
use plisse::system::{Adaptive, Implicit, Integrator, NewtonSettings, Scheme, State, StepError};

use super::DrawResult;
use crate::scene::{DENIM, hanging_sheet};

const VERTICES: usize = 25;
const STEP: Positive = Positive::literal(1.0 / 60.0);

/// Four moments of the fall, as shaded triangles.
pub(super) fn shapes(file: &Path) -> DrawResult {
    let (system, mut state) = hanging_sheet(VERTICES, DENIM)?;
    let (mesh, _) = generate::grid(VERTICES - 1, VERTICES - 1, [1.0, 1.0], generate::Diagonal::Alternating)?;
    let inner = Implicit::new(&system, Scheme::Bdf2, NewtonSettings::default())?;
    let mut integrator = Adaptive::new(inner, Positive::literal(1e-4));
    let mut panels = Vec::new();
    let mut steps = 0;
    for at in [10, 20, 35, 120] {
        while steps < at {
            integrator.step(&system, &mut state, STEP)?;
            steps += 1;
        }
        panels.push(Plot { title: format!("{:.2} s", state.time()), ..painted(&mesh, &state) });
    }
    Figure { size: [1000, 300], columns: 4, panels }.write_svg(file)?;
    Ok(())
}

/// Paints faces from back to front, brighter the more they face the light.
fn painted(mesh: &TriMesh, state: &State<Vertices>) -> Plot {
    let x: &Field<Vertices, DVec3> = state.x();
    let view = DVec3::new(0.55, 1.0, 0.35).normalize();
    let right = view.cross(DVec3::Z).normalize();
    let up = right.cross(view);
    let light = DVec3::new(0.3, 0.8, 0.6).normalize();
    let mut faces: Vec<[DVec3; 3]> = mesh.faces().iter().map(|(_, v)| v.map(|v| x[v])).collect();
    let depth = |face: &[DVec3; 3]| face.iter().map(|x| x.dot(view)).sum::<f64>();
    faces.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
    let place = |x: DVec3| {
        let p = x - DVec3::new(0.5, 0.3, -0.45);
        [-p.dot(right), p.dot(up)]
    };
    let painted = |face: [DVec3; 3]| {
        let [a, b, c] = face;
        let shade = 0.25 + 0.75 * (b - a).cross(c - a).normalize_or_zero().dot(light).abs();
        let colour = [60.0, 95.0, 190.0].map(|c| (c * shade) as u8);
        let points = face.map(place).to_vec();
        Curve { points, colour: Some(colour), mark: Mark::Filled, ..Curve::default() }
    };
    let curves = faces.into_iter().map(painted).collect();
    Plot { curves, x_range: Some([-0.7, 0.7]), y_range: Some([-0.5, 0.7]), bare: true, ..Plot::default() }
}

/// Total energy over time under backward Euler, BDF2 and Newmark's scheme.
pub(super) fn energies(file: &Path) -> DrawResult {
    let schemes = [
        (Scheme::BackwardEuler, "backward Euler", [200, 60, 50]),
        (Scheme::Bdf2, "BDF2", [50, 110, 200]),
        (Scheme::NEWMARK, "Newmark", [60, 150, 80]),
    ];
    let mut curves = Vec::new();
    for (scheme, label, colour) in schemes {
        let (system, mut state) = hanging_sheet(VERTICES, DENIM)?;
        let inner = Implicit::new(&system, scheme, NewtonSettings::default())?;
        let mut integrator = Adaptive::new(inner, Positive::literal(1e-4));
        let mut points = vec![[0.0, 0.0]];
        for _ in 0..120 {
            match integrator.step(&system, &mut state, STEP) {
                Ok(report) => points.push([state.time(), report.energies.total()]),
                // Newmark's scheme gains energy until it is stopped; its curve ends there.
                Err(StepError::EnergyGained { .. }) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let label = label.to_owned();
        curves.push(Curve { label, points, colour: Some(colour), ..Curve::default() });
    }
    let lowest = curves.iter().flat_map(|curve| &curve.points).map(|p| p[1]).fold(0.0, f64::min);
    // What leaves the frame ends there.
    let highest = -0.5 * lowest;
    for curve in &mut curves {
        let inside = curve.points.iter().take_while(|p| p[1] < highest).count();
        curve.points.truncate(inside);
    }
    let plot = Plot {
        x_label: "time (s)".to_owned(),
        y_label: "total energy (J)".to_owned(),
        curves,
        x_range: Some([0.0, 2.0]),
        y_range: Some([1.05 * lowest, highest]),
        ..Plot::default()
    };
    Figure { size: [700, 320], columns: 1, panels: vec![plot] }.write_svg(file)?;
    Ok(())
}
