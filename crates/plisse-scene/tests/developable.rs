//! Developable cloth in scenes: it keeps its lengths, resumes with the same bits, and refuses what
//! it cannot be with.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::DVec3;
use plisse_core::Positive;
use plisse_scene::file::Loaded;
use plisse_scene::scene::{
    Air, Checkpoint, Cloth, Limited, MaxStretch, Model, Obstacle, Pick, Scene, SceneBuilder, SceneError,
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
    refused(on_ball().cloth(Cloth::sheet([2, 2], [0.1, 0.1]).unwrap().at(DVec3::X)), "other bodies");
    refused(on_ball().air(Air::default()), "air does not act");
    refused(on_ball().scheme(Scheme::Quasistatic), "backward Euler and BDF2");
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
