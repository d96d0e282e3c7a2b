//! A result that is given without a warning can be trusted: scenes at rest, equilibria, closed
//! surfaces, rubber.
#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::path::Path;

use plisse::file::{AnyScene, Loaded};
use plisse::scene::SceneWarning;

fn load(text: &str) -> Loaded {
    Loaded::parse(&format!("version = 1\n{text}"), "test", Path::new("")).unwrap()
}

/// The energy of a sheet at rest is rounding errors. Any part of them may come and go.
#[test]
fn a_sheet_at_rest_gains_no_energy() {
    for scheme in ["backward-euler", "bdf2", "newmark"] {
        // Away from the origin, where coordinates are coarser.
        for x in [0.0, 30.0] {
            let mut loaded = load(&format!(
                "gravity = 0\ntime = {{ duration = 1, step = 0.005, scheme = \"{scheme}\" }}\n\
                 [[cloth]]\ngrid = {{ cells = [14, 14], size = [1, 1] }}\nposition = [{x}, 0, 0]\nmaterial = \"cotton\""
            ));
            for _ in 0..100 {
                let report = loaded.scene.step().unwrap();
                assert!(report.unexplained < 0.1 && report.rejected == 0, "{scheme} {}", report.unexplained);
                assert!(report.energies.total() < 1e-15, "{scheme} {}", report.energies.total());
            }
        }
    }
}

/// A cloth that stands on its lower edge is in equilibrium, and falls at the first breath of air.
#[test]
fn a_standing_cloth_is_unstable() {
    let stable = |rotation: f64| {
        let mut loaded = load(&format!(
            "time = {{ duration = 1, step = 0.1, scheme = \"quasistatic\" }}\n\
             [[cloth]]\ngrid = {{ cells = [6, 6], size = [1, 1] }}\nrotation = [{rotation}, 0, 0]\n\
             material = \"tablecloth\"\npin = [{{ group = \"bottom\" }}]"
        ));
        let report = loaded.scene.step().unwrap();
        // The first vertex is held.
        let x = loaded.scene.state().x().as_slice();
        let above: f64 = x.iter().map(|other| other.z - x[0].z).sum();
        (report.stable, above > 0.0)
    };
    assert_eq!(stable(90.0), (Some(false), true));
    assert_eq!(stable(-90.0), (Some(true), false));
}

/// Two unit cubes, the second turned inside out or not.
fn cubes(folder: &Path, turned: bool, apart: [f64; 2]) {
    let mut obj = String::new();
    for (offset, half) in [([0.0, 0.0], 0.5), (apart, if apart[0] == 0.0 { 0.2 } else { 0.5 })] {
        for [x, y, z] in [0, 1, 2, 3, 4, 5, 6, 7].map(|i| [i & 1, i >> 1 & 1, i >> 2 & 1]) {
            let at = |i: i32, o: f64| o + half * f64::from(2 * i - 1);
            obj += &format!("v {} {} {}\n", at(x, offset[0]), at(y, offset[1]), at(z, 0.0));
        }
    }
    let quads = [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]];
    for cube in [0, 8] {
        for quad in quads {
            let mut quad = quad.map(|v: i32| (v + cube).to_string());
            if turned && cube > 0 {
                quad.reverse();
            }
            obj += &format!("f {}\n", quad.join(" "));
        }
    }
    std::fs::write(folder.join("cubes.obj"), obj).unwrap();
}

