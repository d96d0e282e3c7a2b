//! The triangles of an OBJ file as a mesh.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};
use plisse_core::{Faces, Field, Id, MeshError, TriMesh, Vertices};

use super::Obj;
use super::error::{ObjError, ObjProblem};

/// A mesh with its positions, as read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjSurface {
    /// The triangles.
    pub mesh: TriMesh,
    /// Positions in m.
    pub positions: Field<Vertices, DVec3>,
    /// Material coordinates of the corners of every face in m; `None` if the file has none.
    pub uv: Option<Field<Faces, [DVec2; 3]>>,
    /// The vertices of every named group, ascending.
    pub groups: BTreeMap<String, Vec<Id<Vertices>>>,
}

pub(super) fn from_obj(obj: Obj) -> Result<ObjSurface, ObjError> {
    let corners: Vec<[u32; 3]> = obj.faces.iter().map(|face| face.corners).collect();
    let mesh = TriMesh::new(obj.positions.len(), &corners).map_err(|source| refusal(&obj, source))?;
    let uv = corner_uv(&obj)?;
    let groups =
        obj.groups.into_iter().map(|(name, vertices)| (name, vertices.into_iter().map(Id::new).collect()));
    Ok(ObjSurface { mesh, positions: Field::from_vec(obj.positions), uv, groups: groups.collect() })
}

fn corner_uv(obj: &Obj) -> Result<Option<Field<Faces, [DVec2; 3]>>, ObjError> {
    let Some(with) = obj.faces.iter().find(|face| face.uv.is_some()) else { return Ok(None) };
    let mut out = Vec::with_capacity(obj.faces.len());
    for face in &obj.faces {
        let line = |problem| ObjError::Line { file: obj.name.clone(), line: face.line, problem };
        let Some(indices) = face.uv else { return Err(line(ObjProblem::FaceWithoutUv { other: with.line })) };
        let mut corners = [DVec2::ZERO; 3];
        for (corner, index) in corners.iter_mut().zip(indices) {
            // A file was checked when it was read, but the fields are open to all.
            *corner = *obj.uv.get(index as usize).ok_or_else(|| {
                let index = i64::from(index) + 1;
                line(ObjProblem::IndexOutOfRange { index, keyword: "vt", count: obj.uv.len() })
            })?;
        }
        out.push(corners);
    }
    Ok(Some(Field::from_vec(out)))
}

fn refusal(obj: &Obj, source: MeshError) -> ObjError {
    let file = obj.name.clone();
    let faces: &[Id<Faces>] = match &source {
        MeshError::Empty => return ObjError::NoFaces { file },
        MeshError::UnreferencedVertex { vertex, count } => {
            let line = obj.position_lines.get(vertex.index()).copied().unwrap_or(0);
            let problem = ObjProblem::UnreferencedVertex { vertex: vertex.index() + 1, count: *count };
            return ObjError::Line { file, line, problem };
        }
        MeshError::IndexOutOfRange { face, .. } | MeshError::RepeatedVertex { face, .. } => {
            std::slice::from_ref(face)
        }
        MeshError::DuplicateFace { faces } | MeshError::InconsistentWinding { faces, .. } => faces,
        MeshError::NonManifoldEdge { faces, .. } => faces,
        _ => &[],
    };
    let mut lines: Vec<u32> =
        faces.iter().filter_map(|face| obj.faces.get(face.index())).map(|face| face.line).collect();
    lines.dedup();
    ObjError::Mesh { file, lines, source }
}
