//! Sheets that give way along warp, weft or shear: the closed forms, the inextensible limit, and
//! the account of their energy.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{irregular, p, sheet};
use glam::{DVec2, DVec3};
use plisse_constrained::{
    Compliance, Constraint, CrMesh, Developable, DevelopableBuilder, ProjectionSettings, WovenTriangles,
    ribbon_edges,
};
use plisse_core::{Field, Id, Vertices, generate};
use plisse_system::{Integrator, Scheme, State, StepReport, System};

const DENSITY: f64 = 0.2;
const GRAVITY: f64 = 10.0;

/// A sheet whose left side is held, pulled by its weight along its first axis.
fn hanging(
    mesh: &CrMesh,
    uv: &Field<Vertices, DVec2>,
    soft: Compliance,
    scheme: Scheme,
) -> (Developable, State<Vertices>) {
    let x = generate::embed(uv);
    let mut builder = DevelopableBuilder::new(mesh.clone(), p(DENSITY))
        .gravity(DVec3::X * GRAVITY)
        .compliance(|_| soft)
        .scheme(scheme)
        .projection(ProjectionSettings { tolerance: 1e-5, ..ProjectionSettings::implicit() });
    for (v, at) in x.iter().filter(|(_, at)| at.x < 1e-9) {
        builder = builder.pin(v, *at);
    }
    (builder.build().unwrap(), State::at_rest(x).unwrap())
}

fn run(sheet: &mut Developable, state: &mut State<Vertices>, dt: f64, steps: usize) -> Vec<StepReport> {
    let system = System::builder(Field::filled(state.x().len(), 1.0)).build().unwrap();
    (0..steps).map(|_| sheet.step(&system, state, p(dt)).unwrap()).collect()
}

fn tip(state: &State<Vertices>) -> f64 {
    state.x().as_slice().iter().map(|x| x.x).fold(0.0, f64::max)
}

/// The force per width `n = λ σ` of a stress `σ = E/S` with `E = (λ² - 1)/2`.
fn stretch_under(n: f64, compliance: f64) -> f64 {
    (0..50)
        .fold(1.0, |l: f64, _| l - (0.5 * l * (l * l - 1.0) - compliance * n) / (0.5 * (3.0 * l * l - 1.0)))
}

/// A strip that hangs is longer by the compliance times the load, and stores what it should. With
/// either scheme it stays so: the compliance of a row is that of the scheme's own step.
#[test]
fn a_strip_stretches_by_compliance_times_load() {
    let compliance = 0.02;
    let warp = Compliance { warp: compliance, ..Compliance::default() };
    // The ribbon is conforming: beside inextensible weft and shear, irregular triangles of it can
    // stretch only all alike.
    let all = Compliance { warp: compliance, weft: compliance, shear: compliance };
    let meshes = [(sheet([10, 3], [1.0, 0.3]), warp), (irregular([10, 3], [1.0, 0.3], 5), all)];
    for ((mesh, uv), soft) in &meshes {
        let soft = *soft;
        let (mut cloth, mut state) = hanging(mesh, uv, soft, Scheme::BackwardEuler);
        // Its period is a quarter of a second, which backward Euler damps.
        run(&mut cloth, &mut state, 0.01, 400);
        for scheme in [Scheme::BackwardEuler, Scheme::Bdf2] {
            let (mut cloth, _) = hanging(mesh, uv, soft, scheme);
            let reports = run(&mut cloth, &mut state, 0.01, 50);
            let (mut longer, mut energy) = (0.0, 0.0);
            for k in 0..1000 {
                let load = DENSITY * GRAVITY * (1.0 - (f64::from(k) + 0.5) * 1e-3);
                let stretch = stretch_under(load, compliance);
                longer += 1e-3 * (stretch - 1.0);
                energy += 1e-3 * 0.3 * (0.5 * (stretch * stretch - 1.0)).powi(2) / (2.0 * compliance);
            }
            let found = tip(&state) - 1.0;
            assert!((found / longer - 1.0).abs() < 0.02, "{scheme:?}: {found} {longer}");
            let last = reports.last().unwrap();
            let stored = last.energies.terms.iter().find(|term| term.name == "compliance").unwrap().energy;
            assert!((stored / energy - 1.0).abs() < 0.02, "{scheme:?}: {stored} {energy}");
            assert!(last.energies.kinetic < 1e-4 * energy, "{scheme:?} moves: {}", last.energies.kinetic);
        }
    }
}

