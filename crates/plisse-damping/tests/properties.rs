//! Every strain with every kind of potential: good damping, derivatives, projections, finiteness.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DMat3, DVec2, DVec3};
use plisse_bending::RodStretch;
use plisse_core::{
    Blocks, ElementStep, HingeFrame, Id, Past, Positive, Psd, StepElement, TriangleMap, UnitDir2, Vertices,
    symmetric_eigen,
};
use plisse_damping::{
    Dissipation, EdgeStretch, ElasticViscosity, FibreStrain, GreenStrain, HingeAngle, JointViscosity,
    OnTriangle, PlaneStrain, PositionJacobian, Potential, RateDependent, RateLaw, RayleighElement,
    RayleighStiffness, RodJoint, Strain, StretchTensor, Viscosity,
};
use plisse_testkit::{assert_close, check_gradient, check_jacobian, max_abs, rotation};
use proptest::prelude::*;

fn nodes<const V: usize>() -> [Id<Vertices>; V] {
    std::array::from_fn(|i| Id::new(i as u32))
}

fn points<const V: usize>(x: &[f64]) -> [DVec3; V] {
    std::array::from_fn(|i| DVec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]))
}

fn flat<const V: usize, const N: usize>(x: &[DVec3; V]) -> [f64; N] {
    std::array::from_fn(|i| x[i / 3][i % 3])
}

fn matrix(columns: [[f64; 3]; 3]) -> DMat3 {
    DMat3::from_cols(columns[0].into(), columns[1].into(), columns[2].into())
}

fn map() -> TriangleMap {
    TriangleMap::new([DVec2::ZERO, DVec2::new(1.1, 0.1), DVec2::new(0.2, 0.9)]).unwrap()
}

fn plane<S: PlaneStrain, P: Potential<3>>(strain: S, potential: P) -> Dissipation<OnTriangle<S>, P, 3, 3> {
    Dissipation::new(nodes(), OnTriangle::new(map(), strain), potential, Positive::new(map().area()).unwrap())
}

fn oblique() -> [UnitDir2; 2] {
    [UnitDir2::new(1.0, 0.2).unwrap(), UnitDir2::new(0.3, 1.0).unwrap()]
}

fn softening(e: &[f64; 3]) -> [[f64; 3]; 3] {
    // Indefinite for some strains: the negative part must not act.
    let a = 2.0 + e[0];
    [[a, 0.5, 0.1], [0.5, 1.5 - e[1], 0.0], [0.1, 0.0, e[2]]]
}

fn law(rate: f64, exponent: f64) -> RateLaw {
    RateLaw::new(Positive::new(rate).unwrap(), exponent).unwrap()
}

/// A law as a user would write it: every component by itself, `c r² log cosh(ε̇/r)`. Its stress
/// ends at `c r`.
#[derive(Clone, Copy)]
struct LogCosh {
    viscosity: f64,
    rate: f64,
}

impl<const K: usize> Potential<K> for LogCosh {
    fn value(&self, _: &[f64; K], rate: &[f64; K]) -> f64 {
        // log cosh x = |x| + log((1 + exp(-2|x|))/2), for any x.
        let one = |x: f64| x.abs() + (-2.0 * x.abs()).exp().ln_1p() - std::f64::consts::LN_2;
        rate.iter().map(|v| self.viscosity * self.rate.powi(2) * one(v / self.rate)).sum()
    }
    fn stress(&self, _: &[f64; K], rate: &[f64; K]) -> [f64; K] {
        rate.map(|v| self.viscosity * self.rate * (v / self.rate).tanh())
    }
    fn tangent(&self, _: &[f64; K], rate: &[f64; K]) -> [[f64; K]; K] {
        let slope = |v: f64| self.viscosity * (1.0 - (v / self.rate).tanh().powi(2));
        std::array::from_fn(|i| std::array::from_fn(|j| if i == j { slope(rate[i]) } else { 0.0 }))
    }
}

/// Stretch and shear that depend on each other.
fn coupled() -> Viscosity<3> {
    let modulus = [[3.0, 0.0, 0.0], [0.7, 2.0, 0.0], [0.4, -0.3, 1.0]];
    Viscosity::of_elasticity(Positive::ONE, &modulus).unwrap()
}

/// Positions of `V` nodes around a shape, of about unit size.
fn around<const V: usize>(shape: [[f64; 3]; V]) -> impl Strategy<Value = [DVec3; V]> {
    (proptest::collection::vec(-0.25..0.25f64, 3 * V), rotation()).prop_map(move |(noise, q)| {
        let q = matrix(q);
        std::array::from_fn(|i| {
            q * (DVec3::from(shape[i]) + DVec3::new(noise[3 * i], noise[3 * i + 1], noise[3 * i + 2]))
        })
    })
}

