//! What wrinkles are computed from: meshes, clamped vertices, numbers per vertex and edge.

use std::path::Path;

use glam::DVec3;
use plisse::core::{Faces, Field, Id, RestError, RestShape, TriMesh, TriangleMap, Vertices};
use plisse::io::{Obj, read_text};

use super::arguments::WrinkleOptions;
use crate::error::Failure;

/// A base mesh with its rest shape.
pub(super) struct Input {
    pub(super) mesh: TriMesh,
    pub(super) x: Field<Vertices, DVec3>,
    pub(super) rest: Field<Faces, TriangleMap>,
    pub(super) clamped: Vec<Id<Vertices>>,
    /// Area of the base over that of the rest.
    pub(super) area_ratio: f64,
}

impl Input {
    pub(super) fn read(options: &WrinkleOptions) -> Result<Self, Failure> {
        let (rest, base) = (triangles(&options.rest)?, triangles(&options.base)?);
        correspond(&rest, &base)?;
        let (maps, rest_area) = flatten(&rest)?;
        let surface = base.into_surface()?;
        let (mesh, x) = (surface.mesh, surface.positions);
        let area = |corners: &[Id<Vertices>; 3]| {
            let [a, b, c] = corners.map(|v| x[v]);
            0.5 * (b - a).cross(c - a).length()
        };
        let area_ratio = mesh.faces().as_slice().iter().map(area).sum::<f64>() / rest_area;
        let clamped = match &options.clamped {
            Some(path) => clamped(path, mesh.vertex_count())?,
            None => Vec::new(),
        };
        Ok(Self { mesh, x, rest: maps, clamped, area_ratio })
    }
}

/// A mesh of triangles. Larger polygons could be split in two ways, one in each file.
fn triangles(path: &Path) -> Result<Obj, Failure> {
    let mut obj = Obj::read(path)?;
    if let Some(pair) = obj.faces.windows(2).find(|pair| pair[0].line == pair[1].line) {
        return Err(Failure::Input(format!(
            "{}, line {}: a face with more than three corners; triangulate the mesh before it is simulated, so that rest and base \
             have the same triangles",
            obj.name, pair[0].line
        )));
    }
    // Neither texture coordinates nor lines matter here.
    obj.uv.clear();
    obj.faces.iter_mut().for_each(|face| face.uv = None);
    obj.segments.clear();
    Ok(obj)
}

/// Every vertex at rest must be one vertex of the base, whichever face says so.
fn correspond(rest: &Obj, base: &Obj) -> Result<(), Failure> {
    if rest.faces.len() != base.faces.len() {
        return Err(Failure::Input(format!(
            "{} has {} faces and {} has {}: give the sheet at rest with the faces of the base, in the same order",
            rest.name,
            rest.faces.len(),
            base.name,
            base.faces.len()
        )));
    }
    let mut sewn: Vec<Option<(u32, u32)>> = vec![None; rest.positions.len()];
    for (r, b) in rest.faces.iter().zip(&base.faces) {
        for (at, to) in r.corners.into_iter().zip(b.corners) {
            let (first, line) = *sewn[at as usize].get_or_insert((to, r.line));
            if first != to {
                return Err(Failure::Input(format!(
                    "{}, line {}: this face does not correspond to line {} of {}: vertex {at} (counted from 0) would be vertex {to} of \
                     the base, but is vertex {first} because of line {line}. Faces and their corners must be in the same order in both \
                     files, and the sheet at rest must be cut wherever the base is",
                    rest.name, r.line, b.line, base.name
                )));
            }
        }
    }
    Ok(())
}

