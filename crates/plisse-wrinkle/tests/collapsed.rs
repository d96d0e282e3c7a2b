//! Bases that are wrong, collapsed or folded.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod bent;

use bent::{base, case, sheet};
use glam::DVec3;
use plisse_core::{Field, Id};
use plisse_testkit::assert_close;
use plisse_wrinkle::{BaseSheet, Curvature, Quadrature, WrinkleError};

const BOTH: [Curvature; 2] = [Curvature::QuadricFit, Curvature::SecondForm];

#[test]
fn what_is_wrong_is_named() {
    let mut wrong = case(2);
    let build =
        |c: &bent::Case| BaseSheet::new(&c.mesh, &c.rest, &c.x, sheet(), Curvature::default()).unwrap_err();
    wrong.x[Id::new(3)].y = f64::NAN;
    let error = build(&wrong);
    assert!(matches!(error, WrinkleError::NotFinite { vertex, .. } if vertex == Id::new(3)));
    assert!(error.to_string().starts_with("vertex 3: the position ["), "{error}");

    let mut wrong = case(2);
    wrong.x = wrong.x.map(|x| *x * 1e30);
    let error = build(&wrong);
    assert!(matches!(error, WrinkleError::TooLarge { face, .. } if face == Id::new(0)), "{error}");
    wrong.x = Field::from_fn(9, |v| {
        DVec3::new(1.0, -1.0, 1.0) * if v.get() % 2 == 0 { f64::MAX } else { f64::MIN }
    });
    assert!(matches!(build(&wrong), WrinkleError::TooLarge { .. }));

    let mut wrong = case(2);
    wrong.x = Field::filled(4, DVec3::ZERO);
    assert_eq!(
        build(&wrong).to_string(),
        "positions of the base: expected one value per vertex, that is 9, got 4"
    );
    let mut wrong = case(2);
    wrong.rest = Field::from_vec(wrong.rest.as_slice()[..3].to_vec());
    assert_eq!(build(&wrong).to_string(), "rest shapes: expected one value per face, that is 8, got 3");
}

/// Tension fields may compress triangles to lines and points, or fold them onto one another.
#[test]
fn collapsed_and_folded_bases_stay_finite() {
    let shapes: [fn(DVec3) -> DVec3; 5] = [
        |_| DVec3::ONE,
        |x| DVec3::new(x.x, 0.0, 0.0),
        |x| DVec3::new(1.2 * x.x, 1e-9 * x.y, 0.0),
        |x| DVec3::new((4.0 * x.x - 2.0).abs(), x.y, 0.0),
        |x| DVec3::new(1.1 * x.x, (2.0 * x.y).round(), 0.0),
    ];
    for shape in shapes {
        for curvature in BOTH {
            let mut case = case(4);
            case.x = case.uv.map(|u| shape(u.extend(0.0)));
            let base = base(&case, curvature);
            for (id, face) in base.faces().iter() {
                let [high, low] = face.strains();
                assert!(low >= -1.0 - 1e-12 && high >= low, "{id}: {:?}", face.strains());
                assert!(face.curvature().is_finite());
                let (a, omega) = ([0.1, 0.2, 0.4], [1.0, -0.5]);
                for q in [Quadrature::Exact, Quadrature::ThreePoint] {
                    assert!(face.energy(a, omega, q).is_finite());
                    assert!(face.gradient(a, omega, q).iter().all(|v| v.is_finite()));
                    assert!(face.hessian(a, omega, q).as_flattened().iter().all(|v| v.is_finite()));
                }
            }
        }
    }
}

#[test]
fn directions_belong_to_the_strains() {
    let case = case(4);
    let base = base(&case, Curvature::default());
    for (_, face) in base.faces().iter() {
        let ([high, low], [d1, d2]) = (face.strains(), face.directions());
        let (x1, x2) = (face.base_direction(d1), face.base_direction(d2));
        let found =
            [d1.length(), d2.length(), d1.dot(d2), x1.length_squared(), x2.length_squared(), x1.dot(x2)];
        assert_close("frame", &found, &[1.0, 1.0, 0.0, 1.0 + high, 1.0 + low, 0.0], 1e-14, 1.0);
    }
}

/// `face_omega` against a phase per vertex: on every face the differences from corner 0, whichever
/// way its edges run.
#[test]
fn one_forms_are_read_from_corner_0() {
    let case = case(3);
    let base = base(&case, Curvature::default());
    let phase = |v: Id<_>| (1.7 * f64::from(Id::<plisse_core::Vertices>::get(v))).sin();
    let omega = Field::from_fn(case.mesh.edge_count(), |e| {
        let [p, q] = case.mesh.edges()[e].vertices;
        phase(p.max(q)) - phase(p.min(q))
    });
    for (id, corners) in case.mesh.faces().iter() {
        let [p0, p1, p2] = corners.map(phase);
        assert_eq!(base.face_omega(id, &omega), [p1 - p0, p2 - p0]);
    }
}
