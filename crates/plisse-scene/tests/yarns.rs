//! Yarns in scenes: they fall, slide, rest on a ball and resume as cloth does, and bad patches are
//! refused with yarn, crossing and line.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use std::path::Path;

use glam::{DVec2, DVec3};
use plisse_core::Positive;
use plisse_scene::file::Loaded;
use plisse_scene::scene::{
    Air, BodyContact, BodyInfo, Checkpoint, Cloth, Hold, Keyframe, Keyframes, Kind, Obstacle, Pick, Scene,
    SceneBuilder, Yarns,
};
use plisse_system::Scheme;
use plisse_yarn::{Woven, YarnMaterial};

const RADIUS: f64 = 6e-3;

fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn woven(counts: [usize; 2]) -> Woven {
    Woven { counts, ..Woven::default() }
}

/// A patch just above a ball.
fn on_ball(counts: [usize; 2], jitter: f64) -> SceneBuilder {
    let ball = Obstacle::sphere(DVec3::ZERO, p(RADIUS)).friction(0.3).unwrap();
    let patch = Yarns::woven(&woven(counts)).unwrap().at(DVec3::new(3e-4, 2e-4, RADIUS + 8e-4));
    Scene::builder().yarns(patch.jittered(jitter)).obstacle(ball).time_step(p(2e-3))
}

/// The smallest distance of the segments of a body from the origin, less their radii in contact.
fn clearance(body: &BodyInfo, x: &[DVec3]) -> f64 {
    let Kind::Yarns { model, radii, .. } = &body.kind else { panic!("not yarns") };
    let mut least = f64::INFINITY;
    for (yarn, radius) in model.patch().yarns().iter().zip(radii) {
        for ends in yarn.nodes.windows(2) {
            let [a, b] = [x[ends[0] as usize], x[ends[1] as usize]];
            let along = b - a;
            let t = (-a.dot(along) / along.length_squared()).clamp(0.0, 1.0);
            least = least.min((a + along * t).length() - radius);
        }
    }
    least
}

#[test]
fn yarns_fall_with_the_acceleration_of_gravity() {
    let mut scene = Scene::builder()
        .yarns(Yarns::woven(&woven([5, 4])).unwrap())
        .cloth(Cloth::sheet([2, 2], [0.1, 0.1]).unwrap().at(DVec3::X))
        .build()
        .unwrap();
    for _ in 0..5 {
        scene.step().unwrap();
    }
    // The yarns have an energy of their own for their weight, the cloth another.
    for v in scene.state().v().as_slice() {
        assert!((v.z + 9.81 * scene.time()).abs() < 1e-6 && v.truncate().length() < 1e-6, "{v}");
    }
}

#[test]
fn a_patch_on_a_ball_is_outside_of_it_at_every_step() {
    let mut scene = on_ball([17, 17], 0.0).build().unwrap();
    let mut touched = false;
    for _ in 0..30 {
        let report = scene.step().unwrap();
        let body = &scene.bodies()[0];
        let gap = clearance(body, scene.positions(body)) - RADIUS;
        assert!(gap > 0.0, "{gap} m at t = {}", scene.time());
        touched |= gap < 1e-4;
        assert!(report.unexplained < 0.05, "{}", report.unexplained);
        // Nor do the tubes that are drawn reach into it.
        let drawn = body.drawn_yarns(scene.positions(body)).unwrap();
        let nearest = drawn.points.iter().map(|x| x.length()).fold(f64::INFINITY, f64::min);
        assert!(nearest > RADIUS, "{nearest}");
    }
    assert!(touched);
    let x = scene.positions(&scene.bodies()[0]);
    let low = x.iter().map(|x| x.z).fold(f64::INFINITY, f64::min);
    assert!(low < RADIUS - 1e-3, "its corners have come down: {low}");
}

#[test]
fn threads_do_not_change_bits() {
    let state = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut scene = on_ball([20, 20], 1e-6).build().unwrap();
            for _ in 0..5 {
                scene.step().unwrap();
            }
            scene.checkpoint(1, 1).to_bytes()
        })
    };
    let one = state(1);
    assert_eq!(one, state(2));
    assert_eq!(one, state(3));
}

/// A thread is pulled out of a cloth that is held.
const PULLED: &str = r#"
    version = 1
    gravity = 0
    time = { duration = 0.06, step = 0.001 }
    [[cloth]]
    name = "cloth"
    model = "yarn"
    woven = { counts = [6, 5], spacing = [1e-3, 1e-3], tails = [1e-3, 0] }
    yarn = { friction = 0.3, press = 1e-3 }
    pin = [
      { group = "bottom" }, { group = "top" },
      { group = "warp 2 end", linear = true, motion = [{ time = 0 }, { time = 0.1, move = [5e-3, 0, 0] }] },
    ]
