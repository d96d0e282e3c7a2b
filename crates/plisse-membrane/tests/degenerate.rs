//! The states where formulas break, each named for what is lost there.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::DVec3;
use plisse_core::{Mat3x2, Positive, Psd, SATURATION, UnitDir2, symmetric_eigen};
use plisse_membrane::{
    Arap, Corotational, Eigenanalysis, GreenStretch, Lame, MembraneEnergy, NeoHookeanIncompressible,
    NeoHookeanLog, NeoHookeanStable, QuarticStretch, Shear, StVenantKirchhoff, Stretch, TensionField,
};
use plisse_testkit::assert_close;

fn lame() -> Lame {
    Lame::new(Positive::new(1.25).unwrap(), 2.5).unwrap()
}

fn eigenvalues(h: &plisse_core::Blocks<2>) -> [f64; 6] {
    symmetric_eigen(&h.to_matrix::<6>()).0
}

/// F with a zero first column.
fn zero_column() -> Mat3x2 {
    Mat3x2::new(DVec3::ZERO, DVec3::new(0.3, 1.2, -0.4))
}

#[test]
fn stretch_of_a_collapsed_fibre_has_no_force_and_a_majorising_stiffness() {
    let energy = Stretch::warp_weft();
    let f = zero_column();
    assert_eq!(energy.pk1(&f).c0, DVec3::ZERO);
    for psd in Psd::ALL {
        assert_eq!(energy.hessian(&f, psd).0[0][0], glam::DMat3::from_diagonal(DVec3::splat(2.0)));
    }
    // ψ(F + dF) ≤ ψ(F) + ½ dF·H dF for every displacement of the collapsed column.
    for d in [DVec3::new(0.1, 0.0, 0.0), DVec3::new(0.5, -2.0, 1.0), DVec3::new(1e-9, 0.0, 1e-8)] {
        let moved = Mat3x2::new(d, f.c1);
        assert!(energy.energy(&moved) <= energy.energy(&f) + d.length_squared() + 1e-15);
    }
}

#[test]
fn quartic_stretch_of_a_collapsed_fibre() {
    let rest = Positive::new(0.5).unwrap();
    let energy = QuarticStretch::new([UnitDir2::U, UnitDir2::V], [rest; 2]);
    let h = energy.hessian(&Mat3x2::ZERO, Psd::Clamp);
    assert_eq!(eigenvalues(&h), [3.0; 6]); // 12 b²
    assert_eq!(energy.pk1(&Mat3x2::ZERO), Mat3x2::ZERO);
}

#[test]
fn green_stretch_is_smooth_at_zero() {
    let energy = GreenStretch::warp_weft();
    assert_eq!(eigenvalues(&energy.hessian(&Mat3x2::ZERO, Psd::Exact)), [-4.0; 6]);
    assert_eq!(eigenvalues(&energy.hessian(&Mat3x2::ZERO, Psd::Clamp)), [0.0; 6]);
}

#[test]
fn stretch_keeps_its_direction_down_to_the_smallest_numbers() {
    // The true derivative, not the collapsed one: the direction of the fibre is still known.
    let energy = Stretch::warp_weft();
    for s in [1e-12, 1e-100, 1e-250, 1e-310] {
        let f = Mat3x2::new(DVec3::new(0.0, 0.6 * s, 0.8 * s), DVec3::X);
        let p = energy.pk1(&f);
        let tension = 2.0 * (s - 1.0);
        assert_close("stress", &p.c0.to_array(), &[0.0, 0.6 * tension, 0.8 * tension], 1e-14, 0.0);
    }
}

