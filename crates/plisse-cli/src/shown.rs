//! What files show of a state: the vertices of cloths and wires, the tubes of yarns.

use glam::{DVec2, DVec3};
use plisse::core::{Field, Vertices};
use plisse::io::ObjPart;
use plisse::scene::{BodyInfo, DrawnYarns, Kind};
use plisse::system::State;

use crate::picture::faces;

/// All bodies in one numbering of points.
pub(crate) struct Shown<'a> {
    /// m.
    pub(crate) positions: Vec<DVec3>,
    bodies: Vec<ShownBody<'a>>,
}

struct ShownBody<'a> {
    info: &'a BodyInfo,
    /// Name of the lines of yarns.
    lines: String,
    faces: Vec<[u32; 3]>,
    segments: Vec<[u32; 2]>,
    uv: Option<&'a [[DVec2; 3]]>,
    yarns: Option<DrawnYarns>,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(bodies: &'a [BodyInfo], state: &State<Vertices>) -> Self {
        let mut shown = Self { positions: Vec::new(), bodies: Vec::new() };
        for info in bodies {
            let x = &state.x().as_slice()[info.vertices.clone()];
            let first = shown.positions.len() as u32;
            let yarns = info.drawn_yarns(x);
            let (triangles, segments, uv) = match (&info.kind, &yarns) {
                (_, Some(yarns)) => (yarns.faces.clone(), yarns.lines.clone(), None),
                (Kind::Cloth { uv, .. }, _) => (faces(info), Vec::new(), uv.as_ref().map(Field::as_slice)),
                (Kind::Wires { segments, .. }, _) => (Vec::new(), segments.clone(), None),
                (Kind::Yarns { .. }, None) => (Vec::new(), Vec::new(), None),
            };
            shown.positions.extend_from_slice(yarns.as_ref().map_or(x, |yarns| &yarns.points));
            shown.bodies.push(ShownBody {
                info,
                lines: format!("{} centre lines", info.name),
                faces: triangles.into_iter().map(|face| face.map(|v| v + first)).collect(),
                segments: segments.into_iter().map(|ends| ends.map(|v| v + first)).collect(),
                uv,
                yarns,
            });
        }
        shown
    }

    /// Objects of an OBJ file: one for each body, and one more for the centre lines of yarns.
    pub(crate) fn parts(&self) -> Vec<ObjPart<'_>> {
        let mut parts = Vec::new();
        for body in &self.bodies {
            let (name, faces, segments) = (&*body.info.name, &*body.faces, &*body.segments);
            if body.yarns.is_none() {
                parts.push(ObjPart { name, faces, uv: body.uv, segments });
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

    /// Values of the vertices of each body on the points.
    pub(crate) fn on_points<T>(&self, of_body: impl Fn(&BodyInfo) -> Vec<T>) -> Vec<T>
    where
        T: Copy + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
    {
        let one = |body: &ShownBody<'_>| {
            let values = of_body(body.info);
            body.yarns.as_ref().map_or(values.clone(), |yarns| yarns.on_points(&values))
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
