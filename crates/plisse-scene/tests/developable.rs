//! Developable cloth in scenes: it keeps its lengths, resumes with the same bits, and refuses what
//! it cannot be with.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::DVec3;
use plisse_core::Positive;
use plisse_scene::file::Loaded;
use plisse_scene::scene::{
    Air, Checkpoint, Cloth, Compliance, Limited, Material, MaxStretch, Membrane, Model, Obstacle, Pick,
    Scene, SceneBuilder, SceneError, Shearing, Stretching,
};
use plisse_system::Scheme;

fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn cloth() -> Cloth {
    Cloth::irregular([10, 10], [0.4, 0.4], 3).unwrap().model(Model::Developable)
}

fn on_ball() -> SceneBuilder {
    let ball = Obstacle::sphere(DVec3::ZERO, p(0.1)).friction(0.3).unwrap();
    Scene::builder().cloth(cloth().at(DVec3::new(0.01, 0.0, 0.11))).obstacle(ball).scheme(Scheme::Bdf2)
}

/// Every step ends without a crossing; a run that is resumed has the bits of one that goes on.
#[test]
fn cloth_on_a_ball_crosses_nothing_and_resumes() {
    let mut scene = on_ball().build().unwrap();
    for _ in 0..12 {
        scene.step().unwrap();
        assert!(scene.crossings().forbidden.is_empty());
    }
    let saved = scene.checkpoint(1, 7).to_bytes();
    let mut again = on_ball().build().unwrap();
    again.set_state(Checkpoint::from_bytes(&saved).unwrap().state).unwrap();
    for _ in 0..8 {
        scene.step().unwrap();
        again.step().unwrap();
    }
    assert_eq!(scene.state(), again.state());
    // It lies on the ball, and its rim has fallen.
    let x = scene.positions(&scene.bodies()[0]);
    let (low, high) = x.iter().fold((1.0, -1.0), |(l, h): (f64, f64), x| (l.min(x.z), h.max(x.z)));
    assert!(high < 0.115 && high > 0.09 && low < 0.06, "{low} {high}");
}

