//! From text to vertices, triangles and groups.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};

use super::error::{ObjError, ObjProblem};
use super::statement::for_each_statement;
use super::triangulate::fan_apex;
use super::{Obj, ObjFace};

/// More than any file holds; keeps every index far from overflow.
pub(super) const MAX_VERTICES: usize = (u32::MAX / 2) as usize;
/// Each face is entered into every group of its line. Without a bound, time and memory would be
/// quadratic.
pub(super) const MAX_NAMES: usize = 16;

/// Keywords of OBJ that say nothing about a cloth.
const SKIPPED: &str = "vn vp s usemtl mtllib usemap maplib p mg lod bevel c_interp d_interp shadow_obj \
    trace_obj ctech stech cstype deg bmat step curv curv2 surf parm trim hole scrv sp con end bsp bzp res";

pub(super) fn parse(text: &str, name: &str) -> Result<Obj, ObjError> {
    let at = |line| move |problem| ObjError::Line { file: name.to_owned(), line, problem };
    let mut parser = Parser::default();
    for_each_statement(text, |line, words| parser.statement(line, words).map_err(at(line)))?;
    parser.finish(name).map_err(|(line, problem)| at(line)(problem))
}

/// A corner as read, counted from 0. Whether it exists is known at the end of the file.
#[derive(Clone, Copy)]
struct Corner {
    vertex: i64,
    uv: Option<i64>,
}

/// A face as read: its line, and where its corners end in the common list.
struct Polygon {
    line: u32,
    end: usize,
}

#[derive(Default)]
struct Parser {
    positions: Vec<DVec3>,
    position_lines: Vec<u32>,
    uv: Vec<DVec2>,
    corners: Vec<Corner>,
    polygons: Vec<Polygon>,
    segments: Vec<[i64; 2]>,
    segment_lines: Vec<u32>,
    group_numbers: BTreeMap<String, usize>,
    group_vertices: Vec<Vec<u32>>,
    object: Option<usize>,
    /// The groups that faces and polylines belong to, beside the object.
    active: Vec<usize>,
}

impl Parser {
    fn statement(&mut self, line: u32, words: &[&str]) -> Result<(), ObjProblem> {
        let [keyword, words @ ..] = words else { return Ok(()) };
        match *keyword {
            "v" => self.vertex(words, line),
            "vt" => self.texture(words),
            "f" => self.face(words, line),
            "l" => self.polyline(words, line),
            "g" => self.groups(words),
            "o" => {
                self.active.clear();
                self.object = (!words.is_empty()).then(|| self.group(words.join(" ")));
                Ok(())
            }
            word if SKIPPED.split(' ').any(|skipped| skipped == word) => Ok(()),
            _ => Err(ObjProblem::Keyword),
        }
    }

    fn vertex(&mut self, words: &[&str], line: u32) -> Result<(), ObjProblem> {
        let ([x, y, z], 3..=7) = (numbers(words)?, words.len()) else {
            return Err(ObjProblem::NumberCount {
                keyword: "v",
                expected: "3 numbers (up to 7 with weight and colour)",
                found: words.len(),
            });
        };
        if self.positions.len() == MAX_VERTICES {
            return Err(ObjProblem::TooLarge { keyword: "v" });
        }
        self.positions.push(DVec3::new(x, y, z));
        self.position_lines.push(line);
        Ok(())
    }

    fn texture(&mut self, words: &[&str]) -> Result<(), ObjProblem> {
        let ([u, v], 2..=3) = (numbers(words)?, words.len()) else {
            return Err(ObjProblem::NumberCount {
                keyword: "vt",
                expected: "2 numbers (or 3)",
                found: words.len(),
            });
        };
        if self.uv.len() == MAX_VERTICES {
            return Err(ObjProblem::TooLarge { keyword: "vt" });
        }
        self.uv.push(DVec2::new(u, v));
        Ok(())
    }

