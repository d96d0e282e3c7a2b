//! Every strain with every potential over the whole range of parameters and of `f64`: finite, and
//! semidefinite where that is asked for.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::{DMat3, DVec2, DVec3};
use plisse_bending::{DampedHinge, HingeElement, QuadraticAngle, RodElement, RodStretch, TangentAngle};
use plisse_core::range::{LENGTH, PARAMETER};
use plisse_core::{
    Angle, Blocks, ElementStep, Id, Past, Positive, Psd, StepElement, StepEnergy, TriangleMap, UnitDir2,
    Vertices,
};
use plisse_damping::{
    Dissipation, EdgeStretch, ElasticViscosity, FibreStrain, GreenStrain, HingeAngle, JointViscosity,
    OnTriangle, PlaneStrain, PositionJacobian, Potential, RateDependent, RateLaw, RayleighElement,
    RayleighStiffness, RodJoint, Strain, StretchTensor, Viscosity,
};
use plisse_testkit::{any_finite, any_points, assert_semidefinite, magnitude};
use proptest::prelude::*;

/// Semidefinite to rounding, beside the terms that cancel in the pull-back.
const ROUNDING: f64 = 1e-14;

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn nodes<const V: usize>() -> [Id<Vertices>; V] {
    std::array::from_fn(|i| Id::new(i as u32))
}

fn finite(what: &str, values: impl IntoIterator<Item = f64>) {
    for value in values {
        assert!(value.is_finite(), "{what}: {value}");
    }
}

fn numbers(vectors: &[DVec3]) -> Vec<f64> {
    vectors.iter().flat_map(DVec3::to_array).collect()
}

fn entries<const N: usize>(h: &Blocks<N>) -> Vec<f64> {
    h.0.as_flattened().iter().flat_map(DMat3::to_cols_array).collect()
}

fn energies(what: &str, e: StepEnergy) {
    finite(what, [e.potential, e.stored, e.dissipated]);
}

/// `terms` is the size of the terms that cancel, in units of the largest entry.
fn semidefinite<const V: usize, const N: usize>(what: &str, h: &Blocks<V>, terms: f64) {
    // Subnormal stresses have too few digits for a sign; inverse squares of the smallest lengths
    // make 1e-230 of them.
    if h.max_abs() < 1e-200 {
        return;
    }
    let rows: [[f64; N]; N] = std::array::from_fn(|i| std::array::from_fn(|j| h.entry(i, j)));
    assert_semidefinite(what, &rows, ROUNDING, terms * h.max_abs().max(f64::MIN_POSITIVE));
}

/// A step over these positions: any past, any duration.
#[derive(Clone, Debug)]
struct Motion<const V: usize> {
    start: [[f64; 3]; V],
    end: [[f64; 3]; V],
    other: [[f64; 3]; V],
    rate: f64,
    factor: f64,
}

fn motion<const V: usize>() -> impl Strategy<Value = Motion<V>> {
    let rate = || prop_oneof![magnitude(PARAMETER), magnitude(1e-300..=1e300), 1.0..1e4f64];
    // The end near the start, or anywhere.
    let near = (any_points::<V>(), any_points::<V>(), magnitude(1e-20..=1.0));
    let pair = prop_oneof![
        (any_points::<V>(), any_points::<V>()),
        near.prop_map(|(a, b, w)| {
            let mixed = std::array::from_fn(|i| std::array::from_fn(|k| a[i][k] * (1.0 - w) + b[i][k] * w));
            (a, mixed)
        }),
    ];
    (pair, any_points::<V>(), rate(), prop_oneof![0.0..2.0f64, any_finite()])
        .prop_map(|((start, end), other, rate, factor)| Motion { start, end, other, rate, factor })
}

impl<const V: usize> Motion<V> {
    fn steps(&self) -> [ElementStep<V>; 3] {
        let (start, other) = (self.start.map(DVec3::from), self.other.map(DVec3::from));
        [
            ElementStep { start, rate: self.rate, past: Past::Start },
            ElementStep {
                start,
                rate: self.rate,
                past: Past::Earlier { weight: self.factor.abs(), x: other },
            },
            ElementStep { start, rate: self.rate, past: Past::Velocity { time: self.factor, v: other } },
        ]
    }

    fn end(&self) -> [DVec3; V] {
        self.end.map(DVec3::from)
    }
}

/// Everything that an element answers, inside of steps and outside.
fn check<E: StepElement<V>, const V: usize, const N: usize>(
    what: &str,
    element: &E,
    motion: &Motion<V>,
    terms: f64,
) {
    let x = motion.end();
    for start in motion.steps().iter().map(|step| element.start(step)).chain(E::STILL) {
        energies(what, element.energies(&x, &start));
        finite(what, numbers(&element.gradient(&x, &start)));
        let (e, g) = element.energies_and_gradient(&x, &start);
        energies(what, e);
        finite(what, numbers(&g));
        for psd in Psd::ALL {
            let h = element.hessian(&x, &start, psd);
            finite(what, entries(&h));
            if psd != Psd::Exact {
                semidefinite::<V, N>(&format!("{what}, {psd:?}"), &h, terms);
            }
        }
    }
}

