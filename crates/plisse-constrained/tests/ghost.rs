//! The ghost mesh: averages, corrections and collisions (formula sheet A5).
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests compare bits where they are promised")]

mod common;

use std::sync::Arc;

use common::{p, sheet};
use glam::{DVec2, DVec3};
use plisse_collision::{Body, Colliders, ResponseSettings, intersections};
use plisse_constrained::{CrMesh, Developable, DevelopableBuilder, Ghost, GhostContact, GhostWeights};
use plisse_core::{Edges, Field, Id, SplitMix, TriMesh, Vertices, generate};
use plisse_system::{Adaptive, Integrator, Scheme, State, System};

fn jitter(random: &mut SplitMix, size: f64) -> DVec3 {
    DVec3::new(random.signed(), random.signed(), random.signed()) * size
}

/// Both variants reach the target; the paper's moves least, the other is an impulse.
#[test]
fn edges_follow_the_ghost_to_rounding() {
    for weights in [GhostWeights::Equal, GhostWeights::InverseMasses] {
        let (mesh, uv) = common::irregular([9, 8], [1.0, 0.9], 5);
        let inverse = mesh.edge_areas().map(|area| 1.0 / (0.2 * area));
        let mut ghost = Ghost::new(&mesh, &inverse, weights).unwrap();
        let mut random = SplitMix::new(1);
        let vertices = generate::embed(&uv);
        let start = mesh.midpoints(&vertices).unwrap().map(|x| *x + jitter(&mut random, 0.01));
        let at = ghost.average(&start);
        let mut x = start.clone();
        ghost.follow(&at, &mut x);
        assert_eq!(x, start, "nothing moves where the ghost is there");
        let target = Field::from_fn(at.len(), |v| at[v] + jitter(&mut random, 0.02));
        ghost.follow(&target, &mut x);
        let reached = ghost.average(&x);
        for (v, x) in reached.iter() {
            assert!(x.distance(target[v]) < 1e-12, "{weights:?} {v}");
        }
        // The change is in the range of W Aᵀ: orthogonal to what no vertex sees.
        let other = start.map(|_| jitter(&mut random, 1.0));
        let mut unseen = other.clone();
        let zero = Field::filled(at.len(), DVec3::ZERO);
        ghost.follow(&zero, &mut unseen);
        let weight = |e: Id<Edges>| if weights == GhostWeights::Equal { 1.0 } else { inverse[e] };
        let product: f64 = x.ids().map(|e| (x[e] - start[e]).dot(unseen[e]) / weight(e)).sum();
        let size: f64 = x.ids().map(|e| (x[e] - start[e]).length() * unseen[e].length() / weight(e)).sum();
        assert!(product.abs() < 1e-11 * size, "{product} {size}");
    }
}

#[test]
fn conforming_surfaces_are_their_own_ghosts() {
    let (mesh, uv) = common::irregular([9, 8], [1.0, 0.9], 5);
    let ghost = Ghost::new(&mesh, &mesh.edge_areas().map(|a| 1.0 / a), GhostWeights::Equal).unwrap();
    let x = uv.map(|u| common::on_cylinder(*u, 2.0, 20.0));
    let averaged = ghost.average(&mesh.midpoints(&x).unwrap());
    assert!(averaged.iter().all(|(v, y)| y.distance(x[v]) < 1e-14));
}

/// The vertices of a system that only counts them.
fn vertices(count: usize) -> System<Vertices> {
    System::builder(Field::filled(count, 1.0)).build().unwrap()
}

struct Fall {
    sheet: Adaptive<Developable>,
    mesh: TriMesh,
    system: System<Vertices>,
    state: State<Vertices>,
}

/// A ball of triangles about a point.
fn ball(radius: f64, centre: DVec3) -> (TriMesh, Field<Vertices, DVec3>) {
    let (mesh, x) = generate::sphere(3, radius).unwrap();
    let x = x.map(|x| *x + centre);
    (mesh, x)
}

/// A sheet above a ball, or without one.
fn fall(n: usize, seed: u64, with_ball: bool) -> Fall {
    fall_with(n, seed, with_ball, Scheme::Bdf2)
}

