//! A hinge with its damping: the sum of the two, exactly where it must be.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DMat3, DVec3};
use plisse_bending::{
    AngleEnergy, CosineAngle, DampedHinge, HingeElement, HingeFilter, HingeStart, QuadraticAngle,
    TangentAngle,
};
use plisse_core::{
    Angle, Blocks, Element, ElementStep, Field, Id, Past, Positive, Psd, RestShape, StepElement, StepEnergy,
    TriMesh, Vertices, symmetric_eigen,
};
use plisse_damping::{Dissipation, ElasticViscosity, HingeAngle, Viscosity};
use plisse_testkit::{assert_close, check_gradient, check_jacobian, max_abs, rotation};
use proptest::prelude::*;

fn nodes() -> [Id<Vertices>; 4] {
    [0, 1, 2, 3].map(Id::new)
}

fn spring<L: AngleEnergy>(law: L) -> HingeElement<L> {
    HingeElement::from_parts(nodes(), law, Positive::literal(1.7), Angle::new(0.3).unwrap())
}

const BETA: Positive = Positive::literal(0.2);

/// What a damped hinge keeps where nothing moves.
const STILL: HingeStart = DampedHinge::<QuadraticAngle>::STILL.unwrap();

const POLICIES: [Psd; 3] = [Psd::Exact, Psd::Clamp, Psd::Abs];
const FILTERS: [HingeFilter; 4] = [HingeFilter::V1, HingeFilter::V2, HingeFilter::V3, HingeFilter::Numeric];

const SHAPE: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.4, 0.9, 0.3], [0.5, -0.8, 0.2]];

fn points(x: &[f64; 12]) -> [DVec3; 4] {
    std::array::from_fn(|i| DVec3::from_slice(&x[3 * i..]))
}

fn flat(x: &[DVec3; 4]) -> [f64; 12] {
    std::array::from_fn(|i| x[i / 3][i % 3])
}

fn steps(start: [DVec3; 4], v: &[DVec3; 4]) -> [ElementStep<4>; 3] {
    let earlier = std::array::from_fn(|i| start[i] - v[i] * 0.02);
    [
        ElementStep::backward_euler(start, Positive::literal(0.05)),
        ElementStep { start, rate: 30.0, past: Past::Earlier { weight: 1.0 / 3.0, x: earlier } },
        ElementStep { start, rate: 40.0, past: Past::Velocity { time: 0.025, v: *v } },
    ]
}

fn is_semidefinite(h: &Blocks<4>) -> bool {
    let values: [f64; 12] = symmetric_eigen(&h.to_matrix::<12>()).0;
    values.iter().all(|l| *l >= -1e-12 * h.norm())
}

