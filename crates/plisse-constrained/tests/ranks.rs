//! Which rows depend on each other, and how many degrees of freedom are left (formula sheet A3).
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use std::sync::Arc;

use common::{Shared, irregular, on_cylinder, sheet, vectors};
use glam::DVec3;
use plisse_constrained::{CrMesh, ProjectionSettings, Projector, Ribbon, RigidTriangles, ribbon_edges};
use plisse_core::{Edges, Field, SplitMix, TriMesh, Vertices, generate};
use plisse_system::System;

/// Rank by Gram-Schmidt, the longest row that is left first.
fn rank(mut rows: Vec<Vec<f64>>) -> usize {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let size = rows.iter().map(|row| dot(row, row)).fold(0.0, f64::max);
    let mut squares: Vec<f64> = rows.iter().map(|row| dot(row, row)).collect();
    let mut rank = 0;
    while rank < rows.len() {
        let best = (rank..rows.len()).max_by(|a, b| squares[*a].total_cmp(&squares[*b])).unwrap();
        // Rows that depend on others are left at rounding; independent ones far above it.
        if squares[best] <= 1e-18 * size {
            break;
        }
        rows.swap(rank, best);
        squares.swap(rank, best);
        let (done, rest) = rows.split_at_mut(rank + 1);
        let pivot = &mut done[rank];
        let length = dot(pivot, pivot).sqrt();
        pivot.iter_mut().for_each(|value| *value /= length);
        for (row, square) in rest.iter_mut().zip(&mut squares[rank + 1..]) {
            let along = dot(row, pivot);
            if along != 0.0 {
                row.iter_mut().zip(&*pivot).for_each(|(r, p)| *r -= along * p);
                *square = dot(row, row);
            }
        }
        rank += 1;
    }
    rank
}

fn projector(mesh: &CrMesh, constraints: Vec<Shared>) -> Projector<Edges> {
    let system = System::builder(mesh.edge_areas()).build().unwrap();
    let settings = ProjectionSettings { tolerance: 1e-13, linear_tolerance: 1e-10, ..Default::default() };
    Projector::new(&system, constraints, settings).unwrap()
}

fn kept(mesh: &CrMesh) -> Vec<Shared> {
    common::developable(mesh)
}

fn all(mesh: &CrMesh) -> Vec<Shared> {
    vec![Arc::new(RigidTriangles::new(mesh, &[])), Arc::new(Ribbon::new(mesh, ribbon_edges(mesh)))]
}

fn alone(mesh: &CrMesh) -> Vec<Shared> {
    vec![Arc::new(RigidTriangles::new(mesh, &[]))]
}

fn rank_of(mesh: &CrMesh, rows: Vec<Shared>, x: &Field<Edges, DVec3>) -> (usize, usize) {
    let jacobian = projector(mesh, rows).jacobian(x, 0.0);
    (jacobian.len(), rank(jacobian))
}

/// Rows, their rank where the sheet is curved and flat, and what is left.
fn check(mesh: &CrMesh, flat: &Field<Vertices, DVec3>, curved: &Field<Vertices, DVec3>, n: usize) {
    let table = vectors()["rank_table"].clone();
    let row = table.as_array().unwrap().iter().find(|row| row["N"] == n).unwrap().clone();
    let expected = |name: &str| row[name].as_u64().unwrap() as usize;
    let edges = mesh.mesh().edge_count();
    assert_eq!((edges, ribbon_edges(mesh).len()), (expected("E"), expected("E_b")));
    let mut x = mesh.midpoints(curved).unwrap();
    projector(mesh, kept(mesh)).project(&mut x, 0.0, 1.0).unwrap();
    assert_eq!(rank_of(mesh, all(mesh), &x), (expected("rows_all"), expected("rank_curved")));
    assert_eq!(rank_of(mesh, kept(mesh), &x), (expected("rows_dropped"), expected("rows_dropped")));
    assert_eq!(rank_of(mesh, alone(mesh), &x), (3 * mesh.mesh().face_count(), 3 * mesh.mesh().face_count()));
    assert_eq!(3 * edges - expected("rows_dropped"), expected("free_curved"));
    let x = mesh.midpoints(flat).unwrap();
    assert_eq!(rank_of(mesh, all(mesh), &x), (expected("rows_all"), expected("rank_flat")));
    let (_, flat_rank) = rank_of(mesh, kept(mesh), &x);
    assert_eq!(3 * edges - flat_rank, expected("free_flat"));
}

#[test]
fn ranks_and_degrees_of_freedom_are_those_of_the_table() {
    for n in [6, 10] {
        let meshes = [sheet([n, n], [1.0, 1.0]), irregular([n, n], [1.0, 1.0], 2)];
        for (mesh, uv) in &meshes[..if n == 6 { 2 } else { 1 }] {
            check(mesh, &generate::embed(uv), &uv.map(|u| on_cylinder(*u, 1.5, 30.0)), n);
        }
    }
}

/// Closed and curved meshes at rest: no boundary, no ribbon, every row counts.
#[test]
fn closed_and_curved_meshes_have_independent_rows() {
    let (mesh, x) = generate::sphere(2, 1.0).unwrap();
    let closed = curved_at_rest(mesh, &x);
    assert!(ribbon_edges(&closed.0).is_empty());
    let tube = generate::cylinder(8, 3, 0.3, 0.5, generate::Diagonal::Right).unwrap();
    // A regular prism has flat strips, along which rows of the ribbon depend on each other.
    let mut random = SplitMix::new(3);
    let dented = tube.positions.map(|x| *x + 0.02 * DVec3::new(random.signed(), random.signed(), 0.0));
    let tube = curved_at_rest(tube.mesh, &dented);
    assert!(!ribbon_edges(&tube.0).is_empty());
    for (mesh, x) in [closed, tube] {
        let midpoints = mesh.midpoints(&x).unwrap();
        assert!(mesh.largest_stretch(&midpoints) < 1e-13);
        let mut rows = projector(&mesh, kept(&mesh));
        assert!(rows.rows(&midpoints, 0.0).iter().all(|c| c.abs() < 1e-13));
        let (count, rank) = rank_of(&mesh, kept(&mesh), &midpoints);
        assert_eq!(count, rank);
    }
}

fn curved_at_rest(mesh: TriMesh, x: &Field<Vertices, DVec3>) -> (CrMesh, Field<Vertices, DVec3>) {
    let rest = plisse_core::RestShape::from_positions(&mesh, x).unwrap();
    (CrMesh::new(mesh, &rest).unwrap(), x.clone())
}
