//! Distances, contact and friction against differences and closed forms.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};
use plisse_core::{Field, Id, Positive, Psd, TriMesh, Vertices, generate, symmetric_eigen};
use plisse_system::{BlockMatrix, Gradient, Pose, Role, StepMap, System};
use proptest::prelude::*;

use super::{Contact, ContactLaw, ContactTerm, FrictionTerm, Obstacle, Toucher};
use crate::scene::{Keyframe, Keyframes, SceneError, rotation_degrees};

fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

/// A box as a mesh, faces outwards.
fn box_mesh(half: DVec3) -> (TriMesh, Field<Vertices, DVec3>) {
    let corner = |i: usize| {
        let sign = |bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
        DVec3::new(sign(0), sign(1), sign(2)) * half
    };
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let faces: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    (TriMesh::new(8, &faces).unwrap(), Field::from_vec((0..8).map(corner).collect()))
}

fn moving() -> Keyframes {
    let frame = |time: f64, x: f64, angle: f64| Keyframe {
        time,
        translation: DVec3::new(x, -x, 0.3 * x),
        rotation: DQuat::from_rotation_y(angle),
    };
    Keyframes::new(vec![frame(0.0, 0.0, 0.0), frame(1.0, 0.2, 0.7)]).unwrap().linear()
}

fn shapes() -> Vec<Obstacle> {
    let (mesh, x) = box_mesh(DVec3::new(0.3, 0.2, 0.4));
    let turn = rotation_degrees(20.0, -35.0, 50.0);
    let all = vec![
        Obstacle::plane(DVec3::new(0.0, 0.1, -0.1), DVec3::new(0.2, -0.4, 1.0)).unwrap(),
        Obstacle::sphere(DVec3::new(0.1, -0.1, 0.0), p(0.4)),
        Obstacle::capsule(DVec3::new(-0.2, 0.0, 0.1), DVec3::new(0.3, 0.1, -0.2), p(0.2)),
        Obstacle::cuboid(DVec3::new(0.1, 0.0, 0.0), [p(0.5), p(0.3), p(0.4)], turn),
        Obstacle::mesh(&mesh, &x).unwrap(),
        Obstacle::cylinder(DVec3::new(-0.2, 0.0, 0.1), DVec3::new(0.3, 0.1, -0.2), p(0.2)).unwrap(),
        Obstacle::cone(DVec3::new(0.2, 0.0, 0.3), DVec3::new(-0.1, 0.1, -0.2), [0.1, 0.35]).unwrap(),
        Obstacle::cone(DVec3::new(0.0, -0.2, -0.2), DVec3::new(0.1, 0.1, 0.3), [0.4, 0.0]).unwrap(),
    ];
    let contact = Contact { range: Some(p(0.3)), stiffness: p(40.0), friction: 0.6, slip: p(0.5) };
    all.into_iter().map(|obstacle| obstacle.contact(contact).unwrap().moving(moving())).collect()
}

const H: f64 = 1e-5;

