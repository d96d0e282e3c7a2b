//! Which faces are free of wrinkles, on a flat mesh whose faces have whatever rest triangles the
//! strains need.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod bent;

use glam::DVec2;
use plisse_core::{Field, Id, RestShape, TriMesh, generate};
use plisse_wrinkle::{BaseSheet, Curvature, FreeRule, wrinkle_free};

/// A face with three neighbours, and one more neighbour for each of the first two.
///
/// ```text
///   4----2----3----6
///    \  / \  / \  /       faces: 0 = (0, 1, 2), 1 = (2, 1, 3), 2 = (0, 2, 4), 3 = (1, 0, 5), 4 = (3, 1, 6), 5 = (4, 7, 0)
///     \/   \/   \/
///  7---0----1--(6)
///       \  /
///        5
/// ```
const FACES: [[u32; 3]; 6] = [[0, 1, 2], [2, 1, 3], [0, 2, 4], [1, 0, 5], [3, 1, 6], [4, 7, 0]];

/// A mesh whose faces are all stretched so that the smaller strain is as given, and the larger
/// one 2.
fn free(lowest: [f64; 6], rule: FreeRule) -> [bool; 6] {
    let mesh = TriMesh::new(8, &FACES).unwrap();
    let u =
        [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0], [1.5, 1.0], [-0.5, 1.0], [0.5, -1.0], [2.0, 0.2], [-1.0, 0.1]];
    let u = Field::from_vec(u.map(DVec2::from).to_vec());
    let rest = Field::from_fn(6, |face| {
        let stretch = DVec2::new((1.0f64 + 2.0).sqrt(), (1.0 + lowest[face.index()]).sqrt());
        mesh.faces()[face].map(|v| u[v] / stretch)
    });
    let rest = RestShape::from_corner_uv(&mesh, &rest).unwrap();
    let base = BaseSheet::new(&mesh, rest.maps(), &generate::embed(&u), bent::sheet(), Curvature::default())
        .unwrap();
    for (i, strain) in lowest.iter().enumerate() {
        assert!((base.faces()[Id::new(i as u32)].strains()[1] - strain).abs() < 1e-12);
    }
    wrinkle_free(&base, rule).into_vec().try_into().unwrap()
}

const YES: bool = true;
const NOT: bool = false;

#[test]
fn compressed_faces_are_not_free() {
    for rule in [FreeRule::Authors, FreeRule::Paper] {
        assert_eq!(free([-0.1; 6], rule), [NOT; 6]);
        assert_eq!(free([0.1; 6], rule), [YES; 6]);
    }
}

/// Face 0 is compressed; its corners lie on the tense faces 1 and 2 (0 and 2 on the latter, 1 on
/// the former).
#[test]
fn a_face_between_tense_ones_is_held_by_its_corners() {
    let lowest = [-0.4, 0.1, 0.1, -0.4, -0.4, -0.4];
    assert_eq!(free(lowest, FreeRule::Authors), [YES, YES, YES, NOT, NOT, NOT]);
    // Averages: -0.6, -0.6, ... all negative.
    assert_eq!(free(lowest, FreeRule::Paper), [NOT; 6]);
}

#[test]
fn the_paper_averages() {
    // Sums with neighbours: 0: -0.1 + 0.3 + 0.3 - 0.1 = 0.4; 1: 0.3 - 0.1 - 0.1 = 0.1; 2: same as
    // 1; 3: -0.2; 4: 0.2; 5: 0.2.
    let lowest = [-0.1, 0.3, 0.3, -0.1, -0.1, -0.1];
    assert_eq!(free(lowest, FreeRule::Paper), [YES, YES, YES, NOT, YES, YES]);
    // By its corners, face 0 is free with the other rule too, but no other compressed face.
    assert_eq!(free(lowest, FreeRule::Authors), [YES, YES, YES, NOT, NOT, NOT]);
}

/// Sums with neighbours: 4 has 0.2 - 0.1, its neighbour 1 has -0.1 - 0.4 + 0.2: face 4 is alone.
#[test]
fn the_paper_removes_a_face_without_company() {
    assert_eq!(free([-0.4, -0.1, -0.4, -0.4, 0.2, -0.4], FreeRule::Paper), [NOT; 6]);
    // Company keeps it: now face 1 has -0.1 - 0.05 + 0.2.
    assert_eq!(free([-0.05, -0.1, -0.4, -0.4, 0.2, -0.4], FreeRule::Paper), [NOT, YES, NOT, NOT, YES, NOT]);
}

/// Sums with neighbours: 0 has -0.9 - 0.1 - 0.1 + 0.95, faces 1 and 2 have -0.9 - 0.1 + 1.1, face 3
/// has -0.9 + 0.95.
#[test]
fn the_paper_adds_a_face_among_free_ones() {
    // Face 0 joins its three neighbours. Face 3, with face 0 as its only neighbour, was alone
    // before that: both filters look at the same state.
    assert_eq!(free([-0.9, -0.1, -0.1, 0.95, 1.1, 1.1], FreeRule::Paper), [YES, YES, YES, NOT, YES, YES]);
    // Two free neighbours are not three: face 3 now has -0.9 + 0.85.
    assert_eq!(free([-0.9, -0.1, -0.1, 0.85, 1.1, 1.1], FreeRule::Paper), [NOT, YES, YES, NOT, YES, YES]);
}

/// A strain of exactly zero is no compression. The paper asks for a positive one.
#[test]
fn neither_tense_nor_compressed() {
    let mesh = TriMesh::new(3, &[[0, 1, 2]]).unwrap();
    let u = Field::from_vec([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(DVec2::from).to_vec());
    let rest = RestShape::from_uv(&mesh, &u).unwrap();
    let x = generate::embed(&u.map(|u| DVec2::new(2.0 * u.x, u.y)));
    let base = BaseSheet::new(&mesh, rest.maps(), &x, bent::sheet(), Curvature::default()).unwrap();
    assert_eq!(base.faces()[Id::new(0)].strains(), [3.0, 0.0]);
    assert_eq!(wrinkle_free(&base, FreeRule::Authors).as_slice(), [YES]);
    assert_eq!(wrinkle_free(&base, FreeRule::Paper).as_slice(), [NOT]);
}
