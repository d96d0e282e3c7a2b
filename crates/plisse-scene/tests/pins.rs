//! Pins that let go, give way or follow an obstacle, and forces, against closed forms.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DQuat, DVec3};
use plisse_core::{Field, Positive, generate};
use plisse_scene::scene::{
    Air, Checkpoint, Cloth, Damping, Filling, Hold, Keyframe, Keyframes, Material, MeshFrame, Obstacle, Pick,
    Scene, SceneBuilder, Settings, Timeline, rotation_degrees,
};
use plisse_system::{Criterion, NewtonSettings, Pose, Scheme, StepReport};

const G: f64 = 9.81;
/// Of a patch of denim, kg.
const MASS: f64 = 0.324 * 0.01;

fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn patch() -> Cloth {
    Cloth::sheet([4, 4], [0.1, 0.1]).unwrap().material(Material::denim())
}

fn centre(scene: &Scene) -> DVec3 {
    let x = scene.state().x().as_slice();
    x.iter().sum::<DVec3>() / x.len() as f64
}

fn tight(scheme: Scheme) -> Settings {
    let newton = NewtonSettings { criterion: Criterion::ForcePerMass(p(1e-9)), ..NewtonSettings::default() };
    Settings { newton, scheme, ..Settings::default() }
}

fn scene(cloth: Cloth) -> SceneBuilder {
    Scene::builder().cloth(cloth).settings(tight(Scheme::BackwardEuler))
}

fn moves(way: DVec3, turn: DQuat, seconds: f64) -> Keyframes {
    let frame = |time, translation, rotation| Keyframe { time, translation, rotation };
    Keyframes::new(vec![frame(0.0, DVec3::ZERO, DQuat::IDENTITY), frame(seconds, way, turn)]).unwrap()
}

#[test]
fn what_a_pin_lets_go_falls_freely() {
    // At a step, and within one.
    for until in [0.05, 0.053] {
        let mut scene = scene(patch().hold(Pick::All, Hold::Still.until(p(until)))).build().unwrap();
        let start = centre(&scene);
        // Backward Euler from the release on, whose first step is the rest of the one it lies in.
        let (mut time, mut speed, mut fallen) = (until, 0.0, 0.0);
        for n in 1..=12 {
            let report = scene.step().unwrap();
            let end = 0.01 * f64::from(n);
            if end > until + 1e-9 {
                speed += G * (end - time);
                fallen += speed * (end - time);
                time = end;
            }
            assert!((scene.time() - end).abs() < 1e-12);
            let off = (start - centre(&scene) - DVec3::Z * fallen).length();
            assert!(off < 1e-12, "{until} {n} {off}");
            assert!(report.unexplained < 1e-9, "{}", report.unexplained);
        }
        assert!(fallen > 0.02);
    }
}

#[test]
fn multistep_schemes_begin_anew_where_pins_let_go() {
    for scheme in [Scheme::Bdf2, Scheme::Newmark(plisse_system::SpectralRadius::new(1.0).unwrap())] {
        let cloth = patch().hold(Pick::All, Hold::Still.until(p(0.05)));
        let mut scene = Scene::builder().cloth(cloth).settings(tight(scheme)).build().unwrap();
        let start = centre(&scene).z;
        for _ in 0..25 {
            scene.step().unwrap();
        }
        // Newmark's scheme is exact for constant forces. BDF2 begins with a step of backward Euler,
        // which goes `g dt²/2` too far, and 2/3 of this more in speed per step.
        let exact = 0.5 * G * 0.04;
        let allowed = if scheme == Scheme::Bdf2 { G * 0.01 * 0.01 * 0.75 } else { 1e-12 };
        assert!(
            (start - centre(&scene).z - exact).abs() <= allowed,
            "{scheme:?}: {}",
            start - centre(&scene).z
        );
    }
}

#[test]
fn a_soft_pin_sags_by_its_stiffness() {
    let stiffness = 40.0;
    let cloth = patch().hold(Pick::All, Hold::Still.soft(p(stiffness)));
    let settings = tight(Scheme::Quasistatic);
    let mut still = Scene::builder().cloth(cloth.clone()).settings(settings).build().unwrap();
    still.step().unwrap();
    let sag = MASS * G / stiffness;
    for x in still.state().x().as_slice() {
        assert!((x.z + sag).abs() < 1e-12, "{} {sag}", x.z);
    }
    // In motion it swings about that place, twice as far down, and Newmark keeps its energy.
    let newmark = tight(Scheme::Newmark(plisse_system::SpectralRadius::new(1.0).unwrap()));
    let mut swinging = Scene::builder().cloth(cloth).settings(newmark).time_step(p(1e-3)).build().unwrap();
    let mut lowest: f64 = 0.0;
    for _ in 0..100 {
        let report = swinging.step().unwrap();
        lowest = lowest.min(centre(&swinging).z);
        assert!(report.unexplained < 1e-3, "{}", report.unexplained);
    }
    assert!((lowest + 2.0 * sag).abs() < 0.01 * sag, "{lowest} {sag}");
}

