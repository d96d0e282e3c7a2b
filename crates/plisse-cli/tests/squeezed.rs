//! A run that cannot go on says what is closest to what, and leaves the frames before.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::process::Command;

use serde_json::Value;

/// A sheet of 4 mm on a floor, under a press that leaves it no room from 0.168 s on.
const PRESS: &str = r#"
version = 1
time = { duration = 0.3, frames_per_second = 25, step = 0.01, shortest_step = 1e-4 }
output = { meshes = "all" }
camera = { size = [64, 48] }
[[cloth]]
name = "towel"
grid = { cells = [5, 5], size = [0.2, 0.2] }
material = "cotton"
position = [0, 0, 0.004]
contact_thickness = 0.004
[[obstacle]]
name = "floor"
plane = { normal = [0, 0, 1] }
[[obstacle]]
name = "press"
box = { size = [0.5, 0.5, 0.1] }
position = [0, 0, 0.07]
linear = true
motion = [{ time = 0 }, { time = 0.2, move = [0, 0, -0.019] }]
"#;

#[test]
fn a_squeezed_sheet_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("press.toml"), PRESS).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_plisse")).args(["run", "press.toml"]).current_dir(at).output();
    let run = run.unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(3), "{said}");
    let (_, closest) = said.split_once("no room is left").expect(&said);
    let (_, closest) = closest.split_once("closest: vertex ").expect(closest);
    assert!(
        ["of towel and floor, gap ", "of towel and press, gap "].iter().any(|pair| closest.contains(pair))
    );
    assert!(closest.contains(" m at ("), "{said}");
    for frame in 0..=4 {
        assert!(at.join(format!("out/press/checkpoints/frame_{frame:04}.plisse")).exists(), "{frame}");
        assert!(at.join(format!("out/press/pictures/frame_{frame:04}.png")).exists(), "{frame}");
        assert!(at.join(format!("out/press/meshes/frame_{frame:04}.obj")).exists(), "{frame}");
    }
    assert!(said.contains("results up to frame 4 in"), "{said}");
    assert!(at.join("out/press/pictures/film.png").exists() && at.join("out/press/energies.svg").exists());

    // Every step has its smallest gap, and the outcome that of the run.
    let report = fs::read_to_string(at.join("out/press/report.jsonl")).unwrap();
    let lines: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 16);
    let of_towel = |parts: &Value| {
        let vertex = parts[0].as_str().is_some_and(|part| part.ends_with(" of towel"));
        vertex && (parts[1] == "floor" || parts[1] == "press")
    };
    let smallest = lines.iter().filter(|line| line["gap"].is_f64()).min_by(|a, b| {
        assert!(of_towel(&a["gap_between"]) && a["gap_at"].as_array().unwrap().len() == 3, "{a}");
        a["gap"].as_f64().unwrap().total_cmp(&b["gap"].as_f64().unwrap())
    });
    let smallest = smallest.unwrap();
    let outcome = fs::read_to_string(at.join("out/press/outcome.json")).unwrap();
    let outcome: Value = serde_json::from_str(&outcome).unwrap();
    assert_eq!((outcome["outcome"].as_str(), outcome["frame"].as_u64()), (Some("not converged"), Some(4)));
    assert!(outcome["reason"].as_str().unwrap().contains("closest: vertex "), "{outcome}");
    let summary = &outcome["summary"];
    for (key, of_step) in [("", "gap"), ("_between", "gap_between"), ("_at", "gap_at"), ("_time", "time")] {
        assert_eq!(summary[format!("smallest_gap{key}")], smallest[of_step], "{key}");
    }
}
