//! Triangles that collapse and sheets that fold over: bounded forces, exact derivatives through the
//! fade.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use std::f64::consts::PI;

use glam::DVec3;
use plisse_bending::{
    AngleEnergy, CosineAngle, Director, HingeElement, HingeWeight, KoiterBending, Plate, QuadraticAngle,
    SineAngle,
};
use plisse_core::{
    Angle, Element, Field, HingeFrame, Id, IsotropicSheet, PoissonRatio, Positive, Psd, RestShape, TriMesh,
    generate, symmetric_eigen,
};
use plisse_eigen::TriangleFade;
use plisse_testkit::{check_gradient, check_jacobian, max_abs};
use proptest::prelude::*;

const REACH: f64 = 0.4;
const STIFFNESS: f64 = 1.5;

fn hinge<L: AngleEnergy>(law: L, rest: f64) -> HingeElement<L> {
    let stiffness = Positive::literal(STIFFNESS);
    HingeElement::from_parts([0, 1, 2, 3].map(Id::new), law, stiffness, Angle::new(rest).unwrap())
        .with_reach(Positive::literal(REACH))
}

fn points<const N: usize, const M: usize>(x: &[f64; M]) -> [DVec3; N] {
    std::array::from_fn(|i| DVec3::from_slice(&x[3 * i..]))
}

fn flat<const N: usize, const M: usize>(x: &[DVec3; N]) -> [f64; M] {
    std::array::from_fn(|i| x[i / 3][i % 3])
}

/// Edge along x of the given length, feet and heights as given, the right wing turned up by
/// `theta`.
fn shape(length: f64, feet: [f64; 2], heights: [f64; 2], theta: f64) -> [DVec3; 4] {
    let (sin, cos) = theta.sin_cos();
    [
        DVec3::ZERO,
        DVec3::new(length, 0.0, 0.0),
        DVec3::new(feet[0] * length, heights[0], 0.0),
        DVec3::new(feet[1] * length, -heights[1] * cos, heights[1] * sin),
    ]
}

fn weight(x: &[DVec3; 4]) -> f64 {
    [[0, 1, 2], [1, 0, 3]].map(|t| TriangleFade::new(&t.map(|i| x[i]), REACH).weight()).iter().product()
}

/// Derivatives and projections of a hinge that fades.
fn check_hinge<L: AngleEnergy>(law: L, rest: f64, x: &[DVec3; 4]) -> Result<(), TestCaseError> {
    let element = hinge(law, rest);
    let gradient = |x: &[f64; 12]| flat(&element.gradient(&points(x)));
    prop_assume!(max_abs(&gradient(&flat(x))) > 1e-2);
    check_gradient(|x| element.energy(&points::<4, 12>(x)), gradient, &flat(x), 1e-6);
    let hessian = |x: &[f64; 12]| element.hessian(&points(x), Psd::Exact).to_matrix::<12>();
    check_jacobian(gradient, hessian, &flat(x), 1e-5);
    let exact = element.hessian(x, Psd::Exact);
    for psd in [Psd::Clamp, Psd::Abs] {
        let h = element.hessian(x, psd);
        prop_assert_eq!(h, h.mirrored());
        prop_assert!(symmetric_eigen(&h.to_matrix::<12>()).0[0] >= -1e-12 * h.norm());
        prop_assert!(symmetric_eigen(&(h - exact).to_matrix::<12>()).0[0] >= -1e-11 * h.norm());
        let all = element.evaluate(x, psd);
        prop_assert_eq!((all.energy, all.gradient), element.energy_and_gradient(x));
        prop_assert_eq!((all.energy, all.hessian), (element.energy(x), h));
    }
    Ok(())
}