    fn face(&mut self, words: &[&str], line: u32) -> Result<(), ObjProblem> {
        if words.len() < 3 {
            return Err(ObjProblem::Corners { keyword: "f", expected: 3, found: words.len() });
        }
        let start = self.corners.len();
        for word in words {
            let corner = self.corner(word)?;
            self.corners.push(corner);
        }
        let corners = &self.corners[start..];
        if corners.iter().any(|corner| corner.uv.is_some() != corners[0].uv.is_some()) {
            return Err(ObjProblem::CornerWithoutUv);
        }
        let mut sorted: Vec<i64> = corners.iter().map(|corner| corner.vertex).collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ObjProblem::RepeatedVertex { keyword: "f", vertex: pair[0] + 1 });
        }
        self.enter(&sorted);
        self.polygons.push(Polygon { line, end: self.corners.len() });
        Ok(())
    }

    fn polyline(&mut self, words: &[&str], line: u32) -> Result<(), ObjProblem> {
        if words.len() < 2 {
            return Err(ObjProblem::Corners { keyword: "l", expected: 2, found: words.len() });
        }
        let mut vertices = Vec::with_capacity(words.len());
        for word in words {
            vertices.push(self.corner(word)?.vertex);
        }
        for pair in vertices.windows(2) {
            if pair[0] == pair[1] {
                return Err(ObjProblem::RepeatedVertex { keyword: "l", vertex: pair[0] + 1 });
            }
            self.segments.push([pair[0], pair[1]]);
            self.segment_lines.push(line);
        }
        self.enter(&vertices);
        Ok(())
    }

    fn groups(&mut self, names: &[&str]) -> Result<(), ObjProblem> {
        if names.len() > MAX_NAMES {
            return Err(ObjProblem::TooManyNames { found: names.len() });
        }
        self.active.clear();
        for name in names {
            let group = self.group((*name).to_owned());
            self.active.push(group);
        }
        Ok(())
    }

    fn group(&mut self, name: String) -> usize {
        let next = self.group_vertices.len();
        let number = *self.group_numbers.entry(name).or_insert(next);
        if number == next {
            self.group_vertices.push(Vec::new());
        }
        number
    }

    /// Enters vertices into the object and the groups of this place in the file.
    fn enter(&mut self, vertices: &[i64]) {
        for group in self.object.iter().chain(&self.active) {
            // What does not fit is out of range, and refused at the end.
            self.group_vertices[*group].extend(vertices.iter().map(|v| *v as u32));
        }
    }

    fn corner(&self, word: &str) -> Result<Corner, ObjProblem> {
        let mut parts = word.split('/');
        let vertex = index(parts.next().unwrap_or(""), word, "v", self.positions.len())?;
        let uv = match parts.next() {
            None | Some("") => None,
            Some(part) => Some(index(part, word, "vt", self.uv.len())?),
        };
        // Normals are not used, so only nonsense is refused.
        let normal = parts.next().unwrap_or("");
        if parts.next().is_some() || !(normal.is_empty() || normal.parse::<i64>().is_ok()) {
            return Err(ObjProblem::Index { word: shown(word) });
        }
        Ok(Corner { vertex, uv })
    }

    /// Looks up what was read before it was known whether it exists, and splits polygons.
    fn finish(mut self, name: &str) -> Result<Obj, (u32, ObjProblem)> {
        let (vertex_count, uv_count) = (self.positions.len(), self.uv.len());
        let vertex = |index: i64| existing(index, "v", vertex_count);
        let texture = |index: i64| existing(index, "vt", uv_count);

        let mut faces = Vec::with_capacity(self.polygons.len());
        let mut start = 0;
        let (mut corners, mut uv, mut points) = (Vec::new(), Vec::new(), Vec::new());
        for polygon in &self.polygons {
            corners.clear();
            uv.clear();
            let at = |problem| (polygon.line, problem);
            for corner in &self.corners[start..polygon.end] {
                corners.push(vertex(corner.vertex).map_err(at)?);
                uv.extend(corner.uv.map(texture).transpose().map_err(at)?);
            }
            points.clear();
            points.extend(corners.iter().map(|corner| self.positions[*corner as usize]));
            let apex = fan_apex(&mut points).map_err(at)?;
            let n = corners.len();
            for i in 1..n - 1 {
                let triangle = [apex, (apex + i) % n, (apex + i + 1) % n];
                faces.push(ObjFace {
                    corners: triangle.map(|k| corners[k]),
                    uv: (!uv.is_empty()).then(|| triangle.map(|k| uv[k])),
                    apex: apex as u32,
                    line: polygon.line,
                });
            }
            start = polygon.end;
        }
        let mut segments = Vec::with_capacity(self.segments.len());
        for ([a, b], line) in self.segments.iter().zip(&self.segment_lines) {
            let at = |problem| (*line, problem);
            segments.push([vertex(*a).map_err(at)?, vertex(*b).map_err(at)?]);
        }
        let mut groups = BTreeMap::new();
        for (name, number) in self.group_numbers {
            let mut vertices = std::mem::take(&mut self.group_vertices[number]);
            vertices.sort_unstable();
            vertices.dedup();
            if !vertices.is_empty() {
                groups.insert(name, vertices);
            }
        }
        Ok(Obj {
            name: name.to_owned(),
            positions: self.positions,
            position_lines: self.position_lines,
            uv: self.uv,
            faces,
            segments,
            segment_lines: self.segment_lines,
            groups,
        })
    }
}