fn fall_with(n: usize, seed: u64, with_ball: bool, scheme: Scheme) -> Fall {
    let (mesh, uv) = sheet([n, n], [0.6, 0.6]);
    let mut random = SplitMix::new(seed);
    let shift = jitter(&mut random, 0.01);
    let x = uv.map(|u| DVec3::new(u.x - 0.3, u.y - 0.3, 0.16) + shift);
    let count = x.len();
    let (obstacle, places) = ball(0.15, DVec3::ZERO);
    let extra = if with_ball { places.len() } else { 0 };
    let mut colliders = Colliders::new(count + extra);
    let topology = mesh.mesh().clone();
    colliders.add_surface(Body(0), &topology.among(0, count + extra), 5e-4).unwrap();
    let mut around = Vec::new();
    if with_ball {
        colliders.add_surface(Body(1), &obstacle.among(count as u32, count + extra), 5e-4).unwrap();
        around = places.as_slice().to_vec();
    }
    let rest = plisse_core::RestShape::from_uv(&topology, &uv).unwrap();
    let inverse = rest.vertex_areas(&topology).map(|a| 1.0 / (0.2 * a));
    let settings = ResponseSettings { friction: 0.3, reach: 2e-3, ..Default::default() };
    let places = Arc::new(move |_: f64, _: f64, _: &Field<Vertices, DVec3>| around.clone());
    let contact = GhostContact::new(colliders, &inverse, places, settings, Vec::new()).unwrap();
    let sheet = DevelopableBuilder::new(mesh, p(0.2)).bending(p(1e-5)).gravity(DVec3::NEG_Z * 9.81);
    let sheet = sheet.contact(contact).scheme(scheme).build().unwrap();
    let state = State::at_rest(x).unwrap();
    Fall { sheet: Adaptive::new(sheet, p(1e-5)), mesh: topology, system: vertices(count), state }
}

/// A crossing of the sheet with itself or the ball.
fn crossings(fall: &Fall) -> usize {
    let (obstacle, places) = ball(0.15, DVec3::ZERO);
    let (count, total) = (fall.state.x().len(), fall.state.x().len() + places.len());
    let all = fall.state.x().as_slice().iter().chain(places.as_slice()).copied().collect();
    let meshes = [fall.mesh.among(0, total), obstacle.among(count as u32, total)];
    let found = intersections(&[&meshes[0], &meshes[1]], &Field::from_vec(all));
    found.crossings.len() + found.folds.len()
}

/// Draped over a ball: every frame is free of intersections, and edges keep their length.
#[test]
fn a_sheet_folds_over_a_ball_without_crossing() {
    let mut fall = fall(12, 1, true);
    let mesh = fall.sheet.inner().mesh();
    let ones = mesh.edge_areas().map(|_| 1.0);
    let ghost = Ghost::new(mesh, &ones, GhostWeights::Equal).unwrap();
    let edge = mesh.mean_edge();
    let mut touched = 0;
    for _ in 0..60 {
        fall.sheet.step(&fall.system, &mut fall.state, p(0.01)).unwrap();
        let last = fall.sheet.inner().last();
        touched += last.response.as_ref().unwrap().contacts + last.repelled;
        assert!(last.projection.error() <= 1e-4);
        let edges = fall.sheet.inner().edges(&fall.state).unwrap();
        // What is drawn is what moves, but for what the report says.
        let seen = ghost.average(edges.x());
        let apart = seen.iter().map(|(v, x)| x.distance(fall.state.x()[v])).fold(0.0, f64::max);
        assert!((apart - last.apart).abs() < 1e-12 && apart < 0.1 * edge, "{apart} {}", last.apart);
        let stretch = fall.sheet.inner().mesh().largest_stretch(edges.x());
        assert!(stretch < 1e-4, "t = {}: {stretch}", fall.state.time());
        assert_eq!(crossings(&fall), 0, "t = {}", fall.state.time());
    }
    assert!(touched > 100, "{touched}");
    // It lies on the ball and hangs down at the sides.
    let (low, high) =
        fall.state.x().iter().fold((f64::MAX, f64::MIN), |(l, h), (_, x)| (l.min(x.z), h.max(x.z)));
    assert!(high < 0.165 && low < 0.1, "{low} {high}");
}

/// Where nothing touches, contact changes nothing, and the ghost is the average of the edges.
#[test]
fn without_a_collision_the_edges_keep_their_bits() {
    let mut apart = fall(6, 1, true);
    let mut alone = fall(6, 1, false);
    for k in 0..3 {
        for fall in [&mut apart, &mut alone] {
            // Ten micrometres in three steps: far from the ball.
            fall.sheet.step(&fall.system, &mut fall.state, p(5e-4)).unwrap();
        }
        assert!(apart.sheet.inner().last().response.as_ref().unwrap().is_untouched());
        assert_eq!(apart.state, alone.state, "{k}");
        let edges = apart.sheet.inner().edges(&apart.state).unwrap();
        assert_eq!(apart.sheet.inner().ghost().average(edges.x()), *apart.state.x());
    }
}

/// A saved state goes on with the same bits, whatever the number of threads.
#[test]
fn resumed_runs_and_pools_have_the_same_bits() {
    let run = |threads: usize, saved: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut fall = fall(24, 2, true);
            for k in 0..14 {
                if k == 10 {
                    Integrator::<Vertices>::forget(&mut fall.sheet);
                    if saved {
                        fall.sheet = self::fall(24, 2, true).sheet;
                        let s = &fall.state;
                        fall.state = State::resume(
                            s.x().clone(),
                            s.v().clone(),
                            s.own().clone(),
                            s.time(),
                            s.previous().cloned(),
                            s.acceleration().cloned(),
                            s.ledger().copied(),
                        )
                        .unwrap();
                    }
                }
                fall.sheet.step(&fall.system, &mut fall.state, p(0.01)).unwrap();
            }
            fall.state
        })
    };
    let first = run(1, false);
    assert_eq!(first, run(3, false));
    assert_eq!(first, run(2, true));
}

