//! Principal curvatures by quadric fit: exact where they should be, second order elsewhere, quiet
//! where nothing can be fitted.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod bent;

use glam::{DVec2, DVec3};
use plisse_core::{Field, Id, RestShape, TriMesh, Vertices, generate};
use plisse_testkit::assert_close;
use plisse_wrinkle::{BaseFace, BaseSheet, Curvature, PrincipalCurvature, principal_curvatures};

/// The worst error of both curvatures over the vertices.
fn worst(found: &Field<Vertices, PrincipalCurvature>, expected: [f64; 2]) -> f64 {
    let error =
        |v: &PrincipalCurvature| (0..2).map(|i| (v.values[i] - expected[i]).abs()).fold(0.0, f64::max);
    found.as_slice().iter().map(error).fold(0.0, f64::max)
}

/// In the middle of a disc the normal of an even surface is its axis, and the fit finds the surface
/// itself.
#[test]
fn exact_for_a_paraboloid() {
    let (mesh, uv) = generate::disc(7, 0.3).unwrap();
    let x = uv.map(|u| DVec3::new(u.x, u.y, -0.7 * u.x * u.x + 0.4 * u.x * u.y + 0.2 * u.y * u.y));
    let centre = uv.iter().find(|(_, u)| **u == DVec2::ZERO).unwrap().0;
    let found = principal_curvatures(&mesh, &x).unwrap()[centre];
    // Minus the eigenvalues of the Hessian [[-1.4, 0.4], [0.4, 0.4]].
    let root = (0.9f64 * 0.9 + 0.4 * 0.4).sqrt();
    assert_close("curvatures", &found.values, &[0.5 + root, 0.5 - root], 1e-12, 0.0);
    let [d1, d2] = found.directions;
    assert_close("frame", &[d1.length(), d2.length(), d1.dot(d2), d1.z], &[1.0, 1.0, 0.0, 0.0], 1e-12, 1.0);
    let bend = -(-1.4 * d1.x * d1.x + 0.8 * d1.x * d1.y + 0.4 * d1.y * d1.y);
    assert_close("along the first direction", &[bend], &[found.values[0]], 1e-12, 0.0);
}

#[test]
fn cylinder_to_second_order() {
    let radius = 0.5;
    let errors = [60, 120].map(|around| {
        let tube =
            generate::cylinder(around, around / 6, radius, 0.5, generate::Diagonal::Alternating).unwrap();
        let found = principal_curvatures(&tube.mesh, &tube.positions).unwrap();
        for (_, v) in found.iter() {
            assert!(v.directions[1].z.abs() > 0.999, "the axis is the direction of least curvature: {v:?}");
        }
        worst(&found, [1.0 / radius, 0.0])
    });
    // Five rings of 60 are half a radian: the circle is no parabola there, by a quarter of its
    // square.
    assert!(errors[0] < 0.08 / radius, "{errors:?}");
    assert!(errors[0] > 3.5 * errors[1], "halving the edges must quarter the error: {errors:?}");
}

#[test]
fn sphere_to_second_order() {
    let radius = 2.0;
    let errors = [3, 4].map(|divisions| {
        let (mesh, x) = generate::sphere(divisions, radius).unwrap();
        worst(&principal_curvatures(&mesh, &x).unwrap(), [1.0 / radius; 2])
    });
    assert!(errors[0] < 0.2 / radius, "{errors:?}");
    assert!(errors[0] > 3.0 * errors[1], "halving the edges must quarter the error: {errors:?}");
}

/// Five rings of a coarse unit sphere are all of it. The far side faces away and must not take
/// part: a paraboloid through the whole sphere has the curvature 2.5, one through half of it about
/// 1.5.
#[test]
fn what_faces_away_does_not_count() {
    let (mesh, x) = generate::sphere(1, 1.0).unwrap();
    for (_, v) in principal_curvatures(&mesh, &x).unwrap().iter() {
        assert!(v.values[1] > 1.2 && v.values[0] < 1.8, "{v:?}");
    }
}

#[test]
fn too_few_points_have_no_curvature() {
    let mesh = TriMesh::new(4, &[[0, 1, 2], [2, 1, 3]]).unwrap();
    let x = Field::from_vec(vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(1.0, 1.0, 0.5)]);
    for (_, v) in principal_curvatures(&mesh, &x).unwrap().iter() {
        assert_eq!((v.values, v.directions), ([0.0; 2], [DVec3::ZERO; 2]));
    }
}

