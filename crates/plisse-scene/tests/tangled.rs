//! Scenes whose triangles cross at the start: refused, pulled apart, or left alone until they have
//! come apart.
#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests may panic, and compare bits")]

use std::path::Path;

use glam::DVec3;
use plisse_scene::file::Loaded;
use plisse_scene::scene::{Scene, SceneWarning};

/// A sheet whose corner goes through another one. Its far edge is lifted by 0.6 m within 0.4 s, and
/// put down again.
fn corner(start: &str) -> Result<Scene, String> {
    let text = format!(
        r#"
version = 1
start = "{start}"
time = {{ duration = 1, step = 0.01 }}
[[cloth]]
name = "lower"
grid = {{ cells = [12, 12], size = [0.4, 0.4] }}
pin = [{{ group = "left" }}, {{ group = "right" }}]
[[cloth]]
name = "upper"
grid = {{ cells = [12, 12], size = [0.4, 0.4] }}
position = [0.25, 0.2, 0.07]
rotation = [12, -12, 0]
[[cloth.pin]]
group = "right"
motion = [{{ time = 0 }}, {{ time = 0.4, move = [0, 0, 0.6] }}, {{ time = 1.1, move = [-0.1, 0, -0.1] }}]
"#
    );
    Loaded::parse(&text, "s", Path::new(".")).map(|loaded| loaded.scene).map_err(|error| error.to_string())
}

#[test]
fn crossings_are_refused_unless_something_else_is_said() {
    let error = corner("refuse").err().unwrap();
    assert!(error.contains("lower") && error.contains("upper") && error.contains("cross"), "{error}");
    let error = corner("wait").err().unwrap();
    assert!(error.contains("untangle"), "{error}");
}

/// A mesh as a modeller exports it: the message leads to its lines, and to that of its table.
#[test]
fn crossings_name_the_lines_of_meshes() {
    let folder = std::env::temp_dir().join(format!("plisse tangled {}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mesh = "# two triangles\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n\nf 1 2 3\nf 2 4 3\n";
    std::fs::write(folder.join("floor cloth.obj"), mesh).unwrap();
    let text = r#"
version = 1
time = { duration = 1 }
[[cloth]]
grid = { cells = [1, 1], size = [0.1, 0.1] }
rotation = [90, 0, 0]
position = [0.8, 0.8, 0]
[[cloth]]
name = "floor"
mesh = "floor cloth.obj"
"#;
    let error = Loaded::parse(text, "s", &folder).err().unwrap().to_string();
    std::fs::remove_dir_all(folder).unwrap();
    assert!(error.contains("s:8: cloth 1 and floor cross"), "{error}");
    assert!(error.contains("line 8 of floor cloth.obj"), "{error}");
}

#[test]
fn a_corner_is_pulled_out_before_the_start() {
    let mut scene = corner("untangle").unwrap();
    let [SceneWarning::Untangled { pairs, farthest }] = scene.warnings() else {
        panic!("{:?}", scene.warnings())
    };
    assert!(*pairs > 3 && (1e-3..0.06).contains(farthest), "{pairs} {farthest}");
    for step in 0..60 {
        assert!(scene.crossings().forbidden.is_empty(), "step {step}");
        scene.step().unwrap();
    }
}

#[test]
fn what_crosses_may_come_out_by_itself_and_never_goes_back() {
    let mut scene = corner("ignore").unwrap();
    let pairs = scene.crossings().forbidden.len();
    assert!(
        matches!(scene.warnings(), [SceneWarning::StartsTangled { pairs: p, tangles: 1 }] if *p == pairs)
    );
    let (mut free, mut saved) = (None, None);
    for step in 0..100 {
        let left = scene.crossings().forbidden.len();
        if step == 4 {
            assert!(left > 0);
            let state = scene.state().clone();
            saved = Some(state.clone());
            // As at a checkpoint.
            scene.set_state(state).unwrap();
        }
        match free {
            None if left == 0 => free = Some(step),
            None => {}
            Some(since) => assert_eq!(left, 0, "free since {since}, not in step {step}"),
        }
        let energy = scene.step().unwrap().energies;
        assert!(energy.kinetic < 1.0, "step {step}: {}", energy.kinetic);
    }
    assert!(free.is_some_and(|step| step < 60), "{free:?}");

    // Whether something may pass depends on where it is, and on nothing else.
    let mut again = corner("ignore").unwrap();
    again.set_state(saved.unwrap()).unwrap();
    for _ in 4..100 {
        again.step().unwrap();
    }
    assert!(again.state().x() == scene.state().x());
}

/// A sheet that dips into a box comes out of it, although the box has much larger triangles.
#[test]
fn cloth_comes_out_of_a_box() {
    let scene = |start: &str| {
        let text = format!(
            r#"
version = 1
start = "{start}"
time.duration = 1
[[cloth]]
name = "sheet"
grid = {{ cells = [20, 20], size = [0.5, 0.5] }}
[[obstacle]]
name = "block"
box = {{ size = [0.3, 0.3, 0.3], centre = [0.02, 0.03, -0.16], rotation = [14, 9, 5] }}
"#
        );
        Loaded::parse(&text, "s", Path::new(".")).map_err(|error| error.to_string())
    };
    assert!(scene("refuse").is_err());
    let mut scene = scene("untangle").unwrap().scene;
    assert!(matches!(scene.warnings(), [SceneWarning::Untangled { .. }]), "{:?}", scene.warnings());
    let block = scene.obstacles()[0].clone();
    for _ in 0..30 {
        assert!(scene.crossings().forbidden.is_empty());
        let depth = |x: &DVec3| -block.distance(0.0, *x).value;
        assert!(scene.state().x().as_slice().iter().map(depth).fold(f64::MIN, f64::max) < 0.0);
        scene.step().unwrap();
    }
}

/// What is tangled is not excused from obstacles that it is not tangled with: it would stay below
/// the floor.
#[test]
fn tangled_cloth_must_start_above_the_floor() {
    let scene = |height: f64| {
        let text = format!(
            r#"
version = 1
start = "ignore"
time.duration = 1
[[cloth]]
name = "one"
grid = {{ cells = [6, 6], size = [0.2, 0.2] }}
[[cloth]]
name = "other"
grid = {{ cells = [6, 6], size = [0.2, 0.2] }}
rotation = [0, 80, 3]
position = [0.013, 0.011, 0]
[[obstacle]]
name = "floor"
plane = {{ point = [0, 0, {height}], normal = [0, 0, 1] }}
"#
        );
        Loaded::parse(&text, "s", Path::new(".")).map(|_| ()).map_err(|error| error.to_string())
    };
    scene(-0.3).unwrap();
    let error = scene(-0.05).unwrap_err();
    assert!(error.contains("floor") && error.contains("other"), "{error}");
}
