//! Newton's method: what the report says, what happens without convergence, pins that move and
//! slide, substeps.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use common::{Sheet, distance, positive, settings, with_solver};
use glam::DVec3;
use plisse_core::{Field, Id, Psd, Vertices, generate};
use plisse_system::{
    Adaptive, Attachments, Criterion, Ended, Failure, Gravity, HessianPolicy, Implicit, Integrator,
    LinearSolver, NewtonSettings, OwnState, Pin, Scheme, State, StepError, System,
};

fn hanging(n: usize) -> (System<Vertices>, State<Vertices>) {
    let sheet = Sheet::grid(n, n, [1.0, 1.0], generate::Diagonal::Alternating);
    let system = sheet
        .cloth(0.2, [400.0, 500.0, 50.0], 1e-4)
        .term(sheet.gravity(0.2))
        .pins([0, n as u32].map(Id::new))
        .build()
        .unwrap();
    (system, State::at_rest(sheet.flat).unwrap())
}

fn after(
    system: &System<Vertices>,
    start: &State<Vertices>,
    settings: NewtonSettings,
    steps: usize,
) -> State<Vertices> {
    let mut state = start.clone();
    let mut integrator = Implicit::new(system, Scheme::BackwardEuler, settings).unwrap();
    for _ in 0..steps {
        integrator.step(system, &mut state, positive(1.0 / 60.0)).unwrap();
    }
    state
}

/// Every solver and every policy of the Hessian finds the same minimum.
#[test]
fn the_answer_does_not_depend_on_the_way() {
    let (system, start) = hanging(8);
    let tight =
        |s: NewtonSettings| NewtonSettings { criterion: Criterion::ForcePerMass(positive(1e-7)), ..s };
    let reference = after(&system, &start, tight(with_solver(1e-7, LinearSolver::Cholesky)), 6);
    assert!(distance(reference.x(), start.x()) > 0.02);
    for solver in
        [LinearSolver::BlockJacobi, LinearSolver::StaleCholesky, LinearSolver::Auto, LinearSolver::Ldlt]
    {
        let error = distance(after(&system, &start, tight(with_solver(1e-7, solver)), 6).x(), reference.x());
        assert!(error < 1e-9, "{solver:?}: {error}");
    }
    for hessian in
        [HessianPolicy::OnDemand, HessianPolicy::Always(Psd::Clamp), HessianPolicy::Always(Psd::Abs)]
    {
        let settings = NewtonSettings { hessian, ..tight(settings(1e-7)) };
        let error = distance(after(&system, &start, settings, 6).x(), reference.x());
        assert!(error < 1e-9, "{hessian:?}: {error}");
    }
}

/// The exact Hessian near convergence makes it quadratic: digits double.
#[test]
fn convergence_is_quadratic_in_the_end() {
    let (system, mut state) = hanging(8);
    let settings = NewtonSettings {
        criterion: Criterion::ForcePerMass(positive(1e-8)),
        solver: LinearSolver::Cholesky,
        ..NewtonSettings::default()
    };
    let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, settings).unwrap();
    for _ in 0..5 {
        let report = integrator.step(&system, &mut state, positive(1.0 / 60.0)).unwrap();
        let solve = &report.solves[0];
        assert_eq!(solve.ended, Some(Ended::Residual));
        assert_eq!(solve.residuals().count(), solve.iterations.len() + 1);
        let r: Vec<f64> = solve.residuals().collect();
        assert!(*r.last().unwrap() <= 1e-8 && report.residual() == *r.last().unwrap());
        assert!(r[r.len() - 1] < 1e-2 * r[r.len() - 2], "{r:?}");
        assert!(solve.iterations.last().unwrap().exact && solve.iterations.len() < 12);
    }
}

/// Without enough iterations there is no answer: an error with the history, and the state as it
/// was.
#[test]
fn no_convergence_is_an_error() {
    let (system, mut state) = hanging(8);
    let before = state.clone();
    let settings = NewtonSettings { max_iterations: 1, ..settings(1e-6) };
    let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, settings).unwrap();
    let error = integrator.step(&system, &mut state, positive(1.0 / 30.0)).unwrap_err();
    assert_eq!(state, before);
    let text = error.to_string();
    assert!(text.contains("Try a shorter step, more iterations") && text.contains("worst: vertex"), "{text}");
    let StepError::NotConverged { time, dt, error, worst, .. } = error else { panic!("{error}") };
    assert_eq!((time, dt, error.failure), (0.0, 1.0 / 30.0, Failure::Iterations));
    // The worst node is that of the residual where the solver gave up.
    let worst = worst.unwrap();
    assert!(worst.unbalanced > 1e-6 && worst.node < state.x().len() && worst.place.is_finite());
    assert_eq!((error.report.ended, error.report.iterations.len()), (None, 1));
    let text = error.to_string();
    assert!(text.contains("after 1 iterations") && text.contains("asked for 1.00e-6"), "{text}");
}

