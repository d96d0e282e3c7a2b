//! Cloth with a strain limit: never beyond it, in motion and at rest, with pins that move, and said
//! so where it cannot be.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DQuat, DVec3};
use plisse_core::Positive;
use plisse_scene::scene::{
    Cloth, Hold, Keyframe, Keyframes, Kind, Material, MaxStretch, Membrane, Obstacle, Pick, Scene,
    SceneBuilder, SceneError, rotation_degrees,
};
use plisse_system::{Scheme, StepError, StepReport};

/// Cotton as soft as rubber: its own weight stretches it by more than a fifth.
fn soft() -> Material {
    let [fibre, shear] = [15.0, 3.0].map(Positive::literal);
    Material { membrane: Membrane::woven(fibre, fibre, shear), ..Material::cotton() }
}

fn sheet(cells: usize) -> Cloth {
    let sheet = Cloth::sheet([cells, cells], [1.0, 1.0]).unwrap().material(soft());
    sheet.pin(Pick::group("top-left")).pin(Pick::group("top-right"))
}

fn scene(cloth: Cloth) -> SceneBuilder {
    Scene::builder().cloth(cloth)
}

/// Found from positions alone: the larger principal stretch, and those of warp and weft.
fn stretches(scene: &Scene) -> [f64; 2] {
    let mut largest: [f64; 2] = [0.0; 2];
    for body in scene.bodies() {
        let Kind::Cloth { mesh, rest, .. } = &body.kind else { continue };
        let x = scene.positions(body);
        for (face, corners) in mesh.faces().iter() {
            let f = rest.map(face).deformation_gradient(&corners.map(|v| x[v.index()]));
            let (a, b, c) = (f.c0.length_squared(), f.c1.length_squared(), f.c0.dot(f.c1));
            let principal = (0.5 * (a + b) + (0.25 * (a - b) * (a - b) + c * c).sqrt()).sqrt();
            largest = [largest[0].max(principal), largest[1].max(a.max(b).sqrt())];
        }
    }
    largest
}

struct Run {
    largest: [f64; 2],
    iterations: usize,
    rejected: usize,
    last: StepReport,
}

fn run(scene: &mut Scene, steps: usize) -> Run {
    let (mut largest, mut iterations, mut rejected, mut last) = ([0.0f64; 2], 0, 0, None);
    for _ in 0..steps {
        let report = scene.step().unwrap();
        let here = stretches(scene);
        if let Some(tautest) = &report.tautest {
            assert!(tautest.taut.stretch < tautest.taut.limit, "{tautest}");
            // Of several substeps the report has the largest.
            assert!(tautest.taut.stretch >= here[0].min(here[1]) - 1e-12);
        }
        // One triangle beyond its limit would make the energy infinite.
        let each = report.solves.iter().flat_map(|solve| &solve.iterations);
        assert!(each.into_iter().all(|iteration| iteration.energy.is_finite()));
        largest = [largest[0].max(here[0]), largest[1].max(here[1])];
        iterations += report.iterations();
        rejected += report.rejected;
        last = Some(report);
    }
    Run { largest, iterations, rejected, last: last.unwrap() }
}

#[test]
fn a_hanging_sheet_stays_within_its_limit() {
    for scheme in [Scheme::BackwardEuler, Scheme::Bdf2] {
        let free = run(&mut scene(sheet(12)).scheme(scheme).build().unwrap(), 60);
        assert!(free.largest[0] > 1.2 && free.last.tautest.is_none(), "{:?}", free.largest);
        for limit in [1.1, 1.05, 1.02, 1.005] {
            let limited = sheet(12).strain_limit(MaxStretch::any(limit));
            let held = run(&mut scene(limited).scheme(scheme).build().unwrap(), 60);
            assert!(
                held.largest[0] < limit && held.largest[0] > 1.0 + 0.5 * (limit - 1.0),
                "{:?}",
                held.largest
            );
            // From twice to six times as many as without a limit.
            assert!(held.iterations < 8 * free.iterations && held.rejected == 0, "{}", held.iterations);
        }
        let limited = sheet(12).strain_limit(MaxStretch::warp_weft(1.02));
        let held = run(&mut scene(limited).scheme(scheme).build().unwrap(), 60);
        assert!(held.largest[1] < 1.02 && held.largest[0] > 1.05, "{:?}", held.largest);
    }
}

#[test]
fn equilibria_stay_within_the_limit() {
    let soft = |limit: Option<MaxStretch>| {
        let sheet = sheet(12).rotated(rotation_degrees(90.0, 0.0, 0.0)).jittered(1e-4);
        let sheet = if let Some(limit) = limit { sheet.strain_limit(limit) } else { sheet };
        let mut scene = scene(sheet).scheme(Scheme::Quasistatic).build().unwrap();
        run(&mut scene, 1).largest
    };
    assert!(soft(None)[0] > 1.2);
    assert!(soft(Some(MaxStretch::any(1.02)))[0] < 1.02);
    assert!(soft(Some(MaxStretch::warp_weft(1.02)))[1] < 1.02);
}

/// A pin on its way there, from rest or at once.
fn goes(time: f64, translation: DVec3, turn: DQuat) -> Keyframes {
    let start = Keyframe { time: 0.0, translation: DVec3::ZERO, rotation: DQuat::IDENTITY };
    Keyframes::new(vec![start, Keyframe { time, translation, rotation: turn }]).unwrap()
}