#[test]
fn shear_at_zero_and_at_equal_directions() {
    let energy = Shear::warp_weft();
    assert_eq!(energy.evaluate(&Mat3x2::ZERO, Psd::Clamp).hessian, plisse_core::Blocks::ZERO);
    // a = b: the energy is that of a Green fibre, (I5 - 1)².
    let a = UnitDir2::from_angle(0.5).unwrap();
    for b in [a, UnitDir2::new(-a.get().x, -a.get().y).unwrap()] {
        let energy = Shear::new(a, b);
        let f = Mat3x2::from_array([0.7783, -0.1148, 0.3942, 1.8482, -1.1266, 0.7617]);
        let i5 = (f * a.get()).length_squared();
        assert!((energy.energy(&f) - (i5 - 1.0).powi(2)).abs() < 1e-13);
        let values = energy.eigensystem(&f).sorted_values();
        let across = 4.0 * (i5 - 1.0);
        assert_close(
            "eigenvalues",
            &values,
            &[0.0, 0.0, 0.0, across, across, 4.0 * (3.0 * i5 - 1.0)],
            1e-14,
            1.0,
        );
    }
}

#[test]
fn shear_without_shear_is_already_semidefinite() {
    let f = Mat3x2::from_array([1.2, 0.0, 0.0, 0.0, 0.9, 0.0]);
    let energy = Shear::warp_weft();
    let (exact, clamped) = (energy.hessian(&f, Psd::Exact), energy.hessian(&f, Psd::Clamp));
    assert_close(
        "I6 = 0",
        clamped.to_matrix::<6>().as_flattened(),
        exact.to_matrix::<6>().as_flattened(),
        1e-15,
        1.0,
    );
}

#[test]
fn arap_and_corotational_at_zero_are_majorised() {
    let displacements =
        [[0.1, 0.0, 0.0, 0.0, 0.1, 0.0], [0.5, -1.0, 0.2, 0.3, 0.0, 2.0], [3.0, 0.0, 0.0, 3.0, 0.0, 0.0]];
    let auxetic = Lame::new(Positive::new(1.0).unwrap(), -0.6).unwrap();
    let energies: [&dyn Eigenanalysis; 3] =
        [&Arap::new(Positive::ONE), &Corotational::new(lame()), &Corotational::new(auxetic)];
    for energy in energies {
        assert_eq!(energy.pk1(&Mat3x2::ZERO), Mat3x2::ZERO);
        let h = energy.hessian(&Mat3x2::ZERO, Psd::Clamp);
        for d in displacements {
            let d = Mat3x2::from_array(d);
            let [a, b] = h.mul_vector(&[d.c0, d.c1]);
            let bound = energy.energy(&Mat3x2::ZERO) + 0.5 * (d.c0.dot(a) + d.c1.dot(b));
            assert!(energy.energy(&d) <= bound + 1e-12, "{} > {bound}", energy.energy(&d));
        }
    }
}

#[test]
fn stvk_is_exact_at_rank_one_and_zero() {
    let energy = StVenantKirchhoff::new(lame());
    // At F = 0 the Hessian is -(μ + λ) I.
    let h = energy.hessian(&Mat3x2::ZERO, Psd::Exact);
    assert_close("zero", &eigenvalues(&h), &[-3.75; 6], 1e-15, 0.0);
    assert_eq!(energy.hessian(&Mat3x2::ZERO, Psd::Clamp), plisse_core::Blocks::ZERO);
    // Rank one: compare with the same state a hair away from it.
    let f = Mat3x2::from_array([1.0, 2.0, 3.0, 0.5, 1.0, 1.5]);
    let near = Mat3x2::from_array([1.0, 2.0, 3.0, 0.5, 1.0, 1.5 + 1e-9]);
    let (a, b) = (energy.hessian(&f, Psd::Exact), energy.hessian(&near, Psd::Exact));
    assert_close("rank one", a.to_matrix::<6>().as_flattened(), b.to_matrix::<6>().as_flattened(), 1e-8, 0.0);
}

