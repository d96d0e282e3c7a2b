//! What `check`, `info` and `run` say about starts and meshes that are not what was meant.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Status, standard output and standard error.
fn plisse(arguments: &[&str], folder: &Path) -> (Option<i32>, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_plisse")).args(arguments).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const HEAD: &str =
    "version = 1\ntime = { duration = 0.02, frames_per_second = 50 }\noutput = { pictures = \"none\" }\n";

#[test]
fn cloth_under_the_floor_is_refused_by_check_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let scene = format!(
        "{HEAD}[[cloth]]\ngrid = {{ cells = [4, 4], size = [1, 1] }}\nposition = [0, 0, -1]\n\
         [[obstacle]]\nplane = {{ normal = [0, 0, 1] }}\n"
    );
    fs::write(folder.path().join("under.toml"), &scene).unwrap();
    for arguments in [["check", "under.toml"], ["run", "under.toml"]] {
        let (status, _, said) = plisse(&arguments, folder.path());
        assert_eq!(status, Some(2), "{said}");
        for part in
            ["under.toml:4: cloth 1 starts inside obstacle 1", "25 of its 25", "1 m inside", "move cloth 1"]
        {
            assert!(said.contains(part), "{said}");
        }
    }
    assert!(!folder.path().join("out").exists(), "nothing is written for bad input");
}

/// Suspicious scenes run, and every command says what is suspicious; `-q` wants to hear of mistakes
/// only.
#[test]
fn warnings_are_said_and_do_not_stop() {
    let folder = tempfile::tempdir().unwrap();
    let scene = format!(
        "{HEAD}[[cloth]]\ngrid = {{ cells = [2, 2], size = [1, 1] }}\nmaterial = {{ density = 200 }}\n"
    );
    fs::write(folder.path().join("heavy.toml"), scene).unwrap();
    let warning = "warning: the density of cloth 1 is 200 kg/m2; usual are 0.005 to 20 kg/m2";
    let (status, out, said) = plisse(&["check", "heavy.toml"], folder.path());
    assert!(status == Some(0) && out.starts_with("heavy.toml: ok with a warning, 1 bodies"), "{out}");
    assert!(said.contains(&format!("heavy.toml: {warning}")), "{said}");
    let (status, _, said) = plisse(&["run", "heavy.toml"], folder.path());
    assert!(status == Some(0) && said.contains(warning), "{said}");
    let (status, out, said) = plisse(&["run", "heavy.toml", "--json", "-o", "other"], folder.path());
    assert!(status == Some(0) && said.contains(warning) && !out.contains("warning: "), "{out} {said}");
    let (status, out, said) = plisse(&["-q", "check", "heavy.toml"], folder.path());
    assert!(status == Some(0) && out.is_empty() && said.is_empty(), "{out} {said}");
}

/// A sheet of nine quads with vertices of their own: eighteen loose triangles.
fn loose() -> String {
    let mut out = String::new();
    for (i, j) in (0..9).map(|k| (k % 3, k / 3)) {
        for (x, y) in [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)] {
            out += &format!("v {x} {y} 0\nvt {} {}\n", f64::from(x) / 3.0, f64::from(y) / 3.0);
        }
        out += "f -4/-4 -3/-3 -2/-2 -1/-1\n";
    }
    out
}

#[test]
fn info_names_what_a_scene_would_refuse() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("loose.obj"), loose()).unwrap();
    let (status, out, said) = plisse(&["info", "loose.obj"], folder.path());
    for part in [
        "9 separate pieces",
        "20 vertices in the place of another",
        "vt from [0.0, 0.0] to [1.0, 1.0]",
        "area 9.000000 m2",
    ] {
        assert!(out.contains(part), "{out}");
    }
    assert!(
        status == Some(2) && said.contains("weld = true joins them") && !out.contains("can be simulated"),
        "{said}"
    );
    // Each remedy leads on to the next mistake, the last one to a cloth.
    let scene = |keys: &str| {
        fs::write(folder.path().join("s.toml"), format!("{HEAD}[[cloth]]\nmesh = \"loose.obj\"\n{keys}"))
            .unwrap();
        plisse(&["check", "s.toml"], folder.path())
    };
    assert!(scene("").2.contains("s.toml:4:") && scene("").2.contains("weld = true joins them"));
    assert!(scene("weld = true\n").2.contains("uv_scale = \"area\" makes both equal (the factor is 3)"));
    let (status, out, said) = scene("weld = true\nuv_scale = \"area\"\n");
    assert!(
        status == Some(0) && out.contains("ok, 1 bodies, 16 vertices") && said.is_empty(),
        "{out} {said}"
    );
}

#[test]
fn info_says_that_wires_only_touch() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("w.obj"), "v 0 0 0\nv 1 0 0\nv 1 0 0\nv 2 0 0\nl 1 2\nl 3 4\n").unwrap();
    let (status, out, said) = plisse(&["info", "w.obj"], folder.path());
    assert!(out.contains("2 separate pieces, 1 vertices in the place of another"), "{out}");
    assert!(status == Some(2) && said.contains("weld = true in [[wires]] joins them"), "{said}");
}
