//! Mesh sequences from tables.

use glam::DVec3;
use plisse_core::{Field, Positive, TriMesh, Vertices};
use plisse_io::Obj;
use plisse_io::scene_file::{MeshSequenceShape, ObstacleTable};

use super::Reader;
use super::meshes::MeshOptions;
use super::obstacles::seam_hint;
use crate::scene::{MeshFrame, Obstacle, SceneError, rotation_degrees};

impl Reader<'_> {
    pub(super) fn mesh_sequence(
        &mut self,
        table: &ObstacleTable,
        sequence: &MeshSequenceShape,
    ) -> Option<Obstacle> {
        let line = sequence.at_line;
        let names = self.keep(line, Names::new(sequence))?;
        let clock = self.keep(line, Clock::new(sequence, names.count()))?;
        let options = MeshOptions { unit: table.mesh_unit, weld: table.weld, uv_scale: None };
        let turn = rotation_degrees(table.rotation.x, table.rotation.y, table.rotation.z);
        let scale = DVec3::from(table.scale.map(Positive::get));
        let place = |x: &DVec3| turn * (*x * scale) + table.position;
        let mut first: Option<(Obj, TriMesh)> = None;
        let mut frames = Vec::new();
        for index in 0..names.count() {
            let obj = self.frame(&names.name(index), line, frames.len())?;
            let (obj, _) = self.keep(line, options.prepared(obj))?;
            match &first {
                Some((before, _)) => self.keep(line, same_faces(before, &obj))?,
                None => {
                    let mesh = self.keep(line, obj.clone().into_surface())?.mesh;
                    first = Some((obj.clone(), mesh));
                }
            }
            let positions: Field<Vertices, DVec3> =
                Field::from_vec(obj.positions.iter().map(place).collect());
            frames.push(MeshFrame { time: clock.time(index), positions });
        }
        let (_, mesh) = first?;
        self.identity.times(frames.iter().map(|frame| frame.time));
        let start = frames[0].positions.clone();
        let obstacle = Obstacle::mesh_sequence(&mesh, frames).map_err(|error| match &error {
            SceneError::SequenceFrame { frame, source } => {
                let name = names.name(*frame as u64);
                format!("{name}: {source}{}", seam_hint(source, &mesh, &start))
            }
            _ => error.to_string(),
        });
        self.keep(line, obstacle)
    }
}

/// The files of a sequence. Their number may be large: names are made one by one.
enum Names<'a> {
    Listed(&'a [String]),
    Numbered { before: &'a str, digits: usize, after: &'a str, from: u32, to: u32 },
}

impl<'a> Names<'a> {
    fn new(sequence: &'a MeshSequenceShape) -> Result<Self, String> {
        let names = match (&sequence.pattern, sequence.files.as_slice()) {
            (Some(_), [_, ..]) => {
                return Err("mesh_sequence has files and pattern; only one of them is possible".into());
            }
            (None, []) => return Err("mesh_sequence needs one of files, pattern".into()),
            (None, files) => {
                if sequence.frames.is_some() {
                    return Err("\"frames\" belongs to \"pattern\"; remove it".into());
                }
                Self::Listed(files)
            }
            (Some(pattern), []) => {
                let marks: Vec<usize> = pattern.match_indices('#').map(|(at, _)| at).collect();
                let (Some(first), Some(last)) = (marks.first(), marks.last()) else {
                    return Err(format!("\"{pattern}\" needs a # where the number of a file stands"));
                };
                if last - first + 1 != marks.len() {
                    return Err(format!("\"{pattern}\" has # in several places; only one is possible"));
                }
                let Some([from, to]) = sequence.frames else {
                    return Err("\"pattern\" needs \"frames\", the first and the last number".into());
                };
                if from > to {
                    return Err(format!("frames = [{from}, {to}] ends before it begins"));
                }
                let (before, after) = (&pattern[..*first], &pattern[last + 1..]);
                Self::Numbered { before, digits: marks.len(), after, from, to }
            }
        };
        if names.count() < 2 {
            return Err("a mesh sequence needs at least two files; one that stays is a \"mesh\"".into());
        }
        Ok(names)
    }

