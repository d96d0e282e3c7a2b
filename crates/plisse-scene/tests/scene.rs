//! Whole scenes against closed forms.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DQuat, DVec3};
use plisse_bending::HingeWeight;
use plisse_core::{PoissonRatio, Positive, UnitDir2};
use plisse_membrane::Lame;
use plisse_scene::scene::{
    Air, AngleLaw, Bending, Cloth, Contact, Damping, Filling, Hold, Keyframe, Keyframes, Kind, Material,
    Membrane, Obstacle, Pick, Scene, SceneError, Settings, Shearing, Stretching, Wire, Wires,
    rotation_degrees,
};
use plisse_system::{Criterion, Gradient, NewtonSettings, Pose, Scheme};

const G: f64 = 9.81;

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

fn tight(tolerance: f64) -> Settings {
    let newton =
        NewtonSettings { criterion: Criterion::ForcePerMass(p(tolerance)), ..NewtonSettings::default() };
    Settings { newton, ..Settings::default() }
}

#[test]
fn free_fall() {
    let throw = DVec3::new(1.0, 0.0, 2.0);
    let mut scene = Scene::builder().cloth(patch().velocity(throw)).settings(tight(1e-9)).build().unwrap();
    let start = centre(&scene);
    for n in 1..=20 {
        scene.step().unwrap();
        // Backward Euler: v falls by g dt per step, and x follows v at the end of each.
        let (n, dt) = (f64::from(n), 0.01);
        let expected = start + throw * (n * dt) - DVec3::Z * (G * dt * dt * 0.5 * n * (n + 1.0));
        assert!((centre(&scene) - expected).length() < 1e-12, "{n}");
    }
}

/// The gap at which contact carries a weight, N/m², as a part of the range:
/// The gap in ranges at which the barrier `-(s - 1)² ln s` of 1 kPa carries a weight.
fn resting(weight: f64) -> f64 {
    let pressure = |s: f64| 1e3 * (2.0 * (s - 1.0) * s.ln() + (s - 1.0) * (s - 1.0) / s);
    let (mut low, mut high) = (1e-6, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if pressure(middle) > weight { low = middle } else { high = middle }
    }
    low
}

fn contact() -> Contact {
    Contact { range: Some(p(2e-3)), stiffness: p(1e3), ..Contact::default() }
}

#[test]
fn cloth_rests_where_the_contact_carries_it() {
    let density = 0.324;
    // A cloth that starts within the range has the gap of its start for a range.
    for (start, range) in [(5e-3, 2e-3), (1e-3, 1e-3)] {
        let floor = Obstacle::plane(DVec3::ZERO, DVec3::Z).unwrap().contact(contact()).unwrap();
        let damped = Material { damping: Damping::mass(p(20.0)), ..Material::denim() };
        let cloth = patch().material(damped).at(DVec3::Z * start);
        let mut scene = Scene::builder().cloth(cloth).obstacle(floor).settings(tight(1e-6)).build().unwrap();
        for _ in 0..300 {
            scene.step().unwrap();
            // Nothing is thrown off.
            assert!(centre(&scene).z <= start + 1e-9);
        }
        let gap = range * resting(density * G);
        assert!((centre(&scene).z - gap).abs() < 1e-6, "{} {gap}", centre(&scene).z);
        let closest = scene.step().unwrap().closest.unwrap();
        assert!((closest.gap - gap).abs() < 1e-6 && closest.held_depth == 0.0, "{closest:?}");
    }
}

/// A patch on an inclined plane: how far it slides in half a second.
fn slide(degrees: f64, friction: f64) -> f64 {
    let tilt = rotation_degrees(0.0, degrees, 0.0);
    let density = 0.324;
    let plane = Obstacle::plane(DVec3::ZERO, tilt * DVec3::Z).unwrap();
    let plane = plane.contact(Contact { friction, ..contact() }).unwrap();
    let cloth = patch().at(DVec3::Z * 2e-3).rotated(tilt);
    let settings = Settings { time_step: p(2e-3), ..tight(1e-4) };
    let mut scene = Scene::builder().cloth(cloth).obstacle(plane).settings(settings).build().unwrap();
    // From rest in contact, so that there is friction from the first step on.
    let gap = 2e-3 * resting(density * G * degrees.to_radians().cos());
    let sunk = scene.state().x().map(|x| *x + tilt * DVec3::Z * (gap - 2e-3));
    scene.set_state(plisse_system::State::at_rest(sunk).unwrap()).unwrap();
    let start = centre(&scene);
    for _ in 0..250 {
        scene.step().unwrap();
    }
    (centre(&scene) - start).dot(tilt * DVec3::X)
}

