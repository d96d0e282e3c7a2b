//! A sheet that hangs from two corners: energy, iterations and errors (formula sheet A6, A7).
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{developable, faceted, p, pins, system, vectors};
use glam::DVec3;
use plisse_constrained::{FastProjection, ProjectionSettings};
use plisse_core::{Id, Vertices};
use plisse_sparse::LinearSolver;
use plisse_system::{Integrator, Scheme, State};

struct Run {
    /// Change of energy and kinetic energy at .2, .4, .6, .8, 1.0.
    change: Vec<f64>,
    kinetic: Vec<f64>,
    /// Newton iterations per step.
    iterations: f64,
    error: f64,
    stretch: f64,
}

fn hang(scheme: Scheme) -> Run {
    let n = 20;
    let (mesh, x) = faceted(n, 0.5);
    let system = system(&mesh, 0.2, 1e-5, DVec3::NEG_Z * 9.81);
    let corners = [(n * (n + 1)) as u32, ((n + 1) * (n + 1) - 1) as u32];
    let place = |v: u32| (v, x[Id::<Vertices>::new(v)]);
    let mut constraints = developable(&mesh);
    constraints.push(pins(&mesh, &corners.map(place)));
    let settings = ProjectionSettings { solver: LinearSolver::Cholesky, ..Default::default() };
    let mut integrator = FastProjection::new(&system, constraints, scheme, settings).unwrap();
    let mut state = State::at_rest(mesh.midpoints(&x).unwrap()).unwrap();
    let mut out = Run { change: Vec::new(), kinetic: Vec::new(), iterations: 0.0, error: 0.0, stretch: 0.0 };
    let mut start = None;
    for step in 1..=100 {
        let report = integrator.step(&system, &mut state, p(0.01)).unwrap();
        let start = *start.get_or_insert(report.balance.before);
        out.iterations += integrator.last().iterations() as f64 / 100.0;
        out.error = out.error.max(integrator.last().error());
        out.stretch = out.stretch.max(mesh.largest_stretch(state.x()));
        if step % 20 == 0 {
            out.change.push(report.energies.total() - start);
            out.kinetic.push(report.energies.kinetic);
        }
    }
    out
}

#[test]
fn the_second_order_scheme_loses_less_energy_in_fewer_iterations() {
    let table = vectors()["hanging_sheet"]["n20_T05_dt01"].clone();
    let expected = |scheme: &str, what: &str, time: &str| table[scheme][what][time].as_f64().unwrap();
    let (euler, bdf2) = (hang(Scheme::BackwardEuler), hang(Scheme::Bdf2));
    for (lost, other) in euler.change.iter().zip(&bdf2.change) {
        assert!(lost / other >= 5.0, "{lost} {other}");
    }
    assert!(bdf2.iterations / euler.iterations <= 0.75, "{} {}", bdf2.iterations, euler.iterations);
    for (name, run) in [("be", &euler), ("bdf2", &bdf2)] {
        for (k, time) in [(1, ".4"), (2, ".6")] {
            let (found, expected) = (run.kinetic[k], expected(name, "KE", time));
            assert!((found / expected - 1.0).abs() < 0.05, "{name} {time}: {found} {expected}");
        }
        assert!(run.error <= 1e-4 && run.stretch < 1e-4, "{:e} {:e}", run.error, run.stretch);
    }
}
