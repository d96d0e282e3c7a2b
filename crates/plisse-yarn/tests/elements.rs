//! Elements against finite differences, projections against a numeric one, invariances and states
//! at the edge.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::{DQuat, DVec3};
use plisse_core::{Element, Id, Psd, Vertices, project_numeric};
use plisse_testkit::{assert_close, assert_semidefinite, check_gradient, check_jacobian, max_abs};
use plisse_yarn::{ArcLength, Bend, Corner, Jam, SegmentInertia, Stretch, Weight, YarnElement};
use proptest::prelude::*;

const ARCS: [ArcLength; 2] = [ArcLength::Free(0), ArcLength::Free(1)];

fn positive(value: f64) -> plisse_core::Positive {
    plisse_core::Positive::new(value).unwrap()
}

fn ids<const V: usize>() -> [Id<Vertices>; V] {
    std::array::from_fn(|i| Id::new(i as u32))
}

fn stretch() -> Stretch {
    Stretch::new(ids(), ARCS, positive(40.0), 0.02)
}

fn bend() -> Bend {
    Bend::new(ids(), ARCS, positive(0.3), 0.05)
}

/// Gradient against energy and Hessian against gradient; then the projection.
fn check<E, const V: usize, const O: usize, const N: usize>(
    e: &E,
    q: &[f64; N],
    start: Option<&E::Start>,
    tolerance: f64,
) where
    E: YarnElement<V, O, N>,
{
    check_gradient(|q| e.energies(q, start).potential, |q| e.gradient(q, start).1, q, tolerance);
    check_jacobian(|q| e.gradient(q, start).1, |q| e.hessian(q, start, Psd::Exact), q, tolerance);
}

fn clamp_is_the_nearest<E, const V: usize, const O: usize, const N: usize>(
    e: &E,
    q: &[f64; N],
    start: Option<&E::Start>,
) where
    E: YarnElement<V, O, N>,
{
    let exact = e.hessian(q, start, Psd::Exact);
    for psd in [Psd::Clamp, Psd::Abs] {
        let (found, oracle) = (e.hessian(q, start, psd), project_numeric(&exact, psd));
        assert_close(
            "projection",
            found.as_flattened(),
            oracle.as_flattened(),
            1e-11,
            max_abs(exact.as_flattened()),
        );
    }
}

/// Two nodes about a metre apart, with material that is a little less or more.
fn segment() -> impl Strategy<Value = [f64; 8]> {
    (prop::array::uniform6(-0.4..0.4f64), -0.2..0.2f64, 0.5..1.8f64)
        .prop_map(|(p, u, delta)| [p[0], p[1], p[2], 1.0 + p[3], p[4], p[5], u, u + delta])
}