fn any_velocity<const V: usize>() -> impl Strategy<Value = [DVec3; V]> {
    proptest::collection::vec(-2.0..2.0f64, 3 * V).prop_map(|v| points(&v))
}

const TRIANGLE: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [1.1, 0.1, 0.0], [0.2, 0.9, 0.0]];
const HINGE: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.4, 0.9, 0.3], [0.5, -0.8, 0.2]];
const JOINT: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]];
const EDGE: [[f64; 3]; 2] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]];

/// `a` is the largest size that a zero may have beside it.
fn size<const V: usize>(h: &Blocks<V>) -> f64 {
    h.norm().max(1e-300)
}

fn eigenvalues<const V: usize, const N: usize>(h: &Blocks<V>) -> [f64; N] {
    symmetric_eigen(&h.to_matrix::<N>()).0
}

/// No force on rigid motions: of velocities, and over finite steps. Strain rates of speeds below 20
/// m/s are sums that vanish but for their rounding, a few times 1e-16 of the terms: 1e-13 with the
/// sums of the force. Energies are squares of that.
fn rigid<S: Strain<V, K>, P: Potential<K>, const V: usize, const K: usize>(
    damping: &Dissipation<S, P, V, K>,
    x: &[DVec3; V],
    q: DMat3,
    spin: DVec3,
) {
    let v = x.map(|x| spin.cross(x) + DVec3::new(3.0, -1.0, 2.0));
    let scale = size(&damping.velocity_jacobian(x, &v)) * 10.0;
    let force = damping.force(x, &v);
    assert!(force.iter().all(|f| f.length() <= 1e-13 * scale), "{force:?} of {scale:e}");
    assert!(damping.power(x, &v).abs() <= 1e-13 * scale);
    // A finite turn within one step, and two in a row for BDF2.
    let turned = |m: DMat3| x.map(|x| m * x + DVec3::new(1.0, 0.5, -2.0));
    let (start, end) = (*x, turned(q));
    let steps = [
        ElementStep { start, rate: 100.0, past: Past::Start },
        ElementStep { start: end, rate: 100.0, past: Past::Earlier { weight: 0.33, x: start } },
        ElementStep { start, rate: 100.0, past: Past::Velocity { time: 0.01, v } },
    ];
    for (step, end) in steps.iter().zip([end, turned(q * q), end]) {
        let step = &damping.start(step);
        let gradient = damping.gradient(&end, step);
        let scale = 100.0 * scale;
        assert!(gradient.iter().all(|f| f.length() <= 1e-13 * scale), "{gradient:?} of {scale:e}");
        assert!(damping.energies(&end, step).potential <= 1e-20 * scale);
        assert!(damping.energies(&end, step).dissipated.abs() <= 1e-20 * scale);
    }
}

/// Power is never positive, is that of the force (the same sums in another order: 1e-12), and the
/// force is in the span of the strain's gradient.
fn good<S: Strain<V, K>, P: Potential<K>, const V: usize, const K: usize>(
    damping: &Dissipation<S, P, V, K>,
    x: &[DVec3; V],
    v: &[DVec3; V],
) {
    let force = damping.force(x, v);
    let power = damping.power(x, v);
    let work: f64 = force.iter().zip(v).map(|(f, v)| f.dot(*v)).sum();
    let terms: f64 = force.iter().zip(v).map(|(f, v)| f.length() * v.length()).sum();
    assert!(power < 0.0 && (work - power).abs() <= 1e-12 * terms, "{work} {power}");
    assert!(damping.potential(x, v) > 0.0);
    // Gram-Schmidt over the rows of the gradient.
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut rest: Vec<f64> = force.iter().flat_map(DVec3::to_array).collect();
    let whole = dot(&rest, &rest).sqrt();
    for row in damping.strain().gradient(&damping.strain().frame(x).unwrap()) {
        let mut row: Vec<f64> = row.iter().flat_map(DVec3::to_array).collect();
        let length = dot(&row, &row).sqrt();
        for _ in 0..2 {
            for b in &basis {
                let along = dot(&row, b);
                row.iter_mut().zip(b).for_each(|(r, b)| *r -= along * b);
            }
        }
        let left = dot(&row, &row).sqrt();
        if left > 1e-10 * length {
            basis.push(row.iter().map(|r| r / left).collect());
        }
    }
    assert!(basis.len() < 3 * V, "a span of everything proves nothing");
    for b in &basis {
        let along = dot(&rest, b);
        rest.iter_mut().zip(b).for_each(|(r, b)| *r -= along * b);
    }
    assert!(dot(&rest, &rest).sqrt() <= 1e-10 * whole, "{rest:?} of {whole}");
}

