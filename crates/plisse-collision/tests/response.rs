//! Responses: paths are free, gaps and momentum are kept, what is prescribed arrives.

#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DQuat, DVec3};
use plisse_collision::{
    Body, BroadPhase, Colliders, ContactPair, Impact, InverseMasses, PairFilter, Pairs, Response,
    ResponseError, ResponseReport, ResponseSettings, edge_edge, intersections, point_edge, point_point,
    point_triangle,
};
use plisse_core::{Field, Id, Positive, SplitMix, TriMesh, Vertices, generate};
use proptest::prelude::*;
use serde_json::Value;

type Positions = Field<Vertices, DVec3>;

fn vector(random: &mut SplitMix) -> DVec3 {
    DVec3::new(random.signed(), random.signed(), random.signed())
}

// Impulses.

#[test]
fn impulses_are_those_of_the_vector() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/contact.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let case = &all["bridson"];
    let number = |value: &Value| value.as_f64().unwrap();
    let read = |value: &Value| DVec3::from_array(std::array::from_fn(|k| number(&value[k])));
    let impact = Impact::<4> {
        weights: std::array::from_fn(|i| number(&case["c"][i])),
        normal: read(&case["n"]),
        inverse_masses: std::array::from_fn(|i| 1.0 / number(&case["m"][i])),
    };
    let mut v: [DVec3; 4] = std::array::from_fn(|i| read(&case["v"][i]));
    assert!((impact.compliance() - number(&case["S"])).abs() < 1e-15);
    let impulse = impact.stop(&mut v, number(&case["mu"]));
    assert!((impulse.normal - number(&case["j"])).abs() < 1e-15);
    assert!((impulse.tangential - number(&case["jt"])).abs() < 1e-15);
    for i in 0..4 {
        assert!((v[i] - read(&case["v_after"][i])).length() < 1e-15, "{i}: {}", v[i]);
    }
    // Against a triangle that cannot move.
    let fixed = Impact { inverse_masses: [1.0, 0.0, 0.0, 0.0], ..impact };
    let mut v = [DVec3::new(1.0, 0.0, -1.0), DVec3::ZERO, DVec3::ZERO, DVec3::ZERO];
    let impulse = fixed.stop(&mut v, 0.5);
    let expected = &case["static_triangle"];
    assert_eq!((impulse.normal, impulse.tangential), (number(&expected["j"]), number(&expected["jt"])));
    assert_eq!(v, [read(&expected["v0"]), DVec3::ZERO, DVec3::ZERO, DVec3::ZERO]);
    // What moves apart is left alone.
    let apart = [DVec3::Z, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO];
    let mut v = apart;
    assert_eq!((fixed.stop(&mut v, 0.5).normal, v), (0.0, apart));
}

/// Equal masses: the impulse of the paper for a point and a triangle.
#[test]
fn equal_masses_have_the_impulse_of_the_paper() {
    let weights = [1.0, -0.2, -0.3, -0.5];
    let impact = Impact { weights, normal: DVec3::Z, inverse_masses: [1.0; 4] };
    let mut v = [DVec3::NEG_Z, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO];
    let half = impact.stop(&mut v, 0.0).normal;
    assert!((2.0 * half * 0.5 - 1.0 / 1.38).abs() < 1e-15);
    assert!((half - 0.724_637_681_159_420_3).abs() < 1e-15);
}

#[test]
fn impulses_keep_the_momentum_and_add_no_energy() {
    let mut random = SplitMix::new(20);
    let mut acted = 0;
    for case in 0..20_000 {
        // A point on a triangle, or two edges.
        let (s, t) = (0.5 + 0.5 * random.signed(), 0.5 + 0.5 * random.signed());
        let weights = if case % 2 == 0 {
            [1.0, -s, -(1.0 - s) * t, -(1.0 - s) * (1.0 - t)]
        } else {
            [s, 1.0 - s, -t, t - 1.0]
        };
        let normal = vector(&mut random).normalize();
        let mut inverse_masses = [0.0; 4];
        let mut v = [DVec3::ZERO; 4];
        for i in 0..4 {
            let moves = random.signed() > -0.6;
            if moves {
                inverse_masses[i] = 10f64.powf(2.0 * random.signed());
                v[i] = vector(&mut random);
            }
        }
        let friction = (2.0 * random.signed()).max(0.0);
        let impact = Impact { weights, normal, inverse_masses };
        let energy = |v: &[DVec3; 4]| -> f64 {
            (0..4)
                .filter(|i| inverse_masses[*i] > 0.0)
                .map(|i| 0.5 * v[i].length_squared() / inverse_masses[i])
                .sum()
        };
        let before = v;
        let impulse = impact.stop(&mut v, friction);
        acted += usize::from(impulse.normal > 0.0);
        assert!(energy(&v) <= energy(&before) * (1.0 + 1e-14), "{case}: {impact:?} {before:?}");
        if inverse_masses.iter().all(|m| *m > 0.0) {
            let change: DVec3 = (0..4).map(|i| (v[i] - before[i]) / inverse_masses[i]).sum();
            assert!(change.length() <= 1e-11, "{case}: {change}");
        }
        // Friction stops the sliding at most.
        let slide = |v: &[DVec3; 4]| impact.relative_velocity(v).reject_from(normal);
        assert!(slide(&v).dot(slide(&before)) >= -1e-9, "{case}");
        if impulse.normal > 0.0 {
            assert!(impact.relative_velocity(&v).dot(normal).abs() < 1e-11, "{case}");
            assert!(impulse.tangential <= friction * impulse.normal * (1.0 + 1e-15));
        }
    }
    assert!(acted > 8_000, "{acted}");
}

