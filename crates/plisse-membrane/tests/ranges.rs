//! Every energy over the whole range of parameters and of `f64`: finite, and semidefinite where
//! that is asked for.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::{DVec2, DVec3};
use plisse_core::range::{LENGTH, PARAMETER};
use plisse_core::{Blocks, Element, Id, Mat3x2, Positive, Psd, TriangleMap, UnitDir2, Vertices};
use plisse_membrane::{
    Arap, BaraffWitkin, Corotational, CrossFibre, Eigenanalysis, Fibre, Green, GreenStretch, Lame,
    MembraneElement, MembraneEnergy, NeoHookeanIncompressible, NeoHookeanLog, NeoHookeanStable, Quadratic,
    Quartic, QuarticShear, QuarticStretch, Shear, StVenantKirchhoff, Stretch, Sum, TensionField,
};
use plisse_testkit::{any_finite, any_points, assert_semidefinite, extreme, magnitude};
use proptest::prelude::*;

/// Semidefinite to rounding: matrices of 36 or 81 entries that are sums of some ten products.
const ROUNDING: f64 = 1e-14;

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

/// Every energy, with these parameters.
fn energies(
    k: [f64; 4],
    angle: f64,
    ratio: f64,
    offset: f64,
) -> Vec<(&'static str, Box<dyn MembraneEnergy>)> {
    let [a, b, c, d] = k.map(positive);
    let axes = [UnitDir2::U, UnitDir2::V];
    let (u, v) = (UnitDir2::from_angle(angle).unwrap(), UnitDir2::from_angle(angle + 1.0).unwrap());
    let turned = [u, u.perp()];
    // From -0.999 μ to the end of the range.
    let lambda = if ratio < 0.0 { 0.999 * ratio * a.get() } else { b.get() };
    let lame = Lame::new(a, lambda).unwrap();
    let mut all: Vec<(&'static str, Box<dyn MembraneEnergy>)> = vec![
        ("quadratic fibre", Box::new(Fibre::new(u, c, Quadratic).with_stiffness(a))),
        ("quartic fibre", Box::new(Fibre::new(u, c, Quartic).with_stiffness(a))),
        ("Green fibre", Box::new(Fibre::new(u, c, Green).with_stiffness(a))),
        ("shear", Box::new(Shear::with_offset(u, v, offset).with_stiffness(a))),
        ("quartic shear", Box::new(QuarticShear::with_offset(u, v, offset).with_stiffness(a))),
        ("shear of axes", Box::new(Shear::warp_weft().with_stiffness(a))),
        ("shear of one fibre", Box::new(CrossFibre::with_law(u, u, offset, Quadratic).with_stiffness(b))),
        ("Baraff-Witkin", Box::new(BaraffWitkin::from_moduli(a, b, c))),
        ("ARAP", Box::new(Arap::new(a))),
        ("StVK", Box::new(StVenantKirchhoff::new(lame))),
        ("tension field", Box::new(TensionField::new(lame))),
        ("corotational", Box::new(Corotational::new(lame))),
        ("neo-Hookean stable", Box::new(NeoHookeanStable::new(lame))),
        ("neo-Hookean raw", Box::new(NeoHookeanStable::with_raw_parameters(a, b.get()).unwrap())),
        ("neo-Hookean incompressible", Box::new(NeoHookeanIncompressible::new(a))),
        ("scaled", Box::new(StVenantKirchhoff::new(lame).scaled(c))),
        ("sum", Box::new(Sum(Arap::new(a), NeoHookeanStable::new(lame).scaled(d)))),
        ("none", Box::new(None::<Arap>)),
    ];
    if lambda >= 0.0 {
        all.push(("neo-Hookean log", Box::new(NeoHookeanLog::new(lame).unwrap())));
    }
    for (name, directions) in [("axes", axes), ("turned", turned), ("oblique", [u, v])] {
        all.push((name, Box::new(Stretch::new(directions, [c, d]).with_stiffness([a, b]))));
        all.push((name, Box::new(QuarticStretch::new(directions, [c, d]).with_stiffness([a, b]))));
        all.push((name, Box::new(GreenStretch::new(directions, [c, d]).with_stiffness([a, b]))));
    }
    all
}

fn finite(what: &str, values: &[f64]) {
    for value in values {
        assert!(value.is_finite(), "{what}: {values:?}");
    }
}

fn entries<const N: usize>(h: &Blocks<N>) -> Vec<f64> {
    h.0.as_flattened().iter().flat_map(glam::DMat3::to_cols_array).collect()
}

