//! The program, run as a person would.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn plisse(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plisse")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn scenes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenes")
}

const SMALL: &str = r#"
version = 1
title = "small"
[time]
duration = 0.24
step = 0.01
frames_per_second = 25
scheme = "SCHEME"
[[cloth]]
name = "sheet"
grid = { cells = [10, 10], size = [0.5, 0.5] }
material = "denim"
position = [0, 0, 0.12]
[[obstacle]]
name = "ball"
sphere = { radius = 0.1 }
[[wires]]
name = "net"
net = { meshes = [3, 3], size = [0.3, 0.3] }
young = 1e9
position = [0.6, 0, 0]
pin = [{ group = "corners" }]
[output]
pictures = "last"
meshes = "all"
pc2 = true
vtk = true
[camera]
size = [160, 120]
"#;

fn write_scene(folder: &Path, scheme: &str) {
    fs::write(folder.join("a scene.toml"), SMALL.replace("SCHEME", scheme)).unwrap();
}

/// Every file of a run that must not depend on whether it was interrupted.
fn results(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for folder in ["checkpoints", "meshes", "pc2", "vtk"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{folder}/{}", path.file_name().unwrap().to_string_lossy());
            files.push((name, fs::read(&path).unwrap()));
        }
    }
    files.sort();
    files
}

fn same_results(a: &Path, b: &Path) {
    let (a, b) = (results(a), results(b));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&a), names(&b));
    for ((name, a), (_, b)) in a.iter().zip(&b) {
        assert!(a == b, "{name} differs");
    }
}

#[test]
fn a_run_leaves_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    write_scene(folder.path(), "backward-euler");
    let output = plisse(&["run", "a scene.toml"], folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains("frame 6/6") && said.contains("results in"), "{said}");
    let root = folder.path().join("out/a scene");
    for name in [
        "pictures/frame_0000.png",
        "pictures/frame_0006.png",
        "meshes/frame_0006.obj",
        "vtk/frame_0003.vtk",
        "vtk/frames.vtk.series",
        "pc2/cache_net.pc2",
        "energies.svg",
        "outcome.json",
    ] {
        assert!(root.join(name).is_file(), "{name}");
    }
    // Two pictures make no film.
    assert!(!root.join("pictures/frame_0003.png").exists() && !root.join("pictures/film.png").exists());
    let again = plisse(&["render", "out/a scene"], folder.path());
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert!(root.join("pictures/frame_0003.png").is_file());
    // The chunk that says how many pictures there are, all seven, and that they play for ever.
    let film = fs::read(root.join("pictures/film.png")).unwrap();
    assert!(film.windows(12).any(|bytes| bytes == b"acTL\0\0\0\x07\0\0\0\0"));
    let report = fs::read_to_string(root.join("report.jsonl")).unwrap();
    assert_eq!(report.lines().count(), 24);
    for line in report.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["residual"].as_f64().unwrap().is_finite() && line["newton"].as_u64().unwrap() < 100);
    }
    assert!(fs::read_to_string(root.join("outcome.json")).unwrap().contains("finished"));
    // What was written is a mesh again, with its material space.
    let obj = plisse::io::Obj::read(&root.join("meshes/frame_0006.obj")).unwrap();
    assert_eq!((obj.positions.len(), obj.faces.len(), obj.segments.len()), (121 + 16, 200, 24));
    assert!(obj.faces.iter().all(|face| face.uv.is_some()));
    let ball = plisse::io::Obj::read(&root.join("obstacles/frame_0006.obj")).unwrap();
    assert_eq!((ball.positions.len(), ball.faces.len()), (2562, 5120));

    // Pictures again, from another side; info on the mesh.
    let output = plisse(
        &[
            "render",
            "out/a scene",
            "--frame",
            "6",
            "-o",
            "again",
            "--colour-by",
            "strain",
            "--size",
            "200x100",
            "--from=-1,-1,1",
        ],
        folder.path(),
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(folder.path().join("again/frame_0006.png").is_file());
    let output = plisse(&["info", "out/a scene/meshes/frame_0006.obj"], folder.path());
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        said.contains("137 vertices, 200 triangles, 24 segments") && said.contains("can be simulated"),
        "{said}"
    );
}