// Scenes.

struct Scene {
    colliders: Colliders,
    meshes: Vec<TriMesh>,
    inverse_masses: Vec<f64>,
    old: Positions,
}

/// A sheet or a plate: vertices on a grid of `n` by `n` cells of 10 mm.
struct Sheet {
    cells: usize,
    height: f64,
    turn: f64,
    inverse_mass: f64,
}

const CELL: f64 = 0.01;

fn scene(sheets: &[Sheet], radius: f64, jitter: f64) -> Scene {
    let mut random = SplitMix::new(9);
    let (mut grids, mut old, mut inverse_masses) = (vec![], vec![], vec![]);
    for sheet in sheets {
        let size = CELL * sheet.cells as f64;
        let (mesh, uv) =
            generate::grid(sheet.cells, sheet.cells, [size, size], generate::Diagonal::Alternating).unwrap();
        let first = old.len() as u32;
        for u in uv.as_slice() {
            let flat = DVec3::new(u.x - 0.5 * size, u.y - 0.5 * size, 0.0);
            let noise = vector(&mut random) * jitter;
            old.push(DQuat::from_rotation_z(sheet.turn) * flat + DVec3::Z * sheet.height + noise);
            inverse_masses.push(sheet.inverse_mass);
        }
        grids.push((mesh, first));
    }
    let meshes: Vec<TriMesh> = grids.iter().map(|(mesh, first)| mesh.among(*first, old.len())).collect();
    let mut colliders = Colliders::new(old.len());
    for (i, mesh) in meshes.iter().enumerate() {
        colliders.add_surface(Body(i as u32), mesh, radius).unwrap();
    }
    Scene { colliders, meshes, inverse_masses, old: Field::from_vec(old) }
}

fn flatten(pairs: &Pairs) -> Vec<ContactPair> {
    let mut all: Vec<ContactPair> = vec![];
    all.extend(pairs.vertex_faces.iter().map(|(v, f)| ContactPair::VertexFace(*v, *f)));
    all.extend(pairs.edge_edges.iter().map(|(e, f)| ContactPair::EdgeEdge(*e, *f)));
    all.extend(pairs.vertex_edges.iter().map(|(v, e)| ContactPair::VertexEdge(*v, *e)));
    all.extend(pairs.vertex_vertices.iter().map(|(v, w)| ContactPair::VertexVertex(*v, *w)));
    all
}

fn distance(pair: ContactPair, colliders: &Colliders, x: impl Fn(Id<Vertices>) -> DVec3) -> f64 {
    let edge = |e| colliders.edge(e).map(&x);
    match pair {
        ContactPair::VertexFace(v, f) => point_triangle(x(v), colliders.face(f).map(&x)).distance(),
        ContactPair::EdgeEdge(e, f) => edge_edge(edge(e), edge(f)).distance(),
        ContactPair::VertexEdge(v, e) => point_edge(x(v), edge(e)).distance(),
        ContactPair::VertexVertex(v, w) => point_point(x(v), x(w)).distance(),
    }
}

/// Looks at every pair at many times of the paths: it keeps its share of the gap. The smallest gap
/// at the end.
fn check_paths(
    colliders: &Colliders,
    settings: &ResponseSettings,
    inverse_masses: &[f64],
    old: &Positions,
    new: &Positions,
) -> f64 {
    let mut phase = BroadPhase::new(colliders.clone(), old);
    let mut smallest = f64::INFINITY;
    for pair in flatten(&phase.along(old, new, settings.reach, |_, _| true)) {
        let vertices = pair.vertices(colliders);
        if vertices.iter().all(|v| inverse_masses[v.index()] == 0.0) {
            continue;
        }
        let xi = pair.thickness(colliders);
        let start = distance(pair, colliders, |v| old[v]);
        let gap = start - xi;
        let least =
            if gap > 0.0 { xi + settings.keep * gap.min(settings.reach) } else { settings.keep * start };
        for k in 1..=8 {
            let t = f64::from(k) / 8.0;
            let d = distance(pair, colliders, |v| old[v].lerp(new[v], t));
            assert!(d >= least * (1.0 - 1e-12), "{pair} at {t}: {d} < {least}");
        }
        smallest = smallest.min(distance(pair, colliders, |v| new[v]) - xi);
    }
    smallest
}

