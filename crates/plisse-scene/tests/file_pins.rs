//! Pins, forces, winds, pressures and sizes of obstacles in scene files.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::path::Path;

use glam::DVec3;
use plisse_scene::file::Loaded;

const HEAD: &str = "version = 1\ntime.duration = 1\n";

fn load(text: &str) -> Result<Loaded, String> {
    let text = format!("{HEAD}{text}");
    Loaded::parse(&text, "a.toml", Path::new("")).map_err(|mistakes| mistakes.to_string())
}

const CLOTH: &str = "[[cloth]]\ngrid = { cells = [2, 2], size = [0.1, 0.1] }\n";

fn refused(keys: &str) -> String {
    load(&format!("{CLOTH}{keys}")).err().unwrap()
}

#[test]
fn pins_and_forces_are_read() {
    let pins = "pin = [{ group = \"left\", until = 0.02 }, { group = \"right\", stiffness = 30, follow = \"post\" }]\n";
    let force = "force = [{ total = [0, 0, 1] }, { group = \"top\", over_time = [{ time = 0, total = [0, 0, 0] }, \
                 { time = 1, total = [1, 0, 0] }] }]\n";
    let post = "[[obstacle]]\nname = \"post\"\nsphere = { radius = 0.01 }\nposition = [1, 0, 0]\n";
    let mut loaded = load(&format!("{CLOTH}{pins}{force}{post}")).unwrap();
    let names: Vec<String> = loaded.scene.system().terms().map(|term| term.name().to_owned()).collect();
    for name in ["cloth 1: soft pin 1", "cloth 1: force 1", "cloth 1: force 2"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
    assert_eq!(loaded.scene.system().unknowns().len(), 6);
    for _ in 0..3 {
        loaded.scene.step().unwrap();
    }
    assert_eq!(loaded.scene.system().unknowns().len(), 9, "the left side is free");
}

#[test]
fn names_do_not_count_but_what_is_followed_does() {
    let scene = |names: [&str; 2], follow: &str, key: &str| {
        let obstacle = |(i, name): (usize, &&str)| {
            format!("[[obstacle]]\nname = \"{name}\"\nsphere = {{ radius = 0.01 }}\nposition = [1, {i}, 0]\n")
        };
        let obstacles: String = names.iter().enumerate().map(obstacle).collect();
        load(&format!("{CLOTH}pin = [{{ group = \"left\", follow = \"{follow}\"{key} }}]\n{obstacles}"))
            .unwrap()
            .tag
    };
    let tag = scene(["a", "b"], "a", "");
    assert_eq!(tag, scene(["x", "y"], "x", ""));
    assert_ne!(tag, scene(["a", "b"], "b", ""));
    assert_ne!(tag, scene(["a", "b"], "a", ", until = 1"));
    assert_ne!(tag, scene(["a", "b"], "a", ", stiffness = 1"));
    let plain = |keys: &str| load(&format!("{CLOTH}{keys}")).unwrap().tag;
    assert_ne!(plain(""), plain("force = [{ total = [0, 0, 1] }]"));
    assert_ne!(plain("[air]"), plain("[air]\nwind_over_time = [{ time = 0, wind = [1, 0, 0] }]"));
}

#[test]
fn every_mistake_has_its_line_and_a_remedy() {
    for (keys, parts) in [
        ("pin = [{ group = \"left\", until = 0 }]", vec!["a.toml:5: 0 is not a positive number"]),
        ("pin = [{ group = \"left\", stiffness = -1 }]", vec!["a.toml:5: -1 is not a positive number"]),
        (
            "pin = [{ group = \"left\", follow = \"post\" }]",
            vec!["a.toml:5: a pin follows \"post\", but no obstacle is called that; the scene has none"],
        ),
        (
            "pin = [{ group = \"left\", line = [1, 0, 0], stiffness = 3 }]",
            vec!["a.toml:5: springs do not let vertices slide", "remove \"stiffness\""],
        ),
        (
            "pin = [{ group = \"left\", line = [1, 0, 0], follow = \"x\" }]",
            vec!["a.toml:5: a pin has at most one of motion, follow, line, plane"],
        ),
        ("force = [{ group = \"left\" }]", vec!["a.toml:5: a force needs \"total\""]),
        ("force = [{ group = \"lef\", total = [0, 0, 1] }]", vec!["a.toml:5:", "no group \"lef\""]),
        (
            "force = [{ total = [0, 0, 1], over_time = [{ time = 0, total = [0, 0, 1] }] }]",
            vec!["a.toml:5: a force has either"],
        ),
        (
            "force = [{ over_time = [{ time = 1, total = [0, 0, 1] }, { time = 1, total = [0, 0, 0] }] }]",
            vec!["a.toml:5: keyframe 1: times must ascend"],
        ),
        ("force = [{ totl = [0, 0, 1] }]", vec!["a.toml:5: force has no \"totl\"; did you mean \"total\"?"]),
        ("pressure = 5", vec!["a.toml:3: cloth 1 is open", "wind of the air"]),
        (
            "pressure = 5\npressure_over_time = [{ time = 0, pressure = 5 }]",
            vec!["a.toml:3: a filling has pressure and pressure_over_time"],
        ),
        (
            "[air]\nwind = [1, 0, 0]\nwind_over_time = [{ time = 0, wind = [1, 0, 0] }]",
            vec!["a.toml:5: the air has \"wind\" and \"wind_over_time\"; remove one"],
        ),
        (
            "model = \"developable\"\nforce = [{ total = [0, 0, 1] }]",
            vec!["a.toml:3: cloth 1 is developable: forces do not act on it yet"],
        ),
        (
            "[[obstacle]]\nsphere = { radius = 0.1 }\nscale = [1, 1, 2]\nposition = [0, 0, -1]",
            vec!["a.toml:5: a sphere cannot be scaled by [1.0, 1.0, 2.0]; give three equal factors"],
        ),
    ] {
        let message = refused(keys);
        assert!(parts.iter().all(|part| message.contains(part)), "{keys}: {message}");
    }
}

#[test]
fn obstacles_grow_before_they_are_turned() {
    let text = "[[obstacle]]\nbox = { size = [0.1, 0.1, 0.1], centre = [0, 0, 0.05] }\nscale = [1, 4, 2]\n\
                rotation = [0, 0, 90]\nposition = [0, 0, -1]\n\
                [[obstacle]]\ncone = { from = [0, 0, 0], to = [0, 0, 0.1], radii = [0.1, 0] }\n\
                scale = [2, 2, 2]\nposition = [0, 0, -2]\n";
    let loaded = load(&format!("{CLOTH}{text}")).unwrap();
    let [block, cone] = loaded.scene.obstacles() else { panic!("two obstacles") };
    let gap = |x: f64, y: f64, z: f64| block.distance(0.0, DVec3::new(x, y, z)).value;
    assert!((gap(1.0, 0.0, -0.9) - 0.8).abs() < 1e-12);
    assert!((gap(0.0, 1.0, -0.9) - 0.95).abs() < 1e-12);
    assert!((gap(0.0, 0.0, -0.5) - 0.3).abs() < 1e-12);
    assert!((cone.distance(0.0, DVec3::Z * -1.7).value - 0.1).abs() < 1e-12);
}