"#;

#[test]
fn a_pulled_thread_slides_and_its_end_is_an_event() {
    let mut scene = Loaded::parse(PULLED, "s", Path::new("")).unwrap().scene;
    assert!(scene.yarn_events().is_empty());
    scene.advance(p(0.01)).unwrap();
    assert!(scene.yarn_events().is_empty());
    let body = &scene.bodies()[0];
    let Kind::Yarns { model, .. } = &body.kind else { panic!("not yarns") };
    let arcs = body.arc_lengths(scene.state());
    assert_eq!(arcs.len(), model.own_count());
    let slid = arcs.iter().zip(model.patch().free_lengths()).map(|(now, rest)| (now - rest).abs());
    let slid = slid.fold(0.0, f64::max);
    assert!(slid > 3e-4 && slid < 6e-4, "{slid} m of 0.5 mm");
    scene.advance(p(0.02)).unwrap();
    let events = scene.yarn_events();
    assert_eq!(events.len(), 1, "{events:?}");
    let (body, event) = &events[0];
    assert_eq!(
        (*body, &*event.yarn, &*event.crossing),
        ("cloth", "warp 2", "the crossing of warp 2 and weft 0")
    );
    assert!(event.left > 0.0 && event.left < 2e-4);
    // It stays there, and the run goes on.
    scene.advance(p(0.01)).unwrap();
    assert!(scene.state().x().as_slice().iter().all(|x| x.is_finite()));
    assert_eq!(scene.yarn_events().len(), 1);
}

#[test]
fn a_resumed_run_has_the_bits_of_one_that_goes_on() {
    let load = || Loaded::parse(PULLED, "s", Path::new("")).unwrap();
    let mut loaded = load();
    loaded.scene.advance(p(0.012)).unwrap();
    let bytes = loaded.scene.checkpoint(1, loaded.tag).to_bytes();
    let mut again = load();
    assert_eq!(again.tag, loaded.tag);
    again.scene.set_state(Checkpoint::from_bytes(&bytes).unwrap().state).unwrap();
    for scene in [&mut loaded.scene, &mut again.scene] {
        scene.advance(p(0.015)).unwrap();
    }
    assert_eq!(loaded.scene.state(), again.scene.state());
    // A state of another patch is not taken for one of this.
    let mut other =
        Loaded::parse(&PULLED.replace("friction = 0.3", "friction = 0"), "s", Path::new("")).unwrap();
    assert_ne!(other.tag, loaded.tag);
    assert!(other.scene.set_state(Checkpoint::from_bytes(&bytes).unwrap().state).is_err());
}

#[test]
fn ten_disturbed_starts_finish() {
    for k in 1..=10 {
        let mut scene = on_ball([7, 7], 1e-5 * f64::from(k)).build().unwrap();
        for _ in 0..15 {
            scene.step().unwrap_or_else(|error| panic!("start {k}: {error}"));
        }
        let body = &scene.bodies()[0];
        assert!(clearance(body, scene.positions(body)) > RADIUS);
    }
}

/// A strip in the shape of a U whose upper half falls on the lower one.
#[test]
fn a_patch_can_touch_itself() {
    let touching = BodyContact { touches_itself: true, ..BodyContact::default() };
    let build = |shape: fn(DVec3) -> DVec3, gravity: f64| {
        let limp = YarnMaterial { bending: 1e-11, ..YarnMaterial::COTTON };
        let strip = Woven { warp: limp, weft: limp, ..woven([31, 4]) };
        let strip = Yarns::woven(&strip).unwrap().deformed(shape).contact(touching);
        let lower = (0..4).flat_map(|j| (0..16).map(move |i| 31 * j + i));
        let scene = Scene::builder().yarns(strip.pin(Pick::vertices(lower)));
        scene.gravity(DVec3::Z * -gravity).time_step(p(2e-3)).build().unwrap()
    };
    // Where it starts flat, nothing repels anything: not even neighbours that all but touch.
    let mut flat = build(|x| x + DVec3::Z * 1e-3, 0.0);
    let start = flat.state().x().clone();
    flat.step().unwrap();
    assert_eq!(flat.state().x(), &start);
    let bent = |x: DVec3| {
        let (radius, arc) = (2.5e-3, x.x + 2.5e-3 * std::f64::consts::FRAC_PI_2);
        let turn = (arc / radius).clamp(0.0, std::f64::consts::PI);
        let beyond = arc - turn * radius;
        let (sin, cos) = turn.sin_cos();
        DVec3::new(radius * sin + beyond * cos, x.y, radius * (1.0 - cos))
    };
    let mut scene = build(bent, 98.1);
    let gap = |scene: &Scene| {
        // Of the two ends, which lie above each other.
        let x = scene.positions(&scene.bodies()[0]);
        let (lower, upper): (Vec<DVec3>, Vec<DVec3>) =
            (0..4).flat_map(|j| (0..8).map(move |i| (x[31 * j + i], x[31 * j + 30 - i]))).unzip();
        let apart = |a: &DVec3| upper.iter().map(|b| a.distance(*b)).fold(f64::INFINITY, f64::min);
        lower.iter().map(apart).fold(f64::INFINITY, f64::min)
    };
    let first = gap(&scene);
    for _ in 0..40 {
        scene.step().unwrap();
        assert!(gap(&scene) >= 8e-4, "{}", gap(&scene));
    }
    assert!(gap(&scene) < 1.2e-3 && first > 3e-3, "{} {first}", gap(&scene));
}

