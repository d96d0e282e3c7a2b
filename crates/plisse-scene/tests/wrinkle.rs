//! Scenes of wrinkles, in code and from files.
#![cfg(feature = "file")]
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use std::f64::consts::{FRAC_PI_2, TAU};
use std::path::Path;

use glam::{DQuat, DVec3};
use plisse_core::{IsotropicSheet, PoissonRatio, Positive};
use plisse_scene::file::{AnyScene, Loaded};
use plisse_scene::scene::{
    Cloth, Contact, Filling, Hold, Keyframe, Keyframes, Obstacle, Pick, WrinkleFrame, WrinkleOptions,
    WrinkleScene,
};

fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn film() -> IsotropicSheet {
    IsotropicSheet::new(p(1e6), PoissonRatio::literal(0.5), p(1e-4))
}

/// A motion from rest at 0 s to this at 1 s, at constant speed.
fn motion(translation: DVec3, rotation: DQuat) -> Hold {
    let frames = vec![
        Keyframe { time: 0.0, translation: DVec3::ZERO, rotation: DQuat::IDENTITY },
        Keyframe { time: 1.0, translation, rotation },
    ];
    Hold::Moving(Keyframes::new(frames).unwrap().linear())
}

/// A film of 0.25 m by 0.1 m between its ends, the right one pulled by a tenth of the length within
/// a second.
fn pulled() -> WrinkleScene {
    let cloth = Cloth::delaunay([25, 10], [0.25, 0.1], 1)
        .unwrap()
        .pin(Pick::group("left"))
        .hold(Pick::group("right"), motion(DVec3::X * 0.025, DQuat::IDENTITY));
    let options = WrinkleOptions { clamped: true, ..WrinkleOptions::default() };
    WrinkleScene::new(&cloth, film()).unwrap().with_options(options).unwrap()
}

#[test]
fn a_pulled_film_wrinkles_along_the_pull() {
    let mut scene = pulled();
    let frame = scene.next_frame(0.5).unwrap();
    let report = &frame.field.report;
    assert!(report.converged() && report.terms.total() < report.smooth_energy);
    assert!(frame.change.is_none() && frame.jump().is_none() && frame.time == 0.5);
    // The right end is where its motion has it.
    let right = frame.base.x.as_slice().iter().fold(f64::MIN, |m, x| m.max(x.x));
    assert!((right - 0.1375).abs() < 1e-12, "{right}");
    // About half a millimetre, as in the paper; clamped ends are flat; and the surface is as high
    // as the amplitude.
    let largest = frame.largest_amplitude();
    assert!((2e-4..8e-4).contains(&largest), "{largest}");
    for (v, x) in frame.base.x.iter().filter(|(_, x)| (x.x - right).abs() < 1e-9) {
        assert_eq!(frame.field.amplitude[v], 0.0, "{x}");
    }
    let surface = scene.surface(&frame).unwrap();
    let highest = surface.x.as_slice().iter().fold(0.0, |m: f64, x| m.max(x.z.abs()));
    assert!((0.8 * largest..=largest).contains(&highest), "{highest} {largest}");
    // Crests run along the pull: the phase changes across it, several times.
    let omega = &frame.phase.omega;
    let (mut along, mut across) = (0.0, 0.0);
    for (edge, ends) in scene.mesh().edges().iter() {
        let [a, b] = ends.vertices;
        let d = (frame.base.x[b] - frame.base.x[a]).abs();
        let middle = (0.5 * (frame.base.x[a] + frame.base.x[b])).x.abs() < 0.06;
        if middle && d.x > 3.0 * d.y {
            along += omega[edge].abs() / d.length();
        } else if middle && d.y > 3.0 * d.x {
            across += omega[edge].abs() / d.length();
        }
    }
    assert!(across > 5.0 * along, "{across} {along}");
    // The same again, bit by bit.
    let again = pulled().next_frame(0.5).unwrap();
    assert_eq!(again.field.amplitude, frame.field.amplitude);
    assert_eq!(again.base.x, frame.base.x);
}