/// The three kinds of steps from `start`.
fn steps<const V: usize>(start: [DVec3; V], v: &[DVec3; V]) -> [ElementStep<V>; 3] {
    let earlier = std::array::from_fn(|i| start[i] - v[i] * 0.02);
    [
        ElementStep::backward_euler(start, Positive::literal(0.05)),
        ElementStep { start, rate: 30.0, past: Past::Earlier { weight: 1.0 / 3.0, x: earlier } },
        ElementStep { start, rate: 40.0, past: Past::Velocity { time: 0.025, v: *v } },
    ]
}

/// The increment form is a potential with exact and exactly symmetric derivatives; projected it is
/// positive semidefinite and not below, but for the rounding of eigenvalues. Differences have seven
/// digits of a gradient, six of a Hessian.
fn increment<S: Strain<V, K>, P: Potential<K>, const V: usize, const K: usize, const N: usize>(
    damping: &Dissipation<S, P, V, K>,
    x: &[DVec3; V],
    v: &[DVec3; V],
) {
    let start = std::array::from_fn(|i| x[i] - v[i] * 0.05);
    for step in steps(start, v) {
        let step = damping.start(&step);
        let energy = |x: &[f64; N]| damping.energies(&points(x), &step).potential;
        let gradient = |x: &[f64; N]| flat(&damping.gradient(&points(x), &step));
        let hessian = |x: &[f64; N]| damping.hessian(&points(x), &step, Psd::Exact).to_matrix::<N>();
        let x = flat(x);
        check_gradient(energy, gradient, &x, 1e-7);
        check_jacobian(gradient, hessian, &x, 1e-6);
        let exact = hessian(&x);
        for i in 0..N {
            for j in 0..N {
                assert_eq!(exact[i][j], exact[j][i]);
            }
        }
        let (e, g) = damping.energies_and_gradient(&points(&x), &step);
        assert_eq!((e, flat::<V, N>(&g)), (damping.energies(&points(&x), &step), gradient(&x)));
        assert_eq!((e.potential, e.stored), (energy(&x), 0.0));
        let start = damping.start(&ElementStep::backward_euler(start, Positive::literal(0.05)));
        let energies = damping.energies(&points(&x), &start);
        assert!(energies.dissipated >= energies.potential);
        let exact = damping.hessian(&points(&x), &step, Psd::Exact);
        let clamped = damping.hessian(&points(&x), &step, Psd::Clamp);
        let small = 1e-11 * size(&clamped).max(size(&exact));
        assert!(eigenvalues::<V, N>(&clamped).iter().all(|l| *l >= -small));
        assert!(eigenvalues::<V, N>(&(clamped + exact * -1.0)).iter().all(|l| *l >= -small));
    }
}

/// The derivatives of the force by velocities and positions; the parts that are kept are negative
/// semidefinite.
fn jacobians<S: Strain<V, K>, P: Potential<K>, const V: usize, const K: usize, const N: usize>(
    damping: &Dissipation<S, P, V, K>,
    x: &[DVec3; V],
    v: &[DVec3; V],
    positions: bool,
) {
    check_jacobian(
        |v: &[f64; N]| flat(&damping.force(x, &points(v))),
        |v| damping.velocity_jacobian(x, &points(v)).to_matrix::<N>(),
        &flat(v),
        1e-7,
    );
    let by_velocity = damping.velocity_jacobian(x, v);
    let clamped = damping.position_jacobian(x, v, PositionJacobian::ClampedStress);
    for jacobian in [&by_velocity, &clamped] {
        let values = eigenvalues::<V, N>(jacobian);
        assert!(values.iter().all(|l| *l <= 1e-12 * size(jacobian)), "{values:?}");
    }
    if positions {
        // Not symmetric, so by hand.
        let full = damping.position_jacobian(x, v, PositionJacobian::Full).to_matrix::<N>();
        assert!(max_abs(full.as_flattened()) > 0.0);
        for j in 0..N {
            let (mut plus, mut minus): ([f64; N], [f64; N]) = (flat(x), flat(x));
            plus[j] += 1e-5;
            minus[j] -= 1e-5;
            let [a, b]: [[f64; N]; 2] = [plus, minus].map(|x| flat(&damping.force(&points(&x), v)));
            let difference: Vec<f64> = (0..N).map(|i| (a[i] - b[i]) / (plus[j] - minus[j])).collect();
            let column: Vec<f64> = (0..N).map(|i| full[i][j]).collect();
            assert_close("force by position", &column, &difference, 2e-6, max_abs(full.as_flattened()));
        }
    }
}

