//! Scenes with contact from disturbed starts: after every frame no two triangles may cross and no
//! vertex may be on the wrong side of an obstacle.
//!
//! A frame is one time step of the file here. Runs go on past the `duration` of a file, or stop
//! before it. Nothing of the solver takes part in the counting: triangles are compared by the exact
//! oracle ([`Scene::crossings`](plisse::scene::Scene::crossings)), vertices by their positions.

mod size;
mod watch;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use plisse::file::Loaded;

use super::jitter::displace;
use super::progress::Progress;
use super::{Experiment, Findings};
use crate::repository_root;
pub(super) use size::{Size, count};
use watch::Watch;

/// The scenes, by the names of their files in `fixtures/scenes`.
const SCENES: [&str; 18] = [
    "box-corner",
    "round-table",
    "sheet-stack",
    "twisted-strip",
    "ring",
    "two-layers",
    "crushed-tube",
    "crushed-net",
    "skirt",
    "waved-flag",
    "v-strips-wall",
    "curtain",
    "drape",
    "drape-arap",
    "drape-quartic-shear",
    "developable-ball",
    "developable-layers",
    "default",
];

/// One experiment per scene: `contact/NAME`.
pub(super) fn all(size: Size) -> Vec<Experiment> {
    let root = repository_root();
    let experiment = |name: &str| {
        let path = match name {
            "default" => root.join("crates/plisse-cli/src/default.toml"),
            _ => root.join(format!("fixtures/scenes/{name}.toml")),
        };
        let title = format!("contact/{name}");
        Experiment::new(title.clone(), move || {
            let text =
                std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let folder = path.parent().unwrap_or(Path::new(""));
            repeated(&title, &text, folder, size)
        })
    };
    SCENES.into_iter().map(experiment).collect()
}

/// Runs a scene as it is and from disturbed starts. The findings are the same for every size.
fn repeated(title: &str, text: &str, folder: &Path, size: Size) -> Result<Findings> {
    let mut findings = Findings::new(title);
    let mut watches = Vec::new();
    for repeat in 0..size.repeats {
        let Loaded { mut scene, .. } = Loaded::parse(text, title, folder)?;
        if repeat == 0 {
            let compared = scene.crossings().checked;
            findings.text("triangles compared", compared.join(", "));
        } else {
            displace(&mut scene, u64::from(repeat))?;
        }
        let clock = Instant::now();
        let watch = Watch::of(&mut scene, size.frames, &mut Progress::new(&format!("{title} {repeat}")));
        println!("{title:28} start {repeat:2} {watch}, {:.0} s", clock.elapsed().as_secs_f64());
        watches.push(watch);
    }
    findings
        .require("every start comes to its last frame", watches.iter().all(|w| w.error.is_none()))
        .require("no triangles cross after any frame", watches.iter().all(|w| w.crossings == 0))
        .require("no vertex is on the wrong side", watches.iter().all(|w| w.wrong_side == 0));
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three small sheets, one turned, on the edge of a box above a floor.
    const SMALL: &str = r#"
version = 1
[time]
duration = 1
[[cloth]]
grid = { cells = [4, 4], size = [0.1, 0.1] }
position = [0.05, 0, 0.055]
[[cloth]]
grid = { cells = [4, 4], size = [0.1, 0.1] }
rotation = [0, 0, 30]
position = [0.05, 0, 0.065]
[[cloth]]
grid = { cells = [4, 4], size = [0.1, 0.1] }
position = [0.04, 0, 0.075]
velocity = [0, 0, -2]
[[obstacle]]
box = { centre = [0, 0, 0.03], size = [0.1, 0.1, 0.04] }
[[obstacle]]
plane = { normal = [0, 0, 1] }
"#;

    #[test]
    fn small_sheets_stay_apart() {
        let findings =
            repeated("contact/small", SMALL, Path::new(""), Size { frames: 20, repeats: 2 }).unwrap();
        assert_eq!(findings.broken(), Vec::<&str>::new());
    }

    #[test]
    fn every_scene_has_a_golden_file() {
        for name in SCENES {
            let golden = crate::regress::golden::folder().join(format!("contact/{name}.snap"));
            assert!(golden.exists(), "{}", golden.display());
        }
    }
}