impl Scene {
    fn masses(&self) -> InverseMasses {
        InverseMasses::new(Field::from_vec(self.inverse_masses.clone())).unwrap()
    }

    /// The response to candidates that are checked in every way if there is one. The smallest gap.
    fn respond(
        &self,
        settings: ResponseSettings,
        candidate: &Positions,
    ) -> Result<(ResponseReport, Positions, f64), ResponseError> {
        let mut phase = BroadPhase::new(self.colliders.clone(), &self.old);
        let mut new = candidate.clone();
        let response = Response::new(settings).unwrap();
        let result = response.respond(&mut phase, &self.masses(), &PairFilter::all(), &self.old, &mut new);
        let report = match result {
            Err(error) => {
                assert_eq!(&new, candidate, "an error must leave the candidates");
                return Err(error);
            }
            Ok(report) => report,
        };
        if report.is_untouched() {
            assert_eq!(&new, candidate);
        }
        for (v, x) in new.iter() {
            assert!(self.inverse_masses[v.index()] > 0.0 || *x == candidate[v], "{v} is prescribed");
        }
        let smallest = check_paths(&self.colliders, &settings, &self.inverse_masses, &self.old, &new);
        let meshes: Vec<&TriMesh> = self.meshes.iter().collect();
        assert!(intersections(&meshes, &new).is_free());
        Ok((report, new, smallest))
    }

    /// What a displacement changes in the momentum, as a share of the sum of all momenta.
    fn momentum_change(&self, candidate: &Positions, new: &Positions) -> f64 {
        let (mut change, mut all) = (DVec3::ZERO, 0.0);
        for v in new.ids() {
            let mass = 1.0 / self.inverse_masses[v.index()];
            change += (new[v] - candidate[v]) * mass;
            all += (candidate[v] - self.old[v]).length() * mass;
        }
        change.length() / all
    }
}

/// The kinetic energy of displacements in kg·m².
fn energy(scene: &Scene, new: &Positions) -> f64 {
    new.iter()
        .map(|(v, x)| 0.5 * (*x - scene.old[v]).length_squared() / scene.inverse_masses[v.index()])
        .sum()
}

fn layers(count: usize, radius: f64) -> Scene {
    let sheets: Vec<Sheet> = (0..count)
        .map(|i| Sheet {
            cells: 9,
            height: (4e-3 + 2.0 * radius) * i as f64,
            turn: 0.3 * i as f64,
            inverse_mass: 1.0 / (1.0 + i as f64),
        })
        .collect();
    scene(&sheets, radius, 3e-4)
}

/// Drives every second sheet up and the others down by `way`, with a shear.
fn through_each_other(scene: &Scene, way: f64) -> Positions {
    let mut random = SplitMix::new(3);
    Field::from_fn(scene.old.len(), |v| {
        let sign = if (v.index() / 100) % 2 == 0 { 0.5 } else { -0.5 };
        scene.old[v] + DVec3::new(0.2 * sign * way, 0.1 * way, sign * way) + vector(&mut random) * 5e-4
    })
}

const DRIVES: [(usize, f64, f64); 8] = [
    (2, 0.01, 0.0),
    (2, 0.02, 0.0),
    (2, 0.04, 0.0),
    (2, 0.02, 5e-4),
    (4, 0.01, 0.0),
    (4, 0.02, 0.0),
    (4, 0.04, 0.0),
    (4, 0.02, 5e-4),
];

#[test]
fn sheets_driven_through_each_other_stay_apart_and_keep_their_momentum() {
    for (count, way, radius) in DRIVES {
        let scene = layers(count, radius);
        let candidate = through_each_other(&scene, way);
        for friction in [0.0, 0.4] {
            let settings = ResponseSettings { friction, ..Default::default() };
            let (report, new, gap) = scene.respond(settings, &candidate).unwrap();
            assert!(gap > 5e-5, "{gap}");
            let change = scene.momentum_change(&candidate, &new);
            assert!(report.contacts > 20 && report.rewound.is_empty(), "{report:?}");
            assert!(change < 1e-12, "{change}");
            assert!(energy(&scene, &new) < energy(&scene, &candidate));
        }
    }
}

#[test]
fn more_contacts_than_allowed_are_refused_at_once() {
    let scene = layers(3, 0.0);
    let candidate = through_each_other(&scene, DRIVES[0].1);
    let contacts = scene.respond(ResponseSettings::default(), &candidate).unwrap().0.contacts;
    let allow =
        |most_contacts| scene.respond(ResponseSettings { most_contacts, ..Default::default() }, &candidate);
    assert!(allow(contacts).is_ok());
    let most = contacts - 1;
    assert_eq!(allow(most).unwrap_err(), ResponseError::TooMany { contacts, most });
}

