//! Tension fields: the three regimes, their borders, and what wrinkles spare.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DMat3, DVec2, DVec3};
use plisse_core::{Blocks, Mat3x2, PoissonRatio, Positive, Psd, symmetric_eigen};
use plisse_eigen::PolarFrame;
use plisse_membrane::{Eigenanalysis, Lame, MembraneEnergy, StVenantKirchhoff, TensionField, TensionRegime};
use plisse_testkit::{assert_close, check_gradient, check_jacobian, rotation};
use proptest::prelude::*;

const YOUNG: f64 = 3.0;

fn lame(nu: f64) -> Lame {
    Lame::from_tensile(Positive::new(YOUNG).unwrap(), PoissonRatio::new(nu).unwrap()).unwrap()
}

fn rows(h: &Blocks<2>) -> [[f64; 6]; 6] {
    h.to_matrix::<6>()
}

/// A state with eigenvalues `g` of `FᵀF - I` along directions turned by `angle`.
fn state(g: [f64; 2], angle: f64, q: [[f64; 3]; 3]) -> Mat3x2 {
    let (n0, n1) = (DVec2::from_angle(angle), DVec2::from_angle(angle).perp());
    let q = DMat3::from_cols(q[0].into(), q[1].into(), q[2].into());
    q * (Mat3x2::outer(DVec3::X * (1.0 + g[0]).sqrt(), n0)
        + Mat3x2::outer(DVec3::Y * (1.0 + g[1]).sqrt(), n1))
}

fn regime(energy: &TensionField, f: &Mat3x2) -> TensionRegime {
    energy.law().regime(PolarFrame::new(f).stretches())
}

/// Strains of each regime, at least 0.01 from its borders.
fn strains(regime: TensionRegime, nu: f64) -> impl Strategy<Value = [f64; 2]> {
    (0.03..1.0f64, 0.0..1.0f64).prop_map(move |(g, t)| match regime {
        TensionRegime::Taut => [g, (-nu * g + 0.01) * (1.0 - t) + g * t],
        TensionRegime::Wrinkled => [g, (-nu * g - 0.01) * (1.0 - t) - 0.9 * t],
        TensionRegime::Slack => [-0.01 - 0.4 * g, (-0.01 - 0.4 * g) * (1.0 - t) - 0.9 * t],
    })
}

fn check_regime(expected: TensionRegime, nu: f64, g: [f64; 2], angle: f64, q: [[f64; 3]; 3]) {
    let energy = TensionField::new(lame(nu));
    let f = state(g, angle, q);
    assert_eq!(regime(&energy, &f), expected, "{g:?} {nu}");
    let (alpha, beta) = (YOUNG * nu / (1.0 - nu * nu), 0.5 * YOUNG / (1.0 + nu));
    let w = match expected {
        TensionRegime::Taut => 0.5 * alpha * (g[0] + g[1]).powi(2) + beta * (g[0] * g[0] + g[1] * g[1]),
        TensionRegime::Wrinkled => 0.5 * YOUNG * g[0] * g[0],
        TensionRegime::Slack => 0.0,
    };
    assert_close("energy", &[energy.energy(&f)], &[0.25 * w], 1e-13, 1e-2);
    let pk1 = |f: &[f64; 6]| energy.pk1(&Mat3x2::from_array(*f)).to_array();
    let hessian = |f: &[f64; 6]| rows(&energy.hessian(&Mat3x2::from_array(*f), Psd::Exact));
    let exact = energy.hessian(&f, Psd::Exact);
    if expected == TensionRegime::Slack {
        assert_eq!((energy.pk1(&f), exact), (Mat3x2::ZERO, Blocks::ZERO));
    } else {
        check_gradient(|f| energy.energy(&Mat3x2::from_array(*f)), pk1, &f.to_array(), 1e-6);
        check_jacobian(pk1, hessian, &f.to_array(), 1e-6);
        assert_close(
            "formula",
            rows(&exact).as_flattened(),
            formula(expected, nu, g, angle, &f).as_flattened(),
            1e-12,
            1.0,
        );
    }
    // Nothing is projected.
    assert_eq!(energy.hessian(&f, Psd::Clamp), exact);
    assert_eq!(energy.hessian(&f, Psd::Abs), exact);
    assert!(energy.eigensystem(&f).values.iter().all(|value| *value >= 0.0));
    let smallest = symmetric_eigen(&rows(&exact)).0[0];
    assert!(smallest >= -1e-14 * exact.norm(), "{smallest:e}");
}

