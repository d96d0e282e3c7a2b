//! What must hold of contact in any scene: derivatives, no crossing, the same bits.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use std::sync::Arc;

use common::{Belt, Sheets, floor, positive, settings, touching};
use glam::{DQuat, DVec3};
use plisse_collision::edge_edge;
use plisse_contact::{ContactError, ContactTerm, Kinematic, Near, Shape, Touching};
use plisse_core::{Field, Id, Psd, RestShape, SplitMix, TriMesh, Vertices};
use plisse_sparse::BlockMatrix;
use plisse_system::{
    Adaptive, Attachments, Gravity, Implicit, Integrator, Pose, Scheme, State, System, Term, Way,
};

/// Two crumpled sheets above each other, well within their ranges.
fn crumpled(seed: u64) -> (Sheets, Field<Vertices, DVec3>, ContactTerm) {
    let mut sheets = Sheets::default();
    sheets.add([4, 4], [0.04, 0.04], |x| x);
    sheets.add([4, 4], [0.04, 0.04], |x| DQuat::from_rotation_z(0.3) * x + DVec3::Z * 5e-3);
    let wide = Touching { range: positive(3e-3), radius: 2e-4, ..touching() };
    let contact = sheets.contact(wide).build("contact", &sheets.start(), &sheets.masses(0.2), |_| false);
    let mut random = SplitMix::new(seed);
    let second = sheets.meshes[1].2;
    let x = Field::from_fn(sheets.x.len(), |v| {
        let down = if v.get() < second { 0.0 } else { 3.4e-3 };
        let shift = DVec3::new(random.signed(), random.signed(), random.signed()) * 3e-4;
        sheets.x[v.index()] + shift - DVec3::Z * down
    });
    (sheets, x, contact.unwrap())
}

#[test]
fn forces_are_derivatives_of_the_energy_and_stiffness_is_never_negative() {
    for seed in 0..5 {
        let (sheets, x, contact) = crumpled(seed);
        let system = System::builder(sheets.masses(0.2)).term(contact).build().unwrap();
        let energy = |x: &Field<Vertices, DVec3>| system.energy(&Pose::at(x));
        let mut gradient = Field::filled(x.len(), DVec3::ZERO);
        system.gradient(&Pose::at(&x), &mut gradient);
        let largest = gradient.as_slice().iter().map(|g| g.length()).fold(0.0, f64::max);
        assert!(energy(&x) > 0.0 && largest > 1e-6, "{largest}");
        let total: DVec3 = gradient.as_slice().iter().sum();
        assert!(total.length() < 1e-12 * largest, "momentum");
        let mut worst: f64 = 0.0;
        for vertex in x.ids().step_by(3) {
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let h = 1e-9;
                let at = |s: f64| {
                    let mut x = x.clone();
                    x[vertex] += axis * s;
                    energy(&x)
                };
                let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
                worst = worst.max((slope - gradient[vertex].dot(axis)).abs());
            }
        }
        assert!(worst < 2e-5 * largest, "{seed}: {}", worst / largest);
        let mut matrix = BlockMatrix::zeros(Arc::clone(system.pattern()));
        system.hessian(&Pose::at(&x), Psd::Clamp, &mut matrix);
        let mut random = SplitMix::new(seed);
        let (size, mut positive) = (3 * x.len(), 0);
        for _ in 0..50 {
            let v: Vec<f64> = (0..size).map(|_| random.signed()).collect();
            let mut product = vec![0.0; size];
            matrix.mul(&v, &mut product);
            let curvature: f64 = v.iter().zip(&product).map(|(a, b)| a * b).sum();
            assert!(curvature >= 0.0, "{curvature}");
            positive += usize::from(curvature > 0.0);
        }
        assert_eq!(positive, 50);
    }
}