#[test]
fn an_interrupted_run_goes_on_with_the_same_bits() {
    for scheme in ["backward-euler", "bdf2", "newmark"] {
        let folder = tempfile::tempdir().unwrap();
        write_scene(folder.path(), scheme);
        let whole = plisse(&["run", "a scene.toml", "-q", "-o", "whole"], folder.path());
        assert!(whole.status.success(), "{}", text(&whole.stderr));
        for stop in ["1", "4"] {
            let part = format!("part {stop}");
            let first =
                plisse(&["run", "a scene.toml", "-q", "-o", &part, "--stop-after", stop], folder.path());
            assert!(first.status.success(), "{}", text(&first.stderr));
            let second = plisse(&["resume", &part, "-q"], folder.path());
            assert!(second.status.success(), "{}", text(&second.stderr));
            same_results(&folder.path().join("whole"), &folder.path().join(&part));
        }
        // Back to an earlier frame, and on again.
        let again = plisse(&["resume", "part 1", "-q", "--from", "3"], folder.path());
        assert!(again.status.success(), "{}", text(&again.stderr));
        same_results(&folder.path().join("whole"), &folder.path().join("part 1"));
    }
}

/// Of two runs in one folder the later one has it; the earlier one notices and stops.
#[test]
fn two_runs_in_one_folder_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    write_scene(folder.path(), "backward-euler");
    let scene = fs::read_to_string(folder.path().join("a scene.toml")).unwrap();
    fs::write(folder.path().join("a scene.toml"), scene.replace("duration = 0.24", "duration = 400"))
        .unwrap();
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plisse"));
        command.args(["run", "a scene.toml", "-q", "--force", "-o", "o"]).current_dir(folder.path());
        command.stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let first = start();
    while !folder.path().join("o/checkpoints/frame_0002.plisse").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let mut second = start();
    let output = first.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("another run has begun"), "{}", text(&output.stderr));
    assert!(!folder.path().join("o/outcome.json").exists());
    second.kill().unwrap();
    second.wait().unwrap();
}

