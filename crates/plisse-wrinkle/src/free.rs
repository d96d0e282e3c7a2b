//! Faces that are free of wrinkles.

use plisse_core::{Faces, Field, Id, TriMesh};

use crate::geometry::BaseSheet;

/// Which faces are held free of wrinkles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FreeRule {
    /// Faces without compression (smaller strain at least zero), and those with all three vertices
    /// on such faces. The published results follow this rule.
    #[default]
    Authors,
    /// The text of Chen21, section 5.1: faces whose smaller strain, averaged with the neighbours
    /// across the edges, is positive; of these not the ones without such a neighbour, but also the
    /// ones with three. Beyond the boundary there is no neighbour.
    Paper,
}

/// For every face whether wrinkles are excluded from it.
#[must_use]
pub fn wrinkle_free(sheet: &BaseSheet, rule: FreeRule) -> Field<Faces, bool> {
    let (mesh, faces) = (sheet.mesh(), sheet.faces());
    let lowest = faces.map(|face| face.strains()[1]);
    match rule {
        FreeRule::Authors => {
            let tense = lowest.map(|strain| *strain >= 0.0);
            let held = |face: &[_; 3]| face.iter().all(|v| mesh.vertex_faces(*v).iter().any(|f| tense[*f]));
            mesh.faces().map(held)
        }
        FreeRule::Paper => {
            // The sign of the sum is the sign of the mean, however many neighbours there are.
            let tense = Field::from_fn(mesh.face_count(), |face| {
                lowest[face] + neighbours(mesh, face).map(|f| lowest[f]).sum::<f64>() > 0.0
            });
            // Both filters look at the state before them, so that the order of the faces does not
            // matter.
            Field::from_fn(mesh.face_count(), |face| {
                match neighbours(mesh, face).filter(|f| tense[*f]).count() {
                    0 => false,
                    3 => true,
                    _ => tense[face],
                }
            })
        }
    }
}

/// The faces across the edges.
fn neighbours(mesh: &TriMesh, face: Id<Faces>) -> impl Iterator<Item = Id<Faces>> + '_ {
    mesh.face_edges()[face].into_iter().filter_map(move |edge| {
        let (left, right) = mesh.edges()[edge].faces;
        if left == face { right } else { Some(left) }
    })
}
