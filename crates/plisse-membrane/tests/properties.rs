//! What must hold for every energy, checked for every energy: derivatives, eigensystems,
//! projections, invariances.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use std::fmt;

use glam::{DMat2, DMat3, DVec3};
use plisse_core::{Blocks, Mat3x2, PoissonRatio, Positive, Psd, UnitDir2, project_numeric, symmetric_eigen};
use plisse_eigen::PolarFrame;
use plisse_membrane::{
    Arap, Corotational, Eigenanalysis, Fibre, GreenStretch, Lame, MembraneEnergy, NeoHookeanIncompressible,
    NeoHookeanLog, NeoHookeanStable, Quadratic, QuarticShear, QuarticStretch, Shear, StVenantKirchhoff,
    Stretch, TensionField, TensionRegime,
};
use plisse_testkit::{
    any_f, assert_close, check_gradient, check_jacobian, max_abs, near_degenerate, rotation,
};
use proptest::prelude::*;

type Smooth = Box<dyn Fn(&[f64; 6]) -> bool>;

/// An energy with the parameters it was made from, for the failure text.
struct Case {
    label: String,
    energy: Box<dyn Eigenanalysis>,
    /// Whether the Hessian is continuous around a state, as far as differences reach.
    smooth: Smooth,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

fn case(label: String, energy: impl Eigenanalysis + 'static) -> Case {
    Case { label, energy: Box::new(energy), smooth: Box::new(|_| true) }
}

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn dir(angle: f64) -> UnitDir2 {
    UnitDir2::from_angle(angle).unwrap()
}

fn rotation_matrix(columns: [[f64; 3]; 3]) -> DMat3 {
    DMat3::from_cols(columns[0].into(), columns[1].into(), columns[2].into())
}

fn lame() -> impl Strategy<Value = Lame> {
    (0.1..10.0f64, -0.9..0.9f64)
        .prop_map(|(e, nu)| Lame::from_tensile(positive(e), PoissonRatio::new(nu).unwrap()).unwrap())
}

/// Base direction, and orthonormal or general second direction.
fn directions(orthonormal: bool) -> impl Strategy<Value = [UnitDir2; 2]> {
    (-3.2..3.2f64, 0.2..2.9f64).prop_map(move |(base, turn)| {
        [dir(base), if orthonormal { dir(base).perp() } else { dir(base + turn) }]
    })
}

fn rests() -> impl Strategy<Value = [f64; 2]> {
    [0.5..1.5f64, 0.5..1.5f64]
}

macro_rules! fibre_cases {
    ($name:ident, $type:ty, $orthonormal:expr) => {
        fn $name() -> impl Strategy<Value = Case> {
            (directions($orthonormal), rests()).prop_map(|(d, b)| {
                let label = format!("{} {d:?} {b:?}", stringify!($type));
                case(label, <$type>::new(d, b.map(positive)))
            })
        }
    };
}
fibre_cases!(stretch, Stretch, true);
fibre_cases!(stretch_oblique, Stretch, false);
fibre_cases!(quartic_stretch, QuarticStretch, true);
fibre_cases!(quartic_stretch_oblique, QuarticStretch, false);
fibre_cases!(green_stretch, GreenStretch, true);

fn fibre() -> impl Strategy<Value = Case> {
    (-3.2..3.2f64, 0.5..1.5f64, 0.1..10.0f64).prop_map(|(angle, b, k)| {
        let energy = Fibre::new(dir(angle), positive(b), Quadratic).with_stiffness(positive(k));
        case(format!("{energy:?}"), energy)
    })
}

macro_rules! shear_cases {
    ($name:ident, $type:ty) => {
        fn $name() -> impl Strategy<Value = Case> {
            (directions(false), any::<bool>(), -0.5..0.5f64, 0.1..10.0f64).prop_map(
                |([a, b], orthonormal, d, k)| {
                    let b = if orthonormal { a.perp() } else { b };
                    let energy = <$type>::with_offset(a, b, a.dot(b) + d).scaled(positive(k));
                    case(format!("{energy:?}"), energy)
                },
            )
        }
    };
}
shear_cases!(shear, Shear);
shear_cases!(quartic_shear, QuarticShear);

fn arap() -> impl Strategy<Value = Case> {
    (0.1..10.0f64).prop_map(|mu| case(format!("Arap {mu}"), Arap::new(positive(mu))))
}
fn incompressible() -> impl Strategy<Value = Case> {
    (0.1..10.0f64)
        .prop_map(|mu| case(format!("Incompressible {mu}"), NeoHookeanIncompressible::new(positive(mu))))
}
macro_rules! lame_cases {
    ($name:ident, $type:ty) => {
        fn $name() -> impl Strategy<Value = Case> {
            lame().prop_map(|lame| case(format!("{} {lame:?}", stringify!($type)), <$type>::new(lame)))
        }
    };
}
lame_cases!(stvk, StVenantKirchhoff);
lame_cases!(corotational, Corotational);
lame_cases!(neo_hookean_stable, NeoHookeanStable);

/// Its Hessian jumps between regimes: differences are taken where all states around have one.
fn tension_field() -> impl Strategy<Value = Case> {
    lame().prop_map(|lame| {
        let energy = TensionField::new(lame);
        let smooth = move |f: &[f64; 6]| {
            let shifted = |i: usize, h: f64| {
                let mut f = *f;
                f[i] += h;
                regime(&energy, &f)
            };
            (0..6).all(|i| [-2e-3, 2e-3].iter().all(|h| shifted(i, *h) == regime(&energy, f)))
        };
        Case { smooth: Box::new(smooth), ..case(format!("TensionField {lame:?}"), energy) }
    })
}

fn regime(energy: &TensionField, f: &[f64; 6]) -> TensionRegime {
    energy.law().regime(PolarFrame::new(&Mat3x2::from_array(*f)).stretches())
}

/// Only for `λ ≥ 0`.
fn neo_hookean_log() -> impl Strategy<Value = Case> {
    (0.1..10.0f64, 0.0..10.0f64).prop_map(|(mu, lambda)| {
        let lame = Lame::new(positive(mu), lambda).unwrap();
        case(format!("NeoHookeanLog {lame:?}"), NeoHookeanLog::new(lame).unwrap())
    })
}

fn rows(h: &Blocks<2>) -> [[f64; 6]; 6] {
    h.to_matrix::<6>()
}

fn smallest_eigenvalue(h: &Blocks<2>) -> f64 {
    symmetric_eigen(&rows(h)).0[0]
}

/// Derivatives that vanish at this point prove nothing; such points are rare and skipped.
fn vanishes(value: f64) -> bool {
    value < 1e-4
}

fn check_derivatives(case: &Case, f: [f64; 6]) -> Result<(), TestCaseError> {
    let energy = &case.energy;
    let pk1 = |f: &[f64; 6]| energy.pk1(&Mat3x2::from_array(*f)).to_array();
    let exact = |f: &[f64; 6]| rows(&energy.hessian(&Mat3x2::from_array(*f), Psd::Exact));
    prop_assume!((case.smooth)(&f));
    prop_assume!(!vanishes(max_abs(&pk1(&f))) && !vanishes(max_abs(exact(&f).as_flattened())));
    check_gradient(|f| energy.energy(&Mat3x2::from_array(*f)), pk1, &f, 1e-6);
    check_jacobian(pk1, exact, &f, 1e-6);
    Ok(())
}

fn check_eigensystem(case: &Case, f: [f64; 6]) -> Result<(), TestCaseError> {
    let f = Mat3x2::from_array(f);
    let pairs = case.energy.eigensystem(&f);
    for i in 0..6 {
        for j in 0..6 {
            let dot = pairs.eigenmatrix(i).dot(&pairs.eigenmatrix(j));
            prop_assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-13, "modes {i} and {j}: {dot}");
        }
    }
    let exact = case.energy.hessian(&f, Psd::Exact);
    // Rounding is relative to the result itself; the numeric eigensystem of oblique fibres is
    // accurate relative to the exact Hessian only, whence the floor.
    for psd in Psd::ALL {
        let direct = rows(&case.energy.hessian(&f, psd));
        let rebuilt = rows(&pairs.rebuild(psd));
        assert_close("rebuilt", rebuilt.as_flattened(), direct.as_flattened(), 1e-13, 0.01 * exact.norm());
    }
    Ok(())
}