/// Each triangle in a plane of its own, and the area of all.
fn flatten(rest: &Obj) -> Result<(Field<Faces, TriangleMap>, f64), Failure> {
    let apart: Vec<[u32; 3]> = (0..rest.faces.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    let corners = rest.faces.iter().flat_map(|face| face.corners.map(|v| rest.positions[v as usize]));
    let input = |reason: String| Failure::Input(format!("{}: {reason}", rest.name));
    let soup = TriMesh::new(3 * apart.len(), &apart).map_err(|error| input(error.to_string()))?;
    match RestShape::from_positions(&soup, &Field::from_vec(corners.collect())) {
        Ok(shape) => Ok((shape.maps().clone(), shape.area())),
        Err(RestError::ZeroArea { face, area, .. }) => Err(Failure::Input(format!(
            "{}, line {}: the face has no area at rest ({area:e} m2): strains have no meaning there; remove or repair it in both files",
            rest.name,
            rest.faces[face.index()].line
        ))),
        Err(error) => Err(input(error.to_string())),
    }
}

/// A word of a file and its line.
struct Word<'a> {
    line: usize,
    text: &'a str,
}

/// Words of a text, without comments.
fn words(text: &str) -> Vec<Word<'_>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#'));
    lines
        .flat_map(|(at, line)| line.split_whitespace().map(move |text| Word { line: at + 1, text }))
        .collect()
}

fn number(path: &Path, word: &Word<'_>) -> Result<f64, Failure> {
    word.text.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| {
        Failure::Input(format!(
            "{}, line {}: here is a word that is not a finite number: write numbers like -1.25 or 3e-4",
            path.display(),
            word.line
        ))
    })
}

/// One number per element; `elements` is what they are called.
pub(super) fn numbers(path: &Path, elements: &str, expected: usize) -> Result<Vec<f64>, Failure> {
    let text = read_text(path)?;
    let mut words = words(&text);
    if words.len() > 1 && words[0].text.parse().ok() == Some(words.len() - 1) && words.len() != expected {
        words.remove(0);
    }
    if words.len() != expected {
        return Err(Failure::Input(format!(
            "{}: {} numbers, but the base mesh has {expected} {elements}: give one number for each, of the same mesh",
            path.display(),
            words.len()
        )));
    }
    words.iter().map(|word| number(path, word)).collect()
}

/// Vertices, one per line, with or without a position behind; with positions also after their
/// count.
fn clamped(path: &Path, count: usize) -> Result<Vec<Id<Vertices>>, Failure> {
    let text = read_text(path)?;
    let words = words(&text);
    let mut lines: Vec<&[Word<'_>]> = words.chunk_by(|a, b| a.line == b.line).collect();
    let input =
        |line: usize, reason: String| Failure::Input(format!("{}, line {line}: {reason}", path.display()));
    // A count stands alone before lines with positions. Among lines with only a vertex it would
    // look like one of them.
    if let [first, rest @ ..] = lines.as_slice()
        && let [word] = first
        && let Ok(said) = word.text.parse::<usize>()
    {
        let positions = rest.first().is_some_and(|line| line.len() > 1);
        if positions && said != rest.len() {
            let reason = format!("{said} vertices are announced, {} follow: correct the number", rest.len());
            return Err(input(word.line, reason));
        }
        if positions {
            lines.remove(0);
        } else if said == rest.len() {
            let reason = format!(
                "{said} may be a vertex or the number of those that follow: remove it if it is a number; if it is a vertex, write it \
                 with a position behind, `{said} 0 0 0`, which is not used"
            );
            return Err(input(word.line, reason));
        }
    }
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        let at = line[0].line;
        if line.len() != 1 && line.len() != 4 {
            let reason = format!("{} numbers: write a vertex, or a vertex and its position", line.len());
            return Err(input(at, reason));
        }
        let vertex = line[0].text.parse::<u32>().ok().filter(|vertex| (*vertex as usize) < count);
        let last = count.saturating_sub(1);
        let Some(vertex) = vertex else {
            // Other words may be of another file, and private.
            let word = match line[0].text.parse::<i64>() {
                Ok(number) => format!("`{number}`"),
                Err(_) => "the first word".to_owned(),
            };
            return Err(input(at, format!("{word} is no vertex: the base has 0 to {last}")));
        };
        for word in &line[1..] {
            number(path, word)?;
        }
        out.push(Id::new(vertex));
    }
    Ok(out)
}
