//! Known answers of contact and friction: rest gaps, sliding on an incline, a belt, momentum.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{Belt, Sheets, floor, positive, settings, touching};
use glam::{DQuat, DVec3};
use plisse_contact::Touching;
use plisse_core::{Field, Id, Vertices};
use plisse_system::{Adaptive, Implicit, Integrator, NewtonSettings, Scheme, State, StepReport, System};

const G: f64 = 9.81;

struct Run {
    system: System<Vertices>,
    state: State<Vertices>,
    integrator: Adaptive<Implicit<Vertices>>,
}

impl Run {
    fn new(system: System<Vertices>, start: Field<Vertices, DVec3>, newton: NewtonSettings) -> Self {
        let integrator =
            Adaptive::new(Implicit::new(&system, Scheme::BackwardEuler, newton).unwrap(), positive(1e-6));
        Self { system, state: State::at_rest(start).unwrap(), integrator }
    }

    fn step(&mut self, dt: f64) -> StepReport {
        self.integrator.step(&self.system, &mut self.state, positive(dt)).unwrap()
    }

    fn mean(&self, of: &Field<Vertices, DVec3>) -> DVec3 {
        of.as_slice().iter().sum::<DVec3>() / of.len() as f64
    }
}

/// A sheet of 8 by 8 cells of 1 cm on a floor, gravity turned by an angle.
fn on_floor(degrees: f64, belt: DVec3, gap: f64, touching: Touching, tolerance: f64) -> Run {
    let mut sheets = Sheets::default();
    sheets.add([8, 8], [0.08, 0.08], |x| x + DVec3::Z * gap);
    let angle = degrees.to_radians();
    let gravity = DVec3::new(angle.sin(), 0.0, -angle.cos()) * G;
    let contact = floor(sheets.contact(touching), Belt { normal: DVec3::Z, velocity: belt }, touching);
    let contact = contact.build("contact", &sheets.start(), &sheets.masses(0.2), |_| false).unwrap();
    let system = sheets.system(0.2, [100.0, 100.0, 30.0], 1e-5, gravity).term(contact).build().unwrap();
    Run::new(system, sheets.start(), settings(tolerance))
}

#[test]
fn a_falling_sheet_comes_to_rest_where_pressure_carries_it() {
    for (stiffness, rest) in [(1e2, 0.92131), (1e3, 0.97464), (1e4, 0.99193)] {
        for (dt, lowest, highest) in [(1.0 / 60.0, 0.9498, 0.9748), (1.0 / 200.0, 0.9172, 0.9773)] {
            let touching = Touching { stiffness: positive(stiffness), ..touching() };
            let mut run = on_floor(0.0, DVec3::ZERO, 0.05, touching, 1e-6);
            let (mut low, mut high, mut touched) = (f64::INFINITY, 0.0f64, false);
            for _ in 0..(0.3 / dt) as usize {
                run.step(dt);
                let s = run.mean(run.state.x()).z / 1e-3;
                touched |= s < 1.0;
                if touched {
                    high = high.max(s);
                    low = low.min(s);
                }
            }
            let s = run.mean(run.state.x()).z / 1e-3;
            assert!((s - rest).abs() < 2e-4, "{stiffness} {dt}: {s}");
            if (stiffness - 1e3_f64).abs() < 1.0 {
                assert!((low - lowest).abs() < 2e-3 && (high - highest).abs() < 1e-3, "{dt}: {low} {high}");
            }
        }
    }
}