/// `a cos φ` at the first corner of a face where it is large before and afterwards.
fn flips(before: &WrinkleFrame, now: &WrinkleFrame, scene: &WrinkleScene) -> (f64, usize) {
    let visible = |frame: &WrinkleFrame| 0.2 * frame.largest_amplitude();
    let (mut largest, mut flips) = (0.0f64, 0);
    for (face, corners) in scene.mesh().faces().iter() {
        let (Some(old), Some(new)) = (before.phase.field.at(face), now.phase.field.at(face)) else {
            continue;
        };
        for k in 0..3 {
            let (a, b) = (before.field.amplitude[corners[k]], now.field.amplitude[corners[k]]);
            if a > visible(before) && b > visible(now) {
                let off = (new[k] - old[k]) / TAU;
                largest = largest.max(TAU * (off - off.round()).abs());
                flips += usize::from(old[k].cos() * new[k].cos() < -0.5);
            }
        }
    }
    (largest, flips)
}

#[test]
fn wrinkles_follow_a_moving_base_without_popping() {
    let mut scene = pulled();
    let mut before = scene.next_frame(0.4).unwrap();
    for frame in 1..=8 {
        let now = scene.next_frame(0.4 + 0.02 * f64::from(frame)).unwrap();
        let (largest, flips) = flips(&before, &now, &scene);
        assert!(largest < FRAC_PI_2 && flips == 0, "frame {frame}: {largest} rad, {flips} flips");
        assert!(now.jump().is_some_and(|jump| jump < FRAC_PI_2), "{:?}", now.jump());
        before = now;
    }
}

/// A tube whose upper end is turned, by 10 degrees at 1 s; alone, frames have 37 waves at 0.4 s and
/// 44 at the end.
fn twisted(options: WrinkleOptions) -> WrinkleScene {
    let cloth = Cloth::irregular_cylinder([30, 24], 1.0, 5.0, 1)
        .unwrap()
        .pin(Pick::group("bottom"))
        .hold(Pick::group("top"), motion(DVec3::ZERO, DQuat::from_rotation_z(10f64.to_radians())));
    let sheet = IsotropicSheet::new(p(1e7), PoissonRatio::literal(0.44), p(1e-4));
    WrinkleScene::new(&cloth, sheet).unwrap().with_options(options).unwrap()
}

#[test]
fn waves_may_follow_the_last_frame_instead_of_the_first() {
    let options = WrinkleOptions { clamped: true, rounded: true, ..WrinkleOptions::default() };
    let times = [0.4, 0.55, 0.7, 0.85, 1.0];
    let mut scene = twisted(options.clone());
    let bases = times.map(|time| scene.next_base(time).unwrap());
    let mut forwards = twisted(options.clone());
    let first: Vec<_> = times.iter().map(|time| forwards.next_frame(*time).unwrap()).collect();
    // The same bases, whether wrinkles are asked for at once or later.
    for (base, frame) in bases.iter().zip(&first) {
        assert_eq!((base.time, &base.solution.x), (frame.time, &frame.base.x));
    }
    let last: Vec<_> = bases.into_iter().rev().map(|base| scene.wrinkles_on(base).unwrap()).collect();
    let count = |frame: &WrinkleFrame| frame.phase.waves[0].abs();
    for frames in [&first, &last] {
        for frame in &frames[1..] {
            let change = frame.change.as_ref().unwrap();
            assert!(change.waves.is_empty() && change.continued);
            assert!(frame.jump().is_some_and(|jump| jump < 1.0), "{:?}", frame.jump());
            assert_eq!(count(frame), count(&frames[0]));
        }
    }
    assert!(first[0].change.is_none() && first[0].jump().is_none());
    assert!(count(&last[0]) >= count(&first[0]) + 5, "{} {}", count(&first[0]), count(&last[0]));

    let bad = WrinkleOptions { snap: -1.0, ..options };
    let error = scene.with_options(bad).err().unwrap().to_string();
    assert!(error.contains("the setting `snap` of the wrinkle solver is -1"), "{error}");
}

