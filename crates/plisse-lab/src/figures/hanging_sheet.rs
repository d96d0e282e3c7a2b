//! A sheet that falls from the horizontal: its shapes, and its energy under three schemes.

use std::path::Path;

use glam::DVec3;
use plisse::core::{Field, Positive, TriMesh, Vertices, generate};
use plisse::system::{Adaptive, Implicit, Integrator, NewtonSettings, Scheme, State};
use plotters::coord::Shift;
use plotters::prelude::*;

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
    let root = SVGBackend::new(file, (1000, 300)).into_drawing_area();
    root.fill(&WHITE)?;
    let panels = root.split_evenly((1, 4));
    let mut steps = 0;
    for (panel, at) in panels.iter().zip([10, 20, 35, 120]) {
        while steps < at {
            integrator.step(&system, &mut state, STEP)?;
            steps += 1;
        }
        painted(panel, &mesh, &state)?;
        let caption = format!("{:.2} s", state.time());
        panel.draw(&Text::new(caption, (10, 10), ("sans-serif", 16).into_font()))?;
    }
    root.present()?;
    Ok(())
}

/// Paints faces from back to front, brighter the more they face the light.
fn painted(
    panel: &DrawingArea<SVGBackend<'_>, Shift>,
    mesh: &TriMesh,
    state: &State<Vertices>,
) -> DrawResult {
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
        (125 - (150.0 * p.dot(right)) as i32, 150 - (150.0 * p.dot(up)) as i32)
    };
    for face in faces {
        let [a, b, c] = face;
        let shade = 0.25 + 0.75 * (b - a).cross(c - a).normalize_or_zero().dot(light).abs();
        let colour = RGBColor((60.0 * shade) as u8, (95.0 * shade) as u8, (190.0 * shade) as u8);
        panel.draw(&Polygon::new(face.map(place).to_vec(), colour.filled()))?;
    }
    Ok(())
}

/// Total energy over time under backward Euler, BDF2 and Newmark's scheme.
pub(super) fn energies(file: &Path) -> DrawResult {
    let schemes = [
        (Scheme::BackwardEuler, "backward Euler", RGBColor(200, 60, 50)),
        (Scheme::Bdf2, "BDF2", RGBColor(50, 110, 200)),
        (Scheme::NEWMARK, "Newmark", RGBColor(60, 150, 80)),
    ];
    let mut curves = Vec::new();
    for (scheme, ..) in schemes {
        let (system, mut state) = hanging_sheet(VERTICES, DENIM)?;
        let inner = Implicit::new(&system, scheme, NewtonSettings::default())?;
        let mut integrator = Adaptive::new(inner, Positive::literal(1e-4));
        let mut curve = vec![(0.0, 0.0)];
        for _ in 0..120 {
            let report = integrator.step(&system, &mut state, STEP)?;
            curve.push((state.time(), report.energies.total()));
        }
        curves.push(curve);
    }
    let lowest = curves.iter().flatten().map(|(_, e)| *e).fold(0.0, f64::min);
    // Newmark's scheme leaves the frame; its curve ends there.
    let highest = -0.5 * lowest;
    let root = SVGBackend::new(file, (700, 320)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(34)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..2.0, 1.05 * lowest..highest)?;
    chart.configure_mesh().x_desc("time (s)").y_desc("total energy (J)").light_line_style(WHITE).draw()?;
    for ((_, name, colour), curve) in schemes.iter().zip(curves) {
        let inside = curve.into_iter().take_while(|(_, e)| *e < highest);
        let series = LineSeries::new(inside, ShapeStyle::from(colour).stroke_width(2));
        let legend = *colour;
        chart.draw_series(series)?.label(*name).legend(move |(x, y)| {
            PathElement::new([(x, y), (x + 18, y)], ShapeStyle::from(&legend).stroke_width(2))
        });
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .background_style(WHITE)
        .draw()?;
    root.present()?;
    Ok(())
}