#[test]
fn springs_that_let_go_lose_what_they_store() {
    let up = moves(DVec3::Z * 0.05, DQuat::IDENTITY, 0.05);
    let cloth = patch().hold(Pick::All, Hold::Moving(up).soft(p(40.0)).until(p(0.06)));
    let mut scene = scene(cloth).gravity(DVec3::ZERO).build().unwrap();
    let potential = |report: &StepReport| report.energies.total() - report.energies.kinetic;
    let mut stored = 0.0;
    for n in 1..=6 {
        let report = scene.step().unwrap();
        assert!(report.unexplained < 0.05, "{n}: {}", report.unexplained);
        stored = potential(&report);
    }
    assert!(stored > 1e-4, "{stored}");
    let (before, speed) = (centre(&scene), scene.state().v().as_slice()[0]);
    let report = scene.step().unwrap();
    // Without forces the motion goes on.
    assert!((centre(&scene) - before - speed * 0.01).length() < 1e-12);
    assert!(potential(&report).abs() < 1e-12);
    assert!((report.balance.work + stored).abs() < 1e-9 * stored, "{:?} {stored}", report.balance);
    assert!(report.unexplained < 0.05);
}

#[test]
fn a_finer_mesh_feels_the_same_springs_and_forces() {
    let sag = |cells: usize| {
        let cloth = Cloth::sheet([cells; 2], [0.1, 0.1]).unwrap().material(Material::denim());
        let cloth =
            cloth.hold(Pick::All, Hold::Still.soft(p(40.0))).force(Pick::All, DVec3::new(0.0, 0.0, -0.05));
        let settings = tight(Scheme::Quasistatic);
        let mut scene = Scene::builder().cloth(cloth).settings(settings).build().unwrap();
        scene.step().unwrap();
        centre(&scene).z
    };
    let expected = -(MASS * G + 0.05) / 40.0;
    assert!((sag(2) - expected).abs() < 1e-12 && (sag(6) - expected).abs() < 1e-12);
}

#[test]
fn pins_follow_an_obstacle_that_turns() {
    let motion = moves(DVec3::new(0.1, 0.0, 0.2), rotation_degrees(0.0, 30.0, 90.0), 0.2);
    let centre = DVec3::new(0.0, 0.0, -0.2);
    let half = p(0.1);
    let block = Obstacle::cuboid(centre, [half; 3], DQuat::IDENTITY).named("block").moving(motion.clone());
    let cloth = patch().hold(Pick::group("left"), Hold::Following("block".into()));
    let mut scene = scene(cloth.clone()).obstacle(block).build().unwrap();
    let start = scene.state().x().clone();
    for _ in 0..30 {
        let report = scene.step().unwrap();
        let held: Vec<_> = start.iter().filter(|(_, x)| x.x < -0.0499).collect();
        assert_eq!(held.len(), 5);
        for (v, x) in held {
            let expected = motion.place(scene.time(), centre, *x);
            assert!((scene.state().x()[v] - expected).length() < 1e-14);
        }
        assert!(report.unexplained < 0.05, "{}", report.unexplained);
    }
    let nobody = self::scene(cloth).build().err().unwrap().to_string();
    assert!(nobody.contains("\"block\"") && nobody.contains("obstacles: there are none"), "{nobody}");
}

