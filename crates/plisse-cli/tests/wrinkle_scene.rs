//! `plisse run` of a scene of wrinkles.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SCENE: &str = r#"version = 1
model = "wrinkle"
[time]
duration = 1
frames_per_second = 3
[wrinkle]
young = 1e6
poisson = 0.5
thickness = 1e-4
levels = 2
clamped = true
[[cloth]]
name = "film"
grid = { cells = [15, 6], size = [0.25, 0.1], irregular = 1, diagonal = "delaunay" }
pin = [{ group = "left" }, { group = "right", linear = true, motion = [{ time = 0 }, { time = 1, move = [0.02, 0, 0] }] }]
[camera]
size = [96, 64]
colour_by = "phase"
"#;

fn plisse(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plisse")).args(arguments).current_dir(folder).output().unwrap()
}

#[test]
fn a_run_leaves_pictures_meshes_and_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("film.toml"), SCENE).unwrap();
    let run = plisse(&["run", "film.toml", "--json"], at);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let report = fs::read_to_string(at.join("out/film/report.jsonl")).unwrap();
    let printed = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(printed.starts_with(&report) && printed.lines().last().unwrap().contains("\"finished\""));
    let lines: Vec<serde_json::Value> =
        report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    for (frame, line) in (1..).zip(&lines) {
        assert_eq!(line["frame"], frame);
        assert!((line["time"].as_f64().unwrap() - f64::from(frame) / 3.0).abs() < 1e-12);
        assert_eq!(line["wrinkle"]["converged"], true);
        assert!(line["base"]["residual"].as_f64() <= line["base"]["tolerance"].as_f64());
        assert!(line["wrinkle"]["largest_amplitude"].as_f64().unwrap() > 0.0);
        assert_eq!(line["phase"]["jump"].is_null(), frame == 1);
        assert!(at.join(format!("out/film/pictures/frame_{frame:04}.png")).exists());
    }
    assert!(at.join("out/film/pictures/film.png").exists());
    // The first and the last mesh, with sixteen faces for each of 180.
    let mesh = fs::read_to_string(at.join("out/film/meshes/frame_0003.obj")).unwrap();
    assert_eq!(mesh.lines().filter(|line| line.starts_with("f ")).count(), 16 * 180);
    assert!(
        at.join("out/film/meshes/frame_0001.obj").exists()
            && !at.join("out/film/meshes/frame_0002.obj").exists()
    );
    let outcome = fs::read_to_string(at.join("out/film/outcome.json")).unwrap();
    assert!(outcome.contains("finished"));
    // Nothing to go on from, and nothing to make pictures of.
    for command in [["resume", "out/film"], ["render", "out/film"]] {
        let output = plisse(&command, at);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2));
        assert!(said.contains("keeps no checkpoints; run it again"), "{said}");
    }
    // Another run replaces the first if that is wanted, and may stop early.
    let refused = plisse(&["run", "film.toml", "--quiet"], at);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        said.contains("already, finished") && said.contains("--force") && !said.contains("resume"),
        "{said}"
    );
    assert!(plisse(&["run", "film.toml", "--stop-after", "1", "--quiet", "--force"], at).status.success());
    assert_eq!(fs::read_to_string(at.join("out/film/report.jsonl")).unwrap().lines().count(), 1);
    assert!(!at.join("out/film/pictures/frame_0002.png").exists());
    assert!(fs::read_to_string(at.join("out/film/outcome.json")).unwrap().contains("stopped"));
    let check = plisse(&["check", "film.toml"], at);
    assert!(
        String::from_utf8_lossy(&check.stdout).contains("wrinkles on 112 vertices, 180 faces, 0 obstacles")
    );
}

#[test]
fn a_base_that_does_not_converge_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("film.toml"), SCENE.replace("levels = 2", "levels = 2\nmax_iterations = 1")).unwrap();
    let run = plisse(&["run", "film.toml", "--quiet"], at);
    assert_eq!(run.status.code(), Some(3));
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.contains("frame 1: no equilibrium of the base mesh after 1 iterations"), "{said}");
    assert!(fs::read_to_string(at.join("out/film/outcome.json")).unwrap().contains("not converged"));
}

const TWIST: &str = r#"version = 1
model = "wrinkle"
[time]
duration = 1
frames_per_second = 3
[wrinkle]
young = 1e7
poisson = 0.44
thickness = 1e-4
levels = 1
clamped = true
CHOICE
[[cloth]]
cylinder = { cells = [30, 24], radius = 1, length = 5, irregular = 1 }
pin = [
    { group = "bottom" },
    { group = "top", linear = true, motion = [{ time = 0, rotate = [0, 0, 4] }, { time = 1, rotate = [0, 0, 10] }] },
]
[output]
pictures = "none"
meshes = "none"
"#;

