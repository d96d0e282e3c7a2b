//! Yarns as they are drawn and exported: centre lines with crimp, and tubes around them.

use glam::DVec3;
use plisse_yarn::{Patch, centre_lines, tubes};

/// Centre lines and tubes of the yarns of a body.
///
/// ```
/// use plisse_scene::scene::{Scene, Yarns};
/// use plisse_yarn::Woven;
/// let patch = Yarns::woven(&Woven { counts: [4, 3], ..Woven::default() })?;
/// let scene = Scene::builder().yarns(patch).build()?;
/// let body = &scene.bodies()[0];
/// let drawn = body.drawn_yarns(scene.positions(body)).ok_or("not yarns")?;
/// assert_eq!(drawn.face_yarns.len(), drawn.faces.len());
/// assert_eq!(drawn.line_yarns.iter().max(), Some(&6));
/// let masses = drawn.on_points(&[1.0; 12]);
/// assert!(masses.iter().all(|mass| *mass == 1.0) && masses.len() == drawn.points.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnYarns {
    /// Points of the centre lines, then of the tubes, m.
    pub points: Vec<DVec3>,
    /// Pieces of the centre lines.
    pub lines: Vec<[u32; 2]>,
    /// The yarn of each piece.
    pub line_yarns: Vec<u32>,
    /// Triangles of the tubes, counter-clockwise from outside.
    pub faces: Vec<[u32; 3]>,
    /// The yarn of each triangle.
    pub face_yarns: Vec<u32>,
    /// Of each point, the two vertices between which it lies, and how far from the first, 0 to 1.
    between: Vec<([u32; 2], f64)>,
}

/// Pieces of each segment.
const PIECES: usize = 5;
/// Sides of tubes.
const SIDES: usize = 8;

impl DrawnYarns {
    pub(super) fn new(patch: &Patch, x: &[DVec3]) -> Self {
        let curves = centre_lines(patch, x, PIECES);
        let (mut points, mut lines, mut line_yarns) = (Vec::new(), Vec::new(), Vec::new());
        let (mut between, mut around) = (Vec::new(), Vec::new());
        for curve in &curves {
            let (first, count) = (points.len() as u32, curve.points.len());
            points.extend_from_slice(&curve.points);
            lines.extend((1..count as u32).map(|k| [first + k - 1, first + k]));
            line_yarns.resize(lines.len(), curve.yarn as u32);
            let nodes = &patch.yarns()[curve.yarn].nodes;
            let place = |k: usize| {
                let segment = (k / PIECES).min(nodes.len() - 2);
                let share = (k - segment * PIECES) as f64 / PIECES as f64;
                ([nodes[segment], nodes[segment + 1]], share)
            };
            between.extend((0..count).map(place));
            // As `tubes` has them: a ring for each point, then the middles of both ends.
            around.extend((0..count).flat_map(|k| [place(k); SIDES]));
            around.extend([place(0), place(count - 1)]);
        }
        let first = points.len() as u32;
        let tubes = tubes(&curves, SIDES);
        points.extend(tubes.points);
        between.extend(around);
        let faces = tubes.faces.into_iter().map(|face| face.map(|v| v + first)).collect();
        Self { points, lines, line_yarns, faces, face_yarns: tubes.yarns, between }
    }

    /// Values of the vertices of the body, between them linearly, on the points.
    ///
    /// # Panics
    /// If there are fewer values than vertices.
    #[must_use]
    pub fn on_points<T>(&self, values: &[T]) -> Vec<T>
    where
        T: Copy + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
    {
        let value = |([a, b], share): &([u32; 2], f64)| {
            values[*a as usize] * (1.0 - share) + values[*b as usize] * *share
        };
        self.between.iter().map(value).collect()
    }
}