#[test]
fn settings_may_change_between_a_run_and_its_continuation() {
    let folder = tempfile::tempdir().unwrap();
    write_scene(folder.path(), "backward-euler");
    let output = plisse(&["run", "a scene.toml", "-q", "--stop-after", "2"], folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let scene = fs::read_to_string(folder.path().join("a scene.toml")).unwrap();
    let other = scene
        .replace("step = 0.01", "step = 0.005")
        .replace("[camera]", "# a remark\n[camera]\nwireframe = true");
    fs::write(folder.path().join("a scene.toml"), other).unwrap();
    let output = plisse(&["resume", "out/a scene", "-q"], folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = fs::read_to_string(folder.path().join("out/a scene/report.jsonl")).unwrap();
    assert_eq!(report.lines().count(), 8 + 32);
    // A finished run has nothing left to do, and says so.
    let output = plisse(&["resume", "out/a scene", "-q", "--stop-after", "1"], folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let outcome = fs::read_to_string(folder.path().join("out/a scene/outcome.json")).unwrap();
    assert!(outcome.contains("finished"), "{outcome}");
}

/// A person presses Ctrl-C; a batch system or a container asks with SIGTERM.
#[cfg(unix)]
#[test]
fn control_c_leaves_a_checkpoint() {
    for signal in ["-INT", "-TERM"] {
        interrupted_by(signal);
    }
}

#[cfg(unix)]
fn interrupted_by(signal: &str) {
    let folder = tempfile::tempdir().unwrap();
    write_scene(folder.path(), "backward-euler");
    // Long enough to be interrupted wherever that happens.
    let scene = fs::read_to_string(folder.path().join("a scene.toml")).unwrap();
    let long = scene.replace("duration = 0.24", "duration = 400");
    fs::write(folder.path().join("a scene.toml"), long).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_plisse"))
        .args(["run", "a scene.toml", "-o", "part"])
        .current_dir(folder.path())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !folder.path().join("part/checkpoints/frame_0003.plisse").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("plisse resume \"part\""), "{}", text(&output.stderr));
    assert!(fs::read_to_string(folder.path().join("part/outcome.json")).unwrap().contains("interrupted"));
    let last = fs::read_dir(folder.path().join("part/checkpoints")).unwrap().count() - 1;
    let stop = (last + 2).to_string();
    let output = plisse(&["resume", "part", "-q", "--stop-after", &stop], folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = plisse(&["run", "a scene.toml", "-q", "-o", "whole", "--stop-after", &stop], folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    same_results(&folder.path().join("whole"), &folder.path().join("part"));
}

#[test]
fn statuses_and_messages() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let failing = |arguments: &[&str], status: i32, parts: &[&str]| {
        let output = plisse(arguments, root);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        for part in parts {
            assert!(said.contains(part), "{arguments:?}: \"{part}\" is missing in: {said}");
        }
        assert!(!said.contains("panicked"), "{said}");
    };
    failing(&["run", "none.toml"], 2, &["none.toml", "Check the name"]);
    fs::write(
        root.join("bad.toml"),
        "version = 1\n[time]\nduratoin = 1\n[[cloth]]\nmesh = \"no mesh.obj\"\n",
    )
    .unwrap();
    failing(
        &["check", "bad.toml"],
        2,
        &[
            "bad.toml:2: [time] needs \"duration\"",
            "bad.toml:3: [time] has no \"duratoin\"; did you mean \"duration\"?",
        ],
    );
    fs::write(root.join("mesh.toml"), "version = 1\ntime.duration = 1\n[[cloth]]\nmesh = \"no mesh.obj\"\n")
        .unwrap();
    failing(&["check", "mesh.toml"], 2, &["mesh.toml:3: cannot read", "no mesh.obj"]);
    failing(&["resume", "nowhere"], 2, &["not the folder of a run"]);
    failing(&["render", "nowhere"], 2, &["not the folder of a run"]);
    failing(&["info", "none.obj"], 2, &["none.obj"]);
    assert!(!root.join("out").exists(), "nothing is written for bad input");

    // A tolerance that no arithmetic can reach, within one iteration.
    let hard = "version = 1\ntime = { duration = 0.1, shortest_step = 0.01 }\n\
                solver = { tolerance = 1e-50, max_iterations = 1 }\n\
                [[cloth]]\ngrid = { cells = [4, 4], size = [1, 1] }\npin = [{ group = \"corners\" }]\n";
    fs::write(root.join("hard.toml"), hard).unwrap();
    failing(&["run", "hard.toml"], 3, &["no convergence", "Try a shorter step"]);
    assert!(fs::read_to_string(root.join("out/hard/outcome.json")).unwrap().contains("not converged"));

    // A scene that was changed after its run.
    let easy = hard.replace("solver = { tolerance = 1e-50, max_iterations = 1 }\n", "");
    fs::write(root.join("easy.toml"), format!("{easy}[output]\npictures = \"none\"\n")).unwrap();
    assert!(plisse(&["run", "easy.toml", "-q"], root).status.success());
    fs::write(root.join("easy.toml"), easy.replace("[4, 4]", "[5, 4]")).unwrap();
    failing(&["resume", "out/easy"], 2, &["of another scene"]);
    failing(&["resume", "out/easy", "--from", "77"], 2, &["no such checkpoint", "0, 1, 2, 3"]);
    fs::write(root.join("out/easy/checkpoints/frame_0003.plisse"), b"rubbish").unwrap();
    fs::write(root.join("easy.toml"), format!("{easy}[output]\npictures = \"none\"\n")).unwrap();
    let good =
        ["frame_0003.plisse", "not a checkpoint", "last good checkpoint before it is of frame 2", "--from 2"];
    failing(&["resume", "out/easy"], 2, &good);
}

#[test]
fn folders_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    write_scene(folder.path(), "backward-euler");
    // A file where a folder should be.
    fs::write(folder.path().join("taken"), b"x").unwrap();
    let output = plisse(&["run", "a scene.toml", "-o", "taken/out"], folder.path());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("cannot write") && said.contains("taken"), "{said}");
    assert_eq!(fs::read(folder.path().join("taken")).unwrap(), b"x");
    // A folder for which there is no permission; the administrator has it anyway.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let locked = folder.path().join("locked");
        fs::create_dir(&locked).unwrap();
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
        let refused = fs::write(locked.join("probe"), b"x").is_err();
        let output =
            plisse(&["run", "a scene.toml", "-q", "-o", "locked/out", "--stop-after", "1"], folder.path());
        if refused {
            assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
            assert!(text(&output.stderr).contains("Check the permissions"), "{}", text(&output.stderr));
            assert_eq!(fs::read_dir(&locked).unwrap().count(), 0);
        }
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn json_is_for_machines() {
    let folder = tempfile::tempdir().unwrap();
    write_scene(folder.path(), "backward-euler");
    let output = plisse(&["--json", "run", "a scene.toml", "--stop-after", "2"], folder.path());
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    let lines: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 9);
    assert_eq!((&lines[7]["frame"], &lines[8]["outcome"]), (&2.into(), &"stopped".into()));
    assert_eq!(plisse(&["--json", "materials"], folder.path()).status.code(), Some(2));
    let output = plisse(&["-q", "check", "a scene.toml"], folder.path());
    assert!(output.status.success() && output.stdout.is_empty());
}

#[test]
fn every_scene_of_the_repository_is_right() {
    let mut names: Vec<String> = fs::read_dir(scenes())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 9, "{names:?}");
    let arguments: Vec<&str> = std::iter::once("check").chain(names.iter().map(String::as_str)).collect();
    let output = plisse(&arguments, &scenes());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).lines().count(), names.len());
}

