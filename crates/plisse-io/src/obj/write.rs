//! Writing OBJ, such that reading gives back every bit.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use glam::{DVec2, DVec3};

use crate::file::write_atomically;
use crate::write_error::{WriteError, check_indices, check_length, check_positions, plain_name};

/// What to write into an OBJ file: one list of vertices, and named parts that share it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjSource<'a> {
    /// Positions of all vertices in m.
    pub positions: &'a [DVec3],
    /// The parts, written one after the other.
    pub parts: &'a [ObjPart<'a>],
}

/// A part of an OBJ file, written as an object (`o`). Reading gives its vertices back as a group.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjPart<'a> {
    /// Its name. White space, `#` and `\` are written as `_`.
    pub name: &'a str,
    /// Triangles: three vertices each, counted from 0.
    pub faces: &'a [[u32; 3]],
    /// Material coordinates of the corners of every triangle in m, if there are any.
    pub uv: Option<&'a [[DVec2; 3]]>,
    /// Pieces of lines: two vertices each, counted from 0.
    pub segments: &'a [[u32; 2]],
}

/// Writes an OBJ file, whole or not at all. Numbers read back are the same to the last bit.
///
/// # Errors
/// [`WriteError`] names the vertex that is not finite, the face whose vertex does not exist, or
/// what the system said.
///
/// ```
/// use glam::DVec3;
/// use plisse_io::{Obj, ObjPart, ObjSource, write_obj};
///
/// let positions = [DVec3::ZERO, DVec3::X, DVec3::Y * 0.1];
/// let sheet = ObjPart { name: "sheet", faces: &[[0, 1, 2]], ..ObjPart::default() };
/// let path = std::env::temp_dir().join("plisse doctest write.obj");
/// write_obj(&path, &ObjSource { positions: &positions, parts: &[sheet] })?;
/// let surface = Obj::read(&path)?.into_surface()?;
/// assert_eq!(surface.positions.as_slice(), positions);
/// assert_eq!(surface.groups["sheet"].len(), 3);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_obj(path: &Path, source: &ObjSource<'_>) -> Result<(), WriteError> {
    check(path, source)?;
    Ok(write_atomically(path, |out| write(out, source))?)
}

fn check(path: &Path, source: &ObjSource<'_>) -> Result<(), WriteError> {
    check_positions(path, source.positions)?;
    for part in source.parts {
        let of = format!(" of `{}`", part.name);
        check_indices(path, "face", &of, part.faces, source.positions.len())?;
        check_indices(path, "segment", &of, part.segments, source.positions.len())?;
        let Some(uv) = part.uv else { continue };
        check_length(path, || format!("uv{of}"), part.faces.len(), uv.len())?;
        if let Some(face) = uv.iter().position(|corners| !corners.iter().all(|u| u.is_finite())) {
            let [a, b, c] = uv[face];
            return Err(WriteError::NotFinite {
                path: path.to_owned(),
                place: format!("uv of face {face}{of}"),
                value: format!("{a}, {b}, {c}"),
            });
        }
    }
    Ok(())
}

fn write(out: &mut dyn Write, source: &ObjSource<'_>) -> io::Result<()> {
    writeln!(out, "# plisse, metres")?;
    for x in source.positions {
        // The shortest decimals that read back as the same number.
        writeln!(out, "v {} {} {}", x.x, x.y, x.z)?;
    }
    // By bits: equal corners share a `vt`, and -0 stays apart from 0.
    let mut known: HashMap<[u64; 2], usize> = HashMap::new();
    for part in source.parts {
        writeln!(out, "o {}", plain_name(part.name, &['#', '\\']))?;
        for (i, corners) in part.faces.iter().enumerate() {
            // OBJ counts from 1.
            let [a, b, c] = corners.map(|v| u64::from(v) + 1);
            let Some(uv) = part.uv else {
                writeln!(out, "f {a} {b} {c}")?;
                continue;
            };
            let mut numbers = [0; 3];
            for (number, u) in numbers.iter_mut().zip(uv[i]) {
                let next = known.len() + 1;
                *number = *known.entry(u.to_array().map(f64::to_bits)).or_insert(next);
                if *number == next {
                    writeln!(out, "vt {} {}", u.x, u.y)?;
                }
            }
            let [s, t, r] = numbers;
            writeln!(out, "f {a}/{s} {b}/{t} {c}/{r}")?;
        }
        for [a, b] in part.segments {
            writeln!(out, "l {} {}", u64::from(*a) + 1, u64::from(*b) + 1)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::obj::Obj;

    fn refusal(source: &ObjSource<'_>) -> String {
        write_obj(Path::new("/nowhere/a.obj"), source).unwrap_err().to_string()
    }

    #[test]
    fn text() {
        let positions = [DVec3::ZERO, DVec3::new(1.0, -0.0, 1e-7), DVec3::Y, DVec3::ONE];
        let uv = [[DVec2::ZERO, DVec2::X, DVec2::Y], [DVec2::Y, DVec2::X, DVec2::new(-0.0, 0.0)]];
        let sheet =
            ObjPart { name: "a sheet", faces: &[[0, 1, 2], [2, 1, 3]], uv: Some(&uv), ..ObjPart::default() };
        let thread = ObjPart { name: "", segments: &[[3, 0]], ..ObjPart::default() };
        let mut out = Vec::new();
        write(&mut out, &ObjSource { positions: &positions, parts: &[sheet, thread] }).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "# plisse, metres\nv 0 0 0\nv 1 -0 0.0000001\nv 0 1 0\nv 1 1 1\no a_sheet\nvt 0 0\nvt 1 0\nvt 0 \
             1\n\
             f 1/1 2/2 3/3\nvt -0 0\nf 3/3 2/2 4/4\no unnamed\nl 4 1\n"
        );
        let obj = Obj::parse(&text, "").unwrap();
        assert_eq!(obj.groups["unnamed"], [0, 3]);
        assert_eq!(obj.into_surface().unwrap().uv.unwrap().as_slice(), uv);
    }

    #[test]
    fn refusals_name_the_place() {
        let positions = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let part = ObjPart { name: "a", faces: &[[0, 1, 2], [0, 1, 3]], ..ObjPart::default() };
        let with = |part| refusal(&ObjSource { positions: &positions, parts: &[part] });
        assert_eq!(
            with(part),
            "cannot write /nowhere/a.obj: face 1 of `a` uses vertex 3, but there are 3 vertices. \
             Give the faces and positions of one mesh"
        );
        assert_eq!(
            with(ObjPart { faces: &[[0, 1, 2]], uv: Some(&[]), ..part }),
            "cannot write /nowhere/a.obj: uv of `a` must have 1 values, but has 0. Give values of the same \
             mesh"
        );
        let uv = [[DVec2::ZERO, DVec2::X, DVec2::NAN]];
        assert_eq!(
            with(ObjPart { faces: &[[0, 1, 2]], uv: Some(&uv), ..part }),
            "cannot write /nowhere/a.obj: uv of face 0 of `a` is [0, 0], [1, 0], [NaN, NaN], which is not \
             finite. \
             Look for the step where the motion went wrong"
        );
        let far = [DVec3::ZERO, DVec3::new(1.0, f64::INFINITY, 0.0)];
        assert_eq!(
            refusal(&ObjSource { positions: &far, parts: &[] }),
            "cannot write /nowhere/a.obj: vertex 1 is [1, inf, 0], which is not finite. \
             Look for the step where the motion went wrong"
        );
    }
}