fn check_projection(case: &Case, f: [f64; 6]) -> Result<(), TestCaseError> {
    let f = Mat3x2::from_array(f);
    let exact = case.energy.hessian(&f, Psd::Exact);
    for psd in [Psd::Clamp, Psd::Abs] {
        let projected = case.energy.hessian(&f, psd);
        let oracle = project_numeric(&rows(&exact), psd);
        assert_close("oracle", rows(&projected).as_flattened(), oracle.as_flattened(), 1e-13, exact.norm());
        let smallest = smallest_eigenvalue(&projected);
        prop_assert!(smallest >= -1e-14 * projected.norm(), "{psd:?} has the eigenvalue {smallest:e}");
        let gap = smallest_eigenvalue(&(projected + exact * -1.0));
        prop_assert!(gap >= -1e-13 * exact.norm(), "{psd:?} does not majorise: {gap:e}");
    }
    Ok(())
}

fn check_frame_invariance(case: &Case, f: [f64; 6], q: [[f64; 3]; 3]) -> Result<(), TestCaseError> {
    let (f, q) = (Mat3x2::from_array(f), rotation_matrix(q));
    let (before, after) = (case.energy.evaluate(&f, Psd::Clamp), case.energy.evaluate(&(q * f), Psd::Clamp));
    // Quartic terms vanish at rest with a power of a strain that is itself a difference of numbers
    // of size one: below 1e-4 their rounding is no longer relative to their own size.
    let stiffness = case.energy.hessian(&f, Psd::Exact).norm().max(before.hessian.norm()).max(1e-4);
    assert_close("energy", &[after.energy], &[before.energy], 1e-12, stiffness);
    assert_close("stress", &after.pk1.to_array(), &(q * before.pk1).to_array(), 1e-12, stiffness);
    let turned = Blocks(before.hessian.0.map(|row| row.map(|block| q * block * q.transpose())));
    assert_close(
        "hessian",
        rows(&after.hessian).as_flattened(),
        rows(&turned).as_flattened(),
        1e-11,
        stiffness,
    );
    Ok(())
}

