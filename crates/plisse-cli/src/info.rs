//! `plisse info`.

use std::collections::BTreeSet;
use std::path::Path;

use glam::{DVec2, DVec3};
use plisse::core::{Faces, Field, RestShape, TriMesh, coincident, connected_pieces};
use plisse::file::MeshOptions;
use plisse::io::Obj;

use crate::arguments::InfoOptions;
use crate::crossings;
use crate::error::Failure;
use crate::progress::out;

/// Says what is in a mesh, and whether it is a cloth; of the folder of a run, what crosses in it.
pub(crate) fn info(options: &InfoOptions) -> Result<(), Failure> {
    let InfoOptions { path, frame } = options;
    if path.is_dir() {
        return crossings::info(path, frame.unwrap_or_default());
    }
    if frame.is_some() {
        let message = format!("{}: --frame is for the folder of a run, this is none", path.display());
        return Err(Failure::Input(message));
    }
    mesh(path)
}

fn mesh(path: &Path) -> Result<(), Failure> {
    let obj = Obj::read(path)?;
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for x in &obj.positions {
        (low, high) = (low.min(*x), high.max(*x));
    }
    out!("{}", path.display());
    out!(
        "  {} vertices, {} triangles, {} segments",
        obj.positions.len(),
        obj.faces.len(),
        obj.segments.len()
    );
    if !obj.positions.is_empty() {
        out!("  from {:?} to {:?} m", low.to_array(), high.to_array());
    }
    for (name, vertices) in &obj.groups {
        out!("  group \"{name}\": {} vertices", vertices.len());
    }
    if obj.faces.is_empty() {
        if obj.segments.is_empty() {
            return Err(Failure::Input(format!(
                "{}: no faces and no lines: nothing to simulate",
                path.display()
            )));
        }
        out!("  no faces: wires only");
        let pieces = connected_pieces(obj.positions.len(), obj.segments.iter().copied()).len();
        let first = coincident(&obj.positions, 1e-6 * obj.size());
        let same = (0..).zip(first).filter(|(v, first)| v != first).count();
        out!("  {pieces} separate pieces, {same} vertices in the place of another");
        if same > 0 {
            return Err(Failure::Input(format!(
                "{}: {same} vertices lie on others without being joined; weld = true in [[wires]] joins them, weld = false lets them come apart",
                path.display()
            )));
        }
        return Ok(());
    }
    let obj = without_wires(obj);
    let surface = obj.clone().into_surface()?;
    let mesh = &surface.mesh;
    let loops = mesh.boundary_loops();
    match loops.len() {
        0 => out!("  closed surface, Euler characteristic {}", mesh.euler_characteristic()),
        n => out!(
            "  {n} boundaries, {} boundary edges, Euler characteristic {}",
            mesh.boundary_edges().count(),
            mesh.euler_characteristic()
        ),
    }
    match mesh.pieces().len() {
        1 => out!("  one piece"),
        n => out!("  {n} separate pieces"),
    }
    if let Ok(placed) = RestShape::from_positions(mesh, &surface.positions) {
        out!("  area {:.6} m2 as it is placed", placed.area());
    }
    match &surface.uv {
        Some(uv) => texture(mesh, uv),
        None => out!("  no vt: at rest as it is"),
    }
    let same =
        obj.clone().welded(1e-6 * obj.size()).map_or(0, |one| obj.positions.len() - one.positions.len());
    if same > 0 {
        out!("  {same} vertices in the place of another");
    }
    let cloth = MeshOptions::default().cloth(obj).map_err(|refusal| Failure::Input(refusal.to_string()))?;
    for warning in cloth.warnings() {
        out!("  warning: {warning}");
    }
    out!("  can be simulated");
    Ok(())
}

/// Says where the texture coordinates lie, and what they are as a rest shape.
fn texture(mesh: &TriMesh, uv: &Field<Faces, [DVec2; 3]>) {
    let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
    for u in uv.as_slice().iter().flatten() {
        (low, high) = (low.min(*u), high.max(*u));
    }
    let area = RestShape::from_corner_uv(mesh, uv).map(|rest| format!(", area {:.6} m2", rest.area()));
    let area = area.unwrap_or_default();
    out!("  vt from {:?} to {:?}{area} if in metres", low.to_array(), high.to_array());
}

/// The surface alone: vertices that only lines use are no mistake here.
fn without_wires(mut obj: Obj) -> Obj {
    let mut keep = vec![true; obj.positions.len()];
    let on_faces: BTreeSet<u32> = obj.faces.iter().flat_map(|face| face.corners).collect();
    for v in obj.segments.iter().flatten().filter(|v| !on_faces.contains(v)) {
        keep[*v as usize] = false;
    }
    let mut next = 0;
    let new: Vec<u32> = keep.iter().map(|keep| (next, next += u32::from(*keep)).0).collect();
    let mut kept = keep.iter();
    obj.positions.retain(|_| *kept.next().unwrap_or(&true));
    let mut kept = keep.iter();
    obj.position_lines.retain(|_| *kept.next().unwrap_or(&true));
    for face in &mut obj.faces {
        face.corners = face.corners.map(|v| new[v as usize]);
    }
    for group in obj.groups.values_mut() {
        group.retain(|v| keep[*v as usize]);
        group.iter_mut().for_each(|v| *v = new[*v as usize]);
    }
    obj.segments.clear();
    obj
}
