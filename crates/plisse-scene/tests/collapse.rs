//! Cloth whose triangles collapse and sheets that fold over: every step converges, from several
//! starts.
#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::path::Path;

use glam::DVec3;
use plisse_core::SplitMix;
use plisse_scene::file::Loaded;
use plisse_system::State;

/// Steps of a scene from starts that differ by up to 0.1 mm.
fn run(text: &str, starts: u64, steps: usize) {
    for seed in 0..starts {
        let mut scene = Loaded::parse(text, "scene", Path::new("")).unwrap().scene;
        if seed > 0 {
            let mut random = SplitMix::new(seed);
            let mut noise = || DVec3::new(random.signed(), random.signed(), random.signed()) * 1e-4;
            let x = scene.state().x().map(|x| *x + noise());
            let v = scene.state().v().clone();
            scene.set_state(State::new(x, v).unwrap()).unwrap();
        }
        for step in 0..steps {
            let report = scene.step();
            assert!(report.is_ok(), "start {seed}, step {step}: {}", report.unwrap_err());
        }
    }
}

/// The corner of the shear test of Kim20 has collapsed after a quarter of a second.
#[test]
fn the_corner_of_the_shear_test() {
    run(include_str!("../../../fixtures/scenes/shear-test-3-1.toml"), 1, 20);
}

/// A soft sheet between two opposite corners folds over itself: see the page on mid-edge bending.
#[test]
fn a_mid_edge_sheet_folds_over() {
    let text = r#"
        version = 1
        time = { duration = 0.5, step = 0.01 }
        [[cloth]]
        grid = { cells = [30, 30], size = [1, 1] }
        material = { membrane = "corotational", tensile = 500, poisson = 0.45, density = 0.15, bending = "mid-edge", rigidity = 1.306e-5 }
        pin = [{ group = "top-left" }, { group = "bottom-right" }]
    "#;
    run(text, 1, 50);
}