#[test]
fn zones_alone_keep_sheets_apart_and_their_momentum() {
    for (count, way, radius) in DRIVES {
        let scene = layers(count, radius);
        let candidate = through_each_other(&scene, way);
        let settings = ResponseSettings { passes: 0, largest_zone: usize::MAX, ..Default::default() };
        let (report, new, gap) = scene.respond(settings, &candidate).unwrap();
        // A zone keeps its distances, and all sheets are in one.
        assert!(gap > 2e-3, "{gap}");
        let change = scene.momentum_change(&candidate, &new);
        assert_eq!((report.passes, report.impulses, report.rewound.len()), (0, 0, 0));
        assert!(report.zones > 0 && report.largest_zone > 8);
        assert!(change < 1e-12, "{change}");
        assert!(energy(&scene, &new) < energy(&scene, &candidate));
    }
}

#[test]
fn rewinding_alone_keeps_sheets_apart() {
    for (count, way, radius) in DRIVES {
        let scene = layers(count, radius);
        let candidate = through_each_other(&scene, way);
        let settings = ResponseSettings { passes: 0, largest_zone: 0, ..Default::default() };
        let (report, new, _) = scene.respond(settings, &candidate).unwrap();
        assert_eq!((report.impulses, report.zones), (0, 0));
        assert!(!report.rewound.is_empty());
        // Those that were not rewound are where they wanted to be; the others are on their way.
        for v in new.ids() {
            let (way, asked) = (new[v] - scene.old[v], candidate[v] - scene.old[v]);
            if report.rewound.binary_search(&v).is_err() {
                assert_eq!(new[v], candidate[v]);
            } else {
                assert!(way.length() < asked.length() && way.cross(asked).length() < 1e-15);
            }
        }
    }
}

// Obstacles.

/// Vertices of the plate.
const PLATE: usize = 17 * 17;

/// A plate and layers of sheets above it, 4 mm from each other.
fn layers_on_plate(count: usize) -> Scene {
    let mut sheets = vec![Sheet { cells: 16, height: 0.0, turn: 0.0, inverse_mass: 0.0 }];
    sheets.extend((0..count).map(|i| Sheet {
        cells: 9,
        height: 4e-3 * (i + 1) as f64,
        turn: 0.2 + 0.3 * i as f64,
        inverse_mass: 500.0,
    }));
    scene(&sheets, 0.0, 3e-4)
}

#[test]
fn a_plate_carries_layers_along() {
    let plate = PLATE;
    for (turn, way) in [(0.0, 0.02), (0.1, 0.02), (0.0, 0.2)] {
        let scene = layers_on_plate(3);
        let go = |x: DVec3| DQuat::from_rotation_x(turn) * x + DVec3::new(0.01, 0.0, way);
        let candidate =
            Field::from_fn(
                scene.old.len(),
                |v| {
                    if v.index() < plate { go(scene.old[v]) } else { scene.old[v] }
                },
            );
        let (report, new, _) = scene.respond(ResponseSettings::default(), &candidate).unwrap();
        assert!(report.rewound.is_empty());
        // Every sheet is above the plate where it was above it.
        for v in new.ids().skip(plate) {
            let local = DQuat::from_rotation_x(-turn) * (new[v] - DVec3::new(0.01, 0.0, way));
            assert!(local.z > 0.0, "{v} at {local}");
        }
    }
}

#[test]
fn a_sheet_that_is_squeezed_is_named() {
    let plates = |gap: f64| {
        let plate = |height: f64| Sheet { cells: 6, height, turn: 0.0, inverse_mass: 0.0 };
        let sheet = Sheet { cells: 4, height: 4e-3, turn: 0.4, inverse_mass: 1.0 };
        let scene = scene(&[plate(0.0), sheet, plate(8e-3)], 0.0, 3e-4);
        let candidate = Field::from_fn(scene.old.len(), |v| {
            if v.index() < 49 { scene.old[v] + DVec3::Z * (8e-3 - gap) } else { scene.old[v] }
        });
        (scene, candidate)
    };
    // One plate passes through the other, and through the sheet between.
    let (scene, candidate) = plates(-2e-3);
    let error = scene.respond(ResponseSettings::default(), &candidate).unwrap_err();
    let ResponseError::Squeezed { pair, vertices, time } = &error else { panic!("{error}") };
    assert_eq!(vertices, &pair.vertices(&scene.colliders));
    let is_sheet = |v: &Id<Vertices>| (49..74).contains(&v.index());
    assert!(vertices.iter().any(is_sheet) && !vertices.iter().all(is_sheet), "{error}");
    assert!((0.0..1.0).contains(time));
    assert_eq!(
        error.to_string(),
        format!("{pair} are squeezed by prescribed motions at {time:.3} of the step: halve the step")
    );
    // Half of the step leaves room.
    let half = Field::from_fn(scene.old.len(), |v| scene.old[v].lerp(candidate[v], 0.5));
    let (report, ..) = scene.respond(ResponseSettings::default(), &half).unwrap();
    assert!(report.contacts > 0);
}

