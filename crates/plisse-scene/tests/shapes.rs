//! Cloth on cylinders, cones and meshes that deform: nothing gets in, no triangles cross, friction
//! follows the surface, and runs can be resumed.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use glam::DVec3;
use plisse_collision::intersections;
use plisse_core::{Field, Positive, TriMesh, Vertices, generate};
use plisse_scene::scene::{
    Checkpoint, Cloth, Keyframe, Keyframes, Kind, MeshFrame, Obstacle, Scene, SceneError,
};

fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn scene(cloth: Cloth, obstacle: &Obstacle) -> Scene {
    Scene::builder().cloth(cloth).obstacle(obstacle.clone()).build().unwrap()
}

fn sheet(cells: usize, size: f64, at: DVec3) -> Cloth {
    Cloth::sheet([cells, cells], [size, size]).unwrap().at(at)
}

/// No vertex is inside, and no triangle of the cloth crosses one of the obstacle.
#[track_caller]
fn is_apart(scene: &Scene, obstacle: &Obstacle) {
    let time = scene.time();
    let body = &scene.bodies()[0];
    let Kind::Cloth { mesh: cloth, .. } = &body.kind else { panic!("a sheet is cloth") };
    let mut x = scene.positions(body).to_vec();
    let deepest = x.iter().map(|x| obstacle.distance(time, *x).value).fold(f64::INFINITY, f64::min);
    assert!(deepest > 0.0, "a vertex is {deepest} m away at {time} s");
    let (corners, faces) = obstacle.surface(time).unwrap();
    let first = x.len() as u32;
    x.extend(corners);
    let solid = TriMesh::new(x.len() - first as usize, &faces).unwrap();
    let meshes = [cloth.among(0, x.len()), solid.among(first, x.len())];
    let found = intersections(&[&meshes[0], &meshes[1]], &Field::from_vec(x));
    // Triangles of one surface that have vertices in one place may meet.
    let crossing = found.crossings.iter().find(|c| c.faces[0].surface != c.faces[1].surface);
    assert!(crossing.is_none(), "{crossing:?} at {time} s");
}

/// Steps of 10 ms, each of them checked.
#[track_caller]
fn run(scene: &mut Scene, obstacle: &Obstacle, steps: u32) {
    is_apart(scene, obstacle);
    for _ in 0..steps {
        scene.step().unwrap();
        is_apart(scene, obstacle);
    }
}

fn heights(scene: &Scene) -> (f64, f64) {
    let z = scene.state().x().as_slice().iter().map(|x| x.z);
    (z.clone().fold(f64::INFINITY, f64::min), z.fold(f64::NEG_INFINITY, f64::max))
}

#[test]
fn the_rim_of_a_standing_cylinder_carries_a_sheet() {
    let pillar = Obstacle::cylinder(DVec3::Z * -0.5, DVec3::ZERO, p(0.1)).unwrap();
    let mut scene = scene(sheet(16, 0.4, DVec3::Z * 0.02), &pillar);
    run(&mut scene, &pillar, 50);
    let (low, high) = heights(&scene);
    assert!(low < -0.05 && high > 0.0, "{low} {high}");
}

#[test]
fn a_lying_cylinder_carries_a_sheet() {
    let roll = Obstacle::cylinder(DVec3::X * -0.15, DVec3::X * 0.15, p(0.05)).unwrap();
    let mut scene = scene(sheet(16, 0.4, DVec3::new(0.013, 0.007, 0.07)), &roll);
    run(&mut scene, &roll, 50);
    let (low, high) = heights(&scene);
    assert!(low < 0.0 && high > 0.05, "{low} {high}");
}

#[test]
fn the_tip_of_a_cone_carries_a_sheet() {
    let cone = Obstacle::cone(DVec3::Z * -0.4, DVec3::ZERO, [0.15, 0.0]).unwrap();
    // The tip is below the middle of the sheet, but not below a vertex.
    let mut scene = scene(sheet(15, 0.4, DVec3::Z * 0.02), &cone);
    run(&mut scene, &cone, 50);
    let (low, high) = heights(&scene);
    assert!(low < -0.05 && high > 0.0, "{low} {high}");
}

/// A pillar that moves upwards and turns lifts what lies on it.
#[test]
fn a_moving_cylinder_lifts_a_sheet() {
    let frame = |time: f64, z: f64, turn: f64| Keyframe {
        time,
        translation: DVec3::Z * z,
        rotation: glam::DQuat::from_rotation_x(turn),
    };
    let up = Keyframes::new(vec![frame(0.0, 0.0, 0.0), frame(0.2, 0.2, 0.3)]).unwrap();
    let pillar = Obstacle::cylinder(DVec3::Z * -0.2, DVec3::ZERO, p(0.1)).unwrap().moving(up);
    let mut scene = scene(sheet(12, 0.3, DVec3::Z * 0.02), &pillar);
    run(&mut scene, &pillar, 25);
    assert!(heights(&scene).1 > 0.15, "{:?}", heights(&scene));
}