#[test]
fn near_rank_one_hessian_is_accurate() {
    // Normals by the cross product lose orthogonality here: an error of 1.5e-8 at 1e-9, were it
    // used.
    let energy = StVenantKirchhoff::new(lame());
    for gap in [1e-3, 1e-6, 1e-9, 1e-12, 1e-15] {
        let f = Mat3x2::from_array([1.0, 2.0, 3.0, 0.5, 1.0, 1.5 + gap]);
        let exact = energy.hessian(&f, Psd::Exact).to_matrix::<6>();
        // The Hessian of a polynomial, entry by entry: H = S ⊗ I + 2μ-part, independent of any
        // frame.
        assert_close("stvk", exact.as_flattened(), stvk_hessian(&f).as_flattened(), 1e-14, 0.0);
    }
}

/// Derivative of `P = F (2μE + λ tr(E) I)` by `F`, column by column.
fn stvk_hessian(f: &Mat3x2) -> [[f64; 6]; 6] {
    let (mu, lambda) = (1.25, 2.5);
    let c = [f.c0, f.c1];
    let green = |i: usize, j: usize| 0.5 * (c[i].dot(c[j]) - f64::from(u8::from(i == j)));
    let trace = green(0, 0) + green(1, 1);
    let s = |i: usize, j: usize| 2.0 * mu * green(i, j) + if i == j { lambda * trace } else { 0.0 };
    let mut rows = [[0.0; 6]; 6];
    for column in 0..6 {
        let (jc, kc) = (column / 3, column % 3);
        // dF has a one in row kc, column jc; dE = sym(Fᵀ dF).
        let df = |k: usize, j: usize| f64::from(u8::from(k == kc && j == jc));
        let de =
            |i: usize, j: usize| 0.5 * ((0..3).map(|k| c[i][k] * df(k, j) + df(k, i) * c[j][k]).sum::<f64>());
        let dtrace = de(0, 0) + de(1, 1);
        for row in 0..6 {
            let (jr, kr) = (row / 3, row % 3);
            rows[row][column] = (0..2)
                .map(|i| {
                    let ds = 2.0 * mu * de(i, jr) + if i == jr { lambda * dtrace } else { 0.0 };
                    df(kr, i) * s(i, jr) + c[i][kr] * ds
                })
                .sum();
        }
    }
    rows
}

#[test]
fn barriers_saturate_at_collapse() {
    let rank_one = Mat3x2::from_array([1.0, 0.0, 0.0, 0.5, 0.0, 0.0]);
    let energies: [&dyn Eigenanalysis; 2] =
        [&NeoHookeanLog::new(lame()).unwrap(), &NeoHookeanIncompressible::new(Positive::new(1.25).unwrap())];
    for energy in energies {
        for f in [Mat3x2::ZERO, rank_one] {
            assert!(energy.energy(&f) >= 0.1 * SATURATION, "{}", energy.energy(&f));
            assert!(energy.pk1(&f).is_finite());
        }
    }
    // Not a barrier: finite at collapse, with the value of the formula.
    assert_eq!(NeoHookeanStable::new(lame()).energy(&Mat3x2::ZERO), 0.5 * 3.75);
}

#[test]
fn conformal_states_have_no_preferred_direction() {
    // σ₀ = σ₁: singular vectors are arbitrary. ARAP eigenvalues there are known in closed form.
    let arap = Arap::new(Positive::ONE);
    for s in [0.3, 0.7, 1.0, 1.9] {
        let f = Mat3x2::from_array([0.0, s, 0.0, -s, 0.0, 0.0]);
        let mut expected =
            [2.0, 2.0, 2.0, 2.0 * (1.0 - 1.0 / s), 2.0 * (1.0 - 1.0 / s), 2.0 * (1.0 - 1.0 / s)];
        expected.sort_by(f64::total_cmp);
        assert_close("spectrum", &arap.eigensystem(&f).sorted_values(), &expected, 1e-14, 1.0);
    }
}