#[test]
fn materials_are_listed() {
    let output = plisse(&["materials"], Path::new("."));
    let said = text(&output.stdout);
    for name in
        ["cotton", "denim", "silk", "wool", "interlock", "tablecloth", "paper", "mylar", "steel-sheet"]
    {
        assert!(said.contains(name), "{said}");
    }
}

/// A cloth that stands on its edge is in equilibrium; nobody should take it for a result without a
/// word.
#[test]
fn an_unstable_equilibrium_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let scene = "version = 1\ntime = { duration = 0.2, step = 0.1, frames_per_second = 10, scheme = \"quasistatic\" }\n\
        [output]\npictures = \"none\"\n[[cloth]]\ngrid = { cells = [6, 6], size = [1, 1] }\nrotation = [90, 0, 0]\n\
        material = \"tablecloth\"\npin = [{ group = \"bottom\" }]\n";
    for (name, text, stable) in
        [("standing", scene, false), ("hanging", &scene.replace("[90,", "[-90,"), true)]
    {
        fs::write(at.join(format!("{name}.toml")), text).unwrap();
        let run = plisse(&["run", &format!("{name}.toml"), "--quiet"], at);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.success(), "{said}");
        let warned = said.contains("2 of 2 equilibria are unstable, the last one included")
            && said.contains("`jitter`");
        assert_eq!(warned, !stable, "{said}");
        let report = fs::read_to_string(at.join(format!("out/{name}/report.jsonl"))).unwrap();
        assert!(report.lines().all(|line| line.contains(&format!("\"stable\":{stable}"))), "{report}");
    }
}

/// A run tells the largest stretch of cloth with a limit; one that cannot keep it ends with status
/// 3 and says which face is pulled how far.
#[test]
fn strain_limits_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let scene = |more: &str| {
        format!(
            "version = 1\ntime = {{ duration = 0.1, frames_per_second = 20, shortest_step = 1e-3 }}\n[output]\npictures = \"none\"\n\
             [[cloth]]\nname = \"towel\"\ngrid = {{ cells = [6, 6], size = [1, 1] }}\nmaterial = {{ preset = \"cotton\", warp = 15, \
             weft = 15, shear = 3 }}\nstrain_limit = 1.02\n{more}\n"
        )
    };
    fs::write(at.join("hangs.toml"), scene("pin = [{ group = \"top-left\" }, { group = \"top-right\" }]"))
        .unwrap();
    let run = plisse(&["run", "hangs.toml"], at);
    let said = text(&run.stderr) + &text(&run.stdout);
    assert!(run.status.success() && said.contains("; largest stretch 1.01"), "{said}");
    let report = fs::read_to_string(at.join("out/hangs/report.jsonl")).unwrap();
    for line in report.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!((0.99..1.02).contains(&line["stretch"].as_f64().unwrap()), "{line}");
    }
    let pulled = "pin = [{ group = \"left\" }, { group = \"right\", motion = [{ time = 0 }, { time = 0.1, move = [0.1, 0, 0] }] }]";
    fs::write(at.join("pulled.toml"), scene(pulled)).unwrap();
    let run = plisse(&["run", "pulled.toml", "--quiet"], at);
    let said = text(&run.stderr);
    assert_eq!(run.status.code(), Some(3), "{said}");
    for part in ["pulls further than a limit of stretch allows", "towel: strain limit: face", "at most 1.02"]
    {
        assert!(said.contains(part), "\"{part}\" is missing in: {said}");
    }
}