#[test]
fn whole_waves_are_kept_when_everything_else_adapts() {
    let cloth = Cloth::irregular_disc(6, 0.1, 1)
        .unwrap()
        .deformed(|x| 0.8 * x)
        .pin(Pick::group("rim"))
        .filled(Filling::Pressure(600.0));
    let sheet = IsotropicSheet::new(p(1e7), PoissonRatio::literal(0.44), p(1e-4));
    let solve = |rounded| {
        let options = WrinkleOptions { rounded, ..WrinkleOptions::default() };
        let mut scene = WrinkleScene::new(&cloth, sheet).unwrap().with_options(options).unwrap();
        scene.next_frame(0.0).unwrap()
    };
    let (free, rounded) = (solve(false), solve(true));
    assert!(free.phase.rounding() > 1e-6, "the disk happens to have whole waves");
    assert!(rounded.phase.rounding() < 1e-6 && rounded.phase.deviation < 1e-6);
    assert!(rounded.field.report.converged());
    assert!(rounded.field.report.terms.total() >= free.field.report.terms.total());
    let most = |frame: &WrinkleFrame| frame.phase.waves.iter().map(|k| k.abs()).max().unwrap();
    assert_eq!(most(&free), most(&rounded));
    assert!((70..100).contains(&most(&free)), "{}", most(&free));
}

#[test]
fn an_obstacle_is_not_entered() {
    // A ball rises into a sheet that is held at its corners.
    let contact = Contact { range: Some(p(5e-3)), stiffness: p(1e4), ..Contact::default() };
    let Hold::Moving(rise) = motion(DVec3::Z * 0.1, DQuat::IDENTITY) else { unreachable!() };
    let ball = Obstacle::sphere(DVec3::new(0.0, 0.0, -0.25), p(0.25)).contact(contact).unwrap().moving(rise);
    let cloth = Cloth::delaunay([14, 14], [1.0, 1.0], 1).unwrap().pin(Pick::group("corners"));
    let sheet = IsotropicSheet::new(p(1e6), PoissonRatio::literal(0.3), p(2e-4));
    let mut scene = WrinkleScene::new(&cloth, sheet)
        .unwrap()
        .with_gravity(DVec3::new(0.0, 0.0, -9.81), p(1000.0))
        .unwrap()
        .with_obstacle(ball.clone())
        .unwrap();
    for time in [0.5, 1.0] {
        let frame = scene.next_frame(time).unwrap();
        assert!(frame.largest_amplitude() > 1e-4);
        let surface = scene.surface(&frame).unwrap();
        let nearest = |x: &plisse_core::Field<plisse_core::Vertices, DVec3>| {
            x.as_slice().iter().map(|x| ball.distance(time, *x).value).fold(f64::INFINITY, f64::min)
        };
        assert!(nearest(&frame.base.x) > 0.0 && nearest(&frame.base.x) < 5e-3);
        // Half a thickness is left, and coarse triangles alone would cut through the ball.
        assert!(nearest(&surface.x) > 0.99e-4, "{}", nearest(&surface.x));
        assert_eq!(surface.stuck, 0);
        let top = frame.base.x.as_slice().iter().fold(f64::MIN, |m, x| m.max(x.z));
        assert!((top - 0.1 * time).abs() < 6e-3, "{top}");
    }
}

const SCENE: &str = r#"version = 1
model = "wrinkle"
[time]
duration = 1
frames_per_second = 1
[wrinkle]
young = 1e7
poisson = 0.44
thickness = 1e-4
[[cloth]]
disc = { rings = 4, radius = 0.1, irregular = 1 }
scale = [0.8, 0.8, 1]
pin = [{ group = "rim" }]
pressure = 600
"#;

fn mistakes(text: &str) -> String {
    AnyScene::parse(text, "a.toml", Path::new("")).err().unwrap().to_string()
}

