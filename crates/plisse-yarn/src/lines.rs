//! Centre lines with crimp, and tubes around them: what is drawn and exported.
//!
//! The unknowns have one position for both yarns of a crossing. What is drawn moves each yarn along
//! the normal of the cloth, the upper one up and the lower one down, by half the sum of the radii,
//! so that they touch.

use glam::DVec3;

use crate::patch::{Passing, Patch};
use crate::yarn::Family;

/// The curve that a yarn is drawn along.
#[derive(Clone, Debug, PartialEq)]
pub struct CentreLine {
    /// The yarn, by its place in [`Patch::yarns`].
    pub yarn: usize,
    /// Points, m.
    pub points: Vec<DVec3>,
    /// Radius, m.
    pub radius: f64,
}

/// Triangles of tubes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tubes {
    /// Points, m.
    pub points: Vec<DVec3>,
    /// Triangles, counter-clockwise from outside.
    pub faces: Vec<[u32; 3]>,
    /// The yarn of each triangle.
    pub yarns: Vec<u32>,
}

/// The centre lines of all yarns for positions of the nodes, with `pieces` pieces for each segment:
/// Catmull-Rom splines through the places of the yarn at the nodes.
///
/// # Panics
/// If there are fewer positions than nodes.
#[must_use]
pub fn centre_lines(patch: &Patch, x: &[DVec3], pieces: usize) -> Vec<CentreLine> {
    let pieces = pieces.max(1);
    let normals = normals(patch, x);
    let line = |(index, yarn): (usize, &crate::yarn::Yarn)| {
        let place = |(place, &node): (usize, &u32)| {
            let at = Passing { yarn: index, place };
            x[node as usize] + normals[node as usize] * offset(patch, at, node)
        };
        let through: Vec<DVec3> = yarn.nodes.iter().enumerate().map(place).collect();
        CentreLine { yarn: index, points: spline(&through, pieces), radius: yarn.material.radius }
    };
    patch.yarns().iter().enumerate().map(line).collect()
}

/// Normals of crossings. Other nodes, the ends of yarns, have none.
fn normals(patch: &Patch, x: &[DVec3]) -> Vec<DVec3> {
    (0..patch.len() as u32).map(|node| patch.normal(x, node)).collect()
}

/// How far a yarn lies above the place of a node, m.
fn offset(patch: &Patch, at: Passing, node: u32) -> f64 {
    let yarn = &patch.yarns()[at.yarn];
    let [Some(warp), Some(weft)] = patch.at_node(node) else { return 0.0 };
    let radii = [warp, weft].map(|at| patch.yarns()[at.yarn].material.radius);
    let is_over = patch.warp_is_over(node) == (yarn.family == Family::Warp);
    0.5 * (radii[0] + radii[1]) * if is_over { 1.0 } else { -1.0 }
}

/// Catmull-Rom splines; straight pieces at the ends.
fn spline(through: &[DVec3], pieces: usize) -> Vec<DVec3> {
    let last = through.len() - 1;
    let mut points = Vec::with_capacity(last * pieces + 1);
    for k in 0..last {
        let (a, b) = (through[k], through[k + 1]);
        let before = if k > 0 { through[k - 1] } else { a * 2.0 - b };
        let after = if k + 2 <= last { through[k + 2] } else { b * 2.0 - a };
        for piece in 0..pieces {
            let t = piece as f64 / pieces as f64;
            let (slope_a, slope_b) = ((b - before) * 0.5, (after - a) * 0.5);
            let (t2, t3) = (t * t, t * t * t);
            points.push(
                a * (2.0 * t3 - 3.0 * t2 + 1.0)
                    + slope_a * (t3 - 2.0 * t2 + t)
                    + b * (3.0 * t2 - 2.0 * t3)
                    + slope_b * (t3 - t2),
            );
        }
    }
    points.push(through[last]);
    points
}

/// Tubes around centre lines, with `sides` sides (at least three) and closed ends. Rings are turned
/// as little as possible from one to the next.
#[must_use]
pub fn tubes(lines: &[CentreLine], sides: usize) -> Tubes {
    let sides = sides.max(3);
    let mut out = Tubes::default();
    for line in lines {
        add_tube(line, sides, &mut out);
    }
    out
}

fn add_tube(line: &CentreLine, sides: usize, out: &mut Tubes) {
    let (points, n) = (&line.points, line.points.len());
    if n < 2 {
        return;
    }
    let first = out.points.len() as u32;
    let tangent = |k: usize| (points[(k + 1).min(n - 1)] - points[k.saturating_sub(1)]).normalize_or_zero();
    let mut along = tangent(0);
    let mut across = if along == DVec3::ZERO { DVec3::X } else { along.any_orthonormal_vector() };
    for (k, point) in points.iter().enumerate() {
        let next = tangent(k);
        if next != DVec3::ZERO {
            along = next;
            // What is left of the last direction across; a line that folds back starts anew.
            let rest = across - along * across.dot(along);
            across = rest.try_normalize().unwrap_or_else(|| along.any_orthonormal_vector());
        }
        let third = along.cross(across);
        for side in 0..sides {
            let (sin, cos) = (std::f64::consts::TAU * side as f64 / sides as f64).sin_cos();
            out.points.push(*point + (across * cos + third * sin) * line.radius);
        }
    }
    let (start, end) = (out.points.len() as u32, out.points.len() as u32 + 1);
    out.points.extend([points[0], points[n - 1]]);
    let sides = sides as u32;
    let ring = |k: usize, side: u32| first + k as u32 * sides + side % sides;
    for k in 0..n - 1 {
        for side in 0..sides {
            let (a, b) = (ring(k, side), ring(k, side + 1));
            let (c, d) = (ring(k + 1, side), ring(k + 1, side + 1));
            out.faces.extend([[a, b, c], [b, d, c]]);
        }
    }
    for side in 0..sides {
        out.faces.push([start, ring(0, side + 1), ring(0, side)]);
        out.faces.push([end, ring(n - 1, side), ring(n - 1, side + 1)]);
    }
    out.yarns.resize(out.faces.len(), line.yarn as u32);
}