/// The second derivative as a quadratic form in `dF`, written with the strains along the principal
/// directions: `¼` of `c₁₁ m₁₁² + c₂₂ m₂₂² + 2 c₁₂ m₁₁m₂₂ + c₄ m₁₂² + 2 Σ sᵢ |dF nᵢ|²`.
fn formula(regime: TensionRegime, nu: f64, g: [f64; 2], angle: f64, f: &Mat3x2) -> [[f64; 6]; 6] {
    let (alpha, beta) = (YOUNG * nu / (1.0 - nu * nu), 0.5 * YOUNG / (1.0 + nu));
    let n = [DVec2::from_angle(angle), DVec2::from_angle(angle).perp()];
    let s = alpha + 2.0 * beta;
    let (c11, c22, c12, shear, stress) = if regime == TensionRegime::Taut {
        let stress = [s * g[0] + alpha * g[1], s * g[1] + alpha * g[0]];
        (s, s, alpha, 4.0 * beta, stress)
    } else {
        (YOUNG, 0.0, 0.0, 2.0 * YOUNG * g[0] / (g[0] - g[1]), [YOUNG * g[0], 0.0])
    };
    let strain = |i: usize, j: usize| {
        let a = Mat3x2::outer(*f * n[i], n[j]) + Mat3x2::outer(*f * n[j], n[i]);
        a.to_array()
    };
    let (m11, m22, m12) = (strain(0, 0), strain(1, 1), strain(0, 1));
    std::array::from_fn(|row| {
        std::array::from_fn(|column| {
            let mut sum = c11 * m11[row] * m11[column]
                + c22 * m22[row] * m22[column]
                + c12 * (m11[row] * m22[column] + m22[row] * m11[column])
                + shear * m12[row] * m12[column];
            if row % 3 == column % 3 {
                for i in 0..2 {
                    sum += 2.0 * stress[i] * n[i][row / 3] * n[i][column / 3];
                }
            }
            0.25 * sum
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn taut(nu in -0.4..0.5f64, t in 0.0..1.0f64, g in strains(TensionRegime::Taut, 0.0), angle in -3.2..3.2f64, q in rotation()) {
        // Between the border and equal strains, whatever the ratio.
        let g = [g[0], (-nu * g[0] + 0.01) * (1.0 - t) + g[0] * t];
        prop_assume!(g[1] <= g[0]);
        check_regime(TensionRegime::Taut, nu, g, angle, q);
    }

    #[test]
    fn wrinkled(g in strains(TensionRegime::Wrinkled, 0.3), angle in -3.2..3.2f64, q in rotation()) {
        check_regime(TensionRegime::Wrinkled, 0.3, g, angle, q);
    }

    #[test]
    fn wrinkled_though_stretched_twice(g in 0.1..1.0f64, t in 0.1..0.9f64, angle in -3.2..3.2f64, q in rotation()) {
        // A sheet that grows sideways when pulled wrinkles although both strains are positive.
        check_regime(TensionRegime::Wrinkled, -0.5, [g, 0.4 * t * g], angle, q);
    }

    #[test]
    fn slack(g in strains(TensionRegime::Slack, 0.3), angle in -3.2..3.2f64, q in rotation()) {
        check_regime(TensionRegime::Slack, 0.3, g, angle, q);
    }

    #[test]
    fn taut_sheets_are_saint_venant_kirchhoff(g in strains(TensionRegime::Taut, 0.3), angle in -3.2..3.2f64, q in rotation()) {
        let f = state(g, angle, q);
        let (a, b) = (TensionField::new(lame(0.3)).evaluate(&f, Psd::Exact), StVenantKirchhoff::new(lame(0.3)).evaluate(&f, Psd::Exact));
        prop_assert_eq!((a.energy, a.pk1), (b.energy, b.pk1));
        assert_close("hessian", rows(&a.hessian).as_flattened(), rows(&b.hessian).as_flattened(), 1e-14, 0.0);
    }

    #[test]
    fn wrinkles_take_the_energy_of_the_best_width(g in 0.05..1.0f64, t in 0.0..1.0f64) {
        // Relaxed: of all wider shapes of the same length, that of least energy.
        let width = |g1: f64| state([g, g1], 0.0, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        let border = -0.3 * g;
        let found = TensionField::new(lame(0.3)).energy(&width(border - 0.6 * t));
        let stvk = StVenantKirchhoff::new(lame(0.3));
        assert_close("relaxed", &[found], &[stvk.energy(&width(border))], 1e-13, 0.0);
        for offset in [-0.02, 0.02] {
            prop_assert!(found < stvk.energy(&width(border + offset)));
        }
    }

    #[test]
    fn stress_is_continuous_and_the_hessian_jumps_by_rank_one(g in 0.05..1.0f64, nu in 0.05..0.5f64, angle in -3.2..3.2f64, q in rotation()) {
        let energy = TensionField::new(lame(nu));
        let side = |step: f64| state([g, -nu * g + step], angle, q);
        let (inside, outside) = (side(1e-9), side(-1e-9));
        prop_assert_eq!(regime(&energy, &inside), TensionRegime::Taut);
        prop_assert_eq!(regime(&energy, &outside), TensionRegime::Wrinkled);
        let (a, b) = (energy.evaluate(&inside, Psd::Exact), energy.evaluate(&outside, Psd::Exact));
        assert_close("energy", &[a.energy], &[b.energy], 1e-12, 0.1);
        assert_close("stress", &a.pk1.to_array(), &b.pk1.to_array(), 1e-7, 0.1);
        // (α + 2β)/4 times the square of ν m₁₁ + m₂₂.
        let f = side(0.0);
        let n = [DVec2::from_angle(angle), DVec2::from_angle(angle).perp()];
        let m = |i: usize| Mat3x2::outer(f * n[i], n[i]) * 2.0;
        let mode = (m(0) * nu + m(1)).to_array();
        let stiff = 0.25 * YOUNG / (1.0 - nu * nu);
        let (a, b) = (rows(&a.hessian), rows(&b.hessian));
        for i in 0..6 {
            for j in 0..6 {
                let jump = a[i][j] - b[i][j];
                // Between the two sides the rest of the Hessian changes with the step of 2e-9 over
                // the gap of the strains.
                prop_assert!((jump - stiff * mode[i] * mode[j]).abs() < 1e-6, "{jump} at {i} {j}");
            }
        }
    }

    #[test]
    fn going_slack_is_continuous(g1 in -0.9..-0.05f64, angle in -3.2..3.2f64, q in rotation()) {
        let energy = TensionField::new(lame(0.3));
        let (pulled, slack) = (state([1e-9, g1], angle, q), state([-1e-9, g1], angle, q));
        prop_assert_eq!(regime(&energy, &pulled), TensionRegime::Wrinkled);
        prop_assert_eq!(energy.energy(&slack), 0.0);
        prop_assert!(energy.energy(&pulled) < 1e-17 && energy.pk1(&pulled).max_abs() < 1e-8);
    }
}

#[test]
fn a_strip_that_is_pulled_bears_young_s_modulus_whatever_its_width() {
    let energy = TensionField::new(lame(0.3));
    let length: f64 = 1.2;
    let strain = length * length - 1.0;
    for width in [0.0, 1e-3, 0.5, 0.9] {
        let f = Mat3x2::from_array([length, 0.0, 0.0, 0.0, width, 0.0]);
        assert_close("energy", &[energy.energy(&f)], &[YOUNG * strain * strain / 8.0], 1e-14, 0.0);
        let expected = [0.5 * YOUNG * strain * length, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_close("stress", &energy.pk1(&f).to_array(), &expected, 1e-14, 0.0);
    }
}

#[test]
fn collapsed_triangles_are_slack() {
    let energy = TensionField::new(lame(0.3));
    for f in [[0.0; 6], [0.9, 0.0, 0.0, 0.0, 0.0, 0.0], [0.3, 0.2, 0.1, 0.6, 0.4, 0.2]] {
        let e = energy.evaluate(&Mat3x2::from_array(f), Psd::Exact);
        assert_eq!((e.energy, e.pk1, e.hessian), (0.0, Mat3x2::ZERO, Blocks::ZERO));
    }
}
