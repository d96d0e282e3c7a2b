//! Friction of single pairs of bodies.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use glam::DVec3;
use plisse_core::Positive;
use plisse_scene::file::Loaded;
use plisse_scene::scene::{
    BodyContact, Cloth, Distance, Obstacle, Scene, SceneBuilder, SceneError, rotation_degrees,
};

const G: f64 = 9.81;
const DEGREES: f64 = 20.0;

fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

/// A patch on the plane through the origin that is inclined about y.
fn patch(name: &str, y: f64, height: f64) -> Cloth {
    let tilt = rotation_degrees(0.0, DEGREES, 0.0);
    let contact = BodyContact { range: Some(p(2e-3)), ..BodyContact::default() };
    let sheet = Cloth::sheet([4, 4], [0.1, 0.1]).unwrap().named(name).contact(contact);
    sheet.rotated(tilt).at(tilt * DVec3::new(0.0, y, height))
}

fn downhill() -> DVec3 {
    rotation_degrees(0.0, DEGREES, 0.0) * DVec3::X
}

fn normal() -> DVec3 {
    rotation_degrees(0.0, DEGREES, 0.0) * DVec3::Z
}

/// How far each body slides down in half a second.
fn slides(builder: SceneBuilder) -> Vec<f64> {
    let mut scene = builder.time_step(p(2.5e-3)).build().unwrap();
    let centres = |scene: &Scene| -> Vec<DVec3> {
        let centre = |x: &[DVec3]| x.iter().sum::<DVec3>() / x.len() as f64;
        scene.bodies().iter().map(|body| centre(scene.positions(body))).collect()
    };
    let start = centres(&scene);
    scene.advance(p(0.5)).unwrap();
    centres(&scene).iter().zip(start).map(|(end, start)| (*end - start).dot(downhill())).collect()
}

/// The way of half a second after Coulomb, m.
fn coulomb(friction: f64) -> f64 {
    let angle = DEGREES.to_radians();
    0.5 * G * (angle.sin() - friction * angle.cos()) * 0.25
}

/// Two patches on one plane with a friction of its own, the second by a solid of one's own.
#[test]
fn one_plane_holds_one_patch_and_lets_another_slide() {
    let plane = Obstacle::plane(DVec3::ZERO, normal()).unwrap();
    let below = Obstacle::solid(|x: DVec3| Distance::without_curvature(x.dot(normal()), normal()));
    for plane in [plane, below] {
        // Without pairs both would hold.
        let plane = plane.named("ramp").friction(0.5).unwrap();
        let patches =
            Scene::builder().cloth(patch("rough", -0.2, 1.9e-3)).cloth(patch("smooth", 0.2, 1.9e-3));
        let scene = patches.obstacle(plane).friction("rough", "ramp", 0.6).friction("ramp", "smooth", 0.1);
        let [rough, smooth] = *slides(scene).as_slice() else { panic!() };
        // What holds creeps with less than the slip speed of 1 mm/s; both sink a little first.
        assert!((-1e-4..1e-3).contains(&rough), "{rough}");
        assert!((smooth / coulomb(0.1) - 1.0).abs() < 0.03, "{smooth} {}", coulomb(0.1));
    }
}

/// A layer that slides on another one, which the plane holds.
#[test]
fn layers_have_friction_of_their_own() {
    let of_top = |friction: f64| {
        let plane = Obstacle::plane(DVec3::ZERO, normal()).unwrap().named("ramp").friction(0.6).unwrap();
        let layers = Scene::builder().cloth(patch("under", 0.0, 1.9e-3)).cloth(patch("over", 0.0, 3.8e-3));
        let [under, over] = *slides(layers.obstacle(plane).friction("over", "under", friction)).as_slice()
        else {
            panic!()
        };
        assert!((-1e-3..1e-3).contains(&under), "{under}");
        over
    };
    let (held, slid) = (of_top(0.6), of_top(0.1));
    assert!((-1e-3..1e-3).contains(&held) && slid > 0.01, "{held} {slid}");
}