fn parameters() -> impl Strategy<Value = ([f64; 4], f64, f64, f64)> {
    let k = || prop_oneof![magnitude(PARAMETER), 1e-3..1e3f64];
    ([k(), k(), k(), k()], -3.2..3.2f64, -1.0..1.0f64, prop_oneof![-1.0..1.0f64, any_finite()])
}

/// Deformation gradients of any size, and those of simulations with any parameters.
fn any_state() -> impl Strategy<Value = [f64; 6]> {
    prop_oneof![2 => extreme(), 1 => plisse_testkit::any_f(), 1 => plisse_testkit::near_degenerate()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn densities_are_finite_and_clamped_ones_semidefinite(f in any_state(), (k, angle, ratio, offset) in parameters()) {
        let f = Mat3x2::from_array(f);
        for (name, energy) in energies(k, angle, ratio, offset) {
            finite(name, &[energy.energy(&f)]);
            finite(name, &energy.pk1(&f).to_array());
            for psd in Psd::ALL {
                let all = energy.evaluate(&f, psd);
                finite(name, &[all.energy]);
                finite(name, &all.pk1.to_array());
                for h in [all.hessian, energy.hessian(&f, psd)] {
                    finite(name, &entries(&h));
                    if psd != Psd::Exact {
                        assert_semidefinite(name, &h.to_matrix::<6>(), ROUNDING, 0.0);
                    }
                }
            }
        }
    }

    #[test]
    fn elements_are_finite_and_clamped_ones_semidefinite(
        x in any_points::<3>(),
        size in magnitude(LENGTH),
        corners in prop::array::uniform6(-1.0..1.0f64),
        (k, angle, ratio, offset) in parameters(),
    ) {
        let corner = |i: usize| DVec2::new(corners[2 * i], corners[2 * i + 1]) * size;
        let Some(map) = TriangleMap::new([corner(0), corner(1), corner(2)]) else { return Ok(()) };
        let x = x.map(DVec3::from);
        for (name, energy) in energies(k, angle, ratio, offset) {
            let element = MembraneElement::<_, Vertices>::new([0, 1, 2].map(Id::new), map, energy);
            let (energy, gradient) = element.energy_and_gradient(&x);
            finite(name, &[energy, element.energy(&x)]);
            for g in gradient.into_iter().chain(element.gradient(&x)) {
                finite(name, &g.to_array());
            }
            let weight = map.weights().as_flattened().iter().fold(0.0f64, |m, w| m.max(w.abs()));
            let f = map.deformation_gradient(&x);
            let terms = |psd| element.density().hessian(&f, psd).max_abs() * weight * map.area() * weight;
            for psd in Psd::ALL {
                let all = element.evaluate(&x, psd);
                for h in [all.hessian, element.hessian(&x, psd)] {
                    finite(name, &entries(&h));
                    // Products of tiny strains are subnormal on the way to a tiny matrix, and lose
                    // their digits.
                    if psd != Psd::Exact && h.max_abs() > 1e-270 {
                        // Pulled back, stiff directions may cancel: rounding is that of the terms.
                        assert_semidefinite(name, &h.to_matrix::<9>(), ROUNDING, terms(psd));
                    }
                }
            }
        }
    }

    #[test]
    fn eigensystems_are_finite(f in any_state(), (k, angle, ratio, offset) in parameters()) {
        let f = Mat3x2::from_array(f);
        let (u, v) = (UnitDir2::from_angle(angle).unwrap(), UnitDir2::from_angle(angle + 1.0).unwrap());
        let [a, b, c, d] = k.map(positive);
        let lame = Lame::new(a, 0.999 * ratio * a.get()).unwrap();
        let all: [&dyn Eigenanalysis; 9] = [
            &Stretch::new([u, v], [c, d]).with_stiffness([a, b]),
            &QuarticStretch::new([u, u.perp()], [c, d]).with_stiffness([a, b]),
            &GreenStretch::new([u, v], [c, d]).with_stiffness([a, b]),
            &Shear::with_offset(u, v, offset).with_stiffness(a),
            &QuarticShear::with_offset(u, v, offset).with_stiffness(a),
            &Arap::new(a).scaled(b),
            &StVenantKirchhoff::new(lame),
            &NeoHookeanStable::new(lame),
            &NeoHookeanIncompressible::new(a),
        ];
        for energy in all {
            let pairs = energy.eigensystem(&f);
            finite("eigenvalues", &pairs.values);
            for mode in pairs.modes {
                let length: f64 = mode.iter().map(|v| v.length_squared()).sum();
                assert!((length - 1.0).abs() < 1e-13, "{mode:?}");
            }
        }
    }
}