fn matrix_difference(a: DMat3, b: DMat3) -> f64 {
    (a - b).to_cols_array().iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// Whether a point is so close to where the nearest feature changes that differences across it mean
/// nothing.
fn is_smooth(obstacle: &Obstacle, time: f64, x: DVec3) -> bool {
    let here = obstacle.distance(time, x).hessian;
    let size = 1.0 + here.x_axis.length() + here.y_axis.length() + here.z_axis.length();
    let near =
        |d: DVec3| matrix_difference(obstacle.distance(time, x + d).hessian, here) < 0.01 * size * size;
    [DVec3::X, DVec3::Y, DVec3::Z].iter().all(|e| near(*e * 1e-4) && near(-*e * 1e-4)) && size < 30.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn distances_have_their_derivatives(x in prop::array::uniform3(-0.9..0.9f64), time in 0.0..1.0f64) {
        let x = DVec3::from(x);
        for (index, obstacle) in shapes().iter().enumerate() {
            if !is_smooth(obstacle, time, x) {
                continue;
            }
            let d = obstacle.distance(time, x);
            prop_assert!((d.gradient.length() - 1.0).abs() < 1e-12);
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let (plus, minus) = (obstacle.distance(time, x + axis * H), obstacle.distance(time, x - axis * H));
                let slope = (plus.value - minus.value) / (2.0 * H);
                prop_assert!((slope - d.gradient.dot(axis)).abs() < 1e-6, "{index}: {slope} {:?}", d);
                let second = (plus.gradient - minus.gradient) / (2.0 * H);
                prop_assert!((second - d.hessian * axis).length() < 1e-3, "{index}: {second} {:?}", d);
            }
        }
    }

    #[test]
    fn a_mesh_of_a_box_is_a_box(x in prop::array::uniform3(-1.0..1.0f64)) {
        let half = DVec3::new(0.3, 0.2, 0.4);
        let (mesh, positions) = box_mesh(half);
        let mesh = Obstacle::mesh(&mesh, &positions).unwrap();
        let solid = Obstacle::cuboid(DVec3::ZERO, (half * 2.0).to_array().map(p), DQuat::IDENTITY);
        let (a, b) = (mesh.distance(0.0, x.into()), solid.distance(0.0, x.into()));
        prop_assert!((a.value - b.value).abs() < 1e-12, "{a:?} {b:?}");
        // Inside, two faces may be equally near.
        if b.value > 0.0 {
            prop_assert!((a.gradient - b.gradient).length() < 1e-9, "{a:?} {b:?}");
        }
    }

    #[test]
    fn contact_and_friction_have_their_derivatives(x in prop::array::uniform3(-0.7..0.7f64), seed in 0..1000u32) {
        let x = Field::from_vec(vec![DVec3::from(x)]);
        let near = |k: f64| x.map(|x| *x + DVec3::new((k * f64::from(seed)).sin(), (k + f64::from(seed)).cos(), k.sin()) * 0.05);
        let (start, reference) = (near(1.7), near(2.9));
        let (time, dt) = (0.6, 0.05);
        let step = Some(StepMap { start: &start, dt, reference: &reference, rate: 1.0 / dt, past: plisse_core::Past::Start, own: &[], inertia: None, memory: None });
        for obstacle in shapes() {
            if !is_smooth(&obstacle, time, x[Id::new(0)]) {
                continue;
            }
            let toucher = Toucher { vertex: Id::new(0), area: 0.3, radius: 0.01, range: 0.3 };
            let touchers: Arc<[Toucher]> = Arc::new([toucher]);
            let mass = Field::filled(1, 1.0);
            let pose = Pose { x: &x, own: &[], time, step };
            let outside = |time, x| obstacle.distance(time, x).value > toucher.radius + 0.01;
            for law in [ContactLaw::Barrier, ContactLaw::Penalty] {
                let contact = ContactTerm::new("contact".into(), obstacle.clone(), law, Arc::clone(&touchers));
                let system = System::builder(mass.clone()).term(contact).build().unwrap();
                if law == ContactLaw::Penalty || outside(time, x[Id::new(0)]) {
                    check(&system, &pose)?;
                } else {
                    let hessian = hessian(&system, &pose, Psd::Clamp);
                    prop_assert!(!system.energy(&pose).is_nan() && hessian.is_finite());
                }
            }
            if outside(time - dt, start[Id::new(0)]) {
                let friction = FrictionTerm::new("friction".into(), obstacle.clone(), touchers, vec![0.3]);
                check(&System::builder(mass).term(friction).build().unwrap(), &pose)?;
            }
        }
    }
}

fn hessian(system: &System<Vertices>, pose: &Pose<'_, Vertices>, psd: Psd) -> DMat3 {
    let mut out = BlockMatrix::zeros(Arc::clone(system.pattern()));
    system.hessian(pose, psd, &mut out);
    DMat3::from_cols_slice(out.diagonal(0))
}

