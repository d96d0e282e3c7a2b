//! Virtual tests against what the yarns themselves say, and against each other.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::{DMat2, DVec2};
use plisse_yarn::{
    Contacts, Moduli, ModuliError, Specimen, TestSettings, VirtualTest, Weave, Woven, YarnMaterial,
};

/// Warp and weft differ in everything.
fn woven(counts: [usize; 2]) -> Woven {
    Woven {
        counts,
        spacing: [8e-4, 1.3e-3],
        weave: Weave::twill(2, 1).unwrap(),
        warp: YarnMaterial { stretch: 45.0, bending: 2e-9, density: 8e-5, ..YarnMaterial::COTTON },
        weft: YarnMaterial { stretch: 20.0, bending: 5e-10, density: 1.2e-4, ..YarnMaterial::COTTON },
        contacts: Contacts { shear: 3e-6, ..Contacts::COTTON },
        ..Woven::default()
    }
}

#[track_caller]
fn assert_near(what: &str, value: f64, expected: f64, part: f64) {
    assert!((value / expected - 1.0).abs() < part, "{what}: {value} instead of {expected}");
}

/// A yarn of stiffness `k` per width, a crossing of stiffness `s` per area.
#[test]
fn moduli_are_those_of_yarns_per_width_and_of_crossings_per_area() {
    let moduli = Moduli::of(&woven([9, 7])).unwrap();
    assert_near("warp", moduli.warp, 45.0 / 1.3e-3, 1e-7);
    assert_near("weft", moduli.weft, 20.0 / 8e-4, 1e-7);
    assert_near("shear", moduli.shear, 3e-6 / (8e-4 * 1.3e-3), 1e-5);
    // Joints turn by up to 7 mrad: terms of second order are 1e-5.
    assert_near("bending, warp", moduli.bending[0], 2e-9 / 1.3e-3, 2e-5);
    assert_near("bending, weft", moduli.bending[1], 5e-10 / 8e-4, 2e-5);
    assert_near("density", moduli.density, 8e-5 / 1.3e-3 + 1.2e-4 / 8e-4, 1e-12);
    // Crossings in one plane do not couple warp and weft.
    assert!(moduli.coupling.abs() < 1e-9 * moduli.warp, "{}", moduli.coupling);
    let bias = moduli.readings.iter().find(|reading| reading.test == VirtualTest::Bias).unwrap();
    // 45° off the yarns: shear alone, to a part of the shear over the stretch of yarns.
    assert_near("bias", bias.modulus(), moduli.bias_of_sheet(), 5e-3);
    assert!((bias.poisson() - 1.0).abs() < 1e-2, "{}", bias.poisson());
}

/// Issue 18, point 5.
#[test]
fn moduli_do_not_depend_on_the_size_of_the_patch() {
    let [small, large] = [[20, 20], [40, 40]].map(|counts| Moduli::of(&woven(counts)).unwrap());
    for (a, b) in small.readings.iter().zip(&large.readings) {
        println!("{}: {} {}", a.test.name(), a.modulus(), b.modulus());
        assert_near(a.test.name(), b.modulus(), a.modulus(), 1e-4);
    }
    assert_near("density", large.density, small.density, 1e-12);
}

/// The same by energies of whole patches, without specimens: outer yarns belong to them entirely,
/// and the modulus comes closer as the patch grows.
#[test]
fn whole_patches_approach_the_moduli_of_specimens() {
    use glam::DVec3;
    use plisse_yarn::{YarnElement, YarnModel};
    let modulus = |n: usize| {
        let woven = woven([n, n]);
        let patch = woven.patch().unwrap();
        let strain = 1e-4;
        let x: Vec<DVec3> = patch.rest().iter().map(|x| DVec3::new(x.x * (1.0 + strain), x.y, 0.0)).collect();
        let own = patch.free_lengths().to_vec();
        let model = YarnModel::new(patch);
        let energy: f64 = model
            .stretches()
            .iter()
            .map(|stretch| {
                let mut q = [0.0; 8];
                for (k, node) in stretch.nodes().into_iter().enumerate() {
                    q[3 * k..3 * k + 3].copy_from_slice(&x[node.index()].to_array());
                }
                for (k, arc) in stretch.arcs().into_iter().enumerate() {
                    q[6 + k] = match arc {
                        plisse_yarn::ArcLength::Free(k) => own[k as usize],
                        plisse_yarn::ArcLength::Held(value) => value,
                    };
                }
                stretch.gradient(&q, None).0.stored
            })
            .sum();
        let cells = (n - 1) as f64;
        2.0 * energy / (strain * strain * cells * cells * 8e-4 * 1.3e-3)
    };
    let exact = Moduli::of(&woven([6, 6])).unwrap().warp;
    let errors = [10, 20, 40].map(|n| modulus(n) / exact - 1.0);
    // n yarns on n - 1 widths.
    for (n, error) in [10.0, 20.0, 40.0].into_iter().zip(errors) {
        assert!((error - 1.0 / (n - 1.0)).abs() < 1e-6, "{n}: {error}");
    }
}

