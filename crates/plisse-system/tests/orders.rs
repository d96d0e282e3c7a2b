//! Orders of the schemes, measured on an elastic pendulum and on a small cloth.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use common::{G, Sheet, distance, positive, settings};
use glam::DVec3;
use plisse_bending::RodStretch;
use plisse_core::{Field, Id, Vertices, generate};
use plisse_system::{ElementTerm, Gravity, Implicit, Integrator, Scheme, SpectralRadius, State, System};

fn run(
    system: &System<Vertices>,
    start: &State<Vertices>,
    scheme: Scheme,
    steps: usize,
    time: f64,
) -> State<Vertices> {
    let mut state = start.clone();
    let mut integrator = Implicit::new(system, scheme, settings(1e-9)).unwrap();
    for _ in 0..steps {
        integrator.step(system, &mut state, positive(time / steps as f64)).unwrap();
    }
    state
}

/// Slopes of the error over halvings of the step.
fn slopes(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|w| (w[0] / w[1]).log2()).collect()
}

fn check(name: &str, slopes: &[f64], order: f64) {
    assert!(slopes.iter().all(|s| (s - order).abs() < 0.1), "{name}: slopes {slopes:?}, expected {order}");
}

/// A mass on a spring, released sideways; the reference is a fourth-order explicit integration with
/// tiny steps.
#[test]
fn pendulum() {
    let (length, stiffness, mass) = (1.0, 300.0, 1.0);
    let x = Field::from_vec(vec![DVec3::ZERO, DVec3::new(0.8, 0.0, -0.6)]);
    let masses = Field::from_vec(vec![0.0, mass]);
    let rod = RodStretch::new([0, 1].map(Id::new), positive(length), positive(stiffness));
    let system = System::builder(masses.clone())
        .term(ElementTerm::<_, 2>::new("spring", vec![rod]))
        .term(Gravity::new(G, &masses).unwrap())
        .pin(Id::new(0))
        .build()
        .unwrap();
    let start = State::new(x.clone(), Field::from_vec(vec![DVec3::ZERO, DVec3::Y])).unwrap();
    let time = 0.5;
    let acceleration = |x: DVec3| G - x.normalize() * (stiffness / length * (x.length() - length) / mass);
    let (mut p, mut v) = (x[Id::new(1)], DVec3::Y);
    let h = time / 20_000.0;
    for _ in 0..20_000 {
        let (a1, v1) = (acceleration(p), v);
        let (a2, v2) = (acceleration(p + v1 * (h / 2.0)), v + a1 * (h / 2.0));
        let (a3, v3) = (acceleration(p + v2 * (h / 2.0)), v + a2 * (h / 2.0));
        let (a4, v4) = (acceleration(p + v3 * h), v + a3 * h);
        p += (v1 + v2 * 2.0 + v3 * 2.0 + v4) * (h / 6.0);
        v += (a1 + a2 * 2.0 + a3 * 2.0 + a4) * (h / 6.0);
    }
    for (scheme, order, coarse) in
        [(Scheme::BackwardEuler, 1.0, 800), (Scheme::Bdf2, 2.0, 400), (Scheme::NEWMARK, 2.0, 100)]
    {
        let error = |steps| run(&system, &start, scheme, steps, time).x()[Id::new(1)].distance(p);
        let errors: Vec<f64> = (0..4).map(|k| error(coarse << k)).collect();
        check(scheme.name(), &slopes(&errors), order);
        assert!(errors[3] < errors[0] && errors[3] < 2e-2, "{errors:?}");
    }
}

/// A cloth of 5 x 5 vertices, pinned at two corners, against the same scheme with many more steps
/// (Newmark, second order).
#[test]
fn small_cloth() {
    let sheet = Sheet::grid(4, 4, [0.4, 0.4], generate::Diagonal::Right);
    let system = sheet
        .cloth(0.2, [20.0, 25.0, 5.0], 1e-4)
        .term(sheet.gravity(0.2))
        .pins([0, 4].map(Id::new))
        .build()
        .unwrap();
    let start = State::at_rest(sheet.flat.clone()).unwrap();
    let time = 0.1;
    let reference = run(&system, &start, Scheme::NEWMARK, 8000, time);
    let damped = Scheme::Newmark(SpectralRadius::new(0.5).unwrap());
    for (scheme, order, coarse) in [
        (Scheme::BackwardEuler, 1.0, 200),
        (Scheme::Bdf2, 2.0, 100),
        (Scheme::NEWMARK, 2.0, 50),
        (damped, 2.0, 50),
    ] {
        let error = |steps| distance(run(&system, &start, scheme, steps, time).x(), reference.x());
        let errors: Vec<f64> = (0..4).map(|k| error(coarse << k)).collect();
        check(scheme.name(), &slopes(&errors), order);
    }
}

/// BDF2 keeps its order when the step changes.
#[test]
fn bdf2_with_variable_steps() {
    let sheet = Sheet::grid(2, 2, [0.2, 0.2], generate::Diagonal::Right);
    let system =
        sheet.cloth(0.2, [20.0, 25.0, 5.0], 1e-4).term(sheet.gravity(0.2)).pin(Id::new(0)).build().unwrap();
    let start = State::at_rest(sheet.flat.clone()).unwrap();
    let time = 0.1;
    let reference = run(&system, &start, Scheme::NEWMARK, 8000, time);
    let error = |steps: usize| {
        let mut state = start.clone();
        let mut integrator = Implicit::new(&system, Scheme::Bdf2, settings(1e-9)).unwrap();
        for k in 0..steps {
            // Long and short steps in turn.
            let share = if k % 2 == 0 { 1.3 } else { 0.7 };
            integrator.step(&system, &mut state, positive(share * time / steps as f64)).unwrap();
        }
        distance(state.x(), reference.x())
    };
    let errors: Vec<f64> = (0..4).map(|k| error(100 << k)).collect();
    check("BDF2", &slopes(&errors), 2.0);
}