#[test]
fn results_are_right_wherever_they_fit() {
    // At 1e±100 the energies of degree two still fit, and must be right rather than merely finite.
    let f = Mat3x2::from_array([3.0, 0.0, 0.0, 0.0, 4.0, 0.0]);
    for e in [-100, 100] {
        let s = 10f64.powi(e);
        let expected = (3.0 * s - 1.0).powi(2) + (4.0 * s - 1.0).powi(2);
        for energy in [&Stretch::warp_weft() as &dyn MembraneEnergy, &Arap::new(Positive::ONE)] {
            assert!((energy.energy(&(f * s)) / expected - 1.0).abs() < 1e-14);
        }
    }
    // Shear at 1e100: the Hessian fits (1e200), the energy (1e400) saturates.
    let sheared = Mat3x2::from_array([1e100, 0.0, 0.0, 1e100, 1e100, 0.0]);
    let shear = Shear::warp_weft();
    assert_eq!(shear.energy(&sheared), SATURATION);
    let h = shear.hessian(&sheared, Psd::Exact);
    // ∂²(c²)/∂F00² = 2 F01² = 2e200.
    assert!((h.entry(0, 0) / 2e200 - 1.0).abs() < 1e-14);
}

#[test]
fn extreme_parameters_stay_finite() {
    let huge = Positive::new(1e60).unwrap();
    let tiny = Positive::new(1e-60).unwrap();
    let stiff = Lame::new(huge, 1e60).unwrap();
    let axes = [UnitDir2::U, UnitDir2::V];
    let oblique = [UnitDir2::U, UnitDir2::from_angle(0.7).unwrap()];
    let mut energies: Vec<Box<dyn Eigenanalysis>> = vec![
        Box::new(Arap::new(huge)),
        Box::new(Arap::new(Positive::ONE).scaled(huge)),
        Box::new(Corotational::new(stiff)),
        Box::new(StVenantKirchhoff::new(stiff)),
        Box::new(TensionField::new(stiff)),
        Box::new(NeoHookeanLog::new(stiff).unwrap()),
        Box::new(NeoHookeanStable::new(stiff)),
        Box::new(NeoHookeanIncompressible::new(huge)),
        Box::new(Shear::with_offset(UnitDir2::U, UnitDir2::V, f64::MAX).with_stiffness(huge)),
        Box::new(Shear::with_offset(oblique[0], oblique[1], f64::INFINITY)),
    ];
    for rest in [huge, tiny] {
        for directions in [axes, oblique] {
            energies.push(Box::new(Stretch::new(directions, [rest; 2]).with_stiffness([huge; 2])));
            energies.push(Box::new(QuarticStretch::new(directions, [rest; 2]).with_stiffness([huge; 2])));
            energies.push(Box::new(GreenStretch::new(directions, [rest; 2]).with_stiffness([huge; 2])));
        }
    }
    let scales = [0.0, 1e-310, 1e-150, 1e-20, 1.0, 1e20, 1e150, f64::MAX / 4.0];
    let shapes =
        [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.6, 0.2, -0.1, 0.1, 0.5, 0.3], [1.0, 2.0, 3.0, 0.5, 1.0, 1.5]];
    for energy in &energies {
        for (scale, shape) in scales.iter().flat_map(|s| shapes.map(|f| (*s, f))) {
            let f = Mat3x2::from_array(shape.map(|x| x * scale));
            for psd in Psd::ALL {
                let e = energy.evaluate(&f, psd);
                assert!(e.energy.is_finite() && e.pk1.is_finite() && e.hessian.is_finite(), "{e:?} at {f:?}");
            }
            assert!(energy.eigensystem(&f).values.iter().all(|v| v.is_finite()));
        }
    }
}