/// The velocity form: same force at the end of the step, and the Hessian that SO18 keeps.
fn velocity_form<S: Strain<V, K> + Copy, P: Potential<K> + Copy, const V: usize, const K: usize>(
    damping: &Dissipation<S, P, V, K>,
    x: &[DVec3; V],
    v: &[DVec3; V],
) {
    let start = std::array::from_fn(|i| x[i] - v[i] * 0.05);
    let step = ElementStep::backward_euler(start, Positive::literal(0.05));
    let other = damping.in_velocity_form(PositionJacobian::Symmetric);
    let force = damping.force(x, &step.velocity(x));
    assert_eq!(other.gradient(x, &step), force.map(|f| -f));
    // All of the way is made at the velocity of backward Euler.
    let lost = -damping.power(x, &step.velocity(x)) * 0.05;
    let terms: f64 = force.iter().zip(v).map(|(f, v)| f.length() * v.length() * 0.05).sum();
    assert!((other.energies(x, &step).dissipated - lost).abs() <= 1e-12 * terms);
    let expected = damping.velocity_jacobian(x, &step.velocity(x)) * -20.0
        + damping.position_jacobian(x, &step.velocity(x), PositionJacobian::Symmetric) * -1.0;
    let found = other.hessian(x, &step, Psd::Exact);
    assert!((found + expected * -1.0).norm() <= 1e-13 * expected.norm());
}

/// Nothing but numbers from numbers.
fn finite<S: Strain<V, K>, P: Potential<K>, const V: usize, const K: usize>(
    damping: &Dissipation<S, P, V, K>,
    x: &[DVec3; V],
    v: &[DVec3; V],
) {
    for past in [Past::Start, Past::Earlier { weight: 0.3, x: *v }, Past::Velocity { time: 0.01, v: *v }] {
        let step = damping.start(&ElementStep { start: *v, rate: 100.0, past });
        assert!(damping.energies(x, &step).dissipated.is_finite());
        assert!(damping.energies(x, &step).potential.is_finite());
        assert!(damping.gradient(x, &step).iter().all(|g| g.is_finite()));
        for psd in [Psd::Exact, Psd::Clamp, Psd::Abs] {
            assert!(damping.hessian(x, &step, psd).is_finite(), "{x:?} {v:?} {psd:?}");
        }
    }
    // Products with the gradient that would be infinite, and cancel.
    for v in [*v, [DVec3::splat(1e300); V]] {
        assert!(damping.force(x, &v).iter().all(|f| f.is_finite()) && damping.power(x, &v).is_finite());
    }
}

fn extreme<const V: usize>() -> impl Strategy<Value = [DVec3; V]> {
    let number = prop_oneof![
        3 => Just(0.0),
        3 => -1.0..1.0f64,
        1 => (-20.0..20.0f64, any::<bool>()).prop_map(|(e, s)| 10f64.powf(e) * if s { 1.0 } else { -1.0 }),
    ];
    proptest::collection::vec(number, 3 * V).prop_map(|x| points(&x))
}

macro_rules! family {
    ($name:ident, $v:literal, $n:literal, $shape:expr, $damping:expr, positions = $positions:literal) => {
        mod $name {
            use super::*;
            proptest! {
                #![proptest_config(ProptestConfig::with_cases(64))]
                #[test]
                fn rigid_motions_are_free(
                    x in around($shape), q in rotation(), s in [-3.0..3.0f64, -3.0..3.0, -3.0..3.0],
                ) {
                    rigid(&$damping, &x, matrix(q), DVec3::from(s));
                }
                #[test]
                fn it_only_takes(x in around($shape), v in any_velocity::<$v>()) {
                    good(&$damping, &x, &v);
                }
                #[test]
                fn increments_are_a_potential(x in around($shape), v in any_velocity::<$v>()) {
                    increment::<_, _, $v, _, $n>(&$damping, &x, &v);
                }
                #[test]
                fn forces_have_their_jacobians(x in around($shape), v in any_velocity::<$v>()) {
                    jacobians::<_, _, $v, _, $n>(&$damping, &x, &v, $positions);
                    velocity_form(&$damping, &x, &v);
                }
                #[test]
                fn numbers_stay_numbers(x in extreme::<$v>(), v in extreme::<$v>()) {
                    finite(&$damping, &x, &v);
                }
            }
        }
    };
}