/// A face that turns on a large ball touches it elsewhere: Newton's method took tens of iterations
/// where the stiffness did not know that. There is one face only: on the edge of another one a ball
/// has a negative stiffness across that edge, which projection drops.
#[test]
fn the_stiffness_knows_that_faces_turn_on_balls() {
    let x = vec![DVec3::ZERO, DVec3::X * 0.02, DVec3::Y * 0.02];
    let uv = Field::from_vec(x.iter().map(|x| x.truncate()).collect());
    let mesh = TriMesh::new(3, &[[0, 1, 2]]).unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let sheets = Sheets { meshes: vec![(mesh, rest, 0)], x };
    let ball = vec![DVec3::new(0.006, 0.006, -0.3017)];
    let near = Touching { range: positive(2e-3), ..touching() };
    let round = Touching { radius: 0.3, ..near };
    let contact = sheets.contact(near).obstacle("ball", Shape::Points, 1, Arc::new(ball), round);
    let contact = contact.build("contact", &sheets.start(), &sheets.masses(0.2), |_| false).unwrap();
    let system = System::builder(sheets.masses(0.2)).term(contact).build().unwrap();
    // What starts close has a short range: come closer.
    let x = Field::from_fn(sheets.x.len(), |v| sheets.x[v.index()] - DVec3::Z * 4e-4);
    let gradient = |x: &Field<Vertices, DVec3>| {
        let mut gradient = Field::filled(x.len(), DVec3::ZERO);
        system.gradient(&Pose::at(x), &mut gradient);
        gradient
    };
    let mut matrix = BlockMatrix::zeros(Arc::clone(system.pattern()));
    system.hessian(&Pose::at(&x), Psd::Clamp, &mut matrix);
    // A turn about the point of contact, which leaves the gap as it is.
    let turn = |v: Id<Vertices>| DVec3::Z * (x[v].x - 0.006);
    let step: Vec<f64> = x.ids().flat_map(|v| turn(v).to_array()).collect();
    let mut product = vec![0.0; step.len()];
    matrix.mul(&step, &mut product);
    let h = 1e-6;
    let [ahead, behind] = [h, -h].map(|h| gradient(&Field::from_fn(x.len(), |v| x[v] + turn(v) * h)));
    let differences = x.ids().flat_map(|v| ((ahead[v] - behind[v]) / (2.0 * h)).to_array());
    let curvature: f64 = step.iter().zip(differences).map(|(a, b)| a * b).sum();
    let of_matrix: f64 = step.iter().zip(&product).map(|(a, b)| a * b).sum();
    assert!(curvature > 1e-6, "{curvature}");
    assert!((of_matrix / curvature - 1.0).abs() < 0.02, "{of_matrix} {curvature}");
}

/// Where faces are large, a ball lies on edges and on several faces at once, far from all vertices.
/// Its force must not fall to a hundredth there: gaps would close until nothing converges.
#[test]
fn balls_press_on_edges_as_on_faces() {
    let mut sheets = Sheets::default();
    sheets.add([2, 2], [0.1, 0.1], |x| x);
    let radius = 0.01;
    // The force over a place of the sheet at a third of the range.
    let force = |place: DVec3| {
        let under = |gap: f64| place - DVec3::Z * (radius + gap);
        let ball = Touching { radius, ..touching() };
        let contact = sheets
            .contact(touching())
            .obstacle("ball", Shape::Points, 1, Arc::new(vec![under(5e-3)]), ball)
            .build("contact", &sheets.start(), &sheets.masses(0.2), |_| false)
            .unwrap();
        let range = touching().range.get();
        let down = Field::from_fn(sheets.x.len(), |v| sheets.x[v.index()] - DVec3::Z * (5e-3 - range / 3.0));
        let system = System::builder(sheets.masses(0.2)).term(contact).build().unwrap();
        let mut gradient = Field::filled(down.len(), DVec3::ZERO);
        system.gradient(&Pose::at(&down), &mut gradient);
        -gradient.as_slice().iter().map(|g| g.z).sum::<f64>()
    };
    let id = |v: u32| sheets.x[v as usize];
    let faces = sheets.meshes[0].0.faces().as_slice();
    let [a, b, c] = faces[0].map(|v| id(v.get()));
    let on_face = force((a + b + c) / 3.0);
    assert!(on_face > 0.0);
    // All three sides, one of them between two faces.
    for (p, q) in [(a, b), (b, c), (c, a)] {
        let on_edge = force(p.midpoint(q));
        assert!((0.9..2.1).contains(&(on_edge / on_face)), "{on_edge} of {on_face}");
    }
}