#[test]
fn friction_holds_or_slides_as_coulomb_says() {
    // 20 degrees: the tangent is 0.364. What holds creeps at most with the slip speed of 1 mm/s.
    let held = slide(20.0, 0.5);
    assert!((0.0..1e-3 * 0.5).contains(&held), "{held}");
    let angle = 20f64.to_radians();
    for friction in [0.0, 0.1, 0.3] {
        let way = slide(20.0, friction);
        let expected = 0.5 * G * (angle.sin() - friction * angle.cos()) * 0.25;
        // Friction lags by a step, and is smoothed over 1 mm/s: one per cent of the way is generous
        // for both.
        assert!((way / expected - 1.0).abs() < 0.01, "{friction}: {way} {expected}");
    }
}

#[test]
fn a_moving_floor_carries_cloth_along() {
    let belt = Keyframes::new(vec![
        Keyframe { time: 0.0, translation: DVec3::ZERO, rotation: DQuat::IDENTITY },
        Keyframe { time: 10.0, translation: DVec3::X, rotation: DQuat::IDENTITY },
    ]);
    let floor =
        Obstacle::plane(DVec3::ZERO, DVec3::Z).unwrap().friction(0.5).unwrap().moving(belt.unwrap().linear());
    let mut scene = Scene::builder().cloth(patch().at(DVec3::Z * 1.8e-3)).obstacle(floor).build().unwrap();
    for _ in 0..50 {
        scene.step().unwrap();
    }
    let v = scene.state().v().as_slice();
    let mean = v.iter().sum::<DVec3>() / v.len() as f64;
    assert!((mean.x - 0.1).abs() < 2e-3, "{mean}");
}

#[test]
fn pins_follow_their_keyframes() {
    let keys = Keyframes::new(vec![
        Keyframe { time: 0.0, translation: DVec3::ZERO, rotation: DQuat::IDENTITY },
        Keyframe { time: 0.1, translation: DVec3::Z * 0.05, rotation: DQuat::from_rotation_x(0.4) },
    ])
    .unwrap();
    let cloth = patch().hold(Pick::group("left"), Hold::Moving(keys)).pin(Pick::group("right"));
    let start = cloth.positions().clone();
    let mut scene = Scene::builder().cloth(cloth).build().unwrap();
    for _ in 0..10 {
        scene.step().unwrap();
    }
    let turn = DQuat::from_rotation_x(0.4);
    let middle = DVec3::new(-0.05, 0.0, 0.0);
    for (v, x) in start.iter() {
        let now = scene.state().x()[v];
        if x.x < -0.0499 {
            assert!((now - (turn * (*x - middle) + middle + DVec3::Z * 0.05)).length() < 1e-12);
        } else if x.x > 0.0499 {
            assert_eq!(now, *x);
        }
    }
}

/// Every model of stretch with the same tensile stiffness has the same energy for small strain.
#[test]
fn models_agree_for_small_strain() {
    let k = 80.0;
    let lame = Lame::from_tensile(p(k), PoissonRatio::literal(0.0)).unwrap();
    let strain = 1e-4;
    for stretching in [
        Stretching::Fibres { warp: p(k), weft: p(k) },
        Stretching::GreenFibres { warp: p(k), weft: p(k) },
        Stretching::Arap(p(0.5 * k)),
        Stretching::StVenantKirchhoff(lame),
        Stretching::Corotational(lame),
        Stretching::NeoHookean(lame),
    ] {
        let membrane =
            Membrane { stretching, shearing: Shearing::None, directions: [UnitDir2::U, UnitDir2::V] };
        let material = Material { membrane, ..Material::denim() };
        let scene = Scene::builder().cloth(patch().material(material)).build().unwrap();
        let x = scene.state().x().map(|x| DVec3::new(x.x * (1.0 + strain), x.y, x.z));
        let energies = scene.system().energies(&Pose::at(&x));
        let membrane = energies.iter().find(|e| e.name == "cloth 1: membrane").unwrap().energy;
        let expected = 0.5 * k * strain * strain * 0.01;
        assert!((membrane / expected - 1.0).abs() < 2e-3, "{stretching:?}: {membrane} {expected}");
    }
    // Shear by an angle: half the modulus times its square.
    let material = Material { membrane: Membrane::woven(p(k), p(k), p(30.0)), ..Material::denim() };
    let scene = Scene::builder().cloth(patch().material(material)).build().unwrap();
    let x = scene.state().x().map(|x| DVec3::new(x.x + strain * x.y, x.y, x.z));
    let energies = scene.system().energies(&Pose::at(&x));
    let expected = 0.5 * 30.0 * strain * strain * 0.01;
    assert!((energies[0].energy / expected - 1.0).abs() < 2e-3, "{} {expected}", energies[0].energy);
}

