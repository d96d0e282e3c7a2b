//! What is said about wrinkles.

use plisse::file::Meaning;
use plisse::io::scene_file::{Name, QuadratureName};
use plisse::wrinkle::{Kkt, Quadrature, Terms, WrinkleEnd, WrinkleReport, WrinkleRun, WrinkleStart};
use serde_json::{Value, json};

use super::Outcome;
use super::arguments::{MOST_LEVELS, name};
use crate::arguments::Talk;
use crate::progress::{out, print as print_line, say};

/// Phase differences from here on are no picture of a wave.
const TOO_COARSE: f64 = std::f64::consts::PI;

/// The terms by their symbols in Chen21 and their names here, J.
fn terms(terms: &Terms) -> [(&'static str, &'static str, f64); 6] {
    [
        ("W_s1", "stretch", terms.stretch),
        ("W_s2", "curvature", terms.curvature),
        ("W_s3", "gradient", terms.gradient),
        ("W_s4", "quartic", terms.quartic),
        ("W_b1", "base_bending", terms.base_bending),
        ("W_b2", "wrinkle_bending", terms.wrinkle_bending),
    ]
}

fn start(run: &WrinkleRun) -> &'static str {
    match run.start {
        Some(WrinkleStart::Strain) => "strain",
        Some(WrinkleStart::Stress) => "stress",
        None => "whole waves",
    }
}

#[expect(clippy::expect_used, reason = "a closed choice whose every value has a name")]
fn quadrature(quadrature: Quadrature) -> &'static str {
    QuadratureName::of(&quadrature).expect("a name of --quadrature").name()
}

/// Largest, mean, number of zeros.
fn amplitudes(a: &[f64]) -> (f64, f64, usize) {
    let largest = a.iter().fold(0.0, |m: f64, a| m.max(*a));
    (largest, a.iter().sum::<f64>() / a.len().max(1) as f64, a.iter().filter(|a| **a == 0.0).count())
}

/// Euclidean length and largest entry.
fn norms(values: &[f64]) -> [f64; 2] {
    [values.iter().map(|v| v * v).sum::<f64>().sqrt(), values.iter().fold(0.0, |m: f64, v| m.max(v.abs()))]
}

fn kkt(kkt: &Kkt) -> Value {
    json!({ "amplitude": kkt.amplitude, "omega": kkt.omega, "relative": kkt.relative })
}

fn run(run: &WrinkleRun) -> Value {
    json!({
        "start": start(run),
        "end": run.end.to_string(),
        "converged": run.end == WrinkleEnd::Converged,
        "iterations": run.iterations.len(),
        "energy": run.energy,
        "kkt": kkt(&run.kkt),
        "active": run.active,
    })
}

/// Everything for a program.
pub(super) fn json(outcome: &Outcome<'_>) -> Value {
    let Outcome { options, input, problem, .. } = outcome;
    let kept = problem.kept().as_slice().iter().filter(|kept| **kept).count();
    let (largest, mean, zero) = amplitudes(outcome.amplitude.as_slice());
    let chosen = outcome.solves.last().and_then(WrinkleReport::run);
    let by_term = terms(&outcome.terms)
        .map(|(symbol, name, energy)| json!({ "symbol": symbol, "name": name, "energy": energy }));
    let mut value = json!({
        "plisse": env!("CARGO_PKG_VERSION"),
        "rest": options.rest.display().to_string(),
        "base": options.base.display().to_string(),
        "vertices": input.mesh.vertex_count(),
        "edges": input.mesh.edge_count(),
        "faces": input.mesh.face_count(),
        "young": options.young.get(),
        "poisson": options.poisson.get(),
        "thickness": options.thickness.get(),
        "quadrature": quadrature(problem.quadrature()),
        "curvature": options.curvature.name(),
        "free_rule": options.free_rule.name(),
        "clamped": input.clamped.len(),
        "kept_faces": kept,
        "wrinkle_free_faces": input.mesh.face_count() - kept,
        "b1": problem.complex().betti(),
        "components": problem.complex().component_count(),
        "energy": outcome.terms.total(),
        "terms": by_term,
        "smooth_energy": outcome.smooth_energy,
        "wrinkles": outcome.wrinkles(),
        "wavelength": problem.sheet().wavelength(&outcome.amplitude, &outcome.omega),
        "amplitude": { "max": largest, "mean": mean, "zero": zero, "active": chosen.map(|run| run.active) },
    });
    if let Some(first) = outcome.solves.first() {
        value["runs"] = first.runs.iter().map(run).collect();
        value["unknowns"] = json!(first.unknowns);
        value["solution"] = json!(chosen.map(run));
        value["rounded"] = json!(outcome.solves.len() > 1);
    }
    if let Some(slopes) = &outcome.slopes {
        let [a, a_max] = norms(slopes.gradient_amplitude.as_slice());
        let [omega, omega_max] = norms(slopes.gradient_omega.as_slice());
        value["gradient"] = json!({
            "amplitude": { "norm": a, "max": a_max },
            "omega": { "norm": omega, "max": omega_max },
            "norm": a.hypot(omega),
        });
        value["kkt"] = json!(slopes.kkt.as_ref().map(kkt));
        value["curl"] = json!(slopes.curl);
        value["held_amplitude"] = json!(slopes.held_amplitude);
        value["periods"] = json!(slopes.periods);
    }
    if let Some(phase) = &outcome.phase {
        let waves = phase.waves.iter().zip(&phase.real_waves);
        value["waves"] = waves.map(|(whole, real)| json!({ "whole": whole, "real": real })).collect();
        value["waves_proven"] = json!(phase.proven);
        value["phase_deviation"] = json!(phase.deviation);
    }
    if let Some(surface) = &outcome.surface {
        value["surface"] = json!({
            "levels": options.levels,
            "profile": name(&options.profile),
            "vertices": surface.mesh.vertex_count(),
            "faces": surface.mesh.face_count(),
            "largest_step": surface.largest_step,
        });
    }
    value
}

