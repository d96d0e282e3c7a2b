//! No locking: what of a smooth isometric bending velocity the constraints let pass (formula sheet
//! A8), and other constraints in motion.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use std::sync::Arc;

use common::{Shared, developable, p, sheet, vectors};
use glam::{DMat3, DVec2, DVec3};
use plisse_constrained::{
    Constraint, CrMesh, Distances, FastProjection, ProjectionSettings, Projector, RigidTriangles,
};
use plisse_core::{Field, Id, Space, Vertices, generate};
use plisse_sparse::LinearSolver;
use plisse_system::{Gravity, Integrator, Scheme, State, System};

const CURVATURE: f64 = 1.5;

/// Place and velocity on a cylinder whose curvature changes at the rate `cos(2 π m s)`, with `s`
/// along a direction of this angle.
fn bending(u: DVec2, ruling: f64, m: f64) -> [DVec3; 2] {
    let (sin, cos) = ruling.to_radians().sin_cos();
    let (s, along) = (u.x * cos + u.y * sin, -u.x * sin + u.y * cos);
    // Simpson's rule from zero; the integrands are smooth.
    let steps = 400;
    let h = s / f64::from(steps);
    let mut sums = [DVec2::ZERO; 2];
    for k in 0..=steps {
        let t = h * f64::from(k);
        let weight = h / 3.0
            * if k == 0 || k == steps {
                1.0
            } else if k % 2 == 1 {
                4.0
            } else {
                2.0
            };
        let (angle, wave) = (CURVATURE * t, std::f64::consts::TAU * m);
        let rate = (wave * t).sin() / wave;
        let (sin, cos) = angle.sin_cos();
        sums[0] += DVec2::new(cos, sin) * weight;
        sums[1] += DVec2::new(-sin, cos) * (rate * weight);
    }
    [DVec3::new(sums[0].x, along, sums[0].y), DVec3::new(sums[1].x, 0.0, sums[1].y)]
}

/// The part of the kinetic energy that is left, rigid motions aside.
fn retained<S: Space>(
    mass: &Field<S, f64>,
    x: &Field<S, DVec3>,
    v: &Field<S, DVec3>,
    constraints: Vec<Arc<dyn Constraint<S>>>,
) -> f64 {
    let v = without_rigid(mass, x, v);
    let energy = |v: &Field<S, DVec3>| mass.iter().map(|(i, m)| m * v[i].length_squared()).sum::<f64>();
    let system = System::builder(mass.clone()).build().unwrap();
    let settings = ProjectionSettings {
        solver: LinearSolver::Cholesky,
        linear_tolerance: 1e-9,
        regularisation: 1e-10,
        tolerance: 1e-9,
        ..Default::default()
    };
    let mut projector = Projector::new(&system, constraints, settings).unwrap();
    // The constraints hold only near the cylinder.
    let mut near = x.clone();
    projector.project(&mut near, 0.0, 1.0).unwrap();
    let mut kept = v.clone();
    projector.project_velocities(&near, &mut kept, 0.0).unwrap();
    energy(&kept) / energy(&v)
}

/// Velocities without linear and angular momentum.
fn without_rigid<S: Space>(
    mass: &Field<S, f64>,
    x: &Field<S, DVec3>,
    v: &Field<S, DVec3>,
) -> Field<S, DVec3> {
    let total: f64 = mass.as_slice().iter().sum();
    let centre = mass.iter().map(|(i, m)| x[i] * *m).sum::<DVec3>() / total;
    let mean = mass.iter().map(|(i, m)| v[i] * *m).sum::<DVec3>() / total;
    let (mut inertia, mut spin) = (DMat3::ZERO, DVec3::ZERO);
    for (i, m) in mass.iter() {
        let r = x[i] - centre;
        inertia += (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - plisse_core::outer(r, r)) * *m;
        spin += r.cross(v[i] - mean) * *m;
    }
    let turn = inertia.inverse() * spin;
    Field::from_fn(x.len(), |i| v[i] - mean - turn.cross(x[i] - centre))
}

