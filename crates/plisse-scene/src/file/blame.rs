//! Which lines of a scene file, and of the meshes that it names, an error of the whole scene is
//! about.

use std::path::Path;

use plisse_io::Obj;
use plisse_io::scene_file::{Mistake, SceneFile};

use crate::scene::SceneError;

/// The error at the line of the body that it is about. Faces of meshes have the lines of their
/// files.
pub(super) fn mistake(error: &SceneError, file: &SceneFile, folder: &Path) -> Mistake {
    let line = bodies_of(error).iter().filter_map(|body| described_at(body, file)).max().unwrap_or(1);
    let mut message = error.to_string();
    if let SceneError::StartsCrossing { bodies, faces, .. } = error {
        let in_files: Vec<String> = bodies
            .iter()
            .zip(faces)
            .filter_map(|(body, face)| line_in_mesh(body, *face as usize, file, folder))
            .collect();
        if !in_files.is_empty() {
            message = format!("{message}; these triangles are {}", in_files.join(" and "));
        }
    }
    Mistake { line, message }
}

/// Names of the bodies and obstacles that an error is about.
fn bodies_of(error: &SceneError) -> &[String] {
    match error {
        SceneError::Mesh { body, .. }
        | SceneError::Rest { body, .. }
        | SceneError::Net { body, .. }
        | SceneError::Pick { body, .. }
        | SceneError::CurvedQuadratic { body }
        | SceneError::Body { body, .. }
        | SceneError::NoWarp { body }
        | SceneError::NoBendingDirections { body }
        | SceneError::StartsInside { body, .. }
        | SceneError::FreeSeams { body }
        | SceneError::OpenPressure { body, .. }
        | SceneError::NotDevelopable { body, .. }
        | SceneError::Patch { body, .. }
        | SceneError::NotForYarns { body, .. }
        | SceneError::DuplicateName { name: body } => std::slice::from_ref(body),
        SceneError::StartsCrossing { bodies, .. } => bodies,
        _ => &[],
    }
}

/// Where in the scene file something with this name is described. Of two with the same name, the
/// later one is the mistake.
fn described_at(body: &str, file: &SceneFile) -> Option<usize> {
    let cloths = file.cloth.iter().enumerate();
    let cloths = cloths.map(|(i, c)| (is_called(body, c.name.as_ref(), "cloth", i), c.at_line));
    let wires = file.wires.iter().enumerate();
    let wires = wires.map(|(i, w)| (is_called(body, w.name.as_ref(), "wires", i), w.at_line));
    let obstacles = file.obstacle.iter().enumerate();
    let obstacles = obstacles.map(|(i, o)| (is_called(body, o.name.as_ref(), "obstacle", i), o.at_line));
    cloths.chain(wires).chain(obstacles).filter(|(is, _)| *is).map(|(_, line)| line).next_back()
}

fn is_called(body: &str, name: Option<&String>, kind: &str, index: usize) -> bool {
    name.map_or_else(|| body == format!("{kind} {}", index + 1), |name| name == body)
}

/// "line 12 of skirt.obj", for a face of a body whose shape is read from a file. The mesh is read
/// once more: only refused scenes need it. Welding keeps faces and their order.
fn line_in_mesh(body: &str, face: usize, file: &SceneFile, folder: &Path) -> Option<String> {
    let cloths = file.cloth.iter().enumerate();
    let cloths = cloths.map(|(i, c)| (is_called(body, c.name.as_ref(), "cloth", i), &c.mesh));
    let obstacles = file.obstacle.iter().enumerate();
    let obstacles = obstacles.map(|(i, o)| (is_called(body, o.name.as_ref(), "obstacle", i), &o.mesh));
    let (_, path) = cloths.chain(obstacles).find(|(is, _)| *is)?;
    let path = path.as_ref()?;
    let obj = Obj::read(&folder.join(path)).ok()?;
    Some(format!("line {} of {path}", obj.faces.get(face)?.line))
}