#[test]
fn pairs_that_cannot_rub_are_refused() {
    let ball = |name: &str, z: f64| Obstacle::sphere(DVec3::Z * z, p(0.1)).named(name);
    let own = BodyContact { touches_itself: false, ..BodyContact::default() };
    let scene = Scene::builder()
        .cloth(Cloth::sheet([2, 2], [0.2, 0.2]).unwrap().named("towel"))
        .cloth(Cloth::sheet([2, 2], [0.2, 0.2]).unwrap().at(DVec3::Z * 0.05).contact(own))
        .obstacle(ball("ball", -1.0))
        .obstacle(ball("globe", 1.0));
    assert!(scene.clone().friction("towel", "towel", 0.5).friction("cloth 2", "ball", 0.0).build().is_ok());
    let known = "there are \"towel\", \"cloth 2\", \"ball\", \"globe\"";
    for ([a, b], coefficient, part) in [
        (["towel", "bal"], 0.5, format!("there is no \"bal\"; {known}")),
        (["ball", "towel"], -0.5, "the coefficient is -0.5; give zero or a positive number".to_owned()),
        (["ball", "towel"], f64::NAN, "the coefficient is NaN".to_owned()),
        (["ball", "towel"], f64::INFINITY, "the coefficient is inf".to_owned()),
        (["globe", "ball"], 0.5, "obstacles do not touch each other".to_owned()),
        (["ball", "ball"], 0.5, "obstacles do not touch each other".to_owned()),
        (["cloth 2", "cloth 2"], 0.5, "it does not touch itself".to_owned()),
    ] {
        let error = scene.clone().friction(a, b, coefficient).build().err().unwrap();
        assert!(matches!(&error, SceneError::FrictionBetween { names, .. } if names == &[a, b]), "{error}");
        let said = error.to_string();
        assert!(said.starts_with(&format!("friction between \"{a}\" and \"{b}\": {part}")), "{said}");
    }
    let twice = scene.friction("towel", "ball", 0.5).friction("ball", "towel", 0.5).build().err().unwrap();
    assert!(twice.to_string().ends_with("this pair is given twice"), "{twice}");
}

const FILE: &str = r#"
version = 1
time.duration = 0.5
time.step = 2.5e-3
[[cloth]]
name = "rough"
grid = { cells = [4, 4], size = [0.1, 0.1] }
contact_range = 2e-3
rotation = [0, 20, 0]
position = [6.498e-4, -0.2, 1.7854e-3]
[[cloth]]
grid = { cells = [4, 4], size = [0.1, 0.1] }
contact_range = 2e-3
rotation = [0, 20, 0]
position = [6.498e-4, 0.2, 1.7854e-3]
[[obstacle]]
name = "ramp"
plane = { normal = [0, 0, 1] }
rotation = [0, 20, 0]
"#;

fn load(more: &str) -> Result<Loaded, String> {
    Loaded::parse(&format!("{FILE}{more}"), "a.toml", Path::new("")).map_err(|error| error.to_string())
}

fn pair(a: &str, b: &str, coefficient: &str) -> String {
    format!("[[friction]]\nbetween = [\"{a}\", \"{b}\"]\ncoefficient = {coefficient}\n")
}

#[test]
fn files_have_friction_of_pairs() {
    let pairs = pair("rough", "ramp", "0.6") + &pair("cloth 2", "ramp", "0.1");
    let mut scene = load(&pairs).unwrap().scene;
    scene.advance(p(0.5)).unwrap();
    let way = |body: usize| {
        let x = scene.positions(&scene.bodies()[body]);
        (x.iter().sum::<DVec3>() / x.len() as f64).dot(downhill())
    };
    assert!(way(0).abs() < 1e-3 && (way(1) / coulomb(0.1) - 1.0).abs() < 0.03, "{} {}", way(0), way(1));
}

/// The tag knows pairs by what they are, not by name or order.
#[test]
fn a_run_is_of_its_pairs() {
    let tag = |more: &str| load(more).unwrap().tag;
    let (a, b) = (pair("rough", "ramp", "0.6"), pair("cloth 2", "ramp", "0.1"));
    let both = tag(&format!("{a}{b}"));
    assert_eq!(both, tag(&format!("{b}{}", pair("ramp", "rough", "0.60"))));
    let renamed = format!("{FILE}{a}{b}").replace("\"rough\"", "\"coarse\"");
    assert_eq!(both, Loaded::parse(&renamed, "a.toml", Path::new("")).unwrap().tag);
    for other in [String::new(), a.clone(), format!("{a}{}", pair("cloth 2", "ramp", "0.2"))] {
        assert_ne!(both, tag(&other), "{other}");
    }
}

#[test]
fn mistakes_of_pairs_have_their_lines() {
    let more = [
        pair("rough", "slope", "0.6"),
        pair("ramp", "rough", "0.6"),
        pair("rough", "ramp", "0.5"),
        pair("ramp", "ramp", "0.5"),
    ];
    let said = load(&more.concat()).err().unwrap();
    let first = FILE.lines().count() + 1;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    for (line, (offset, part)) in lines.iter().zip([
        (0, "there is no \"slope\"; there are \"rough\", \"cloth 2\", \"ramp\""),
        (6, "this pair is given twice"),
        (9, "obstacles do not touch each other"),
    ]) {
        assert!(line.starts_with(&format!("a.toml:{}: ", first + offset)) && line.contains(part), "{line}");
    }
    for (wrong, part) in [
        ("[[friction]]\nbetween = [\"rough\"]\ncoefficient = 1\n", "is not a list of two names"),
        ("[[friction]]\nbetween = [\"rough\", \"ramp\"]\n", "[[friction]] needs \"coefficient\""),
        (&pair("rough", "ramp", "-1"), "-1 is not zero or a positive number"),
        (&pair("rough", "ramp", "inf"), "inf is not"),
    ] {
        let said = load(wrong).err().unwrap();
        assert!(said.contains(part), "{said}");
    }
}