/// Three nodes of a yarn that is bent by `size` at most or so.
fn joint(size: f64) -> impl Strategy<Value = [f64; 11]> {
    (prop::array::uniform9(-1.0..1.0f64), -0.2..0.2f64, 1.2..3.0f64).prop_map(move |(p, u, length)| {
        let mut q = [0.0; 11];
        for i in 0..9 {
            q[i] = size * p[i] + if i % 3 == 0 { (i / 3) as f64 } else { 0.0 };
        }
        (q[9], q[10]) = (u, u + length);
        q
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn stretch_has_its_derivatives(q in segment(), before in segment()) {
        let e = stretch();
        check(&e, &q, None, 1e-6);
        let start = e.start(&before, &[0.0; 8], 0.1);
        check(&e, &q, Some(&start), 1e-6);
        clamp_is_the_nearest(&e, &q, None);
        clamp_is_the_nearest(&e, &q, Some(&start));
    }

    #[test]
    fn bending_has_its_derivatives(q in joint(0.4), before in joint(0.4)) {
        let e = bend();
        check(&e, &q, None, 1e-5);
        let start = e.start(&before, &[0.0; 11], 0.1);
        check(&e, &q, Some(&start), 1e-5);
        let clamped = e.hessian(&q, Some(&start), Psd::Clamp);
        assert_semidefinite("bending", &clamped, 1e-11, 0.0);
    }

    /// Nearly straight joints: their damping is that of the vector, or a blend.
    #[test]
    fn nearly_straight_joints_have_their_derivatives(q in joint(0.02), before in joint(0.03)) {
        let e = bend();
        let start = e.start(&before, &[0.0; 11], 0.1);
        check(&e, &q, Some(&start), 1e-5);
    }

    #[test]
    fn weight_has_its_derivatives(q in segment()) {
        let e = Weight::new(ids(), ARCS, positive(0.3), DVec3::new(1.0, 2.0, -9.0), DVec3::new(0.1, 0.0, 3.0));
        check(&e, &q, None, 1e-7);
        clamp_is_the_nearest(&e, &q, None);
    }

    #[test]
    fn inertia_has_its_derivatives(q in segment(), before in segment(), v in prop::array::uniform8(-1.0..1.0f64)) {
        let e = SegmentInertia::new(ids(), ARCS, positive(0.3), 0.05);
        let start = e.start(&before, &v, 0.1);
        check(&e, &q, Some(&start), 1e-6);
        // T is a quadratic form of M.
        let m = e.mass(&q);
        let form: f64 = (0..8).map(|i| (0..8).map(|j| 0.5 * v[i] * m[i][j] * v[j]).sum::<f64>()).sum();
        prop_assert!((form - e.kinetic_energy(&q, &v)).abs() < 1e-13);
        // The flow against differences: ∂T/∂q - d/dt (M) q̇ along the motion.
        let mut expected = [0.0; 8];
        let h = 1e-5;
        for i in 0..8 {
            let (mut plus, mut minus) = (q, q);
            plus[i] += h;
            minus[i] -= h;
            expected[i] = (e.kinetic_energy(&plus, &v) - e.kinetic_energy(&minus, &v)) / (2.0 * h);
        }
        let at = |t: f64| e.mass(&std::array::from_fn(|i| q[i] + t * v[i]));
        let (plus, minus) = (at(h), at(-h));
        for i in 0..8 {
            expected[i] -= (0..8).map(|j| (plus[i][j] - minus[i][j]) / (2.0 * h) * v[j]).sum::<f64>();
        }
        assert_close("flow", &e.flow_force(&q, &v), &expected, 1e-7, 1e-3);
    }

    #[test]
    fn jamming_has_its_derivatives_and_keeps_apart(u in -1.0..1.0f64, part in 0.05..0.95f64) {
        let e = Jam::new(ARCS, positive(0.4), positive(50.0));
        let q = [u, u + 0.4 * part];
        check(&e, &q, None, 1e-5);
        // However far the solver wants to go, something is left.
        for far in [0.1, 1.0, 100.0] {
            let to = [u, u - far];
            let longest = e.longest_step(&q, &to).min(1.0);
            let left = 0.4 * part + longest * ((to[1] - to[0]) - (q[1] - q[0]));
            prop_assert!(left > 0.05 * 0.4 * part, "{left}");
        }
        prop_assert!(e.longest_step(&q, &[u, u + 3.0]).is_infinite());
    }

    #[test]
    fn corners_have_their_derivatives(p in prop::array::uniform9(-0.4..0.4f64), rest in 0.8..2.0f64) {
        let e = Corner::new(ids(), rest, positive(0.7));
        let mut q = p;
        (q[3], q[7]) = (q[3] + 1.0, q[7] + 1.0);
        let points = |q: &[f64; 9]| -> [DVec3; 3] { std::array::from_fn(|i| DVec3::from_slice(&q[3 * i..])) };
        let flat = |g: [DVec3; 3]| -> [f64; 9] { std::array::from_fn(|i| g[i / 3][i % 3]) };
        prop_assume!(e.energy(&points(&q)) > 1e-4);
        check_gradient(|q| e.energy(&points(q)), |q| flat(e.gradient(&points(q))), &q, 1e-5);
        check_jacobian(|q| flat(e.gradient(&points(q))), |q| e.hessian(&points(q), Psd::Exact).to_matrix::<9>(), &q, 1e-5);
        assert_semidefinite("corner", &e.hessian(&points(&q), Psd::Clamp).to_matrix::<9>(), 1e-12, 0.0);
    }

    /// Energies do not change, and a step that only moves everything loses nothing.
    #[test]
    fn rigid_motions_cost_nothing(q in joint(0.5), axis in prop::array::uniform3(-1.0..1.0f64), shift in prop::array::uniform3(-2.0..2.0f64)) {
        let turn = DQuat::from_scaled_axis(DVec3::from_array(axis));
        let moved = |q: &[f64]| -> Vec<f64> {
            q.chunks(3).flat_map(|x| (turn * DVec3::from_slice(x) + DVec3::from_array(shift)).to_array()).collect()
        };
        let e = bend();
        // Below 0.15 rad the damping of the vector feels turns (B4).
        let angle = (e.energies(&q, None).stored / 0.3 * (q[10] - q[9])).sqrt();
        prop_assume!(angle > 0.16);
        let mut there = q;
        there[..9].copy_from_slice(&moved(&q[..9]));
        prop_assert!((e.energies(&there, None).stored - e.energies(&q, None).stored).abs() < 1e-12);
        let start = e.start(&q, &[0.0; 11], 1e-3);
        let (still, with) = (e.gradient(&there, None).1, e.gradient(&there, Some(&start)).1);
        let size = max_abs(&still);
        assert_close("rigid", &with, &still, 1e-9, size);

        let s = stretch();
        let pair = [q[0], q[1], q[2], q[3], q[4], q[5], q[9], q[10]];
        let mut there = pair;
        there[..6].copy_from_slice(&moved(&pair[..6]));
        let start = s.start(&pair, &[0.0; 8], 1e-3);
        let (still, with) = (s.gradient(&there, None).1, s.gradient(&there, Some(&start)).1);
        assert_close("rigid", &with, &still, 1e-9, max_abs(&still).max(1.0));
        prop_assert!(s.energies(&there, Some(&start)).dissipated < 1e-9);
    }
}

#[test]
fn straight_and_degenerate_states_are_finite() {
    let e = bend();
    let straight = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0];
    let start = e.start(&straight, &[0.0; 11], 0.01);
    let (energy, g) = e.gradient(&straight, Some(&start));
    assert!(energy.potential == 0.0 && max_abs(&g) == 0.0);
    // Both across stiffnesses are there although the angle has no direction.
    let h = e.hessian(&straight, Some(&start), Psd::Exact);
    assert!(h[4][4] > 1.0 && (h[4][4] / h[5][5] - 1.0).abs() < 1e-12, "{} {}", h[4][4], h[5][5]);
    for q in [
        [0.0; 11],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.5],
    ] {
        for start in [None, Some(&start)] {
            let (energy, g) = e.gradient(&q, start);
            assert!(energy.potential.is_finite() && g.iter().all(|g| g.is_finite()), "{q:?}");
            assert!(e.hessian(&q, start, Psd::Clamp).as_flattened().iter().all(|h| h.is_finite()), "{q:?}");
        }
    }
    let s = stretch();
    // Without length there is no direction; without material there is no inside.
    let (energy, g) = s.gradient(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], None);
    assert!((energy.stored - 20.0).abs() < 1e-12 && g.iter().all(|g| g.is_finite()));
    let (energy, g) = s.gradient(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.5], None);
    assert!(energy.potential == f64::INFINITY && max_abs(&g) == 0.0);
    let jam = Jam::new(ARCS, positive(0.4), positive(50.0));
    assert!(jam.energies(&[1.0, 0.5], None).stored == f64::INFINITY);
    assert!(jam.energies(&[0.0, 0.4], None).stored == 0.0);
}

/// The force of a joint goes through the straight state without a jump: at 1e-8 rad the derivative
/// of the angle has no direction any more, and a step with a tight tolerance did not converge.
#[test]
fn the_force_of_a_straight_joint_is_smooth() {
    let e = bend();
    let force = |height: f64| {
        let q = [0.0, 0.0, 0.0, 1.0, height, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0];
        e.gradient(&q, None).1[4] / height
    };
    // ½ k (2 h)² 2/2 at both sides: 4 k h.
    for height in [1e-12, 1e-10, 4.9e-9, 5.1e-9, 1e-7, 1e-5] {
        assert!((force(height) / (4.0 * 0.3) - 1.0).abs() < 1e-6, "{height:e}: {}", force(height));
    }
}
