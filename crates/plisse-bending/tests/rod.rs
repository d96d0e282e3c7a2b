//! Rods: bending and stretching, with their limits.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DMat3, DVec3};
use plisse_bending::{
    AngleEnergy, CosineAngle, PrintedCosine, QuadraticAngle, RodElement, RodStretch, SineAngle, TangentAngle,
};
use plisse_core::{Angle, Blocks, Element, Id, Positive, Psd, project_numeric, symmetric_eigen};
use plisse_eigen::AngleFrame;
use plisse_testkit::{
    assert_close, assert_semidefinite, check_gradient, check_jacobian, magnitude, max_abs, rotation,
};
use proptest::prelude::*;

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn rod<L: AngleEnergy>(law: L, rest: f64) -> RodElement<L> {
    RodElement::new([0, 1, 2].map(Id::new), law, positive(1.5), Angle::new(rest).unwrap())
}

fn points(x: &[f64; 9]) -> [DVec3; 3] {
    std::array::from_fn(|i| DVec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]))
}

fn flat(x: &[DVec3; 3]) -> [f64; 9] {
    std::array::from_fn(|i| x[i / 3][i % 3])
}

fn check_law<L: AngleEnergy + Copy>(law: L, rest: f64, x: &[f64; 9]) -> Result<(), TestCaseError> {
    let rod = rod(law, rest);
    let gradient = |x: &[f64; 9]| flat(&rod.gradient(&points(x)));
    prop_assume!(max_abs(&gradient(x)) > 1e-2);
    check_gradient(|x| rod.energy(&points(x)), gradient, x, 1e-6);
    check_jacobian(gradient, |x| rod.hessian(&points(x), Psd::Exact).to_matrix::<9>(), x, 1e-5);
    let p = points(x);
    // The projection is the nearest matrix in the space of the two edges.
    let pairs = rod.eigensystem(&p);
    for psd in Psd::ALL {
        let [[aa, ab], [ba, bb]] = pairs.rebuild(psd).0;
        let oracle = Blocks([[aa, ab - aa, -ab], [ba - aa, aa - ab - ba + bb, ab - bb], [-ba, ba - bb, bb]]);
        let found = rod.hessian(&p, psd);
        assert_close(
            "rod",
            found.to_matrix::<9>().as_flattened(),
            oracle.to_matrix::<9>().as_flattened(),
            1e-12,
            oracle.norm(),
        );
        let fused = rod.evaluate(&p, psd);
        prop_assert_eq!(
            (fused.energy, fused.gradient, fused.hessian),
            (rod.energy(&p), rod.gradient(&p), found)
        );
    }
    // Three positive and three negative eigenvalues in edge space.
    let values = pairs.sorted_values();
    prop_assert!(values[2] < 0.0 && values[3] > 0.0, "{values:?}");
    let g = rod.gradient(&p);
    let torque = p[0].cross(g[0]) + p[1].cross(g[1]) + p[2].cross(g[2]);
    let size = max_abs(&flat(&g)).max(1.0);
    prop_assert!((g[0] + g[1] + g[2]).length() < 1e-14 * size && torque.length() < 1e-13 * size);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn derivatives_and_projection(x in prop::collection::vec(-1.0..1.0f64, 9), rest in 0.0..2.0f64) {
        let x: [f64; 9] = std::array::from_fn(|i| x[i]);
        let p = points(&x);
        let (e0, e1) = (p[1] - p[0], p[2] - p[1]);
        prop_assume!(e0.length() > 0.3 && e1.length() > 0.3);
        let theta = AngleFrame::new(e0, e1).unwrap().theta();
        prop_assume!((0.1..2.9).contains(&theta) && (theta - rest).abs() > 0.05);
        check_law(QuadraticAngle, rest, &x)?;
        check_law(TangentAngle, rest, &x)?;
        check_law(SineAngle, 0.0, &x)?;
    }

    #[test]
    fn stretching(x in prop::array::uniform6(-1.0..1.0f64), rest in 0.3..1.5f64) {
        let segment = RodStretch::new([0, 1].map(Id::new), positive(rest), positive(2.5));
        let pair = |x: &[f64; 6]| [DVec3::new(x[0], x[1], x[2]), DVec3::new(x[3], x[4], x[5])];
        let p = pair(&x);
        let length = (p[1] - p[0]).length();
        prop_assume!(length > 0.2 && (length - rest).abs() > 0.02);
        let gradient = |x: &[f64; 6]| { let g = segment.gradient(&pair(x)); std::array::from_fn(|i| g[i / 3][i % 3]) };
        check_gradient(|x| segment.energy(&pair(x)), gradient, &x, 1e-7);
        check_jacobian(gradient, |x| segment.hessian(&pair(x), Psd::Exact).to_matrix::<6>(), &x, 1e-7);
        let exact = segment.hessian(&p, Psd::Exact).to_matrix::<6>();
        for psd in Psd::ALL {
            let oracle = project_numeric(&exact, psd);
            let found = segment.hessian(&p, psd).to_matrix::<6>();
            assert_close("stretch", found.as_flattened(), oracle.as_flattened(), 1e-13, max_abs(exact.as_flattened()));
        }
    }
}

