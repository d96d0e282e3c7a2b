//! What files show of a state: the vertices of cloths and wires, the tubes of yarns, the
//! triangles of obstacles.

use glam::{DVec2, DVec3};
use plisse::core::{Field, Vertices};
use plisse::io::ObjPart;
use plisse::scene::{BodyInfo, DrawnYarns, Kind, Scene, SmoothSheet};
use plisse::system::State;

use crate::picture::faces;

/// All bodies, and the obstacles that have a surface, in one numbering of points.
pub(crate) struct Shown<'a> {
    /// m.
    pub(crate) positions: Vec<DVec3>,
    bodies: Vec<ShownBody<'a>>,
}

struct ShownBody<'a> {
    name: String,
    /// None of an obstacle.
    info: Option<&'a BodyInfo>,
    /// Of the points of an obstacle, m/s.
    velocities: Vec<DVec3>,
    /// Name of the lines of yarns.
    lines: String,
    faces: Vec<[u32; 3]>,
    segments: Vec<[u32; 2]>,
    uv: Option<&'a [[DVec2; 3]]>,
    yarns: Option<DrawnYarns>,
    smooth: Option<SmoothSheet>,
}

/// Over which obstacles have a velocity, s.
const SHORT: f64 = 1e-7;

impl<'a> Shown<'a> {
    /// Developable cloth is divided so many times.
    pub(crate) fn new(scene: &'a Scene, state: &State<Vertices>, levels: u32) -> Self {
        let mut shown = Self::bodies(scene, state, levels);
        shown.add_obstacles(scene, state.time());
        shown
    }

    /// The obstacles alone.
    pub(crate) fn obstacles(scene: &Scene, time: f64) -> Self {
        let mut shown = Self { positions: Vec::new(), bodies: Vec::new() };
        shown.add_obstacles(scene, time);
        shown
    }

    /// The bodies alone.
    pub(crate) fn bodies(scene: &'a Scene, state: &State<Vertices>, levels: u32) -> Self {
        let mut shown = Self { positions: Vec::new(), bodies: Vec::new() };
        for (info, smooth) in scene.bodies().iter().zip(scene.smooth_sheets(state, levels)) {
            let x = &state.x().as_slice()[info.vertices.clone()];
            let first = shown.positions.len() as u32;
            let yarns = info.drawn_yarns(x);
            let (triangles, segments, uv) = match (&info.kind, &yarns) {
                _ if smooth.is_some() => {
                    (smooth.as_ref().map(|smooth| smooth.faces.clone()).unwrap_or_default(), Vec::new(), None)
                }
                (_, Some(yarns)) => (yarns.faces.clone(), yarns.lines.clone(), None),
                (Kind::Cloth { uv, .. }, _) => (faces(info), Vec::new(), uv.as_ref().map(Field::as_slice)),
                (Kind::Wires { segments, .. }, _) => (Vec::new(), segments.clone(), None),
                (Kind::Yarns { .. }, None) => (Vec::new(), Vec::new(), None),
            };
            let points = yarns.as_ref().map_or(x, |yarns| &yarns.points);
            shown.positions.extend_from_slice(smooth.as_ref().map_or(points, |smooth| &smooth.points));
            shown.bodies.push(ShownBody {
                name: info.name.to_string(),
                info: Some(info),
                velocities: Vec::new(),
                lines: format!("{} centre lines", info.name),
                faces: triangles.into_iter().map(|face| face.map(|v| v + first)).collect(),
                segments: segments.into_iter().map(|ends| ends.map(|v| v + first)).collect(),
                uv,
                yarns,
                smooth,
            });
        }
        shown
    }

    fn add_obstacles(&mut self, scene: &Scene, time: f64) {
        for (number, obstacle) in (1..).zip(scene.obstacles()) {
            let Some((x, faces)) = obstacle.surface(time) else { continue };
            // Up to now: what moves by keyframes may stand still from now on. Nothing moves before
            // the start.
            let other = if time > 0.0 { time - SHORT } else { time + SHORT };
            let (elsewhere, _) = obstacle.surface(other).unwrap_or_default();
            let velocities =
                x.iter().zip(elsewhere).map(|(x, other_x)| (*x - other_x) / (time - other)).collect();
            let first = self.positions.len() as u32;
            self.bodies.push(ShownBody {
                name: obstacle.name().map_or_else(|| format!("obstacle {number}"), str::to_owned),
                info: None,
                velocities,
                lines: String::new(),
                faces: faces.into_iter().map(|face| face.map(|v| v + first)).collect(),
                segments: Vec::new(),
                uv: None,
                yarns: None,
                smooth: None,
            });
            self.positions.extend(x);
        }
    }

