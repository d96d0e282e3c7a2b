//! Legacy VTK files, as ParaView reads them, and the list that makes a film of them.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use glam::DVec3;
use serde_json::json;

use crate::file::write_atomically;
use crate::write_error::{
    WriteError, check_indices, check_length, check_positions, count, one_line, plain_name,
};

/// What to write into a VTK file: triangles and segments at one moment, with fields on them.
///
/// White space, `%` and `"` in names of fields are written as `_`. Fields may contain NaN;
/// positions must be finite.
#[derive(Clone, Copy, Debug, Default)]
pub struct VtkFrame<'a> {
    /// A title, on one line and of at most 255 bytes; what is beyond is cut off.
    pub title: &'a str,
    /// Positions of all vertices in m.
    pub positions: &'a [DVec3],
    /// Pieces of lines: two vertices each, counted from 0.
    pub segments: &'a [[u32; 2]],
    /// Triangles: three vertices each, counted from 0.
    pub faces: &'a [[u32; 3]],
    /// Names and values of numbers per vertex, in their own units.
    pub point_scalars: &'a [(&'a str, &'a [f64])],
    /// Names and values of vectors per vertex, in their own units.
    pub point_vectors: &'a [(&'a str, &'a [DVec3])],
    /// Numbers per segment and per face.
    pub cell_scalars: &'a [VtkCellScalars<'a>],
}

/// Numbers on the segments and on the faces of a [`VtkFrame`]. There is one for each of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct VtkCellScalars<'a> {
    /// Name of the field.
    pub name: &'a str,
    /// A number per segment.
    pub segments: &'a [f64],
    /// A number per face.
    pub faces: &'a [f64],
}

/// Writes a file of legacy VTK 3.0, binary, whole or not at all.
///
/// # Errors
/// [`WriteError`] names the vertex that is not finite, the face whose vertex does not exist, the
/// field whose length does not fit or whose name is taken, or what the system said.
///
/// ```
/// use glam::DVec3;
/// use plisse_io::{VtkFrame, write_vtk};
/// let path = std::env::temp_dir().join("plisse doctest.vtk");
/// let frame = VtkFrame {
///     positions: &[DVec3::ZERO, DVec3::X, DVec3::Y],
///     faces: &[[0, 1, 2]],
///     point_scalars: &[("mass", &[0.1, 0.1, 0.1])],
///     ..VtkFrame::default()
/// };
/// write_vtk(&path, &frame)?;
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_vtk(path: &Path, frame: &VtkFrame<'_>) -> Result<(), WriteError> {
    check(path, frame)?;
    Ok(write_atomically(path, |out| write(out, frame))?)
}

/// Writes the list of files that ParaView plays as one film: `name.vtk.series` beside the files.
/// Names count from the folder of the list, times are s.
///
/// # Errors
/// [`WriteError`] names the time that is not finite, or what the system said.
pub fn write_vtk_series(path: &Path, files: &[(String, f64)]) -> Result<(), WriteError> {
    if let Some((name, time)) = files.iter().find(|(_, time)| !time.is_finite()) {
        return Err(WriteError::NotFinite {
            path: path.to_owned(),
            place: format!("the time of {name}"),
            value: time.to_string(),
        });
    }
    let files: Vec<_> = files.iter().map(|(name, time)| json!({ "name": name, "time": time })).collect();
    let series = json!({ "file-series-version": "1.0", "files": files });
    Ok(write_atomically(path, |out| {
        serde_json::to_writer_pretty(&mut *out, &series)?;
        writeln!(out)
    })?)
}

fn check(path: &Path, frame: &VtkFrame<'_>) -> Result<(), WriteError> {
    let (vertices, segments, faces) = (frame.positions.len(), frame.segments.len(), frame.faces.len());
    count(path, "vertices", vertices)?;
    // The format counts the numbers in the list of cells: the length of each cell and its vertices.
    count(path, "entries of segments", segments.saturating_mul(3))?;
    count(path, "entries of faces", faces.saturating_mul(4))?;
    check_positions(path, frame.positions)?;
    check_indices(path, "segment", "", frame.segments, vertices)?;
    check_indices(path, "face", "", frame.faces, vertices)?;

    let mut names = BTreeSet::new();
    let scalars = frame.point_scalars.iter().map(|(name, values)| (*name, values.len()));
    let vectors = frame.point_vectors.iter().map(|(name, values)| (*name, values.len()));
    for (name, found) in scalars.chain(vectors) {
        check_length(path, || format!("`{name}`"), vertices, found)?;
        check_name(path, &mut names, name)?;
    }
    names.clear();
    for field in frame.cell_scalars {
        check_length(path, || format!("`{}` on segments", field.name), segments, field.segments.len())?;
        check_length(path, || format!("`{}` on faces", field.name), faces, field.faces.len())?;
        check_name(path, &mut names, field.name)?;
    }
    Ok(())
}

