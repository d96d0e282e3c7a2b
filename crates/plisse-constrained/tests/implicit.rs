//! Projection along implicit directions: what it needs of constraints, and where fast projection
//! fails (formula sheet A7).
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{developable, faceted, p, pins, sheet, system};
use glam::DVec3;
use plisse_constrained::{
    Constraint, DevelopableBuilder, Distances, FastProjection, ProjectionSettings, RigidTriangles, Rows,
};
use plisse_core::{Edges, Field, Id, Space, SplitMix, Vertices};
use plisse_system::{Integrator, Scheme, State, System};

/// `Σ λ ∇c` of a group at these positions.
fn force<S: Space>(of: &dyn Constraint<S>, group: usize, x: &Field<S, DVec3>, lambda: &[f64]) -> Vec<DVec3> {
    let nodes = of.nodes(group).len();
    let (mut values, mut gradients) = (vec![0.0; lambda.len()], vec![DVec3::ZERO; lambda.len() * nodes]);
    of.evaluate(group, x, 0.0, &mut Rows::new(&mut values, &mut gradients));
    let at = |i: usize| lambda.iter().enumerate().map(|(r, l)| gradients[r * nodes + i] * *l).sum();
    (0..nodes).map(at).collect()
}

/// Where a group pulls, its tension is minus the derivative of its force; where it does not, it is
/// semi-definite and not smaller than that.
fn check<S: Space>(of: &dyn Constraint<S>, group: usize, x: &Field<S, DVec3>, lambda: &[f64]) -> bool {
    let nodes = of.nodes(group).to_vec();
    let n = nodes.len();
    let mut w = vec![0.0; n * n];
    of.tension(group, lambda, &mut w);
    let mut random = SplitMix::new(7);
    let mut is_exact = true;
    for _ in 0..20 {
        let way: Vec<DVec3> =
            nodes.iter().map(|_| DVec3::new(random.signed(), random.signed(), random.signed())).collect();
        let mut moved = x.clone();
        for (node, way) in nodes.iter().zip(&way) {
            moved[*node] += *way * 1e-3;
        }
        let (before, after) = (force(of, group, x, lambda), force(of, group, &moved, lambda));
        let (mut exact, mut found) = (0.0, 0.0);
        for i in 0..n {
            exact -= way[i].dot(after[i] - before[i]) / 1e-3;
            found += (0..n).map(|j| w[i * n + j] * way[i].dot(way[j])).sum::<f64>();
        }
        let scale: f64 = w.iter().map(|w| w.abs()).sum::<f64>().max(1e-12);
        assert!(found > -1e-12 * scale, "{found}");
        assert!(found > exact - 1e-9 * scale, "{found} {exact}");
        is_exact &= (found - exact).abs() < 1e-9 * scale && exact.abs() > 1e-9;
    }
    is_exact
}

#[test]
fn tension_is_the_derivative_of_what_pulls() {
    let (mesh, x) = faceted(4, 1.0);
    let edges = mesh.midpoints(&x).unwrap();
    let triangles = RigidTriangles::new(&mesh, &[]);
    assert!(Constraint::<Edges>::is_curved(&triangles));
    assert!(check(&triangles, 3, &edges, &[-1.0, -2.0, -0.5]));
    // One side pushes, the whole still pulls.
    assert!(check(&triangles, 3, &edges, &[-1.0, -2.0, 0.1]));
    assert!(!check(&triangles, 3, &edges, &[-1.0, 1.5, 0.3]));
    assert!(!check(&triangles, 3, &edges, &[1.0, 1.5, 0.3]));
    let chain = Distances::<Vertices>::new("chain", [([Id::new(0), Id::new(1)], 0.3)]).unwrap();
    assert!(check(&chain, 0, &x, &[-1.0]));
    assert!(!check(&chain, 0, &x, &[1.0]));
}

/// Taut and vertical between its upper corners: the sheet stays, for a second, without a rejected
/// step. Fast projection along explicit directions ended at half of that.
#[test]
fn a_taut_vertical_sheet_hangs() {
    let n = 30;
    let (mesh, uv) = sheet([n, n], [1.0, 1.0]);
    let x = uv.map(|u| DVec3::new(u.x, 0.0, u.y));
    let mut builder = DevelopableBuilder::new(mesh, p(0.2)).bending(p(1e-5)).gravity(DVec3::NEG_Z * 9.81);
    for corner in [n * (n + 1), (n + 1) * (n + 1) - 1] {
        let corner = Id::new(corner as u32);
        builder = builder.pin(corner, x[corner]);
    }
    let mut sheet = builder.build().unwrap();
    let vertices: System<Vertices> = System::builder(Field::filled(x.len(), 1.0)).build().unwrap();
    let mut state = State::at_rest(x.clone()).unwrap();
    for _ in 0..100 {
        sheet.step(&vertices, &mut state, p(0.01)).unwrap();
        assert!(sheet.last().projection.factorisations <= 6);
        let edges = sheet.edges(&state).unwrap();
        assert!(sheet.mesh().largest_stretch(edges.x()) < 1e-4);
    }
    let farthest = x.ids().map(|v| x[v].distance(state.x()[v])).fold(0.0, f64::max);
    assert!(farthest < 2e-3, "{farthest}");
}

/// On the two-pin scene of the formula sheet both directions lose the same energy, and the implicit
/// ones take at most half as many iterations.
#[test]
fn directions_agree_and_implicit_ones_take_fewer_iterations() {
    let run = |settings: ProjectionSettings| {
        let n = 20;
        let (mesh, x) = faceted(n, 0.5);
        let system = system(&mesh, 0.2, 1e-5, DVec3::NEG_Z * 9.81);
        let corners = [(n * (n + 1)) as u32, ((n + 1) * (n + 1) - 1) as u32];
        let mut constraints = developable(&mesh);
        constraints.push(pins(&mesh, &corners.map(|v| (v, x[Id::<Vertices>::new(v)]))));
        let mut integrator = FastProjection::new(&system, constraints, Scheme::Bdf2, settings).unwrap();
        let mut state = State::at_rest(mesh.midpoints(&x).unwrap()).unwrap();
        let (mut factors, mut start, mut end) = (0, None, 0.0);
        for _ in 0..60 {
            let report = integrator.step(&system, &mut state, p(0.01)).unwrap();
            factors += integrator.last().factorisations;
            end = report.energies.total() - *start.get_or_insert(report.balance.before);
        }
        (factors, end)
    };
    let (fast, implicit) = (run(ProjectionSettings::default()), run(ProjectionSettings::implicit()));
    assert!(2 * implicit.0 <= fast.0, "{implicit:?} {fast:?}");
    assert!((implicit.1 / fast.1 - 1.0).abs() < 0.1, "{implicit:?} {fast:?}");
}
