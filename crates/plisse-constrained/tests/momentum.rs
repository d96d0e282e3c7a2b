//! Free flight: momenta and kinetic energy are kept as the table says (formula sheet A6).
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{developable, faceted, p, system};
use glam::DVec3;
use plisse_constrained::{FastProjection, ProjectionSettings};
use plisse_core::Field;
use plisse_system::{Integrator, Scheme, State};

/// Drifts of linear and angular momentum, relative, and the part of the kinetic energy that is kept
/// after a hundred steps of 5 ms.
fn fly(scheme: Scheme) -> [f64; 3] {
    let (mesh, x) = faceted(6, 1.5);
    let system = system(&mesh, 0.2, 1e-9, DVec3::ZERO);
    let x = mesh.midpoints(&x).unwrap();
    let spin = DVec3::new(1.0, -0.6, 1.4);
    let centre = DVec3::new(0.5, 0.5, 0.0);
    let v = Field::from_fn(x.len(), |e| DVec3::new(0.3, 0.2, -0.4) + spin.cross(x[e] - centre));
    let settings = ProjectionSettings { tolerance: 1e-10, regularisation: 1e-10, ..Default::default() };
    let mut integrator = FastProjection::new(&system, developable(&mesh), scheme, settings).unwrap();
    let mut state = State::new(x, v).unwrap();
    let (linear, angular) = system.momenta(&state);
    let kinetic = |state: &State<_>| -> f64 {
        let mass = system.mass().unwrap();
        mass.iter().map(|(e, m)| 0.5 * m * state.v()[e].length_squared()).sum()
    };
    let before = kinetic(&state);
    for _ in 0..100 {
        integrator.step(&system, &mut state, p(0.005)).unwrap();
    }
    let (after, turned) = system.momenta(&state);
    [
        after.distance(linear) / linear.length(),
        turned.distance(angular) / angular.length(),
        kinetic(&state) / before,
    ]
}

#[test]
fn momenta_drift_as_little_as_the_schemes_allow() {
    let [linear, angular, kept] = fly(Scheme::Bdf2);
    assert!(linear < 2e-12 && angular < 2e-4 && kept > 0.9996, "{linear:e} {angular:e} {kept}");
    let [linear, angular, kept] = fly(Scheme::BackwardEuler);
    assert!(linear < 2e-12 && angular < 1e-2 && kept > 0.99, "{linear:e} {angular:e} {kept}");
}
