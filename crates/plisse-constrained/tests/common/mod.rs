//! Sheets and systems that several tests use.
#![allow(dead_code, reason = "each test uses a part")]

use std::sync::Arc;

use glam::{DVec2, DVec3};
use plisse_constrained::{
    Anchor, Anchors, Constraint, CrMesh, EdgeBending, Ribbon, RigidTriangles, ribbon_edges,
};
use plisse_core::generate::{Diagonal, grid, irregular_grid};
use plisse_core::{Edges, Field, Id, Positive, RestShape, TriMesh, Vertices};
use plisse_system::{Gravity, System};

pub(crate) type Shared = Arc<dyn Constraint<Edges>>;

pub(crate) fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

/// The vectors of EB08.
pub(crate) fn vectors() -> serde_json::Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/developable.json");
    let all: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    all["EB08"].clone()
}

pub(crate) fn flat(mesh: TriMesh, uv: &Field<Vertices, DVec2>) -> CrMesh {
    let rest = RestShape::from_uv(&mesh, uv).unwrap();
    CrMesh::new(mesh, &rest).unwrap()
}

/// A sheet with its vertices in the plane.
pub(crate) fn sheet(cells: [usize; 2], size: [f64; 2]) -> (CrMesh, Field<Vertices, DVec2>) {
    let (mesh, uv) = grid(cells[0], cells[1], size, Diagonal::Right).unwrap();
    (flat(mesh, &uv), uv)
}

pub(crate) fn irregular(cells: [usize; 2], size: [f64; 2], seed: u64) -> (CrMesh, Field<Vertices, DVec2>) {
    let (mesh, uv) = irregular_grid(cells[0], cells[1], size, seed).unwrap();
    (flat(mesh, &uv), uv)
}

/// The place on a cylinder of this curvature whose rulings make an angle with the first axis.
pub(crate) fn on_cylinder(u: DVec2, curvature: f64, ruling: f64) -> DVec3 {
    let (sin, cos) = ruling.to_radians().sin_cos();
    let (along, across) = (u.x * cos + u.y * sin, -u.x * sin + u.y * cos);
    let angle = curvature * across;
    DVec3::new(angle.sin() / curvature, along, (1.0 - angle.cos()) / curvature)
}

/// Rigid triangles and a ribbon, without the rows that depend on others.
pub(crate) fn developable(mesh: &CrMesh) -> Vec<Shared> {
    let ribbon = ribbon_edges(mesh);
    vec![Arc::new(RigidTriangles::new(mesh, &ribbon)), Arc::new(Ribbon::new(mesh, ribbon))]
}

/// Masses, gravity and bending of a sheet.
pub(crate) fn system(mesh: &CrMesh, density: f64, rigidity: f64, gravity: DVec3) -> System<Edges> {
    let mass = mesh.edge_areas().map(|area| area * density);
    let gravity = Gravity::new(gravity, &mass).unwrap();
    System::builder(mass).term(gravity).term(EdgeBending::new(mesh, p(rigidity)).term()).build().unwrap()
}

pub(crate) fn pins(mesh: &CrMesh, pins: &[(u32, DVec3)]) -> Shared {
    let anchor = |(v, place): &(u32, DVec3)| Anchor::vertex(mesh, Id::new(*v), *place).unwrap();
    Arc::new(Anchors::new(pins.iter().map(anchor).collect()))
}

/// A sheet of `n` by `n` cells on a polygonal cylinder that turns by `turn`, its axis along the
/// free sides: exactly isometric.
pub(crate) fn faceted(n: usize, turn: f64) -> (CrMesh, Field<Vertices, DVec3>) {
    let (mesh, uv) = sheet([n, n], [1.0, 1.0]);
    let step = turn / n as f64;
    let mut columns = vec![DVec2::ZERO];
    for i in 0..n {
        let angle = -(turn - step) / 2.0 + step * i as f64;
        columns.push(columns[i] + DVec2::new(angle.cos(), angle.sin()) / n as f64);
    }
    let x = uv.map(|u| {
        let c = columns[(u.x * n as f64).round() as usize];
        DVec3::new(c.x, u.y, c.y)
    });
    (mesh, x)
}