#[test]
fn a_pair_that_touches_at_the_start_is_named_unless_it_is_excluded() {
    let mut colliders = Colliders::new(4);
    colliders.add_surface(Body(0), &TriMesh::new(3, &[[0, 1, 2]]).unwrap(), 0.0).unwrap();
    colliders.add_points(Body(1), &[Id::new(3)], 0.0).unwrap();
    let old = Field::from_vec(vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.25, 0.25, 0.0)]);
    let mut phase = BroadPhase::new(colliders, &old);
    let masses = InverseMasses::new(Field::filled(4, 1.0)).unwrap();
    let response = Response::new(ResponseSettings::default()).unwrap();
    let mut new = old.clone();
    let error = response.respond(&mut phase, &masses, &PairFilter::all(), &old, &mut new).unwrap_err();
    let pair = ContactPair::VertexFace(Id::new(3), Id::new(0));
    let vertices = [3, 0, 1, 2].map(Id::new).to_vec();
    assert_eq!(error, ResponseError::Touching { pair, vertices, gap: 0.0 });
    let without = PairFilter { bodies: |_, _| true, pairs: |other| other != pair };
    assert!(response.respond(&mut phase, &masses, &without, &old, &mut new).unwrap().is_untouched());
    let apart = PairFilter { bodies: |a, b| a == b, pairs: |_| true };
    assert!(response.respond(&mut phase, &masses, &apart, &old, &mut new).unwrap().is_untouched());
    // What is no number is named, too.
    new[Id::new(2)].y = f64::NAN;
    let error = response.respond(&mut phase, &masses, &without, &old, &mut new).unwrap_err();
    assert_eq!(error, ResponseError::NotFinite { vertex: Id::new(2) });
}

/// A ball of one vertex and a capsule of two, both thick, lift a sheet of 9 by 9 cells.
#[test]
fn thick_points_and_lines_lift_a_sheet() {
    for (is_ball, radius, way) in
        [(true, 0.3, 0.02), (false, 0.3, 0.02), (true, 0.05, 0.1), (false, 0.02, 0.05)]
    {
        let sheet = scene(&[Sheet { cells: 9, height: 0.0, turn: 0.1, inverse_mass: 500.0 }], 1e-3, 3e-4);
        let count = sheet.old.len();
        let mut colliders = Colliders::new(count + 2);
        colliders.add_surface(Body(0), &sheet.meshes[0].among(0, count + 2), 1e-3).unwrap();
        let ends = [Id::new(count as u32), Id::new(count as u32 + 1)];
        if is_ball {
            colliders.add_points(Body(1), &ends[..1], radius).unwrap();
        } else {
            colliders.add_lines(Body(1), &[ends], radius).unwrap();
        }
        let mut old = sheet.old.into_vec();
        let depth = radius + 1e-3 + 4e-3;
        let half = if is_ball { 0.0 } else { 0.1 };
        old.extend([DVec3::new(-half, 0.0, -depth), DVec3::new(half, 0.0, -depth)]);
        let mut inverse_masses = sheet.inverse_masses;
        inverse_masses.extend([0.0; 2]);
        let scene = Scene {
            colliders,
            meshes: vec![sheet.meshes[0].among(0, count + 2)],
            inverse_masses,
            old: Field::from_vec(old),
        };
        let candidate = Field::from_fn(count + 2, |v| {
            if v.index() < count { scene.old[v] } else { scene.old[v] + DVec3::Z * way }
        });
        let (report, _, gap) = scene.respond(ResponseSettings::default(), &candidate).unwrap();
        assert!(report.contacts > 0 && report.rewound.is_empty());
        assert!(gap > 0.0);
    }
}

/// Grains on a line, in zones of two or three, and one against what cannot move.
#[test]
fn grains_make_zones_without_inertia() {
    let check = |x: &[f64], way: &[f64], inverse_masses: &[f64], expected: &[f64]| {
        let n = x.len();
        let mut colliders = Colliders::new(n);
        for i in 0..n as u32 {
            colliders.add_points(Body(i), &[Id::new(i)], 0.01).unwrap();
        }
        let scene = Scene {
            colliders,
            meshes: vec![],
            inverse_masses: inverse_masses.to_vec(),
            old: Field::from_fn(n, |v| DVec3::ONE * x[v.index()]),
        };
        let candidate = Field::from_fn(n, |v| scene.old[v] + DVec3::ONE * way[v.index()]);
        let settings = ResponseSettings { passes: 0, ..Default::default() };
        let (report, new, _) = scene.respond(settings, &candidate).unwrap();
        assert_eq!((report.zones, report.rewound.len()), (1, 0));
        for v in new.ids() {
            let moved = (new[v] - scene.old[v] - DVec3::ONE * expected[v.index()]).length();
            assert!(moved < 1e-15, "{v}: {} {moved}", new[v]);
        }
    };
    check(&[0.0, 0.1], &[0.2, -0.1], &[1.0, 0.5], &[0.0, 0.0]);
    check(&[0.0, 0.1], &[0.2, 0.0], &[1.0, 1.0], &[0.1, 0.1]);
    check(&[0.0, 0.1, 0.2], &[0.3, 0.0, 0.0], &[1.0, 1.0, 1.0], &[0.1, 0.1, 0.1]);
    check(&[0.0, 0.1], &[0.2, 0.05], &[1.0, 0.0], &[0.05, 0.05]);
    check(&[0.0, 0.1, 0.2], &[0.2, 0.0, 0.0], &[1.0, 1.0, 0.0], &[0.0, 0.0, 0.0]);
}

