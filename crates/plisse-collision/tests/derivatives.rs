//! Derivatives against differences, and projected Hessians against a numeric clamp.

#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::DVec3;
use plisse_collision::{
    Closest, ContactFrame, ContactHessian, edge_edge, point_edge, point_point, point_triangle,
};
use plisse_core::{Blocks, Psd, project_numeric};
use plisse_testkit::{assert_close, assert_semidefinite, check_gradient, check_jacobian, rotation};
use proptest::prelude::*;

fn points<const V: usize>(x: &[f64]) -> [DVec3; V] {
    std::array::from_fn(|i| DVec3::from_slice(&x[3 * i..]))
}

fn flat<const V: usize, const N: usize>(x: &[DVec3; V]) -> [f64; N] {
    const { assert!(N == 3 * V) }
    std::array::from_fn(|k| x[k / 3][k % 3])
}

/// The four kinds of pairs as functions of their stencils.
fn pp(x: &[DVec3; 2]) -> Closest<2> {
    point_point(x[0], x[1])
}
fn pe(x: &[DVec3; 3]) -> Closest<3> {
    point_edge(x[0], [x[1], x[2]])
}
fn pt(x: &[DVec3; 4]) -> Closest<4> {
    point_triangle(x[0], [x[1], x[2], x[3]])
}
fn ee(x: &[DVec3; 4]) -> Closest<4> {
    edge_edge([x[0], x[1]], [x[2], x[3]])
}

/// Whether the feature stays within what the larger steps of the checks reach.
fn is_smooth<const V: usize>(measure: impl Fn(&[DVec3; V]) -> Closest<V>, x: &[DVec3; V]) -> bool {
    let here = measure(x);
    let moved = |i: usize, k: usize, h: f64| {
        let mut x = *x;
        x[i][k] += h;
        measure(&x).feature() == here.feature()
    };
    here.distance() > 0.02 && (0..V).all(|i| (0..3).all(|k| moved(i, k, 2e-3) && moved(i, k, -2e-3)))
}

/// The distance, its square and a law with a slope and a curvature of its own.
fn check_derivatives<const V: usize, const N: usize>(
    measure: impl Fn(&[DVec3; V]) -> Closest<V>,
    x: &[DVec3; V],
) {
    let laws: [fn(f64) -> [f64; 3]; 3] = [
        |d| [d, 1.0, 0.0],
        |d| [d * d, 2.0 * d, 2.0],
        // Repulsive, as barriers are.
        |d| [1.0 / d, -1.0 / (d * d), 2.0 / (d * d * d)],
    ];
    for law in laws {
        let gradient = |x: &[f64; N]| {
            let closest = measure(&points(x));
            flat(&closest.gradient().map(|g| g * law(closest.distance())[1]))
        };
        let hessian = |x: &[f64; N]| -> [[f64; N]; N] {
            let x = points(x);
            let closest = measure(&x);
            let [_, slope, curvature] = law(closest.distance());
            let h = ContactFrame::new(&closest, &x).hessian(slope, curvature, ContactHessian::Exact);
            std::array::from_fn(|i| std::array::from_fn(|j| h.entry(i, j)))
        };
        let x = flat(x);
        // The gap is a tenth of the size or less, and derivatives of 1/d grow by its inverse.
        check_gradient(|x| law(measure(&points(x)).distance())[0], gradient, &x, 1e-6);
        check_jacobian(gradient, hessian, &x, 1e-5);
    }
}

/// A rigid motion and a stencil of which the first vertex lies above a point of the plane z = 0.
fn place<const V: usize>(u: [[f64; 3]; 3], x: [DVec3; V]) -> [DVec3; V] {
    let turn = glam::DMat3::from_cols(u[0].into(), u[1].into(), u[2].into());
    x.map(|p| turn * p + DVec3::new(0.3, -0.2, 0.1))
}

/// A point above the interior of a triangle with angles that are not too small.
fn above_triangle() -> impl Strategy<Value = [DVec3; 4]> {
    let corner = || (0.4..1.2f64, -0.4..0.4f64);
    (rotation(), corner(), corner(), corner(), [0.1..1.0f64, 0.1..1.0f64, 0.1..1.0f64], 0.03..0.5f64)
        .prop_map(|(u, p, q, r, w, height)| {
            let corners = [(p, 0.0), (q, 2.1), (r, 4.2)].map(|((radius, turn), angle): ((f64, f64), f64)| {
                DVec3::new((angle + turn).cos(), (angle + turn).sin(), 0.0) * radius
            });
            let sum = w[0] + w[1] + w[2];
            let foot = (corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2]) / sum;
            place(u, [foot + DVec3::Z * height, corners[0], corners[1], corners[2]])
        })
}

/// Two edges that cross at a distance, at angles from `smallest` on.
fn crossing(smallest: f64) -> impl Strategy<Value = [DVec3; 4]> {
    let part = || 0.15..0.85f64;
    (rotation(), part(), part(), 0.5..1.5f64, 0.5..1.5f64, smallest.ln()..1.5f64.ln(), 0.03..0.5f64).prop_map(
        |(u, s, t, a, b, log_angle, height)| {
            let angle = log_angle.exp();
            let (e, f) = (DVec3::X * a, DVec3::new(angle.cos(), angle.sin(), 0.0) * b);
            let lift = DVec3::Z * height;
            place(u, [lift - e * s, lift + e * (1.0 - s), -f * t, f * (1.0 - t)])
        },
    )
}

fn anywhere<const V: usize>() -> impl Strategy<Value = [DVec3; V]> {
    prop::collection::vec(-1.0..1.0f64, 3 * V).prop_map(|x| points(&x))
}

