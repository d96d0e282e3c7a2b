//! How sheets of the presets come to rest: held at two corners and let go horizontally, in still
//! air and without air.
//!
//! Real cloth of this size swings for a few seconds. Most of that is the work of the air; friction
//! within the sheet, which presets have as damping, quiets the folds.

use anyhow::Result;
use plisse::core::Positive;
use plisse::scene::{Air, Cloth, Damping, Material, Pick, Preset, Scene};
use plisse::system::Scheme;

use super::{Findings, Tolerance};

/// Seconds.
const DURATION: f64 = 5.0;
/// Part of the largest kinetic energy that counts as rest. Amplitudes are its root: a tenth.
const REST: f64 = 0.01;

/// What is left of the motion.
struct Decay {
    /// The largest kinetic energy, J.
    peak: f64,
    /// When the kinetic energy was above [`REST`] of that for the last time, s.
    settled: f64,
    /// The largest kinetic energy of the last second, over the peak.
    left: f64,
}

fn decay(material: Material, air: bool) -> Result<Decay> {
    let held = |name| Pick::group(name);
    let cloth = Cloth::sheet([12, 12], [0.5, 0.5])?.material(material);
    let cloth = cloth.pin(held("top-left")).pin(held("top-right"));
    let mut builder = Scene::builder().cloth(cloth).scheme(Scheme::Bdf2);
    if air {
        builder = builder.air(Air::default());
    }
    let mut scene = builder.build()?;
    let mut energies = Vec::new();
    while scene.time() < DURATION - 1e-9 {
        let kinetic = scene.step_by(Positive::literal(0.01))?.energies.kinetic;
        energies.push((scene.time(), kinetic));
    }
    let peak = energies.iter().map(|(_, kinetic)| *kinetic).fold(0.0, f64::max);
    let last = energies.iter().rev().find(|(_, kinetic)| *kinetic > REST * peak);
    let late = energies.iter().filter(|(time, _)| *time > DURATION - 1.0);
    let left = late.map(|(_, kinetic)| *kinetic).fold(0.0, f64::max) / peak;
    Ok(Decay { peak, settled: last.map_or(0.0, |(time, _)| *time), left })
}

/// Lets every fabric settle.
pub(crate) fn run() -> Result<Findings> {
    println!(
        "seconds until the kinetic energy stays below 1 % of its peak; what is left of it after {DURATION} s (%)\n"
    );
    println!("{:<14}{:>12}{:>12}{:>14}{:>12}", "", "in air", "left", "without air", "undamped");
    let mut findings = Findings::new("settling");
    for Preset { name, material, .. } in Material::presets() {
        // Sheets of solids ring at frequencies that no step of a drape resolves.
        if matches!(name, "paper" | "mylar" | "steel-sheet") {
            continue;
        }
        let [in_air, alone] = [decay(material, true)?, decay(material, false)?];
        let undamped = decay(Material { damping: Damping::NONE, ..material }, false)?;
        let [still, vacuum, none] = [&in_air, &alone, &undamped].map(|decay| 100.0 * decay.left);
        println!("{name:<14}{:>12.2}{still:>12.3}{vacuum:>14.1}{none:>12.1}", in_air.settled);
        let part = Tolerance::Either(0.3, 2.0);
        findings
            .figure(format!("{name}, still air: time to rest (s)"), in_air.settled, Tolerance::Absolute(0.5))
            .figure(format!("{name}, without air: kinetic energy left (%)"), vacuum, part)
            .figure(format!("{name}, undamped: kinetic energy left (%)"), none, part)
            .require(
                format!("{name}: swings, and is at rest within 4.5 s in still air"),
                (1.0..4.5).contains(&in_air.settled),
            )
            .require(
                format!("{name}: its damping does not hold up its fall"),
                alone.peak > 0.8 * undamped.peak,
            );
    }
    Ok(findings)
}