fn bent(theta: f64) -> [DVec3; 3] {
    [DVec3::ZERO, DVec3::X, DVec3::X + 1.25 * DVec3::new(theta.cos(), theta.sin(), 0.0)]
}

#[test]
fn straight_rest_is_smooth_through_straight() {
    // h n nᵀ ⊗ (I - t tᵀ) with n = (1/l0, -1/l1), approached from every small angle.
    let rod = rod(QuadraticAngle, 0.0);
    let across = DMat3::from_diagonal(DVec3::new(0.0, 1.0, 1.0)) * 1.5;
    let expected = [across, across * -(1.0 + 0.8), across * 0.8];
    for theta in [0.0, 1e-12, 1e-9, 1e-7, 1e-5] {
        for psd in Psd::ALL {
            let h = rod.hessian(&bent(theta), psd);
            for j in 0..3 {
                // First order in the angle, times moduli of size three.
                let error = max_abs(&(h.0[0][j] - expected[j]).to_cols_array());
                assert!(error < 5.0 * theta + 1e-12, "{theta} {psd:?}: {error:e}");
            }
        }
    }
    assert_eq!(rod.gradient(&bent(0.0)), [DVec3::ZERO; 3]);
}

#[test]
fn bent_rest_has_a_bounded_projection_at_straight_and_folded() {
    let rod = rod(QuadraticAngle, 0.7);
    let limit = rod.hessian(&bent(0.0), Psd::Clamp).norm();
    for theta in [0.0, 1e-12, 1e-9, 1e-7, 1e-4, 1e-2, std::f64::consts::PI - 1e-6, std::f64::consts::PI] {
        let x = bent(theta);
        let clamped = rod.hessian(&x, Psd::Clamp);
        assert!(clamped.is_finite() && clamped.norm() < 4.0 * limit, "{theta}: {}", clamped.norm());
        assert!(symmetric_eigen(&clamped.to_matrix::<9>()).0[0] >= -1e-12 * clamped.norm());
        for psd in Psd::ALL {
            assert!(rod.hessian(&x, psd).is_finite());
        }
    }
    assert_eq!(rod.gradient(&bent(0.0)), [DVec3::ZERO; 3]);
}

#[test]
fn the_cone_at_straight_is_majorised() {
    // ψ(x + d) ≤ ψ(x) + ½ d·H d at the straight state of a bent rod, for small displacements of the
    // end.
    let rod = rod(QuadraticAngle, 0.7);
    let x = bent(0.0);
    let h = rod.hessian(&x, Psd::Clamp);
    for d in [DVec3::new(0.0, 0.01, 0.0), DVec3::new(0.0, -0.02, 0.03), DVec3::new(0.01, 0.0, 0.1)] {
        let step = [DVec3::ZERO, DVec3::ZERO, d];
        let moved = [x[0], x[1], x[2] + d];
        let bound = rod.energy(&x) + 0.5 * h.mul_vector(&step)[2].dot(d);
        assert!(rod.energy(&moved) <= bound + 1e-12);
    }
}

#[test]
fn coincident_vertices_contribute_nothing() {
    let rod = rod(TangentAngle, 0.2);
    let [a, b, c] = bent(0.5);
    for x in [[a, a, c], [a, b, b], [a, a, a]] {
        let e = rod.evaluate(&x, Psd::Clamp);
        assert_eq!((e.energy, e.gradient, e.hessian), (0.0, [DVec3::ZERO; 3], Blocks::ZERO));
    }
    let segment = RodStretch::new([0, 1].map(Id::new), positive(0.5), positive(2.0));
    assert_eq!(segment.gradient(&[a, a]), [DVec3::ZERO; 2]);
    assert_eq!(segment.hessian(&[a, a], Psd::Clamp).0[0][0], DMat3::from_diagonal(DVec3::splat(4.0)));
}

#[test]
fn nan_is_not_hidden() {
    let mut x = bent(0.5);
    x[2].y = f64::NAN;
    let e = rod(QuadraticAngle, 0.2).evaluate(&x, Psd::Clamp);
    assert!(e.energy.is_nan() && !e.gradient[0].is_finite() && !e.hessian.is_finite());
    let segment = RodStretch::new([0, 1].map(Id::new), positive(0.5), positive(2.0));
    assert!(segment.energy(&[x[0], x[2]]).is_nan());
}

