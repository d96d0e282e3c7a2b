//! Bending of what is curved at rest: derivatives, what it is zero for, and what it agrees with.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{flat, irregular, p};
use glam::{DMat3, DQuat, DVec3};
use plisse_constrained::{CrMesh, CurvedEdge, EdgeBending, curved_bending};
use plisse_core::generate::{Diagonal, cylinder, grid};
use plisse_core::{Edges, Element, Field, Id, Psd, RestShape, SplitMix, Vertices};

/// A tube, its rest angles and its vertices.
fn tube(n: usize) -> (CrMesh, RestShape, Field<Vertices, DVec3>) {
    let tube = cylinder(n, 4, 0.1, 0.3, Diagonal::Right).unwrap();
    let rest = RestShape::from_corner_uv(&tube.mesh, &tube.uv).unwrap();
    let rest = rest.with_rest_angles(&tube.positions).unwrap();
    (CrMesh::new(tube.mesh, &rest).unwrap(), rest, tube.positions)
}

fn angle_of(rest: &RestShape, edge: Id<Edges>) -> f64 {
    rest.hinges().iter().find(|hinge| hinge.edge() == edge).map_or(0.0, plisse_core::Hinge::rest_angle)
}

fn energy(elements: &[CurvedEdge], x: &Field<Edges, DVec3>) -> f64 {
    elements.iter().map(|element| element.energy(&element.nodes().map(|node| x[node]))).sum()
}