fn check_fused(case: &Case, f: [f64; 6]) -> Result<(), TestCaseError> {
    let f = Mat3x2::from_array(f);
    for psd in Psd::ALL {
        let fused = case.energy.evaluate(&f, psd);
        prop_assert_eq!(fused.energy, case.energy.energy(&f));
        prop_assert_eq!(fused.pk1, case.energy.pk1(&f));
        prop_assert_eq!(fused.hessian, case.energy.hessian(&f, psd));
    }
    Ok(())
}

fn check_finite(case: &Case, f: [f64; 6]) -> Result<(), TestCaseError> {
    let f = Mat3x2::from_array(f);
    for psd in Psd::ALL {
        let e = case.energy.evaluate(&f, psd);
        prop_assert!(e.energy.is_finite() && e.energy >= 0.0, "energy {}", e.energy);
        prop_assert!(e.pk1.is_finite(), "stress {:?}", e.pk1);
        prop_assert!(e.hessian.is_finite(), "{psd:?} {:?}", e.hessian);
    }
    let clamped = case.energy.hessian(&f, Psd::Clamp);
    let smallest = smallest_eigenvalue(&clamped);
    prop_assert!(
        smallest >= -1e-13 * clamped.norm(),
        "smallest eigenvalue {smallest:e} of {:e}",
        clamped.norm()
    );
    let pairs = case.energy.eigensystem(&f);
    prop_assert!(pairs.values.iter().all(|v| v.is_finite()), "{:?}", pairs.values);
    prop_assert!(pairs.modes.iter().flatten().all(|v| v.is_finite()), "{:?}", pairs.modes);
    Ok(())
}

