//! The triangle element: derivatives by positions, balance of forces and torques, permutations.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DVec2, DVec3};
use plisse_core::{Element, Id, Positive, Psd, TriangleMap, symmetric_eigen};
use plisse_membrane::{BaraffWitkin, Lame, MembraneElement, MembraneEnergy, StVenantKirchhoff};
use plisse_testkit::{assert_close, check_gradient, check_jacobian, max_abs};
use proptest::prelude::*;

fn points(x: &[f64; 9]) -> [DVec3; 3] {
    std::array::from_fn(|i| DVec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]))
}

fn flat(g: &[DVec3; 3]) -> [f64; 9] {
    std::array::from_fn(|i| g[i / 3][i % 3])
}

fn cloth() -> BaraffWitkin {
    let [warp, weft, shear] = [3.0, 2.0, 0.8].map(|k| Positive::new(k).unwrap());
    BaraffWitkin::from_moduli(warp, weft, shear)
}

fn rubber() -> StVenantKirchhoff {
    StVenantKirchhoff::new(Lame::new(Positive::ONE, 0.7).unwrap())
}

/// A triangle that is not too thin, in material space.
fn rest() -> impl Strategy<Value = [DVec2; 3]> {
    prop::array::uniform6(-1.0..1.0f64).prop_filter_map("thin", |u| {
        let corners = [DVec2::new(u[0], u[1]), DVec2::new(u[2], u[3]), DVec2::new(u[4], u[5])];
        ((corners[1] - corners[0]).perp_dot(corners[2] - corners[0]).abs() > 0.1).then_some(corners)
    })
}

fn element<E: MembraneEnergy>(rest: [DVec2; 3], energy: E) -> MembraneElement<E> {
    MembraneElement::new([0, 1, 2].map(Id::new), TriangleMap::new(rest).unwrap(), energy)
}

fn check<E: MembraneEnergy>(element: &MembraneElement<E>, x: [f64; 9]) -> Result<(), TestCaseError> {
    let gradient = |x: &[f64; 9]| flat(&element.gradient(&points(x)));
    prop_assume!(max_abs(&gradient(&x)) > 1e-3);
    check_gradient(|x| element.energy(&points(x)), gradient, &x, 1e-6);
    check_jacobian(gradient, |x| element.hessian(&points(x), Psd::Exact).to_matrix::<9>(), &x, 1e-6);

    let p = points(&x);
    let g = element.gradient(&p);
    let size = max_abs(&flat(&g));
    prop_assert!((g[0] + g[1] + g[2]).length() <= 1e-14 * size, "forces do not balance");
    let torque = p[0].cross(g[0]) + p[1].cross(g[1]) + p[2].cross(g[2]);
    prop_assert!(torque.length() <= 1e-13 * size, "torques do not balance: {torque}");

    for psd in Psd::ALL {
        let fused = element.evaluate(&p, psd);
        prop_assert_eq!(fused.energy, element.energy(&p));
        prop_assert_eq!(fused.gradient, g);
        prop_assert_eq!(fused.hessian, element.hessian(&p, psd));
    }
    let clamped = element.hessian(&p, Psd::Clamp);
    let smallest = symmetric_eigen(&clamped.to_matrix::<9>()).0[0];
    prop_assert!(smallest >= -1e-13 * clamped.norm(), "smallest eigenvalue {smallest:e}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn derivatives_and_balances(rest in rest(), x in prop::collection::vec(-1.5..1.5f64, 9)) {
        let x: [f64; 9] = std::array::from_fn(|i| x[i]);
        check(&element(rest, cloth()), x)?;
        check(&element(rest, &rubber()), x)?;
    }

    #[test]
    fn corner_order_does_not_matter(rest in rest(), x in prop::collection::vec(-1.5..1.5f64, 9)) {
        let p = points(&std::array::from_fn(|i| x[i]));
        for order in [[1, 2, 0], [0, 2, 1]] {
            let (a, b) = (element(rest, cloth()), element(order.map(|i| rest[i]), cloth()));
            let q = order.map(|i| p[i]);
            let (ea, eb) = (a.evaluate(&p, Psd::Clamp), b.evaluate(&q, Psd::Clamp));
            assert_close("energy", &[eb.energy], &[ea.energy], 1e-12, 1e-3);
            for i in 0..3 {
                assert_close("gradient", &eb.gradient[i].to_array(), &ea.gradient[order[i]].to_array(), 1e-11, 1.0);
            }
        }
    }
}

#[test]
fn nan_positions_come_out_as_nan() {
    let rest = [[0.0, 0.0], [0.01, 0.0], [0.0, 0.01]].map(DVec2::from);
    let x = [DVec3::ZERO, DVec3::new(f64::NAN, 0.0, 0.0), DVec3::new(0.0, 0.01, 0.0)];
    let e = element(rest, rubber()).evaluate(&x, Psd::Clamp);
    assert!(e.energy.is_nan() && !e.gradient[1].is_finite() && !e.hessian.is_finite());
}

#[test]
fn finite_for_every_finite_position() {
    let rest = [[0.0, 0.0], [0.01, 0.0], [0.0, 0.01]].map(DVec2::from);
    let values = [0.0, 1.0, -1e-310, 1e100, -1e154, 1e300, f64::MAX, f64::MIN];
    let cloth = element(rest, cloth());
    let rubber = element(rest, rubber());
    for i in 0..values.len().pow(3) {
        let n = values.len();
        let x = [values[i % n], values[i / n % n], values[i / n / n]];
        let p = [DVec3::new(x[0], x[1], x[2]), DVec3::new(x[1], x[2], x[0]), DVec3::new(x[2], x[2], x[1])];
        for psd in Psd::ALL {
            for e in [cloth.evaluate(&p, psd), rubber.evaluate(&p, psd)] {
                assert!(
                    e.energy.is_finite() && e.gradient.iter().all(|g| g.is_finite()) && e.hessian.is_finite(),
                    "{p:?}"
                );
            }
        }
    }
}