// Potentials that depend on the strain at the start count as constant in the derivative by
// positions.
family!(
    green,
    3,
    9,
    TRIANGLE,
    plane(GreenStrain::default(), Viscosity::isotropic(3.0, 2.0).unwrap()),
    positions = true
);
family!(
    green_oblique,
    3,
    9,
    TRIANGLE,
    plane(GreenStrain::along(oblique()), Viscosity::per_component([2.0, 0.5, 1.0]).unwrap()),
    positions = true
);
family!(
    green_thinning,
    3,
    9,
    TRIANGLE,
    plane(GreenStrain::default(), RateDependent::new(Viscosity::isotropic(1.5, 2.0).unwrap(), law(0.7, 1.3))),
    positions = true
);
family!(
    green_thickening,
    3,
    9,
    TRIANGLE,
    plane(
        GreenStrain::default(),
        RateDependent::new(Viscosity::per_component([0.1; 3]).unwrap(), law(3.0, 3.5))
    ),
    positions = true
);
family!(
    fibres_with_dry_friction,
    3,
    9,
    TRIANGLE,
    plane(FibreStrain::default(), RateDependent::new(coupled(), law(0.5, 1.0))),
    positions = true
);
family!(
    elastic_thinning,
    3,
    9,
    TRIANGLE,
    plane(
        StretchTensor,
        RateDependent::new(ElasticViscosity::new(Positive::new(0.1).unwrap(), softening), law(0.5, 1.5))
    ),
    positions = false
);
family!(
    law_of_a_user,
    3,
    9,
    TRIANGLE,
    plane(GreenStrain::default(), LogCosh { viscosity: 2.0, rate: 0.8 }),
    positions = true
);
family!(
    green_elastic,
    3,
    9,
    TRIANGLE,
    plane(GreenStrain::default(), ElasticViscosity::new(Positive::new(0.1).unwrap(), softening)),
    positions = false
);
family!(
    fibres,
    3,
    9,
    TRIANGLE,
    plane(FibreStrain::default(), Viscosity::per_component([2.0, 3.0, 4.0]).unwrap()),
    positions = true
);
family!(fibres_coupled, 3, 9, TRIANGLE, plane(FibreStrain::default(), coupled()), positions = true);
family!(
    fibres_oblique,
    3,
    9,
    TRIANGLE,
    plane(FibreStrain::along(oblique()), Viscosity::per_component([2.0, 3.0, 4.0]).unwrap()),
    positions = true
);
family!(
    stretch_tensor,
    3,
    9,
    TRIANGLE,
    plane(StretchTensor, Viscosity::isotropic(3.0, 2.0).unwrap()),
    positions = true
);
family!(
    hinge,
    4,
    12,
    HINGE,
    Dissipation::new(nodes(), HingeAngle::default(), Viscosity::per_component([1.5]).unwrap(), Positive::ONE),
    positions = true
);
family!(
    joint,
    3,
    9,
    JOINT,
    Dissipation::new(nodes(), RodJoint, JointViscosity::new(Positive::new(1.5).unwrap()), Positive::ONE),
    positions = true
);
family!(
    edge,
    2,
    6,
    EDGE,
    Dissipation::new(
        nodes(),
        EdgeStretch::new(Positive::new(0.8).unwrap()),
        Viscosity::per_component([2.5]).unwrap(),
        Positive::new(0.8).unwrap()
    ),
    positions = true
);

fn joint() -> Dissipation<RodJoint, JointViscosity, 3, 4> {
    Dissipation::new(nodes(), RodJoint, JointViscosity::new(Positive::new(1.5).unwrap()), Positive::ONE)
}

/// A joint of unit segments with an angle.
fn bent(theta: f64) -> [DVec3; 3] {
    [DVec3::ZERO, DVec3::X, DVec3::X + DVec3::new(theta.cos(), theta.sin(), 0.0)]
}

