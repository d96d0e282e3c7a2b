//! Eigenmodes of a hinge and of a rod, drawn as displaced stencils.

use std::path::Path;

use glam::DVec3;
use plisse::bending::{HingeElement, QuadraticAngle, RodElement};
use plisse::core::{Angle, Id, Positive};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::DrawResult;

type Panel<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One mode: eigenvalue and displacement of each vertex.
struct Mode {
    value: f64,
    displacement: Vec<DVec3>,
}

/// The eight modes of a hinge whose eigenvalue is not zero.
pub(super) fn hinge(file: &Path) -> DrawResult {
    let (sin, cos) = 0.9f64.sin_cos();
    let x = [
        DVec3::new(0.0, -0.6, 0.0),
        DVec3::new(0.0, 0.6, 0.0),
        DVec3::new(-1.0, 0.1, 0.0),
        DVec3::new(0.9 * cos, -0.1, 0.9 * sin),
    ];
    let element =
        HingeElement::from_parts([0, 1, 2, 3].map(Id::new), QuadraticAngle, Positive::ONE, Angle::new(0.3)?);
    let pairs = element.eigensystem(&x);
    let largest = pairs.values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let modes = pairs
        .values
        .iter()
        .zip(&pairs.modes)
        .filter(|(value, _)| value.abs() > 1e-9 * largest)
        .map(|(value, mode)| Mode { value: *value, displacement: mode.to_vec() });
    stencils(file, &x, &[[0, 1], [1, 2], [2, 0], [1, 3], [3, 0]], modes.collect(), 4)
}

/// The six modes of a rod in the space of its two edges, the middle vertex held.
pub(super) fn rod(file: &Path) -> DrawResult {
    let (sin, cos) = 0.9f64.sin_cos();
    let x = [DVec3::new(-1.0, 0.0, 0.0), DVec3::ZERO, DVec3::new(cos, 0.0, sin)];
    let pairs =
        RodElement::new([0, 1, 2].map(Id::new), QuadraticAngle, Positive::ONE, Angle::ZERO).eigensystem(&x);
    let mode =
        |value: &f64, [a, b]: &[DVec3; 2]| Mode { value: *value, displacement: vec![-*a, DVec3::ZERO, *b] };
    let modes = pairs.values.iter().zip(&pairs.modes).map(|(value, edges)| mode(value, edges));
    stencils(file, &x, &[[0, 1], [1, 2]], modes.collect(), 3)
}

fn stencils(
    file: &Path,
    x: &[DVec3],
    segments: &[[usize; 2]],
    mut modes: Vec<Mode>,
    columns: usize,
) -> DrawResult {
    modes.sort_by(|a, b| a.value.total_cmp(&b.value));
    let rows = modes.len().div_ceil(columns);
    let root = SVGBackend::new(file, (columns as u32 * 240, rows as u32 * 215)).into_drawing_area();
    root.fill(&WHITE)?;
    for (panel, mode) in root.split_evenly((rows, columns)).iter().zip(&modes) {
        stencil(panel, x, segments, mode)?;
    }
    root.present()?;
    Ok(())
}

fn stencil(panel: &Panel<'_>, x: &[DVec3], segments: &[[usize; 2]], mode: &Mode) -> DrawResult {
    let colour = if mode.value < 0.0 { RGBColor(200, 40, 30) } else { RGBColor(30, 90, 160) };
    let mut chart = ChartBuilder::on(panel)
        .margin(6)
        .caption(format!("{:+.3}", mode.value), ("sans-serif", 15))
        .build_cartesian_2d(-1.5..1.4, -1.1..1.3)?;
    let largest = mode.displacement.iter().fold(0.0, |m: f64, d| m.max(d.length()));
    let moved: Vec<DVec3> =
        x.iter().zip(&mode.displacement).map(|(x, d)| *x + *d * (0.45 / largest)).collect();
    for [a, b] in segments {
        let grey = RGBColor(170, 170, 170).stroke_width(2);
        chart.draw_series(LineSeries::new([project(x[*a]), project(x[*b])], grey))?;
    }
    for (from, to) in x.iter().zip(&moved) {
        chart.draw_series(DashedLineSeries::new([project(*from), project(*to)], 3, 3, colour.into()))?;
    }
    for [a, b] in segments {
        chart
            .draw_series(LineSeries::new([project(moved[*a]), project(moved[*b])], colour.stroke_width(2)))?;
    }
    chart.draw_series(moved.iter().map(|p| Circle::new(project(*p), 3, colour.filled())))?;
    Ok(())
}

/// Parallel projection, seen from the front, a little from the left and from above: no triangle is edge-on.
fn project(p: DVec3) -> (f64, f64) {
    let view = DVec3::new(0.35, 1.0, -0.8).normalize();
    let right = view.cross(DVec3::Z).normalize();
    (p.dot(right), p.dot(right.cross(view)))
}
