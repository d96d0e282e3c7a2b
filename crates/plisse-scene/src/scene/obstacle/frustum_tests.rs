//! Cylinders and cones against samples of their surfaces; what contact sees of them.

use glam::DVec3;
use plisse_core::{Field, Positive, TriMesh};
use proptest::prelude::*;

use super::Obstacle;
use super::frustum::Frustum;

const A: DVec3 = DVec3::new(-0.1, 0.2, -0.3);
const B: DVec3 = DVec3::new(0.2, 0.0, 0.3);
const RADII: [[f64; 2]; 5] = [[0.3, 0.3], [0.1, 0.4], [0.4, 0.05], [0.0, 0.3], [0.5, 0.0]];

/// Points of the surface, at most `step` apart along and across.
fn samples([ra, rb]: [f64; 2], step: f64) -> Vec<DVec3> {
    let up = (B - A).normalize();
    let (u, v) = up.any_orthonormal_pair();
    let mut points = Vec::new();
    let mut line = |from: (DVec3, f64), to: (DVec3, f64)| {
        let count = (from.0.distance(to.0).hypot(from.1 - to.1) / step).ceil();
        for k in 0..=count as u32 {
            let s = f64::from(k) / count;
            let (middle, radius) = (from.0.lerp(to.0, s), from.1 + (to.1 - from.1) * s);
            let around = (std::f64::consts::TAU * radius / step).ceil().max(1.0);
            points.extend((0..around as u32).map(|i| {
                let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / around).sin_cos();
                middle + (u * cos + v * sin) * radius
            }));
        }
    };
    line((A, ra), (B, rb));
    if ra > 0.0 {
        line((A, 0.0), (A, ra));
    }
    if rb > 0.0 {
        line((B, 0.0), (B, rb));
    }
    points
}

fn is_inside([ra, rb]: [f64; 2], x: DVec3) -> bool {
    let length = A.distance(B);
    let h = (B - A).dot(x - A) / length;
    let rho = x.distance(A.lerp(B, h / length));
    (0.0..=length).contains(&h) && rho <= ra + (rb - ra) * h / length
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn distances_are_those_of_samples(x in prop::array::uniform3(-1.0..1.0f64)) {
        const STEP: f64 = 0.01;
        let x = DVec3::from(x);
        for radii in RADII {
            let d = Obstacle::cone(A, B, radii).unwrap().distance(0.0, x);
            let near = samples(radii, STEP).iter().map(|p| p.distance(x)).fold(f64::INFINITY, f64::min);
            // Samples are never nearer than the surface, and one lies within a step of any point.
            let value = d.value.abs();
            prop_assert!(near >= value - 1e-9 && near <= value.hypot(STEP) + 1e-3, "{radii:?}: {value} {near}");
            prop_assert_eq!(d.value <= 0.0, is_inside(radii, x), "{:?} {:?}", radii, d);
            // The gradient leads to the surface.
            let foot = x - d.gradient * d.value;
            let left = Obstacle::cone(A, B, radii).unwrap().distance(0.0, foot).value;
            prop_assert!(left.abs() < 1e-12, "{radii:?}: {left}");
        }
    }
}

/// The flat sides are around the round shape, nowhere farther from it than a hundredth of the range
/// of contact, and a closed surface that points outwards.
#[test]
fn flat_sides_are_where_they_are_promised() {
    for (radii, range) in RADII.into_iter().flat_map(|radii| [10.0, 0.1, 3e-3, 1e-3].map(|r| (radii, r))) {
        let frustum = Frustum::new("cone", A, B, radii).unwrap().resolving(range);
        let (x, faces) = frustum.surface();
        let mesh = TriMesh::new(x.len(), &faces).unwrap();
        let solid = Obstacle::mesh(&mesh, &Field::from_vec(x.clone())).unwrap();
        let allowed = 0.01 * range;
        assert!(frustum.bulge() <= allowed, "{radii:?}, {range}: {}", frustum.bulge());
        // The next smaller number would not do, but for the fewest.
        assert!(frustum.bulge() > 0.44 * allowed || faces.len() < 64, "{radii:?}, {range}");
        let mut farthest: f64 = 0.0;
        for face in &faces {
            let [a, b, c] = face.map(|v| x[v as usize]);
            for k in 0..=10 {
                for l in 0..=10 - k {
                    let [s, t] = [k, l].map(|k| f64::from(k) / 10.0);
                    let point = a + (b - a) * s + (c - a) * t;
                    let distance = frustum.distance(point).value;
                    assert!(distance > -1e-14, "{radii:?}: {distance}");
                    farthest = farthest.max(distance);
                }
            }
        }
        assert!((0.9 * frustum.bulge()..=1.001 * frustum.bulge()).contains(&farthest), "{farthest}");
        for point in samples(radii, 0.05) {
            let depth = -solid.distance(0.0, point).value;
            assert!((-1e-14..=1.001 * frustum.bulge()).contains(&depth), "{depth}");
        }
        // Pictures have the same triangles, where these are not few.
        let (drawn, drawn_faces) = frustum.drawn();
        let corners = |x: &[DVec3], faces: &[[u32; 3]]| {
            faces.iter().map(|f| f.map(|v| x[v as usize])).collect::<Vec<_>>()
        };
        if range < 0.1 {
            assert_eq!(corners(&drawn, &drawn_faces), corners(&x, &faces));
        }
        assert!(drawn.len() > x.len() && drawn_faces.len() > 100);
    }
}

/// What is too large for its range has as many sides as there may be.
#[test]
fn sides_are_not_without_number() {
    let huge = Frustum::new("cylinder", A, B, [1e3; 2]).unwrap().resolving(1e-6);
    assert_eq!(huge.surface().1.len(), 4 * 4096 - 4);
    assert!(huge.bulge() < 3e-7 * 1e3);
}

#[test]
fn special_places_have_a_direction() {
    for radii in RADII {
        let cone = Obstacle::cone(A, B, radii).unwrap();
        let up = (B - A).normalize();
        let out = up.any_orthonormal_vector();
        for x in [A, B, A.midpoint(B), A - up, B + up, A + out * radii[0], B + out * radii[1]] {
            let d = cone.distance(0.0, x);
            assert!((d.gradient.length() - 1.0).abs() < 1e-12 && d.hessian.is_finite(), "{d:?}");
        }
        for (end, radius, x) in [(A, radii[0], A - up), (B, radii[1], B + up)] {
            let d = cone.distance(0.0, x);
            assert!((d.value - 1.0).abs() < 1e-12 && d.gradient.dot(x - end) > 1.0 - 1e-12, "{radius} {d:?}");
        }
    }
}

#[test]
fn what_is_no_cylinder_or_cone_is_refused() {
    let p = Positive::literal;
    let cone = |a, b, radii| Obstacle::cone(a, b, radii).unwrap_err().to_string();
    for (message, found) in [
        (
            "cylinder: the length of the axis is 0; the ends must lie apart, by at most 1e60 m",
            Obstacle::cylinder(A, A, p(1.0)).unwrap_err().to_string(),
        ),
        ("cone: a radius is -1; give zero or a positive number up to 1e60 m", cone(A, B, [-1.0, 1.0])),
        ("cone: a radius is NaN; give zero or a positive number up to 1e60 m", cone(A, B, [1.0, f64::NAN])),
        ("cone: each radius is 0; one of them must be positive", cone(A, B, [0.0, -0.0])),
        (
            "an end of the axis of an obstacle is [inf, inf, inf], which is not finite",
            cone(A, DVec3::INFINITY, [1.0, 0.0]),
        ),
    ] {
        assert_eq!(found, message);
    }
}
