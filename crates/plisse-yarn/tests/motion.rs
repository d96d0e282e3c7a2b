//! Implicit steps against the explicit reference, bits for threads and saved states.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;
#[path = "common/run.rs"]
mod run;

use common::{Constants, Lattice};
use glam::DVec3;
use plisse_core::{Field, SplitMix};
use plisse_system::State;
use plisse_yarn::{Contacts, Woven, YarnMaterial, YarnModel};
use run::{Run, id};

const N: usize = 4;

fn woven(friction: f64, damping: [f64; 2]) -> Woven {
    let material = YarnMaterial {
        radius: 0.02,
        density: 0.05,
        stretch: 50.0,
        bending: 1e-3,
        stretch_damping: damping[0],
        bending_damping: damping[1],
    };
    Woven {
        counts: [N, N],
        spacing: [0.1, 0.1],
        warp: material,
        weft: material,
        contacts: Contacts { shear: 0.0, jamming: 1e3, friction, stick: 500.0, press: 0.1 },
        ..Woven::default()
    }
}

/// A patch out of its plane that also moves in it, so that yarns slide.
fn thrown() -> (Vec<DVec3>, Vec<DVec3>) {
    let mut random = SplitMix::new(7);
    let mut any = |size: f64| {
        let mut one = || size * random.signed();
        DVec3::new(one(), one(), one())
    };
    let rest = woven(0.0, [0.0; 2]).patch().unwrap().rest().to_vec();
    let x = rest.iter().map(|x| *x + any(0.01)).collect();
    let v = rest.iter().map(|_| any(0.3)).collect();
    (x, v)
}

/// The same motion by Runge's and Kutta's method, with the arc lengths at the ends of yarns held.
fn reference(time: f64, steps: usize) -> Vec<DVec3> {
    let constants =
        Constants { stretch: 50.0, bending: 1e-3, density: 0.05, gravity: 0.0, damping: [0.0; 2] };
    let lattice = Lattice::new(N, N, &constants);
    let (x, v) = thrown();
    let mut q = vec![0.0; 5 * N * N];
    let mut rates = vec![0.0; 5 * N * N];
    let mut held = vec![false; 5 * N * N];
    for node in 0..N * N {
        let (i, j) = (node % N, node / N);
        q[5 * node..5 * node + 3].copy_from_slice(&x[node].to_array());
        rates[5 * node..5 * node + 3].copy_from_slice(&v[node].to_array());
        (q[5 * node + 3], q[5 * node + 4]) = (0.1 * i as f64, 0.1 * j as f64);
        held[5 * node + 3] = i == 0 || i == N - 1;
        held[5 * node + 4] = j == 0 || j == N - 1;
    }
    let dt = time / steps as f64;
    for _ in 0..steps {
        lattice.runge_kutta(&mut q, &mut rates, &held, dt);
    }
    (0..N * N).map(|node| DVec3::from_slice(&q[5 * node..])).collect()
}

#[test]
fn implicit_steps_converge_to_the_explicit_reference_at_first_order() {
    let time = 0.01;
    let exact = reference(time, 250);
    let mut errors = Vec::new();
    let mut slid = 0.0f64;
    for steps in [200, 400, 800] {
        let (x, v) = thrown();
        let state = State::new(Field::from_vec(x), Field::from_vec(v)).unwrap();
        let model = YarnModel::new(woven(0.0, [0.0; 2]).patch().unwrap());
        let mut run = Run::new(model, DVec3::ZERO, state, 1e-6, |builder| builder);
        for _ in 0..steps {
            run.step(time / f64::from(steps));
        }
        let far = |(node, exact): (usize, &DVec3)| run.state.x()[id(node)].distance(*exact);
        errors.push(exact.iter().enumerate().map(far).fold(0.0, f64::max));
        let start = run.model.patch().free_lengths();
        slid = run.state.own().values.iter().zip(start).map(|(u, s)| (u - s).abs()).fold(0.0, f64::max);
    }
    println!("errors {errors:?}, slid {slid}");
    assert!(slid > 1e-3, "nothing slides: {slid}");
    let orders: Vec<f64> = errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect();
    assert!(orders.iter().all(|order| (0.85..1.2).contains(order)), "{errors:?} {orders:?}");
}

/// Damping only takes energy, and friction, too: the account of every step is right.
#[test]
fn energy_never_grows() {
    let (x, v) = thrown();
    for (friction, damping) in [(0.0, [0.03, 0.0]), (0.0, [0.0, 0.16]), (0.3, [3e-4, 0.016])] {
        let state = State::new(Field::from_vec(x.clone()), Field::from_vec(v.clone())).unwrap();
        let model = YarnModel::new(woven(friction, damping).patch().unwrap());
        let mut run = Run::new(model, DVec3::new(0.0, 0.0, -9.81), state, 1e-4, |builder| builder);
        let mut lost = 0.0;
        for _ in 0..40 {
            let report = run.step(5e-4);
            let change = report.balance.after - report.balance.before;
            assert!(change < 1e-9, "{change}");
            assert!(report.balance.dissipated >= 0.0);
            lost += report.balance.dissipated;
        }
        assert!(lost > 1e-6, "{lost}");
    }
}

#[test]
fn a_saved_state_goes_on_with_the_same_bits() {
    let build = || {
        let (x, v) = thrown();
        let state = State::new(Field::from_vec(x), Field::from_vec(v)).unwrap();
        let model = YarnModel::new(woven(0.3, [1e-3, 1e-2]).patch().unwrap());
        Run::new(model, DVec3::new(0.0, 0.0, -9.81), state, 1e-3, |builder| builder.pin(id(0)))
    };
    let mut whole = build();
    for _ in 0..10 {
        whole.step(1e-3);
    }
    let saved = whole.state.clone();
    let anchors = whole.model.patch().free_lengths().len();
    assert!(
        saved.own().values[anchors..]
            .iter()
            .zip(whole.model.patch().free_lengths())
            .any(|(a, s)| a.to_bits() != s.to_bits())
    );
    whole.implicit.forget();
    let mut resumed = build();
    resumed.state = State::resume(
        saved.x().clone(),
        saved.v().clone(),
        saved.own().clone(),
        saved.time(),
        saved.previous().cloned(),
        saved.acceleration().cloned(),
        saved.ledger().copied(),
    )
    .unwrap();
    for _ in 0..10 {
        whole.step(1e-3);
        resumed.step(1e-3);
    }
    assert_eq!(whole.state, resumed.state);
}

#[test]
fn the_bits_are_those_of_one_thread() {
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let patch = Woven { counts: [40, 30], ..Woven::default() }.patch().unwrap();
            let model = YarnModel::new(patch);
            let mut run = Run::at_rest(model, DVec3::new(0.0, 0.0, -9.81), 0.1, |builder| {
                builder.pin(id(0)).pin(id(39))
            });
            for _ in 0..3 {
                run.step(1e-3);
            }
            run.state
        })
    };
    let one = run(1);
    assert!(one.x()[id(600)].z < -1e-5);
    for threads in [2, 3] {
        assert_eq!(one, run(threads), "{threads} threads");
    }
}
