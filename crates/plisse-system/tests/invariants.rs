//! What must not change: free flight, momentum, shapes at rest, bits.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use common::{G, Sheet, distance, positive, settings};
use glam::{DQuat, DVec3};
use plisse_bending::HingeWeight;
use plisse_core::{Field, Id, RestShape, Vertices, generate};
use plisse_membrane::{BaraffWitkin, Lame, MembraneElement, StVenantKirchhoff};
use plisse_system::{
    ElementTerm, Gravity, Implicit, Integrator, LinearSolver, NewtonSettings, Scheme, State, StepReport,
    System, Wind,
};

const DYNAMIC: [Scheme; 3] = [Scheme::BackwardEuler, Scheme::Bdf2, Scheme::NEWMARK];

fn centre(mass: &Field<Vertices, f64>, x: &Field<Vertices, DVec3>) -> DVec3 {
    let total: f64 = mass.as_slice().iter().sum();
    mass.iter().map(|(i, m)| x[i] * *m).sum::<DVec3>() / total
}

/// A crumpled sheet in flight: the centre of mass follows the parabola of the scheme, exactly.
#[test]
fn free_fall() {
    let sheet = Sheet::grid(6, 6, [0.5, 0.5], generate::Diagonal::Alternating);
    let system = sheet.cloth(0.2, [200.0, 300.0, 40.0], 1e-4).term(sheet.gravity(0.2)).build().unwrap();
    let mass = system.mass().unwrap();
    let x = sheet.flat.map(|x| DVec3::new(0.9 * x.x, x.y, 0.05 * (9.0 * x.x).sin() + 0.1 * x.y * x.x));
    let v = sheet.flat.map(|x| DVec3::new(1.0, 2.0 - x.x, 0.5 + x.y));
    let (x0, v0) = (centre(mass, &x), centre(mass, &v));
    let (h, steps) = (0.01, 40);
    for scheme in DYNAMIC {
        let mut state = State::new(x.clone(), v.clone()).unwrap();
        let mut integrator = Implicit::new(&system, scheme, settings(1e-8)).unwrap();
        // The scheme itself, applied to a point.
        let (mut p, mut q, mut p1, mut q1) = (x0, v0, x0, v0);
        let total: f64 = mass.as_slice().iter().sum();
        for n in 0..steps {
            let report = integrator.step(&system, &mut state, positive(h)).unwrap();
            let (p2, q2) = match scheme {
                Scheme::NEWMARK => (p + q * h + G * (0.5 * h * h), q + G * h),
                Scheme::Bdf2 if n > 0 => {
                    let w = (q * 4.0 - q1) / 3.0 + G * (2.0 * h / 3.0);
                    ((p * 4.0 - p1) / 3.0 + w * (2.0 * h / 3.0), w)
                }
                _ => (p + (q + G * h) * h, q + G * h),
            };
            (p1, q1, p, q) = (p, q, p2, q2);
            // 1e-8 m/s² of unbalanced force in each step is all that may be missing.
            let allowed = 1e-8 * h * (n + 1) as f64;
            assert!(report.momentum.distance(q * total) < allowed * total + 1e-13, "{scheme:?} step {n}");
            assert!(
                centre(mass, state.x()).distance(p) < allowed * h * (n + 1) as f64 + 1e-13,
                "{scheme:?} step {n}"
            );
        }
        if scheme == Scheme::NEWMARK {
            let t = h * f64::from(steps);
            assert!(centre(mass, state.x()).distance(x0 + v0 * t + G * (0.5 * t * t)) < 1e-9);
        }
    }
}