/// What to do about waves that are lost between the vertices of the surface.
fn coarse(levels: u8, step: f64) -> String {
    let needed = f64::from(levels) + (step / 1.5).log2().ceil().max(1.0);
    let remedy = if needed <= f64::from(MOST_LEVELS) {
        format!("take --levels {needed} or more")
    } else {
        format!("that would take {needed} levels; refine the base mesh")
    };
    format!("warning: a wave has less than two vertices in the surface (steps of {step:.1} rad); {remedy}")
}

/// Everything for a person, or one line for a program.
pub(super) fn print(outcome: &Outcome<'_>, talk: &Talk) {
    if talk.json {
        print_line(&json(outcome).to_string());
        return;
    }
    if let Some(surface) = &outcome.surface
        && surface.largest_step >= TOO_COARSE
    {
        say(talk, &coarse(outcome.options.levels, surface.largest_step));
    }
    if talk.quiet {
        return;
    }
    let (mesh, problem) = (&outcome.input.mesh, outcome.problem);
    let kept = problem.kept().as_slice().iter().filter(|kept| **kept).count();
    out!(
        "{}: {} vertices, {} edges, {} faces",
        outcome.options.base.display(),
        mesh.vertex_count(),
        mesh.edge_count(),
        mesh.face_count()
    );
    out!(
        "  {kept} faces may wrinkle, {} are wrinkle-free; components {}, b1 {}",
        mesh.face_count() - kept,
        problem.complex().component_count(),
        problem.complex().betti()
    );
    if kept == 0 {
        out!("  no face is compressed: nothing wrinkles, the surface is that of the subdivided base");
    } else if outcome.slopes.is_none() && !outcome.wrinkles() {
        out!("  no wrinkles were found: amplitudes are zero everywhere");
    }
    out!("  quadrature: {}", quadrature(problem.quadrature()));
    for (symbol, name, energy) in terms(&outcome.terms) {
        out!("  {symbol}  {:<16} {energy:.15e} J", name.replace('_', " "));
    }
    out!("  E     {:<16} {:.15e} J", "total", outcome.terms.total());
    out!("        {:<16} {:.15e} J", "without wrinkles", outcome.smooth_energy);
    for solve in &outcome.solves {
        for (at, run) in solve.runs.iter().enumerate() {
            out!(
                "  {}{}: {} after {} steps, E = {:.12e} J; residual {:.1e} J/m by amplitude, {:.1e} J/rad by omega, {:.1e} relative",
                if solve.chosen == Some(at) { "* from " } else { "  from " },
                start(run),
                run.end,
                run.iterations.len(),
                run.energy,
                run.kkt.amplitude,
                run.kkt.omega,
                run.kkt.relative
            );
        }
    }
    let (largest, mean, zero) = amplitudes(outcome.amplitude.as_slice());
    let active = outcome.solves.last().and_then(WrinkleReport::run).map_or(0, |run| run.active);
    out!(
        "  amplitude: largest {largest:.6e} m, mean {mean:.6e} m, zero at {zero} of {} vertices, {active} of them because of the energy",
        mesh.vertex_count()
    );
    let negative = outcome.amplitude.as_slice().iter().filter(|a| **a < 0.0).count();
    if negative > 0 {
        out!("  amplitude: negative at {negative} vertices; the residual is that of zero there");
    }
    if let Some(wavelength) = problem.sheet().wavelength(&outcome.amplitude, &outcome.omega) {
        out!(
            "  wavelength: {wavelength:.6e} m of the rest shape, 2π times height over slope (root mean squares)"
        );
    }
    print_slopes(outcome);
    if let Some(phase) = &outcome.phase
        && !phase.waves.is_empty()
    {
        for (at, (whole, real)) in phase.waves.iter().zip(&phase.real_waves).enumerate() {
            out!("  generator {at}: {whole} waves ({real:.6} before rounding)");
        }
        let proven = if phase.proven { "the best there are" } else { "not proven to be the best" };
        out!("  whole numbers of waves: {proven}");
    }
    if let (Some(folder), Some(surface)) = (&outcome.options.out, &outcome.surface) {
        out!(
            "  {}: {} triangles, phase steps up to {:.2} rad",
            folder.join("surface.obj").display(),
            surface.mesh.face_count(),
            surface.largest_step
        );
    }
}

fn print_slopes(outcome: &Outcome<'_>) {
    let Some(slopes) = &outcome.slopes else { return };
    let [a, a_max] = norms(slopes.gradient_amplitude.as_slice());
    let [omega, omega_max] = norms(slopes.gradient_omega.as_slice());
    out!("  gradient by amplitude: norm {a:.12e} J/m, largest {a_max:.12e} J/m");
    out!("  gradient by omega: norm {omega:.12e} J/rad, largest {omega_max:.12e} J/rad");
    if let Some(kkt) = &slopes.kkt {
        out!(
            "  residual: {:.3e} J/m by amplitude, {:.3e} J/rad by phases and periods, {:.3e} relative",
            kkt.amplitude,
            kkt.omega,
            kkt.relative
        );
    }
    out!("  curl on faces that may wrinkle: at most {:.3e} rad", slopes.curl);
    if slopes.held_amplitude > 0.0 {
        out!("  amplitude where it should be zero: up to {:.3e} m", slopes.held_amplitude);
    }
    for (at, turns) in slopes.periods.iter().enumerate() {
        out!("  generator {at}: {turns:.6} waves");
    }
}
