//! The files of `plisse wrinkle`.

use std::path::Path;

use glam::DVec3;
use plisse::core::{Field, Id, TriMesh, Vertices};
use plisse::io::{ObjPart, ObjSource, read_text, write_atomically, write_obj};
use plisse::wrinkle::Phase;
use serde_json::Value;

use super::Outcome;
use super::arguments::WrinkleOptions;
use super::report;
use crate::error::Failure;
use crate::folder::remove;

const NAMES: [&str; 6] = ["amplitude.txt", "dphi.txt", "phi.txt", "surface.obj", "smooth.obj", RECORD];
/// Tells a folder of results from others.
const RECORD: &str = "wrinkle.json";

/// That no result takes the place of a file that is read.
pub(super) fn spare_the_input(options: &WrinkleOptions) -> Result<(), Failure> {
    let Some(folder) = &options.out else { return Ok(()) };
    let evaluated = options.evaluate.iter().flatten();
    let read = [&options.rest, &options.base].into_iter().chain(&options.clamped).chain(evaluated);
    for path in read {
        let same = |name: &&&str| match (path.canonicalize(), folder.join(name).canonicalize()) {
            (Ok(input), Ok(output)) => input == output,
            _ => false,
        };
        if let Some(name) = NAMES.iter().find(same) {
            return Err(Failure::Input(format!(
                "{} is read, and would be replaced by the result {name}: choose another folder for --out",
                path.display()
            )));
        }
    }
    Ok(())
}

/// That no result takes the place of a file that was not written here.
pub(super) fn spare_others(options: &WrinkleOptions) -> Result<(), Failure> {
    let Some(folder) = &options.out else { return Ok(()) };
    let Some(name) = NAMES.iter().find(|name| folder.join(name).exists()) else { return Ok(()) };
    let text = read_text(&folder.join(RECORD)).ok();
    let record: Value = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null);
    if record.get("plisse").is_some() && record.get("smooth_energy").is_some() {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "{} is there, and no {RECORD} beside it says that it is a result of `plisse wrinkle`: choose another folder for --out, or remove \
         it if it was left by a run that was interrupted",
        folder.join(name).display()
    )))
}

/// Writes every file, the report last: where it is, the others are.
pub(super) fn write(folder: &Path, outcome: &Outcome<'_>) -> Result<(), Failure> {
    let [amplitude, dphi, phi, surface, smooth, json] = NAMES.map(|name| folder.join(name));
    // That of an earlier run says nothing about the files to come.
    remove(&json)?;
    numbers(&amplitude, outcome.amplitude.as_slice())?;
    numbers(&dphi, outcome.omega.as_slice())?;
    if let Some(phase) = &outcome.phase {
        numbers(&phi, vertex_phases(phase, outcome.amplitude.len()).as_slice())?;
    }
    if let Some(wrinkled) = &outcome.surface {
        mesh(&surface, "surface", &wrinkled.mesh, &wrinkled.x)?;
        mesh(&smooth, "smooth", &wrinkled.mesh, &wrinkled.base)?;
    }
    let text = format!("{:#}\n", report::json(outcome));
    Ok(write_atomically(&json, |out| out.write_all(text.as_bytes()))?)
}

/// One number per line, in the shortest decimals that read back as the same number.
fn numbers(path: &Path, values: &[f64]) -> Result<(), Failure> {
    Ok(write_atomically(path, |out| values.iter().try_for_each(|value| writeln!(out, "{value}")))?)
}

/// The phase of the first node of each vertex, zero without one.
fn vertex_phases(phase: &Phase, count: usize) -> Field<Vertices, f64> {
    let mut out = Field::filled(count, None);
    for (node, vertex) in phase.complex.node_vertices().iter() {
        out[*vertex].get_or_insert(phase.field.values()[node]);
    }
    out.map(|value: &Option<f64>| value.unwrap_or(0.0))
}

fn mesh(path: &Path, name: &str, mesh: &TriMesh, x: &Field<Vertices, DVec3>) -> Result<(), Failure> {
    let faces: Vec<[u32; 3]> = mesh.faces().as_slice().iter().map(|corners| corners.map(Id::get)).collect();
    let part = ObjPart { name, faces: &faces, ..ObjPart::default() };
    Ok(write_obj(path, &ObjSource { positions: x.as_slice(), parts: &[part] })?)
}
