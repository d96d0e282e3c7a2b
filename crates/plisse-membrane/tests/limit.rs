//! The limit of stretch: derivatives, convexity, invariances, degenerate states, and steps that
//! never pass the limit.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DMat3, DVec2, DVec3};
use plisse_core::{Element, Id, Mat3x2, Positive, Psd, TriangleMap, UnitDir2, project_numeric};
use plisse_eigen::PolarFrame;
use plisse_membrane::{LimitedStretch, MaterialError, StrainLimit, StrainLimitElement};
use plisse_testkit::{
    any_f, any_points, assert_close, check_gradient, check_jacobian, degenerate, extreme, max_abs,
    near_degenerate, rotation,
};
use proptest::prelude::*;

fn points(x: &[f64; 9]) -> [DVec3; 3] {
    std::array::from_fn(|i| DVec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]))
}

fn flat(g: &[DVec3; 3]) -> [f64; 9] {
    std::array::from_fn(|i| g[i / 3][i % 3])
}

fn limits() -> impl Strategy<Value = StrainLimit> {
    let dir = |angle: f64| UnitDir2::from_angle(angle).unwrap();
    let of = prop_oneof![
        2 => Just(LimitedStretch::Principal),
        1 => Just(LimitedStretch::Fibres([UnitDir2::U, UnitDir2::V])),
        1 => (-3.0..3.0f64).prop_map(move |a| LimitedStretch::Fibres([dir(a), dir(a).perp()])),
        1 => (-3.0..3.0f64, 0.4..2.7f64).prop_map(move |(a, b)| LimitedStretch::Fibres([dir(a), dir(a + b)])),
    ];
    (of, prop_oneof![1.01..1.2f64, 1.2..3.0f64], 0.1..100.0f64)
        .prop_map(|(of, limit, k)| StrainLimit::new(of, limit, Positive::new(k).unwrap()).unwrap())
}

/// A triangle that is not too thin, in material space.
fn rest() -> impl Strategy<Value = [DVec2; 3]> {
    prop::array::uniform6(-1.0..1.0f64).prop_filter_map("thin", |u| {
        let corners = [DVec2::new(u[0], u[1]), DVec2::new(u[2], u[3]), DVec2::new(u[4], u[5])];
        ((corners[1] - corners[0]).perp_dot(corners[2] - corners[0]).abs() > 0.1).then_some(corners)
    })
}

fn element(rest: [DVec2; 3], limit: StrainLimit) -> StrainLimitElement {
    StrainLimitElement::new([0, 1, 2].map(Id::new), TriangleMap::new(rest).unwrap(), limit)
}

/// Corners whose deformation gradient is `f`.
fn placed(rest: &[DVec2; 3], f: &Mat3x2) -> [DVec3; 3] {
    rest.map(|u| *f * u)
}

/// `f` scaled so that its limited stretch is this part of the way from the beginning of the barrier
/// to the limit.
fn at_depth(limit: &StrainLimit, f: [f64; 6], depth: f64) -> Option<Mat3x2> {
    let f = Mat3x2::from_array(f);
    let stretch = limit.stretch(&f);
    let wanted = limit.begin() + depth * (limit.limit() - limit.begin());
    (stretch > 1e-3).then(|| f * (wanted / stretch))
}