fn stack(threads: usize, friction: f64) -> Vec<DVec3> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut sheets = Sheets::default();
        for k in 0..5 {
            let turn = DQuat::from_rotation_z(0.26 * f64::from(k));
            sheets.add([6, 6], [0.12, 0.12], |x| {
                turn * (x - DVec3::new(0.06, 0.06, 0.0)) + DVec3::Z * (4e-3 * f64::from(k + 1))
            });
        }
        let how = Touching { friction, range: positive(2e-3), ..touching() };
        let still = Belt { normal: DVec3::Z, velocity: DVec3::ZERO };
        let contact = floor(sheets.contact(how), still, how);
        let contact = contact.build("contact", &sheets.start(), &sheets.masses(0.2), |_| false).unwrap();
        let builder = sheets.system(0.2, [100.0, 100.0, 30.0], 1e-5, DVec3::Z * -9.81).term(contact);
        let system = builder.build().unwrap();
        let mut state = State::at_rest(sheets.start()).unwrap();
        let implicit = Implicit::new(&system, Scheme::BackwardEuler, settings(0.1)).unwrap();
        let mut integrator = Adaptive::new(implicit, positive(1e-5));
        for _ in 0..20 {
            integrator.step(&system, &mut state, positive(1.0 / 60.0)).unwrap();
            assert_eq!(sheets.crossings(state.x()), 0);
            assert!(state.x().as_slice().iter().all(|x| x.z > 0.0));
        }
        // One above the other, as they began.
        let heights: Vec<f64> = sheets
            .meshes
            .iter()
            .map(|(mesh, _, first)| {
                let range = *first as usize..*first as usize + mesh.vertex_count();
                state.x().as_slice()[range].iter().map(|x| x.z).sum::<f64>() / mesh.vertex_count() as f64
            })
            .collect();
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > 1e-3), "{heights:?}");
        assert!(heights[4] < 0.0105, "{heights:?}");
        state.x().as_slice().to_vec()
    })
}

#[test]
fn a_stack_lands_in_its_order_with_the_same_bits_on_any_number_of_threads() {
    let one = stack(1, 0.3);
    assert_eq!(one, stack(3, 0.3));
}

/// With small common motions and with such that the guess is seen from the sheets on the whole.
#[test]
fn guesses_through_a_floor_are_led_past_it() {
    let mut sheets = Sheets::default();
    for k in 0..5 {
        let turn = DQuat::from_rotation_z(0.26 * f64::from(k));
        sheets.add([12, 12], [0.12, 0.12], |x| turn * x + DVec3::Z * (5e-4 * f64::from(k + 1)));
    }
    let still = Belt { normal: DVec3::Z, velocity: DVec3::ZERO };
    let contact = floor(sheets.contact(touching()), still, touching());
    let start = sheets.start();
    let contact = contact.build("contact", &start, &sheets.masses(0.2), |_| false).unwrap();
    for down in [3e-4, 3e-3] {
        let mut guess = start.clone();
        let mut random = SplitMix::new(3);
        // Only some of them come into contact: the response gives up on all.
        let fall = |x: &mut DVec3| x.z -= if random.signed() > 0.9 { down * 5.0 } else { 0.0 };
        guess.as_mut_slice().iter_mut().for_each(fall);
        let way = Way { start: &start, from: 0.0, time: 0.01, memory: None };
        assert!(!contact.is_reachable(&way, &guess));
        contact.admit(&way, &mut guess);
        assert!(contact.is_reachable(&way, &guess), "{down}");
        assert!(guess != start, "{down}");
    }
}