/// Stress is the derivative of the energy: work over a closed path of deformations is nothing.
#[test]
fn stress_has_a_potential() {
    let specimen = Specimen::new(&woven([6, 6])).unwrap();
    let path = |t: f64| {
        let (sin, cos) = t.sin_cos();
        DMat2::from_cols(DVec2::new(1.01 + 0.005 * cos, 0.01 * sin), DVec2::new(0.02 * sin, 1.01))
    };
    let n = 64;
    let (mut work, mut size) = (0.0, 0.0);
    for k in 0..n {
        let at = |k: f64| path(k * std::f64::consts::TAU / f64::from(n));
        let k = f64::from(k);
        let (stress, change) = (specimen.stress(at(k + 0.5)).unwrap(), at(k + 1.0) - at(k));
        let part = stress.col(0).dot(change.col(0)) + stress.col(1).dot(change.col(1));
        work += part;
        size += part.abs();
    }
    assert!(size > 1e-3 && work.abs() < 1e-3 * size, "{work} of {size}");
}

/// Jamming and friction do not enter where nothing slides; weaves do not differ.
#[test]
fn weave_and_friction_leave_the_moduli_alone() {
    let plain = Moduli::of(&woven([8, 8])).unwrap();
    let mut other = woven([8, 8]);
    other.weave = Weave::satin(5, 2).unwrap();
    other.contacts.friction = 0.0;
    let satin = Moduli::of(&other).unwrap();
    for (a, b) in plain.readings.iter().zip(&satin.readings) {
        assert_near(a.test.name(), b.modulus(), a.modulus(), 1e-4);
    }
}

/// Without resistance there is none, and no failure.
#[test]
fn yarns_without_bending_and_shear() {
    let mut soft = woven([6, 6]);
    soft.contacts.shear = 0.0;
    soft.warp.bending = 0.0;
    soft.weft.bending = 0.0;
    let moduli = Moduli::of(&soft).unwrap();
    assert_near("warp", moduli.warp, 45.0 / 1.3e-3, 1e-6);
    assert!(moduli.shear.abs() < 1e-6 * moduli.warp, "{}", moduli.shear);
    assert!(moduli.bending.iter().all(|d| d.abs() < 1e-15), "{:?}", moduli.bending);
}

#[test]
fn the_angle_law_of_crossings_is_that_of_large_shear() {
    let specimen = Specimen::new(&woven([6, 6])).unwrap();
    for angle in [0.1, 0.4, 0.8] {
        let reading = specimen.test(VirtualTest::Shear, angle).unwrap();
        assert_near("shear", reading.modulus(), 3e-6 / (8e-4 * 1.3e-3), 1e-6);
    }
}

#[test]
fn what_cannot_be_tested_is_refused() {
    let error = Specimen::new(&woven([3, 8])).unwrap_err();
    assert!(matches!(error, ModuliError::Counts { counts: [3, 8] }), "{error}");
    assert!(error.to_string().contains("3 by 8"), "{error}");
    let mut bad = woven([8, 8]);
    bad.warp.radius = -1.0;
    assert!(matches!(Specimen::new(&bad), Err(ModuliError::Patch(_))));
    let specimen = Specimen::new(&woven([6, 6])).unwrap();
    for test in VirtualTest::ALL {
        for strain in [0.0, -1e-3, f64::NAN, f64::INFINITY, 1e9] {
            let error = specimen.test(test, strain).unwrap_err();
            assert!(matches!(error, ModuliError::Strain { .. }), "{test:?} {strain}: {error}");
        }
    }
    let settings = TestSettings { curvature: 0.0, ..TestSettings::default() };
    assert!(specimen.moduli(&settings).is_err());
}