fn check_name(path: &Path, names: &mut BTreeSet<String>, name: &str) -> Result<(), WriteError> {
    let name = field_name(name);
    if names.insert(name.clone()) {
        return Ok(());
    }
    Err(WriteError::RepeatedName { path: path.to_owned(), name })
}

/// VTK decodes `%20` and the like, and quotes names in places.
fn field_name(name: &str) -> String {
    plain_name(name, &['%', '"'])
}

fn title(title: &str) -> String {
    let mut out = one_line(title);
    let mut end = out.len().min(255);
    while !out.is_char_boundary(end) {
        end -= 1;
    }
    out.truncate(end);
    out
}

fn write(out: &mut dyn Write, frame: &VtkFrame<'_>) -> io::Result<()> {
    let title = title(frame.title);
    write!(out, "# vtk DataFile Version 3.0\n{title}\nBINARY\nDATASET POLYDATA\n")?;
    writeln!(out, "POINTS {} double", frame.positions.len())?;
    write_vectors(out, frame.positions)?;
    // VTK numbers the cells of all lines before those of all polygons, wherever they stand in the
    // file.
    write_cells(out, "LINES", frame.segments)?;
    write_cells(out, "POLYGONS", frame.faces)?;
    if !(frame.point_scalars.is_empty() && frame.point_vectors.is_empty()) {
        writeln!(out, "POINT_DATA {}", frame.positions.len())?;
    }
    for (name, values) in frame.point_scalars {
        write_scalars(out, name, values.iter())?;
    }
    for (name, values) in frame.point_vectors {
        writeln!(out, "VECTORS {} double", field_name(name))?;
        write_vectors(out, values)?;
    }
    if !frame.cell_scalars.is_empty() {
        writeln!(out, "CELL_DATA {}", frame.segments.len() + frame.faces.len())?;
    }
    for field in frame.cell_scalars {
        write_scalars(out, field.name, field.segments.iter().chain(field.faces))?;
    }
    Ok(())
}

fn write_vectors(out: &mut dyn Write, values: &[DVec3]) -> io::Result<()> {
    for number in values.iter().flat_map(DVec3::to_array) {
        out.write_all(&number.to_be_bytes())?;
    }
    writeln!(out)
}

fn write_scalars<'a>(
    out: &mut dyn Write,
    name: &str,
    values: impl Iterator<Item = &'a f64>,
) -> io::Result<()> {
    write!(out, "SCALARS {} double 1\nLOOKUP_TABLE default\n", field_name(name))?;
    for number in values {
        out.write_all(&number.to_be_bytes())?;
    }
    writeln!(out)
}