/// One iteration without line search, as in BW98: one factorisation per step, close to the
/// converged answer for small steps.
#[test]
fn one_iteration() {
    let (system, start) = hanging(8);
    let mut state = start.clone();
    let mut integrator = Implicit::one_iteration(&system, Psd::Clamp, NewtonSettings::default()).unwrap();
    let mut exact = Implicit::new(&system, Scheme::BackwardEuler, settings(1e-6)).unwrap();
    let mut reference = start;
    for _ in 0..50 {
        let report = integrator.step(&system, &mut state, positive(0.002)).unwrap();
        assert_eq!((report.iterations(), report.solves[0].ended), (1, Some(Ended::Fixed)));
        exact.step(&system, &mut reference, positive(0.002)).unwrap();
    }
    let error = distance(state.x(), reference.x());
    assert!(error > 0.0 && error < 2e-3, "{error}");
}

/// Held nodes are where they should be, bit by bit; sliding nodes leave neither their plane nor
/// their line.
#[test]
fn pins_move_and_slide() {
    let sheet = Sheet::grid(4, 4, [1.0, 1.0], generate::Diagonal::Right);
    let path = |t: f64| DVec3::new((3.0 * t).sin(), 0.0, 0.2 * t);
    let normal = DVec3::new(1.0, 0.0, 1.0);
    let system = sheet
        .cloth(0.2, [100.0, 100.0, 20.0], 1e-3)
        .term(sheet.gravity(0.2))
        .move_pin(Id::new(0), path)
        .pin(Id::new(20))
        .constrain(Id::new(4), Pin::Line(DVec3::Y))
        .constrain(Id::new(24), Pin::Plane(normal))
        .build()
        .unwrap();
    for scheme in [Scheme::BackwardEuler, Scheme::Bdf2, Scheme::NEWMARK] {
        let mut state = State::at_rest(sheet.flat.clone()).unwrap();
        let mut integrator = Implicit::new(&system, scheme, settings(1e-3)).unwrap();
        for _ in 0..30 {
            integrator.step(&system, &mut state, positive(0.01)).unwrap();
            assert_eq!(state.x()[Id::new(0)], path(state.time()));
        }
        let start = &sheet.flat;
        assert_eq!(state.x()[Id::new(20)], start[Id::new(20)]);
        let slid = state.x()[Id::new(4)] - start[Id::new(4)];
        assert!(slid.y.abs() > 1e-4 && slid.x.abs() < 1e-14 && slid.z.abs() < 1e-14, "{slid}");
        let slid = state.x()[Id::new(24)] - start[Id::new(24)];
        assert!(slid.length() > 1e-3 && slid.dot(normal).abs() < 1e-13, "{slid}");
        // The pin's velocity is that of its path.
        let speed = state.v()[Id::new(0)].distance((path(0.3) - path(0.29)) / 0.01);
        assert!(speed < 0.1, "{speed}");
    }
}

/// Steps that fail are divided; the report counts them, and time arrives where it should.
#[test]
fn substeps() {
    let (system, start) = hanging(8);
    let strict = NewtonSettings { max_iterations: 4, ..settings(0.1) };
    let inner = Implicit::new(&system, Scheme::Bdf2, strict).unwrap();
    let mut integrator = Adaptive::new(inner, positive(1e-4));
    let mut state = start.clone();
    let mut rejected = 0;
    for k in 1..=10 {
        let report = integrator.step(&system, &mut state, positive(1.0 / 30.0)).unwrap();
        rejected += report.rejected;
        assert!((state.time() - f64::from(k) / 30.0).abs() < 1e-12 && (report.dt - 1.0 / 30.0).abs() < 1e-12);
        assert!(report.solves.iter().all(|solve| solve.iterations.len() <= 4));
    }
    assert!(rejected > 0);
    // Nothing converges in no iterations: the error says so, and the state is untouched.
    let hopeless = NewtonSettings { max_iterations: 0, ..settings(1e-9) };
    let inner = Implicit::new(&system, Scheme::BackwardEuler, hopeless).unwrap();
    let mut integrator = Adaptive::new(inner, positive(1e-3));
    let before = state.clone();
    let error = integrator.step(&system, &mut state, positive(1.0 / 30.0)).unwrap_err();
    assert!(matches!(&error, StepError::TooShort { shortest, .. } if *shortest == 1e-3), "{error}");
    assert_eq!(state, before);
    // A limit on displacement is kept.
    let inner = Implicit::new(&system, Scheme::BackwardEuler, settings(0.1)).unwrap();
    let mut integrator = Adaptive::new(inner, positive(1e-5)).with_largest_displacement(0.01).unwrap();
    let mut state = start;
    for _ in 0..5 {
        let before = state.clone();
        let report = integrator.step(&system, &mut state, positive(1.0 / 30.0)).unwrap();
        let moved = distance(state.x(), before.x());
        assert!(moved <= 0.01 * report.solves.len() as f64, "{moved} in {} substeps", report.solves.len());
    }
}

