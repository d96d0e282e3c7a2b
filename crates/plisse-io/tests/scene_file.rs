//! Scene files: every mistake at once, and nothing that makes the reader fall over.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use std::fs;
use std::path::Path;

use common::Mutator;
use plisse_io::scene_file::{ColourBy, MaterialChoice, SceneFile, SchemeName, Up};

fn fixtures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenes");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
        .iter()
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .map(|p| fs::read_to_string(p).unwrap())
        .collect()
}

fn messages(text: &str) -> Vec<String> {
    let mistakes = SceneFile::parse(text, "s.toml").unwrap_err();
    mistakes.list.iter().map(|m| format!("{}: {}", m.line, m.message)).collect()
}

#[test]
fn defaults_are_those_of_the_reference() {
    let text = "version = 1\ntime.duration = 2\n[[cloth]]\ndisc = { rings = 3, radius = 1 }";
    let scene = SceneFile::parse(text, "s.toml").unwrap();
    assert_eq!((scene.up, scene.gravity.0, scene.time.step.get()), (Up::Z, 9.81, 0.01));
    assert_eq!(scene.time.scheme, SchemeName::BackwardEuler);
    assert_eq!(scene.camera.colour_by, ColourBy::Material);
    assert_eq!(scene.cloth[0].material, MaterialChoice::Preset("cotton".to_owned(), 1));
    assert_eq!(scene.cloth[0].at_line, 3);
    // Every default can be read: the reference does not lie.
    for table in SceneFile::reference() {
        for key in table.keys {
            assert!(!key.text.is_empty() && !key.expected.is_empty(), "{} {}", table.name, key.key);
        }
    }
}

#[test]
fn every_mistake_is_reported_with_its_line() {
    let text = r#"version = 2
gravty = 9.81
[time]
duration = "long"
step = 0
scheme = "backward-euller"
[[cloth]]
grid = { cells = [10, 0], size = [1, -1], diagonal = "up" }
pin = [{ vertices = [1, -2] }, { grup = "left" }]
material = { poisson = 1.6, density = inf }
[camera]
size = [10, 10]
from = [0, 1]
"#;
    assert_eq!(
        messages(text),
        [
            "1: 2 is not 1, the version of the format that this program reads",
            "2: the scene has no \"gravty\"; did you mean \"gravity\"?",
            "4: \"long\" is not a positive number",
            "5: 0 is not a positive number",
            "6: \"backward-euller\" is not \"backward-euler\", \"bdf2\", \"newmark\", \"quasistatic\"; did you mean \"backward-euler\"?",
            "8: \"up\" is not \"left\", \"right\", \"alternating\", \"delaunay\"",
            "8: -1 is not a positive number",
            "8: 0 is not a whole number from 1 to 10000000",
            "9: -2 is not a whole number, zero or more",
            "9: pin has no \"grup\"; did you mean \"group\"?",
            "10: 1.6 is not a number between -1 and 1",
            "10: inf is not a number from 1e-60 to 1e60",
            "12: 10 is not a whole number from 16 to 8192",
            "13: a list of 2 is not a list of three finite numbers",
        ]
    );
}

#[test]
fn what_is_not_toml_is_named_by_line() {
    let found = messages("version = 1\n[time\nduration = = 3\n");
    assert!(found.len() >= 2 && found[0].starts_with("2:") && found[1].starts_with("3:"), "{found:?}");
    assert_eq!(messages("time = 3\nversion = 1")[0], "1: 3 is not a table ([time])");
    assert!(messages("")[0].contains("needs"));
    assert!(messages("version = 1\nversion = 1")[0].starts_with("2:"));
}

/// 100,000 mutations of all scenes: no panic, no hang, and mistakes always have a line of the file.
#[test]
fn mutations_never_make_it_fall_over() {
    let seeds = fixtures();
    assert!(seeds.len() >= 9);
    let dictionary = [
        "[[cloth]]",
        "[time]",
        "=",
        "\"",
        "'''",
        "{",
        "}",
        "[",
        "]",
        "nan",
        "-inf",
        "1e999",
        "-0",
        "0x10",
        "true",
        "1979-05-27",
        "box",
        "pin = [{}]",
        "\u{0}",
        "\u{feff}",
        "é",
        "material",
        ".",
        ",",
        "#",
        "\r",
        "999999999999999999999",
    ];
    let mut mutator = Mutator::new(20_261_116);
    let mut read = 0;
    for round in 0..100_000 {
        let text = mutator.mutate(&seeds[round % seeds.len()], &dictionary);
        match SceneFile::parse(&text, "m.toml") {
            Ok(_) => read += 1,
            Err(mistakes) => {
                let lines = text.matches('\n').count() + 1;
                assert!(!mistakes.list.is_empty());
                assert!(mistakes.list.iter().all(|m| (1..=lines).contains(&m.line)), "{mistakes}\n{text}");
            }
        }
    }
    // Some mutations are harmless; if all or none were, the test would test nothing.
    assert!((1000..99_000).contains(&read), "{read}");
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("version = 1\nx = {}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(!messages(&deep).is_empty());
    let tables = format!("version = 1\n[{}a]\n", "a.".repeat(50_000));
    assert!(!messages(&tables).is_empty());
}

#[test]
fn a_hundred_mistakes_are_shown() {
    let keys: String = (0..150).map(|i| format!("unknown{i} = 1\n")).collect();
    let said = |text: &str| SceneFile::parse(text, "s.toml").unwrap_err().to_string();
    let text = said(&format!("version = 1\ntime.duration = 1\n{keys}"));
    assert_eq!(text.lines().count(), 101, "{text}");
    assert!(text.ends_with("s.toml: and 50 more"), "{text}");
    // Files of mistakes alone do not fill the memory with messages.
    let keys: String = (0..20_000).map(|i| format!("unknown{i} = 1\n")).collect();
    let text = said(&format!("version = 1\ntime.duration = 1\n{keys}"));
    assert!(text.lines().count() == 101 && text.ends_with("and at least 9900 more"), "{text}");
}

/// What is not meant to be a scene may be private.
#[test]
fn other_files_are_not_repeated() {
    for text in [
        "root:x:0:0:root:/root:/bin/sh\nuser:$6$secret:1\n",
        "password = \"secret\"\n",
        "version = \"secret\"\n[secret]\nx = 1\n",
        "secret",
        "[database]\nsecret = 'x\n",
    ] {
        let found = messages(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("not a scene file") && !found[0].contains("secret"), "{found:?}");
    }
    // What is meant to be one is told everything.
    for text in ["version = 1\ntimes = 3\n", "[time]\nduratoin = 1\n", "[[cloth]]\nx = [\n", ""] {
        assert!(!messages(text)[0].contains("not a scene file"), "{text}");
    }
}