/// The first `N` words as finite numbers; zeros where words are missing. Weights, colours and the
/// like may follow.
fn numbers<const N: usize>(words: &[&str]) -> Result<[f64; N], ObjProblem> {
    let mut out = [0.0f64; N];
    for (number, word) in out.iter_mut().zip(words) {
        *number = word.parse().map_err(|_| ObjProblem::Number { word: shown(word) })?;
        if !number.is_finite() {
            return Err(ObjProblem::NotFinite { word: shown(word) });
        }
    }
    Ok(out)
}

/// An index counted from 0. Positive ones may point ahead, negative ones count back from the
/// `above` elements so far.
fn index(part: &str, word: &str, keyword: &'static str, above: usize) -> Result<i64, ObjProblem> {
    match part.parse::<i64>() {
        Err(_) => Err(ObjProblem::Index { word: shown(word) }),
        Ok(0) => Err(ObjProblem::IndexZero { word: shown(word) }),
        Ok(index) if index > 0 => Ok(index - 1),
        Ok(index) if above as i64 + index >= 0 => Ok(above as i64 + index),
        Ok(index) => Err(ObjProblem::RelativeOutOfRange { index, keyword, count: above }),
    }
}

fn existing(index: i64, keyword: &'static str, count: usize) -> Result<u32, ObjProblem> {
    // The count is at most `MAX_VERTICES`, so what is below it fits.
    if index < count as i64 {
        Ok(index as u32)
    } else {
        Err(ObjProblem::IndexOutOfRange { index: index + 1, keyword, count })
    }
}

/// A word as messages show it: on one line and not too long, whatever the file contains.
fn shown(word: &str) -> String {
    const LENGTH: usize = 40;
    let mut out: String = word.chars().take(LENGTH).flat_map(char::escape_debug).collect();
    if word.chars().nth(LENGTH).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shown_short_and_on_one_line() {
        assert_eq!(shown("a\u{7}b"), "a\\u{7}b");
        assert_eq!(shown(&"é".repeat(41)), format!("{}…", "é".repeat(40)));
    }

    #[test]
    fn indices_reach_ahead_and_back() {
        assert_eq!(index("7", "7", "v", 0), Ok(6));
        assert_eq!(index("-3", "-3", "v", 3), Ok(0));
        for beyond in ["-4", "-9223372036854775808"] {
            assert!(matches!(index(beyond, "", "v", 3), Err(ObjProblem::RelativeOutOfRange { .. })));
        }
        let message = existing(i64::MAX - 1, "v", MAX_VERTICES).unwrap_err().to_string();
        assert!(message.starts_with("index 9223372036854775807 is out of range"), "{message}");
    }
}
