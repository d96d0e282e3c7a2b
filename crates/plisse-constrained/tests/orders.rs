//! Orders of both schemes on the circle and the pendulum (formula sheet A6).
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use std::sync::Arc;

use common::{p, vectors};
use glam::DVec3;
use plisse_constrained::{FastProjection, ProjectionSettings, Tethers};
use plisse_core::{Field, Id, Vertices};
use plisse_system::{Criterion, Gravity, Integrator, NewtonSettings, Scheme, State, System};

/// Position at t = 1.6 and energy lost by a unit mass on the unit circle.
fn run(scheme: Scheme, gravity: f64, speed: f64, dt: f64) -> (DVec3, f64) {
    let mass: Field<Vertices, f64> = Field::filled(1, 1.0);
    let weight = Gravity::new(DVec3::NEG_Y * gravity, &mass).unwrap();
    let system = System::builder(mass).term(weight).build().unwrap();
    let tether = Tethers::new([(Id::new(0), DVec3::ZERO, p(1.0))]).unwrap();
    let settings = ProjectionSettings { tolerance: 1e-13, regularisation: 0.0, ..Default::default() };
    let newton = NewtonSettings { criterion: Criterion::ForcePerMass(p(1e-9)), ..Default::default() };
    let mut integrator =
        FastProjection::with_newton(&system, vec![Arc::new(tether)], scheme, settings, newton).unwrap();
    let mut state =
        State::new(Field::from_vec(vec![DVec3::X]), Field::from_vec(vec![DVec3::Y * speed])).unwrap();
    let start = 0.5 * speed * speed;
    for _ in 0..(1.6 / dt).round() as usize {
        integrator.step(&system, &mut state, p(dt)).unwrap();
    }
    let (x, v) = (state.x().as_slice()[0], state.v().as_slice()[0]);
    (x, 0.5 * v.length_squared() + gravity * x.y - start)
}

/// The pendulum from the horizontal, by the fourth-order rule with small steps.
fn pendulum(time: f64) -> DVec3 {
    let steps = 200_000;
    let h = time / f64::from(steps);
    let f = |[angle, rate]: [f64; 2]| [rate, -9.81 * angle.cos()];
    let add = |a: [f64; 2], b: [f64; 2], s: f64| [a[0] + s * b[0], a[1] + s * b[1]];
    let mut y = [0.0, 0.0];
    for _ in 0..steps {
        let k1 = f(y);
        let k2 = f(add(y, k1, 0.5 * h));
        let k3 = f(add(y, k2, 0.5 * h));
        let k4 = f(add(y, k3, h));
        for i in 0..2 {
            y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    DVec3::new(y[0].cos(), y[0].sin(), 0.0)
}

fn check(name: &str, scheme: Scheme, gravity: f64, speed: f64, exact: DVec3) {
    let table = vectors()["circle_order"][name].clone();
    let list = |key: &str| -> Vec<f64> {
        table[key].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let mut errors = Vec::new();
    for ((dt, error), lost) in list("dt").into_iter().zip(list("errx")).zip(list("dE")) {
        let (x, change) = run(scheme, gravity, speed, dt);
        let found = x.distance(exact);
        assert!((found / error - 1.0).abs() < 0.02, "{name} {dt}: {found:.4e} instead of {error:.4e}");
        assert!((change / lost - 1.0).abs() < 0.02, "{name} {dt}: {change:.4e} instead of {lost:.4e}");
        errors.push(found);
    }
    let order = (errors[errors.len() - 2] / errors[errors.len() - 1]).log2();
    let expected = if scheme == Scheme::Bdf2 { 2.0 } else { 1.0 };
    assert!((order - expected).abs() < 0.08, "{name}: {order}");
}

#[test]
fn circle_and_pendulum_have_the_errors_of_the_table() {
    let circle = DVec3::new(1.6f64.cos(), 1.6f64.sin(), 0.0);
    check("be", Scheme::BackwardEuler, 0.0, 1.0, circle);
    check("bdf2", Scheme::Bdf2, 0.0, 1.0, circle);
    let swung = pendulum(1.6);
    check("pendulum_be", Scheme::BackwardEuler, 9.81, 0.0, swung);
    check("pendulum_bdf2", Scheme::Bdf2, 9.81, 0.0, swung);
}