/// Compares with the two elements that it replaces, and derivatives with differences.
fn check<L: AngleEnergy + Copy + 'static>(law: L, x: &[DVec3; 4], v: &[DVec3; 4]) {
    let elastic = spring(law);
    let modulus = move |theta: &[f64; 1]| [[elastic.stiffness_at(theta[0])]];
    let viscosity = ElasticViscosity::new(BETA, modulus);
    let damping = Dissipation::<_, _, 4, 1>::new(nodes(), HingeAngle::default(), viscosity, Positive::ONE);
    let both = DampedHinge::new(elastic, BETA);
    assert_eq!(both.nodes(), nodes());
    // Outside of a step it is the spring, bit by bit.
    for filter in FILTERS {
        let elastic = elastic.with_filter(filter);
        let both = DampedHinge::new(elastic, BETA);
        assert_eq!(both.energies(x, &STILL), StepEnergy::of_storage(elastic.energy(x)));
        assert_eq!(both.gradient(x, &STILL), Element::gradient(&elastic, x));
        for psd in POLICIES {
            assert_eq!(both.hessian(x, &STILL, psd), Element::hessian(&elastic, x, psd));
        }
    }
    let start = std::array::from_fn(|i| x[i] - v[i] * 0.05);
    for step in steps(start, v) {
        let (kept, of_damping) = (both.start(&step), damping.start(&step));
        let energy = |x: &[f64; 12]| both.energies(&points(x), &kept).potential;
        let gradient = |x: &[f64; 12]| flat(&both.gradient(&points(x), &kept));
        let hessian = |x: &[f64; 12]| both.hessian(&points(x), &kept, Psd::Exact);
        let at = flat(x);
        // Where spring and damping balance, which is rare, there is next to no gradient to compare.
        let resists = damping.gradient(x, &of_damping);
        if max_abs(&gradient(&at)) > 1e-2 * max_abs(&flat(&resists)) {
            check_gradient(energy, gradient, &at, 1e-6);
        }
        check_jacobian(gradient, |x| hessian(x).to_matrix::<12>(), &at, 1e-6);
        for psd in POLICIES {
            let h = both.hessian(x, &kept, psd);
            assert_eq!(h, h.mirrored(), "symmetric to the last bit");
        }
        let sum = elastic.energy(x) + damping.energies(x, &of_damping).potential;
        // Squares of differences of angles: where those nearly vanish, what rounding has left of
        // them, not of the energy.
        assert_close("energy", &[energy(&at)], &[sum], 1e-13, 1e-3);
        let stored = Element::gradient(&elastic, x);
        let sum: [DVec3; 4] = std::array::from_fn(|i| stored[i] + resists[i]);
        assert_close("gradient", &gradient(&at), &flat(&sum), 1e-12, max_abs(&flat(&stored)));
        let sum = Element::hessian(&elastic, x, Psd::Exact) + damping.hessian(x, &of_damping, Psd::Exact);
        assert!((hessian(&at) + sum * -1.0).norm() <= 1e-12 * sum.norm().max(1e-12));
        let together = both.energies_and_gradient(x, &kept);
        assert_eq!((together.0, flat(&together.1)), (both.energies(x, &kept), gradient(&at)));
        for psd in [Psd::Clamp, Psd::Abs] {
            let exact = hessian(&at);
            let filtered = FILTERS
                .map(|filter| DampedHinge::new(elastic.with_filter(filter), BETA).hessian(x, &kept, psd));
            assert!(filtered.iter().all(is_semidefinite));
            assert_eq!(filtered[1], both.hessian(x, &kept, psd), "V2 unless asked for another");
            // The numeric filter gives the nearest matrix, for spring and damping together.
            let far = filtered.map(|h| (h + exact * -1.0).norm());
            assert!(psd != Psd::Clamp || far.iter().all(|far_of_one| far[3] <= far_of_one * (1.0 + 1e-9)));
        }
        assert_eq!(together.0.stored, elastic.energy(x));
        let (one, other) = (together.0.dissipated, damping.energies(x, &of_damping).dissipated);
        assert_close("dissipated", &[one], &[other], 1e-12, 1e-3);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn it_is_the_sum(noise in proptest::array::uniform12(-0.25..0.25f64), v in proptest::array::uniform12(-2.0..2.0f64)) {
        let x = std::array::from_fn(|i| DVec3::from(SHAPE[i]) + DVec3::from_slice(&noise[3 * i..]));
        let v = points(&v);
        check(QuadraticAngle, &x, &v);
        check(TangentAngle, &x, &v);
        check(CosineAngle, &x, &v);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Turns within a step leave the spring alone, whatever the scheme remembers.
    #[test]
    fn rigid_motions_are_free(
        noise in proptest::array::uniform12(-0.25..0.25f64), q in rotation(), s in [-3.0..3.0f64, -3.0..3.0, -3.0..3.0],
    ) {
        let both = DampedHinge::new(spring(QuadraticAngle), Positive::literal(3.0));
        let x: [DVec3; 4] = std::array::from_fn(|i| DVec3::from(SHAPE[i]) + DVec3::from_slice(&noise[3 * i..]));
        let q = DMat3::from_cols(q[0].into(), q[1].into(), q[2].into());
        let turned = |m: DMat3| x.map(|x| m * x + DVec3::splat(3.0));
        let v = x.map(|x| DVec3::from(s).cross(x) + DVec3::new(3.0, -1.0, 2.0));
        for (start, past, end) in [
            (x, Past::Start, turned(q)),
            (turned(q), Past::Earlier { weight: 0.33, x }, turned(q * q)),
            (x, Past::Velocity { time: 0.01, v }, turned(q)),
        ] {
            let kept = both.start(&ElementStep { start, rate: 1e3, past });
            let (elastic, all) = (both.gradient(&end, &STILL), both.gradient(&end, &kept));
            for i in 0..4 {
                // 5 N m s times an angle of rounding errors in a millisecond, over heights of half
                // a metre.
                assert!((elastic[i] - all[i]).length() < 1e-10);
            }
            assert!(both.energies(&end, &kept).dissipated.abs() < 1e-20);
        }
    }
}

/// Each filter gives another matrix, of the spring as of the spring with damping.
#[test]
fn damping_keeps_the_filter() {
    let x = SHAPE.map(DVec3::from);
    let mut start = x;
    start[3].z -= 0.1;
    let step = ElementStep::backward_euler(start, Positive::literal(0.05));
    let hessians = FILTERS.map(|filter| {
        let both = DampedHinge::new(spring(QuadraticAngle).with_filter(filter), BETA);
        both.hessian(&x, &both.start(&step), Psd::Clamp)
    });
    for (i, one) in hessians.iter().enumerate() {
        for other in &hessians[..i] {
            assert!((*one + *other * -1.0).norm() > 1e-6 * one.norm(), "{i}");
        }
    }
}

/// No angle, no energy; but what is no number stays none.
#[test]
fn hinges_without_height() {
    let both = DampedHinge::new(spring(QuadraticAngle), Positive::literal(3.0));
    let good = SHAPE.map(DVec3::from);
    let line = [DVec3::ZERO, DVec3::X, DVec3::X * 0.5, -DVec3::Y];
    let step = |start| ElementStep::backward_euler(start, Positive::literal(0.1));
    let kept = both.start(&step(good));
    assert_eq!(both.energies_and_gradient(&line, &kept), (StepEnergy::default(), [DVec3::ZERO; 4]));
    assert_eq!(both.hessian(&line, &kept, Psd::Clamp), Blocks::ZERO);
    // One that had no angle at the start has no rate: the spring alone.
    let undefined = both.start(&step(line));
    assert_eq!(both.gradient(&good, &undefined), both.gradient(&good, &STILL));
    assert_eq!(both.energies(&good, &undefined), both.energies(&good, &STILL));
    let mut bad = good;
    bad[2].y = f64::NAN;
    assert!(both.energies(&bad, &kept).potential.is_nan());
    assert!(both.gradient(&bad, &kept)[0].is_nan());
}

/// Whatever the numbers, if they are finite, so are the answers.
#[test]
fn extreme_numbers() {
    let shape = SHAPE.map(DVec3::from);
    for (beta, size, speed) in [
        (1e60, 1.0, 1e80),
        (1e-60, 1e-29, 1e200),
        (1e60, 1e29, 1e300),
        (1e60, 1e-29, 1.0),
        (1.0, 1e-9, 1e300),
    ] {
        let both = DampedHinge::new(spring(TangentAngle), Positive::literal(beta));
        let x = shape.map(|x| x * size);
        let v = [DVec3::X, DVec3::Z, -DVec3::Y, DVec3::ONE].map(|v| v * speed);
        for past in [
            Past::Start,
            // Sums of products that cancel.
            Past::Velocity { time: 0.01, v: [DVec3::splat(speed); 4] },
            Past::Earlier { weight: 1.0 / 3.0, x: v.map(|v| v / speed * size) },
            Past::Velocity { time: 0.01, v },
        ] {
            let start = [x[0], x[1], x[2], x[3] + DVec3::Z * size];
            let kept = both.start(&ElementStep { start, rate: 1e3, past });
            let energies = both.energies(&x, &kept);
            assert!(energies.potential.is_finite() && energies.dissipated.is_finite(), "{energies:?}");
            assert!(both.gradient(&x, &kept).iter().all(|g| g.is_finite()));
            for psd in POLICIES {
                assert!(both.hessian(&x, &kept, psd).norm().is_finite(), "{beta} {size} {speed}");
            }
        }
    }
    // But what is no number is not taken for one.
    let both = DampedHinge::new(spring(QuadraticAngle), BETA);
    let bad = shape.map(|x| x * f64::NAN);
    let kept =
        both.start(&ElementStep { start: shape, rate: 1.0, past: Past::Velocity { time: 0.1, v: bad } });
    assert!(both.energies(&shape, &kept).potential.is_nan());
}

/// Where a triangle collapses, spring and dashpot fade together, exactly and without a jump.
fn check_fading(x: &[DVec3; 4], start: [DVec3; 4], v: &[DVec3; 4]) -> Result<(), TestCaseError> {
    let reach = Positive::literal(0.4);
    let elastic = spring(QuadraticAngle).with_reach(reach);
    let both = DampedHinge::new(elastic, BETA);
    for step in steps(start, v) {
        let kept = both.start(&step);
        let at = flat(x);
        let energy = |x: &[f64; 12]| both.energies(&points(x), &kept).potential;
        let gradient = |x: &[f64; 12]| flat(&both.gradient(&points(x), &kept));
        let hessian = |x: &[f64; 12]| both.hessian(&points(x), &kept, Psd::Exact);
        prop_assume!(max_abs(&gradient(&at)) > 1e-2);
        check_gradient(energy, gradient, &at, 1e-6);
        check_jacobian(gradient, |x| hessian(x).to_matrix::<12>(), &at, 1e-5);
        for psd in [Psd::Clamp, Psd::Abs] {
            prop_assert!(is_semidefinite(&both.hessian(x, &kept, psd)));
        }
        prop_assert_eq!(both.energies(x, &kept).stored, elastic.energy(x));
        prop_assert!(both.energies(x, &kept).potential - elastic.energy(x) >= -1e-12);
        // At most what a plain dashpot of the same hinge resists.
        let plain = DampedHinge::new(spring(QuadraticAngle), BETA);
        let resists = |of: StepEnergy| of.potential - of.stored;
        let full = resists(plain.energies(x, &plain.start(&step)));
        prop_assert!(resists(both.energies(x, &kept)) <= full * (1.0 + 1e-12));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn it_fades_where_a_triangle_collapses(
        noise in proptest::array::uniform12(-0.05..0.05f64), v in proptest::array::uniform12(-2.0..2.0f64), height in 0.1..0.6f64,
    ) {
        let start: [DVec3; 4] = std::array::from_fn(|i| DVec3::from(SHAPE[i]) + DVec3::from_slice(&noise[3 * i..]));
        let mut end = start;
        end[2] = DVec3::new(0.4, 0.0, 0.0).lerp(start[2], height) + DVec3::new(0.03, 0.02, 0.1) * height;
        check_fading(&end, start, &points(&v))?;
        check_fading(&start, end, &points(&v))?;
    }
}

/// Hinges whose triangles come out of a collapse, or go into one, do not resist without bound.
#[test]
fn forces_are_bounded() {
    let good = SHAPE.map(DVec3::from);
    let v = [DVec3::ZERO, DVec3::ZERO, DVec3::new(0.3, 2.0, -1.0), DVec3::Y];
    let elastic = spring(QuadraticAngle).with_reach(Positive::literal(0.05));
    let both = DampedHinge::new(elastic, BETA);
    let dashpot = {
        let (mesh, rest) = one_hinge();
        assert_eq!(mesh.vertex_count(), 4);
        let viscosity = Viscosity::per_component([1.5]).unwrap();
        Dissipation::<_, _, 4, 1>::new(nodes(), HingeAngle::of(&rest.hinges()[0]), viscosity, Positive::ONE)
    };
    for height in [1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10] {
        let mut thin = good;
        thin[2] = DVec3::new(0.4, height, 0.3 * height);
        for (start, end) in [(good, thin), (thin, good), (thin, thin)] {
            for step in steps(start, &v) {
                let forces = both.gradient(&end, &both.start(&step)).map(DVec3::length);
                // Rates of 40/s times angles of 2π, over a reach of 0.05 m.
                assert!(max_abs(&forces) < 1e5, "{height} {forces:?}");
                let forces = dashpot.gradient(&end, &dashpot.start(&step)).map(DVec3::length);
                assert!(max_abs(&forces) < 1e5, "{height} {forces:?}");
            }
        }
        let speed = dashpot.force(&thin, &v).map(DVec3::length);
        assert!(max_abs(&speed) < 1e4, "{height} {speed:?}");
    }
}

fn one_hinge() -> (TriMesh, RestShape) {
    let mesh = TriMesh::new(4, &[[0, 1, 2], [1, 0, 3]]).unwrap();
    let rest = RestShape::from_positions(&mesh, &Field::from_vec(SHAPE.map(DVec3::from).to_vec())).unwrap();
    (mesh, rest)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// A dashpot alone, of the angle of a hinge of a rest shape.
    #[test]
    fn a_dashpot_fades_exactly(noise in proptest::array::uniform12(-0.01..0.01f64), height in 0.04..0.12f64) {
        let (_, rest) = one_hinge();
        let viscosity = Viscosity::per_component([1.5]).unwrap();
        let angle = HingeAngle::of(&rest.hinges()[0]);
        let dashpot = Dissipation::<_, _, 4, 1>::new(nodes(), angle, viscosity, Positive::ONE);
        let start: [DVec3; 4] = std::array::from_fn(|i| DVec3::from(SHAPE[i]) + DVec3::from_slice(&noise[3 * i..]));
        let mut end = start;
        end[2] = DVec3::new(0.4, 0.0, 0.0).lerp(start[2], height) + DVec3::new(0.0, 0.2, -0.3) * height;
        let kept = dashpot.start(&ElementStep::backward_euler(start, Positive::literal(0.05)));
        let at = flat(&end);
        let gradient = |x: &[f64; 12]| flat(&dashpot.gradient(&points(x), &kept));
        prop_assume!(max_abs(&gradient(&at)) > 1e-2);
        check_gradient(|x| dashpot.energies(&points(x), &kept).potential, gradient, &at, 1e-5);
        check_jacobian(gradient, |x| dashpot.hessian(&points(x), &kept, Psd::Exact).to_matrix::<12>(), &at, 1e-4);
        prop_assert!(is_semidefinite(&dashpot.hessian(&end, &kept, Psd::Clamp)));
    }
}
