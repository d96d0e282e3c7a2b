//! Scene files, run to their ends: every file of `fixtures/scenes` and the scene that `plisse` has
//! built in, and the hard ones of `fixtures/hard`.

mod elastic;
mod energy;
pub(super) mod inside;
mod wrinkle;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use plisse::file::{AnyScene, LoadError};
use plisse::io::scene_file::Time;

use super::progress::Progress;
use super::{Experiment, Findings};
use crate::repository_root;
use elastic::Course;

/// Scenes whose folds, flutter or collisions grow from the last digits: what they look like at the
/// end depends on rounding, what they are like does not. Figures of the others are the same on
/// every processor.
const CHAOTIC: [&str; 0] = [];

/// Scenes of the short form, with the number of frames: the fastest ones that have between them
/// every model, scheme, kind of body, and contact.
const SHORT: [(&str, u32); 10] = [
    ("spring", 200),
    ("swinging-sheet", 20),
    ("swinging-sheet-rayleigh", 10),
    ("v-strips", 10),
    ("wire-net", 10),
    ("hanging-sheet", 4),
    ("drape", 3),
    ("pillow", 1),
    ("wrinkle-stretched-sheet", 1),
    ("wrinkle-disk", 1),
];

/// What a scene is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// It must come to its end, or to this frame, with the figures of the golden file.
    Result { frames: Option<u32> },
    /// It must come to its end with every rule kept, or be refused.
    RightOrRefused,
}

/// Every shipped scene, to its end: `scenes/NAME`.
pub(super) fn all() -> Result<Vec<Experiment>> {
    let root = repository_root();
    let mut files = files_in(&root.join("fixtures/scenes"))?;
    files.push(("default".to_owned(), root.join("crates/plisse-cli/src/default.toml")));
    Ok(files.into_iter().map(|file| experiment("scenes", file, Purpose::Result { frames: None })).collect())
}

/// The first frames of the fastest scenes: `short/NAME`.
pub(super) fn short() -> Vec<Experiment> {
    let folder = repository_root().join("fixtures/scenes");
    let of = |(name, frames): (&str, u32)| {
        let file = (name.to_owned(), folder.join(format!("{name}.toml")));
        experiment("short", file, Purpose::Result { frames: Some(frames) })
    };
    SHORT.into_iter().map(of).collect()
}

/// Scenes that are hard to get right: `hard/NAME`.
pub(super) fn hard() -> Result<Vec<Experiment>> {
    let folder = repository_root().join("fixtures/hard");
    let files = if folder.exists() { files_in(&folder)? } else { Vec::new() };
    Ok(files.into_iter().map(|file| experiment("hard", file, Purpose::RightOrRefused)).collect())
}

/// Names and paths of the scene files in a folder, by name.
fn files_in(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
            files.push((name.unwrap_or_default(), path));
        }
    }
    files.sort();
    Ok(files)
}

fn experiment(group: &str, (scene, path): (String, PathBuf), purpose: Purpose) -> Experiment {
    let name = format!("{group}/{scene}");
    let chaotic = CHAOTIC.contains(&scene.as_str());
    let full = name.clone();
    Experiment::new(name, move || run(&full, &path, purpose, chaotic))
}

fn run(name: &str, path: &Path, purpose: Purpose, chaotic: bool) -> Result<Findings> {
    let mut findings = Findings::new(name);
    let mut progress = Progress::new(name);
    match AnyScene::read(path) {
        Err(error @ LoadError::File(_)) => return Err(error.into()),
        Err(error) => refused(&mut findings, purpose, "refused before the start", &error.to_string()),
        Ok(AnyScene::Elastic(mut loaded)) => {
            let frames = if let Purpose::Result { frames } = purpose { frames } else { None };
            let course = Course::of(&mut loaded, frames, &mut progress);
            if let Some(error) = &course.error {
                // The name of the error without its numbers, which depend on rounding.
                let debug = format!("{error:?}");
                let kind = debug.split([' ', '{', '(']).next().unwrap_or_default();
                refused(&mut findings, purpose, &format!("refused: {kind}"), &error.to_string());
            } else {
                findings.text("outcome", "finished");
                course.judge(&mut findings);
                if purpose != Purpose::RightOrRefused {
                    course.describe(&loaded.scene, chaotic, &mut findings);
                }
            }
        }
        Ok(AnyScene::Wrinkle(loaded)) => match wrinkle::run(*loaded, &mut progress, &mut findings) {
            Ok(()) => {}
            Err(error) => refused(&mut findings, purpose, "refused: no wrinkles", &error.to_string()),
        },
    }
    Ok(findings)
}

/// A run without a result. That is an outcome of a hard scene, and a failure of any other.
fn refused(findings: &mut Findings, purpose: Purpose, outcome: &str, message: &str) {
    println!("  {outcome}: {message}");
    findings.text("outcome", outcome);
    if purpose != Purpose::RightOrRefused {
        findings.require("comes to its end", false);
    }
}

/// Frames until the end, the last one perhaps shorter.
fn frame_count(time: &Time) -> u32 {
    // A duration that is a whole number of frames up to rounding has that many.
    let frames = time.duration.get() * time.frames_per_second.get();
    (frames * (1.0 - 1e-9)).ceil().clamp(1.0, 1e6) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regress::{carry_out, golden};

    /// The short form of `cargo xtask regress scenes`, for `cargo xtask ci`.
    #[test]
    fn short_scenes() {
        let verdicts: Vec<_> = short().iter().map(|one| carry_out(one, &golden::folder(), false)).collect();
        let failed: Vec<String> = verdicts.iter().filter(|v| !v.passed()).map(ToString::to_string).collect();
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }
}