fn strip(n: usize, pins: [DVec3; 2]) -> Result<Developable, plisse_constrained::ConstrainedError> {
    let (mesh, _): (CrMesh, Field<Vertices, DVec2>) = sheet([n, n], [1.0, 1.0]);
    let corners = [(n * (n + 1)) as u32, ((n + 1) * (n + 1) - 1) as u32];
    let mut sheet = DevelopableBuilder::new(mesh, p(0.2)).bending(p(1e-5)).gravity(DVec3::NEG_Z * 9.81);
    for (corner, place) in corners.into_iter().zip(pins) {
        sheet = sheet.pin(Id::new(corner), place);
    }
    sheet.build()
}

/// Figure 3, left: flat and taut between its pins. Steps are halved where they must be, and lengths
/// stay.
#[test]
fn flat_and_taut_starts_are_met_by_shorter_steps() {
    let n = 12;
    let sheet = strip(n, [DVec3::Y, DVec3::new(1.0, 1.0, 0.0)]).unwrap();
    let (_, uv) = common::sheet([n, n], [1.0, 1.0]);
    let mut state = State::at_rest(generate::embed(&uv)).unwrap();
    let system = vertices(state.x().len());
    let mut sheet = Adaptive::new(sheet, p(1e-5));
    let mut rejected = 0;
    for _ in 0..40 {
        let report = sheet.step(&system, &mut state, p(0.01)).unwrap();
        rejected += report.rejected;
        let edges = sheet.inner().edges(&state).unwrap();
        assert!(sheet.inner().mesh().largest_stretch(edges.x()) < 1.01e-4);
    }
    // Twenty cells a side reject five.
    assert!(rejected < 20, "{rejected}");
    let lowest = state.x().iter().map(|(_, x)| x.z).fold(0.0, f64::min);
    assert!(lowest < -0.3, "{lowest}");
}

#[test]
fn pins_out_of_reach_are_named_with_what_is_missing() {
    let error = strip(4, [DVec3::Y, DVec3::new(1.3, 1.0, 0.0)]).err().unwrap();
    assert_eq!(
        error.to_string(),
        "the pin of vertex 20 and the pin of vertex 24 are 1.300000 m apart at t = 0 s, but the cloth \
         between them is only 1.000000 m long: 0.300000 m are missing. Move the pins closer together \
         or give the cloth more length"
    );
    // A pin that leaves while the sheet moves: the step names it, and the state stays.
    let (mesh, x) = common::faceted(4, 1.5);
    let ends = [20, 24].map(|v| x[Id::new(v)]);
    let away = Arc::new(move |t: f64| ends[1] + DVec3::X * t);
    let sheet = DevelopableBuilder::new(mesh, p(0.2)).pin(Id::new(20), ends[0]).move_pin(Id::new(24), away);
    let mut sheet = Adaptive::new(sheet.build().unwrap(), p(1e-4));
    let mut state = State::at_rest(x).unwrap();
    let system = vertices(25);
    let error = loop {
        let before = state.clone();
        match sheet.step(&system, &mut state, p(0.02)) {
            Ok(_) => assert!(state.time() < 0.12),
            Err(error) => {
                assert_eq!(state, before);
                break error.to_string();
            }
        }
    };
    assert!(error.contains("the pin of vertex 20 and the pin of vertex 24"), "{error}");
    assert!(error.contains("m are missing"), "{error}");
}

/// A sheet that falls on a ball at rest and slides down loses energy and gains none: corrections of
/// positions would else drive it.
#[test]
fn contact_with_what_rests_gives_no_energy() {
    for scheme in [Scheme::BackwardEuler, Scheme::Bdf2] {
        let mut fall = fall_with(10, 3, true, scheme);
        let (mut last, mut scale): (f64, f64) = (f64::INFINITY, 0.0);
        for step in 0..40 {
            let report = fall.sheet.step(&fall.system, &mut fall.state, p(0.01)).unwrap();
            let total = report.energies.total();
            scale = scale.max(report.energies.kinetic);
            // Rows are kept to 1e-4, and BDF2 gains a little after contacts.
            let most = if scheme == Scheme::Bdf2 { 0.02 } else { 2e-3 };
            assert!(total <= last + most * scale, "{scheme:?} {step}: {last} {total}, {scale}");
            last = total;
        }
        assert!(scale > 1e-3, "{scale}");
    }
}