    /// The same in other axes.
    pub(crate) fn turned(mut self, turn: fn(DVec3) -> DVec3) -> Self {
        for x in &mut self.positions {
            *x = turn(*x);
        }
        self
    }

    /// How many of the [parts](Self::parts) are bodies; those of obstacles come after them.
    pub(crate) fn body_parts(&self) -> usize {
        let bodies = self.bodies.iter().filter(|body| body.info.is_some());
        bodies.map(|body| if body.yarns.is_some() { 2 } else { 1 }).sum()
    }

    /// The points of a part, ascending, as programs have them that read the part from an OBJ file:
    /// Blender leaves out what no face and no line uses.
    pub(crate) fn object(&self, part: usize) -> Vec<DVec3> {
        let parts = self.parts();
        let Some(part) = parts.get(part) else { return Vec::new() };
        let mut used = vec![false; self.positions.len()];
        for v in part.faces.iter().flatten().chain(part.segments.iter().flatten()) {
            used[*v as usize] = true;
        }
        self.positions.iter().zip(used).filter(|(_, used)| *used).map(|(x, _)| *x).collect()
    }

    /// The number of the body or obstacle of each segment and of each face, bodies first.
    pub(crate) fn numbers(&self) -> [Vec<f64>; 2] {
        let mut out = [Vec::new(), Vec::new()];
        for (number, body) in self.bodies.iter().enumerate() {
            for (cells, count) in out.iter_mut().zip([body.segments.len(), body.faces.len()]) {
                cells.extend(std::iter::repeat_n(number as f64, count));
            }
        }
        out
    }

    /// Objects of an OBJ file: one for each body and obstacle, and one more for the centre
    /// lines of yarns.
    pub(crate) fn parts(&self) -> Vec<ObjPart<'_>> {
        let mut parts = Vec::new();
        for body in &self.bodies {
            let (name, faces, segments) = (&*body.name, &*body.faces, &*body.segments);
            if body.yarns.is_none() {
                let uv = body.smooth.as_ref().map_or(body.uv, |smooth| smooth.uv.as_deref());
                parts.push(ObjPart { name, faces, uv, segments });
            } else {
                parts.push(ObjPart { name, faces, ..ObjPart::default() });
                parts.push(ObjPart { name: &body.lines, segments, ..ObjPart::default() });
            }
        }
        parts
    }

    pub(crate) fn faces(&self) -> Vec<[u32; 3]> {
        self.bodies.iter().flat_map(|body| body.faces.iter().copied()).collect()
    }

    pub(crate) fn segments(&self) -> Vec<[u32; 2]> {
        self.bodies.iter().flat_map(|body| body.segments.iter().copied()).collect()
    }

    /// Values of the vertices of each body, and by velocity those of obstacles, on the points.
    pub(crate) fn on_points<T>(
        &self,
        of_body: impl Fn(&BodyInfo) -> Vec<T>,
        of_obstacle: impl Fn(&DVec3) -> T,
    ) -> Vec<T>
    where
        T: Copy + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
    {
        let one = |body: &ShownBody<'_>| {
            let Some(info) = body.info else { return body.velocities.iter().map(&of_obstacle).collect() };
            let values = of_body(info);
            match (&body.yarns, &body.smooth) {
                (Some(yarns), _) => yarns.on_points(&values),
                (None, Some(smooth)) => smooth.on_points(&values),
                (None, None) => values,
            }
        };
        self.bodies.iter().flat_map(one).collect()
    }

    /// The yarn of each segment and of each face, -1 where there is none; none at all without
    /// yarns.
    pub(crate) fn yarns(&self) -> Option<[Vec<f64>; 2]> {
        if self.bodies.iter().all(|body| body.yarns.is_none()) {
            return None;
        }
        let numbers = |yarns: &[u32]| yarns.iter().map(|yarn| f64::from(*yarn)).collect::<Vec<f64>>();
        let of = |body: &ShownBody<'_>| match &body.yarns {
            Some(yarns) => [numbers(&yarns.line_yarns), numbers(&yarns.face_yarns)],
            None => [vec![-1.0; body.segments.len()], vec![-1.0; body.faces.len()]],
        };
        let mut out = [Vec::new(), Vec::new()];
        for [lines, faces] in self.bodies.iter().map(of) {
            out[0].extend(lines);
            out[1].extend(faces);
        }
        Some(out)
    }
}
