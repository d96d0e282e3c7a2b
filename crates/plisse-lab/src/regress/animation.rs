//! What it costs to keep the numbers of waves on a cylinder that is twisted more and more, and what
//! is seen if they change.

use std::f64::consts::TAU;

use anyhow::{Context, Result};
use plisse::wrinkle::{
    Periods, SequenceFrame, SequenceSettings, WrinkleField, WrinkleProblem, WrinkleSequence, WrinkleSettings,
    beds::{self, Bed},
    solve_wrinkles, solve_wrinkles_from,
};

use super::progress::Progress;
use super::{Findings, Tolerance};
use crate::wrinkles::wrinkle_problem;

/// Cells around: that of the scene.
const AROUND: usize = 36;
/// Degrees of the first and the last frame.
const FROM: f64 = 4.0;
const TO: f64 = 10.0;
/// Numbers of waves that are kept.
const KEPT: [f64; 4] = [30.0, 36.0, 44.0, 50.0];

/// `cargo xtask regress animation`.
pub(crate) fn run() -> Result<Findings> {
    let mut findings = Findings::new("animation");
    println!("twisted cylinder, {AROUND} cells around: energy lost by keeping a number of waves");
    println!(
        "(of what wrinkling gains / of the bending of the waves / (r - 1/r)^2 of the factor r that it is off)\n"
    );
    print!("| twist | optimum | gain, J | bending, mJ |");
    KEPT.iter().for_each(|k| print!(" {k} waves |"));
    println!("\n|---|---|---|---|{}", "---|".repeat(KEPT.len()));
    let mut progress = Progress::new("animation");
    for (degrees, bed) in beds_of(7)? {
        let (_, problem) = wrinkle_problem(&bed, true)?;
        cost(degrees, &problem, &mut findings)?;
        progress.at(|| format!("{degrees} degrees"));
    }
    for frames in [7, 13] {
        println!("\nlargest and mean step of the phase in rad over {frames} frames\n");
        println!(
            "| snap | from | waves | changes | largest | mean | largest cost |\n|---|---|---|---|---|---|---|"
        );
        for (snap, backwards) in [(0.0, false), (0.5, false), (0.5, true)] {
            steps(frames, snap, backwards, &mut findings)?;
            progress.at(|| format!("{frames} frames, snap {snap}"));
        }
    }
    Ok(findings)
}

fn beds_of(frames: usize) -> Result<Vec<(f64, Bed)>> {
    let angle = |i: usize| FROM + (TO - FROM) * i as f64 / (frames - 1) as f64;
    (0..frames).map(|i| Ok((angle(i), beds::twisted_cylinder(angle(i), AROUND, 1)?))).collect()
}

/// A row of the first table.
fn cost(degrees: f64, problem: &WrinkleProblem, findings: &mut Findings) -> Result<()> {
    let free = solve_wrinkles(problem, &WrinkleSettings::default())?;
    let energy = |field: &WrinkleField| field.report.terms.total();
    let gain = free.report.smooth_energy - energy(&free);
    let bending = free.report.terms.wrinkle_bending;
    let real = free.periods.first().context("a cylinder has one loop")? / TAU;
    print!("| {degrees} | {:.2} | {gain:.1} | {:.2} |", real.abs(), 1e3 * bending);
    // Minima found to a small residual.
    findings
        .figure(format!("{degrees} degrees: waves at the optimum"), real.abs(), Tolerance::Absolute(0.05))
        .figure(format!("{degrees} degrees: gain (J)"), gain, Tolerance::Relative(2e-3))
        .figure(format!("{degrees} degrees: bending (mJ)"), 1e3 * bending, Tolerance::Relative(0.01));
    let held = WrinkleSettings { periods: Periods::Held, ..WrinkleSettings::default() };
    for kept in KEPT {
        // The same waves, shorter or longer.
        let factor = kept / real.abs();
        let (amplitude, omega) = (free.amplitude.map(|a| a / factor), free.omega.map(|omega| omega * factor));
        let field = solve_wrinkles_from(problem, &amplitude, &omega, &held)?;
        let lost = energy(&field) - energy(&free);
        let law = (factor - 1.0 / factor).powi(2);
        print!(" {:.1e} / {:.1} % / {:.1} % |", lost / gain, 1e2 * lost / bending, 1e2 * law);
        // The law is one of small differences of large energies: half a percent of the bending is
        // as good as exact.
        findings.require(
            format!("{degrees} degrees, {kept} waves: energy lost by the law, within 8 %"),
            (lost / bending - law).abs() < 0.08 * law + 0.005,
        );
    }
    println!();
    Ok(())
}

/// A row of the second table.
fn steps(frames: usize, snap: f64, backwards: bool, findings: &mut Findings) -> Result<()> {
    let mut beds = beds_of(frames)?;
    if backwards {
        beds.reverse();
    }
    let mut sequence =
        WrinkleSequence::new(SequenceSettings { snap, rounded: true, ..SequenceSettings::default() })?;
    let mut all: Vec<SequenceFrame> = Vec::new();
    for (_, bed) in beds {
        let (_, problem) = wrinkle_problem(&bed, true)?;
        all.push(sequence.next_frame(&problem, bed.problem.rest())?);
    }
    let waves = |frame: Option<&SequenceFrame>| {
        frame.and_then(|frame| frame.phase.waves.first()).map_or(0, |waves| waves.abs())
    };
    let changes = all.iter().filter_map(|frame| frame.change.as_ref());
    let (mut largest, mut mean, mut cost, mut changed) = (0.0f64, 0.0f64, 0.0f64, 0);
    for change in changes {
        let step = change.step.context("these wrinkles are visible in every frame")?;
        largest = largest.max(step.largest);
        mean = mean.max(step.mean);
        cost = cost.max(change.relative_cost);
        changed += change.waves.len();
    }
    let from = if backwards { TO } else { FROM };
    let (first, last) = (waves(all.first()), waves(all.last()));
    let row = format!("{frames} frames, snap {snap} from {from} degrees");
    // Optima that lie halfway between two whole numbers may be rounded either way.
    findings
        .figure(format!("{row}: waves of the first frame"), first as f64, Tolerance::Absolute(1.0))
        .figure(format!("{row}: waves of the last frame"), last as f64, Tolerance::Absolute(1.0))
        .figure(format!("{row}: changes"), changed as f64, Tolerance::Absolute(2.0))
        .figure(format!("{row}: largest step of the phase (rad)"), largest, Tolerance::Either(0.1, 0.02))
        .figure(format!("{row}: largest mean step (rad)"), mean, Tolerance::Either(0.1, 0.02))
        .figure(format!("{row}: largest cost (%)"), 1e2 * cost, Tolerance::Either(0.1, 0.5));
    if snap > 0.0 {
        findings.require(format!("{row}: numbers are kept"), changed == 0 && first == last);
    }
    println!(
        "| {snap} | {from} | {first} to {last} | {changed} | {largest:.2} | {mean:.2} | {:.1} % |",
        1e2 * cost
    );
    Ok(())
}
