//! Runs of yarns: resumed with the same bits, exported as tubes and lines, with crossings at the
//! ends of yarns in the report and the summary.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn plisse(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plisse")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A thread is pulled out until its end is at the first crossing.
const SCENE: &str = r#"
version = 1
gravity = 0
time = { duration = 0.04, step = 0.001, frames_per_second = 100 }
[[cloth]]
name = "cloth"
model = "yarn"
woven = { counts = [5, 4], spacing = [1e-3, 1e-3], tails = [1e-3, 0] }
yarn = { friction = 0.1, single = [{ yarn = "warp 1", colour = [1, 0, 0] }] }
pin = [
  { group = "bottom" }, { group = "top" },
  { group = "warp 1 end", linear = true, motion = [{ time = 0 }, { time = 0.04, move = [2e-3, 0, 0] }] },
]
[[obstacle]]
name = "ball"
sphere = { centre = [0, 0, -0.02], radius = 0.01 }
[output]
pictures = "last"
meshes = "all"
pc2 = true
vtk = true
[camera]
size = [160, 120]
"#;

#[test]
fn a_run_of_yarns_is_reported_exported_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("pull.toml"), SCENE).unwrap();
    let checked = plisse(&["check", "pull.toml"], root);
    assert!(text(&checked.stdout).contains("pull.toml: ok, 1 bodies"), "{}", text(&checked.stdout));
    let output = plisse(&["run", "pull.toml", "--out", "whole"], root);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let warning = "cloth: the crossing of warp 1 and weft 0 has reached the end of warp 1 at t = 0.0";
    assert!(text(&output.stderr).contains(warning), "{}", text(&output.stderr));
    let first = fs::read_to_string(root.join("whole/report.jsonl")).unwrap();
    let first = first.lines().find(|line| line.contains("yarn_ends")).unwrap();
    assert!(first.contains(r#""crossing":"the crossing of warp 1 and weft 0""#), "{first}");
    let outcome = fs::read_to_string(root.join("whole/outcome.json")).unwrap();
    assert_eq!(outcome.matches("the crossing of warp 1 and weft 0").count(), 1, "{outcome}");

    // The tubes are one object, the centre lines another.
    let mesh = fs::read_to_string(root.join("whole/meshes/frame_0004.obj")).unwrap();
    let (tubes, lines) = mesh.split_once("o cloth_centre_lines\n").unwrap();
    assert!(tubes.contains("\no cloth\nf "));
    // Nine yarns of 5 pieces for each segment: 4 with 6 segments, 5 with 3.
    assert_eq!(lines.lines().filter(|line| line.starts_with("l ")).count(), 5 * (4 * 6 + 5 * 3));

    let part = plisse(&["run", "pull.toml", "--out", "part", "-q", "--stop-after", "2"], root);
    assert!(part.status.success(), "{}", text(&part.stderr));
    let rest = plisse(&["resume", "part", "-q"], root);
    assert!(rest.status.success(), "{}", text(&rest.stderr));
    for file in [
        "checkpoints/frame_0004.plisse",
        "meshes/frame_0004.obj",
        "vtk/frame_0004.vtk",
        "pc2/cache_cloth.pc2",
        "pc2/cache_cloth_centre_lines.pc2",
        "pictures/frame_0004.png",
    ] {
        let [a, b] = ["whole", "part"].map(|run| fs::read(root.join(run).join(file)).unwrap());
        assert!(a == b, "{file} differs");
    }
    assert!(text(&rest.stderr).contains(warning), "{}", text(&rest.stderr));
    let info = plisse(&["info", "whole"], root);
    assert!(
        text(&info.stdout).contains("without triangles, not compared: cloth, ball"),
        "{}",
        text(&info.stdout)
    );
}
