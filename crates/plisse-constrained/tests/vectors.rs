//! The numbers of the small mesh of the vectors, by the names of its edges.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use std::sync::Arc;

use common::{p, vectors};
use glam::{DVec2, DVec3};
use plisse_constrained::{
    CrMesh, EdgeBending, Ghost, GhostWeights, ProjectionSettings, Projector, RigidTriangles, ribbon_edges,
};
use plisse_core::{Edges, Field, Id, RestShape, TriMesh};
use plisse_sparse::LinearSolver;
use plisse_system::System;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn list(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn points(value: &Value) -> Vec<DVec3> {
    value.as_array().unwrap().iter().map(|v| DVec3::from_slice(&list(v))).collect()
}

struct Small {
    data: Value,
    mesh: CrMesh,
    /// Our number of each edge of theirs.
    ours: Vec<Id<Edges>>,
}

impl Small {
    fn new() -> Self {
        let data = vectors()["small_mesh"].clone();
        let corners = |t: &Value| list(t).iter().map(|v| *v as u32).collect::<Vec<_>>().try_into().unwrap();
        let faces: Vec<[u32; 3]> = data["T"].as_array().unwrap().iter().map(corners).collect();
        let uv: Vec<DVec2> =
            data["P"].as_array().unwrap().iter().map(|u| DVec2::from_slice(&list(u))).collect();
        let mesh = TriMesh::new(uv.len(), &faces).unwrap();
        let rest = RestShape::from_uv(&mesh, &Field::from_vec(uv)).unwrap();
        let edge = |e: &Value| {
            let ends = list(e);
            mesh.edge_between(Id::new(ends[0] as u32), Id::new(ends[1] as u32)).unwrap()
        };
        let ours = data["edges"].as_array().unwrap().iter().map(edge).collect();
        let mesh = CrMesh::new(mesh, &rest).unwrap();
        Self { data, mesh, ours }
    }

    /// Their values in our order.
    fn field(&self, name: &str) -> Field<Edges, DVec3> {
        let theirs = points(&self.data[name]);
        let mut out = Field::filled(theirs.len(), DVec3::ZERO);
        self.ours.iter().zip(theirs).for_each(|(e, x)| out[*e] = x);
        out
    }

    fn projector(&self) -> Projector<Edges> {
        let density = number(&self.data["rho"]);
        let system = System::builder(self.mesh.edge_areas().map(|area| area * density)).build().unwrap();
        let settings = ProjectionSettings {
            tolerance: 1e-14,
            regularisation: 0.0,
            solver: LinearSolver::Cholesky,
            linear_tolerance: 1e-12,
            ..Default::default()
        };
        let triangles = RigidTriangles::new(&self.mesh, &[]);
        Projector::new(&system, vec![Arc::new(triangles)], settings).unwrap()
    }
}

#[test]
fn masses_lengths_and_rows() {
    let small = Small::new();
    let mass = small.mesh.edge_areas().map(|area| area * number(&small.data["rho"]));
    for (edge, expected) in small.ours.iter().zip(list(&small.data["mass"])) {
        assert!((mass[*edge] - expected).abs() < 1e-15, "{edge}");
    }
    // Theirs: pairs (0, 1), (1, 2), (2, 0) of each face, without division by 2 d².
    let x = small.field("x");
    let mut projector = small.projector();
    let rows = projector.rows(&x, 0.0).to_vec();
    let (d, c) = (list(&small.data["d"]), list(&small.data["C"]));
    for face in 0..3 {
        for (pair, without) in [2, 0, 1].into_iter().enumerate() {
            let (d, c) = (d[3 * face + pair], c[3 * face + pair]);
            assert!((rows[3 * face + without] - c / (2.0 * d * d)).abs() < 1e-13, "{face} {pair}");
            let length = small.mesh.lengths(Id::new(face as u32))[without];
            assert!((0.5 * length - d).abs() < 1e-14);
        }
    }
}

#[test]
fn bending_matrix_energy_and_force() {
    let small = Small::new();
    let laplacian = EdgeBending::laplacian(&small.mesh);
    let bending = EdgeBending::new(&small.mesh, p(1.0));
    for (i, a) in small.ours.iter().enumerate() {
        for (j, b) in small.ours.iter().enumerate() {
            let of = |row: &[(Id<Edges>, f64)]| row.iter().find(|(e, _)| e == b).map_or(0.0, |(_, v)| *v);
            let l = of(&laplacian[*a]);
            let q = of(&bending.row(*a).collect::<Vec<_>>());
            assert!((l - number(&small.data["L"][i][j])).abs() < 1e-13, "L {i} {j}: {l}");
            assert!((q - number(&small.data["Q"][i][j])).abs() < 1e-11, "Q {i} {j}: {q}");
        }
    }
    let x = small.field("x");
    assert!((bending.energy(&x) - number(&small.data["bend_energy_k1"])).abs() < 1e-12);
    let force = small.field("bend_force_k1");
    for edge in x.ids() {
        let found = -bending.row(edge).map(|(j, q)| x[j] * q).sum::<DVec3>();
        assert!((found - force[edge]).length() < 1e-11, "{edge}");
    }
}

#[test]
fn ribbon_has_the_rows_of_the_vector() {
    let small = Small::new();
    let ribbon = ribbon_edges(&small.mesh);
    let edges = list(&small.data["conformity_edges"]);
    assert_eq!(ribbon.len(), edges.len());
    for (at, row) in edges.iter().zip(small.data["conformity_rows"].as_array().unwrap()) {
        let edge = small.ours[*at as usize];
        let found = ribbon.iter().find(|r| r.edge == edge).unwrap();
        let signs = [1.0, -1.0, -1.0, 1.0];
        let expected = |node: Id<Edges>| {
            let theirs = small.ours.iter().position(|e| *e == node).unwrap().to_string();
            number(&row[theirs.as_str()])
        };
        // A row may have the other sign.
        let sign = signs[0] * expected(found.nodes[0]);
        assert!(
            found.nodes.iter().zip(signs).all(|(node, s)| (sign * s - expected(*node)).abs() < 1e-15),
            "{found:?}"
        );
    }
}

/// Newton's method is quadratic, step by step as in the vector.
#[test]
fn projection_takes_the_steps_of_the_vector() {
    let small = Small::new();
    let mut projector = small.projector();
    let mut x = small.field("x");
    let report = projector.project(&mut x, 0.0, 1.0).unwrap().clone();
    let expected = {
        let theirs = points(&small.data["projection"]["x_final"]);
        let mut out = x.clone();
        small.ours.iter().zip(theirs).for_each(|(e, x)| out[*e] = x);
        out
    };
    for (edge, x) in x.iter() {
        assert!((*x - expected[edge]).length() < 1e-12, "{edge}: {x}");
    }
    // Theirs are lengths squared, ours relative: the order is the same.
    let history = list(&small.data["projection"]["history"]);
    assert_eq!(report.errors.len(), history.len(), "{:?}", report.errors);
    assert!(report.errors[3] < 1e-6 && report.errors[4] < 1e-14, "{:?}", report.errors);
}

/// Corners of affine maps are corners, the gradient is the map, and the area mass sums to the
/// whole.
#[test]
fn affine_maps_are_exact_and_cost_no_bending() {
    let (mesh, uv) = common::irregular([7, 6], [1.0, 0.8], 4);
    let (a, b) = (DVec3::new(0.3, -0.2, 0.9), DVec3::new(-0.5, 0.7, 0.4));
    let map = |u: DVec2| a * u.x + b * u.y + DVec3::new(1.0, 2.0, 3.0);
    let vertices = uv.map(|u| map(*u));
    let x = mesh.midpoints(&vertices).unwrap();
    for (face, corners) in mesh.mesh().faces().iter() {
        for (corner, vertex) in mesh.corners(face, &x).into_iter().zip(corners) {
            assert!((corner - vertices[*vertex]).length() < 1e-14);
        }
        let f = mesh.deformation_gradient(face, &x).to_array();
        let expected = [a.x, a.y, a.z, b.x, b.y, b.z];
        assert!(f.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12), "{f:?}");
    }
    let total: f64 = mesh.edge_areas().as_slice().iter().sum();
    assert!((total - 0.8).abs() < 1e-14);
    let bending = EdgeBending::new(&mesh, p(1.0));
    // A bend of the same size costs something.
    let bent = mesh.midpoints(&uv.map(|u| common::on_cylinder(*u, 1.0, 30.0))).unwrap();
    assert!(bending.energy(&x).abs() < 1e-10 * bending.energy(&bent), "{:e}", bending.energy(&x));
}

