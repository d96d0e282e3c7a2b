//! A scene of wrinkles, all frames.

use anyhow::{Context, Result};
use plisse::file::LoadedWrinkle;
use plisse::io::scene_file::WavesFromName;
use plisse::scene::{WrinkleFrame, WrinkleScene};

use super::inside::largest_depth;
use crate::regress::progress::Progress;
use crate::regress::{Findings, Tolerance};

/// Computes all frames as `plisse run` does, with rules for each and figures of the last.
///
/// # Errors
///
/// If a base or the wrinkles on it are not found.
pub(super) fn run(loaded: LoadedWrinkle, progress: &mut Progress, findings: &mut Findings) -> Result<()> {
    let LoadedWrinkle { mut scene, file, .. } = loaded;
    let (duration, interval) = (file.time.duration.get(), 1.0 / file.time.frames_per_second.get());
    let total = super::frame_count(&file.time);
    let backwards = file.wrinkle.as_ref().is_some_and(|table| table.waves_from == WavesFromName::Last);
    // Bases follow the loads in the order of time; wrinkles may follow the last of them.
    let mut bases = Vec::new();
    for frame in 1..=total {
        bases.push(scene.next_base((f64::from(frame) * interval).min(duration))?);
        progress.at(|| format!("base {frame} of {total}"));
    }
    if backwards {
        bases.reverse();
    }
    let mut frames = Vec::new();
    for base in bases {
        frames.push(scene.wrinkles_on(base)?);
        progress.at(|| format!("wrinkles {} of {total}", frames.len()));
    }
    if backwards {
        frames.reverse();
    }
    findings.text("outcome", "finished").figure("frames", frames.len() as f64, Tolerance::Exact);
    judge(&scene, &frames, findings);
    describe(frames.last().context("a scene has at least one frame")?, findings);
    Ok(())
}

fn judge(scene: &WrinkleScene, frames: &[WrinkleFrame], findings: &mut Findings) {
    let finite = |frame: &WrinkleFrame| {
        frame.base.x.as_slice().iter().all(|x| x.is_finite())
            && frame.field.amplitude.as_slice().iter().all(|a| a.is_finite())
            && frame.field.omega.as_slice().iter().all(|omega| omega.is_finite())
    };
    // Contact of wrinkle scenes may give way by a thickness of the sheet.
    let thickness = scene.sheet().thickness();
    let depth = |frame: &WrinkleFrame| largest_depth(scene.obstacles(), frame.time, frame.base.x.as_slice());
    let deepest = frames.iter().map(depth).fold(0.0, f64::max);
    println!("  deepest {:.4} mm, thickness {:.4} mm", 1e3 * deepest, 1e3 * thickness);
    findings
        .require("all positions, amplitudes and frequencies are finite", frames.iter().all(finite))
        .require(
            "every base is in balance",
            frames.iter().all(|f| f.base.report.residual <= f.base.report.tolerance),
        )
        .require(
            "the wrinkles of every frame have converged",
            frames.iter().all(|f| f.field.report.converged()),
        )
        .require("wrinkles never cost energy", frames.iter().all(|f| gain(f) >= 0.0))
        .require("no vertex is deeper in an obstacle than the sheet is thick", deepest <= thickness);
}

/// What wrinkles gain, J.
fn gain(frame: &WrinkleFrame) -> f64 {
    let report = &frame.field.report;
    report.smooth_energy - report.terms.total()
}

/// Minima of energies, found to a small residual: their figures agree to far less than a percent
/// whatever the processor. Waves are whole numbers, which rounding may move by one where two are
/// equally good.
fn describe(last: &WrinkleFrame, findings: &mut Findings) {
    let report = &last.field.report;
    let free = last.free.as_slice().iter().filter(|free| **free).count();
    findings
        .figure("vertices", last.base.x.len() as f64, Tolerance::Exact)
        .figure("faces without wrinkles", free as f64, Tolerance::Either(0.02, 4.0))
        .figure("base: energy (mJ)", 1e3 * last.base.report.total_energy(), Tolerance::Relative(1e-3))
        .figure(
            "base: residual, of what is asked for",
            last.base.report.residual / last.base.report.tolerance,
            Tolerance::Absolute(1.0),
        )
        .figure("base: iterations", last.base.report.iterations.len() as f64, Tolerance::Either(0.3, 5.0))
        .figure("energy without wrinkles (mJ)", 1e3 * report.smooth_energy, Tolerance::Relative(1e-3))
        .figure("wrinkles gain (mJ)", 1e3 * gain(last), Tolerance::Relative(0.01))
        .figure(
            "relative residual",
            report.run().map_or(0.0, |run| run.kkt.relative),
            Tolerance::Absolute(1e-6),
        )
        // Starts may need many steps or few.
        .figure("steps of all starts", last.steps as f64, Tolerance::Either(0.5, 20.0))
        .figure("largest amplitude (mm)", 1e3 * last.largest_amplitude(), Tolerance::Relative(0.02))
        .figure("wavelength (mm)", 1e3 * report.wavelength.unwrap_or(0.0), Tolerance::Relative(0.02));
    for (loop_number, waves) in last.phase.waves.iter().enumerate() {
        findings.figure(
            format!("waves around loop {loop_number}"),
            waves.abs() as f64,
            Tolerance::Absolute(1.0),
        );
    }
}