#[test]
fn extreme_segments_stay_finite() {
    for (k, l, e) in
        [(1e60, 1e60, 1e200), (1e-60, 1e-60, 1e150), (1e60, 1e-60, f64::MAX), (1e-60, 1e60, 5e-324)]
    {
        let segment = RodStretch::new([0, 1].map(Id::new), positive(l), positive(k));
        let x = [DVec3::ZERO, DVec3::new(e, 0.0, 0.0)];
        let all = segment.evaluate(&x, Psd::Abs);
        assert!(
            all.energy.is_finite() && all.gradient[1].is_finite() && all.hessian.is_finite(),
            "{k} {l} {e}: {all:?}"
        );
    }
}

#[test]
fn finite_for_every_finite_position() {
    let values = [0.0, 1.0, -0.7, 1e-8, -1e-11, 1e-50, -1e-310, 1e50, -1e154, 1e300, f64::MAX, f64::MIN];
    let n = values.len();
    let (rod, segment) =
        (rod(TangentAngle, 0.2), RodStretch::new([0, 1].map(Id::new), positive(0.5), positive(2.0)));
    for i in 0..n.pow(3) {
        let v = [values[i % n], values[i / n % n], values[i / n / n]];
        let x = [DVec3::new(v[0], v[1], v[2]), DVec3::new(v[1], v[2], v[0]), DVec3::new(v[2], v[0], v[0])];
        for psd in Psd::ALL {
            let e = rod.evaluate(&x, psd);
            assert!(
                e.energy.is_finite() && e.gradient.iter().all(|g| g.is_finite()) && e.hessian.is_finite(),
                "{x:?}"
            );
            let e = segment.evaluate(&[x[0], x[1]], psd);
            assert!(
                e.energy.is_finite() && e.gradient.iter().all(|g| g.is_finite()) && e.hessian.is_finite(),
                "{x:?}"
            );
        }
    }
}

/// Two segments at an angle, of these lengths, turned and moved.
fn segments(theta: f64, lengths: [f64; 2], turn: [[f64; 3]; 3]) -> [DVec3; 3] {
    let turn = DMat3::from_cols(turn[0].into(), turn[1].into(), turn[2].into());
    let (first, second) = (turn * DVec3::X, turn * DVec3::new(theta.cos(), theta.sin(), 0.0));
    [-first * lengths[0], DVec3::ZERO, second * lengths[1]]
}

fn clamps_are_semidefinite(x: &[DVec3; 3], rest: f64) {
    fn one(name: &str, law: impl AngleEnergy, rest: f64, x: &[DVec3; 3]) {
        let element = rod(law, rest);
        for psd in [Psd::Clamp, Psd::Abs] {
            // Beside the largest eigenvalue of the clamped matrix itself, however little is left of
            // the exact one.
            let rows = element.hessian(x, psd).to_matrix::<9>();
            assert_semidefinite(&format!("{name}, {psd:?}"), &rows, 1e-14, 0.0);
        }
    }
    one("quadratic", QuadraticAngle, rest, x);
    one("tangent", TangentAngle, rest, x);
    one("sine", SineAngle, rest, x);
    one("cosine", CosineAngle, rest, x);
    one("printed", PrintedCosine { b: 0.0 }, rest, x);
    one("printed with torque", PrintedCosine { b: 0.4 }, rest, x);
}

#[test]
fn clamps_are_semidefinite_near_straight_and_near_folded() {
    let turns = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.6, 0.0, 0.8], [0.48, 0.8, -0.36], [-0.64, 0.6, 0.48]],
    ];
    let small = (0..=64).map(|k| 10f64.powf(-0.25 * f64::from(k)));
    let angles = small.flat_map(|gap| [gap, std::f64::consts::PI - gap, std::f64::consts::FRAC_PI_2 + gap]);
    for theta in angles.filter(|theta| (0.0..=std::f64::consts::PI).contains(theta)) {
        for lengths in
            [[1.0, 1.0], [1.0, 1e-3], [1e3, 1.0], [1.0, 1.7], [1e-3, 1e3], [1.0, 1e-9], [1e-12, 3e-12]]
        {
            for rest in [0.0, 1e-9, 0.3, 1.6, 3.0, std::f64::consts::PI] {
                for turn in turns {
                    clamps_are_semidefinite(&segments(theta, lengths, turn), rest);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn clamps_are_semidefinite_at_every_angle(
        turn in rotation(),
        theta in prop_oneof![0.0..std::f64::consts::PI, magnitude(1e-16..=1.0), magnitude(1e-16..=1.0).prop_map(|gap| std::f64::consts::PI - gap)],
        rest in prop_oneof![0.0..std::f64::consts::PI, Just(0.0)],
        ratio in magnitude(1e-6..=1e6),
        length in magnitude(1e-9..=1e9),
    ) {
        clamps_are_semidefinite(&segments(theta, [length, length * ratio], turn), rest);
    }
}