/// Every model of bending has the energy of a plate with the same rigidity, rolled along its cells.
#[test]
fn bending_models_agree_on_a_cylinder() {
    let rigidity = p(3e-4);
    let curvature = 2.0;
    let energy = |bending: Bending| {
        let sheet = Cloth::grid([40, 40], [0.4, 0.4], plisse_core::generate::Diagonal::Right).unwrap();
        let cloth = sheet.material(Material { bending, ..Material::denim() }).deformed(|x| {
            DVec3::new((curvature * x.x).sin() / curvature, x.y, (1.0 - (curvature * x.x).cos()) / curvature)
        });
        let scene = Scene::builder().cloth(cloth).build().unwrap();
        let energies = scene.system().energies(&Pose::at(scene.state().x()));
        energies.iter().find(|e| e.name == "cloth 1: bending").unwrap().energy
    };
    let expected = 0.5 * rigidity.get() * curvature * curvature * 0.16;
    for bending in [
        Bending::hinges(rigidity),
        Bending::Hinge { law: AngleLaw::Quadratic, rigidity: rigidity.into(), weight: HingeWeight::AreaSum },
        Bending::Hinge { law: AngleLaw::Tangent, rigidity: rigidity.into(), weight: HingeWeight::AreaSum },
        Bending::Hinge { law: AngleLaw::Cosine, rigidity: rigidity.into(), weight: HingeWeight::AreaSum },
        Bending::MidEdge { rigidity, poisson: PoissonRatio::ZERO },
        Bending::Quadratic { rigidity },
    ] {
        let found = energy(bending);
        // The outermost row of edges has no hinge: 1/40 of the sheet.
        assert!((found / expected - 1.0).abs() < 0.03, "{bending:?}: {found} {expected}");
    }
    assert!(
        energy(Bending::Hinge { law: AngleLaw::Sine, rigidity: rigidity.into(), weight: HingeWeight::Unit })
            > 0.0
    );
}

#[test]
fn a_pillow_fills() {
    let pillow = Cloth::pillow([10, 10], [0.3, 0.3]).unwrap().jittered(1e-4).filled(Filling::Pressure(50.0));
    let damped = Material { damping: Damping::mass(p(5.0)), ..Material::tablecloth() };
    let mut scene = Scene::builder()
        .cloth(pillow.material(damped))
        .gravity(DVec3::ZERO)
        .time_step(p(0.02))
        .build()
        .unwrap();
    for _ in 0..60 {
        scene.step().unwrap();
    }
    let height = scene.state().x().as_slice().iter().map(|x| x.z).fold(0.0, f64::max);
    // The volume of a square pillow of side a is about 0.2 a³ (a teabag); it is then about 0.4 a
    // high.
    assert!((0.04..0.08).contains(&height), "{height}");
    let volume = Cloth::sphere(2, 0.1).unwrap().filled(Filling::Volume { target: 4.2e-3, bulk: p(1e4) });
    assert!(Scene::builder().cloth(volume).build().is_ok());
    let open = patch().filled(Filling::Pressure(1.0));
    assert!(Scene::builder().cloth(open).build().err().unwrap().to_string().contains("open"));
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let sheet = Cloth::sheet([30, 30], [0.6, 0.6]).unwrap().at(DVec3::Z * 0.205).jittered(1e-4);
            let net = Wires::net([6, 6], 2, [0.5, 0.5]).unwrap().at(DVec3::Z * 0.4);
            let wire = Wire { young: p(1e9), ..Wire::default() };
            let mut scene = Scene::builder()
                .cloth(sheet)
                .wires(net.wire(wire))
                .obstacle(Obstacle::sphere(DVec3::ZERO, p(0.2)))
                .air(Air { velocity: DVec3::X, ..Air::default() })
                .build()
                .unwrap();
            for _ in 0..5 {
                scene.step().unwrap();
            }
            scene.state().clone()
        })
    };
    let one = run(1);
    for threads in [2, 3, 4] {
        assert!(run(threads) == one, "{threads}");
    }
}

