//! `plisse moduli`, run as a person would.
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

const SMALL: [&str; 3] = ["moduli", "--crossings", "6"];

/// The material goes into a scene file as it is.
#[test]
fn the_material_is_one_of_scene_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let choices: [&[&str]; 3] = [
        &[],
        &["--stretch", "40,20", "--bending", "2e-9,1e-9", "--spacing", "8e-4,1.2e-3", "--weave", "twill:2/2"],
        &["--bending", "0", "--shear", "0", "--weave", "satin:5/2"],
    ];
    for choice in choices {
        let output = plisse(&[&SMALL, choice].concat(), folder);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let printed = text(&output.stdout);
        let material = printed.lines().find(|line| line.starts_with("material = ")).unwrap();
        let scene = format!(
            "version = 1\ntitle = \"hanging\"\n[time]\nduration = 0.02\nstep = 0.01\n\
             frames_per_second = 50\n[[cloth]]\nname = \"sheet\"\n\
             grid = {{ cells = [4, 4], size = [0.04, 0.04] }}\n{material}\npin = [{{ group = \"top\" }}]\n"
        );
        fs::write(folder.join("scene.toml"), scene).unwrap();
        let output = plisse(&["check", "scene.toml"], folder);
        assert!(output.status.success(), "{material}\n{}", text(&output.stderr));
    }
}

#[test]
fn the_report_has_the_figures_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let output = plisse(&[&SMALL, &["--json"][..]].concat(), folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let figure = |key: &str| report[key].as_f64().unwrap();
    // Cotton: 60 N and 1e-4 kg/m of a yarn per millimetre.
    assert!((figure("warp") / 6e4 - 1.0).abs() < 1e-6);
    assert!((figure("weft") / 6e4 - 1.0).abs() < 1e-6);
    assert!((figure("density") / 0.2 - 1.0).abs() < 1e-9);
    assert!((figure("shear") - 1.0).abs() < 1e-4);
    assert!((report["bending"][0].as_f64().unwrap() / 1e-6 - 1.0).abs() < 1e-4);
    assert_eq!(report["tests"].as_array().unwrap().len(), 6);
    assert!(report["material"].as_str().unwrap().contains("rigidity"));
}

#[test]
fn what_cannot_be_tested_is_a_mistake_of_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &str); 7] = [
        (&["--radius", "-1"], "radius"),
        (&["--spacing", "1e-4"], "larger spacing"),
        (&["--strain", "2"], "cannot go to 2"),
        (&["--strain", "nan"], "NaN"),
        (&["--weave", "twill:0/2"], "twill"),
        (&["--weave", "lace"], "satin:5/2"),
        (&["--stretch", "1,2,3"], "warp and weft"),
    ];
    for (options, word) in cases {
        let output = plisse(&[&SMALL, options].concat(), folder.path());
        assert_eq!(output.status.code(), Some(2), "{options:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(word), "{options:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}
