//! Eigenmodes of a hinge and of a rod, drawn as displaced stencils.

use std::path::Path;

use glam::DVec3;
use plisse::bending::{HingeElement, QuadraticAngle, RodElement};
use plisse::core::{Angle, Id, Positive};
use plisse::picture::{Curve, Figure, Mark, Plot, Rgb};

use super::DrawResult;

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
    let panels = modes.iter().map(|mode| stencil(x, segments, mode)).collect();
    Figure { size: [columns as u32 * 240, rows as u32 * 215], columns, panels }.write_svg(file)?;
    Ok(())
}

fn stencil(x: &[DVec3], segments: &[[usize; 2]], mode: &Mode) -> Plot {
    const GREY: Rgb = [170, 170, 170];
    let colour = if mode.value < 0.0 { [200, 40, 30] } else { [30, 90, 160] };
    let largest = mode.displacement.iter().fold(0.0, |m: f64, d| m.max(d.length()));
    let moved: Vec<DVec3> =
        x.iter().zip(&mode.displacement).map(|(x, d)| *x + *d * (0.45 / largest)).collect();
    let curve = |points: &[DVec3], colour, mark| {
        let points = points.iter().map(|p| project(*p)).collect();
        Curve { points, colour: Some(colour), mark, ..Curve::default() }
    };
    let edges = |x: &[DVec3], colour| -> Vec<Curve> {
        segments.iter().map(|[a, b]| curve(&[x[*a], x[*b]], colour, Mark::Line)).collect()
    };
    let mut curves = edges(x, GREY);
    curves.extend(x.iter().zip(&moved).map(|(from, to)| curve(&[*from, *to], colour, Mark::Dashed)));
    curves.extend(edges(&moved, colour));
    curves.push(curve(&moved, colour, Mark::Dots));
    Plot {
        title: format!("{:+.3}", mode.value),
        curves,
        x_range: Some([-1.5, 1.4]),
        y_range: Some([-1.1, 1.3]),
        bare: true,
        ..Plot::default()
    }
}

/// Parallel projection, seen from the front, a little from the left and from above: no triangle is
/// edge-on.
fn project(p: DVec3) -> [f64; 2] {
    let view = DVec3::new(0.35, 1.0, -0.8).normalize();
    let right = view.cross(DVec3::Z).normalize();
    [p.dot(right), p.dot(right.cross(view))]
}