/// A plate that moves up under a sheet.
struct Lift(f64);

impl Kinematic for Lift {
    fn place(&self, time: f64, _: &Near, out: &mut [DVec3]) {
        let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        for (out, [x, y]) in out.iter_mut().zip(corners) {
            *out = DVec3::new(0.1 * x, 0.1 * y, -5e-3 + self.0 * time);
        }
    }

    fn moves(&self) -> bool {
        true
    }
}

#[test]
fn plates_carry_sheets_at_any_speed() {
    for (speed, dt) in [(0.1, 1.0 / 60.0), (2.0, 1.0 / 60.0), (20.0, 1.0 / 100.0)] {
        let mut sheets = Sheets::default();
        for k in 0..3 {
            sheets.add([5, 5], [0.1, 0.1], |x| x + DVec3::new(-0.05, -0.05, 3e-3 * f64::from(k)));
        }
        let plate = Shape::Surface(vec![[0, 1, 2], [0, 2, 3]]);
        let contact =
            sheets.contact(touching()).obstacle("plate", plate, 4, Arc::new(Lift(speed)), touching());
        let contact = contact.build("contact", &sheets.start(), &sheets.masses(0.2), |_| false).unwrap();
        let builder = sheets.system(0.2, [100.0, 100.0, 30.0], 1e-4, DVec3::Z * -9.81).term(contact);
        let system = builder.build().unwrap();
        let mut state = State::at_rest(sheets.start()).unwrap();
        let implicit = Implicit::new(&system, Scheme::BackwardEuler, settings(0.1)).unwrap();
        let mut integrator = Adaptive::new(implicit, positive(1e-6));
        for _ in 0..12 {
            integrator.step(&system, &mut state, positive(dt)).unwrap();
            let height = -5e-3 + speed * state.time();
            assert!(state.x().as_slice().iter().all(|x| x.z > height), "{speed}");
            assert_eq!(sheets.crossings(state.x()), 0);
        }
    }
}

#[test]
fn what_touches_at_the_start_is_named() {
    let mut sheets = Sheets::default();
    sheets.add([2, 2], [0.1, 0.1], |x| x);
    sheets.add([2, 2], [0.1, 0.1], |x| x + DVec3::Z * 1e-3);
    let thick = Touching { radius: 1e-3, ..touching() };
    let found = sheets.contact(thick).build("contact", &sheets.start(), &sheets.masses(0.2), |_| false);
    match found.err() {
        Some(ContactError::Touching { parts, gap, count, .. }) => {
            assert!(
                parts.iter().any(|part| part.contains("vertex") && part.ends_with("sheet 9")),
                "{parts:?}"
            );
            assert!((gap + 1e-3).abs() < 1e-12 && count > 9, "{gap} {count}");
        }
        other => panic!("{other:?}"),
    }
    let bad = Touching { friction: f64::NAN, ..touching() };
    let found = sheets.contact(bad).build("contact", &sheets.start(), &sheets.masses(0.2), |_| false);
    assert!(found.err().unwrap().to_string().contains("friction is NaN: give zero or more"));
}

