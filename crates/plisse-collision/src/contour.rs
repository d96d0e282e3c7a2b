//! The length of the lines along which surfaces cross, with its derivatives.

use glam::DVec3;
use plisse_core::{Field, Id, TriMesh, Vertices};

use crate::oracle::{Crossing, SurfaceFace};

/// An edge of one triangle that goes through another.
struct Hit {
    edge: [Id<Vertices>; 2],
    /// Where on the edge.
    at: f64,
    /// Its two ends apart, m.
    along: DVec3,
    face: [Id<Vertices>; 3],
    /// Where on the face.
    weights: [f64; 3],
    /// Across the face, of any length.
    normal: DVec3,
    place: DVec3,
}

/// Adds the gradient of the length of the line along which two triangles cross, and gives the
/// length in metres. Zero where they only touch.
///
/// Each end `P = (1 - s) a + s b` of the line is where an edge `E = b - a` meets a face with the
/// normal `N` and the weights `w`; `R` is the unit vector from it along the line. With
/// `q = (E·R)/(E·N) N`,
///
/// ```text
/// ∂L/∂a = -(1 - s) (R - q)    ∂L/∂b = -s (R - q)    ∂L/∂faceᵢ = -wᵢ q
/// ```
///
/// All of them sum to zero, because the `R` of the two ends are opposite. See the chapter
/// *Untangling* of the book.
pub(crate) fn add_gradient(
    surfaces: &[&TriMesh],
    x: &Field<Vertices, DVec3>,
    crossing: &Crossing,
    gradient: &mut Field<Vertices, DVec3>,
) -> f64 {
    let corners = |face: SurfaceFace| surfaces[face.surface].faces()[face.face];
    let [a, b] = crossing.faces.map(corners);
    let mut hits: Vec<Hit> = Vec::with_capacity(4);
    for (one, other) in [(a, b), (b, a)] {
        hits.extend((0..3).filter_map(|k| hit([one[k], one[(k + 1) % 3]], other, x)));
    }
    // Through a corner two edges go at once: the two that are farthest apart bound the line.
    let mut ends: Option<(usize, usize, f64)> = None;
    for i in 0..hits.len() {
        for j in 0..i {
            let length = hits[i].place.distance(hits[j].place);
            if length > ends.map_or(0.0, |(.., longest)| longest) {
                ends = Some((i, j, length));
            }
        }
    }
    let Some((i, j, length)) = ends else { return 0.0 };
    for (end, other) in [(&hits[i], &hits[j]), (&hits[j], &hits[i])] {
        let r = (other.place - end.place) / length;
        let across = end.along.dot(end.normal);
        let q = end.normal * (end.along.dot(r) / across);
        // Edges that nearly lie in the face have no say in where they leave it.
        if !q.is_finite() || q.length_squared() > STEEPEST * STEEPEST {
            continue;
        }
        gradient[end.edge[0]] -= (r - q) * (1.0 - end.at);
        gradient[end.edge[1]] -= (r - q) * end.at;
        for (corner, weight) in end.face.iter().zip(end.weights) {
            gradient[*corner] -= q * weight;
        }
    }
    length
}

/// Ratio of the move of a crossing to that of its edge, beyond which the edge counts as lying in
/// the face.
const STEEPEST: f64 = 1e3;

fn hit(edge: [Id<Vertices>; 2], face: [Id<Vertices>; 3], x: &Field<Vertices, DVec3>) -> Option<Hit> {
    if edge.iter().any(|v| face.contains(v)) {
        return None;
    }
    let ([a, b], [p, q, r]) = (edge.map(|v| x[v]), face.map(|v| x[v]));
    let normal = (q - p).cross(r - p);
    let [above, below] = [a, b].map(|x| (x - p).dot(normal));
    if (above > 0.0) == (below > 0.0) {
        return None;
    }
    let at = above / (above - below);
    let place = a.lerp(b, at);
    let area = normal.length_squared();
    let part = |u: DVec3, v: DVec3| (u - place).cross(v - place).dot(normal) / area;
    let weights = [part(q, r), part(r, p), part(p, q)];
    // The exact test has said that they cross: an end on the rim is one.
    let inside = at.is_finite() && weights.iter().all(|weight| *weight >= -1e-9);
    inside.then_some(Hit { edge, at, along: b - a, face, weights, normal, place })
}