fn check(n: usize, ruling: f64, m: f64) {
    let (mesh, uv): (CrMesh, _) = sheet([n, n], [1.0, 1.0]);
    let of = |k: usize| uv.map(|u| bending(*u, ruling, m)[k]);
    let (x, v) = (of(0), of(1));
    let table = vectors()["locking_retained_ke"][format!("right_{ruling}_{n}")][m.to_string()].clone();
    let expected = [0, 1, 2].map(|k: usize| table[k].as_f64().unwrap());
    let edges: Arc<dyn Constraint<Vertices>> =
        Arc::new(Distances::edges(mesh.mesh(), &generate::embed(&uv)).unwrap());
    let rest = plisse_core::RestShape::from_uv(mesh.mesh(), &uv).unwrap();
    let conforming = retained(&rest.vertex_areas(mesh.mesh()), &x, &v, vec![edges]);
    // Midpoints on the cylinder itself.
    let middle = mesh.midpoints(&uv.map(|u| u.extend(0.0))).unwrap();
    let at = |k: usize| middle.map(|u| bending(u.truncate(), ruling, m)[k]);
    let (x, v) = (at(0), at(1));
    let alone: Vec<Shared> = vec![Arc::new(RigidTriangles::new(&mesh, &[]))];
    let free = retained(&mesh.edge_areas(), &x, &v, alone);
    let ribbon = retained(&mesh.edge_areas(), &x, &v, developable(&mesh));
    for (found, expected) in [conforming, free, ribbon].into_iter().zip(expected) {
        assert!((found - expected).abs() < 2e-3, "{n} {ruling} {m}: {found} instead of {expected}");
    }
}

#[test]
fn bending_passes_where_the_conforming_mesh_locks() {
    check(12, 30.0, 4.0);
    check(12, 30.0, 2.0);
    check(12, 0.0, 4.0);
}

/// Threads of a quad cloth and a chain keep their lengths in motion; a compliant chain gives way by
/// what its stiffness says.
#[test]
fn chains_hang_and_springs_stretch() {
    let n = 10;
    let x: Field<Vertices, DVec3> = Field::from_fn(n + 1, |v| DVec3::NEG_Z * (0.1 * v.index() as f64));
    let segments: Vec<[Id<Vertices>; 2]> = (0..n as u32).map(|k| [Id::new(k), Id::new(k + 1)]).collect();
    let mass = Field::filled(n + 1, 0.01);
    let gravity = Gravity::new(DVec3::NEG_Z * 9.81, &mass).unwrap();
    let system = System::builder(mass).term(gravity).pin(Id::new(0)).build().unwrap();
    let stiffness = 50.0;
    for compliance in [0.0, 1.0 / (stiffness * 0.01)] {
        let chain = Distances::segments(&segments, &x).unwrap().with_compliance(compliance).unwrap();
        let settings = ProjectionSettings { solver: LinearSolver::Cholesky, ..Default::default() };
        let scheme = Scheme::BackwardEuler;
        let mut integrator = FastProjection::new(&system, vec![Arc::new(chain)], scheme, settings).unwrap();
        let mut state = State::at_rest(x.clone()).unwrap();
        // Long steps damp; short ones bring the derivatives that the iterations of a projection add
        // up close to those at its end.
        for k in 0..1000 {
            integrator.step(&system, &mut state, p(if k < 600 { 0.02 } else { 0.005 })).unwrap();
        }
        // At rest: the first segment carries all nodes but the held one.
        let length = state.x()[segments[0][0]].distance(state.x()[segments[0][1]]);
        let load = n as f64 * 0.01 * 9.81;
        let s = length / 0.1;
        // The energy is k d²/2 c² with c = (s² - 1)/2: its force is k d c s.
        let force = stiffness * 0.1 * 0.5 * (s * s - 1.0) * s;
        if compliance == 0.0 {
            assert!((s - 1.0).abs() < 1e-4, "{s}");
        } else {
            assert!((force / load - 1.0).abs() < 0.02, "{force} {load}");
        }
    }
}
