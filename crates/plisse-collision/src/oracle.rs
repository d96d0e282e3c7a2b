//! All intersections of surfaces, with names and places.

use glam::DVec3;
use plisse_core::{Faces, Field, Id, TriMesh, Vertices};

use crate::bounds::{Bounds, Frame};
use crate::colliders::Body;
use crate::traverse::within;
use crate::tree::Tree;
use crate::triangles::{triangles_fold_on_edge, triangles_meet, triangles_meet_beyond_vertex};

/// A face of one of several surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SurfaceFace {
    /// Which surface of the list that was given.
    pub surface: usize,
    /// Its face.
    pub face: Id<Faces>,
}

/// Two faces that meet where they should not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The faces, ascending.
    pub faces: [SurfaceFace; 2],
    /// A place in both, in metres, rounded.
    pub place: DVec3,
}

/// Two faces with a common edge that are folded flat onto each other, or have all corners in
/// common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fold {
    /// The faces, ascending.
    pub faces: [SurfaceFace; 2],
    /// The middle of the edge, in metres.
    pub place: DVec3,
}

/// What [`intersections`] finds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intersections {
    /// Faces that meet, ascending.
    pub crossings: Vec<Crossing>,
    /// Neighbours that are folded flat, ascending. A sharp crease ends there without any
    /// penetration, so they are no crossings.
    pub folds: Vec<Fold>,
}

impl Intersections {
    /// Whether nothing meets. Folds do not count.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.crossings.is_empty()
    }
}

/// All pairs of faces that meet, of one surface with itself or of several with themselves and with
/// each other. Touching counts. Exact for every finite input like [`triangles_meet`], in any scale.
///
/// The surfaces share the vertices of `x` (see [`TriMesh::among`]). Faces with a vertex in common
/// cross where they meet beyond it. Faces with an edge in common do not cross: they can only be
/// folded.
///
/// ```
/// use glam::DVec3;
/// use plisse_collision::intersections;
/// use plisse_core::{Field, TriMesh};
///
/// let mesh = TriMesh::new(6, &[[0, 1, 2], [3, 4, 5]])?;
/// let x = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0],
///     [0.2, 0.2, -1.0], [0.2, 0.2, 1.0], [2.0, 2.0, 0.0]];
/// let found = intersections(&[&mesh], &Field::from_vec(x.map(DVec3::from_array).to_vec()));
/// let place = found.crossings[0].place;
/// assert!((place - DVec3::new(0.35, 0.35, 0.0)).length() < 1e-15);
/// # Ok::<(), plisse_core::MeshError>(())
/// ```
///
/// # Panics
/// If there are fewer positions than vertices.
#[must_use]
pub fn intersections(surfaces: &[&TriMesh], x: &Field<Vertices, DVec3>) -> Intersections {
    let faces: Vec<(SurfaceFace, [Id<Vertices>; 3])> = surfaces
        .iter()
        .enumerate()
        .flat_map(|(surface, mesh)| {
            mesh.faces().iter().map(move |(face, corners)| (SurfaceFace { surface, face }, *corners))
        })
        .collect();
    let frame = Frame::around(faces.iter().flat_map(|(_, corners)| corners.map(|v| x[v])));
    let bounds = |corners: &[Id<Vertices>; 3]| {
        corners.iter().fold(Bounds::EMPTY, |bounds, vertex| bounds.union(frame.point(x[*vertex])))
    };
    let parts = faces.iter().map(|(name, corners)| (Body(name.surface as u32), bounds(corners)));
    let mut tree = Tree::new(parts);
    tree.refit(|i| bounds(&faces[i as usize].1));

    let mut found = Intersections::default();
    for (i, j) in within(&tree, |_, _| true, |_, _| true) {
        let ((one, a), (other, b)) = (faces[i as usize], faces[j as usize]);
        let names = [one, other];
        match meet(a, b, x) {
            None => {}
            Some(Meeting::Crossing(place)) => found.crossings.push(Crossing { faces: names, place }),
            Some(Meeting::Fold(place)) => found.folds.push(Fold { faces: names, place }),
        }
    }
    found
}

enum Meeting {
    Crossing(DVec3),
    Fold(DVec3),
}

fn meet(a: [Id<Vertices>; 3], b: [Id<Vertices>; 3], x: &Field<Vertices, DVec3>) -> Option<Meeting> {
    let ((common, a), (_, b)) = (common_first(a, b), common_first(b, a));
    let middle = |s: DVec3, t: DVec3| s * 0.5 + t * 0.5;
    let ([s, a1, a2], [_, b1, b2]) = (a.map(|v| x[v]), b.map(|v| x[v]));
    match common {
        0 => triangles_meet([s, a1, a2], b.map(|v| x[v])).map(Meeting::Crossing),
        1 => triangles_meet_beyond_vertex(s, [a1, a2], [b1, b2]).map(Meeting::Crossing),
        2 => triangles_fold_on_edge([s, a1], a2, b2).then(|| Meeting::Fold(middle(s, a1))),
        _ => Some(Meeting::Fold(middle(s, a1))),
    }
}

/// How many corners of a face another one has, and the corners with these first.
fn common_first(mut face: [Id<Vertices>; 3], other: [Id<Vertices>; 3]) -> (usize, [Id<Vertices>; 3]) {
    face.sort_by_key(|vertex| !other.contains(vertex));
    (face.iter().filter(|vertex| other.contains(vertex)).count(), face)
}
