//! Bending of the base mesh: a constant matrix on the panels, as they were before they were sewn.

use glam::{DMat2, DVec2};
use plisse_bending::QuadraticBending;
use plisse_core::{Faces, Field, Id, IsotropicSheet, Positive, RestShape, TriMesh, TriangleMap, Vertices};

use crate::error::WrinkleError;

/// How stiff the base mesh is against bending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BendingStiffness {
    /// The rigidity of the plate, `D = Y h³/(12 (1 - ν²))`.
    #[default]
    Plate,
    /// `ν D`: Chen21, equation 28, has the first Lamé parameter there, and so have the published
    /// base meshes. Needs `ν > 0`.
    AuthorsNuD,
}

impl BendingStiffness {
    /// The rigidity in N m.
    pub(super) fn rigidity(self, sheet: &IsotropicSheet) -> Result<Positive, WrinkleError> {
        let value = match self {
            Self::Plate => sheet.rigidity(),
            Self::AuthorsNuD => sheet.poisson() * sheet.rigidity(),
        };
        Positive::new(value).map_err(|_| WrinkleError::Rigidity { value })
    }
}

/// The rest shape of faces that are known by their maps alone: each is laid out with its corner 0
/// in the origin.
pub(super) fn rest_shape(
    mesh: &TriMesh,
    maps: &Field<Faces, TriangleMap>,
) -> Result<RestShape, WrinkleError> {
    let corners = maps.map(|map| {
        // Barycentric gradients of corners 1 and 2 are the rows of the inverse of the edge matrix.
        let rows = [map.barycentric_gradient(1), map.barycentric_gradient(2)];
        let edges = DMat2::from_cols(rows[0], rows[1]).transpose().inverse();
        [DVec2::ZERO, edges.x_axis, edges.y_axis]
    });
    Ok(RestShape::from_corner_uv(mesh, &corners)?)
}

/// The vertex of the sewn mesh that each vertex of the panels has become.
///
/// Refuses panels that are not the same faces in the same order.
pub(super) fn seams(mesh: &TriMesh, panels: &TriMesh) -> Result<Field<Vertices, Id<Vertices>>, WrinkleError> {
    if panels.face_count() != mesh.face_count() {
        return Err(WrinkleError::PanelFaces { panels: panels.face_count(), mesh: mesh.face_count() });
    }
    let mut target: Vec<Option<Id<Vertices>>> = vec![None; panels.vertex_count()];
    for (face, corners) in panels.faces().iter() {
        for (panel, sewn) in corners.iter().zip(mesh.faces()[face]) {
            let known = *target[panel.index()].get_or_insert(sewn);
            if known != sewn {
                return Err(WrinkleError::PanelCorner { face, panel: *panel, vertices: [known, sewn] });
            }
        }
    }
    let first = |(panel, target): (usize, Option<Id<Vertices>>)| {
        target.ok_or(WrinkleError::PanelVertex { panel: Id::new(panel as u32) })
    };
    Ok(Field::from_vec(target.into_iter().enumerate().map(first).collect::<Result<_, _>>()?))
}

/// `K Lᵀ M⁻¹ L` on the panels, summed over sewn vertices: a seam bends freely.
pub(super) fn matrix(
    mesh: &TriMesh,
    panels: Option<&TriMesh>,
    maps: &Field<Faces, TriangleMap>,
    rigidity: Positive,
) -> Result<QuadraticBending<Vertices>, WrinkleError> {
    let Some(panels) = panels else {
        return Ok(QuadraticBending::on_vertices(mesh, &rest_shape(mesh, maps)?, rigidity));
    };
    let target = seams(mesh, panels)?;
    let apart = QuadraticBending::on_vertices(panels, &rest_shape(panels, maps)?, rigidity);
    Ok(apart.merged(&target, mesh.vertex_count()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_core::generate;

    #[test]
    fn maps_give_the_rest_shape_back() {
        let (mesh, uv) = generate::irregular_grid(5, 4, [0.3, 0.2], 2).unwrap();
        let rest = RestShape::from_uv(&mesh, &uv).unwrap();
        let again = rest_shape(&mesh, rest.maps()).unwrap();
        for (face, map) in rest.maps().iter() {
            assert!((again.map(face).area() / map.area() - 1.0).abs() < 1e-13);
            for i in 0..3 {
                let difference = again.map(face).barycentric_gradient(i) - map.barycentric_gradient(i);
                assert!(difference.length() < 1e-12 * map.barycentric_gradient(i).length());
            }
        }
    }

    #[test]
    fn affine_images_of_sewn_panels_do_not_bend() {
        let pillow = generate::pillow(4, 3, [0.4, 0.3]).unwrap();
        let maps = RestShape::from_corner_uv(&pillow.mesh, &pillow.uv).unwrap().maps().clone();
        // Apart: every vertex of the seam twice.
        let count = pillow.mesh.vertex_count() as u32;
        let half = pillow.mesh.face_count() / 2;
        let faces: Vec<[u32; 3]> = pillow
            .mesh
            .faces()
            .iter()
            .map(|(face, corners)| {
                corners.map(|v| if face.index() < half { v.get() } else { v.get() + count })
            })
            .collect();
        let mut used: Vec<u32> = faces.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let packed: Vec<[u32; 3]> =
            faces.iter().map(|f| f.map(|v| used.binary_search(&v).unwrap() as u32)).collect();
        let panels = TriMesh::new(used.len(), &packed).unwrap();
        let sewn = matrix(&pillow.mesh, Some(&panels), &maps, Positive::ONE).unwrap();
        let closed = matrix(&pillow.mesh, None, &maps, Positive::ONE).unwrap();
        let flat = &pillow.positions;
        assert!(sewn.energy(flat).abs() < 1e-12);
        // As one closed surface the folded seam is bent by half a turn.
        assert!(closed.energy(flat) > 1.0);
        let other = TriMesh::new(3, &[[0, 1, 2]]).unwrap();
        assert_eq!(
            matrix(&pillow.mesh, Some(&other), &maps, Positive::ONE).unwrap_err(),
            WrinkleError::PanelFaces { panels: 1, mesh: 2 * half }
        );
    }
}
