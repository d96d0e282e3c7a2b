//! Every scene of `fixtures/scenes` (but those of wrinkles) from disturbed starts and with other
//! rounding: whether a run ends well must not hang on the last bit of a sum, which differs between
//! processors.
//!
//! | variant | what differs |
//! |---|---|
//! | `seed n` | free vertices start up to 0.1 mm away, at random |
//! | `last bits n` | positions at the start times `1 ± 1e-15`, at random |
//! | `cholesky`, `stale-cholesky` | factors in double and in single precision, which also reorders all sums of a solve |

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use glam::DVec3;
use plisse::core::SplitMix;
use plisse::file::Loaded;
use plisse::scene::Scene;
use plisse::system::State;

use super::{Experiment, Findings};
use crate::repository_root;

/// Random displacements per scene.
const SEEDS: u64 = 10;
/// How far they go, m.
const DISPLACEMENT: f64 = 1e-4;
/// Random changes of the last bits per scene.
const ROUNDINGS: u64 = 2;

/// A rubber sheet that folds over itself: 1 MPa, 0.5 mm, held by two opposite corners.
const MID_EDGE: &str = r#"
version = 1
[time]
duration = 1.5
[[cloth]]
name = "sheet"
grid = { cells = [30, 30], size = [1, 1] }
material = { membrane = "MEMBRANE", tensile = 500, poisson = 0.45, density = 0.15, bending = "mid-edge", rigidity = 1.306e-5 }
pin = [{ group = "top-left" }, { group = "bottom-right" }]
"#;

/// What is done to a scene.
#[derive(Clone, Copy, Debug)]
enum Variant {
    Seed(u64),
    LastBits(u64),
    Linear(&'static str),
}

impl Variant {
    fn all() -> Vec<Self> {
        let seeds = (1..=SEEDS).map(Self::Seed);
        let roundings = (1..=ROUNDINGS).map(Self::LastBits);
        seeds.chain(roundings).chain(["cholesky", "stale-cholesky"].map(Self::Linear)).collect()
    }

    fn name(self) -> String {
        match self {
            Self::Seed(n) => format!("seed {n}"),
            Self::LastBits(n) => format!("last bits {n}"),
            Self::Linear(name) => name.to_owned(),
        }
    }

    /// The text of the scene, with another solver if asked.
    fn text(self, text: &str) -> Result<String> {
        let Self::Linear(name) = self else { return Ok(text.to_owned()) };
        let line = format!("[solver]\nlinear = \"{name}\"");
        ensure!(!text.contains("linear ="), "the scene names a solver already");
        Ok(if text.contains("[solver]") {
            text.replace("[solver]", &line)
        } else {
            format!("{text}\n{line}\n")
        })
    }

    /// Moves the vertices of a scene that has not begun.
    fn disturb(self, scene: &mut Scene) -> Result<()> {
        let (Self::Seed(n) | Self::LastBits(n)) = self else { return Ok(()) };
        let mut random = SplitMix::new(n);
        let state = scene.state();
        let x = state.x().map(|x| self.moved(*x, &mut random));
        let moved = State::new(x, state.v().clone())?;
        Ok(scene.set_state(moved)?)
    }

    /// The place where a vertex starts instead.
    fn moved(self, x: DVec3, random: &mut SplitMix) -> DVec3 {
        let mut noise = || DVec3::new(random.signed(), random.signed(), random.signed());
        match self {
            Self::Seed(_) => x + noise() * DISPLACEMENT,
            Self::LastBits(_) => x + x * noise() * 1e-15,
            Self::Linear(_) => x,
        }
    }
}

/// Moves vertices of a scene that has not begun by up to 0.1 mm, another way for each seed. Pins
/// put theirs back.
pub(super) fn displace(scene: &mut Scene, seed: u64) -> Result<()> {
    Variant::Seed(seed).disturb(scene)
}

/// One experiment per scene. All of them together take an hour.
pub(super) fn all() -> Result<Vec<Experiment>> {
    let experiment = |(name, text): (String, String)| {
        let title = format!("jitter/{}", name.replace(' ', "-"));
        Experiment::new(title.clone(), move || Ok(disturbed(&title, &name, &text)))
    };
    Ok(scenes()?.into_iter().map(experiment).collect())
}

/// Every variant of a scene must come to its end.
fn disturbed(title: &str, name: &str, text: &str) -> Findings {
    let mut findings = Findings::new(title);
    for variant in Variant::all() {
        let clock = Instant::now();
        let outcome = simulate(name, text, variant);
        findings.require(format!("{} finishes", variant.name()), outcome.is_ok());
        let outcome = outcome.unwrap_or_else(|error| format!("FAILED: {error:#}"));
        println!("{name:28} {:16} {outcome}, {:.0} s", variant.name(), clock.elapsed().as_secs_f64());
    }
    findings
}

/// Names and texts: the files, then the mid-edge sheet with three membranes.
fn scenes() -> Result<Vec<(String, String)>> {
    let folder = repository_root().join("fixtures/scenes");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with("wrinkle") && path.extension().is_some_and(|e| e == "toml") {
            let text =
                std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            all.push((name, text));
        }
    }
    all.sort();
    for membrane in ["corotational", "st-venant-kirchhoff", "neo-hookean"] {
        all.push((format!("mid-edge {membrane}"), MID_EDGE.replace("MEMBRANE", membrane)));
    }
    Ok(all)
}

/// A run to the end, in a line: iterations of Newton's method, steps, steps that were tried in
/// vain.
fn simulate(name: &str, text: &str, variant: Variant) -> Result<String> {
    let folder = repository_root().join("fixtures/scenes");
    let Loaded { mut scene, file, .. } = Loaded::parse(&variant.text(text)?, name, Path::new(&folder))?;
    variant.disturb(&mut scene)?;
    let (steps, dt) = scene.steps_in(file.time.duration);
    let (mut newton, mut substeps, mut rejected) = (0, 0, 0);
    for _ in 0..steps {
        let report = scene.step_by(dt)?;
        newton += report.iterations();
        substeps += report.solves.len();
        rejected += report.rejected;
    }
    Ok(format!("{newton} iterations, {substeps} steps, {rejected} rejected"))
}
