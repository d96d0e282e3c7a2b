//! Bases with every kind of strain, for the tests of this crate.
#![allow(dead_code, reason = "each test file uses a part of it")]

use glam::{DVec2, DVec3};
use plisse_core::{
    Faces, Field, IsotropicSheet, PoissonRatio, Positive, RestShape, TriMesh, TriangleMap, Vertices, generate,
};
use plisse_wrinkle::{BaseSheet, Curvature};

/// Soft and thick, so that all terms of the energy have about the same size at amplitudes and
/// frequencies of order one.
pub(crate) fn sheet() -> IsotropicSheet {
    IsotropicSheet::new(Positive::new(12.0).unwrap(), PoissonRatio::literal(0.3), Positive::new(0.4).unwrap())
}

/// A square that is stretched along x, stretched along y on one side and compressed on the other,
/// and bent both ways.
pub(crate) fn shape(u: DVec2) -> DVec3 {
    DVec3::new(
        1.1 * u.x + 0.05 * u.y * u.y,
        (1.06 - 0.3 * u.x) * u.y,
        0.5 * u.x * u.x - 0.3 * u.x * u.y + 0.2 * u.y * u.y,
    )
}

pub(crate) struct Case {
    pub(crate) mesh: TriMesh,
    pub(crate) uv: Field<Vertices, DVec2>,
    pub(crate) rest: Field<Faces, TriangleMap>,
    pub(crate) x: Field<Vertices, DVec3>,
}

pub(crate) fn case(cells: usize) -> Case {
    let (mesh, uv) = generate::irregular_grid(cells, cells, [1.0, 1.0], 5).unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap().maps().clone();
    let x = uv.map(|u| shape(*u));
    Case { mesh, uv, rest, x }
}

pub(crate) fn base(case: &Case, curvature: Curvature) -> BaseSheet {
    BaseSheet::new(&case.mesh, &case.rest, &case.x, sheet(), curvature).unwrap()
}