/// Ten times with other disturbances: none fails.
#[test]
fn nudged_scenes_do_not_fail() {
    for nudge in 0..10 {
        let offset = DVec3::new(1.0, 2.0, 0.0) * (1e-4 * f64::from(nudge));
        let sheet = Cloth::sheet([14, 14], [0.5, 0.5]).unwrap().at(DVec3::Z * 0.152 + offset);
        let sheet = sheet.jittered(1e-5 * f64::from(nudge));
        let mut scene = Scene::builder()
            .cloth(sheet)
            .obstacle(Obstacle::cuboid(DVec3::ZERO, [p(0.3); 3], rotation_degrees(0.0, 0.0, 30.0)))
            .obstacle(Obstacle::plane(DVec3::Z * -0.15, DVec3::Z).unwrap())
            .time_step(p(0.02))
            .build()
            .unwrap();
        for _ in 0..25 {
            scene.step().unwrap();
        }
        assert!(scene.state().x().as_slice().iter().all(|x| x.is_finite() && x.z > -0.16));
    }
}

/// A square folded along its diagonal until one corner lies on the other, a little before and a
/// little after: the force of the default law is the same on both sides, that of the quadratic one
/// is reversed.
#[test]
fn the_default_bending_is_smooth_across_a_full_fold() {
    let jump = |law: AngleLaw| {
        let bending = Bending::Hinge { law, rigidity: p(1.0).into(), weight: HingeWeight::Unit };
        let force = |z: f64| {
            let square = Cloth::grid([1, 1], [1.0, 1.0], plisse_core::generate::Diagonal::Right).unwrap();
            let (mut x, count) = (square.positions().clone(), square.positions().len());
            let material = Material { bending, ..Material::cotton() };
            let scene = Scene::builder().cloth(square.material(material)).build().unwrap();
            let corner = x[plisse_core::Id::new(1)];
            x[plisse_core::Id::new(2)] = corner + DVec3::Z * z;
            let mut gradient = plisse_core::Field::filled(count, DVec3::ZERO);
            let bending = scene.system().terms().find(|term| term.name() == "cloth 1: bending").unwrap();
            bending.add_gradient(&Pose::at(&x), &mut Gradient::by_nodes(&mut gradient));
            gradient[plisse_core::Id::new(2)]
        };
        (force(1e-7) - force(-1e-7)).length()
    };
    assert!(jump(AngleLaw::default()) < 1e-5, "{}", jump(AngleLaw::default()));
    assert!(jump(AngleLaw::Quadratic) > 5.0, "{}", jump(AngleLaw::Quadratic));
}

#[test]
fn sides_are_whole_for_every_size() {
    for n in [1usize, 18, 24, 36, 48] {
        for size in [0.1, 0.3, 0.45, 0.6, 0.7, 0.9, 1.0, 1.9] {
            for cloth in [
                Cloth::sheet([n, n], [size, size]).unwrap(),
                Cloth::irregular([n, n], [size, size], 1).unwrap(),
            ] {
                for (group, count) in
                    [("right", n + 1), ("top", n + 1), ("left", n + 1), ("bottom", n + 1), ("corners", 4)]
                {
                    let scene =
                        Scene::builder().cloth(cloth.clone().pin(Pick::group(group))).build().unwrap();
                    let held = scene.system().size() - scene.system().unknowns().len();
                    assert_eq!(held, count, "{group} {n} {size}");
                }
            }
        }
    }
    let net = Wires::net([3, 2], 4, [1.0, 1.0]).unwrap();
    assert_eq!((net.positions().len(), net.segments().len()), (12 + 3 * 17, 4 * 17));
    for (group, count) in [("left", 9), ("right", 9), ("bottom", 13), ("top", 13), ("corners", 4)] {
        let scene = Scene::builder().wires(net.clone().pin(Pick::group(group))).build().unwrap();
        assert_eq!(scene.system().size() - scene.system().unknowns().len(), count, "{group}");
    }
    assert!(Wires::net([1 << 33, 1 << 33], 1, [1.0, 1.0]).is_err());
    assert!(Wires::net([1, 1], 1 << 40, [1.0, 1.0]).is_err());
}