#[test]
fn sheets_slide_down_inclines_as_coulomb_says() {
    let friction = Touching { friction: 0.3, ..touching() };
    let slide = |degrees: f64| {
        let mut run = on_floor(degrees, DVec3::ZERO, 0.974e-3, friction, 1e-5);
        for _ in 0..60 {
            run.step(1.0 / 60.0);
        }
        run.mean(run.state.v()).x
    };
    let slip = 1e-3;
    for degrees in [10.0f64, 15.0] {
        let creep = slip * (1.0 - (1.0 - degrees.to_radians().tan() / 0.3).sqrt());
        let v = slide(degrees);
        assert!((v - creep).abs() < 0.02 * creep, "{degrees}: {v} {creep}");
    }
    for degrees in [18.0f64, 20.0, 30.0] {
        let angle = degrees.to_radians();
        let expected = G * (angle.sin() - 0.3 * angle.cos());
        let v = slide(degrees);
        assert!((v - expected).abs() < 2e-3 * expected, "{degrees}: {v} {expected}");
    }
}

#[test]
fn a_belt_carries_a_sheet_and_never_overtakes_itself() {
    let friction = Touching { friction: 0.3, ..touching() };
    let tolerance = 1e-4;
    for (dt, steps) in [(1.0 / 30.0, 6), (1.0 / 60.0, 11), (1.0 / 200.0, 35)] {
        let mut run = on_floor(0.0, DVec3::X * 0.5, 0.9746e-3, friction, tolerance);
        let mut reached = None;
        for step in 1..=steps + 10 {
            run.step(dt);
            let v = run.mean(run.state.v()).x;
            // A step may be wrong by its tolerance, which is an acceleration.
            assert!(v <= 0.5 + dt * tolerance, "{dt} {step}: {v}");
            if v > 0.5 - 1e-3 && reached.is_none() {
                reached = Some(step);
            }
        }
        let reached = reached.unwrap();
        assert!(i32::abs(reached - steps) <= 1, "{dt}: {reached}");
    }
}

#[test]
fn pressed_sheets_have_the_gap_of_the_law_on_every_mesh() {
    for cells in [5, 10, 15] {
        for (pressure, gap) in [(100.0, 0.8285), (1000.0, 0.5324)] {
            let mut sheets = Sheets::default();
            let below = cells * 8 / 5;
            sheets.add([below, below], [0.08, 0.08], |x| x - DVec3::new(0.04, 0.04, 0.0));
            let turn = DQuat::from_rotation_z(0.4);
            sheets.add([cells, cells], [0.05, 0.05], |x| {
                turn * (x - DVec3::new(0.025, 0.025, 0.0)) + DVec3::Z * 0.99e-3
            });
            let touching = Touching { touches_itself: false, friction: 0.5, ..touching() };
            let masses = sheets.masses(0.2);
            let (_, _, first) = sheets.meshes[1];
            let is_held = |v: Id<Vertices>| v.get() < first;
            let contact =
                sheets.contact(touching).build("contact", &sheets.start(), &masses, is_held).unwrap();
            // Its weight makes the pressure.
            let gravity = DVec3::Z * -(pressure / 0.2);
            let builder = sheets.system(0.2, [1e3, 1e3, 300.0], 1e-5, gravity).term(contact);
            let system = builder.pins((0..first).map(Id::new)).build().unwrap();
            // From a little below: weights of 500 g would else fall on it in the first step.
            let near = |v: Id<Vertices>| DVec3::Z * if v.get() < first { 0.0 } else { gap * 1e-3 - 0.99e-3 };
            let start = Field::from_fn(sheets.x.len(), |v| sheets.x[v.index()] + near(v));
            let mut run = Run::new(system, start, settings(1e-2));
            let mut iterations = 0;
            for _ in 0..40 {
                let report = run.step(1.0 / 60.0);
                assert_eq!(report.rejected, 0);
                iterations += report.iterations();
            }
            let x = &run.state.x().as_slice()[first as usize..];
            let mean = x.iter().map(|x| x.z).sum::<f64>() / x.len() as f64 / 1e-3;
            println!("{cells} cells, {pressure} Pa: {mean}, {iterations} iterations");
            let (target, within) = if pressure < 500.0 { (0.828, 2e-3) } else { (0.532, 3e-3) };
            assert!((mean - target).abs() < within, "{cells} {pressure}: {mean}");
            assert_eq!(sheets.crossings(run.state.x()), 0);
        }
    }
}