fn message(cloth: &str) -> String {
    let text = format!("version = 1\ntime.duration = 1\n[[cloth]]\nmodel = \"yarn\"\n{cloth}\n");
    Loaded::parse(&text, "s", Path::new("")).err().map_or_else(String::new, |mistakes| mistakes.to_string())
}

#[test]
fn bad_patches_are_refused_with_yarn_crossing_and_line() {
    let patch = "woven = { counts = [4, 4], spacing = [1e-3, 1e-3] }\n";
    assert_eq!(message(patch), "");
    assert_eq!(message(&format!("{patch}yarn = {{ weave = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] }}")), "");
    for (text, expected) in [
        ("", "s:3: [[cloth]] with model = \"yarn\" needs one of woven, mesh"),
        ("woven = { counts = [4, 4], spacing = [0, 1e-3] }", "s:5: 0 is not a positive number"),
        ("woven = { counts = [4, 4] }", "s:5: woven needs one of spacing, size"),
        (
            "woven = { counts = [1, 4], size = [1e-3, 1e-3] }",
            "s:5: warp 0 has 1 crossing(s); a yarn needs at least two",
        ),
        (
            "woven = { counts = [4, 4], spacing = [1e-3, 1e-3] }\nyarn = { warp = { radius = -1e-4 } }",
            "s:6: -1e-4 is not a positive number",
        ),
        (
            "woven = { counts = [4, 4], spacing = [1e-3, 1e-3] }\nyarn = { weft = { radius = 6e-4 } }",
            "s:5: between the crossing of warp 0 and weft 0 and the next one, warp 0 has 0.001 m of material, but \
             the yarns there need 0.0012 m: give them smaller radii or a larger spacing",
        ),
        (
            "woven = { counts = [4, 4], spacing = [1e-3, 1e-3] }\nyarn = { single = [\n{ yarn = \"weft 2\", radius = 1.3e-3 }] }",
            "s:7: between the crossing of warp 0 and weft 1 and the next one, warp 0 has 0.001 m of material, but \
             the yarns there need 0.0015 m: give them smaller radii or a larger spacing",
        ),
        (
            "woven = { counts = [4, 4], spacing = [1e-3, 1e-3] }\nyarn = { single = [{ yarn = \"weft 4\" }] }",
            "s:6: there is no yarn \"weft 4\"; there are 4 warp yarns and 4 weft yarns, counted from zero, such as \
             \"warp 0\"",
        ),
        (
            "woven = { counts = [4, 4], spacing = [1e-3, 1e-3] }\nyarn = { weave = \"satin 4/1\" }",
            "s:6: a satin of 4 with step 1 is none; give a size from 5 to 64 and a step from 2 to size - 2 without \
             a common divisor",
        ),
        (
            "woven = { counts = [4, 4], spacing = [1e-3, 1e-3] }\nyarn = { weave = \"tweed\" }",
            "s:6: \"tweed\" is not \"plain\", \"twill 2/2\", \"satin 5/2\", or rows of 0 and 1: [[1, 0], [0, 1]], 1 \
             where the warp is on top",
        ),
        (
            "[cloth.woven]\ncounts = [4, 4]\nspacing = [1e-3, 1e-3]\ncut = [{ from = [1, 1], to = [2, 2] }]",
            "s:8: cut 0 (counted from zero) from [1.0, 1.0] to [2.0, 2.0] meets no yarn between two crossings; \
             coordinates are metres from the middle of the cloth",
        ),
        (
            "woven = { counts = [4, 4], spacing = [1e-3, 1e-3] }\nmaterial = \"silk\"",
            "s:6: yarns are described in the table \"yarn\"; remove \"material\"",
        ),
        (
            "woven = { counts = [4, 4], spacing = [1e-3, 1e-3] }\npressure = 1",
            "s:3: \"pressure\" does not go with model = \"yarn\"; remove it",
        ),
        ("woven = { counts = [4, 4], spacing = [1e-3, 1e-3] }\npin = [{ group = \"warp 4\" }]", "warp 4"),
        ("woven = { counts = [4000, 4000], spacing = [1, 1] }", "16016000 vertices are more than 1000000"),
    ] {
        let found = message(text);
        assert!(found == expected || (!expected.starts_with("s:") && found.contains(expected)), "{found}");
    }
    let other =
        "version = 1\ntime.duration = 1\n[[cloth]]\ngrid = { cells = [2, 2], size = [1, 1] }\nyarn = {}\n";
    assert_eq!(
        Loaded::parse(other, "s", Path::new("")).err().unwrap().to_string(),
        "s:5: \"yarn\" belongs to model = \"yarn\"; choose that, or remove it"
    );
}