#[test]
fn stress_is_the_slope_of_the_energy_down_to_tiny_stretches() {
    // σ₁ far below the rounding of σ₀ but exact: dψ/dσ₁ by the closed form of each law.
    let incompressible = NeoHookeanIncompressible::new(Positive::ONE);
    let log = NeoHookeanLog::new(lame()).unwrap();
    for s in [1e-10, 1e-20, 1e-40] {
        let f = Mat3x2::new(DVec3::X, DVec3::new(0.0, s, 0.0));
        assert!((incompressible.pk1(&f).c1.y / (s - s.powi(-3)) - 1.0).abs() < 1e-13);
        let expected = 1.25 * s + (2.5 * s.ln() - 1.25) / s;
        assert!((log.pk1(&f).c1.y / expected - 1.0).abs() < 1e-13);
    }
}

#[test]
fn area_strain_survives_very_unequal_stretches() {
    // J = 1 exactly, with stretches eight orders apart either way: ln J is zero, not 1e-8.
    let log = NeoHookeanLog::new(lame()).unwrap();
    let f = Mat3x2::new(DVec3::new(2f64.powi(27), 0.0, 0.0), DVec3::new(0.0, 2f64.powi(-27), 0.0));
    let (s0, s1) = (2f64.powi(27), 2f64.powi(-27));
    let expected = [1.25 * (s0 - 1.0 / s0), 1.25 * (s1 - 1.0 / s1)];
    let p = log.pk1(&f);
    assert_close("stress", &[p.c0.x, p.c1.y], &expected, 1e-13, 0.0);
}

#[test]
fn near_conformal_states_at_small_scales_keep_a_unit_deviator() {
    // The difference of the squared stretches is subnormal here, and so are its squares.
    let energy = StVenantKirchhoff::new(lame());
    for (scale, shear) in [(1e-20, 1e-142), (1e-5, 1.1e-155), (1e-3, 1e-160)] {
        let f = Mat3x2::from_array([scale, 0.0, 0.0, shear, scale, 0.0]);
        let found = energy.hessian(&f, Psd::Exact).to_matrix::<6>();
        assert_close("stvk", found.as_flattened(), stvk_hessian(&f).as_flattened(), 1e-14, 0.0);
    }
}

#[test]
fn near_rank_one_is_accurate_at_every_scale() {
    // Scaling by anything but a power of two would round the columns before they cancel.
    let energy = NeoHookeanStable::new(lame());
    let f = Mat3x2::from_array([1.0, 2.0, 3.0, 0.5, 1.0, 1.5 + 2f64.powi(-40)]);
    let expected = plisse_eigen::PolarFrame::new(&f).stretches().values[1];
    for exponent in [-330, -200, 200, 330] {
        let scale = 2f64.powi(exponent);
        let found = plisse_eigen::PolarFrame::new(&(f * scale)).stretches().values[1];
        assert!((found / scale / expected - 1.0).abs() < 1e-14, "{exponent}: {found}");
    }
    assert!(energy.pk1(&f).is_finite());
}

#[test]
fn nan_is_not_hidden() {
    let energies: [&dyn MembraneEnergy; 9] = [
        &Stretch::warp_weft(),
        &GreenStretch::warp_weft(),
        &Shear::warp_weft(),
        &Arap::new(Positive::ONE),
        &StVenantKirchhoff::new(lame()),
        &TensionField::new(lame()),
        &Corotational::new(lame()),
        &NeoHookeanLog::new(lame()).unwrap(),
        &NeoHookeanStable::new(lame()),
    ];
    // One entry after the other beside zeros and beside the rest state, and all at once.
    let mut states = vec![[f64::NAN; 6]];
    for i in 0..6 {
        for base in [[0.0; 6], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]] {
            let mut f = base;
            f[i] = f64::NAN;
            states.push(f);
        }
    }
    for (energy, f) in energies.iter().flat_map(|e| states.iter().map(move |f| (e, Mat3x2::from_array(*f)))) {
        assert!(energy.energy(&f).is_nan(), "{f:?}");
        assert!(!energy.pk1(&f).is_finite(), "{f:?}");
        assert!(!energy.hessian(&f, Psd::Exact).is_finite(), "{f:?}");
    }
}