/// Straight and nearly straight rods: the vector takes over, smoothly, and damps bending in every
/// direction.
#[test]
fn straight_joints() {
    let damping = joint();
    let kick = [DVec3::ZERO, DVec3::ZERO, DVec3::new(0.0, 0.3, 0.4)];
    // 2 tan(θ/2) n has the rate of the angle when straight: |v|/l.
    assert!((damping.power(&bent(0.0), &kick) + 1.5 * 0.25).abs() < 1e-14);
    for theta in [0.0, 0.02, 0.049, 0.08, 0.1, 0.14] {
        let x = bent(theta);
        let start: [DVec3; 3] = std::array::from_fn(|i| x[i] - kick[i] * 0.01);
        let step = damping.start(&ElementStep::backward_euler(start, Positive::literal(0.01)));
        let (at, gradient) = (flat::<3, 9>(&x), |x: &[f64; 9]| flat(&damping.gradient(&points(x), &step)));
        check_gradient(|x: &[f64; 9]| damping.energies(&points(x), &step).potential, gradient, &at, 1e-6);
        check_jacobian(
            gradient,
            |x: &[f64; 9]| damping.hessian(&points(x), &step, Psd::Exact).to_matrix::<9>(),
            &at,
            1e-5,
        );
    }
    // In the plane the rates of angle and vector differ by 1/cos²(θ/2): the blend is within 0.6 %.
    let in_plane = |theta: f64| {
        damping
            .power(&bent(theta), &[DVec3::ZERO, DVec3::ZERO, { DVec3::new(-theta.sin(), theta.cos(), 0.0) }])
    };
    for k in 0..40 {
        let power = in_plane(0.005 * f64::from(k));
        assert!((power / -1.5 - 1.0).abs() < 0.006, "{k}: {power}");
    }
}