/// The bound of the documentation, for a law with `|ψ'| ≤ slope` and `|ψ - ψr| ≤ height`.
fn check_bound<L: AngleEnergy>(law: L, rest: f64, slope: f64, height: f64, x: &[DVec3; 4]) {
    let element = hinge(law, rest);
    let bound = STIFFNESS * (2.2 * slope + 4.4 * height) / REACH;
    let force: [f64; 12] = flat(&element.gradient(x));
    let size = force.iter().map(|f| f * f).sum::<f64>().sqrt();
    assert!(size <= bound, "{size:e} N exceeds {bound:e} N at {x:?}");
    assert!(element.energy(x) <= STIFFNESS * (height + 1e-12) + element.energy(&[DVec3::ZERO; 4]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn derivatives_are_exact_where_a_hinge_fades(
        length in 0.2..1.5f64, feet in [-0.3..1.3f64, -0.3..1.3f64], heights in [0.15..0.8f64, 0.15..0.8f64],
        theta in -2.8..2.8f64, rest in -1.0..1.0f64,
    ) {
        let x = shape(length, feet, heights, theta);
        prop_assume!((0.02..0.98).contains(&weight(&x)));
        check_hinge(QuadraticAngle, rest, &x)?;
        check_hinge(SineAngle, rest, &x)?;
        check_hinge(CosineAngle, rest, &x)?;
    }

    #[test]
    fn far_from_a_collapse_nothing_changes(
        length in 0.5..3.0f64, feet in [-0.5..1.5f64, -0.5..1.5f64], heights in [0.3..3.0f64, 0.3..3.0f64],
        theta in -3.1..3.1f64,
    ) {
        let x = shape(length, feet, heights, theta);
        prop_assume!(weight(&x) == 1.0);
        let fading = hinge(QuadraticAngle, 0.3);
        let plain = HingeElement::from_parts(
            fading.nodes(), QuadraticAngle, Positive::literal(STIFFNESS), Angle::new(0.3).unwrap(),
        );
        for psd in Psd::ALL {
            prop_assert_eq!(fading.evaluate(&x, psd), plain.evaluate(&x, psd));
            prop_assert_eq!(fading.hessian(&x, psd), plain.hessian(&x, psd));
        }
        prop_assert_eq!(fading.energy(&x), plain.energy(&x));
        prop_assert_eq!(fading.gradient(&x), plain.gradient(&x));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
    /// Whatever the state: slivers, needles, points, far corners.
    #[test]
    fn forces_are_bounded(
        x in prop::array::uniform12(-1.0..1.0f64), sizes in prop::array::uniform4(-9.0..2.0f64),
        flatten in 0..4usize, depth in -12.0..0.0f64, rest in -1.0..1.0f64,
    ) {
        let mut x: [DVec3; 4] = points(&x);
        for (p, size) in x.iter_mut().zip(sizes) {
            *p *= 10f64.powf(size);
        }
        match flatten {
            // A wing on the line of the edge, a short edge, one corner on another.
            0 => x[2] = x[0].lerp(x[1], x[2].x) + x[2] * 10f64.powf(depth),
            1 => x[1] = x[0] + x[1] * 10f64.powf(depth),
            2 => x[3] = x[2] + x[3] * 10f64.powf(depth),
            _ => {}
        }
        let slope = PI + rest.abs();
        check_bound(QuadraticAngle, rest, slope, 0.5 * slope * slope, &x);
        check_bound(SineAngle, rest, 1.0, 2.0, &x);
        check_bound(CosineAngle, rest, 4.0, 4.0 + 2.0 * slope, &x);
    }
}

/// A wing that passes the line of the edge turns the angle by π: the energy must not jump, nor the
/// force.
#[test]
fn a_wing_passes_the_edge_without_a_jump() {
    let element = hinge(QuadraticAngle, 0.2);
    let at = |z: f64| {
        let mut x = shape(1.0, [0.4, 0.5], [0.8, 0.8], 0.9);
        x[2] = DVec3::new(0.4, z, 0.3 * z);
        x
    };
    let steps = 4000;
    let mut before = element.energy_and_gradient(&at(-0.8));
    for i in 1..=steps {
        let now = element.energy_and_gradient(&at(-0.8 + 1.6 * f64::from(i) / f64::from(steps)));
        assert!((now.0 - before.0).abs() < 0.03, "{i}: {} after {}", now.0, before.0);
        for k in 0..4 {
            assert!((now.1[k] - before.1[k]).length() < 0.5, "{i}: {:?} after {:?}", now.1, before.1);
        }
        before = now;
    }
}

/// Hinges of a rest shape know their heights, and those of a flat sheet their law.
#[test]
fn a_tenth_of_the_height_at_rest() {
    let (mesh, uv) = generate::grid(2, 2, [2.0, 2.0], generate::Diagonal::Right).unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    for h in rest.hinges() {
        // Legs of one metre: heights 1, 1 and √½.
        assert!((h.reach() - 0.05).abs() < 1e-15, "{}", h.reach());
        let element = HingeElement::new(h, QuadraticAngle, Positive::ONE, HingeWeight::Unit);
        let mut x = h.vertices().map(|v| uv[v].extend(0.0));
        let top = x[2] + DVec3::Z;
        for height in [1e-2, 1e-4, 1e-6, 1e-8] {
            let middle = 0.5 * (x[0] + x[1]);
            x[2] = middle + (top - middle) * height;
            let force = element.gradient(&x).map(DVec3::length);
            assert!(max_abs(&force) < (2.2 * PI + 2.2 * PI * PI) / 0.05, "{force:?}");
        }
    }
}

const FACES: [[u32; 3]; 4] = [[0, 1, 2], [2, 1, 3], [0, 2, 4], [1, 0, 5]];

/// The face in the middle of four, curved at rest or not.
fn face(curved: f64) -> (KoiterBending, [DVec3; 6], f64) {
    let corners: [[f64; 2]; 6] = [[0.0, 0.0], [1.0, 0.1], [0.3, 0.9], [1.2, 1.0], [-0.6, 0.7], [0.6, -0.8]];
    let mesh = TriMesh::new(6, &FACES).unwrap();
    let x = Field::from_vec(corners.map(|[u, v]| DVec3::new(u, v, curved * (u * u + 0.5 * v))).to_vec());
    let rest = RestShape::from_positions(&mesh, &x).unwrap();
    let sheet = IsotropicSheet::new(Positive::literal(12.0), PoissonRatio::literal(0.3), Positive::ONE);
    let plate = Plate::of_sheet(&sheet).unwrap();
    let element = KoiterBending::new(&mesh, &rest, Id::new(0), Director::Average, &plate);
    let reach = rest.hinges().iter().map(plisse_core::Hinge::reach).fold(f64::INFINITY, f64::min);
    let x = element.nodes().map(|v| x[v]);
    (element, x, reach)
}

/// The neighbour across edge `j` turned about it by an angle from flat.
fn turned(mut x: [DVec3; 6], j: usize, angle: f64) -> [DVec3; 6] {
    let (a, b) = (x[(j + 1) % 3], x[(j + 2) % 3]);
    let turn = glam::DQuat::from_axis_angle((b - a).normalize(), angle);
    x[3 + j] = a + turn * (x[3 + j] - a);
    x
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn mid_edge_derivatives_near_a_fold(
        noise in prop::collection::vec(-0.1..0.1f64, 18), angle in 2.45..3.8f64, other in -1.0..1.0f64,
        curved in 0.0..0.5f64, squeeze in 0.02..1.0f64,
    ) {
        let (element, x, _) = face(curved);
        let mut x = turned(turned(x, 0, angle), 1, other);
        // The neighbour across edge 2 loses its height.
        let foot = 0.5 * (x[0] + x[1]);
        x[5] = foot + (x[5] - foot) * squeeze;
        for (i, p) in x.iter_mut().enumerate() {
            *p += DVec3::from_slice(&noise[3 * i..]) * squeeze;
        }
        let gradient = |x: &[f64; 18]| flat(&element.gradient(&points(x)));
        let at: [f64; 18] = flat(&x);
        prop_assume!((HingeFrame::new(&[x[1], x[2], x[0], x[3]]).unwrap().theta().abs() - PI).abs() > 0.02);
        check_gradient(|x| element.energy(&points::<6, 18>(x)), gradient, &at, 1e-6);
        let hessian = |x: &[f64; 18]| element.hessian(&points(x), Psd::Exact).to_matrix::<18>();
        check_jacobian(gradient, hessian, &at, 1e-5);
        let exact = element.hessian(&x, Psd::Exact);
        for psd in [Psd::Clamp, Psd::Abs] {
            let h = element.hessian(&x, psd);
            prop_assert!(symmetric_eigen(&h.to_matrix::<18>()).0[0] >= -1e-12 * h.norm());
            prop_assert!(symmetric_eigen(&(h - exact).to_matrix::<18>()).0[0] >= -1e-11 * h.norm());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]
    #[test]
    fn mid_edge_forces_are_bounded(
        x in prop::collection::vec(-1.0..1.0f64, 18), sizes in prop::collection::vec(-9.0..0.5f64, 6),
        curved in 0.0..0.5f64,
    ) {
        let (element, _, reach) = face(curved);
        let x: [DVec3; 6] = std::array::from_fn(|i| DVec3::from_slice(&x[3 * i..]) * 10f64.powf(sizes[i]));
        let longest = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| x[i].distance(x[j])).into_iter().fold(0.0, f64::max);
        // Heights at rest are below one, and so are sines: b̄ ≤ 2. |Q| of this face, from its rest
        // shape.
        let (m, q) = (2.0 * longest + 2.0, 30.0);
        let force: [f64; 18] = flat(&element.gradient(&x));
        let size = force.iter().map(|f| f * f).sum::<f64>().sqrt();
        prop_assert!(size <= 160.0 * q * m * m / reach, "{size:e} at {x:?}");
    }
}

/// Through a full fold, with the other edges bent and with a curved rest shape, where the plain law
/// jumps.
#[test]
fn mid_edge_bending_passes_a_full_fold_without_a_jump() {
    for curved in [0.0, 0.4] {
        let (element, x, _) = face(curved);
        let x = turned(turned(x, 1, 0.8), 2, -0.5);
        let mut before = element.evaluate(&turned(x, 0, 2.0), Psd::Exact);
        let steps = 2000;
        let mut largest: f64 = 0.0;
        for i in 1..=steps {
            let now =
                element.evaluate(&turned(x, 0, 2.0 + 2.5 * f64::from(i) / f64::from(steps)), Psd::Exact);
            largest = largest.max(now.energy);
            assert!(
                (now.energy - before.energy).abs() < 2e-2,
                "{curved} {i}: {} {}",
                now.energy,
                before.energy
            );
            for k in 0..6 {
                assert!((now.gradient[k] - before.gradient[k]).length() < 0.3, "{curved} {i} {k}");
            }
            before = now;
        }
        // The fold itself keeps its energy: it is no hiding place.
        let folded = element.energy(&turned(x, 0, PI));
        assert!(folded > 0.5 * largest, "{folded} of {largest}");
    }
}
