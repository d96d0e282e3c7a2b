//! Eigenvalues of membrane energies along two paths.

use std::path::Path;

use plisse::core::{Mat3x2, Positive};
use plisse::membrane::{Arap, Eigenanalysis, Shear, Stretch};
use plotters::prelude::*;

use super::DrawResult;

/// A one-parameter family of deformation gradients.
struct Path1 {
    title: &'static str,
    axis: &'static str,
    range: (f64, f64),
    f: fn(f64) -> Mat3x2,
}

const PATHS: [Path1; 2] = [
    Path1 {
        title: "uniaxial compression",
        axis: "stretch s of the first axis, F = diag(s, 1)",
        range: (0.2, 1.6),
        f: |s| Mat3x2::from_array([s, 0.0, 0.0, 0.0, 1.0, 0.0]),
    },
    Path1 {
        title: "simple shear",
        axis: "shear g, F = [1 g; 0 1]",
        range: (-1.0, 1.0),
        f: |g| Mat3x2::from_array([1.0, 0.0, 0.0, g, 1.0, 0.0]),
    },
];

/// Below this an eigenvalue counts as negative: rounding is 1e-16.
const NEGATIVE: f64 = -1e-12;
const STEPS: usize = 140;

/// Eigenvalues of stretch, shear and ARAP along both paths, negative parts in red.
pub(super) fn draw(file: &Path) -> DrawResult {
    let energies: [(&str, &dyn Eigenanalysis, (f64, f64)); 3] = [
        ("Baraff-Witkin stretch", &Stretch::warp_weft(), (-4.0, 3.0)),
        ("Baraff-Witkin shear", &Shear::warp_weft(), (-3.0, 9.0)),
        ("ARAP", &Arap::new(Positive::ONE), (-4.0, 3.0)),
    ];
    let root = SVGBackend::new(file, (1080, 680)).into_drawing_area();
    root.fill(&WHITE)?;
    let panels = root.split_evenly((PATHS.len(), energies.len()));
    for (row, path) in PATHS.iter().enumerate() {
        for (column, (name, energy, range)) in energies.iter().enumerate() {
            panel(&panels[row * energies.len() + column], name, *energy, *range, path)?;
        }
    }
    root.present()?;
    Ok(())
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    name: &str,
    energy: &dyn Eigenanalysis,
    range: (f64, f64),
    path: &Path1,
) -> DrawResult {
    let samples: Vec<(f64, [f64; 6])> = (0..=STEPS)
        .map(|i| {
            let t = path.range.0 + (path.range.1 - path.range.0) * i as f64 / STEPS as f64;
            (t, energy.eigensystem(&(path.f)(t)).sorted_values())
        })
        .collect();

    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .caption(format!("{name}, {}", path.title), ("sans-serif", 15))
        .x_label_area_size(34)
        .y_label_area_size(34)
        .build_cartesian_2d(path.range.0..path.range.1, range.0..range.1)?;
    chart
        .configure_mesh()
        .x_desc(path.axis)
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(225, 225, 225))
        .label_style(("sans-serif", 12))
        .draw()?;
    chart.draw_series(LineSeries::new([(path.range.0, 0.0), (path.range.1, 0.0)], BLACK))?;

    // Where the smallest eigenvalue changes sign.
    for pair in samples.windows(2) {
        if (pair[0].1[0] < NEGATIVE) != (pair[1].1[0] < NEGATIVE) {
            let t = 0.5 * (pair[0].0 + pair[1].0);
            let grey = RGBColor(120, 120, 120);
            chart.draw_series(DashedLineSeries::new([(t, range.0), (t, range.1)], 4, 4, grey.into()))?;
        }
    }
    for k in 0..6 {
        for (negative, colour) in [(false, RGBColor(30, 90, 160)), (true, RGBColor(200, 40, 30))] {
            for run in samples.chunk_by(|a, b| (a.1[k] < NEGATIVE) == (b.1[k] < NEGATIVE)) {
                let points: Vec<(f64, f64)> =
                    run.iter().map(|s| (s.0, s.1[k])).filter(|p| p.1 >= range.0 && p.1 <= range.1).collect();
                if (run[0].1[k] < NEGATIVE) == negative && points.len() > 1 {
                    chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
                }
            }
        }
    }
    Ok(())
}
