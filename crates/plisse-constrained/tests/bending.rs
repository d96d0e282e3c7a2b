//! Bending energies of cylinders against the closed form (formula sheet A4).
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{on_cylinder, p, sheet, vectors};
use plisse_constrained::EdgeBending;
use plisse_core::Edges;

/// Energy over `½ k Σ A_e` of interior edges, for midpoints on a cylinder and for vertices on it.
/// The operator is only weakly consistent: neither tends to one.
fn ratios(n: usize, angle: f64) -> [f64; 2] {
    let (mesh, uv) = sheet([n, n], [1.0, 1.0]);
    let bending = EdgeBending::new(&mesh, p(1.0));
    let areas = mesh.edge_areas();
    let interior = mesh.mesh().edges().iter().filter(|(_, edge)| !edge.is_boundary());
    let exact: f64 = 0.5 * interior.map(|(e, _)| areas[e]).sum::<f64>();
    // The curvature is along the angle, the rulings across it.
    let ruling = angle + 90.0;
    let flat: plisse_core::Field<Edges, _> = mesh.midpoints(&uv.map(|u| u.extend(0.0))).unwrap();
    let middle = flat.map(|u| on_cylinder(u.truncate(), 1.0, ruling));
    let vertices = mesh.midpoints(&uv.map(|u| on_cylinder(*u, 1.0, ruling))).unwrap();
    [bending.energy(&middle) / exact, bending.energy(&vertices) / exact]
}

#[test]
fn cylinders_have_the_energies_of_the_table() {
    let table = vectors()["cylinder_energy_ratio"].clone();
    for angle in [0, 30, 45, 90, 135] {
        for (k, n) in [8, 16, 32].into_iter().enumerate() {
            let expected = &table[format!("right_{angle}")][k];
            for (found, expected) in ratios(n, f64::from(angle))
                .into_iter()
                .zip(0..2)
                .map(|(f, i)| (f, expected[i].as_f64().unwrap()))
            {
                assert!((found / expected - 1.0).abs() < 1e-6, "{angle} {n}: {found} {expected}");
            }
        }
    }
}
