//! Mid-edge bending of a cloth, with the directors of its edges as unknowns.

use plisse_bending::{Director, DirectorBending, KoiterBending, Plate};
use plisse_core::{Edges, Faces, Field, Id, RestShape, TriMesh};
use plisse_system::{MixedTerm, OwnUnknown};

use super::cloth::Cloth;

/// The bending of all faces.
///
/// A face whose corners are all held holds the edges that it shares with others, too: there the
/// cloth is clamped and leaves in the plane of that face. Edges between two such faces bend no
/// more.
pub(super) fn director_term(
    name: String,
    cloth: &Cloth,
    plate: &Plate,
    held: &Field<Faces, bool>,
) -> MixedTerm<DirectorBending, 6, 3> {
    let (mesh, rest) = (&cloth.mesh, &cloth.rest);
    let clamps: Field<Edges, Clamp> = mesh.edges().map(|edge| {
        let (left, right) = edge.faces;
        match (held[left], right.map(|right| (right, held[right]))) {
            (true, None | Some((_, true))) => Clamp::Between,
            (true, Some((_, false))) => Clamp::By(left),
            (false, Some((right, true))) => Clamp::By(right),
            (false, _) => Clamp::Free,
        }
    });
    let face = |face| {
        let mut bending = KoiterBending::new(mesh, rest, face, Director::Sine, plate);
        for edge in bending.edges() {
            if let Clamp::By(held) = clamps[edge] {
                bending = bending.with_clamp(rest, edge, held);
            }
        }
        DirectorBending::new(bending, rest)
    };
    let unknown = |edge| OwnUnknown { start: 0.0, arm: mean_height(mesh, rest, edge) };
    let unknowns = mesh.edges().ids().map(unknown).collect();
    let is_free = |edge: usize| clamps.as_slice()[edge] == Clamp::Free;
    MixedTerm::new(name, mesh.faces().ids().map(face).collect(), unknowns)
        .holding(|edge| (!is_free(edge)).then_some(0.0))
}

/// What holds the director of an edge.
#[derive(Clone, Copy, PartialEq)]
enum Clamp {
    Free,
    /// A face that is held, beside one that is not.
    By(Id<Faces>),
    /// All faces of the edge are held.
    Between,
}

/// The height of the faces over an edge at rest, m.
fn mean_height(mesh: &TriMesh, rest: &RestShape, edge: Id<Edges>) -> f64 {
    let (left, right) = mesh.edges()[edge].faces;
    let height = |face: Id<Faces>| {
        let place = mesh.face_edges()[face].iter().position(|other| *other == edge);
        place.map(|j| 1.0 / rest.map(face).barycentric_gradient(j).length())
    };
    let heights = [Some(left), right].into_iter().flatten().filter_map(height);
    let (sum, count) = heights.fold((0.0, 0.0), |(sum, count), height| (sum + height, count + 1.0));
    sum / count
}
