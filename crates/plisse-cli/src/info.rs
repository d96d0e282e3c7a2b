//! `plisse info`.

use std::path::Path;

use glam::DVec3;
use plisse::core::RestShape;
use plisse::io::Obj;

use crate::error::Failure;

/// Says what is in a mesh, and whether it is a cloth.
pub(crate) fn info(path: &Path) -> Result<(), Failure> {
    let obj = Obj::read(path)?;
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for x in &obj.positions {
        (low, high) = (low.min(*x), high.max(*x));
    }
    println!("{}", path.display());
    println!(
        "  {} vertices, {} triangles, {} segments",
        obj.positions.len(),
        obj.faces.len(),
        obj.segments.len()
    );
    if !obj.positions.is_empty() {
        println!("  from {:?} to {:?} m", low.to_array(), high.to_array());
    }
    for (name, vertices) in &obj.groups {
        println!("  group \"{name}\": {} vertices", vertices.len());
    }
    if obj.faces.is_empty() {
        println!("  no faces: wires only");
        return Ok(());
    }
    let surface = obj.into_surface()?;
    let mesh = &surface.mesh;
    let loops = mesh.boundary_loops();
    match loops.len() {
        0 => println!("  closed surface, Euler characteristic {}", mesh.euler_characteristic()),
        n => println!(
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
        Some(_) => println!("  rest shape from vt, area {:.6} m2", rest.area()),
        None => println!("  no vt: at rest as it is, area {:.6} m2", rest.area()),
    }
    println!("  can be simulated");
    Ok(())
}
