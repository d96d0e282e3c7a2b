//! The order of both schemes for cloth (formula sheet A6).
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{developable, faceted, p, pins, system};
use glam::DVec3;
use plisse_constrained::{FastProjection, ProjectionSettings};
use plisse_core::{Edges, Field, Id, Vertices};
use plisse_system::{Integrator, Scheme, State};

const TIME: f64 = 0.2;

/// Edges after 0.2 s of a sheet of 4 by 4 cells between two pins, and the change of energy.
fn run(scheme: Scheme, settings: ProjectionSettings, steps: usize) -> (Field<Edges, DVec3>, f64) {
    let n = 4;
    let (mesh, x) = faceted(n, 0.5);
    let system = system(&mesh, 0.2, 1e-5, DVec3::NEG_Z * 9.81);
    let corners = [(n * (n + 1)) as u32, ((n + 1) * (n + 1) - 1) as u32];
    let mut constraints = developable(&mesh);
    constraints.push(pins(&mesh, &corners.map(|v| (v, x[Id::<Vertices>::new(v)]))));
    let settings = ProjectionSettings { tolerance: 1e-8, max_iterations: 60, ..settings };
    let mut integrator = FastProjection::new(&system, constraints, scheme, settings).unwrap();
    let mut state = State::at_rest(mesh.midpoints(&x).unwrap()).unwrap();
    let (mut start, mut end) = (None, 0.0);
    for _ in 0..steps {
        let report = integrator.step(&system, &mut state, p(TIME / steps as f64)).unwrap();
        end = report.energies.total() - *start.get_or_insert(report.balance.before);
    }
    (state.x().clone(), end)
}

/// The sheet starts flat in facets, where bending of single facets is undetermined: it limits what
/// very short steps can show, as in the table, whose order falls with them, too.
#[test]
fn cloth_has_the_order_of_its_scheme() {
    let explicit = ProjectionSettings::default();
    let (exact, _) = run(Scheme::Bdf2, explicit, 1024);
    let error = |x: &Field<Edges, DVec3>| {
        (x.ids().map(|e| x[e].distance_squared(exact[e])).sum::<f64>() / x.len() as f64).sqrt()
    };
    let steps = [20, 40, 80, 160];
    let euler = steps.map(|n| run(Scheme::BackwardEuler, explicit, n));
    let bdf2 = steps.map(|n| run(Scheme::Bdf2, explicit, n));
    for pair in euler.windows(2) {
        let order = (error(&pair[0].0) / error(&pair[1].0)).log2();
        assert!((0.95..1.05).contains(&order), "{order}");
    }
    let order = (error(&bdf2[0].0) / error(&bdf2[3].0)).log2() / 3.0;
    assert!(order > 1.6, "{order}");
    assert!(error(&bdf2[0].0) < 1e-3, "{}", error(&bdf2[0].0));
    // The table says 10, 21 and 45 times less.
    for (k, least) in [10.0, 20.0, 40.0].into_iter().enumerate() {
        assert!(euler[k].1 / bdf2[k].1 > least, "{k}: {} {}", euler[k].1, bdf2[k].1);
    }
    // What is lost along implicit directions is the same to their own error.
    for (k, n) in steps.into_iter().enumerate() {
        let [e, b] = [Scheme::BackwardEuler, Scheme::Bdf2].map(|s| run(s, ProjectionSettings::implicit(), n));
        assert!((e.1 / euler[k].1 - 1.0).abs() < 0.02, "{n}: {} {}", e.1, euler[k].1);
        assert!((b.1 / bdf2[k].1 - 1.0).abs() < 0.15, "{n}: {} {}", b.1, bdf2[k].1);
    }
}