#[test]
fn derivatives_are_those_of_the_energy() {
    let (mesh, rest, x) = tube(9);
    let mut random = SplitMix::new(3);
    let mut jitter = move || DVec3::new(random.signed(), random.signed(), random.signed()) * 0.02;
    let x = mesh.midpoints(&x).unwrap().map(|x| *x + jitter());
    let term = curved_bending(&mesh, |edge| (2.0, angle_of(&rest, edge)));
    let (mut largest, mut curved) = ([0.0f64; 2], 0);
    for element in term.elements() {
        curved += usize::from(angle_of(&rest, element.nodes()[0]).abs() > 0.1);
        let at = element.nodes().map(|node| x[node]);
        let (gradient, hessian) = (element.gradient(&at), element.hessian(&at, Psd::Exact));
        for j in 0..5 {
            for (axis, direction) in DVec3::AXES.into_iter().enumerate() {
                let moved = |by: f64| {
                    let mut at = at;
                    at[j] += direction * by;
                    at
                };
                let h = 1e-6;
                let [plus, minus] = [moved(h), moved(-h)];
                let slope = (element.energy(&plus) - element.energy(&minus)) / (2.0 * h);
                largest[0] = largest[0].max(slope.abs());
                assert!((gradient[j][axis] - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{j} {axis}");
                let [plus, minus] = [plus, minus].map(|at| element.gradient(&at));
                for i in 0..5 {
                    let column = (plus[i] - minus[i]) / (2.0 * h);
                    let found = hessian.0[i][j] * direction;
                    largest[1] = largest[1].max(column.length());
                    assert!((found - column).length() < 1e-6 * (1.0 + column.length()), "{i} {j} {axis}");
                }
            }
        }
    }
    assert!(curved > 20 && largest[0] > 0.1 && largest[1] > 1.0, "{curved} {largest:?}");
}

/// The projected Hessian is never negative, and exact where nothing is bent from rest.
#[test]
fn projected_hessians_are_semidefinite() {
    let (mesh, rest, x) = tube(9);
    let mut random = SplitMix::new(5);
    let at_rest = mesh.midpoints(&x).unwrap();
    let term = curved_bending(&mesh, |edge| (2.0, angle_of(&rest, edge)));
    for element in term.elements() {
        let nodes = element.nodes();
        let still = nodes.map(|node| at_rest[node]);
        let (exact, clamped) = (element.hessian(&still, Psd::Exact), element.hessian(&still, Psd::Clamp));
        let scale = exact.norm();
        for (a, b) in exact.0.iter().flatten().zip(clamped.0.iter().flatten()) {
            let gap = (*a - *b).to_cols_array().into_iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            assert!(gap < 1e-12 * scale, "{gap} {scale}");
        }
        for _ in 0..10 {
            let mut any = || DVec3::new(random.signed(), random.signed(), random.signed());
            let (at, way) = (still.map(|x| x + any() * 0.1), [0; 5].map(|_| any()));
            let product = element.hessian(&at, Psd::Clamp).mul_vector(&way);
            let form: f64 = way.iter().zip(product).map(|(w, p)| w.dot(p)).sum();
            assert!(form >= -1e-9 * scale, "{form}");
        }
    }
}

#[test]
fn nothing_is_bent_at_rest_wherever_that_is() {
    let (mesh, rest, x) = tube(12);
    let term = curved_bending(&mesh, |edge| (1.0, angle_of(&rest, edge)));
    let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.1, 2.0);
    let moved = x.map(|x| turn * *x + DVec3::new(3.0, -1.0, 0.5));
    let (here, there) = (mesh.midpoints(&x).unwrap(), mesh.midpoints(&moved).unwrap());
    // What the same tube has as a flat sheet.
    let scale = EdgeBending::new(&mesh, p(1.0)).energy(&here);
    assert!(scale > 1.0, "{scale}");
    for x in [&here, &there] {
        assert!(energy(term.elements(), x) < 1e-20 * scale, "{}", energy(term.elements(), x));
        let force = term.elements().iter().flat_map(|e| e.gradient(&e.nodes().map(|node| x[node])));
        assert!(force.map(DVec3::length).fold(0.0, f64::max) < 1e-9 * scale);
    }
}

/// Without rest angles it is the constant matrix, whatever the state.
#[test]
fn flat_edges_have_the_energy_of_the_constant_matrix() {
    let (mesh, uv) = irregular([5, 4], [1.0, 0.8], 2);
    let mut random = SplitMix::new(1);
    let x = uv.map(|u| u.extend(0.0) + DVec3::new(random.signed(), random.signed(), random.signed()) * 0.3);
    let x = mesh.midpoints(&x).unwrap();
    let found = energy(curved_bending(&mesh, |_| (0.7, 0.0)).elements(), &x);
    let expected = EdgeBending::new(&mesh, p(0.7)).energy(&x);
    assert!(expected > 1.0 && (found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
}

/// Two triangles that turn about their edge: `2 k |e|² sin²((θ - θ₀)/2)/A_e`.
#[test]
fn a_hinge_has_the_closed_form() {
    let (mesh, uv) = grid(1, 1, [1.0, 1.0], Diagonal::Right).unwrap();
    let inner = mesh.edges().iter().find(|(_, edge)| !edge.is_boundary()).unwrap();
    let (edge, ends) = (inner.0, inner.1.vertices);
    let mesh = flat(mesh, &uv);
    let axis = (uv[ends[1]] - uv[ends[0]]).extend(0.0).normalize();
    let about = uv[ends[0]].extend(0.0);
    let far = mesh.mesh().faces()[mesh.mesh().edges()[edge].faces.1.unwrap()]
        .into_iter()
        .find(|v| !ends.contains(v))
        .unwrap();
    for (angle, rest) in [(0.3, 0.0), (0.3, 0.3), (-0.8, 0.5), (1.0, -1.2)] {
        // A valley turns the far corner up.
        let side = (uv[far].extend(0.0) - about).cross(axis).z.signum();
        let turn = DMat3::from_axis_angle(axis, -side * angle);
        let mut x = uv.map(|u| u.extend(0.0));
        x[far] = about + turn * (x[far] - about);
        assert!((x[far].z > 0.0) == (angle > 0.0));
        let x = mesh.midpoints(&x).unwrap();
        let element = CurvedEdge::new(&mesh, edge, 0.5, rest).unwrap();
        let found = element.energy(&element.nodes().map(|node| x[node]));
        let expected = 2.0 * 0.5 * 2.0 * (0.5 * (angle - rest)).sin().powi(2) * 3.0;
        assert!((found - expected).abs() < 1e-12, "{angle} {rest}: {found} {expected}");
    }
}

#[test]
fn states_far_away_stay_finite() {
    let (mesh, rest, x) = tube(6);
    let far = mesh.midpoints(&x.map(|x| *x * 1e200)).unwrap();
    for element in curved_bending(&mesh, |edge| (1.0, angle_of(&rest, edge))).elements() {
        let at = element.nodes().map(|node| far[node]);
        assert!(element.energy(&at).is_finite());
        assert!(element.gradient(&at).iter().all(|g| g.is_finite()));
        assert!([Psd::Exact, Psd::Clamp].iter().all(|psd| element.hessian(&at, *psd).is_finite()));
    }
}