/// Angular momentum of a spinning sheet: backward Euler loses it at first order, the others keep it
/// to second order.
#[test]
fn angular_momentum() {
    let sheet = Sheet::grid(4, 4, [0.4, 0.4], generate::Diagonal::Right);
    let system = sheet.cloth(0.2, [50.0, 50.0, 20.0], 1e-4).build().unwrap();
    let x = sheet.flat.map(|x| *x - DVec3::new(0.2, 0.2, 0.0));
    let v = x.map(|x| DVec3::new(0.3, 0.2, 3.0).cross(*x));
    let lost = |scheme, steps: usize| {
        let mut state = State::new(x.clone(), v.clone()).unwrap();
        let mut integrator = Implicit::new(&system, scheme, settings(1e-8)).unwrap();
        let reports: Vec<StepReport> = (0..steps)
            .map(|_| integrator.step(&system, &mut state, positive(0.2 / steps as f64)).unwrap())
            .collect();
        let start: DVec3 = system.mass().unwrap().iter().map(|(i, m)| x[i].cross(v[i] * *m)).sum();
        if scheme == Scheme::BackwardEuler {
            let sizes: Vec<f64> = reports.iter().map(|r| r.angular_momentum.length()).collect();
            assert!(sizes.windows(2).all(|w| w[1] < w[0] + 1e-12), "backward Euler never gains");
        }
        (reports[steps - 1].angular_momentum - start).length() / start.length()
    };
    for (scheme, order, bound) in
        [(Scheme::BackwardEuler, 1.0, 2e-2), (Scheme::Bdf2, 2.0, 1e-3), (Scheme::NEWMARK, 2.0, 1e-4)]
    {
        let (coarse, fine) = (lost(scheme, 100), lost(scheme, 200));
        assert!(fine < bound && (coarse / fine).log2() > order - 0.15, "{scheme:?} {coarse} {fine}");
    }
}

/// Sheets at rest stay at rest, pinned or free, flat or curved, under every scheme, bit by bit or
/// to rounding.
#[test]
fn rest_is_rest() {
    let sheet = Sheet::grid(5, 5, [0.5, 0.5], generate::Diagonal::Alternating);
    let curved = sheet
        .flat
        .map(|x| DVec3::new((2.0 * x.x).sin() / 2.0, x.y, (2.0 * x.x).cos() / 2.0 + 0.2 * x.x * x.y));
    let rest = RestShape::from_positions(&sheet.mesh, &curved).unwrap();
    assert!(rest.hinges().iter().any(|h| h.rest_angle().abs() > 0.05));
    let curved_sheet = Sheet { mesh: sheet.mesh.clone(), rest, flat: curved };
    let stvk = StVenantKirchhoff::new(Lame::new(positive(1e4), 5e3).unwrap());
    for sheet in [sheet, curved_sheet] {
        for pins in [vec![], vec![0, 5]] {
            let system = System::builder(sheet.mass(0.15))
                .term(sheet.membrane(stvk))
                .term(sheet.hinges(1e-2, HingeWeight::DiscreteShells))
                .pins(pins.into_iter().map(Id::new))
                .build()
                .unwrap();
            for scheme in DYNAMIC {
                let mut state = State::at_rest(sheet.flat.clone()).unwrap();
                let mut integrator = Implicit::new(&system, scheme, NewtonSettings::default()).unwrap();
                for _ in 0..100 {
                    integrator.step(&system, &mut state, positive(1.0 / 60.0)).unwrap();
                }
                assert!(
                    distance(state.x(), &sheet.flat) < 1e-11,
                    "{scheme:?} {}",
                    distance(state.x(), &sheet.flat)
                );
                assert!(state.v().as_slice().iter().all(|v| v.length() < 1e-9));
            }
        }
    }
}

