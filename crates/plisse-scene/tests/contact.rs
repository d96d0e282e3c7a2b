//! Nothing passes an obstacle: thin, fast, moving and turning ones, with every scheme. Nothing is
//! simulated where numbers do not resolve it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use glam::{DQuat, DVec3};
use plisse_core::{Positive, TriMesh};
use plisse_scene::scene::{
    Cloth, Keyframe, Keyframes, Material, Obstacle, Pick, Scene, SceneError, Wire, Wires,
};
use plisse_system::{Scheme, SpectralRadius};

fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn sheet(n: usize, height: f64) -> Cloth {
    Cloth::sheet([n, n], [1.0, 1.0]).unwrap().at(DVec3::Z * height)
}

fn slab(thickness: f64) -> Obstacle {
    Obstacle::cuboid(DVec3::ZERO, [p(3.0), p(3.0), p(thickness)], DQuat::IDENTITY)
}

/// The lowest vertex after so many seconds.
fn lowest(scene: &mut Scene, seconds: f64) -> f64 {
    scene.advance(p(seconds)).unwrap();
    scene.state().x().as_slice().iter().fold(f64::INFINITY, |m, x| m.min(x.z))
}

fn frame(time: f64, translation: DVec3, degrees: f64) -> Keyframe {
    Keyframe { time, translation, rotation: DQuat::from_rotation_y(degrees.to_radians()) }
}

#[test]
fn thin_slabs_hold_what_falls_on_them() {
    let schemes = [Scheme::BackwardEuler, Scheme::Bdf2, Scheme::Newmark(SpectralRadius::new(0.5).unwrap())];
    for scheme in schemes {
        for (height, thickness, dt) in
            [(0.5, 0.02, 0.01), (2.0, 0.05, 0.01), (2.0, 1e-3, 0.05), (0.5, 1e-6, 0.01)]
        {
            let builder = Scene::builder().cloth(sheet(8, height)).obstacle(slab(thickness));
            let mut scene = builder.scheme(scheme).time_step(p(dt)).build().unwrap();
            let z = lowest(&mut scene, 1.0);
            assert!(z > 0.5 * thickness, "{scheme:?} {height} {thickness}: {z}");
        }
    }
}

#[test]
fn a_thrown_sheet_does_not_pass_a_slab_or_a_mesh() {
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let faces: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let half = DVec3::new(1.5, 1.5, 0.5e-3);
    let sign = |i: usize, bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
    let corners = (0..8).map(|i| DVec3::new(sign(i, 0), sign(i, 1), sign(i, 2)) * half).collect();
    let mesh = Obstacle::mesh(&TriMesh::new(8, &faces).unwrap(), &plisse_core::Field::from_vec(corners));
    for obstacle in [slab(1e-3), mesh.unwrap()] {
        let cloth = sheet(8, 0.3).velocity(DVec3::new(3.0, 0.0, -20.0));
        let mut scene = Scene::builder().cloth(cloth).obstacle(obstacle).build().unwrap();
        let z = lowest(&mut scene, 0.1);
        assert!(z > 0.5e-3, "{z}");
    }
}