#[test]
fn held_vertices_start_where_their_pins_have_them() {
    let up = Keyframe { time: 0.0, translation: DVec3::Z * 0.1, rotation: DQuat::IDENTITY };
    let keys = Keyframes::new(vec![up]).unwrap();
    let cloth =
        patch().velocity(DVec3::X).hold(Pick::group("left"), Hold::Moving(keys)).pin(Pick::group("right"));
    let scene = Scene::builder().cloth(cloth).build().unwrap();
    let (x, v) = (scene.state().x().as_slice(), scene.state().v().as_slice());
    assert_eq!((x[0].z, v[0], v[4]), (0.1, DVec3::ZERO, DVec3::ZERO));
    assert_eq!((x[2].z, v[2]), (0.0, DVec3::X));
}

#[test]
fn thick_wires_rest_on_their_surface() {
    let wire = Wire { radius: p(5e-3), density: p(1000.0), young: p(1e8), ..Wire::default() };
    let rod = Wires::line(DVec3::ZERO, DVec3::X * 0.2, 4).unwrap().wire(wire).at(DVec3::Z * 6e-3);
    let damped = Wire { damping: Damping::mass(p(20.0)), ..wire };
    let floor = Obstacle::plane(DVec3::ZERO, DVec3::Z).unwrap();
    let mut scene = Scene::builder().wires(rod.wire(damped)).obstacle(floor).build().unwrap();
    for _ in 0..100 {
        scene.step().unwrap();
    }
    // Weight per shadow: ρ π r²/(2 r) g.
    let pressure = 1000.0 * std::f64::consts::PI * 5e-3 / 2.0 * G;
    // The gap at the start is smaller than the radius, so that it is the range.
    let expected = 5e-3 + 1e-3 * resting(pressure);
    assert!((centre(&scene).z - expected).abs() < 1e-5, "{} {expected}", centre(&scene).z);
}

#[test]
fn fillings_and_boxes_know_outside() {
    let inward = Cloth::sphere(1, 0.1).unwrap().deformed(|x| -x).filled(Filling::Pressure(10.0));
    let error = Scene::builder().cloth(inward).build().err().unwrap().to_string();
    assert!(error.contains("cloth 1") && error.contains("inwards"), "{error}");
    let block = Obstacle::cuboid(DVec3::new(0.0, 0.3, 0.0), [p(0.2); 3], DQuat::IDENTITY);
    // 0.4 - 0.3 - 0.1 is 2.8e-17 and not zero.
    assert_eq!(block.distance(0.0, DVec3::new(0.0, 0.4, 0.0)).gradient, DVec3::Y);
    let spun = Obstacle::cuboid(DVec3::ZERO, [p(1.0); 3], DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0));
    assert!(Scene::builder().cloth(patch()).obstacle(spun).build().is_err());
}

#[test]
fn mistakes_are_named() {
    let message = |builder: plisse_scene::scene::SceneBuilder| builder.build().err().unwrap().to_string();
    assert!(message(Scene::builder()).contains("no cloth"));
    let twice = Scene::builder().cloth(patch().named("a")).cloth(patch().named("a"));
    assert_eq!(message(twice), "two bodies are called \"a\"; give each a name of its own");
    let nowhere = Scene::builder().cloth(patch().pin(Pick::group("lft")));
    assert!(
        message(nowhere).contains("cloth 1: there is no group \"lft\"; known groups: bottom, bottom-left")
    );
    let both = patch().pin(Pick::group("left")).hold(Pick::group("left"), Hold::Line(DVec3::X));
    assert!(message(Scene::builder().cloth(both)).contains("cloth 1: vertex 0 is held in two ways"));
    let (mesh, x) = plisse_core::generate::sphere(1, 0.1).unwrap();
    let strange = Cloth::curved(mesh, x, [("a".to_owned(), vec![plisse_core::Id::new(999)])]);
    assert!(strange.unwrap_err().to_string().contains("vertex 999"));
    let star = (1..100).map(|i| [0, i]).collect();
    let spokes = (0..100).map(|i| DVec3::new(1.0, f64::from(i), 0.0)).collect();
    assert!(Wires::new(spokes, star, []).unwrap_err().to_string().contains("99 segments meet at vertex 0"));
    let air = Air { gusts: 2.0, ..Air::default() };
    assert!(message(Scene::builder().cloth(patch()).air(air)).contains("gusts"));
    assert!(message(Scene::builder().cloth(patch()).gravity(DVec3::NAN)).contains("gravity"));
    let curved = Cloth::sphere(1, 0.1).unwrap();
    let quadratic = Material { bending: Bending::Quadratic { rigidity: p(1e-4) }, ..Material::paper() };
    assert!(message(Scene::builder().cloth(curved.material(quadratic))).contains("curved at rest"));
    assert!(Wires::line(DVec3::ZERO, DVec3::X, 0).is_err());
    let loose = Wires::new(vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![[0, 1]], []);
    assert!(matches!(loose, Err(SceneError::Pick { .. })));
    let outside = Wires::new(vec![DVec3::ZERO, DVec3::X], vec![[0, 1], [1, 7]], []).unwrap();
    assert!(message(Scene::builder().wires(outside)).contains("segment 1"));
}