/// Vertices on one another, all vertices in a point or on a line, huge and tiny meshes.
#[test]
fn never_nan() {
    let (mesh, uv) = generate::grid(4, 4, [1.0, 1.0], generate::Diagonal::Alternating).unwrap();
    let shapes: [&dyn Fn(DVec2) -> DVec3; 7] = [
        &|_| DVec3::ONE,
        &|u| DVec3::X * u.x,
        &|u| DVec3::new(u.x, 0.0, u.y),
        &|u| DVec3::new((2.0 * u.x).round(), u.y, 0.0),
        &|u| bent::shape(u) * 1e200,
        &|u| bent::shape(u) * 1e-200,
        &|u| DVec3::new(f64::MAX * (2.0 * u.x - 1.0), f64::MAX * (1.0 - 2.0 * u.y), 0.0),
    ];
    for (i, shape) in shapes.iter().enumerate() {
        let x = uv.map(|u| shape(*u));
        for (_, v) in principal_curvatures(&mesh, &x).unwrap().iter() {
            assert!(v.values.iter().all(|k| k.is_finite()), "shape {i}: {v:?}");
            assert!(v.directions.iter().all(|d| d.is_finite()), "shape {i}: {v:?}");
        }
    }
    assert!(principal_curvatures(&mesh, &Field::filled(3, DVec3::ZERO)).is_err());
}

/// A tube that is stretched along its axis has its crests there, where it is straight; stretched
/// around, they follow the circle.
#[test]
fn both_curvatures_along_the_crests_of_a_tube() {
    let radius = 0.5;
    let tube = generate::cylinder(96, 24, radius, 0.6, generate::Diagonal::Alternating).unwrap();
    for (stretch, expected) in [([0.9, 1.1], 0.0), ([1.1, 0.9], 1.0 / radius)] {
        let uv = tube.uv.map(|corners| corners.map(|u| DVec2::new(u.x / stretch[0], u.y / stretch[1])));
        let rest = RestShape::from_corner_uv(&tube.mesh, &uv).unwrap();
        for curvature in [Curvature::QuadricFit, Curvature::SecondForm] {
            let base =
                BaseSheet::new(&tube.mesh, rest.maps(), &tube.positions, bent::sheet(), curvature).unwrap();
            let inner =
                tube.mesh.faces().iter().filter(|(_, corners)| {
                    corners.iter().all(|v| (0.05..0.55).contains(&tube.positions[*v].z))
                });
            for (id, _) in inner {
                let face = base.faces()[id];
                assert!(face.is_mixed());
                // Five rings are a third of a radian: 3 %. A single mid-edge form across the
                // diagonals has no more than that either.
                assert!(
                    (face.curvature() - expected).abs() < 0.03 / radius,
                    "{curvature:?} {}",
                    face.curvature()
                );
            }
        }
    }
}

/// On a sphere every direction is a crest of the same curvature. Its rest shape is an ellipsoid, so
/// that the strains point everywhere.
#[test]
fn a_sphere_bends_alike_along_all_crests() {
    let radius = 2.0;
    let (mesh, x) = generate::sphere(4, radius).unwrap();
    let rest = RestShape::from_positions(&mesh, &x.map(|x| *x * DVec3::new(1.2, 1.0, 0.8))).unwrap();
    let base = BaseSheet::new(&mesh, rest.maps(), &x, bent::sheet(), Curvature::QuadricFit).unwrap();
    for (id, face) in base.faces().iter() {
        let k = face.curvature() * radius;
        // Five rings are a third of a radian.
        assert!((k - 1.0).abs() < 0.05, "{id}: {k}");
    }
}

/// The figures of this fit at the time when it gave the `W_s2` of the published disk of Chen21 to
/// 1e-15. The symmetrised operator, its axes and the order of the two curvatures are conventions:
/// no other test would notice if they changed.
#[test]
fn conventions_of_the_published_results() {
    let case = bent::case(6);
    let base = bent::base(&case, Curvature::QuadricFit);
    let mixed = || base.faces().as_slice().iter().filter(|face| face.is_mixed());
    let (count, sum) = (mixed().count(), mixed().map(BaseFace::curvature).sum::<f64>());
    assert_eq!(count, 60);
    assert_close("sum of curvatures", &[sum], &[-45.77301938281819], 1e-10, 0.0);
}

#[test]
fn a_flat_base_costs_nothing() {
    let case = bent::case(4);
    let x = generate::embed(&case.uv.map(|u| DVec2::new(1.2 * u.x, 0.8 * u.y)));
    for curvature in [Curvature::QuadricFit, Curvature::SecondForm] {
        let base = BaseSheet::new(&case.mesh, &case.rest, &x, bent::sheet(), curvature).unwrap();
        let terms = base.faces()[Id::new(3)].terms([1.0; 3], [1.0; 2], Default::default());
        assert!(terms.curvature.abs() < 1e-25 && terms.base_bending.abs() < 1e-25, "{terms:?}");
        assert!(terms.stretch > 1e-3);
    }
}