/// Threads hold their length where only shear gives way.
#[test]
fn threads_hold_where_only_shear_is_soft() {
    for (mesh, uv) in [sheet([6, 6], [0.6, 0.6]), irregular([6, 6], [0.6, 0.6], 2)] {
        let soft = Compliance { shear: 0.05, ..Compliance::default() };
        let x = generate::embed(&uv);
        let (mut cloth, mut state) = {
            let builder = DevelopableBuilder::new(mesh.clone(), p(DENSITY))
                .gravity(DVec3::new(6.0, 6.0, -1.0))
                .bending(p(1e-4))
                .compliance(|_| soft)
                .scheme(Scheme::BackwardEuler)
                .pin(Id::new(0), x[Id::new(0)]);
            (builder.build().unwrap(), State::at_rest(x).unwrap())
        };
        run(&mut cloth, &mut state, 0.01, 60);
        let edges = cloth.edges(&state).unwrap();
        let mut largest: f64 = 0.0;
        for face in mesh.mesh().faces().ids() {
            let f = mesh.deformation_gradient(face, edges.x()).to_array();
            let (u, v) = (DVec3::from_slice(&f[..3]), DVec3::from_slice(&f[3..]));
            assert!((u.length() - 1.0).abs() < 1e-4 && (v.length() - 1.0).abs() < 1e-4, "{face}");
            largest = largest.max(u.dot(v).abs());
        }
        assert!(largest > 0.02, "shear gives way: {largest}");
    }
}

/// A compliance next to nothing moves like rows without any.
#[test]
fn without_compliance_it_is_inextensible() {
    let (mesh, uv) = irregular([5, 5], [0.5, 0.5], 4);
    let ends = [0.0, 1e-9].map(|s| {
        let soft = Compliance { warp: s, weft: s, shear: s };
        // Beside the plane: a flat sheet is a singular point.
        let x = uv.map(|u| common::on_cylinder(*u, 1.5, 0.0));
        let builder = DevelopableBuilder::new(mesh.clone(), p(DENSITY))
            .gravity(DVec3::NEG_Z * GRAVITY)
            .bending(p(1e-4))
            .compliance(|_| soft)
            .projection(ProjectionSettings { tolerance: 1e-7, ..ProjectionSettings::implicit() })
            .pin(Id::new(0), x[Id::new(0)]);
        let mut cloth = builder.build().unwrap();
        let mut state = State::at_rest(x).unwrap();
        run(&mut cloth, &mut state, 0.005, 20);
        state.x().clone()
    });
    let apart = ends[0].ids().map(|v| ends[0][v].distance(ends[1][v])).fold(0.0, f64::max);
    let fallen = ends[0].ids().map(|v| (common::on_cylinder(uv[v], 1.5, 0.0) - ends[0][v]).length());
    let fallen = fallen.fold(0.0, f64::max);
    assert!(fallen > 0.02 && apart < 1e-3 * fallen, "{apart} of {fallen}");
}

/// A strip that swings up and down exchanges energy with its threads. Nothing comes from nowhere,
/// and backward Euler over BDF2 loses what it does elsewhere.
#[test]
fn the_energy_of_threads_is_in_the_account() {
    let (mesh, uv) = sheet([8, 2], [1.0, 0.25]);
    let soft = Compliance { warp: 0.02, ..Compliance::default() };
    let [euler, bdf2] = [Scheme::BackwardEuler, Scheme::Bdf2].map(|scheme| {
        let (mut cloth, mut state) = hanging(&mesh, &uv, soft, scheme);
        let reports = run(&mut cloth, &mut state, 0.0025, 100);
        let most = reports.iter().map(|r| r.energies.elastic()).fold(0.0, f64::max);
        assert!(reports.iter().all(|r| r.unexplained < 0.01), "gains");
        for pair in reports.windows(2) {
            // What a step begins with is what the last one ended with.
            assert!((pair[0].balance.after - pair[1].balance.before).abs() < 1e-9 * most);
        }
        (reports[0].balance.before - reports.last().unwrap().energies.total()) / most
    });
    assert!(bdf2 > -0.02 && bdf2 < 0.2 && euler > 2.0 * bdf2, "{euler} {bdf2}");
}

/// Where ribbon edges lie along inextensible threads, one of two equal rows is left out.
#[test]
fn rows_that_follow_from_the_ribbon_are_left_out() {
    let (mesh, _) = sheet([4, 4], [1.0, 1.0]);
    let ribbon = ribbon_edges(&mesh);
    let rows = |soft: Compliance| {
        let woven = WovenTriangles::new(&mesh, &ribbon, |_| soft).unwrap();
        (0..woven.groups()).map(|group| woven.rows(group)).sum::<usize>()
    };
    let aligned = ribbon.iter().filter(|edge| {
        let g = mesh.gradients(edge.second)[edge.corner];
        g.x.abs() < 1e-9 || g.y.abs() < 1e-9
    });
    let aligned = aligned.count();
    assert!(aligned > 0);
    assert_eq!(rows(Compliance { shear: 0.1, ..Compliance::default() }), 3 * 32 - aligned);
    assert_eq!(rows(Compliance { warp: 0.1, weft: 0.1, shear: 0.1 }), 3 * 32);
    let error = WovenTriangles::new(&mesh, &ribbon, |_| Compliance { weft: -1.0, ..Compliance::default() });
    assert_eq!(
        error.err().unwrap().to_string(),
        "the compliance of weft is -1: give a number from 0 to 1e6, in m/N"
    );
}