/// The orientation of a closed surface is that of each of its pieces, not of their sum.
#[test]
fn every_piece_points_outwards() {
    let folder = std::env::temp_dir().join(format!("plisse-cubes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let rubber = "material = { young = 1e6, poisson = 0.3, thickness = 1e-3, mass_density = 1000 }";
    let filled = format!("[[cloth]]\nmesh = \"cubes.obj\"\n{rubber}\npressure = 50");
    let sheet = "[[cloth]]\ngrid = { cells = [2, 2], size = [1, 1] }\nposition = [0, 0, 2]";
    let obstacle = format!("{sheet}\n[[obstacle]]\nmesh = \"cubes.obj\"");
    let wrinkle = "wrinkle = { young = 1e6, poisson = 0.3, thickness = 1e-3 }\nmodel = \"wrinkle\"\n\
                   [[cloth]]\nmesh = \"cubes.obj\"\npressure = 50";
    let said = |scene: &str| {
        let text = format!("version = 1\ntime = {{ duration = 1 }}\n{scene}");
        let loaded = AnyScene::parse(&text, "test", &folder);
        loaded.err().map(|mistakes| mistakes.to_string()).unwrap_or_default()
    };
    for scene in [filled.as_str(), &obstacle, wrinkle] {
        cubes(&folder, false, [3.0, 0.0]);
        assert_eq!(said(scene), "");
        cubes(&folder, true, [3.0, 0.0]);
        let refused = said(scene);
        assert!(
            refused.contains("piece 2 of 2 of the surface (12 faces, the first is face 12)"),
            "{refused}"
        );
        assert!(refused.contains("encloses -1.000e0 m³: its faces point inwards"), "{refused}");
        // The surface of a cavity points into it.
        cubes(&folder, true, [0.0, 0.0]);
        assert_eq!(said(scene), "");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

const BALLOON: &str = "gravity = 0\ntime = { duration = 1, step = 0.02 }\n[[cloth]]\nsphere = { divisions = 3, radius = 0.1 }\n\
    material = { young = 1e6, poisson = 0.5, thickness = 1e-3, mass_density = 1000, membrane = \"MEMBRANE\", damping = 30 }\n\
    pressure = PRESSURE";

/// A balloon of rubber: `p = 2 μ h/R (1/l - 1/l⁷)`, at most 4132 Pa here; beyond, it bursts.
#[test]
fn a_balloon_is_of_rubber() {
    let balloon = |membrane: &str, pressure: &str| {
        load(&BALLOON.replace("MEMBRANE", membrane).replace("PRESSURE", pressure))
    };
    let mut rubber = balloon("neo-hookean-incompressible", "3500");
    assert!(rubber.scene.warnings().is_empty());
    for _ in 0..50 {
        rubber.scene.step().unwrap();
    }
    let x = rubber.scene.state().x().as_slice();
    let l = x.iter().map(|x| x.length() / 0.1).sum::<f64>() / x.len() as f64;
    let pressure = 2.0 * 1e6 / 3.0 * 1e-3 / 0.1 * (1.0 / l - l.powi(-7));
    // The radius of curvature of this polyhedron is off by half a percent.
    assert!((pressure / 3500.0 - 1.0).abs() < 0.01 && (l - 1.173).abs() < 0.005, "{l} {pressure}");
    // It bursts.
    let mut rubber = balloon("neo-hookean-incompressible", "4500");
    let bursts = (0..100).any(|_| {
        let stopped = rubber.scene.step().is_err();
        stopped || rubber.scene.state().x().as_slice()[0].length() > 0.3
    });
    assert!(bursts);
    // The membrane without thickness does not, and says that it is no rubber.
    let surface = balloon("neo-hookean", "3500");
    assert!(matches!(surface.scene.warnings(), [SceneWarning::NotRubber { .. }]));
    // Rubber has its own Poisson's ratio.
    let other = BALLOON.replace("MEMBRANE", "neo-hookean-incompressible").replace("PRESSURE", "1");
    let other = other.replace("poisson = 0.5", "poisson = 0.4");
    let refused = Loaded::parse(&format!("version = 1\n{other}"), "test", Path::new("")).err().unwrap();
    assert!(refused.to_string().contains("has a Poisson's ratio of 0.5, not 0.4"), "{refused}");
}

/// What a belt does to the cloth on it is work.
#[test]
fn a_belt_works() {
    let mut loaded = load(
        "time = { duration = 1, step = 0.01 }\n[[cloth]]\ngrid = { cells = [4, 4], size = [0.4, 0.4] }\n\
         position = [0, 0, 0.055]\n[[obstacle]]\nbox = { size = [10, 2, 0.1] }\nfriction = 0.4\nlinear = true\n\
         motion = [{ time = 0 }, { time = 1, move = [1, 0, 0] }]",
    );
    let (mut work, mut dissipated) = (0.0, 0.0);
    for _ in 0..60 {
        let report = loaded.scene.step().unwrap();
        let balance = report.balance;
        assert!(balance.dissipated > -1e-12, "{balance:?}");
        let sum = balance.before + balance.work - balance.dissipated - balance.numerical();
        assert!((sum - balance.after).abs() < 1e-12);
        work += balance.work;
        dissipated += balance.dissipated;
    }
    // The cloth moves with the belt: half of what it got is kinetic energy.
    let mass = 0.2 * 0.16;
    let kinetic = 0.5 * mass;
    assert!(work > kinetic && dissipated > 0.0, "{work} {dissipated} {kinetic}");
}