/// A rod of 5 mm that goes up through a held sheet at 20 m/s carries the vertices above it; a plate
/// that turns like a door keeps everything on its side; a floor that rises lifts what lies on it.
#[test]
fn moving_obstacles_carry_what_is_in_their_way() {
    let up = Keyframes::new(vec![frame(0.0, DVec3::ZERO, 0.0), frame(0.1, DVec3::Z * 2.0, 0.0)]).unwrap();
    let rod = Obstacle::capsule(DVec3::new(-1.0, 0.0, -0.2), DVec3::new(1.0, 0.0, -0.2), p(5e-3));
    let cloth = sheet(20, 0.0).pin(Pick::group("corners"));
    let mut scene = Scene::builder().cloth(cloth).obstacle(rod.moving(up.linear())).build().unwrap();
    // Vertices on the line y = 0, which the rod meets.
    let above = (0..21).map(|i| 10 * 21 + i).collect::<Vec<usize>>();
    for step in 1..=10 {
        scene.step().unwrap();
        let z = 0.2 * f64::from(step) - 0.2;
        let x = scene.state().x().as_slice();
        assert!(above.iter().all(|&v| x[v].z > z.min(1.0) || x[v].y.abs() > 5e-3), "step {step}");
    }

    let turn = Keyframes::new(vec![frame(0.0, DVec3::ZERO, 0.0), frame(0.2, DVec3::ZERO, -60.0)]).unwrap();
    let door = Obstacle::cuboid(DVec3::ZERO, [p(4.0), p(4.0), p(2e-3)], DQuat::IDENTITY).moving(turn);
    let mut scene = Scene::builder().cloth(sheet(8, 0.05)).obstacle(door.clone()).build().unwrap();
    for _ in 0..20 {
        scene.step().unwrap();
        let normal = DQuat::from_rotation_y(-door_angle(scene.time())) * DVec3::Z;
        assert!(scene.state().x().as_slice().iter().all(|x| x.dot(normal) > 1e-3), "{}", scene.time());
    }

    let rise = Keyframes::new(vec![frame(0.0, DVec3::ZERO, 0.0), frame(0.5, DVec3::Z * 1.0, 0.0)]).unwrap();
    let floor = Obstacle::plane(DVec3::ZERO, DVec3::Z).unwrap().moving(rise.linear());
    let mut scene = Scene::builder().cloth(sheet(8, 0.02)).obstacle(floor).build().unwrap();
    let z = lowest(&mut scene, 0.5);
    assert!((1.0..1.1).contains(&z), "{z}");
    let ledger = scene.state().ledger().unwrap();
    // The floor has done the work of lifting and accelerating, and nothing else has.
    assert!(ledger.work > 0.9 * 0.2 * 9.81 && ledger.fraction() < 0.01, "{ledger:?}");
}

/// A plate that passes a still slab within one step does not take along what lies below the slab,
/// whichever is named first; one that goes out and back within a step does not leave behind what it
/// met.
#[test]
fn two_obstacles_do_not_undo_each_other() {
    let plate = || {
        let up = Keyframes::new(vec![frame(0.0, DVec3::ZERO, 0.0), frame(0.1, DVec3::Z * 2.0, 0.0)]).unwrap();
        slab(1e-3).placed(DQuat::IDENTITY, DVec3::Z * -0.01).named("plate").moving(up.linear())
    };
    let still = || slab(1e-3).placed(DQuat::IDENTITY, DVec3::Z * 0.1).named("still");
    for obstacles in [[plate(), still()], [still(), plate()]] {
        let mut builder = Scene::builder().cloth(sheet(4, 0.0));
        for obstacle in obstacles {
            builder = builder.obstacle(obstacle);
        }
        let mut scene = builder.build().unwrap();
        // The plate crushes the sheet at the slab: that step is refused.
        while scene.time() < 0.05 {
            if scene.step().is_err() {
                break;
            }
            let z = 20.0 * scene.time() - 0.01;
            assert!(scene.state().x().as_slice().iter().all(|x| x.z > z && x.z < 0.0995), "{}", scene.time());
        }
        assert!(scene.time() < 0.01, "{}", scene.time());
    }
    let back = Keyframes::new(vec![
        frame(0.0, DVec3::ZERO, 0.0),
        frame(0.005, DVec3::Z * 0.5, 0.0),
        frame(0.01, DVec3::ZERO, 0.0),
    ]);
    let plate = slab(1e-3).placed(DQuat::IDENTITY, DVec3::Z * -0.1).moving(back.unwrap().linear());
    let mut scene = Scene::builder().cloth(sheet(4, 0.0)).obstacle(plate).build().unwrap();
    scene.step().unwrap();
    assert!(scene.state().x().as_slice().iter().all(|x| x.z > -0.0995));
}

/// A vertex that may slide along a line stays on it when an obstacle comes from the side: there is
/// no room.
#[test]
fn sliding_pins_are_not_carried_off() {
    let side = Keyframes::new(vec![frame(0.0, DVec3::ZERO, 0.0), frame(0.1, DVec3::X * 2.0, 0.0)]).unwrap();
    let wall =
        Obstacle::cuboid(DVec3::X * -1.0, [p(0.1), p(4.0), p(4.0)], DQuat::IDENTITY).moving(side.linear());
    let cloth = sheet(4, 0.0).hold(Pick::group("left"), plisse_scene::scene::Hold::Line(DVec3::Z));
    let mut scene = Scene::builder().cloth(cloth).obstacle(wall).build().unwrap();
    let mut ended = false;
    for _ in 0..10 {
        ended |= scene.step().is_err();
        for v in 0..5 {
            let x = scene.state().x().as_slice()[5 * v];
            assert!((x.x + 0.5).abs() < 1e-9, "{x}");
        }
    }
    assert!(ended);
}

