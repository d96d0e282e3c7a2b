//! `plisse info` of the folder of a run: what crosses in its frames.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

use glam::DVec3;
use plisse::scene::Checkpoint;

/// Status, standard output and standard error.
fn plisse(arguments: &[&str], folder: &Path) -> (Option<i32>, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_plisse")).args(arguments).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Two sheets, a box, and what has no triangles, in four frames of a hundredth of a second.
const SCENE: &str = r#"
version = 1
gravity = 0
time = { duration = 0.04, frames_per_second = 100 }
output = { pictures = "none" }
[[cloth]]
name = "lower"
grid = { cells = [3, 3], size = [0.3, 0.3] }
[[cloth]]
name = "upper"
grid = { cells = [3, 3], size = [0.3, 0.3] }
position = [0, 0, 0.1]
self_contact = false
[[obstacle]]
name = "block"
box = { size = [1, 1, 0.1] }
position = [0, 0, -0.1]
[[obstacle]]
name = "floor"
plane = { point = [0, 0, -1], normal = [0, 0, 1] }
"#;

/// Moves the vertices of a frame as no run would.
fn change(root: &Path, frame: u32, change: impl Fn(usize, DVec3) -> DVec3) {
    let path = root.join(format!("checkpoints/frame_{frame:04}.plisse"));
    let mut checkpoint = Checkpoint::from_bytes(&fs::read(&path).unwrap()).unwrap();
    let (mut x, v) = (checkpoint.state.x().clone(), checkpoint.state.v().clone());
    x.as_mut_slice().iter_mut().enumerate().for_each(|(i, x)| *x = change(i, *x));
    checkpoint.state.set(x, v).unwrap();
    fs::write(path, checkpoint.to_bytes()).unwrap();
}

#[test]
fn frames_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("sheets.toml"), SCENE).unwrap();
    assert_eq!(plisse(&["run", "sheets.toml", "-q"], at).0, Some(0));
    let root = at.join("out/sheets");

    let (status, said, _) = plisse(&["info", "out/sheets"], at);
    let expected = "out/sheets\n  a run, finished: 5 frames are kept, the last is 4\n  triangles are compared of: \
                    lower, upper, block\n  without triangles, not compared: floor\n  frame 4, t = 0.040 s: 0 crossings\n";
    assert_eq!((status, said.as_str()), (Some(0), expected));
    let (status, said, _) = plisse(&["info", "out/sheets", "--frame", "all"], at);
    assert_eq!((status, said.matches(": 0 crossings\n").count()), (Some(0), 5), "{said}");

    // The upper sheet stands in the lower one, away from its vertices.
    change(&root, 2, |i, x| if i < 16 { x } else { DVec3::new(x.x, 0.01, x.y) });
    let (status, said, wrong) = plisse(&["info", "out/sheets", "--frame", "2"], at);
    assert_eq!(status, Some(2), "{said}");
    assert!(wrong.contains("out/sheets: triangles cross in frame 2"), "{wrong}");
    let pairs: Vec<&str> = said.lines().filter(|line| line.starts_with("    face ")).collect();
    assert!(
        pairs.len() == 5 && pairs[0].contains(" of lower and face ") && pairs[0].contains(" of upper at (")
    );
    let count: usize =
        said.split("t = 0.020 s: ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(count > 5 && said.contains(&format!("    and {} more\n", count - 5)), "{said}");

    // The lower sheet stands in the block; the upper one crosses itself, which it may.
    let profile = [[0.0, 0.5], [0.1, 0.6], [0.1, 0.5], [0.0, 0.6]];
    change(&root, 3, |i, x| {
        let [along, up] = profile[((x.x + 0.15) / 0.1).round() as usize];
        if i < 16 { DVec3::new(x.x, 0.0, x.y - 0.05) } else { DVec3::new(along, x.y, up) }
    });
    let (status, said, _) = plisse(&["info", "out/sheets", "--frame", "3"], at);
    assert!(
        status == Some(2) && said.contains(" of lower and face ") && said.contains(" of block at ("),
        "{said}"
    );
    let may = "pairs of upper with itself, of a body that does not touch itself (self_contact = false)\n";
    assert!(said.contains("    may cross: ") && said.contains(may), "{said}");
    let (status, said, wrong) = plisse(&["info", "out/sheets", "--frame", "all"], at);
    assert!(wrong.contains("triangles cross in 2 frames, the first is 2"), "{wrong}");
    assert_eq!((status, said.matches(": 0 crossings\n").count()), (Some(2), 3), "{said}");
}

#[test]
fn only_runs_have_frames() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("sheets.toml"), SCENE).unwrap();
    assert_eq!(plisse(&["run", "sheets.toml", "-q", "--stop-after", "1"], at).0, Some(0));
    for (arguments, part) in [
        (["out/sheets", "--frame", "2"], "no such frame is kept; there are: 0, 1"),
        (["out/sheets", "--frame", "two"], "give a number, or all"),
        (["sheets.toml", "--frame", "1"], "--frame is for the folder of a run"),
        (["out", "--frame", "1"], "out is not the folder of a run"),
    ] {
        let (status, _, said) = plisse(&["info", arguments[0], arguments[1], arguments[2]], at);
        assert!(status == Some(2) && said.contains(part), "{arguments:?}: {said}");
    }
}