/// Two thick grains that pass each other would turn as a zone. The straight paths of that turn
/// bring them nearer than their radii, and so they keep the momentum alone.
#[test]
fn zones_whose_rotation_would_touch_do_not_rotate() {
    let grains = |radius: f64, way: DVec3| {
        let mut colliders = Colliders::new(2);
        colliders.add_points(Body(0), &[Id::new(0)], radius).unwrap();
        colliders.add_points(Body(1), &[Id::new(1)], radius).unwrap();
        let old = Field::from_vec(vec![DVec3::ZERO, DVec3::X * 0.0202]);
        let scene = Scene { colliders, meshes: vec![], inverse_masses: vec![1.0, 1.0], old };
        let candidate = Field::from_vec(vec![scene.old[Id::new(0)] + way, scene.old[Id::new(1)] - way]);
        let settings = ResponseSettings { passes: 0, ..Default::default() };
        let (report, new, _) = scene.respond(settings, &candidate).unwrap();
        assert_eq!((report.zones, report.rewound.len()), (1, 0));
        (report.zone_passes, new[Id::new(0)])
    };
    let way = DVec3::new(0.02, 0.0035, 0.0);
    let (passes, x) = grains(0.01, way);
    assert!(passes == 2 && x == DVec3::ZERO, "{passes} {x}");
    // Thin ones have room: the angle is the displacement across over half the distance.
    let (passes, x) = grains(0.002, way);
    let angle: f64 = 0.0035 / 0.0101;
    let turned = DVec3::new(0.0101 * (1.0 - angle.cos()), 0.0101 * angle.sin(), 0.0);
    assert!(passes == 1 && (x - turned).length() < 1e-15, "{passes} {x} {turned}");
}

/// A grain that flies to a wall goes nine tenths of the free way.
#[test]
fn rewinding_leaves_nine_tenths_of_the_free_way() {
    let mut colliders = Colliders::new(4);
    let wall = TriMesh::new(3, &[[0, 1, 2]]).unwrap().among(0, 4);
    colliders.add_surface(Body(0), &wall, 0.0).unwrap();
    colliders.add_points(Body(1), &[Id::new(3)], 0.01).unwrap();
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let old = Field::from_vec([&corners[..], &[DVec3::new(0.2, 0.2, 0.03)]].concat());
    let candidate = Field::from_vec([&corners[..], &[DVec3::new(0.2, 0.2, -0.05)]].concat());
    let scene = Scene { colliders, meshes: vec![wall], inverse_masses: vec![0.0, 0.0, 0.0, 1.0], old };
    let settings = ResponseSettings { passes: 0, largest_zone: 0, ..Default::default() };
    let (report, new, _) = scene.respond(settings, &candidate).unwrap();
    assert_eq!(report.rewound, [Id::new(3)]);
    // Free down to the radius and a tenth of a millimetre, to the resolution of the search.
    let expected = 0.03 - 0.9 * (0.03 - 0.0101);
    assert!((new[Id::new(3)].z - expected).abs() < 1e-6 * 0.08, "{}", new[Id::new(3)]);
}

// Many steps.

/// Takes many steps from rest: every one is checked. Velocities are lost between steps if the
/// sheets are `viscous`. The smallest gap of the last and of all steps, and all contacts.
fn simulate(
    mut scene: Scene,
    steps: usize,
    gravity: f64,
    viscous: bool,
    stiffness: f64,
) -> (f64, f64, usize) {
    let dt = Positive::new(1.0 / 60.0).unwrap();
    let settings = ResponseSettings { friction: 0.3, stiffness, ..Default::default() };
    let response = Response::new(settings).unwrap();
    let masses = scene.masses();
    let mut phase = BroadPhase::new(scene.colliders.clone(), &scene.old);
    let mut velocities = vec![DVec3::ZERO; scene.old.len()];
    let (mut last, mut smallest, mut contacts) = (f64::INFINITY, f64::INFINITY, 0);
    for _ in 0..steps {
        let mut candidate = Field::from_fn(scene.old.len(), |v| {
            let pull = if masses.is_kinematic(v) { 0.0 } else { gravity };
            scene.old[v] + (velocities[v.index()] - DVec3::Z * (pull * dt.get())) * dt.get()
        });
        response.repel(&mut phase, &masses, &PairFilter::all(), &scene.old, &mut candidate, dt);
        let (report, new, gap) = scene.respond(settings, &candidate).unwrap();
        assert!(report.rewound.is_empty());
        (last, smallest) = (gap, smallest.min(gap));
        contacts += report.contacts;
        for v in new.ids() {
            velocities[v.index()] = if viscous { DVec3::ZERO } else { (new[v] - scene.old[v]) / dt.get() };
        }
        scene.old = new;
    }
    (last, smallest, contacts)
}