#[test]
fn mistakes_have_a_line_and_a_remedy() {
    assert!(matches!(AnyScene::parse(SCENE, "a.toml", Path::new("")).unwrap(), AnyScene::Wrinkle(_)));
    for (from, to, expected) in [
        (
            "[wrinkle]\nyoung = 1e7\npoisson = 0.44\nthickness = 1e-4\n",
            "",
            "a.toml:1: model = \"wrinkle\" needs a table",
        ),
        ("model = \"wrinkle\"\n", "", "a.toml:5: [wrinkle] has no meaning for this model; add model"),
        ("poisson = 0.44\n", "", "a.toml:6: [wrinkle] needs \"poisson\""),
        ("poisson = 0.44", "poisson = 1.6", "a.toml:8: 1.6 is not a number between -1 and 1"),
        ("thickness = 1e-4", "thickness = 1e-4\nlevels = 9", "a.toml:6: 9 levels are more than 7"),
        ("thickness = 1e-4", "thickness = 1e-4\nsnap = -1", "a.toml:10: -1 is not"),
        ("thickness = 1e-4", "thickness = 1e-4\nwaves_from = \"middle\"", "a.toml:10: "),
        (
            "pressure = 600",
            "material = \"silk\"",
            "a.toml:14: the sheet of a scene of wrinkles is described in [wrinkle]",
        ),
        ("pressure = 600", "material = { density = 1 }", "a.toml:14: the sheet of a scene of wrinkles"),
        (
            "pressure = 600",
            "volume = { target = 1, bulk = 1 }",
            "a.toml:14: wrinkles know a constant \"pressure\" only",
        ),
        ("pressure = 600", "velocity = [0, 0, 1]", "a.toml:10: wrinkles are equilibria"),
        (
            "\"rim\" }",
            "\"rim\", line = [1, 0, 0] }",
            "a.toml:13: pins of a scene of wrinkles hold exactly and for ever; remove \"line\"",
        ),
        ("\"rim\" }", "\"rip\" }", "there is no group \"rip\"; known groups: centre, rim"),
        (
            "600\n",
            "600\n[[cloth]]\ndisc = { rings = 4, radius = 1 }\n",
            "a.toml:15: a scene of wrinkles has one [[cloth]]",
        ),
        ("[[cloth]]", "[air]\n[[cloth]]", "a.toml:10: a scene of wrinkles has no air"),
        ("600\n", "600\n[camera]\ncolour_by = \"speed\"\n", "a.toml:15: wrinkles are coloured by"),
        ("600\n", "600\n[output]\nvtk = true\n", "a.toml:15: of wrinkles only pictures and meshes"),
        (
            "600\n",
            "600\n[[wires]]\nline = { from = [0, 0, 0], to = [1, 0, 0], segments = 2 }\n",
            "has no wires",
        ),
    ] {
        assert!(SCENE.contains(from), "{from}");
        let found = mistakes(&SCENE.replacen(from, to, 1));
        assert!(found.contains(expected), "{found}\ninstead of\n{expected}");
    }
    let elastic =
        "version = 1\ntime = { duration = 1 }\n[[cloth]]\ngrid = { cells = [2, 2], size = [1, 1] }\n";
    assert!(mistakes(&format!("{elastic}[camera]\ncolour_by = \"phase\"\n")).contains("only wrinkles have"));
    let regular = elastic.replace("[1, 1] }", "[1, 1], diagonal = \"delaunay\" }");
    assert!(mistakes(&regular).contains("add \"irregular\""));
    // Those who ask for motion are told that this is something else.
    let loaded = Loaded::parse(SCENE, "a.toml", Path::new("")).err().unwrap().to_string();
    assert!(loaded.contains("this is a scene of wrinkles"), "{loaded}");
}

#[test]
fn every_shape_can_wrinkle() {
    for (shape, vertices) in [
        ("grid = { cells = [6, 4], size = [0.3, 0.2], irregular = 3, diagonal = \"delaunay\" }", 35),
        ("cylinder = { cells = [8, 4], radius = 0.1, length = 0.2, irregular = 2 }", 40),
        ("pillow = { cells = [6, 4], size = [0.3, 0.2], irregular = 3 }", 35 + 15),
        ("pillow = { cells = [6, 4], size = [0.3, 0.2] }", 35 + 15),
        ("discs = { rings = 3, radius = 0.1 }", 37 + 19),
        ("annuli = { across = 3, radii = [0.04, 0.1] }", 86 + 43),
    ] {
        let text = SCENE
            .replace("disc = { rings = 4, radius = 0.1, irregular = 1 }", shape)
            .replace("scale = [0.8, 0.8, 1]\n", "")
            .replace("pin = [{ group = \"rim\" }]\n", "")
            .replace("pressure = 600", "");
        match AnyScene::parse(&text, "a.toml", Path::new("")).map_err(|m| m.to_string()) {
            Ok(AnyScene::Wrinkle(loaded)) => {
                assert_eq!(loaded.scene.mesh().vertex_count(), vertices, "{shape}");
            }
            Ok(AnyScene::Elastic(_)) => panic!("{shape} is elastic"),
            Err(mistakes) => panic!("{shape}: {mistakes}"),
        }
    }
}