/// A dissipation in both forms, and its forces at velocities.
fn check_both<S, P, const V: usize, const K: usize, const N: usize>(
    what: &str,
    damping: Dissipation<S, P, V, K>,
    motion: &Motion<V>,
    terms: f64,
) where
    S: Strain<V, K> + Copy,
    P: Potential<K> + Copy,
{
    check::<_, V, N>(what, &damping, motion, terms);
    let (x, v) = (motion.end(), motion.other.map(DVec3::from));
    finite(what, damping.strain_rate(&x, &v));
    finite(what, [damping.potential(&x, &v), damping.power(&x, &v)]);
    finite(what, numbers(&damping.force(&x, &v)));
    assert!(damping.power(&x, &v) <= 0.0 || damping.power(&x, &v).is_finite());
    semidefinite::<V, N>(what, &-damping.velocity_jacobian(&x, &v), terms);
    for part in [PositionJacobian::Full, PositionJacobian::Symmetric, PositionJacobian::ClampedStress] {
        finite(what, entries(&damping.position_jacobian(&x, &v, part)));
        check::<_, V, N>(what, &damping.in_velocity_form(part), motion, terms);
    }
}

fn parameter() -> impl Strategy<Value = f64> {
    prop_oneof![magnitude(PARAMETER), 1e-6..1e3f64]
}

/// Grows with the fourth power of the strain, and softens in compression.
fn stiffening(e: &[f64; 3]) -> [[f64; 3]; 3] {
    let a = e[0] * e[0] * e[0].abs();
    [[a, 0.1 * a, 0.0], [0.1 * a, e[1], 0.3], [0.0, 0.3, e[2]]]
}

fn planes<S: PlaneStrain + Copy>(
    what: &str,
    strain: S,
    map: TriangleMap,
    [c, rate, beta, weight]: [f64; 4],
    exponent: f64,
    motion: &Motion<3>,
) {
    let on = OnTriangle::new(map, strain);
    // What is pulled back by a sliver cancels by the square of its aspect ratio. Rates are
    // differences of strains, of which up to six digits may be lost before they are squared: seen
    // was 4e-11 of the largest eigenvalue in 20,000 cases. A projection that fails would be of the
    // order of one.
    let largest = map.weights().as_flattened().iter().fold(0.0f64, |m, w| m.max(w.abs()));
    let terms = 1e6 * (largest * largest * map.area()).powi(2).max(1.0);
    // Tangents with eigenvalues that vanish are semidefinite to their own rounding, and gradients
    // of strains may cancel in all others: no bound by what is left. `properties.rs` compares their
    // projections at ordinary strains.
    let unbounded = f64::INFINITY;
    let (law, area) = (RateLaw::new(positive(rate), exponent).unwrap(), positive(map.area()));
    let isotropic = Viscosity::isotropic(-0.2 * c, 0.3 * c).unwrap();
    let elastic = ElasticViscosity::new(positive(beta), stiffening);
    let fabric = Viscosity::per_component([c, 0.0, 0.1 * c]).unwrap();
    check_both::<_, _, 3, 3, 9>(
        &format!("{what}, isotropic"),
        Dissipation::new(nodes(), on, isotropic, area),
        motion,
        terms,
    );
    check_both::<_, _, 3, 3, 9>(
        &format!("{what}, elastic"),
        Dissipation::new(nodes(), on, elastic, area),
        motion,
        unbounded,
    );
    let thinning = RateDependent::new(isotropic, law);
    check_both::<_, _, 3, 3, 9>(
        &format!("{what}, rate law"),
        Dissipation::new(nodes(), on, thinning, area),
        motion,
        unbounded,
    );
    let both = RateDependent::new(elastic, law);
    check_both::<_, _, 3, 3, 9>(
        &format!("{what}, both"),
        Dissipation::new(nodes(), on, both, area),
        motion,
        unbounded,
    );
    let any = Dissipation::new(nodes(), on, fabric, positive(weight));
    check_both::<_, _, 3, 3, 9>(&format!("{what}, fabric"), any, motion, terms);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn triangles(
        motion in motion::<3>(),
        size in magnitude(LENGTH),
        corners in prop::array::uniform6(-1.0..1.0f64),
        parameters in [parameter(), parameter(), parameter(), parameter()],
        exponent in 1.0..=4.0f64,
    ) {
        let corner = |i: usize| DVec2::new(corners[2 * i], corners[2 * i + 1]) * size;
        let Some(map) = TriangleMap::new([corner(0), corner(1), corner(2)]) else { return Ok(()) };
        let oblique = [UnitDir2::new(1.0, 0.2).unwrap(), UnitDir2::new(0.3, 1.0).unwrap()];
        planes("Green", GreenStrain::default(), map, parameters, exponent, &motion);
        planes("Green, oblique", GreenStrain::along(oblique), map, parameters, exponent, &motion);
        planes("fibres", FibreStrain::default(), map, parameters, exponent, &motion);
        planes("fibres, oblique", FibreStrain::along(oblique), map, parameters, exponent, &motion);
        planes("stretch tensor", StretchTensor, map, parameters, exponent, &motion);
    }

    #[test]
    fn edges(motion in motion::<2>(), [c, rate, length, weight] in [parameter(), parameter(), parameter(), parameter()], exponent in 1.0..=4.0f64) {
        let strain = EdgeStretch::new(positive(length));
        let viscosity = Viscosity::per_component([c]).unwrap();
        let law = RateLaw::new(positive(rate), exponent).unwrap();
        check_both::<_, _, 2, 1, 6>("edge", Dissipation::new(nodes(), strain, viscosity, positive(weight)), &motion, 10.0);
        let thinning = RateDependent::new(viscosity, law);
        check_both::<_, _, 2, 1, 6>("edge, rate law", Dissipation::new(nodes(), strain, thinning, positive(weight)), &motion, 10.0);
    }

    #[test]
    fn hinges(motion in motion::<4>(), [c, rate, beta, weight] in [parameter(), parameter(), parameter(), parameter()], exponent in 1.0..=4.0f64) {
        let viscosity = Viscosity::per_component([c]).unwrap();
        let law = RateLaw::new(positive(rate), exponent).unwrap();
        check_both::<_, _, 4, 1, 12>("hinge", Dissipation::new(nodes(), HingeAngle::default(), viscosity, positive(weight)), &motion, 10.0);
        let thinning = RateDependent::new(viscosity, law);
        check_both::<_, _, 4, 1, 12>("hinge, rate law", Dissipation::new(nodes(), HingeAngle::default(), thinning, positive(weight)), &motion, 10.0);
        let spring = HingeElement::from_parts(nodes(), TangentAngle, positive(c), Angle::new(0.4).unwrap());
        let damped = DampedHinge::new(spring, positive(beta));
        check::<_, 4, 12>("damped hinge", &damped, &motion, 10.0);
    }

    #[test]
    fn joints(motion in motion::<3>(), [c, weight] in [parameter(), parameter()]) {
        let viscosity = JointViscosity::new(positive(c));
        check_both::<_, _, 3, 4, 9>("joint", Dissipation::new(nodes(), RodJoint, viscosity, positive(weight)), &motion, 10.0);
    }

    #[test]
    fn rayleigh(motion in motion::<3>(), edge in motion::<2>(), [k, beta, length] in [parameter(), parameter(), parameter()]) {
        let rod = RodElement::new(nodes(), QuadraticAngle, positive(k), Angle::new(0.3).unwrap());
        let segment = RodStretch::new(nodes(), positive(length), positive(k));
        for stiffness in [RayleighStiffness::AtStart, RayleighStiffness::AtEnd] {
            let element = RayleighElement::new(rod, positive(beta)).with_stiffness(stiffness);
            check::<_, 3, 9>("rod", &element, &motion, 10.0);
            let element = RayleighElement::new(segment, positive(beta)).with_stiffness(stiffness);
            check::<_, 2, 6>("segment", &element, &edge, 10.0);
        }
    }
}