#[test]
fn what_yarns_do_not_know_is_refused() {
    let refused = |scene: SceneBuilder, words: &str| {
        let error = scene.build().err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
    };
    let scene = || Scene::builder().yarns(Yarns::woven(&woven([4, 4])).unwrap());
    refused(scene().air(Air::default()), "cloth 1 is made of yarns: air does not act on them yet");
    refused(scene().scheme(Scheme::Bdf2), "backward Euler; choose this scheme");
    refused(scene().scheme(Scheme::Quasistatic), "backward Euler; choose this scheme");
}

#[test]
fn cuts_make_ends() {
    let cut = [DVec2::new(0.0, -1.2e-3), DVec2::new(0.0, 1.2e-3)];
    let torn = Yarns::woven_with_cuts(&woven([6, 5]), &[cut]).unwrap();
    // Three of five warp yarns are cut: each has two ends more.
    assert_eq!((torn.patch().len(), torn.patch().yarns().len()), (30 + 6, 11 + 3));
    // Both are pulled: the yarns that are cut carry less than those that are whole.
    let pulled = |cuts: &[[DVec2; 2]]| {
        let keys = |time, x| Keyframe { time, translation: DVec3::X * x, rotation: glam::DQuat::IDENTITY };
        let away = Keyframes::new(vec![keys(0.0, 0.0), keys(0.02, 3e-4)]).unwrap();
        let patch = Yarns::woven_with_cuts(&woven([6, 5]), cuts).unwrap().pin(Pick::group("left-ends"));
        let patch = patch.hold(Pick::group("right-ends"), Hold::Moving(away));
        let scene = Scene::builder().yarns(patch).gravity(DVec3::ZERO).time_step(p(1e-3));
        let mut scene = scene.build().unwrap();
        scene.advance(p(0.02)).unwrap();
        let strain = scene.strain(&scene.bodies()[0]);
        strain[2 * 6 + 1..2 * 6 + 5].iter().copied().fold(f64::NEG_INFINITY, f64::max)
    };
    let (torn, whole) = (pulled(&[cut]), pulled(&[]));
    assert!(whole > 0.01 && torn < 0.5 * whole, "{torn} {whole}");
}

/// The edges of a mesh of quads are yarns, with its groups and those of yarns.
#[test]
fn quads_are_woven() {
    let folder = std::env::temp_dir().join(format!("plisse yarns {}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut text = String::new();
    for j in 0..4 {
        for i in 0..5 {
            text += &format!("v {} {} 0\n", i, 0.2 * f64::from(i) + f64::from(j));
        }
    }
    text += "g all\n";
    for j in 0..3 {
        for i in 0..4 {
            let v = 5 * j + i + 1;
            text += &format!("f {} {} {} {}\n", v, v + 1, v + 6, v + 5);
        }
    }
    std::fs::write(folder.join("quads.obj"), &text).unwrap();
    std::fs::write(folder.join("triangle.obj"), format!("{text}f 1 2 7\n")).unwrap();
    let scene = |mesh: &str, pin: &str| {
        let text = format!(
            "version = 1\ntime.duration = 1\ntime.step = 1e-3\n[[cloth]]\nmodel = \"yarn\"\nmesh = \"{mesh}.obj\"\n\
             mesh_unit = 1e-3\npin = [{{ group = \"{pin}\" }}]\n"
        );
        Loaded::parse(&text, "s", &folder).map_err(|mistakes| mistakes.to_string())
    };
    let mut loaded = scene("quads", "warp 0").unwrap();
    let Kind::Yarns { model, .. } = &loaded.scene.bodies()[0].kind else { panic!("not yarns") };
    let patch = model.patch();
    assert_eq!((patch.len(), patch.yarns().len()), (20, 9));
    // The first edge of the first quad is a piece of a warp yarn, whichever diagonal is shorter.
    assert_eq!(patch.yarns()[0].nodes, [0, 1, 2, 3, 4]);
    loaded.scene.step().unwrap();
    assert!(scene("quads", "all").is_ok());
    let error = scene("triangle", "all").err().unwrap();
    assert!(error.contains("line 34: the face has 3 corners: a patch of yarns needs quads"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}