#[test]
fn what_it_cannot_be_with_is_named() {
    let refused = |scene: SceneBuilder, words: &str| {
        let error = scene.build().err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(on_ball().cloth(Cloth::sheet([2, 2], [0.1, 0.1]).unwrap().at(DVec3::X)), "bodies of other kinds");
    refused(on_ball().scheme(Scheme::Quasistatic), "backward Euler and BDF2");
    let ball = Cloth::sphere(1, 0.1).unwrap();
    let ball = ball.compliance(Compliance { warp: 0.1, ..Compliance::default() });
    refused(Scene::builder().cloth(ball), "no material coordinates");
    let limit = MaxStretch { value: 1.1, of: Limited::Any };
    refused(Scene::builder().cloth(cloth().strain_limit(limit)), "remove the strain limit");
    let apart = Cloth::sheet([4, 4], [1.0, 1.0]).unwrap().model(Model::Developable);
    let pulled = apart.deformed(|x| x * 1.2).pin(Pick::group("left")).pin(Pick::group("right"));
    let error = Scene::builder().cloth(pulled).build().err().unwrap();
    assert!(matches!(error, SceneError::Constrained { .. }), "{error}");
    assert!(error.to_string().contains("0.282843 m are missing"), "{error}");
}

#[test]
fn files_name_the_model() {
    let text = "version = 1\n[time]\nduration = 0.1\n[[cloth]]\nmodel = \"developable\"\n\
                grid = { cells = [4, 4], size = [0.4, 0.4] }\npin = [{ group = \"left\" }]\n";
    let mut loaded = Loaded::parse(text, "scene.toml", std::path::Path::new(".")).unwrap();
    loaded.scene.step().unwrap();
    // The numbers of the edges are in the state.
    assert_eq!(loaded.scene.state().own().values.len() % 3, 0);
    assert!(loaded.scene.state().own().values.len() >= 3 * 56);
}

/// A woven sheet hangs lower from its two corners than one that does not shear, and the file says
/// what is wrong with a compliance.
#[test]
fn files_name_compliances() {
    let text = |compliance: &str, model: &str| {
        format!(
            "version = 1\n[time]\nduration = 0.1\n[[cloth]]\nmodel = \"{model}\"\n{compliance}\n\
             grid = {{ cells = [6, 6], size = [0.4, 0.4] }}\nrotation = [90, 0, 0]\n\
             pin = [{{ group = \"top-left\" }}, {{ group = \"top-right\" }}]\n"
        )
    };
    let load = |text: &str| Loaded::parse(text, "scene.toml", std::path::Path::new("."));
    let lowest = |compliance: &str| {
        let mut scene = load(&text(compliance, "developable")).unwrap().scene;
        for _ in 0..10 {
            scene.step().unwrap();
        }
        let x = scene.positions(&scene.bodies()[0]).to_vec();
        x.iter().map(|x| x.z).fold(f64::INFINITY, f64::min)
    };
    let [hard, zero, soft] = ["", "compliance = { warp = 0 }", "compliance = { shear = 0.2 }"].map(lowest);
    assert_eq!(hard.to_bits(), zero.to_bits());
    assert!(soft < hard - 1e-4, "{soft} {hard}");
    let message = |text: &str| load(text).err().unwrap().to_string();
    let found = message(&text("compliance = { weft = -1 }", "developable"));
    assert!(found.contains("scene.toml:6: -1 is not zero, a positive number, or \"material\""), "{found}");
    let found = message(&text("compliance = { weft = 1e7 }", "developable"));
    assert!(found.contains("the compliance of weft is 10000000: give a number from 0 to 1e6"), "{found}");
    let found = message(&text("compliance = { weft = 1 }", "elastic"));
    assert!(found.contains("belongs to model = \"developable\""), "{found}");
}

/// An obstacle that lifts a sheet does work, which is no energy from nowhere.
#[test]
fn a_box_that_moves_lifts_a_sheet() {
    let text = r#"
        version = 1
        [time]
        duration = 0.1
        step = 0.01
        [[cloth]]
        model = "developable"
        grid = { cells = [10, 10], size = [0.3, 0.3], diagonal = "right" }
        material = "cotton"
        position = [0.01, 0.02, 0.06]
        [[obstacle]]
        box = { centre = [0, 0, 0], size = [0.1, 0.1, 0.1] }
        linear = true
        motion = [{ time = 0 }, { time = 0.1, move = [0, 0, 0.2] }]
    "#;
    let mut scene = Loaded::parse(text, "scene.toml", std::path::Path::new(".")).unwrap().scene;
    let mut work = 0.0;
    for _ in 0..10 {
        let report = scene.step().unwrap();
        work += report.balance.work;
        assert!(report.unexplained < 0.01, "{}", report.unexplained);
    }
    // It has gone up with the box.
    let x = scene.positions(&scene.bodies()[0]);
    assert!(x.iter().map(|x| x.z).fold(f64::NEG_INFINITY, f64::max) > 0.24);
    assert!(work > 0.01, "{work}");
}

/// Two sheets of different weight fall on a box, one on the other: nothing crosses, both keep their
/// lengths, and a resumed run has the same bits.
#[test]
fn two_cloths_lie_on_each_other() {
    let build = || {
        let sheet = |z: f64, turn: f64| {
            let cloth = Cloth::grid([8, 8], [0.3, 0.3], plisse_core::generate::Diagonal::Right).unwrap();
            let turned = glam::DQuat::from_rotation_z(turn);
            cloth.model(Model::Developable).deformed(move |x| turned * x).at(DVec3::new(0.01, 0.02, z))
        };
        let heavy = Material { density: p(0.5), ..Material::cotton() };
        let block = Obstacle::cuboid(DVec3::ZERO, [p(0.1); 3], glam::DQuat::IDENTITY).friction(0.4).unwrap();
        Scene::builder()
            .cloth(sheet(0.06, 0.0).named("lower"))
            .cloth(sheet(0.07, 0.3).named("upper").material(heavy))
            .obstacle(block)
            .scheme(Scheme::Bdf2)
            .build()
            .unwrap()
    };
    let mut scene = build();
    for _ in 0..12 {
        let report = scene.step().unwrap();
        assert!(scene.crossings().forbidden.is_empty());
        assert!(report.unexplained < 0.05, "{}", report.unexplained);
    }
    let saved = scene.checkpoint(1, 7).to_bytes();
    let mut again = build();
    again.set_state(Checkpoint::from_bytes(&saved).unwrap().state).unwrap();
    for _ in 0..6 {
        scene.step().unwrap();
        again.step().unwrap();
        assert!(scene.crossings().forbidden.is_empty());
    }
    assert_eq!(scene.state(), again.state());
    let mean = |k: usize| {
        let x = scene.positions(&scene.bodies()[k]);
        x.iter().map(|x| x.z).sum::<f64>() / x.len() as f64
    };
    // Both have fallen, and the upper one is still above.
    assert!(mean(0) < 0.05 && mean(1) > mean(0), "{} {}", mean(0), mean(1));
}

/// Each pair has its own friction: on a slope of 20 degrees one patch stays, the other slides.
#[test]
fn every_pair_has_its_own_friction() {
    let patch = |y: f64, name: &str| {
        let cloth = Cloth::grid([3, 3], [0.1, 0.1], plisse_core::generate::Diagonal::Right).unwrap();
        cloth.model(Model::Developable).at(DVec3::new(0.0, y, 0.002)).named(name)
    };
    let slope = Obstacle::plane(DVec3::ZERO, DVec3::Z).unwrap().friction(0.8).unwrap().named("slope");
    let angle = 20f64.to_radians();
    let mut scene = Scene::builder()
        .cloth(patch(0.0, "rough"))
        .cloth(patch(0.3, "smooth"))
        .obstacle(slope)
        .friction("smooth", "slope", 0.05)
        .gravity(DVec3::new(angle.sin(), 0.0, -angle.cos()) * 9.81)
        .scheme(Scheme::Bdf2)
        .time_step(p(0.005))
        .build()
        .unwrap();
    let mean = |scene: &Scene, k: usize| {
        let x = scene.positions(&scene.bodies()[k]);
        x.iter().map(|x| x.x).sum::<f64>() / x.len() as f64
    };
    let start = [mean(&scene, 0), mean(&scene, 1)];
    assert_eq!(scene.warnings(), &[]);
    for _ in 0..60 {
        scene.step().unwrap();
    }
    let gone = [mean(&scene, 0) - start[0], mean(&scene, 1) - start[1]];
    // Both fall by 2 mm less half the range first, and what lands at such a speed stops within a
    // millimetre. Sliding with 0.05 for the whole time is 0.130 m, half a step more of backward
    // Euler 0.132 m; in the air it would be 0.151 m.
    assert!(gone[0] < 2e-3, "{gone:?}");
    assert!((gone[1] - 0.132).abs() < 0.03 * 0.132, "{gone:?}");
}

/// A tube that was rolled and is round at rest stays round without gravity, whatever its mesh.
#[test]
fn what_is_curved_at_rest_stays_so() {
    for cloth in [
        Cloth::cylinder([12, 6], 0.05, 0.1).unwrap(),
        Cloth::irregular_cylinder([12, 6], 0.05, 0.1, 2).unwrap(),
        Cloth::sphere(1, 0.1).unwrap(),
    ] {
        let mut scene =
            Scene::builder().cloth(cloth.model(Model::Developable)).gravity(DVec3::ZERO).build().unwrap();
        let start = scene.state().x().clone();
        for _ in 0..5 {
            let report = scene.step().unwrap();
            assert!(report.energies.total().abs() < 1e-12, "{}", report.energies.total());
        }
        let x = scene.positions(&scene.bodies()[0]);
        let moved = x.iter().zip(start.as_slice()).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(moved < 1e-6, "{moved}");
    }
}

/// Of what a developable cloth does not have, no reason can be false: its membrane does not count.
#[test]
fn materials_count_only_where_they_act() {
    // Woven cotton on a cloth without material coordinates: nothing stretches, so nothing is asked.
    let ball = || Cloth::sphere(1, 0.1).unwrap().material(Material::cotton());
    assert!(Scene::builder().cloth(ball().model(Model::Developable)).build().is_ok());
    let soft = Scene::builder().cloth(ball().compliance(Compliance::FREE)).build();
    assert!(matches!(soft, Err(SceneError::NoWarp { .. })));
}

/// Wind pushes on faces. A strip that may only swing has the drag of a plate.
#[test]
fn air_drags_and_blows() {
    let scene = |velocity: DVec3, wind: DVec3| {
        let cloth = Cloth::grid([4, 4], [0.2, 0.2], plisse_core::generate::Diagonal::Right).unwrap();
        let air = Air { velocity: wind, ..Air::default() };
        Scene::builder()
            .cloth(cloth.model(Model::Developable).velocity(velocity))
            .gravity(DVec3::ZERO)
            .air(air)
            .time_step(p(1e-3))
            .build()
            .unwrap()
    };
    // m dv/dt = -½ ρ c A v²: v = v₀/(1 + k v₀ t) with k = ½ 1.2 1.2/density.
    let k = 0.72 / Material::cotton().density.get();
    for (velocity, wind) in [(DVec3::Z * 3.0, DVec3::ZERO), (DVec3::ZERO, DVec3::NEG_Z * 3.0)] {
        let mut scene = scene(velocity, wind);
        for _ in 0..50 {
            let report = scene.step().unwrap();
            assert!(report.unexplained < 1e-3, "{}", report.unexplained);
        }
        let expected = 3.0 / (1.0 + k * 3.0 * 0.05);
        let v = scene.state().v().as_slice();
        let slip = v.iter().map(|v| v.z - wind.z).sum::<f64>() / v.len() as f64;
        assert!((slip / expected - 1.0).abs() < 0.01, "{slip} {expected}");
    }
    // A flag: what constraints hold back feels the whole wind.
    let flag = Cloth::grid([6, 6], [0.3, 0.3], plisse_core::generate::Diagonal::Right).unwrap();
    let air = Air { velocity: DVec3::new(0.0, 6.0, 0.0), ..Air::default() };
    let turned = glam::DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let mut scene = Scene::builder()
        .cloth(flag.model(Model::Developable).deformed(move |x| turned * x).pin(Pick::group("top")))
        .air(air)
        .build()
        .unwrap();
    for _ in 0..200 {
        scene.step().unwrap();
    }
    // At rest, the plate stands where gravity and drag balance: tan a = k u² cos² a/g with the
    // wind across it.
    let x = scene.positions(&scene.bodies()[0]);
    let low = x.iter().copied().reduce(|a, b| if b.z < a.z { b } else { a }).unwrap();
    let top = x.iter().map(|x| x.z).fold(f64::NEG_INFINITY, f64::max);
    let angle = (low.y / (top - low.z)).atan();
    let pull = |a: f64| k * 36.0 * a.cos().powi(2) - 9.81 * a.sin();
    assert!(pull(angle - 0.12) > 0.0 && pull(angle + 0.12) < 0.0, "{angle}");
}

/// From stretchy to developable: a sheet of a stiffer material hangs as one that does not stretch.
#[test]
fn stiffer_membranes_become_developable() {
    let end = |compliance: Compliance, stiffness: f64| {
        let membrane = Membrane {
            stretching: Stretching::Arap(p(stiffness)),
            shearing: Shearing::None,
            ..Material::cotton().membrane
        };
        let material = Material { membrane, ..Material::cotton() };
        let sheet = Cloth::irregular([6, 6], [0.4, 0.4], 3).unwrap().material(material);
        let turned = glam::DQuat::from_rotation_x(1.2);
        let sheet = sheet.compliance(compliance).deformed(move |x| turned * x).pin(Pick::group("top"));
        let mut scene = Scene::builder().cloth(sheet).time_step(p(0.01)).build().unwrap();
        for _ in 0..40 {
            let report = scene.step().unwrap();
            assert!(report.unexplained < 0.02, "{}", report.unexplained);
        }
        scene.state().x().clone()
    };
    let hard = end(Compliance::default(), 1.0);
    let far = |x: &plisse_core::Field<plisse_core::Vertices, DVec3>| {
        x.iter().map(|(v, x)| x.distance(hard[v])).fold(0.0, f64::max)
    };
    let [soft, firm, stiff] = [3.0, 300.0, 30_000.0].map(|k| far(&end(Compliance::FREE, k)));
    // Found 42, 7 and 8 mm of 400. Why the last is no nearer than the second is not known: both
    // swing alike, the difference is local.
    assert!(soft > 4e-2 && firm < 0.3 * soft && stiff < 0.3 * soft, "{soft} {firm} {stiff}");
}

/// A strip that falls and folds on itself, from several starts.
#[test]
fn a_strip_that_folds_on_itself_crosses_nothing() {
    for start in 0..3 {
        let angle = 0.02 * f64::from(start);
        let strip = Cloth::grid([3, 24], [0.06, 0.48], plisse_core::generate::Diagonal::Right).unwrap();
        let turned = glam::DQuat::from_rotation_x(1.4 + angle);
        let strip =
            strip.model(Model::Developable).deformed(move |x| turned * x).at(DVec3::new(0.0, 0.0, 0.28));
        let floor = Obstacle::plane(DVec3::ZERO, DVec3::Z).unwrap().friction(0.5).unwrap();
        let mut scene = Scene::builder()
            .cloth(strip)
            .obstacle(floor)
            .scheme(Scheme::Bdf2)
            .time_step(p(0.01))
            .build()
            .unwrap();
        for frame in 0..60 {
            let report = scene.step().unwrap();
            assert!(scene.crossings().forbidden.is_empty(), "{start} {frame}");
            assert!(report.unexplained < 0.15, "{start} {frame}: {}", report.unexplained);
        }
        let x = scene.positions(&scene.bodies()[0]);
        let high = x.iter().map(|x| x.z).fold(f64::NEG_INFINITY, f64::max);
        assert!(high < 0.45, "{high}");
    }
}
