//! The bending energy of minimisers under hard constraints (formula sheet A4): a strip whose end is
//! turned by a quarter.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use std::f64::consts::FRAC_PI_2;

use common::{p, sheet, vectors};
use glam::DVec3;
use plisse_constrained::{DevelopableBuilder, EdgeBending, ProjectionSettings};
use plisse_core::{Edges, Field, Id, Vertices};
use plisse_system::{Adaptive, Integrator, Scheme, State, System};

/// Energy of the minimiser over that of an arc. The columns of cells at both ends are clamped, the
/// right one where an arc between them ends.
fn ratio(n: usize, ribbon: bool) -> f64 {
    let (mesh, uv) = sheet([n, n / 2], [1.0, 0.5]);
    let h = 1.0 / n as f64;
    let free = 1.0 - 2.0 * h;
    let radius = free / FRAC_PI_2;
    let x: Field<Vertices, DVec3> = uv.map(|u| {
        let s = (u.x - h).clamp(0.0, free) / radius;
        let arc = DVec3::new(radius * s.sin(), u.y, radius * (1.0 - s.cos()));
        arc + DVec3::new((u.x - h).min(0.0), 0.0, (u.x - h - free).max(0.0))
    });
    let is_clamped = |e: &Id<Edges>| {
        let ends = mesh.mesh().edges()[*e].vertices.map(|v| uv[v].x);
        ends.iter().all(|u| *u < 1.01 * h) || ends.iter().all(|u| *u > 1.0 - 1.01 * h)
    };
    let clamps: Vec<Id<Edges>> = mesh.mesh().edges().ids().filter(is_clamped).collect();
    let bending = EdgeBending::new(&mesh, p(1.0));
    let settings = ProjectionSettings { tolerance: 1e-6, ..ProjectionSettings::implicit() };
    let builder = DevelopableBuilder::new(mesh, p(1.0)).bending(p(1.0)).clamp(clamps);
    let builder = builder.scheme(Scheme::BackwardEuler).projection(settings);
    let builder = if ribbon { builder } else { builder.without_ribbon() };
    let mut strip = Adaptive::new(builder.build().unwrap(), p(1e-4));
    let vertices: System<Vertices> = System::builder(Field::filled(x.len(), 1.0)).build().unwrap();
    let mut state = State::at_rest(x).unwrap();
    // Backward Euler damps: an energy that stays is that of an equilibrium.
    let mut last = f64::INFINITY;
    for k in 0..200 {
        let report = strip.step(&vertices, &mut state, p(0.02)).unwrap();
        assert!(report.unexplained < 0.01, "{}", report.unexplained);
        let edges = strip.inner().edges(&state).unwrap();
        assert!(strip.inner().mesh().largest_stretch(edges.x()) < 1e-5);
        let energy = bending.energy(edges.x());
        if k > 20 && (energy / last - 1.0).abs() < 1e-5 {
            return energy / (FRAC_PI_2 * FRAC_PI_2 * 0.5 / (2.0 * free));
        }
        last = energy;
    }
    panic!("{n} cells have not come to rest: {last}");
}

#[test]
fn minimisers_have_the_energies_of_the_table() {
    let table = vectors()["roll_minimiser_ratio"].clone();
    for (name, ribbon) in [("with_ribbon_right", true), ("no_ribbon_right", false)] {
        for k in 0..3 {
            let n = table[name]["n"][k].as_u64().unwrap() as usize;
            let (found, expected) = (ratio(n, ribbon), table[name]["ratio"][k].as_f64().unwrap());
            assert!((found / expected - 1.0).abs() < 0.02, "{name} {n}: {found} instead of {expected}");
        }
    }
}
