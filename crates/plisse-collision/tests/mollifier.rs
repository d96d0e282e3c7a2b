//! The mollifier of parallel edges: derivatives, limits, every finite input.

#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::DVec3;
use plisse_collision::{ContactFrame, ContactHessian, EdgeMollifier, edge_edge};
use plisse_core::{ElementEvaluation, Positive};
use plisse_testkit::{any_finite, any_points, check_gradient, check_jacobian, magnitude};
use proptest::prelude::*;

fn points(x: &[f64; 12]) -> [DVec3; 4] {
    std::array::from_fn(|i| DVec3::from_slice(&x[3 * i..]))
}

fn flat(x: &[DVec3; 4]) -> [f64; 12] {
    std::array::from_fn(|k| x[k / 3][k % 3])
}

/// Edges of about unit length that cross at an angle which the mollifier acts on.
fn nearly_parallel() -> impl Strategy<Value = [DVec3; 4]> {
    (0.004..0.025f64, 0.1..0.4f64, prop::array::uniform3(-0.001..0.001f64)).prop_map(|(angle, gap, noise)| {
        let (e, f) = (DVec3::X, DVec3::new(angle.cos(), angle.sin(), 0.0));
        let lift = DVec3::Z * gap + DVec3::from(noise);
        [lift - e * 0.4, lift + e * 0.6, -f * 0.5, f * 0.5]
    })
}

/// The energy 1/d of a pair.
fn repulsion(x: &[DVec3; 4]) -> ElementEvaluation<4> {
    let closest = edge_edge([x[0], x[1]], [x[2], x[3]]);
    let d = closest.distance();
    let (slope, curvature) = (-1.0 / (d * d), 2.0 / (d * d * d));
    ElementEvaluation {
        energy: 1.0 / d,
        gradient: closest.gradient().map(|g| g * slope),
        hessian: ContactFrame::new(&closest, x).hessian(slope, curvature, ContactHessian::Exact),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn derivatives_agree_with_differences(x in nearly_parallel()) {
        let mollifier = EdgeMollifier::new([Positive::ONE; 2]);
        prop_assert!(mollifier.is_active(&x));
        let weight = |x: &[f64; 12]| mollifier.evaluate(&points(x));
        // Differences of a weight that changes within 0.01 of the edges.
        check_gradient(|x| mollifier.weight(&points(x)), |x| flat(&weight(x).gradient), &flat(&x), 1e-6);
        check_jacobian(|x| flat(&weight(x).gradient), |x| weight(x).hessian.to_matrix(), &flat(&x), 1e-6);

        let product = |x: &[f64; 12]| mollifier.apply(&points(x), &repulsion(&points(x)));
        check_gradient(|x| product(x).energy, |x| flat(&product(x).gradient), &flat(&x), 1e-5);
        check_jacobian(|x| flat(&product(x).gradient), |x| product(x).hessian.to_matrix(), &flat(&x), 1e-4);
    }

    #[test]
    fn everything_is_finite(x in any_points::<4>(), a in magnitude(1e-60..=1e60), b in magnitude(1e-60..=1e60), size in any_finite()) {
        let x = x.map(DVec3::from);
        let mollifier = EdgeMollifier::new([a, b].map(|length| Positive::new(length).unwrap()));
        let weight = mollifier.evaluate(&x);
        prop_assert!((0.0..=1.0).contains(&weight.energy) && weight.energy == mollifier.weight(&x));
        prop_assert!(weight.hessian.is_finite() && weight.gradient.iter().all(|g| g.is_finite()));
        let energy = ElementEvaluation { energy: size, gradient: [DVec3::splat(size); 4], hessian: plisse_core::Blocks::identity() * size };
        let product = mollifier.apply(&x, &energy);
        prop_assert!(product.energy.is_finite() && product.hessian.is_finite() && product.gradient.iter().all(|g| g.is_finite()));
    }
}

#[test]
fn parallel_edges_have_no_weight_and_others_all() {
    let mollifier = EdgeMollifier::new([Positive::literal(2.0), Positive::literal(0.5)]);
    let parallel = [DVec3::ZERO, DVec3::X * 2.0, DVec3::Z, DVec3::Z + DVec3::X * 0.5];
    assert_eq!((mollifier.weight(&parallel), mollifier.is_active(&parallel)), (0.0, true));
    assert_eq!(mollifier.evaluate(&parallel).gradient, [DVec3::ZERO; 4]);
    let crossing = [DVec3::ZERO, DVec3::X * 2.0, DVec3::Z, DVec3::Z + DVec3::Y * 0.5];
    assert_eq!((mollifier.weight(&crossing), mollifier.is_active(&crossing)), (1.0, false));
    let energy = repulsion(&crossing);
    assert_eq!(mollifier.apply(&crossing, &energy).energy, energy.energy);
}
