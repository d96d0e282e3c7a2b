//! The wavelength of a field of wrinkles.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use std::f64::consts::TAU;

use glam::DVec2;
use plisse_core::{
    Edges, Field, IsotropicSheet, PoissonRatio, Positive, RestShape, TriMesh, Vertices, generate,
};
use plisse_wrinkle::{BaseSheet, Curvature};

/// A strip, stretched and narrowed; its places at rest.
fn strip() -> (BaseSheet, Field<Vertices, DVec2>) {
    let (mesh, uv) = generate::irregular_grid(12, 8, [0.3, 0.2], 2).unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let x = uv.map(|u| glam::DVec3::new(1.1 * u.x, 0.8 * u.y, 0.0));
    let sheet = IsotropicSheet::new(
        Positive::new(1e6).unwrap(),
        PoissonRatio::literal(0.4),
        Positive::new(1e-4).unwrap(),
    );
    (BaseSheet::new(&mesh, rest.maps(), &x, sheet, Curvature::default()).unwrap(), uv)
}

fn differences(mesh: &TriMesh, phase: impl Fn(usize) -> f64) -> Field<Edges, f64> {
    Field::from_fn(mesh.edge_count(), |edge| {
        let [p, q] = mesh.edges()[edge].vertices;
        phase(p.max(q).index()) - phase(p.min(q).index())
    })
}

#[test]
fn a_plane_wave_has_its_own_length_whatever_its_amplitude() {
    let (base, uv) = strip();
    let k = DVec2::from_angle(0.7) * TAU / 0.013;
    let omega = differences(base.mesh(), |v| k.dot(uv.as_slice()[v]));
    for amplitude in
        [|_: &DVec2| 2e-3, |u: &DVec2| 1e-3 * u.x * (0.3 - u.x), |u: &DVec2| (u.y - 0.1).max(0.0)]
    {
        // Lengths at rest, although the base is narrower.
        let length = base.wavelength(&uv.map(amplitude), &omega).unwrap();
        assert!((length / 0.013 - 1.0).abs() < 1e-12, "{length}");
    }
}

#[test]
fn places_count_as_much_as_they_wrinkle() {
    let (base, uv) = strip();
    // A phase that turns back in the middle, and ten times as often where there is no amplitude.
    let phase = |v: usize| {
        let u = uv.as_slice()[v];
        TAU / 0.02 * if u.x > 0.25 { 10.0 * u.x } else { (u.y - 0.1).abs() }
    };
    let omega = differences(base.mesh(), phase);
    let part = uv.map(|u| if u.x > 0.2 { 0.0 } else { 1e-3 });
    let length = base.wavelength(&part, &omega).unwrap();
    // Faces across the middle have less than the full slope.
    assert!((0.02..0.025).contains(&length), "{length}");
    assert!(base.wavelength(&uv.map(|_| 1e-3), &omega).unwrap() < 0.5 * length);
    // Neither the sign of the phase nor the unit of the amplitude matters.
    assert_eq!(base.wavelength(&part, &omega.map(|o| -o)), Some(length));
    let doubled = base.wavelength(&part.map(|a| 2.0 * a), &omega).unwrap();
    assert!((doubled / length - 1.0).abs() < 1e-15);
}

#[test]
fn nothing_has_no_wavelength() {
    let (base, uv) = strip();
    let omega = differences(base.mesh(), |v| 100.0 * uv.as_slice()[v].y);
    assert_eq!(base.wavelength(&uv.map(|_| 0.0), &omega), None);
    assert_eq!(base.wavelength(&uv.map(|_| 1.0), &omega.map(|_| 0.0)), None);
    assert_eq!(base.wavelength(&uv.map(|_| f64::NAN), &omega), None);
}