fn check(system: &System<Vertices>, pose: &Pose<'_, Vertices>) -> Result<(), TestCaseError> {
    let node = Id::new(0);
    let gradient = |x: &Field<Vertices, DVec3>| {
        let mut g = Field::filled(1, DVec3::ZERO);
        system.gradient(&Pose { x, ..*pose }, &mut g);
        g[node]
    };
    let (g, h) = (gradient(pose.x), hessian(system, pose, Psd::Exact));
    if g.length() < 1e-3 {
        return Ok(());
    }
    let scale = g.length() + matrix_difference(h, DMat3::ZERO);
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        let (plus, minus) = (pose.x.map(|x| *x + axis * H), pose.x.map(|x| *x - axis * H));
        let energy = |x| system.energy(&Pose { x, ..*pose });
        let slope = (energy(&plus) - energy(&minus)) / (2.0 * H);
        prop_assert!((slope - g.dot(axis)).abs() < 1e-6 * scale, "{slope} {g}");
        let second = (gradient(&plus) - gradient(&minus)) / (2.0 * H);
        prop_assert!((second - h * axis).length() < 2e-3 * scale, "{second} {h}");
    }
    // Energies and derivative at once.
    for term in system.terms() {
        let mut together = Field::filled(1, DVec3::ZERO);
        let energies = term.energy_and_add_gradient(pose, &mut Gradient::by_nodes(&mut together));
        prop_assert_eq!((energies.potential, together[node]), (term.energy(pose), g));
        let start = pose.step.map_or(pose.x, |step| step.start);
        let work = g.dot(pose.x[node] - start[node]);
        let rubs = term.role() == Role::Dissipative;
        let expected = if rubs { (0.0, work) } else { (energies.potential, 0.0) };
        prop_assert_eq!((energies.stored, energies.dissipated), expected);
    }
    // The projection against a numeric one.
    let rows = |m: DMat3| m.transpose().to_cols_array_2d();
    for (psd, clamp) in [(Psd::Clamp, (|l: f64| l.max(0.0)) as fn(f64) -> f64), (Psd::Abs, f64::abs)] {
        let (values, vectors) = symmetric_eigen(&rows(h));
        let mut expected = DMat3::ZERO;
        for (value, v) in values.iter().zip(vectors) {
            expected += plisse_core::outer(DVec3::from(v) * clamp(*value), DVec3::from(v));
        }
        let difference = matrix_difference(hessian(system, pose, psd), expected);
        prop_assert!(difference < 1e-9 * scale, "{psd:?} {difference}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A path that is called free is free: by samples, of every shape, also of a mesh that is not
    /// convex.
    #[test]
    fn free_paths_are_free(
        from in prop::array::uniform3(-0.9..0.9f64),
        path in prop::array::uniform3(-1.0..1.0f64),
        exponent in -3.0..1.0f64,
        radius in 0.0..0.05f64,
    ) {
        let (from, path) = (DVec3::from(from), DVec3::from(path) * 10f64.powf(exponent));
        let (torus, x) = torus();
        for obstacle in shapes().into_iter().chain([Obstacle::mesh(&torus, &x).unwrap()]) {
            let gap = obstacle.local_distance(0.0, from).value - radius;
            let free = obstacle.free_path(0.0, from, from + path, radius);
            if gap <= 0.0 {
                prop_assert_eq!(free, 0.0);
                continue;
            }
            prop_assert!(free > 0.0);
            let end = free.min(3.0);
            for k in 1..=200 {
                let x = from + path * (end * f64::from(k) / 200.0);
                let left = obstacle.local_distance(0.0, x).value - radius;
                prop_assert!(left >= 0.0999 * gap, "{left} of {gap} at {k} of {free}");
            }
        }
    }
}

/// Sliding along a convex surface is not limited, however small the gap; going towards it is
/// limited by the surface.
#[test]
fn only_the_way_towards_a_body_counts() {
    for obstacle in [
        Obstacle::plane(DVec3::ZERO, DVec3::Z).unwrap(),
        Obstacle::cuboid(DVec3::Z * -0.5, [p(10.0), p(10.0), p(1.0)], DQuat::IDENTITY),
        Obstacle::sphere(DVec3::Z * -1e3, p(1e3)),
    ] {
        let from = DVec3::Z * 1e-6;
        assert!(obstacle.free_path(0.0, from, from + DVec3::X, 0.0) >= 1.0);
        assert!(obstacle.free_path(0.0, from, from + DVec3::Z, 0.0) >= 0.9e-6);
        let down = obstacle.free_path(0.0, DVec3::Z * 0.5, DVec3::Z * -0.5, 0.0);
        assert!((0.44..0.4501).contains(&down), "{down}");
    }
}

/// A ring of square cross-section about the z axis, 0.5 m in radius: not convex.
fn torus() -> (TriMesh, Field<Vertices, DVec3>) {
    const N: u32 = 16;
    let square = [(0.4, -0.1), (0.6, -0.1), (0.6, 0.1), (0.4, 0.1)];
    let point = |i: u32, k: usize| {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(N);
        let (r, z) = square[k];
        DVec3::new(r * angle.cos(), r * angle.sin(), z)
    };
    let x = (0..N).flat_map(|i| (0..4).map(move |k| point(i, k))).collect();
    let at = |i: u32, k: u32| 4 * (i % N) + k % 4;
    let quad = |i: u32, k: u32| {
        let [a, b, c, d] = [at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)];
        [[a, b, c], [a, c, d]]
    };
    let faces: Vec<[u32; 3]> = (0..N).flat_map(|i| (0..4).flat_map(move |k| quad(i, k))).collect();
    (TriMesh::new(4 * N as usize, &faces).unwrap(), Field::from_vec(x))
}