macro_rules! properties {
    ($($name:ident),* $(,)?) => { $(
        mod $name {
            use super::*;
            proptest! {
                #![proptest_config(ProptestConfig::with_cases(256))]
                #[test]
                fn derivatives(case in super::$name(), f in any_f()) { check_derivatives(&case, f)?; }
                #[test]
                fn eigensystem(case in super::$name(), f in prop_oneof![any_f(), near_degenerate(), plisse_testkit::degenerate()]) {
                    check_eigensystem(&case, f)?;
                }
                #[test]
                fn projection(case in super::$name(), f in prop_oneof![any_f(), near_degenerate()]) { check_projection(&case, f)?; }
                #[test]
                fn frame_invariance(case in super::$name(), f in any_f(), q in rotation()) { check_frame_invariance(&case, f, q)?; }
                #[test]
                fn fused_equals_three_calls(case in super::$name(), f in prop_oneof![any_f(), plisse_testkit::degenerate()]) {
                    check_fused(&case, f)?;
                }
            }
            proptest! {
                #![proptest_config(ProptestConfig::with_cases(2048))]
                #[test]
                fn finite_for_every_finite_input(case in super::$name(), f in prop_oneof![plisse_testkit::extreme(), plisse_testkit::degenerate()]) {
                    check_finite(&case, f)?;
                }
            }
        }
    )* };
}
properties!(
    stretch,
    stretch_oblique,
    quartic_stretch,
    quartic_stretch_oblique,
    green_stretch,
    fibre,
    shear,
    quartic_shear,
    arap,
    stvk,
    corotational,
    neo_hookean_log,
    incompressible,
    neo_hookean_stable,
    tension_field,
);

fn check_material_symmetry(case: &Case, f: [f64; 6], angle: f64, mirror: bool) {
    let f = Mat3x2::from_array(f);
    let mut v = DMat2::from_angle(angle);
    if mirror {
        v *= DMat2::from_diagonal(glam::DVec2::new(1.0, -1.0));
    }
    let stiffness = case.energy.hessian(&f, Psd::Exact).norm();
    assert_close("energy", &[case.energy.energy(&(f * v))], &[case.energy.energy(&f)], 1e-12, stiffness);
    assert_close(
        "stress",
        &case.energy.pk1(&(f * v)).to_array(),
        &(case.energy.pk1(&f) * v).to_array(),
        1e-12,
        stiffness,
    );
}

/// `2μ sym(A) + λ tr(A) I` as a 6×6 matrix at the flat rest state; nothing out of the plane.
fn linear_elasticity(mu: f64, lambda: f64) -> Blocks<2> {
    let index = |row: usize, column: usize| 3 * column + row;
    let mut m = [[0.0; 6]; 6];
    for i in 0..2 {
        for j in 0..2 {
            m[index(i, j)][index(i, j)] += mu;
            m[index(i, j)][index(j, i)] += mu;
            m[index(i, i)][index(j, j)] += lambda;
        }
    }
    Blocks::from_matrix(&m)
}

