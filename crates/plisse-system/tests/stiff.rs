//! Stiff and light sheets at large steps, and what a tighter tolerance changes.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use common::{Sheet, distance, positive, settings};
use glam::DVec3;
use plisse_bending::HingeWeight;
use plisse_core::{Field, Id, Vertices, generate};
use plisse_membrane::{Lame, StVenantKirchhoff};
use plisse_system::{Adaptive, Implicit, Integrator, Scheme, State, System};

/// 1e3 to 1e8 N/m, 0.1 and 0.3 kg/m², steps of 1/60 and 1/30 s: five seconds and more without
/// divergence, for Baraff-Witkin and for St. Venant-Kirchhoff, which is indefinite under
/// compression.
#[test]
fn stiff_sheets_do_not_diverge() {
    // At 1e8 N/m a coarse triangulation hardly bends without stretching: substeps are needed, and a
    // small sheet shows it.
    for (cells, stiffness, density) in
        [(8, 1e3, 0.1), (8, 1e4, 0.3), (8, 1e6, 0.1), (4, 1e8, 0.1), (4, 1e8, 0.3)]
    {
        let sheet = Sheet::grid(cells, cells, [1.0, 1.0], generate::Diagonal::Alternating);
        for dt in [1.0 / 60.0, 1.0 / 30.0] {
            for stvk in [false, true] {
                let builder = if stvk {
                    let lame = Lame::new(positive(stiffness), 0.5 * stiffness).unwrap();
                    System::builder(sheet.mass(density))
                        .term(sheet.membrane(StVenantKirchhoff::new(lame)))
                        .term(sheet.hinges(1e-4, HingeWeight::AreaSum))
                } else {
                    sheet.cloth(density, [stiffness, stiffness, 0.1 * stiffness], 1e-4)
                };
                let corners = [0, cells as u32].map(Id::new);
                let system = builder.term(sheet.gravity(density)).pins(corners).build().unwrap();
                let name = format!("{stiffness} N/m, {density} kg/m², dt {dt}, StVK {stvk}");
                falls(&system, sheet.flat.clone(), dt, &name);
            }
        }
    }
}

fn falls(system: &System<Vertices>, x: Field<Vertices, DVec3>, dt: f64, name: &str) {
    let mut state = State::at_rest(x).unwrap();
    let inner = Implicit::new(system, Scheme::BackwardEuler, settings(0.1)).unwrap();
    let mut integrator = Adaptive::new(inner, positive(1e-4));
    for step in 0..300 {
        let report = integrator.step(system, &mut state, positive(dt));
        let report = report.unwrap_or_else(|e| panic!("{name}, step {step}: {e}"));
        // Backward Euler never gains energy.
        let b = report.balance;
        assert!(b.numerical() > -1e-3 * report.energies.kinetic.max(1e-6), "{name}, step {step}: {b:?}");
    }
    // Free fall from the height of the sheet bounds every speed.
    let fastest = state.v().as_slice().iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(fastest < 6.0, "{name}: {fastest} m/s at the end");
    let lowest = state.x().as_slice().iter().map(|x| x.z).fold(0.0, f64::min);
    assert!((-1.6..-0.3).contains(&lowest), "{name}: lowest vertex at {lowest}");
}

/// A tighter tolerance changes the answer by no more than the tolerance says: an unbalanced
/// acceleration `a` in each of `n` steps moves a vertex by about `a (n dt)²/2`, while the motion is
/// smooth.
#[test]
fn tighter_tolerances_agree() {
    let sheet = Sheet::grid(10, 10, [1.0, 1.0], generate::Diagonal::Alternating);
    let system = sheet
        .cloth(0.2, [500.0, 500.0, 50.0], 1e-4)
        .term(sheet.gravity(0.2))
        .pins([0, 10].map(Id::new))
        .build()
        .unwrap();
    let (dt, steps) = (1.0 / 60.0, 12);
    let run = |tolerance| {
        let mut state = State::at_rest(sheet.flat.clone()).unwrap();
        let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, settings(tolerance)).unwrap();
        for _ in 0..steps {
            let report = integrator.step(&system, &mut state, positive(dt)).unwrap();
            assert!(report.residual() <= tolerance);
        }
        state
    };
    let exact = run(1e-8);
    let time = dt * f64::from(steps);
    let mut last = f64::INFINITY;
    for tolerance in [1.0, 0.1, 1e-2, 1e-4] {
        let error = distance(run(tolerance).x(), exact.x());
        assert!(error <= 0.5 * tolerance * time * time, "{tolerance}: {error}");
        assert!(error <= last);
        last = error;
    }
}