#[test]
fn degenerate_places_have_a_direction() {
    let ball = Obstacle::sphere(DVec3::ONE, p(0.5));
    let rod = Obstacle::capsule(DVec3::ZERO, DVec3::X, p(0.1));
    let point = Obstacle::capsule(DVec3::ONE, DVec3::ONE, p(0.1));
    let block = Obstacle::cuboid(DVec3::ZERO, [p(1.0); 3], DQuat::IDENTITY);
    for (obstacle, x, value) in [
        (&ball, DVec3::ONE, -0.5),
        (&rod, DVec3::X * 0.5, -0.1),
        (&point, DVec3::ONE, -0.1),
        (&block, DVec3::ZERO, -0.5),
        (&block, DVec3::X * 0.5, 0.0),
    ] {
        let d = obstacle.distance(0.0, x);
        assert!((d.value - value).abs() < 1e-15 && (d.gradient.length() - 1.0).abs() < 1e-12, "{d:?}");
        assert!(d.hessian.is_finite());
    }
}

#[test]
fn a_fine_sphere_mesh_is_a_sphere() {
    let (mesh, x) = generate::sphere(4, 0.5).unwrap();
    let mesh = Obstacle::mesh(&mesh, &x).unwrap();
    for direction in [DVec3::new(1.0, 2.0, -0.5), DVec3::new(-1.0, 0.1, 0.3), DVec3::Z] {
        for radius in [0.2, 0.499, 0.7] {
            let d = mesh.distance(0.0, direction.normalize() * radius);
            assert!((d.value - (radius - 0.5)).abs() < 2e-3, "{radius} {d:?}");
        }
    }
}

#[test]
fn meshes_need_an_inside() {
    let (mesh, uv) = generate::grid(2, 2, [1.0, 1.0], generate::Diagonal::Right).unwrap();
    let error = Obstacle::mesh(&mesh, &generate::embed(&uv)).unwrap_err();
    assert!(matches!(error, SceneError::OpenObstacle { .. }), "{error}");
    let (mesh, x) = generate::sphere(1, 0.5).unwrap();
    let error = Obstacle::mesh(&mesh, &x.map(|x| -*x)).unwrap_err();
    assert!(error.to_string().contains("point inwards"), "{error}");
    assert!(Obstacle::plane(DVec3::ZERO, DVec3::ZERO).is_err());
    assert!(Obstacle::sphere(DVec3::ZERO, p(1.0)).friction(-0.1).is_err());
}