#[test]
fn numbers_of_waves_stay_or_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let run = |choice: &str| {
        fs::write(at.join("twist.toml"), TWIST.replace("CHOICE", choice)).unwrap();
        let run = plisse(&["run", "twist.toml", "--force"], at);
        let said = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{said}");
        let report = fs::read_to_string(at.join("out/twist/report.jsonl")).unwrap();
        let lines: Vec<serde_json::Value> =
            report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3);
        (said, lines)
    };
    let waves =
        |line: &serde_json::Value| line["phase"]["waves"].as_array().unwrap()[0].as_i64().unwrap().abs();
    let frames = |lines: &[serde_json::Value]| -> Vec<u64> {
        lines.iter().map(|line| line["frame"].as_u64().unwrap()).collect()
    };
    let check = |said: &str, lines: &[serde_json::Value]| {
        assert!(!said.contains("jumps"), "{said}");
        for line in &lines[1..] {
            assert_eq!(waves(line), waves(&lines[0]));
            assert!(line["phase"]["jump"].as_f64().unwrap() < 1.5, "{line}");
            assert!(line["phase"]["mean_jump"].as_f64().unwrap() < 0.7, "{line}");
            assert!(line["wrinkle"]["cost_of_waves"].as_f64().unwrap() < 0.5);
            assert!(line["phase"]["changed"].as_array().unwrap().is_empty());
        }
        assert!(lines[0]["phase"]["jump"].is_null() && lines[0]["wrinkle"]["cost_of_waves"].is_null());
    };
    let (said, first) = run("");
    check(&said, &first);
    assert_eq!(frames(&first), [1, 2, 3]);
    // Backwards, from the last.
    let (said, last) = run("waves_from = \"last\"");
    check(&said, &last);
    assert_eq!(frames(&last), [3, 2, 1]);
    assert!(waves(&last[0]) > waves(&first[0]) + 2);
    // Left to themselves they change, and that is told.
    let (said, alone) = run("snap = 0");
    assert!(
        said.contains("frame 2: ") && said.contains(" in frame 1; the surface jumps in between"),
        "{said}"
    );
    for pair in alone.windows(2) {
        let changed = &pair[1]["phase"]["changed"].as_array().unwrap()[0];
        assert_eq!(changed["before"].as_i64().unwrap().abs(), waves(&pair[0]));
        assert_eq!(changed["now"].as_i64().unwrap().abs(), waves(&pair[1]));
        assert!(pair[1]["phase"]["jump"].as_f64().unwrap() > 3.0);
    }
}

/// Numbers from the last frame cannot be had without it.
#[test]
fn a_run_backwards_is_not_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let text = SCENE.replace("levels = 2", "levels = 2\nwaves_from = \"last\"");
    fs::write(folder.path().join("film.toml"), text).unwrap();
    let run = plisse(&["run", "film.toml", "--stop-after", "1"], folder.path());
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.contains("--stop-after 1") && said.contains("waves_from = \"first\""), "{said}");
    assert!(!folder.path().join("out").exists(), "nothing was begun");
}

/// Pushed together, without anything that limits the length of its waves: the energy has no
/// minimum.
const PUSHED: &str = r#"version = 1
model = "wrinkle"
time = { duration = 0.2, frames_per_second = 5 }
output = { pictures = "none", meshes = "all" }
wrinkle = { young = 1e6, poisson = 0.3, thickness = 1e-4 }
[[cloth]]
grid = { cells = [16, 8], size = [0.2, 0.1], irregular = 1, diagonal = "delaunay" }
pin = [{ group = "left" }, { group = "right", linear = true, motion = [{ time = 0 }, { time = 0.2, move = [-0.01, 0, 0] }] }]
"#;

#[test]
fn wrinkles_that_are_no_minimum_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("pushed.toml"), PUSHED).unwrap();
    let run = plisse(&["run", "pushed.toml", "--quiet"], at);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(
        said.contains("frame 1: ") && said.contains("amplitude of") && said.contains("(clamped)"),
        "{said}"
    );
    assert!(fs::read_to_string(at.join("out/pushed/outcome.json")).unwrap().contains("not converged"));
    assert!(!at.join("out/pushed/meshes").exists(), "nothing is written of a frame that means nothing");
    // What the message says helps.
    fs::write(at.join("held.toml"), PUSHED.replace("1e-4 }", "1e-4, clamped = true }")).unwrap();
    let run = plisse(&["run", "held.toml", "--quiet"], at);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn a_block_is_no_sheet() {
    let folder = tempfile::tempdir().unwrap();
    let warned = |thickness: &str| {
        fs::write(folder.path().join("block.toml"), PUSHED.replace("1e-4 }", thickness)).unwrap();
        let check = plisse(&["check", "block.toml"], folder.path());
        String::from_utf8_lossy(&check.stderr).contains("m thick and about 0.1333 m wide")
    };
    assert!(warned("0.02 }") && !warned("0.01 }"));
}