/// The averaging matrix, `A Aᵀ`, and edges that follow a moved ghost, with equal weights as in the
/// paper and with those of the masses.
#[test]
fn the_ghost_and_what_follows_it() {
    let small = Small::new();
    let (mesh, data) = (&small.mesh, &small.data);
    let inverse = mesh.edge_areas().map(|area| 1.0 / (area * number(&data["rho"])));
    let x = small.field("x");
    let averages = points(&data["xc"]);
    let rows: Vec<Vec<f64>> = data["A"].as_array().unwrap().iter().map(list).collect();
    let products: Vec<Vec<f64>> = data["AAT"].as_array().unwrap().iter().map(list).collect();
    for (weights, name) in
        [(GhostWeights::Equal, "x_star_paper"), (GhostWeights::InverseMasses, "x_star_mass")]
    {
        let mut ghost = Ghost::new(mesh, &inverse, weights).unwrap();
        let dense = |v: usize| {
            let mut row = vec![0.0; small.ours.len()];
            for (edge, value) in ghost.row(Id::new(v as u32)) {
                row[small.ours.iter().position(|e| e == edge).unwrap()] += value;
            }
            row
        };
        for (v, expected) in rows.iter().enumerate() {
            let row = dense(v);
            assert!(row.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{v}: {row:?}");
            for (w, expected) in products[v].iter().enumerate() {
                let product: f64 = row.iter().zip(dense(w)).map(|(a, b)| a * b).sum();
                assert!((product - expected).abs() < 1e-13, "{v} {w}: {product}");
            }
        }
        let at = ghost.average(&x);
        for (x, expected) in at.as_slice().iter().zip(&averages) {
            assert!(x.distance(*expected) < 1e-13, "{x} {expected}");
        }
        let moves = points(&data["ghost"]["dxc"]);
        let target = Field::from_fn(at.len(), |v| at[v] + moves[v.index()]);
        let mut followed = x.clone();
        ghost.follow(&target, &mut followed);
        for (edge, expected) in small.ours.iter().zip(points(&data["ghost"][name])) {
            assert!(followed[*edge].distance(expected) < 1e-12, "{name} {edge}: {}", followed[*edge]);
        }
    }
}