#[test]
fn colliding_sheets_keep_their_momentum() {
    let mut sheets = Sheets::default();
    sheets.add([10, 10], [0.1, 0.1], |x| x);
    sheets.add([10, 10], [0.1, 0.1], |x| DQuat::from_rotation_z(0.3) * x + DVec3::new(0.02, -0.01, 0.01));
    let touching = Touching { stiffness: positive(100.0), ..touching() };
    let masses = sheets.masses(0.2);
    let contact = sheets.contact(touching).build("contact", &sheets.start(), &masses, |_| false).unwrap();
    let system = sheets.system(0.2, [100.0, 100.0, 30.0], 1e-5, DVec3::ZERO).term(contact).build().unwrap();
    let mut run = Run::new(system, sheets.start(), settings(1e-6));
    let second = sheets.meshes[1].2 as usize;
    let v = (0..sheets.x.len()).map(|i| DVec3::Z * if i < second { 0.5 } else { -0.5 }).collect();
    run.state = State::new(sheets.start(), Field::from_vec(v)).unwrap();
    let (mut iterations, scale) = (0, masses.as_slice().iter().sum::<f64>() * 0.5);
    for _ in 0..40 {
        let report = run.step(5e-3);
        iterations += report.iterations();
        assert!(report.momentum.length() < 1e-9 * scale, "{}", report.momentum.length() / scale);
        assert_eq!(sheets.crossings(run.state.x()), 0);
    }
    // They have met: not passed each other.
    let mean = |range: &[DVec3]| range.iter().map(|x| x.z).sum::<f64>() / range.len() as f64;
    let (low, high) = run.state.x().as_slice().split_at(second);
    assert!(mean(low) < mean(high));
    assert!(iterations < 40 * 15, "{iterations}");
}

/// A strip folded like a U falls on its own lower leg.
#[test]
fn a_folded_strip_lies_on_itself() {
    let radius = 0.012;
    let fold = |x: DVec3| {
        let arc = std::f64::consts::PI * radius;
        let (leg, s) = (0.5 * (0.37 - arc), x.x);
        let z = 3e-3;
        if s < leg {
            DVec3::new(s, x.y, z)
        } else if s < leg + arc {
            let angle = (s - leg) / radius;
            DVec3::new(leg + radius * angle.sin(), x.y, z + radius * (1.0 - angle.cos()))
        } else {
            DVec3::new(leg - (s - leg - arc), x.y, z + 2.0 * radius)
        }
    };
    let mut sheets = Sheets::default();
    sheets.add([37, 6], [0.37, 0.06], fold);
    let touching = Touching { stiffness: positive(10.0), ..touching() };
    let masses = sheets.masses(0.2);
    let contact = floor(sheets.contact(touching), Belt { normal: DVec3::Z, velocity: DVec3::ZERO }, touching);
    let contact = contact.build("contact", &sheets.start(), &masses, |_| false).unwrap();
    let builder = sheets.system(0.2, [100.0, 100.0, 30.0], 1e-5, DVec3::Z * -G).term(contact);
    let mut run = Run::new(builder.build().unwrap(), sheets.start(), settings(0.1));
    let (mut iterations, mut least) = (0, f64::INFINITY);
    for _ in 0..60 {
        let report = run.step(1.0 / 60.0);
        iterations += report.iterations();
        assert_eq!(report.rejected, 0);
        least = report.closest.map_or(least, |closest| least.min(closest.gap / 1e-3));
        assert_eq!(sheets.crossings(run.state.x()), 0);
        assert!(run.state.x().as_slice().iter().all(|x| x.z > 0.0));
    }
    println!("{iterations} iterations, smallest gap {least}");
    assert!(iterations < 60 * 12 && least > 0.01, "{iterations} {least}");
}
