//! How sheets of the presets come to rest: held at two corners and let go horizontally, in still air and without air.
//!
//! Real cloth of this size swings for a few seconds. Most of that is the work of the air; friction
//! within the sheet, which presets have as damping, quiets the folds.

use anyhow::Result;
use plisse::core::Positive;
use plisse::scene::{Air, Cloth, Damping, Material, Pick, Preset, Scene};
use plisse::system::Scheme;

use super::{Findings, Tolerance};

/// Seconds.
const DURATION: f64 = 6.0;
/// Part of the largest kinetic energy that counts as rest. Amplitudes are its root: a tenth.
const REST: f64 = 0.01;

/// What is left of the motion.
struct Decay {
    /// The largest kinetic energy, J.
    peak: f64,
    /// When the kinetic energy was above [`REST`] of that for the last time, s.
    settled: f64,
}

fn decay(material: Material, air: bool) -> Result<Decay> {
    let held = |name| Pick::group(name);
    let cloth = Cloth::sheet([16, 16], [0.5, 0.5])?.material(material);
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
    Ok(Decay { peak, settled: last.map_or(0.0, |(time, _)| *time) })
}

/// Lets every fabric settle.
pub(crate) fn run() -> Result<Findings> {
    println!(
        "seconds until the kinetic energy stays below 1 % of its peak (at most {DURATION}); peak over that without damping\n"
    );
    println!("{:<14}{:>10}{:>14}{:>14}{:>10}", "", "still air", "without air", "no damping", "peak");
    let mut findings = Findings::new("settling");
    for Preset { name, material, .. } in Material::presets() {
        // Sheets of solids ring at frequencies that no step of a drape resolves.
        if matches!(name, "paper" | "mylar" | "steel-sheet") {
            continue;
        }
        let [in_air, alone] = [decay(material, true)?, decay(material, false)?];
        let undamped = decay(Material { damping: Damping::NONE, ..material }, false)?;
        let peak = alone.peak / undamped.peak;
        println!(
            "{name:<14}{:>10.2}{:>14.2}{:>14.2}{peak:>10.2}",
            in_air.settled, alone.settled, undamped.settled
        );
        let time = Tolerance::Absolute(0.5);
        findings
            .figure(format!("{name}, still air: time to rest (s)"), in_air.settled, time)
            .figure(format!("{name}, without air: time to rest, at most {DURATION} (s)"), alone.settled, time)
            .figure(
                format!("{name}: peak of the kinetic energy, over that without damping"),
                peak,
                Tolerance::Absolute(0.05),
            )
            .require(
                format!("{name}: swings, and is at rest within 5 s in still air"),
                (1.0..5.0).contains(&in_air.settled),
            )
            .require(format!("{name}: its damping does not hold up its fall"), peak > 0.8);
    }
    Ok(findings)
}