fn write_cells<const N: usize>(out: &mut dyn Write, keyword: &str, cells: &[[u32; N]]) -> io::Result<()> {
    if cells.is_empty() {
        return Ok(());
    }
    writeln!(out, "{keyword} {} {}", cells.len(), cells.len() * (N + 1))?;
    for cell in cells {
        out.write_all(&(N as u32).to_be_bytes())?;
        for index in cell {
            out.write_all(&index.to_be_bytes())?;
        }
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small reader of its own, to look at what was written.
    struct Reader {
        bytes: Vec<u8>,
        at: usize,
    }

    impl Reader {
        fn line(&mut self) -> String {
            let length = self.bytes[self.at..].iter().position(|b| *b == b'\n').unwrap();
            let line = String::from_utf8(self.bytes[self.at..self.at + length].to_vec()).unwrap();
            self.at += length + 1;
            line
        }

        fn block<const N: usize>(&mut self, count: usize) -> Vec<[u8; N]> {
            let block = &self.bytes[self.at..self.at + N * count];
            self.at += N * count;
            assert_eq!(self.bytes[self.at], b'\n', "a line ends after each block");
            self.at += 1;
            block.chunks_exact(N).map(|word| word.try_into().unwrap()).collect()
        }

        fn doubles(&mut self, count: usize) -> Vec<f64> {
            self.block(count).into_iter().map(f64::from_be_bytes).collect()
        }

        fn ints(&mut self, count: usize) -> Vec<i32> {
            self.block(count).into_iter().map(i32::from_be_bytes).collect()
        }
    }

    const POSITIONS: [DVec3; 4] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.1, -0.0, 1e300)];

    fn frame() -> VtkFrame<'static> {
        VtkFrame {
            title: "two\nlines",
            positions: &POSITIONS,
            segments: &[[3, 0]],
            faces: &[[0, 1, 2], [2, 1, 3]],
            point_scalars: &[("mass in kg", &[0.1, 0.2, f64::MIN_POSITIVE, -1.0])],
            point_vectors: &[("velocity", &POSITIONS)],
            cell_scalars: &[VtkCellScalars { name: "strain\t%", segments: &[7.0], faces: &[8.0, 9.0] }],
        }
    }

    #[test]
    fn reading_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.vtk");
        write_vtk(&path, &frame()).unwrap();
        let mut file = Reader { bytes: std::fs::read(&path).unwrap(), at: 0 };
        let positions = POSITIONS.map(|x| x.to_array()).concat();
        for line in
            ["# vtk DataFile Version 3.0", "two lines", "BINARY", "DATASET POLYDATA", "POINTS 4 double"]
        {
            assert_eq!(file.line(), line);
        }
        assert_eq!(file.doubles(12), positions);
        assert_eq!(file.line(), "LINES 1 3");
        assert_eq!(file.ints(3), [2, 3, 0]);
        assert_eq!(file.line(), "POLYGONS 2 8");
        assert_eq!(file.ints(8), [3, 0, 1, 2, 3, 2, 1, 3]);
        assert_eq!(file.line(), "POINT_DATA 4");
        assert_eq!(file.line(), "SCALARS mass_in_kg double 1");
        assert_eq!(file.line(), "LOOKUP_TABLE default");
        assert_eq!(file.doubles(4), [0.1, 0.2, f64::MIN_POSITIVE, -1.0]);
        assert_eq!(file.line(), "VECTORS velocity double");
        assert_eq!(file.doubles(12), positions);
        assert_eq!(file.line(), "CELL_DATA 3");
        assert_eq!(file.line(), "SCALARS strain__ double 1");
        assert_eq!(file.line(), "LOOKUP_TABLE default");
        assert_eq!(file.doubles(3), [7.0, 8.0, 9.0], "lines before polygons");
        assert_eq!(file.at, file.bytes.len());
    }

    #[test]
    fn parts_that_are_not_there_are_left_out() {
        let mut out = Vec::new();
        write(&mut out, &VtkFrame { positions: &[DVec3::ZERO], ..VtkFrame::default() }).unwrap();
        let head = "# vtk DataFile Version 3.0\n\nBINARY\nDATASET POLYDATA\nPOINTS 1 double\n";
        assert_eq!(out, [head.as_bytes(), &[0; 24], b"\n"].concat());
        assert_eq!(title(&"é".repeat(200)), "é".repeat(127));
    }

    #[test]
    fn refusals_name_the_field() {
        let refusal = |frame: VtkFrame<'_>| {
            let error = write_vtk(Path::new("/nowhere/a.vtk"), &frame).unwrap_err().to_string();
            error.replace("cannot write /nowhere/a.vtk: ", "")
        };
        assert_eq!(
            refusal(VtkFrame { point_scalars: &[("mass", &[1.0])], ..frame() }),
            "`mass` must have 4 values, but has 1. Give values of the same mesh"
        );
        let cells = [VtkCellScalars { name: "a", segments: &[], faces: &[8.0, 9.0] }];
        assert_eq!(
            refusal(VtkFrame { cell_scalars: &cells, ..frame() }),
            "`a` on segments must have 1 values, but has 0. Give values of the same mesh"
        );
        assert_eq!(
            refusal(VtkFrame { segments: &[[4, 0]], ..frame() }),
            "segment 0 uses vertex 4, but there are 4 vertices. Give the faces and positions of one mesh"
        );
        assert_eq!(
            refusal(VtkFrame { point_vectors: &[("a b", &POSITIONS), ("a_b", &POSITIONS)], ..frame() }),
            "two fields are called `a_b`. Rename one of them"
        );
        let nan = [DVec3::NAN];
        assert!(refusal(VtkFrame { positions: &nan, ..VtkFrame::default() }).contains("vertex 0 is [NaN"));
    }

    #[test]
    fn series() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.vtk.series");
        let files = [("a \"0\".vtk".to_owned(), 0.0), ("a 1.vtk".to_owned(), 1.0 / 3.0)];
        write_vtk_series(&path, &files).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let compact: String = text.lines().map(str::trim_start).collect();
        assert_eq!(
            compact,
            "{\"file-series-version\": \"1.0\",\"files\": [{\"name\": \"a \\\"0\\\".vtk\",\"time\": 0.0},\
             {\"name\": \"a 1.vtk\",\"time\": 0.3333333333333333}]}"
        );
        let error = write_vtk_series(&path, &[("a.vtk".to_owned(), f64::NAN)]).unwrap_err().to_string();
        assert!(error.contains("the time of a.vtk is NaN"), "{error}");
    }
}
