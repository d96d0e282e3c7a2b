//! Intersections of whole surfaces.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::BTreeSet;

use glam::DVec3;
use plisse_collision::{
    SurfaceFace, intersections, triangles_fold_on_edge, triangles_meet, triangles_meet_beyond_vertex,
};
use plisse_core::{Field, Id, TriMesh, Vertices, generate};
use proptest::prelude::*;

fn grid(n: usize) -> (TriMesh, Field<Vertices, DVec3>) {
    let (mesh, uv) = generate::grid(n, n, [1.0, 1.0], generate::Diagonal::Alternating).unwrap();
    let x = generate::embed(&uv);
    (mesh, x)
}

type Names = [SurfaceFace; 2];

/// Every pair of faces, one by one.
fn all_pairs(surfaces: &[&TriMesh], x: &Field<Vertices, DVec3>) -> (BTreeSet<Names>, BTreeSet<Names>) {
    let faces: Vec<(SurfaceFace, [Id<Vertices>; 3])> = surfaces
        .iter()
        .enumerate()
        .flat_map(|(surface, mesh)| {
            mesh.faces().iter().map(move |(face, corners)| (SurfaceFace { surface, face }, *corners))
        })
        .collect();
    let (mut crossings, mut folds) = (BTreeSet::new(), BTreeSet::new());
    for (i, (one, a)) in faces.iter().enumerate() {
        for (other, b) in &faces[i + 1..] {
            let common: Vec<_> = a.iter().filter(|v| b.contains(v)).map(|v| x[*v]).collect();
            let rest = |t: &[Id<Vertices>; 3], u: &[Id<Vertices>; 3]| -> Vec<DVec3> {
                t.iter().filter(|v| !u.contains(v)).map(|v| x[*v]).collect()
            };
            let (p, q) = (rest(a, b), rest(b, a));
            let crosses = match common[..] {
                [] => triangles_meet(a.map(|v| x[v]), b.map(|v| x[v])).is_some(),
                [s] => triangles_meet_beyond_vertex(s, [p[0], p[1]], [q[0], q[1]]).is_some(),
                _ => false,
            };
            if crosses {
                crossings.insert([*one, *other]);
            }
            if common.len() == 2 && triangles_fold_on_edge([common[0], common[1]], p[0], q[0]) {
                folds.insert([*one, *other]);
            }
        }
    }
    (crossings, folds)
}

fn check(surfaces: &[&TriMesh], x: &Field<Vertices, DVec3>) {
    let found = intersections(surfaces, x);
    let (crossings, folds) = all_pairs(surfaces, x);
    let names: Vec<Names> = found.crossings.iter().map(|crossing| crossing.faces).collect();
    assert_eq!(names, crossings.into_iter().collect::<Vec<_>>());
    let names: Vec<Names> = found.folds.iter().map(|fold| fold.faces).collect();
    assert_eq!(names, folds.into_iter().collect::<Vec<_>>());
    assert!(found.crossings.iter().all(|crossing| crossing.place.is_finite()));
    assert_eq!(found.is_free(), found.crossings.is_empty());
}

#[test]
fn a_flat_sheet_and_a_curved_one_are_free() {
    let (mesh, x) = grid(20);
    let found = intersections(&[&mesh], &x);
    assert!(found.is_free() && found.folds.is_empty());
    let wave = x.map(|x| DVec3::new(x.x, x.y, 0.1 * (20.0 * x.x).sin()));
    assert!(intersections(&[&mesh], &wave).is_free());
}

#[test]
fn two_sheets_that_cross_are_named_with_the_place() {
    let (mesh, x) = grid(10);
    let n = mesh.vertex_count();
    let (flat, upright) = (mesh.among(0, 2 * n), mesh.among(n as u32, 2 * n));
    let positions = Field::from_fn(2 * n, |v| {
        let x = x[Id::new((v.index() % n) as u32)];
        if v.index() < n { x } else { DVec3::new(x.x, 0.43, x.y - 0.5) }
    });
    let found = intersections(&[&flat, &upright], &positions);
    assert!(!found.is_free());
    for crossing in &found.crossings {
        assert_eq!(crossing.faces.map(|name| name.surface), [0, 1]);
        let off = (crossing.place.y - 0.43).abs().max(crossing.place.z.abs());
        // The plane z = 0 is exact; coordinates are below one.
        assert!(off <= 4.0 * f64::EPSILON, "{}", crossing.place);
    }
    check(&[&flat, &upright], &positions);
}

#[test]
fn a_sheet_folded_in_half_touches_itself_and_folds() {
    let (mesh, x) = grid(4);
    let folded = x.map(|x| DVec3::new((x.x - 0.5).abs(), x.y, 0.0));
    let found = intersections(&[&mesh], &folded);
    // Four cells long: each of the four edges of the crease folds two faces onto each other.
    assert_eq!(found.folds.len(), 4);
    assert!(found.folds.iter().all(|fold| fold.place.x.abs() < 1e-15));
    assert!(!found.is_free());
    check(&[&mesh], &folded);
}

#[test]
fn everything_in_one_point_meets() {
    let (mesh, x) = grid(3);
    check(&[&mesh], &x.map(|_| DVec3::splat(0.3)));
}

#[test]
fn a_surface_given_twice_lies_on_itself() {
    let (mesh, x) = grid(2);
    let found = intersections(&[&mesh, &mesh], &x);
    let twins = found.folds.iter().filter(|fold| fold.faces[0].face == fold.faces[1].face);
    assert_eq!(twins.count(), mesh.face_count());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_tree_misses_no_pair(
        moves in prop::collection::vec(prop::array::uniform3(-3..=3i32), 32), lattice in any::<bool>(), size in prop::sample::select(vec![1.0, 1e-290, 1e290]),
    ) {
        let (mesh, x) = grid(3);
        let n = mesh.vertex_count();
        let x = Field::from_fn(2 * n, |v| {
            let x = x[Id::new((v.index() % n) as u32)] * 3.0;
            let off = DVec3::from_array(moves[v.index()].map(f64::from));
            (x + off * if lattice { 1.0 } else { 0.23 }) * size
        });
        check(&[&mesh.among(0, 2 * n), &mesh.among(n as u32, 2 * n)], &x);
    }
}