/// Both factors of the second part of the Jacobian are large where a rest length is tiny.
#[test]
fn full_jacobians_of_tiny_edges_are_finite() {
    let strain = EdgeStretch::new(positive(1e-60));
    let viscosity = Viscosity::per_component([1e60]).unwrap();
    let damping = Dissipation::new(nodes(), strain, viscosity, positive(1e60));
    let x = [DVec3::ZERO, DVec3::Z * 5.244854434556735e-196];
    let v = [DVec3::ZERO, DVec3::Y * 0.7664581354884105];
    finite("edge", entries(&damping.position_jacobian(&x, &v, PositionJacobian::Full)));
}

#[test]
fn nan_is_not_hidden() {
    let step = ElementStep {
        start: [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0)],
        rate: 100.0,
        past: Past::Start,
    };
    let mut x = step.start;
    x[2].z = f64::NAN;
    let map = TriangleMap::new([DVec2::ZERO, DVec2::X, DVec2::Y]).unwrap();
    let viscosity = Viscosity::isotropic(0.1, 0.2).unwrap();
    let area = positive(map.area());
    let tensor = Dissipation::new(nodes(), OnTriangle::new(map, StretchTensor), viscosity, area);
    let green = Dissipation::new(nodes(), OnTriangle::new(map, GreenStrain::default()), viscosity, area);
    let joint = Dissipation::new(nodes(), RodJoint, JointViscosity::new(Positive::ONE), Positive::ONE);
    fn hidden<const K: usize, S: Strain<3, K>, P: Potential<K>>(
        damping: &Dissipation<S, P, 3, K>,
        step: &ElementStep<3>,
        x: &[DVec3; 3],
    ) -> bool {
        let start = damping.start(step);
        let (e, g) = damping.energies_and_gradient(x, &start);
        let h = damping.hessian(x, &start, Psd::Clamp);
        !(e.potential.is_nan() && g.iter().any(|g| g.is_nan()) && !h.is_finite())
    }
    assert!(!hidden(&tensor, &step, &x) && !hidden(&green, &step, &x) && !hidden(&joint, &step, &x));
}
