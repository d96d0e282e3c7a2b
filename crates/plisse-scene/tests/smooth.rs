//! Smooth surfaces of developable cloth: they are smoother, they end where the cloth ends, and
//! nothing crosses that did not.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::DVec3;
use plisse_collision::intersections;
use plisse_core::generate::Diagonal;
use plisse_core::{Field, Id, Positive, TriMesh, Vertices};
use plisse_scene::scene::{Cloth, Kind, Model, Obstacle, Scene, SmoothSheet};
use plisse_system::{OwnState, State};

fn sheet(z: f64) -> Cloth {
    let cloth = Cloth::grid([8, 8], [0.4, 0.4], Diagonal::Right).unwrap();
    cloth.model(Model::Developable).at(DVec3::Z * z)
}

/// The state of a scene whose edges are where this says, m.
fn with_edges(scene: &Scene, place: impl Fn(usize, DVec3) -> DVec3) -> State<Vertices> {
    let mut values = Vec::new();
    for (number, body) in scene.bodies().iter().enumerate() {
        let Kind::Cloth { mesh, .. } = &body.kind else { continue };
        let x = scene.positions(body);
        for (_, edge) in mesh.edges().iter() {
            let middle = (x[edge.vertices[0].index()] + x[edge.vertices[1].index()]) * 0.5;
            values.extend(place(number, middle).to_array());
        }
    }
    let (x, v) = (scene.state().x().clone(), scene.state().v().clone());
    let own = OwnState { rates: vec![0.0; values.len()], values };
    State::resume(x, v, own, 0.0, None, None, None).unwrap()
}

fn crossings(sheets: &[SmoothSheet]) -> usize {
    let total = sheets.iter().map(|sheet| sheet.points.len()).sum();
    let mut x: Vec<DVec3> = Vec::new();
    let mut meshes = Vec::new();
    for sheet in sheets {
        let mesh = TriMesh::with_isolated_vertices(sheet.points.len(), &sheet.faces).unwrap();
        meshes.push(mesh.among(x.len() as u32, total));
        x.extend(&sheet.points);
    }
    intersections(&meshes.iter().collect::<Vec<_>>(), &Field::from_vec(x)).crossings.len()
}

/// Vertices and midpoints of a cylinder as the ghost has them: the smooth surface is nearer.
#[test]
fn it_lies_nearer_to_what_is_curved() {
    let radius = 0.3;
    let on = |x: DVec3, r: f64| DVec3::new(r * (x.x / radius).sin(), x.y, r * (x.x / radius).cos());
    // Ghost vertices are κ h²/16 too far out.
    let h: f64 = 0.05;
    let bump = h * h / (16.0 * radius);
    let mut scene = Scene::builder().cloth(sheet(0.0)).build().unwrap();
    let flat = scene.state().x().clone();
    let edges = with_edges(&scene, |_, x| on(x, radius));
    let x = flat.map(|x| on(*x, radius + bump));
    let v = scene.state().v().clone();
    let state = State::resume(x, v, edges.own().clone(), 0.0, None, None, None).unwrap();
    scene.set_state(state).unwrap();
    let sheets = scene.smooth_sheets(scene.state(), 1);
    let sheet = sheets[0].as_ref().unwrap();
    let Kind::Cloth { mesh, .. } = &scene.bodies()[0].kind else { unreachable!("a cloth") };
    let off = |x: &DVec3| (x.x.hypot(x.z) - radius).abs();
    let inner: Vec<usize> = mesh.vertices().filter(|v| !mesh.is_boundary_vertex(*v)).map(Id::index).collect();
    let worst = inner.iter().map(|v| off(&sheet.points[*v])).fold(0.0, f64::max);
    assert!(worst < 0.6 * bump, "{worst} {bump}");
    assert_eq!(sheet.faces.len(), 4 * mesh.face_count());
    assert_eq!(sheet.uv.as_ref().unwrap().len(), sheet.faces.len());
    assert!(sheet.held_back <= 0.0);
    // Corners stay, and values follow.
    let ones = sheet.on_points(&vec![2.0; mesh.vertex_count()]);
    assert!(ones.iter().all(|value| (value - 2.0).abs() < 1e-12));
    for level in [2, 3] {
        let finer = scene.smooth_sheets(scene.state(), level)[0].clone().unwrap();
        assert_eq!(finer.points[0], sheet.points[0]);
        assert_eq!(finer.faces.len(), mesh.face_count() << (2 * level));
    }
    assert!(scene.smooth_sheets(scene.state(), 0)[0].is_none());
}

/// Edges that would lead one sheet through another, a box or a ball: the surface goes back.
#[test]
fn nothing_crosses_that_did_not() {
    let scene = Scene::builder().cloth(sheet(0.0)).cloth(sheet(2e-3)).build().unwrap();
    let wave = |number: usize, x: DVec3| {
        if number == 0 { x + DVec3::Z * 5e-3 * (9.0 * x.x).sin() } else { x }
    };
    let state = with_edges(&scene, wave);
    for level in 1..=3 {
        let sheets: Vec<SmoothSheet> =
            scene.smooth_sheets(&state, level).into_iter().map(Option::unwrap).collect();
        assert_eq!(crossings(&sheets), 0, "{level}");
        assert!(sheets[0].held_back > 0.0);
    }
    let ball = Obstacle::sphere(DVec3::NEG_Z * 0.1, Positive::literal(0.099));
    let scene = Scene::builder().cloth(sheet(0.0)).obstacle(ball).build().unwrap();
    let state = with_edges(&scene, |_, x| x - DVec3::Z * 5e-3);
    let smooth = scene.smooth_sheets(&state, 2)[0].clone().unwrap();
    assert!(smooth.held_back > 0.0);
    for x in &smooth.points {
        assert!(x.distance(DVec3::NEG_Z * 0.1) >= 0.099 - 1e-12, "{x}");
    }
}