    fn count(&self) -> u64 {
        match self {
            Self::Listed(files) => files.len() as u64,
            Self::Numbered { from, to, .. } => u64::from(to - from) + 1,
        }
    }

    fn name(&self, index: u64) -> String {
        match self {
            Self::Listed(files) => files[index as usize].clone(),
            Self::Numbered { before, digits, after, from, .. } => {
                format!("{before}{:0digits$}{after}", u64::from(*from) + index)
            }
        }
    }
}

/// When the meshes of a sequence are reached.
enum Clock<'a> {
    Times(&'a [f64]),
    Rate { start: f64, per_second: f64 },
}

impl<'a> Clock<'a> {
    fn new(sequence: &'a MeshSequenceShape, count: u64) -> Result<Self, String> {
        match (sequence.frames_per_second, sequence.times.as_slice()) {
            (Some(_), [_, ..]) => {
                Err("mesh_sequence has frames_per_second and times; only one of them is possible".into())
            }
            (None, []) => Err("mesh_sequence needs one of frames_per_second, times".into()),
            (None, _) if sequence.start.is_some() => {
                Err("\"start\" belongs to \"frames_per_second\"; remove it".into())
            }
            (None, times) if times.len() as u64 != count => {
                Err(format!("mesh_sequence has {count} files and {} times; give one for each", times.len()))
            }
            (None, times) => match times.windows(2).position(|pair| pair[1] <= pair[0]) {
                Some(before) => {
                    let [a, b] = [times[before], times[before + 1]];
                    Err(format!("the times of mesh_sequence must ascend; {b} s follows {a} s"))
                }
                None => Ok(Self::Times(times)),
            },
            (Some(rate), []) => {
                Ok(Self::Rate { start: sequence.start.unwrap_or(0.0), per_second: rate.get() })
            }
        }
    }

    /// Seconds.
    fn time(&self, index: u64) -> f64 {
        match self {
            Self::Times(times) => times[index as usize],
            Self::Rate { start, per_second } => start + index as f64 / per_second,
        }
    }
}

/// Says how the faces of two files differ, if they do. Polygons are compared, not the triangles
/// that they were split into: the shorter diagonal of a quad may change as it deforms.
fn same_faces(first: &Obj, other: &Obj) -> Result<(), String> {
    let (name, like) = (&other.name, &first.name);
    let differs = |what: String| {
        Err(format!("{name}: {what}; all meshes of a sequence need the same vertices and faces"))
    };
    let counts = |obj: &Obj| (obj.positions.len(), polygons(obj).count());
    let [(vertices, faces), (other_vertices, other_faces)] = [first, other].map(counts);
    if vertices != other_vertices {
        return differs(format!("it has {other_vertices} vertices, and {like} has {vertices}"));
    }
    if faces != other_faces {
        return differs(format!("it has {other_faces} faces, and {like} has {faces}"));
    }
    match polygons(first).zip(polygons(other)).find(|(a, b)| a.1 != b.1) {
        Some(((like_line, _), (line, _))) => differs(format!(
            "the face on line {line} has other vertices than that on line {like_line} of {like}"
        )),
        None => Ok(()),
    }
}

/// The polygons of a file: the line, and the vertices in their order, from the smallest on.
fn polygons(obj: &Obj) -> impl Iterator<Item = (u32, Vec<u32>)> {
    obj.faces.chunk_by(|a, b| a.line == b.line).map(|fan| {
        // All triangles of a polygon have their first corner in common.
        let mut cycle: Vec<u32> = fan[0].corners[..2].to_vec();
        cycle.extend(fan.iter().map(|triangle| triangle.corners[2]));
        let smallest = (0..cycle.len()).min_by_key(|i| cycle[*i]).unwrap_or(0);
        cycle.rotate_left(smallest);
        (fan[0].line, cycle)
    })
}
