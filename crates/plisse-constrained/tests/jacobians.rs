//! Derivatives of every constraint against differences of its rows.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use std::sync::Arc;

use common::{irregular, p};
use glam::DVec3;
use plisse_constrained::{
    Anchor, Anchors, Compliance, Constraint, Distances, Ribbon, RigidTriangles, Rows, Tethers,
    WovenTriangles, ribbon_edges,
};
use plisse_core::{Field, Id, Space, SplitMix, generate};

/// Central differences of every row by every coordinate of its nodes.
fn check<S: Space>(constraint: &dyn Constraint<S>, x: &Field<S, DVec3>) {
    assert!(constraint.groups() > 0);
    let mut largest: f64 = 0.0;
    for group in 0..constraint.groups() {
        let (rows, nodes) = (constraint.rows(group), constraint.nodes(group).to_vec());
        let at = |x: &Field<S, DVec3>| {
            let (mut values, mut gradients) = (vec![1.0; rows], vec![DVec3::ONE; rows * nodes.len()]);
            constraint.evaluate(group, x, 0.3, &mut Rows::new(&mut values, &mut gradients));
            (values, gradients)
        };
        let (_, gradients) = at(x);
        for (k, node) in nodes.iter().enumerate() {
            for (axis, direction) in DVec3::AXES.into_iter().enumerate() {
                let moved = |by: f64| {
                    let mut x = x.clone();
                    x[*node] += direction * by;
                    at(&x).0
                };
                // Rows are quadratic: central differences are exact but for rounding.
                let h = 1e-4;
                let (plus, minus) = (moved(h), moved(-h));
                for row in 0..rows {
                    let found = gradients[row * nodes.len() + k][axis];
                    let expected = (plus[row] - minus[row]) / (2.0 * h);
                    let scale = 1.0 + expected.abs();
                    let what = constraint.describe(group);
                    assert!((found - expected).abs() < 1e-8 * scale, "{what} {row} {node} {axis}");
                    largest = largest.max(found.abs());
                }
            }
        }
    }
    assert!(largest > 0.1, "{}: derivatives vanish", constraint.name());
}

#[test]
fn derivatives_are_those_of_the_rows() {
    let mut random = SplitMix::new(8);
    let mut jitter = move || DVec3::new(random.signed(), random.signed(), random.signed()) * 0.05;
    let (mesh, uv) = irregular([4, 3], [1.0, 0.7], 3);
    let vertices = generate::embed(&uv).map(|x| *x + jitter());
    let x = mesh.midpoints(&vertices).unwrap().map(|x| *x + jitter());
    check(&RigidTriangles::new(&mesh, &[]), &x);
    let ribbon = ribbon_edges(&mesh);
    check(&RigidTriangles::new(&mesh, &ribbon), &x);
    let soft = Compliance { warp: 0.1, weft: 0.0, shear: 0.2 };
    check(&WovenTriangles::new(&mesh, &[], |_| soft).unwrap(), &x);
    check(&WovenTriangles::new(&mesh, &ribbon, |_| soft).unwrap(), &x);
    check(&Ribbon::new(&mesh, ribbon), &x);
    let still = Anchor::vertex(&mesh, Id::new(7), DVec3::X).unwrap();
    let moving = Anchor::moving_vertex(&mesh, Id::new(3), Arc::new(|t| DVec3::Y * t)).unwrap();
    check(&Anchors::new(vec![still, moving]), &x);
    check(&Anchors::new(vec![Anchor::node(Id::new(2), DVec3::Z, 0.1).unwrap()]), &vertices);
    check(&Distances::edges(mesh.mesh(), &generate::embed(&uv)).unwrap(), &vertices);
    let rod = [[0, 1], [1, 2]].map(|ends| ends.map(Id::new));
    check(&Distances::segments(&rod, &generate::embed(&uv)).unwrap(), &vertices);
    let quads = [[0, 1, 6, 5], [1, 2, 7, 6]].map(|corners| corners.map(Id::new));
    let threads = Distances::threads(&quads, &generate::embed(&uv)).unwrap();
    assert_eq!(threads.groups(), 7, "the side between two quads counts once");
    check(&threads, &vertices);
    check(&Tethers::new([(Id::new(1), DVec3::NEG_X, p(0.7))]).unwrap(), &vertices);
}

#[test]
fn refusals_name_what_is_wrong() {
    let (mesh, uv) = irregular([2, 2], [1.0, 1.0], 3);
    let message = |error: plisse_constrained::ConstrainedError| error.to_string();
    let error = Anchor::vertex(&mesh, Id::new(99), DVec3::X).unwrap_err();
    assert_eq!(
        message(error),
        "the pin of vertex 99 names vertex 99, but there are 9: give nodes of this system"
    );
    let error = Anchor::vertex(&mesh, Id::new(1), DVec3::NAN).unwrap_err();
    assert!(message(error).contains("the place of the pin of vertex 1 is NaN"));
    let pair = [Id::<plisse_core::Vertices>::new(1), Id::new(1)];
    assert!(message(Distances::new("thread", [(pair, 1.0)]).unwrap_err()).contains("with itself"));
    let pair = [Id::<plisse_core::Vertices>::new(1), Id::new(2)];
    assert!(
        message(Distances::new("thread", [(pair, 0.0)]).unwrap_err()).contains("vertex 1 and vertex 2 is 0")
    );
    let distances = Distances::edges(mesh.mesh(), &generate::embed(&uv)).unwrap();
    assert!(message(distances.with_compliance(-1.0).unwrap_err()).contains("compliance"));
}
