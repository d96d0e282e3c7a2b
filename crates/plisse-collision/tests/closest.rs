//! Closest points: least distance, degenerate stencils, invariances, every finite input.

#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DMat3, DVec3};
use plisse_collision::{
    Closest, ContactFrame, ContactHessian, Feature, edge_edge, point_edge, point_point, point_triangle,
};
use plisse_testkit::{any_finite, any_points, rotation};
use proptest::prelude::*;

fn pt(x: &[DVec3; 4]) -> Closest<4> {
    point_triangle(x[0], [x[1], x[2], x[3]])
}
fn ee(x: &[DVec3; 4]) -> Closest<4> {
    edge_edge([x[0], x[1]], [x[2], x[3]])
}

fn vectors<const V: usize>(x: [[f64; 3]; V]) -> [DVec3; V] {
    x.map(DVec3::from)
}

/// The vector between the closest points.
fn between<const V: usize>(closest: &Closest<V>, x: &[DVec3; V]) -> DVec3 {
    closest.weights().iter().zip(x).map(|(c, x)| *x * *c).sum()
}

/// What holds for every stencil of coordinates of size `size`.
fn check_consistent(closest: &Closest<4>, x: &[DVec3; 4], size: f64) {
    let y = between(closest, x);
    // The error of a sum of four products of numbers of this size.
    assert!((y.length() - closest.distance()).abs() <= 8e-15 * size, "{closest:?} {y}");
    if closest.is_touching() {
        assert_eq!(closest.distance(), 0.0);
    } else {
        assert!((closest.normal().length() - 1.0).abs() < 1e-15);
        assert!((closest.normal() * closest.distance() - y).length() <= 1e-14 * size, "{closest:?} {y}");
    }
}

/// Small integers: most stencils are degenerate in one way or another.
fn lattice() -> impl Strategy<Value = [DVec3; 4]> {
    prop::array::uniform4(prop::array::uniform3(-1..=1i32))
        .prop_map(|x| x.map(|p| DVec3::from_array(p.map(f64::from))))
}

/// Stencils of ordinary shape, and slivers.
fn ordinary() -> impl Strategy<Value = [DVec3; 4]> {
    let general = prop::array::uniform4(prop::array::uniform3(-1.0..1.0f64)).prop_map(vectors);
    let sliver = (general.clone(), -14.0..0.0f64, 0..3usize).prop_map(|(mut x, e, k)| {
        x.iter_mut().for_each(|p| p[k] *= 10f64.powf(e));
        x
    });
    prop_oneof![general, sliver]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_sample_is_closer(x in prop_oneof![lattice(), ordinary()]) {
        let (triangle, edges) = (pt(&x), ee(&x));
        check_consistent(&triangle, &x, 2.0);
        check_consistent(&edges, &x, 2.0);
        const STEPS: i32 = 16;
        for i in 0..=STEPS {
            for j in 0..=STEPS {
                let (s, t) = (f64::from(i) / f64::from(STEPS), f64::from(j) / f64::from(STEPS));
                let sample = (x[0].lerp(x[1], s) - x[2].lerp(x[3], t)).length();
                prop_assert!(edges.distance() <= sample + 4e-15, "{edges:?} {sample}");
                if i + j <= STEPS {
                    let sample = (x[0] - x[1] - (x[2] - x[1]) * s - (x[3] - x[1]) * t).length();
                    prop_assert!(triangle.distance() <= sample + 4e-15, "{triangle:?} {sample}");
                }
            }
        }
    }

    #[test]
    fn rigid_motions_change_nothing(x in ordinary(), u in rotation(), shift in prop::array::uniform3(-1.0..1.0f64)) {
        let turn = DMat3::from_cols(u[0].into(), u[1].into(), u[2].into());
        let moved = x.map(|p| turn * p + DVec3::from(shift));
        for (a, b) in [(pt(&x), pt(&moved)), (ee(&x), ee(&moved))] {
            // The moved stencil is another one by some ε of its coordinates, and the distance
            // changes by no more than its vertices move.
            prop_assert!((a.distance() - b.distance()).abs() < 2e-14, "{a:?} {b:?}");
        }
    }

    #[test]
    fn order_of_vertices_changes_nothing(x in ordinary()) {
        let [p, a, b, c] = x;
        for corners in [[b, c, a], [c, a, b], [b, a, c], [a, c, b], [c, b, a]] {
            prop_assert!((point_triangle(p, corners).distance() - pt(&x).distance()).abs() < 8e-15);
        }
        for edges in [[[a, p], [b, c]], [[p, a], [c, b]], [[b, c], [p, a]]] {
            prop_assert!((edge_edge(edges[0], edges[1]).distance() - ee(&x).distance()).abs() < 8e-15);
        }
    }

    /// Scaling by a power of two is exact, in distances and in derivatives.
    #[test]
    fn results_scale_to_the_last_bit(x in ordinary(), exponent in -100..100i32) {
        let factor = 2f64.powi(exponent);
        let scaled = x.map(|p| p * factor);
        for (one, other) in [(pt(&x), pt(&scaled)), (ee(&x), ee(&scaled))] {
            prop_assert_eq!(one.distance() * factor, other.distance());
            prop_assert_eq!(one.weights(), other.weights());
            prop_assert_eq!((one.normal(), one.feature()), (other.normal(), other.feature()));
            let hessian = |closest: &Closest<4>, x| {
                ContactFrame::new(closest, x).hessian(1.0, 0.0, ContactHessian::Exact)
            };
            prop_assert_eq!(hessian(&one, &x), hessian(&other, &scaled) * factor);
        }
    }

    /// Points beyond the range of the kernels are measured at another scale.
    #[test]
    fn extreme_scales_are_exact_too(x in ordinary(), exponent in -900..1000i32) {
        let factor = 2f64.powi(exponent);
        for (one, other) in [(pt(&x), pt(&x.map(|p| p * factor))), (ee(&x), ee(&x.map(|p| p * factor)))] {
            let expected = (one.distance() * factor).min(1e300);
            // Moved to the origin first, which rounds.
            prop_assert!((other.distance() - expected).abs() <= 8e-15 * factor, "{one:?} {other:?}");
        }
    }

    #[test]
    fn everything_is_finite(x in any_points::<4>(), slope in any_finite(), curvature in any_finite()) {
        let x = vectors(x);
        let [p, a, b, c] = x;
        fn check<const V: usize>(closest: &Closest<V>, x: &[DVec3; V], slope: f64, curvature: f64) {
            assert!(closest.distance().is_finite() && closest.distance() >= 0.0, "{closest:?}");
            assert!(closest.distance_squared().is_finite());
            assert!(closest.normal().is_finite() && closest.gradient().iter().all(|g| g.is_finite()));
            assert!(closest.weights().iter().all(|c| c.abs() <= 1.0), "{closest:?}");
            let sum: f64 = closest.weights().iter().sum();
            assert!(sum.abs() < 1e-15, "{closest:?}");
            let frame = ContactFrame::new(closest, x);
            for form in [ContactHessian::Exact, ContactHessian::GaussNewton, ContactHessian::Closed, ContactHessian::Nearest] {
                assert!(frame.hessian(slope, curvature, form).is_finite(), "{form:?} {frame:?}");
            }
        }
        check(&point_point(p, a), &[p, a], slope, curvature);
        check(&point_edge(p, [a, b]), &[p, a, b], slope, curvature);
        check(&point_triangle(p, [a, b, c]), &x, slope, curvature);
        check(&edge_edge([p, a], [b, c]), &x, slope, curvature);
    }
}