fn state() -> impl Strategy<Value = [f64; 6]> {
    prop_oneof![4 => any_f(), 1 => near_degenerate()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn derivatives(limit in limits(), rest in rest(), f in state(), depth in 0.05..0.95f64) {
        let Some(f) = at_depth(&limit, f, depth) else { return Ok(()) };
        let element = element(rest, limit);
        let x = flat(&placed(&rest, &f));
        let gradient = |x: &[f64; 9]| flat(&element.gradient(&points(x)));
        prop_assert!(max_abs(&gradient(&x)) > 1e-9, "no force");
        prop_assert!(element.energy(&points(&x)) > 0.0);
        let hessian = |x: &[f64; 9]| element.hessian(&points(x), Psd::Exact).to_matrix::<9>();
        prop_assert!(max_abs(hessian(&x).as_flattened()) > 1e-6, "no stiffness");
        // In units of the barrier, which may be far from one.
        let scale = 1.0 / max_abs(&gradient(&x));
        check_gradient(|x| element.energy(&points(x)) * scale, |x| gradient(x).map(|g| g * scale), &x, 1e-5);
        let scale = 1.0 / max_abs(hessian(&x).as_flattened());
        check_jacobian(
            |x| gradient(x).map(|g| g * scale), |x| hessian(x).map(|row| row.map(|h| h * scale)), &x, 1e-5,
        );
        let g = element.gradient(&points(&x));
        let size = max_abs(&flat(&g));
        prop_assert!((g[0] + g[1] + g[2]).length() <= 1e-14 * size, "forces do not balance");
        let p = points(&x);
        let torque = p[0].cross(g[0]) + p[1].cross(g[1]) + p[2].cross(g[2]);
        prop_assert!(torque.length() <= 1e-12 * size, "torques do not balance: {torque}");
    }

    /// The barrier is convex: clamping and mirroring its Hessian changes nothing but rounding.
    #[test]
    fn needs_no_projection(limit in limits(), rest in rest(), f in state(), depth in -0.5..0.9999f64) {
        let Some(f) = at_depth(&limit, f, depth) else { return Ok(()) };
        let element = element(rest, limit);
        let x = placed(&rest, &f);
        let exact = element.hessian(&x, Psd::Exact).to_matrix::<9>();
        for psd in [Psd::Clamp, Psd::Abs] {
            prop_assert_eq!(element.hessian(&x, psd).to_matrix::<9>(), exact);
            let size = max_abs(exact.as_flattened()).max(f64::MIN_POSITIVE);
            let oracle = project_numeric(&exact, psd);
            assert_close("projection", exact.as_flattened(), oracle.as_flattened(), 1e-12, size);
        }
    }

    #[test]
    fn rigid_motions_change_nothing(
        limit in limits(), rest in rest(), f in state(), depth in 0.05..0.9f64,
        turn in rotation(), shift in prop::array::uniform3(-1.0..1.0f64),
    ) {
        let Some(f) = at_depth(&limit, f, depth) else { return Ok(()) };
        let element = element(rest, limit);
        let turn = DMat3::from_cols(turn[0].into(), turn[1].into(), turn[2].into());
        let x = placed(&rest, &f);
        let moved = x.map(|x| turn * x + DVec3::from(shift));
        prop_assert!((element.stretch(&x) - element.stretch(&moved)).abs() < 1e-13);
        let (a, b) = (element.energy(&x), element.energy(&moved));
        prop_assert!((a - b).abs() <= 1e-8 * a, "{a} {b}");
        let (g, h) = (element.gradient(&x).map(|g| turn * g), element.gradient(&moved));
        assert_close("gradient", &flat(&h), &flat(&g), 1e-8, max_abs(&flat(&g)));
        // Mirrored through its plane, or turned over: a sheet has no inside.
        let mirror = |x: DVec3| DVec3::new(x.x, x.y, -x.z);
        let c = element.energy(&x.map(mirror));
        prop_assert!((a - c).abs() <= 1e-8 * a, "{a} {c}");
    }

    /// Whatever the state: no NaN, the energy infinite beyond the limit and there only, forces and
    /// stiffness finite.
    #[test]
    fn finite_everywhere(
        limit in limits(), rest in rest(), x in any_points::<3>(),
        f in prop_oneof![any_f(), degenerate(), extreme(), near_degenerate()],
    ) {
        let element = element(rest, limit);
        for x in [x.map(DVec3::from), placed(&rest, &Mat3x2::from_array(f).saturated())] {
            if !x.iter().all(|x| x.is_finite()) {
                continue;
            }
            let (energy, stretch) = (element.energy(&x), element.stretch(&x));
            prop_assert!(!stretch.is_nan() && energy >= 0.0, "{energy} {stretch}");
            prop_assert_eq!(energy == f64::INFINITY, stretch >= limit.limit());
            prop_assert!(element.gradient(&x).iter().all(|g| g.is_finite()));
            let hessian = element.hessian(&x, Psd::Clamp).to_matrix::<9>();
            prop_assert!(hessian.as_flattened().iter().all(|h| h.is_finite()));
            if stretch <= limit.begin() {
                prop_assert_eq!(energy, 0.0);
            }
        }
    }

    /// Along the whole step the triangle stays within the limit, however long the step is, and the
    /// step is no shorter than it must be.
    #[test]
    fn the_longest_step_stays_within(
        limit in limits(), rest in rest(), f in state(), depth in prop_oneof![-0.9..1.0f64, 0.999..0.99999f64],
        way in prop::array::uniform9(-1.0..1.0f64), exponent in prop_oneof![-4..5i32, Just(100), Just(-100)],
    ) {
        let Some(f) = at_depth(&limit, f, depth) else { return Ok(()) };
        let element = element(rest, limit);
        let x = placed(&rest, &f);
        let start = element.stretch(&x);
        prop_assume!(start < limit.limit());
        let way = points(&way).map(|w| w * 10f64.powi(exponent));
        let to = [x[0] + way[0], x[1] + way[1], x[2] + way[2]];
        let longest = element.longest_step(&x, &to);
        prop_assert!(longest >= 0.0);
        if longest == f64::INFINITY {
            prop_assert!(to == x || exponent < 0);
            return Ok(());
        }
        let at = |t: f64| {
            let x: [DVec3; 3] = std::array::from_fn(|i| x[i] + (to[i] - x[i]) * t);
            element.stretch(&x)
        };
        for i in 0..=64 {
            let t = longest * f64::from(i) / 64.0;
            let left = limit.limit() - at(t);
            // What rounding of positions leaves: the limit is far from it.
            prop_assert!(left > 0.0, "{left} at {t} of {longest}");
            prop_assert!(left >= 0.0999 * (limit.limit() - start) - 1e-13 * limit.limit(), "{left} at {t}");
        }
        prop_assert!(element.allows(&x, &to, longest));
        // Not too timid.
        if longest > 0.0 && limit.limit() - start > 1e-9 {
            prop_assert!(at(longest) >= start + 0.79 * (limit.limit() - start), "{longest} {}", at(longest));
        }
    }

    #[test]
    fn shortened_triangles_are_within(
        limit in limits(), rest in rest(), x in prop::array::uniform9(-3.0..3.0f64), fixed in prop::array::uniform3(any::<bool>()),
    ) {
        let element = element(rest, limit);
        let x = points(&x);
        let largest = limit.begin();
        let short = element.shortened(&x, largest, fixed);
        let is_oblique = matches!(limit.of(), LimitedStretch::Fibres([a, b]) if a.dot(b).abs() > 1e-12);
        let size = x.iter().fold(1.0, |m: f64, x| m.max(x.abs().max_element()));
        if !is_oblique {
            prop_assert!(element.stretch(&short) <= largest + 1e-12 * size);
        }
        let kept = if fixed == [false; 3] { [true; 3] } else { fixed };
        let centroid = |x: &[DVec3; 3]| (0..3).filter(|i| kept[*i]).map(|i| x[i]).sum::<DVec3>();
        prop_assert!((centroid(&x) - centroid(&short)).length() < 1e-12 * size);
        if element.stretch(&x) <= largest {
            prop_assert!((0..3).all(|i| (x[i] - short[i]).length() < 1e-12 * size));
        }
    }

    #[test]
    fn bad_numbers_take_no_step(limit in limits(), rest in rest(), f in extreme()) {
        let element = element(rest, limit);
        let x = placed(&rest, &Mat3x2::FLAT);
        for bad in [f64::NAN, f64::INFINITY] {
            let to = [x[0], x[1] + DVec3::X * bad, x[2]];
            prop_assert_eq!(element.longest_step(&x, &to), 0.0);
        }
        let far = placed(&rest, &(Mat3x2::FLAT * (1.01 * limit.limit())));
        prop_assert_eq!(element.longest_step(&far, &x), 0.0, "beyond the limit there is no way");
        let way = limit.longest_step(&Mat3x2::FLAT, &Mat3x2::from_array(f));
        prop_assert!(way >= 0.0);
    }
}

/// With equal stretches the flip modulus is the curvature: no quotient of differences is left.
#[test]
fn equal_stretches() {
    let limit = StrainLimit::new(LimitedStretch::Principal, 1.1, Positive::literal(7.0)).unwrap();
    let rest = [DVec2::ZERO, DVec2::X, DVec2::Y];
    let element = element(rest, limit);
    for spread in [0.0, 1e-17, 1e-12, 1e-8, 1e-4] {
        let f = Mat3x2::from_array([1.08 + spread, 0.0, 0.0, 0.0, 1.08 - spread, 0.0]);
        let x = flat(&placed(&rest, &f));
        check_jacobian(
            |x| flat(&element.gradient(&points(x))),
            |x| element.hessian(&points(x), Psd::Exact).to_matrix::<9>(),
            &x,
            1e-5,
        );
    }
}

/// The second derivative is continuous where the barrier begins: the smaller stretch may begin
/// while the larger one is deep in it.
#[test]
fn begins_smoothly() {
    let limit = StrainLimit::new(LimitedStretch::Principal, 1.1, Positive::literal(7.0)).unwrap();
    let rest = [DVec2::ZERO, DVec2::X, DVec2::Y];
    let element = element(rest, limit);
    for larger in [1.05, 1.08] {
        let at = |s: f64| {
            let f = Mat3x2::from_array([larger, 0.0, 0.0, 0.0, s, 0.0]);
            element.hessian(&placed(&rest, &f), Psd::Exact).to_matrix::<9>()
        };
        let (below, above) = (at(1.05 - 1e-9), at(1.05 + 1e-9));
        assert_close("hessian", below.as_flattened(), above.as_flattened(), 1e-6, 1.0);
    }
}

/// Collapsed, flat and turned over: nothing is stretched, nothing costs.
#[test]
fn slack_triangles() {
    let rest = [DVec2::ZERO, DVec2::X, DVec2::Y];
    for of in [LimitedStretch::Principal, LimitedStretch::Fibres([UnitDir2::U, UnitDir2::V])] {
        let element = element(rest, StrainLimit::new(of, 1.05, Positive::ONE).unwrap());
        for f in [[0.0; 6], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, -1.0, 0.0]] {
            let x = placed(&rest, &Mat3x2::from_array(f));
            assert_eq!(element.energy(&x), 0.0);
            assert_eq!(element.gradient(&x), [DVec3::ZERO; 3]);
            assert_eq!(element.longest_step(&x, &x), f64::INFINITY);
        }
    }
}