/// A tenth of what is missing opens in each of 60 steps.
#[test]
fn repulsion_reopens_gaps() {
    let close = || {
        let sheet = |height: f64| Sheet { cells: 9, height, turn: 20.0 * height, inverse_mass: 500.0 };
        scene(&[sheet(0.0), sheet(2e-5), sheet(4e-5)], 0.0, 0.0)
    };
    let (last, smallest, contacts) = simulate(close(), 60, 0.0, true, 1e3);
    assert!(last > 0.98e-3 && smallest >= 2e-5 && contacts == 0, "{last} {smallest} {contacts}");
    let (last, ..) = simulate(close(), 60, 0.0, true, 0.0);
    assert!((last - 2e-5).abs() < 1e-15, "{last}");
}

/// Three sheets fall on a plate and lie there, which is hard for impulses: their vertices are held
/// by nothing but contacts.
#[test]
fn a_pile_lies_for_many_steps() {
    let (_, smallest, contacts) = simulate(layers_on_plate(3), 60, 9.81, false, 1e3);
    assert!(smallest > 1e-6, "{smallest}");
    let (_, smallest, without) = simulate(layers_on_plate(3), 20, 9.81, false, 0.0);
    assert!(smallest > 1e-6, "{smallest}");
    // Repulsion leaves fewer contacts per step to be resolved.
    assert!(2 * contacts / 60 < without / 20, "{contacts} {without}");
}

#[test]
fn repulsion_pushes_as_a_spring_and_not_too_far() {
    let mut colliders = Colliders::new(2);
    colliders.add_points(Body(0), &[Id::new(0)], 0.01).unwrap();
    colliders.add_points(Body(1), &[Id::new(1)], 0.02).unwrap();
    let gap = 4e-4;
    let old = Field::from_vec(vec![DVec3::ZERO, DVec3::X * (0.03 + gap)]);
    let mut phase = BroadPhase::new(colliders, &old);
    let masses = InverseMasses::new(Field::from_vec(vec![2.0, 0.0])).unwrap();
    let dt = Positive::new(0.01).unwrap();
    let overlap = 1e-3 - gap;
    for (stiffness, way, expected) in [
        // dt² k o / m, while that is small.
        (10.0, 0.0, -1e-4 * 10.0 * overlap * 2.0),
        // At most a tenth of the overlap opens.
        (1e9, 0.0, -0.1 * overlap),
        (1e9, 1e-3, -0.1 * overlap),
        // Apart already.
        (1e9, -1e-3, -1e-3),
        (1e9, -0.1 * overlap - 1e-12, -0.1 * overlap - 1e-12),
    ] {
        let response = Response::new(ResponseSettings { stiffness, ..Default::default() }).unwrap();
        let mut new = old.clone();
        new[Id::new(0)].x += way;
        let count = response.repel(&mut phase, &masses, &PairFilter::all(), &old, &mut new, dt);
        assert!((new[Id::new(0)].x - expected).abs() < 1e-15, "{stiffness} {way}: {}", new[Id::new(0)]);
        assert_eq!(count, usize::from(way >= -0.1 * overlap));
        assert_eq!(new[Id::new(1)], old[Id::new(1)]);
    }
}

// Threads and numbers.

#[test]
fn responses_are_the_same_for_any_number_of_threads() {
    let scene = layers(4, 0.0);
    let candidate = through_each_other(&scene, 0.04);
    let settings = ResponseSettings { passes: 2, friction: 0.4, largest_zone: 6, ..Default::default() };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let response = Response::new(settings).unwrap();
            let mut phase = BroadPhase::new(scene.colliders.clone(), &scene.old);
            let mut new = candidate.clone();
            let masses = scene.masses();
            let dt = Positive::new(0.01).unwrap();
            let filter = PairFilter::all();
            response.repel(&mut phase, &masses, &filter, &scene.old, &mut new, dt);
            let report = response.respond(&mut phase, &masses, &filter, &scene.old, &mut new).unwrap();
            (report, new)
        })
    };
    let one = run(1);
    // All three stages had to act.
    assert!(one.0.impulses > 0 && one.0.zones > 0 && !one.0.rewound.is_empty(), "{:?}", one.0);
    for threads in 2..=4 {
        assert!(run(threads) == one, "{threads} threads");
    }
}

#[test]
fn settings_and_masses_are_refused_by_name() {
    let base = ResponseSettings::default();
    for (settings, message) in [
        (ResponseSettings { friction: -1.0, ..base }, "friction is -1: give a finite number, zero or more"),
        (ResponseSettings { keep: 1.0, ..base }, "keep is 1: give a number above zero and below one"),
        (ResponseSettings { keep: f64::NAN, ..base }, "keep is NaN: give a number above zero and below one"),
        (
            ResponseSettings { reach: f64::INFINITY, ..base },
            "reach is inf: give a finite number, zero or more",
        ),
        (
            ResponseSettings { stiffness: f64::NAN, ..base },
            "stiffness is NaN: give a finite number, zero or more",
        ),
    ] {
        assert_eq!(Response::new(settings).unwrap_err().to_string(), message);
    }
    assert_eq!(
        InverseMasses::new(Field::from_vec(vec![0.0, 1.0, -2.0])).unwrap_err().to_string(),
        "the inverse mass of vertex 2 is -2: give zero or a number from 1e-60 to 1e60, in 1/kg"
    );
}

