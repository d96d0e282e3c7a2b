//! Eigenvalues of membrane energies along two paths.

use std::path::Path;

use plisse::core::{Mat3x2, Positive};
use plisse::membrane::{Arap, Eigenanalysis, Shear, Stretch};
use plisse::picture::{Curve, Figure, Mark, Plot, Rgb};

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
const BLUE: Rgb = [30, 90, 160];
const RED: Rgb = [200, 40, 30];
const GREY: Rgb = [120, 120, 120];
const BLACK: Rgb = [0, 0, 0];

/// Eigenvalues of stretch, shear and ARAP along both paths, negative parts in red.
pub(super) fn draw(file: &Path) -> DrawResult {
    let energies: [(&str, &dyn Eigenanalysis, [f64; 2]); 3] = [
        ("Baraff-Witkin stretch", &Stretch::warp_weft(), [-4.0, 3.0]),
        ("Baraff-Witkin shear", &Shear::warp_weft(), [-3.0, 9.0]),
        ("ARAP", &Arap::new(Positive::ONE), [-4.0, 3.0]),
    ];
    let rows = PATHS.iter().flat_map(|path| {
        energies.iter().map(move |(name, energy, range)| panel(name, *energy, *range, path))
    });
    Figure { size: [1080, 680], columns: energies.len(), panels: rows.collect() }.write_svg(file)?;
    Ok(())
}

fn panel(name: &str, energy: &dyn Eigenanalysis, range: [f64; 2], path: &Path1) -> Plot {
    let samples: Vec<(f64, [f64; 6])> = (0..=STEPS)
        .map(|i| {
            let t = path.range.0 + (path.range.1 - path.range.0) * i as f64 / STEPS as f64;
            (t, energy.eigensystem(&(path.f)(t)).sorted_values())
        })
        .collect();
    let curve = |points, colour, mark| Curve { points, colour: Some(colour), mark, ..Curve::default() };
    let zero = vec![[path.range.0, 0.0], [path.range.1, 0.0]];
    let mut curves = vec![curve(zero, BLACK, Mark::Line)];
    // Where the smallest eigenvalue changes sign.
    for pair in samples.windows(2) {
        if (pair[0].1[0] < NEGATIVE) != (pair[1].1[0] < NEGATIVE) {
            let t = 0.5 * (pair[0].0 + pair[1].0);
            curves.push(curve(vec![[t, range[0]], [t, range[1]]], GREY, Mark::Dashed));
        }
    }
    for k in 0..6 {
        for (negative, colour) in [(false, BLUE), (true, RED)] {
            for run in samples.chunk_by(|a, b| (a.1[k] < NEGATIVE) == (b.1[k] < NEGATIVE)) {
                if (run[0].1[k] < NEGATIVE) == negative {
                    curves.push(curve(run.iter().map(|s| [s.0, s.1[k]]).collect(), colour, Mark::Line));
                }
            }
        }
    }
    Plot {
        title: format!("{name}, {}", path.title),
        x_label: path.axis.to_owned(),
        curves,
        x_range: Some([path.range.0, path.range.1]),
        y_range: Some(range),
        ..Plot::default()
    }
}