#[test]
fn degenerate_primitives_have_the_features_that_are_left() {
    let (o, p) = (DVec3::ZERO, DVec3::new(0.0, 0.0, 2.0));
    assert_eq!(pt(&[p, o, o, o]).weights(), &[1.0, -1.0, 0.0, 0.0]);
    assert_eq!(point_edge(p, [o, o]).feature(), Feature::PointPoint([0, 1]));
    // A triangle that is a segment.
    let flat = pt(&[p, -DVec3::X, DVec3::X, DVec3::X * 0.5]);
    assert!(matches!(flat.feature(), Feature::PointEdge { point: 0, .. }) && flat.distance() == 2.0);
    // Two points, a point and an edge, parallel and collinear edges.
    assert_eq!(edge_edge([p, p], [o, o]).distance(), 2.0);
    assert_eq!(
        edge_edge([p, p], [-DVec3::X, DVec3::X]).feature(),
        Feature::PointEdge { point: 0, edge: [2, 3] }
    );
    assert_eq!(edge_edge([p, p + DVec3::X], [o, DVec3::X]).distance(), 2.0);
    assert_eq!(edge_edge([o, DVec3::X], [DVec3::X * 3.0, DVec3::X * 5.0]).distance(), 2.0);
    // Everything in one point.
    let nothing = ee(&[o; 4]);
    assert!(nothing.is_touching() && nothing.distance() == 0.0 && nothing.normal() == o);
}

#[test]
fn far_points_do_not_fall_into_the_interior_by_rounding() {
    // In the plane of a small triangle and 1e9 of its sizes away: areas of the corners with the
    // point cancel to noise.
    let x = [
        DVec3::new(1e9, 3e8, 1e-3),
        DVec3::new(0.1, 0.2, 0.3),
        DVec3::new(1.1, 0.3, 0.3),
        DVec3::new(0.4, 1.2, 0.3),
    ];
    let nearest = x[1..].iter().map(|corner| (x[0] - *corner).length()).fold(f64::INFINITY, f64::min);
    assert!((pt(&x).distance() - nearest).abs() <= 4.0 * f64::EPSILON * nearest);
}

#[test]
fn nan_is_not_hidden() {
    let x = [DVec3::NAN, DVec3::ZERO, DVec3::X, DVec3::Y];
    assert!(pt(&x).distance().is_nan() && ee(&x).distance().is_nan());
}