fn held(group: &str, keys: &Keyframes) -> Cloth {
    let sheet = Cloth::sheet([10, 10], [0.5, 0.5]).unwrap().material(soft());
    sheet.hold(Pick::group(group), Hold::Moving(keys.clone())).strain_limit(MaxStretch::any(1.02))
}

/// Fast pins drag a taut sheet, turn it and jerk it: a step moves them by more than an edge can
/// follow alone, so that the first guess must take the cloth along.
#[test]
fn pins_that_move_take_the_cloth_along() {
    let fast = [
        ("top", goes(0.2, DVec3::new(0.0, 1.0, 0.0), DQuat::IDENTITY)),
        ("top-left", goes(0.2, DVec3::new(-0.3, 0.2, 0.4), DQuat::IDENTITY).linear()),
        ("left", goes(0.3, DVec3::ZERO, DQuat::from_rotation_y(2.0))),
    ];
    for (group, keys) in fast {
        let mut scene = scene(held(group, &keys)).build().unwrap();
        let run = run(&mut scene, 40);
        assert!(run.largest[0] < 1.02 && run.largest[0] > 1.01, "{group} {:?}", run.largest);
        assert!(run.rejected <= 20, "{group}: {} attempts repeated", run.rejected);
    }
}

/// Two sides are pulled apart by a tenth, which a limit of 1.02 does not allow: the run ends where
/// it must, and the error says what is stretched how far.
#[test]
fn pins_that_pull_too_far_are_named() {
    let sheet = held("left", &goes(1.0, DVec3::new(-0.05, 0.0, 0.0), DQuat::IDENTITY).linear());
    let sheet = sheet.pin(Pick::group("right"));
    for scheme in [Scheme::BackwardEuler, Scheme::Quasistatic] {
        let mut scene = scene(sheet.clone()).scheme(scheme).build().unwrap();
        let error = (0..100).find_map(|_| {
            let result = scene.step();
            assert!(stretches(&scene)[0] < 1.02);
            result.err()
        });
        let error = error.expect("the sheet cannot follow");
        assert!(matches!(error, StepError::TooShort { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("cloth 1: strain limit: face ") && text.contains("at most 1.02"), "{text}");
        // 0.02 of half a metre, at 0.05 m/s.
        assert!((0.1..0.21).contains(&scene.time()), "{}", scene.time());
    }
}

/// A pin that jumps ends the run at once, with the stretch that it would take.
#[test]
fn a_pin_that_jumps_is_named() {
    let far = goes(1e-5, DVec3::X * -3.0, DQuat::IDENTITY);
    let mut scene = scene(held("left", &far).pin(Pick::group("right"))).build().unwrap();
    let text = scene.step().unwrap_err().to_string();
    assert!(text.contains("something pulls further than a limit of stretch allows"), "{text}");
    assert!(text.contains("raise the limit"), "{text}");
}

#[test]
fn a_ball_catches_limited_cloth() {
    let sheet = Cloth::sheet([16, 16], [0.6, 0.6]).unwrap().material(soft()).at(DVec3::Z * 0.25);
    let ball = Obstacle::sphere(DVec3::ZERO, Positive::literal(0.2));
    let sheet = sheet.pin(Pick::group("corners")).velocity(DVec3::Z * -1.0);
    let mut limited = scene(sheet.strain_limit(MaxStretch::any(1.03))).obstacle(ball).build().unwrap();
    let run = run(&mut limited, 40);
    assert!(run.largest[0] < 1.03);
}

#[test]
fn starts_beyond_the_limit_are_refused() {
    let sheet = Cloth::sheet([2, 2], [1.0, 1.0]).unwrap().named("towel");
    let stretched = |factor: f64, limit| {
        let sheet = sheet.clone().deformed(move |x| DVec3::new(factor * x.x, x.y, x.z));
        scene(sheet.strain_limit(limit)).build().map(|_| ())
    };
    assert_eq!(stretched(1.019, MaxStretch::any(1.02)), Ok(()));
    for limit in [MaxStretch::any(1.02), MaxStretch::warp_weft(1.02)] {
        let error = stretched(1.05, limit).unwrap_err();
        assert!(matches!(&error, SceneError::StartsStretched { body, .. } if body == "towel"), "{error:?}");
        let text = "towel starts beyond its strain limit: face 0 is 1.05 times as long as at rest, at most 1.02; start with a \
                    smaller scale, or raise the limit";
        assert_eq!(error.to_string(), text);
    }
    let none = stretched(1.0, MaxStretch::any(1.0)).unwrap_err();
    assert!(none.to_string().starts_with("a largest stretch of 1 is not between"), "{none}");
    let ball = Cloth::sphere(1, 0.1).unwrap().named("ball");
    let error = scene(ball.clone().strain_limit(MaxStretch::warp_weft(1.1))).build().map(|_| ()).unwrap_err();
    assert_eq!(error, SceneError::NoLimitDirections { body: "ball".to_owned() });
    scene(ball.strain_limit(MaxStretch::any(1.1))).build().unwrap();
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let sheet = sheet(30).strain_limit(MaxStretch::any(1.02));
            let mut scene = scene(sheet).build().unwrap();
            (0..8).for_each(|_| _ = scene.step().unwrap());
            assert!(stretches(&scene)[0] > 1.01);
            scene.state().x().clone()
        })
    };
    assert!(run(1) == run(2));
}
