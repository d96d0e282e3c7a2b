//! All parts of a drawing as one list of triangles in the space of the camera.

use glam::{DVec2, DVec3};

use super::camera::View;
use super::colour::{ColourMap, linear, place};
use super::drawing::{Drawing, Look, Part, Surface, drawable};
use super::tubes::add_wires;

/// A triangle of the soup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Triangle {
    /// Vertices of the soup.
    pub(super) corners: [u32; 3],
    /// Its paint.
    pub(super) paint: u32,
    /// Edges with a line, each opposite the corner of the same number.
    pub(super) edges: [bool; 3],
}

/// Colours of a part in linear light.
#[derive(Clone, Copy, Debug)]
pub(super) enum Paint {
    Plain { front: DVec3, back: DVec3 },
    Mapped(ColourMap),
}

/// Triangles with what the shading needs at their vertices.
#[derive(Debug, Default)]
pub(super) struct Soup {
    /// Positions in the space of the camera, in metres.
    pub(super) positions: Vec<DVec3>,
    /// Unit normals.
    pub(super) normals: Vec<DVec3>,
    /// Place in the colour map, 0 to 1.
    pub(super) values: Vec<f64>,
    pub(super) triangles: Vec<Triangle>,
    pub(super) paints: Vec<Paint>,
    /// What the picture is about: middle and radius of what is seen of the vertices, in metres.
    pub(super) middle: DVec3,
    pub(super) radius: f64,
}

/// Edges longer than this part of the radius are divided: occlusion is known at vertices only.
const LONGEST_EDGE: f64 = 1.0 / 16.0;
/// Most pieces along an edge, and most triangles a divided part may have.
const MOST_PIECES: usize = 48;
const MOST_TRIANGLES: usize = 60_000;

impl Soup {
    pub(super) fn new(drawing: &Drawing<'_>, view: &View) -> Self {
        let mut soup = Self::default();
        (soup.middle, soup.radius) = focus(drawing, view);
        for part in &drawing.parts {
            match part {
                Part::Surface(surface) => soup.add_surface(surface, view),
                Part::Wires(wires) => add_wires(&mut soup, wires, view),
            }
        }
        soup
    }

    pub(super) fn corners(&self, triangle: &Triangle) -> [DVec3; 3] {
        triangle.corners.map(|v| self.positions[v as usize])
    }

    pub(super) fn push_vertex(&mut self, position: DVec3, normal: DVec3, value: f64) -> u32 {
        self.positions.push(position);
        self.normals.push(normal);
        self.values.push(value);
        (self.positions.len() - 1) as u32
    }

    fn add_surface(&mut self, surface: &Surface<'_>, view: &View) {
        let paint = self.paints.len() as u32;
        self.paints.push(match surface.look {
            Look::Plain { front, back } => Paint::Plain { front: linear(front), back: linear(back) },
            Look::Scalar { map, .. } => Paint::Mapped(map),
        });
        let good = |corner: u32| surface.positions.get(corner as usize).is_some_and(|&x| drawable(x));
        let faces: Vec<[u32; 3]> =
            surface.faces.iter().copied().filter(|face| face.iter().all(|&corner| good(corner))).collect();
        let x: Vec<DVec3> = surface.positions.iter().map(|&x| view.point(x)).collect();
        let values: Vec<f64> = match surface.look {
            Look::Plain { .. } => vec![0.0; x.len()],
            Look::Scalar { values, range, .. } => {
                let value = |v: usize| values.get(v).copied().unwrap_or(f64::NAN);
                (0..x.len()).map(|v| place(value(v), range)).collect()
            }
        };
        let normals = Normals::new(&x, &faces);
        let pieces = pieces(&x, &faces, self.radius);
        let edges = [surface.edges; 3];
        let cyclic = matches!(surface.look, Look::Scalar { map: ColourMap::Cyclic, .. });
        if pieces == 1 && surface.smooth && !cyclic {
            let first = self.positions.len() as u32;
            self.positions.extend(&x);
            self.normals.extend(&normals.smooth);
            self.values.extend(&values);
            for (number, face) in faces.iter().enumerate() {
                let corner = |k: usize| {
                    let v = face[k] as usize;
                    if normals.is_sharp[v] {
                        // Beside a sharp edge each triangle has a vertex of its own.
                        self.push_vertex(x[v], normals.of_corner(number, v), values[v])
                    } else {
                        first + face[k]
                    }
                };
                let corners = [0, 1, 2].map(corner);
                self.triangles.push(Triangle { corners, paint, edges });
            }
            return;
        }
        for (number, face) in faces.iter().enumerate() {
            let flat = normals.faces[number].normalize_or_zero();
            let vertex = |v: u32| {
                let v = v as usize;
                // Around a circle each triangle has values of its own: near those of its first
                // corner.
                let turns = if cyclic { (values[v] - values[face[0] as usize]).round() } else { 0.0 };
                let normal = if surface.smooth { normals.of_corner(number, v) } else { flat };
                (x[v], normal, values[v] - turns)
            };
            self.add_divided(*face, face.map(vertex), pieces, paint, surface.edges);
        }
    }