#[test]
fn pins_follow_the_faces_of_a_mesh_that_deforms() {
    let (mesh, x) = generate::sphere(2, 0.2).unwrap();
    let frame = |time: f64, size: f64| MeshFrame { time, positions: x.map(|x| *x * size) };
    let body = Obstacle::mesh_sequence(&mesh, vec![frame(0.0, 1.0), frame(0.1, 1.5)]).unwrap().named("body");
    let cloth = patch().at(DVec3::Z * 0.25).hold(Pick::All, Hold::Following("body".into()));
    let mut scene = scene(cloth).obstacle(body.clone()).build().unwrap();
    let start = scene.state().x().clone();
    for _ in 0..12 {
        scene.step().unwrap();
    }
    for (v, x) in start.iter() {
        let (now, height) = (scene.state().x()[v], body.distance(0.0, *x).value);
        // Of `flat + height normal`, the part on the plane of the face has grown with it.
        let flat = (now - *x) / 0.5;
        assert!(((*x - flat).length() - height.abs()).abs() < 5e-3, "{height}");
        assert!((body.distance(1.0, now).value - height).abs() < 5e-3, "{height}");
    }
    // Above the middle of a face both are exact.
    let face = mesh.faces().as_slice()[17].map(|v| x[v]);
    let middle = face.iter().sum::<DVec3>() / 3.0;
    let above = middle * 1.1;
    let one = Cloth::sheet([1, 1], [1e-3, 1e-3]).unwrap().at(above);
    let scene = Scene::builder().cloth(one.hold(Pick::vertices([0]), Hold::Following("body".into())));
    let mut scene = scene.obstacle(body.clone()).settings(tight(Scheme::BackwardEuler)).build().unwrap();
    let before = scene.state().x().as_slice()[0];
    let height = body.distance(0.0, before).value;
    for _ in 0..10 {
        scene.step().unwrap();
    }
    let now = scene.state().x().as_slice()[0];
    let normal = (face[1] - face[0]).cross(face[2] - face[0]).normalize();
    let expected = (before - normal * height) * 1.5 + normal * height;
    assert!((now - expected).length() < 1e-12, "{now} {expected}");
}

#[test]
fn forces_accelerate_and_their_work_is_counted() {
    let pull = DVec3::new(0.02, 0.0, 0.0);
    let mut constant = scene(patch().force(Pick::All, pull)).gravity(DVec3::ZERO).build().unwrap();
    let ramp = Timeline::new([(0.0, DVec3::ZERO), (0.1, pull)]).unwrap();
    let mut ramped = scene(patch().force(Pick::All, ramp.clone())).gravity(DVec3::ZERO).build().unwrap();
    let (mut speed, mut way) = (DVec3::ZERO, DVec3::ZERO);
    for n in 1..=15 {
        let report = constant.step().unwrap();
        let n = f64::from(n);
        let expected = pull / MASS * (1e-4 * 0.5 * n * (n + 1.0));
        assert!((centre(&constant) - expected).length() < 1e-12);
        // What the potential has lost is the work.
        assert!((report.energies.external() + pull.dot(expected)).abs() < 1e-12);
        assert!(report.unexplained < 1e-9);

        let report = ramped.step().unwrap();
        speed += ramp.at(0.01 * n) / MASS * 0.01;
        way += speed * 0.01;
        assert!((centre(&ramped) - way).length() < 1e-12);
        assert!(report.unexplained < 1e-9, "{}", report.unexplained);
    }
}

#[test]
fn pressure_on_a_sheet_whose_boundary_is_held() {
    let sheet = || {
        let sheet = Cloth::sheet([8, 8], [0.2, 0.2]).unwrap().material(Material::cotton());
        ["left", "right", "top", "bottom"].into_iter().fold(sheet, |sheet, side| sheet.pin(Pick::group(side)))
    };
    let settings = Settings { time_step: p(0.5), ..tight(Scheme::Quasistatic) };
    let newton = NewtonSettings { criterion: Criterion::ForcePerMass(p(1e-6)), ..settings.newton };
    let settings = Settings { newton, ..settings };
    let ramp = Timeline::new([(0.0, 0.0), (0.5, 20.0)]).unwrap();
    let mut ends = Vec::new();
    for filling in [Filling::Pressure(20.0), Filling::PressureOverTime(ramp)] {
        let cloth = sheet().filled(filling).jittered(1e-5);
        let scene = Scene::builder().cloth(cloth).settings(settings).gravity(DVec3::ZERO);
        let mut scene = scene.build().unwrap();
        scene.step().unwrap();
        assert!(centre(&scene).z > 1e-3);
        // The pins bear the pressure on the area that the boundary spans.
        let x = scene.state().x();
        let mut gradient = Field::filled(x.len(), DVec3::ZERO);
        scene.system().gradient(&Pose { time: 0.5, ..Pose::at(x) }, &mut gradient);
        let held = x.iter().filter(|(v, _)| scene.system().unknowns().binary_search(v).is_err());
        let borne: DVec3 = held.map(|(v, _)| gradient[v]).sum();
        assert!((borne + DVec3::Z * (20.0 * 0.04)).length() < 1e-6, "{borne}");
        ends.push(centre(&scene).z);
    }
    assert!((ends[0] - ends[1]).abs() < 1e-9);
    let open = Cloth::sheet([8, 8], [0.2, 0.2]).unwrap().pin(Pick::group("left"));
    let message =
        Scene::builder().cloth(open.filled(Filling::Pressure(1.0))).build().err().unwrap().to_string();
    assert!(message.contains("vertex 1 of its boundary") && message.contains("wind"), "{message}");
    let soft = sheet().hold(Pick::group("left"), Hold::Still.until(p(1.0))).filled(Filling::Pressure(1.0));
    assert!(Scene::builder().cloth(soft).build().is_err());
}