/// Slopes and curvatures of repulsive energies (barriers, penalties), and of attractive ones.
fn slopes() -> impl Strategy<Value = (f64, f64)> {
    prop_oneof![
        3 => (-2.0..0.0f64, 0.0..20.0f64),
        1 => (-2.0..2.0f64, -5.0..5.0f64),
    ]
}

fn check_projections(closest: &Closest<4>, x: &[DVec3; 4], slope: f64, curvature: f64) {
    let frame = ContactFrame::new(closest, x);
    let dense = |form| frame.hessian(slope, curvature, form).to_matrix::<12>();
    let exact = dense(ContactHessian::Exact);
    let clamped = project_numeric(&exact, Psd::Clamp);
    let scale = plisse_testkit::max_abs(exact.as_flattened());
    let norm = |m: [[f64; 12]; 12]| Blocks::<4>::from_matrix(&m).norm();
    let distance =
        |m: &[[f64; 12]; 12]| norm(std::array::from_fn(|i| std::array::from_fn(|j| m[i][j] - exact[i][j])));

    // Both sides are backward stable: some ten ε of the largest entry each.
    let nearest = dense(ContactHessian::Nearest);
    assert_close("nearest", nearest.as_flattened(), clamped.as_flattened(), 1e-13, scale);

    let closed = dense(ContactHessian::Closed);
    assert_semidefinite("closed", &closed, 1e-13, scale);
    // 1.28 is the largest ratio that was seen over thousands of repulsive pairs. Attractive
    // energies and negative curvatures have none: nothing but the sign is promised there.
    if slope <= 0.0 && curvature >= 0.0 {
        let (ours, best) = (distance(&closed), distance(&clamped));
        assert!(ours <= 1.5 * best + 1e-12 * scale, "{ours:e} beside {best:e}");
    }
    // The slope's part alone splits into orthogonal blocks, whose projection is that of the whole.
    let alone = frame.hessian(slope, 0.0, ContactHessian::Closed).to_matrix::<12>();
    let whole = frame.hessian(slope, 0.0, ContactHessian::Exact).to_matrix::<12>();
    let whole = project_numeric(&whole, Psd::Clamp);
    assert_close("closed, slope alone", alone.as_flattened(), whole.as_flattened(), 1e-13, scale);

    let gauss_newton = dense(ContactHessian::GaussNewton);
    let g: [f64; 12] = flat(&closest.gradient());
    for i in 0..12 {
        for j in 0..12 {
            let expected = curvature.max(0.0) * g[i] * g[j];
            assert!((gauss_newton[i][j] - expected).abs() <= 1e-15 * curvature.abs());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn interiors_agree_with_differences(x in above_triangle(), y in crossing(0.2)) {
        prop_assume!(is_smooth(pt, &x) && is_smooth(ee, &y));
        prop_assert_eq!(ContactFrame::new(&pt(&x), &x).parameters(), 2);
        prop_assert_eq!(ContactFrame::new(&ee(&y), &y).parameters(), 2);
        check_derivatives::<4, 12>(pt, &x);
        check_derivatives::<4, 12>(ee, &y);
    }

    #[test]
    fn all_features_agree_with_differences(x in anywhere::<4>(), which in 0..4usize) {
        match which {
            0 => check_derivatives::<2, 6>(pp, &[x[0], x[1]]),
            1 => {
                let x = [x[0], x[1], x[2]];
                prop_assume!(is_smooth(pe, &x));
                check_derivatives::<3, 9>(pe, &x);
            }
            2 => {
                prop_assume!(is_smooth(pt, &x));
                check_derivatives::<4, 12>(pt, &x);
            }
            _ => {
                prop_assume!(is_smooth(ee, &x));
                check_derivatives::<4, 12>(ee, &x);
            }
        }
    }

    #[test]
    fn projections_agree_with_the_clamp(
        x in above_triangle(), y in crossing(1e-3), z in anywhere::<4>(), (slope, curvature) in slopes(),
    ) {
        for (closest, x) in [(pt(&x), x), (ee(&y), y), (pt(&z), z), (ee(&z), z)] {
            check_projections(&closest, &x, slope, curvature);
        }
    }

    /// Tangents and normal are orthonormal, which the blocks rely on.
    #[test]
    fn frames_are_orthonormal(x in above_triangle(), y in crossing(1e-5), z in anywhere::<4>()) {
        for (closest, x) in [(pt(&x), x), (ee(&y), y), (pt(&z), z), (ee(&z), z)] {
            let [a, b] = ContactFrame::new(&closest, &x).tangents();
            let n = closest.normal();
            for (u, v, expected) in [(a, a, 1.0), (b, b, 1.0), (n, n, 1.0), (a, b, 0.0), (a, n, 0.0), (b, n, 0.0)] {
                prop_assert!((u.dot(v) - expected).abs() < 4e-15, "{a} {b} {n}");
            }
        }
    }
}

#[test]
fn touching_pairs_have_no_derivatives() {
    let x = [DVec3::new(0.25, 0.25, 0.0), DVec3::ZERO, DVec3::X, DVec3::Y];
    let closest = pt(&x);
    assert!(closest.is_touching() && closest.distance() == 0.0);
    let frame = ContactFrame::new(&closest, &x);
    for form in
        [ContactHessian::Exact, ContactHessian::GaussNewton, ContactHessian::Closed, ContactHessian::Nearest]
    {
        assert_eq!(frame.hessian(-1.0, 1.0, form), Blocks::ZERO);
    }
}