    /// A triangle cut into `pieces` along each edge.
    fn add_divided(
        &mut self,
        face: [u32; 3],
        corners: [(DVec3, DVec3, f64); 3],
        pieces: usize,
        paint: u32,
        lines: bool,
    ) {
        let first = self.positions.len() as u32;
        // Row `i` from corner 0 has `i + 1` vertices.
        for i in 0..=pieces {
            for j in 0..=i {
                let weights = [pieces - i, i - j, j].map(|w| w as f64 / pieces as f64);
                let mut order = [0, 1, 2];
                // The same sum in both triangles of an edge, to the last bit: no gaps between them.
                order.sort_unstable_by_key(|&k| face[k]);
                let (mut position, mut normal, mut value) = (DVec3::ZERO, DVec3::ZERO, 0.0);
                for k in order.into_iter().filter(|&k| weights[k] > 0.0) {
                    position += corners[k].0 * weights[k];
                    normal += corners[k].1 * weights[k];
                    value += corners[k].2 * weights[k];
                }
                self.push_vertex(position, normal.normalize_or_zero(), value);
            }
        }
        let at = |i: usize, j: usize| first + (i * (i + 1) / 2 + j) as u32;
        for i in 1..=pieces {
            for j in 0..i {
                let edges = [lines && i == pieces, lines && j + 1 == i, lines && j == 0];
                self.triangles.push(Triangle {
                    corners: [at(i - 1, j), at(i, j), at(i, j + 1)],
                    paint,
                    edges,
                });
                if j + 1 < i {
                    let corners = [at(i - 1, j), at(i, j + 1), at(i - 1, j + 1)];
                    self.triangles.push(Triangle { corners, paint, edges: [false; 3] });
                }
            }
        }
    }
}

/// Normal on the front of a triangle, of twice its area. The space of the camera is left-handed,
/// hence the order.
fn area_normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (c - a).cross(b - a)
}

/// Cosine of the angle between triangles from which on the edge between them is seen: 65 degrees,
/// more than between the sides of a tube with six.
const SHARP: f64 = 0.42;

/// Normals of a surface: smooth, but not across sharp edges.
struct Normals {
    /// Of triangles, of twice their area.
    faces: Vec<DVec3>,
    /// Unit normals of vertices: the sum of those of the triangles, weighted by their area.
    smooth: Vec<DVec3>,
    /// Whether triangles around a vertex differ too much for one normal.
    is_sharp: Vec<bool>,
    /// Triangles around each sharp vertex; none around others.
    around: Vec<Vec<u32>>,
}

impl Normals {
    fn new(x: &[DVec3], faces: &[[u32; 3]]) -> Self {
        let of_faces: Vec<DVec3> =
            faces.iter().map(|face| area_normal(face.map(|v| x[v as usize]))).collect();
        let mut smooth = vec![DVec3::ZERO; x.len()];
        for (face, normal) in faces.iter().zip(&of_faces) {
            for v in face {
                smooth[*v as usize] += *normal;
            }
        }
        smooth.iter_mut().for_each(|normal| *normal = normal.normalize_or_zero());
        // Two normals differ by less than the angle if each differs from a third by less than half.
        let half = (0.5 * (1.0 + SHARP)).sqrt();
        let mut is_sharp = vec![false; x.len()];
        for (face, normal) in faces.iter().zip(&of_faces) {
            for v in face {
                is_sharp[*v as usize] |= smooth[*v as usize].dot(*normal) < half * normal.length();
            }
        }
        let mut around = vec![Vec::new(); x.len()];
        for (number, face) in (0..).zip(faces) {
            for v in face.iter().filter(|v| is_sharp[**v as usize]) {
                around[*v as usize].push(number);
            }
        }
        Self { faces: of_faces, smooth, is_sharp, around }
    }

    /// Unit normal of a triangle at one of its vertices: of the triangles there that are on the
    /// same side of every sharp edge.
    fn of_corner(&self, number: usize, v: usize) -> DVec3 {
        if !self.is_sharp[v] {
            return self.smooth[v];
        }
        let own = self.faces[number];
        let others = self.around[v].iter().map(|other| self.faces[*other as usize]);
        let alike = others.filter(|other| own.dot(*other) > SHARP * own.length() * other.length());
        // A triangle without area has no side.
        alike.sum::<DVec3>().try_normalize().unwrap_or(self.smooth[v])
    }
}

fn pieces(x: &[DVec3], faces: &[[u32; 3]], radius: f64) -> usize {
    let edge = |face: &[u32; 3]| {
        let [a, b, c] = face.map(|v| x[v as usize]);
        (b - a).length().max((c - b).length()).max((a - c).length())
    };
    let longest = faces.iter().map(edge).fold(0.0, f64::max);
    let wanted = (longest / (LONGEST_EDGE * radius)).ceil().max(1.0) as usize;
    let affordable = (MOST_TRIANGLES / faces.len().max(1)).isqrt().min(MOST_PIECES);
    // Pieces much too long show nothing either.
    if wanted > 4 * affordable { 1 } else { wanted.min(affordable).max(1) }
}

/// Middle and radius of the vertices in the picture, of all if none is.
///
/// A floor that reaches far beyond the picture does not count: shadows would lose their detail.
fn focus(drawing: &Drawing<'_>, view: &View) -> (DVec3, f64) {
    let mut seen = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let mut all = seen;
    for part in &drawing.parts {
        let positions = match part {
            Part::Surface(surface) => surface.positions,
            Part::Wires(wires) => wires.positions,
        };
        for x in positions.iter().filter(|&&x| drawable(x)).map(|&x| view.point(x)) {
            all = [all[0].min(x), all[1].max(x)];
            let pixel = view.pixel(x);
            if x.z > view.near() && pixel.cmpge(DVec2::ZERO).all() && pixel.cmple(view.size).all() {
                seen = [seen[0].min(x), seen[1].max(x)];
            }
        }
    }
    let [low, high] = if seen[0].x <= seen[1].x { seen } else { all };
    if low.x > high.x {
        return (DVec3::Z * view.distance, view.distance);
    }
    let radius = 0.5 * (high - low).length();
    (0.5 * (low + high), if radius > 0.0 { radius } else { view.distance })
}