#[test]
fn the_wind_rises_when_it_should() {
    let calm = Timeline::new([(0.0, DVec3::ZERO), (0.05, DVec3::ZERO), (0.06, DVec3::Z * 3.0)]).unwrap();
    let mut late = scene(patch()).gravity(DVec3::ZERO).wind(calm).build().unwrap();
    for n in 1..=10 {
        late.step().unwrap();
        assert_eq!(centre(&late).z > 1e-6, n > 5, "{n}");
    }
    let steady = Air { velocity: DVec3::Z * 3.0, ..Air::default() };
    let mut one = scene(patch()).air(steady).build().unwrap();
    let mut other = scene(patch()).wind((DVec3::Z * 3.0).into()).build().unwrap();
    for _ in 0..5 {
        one.step().unwrap();
        other.step().unwrap();
    }
    assert_eq!(one.state(), other.state());
}

/// Two corners held, one by a spring, one let go within a step, above a ball.
fn busy() -> Scene {
    let cloth = Cloth::sheet([8, 8], [0.3, 0.3])
        .unwrap()
        .material(Material { damping: Damping::mass(p(1.0)), ..Material::cotton() });
    let cloth = cloth
        .at(DVec3::Z * 0.12)
        .hold(Pick::group("top-left"), Hold::Still.until(p(0.053)))
        .hold(Pick::group("top-right"), Hold::Still.until(p(0.08)))
        .hold(Pick::group("bottom-left"), Hold::Following("ball".into()).soft(p(5.0)).until(p(0.1)))
        .force(Pick::group("right"), Timeline::new([(0.0, DVec3::ZERO), (0.1, DVec3::X * 0.1)]).unwrap());
    let ball = Obstacle::sphere(DVec3::ZERO, p(0.1)).named("ball");
    let ball = ball.moving(moves(DVec3::Y * 0.02, rotation_degrees(0.0, 0.0, 20.0), 0.2));
    Scene::builder().cloth(cloth).obstacle(ball).scheme(Scheme::Bdf2).build().unwrap()
}

#[test]
fn a_run_that_goes_on_has_the_same_bits() {
    let mut whole = busy();
    let mut saved = vec![whole.checkpoint(0, 0).to_bytes()];
    for frame in 1..=14 {
        whole.step().unwrap();
        saved.push(whole.checkpoint(frame, 0).to_bytes());
    }
    // Before, between, at, and after the releases.
    for from in [0, 3, 5, 6, 8, 9, 11] {
        let mut other = busy();
        other.set_state(Checkpoint::from_bytes(&saved[from]).unwrap().state).unwrap();
        for frame in from + 1..=14 {
            other.step().unwrap();
            assert_eq!(other.checkpoint(frame as u32, 0).to_bytes(), saved[frame], "{from} {frame}");
        }
        // And back to the start.
        other.set_state(Checkpoint::from_bytes(&saved[0]).unwrap().state).unwrap();
        other.step().unwrap();
        assert_eq!(other.checkpoint(1, 0).to_bytes(), saved[1], "{from}");
    }
}

#[test]
fn what_pins_have_moved_through_each_other_is_not_let_go() {
    let down = moves(DVec3::Z * -0.2, DQuat::IDENTITY, 0.05);
    let standing = patch().rotated(rotation_degrees(90.0, 0.0, 0.0)).at(DVec3::Z * 0.2);
    let standing = standing.named("knife").hold(Pick::All, Hold::Moving(down).until(p(0.06)));
    let lying = patch().named("board").pin(Pick::All);
    let mut scene = scene(standing).cloth(lying).build().unwrap();
    for _ in 0..6 {
        scene.step().unwrap();
    }
    let before = scene.state().clone();
    let message = scene.step().unwrap_err().to_string();
    assert!(message.contains("knife and board through each other"), "{message}");
    assert_eq!(*scene.state(), before);
}

#[test]
fn what_is_let_go_inside_an_obstacle_is_refused_at_once() {
    let ball = Obstacle::sphere(DVec3::ZERO, p(0.2));
    let inside = |grip: plisse_scene::scene::Grip| {
        Scene::builder().cloth(patch().hold(Pick::All, grip)).obstacle(ball.clone()).build()
    };
    assert!(inside(Hold::Still.into()).is_ok());
    let message = inside(Hold::Still.until(p(1.0))).err().unwrap().to_string();
    assert!(message.contains("inside obstacle 1"), "{message}");
}