/// Two strips of triangles, a line and points, some of them thick.
const STRIP: usize = 6;
const TOTAL: usize = 2 * STRIP + 3 + 3;

fn soup(thickness: f64) -> (Colliders, Vec<TriMesh>) {
    let strip: Vec<[u32; 3]> = (0..STRIP as u32 - 2)
        .map(|i| if i % 2 == 0 { [i, i + 1, i + 2] } else { [i + 1, i, i + 2] })
        .collect();
    let strip = TriMesh::new(STRIP, &strip).unwrap();
    let meshes = [0, STRIP as u32].map(|first| strip.among(first, TOTAL)).to_vec();
    let id = |i: usize| Id::new(i as u32);
    let mut colliders = Colliders::new(TOTAL);
    colliders.add_surface(Body(0), &meshes[0], 0.0).unwrap();
    colliders.add_surface(Body(1), &meshes[1], thickness).unwrap();
    let line = 2 * STRIP;
    colliders
        .add_lines(Body(2), &[[id(line), id(line + 1)], [id(line + 1), id(line + 2)]], 2.0 * thickness)
        .unwrap();
    colliders.add_points(Body(3), &[id(line + 3), id(line + 4)], 3.0 * thickness).unwrap();
    colliders.add_points(Body(4), &[id(line + 5)], 0.0).unwrap();
    (colliders, meshes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Everything against everything, some of it prescribed: the paths are free, or a pair is named
    /// that prescribed motions squeeze or that touched before.
    #[test]
    fn whatever_moves_keeps_its_separation(
        old in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), TOTAL),
        way in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), TOTAL),
        inverse_masses in prop::collection::vec(prop_oneof![4 => 0.01..100.0f64, 1 => Just(0.0)], TOTAL),
        thickness in prop::sample::select(vec![0.0, 0.01, 0.05]), size in prop::sample::select(vec![0.1, 0.5, 2.0]),
        passes in 0..5usize, largest_zone in prop::sample::select(vec![0, 4, 200]), friction in 0.0..1.0f64,
        moves_obstacles in any::<bool>(),
    ) {
        let (colliders, _) = soup(thickness);
        let old = Field::from_vec(old.into_iter().map(DVec3::from_array).collect());
        let candidate = Field::from_fn(TOTAL, |v| {
            let rests = inverse_masses[v.index()] == 0.0 && !moves_obstacles;
            if rests { old[v] } else { old[v] + DVec3::from_array(way[v.index()]) * size }
        });
        let settings = ResponseSettings {
            friction,
            passes,
            keep: 0.2,
            reach: 0.02,
            largest_zone,
            stiffness: 1.0,
            ..Default::default()
        };
        // Meshes that may intersect from the start have no oracle.
        let scene = Scene { colliders, meshes: vec![], inverse_masses, old };
        match scene.respond(settings, &candidate) {
            Ok(_) => {}
            Err(ResponseError::Squeezed { .. }) => prop_assert!(moves_obstacles),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    /// No panic, no NaN, whatever the numbers are.
    #[test]
    fn any_finite_numbers_lead_to_finite_positions(
        x in prop::collection::vec(prop_oneof![any::<f64>().prop_filter("finite", |x| x.is_finite()), -1.0..1.0f64], 6 * TOTAL),
        masses in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), Just(1e-60), Just(1e60)], TOTAL),
        passes in 0..3usize, reach in prop::sample::select(vec![0.0, 0.1, 1e60]),
    ) {
        let (colliders, _) = soup(0.01);
        let points = |first: usize| Field::from_fn(TOTAL, |v| DVec3::from_slice(&x[3 * (first + v.index())..]));
        let (old, candidate): (Positions, Positions) = (points(0), points(TOTAL));
        let settings = ResponseSettings { friction: 0.5, passes, keep: 0.1, reach, ..Default::default() };
        let response = Response::new(settings).unwrap();
        let masses = InverseMasses::new(Field::from_vec(masses)).unwrap();
        let mut phase = BroadPhase::new(colliders, &old);
        let mut new = candidate.clone();
        let dt = Positive::new(0.01).unwrap();
        response.repel(&mut phase, &masses, &PairFilter::all(), &old, &mut new, dt);
        prop_assert!(new.as_slice().iter().all(|x| x.is_finite()));
        // Errors are fine: much of it is squeezed, or touches in floating point.
        let _ = response.respond(&mut phase, &masses, &PairFilter::all(), &old, &mut new);
        prop_assert!(new.as_slice().iter().all(|x| x.is_finite()));
        prop_assert!(new.ids().all(|v| !masses.is_kinematic(v) || new[v] == candidate[v]));
    }
}