/// Corners of the flat sides that contact sees reach out of the round surface: what starts there is
/// refused.
#[test]
fn starts_between_the_round_and_the_flat_sides_are_refused() {
    let pillar = Obstacle::cylinder(DVec3::ZERO, DVec3::Z, p(1.0)).unwrap();
    let start = |gap: f64| {
        let patch = Cloth::sheet([2, 2], [1e-3, 1e-3]).unwrap();
        let turned = patch.rotated(glam::DQuat::from_rotation_y(90f64.to_radians()));
        let cloth = turned.at(DVec3::new(1.0 + gap, 0.0, 0.5));
        Scene::builder().cloth(cloth).obstacle(pillar.clone()).build().map(|_| ())
    };
    // Of a range of 0.11 mm, a hundredth at most.
    assert!(matches!(start(2e-7), Err(SceneError::StartsInside { .. })));
    assert_eq!(start(1.1e-6), Ok(()));
}

/// A ball as a mesh, of which each frame has a time, a size and a place.
fn balls(radius: f64, frames: &[(f64, f64, DVec3)]) -> Obstacle {
    let (mesh, x) = generate::sphere(3, radius).unwrap();
    let frame =
        |&(time, size, by): &(f64, f64, DVec3)| MeshFrame { time, positions: x.map(|x| *x * size + by) };
    Obstacle::mesh_sequence(&mesh, frames.iter().map(frame).collect()).unwrap()
}

fn swelling() -> Obstacle {
    balls(0.1, &[(0.0, 1.0, DVec3::ZERO), (0.2, 1.1, DVec3::ZERO), (0.4, 1.3, DVec3::ZERO)])
}

fn on_the_ball() -> Cloth {
    sheet(14, 0.35, DVec3::new(0.003, 0.002, 0.12))
}

#[test]
fn a_swelling_ball_lifts_a_sheet() {
    let ball = swelling();
    let mut scene = scene(on_the_ball(), &ball);
    run(&mut scene, &ball, 50);
    let (low, high) = heights(&scene);
    assert!(low < 0.1 && high > 0.13, "{low} {high}");
}

/// A plate as a mesh that slides by 0.2 m within 1 s.
fn sliding(friction: f64) -> Obstacle {
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let faces: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let sign = |i: usize, bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
    let corner = |i: usize| DVec3::new(sign(i, 0), sign(i, 1), 0.1 * sign(i, 2)) * 0.4 - DVec3::Z * 0.04;
    let at = |x: f64| -> Field<Vertices, DVec3> {
        Field::from_vec((0..8).map(|i| corner(i) + DVec3::X * x).collect())
    };
    // It starts gently.
    let frames = [0.0, 0.02, 0.06, 0.12, 0.2].into_iter().zip([0.0, 0.2, 0.4, 0.6, 0.8]);
    let frames = frames.map(|(x, time)| MeshFrame { time, positions: at(x) }).collect();
    Obstacle::mesh_sequence(&TriMesh::new(8, &faces).unwrap(), frames).unwrap().friction(friction).unwrap()
}

#[test]
fn a_sequence_drags_cloth_by_friction() {
    for (friction, expected) in [(0.8, 0.19..0.205), (0.0, -1e-3..1e-3)] {
        let plate = sliding(friction);
        let mut scene = scene(sheet(8, 0.2, DVec3::Z * 0.004), &plate);
        run(&mut scene, &plate, 80);
        let x = scene.state().x().as_slice();
        let mean = x.iter().map(|x| x.x).sum::<f64>() / x.len() as f64;
        assert!(expected.contains(&mean), "friction {friction}: {mean}");
    }
}

#[test]
fn a_sequence_can_be_resumed() {
    let [mut whole, mut resumed] = [(); 2].map(|()| scene(on_the_ball(), &swelling()));
    for _ in 0..25 {
        whole.step().unwrap();
    }
    // Written to bytes and read again, as a program that continues a run does.
    let checkpoint = Checkpoint::from_bytes(&whole.checkpoint(1, 0).to_bytes()).unwrap();
    resumed.set_state(checkpoint.state).unwrap();
    for scene in [&mut whole, &mut resumed] {
        for _ in 0..10 {
            scene.step().unwrap();
        }
    }
    assert_eq!(whole.state(), resumed.state());
}

#[test]
fn a_start_inside_of_the_first_mesh_is_refused() {
    let inside = sheet(4, 0.02, DVec3::ZERO);
    let error = Scene::builder().cloth(inside).obstacle(swelling()).build().err().unwrap();
    assert!(matches!(error, SceneError::StartsInside { .. }), "{error}");
    // It grows only later to where this sheet is.
    assert!(Scene::builder().cloth(sheet(4, 0.02, DVec3::Z * 0.11)).obstacle(swelling()).build().is_ok());
}