/// A state that is saved and resumed goes on bit by bit, once the solver's memory is cleared on
/// both sides.
#[test]
fn resumed_states_give_the_same_bits() {
    let (system, start) = hanging(8);
    for scheme in [Scheme::BackwardEuler, Scheme::Bdf2, Scheme::NEWMARK] {
        let mut state = start.clone();
        let mut integrator = Implicit::new(&system, scheme, settings(0.1)).unwrap();
        for _ in 0..4 {
            integrator.step(&system, &mut state, positive(0.01)).unwrap();
        }
        let previous = state.previous().cloned();
        let acceleration = state.acceleration().cloned();
        let (x, v, ledger) = (state.x().clone(), state.v().clone(), state.ledger().copied());
        let mut resumed =
            State::resume(x, v, OwnState::default(), state.time(), previous, acceleration, ledger).unwrap();
        assert_eq!(resumed, state);
        integrator.forget();
        let mut fresh = Implicit::new(&system, scheme, settings(0.1)).unwrap();
        for _ in 0..4 {
            integrator.step(&system, &mut state, positive(0.01)).unwrap();
            fresh.step(&system, &mut resumed, positive(0.01)).unwrap();
        }
        assert_eq!(resumed, state, "{scheme:?}");
    }
}

/// An equilibrium found twice is found at once, and is where damped motion ends.
#[test]
fn equilibria() {
    let (system, start) = hanging(6);
    let tight = NewtonSettings { max_iterations: 1000, ..settings(1e-5) };
    let mut solver = Implicit::new(&system, Scheme::Quasistatic, tight).unwrap();
    let mut state = start.clone();
    let first = solver.equilibrate(&system, &mut state).unwrap();
    assert!(first.residual() <= 1e-5 && state.time() == 0.0);
    assert!(state.v().as_slice().iter().all(|v| *v == DVec3::ZERO));
    let again = solver.equilibrate(&system, &mut state).unwrap();
    assert_eq!(again.iterations(), 0);
    let mut moving = State::at_rest(state.x().clone()).unwrap();
    let mut euler = Implicit::new(&system, Scheme::BackwardEuler, settings(1e-5)).unwrap();
    for _ in 0..20 {
        euler.step(&system, &mut moving, positive(0.05)).unwrap();
    }
    assert!(distance(moving.x(), state.x()) < 1e-5, "{}", distance(moving.x(), state.x()));
}

/// Uncoupled nodes are solved exactly in one iteration: that is no negative curvature.
#[test]
fn exactly_solved_systems() {
    for count in [1, 2, 10] {
        for mass in [1.0, 0.3, 1e-3] {
            let mass: Field<Vertices, f64> = Field::from_fn(count, |i| mass * (1.0 + f64::from(i.get())));
            let gravity = Gravity::new(common::G, &mass).unwrap();
            let system = System::builder(mass).term(gravity).build().unwrap();
            for solver in [
                LinearSolver::BlockJacobi,
                LinearSolver::StaleCholesky,
                LinearSolver::Auto,
                LinearSolver::Cholesky,
            ] {
                let mut state = State::at_rest(Field::filled(count, DVec3::ZERO)).unwrap();
                let mut integrator =
                    Implicit::new(&system, Scheme::BackwardEuler, with_solver(1e-6, solver)).unwrap();
                for _ in 0..3 {
                    let report = integrator.step(&system, &mut state, positive(0.1)).unwrap();
                    assert!(report.solves[0].iterations.iter().all(|i| i.regularisation == 0.0));
                }
                assert!((state.x()[Id::new(0)].z + 0.6 * 0.981).abs() < 1e-9);
            }
        }
    }
}