/// Radians that the door has turned by: it starts and stops softly.
fn door_angle(time: f64) -> f64 {
    let s = (time / 0.2).min(1.0);
    60f64.to_radians() * s * s * (3.0 - 2.0 * s)
}

#[test]
fn starts_inside_are_refused() {
    let floor = Obstacle::plane(DVec3::ZERO, DVec3::Z).unwrap().named("floor");
    let build = |cloth: Cloth| Scene::builder().cloth(cloth).obstacle(floor.clone()).build();
    for height in [0.0, -1e-3, -0.5] {
        match build(sheet(2, height)).err().unwrap() {
            SceneError::StartsInside { body, obstacle, depth, count: 9, .. } => {
                assert_eq!((body.as_str(), obstacle.as_str(), depth), ("cloth 1", "floor", -height));
            }
            other => panic!("{other}"),
        }
    }
    assert!(build(sheet(2, 1e-9)).is_ok());
    // What a pin holds inside is told, not refused.
    let held = sheet(2, -1e-3).pin(Pick::All);
    let mut scene = build(held).unwrap();
    assert!((scene.step().unwrap().closest.unwrap().held_depth - 1e-3).abs() < 1e-12);
}

/// A round table: a plate of 4 cm whose rim is half a circle.
fn round_table(radius: f64) -> Obstacle {
    const AROUND: u32 = 48;
    const RIM: u32 = 8;
    let mut x = vec![DVec3::Z * 0.02, DVec3::Z * -0.02];
    for i in 0..AROUND {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / f64::from(AROUND)).sin_cos();
        for k in 0..=RIM {
            let (z, out) = (std::f64::consts::PI * (0.5 - f64::from(k) / f64::from(RIM))).sin_cos();
            let r = radius - 0.02 + 0.02 * out;
            x.push(DVec3::new(r * cos, r * sin, 0.02 * z));
        }
    }
    let at = |i: u32, k: u32| 2 + (i % AROUND) * (RIM + 1) + k;
    let mut faces = Vec::new();
    for i in 0..AROUND {
        faces.extend([[0, at(i, 0), at(i + 1, 0)], [1, at(i + 1, RIM), at(i, RIM)]]);
        for k in 0..RIM {
            let [a, b, c, d] = [at(i, k), at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)];
            faces.extend([[a, b, c], [a, c, d]]);
        }
    }
    let mesh = TriMesh::new(x.len(), &faces).unwrap();
    Obstacle::mesh(&mesh, &plisse_core::Field::from_vec(x)).unwrap()
}

