//! `plisse info`.

use std::collections::BTreeSet;
use std::path::Path;

use glam::DVec3;
use plisse::core::RestShape;
use plisse::io::Obj;

use crate::error::Failure;
use crate::progress::out;

/// Says what is in a mesh, and whether it is a cloth.
pub(crate) fn info(path: &Path) -> Result<(), Failure> {
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
        return Ok(());
    }
    let surface = without_wires(obj).into_surface()?;
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
    let rest = match &surface.uv {
        Some(uv) => RestShape::from_corner_uv(mesh, uv),
        None => RestShape::from_positions(mesh, &surface.positions),
    };
    let rest = rest.map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
    match surface.uv {
        Some(_) => {
            let placed =
                RestShape::from_positions(mesh, &surface.positions).map_or(f64::NAN, |rest| rest.area());
            out!("  rest shape from vt: area {:.6} m2, {:.6} m2 as it is placed", rest.area(), placed);
            let ratio = placed / rest.area();
            if !(0.25..4.0).contains(&ratio) {
                out!("  warning: these differ much; vt must be in metres, at the size of the cloth");
            }
        }
        None => out!("  no vt: at rest as it is, area {:.6} m2", rest.area()),
    }
    out!("  can be simulated");
    Ok(())
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