fn check_rest(energy: &dyn Eigenanalysis, mu: f64, lambda: f64, q: [[f64; 3]; 3]) {
    let q = rotation_matrix(q);
    let rest = q * Mat3x2::FLAT;
    let stiffness = 2.0 * mu + lambda.abs();
    // The rotation is orthonormal to 1e-15: strains are that small, energies its square.
    assert!(energy.energy(&rest) <= 1e-28 * stiffness, "energy {:e}", energy.energy(&rest));
    assert_close("stress", &energy.pk1(&rest).to_array(), &[0.0; 6], 1e-14, stiffness);
    assert_eq!(energy.energy(&Mat3x2::FLAT), 0.0);
    assert_eq!(energy.pk1(&Mat3x2::FLAT), Mat3x2::ZERO);
    let expected = linear_elasticity(mu, lambda);
    let found = energy.hessian(&Mat3x2::FLAT, Psd::Exact);
    assert_close(
        "rest stiffness",
        rows(&found).as_flattened(),
        rows(&expected).as_flattened(),
        1e-14,
        stiffness,
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn isotropic_energies_do_not_see_material_rotations(
        cases in (arap(), stvk(), corotational(), neo_hookean_log(), incompressible(), neo_hookean_stable(), tension_field()),
        f in any_f(), angle in -3.2..3.2f64, mirror in any::<bool>(),
    ) {
        for case in [&cases.0, &cases.1, &cases.2, &cases.3, &cases.4, &cases.5, &cases.6] {
            check_material_symmetry(case, f, angle, mirror);
        }
    }

    #[test]
    fn isotropic_energies_agree_to_second_order_at_rest(lame in lame(), q in rotation()) {
        let (mu, lambda) = (lame.mu(), lame.lambda());
        check_rest(&StVenantKirchhoff::new(lame), mu, lambda, q);
        check_rest(&Corotational::new(lame), mu, lambda, q);
        match NeoHookeanLog::new(lame) {
            Ok(energy) => check_rest(&energy, mu, lambda, q),
            Err(_) => prop_assert!(lambda < 0.0),
        }
        check_rest(&NeoHookeanStable::new(lame), mu, lambda, q);
        check_rest(&TensionField::new(lame), mu, lambda, q);
        check_rest(&Arap::new(positive(mu)), mu, 0.0, q);
        check_rest(&NeoHookeanIncompressible::new(positive(mu)), mu, 2.0 * mu, q);
    }

    #[test]
    fn directional_energies_rest_at_their_rest_stretches(d in directions(true), b in rests(), q in rotation()) {
        let q = rotation_matrix(q);
        let f = Mat3x2::outer(q.x_axis * b[0], d[0].get()) + Mat3x2::outer(q.y_axis * b[1], d[1].get());
        let rest = b.map(positive);
        let energies: [&dyn MembraneEnergy; 4] = [
            &Stretch::new(d, rest), &QuarticStretch::new(d, rest), &GreenStretch::new(d, rest), &Shear::new(d[0], d[1]),
        ];
        for energy in energies {
            prop_assert!(energy.energy(&f) < 1e-28);
            prop_assert!(energy.pk1(&f).max_abs() < 1e-13);
        }
    }

    #[test]
    fn generalised_shear_rests_at_every_isometry(d in directions(false), q in rotation()) {
        let f = rotation_matrix(q) * Mat3x2::FLAT;
        prop_assert!(Shear::new(d[0], d[1]).energy(&f) < 1e-28);
        prop_assert!(QuarticShear::new(d[0], d[1]).energy(&f) < 1e-56);
    }

    #[test]
    fn sums_and_scales_are_linear(f in any_f(), k in 0.1..10.0f64, lame in lame()) {
        let f = Mat3x2::from_array(f);
        let (a, b) = (Stretch::warp_weft(), StVenantKirchhoff::new(lame));
        let sum = a.scaled(positive(k)).plus(b);
        for psd in Psd::ALL {
            let e = sum.evaluate(&f, psd);
            prop_assert_eq!(e.energy, k * a.energy(&f) + b.energy(&f));
            prop_assert_eq!(e.pk1, a.pk1(&f) * k + b.pk1(&f));
            prop_assert_eq!(e.hessian, a.hessian(&f, psd) * k + b.hessian(&f, psd));
        }
        // The projection of a sum is positive semidefinite and majorises.
        let (clamped, exact) = (sum.hessian(&f, Psd::Clamp), sum.hessian(&f, Psd::Exact));
        prop_assert!(smallest_eigenvalue(&clamped) >= -1e-14 * clamped.norm());
        prop_assert!(smallest_eigenvalue(&(clamped + exact * -1.0)) >= -1e-13 * exact.norm());
    }

    #[test]
    fn clamp_of_one_fibre_each_is_further_away(d in directions(false), b in rests(), f in any_f()) {
        // Sum(Fibre, Fibre) projects each fibre: positive semidefinite, at least as large as the
        // exact projection.
        let f = Mat3x2::from_array(f);
        let fibre = |i: usize| Fibre::new(d[i], positive(b[i]), Quadratic);
        let (pair, sum) = (Stretch::new(d, b.map(positive)), fibre(0).plus(fibre(1)));
        prop_assert!((pair.energy(&f) - sum.energy(&f)).abs() <= 1e-15);
        let (exact, nearest, termwise) = (pair.hessian(&f, Psd::Exact), pair.hessian(&f, Psd::Clamp), sum.hessian(&f, Psd::Clamp));
        let distance = |h: &Blocks<2>| (*h + exact * -1.0).norm();
        prop_assert!(distance(&nearest) <= distance(&termwise) + 1e-13);
    }
}

#[test]
fn baraff_witkin_is_the_sum_of_its_parts() {
    let [warp, weft, shear] = [300.0, 200.0, 40.0].map(positive);
    let cloth = plisse_membrane::BaraffWitkin::from_moduli(warp, weft, shear);
    let f = Mat3x2::new(DVec3::new(1.1, 0.2, -0.1), DVec3::new(0.1, 0.8, 0.3));
    let (a, b) = (f.c0.length() - 1.0, f.c1.length() - 1.0);
    let expected = 150.0 * a * a + 100.0 * b * b + 20.0 * f.c0.dot(f.c1).powi(2);
    assert!((cloth.energy(&f) / expected - 1.0).abs() < 1e-14);
}