/// A sheet of paper that starts out horizontally hangs in the end: Newton's method alone does not
/// find its way down, because everything on it but a rotation costs a thousand times more.
#[test]
fn equilibria_far_from_the_start_are_found() {
    let paper = Cloth::sheet([8, 8], [0.2, 0.2]).unwrap().material(Material::paper());
    let scene = Scene::builder().cloth(paper.pin(Pick::group("top"))).scheme(Scheme::Quasistatic);
    let mut scene = scene.build().unwrap();
    let report = scene.step().unwrap();
    assert_eq!(report.stable, Some(true));
    assert!(report.solves.len() > 1, "the way was shorter than thought");
    let lowest = scene.state().x().as_slice().iter().map(|x| x.z).fold(0.0, f64::min);
    assert!((lowest + 0.2).abs() < 1e-4, "{lowest}");
    // Once there, there is nothing left to do.
    assert_eq!(scene.step().unwrap().iterations(), 0);
}

/// A balloon on a string turns until it hangs below it. It could touch itself, but does not:
/// contact must not shorten its way.
#[test]
fn contact_does_not_hold_what_touches_nothing() {
    let mylar = Material::mylar();
    let balloon = Cloth::sphere(2, 0.2).unwrap().material(mylar).filled(Filling::Pressure(200.0));
    let scene = Scene::builder().cloth(balloon.pin(Pick::vertices([0]))).settings(tight(1e-4));
    let mut scene = scene.scheme(Scheme::Quasistatic).build().unwrap();
    let pin = scene.state().x().as_slice()[0];
    scene.step().unwrap();
    let below = centre(&scene) - pin;
    assert!(below.z < -0.19 && below.x.hypot(below.y) < 1e-3, "{below}");
}

#[test]
fn equilibria_and_fields() {
    let rod = Wires::line(DVec3::ZERO, DVec3::X * 0.5, 10).unwrap().wire(Wire::default());
    let scene = Scene::builder().wires(rod.pin(Pick::vertices([0, 1]))).scheme(Scheme::Quasistatic);
    let mut scene = scene.build().unwrap();
    let deep = scene.advance(p(0.03)).unwrap();
    assert!(scene.is_quasistatic() && deep.energies.kinetic == 0.0);
    // A cantilever with little sag: w = q l⁴/(8 E I). It is held over its first segment, and the
    // bend at the end of that belongs to half a segment on either side.
    let wire = Wire::default();
    let load = 7850.0 * std::f64::consts::PI * 1e-6 * G;
    let sag = load * 0.475f64.powi(4) / (8.0 * wire.rigidity());
    let found = -scene.state().x().as_slice()[10].z;
    assert!((found / sag - 1.0).abs() < 0.02, "{found} {sag}");
    let body = &scene.bodies()[0];
    assert!(matches!(&body.kind, Kind::Wires { segments, .. } if segments.len() == 10));
    assert!(scene.strain(body).iter().all(|e| e.abs() < 1e-3));
    let pulled = patch().deformed(|x| DVec3::new(1.2 * x.x, 0.9 * x.y, x.z));
    let scene = Scene::builder().cloth(pulled).build().unwrap();
    assert!(scene.strain(&scene.bodies()[0]).iter().all(|e| (e - 0.2).abs() < 1e-12));
}