/// Joints within the blend of angle and vector.
fn slightly_bent() -> impl Strategy<Value = [DVec3; 3]> {
    (0.03..0.14f64, [0.6..1.4f64, 0.6..1.4], rotation()).prop_map(|(theta, [a, b], q)| {
        let [x0, x1, x2] = bent(theta);
        [x0, (x1 - x0) * a, (x1 - x0) * a + (x2 - x1) * b].map(|x| matrix(q) * x)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// All that holds for bent joints but the freedom of rigid turns, with slow motions that stay
    /// in the blend.
    #[test]
    fn joints_in_the_blend(x in slightly_bent(), v in proptest::array::uniform9(-0.25..0.25f64)) {
        let v = points(&v);
        good(&joint(), &x, &v);
        increment::<_, _, 3, _, 9>(&joint(), &x, &v);
        jacobians::<_, _, 3, _, 9>(&joint(), &x, &v, false);
        velocity_form(&joint(), &x, &v);
    }
}

/// Turning about an axis in the plane of a joint is free when straight and from the end of the
/// blend on; in between it costs what the vector says.
#[test]
fn joints_turn_freely_once_they_are_bent() {
    let narrow = Dissipation::new(
        nodes(),
        RodJoint,
        JointViscosity::new(Positive::new(1.5).unwrap()).with_blend(0.002, 0.006).unwrap(),
        Positive::ONE,
    );
    for (theta, damping, begin, end) in [
        (0.0, joint(), 0.05, 0.15),
        (0.03, joint(), 0.05, 0.15),
        (0.08, joint(), 0.05, 0.15),
        (0.12, joint(), 0.05, 0.15),
        (0.1501, joint(), 0.05, 0.15),
        (1.0, joint(), 0.05, 0.15),
        (0.003, narrow, 0.002, 0.006),
        (0.03, narrow, 0.002, 0.006),
    ] {
        let x = bent(theta);
        let t = ((theta - begin) / (end - begin)).clamp(0.0, 1.0);
        let share = 1.0 - t * t * (3.0 - 2.0 * t);
        for axis in [DVec3::X, DVec3::Y] {
            let power = damping.power(&x, &x.map(|x| axis.cross(x)));
            let expected = -1.5 * share * (2.0 * (0.5 * theta).tan()).powi(2);
            assert!(
                (power - expected).abs() <= 1e-13 * (1.0 + expected.abs()),
                "{theta}: {power} {expected}"
            );
        }
        // About the normal of its plane it turns freely at every angle.
        assert!(damping.power(&x, &x.map(|x| DVec3::Z.cross(x))).abs() < 1e-28);
    }
    let viscosity = JointViscosity::new(Positive::ONE);
    for (straight, end) in [(0.1, 0.1), (-0.1, 0.2), (0.1, 4.0), (f64::NAN, 1.0)] {
        assert!(viscosity.with_blend(straight, end).is_err());
    }
}

/// Rayleigh damping with the stiffness at the start: a quadratic potential. The stiffness of a
/// stretched edge resists turning.
#[test]
fn rayleigh_at_the_start_is_a_potential() {
    let spring = RodStretch::new(nodes(), Positive::new(0.8).unwrap(), Positive::new(3.0).unwrap());
    let damping = RayleighElement::new(spring, Positive::new(0.4).unwrap());
    assert!(damping.has_potential());
    assert!(!damping.with_stiffness(RayleighStiffness::AtEnd).has_potential());
    let (start, v) = ([DVec3::ZERO, DVec3::new(1.0, 0.2, 0.1)], [DVec3::Y, DVec3::new(0.3, -0.2, 0.9)]);
    for step in steps(start, &v) {
        let x: [f64; 6] = flat(&[DVec3::new(0.1, 0.2, 0.3), DVec3::new(1.1, -0.2, 0.4)]);
        let gradient = |x: &[f64; 6]| flat(&damping.gradient(&points(x), &step));
        check_gradient(|x: &[f64; 6]| damping.energies(&points(x), &step).potential, gradient, &x, 1e-7);
        check_jacobian(
            gradient,
            |x| damping.hessian(&points(x), &step, Psd::Exact).to_matrix::<6>(),
            &x,
            1e-7,
        );
    }
    let turned = [start[0], DVec3::new(1.0, 0.3, 0.1)];
    let step = ElementStep::backward_euler(start, Positive::literal(0.1));
    assert!(damping.gradient(&turned, &step)[1].length() > 0.05, "it resists turning");
}

/// An isotropic viscosity that changes with the rate knows no axes; and slow motion is damped as
/// without the law.
#[test]
fn rate_laws_are_isotropic() {
    let slow = Viscosity::isotropic(1.5, 2.0).unwrap();
    let x: [DVec3; 3] = TRIANGLE.map(DVec3::from);
    let v = [DVec3::new(0.3, -0.2, 0.5), DVec3::new(-1.0, 0.4, 0.2), DVec3::new(0.6, 0.9, -0.1)];
    let (sin, cos) = 0.6f64.sin_cos();
    let turned = [UnitDir2::new(cos, sin).unwrap(), UnitDir2::new(-sin, cos).unwrap()];
    for exponent in [1.0, 1.5, 3.0] {
        let potential = RateDependent::new(slow, law(0.4, exponent));
        let one = plane(GreenStrain::default(), potential).force(&x, &v);
        let other = plane(GreenStrain::along(turned), potential).force(&x, &v);
        assert_close("turned axes", &flat::<3, 9>(&one), &flat::<3, 9>(&other), 1e-14, 0.0);
        // The correction is of the second order of the rate over that of the law.
        let creep = v.map(|v| v * 1e-9);
        let (linear, found) = (plane(GreenStrain::default(), slow), plane(GreenStrain::default(), potential));
        let [a, b]: [[f64; 9]; 2] = [linear.force(&x, &creep), found.force(&x, &creep)].map(|f| flat(&f));
        assert_close("slow motion", &b, &a, 1e-14, 0.0);
        assert_close(
            "potential",
            &[found.potential(&x, &creep)],
            &[linear.potential(&x, &creep)],
            1e-14,
            0.0,
        );
    }
    // Dry friction: a thousand times as fast, hardly a larger force.
    let friction = plane(GreenStrain::default(), RateDependent::new(slow, law(1e-3, 1.0)));
    let [once, faster]: [[f64; 9]; 2] = [1.0, 1e3].map(|k| flat(&friction.force(&x, &v.map(|v| v * k))));
    assert_close("dry friction", &faster, &once, 1e-5, 0.0);
}

/// Rates and viscosities at the ends of the range.
#[test]
fn potentials_of_extreme_rates() {
    for exponent in [1.0, 1.5, 2.0, 4.0] {
        for reference in [1e-60, 1e-10, 1.0, 1e60] {
            let law = RateDependent::new(Viscosity::isotropic(5e2, 1e3).unwrap(), law(reference, exponent));
            for rate in [[0.0; 3], [1e-5, 0.0, 1.0], [1e60, -1e60, 0.0], [0.0, 1e300, 1e-300]] {
                assert!(!law.value(&[0.0; 3], &rate).is_nan());
                assert!(law.stress(&[0.0; 3], &rate).iter().all(|s| !s.is_nan()));
                let tangent = law.tangent(&[0.0; 3], &rate);
                assert!(
                    tangent.as_flattened().iter().all(|t| !t.is_nan()),
                    "{exponent} {reference} {rate:?}"
                );
                if max_abs(tangent.as_flattened()) < 1e100 {
                    let values = symmetric_eigen(&tangent).0;
                    let small = 1e-12 * max_abs(tangent.as_flattened());
                    assert!(
                        values.iter().all(|l| *l >= -small),
                        "{exponent} {reference} {rate:?} {values:?}"
                    );
                }
            }
        }
    }
    assert!(Viscosity::of_elasticity(Positive::ONE, &[[f64::NAN]]).is_err());
    assert!(Viscosity::of_elasticity(Positive::new(1e60).unwrap(), &[[1e300]]).is_err());
    assert!(Viscosity::isotropic(0.0, f64::MAX).is_err());
}

/// Where a strain is not defined there is no damping, and no error.
#[test]
fn degenerate_elements() {
    let v3 = [DVec3::X, DVec3::Y, DVec3::Z];
    let point = [DVec3::ZERO; 3];
    let line = [DVec3::ZERO, DVec3::X, DVec3::X * 2.0];
    for x in [point, line] {
        finite(&plane(GreenStrain::default(), Viscosity::isotropic(3.0, 2.0).unwrap()), &x, &v3);
        finite(&plane(FibreStrain::default(), Viscosity::isotropic(3.0, 2.0).unwrap()), &x, &v3);
        finite(&plane(StretchTensor, Viscosity::isotropic(3.0, 2.0).unwrap()), &x, &v3);
    }
    // A single zero stretch still has a strain, and damps what opens it... along the line.
    let stretch = plane(StretchTensor, Viscosity::isotropic(3.0, 2.0).unwrap());
    assert!(stretch.power(&line, &[DVec3::ZERO, DVec3::X, DVec3::X * 2.0]) < -0.1);
    assert_eq!(stretch.power(&point, &v3), 0.0);
    let folded = [DVec3::ZERO, DVec3::X, DVec3::ZERO];
    assert_eq!(joint().power(&folded, &v3), 0.0);
    assert_eq!(joint().power(&point, &v3), 0.0);
    let hinge = Dissipation::new(
        nodes::<4>(),
        HingeAngle::default(),
        Viscosity::per_component([1.0]).unwrap(),
        Positive::ONE,
    );
    let flat = [DVec3::ZERO, DVec3::X, DVec3::X * 0.5, -DVec3::Y];
    assert_eq!(hinge.power(&flat, &[DVec3::Z, DVec3::ZERO, DVec3::X, DVec3::Y]), 0.0);
}

/// A hinge that folds through `π` has turned by a little, not by a full circle.
#[test]
fn folding_through_is_a_small_change() {
    let hinge = Dissipation::new(
        nodes::<4>(),
        HingeAngle::default(),
        Viscosity::per_component([2.0]).unwrap(),
        Positive::ONE,
    );
    let at = |theta: f64| {
        let wing = DVec3::new(0.5, -theta.cos(), theta.sin());
        [DVec3::ZERO, DVec3::X, DVec3::new(0.5, 1.0, 0.0), wing]
    };
    let pi = std::f64::consts::PI;
    let (start, end) = (at(pi - 0.01), at(pi + 0.02));
    let jump = HingeFrame::new(&end).unwrap().theta() - HingeFrame::new(&start).unwrap().theta();
    assert!(jump.abs() > 6.0);
    let energy = hinge
        .energies(&end, &hinge.start(&ElementStep::backward_euler(start, Positive::literal(0.1))))
        .potential;
    assert!((energy - 0.1 * 0.3f64.powi(2)).abs() < 1e-12, "{energy}");
}

#[test]
fn parameters_that_would_drive_are_refused() {
    assert!(Viscosity::isotropic(-1.0, 0.5).is_err() && Viscosity::isotropic(1.0, -0.1).is_err());
    assert!(Viscosity::isotropic(f64::NAN, 1.0).is_err());
    assert!(Viscosity::isotropic(-0.5, 0.5).is_ok());
    let message = Viscosity::per_component([1.0, -2.0, 0.0]).unwrap_err().to_string();
    assert_eq!(message, "viscosity -2 of component 1: give zero or a positive number up to 1e60");
    for exponent in [0.9, 4.1, f64::NAN] {
        assert!(RateLaw::new(Positive::ONE, exponent).is_err());
    }
    // The Rayleigh-equivalent of an indefinite elasticity loses its negative part.
    let clamped = Viscosity::of_elasticity(Positive::new(0.5).unwrap(), &[[4.0, 0.0], [0.0, -3.0]]).unwrap();
    assert_eq!(clamped.matrix(), &[[2.0, 0.0], [0.0, 0.0]]);
}