/// On the bias, fibres that shear like a parallelogram are not stretched.
#[test]
fn fibres_leave_the_bias_free() {
    let f = Mat3x2::new(DVec3::X, DVec3::new(0.5, 0.75f64.sqrt(), 0.0));
    let of = |of| StrainLimit::new(of, 1.05, Positive::ONE).unwrap();
    let fibres = of(LimitedStretch::Fibres([UnitDir2::U, UnitDir2::V]));
    assert!((fibres.stretch(&f) - 1.0).abs() < 1e-15);
    let principal = of(LimitedStretch::Principal).stretch(&f);
    assert!((principal - 1.5f64.sqrt()).abs() < 1e-15);
    assert!((PolarFrame::new(&f).stretches().values[0] - principal).abs() < 1e-15);
}

#[test]
fn limits_that_are_none_are_refused() {
    for limit in [f64::NAN, -1.0, 0.0, 1.0, 1.00001, 101.0, f64::INFINITY] {
        let refused = StrainLimit::new(LimitedStretch::Principal, limit, Positive::ONE);
        assert!(matches!(refused, Err(MaterialError::StretchLimit { .. })), "{limit}");
    }
    let error = StrainLimit::new(LimitedStretch::Principal, 1.0, Positive::ONE).unwrap_err();
    let text = "a largest stretch of 1 is not between 1.0001 and 100; 1.05 lets a sheet grow by 5 %";
    assert_eq!(error.to_string(), text);
}