/// Beads on a thread fall across a rod of 1 mm that is held, and hang on both sides of it.
#[test]
fn wires_hang_over_wires() {
    let mut x: Vec<DVec3> = (0..5).map(|k| DVec3::new(0.02 * f64::from(k) - 0.04, 1e-3, 0.0)).collect();
    x.extend((0..5).map(|k| DVec3::new(1e-3, 0.02 * f64::from(k) - 0.04, 5e-3)));
    let x = Field::from_vec(x);
    let line = |first: u32| (0..4).map(|k| [Id::new(first + k), Id::new(first + k + 1)]).collect::<Vec<_>>();
    let how = Touching { radius: 1e-3, ..touching() };
    let masses = Field::filled(10, 1e-4);
    let is_held = |v: Id<Vertices>| v.get() < 5;
    let builder = ContactTerm::builder().wires("rod", line(0), how).wires("thread", line(5), how);
    let contact = builder.build("contact", &x, &masses, is_held).unwrap();
    let gravity = Gravity::new(DVec3::Z * -9.81, &masses).unwrap();
    let thread = line(5)
        .into_iter()
        .fold(Attachments::new("thread"), |springs, [a, b]| springs.between(a, b, positive(0.1)));
    let builder = System::builder(masses).term(contact).term(gravity).term(thread);
    let system = builder.pins((0..5).map(Id::new)).build().unwrap();
    let mut state = State::at_rest(x).unwrap();
    let implicit = Implicit::new(&system, Scheme::BackwardEuler, settings(0.1)).unwrap();
    let mut integrator = Adaptive::new(implicit, positive(1e-6));
    let mut least = f64::INFINITY;
    for _ in 0..60 {
        integrator.step(&system, &mut state, positive(0.01)).unwrap();
        for a in line(0) {
            for b in line(5) {
                let [a, b] = [a, b].map(|ends| ends.map(|v| state.x()[v]));
                least = least.min(edge_edge(a, b).distance());
            }
        }
    }
    assert!((2e-3..3e-3).contains(&least), "{least}");
    let [left, middle, right] = [5, 7, 9].map(|v| state.x()[Id::new(v)].z);
    assert!(left < 0.0 && right < 0.0 && middle > 0.0, "{left} {middle} {right}");
}

/// Two lines of one body with radii of their own, a crossing wire of 1 mm radius above one of them.
fn lines_and_a_wire(x: f64, neighbours: f64) -> Result<ContactTerm, ContactError> {
    let id = |v: u32| Id::new(v);
    let lines = vec![([id(0), id(1)], 1e-3), ([id(2), id(3)], 3e-3)];
    let start = Field::from_vec(vec![
        DVec3::ZERO,
        DVec3::Y * 0.01,
        DVec3::X * 0.02,
        DVec3::new(0.02, 0.01, 0.0),
        DVec3::new(x - 0.003, 0.005, 3.5e-3),
        DVec3::new(x + 0.003, 0.005, 3.5e-3),
    ]);
    let body = Touching { neighbours, ..touching() };
    let wire = Touching { radius: 1e-3, ..touching() };
    let masses = Field::filled(6, 1e-3);
    let contact = ContactTerm::builder().yarns("yarns", lines, body);
    contact.wires("wire", vec![[id(4), id(5)]], wire).build("contact", &start, &masses, |_| false)
}

#[test]
fn segments_have_radii_of_their_own() {
    assert!(lines_and_a_wire(0.0, 0.0).is_ok());
    let error = lines_and_a_wire(0.02, 0.0).err().unwrap();
    let ContactError::Touching { gap, .. } = error else { panic!("{error}") };
    assert!((gap + 5e-4).abs() < 1e-12, "{gap}");
}

/// Lines that start 20 mm apart and come to 4.2 mm, with radii of 1 mm and 3 mm, touch, unless they
/// count as neighbours.
#[test]
fn neighbours_do_not_touch() {
    let near = Field::from_vec(vec![
        DVec3::ZERO,
        DVec3::Y * 0.01,
        DVec3::X * 4.2e-3,
        DVec3::new(4.2e-3, 0.01, 0.0),
        DVec3::Z,
        DVec3::Z + DVec3::X * 0.006,
    ]);
    let energy = |neighbours: f64| {
        let term = lines_and_a_wire(0.0, neighbours).unwrap();
        System::builder(Field::filled(6, 1e-3)).term(term).build().unwrap().energy(&Pose::at(&near))
    };
    assert!(energy(0.0) > 0.0);
    assert_eq!(energy(0.03), 0.0);
}
