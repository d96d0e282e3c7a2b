//! Yarns that are pulled: friction holds them, jamming keeps crossings apart, ends are events.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

#[path = "common/run.rs"]
mod run;

use glam::DVec3;
use plisse_yarn::{Contacts, Woven, YarnMaterial, YarnModel};
use run::{Run, id};

const SPACING: f64 = 1e-3;
const WARPS: usize = 3;
const MIDDLE: usize = 1;

fn model(wefts: usize, friction: f64, tail: f64) -> YarnModel {
    let material = YarnMaterial {
        radius: 2e-4,
        density: 1e-4,
        stretch: 60.0,
        bending: 1e-9,
        stretch_damping: 1e-3,
        bending_damping: 1e-3,
    };
    let contacts = Contacts { shear: 1e-6, jamming: 1e3, friction, stick: 100.0, press: 1e-3 };
    let woven = Woven {
        counts: [wefts, WARPS],
        spacing: [SPACING; 2],
        tails: [tail, 0.0],
        warp: material,
        weft: material,
        contacts,
        ..Woven::default()
    };
    YarnModel::new(woven.patch().unwrap())
}

/// The end of the middle warp yarn that is pulled.
fn pulled_end(wefts: usize) -> usize {
    WARPS * wefts + 2 * MIDDLE + 1
}

/// Pulls the middle warp yarn at 0.1 m/s; everything on the outer warp yarns is held. Gives the
/// force by displacement.
fn pull(wefts: usize, friction: f64, tail: f64, displacement: f64) -> (Run, Vec<(f64, f64)>) {
    let (speed, dt) = (0.1, 2e-4);
    let end = pulled_end(wefts);
    let model = model(wefts, friction, tail);
    let start = model.patch().rest()[end];
    let mut run = Run::at_rest(model, DVec3::ZERO, 0.05, |builder| {
        let outer = (0..wefts).flat_map(|i| [i, (WARPS - 1) * wefts + i]);
        let ends =
            (0..2 * WARPS).map(|k| WARPS * wefts + k).filter(|k| k / 2 != (WARPS * wefts) / 2 + MIDDLE);
        let ends = ends.filter(|k| (k - WARPS * wefts) / 2 != MIDDLE);
        builder.pins(outer.chain(ends).map(id)).move_pin(id(end), move |t| start + DVec3::X * (speed * t))
    });
    let mut curve = Vec::new();
    for _ in 0..(displacement / (speed * dt)).round() as usize {
        run.step(dt);
        curve.push((run.state.time() * speed, run.force_at(end).x));
    }
    (run, curve)
}

/// The mean force of the last third of a pull.
fn plateau(curve: &[(f64, f64)]) -> f64 {
    let last = &curve[2 * curve.len() / 3..];
    last.iter().map(|(_, force)| force).sum::<f64>() / last.len() as f64
}

#[test]
fn the_pull_out_force_is_linear_in_crossings_and_in_friction() {
    let (tail, way) = (4.0 * SPACING, 1.5 * SPACING);
    let force = |wefts: usize, friction: f64| plateau(&pull(wefts, friction, tail, way).1);
    let forces: Vec<(usize, f64, f64)> = [(4, 0.3), (8, 0.3), (12, 0.3), (8, 0.15), (8, 0.6)]
        .into_iter()
        .map(|(wefts, friction)| (wefts, friction, force(wefts, friction)))
        .collect();
    for (wefts, friction, force) in forces {
        // Each crossing resists with coefficient times pressing force.
        let expected = wefts as f64 * friction * 1e-3;
        println!("{wefts} crossings, friction {friction}: {force:.3e} N, linear law {expected:.3e} N");
        assert!((force / expected - 1.0).abs() < 0.1, "{wefts} {friction}: {force} {expected}");
    }
}