/// A pin of 1 kg, accelerated from rest to 1 m/s, has been given half a joule; under every scheme.
#[test]
fn work_of_a_heavy_pin() {
    let path = |t: f64| DVec3::X * (0.5 * t * t);
    let system: System<Vertices> =
        System::builder(Field::filled(1, 1.0)).move_pin(Id::new(0), path).build().unwrap();
    for scheme in [Scheme::BackwardEuler, Scheme::Bdf2, Scheme::NEWMARK] {
        let mut state = State::at_rest(Field::filled(1, DVec3::ZERO)).unwrap();
        let mut integrator = Implicit::new(&system, scheme, settings(0.1)).unwrap();
        let (mut work, mut numerical) = (0.0, 0.0);
        for _ in 0..1000 {
            let report = integrator.step(&system, &mut state, positive(0.001)).unwrap();
            work += report.balance.work;
            numerical += report.balance.numerical();
        }
        assert!((work - 0.5).abs() < 2e-3 && numerical.abs() < 2e-3, "{scheme:?}: {work} {numerical}");
    }
}

/// A spring to a path that lifts its mass does the work of lifting.
#[test]
fn work_of_a_moving_spring() {
    let spring = Attachments::new("spring").to_path(Id::new(0), |t| DVec3::Z * t, positive(1e4));
    let mass: Field<Vertices, f64> = Field::filled(1, 1.0);
    let gravity = Gravity::new(common::G, &mass).unwrap();
    let system = System::builder(mass).term(spring).term(gravity).build().unwrap();
    let mut state = State::at_rest(Field::filled(1, DVec3::ZERO)).unwrap();
    let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, settings(1e-6)).unwrap();
    let mut work = 0.0;
    for _ in 0..1000 {
        work += integrator.step(&system, &mut state, positive(0.001)).unwrap().balance.work;
    }
    // 9.81 J of height and half a joule of speed, and what the oscillation of the spring has cost.
    assert!((10.3..11.0).contains(&work), "{work}");
}

/// Velocities that the state gives to held and sliding nodes do not ring on.
#[test]
fn held_nodes_have_no_velocity() {
    let sheet = Sheet::grid(2, 2, [1.0, 1.0], generate::Diagonal::Right);
    let system = sheet
        .cloth(0.2, [100.0; 3], 1e-3)
        .pin(Id::new(0))
        .constrain(Id::new(2), Pin::Plane(DVec3::new(1.0, 2.0, 3.0)))
        .build()
        .unwrap();
    let v = Field::filled(9, DVec3::ONE);
    let mut state = State::new(sheet.flat.clone(), v).unwrap();
    let strict = NewtonSettings { solver: LinearSolver::StaleCholesky, ..settings(1e-3) };
    let mut integrator = Implicit::new(&system, Scheme::NEWMARK, strict).unwrap();
    for _ in 0..20 {
        integrator.step(&system, &mut state, positive(0.01)).unwrap();
        assert_eq!(state.v()[Id::new(0)], DVec3::ZERO);
        let n = DVec3::new(1.0, 2.0, 3.0).normalize();
        assert!(state.v()[Id::new(2)].dot(n).abs() < 1e-12);
        assert!((state.x()[Id::new(2)] - sheet.flat[Id::new(2)]).dot(n).abs() < 1e-13);
    }
}

/// Nothing to do is done at once, also with a fixed number of iterations and with every node held.
#[test]
fn nothing_to_do() {
    let sheet = Sheet::grid(2, 2, [1.0, 1.0], generate::Diagonal::Right);
    let fixed = NewtonSettings { fixed: true, max_iterations: 3, ..NewtonSettings::default() };
    for held in [0, 9] {
        let system = sheet.cloth(0.2, [100.0; 3], 1e-3).pins((0..held).map(Id::new)).build().unwrap();
        for settings in [fixed, NewtonSettings::default()] {
            let mut state = State::at_rest(sheet.flat.clone()).unwrap();
            let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, settings).unwrap();
            integrator.step(&system, &mut state, positive(0.1)).unwrap();
            assert!(distance(state.x(), &sheet.flat) < 1e-14);
        }
    }
    let coarse = NewtonSettings { linear_tolerance: Some(positive(2.0)), ..NewtonSettings::default() };
    let system = sheet.cloth(0.2, [100.0; 3], 1e-3).build().unwrap();
    assert!(Implicit::new(&system, Scheme::BackwardEuler, coarse).is_err());
}
