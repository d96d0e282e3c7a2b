//! SO18, figure 3 right: the damping of stretching governs a patch that hangs, that of bending one
//! that flaps.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

#[path = "common/run.rs"]
mod run;

use glam::DVec3;
use plisse_core::Field;
use plisse_system::State;
use plisse_yarn::{Contacts, Woven, YarnMaterial, YarnModel};
use run::{Run, id};

const LENGTH: usize = 11;
const WIDTH: usize = 3;
const SPACING: f64 = 0.01;
const DENSITY: f64 = 1e-3;

fn model(stretch: f64, bending: f64, [beta_s, beta_b]: [f64; 2]) -> YarnModel {
    let material = YarnMaterial {
        radius: 2e-3,
        density: DENSITY,
        stretch,
        bending,
        stretch_damping: beta_s,
        bending_damping: beta_b,
    };
    let contacts = Contacts { shear: 1e-5, jamming: 1e3, friction: 0.5, stick: 1e3, press: 1.0 };
    let counts = [LENGTH, WIDTH];
    let woven =
        Woven { counts, spacing: [SPACING; 2], warp: material, weft: material, contacts, ..Woven::default() };
    YarnModel::new(woven.patch().unwrap())
}

fn column(i: usize) -> impl Iterator<Item = usize> {
    (0..WIDTH).map(move |j| j * LENGTH + i)
}

/// How fast an amplitude decays, 1/s, from the kinetic energy over two equal times of so many
/// steps, after half of such a time, in which faster modes have gone.
fn decay(run: &mut Run, dt: f64, steps: usize) -> f64 {
    let mut sums = [0.0; 2];
    for _ in 0..steps / 2 {
        run.step(dt);
    }
    for step in 0..2 * steps {
        let report = run.step(dt);
        sums[step / steps] += report.energies.kinetic;
    }
    (sums[0] / sums[1]).ln() / (2.0 * dt * steps as f64)
}

/// Released unstretched below its first column, the patch moves up and down along its yarns.
fn hanging(damping: [f64; 2]) -> f64 {
    let gravity = DVec3::new(9.81, 0.0, 0.0);
    let mut run =
        Run::at_rest(model(0.2, 1e-7, damping), gravity, 1e-3, |builder| builder.pins(column(0).map(id)));
    // Two periods: the fundamental one is 4 L √(mass per length / stiffness), 36 ms with the mass
    // of the cross yarns.
    decay(&mut run, 1e-4, 730)
}

/// Clamped at two columns and thrown out of its plane, the strip swings by bending.
fn flapping(damping: [f64; 2]) -> f64 {
    let model = model(200.0, 1e-4, damping);
    let x = model.patch().rest().to_vec();
    let v = x.iter().map(|x| DVec3::Z * (0.3 * ((x.x - SPACING).max(0.0) / 0.1).powi(2))).collect();
    let state = State::new(Field::from_vec(x), Field::from_vec(v)).unwrap();
    let mut run =
        Run::new(model, DVec3::ZERO, state, 1e-3, |builder| builder.pins(column(0).chain(column(1)).map(id)));
    // Two periods of a beam that is clamped at one end: 2 π L²/3.516 √(mass per length / k).
    decay(&mut run, 2e-4, 650)
}

#[test]
fn each_coefficient_governs_its_motion() {
    let hang = hanging([1e-3, 1e-3]);
    let hang_more_bending = hanging([1e-3, 1e-2]);
    let hang_more_stretch = hanging([2e-3, 1e-3]);
    println!(
        "hanging {hang:.2} 1/s; bending tenfold {hang_more_bending:.2}; stretch twice {hang_more_stretch:.2}"
    );
    let flap = flapping([2e-3, 2e-3]);
    let flap_more_stretch = flapping([2e-2, 2e-3]);
    let flap_more_bending = flapping([2e-3, 4e-3]);
    println!(
        "flapping {flap:.2} 1/s; stretch tenfold {flap_more_stretch:.2}; bending twice {flap_more_bending:.2}"
    );
    assert!((hang_more_bending / hang - 1.0).abs() < 0.1);
    assert!((flap_more_stretch / flap - 1.0).abs() < 0.1);
    // Its own coefficient doubles the rate, but for what backward Euler takes by itself: as a
    // damping time of the step.
    assert!((hang_more_stretch / hang - 2.1 / 1.1).abs() < 0.2, "{}", hang_more_stretch / hang);
    assert!((flap_more_bending / flap - 4.2 / 2.2).abs() < 0.2, "{}", flap_more_bending / flap);
}