#[test]
fn without_friction_a_pulled_yarn_comes_out_until_its_end() {
    let tail = 1.5 * SPACING;
    let (run, curve) = pull(4, 0.0, tail, 1.2 * SPACING);
    // Inertia alone resists: much less than one crossing with friction.
    assert!(plateau(&curve).abs() < 1e-4, "{}", plateau(&curve));
    let first = run.model.patch().yarns()[MIDDLE].nodes[0] as usize;
    let moved = run.state.x()[id(first)].x - run.model.patch().rest()[first].x;
    assert!(moved > 1.1 * SPACING, "{moved}");
    assert!(run.model.events(&run.state.own().values).is_empty());

    // Farther, and the last crossing is at the end of the yarn: it stays there, with a name.
    let (run, curve) = pull(4, 0.0, tail, 1.7 * SPACING);
    let events = run.model.events(&run.state.own().values);
    assert_eq!(events.len(), 1, "{events:?}");
    let text = events[0].to_string();
    assert!(text.contains("warp 1") && text.contains("weft 0"), "{text}");
    assert!(events[0].left > 0.0);
    assert!(run.state.x().iter().all(|(_, x)| x.is_finite()));
    assert!(curve.last().unwrap().1 > 1e-3, "the end holds: {:?}", curve.last());
}

/// A weft yarn is pushed along the warp yarns, harder than friction can hold.
#[test]
fn nothing_slides_past_a_neighbour() {
    let (wefts, warps) = (6, 5);
    let material = YarnMaterial { stretch_damping: 1e-3, ..YarnMaterial::COTTON };
    for friction in [0.0, 0.3] {
        let contacts = Contacts { friction, ..Contacts::COTTON };
        let woven = Woven {
            counts: [wefts, warps],
            tails: [3e-3, 0.0],
            warp: material,
            weft: material,
            contacts,
            ..Woven::default()
        };
        let model = YarnModel::new(woven.patch().unwrap());
        let patch = model.patch().clone();
        let rest = patch.rest().to_vec();
        let pushed: Vec<usize> = (0..warps).map(|j| j * wefts + 1).collect();
        let mut run = Run::at_rest(model, DVec3::ZERO, 0.1, |mut builder| {
            // The ends of the warp yarns are held, and those of the weft yarns but one.
            builder = builder.pins((0..2 * warps).map(|k| id(warps * wefts + k)));
            for &node in &pushed {
                let start = rest[node];
                // By two spacings: past its neighbour, if it could.
                builder = builder.move_pin(id(node), move |t| start + DVec3::X * (0.1 * t).min(2e-3));
            }
            builder
        });
        for _ in 0..120 {
            run.step(2e-4);
            let own = &run.state.own().values;
            for (yarn, of) in patch.yarns().iter().enumerate() {
                for place in 1..of.nodes.len() {
                    let at = |place| patch.arc_length(plisse_yarn::Passing { yarn, place }, own);
                    let (delta, needed) = (at(place) - at(place - 1), 4e-4);
                    let has_end = place == 1 || place + 1 == of.nodes.len();
                    let least = if has_end { 0.2 * needed } else { 0.7 * needed };
                    assert!(delta > least, "{} {place}: {delta}", of.name());
                }
            }
        }
        // The neighbour was pushed along.
        let neighbour = 2 * wefts + 2;
        let moved = run.state.x()[id(neighbour)].x - rest[neighbour].x;
        assert!(moved > 5e-4, "{moved}");
    }
}

/// A corner of a hanging patch carries many times its weight: with friction the yarns stay in
/// place.
#[test]
fn a_loaded_patch_does_not_slide_apart() {
    let slide = |friction: f64| {
        let contacts = Contacts { friction, press: 5e-3, ..Contacts::COTTON };
        let woven = Woven { counts: [8, 8], tails: [2e-3; 2], contacts, ..Woven::default() };
        let model = YarnModel::new(woven.patch().unwrap());
        let held: Vec<usize> = (0..8).map(|i| 7 * 8 + i).collect();
        let gravity = DVec3::new(0.0, -30.0 * 9.81, 0.0);
        let mut run = Run::at_rest(model, gravity, 0.1, |builder| builder.pins(held.into_iter().map(id)));
        for _ in 0..150 {
            run.step(5e-4);
        }
        let own = &run.state.own().values;
        let start = run.model.patch().free_lengths();
        own.iter().zip(start).map(|(u, s)| (u - s).abs()).fold(0.0, f64::max)
    };
    let (with, without) = (slide(0.5), slide(0.0));
    println!("slid {with:.2e} m with friction, {without:.2e} m without");
    assert!(with < 0.1e-3 && without > 5.0 * with, "{with} {without}");
}