/// With the defaults no face of a tablecloth cuts the table, its rim included: the range follows
/// the mesh.
#[test]
fn a_tablecloth_keeps_out_of_a_round_table() {
    let table = round_table(0.3);
    let cloth = Cloth::sheet([30, 30], [1.0, 1.0]).unwrap().material(Material::tablecloth());
    let mut scene =
        Scene::builder().cloth(cloth.at(DVec3::Z * 0.06)).obstacle(table.clone()).build().unwrap();
    scene.advance(p(0.6)).unwrap();
    let x = scene.state().x().as_slice();
    // It hangs over the rim.
    assert!(x.iter().any(|x| x.z < -0.1));
    let plisse_scene::scene::Kind::Cloth { mesh, .. } = &scene.bodies()[0].kind else { panic!() };
    let inside = mesh.faces().as_slice().iter().flat_map(|face| {
        let [a, b, c] = face.map(|v| x[v.index()]);
        [(a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0, (a + b + c) / 3.0]
    });
    let smallest = inside.map(|x| table.distance(0.0, x).value).fold(f64::INFINITY, f64::min);
    assert!(smallest > 0.0, "{smallest}");
}

/// A rod that fits between the vertices of a sheet carries it all the same: edges and faces touch.
#[test]
fn what_fits_between_vertices_carries() {
    let rod = |y: f64| Obstacle::capsule(DVec3::new(-1.0, y, 0.0), DVec3::new(1.0, y, 0.0), p(2e-3));
    // Two rods between rows of vertices, 10 cm apart.
    let builder = Scene::builder().cloth(sheet(10, 0.01)).obstacle(rod(-0.23)).obstacle(rod(0.27));
    let mut scene = builder.build().unwrap();
    for _ in 0..20 {
        scene.step().unwrap();
    }
    let highest = scene.state().x().as_slice().iter().map(|x| x.z).fold(f64::NEG_INFINITY, f64::max);
    assert!(highest > 0.0, "it fell through: {highest}");
}

/// A plane has no edge over which a small patch could slide.
#[test]
fn planes_have_no_end() {
    let floor = || Obstacle::plane(DVec3::ZERO, DVec3::Z).unwrap().friction(0.0).unwrap();
    let belt = Keyframes::new(vec![frame(0.0, DVec3::ZERO, 0.0), frame(1.0, DVec3::Y * 500.0, 0.0)]);
    for floor in [floor(), floor().moving(belt.unwrap().linear())] {
        let patch = Cloth::sheet([4, 4], [0.01, 0.01]).unwrap().at(DVec3::Z * 5e-4);
        let mut scene =
            Scene::builder().cloth(patch.velocity(DVec3::X * 500.0)).obstacle(floor).build().unwrap();
        let z = lowest(&mut scene, 1.0);
        assert!(z > 0.0 && scene.state().x().as_slice()[0].x > 499.0, "{z}");
    }
}

/// Within one step the solver could lead a wire around a ball that is smaller than its way.
#[test]
fn a_small_ball_holds_a_wire() {
    let wire = Wire { young: p(1e9), radius: p(1e-3), ..Wire::default() };
    let from = DVec3::new(-0.3, 3e-4, 0.2);
    let line = Wires::line(from, DVec3::new(0.3, 0.0, 0.2), 4).unwrap().wire(wire);
    let ball = Obstacle::sphere(DVec3::X * 0.08, p(5e-3));
    let mut scene = Scene::builder().wires(line).obstacle(ball).build().unwrap();
    scene.advance(p(0.21)).unwrap();
    let x = scene.state().x().as_slice();
    assert!(x[2].z > 0.0 && x[3].z > 0.0 && x[0].z < -0.02 && x[4].z < -0.02, "{x:?}");
}

/// Newmark's scheme rings where a sheet lands, and its damping gave back more than it took: that is
/// no work of a load, and shorter steps are taken.
#[test]
fn a_landing_sheet_gains_no_energy() {
    let cloth = Cloth::sheet([10, 10], [0.4, 0.4]).unwrap();
    let cloth = cloth.rotated(DQuat::from_rotation_x(60f64.to_radians())).at(DVec3::Z * 0.2);
    let floor = Obstacle::plane(DVec3::ZERO, DVec3::Z).unwrap().friction(0.0).unwrap();
    let scheme = Scheme::Newmark(SpectralRadius::new(0.8).unwrap());
    let mut scene = Scene::builder().cloth(cloth).obstacle(floor).scheme(scheme).build().unwrap();
    let first = scene.step().unwrap().energies.total();
    for _ in 0..40 {
        let report = scene.step().unwrap();
        assert!(report.energies.total() < 1.15 * first, "{} {first}", report.energies.total());
    }
}

#[test]
fn what_rounding_loses_is_refused() {
    let far = sheet(4, 0.0).at(DVec3::X * 1e300);
    assert!(matches!(Scene::builder().cloth(far).build(), Err(SceneError::TooFar { .. })));
    let near = sheet(4, 0.0).at(DVec3::X * 1e4);
    assert!(Scene::builder().cloth(near).build().unwrap().step().is_ok());
    let fast = sheet(4, 0.0).velocity(DVec3::X * 1e300);
    let mut scene = Scene::builder().cloth(fast).build().unwrap();
    let before = scene.state().clone();
    assert!(scene.step().is_err());
    assert!(*scene.state() == before);
}
