//! Kinetic energies of a spring and of a sheet under two models of damping.

use std::path::Path;

use plisse::picture::{Curve, Plot};

use super::DrawResult;
use crate::regress::spring;
use crate::regress::swing::{Model, Run, Start};

/// The spring of SO18's figure 2.
pub(super) fn spring(file: &Path) -> DrawResult {
    use spring::{Method, Model};
    let times: Vec<f64> = (1..=1000).map(|k| 0.01 * f64::from(k)).collect();
    let mut curves = Vec::new();
    for (label, model, beta) in [
        ("strain rate, 0.01 s", Model::StrainRate, 0.01),
        ("strain rate, 0.05 s", Model::StrainRate, 0.05),
        ("strain rate, 0.2 s", Model::StrainRate, 0.2),
        ("Rayleigh, 0.01 s", Model::Rayleigh, 0.01),
        ("Rayleigh, 0.05 s", Model::Rayleigh, 0.05),
        ("Rayleigh, 0.2 s", Model::Rayleigh, 0.2),
    ] {
        let energies = spring::kinetic(model, beta, Method::Newmark, 0.01, &times)?;
        curves.push(curve(label, times.iter().copied().zip(energies)));
    }
    plot("A mass on a spring", curves).write_svg(file)?;
    Ok(())
}

/// The swinging sheet of SO18's figure 3.
pub(super) fn swing(file: &Path) -> DrawResult {
    sheet("A swinging sheet, damping factor 0.15 s", Start::Swinging, 4.0, file)
}

/// The sheet that only stretches, of the same figure.
pub(super) fn hanging(file: &Path) -> DrawResult {
    sheet("A sagging sheet, damping factor 0.15 s", Start::Hanging, 1.0, file)
}

fn sheet(title: &str, start: Start, duration: f64, file: &Path) -> DrawResult {
    let mut curves = Vec::new();
    for (label, model) in
        [("none", Model::None), ("strain rate", Model::StrainRate), ("Rayleigh", Model::Rayleigh)]
    {
        let run = Run::new(start, model, 16, 0.005, duration)?;
        let times = (1..).map(|k| run.step * f64::from(k));
        curves.push(curve(label, times.zip(run.kinetic.iter().copied())));
    }
    plot(title, curves).write_svg(file)?;
    Ok(())
}

fn curve(label: &str, points: impl Iterator<Item = (f64, f64)>) -> Curve {
    Curve { label: label.to_owned(), points: points.map(|(t, e)| [t, e]).collect(), ..Curve::default() }
}

fn plot(title: &str, curves: Vec<Curve>) -> Plot {
    let (x_label, y_label) = ("time, s".to_owned(), "kinetic energy, J".to_owned());
    Plot { title: title.to_owned(), x_label, y_label, curves, ..Plot::default() }
}