/// The energy balance closes: what is lost is what dissipative terms and the scheme took, plus what
/// pins gave.
#[test]
fn energy_balance() {
    let sheet = Sheet::grid(5, 5, [0.5, 0.5], generate::Diagonal::Right);
    let wind = Wind::new(&sheet.mesh, DVec3::ZERO, positive(1.2), positive(1.5));
    let system = sheet
        .cloth(0.2, [100.0, 100.0, 20.0], 1e-4)
        .term(sheet.gravity(0.2))
        .term(wind)
        .pin(Id::new(0))
        .move_pin(Id::new(5), |t| DVec3::new(0.5, 0.3 * t, 0.1 * (9.0 * t).sin()))
        .build()
        .unwrap();
    let mut state = State::at_rest(sheet.flat.clone()).unwrap();
    // Newmark's scheme has no dissipation of its own to first order, so that the rest must be
    // small.
    let mut integrator = Implicit::new(&system, Scheme::NEWMARK, settings(1e-7)).unwrap();
    let (mut dissipated, mut work, mut numerical, mut before) = (0.0, 0.0, 0.0, None);
    for _ in 0..400 {
        let report = integrator.step(&system, &mut state, positive(0.001)).unwrap();
        let b = report.balance;
        assert!(b.dissipated >= 0.0, "still air only takes");
        assert!((b.after - report.energies.total()).abs() < 1e-15);
        if let Some(before) = before {
            assert_eq!(b.before, before, "a step starts where the last one ended");
        }
        before = Some(b.after);
        dissipated += b.dissipated;
        work += b.work;
        numerical += b.numerical();
    }
    assert!(dissipated > 0.01 && work.abs() > 1e-3, "{dissipated} {work}");
    assert!(numerical.abs() < 0.02 * (dissipated + work.abs()), "{numerical} of {dissipated} and {work}");
}

/// Fifty steps of a falling sheet, bit by bit the same for 1 to 4 threads and from run to run, for
/// every solver.
#[test]
fn same_bits_for_any_number_of_threads() {
    // Large enough for assembly and products to be cut into ranges.
    let sheet = Sheet::grid(46, 46, [1.0, 1.0], generate::Diagonal::Alternating);
    let system = sheet
        .cloth(0.3, [200.0, 1000.0, 50.0], 1e-4)
        .term(sheet.gravity(0.3))
        .pins([0, 46].map(Id::new))
        .build()
        .unwrap();
    assert!(system.size() > 2048);
    let run = |threads: usize, solver| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut state = State::at_rest(sheet.flat.clone()).unwrap();
            let settings = NewtonSettings { solver, ..NewtonSettings::default() };
            let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, settings).unwrap();
            let steps = (0..50).map(|_| integrator.step(&system, &mut state, positive(0.005)).unwrap());
            let reports: Vec<StepReport> = steps.collect();
            (state, reports)
        })
    };
    for solver in [LinearSolver::Auto, LinearSolver::BlockJacobi] {
        let one = run(1, solver);
        assert!(one.0.x().as_slice().iter().any(|x| x.z < -0.1), "the sheet has fallen");
        for threads in [1, 2, 3, 4] {
            assert!(run(threads, solver) == one, "{threads} threads, {solver:?}");
        }
    }
}

/// A rigid rotation of the whole scene rotates the result: nothing prefers an axis.
#[test]
fn rotated_scenes_give_rotated_results() {
    let sheet = Sheet::grid(4, 4, [0.4, 0.4], generate::Diagonal::Right);
    let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.1, 0.7);
    let run = |turn: DQuat| {
        let energy = BaraffWitkin::from_moduli(positive(100.0), positive(100.0), positive(20.0));
        let element = |(face, v): (_, &[_; 3])| MembraneElement::new(*v, *sheet.rest.map(face), energy);
        let system = System::builder(sheet.mass(0.2))
            .term(ElementTerm::<_, 3>::new("membrane", sheet.mesh.faces().iter().map(element).collect()))
            .term(sheet.hinges(1e-4, HingeWeight::AreaSum))
            .term(Gravity::new(turn * G, &sheet.mass(0.2)).unwrap())
            .pins([0, 4].map(Id::new))
            .build()
            .unwrap();
        let mut state = State::at_rest(sheet.flat.map(|x| turn * *x)).unwrap();
        let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, settings(1e-9)).unwrap();
        for _ in 0..20 {
            integrator.step(&system, &mut state, positive(0.01)).unwrap();
        }
        state.x().map(|x| turn.inverse() * *x)
    };
    let error = distance(&run(DQuat::IDENTITY), &run(turn));
    assert!(error < 1e-9, "{error}");
}
