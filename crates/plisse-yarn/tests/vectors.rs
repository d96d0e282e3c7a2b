//! The numbers of the perturbed 4 by 4 patch, and the motion of the reference without damping.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{Constants, Lattice};
use plisse_testkit::{assert_close, max_abs};
use serde_json::Value;

fn data() -> Value {
    serde_json::from_str(include_str!("../../../fixtures/vectors/yarn.json")).unwrap()
}

fn number(data: &Value, key: &str) -> f64 {
    data[key].as_f64().unwrap()
}

fn list(data: &Value, key: &str) -> Vec<f64> {
    data[key].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn lattice(data: &Value) -> Lattice {
    let constants = Constants {
        stretch: number(data, "ks"),
        bending: number(data, "kb"),
        density: number(data, "rho"),
        gravity: number(data, "g"),
        damping: [number(data, "beta_s"), number(data, "beta_b")],
    };
    let mut lattice = Lattice::new(4, 4, &constants);
    // The vectors have the angle as strain, however small it is.
    for bend in &mut lattice.bends {
        *bend = bend.with_blend(0.0, 0.0);
    }
    lattice
}

#[test]
fn energies_and_forces_of_the_vectors() {
    let data = data();
    let lattice = lattice(&data);
    let (q, v) = (list(&data, "q"), list(&data, "v"));
    let energy = lattice.elastic_energy(&q);
    assert!((energy / number(&data, "V") - 1.0).abs() < 1e-12, "V = {energy}");
    let kinetic = lattice.kinetic_energy(&q, &v);
    assert!((kinetic / number(&data, "T") - 1.0).abs() < 1e-12, "T = {kinetic}");
    assert_close("force", &lattice.force(&q), &list(&data, "f_elastic_plus_gravity"), 1e-12, 0.0);
    let flow = lattice.flow_force(&q, &v);
    assert_close("flow", &flow, &list(&data, "inertia_gradT_minus_Mdotv"), 1e-12, 0.0);
    // The velocity form is the limit of the incremental one; extrapolation has 1e-8.
    let damping = lattice.damping_force(&q, &v);
    assert_close("damping", &damping, &list(&data, "f_damp"), 1e-7, 0.0);
    // Power is minus twice the potential.
    let power: f64 = damping.iter().zip(&v).map(|(f, v)| f * v).sum();
    assert!((-0.5 * power / number(&data, "Vd") - 1.0).abs() < 1e-7, "{power}");
}

/// B7: a re-gridding of a straight stretched yarn changes no strain.
#[test]
fn sliding_along_a_straight_yarn_has_no_stretch_rate() {
    let data = data();
    let lattice = lattice(&data);
    let (mut q, mut v) = (vec![0.0; 80], vec![0.0; 80]);
    for j in 0..4 {
        for i in 0..4 {
            let node = j * 4 + i;
            let (x, y) = (0.11 * i as f64, 0.12 * j as f64);
            q[5 * node..5 * node + 5].copy_from_slice(&[x, y, 0.0, 0.1 * i as f64, 0.1 * j as f64]);
            // Nodes move along the warp yarns with the material that they count.
            let speed = 0.3 * (i as f64).sin();
            (v[5 * node], v[5 * node + 3]) = (1.1 * speed, speed);
        }
    }
    // Warp yarns feel nothing; weft yarns are sheared, to second order.
    let damping = lattice.damping_force(&q, &v);
    let along: Vec<f64> = (0..16).flat_map(|n| [damping[5 * n], damping[5 * n + 3]]).collect();
    assert!(max_abs(&along) < 1e-8, "{}", max_abs(&along));
}

/// B7: without damping, Runge's and Kutta's method keeps the energy to 3.7e-5, 1.2e-6 and 3.9e-8
/// at 0.4, 0.2 and 0.1 ms over 20 ms from its own start; ours is that of the vectors with a tenth
/// of the velocities. The order is what shows that the inertia of the flow is right.
#[test]
fn the_undamped_reference_keeps_its_energy_to_fourth_order() {
    let data = data();
    let lattice = lattice(&data);
    let start = (list(&data, "q"), list(&data, "v").iter().map(|v| 0.1 * v).collect::<Vec<_>>());
    let total = |q: &[f64], v: &[f64]| lattice.elastic_energy(q) + lattice.kinetic_energy(q, v);
    let before = total(&start.0, &start.1);
    let mut drifts = Vec::new();
    let mut slid = 0.0f64;
    for steps in [50, 100, 200] {
        let (mut q, mut v) = start.clone();
        for _ in 0..steps {
            lattice.runge_kutta(&mut q, &mut v, &[false; 80], 0.02 / f64::from(steps));
        }
        drifts.push((total(&q, &v) / before - 1.0).abs());
        slid = (0..16).map(|n| (q[5 * n + 3] - start.0[5 * n + 3]).abs()).fold(0.0, f64::max);
    }
    println!("drifts {drifts:?}, slid {slid}");
    assert!(slid > 3e-3, "nothing slides: {slid}");
    assert!(drifts[1] < drifts[0] / 12.0 && drifts[2] < drifts[1] / 12.0, "{drifts:?}");
    assert!(drifts[2] < 1e-6, "{drifts:?}");
}
