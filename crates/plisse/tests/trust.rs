//! A result that is given without a warning can be trusted: scenes at rest, equilibria, closed surfaces, rubber.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::path::Path;

use plisse::file::Loaded;
use plisse::scene::Kind;

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
    let stable = |rotation: f64, jitter: f64| {
        let mut loaded = load(&format!(
            "time = {{ duration = 1, step = 0.1, scheme = \"quasistatic\" }}\n\
             [[cloth]]\ngrid = {{ cells = [6, 6], size = [1, 1] }}\nrotation = [{rotation}, 0, 0]\njitter = {jitter}\n\
             material = \"tablecloth\"\npin = [{{ group = \"bottom\" }}]"
        ));
        let report = loaded.scene.step().unwrap();
        let height = loaded.scene.state().x().as_slice().iter().map(|x| x.z).fold(f64::MIN, f64::max);
        (report.stable, height > 0.4)
    };
    assert_eq!(stable(90.0, 0.0), (Some(false), true));
    assert_eq!(stable(90.0, 1e-4), (Some(true), false));
    assert_eq!(stable(-90.0, 0.0).0, Some(true));
}
