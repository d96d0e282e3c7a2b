//! Whether two triangles meet: exact, and closed (touching counts).
//!
//! Everything follows from one test, segment against triangle, and that from signs of determinants.
//! Triangles without area count as the segments or points that they are.

use glam::DVec3;

use crate::predicate::{PLANES, Plane, Scaled, orient3, sign};

/// A place where two closed triangles meet, if they do. Touching counts.
///
/// The answer is exact for every finite input, except that where the largest coordinate is more
/// than 10¹⁷⁹ times the smallest, the smallest are rounded first. Triangles may have no area. The
/// place is the middle between the two farthest points where an edge of one meets the other; it is
/// rounded, and lies in the boxes of both triangles.
///
/// ```
/// use glam::DVec3;
/// use plisse_collision::triangles_meet;
///
/// let flat = [DVec3::ZERO, DVec3::X, DVec3::Y];
/// let top = [DVec3::new(0.2, 0.2, 1.0), DVec3::new(0.4, 0.2, 1.0)];
/// let upright = |z: f64| [DVec3::new(0.2, 0.2, z), top[0], top[1]];
/// assert_eq!(triangles_meet(flat, upright(0.0)), Some(DVec3::new(0.2, 0.2, 0.0)));
/// assert_eq!(triangles_meet(flat, upright(1e-100)), None);
/// ```
#[must_use]
pub fn triangles_meet(a: [DVec3; 3], b: [DVec3; 3]) -> Option<DVec3> {
    let scaled = Scaled::new([a[0], a[1], a[2], b[0], b[1], b[2]]);
    let [a0, a1, a2, b0, b1, b2] = scaled.points;
    let (one, other) = ([a0, a1, a2], [b0, b1, b2]);
    // Most pairs end here.
    if is_beside(one, &other) || is_beside(other, &one) {
        return None;
    }
    let mut hits = Hits::default();
    for (triangle, edges) in [(one, other), (other, one)] {
        for k in 0..3 {
            hits.add(edges[k], edges[(k + 1) % 3], triangle);
        }
    }
    hits.place(&scaled, a, b)
}

/// A place where the triangles `(s, a, b)` and `(s, c, d)` meet beyond the corner `s` that they
/// share, if they do: where the edge opposite `s` of one meets the other triangle.
///
/// Exact and closed like [`triangles_meet`]. If `s` lies on the opposite edge of its own triangle,
/// which then has no area, they meet there.
#[must_use]
pub fn triangles_meet_beyond_vertex(s: DVec3, [a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> Option<DVec3> {
    let scaled = Scaled::new([s, a, b, c, d]);
    let [t, p, q, u, v] = scaled.points;
    // All of a triangle but `s` beside the plane of the other, which has area then.
    if is_beside([t, p, q], &[u, v]) || is_beside([t, u, v], &[p, q]) {
        return None;
    }
    let mut hits = Hits::default();
    hits.add(p, q, [t, u, v]);
    hits.add(u, v, [t, p, q]);
    hits.place(&scaled, [s, a, b], [s, c, d])
}

/// Whether the triangles `(s, t, a)` and `(s, t, c)`, which share the edge `st`, are folded flat
/// onto each other: coplanar, with `a` and `c` on the same side. Otherwise they meet in their edge
/// alone, unless one has no area.
///
/// Exact like [`triangles_meet`].
#[must_use]
pub fn triangles_fold_on_edge([s, t]: [DVec3; 2], a: DVec3, c: DVec3) -> bool {
    let [s, t, a, c] = Scaled::new([s, t, a, c]).points;
    if orient3(s, t, a, c) != 0.0 {
        return false;
    }
    let sides = PLANES.map(|plane| (sign(plane.orient2(s, t, a)), sign(plane.orient2(s, t, c))));
    sides.into_iter().find(|sides| *sides != (0, 0)).is_some_and(|(one, other)| one == other)
}

/// Whether all points lie strictly on one side of the plane of a triangle; not if it has no area.
fn is_beside([a, b, c]: [DVec3; 3], points: &[DVec3]) -> bool {
    let mut sides = points.iter().map(|x| sign(orient3(a, b, c, *x)));
    let first = sides.next().unwrap_or(0);
    first != 0 && sides.all(|side| side == first)
}

/// Where edges meet triangles, in scaled coordinates.
#[derive(Default)]
struct Hits {
    any: bool,
    points: Vec<DVec3>,
}

impl Hits {
    fn add(&mut self, p: DVec3, q: DVec3, triangle: [DVec3; 3]) {
        if let Some(points) = segment_triangle(p, q, triangle) {
            self.any = true;
            self.points.extend(points.into_iter().flatten());
        }
    }

    /// The middle between the two farthest points, within the boxes of both triangles.
    fn place<const N: usize>(&self, scaled: &Scaled<N>, a: [DVec3; 3], b: [DVec3; 3]) -> Option<DVec3> {
        if !self.any {
            return None;
        }
        let range = |x: [DVec3; 3]| (x[0].min(x[1]).min(x[2]), x[0].max(x[1]).max(x[2]));
        let ((low, high), (other_low, other_high)) = (range(a), range(b));
        let (low, high) = (low.max(other_low), high.min(other_high));
        let points: Vec<DVec3> = self.points.iter().map(|x| scaled.restore(*x)).collect();
        let mut ends = None;
        let mut farthest = -1.0;
        for (i, x) in points.iter().enumerate() {
            for y in &points[..=i] {
                let distance = (*x - *y).abs().max_element();
                if distance > farthest {
                    (ends, farthest) = (Some((*x, *y)), distance);
                }
            }
        }
        // Parts without area may leave no point; their boxes meet all the same.
        let (x, y) = ends.unwrap_or((low, high));
        // Halves first, against overflow.
        Some((x * 0.5 + y * 0.5).max(low).min(high))
    }
}

/// Where a segment meets a closed triangle: up to two points, rounded. `None` if it does not.
fn segment_triangle(p: DVec3, q: DVec3, triangle: [DVec3; 3]) -> Option<[Option<DVec3>; 2]> {
    let [a, b, c] = triangle;
    let Some(plane) = PLANES.into_iter().find(|plane| plane.orient2(a, b, c) != 0.0) else {
        let hit = (0..3).any(|k| segments_meet(p, q, triangle[k], triangle[(k + 1) % 3]));
        return hit.then_some([None; 2]);
    };
    let (above, below) = (orient3(a, b, c, p), orient3(a, b, c, q));
    match (sign(above), sign(below)) {
        (0, 0) => {
            let crosses = (0..3).any(|k| meet_in(plane, p, q, triangle[k], triangle[(k + 1) % 3]));
            (crosses || is_inside(plane, p, triangle)).then(|| clipped(plane, p, q, triangle))
        }
        (s, t) if s * t > 0 => None,
        _ => {
            let signs = [(a, b), (b, c), (c, a)].map(|(a, b)| sign(orient3(p, q, a, b)));
            let one_side = signs.iter().all(|s| *s >= 0) || signs.iter().all(|s| *s <= 0);
            one_side.then(|| [Some(p + (q - p) * (above / (above - below))), None])
        }
    }
}

/// Whether two closed segments meet.
fn segments_meet(p: DVec3, q: DVec3, a: DVec3, b: DVec3) -> bool {
    orient3(p, q, a, b) == 0.0 && PLANES.into_iter().all(|plane| meet_in(plane, p, q, a, b))
}

/// Whether the shadows of two closed segments meet: their boxes overlap, and neither has both its
/// ends on the same side of the other.
fn meet_in(plane: Plane, p: DVec3, q: DVec3, a: DVec3, b: DVec3) -> bool {
    let overlaps = |k: usize| p[k].min(q[k]) <= a[k].max(b[k]) && a[k].min(b[k]) <= p[k].max(q[k]);
    let divides = |p: DVec3, q: DVec3, a: DVec3, b: DVec3| {
        sign(plane.orient2(p, q, a)) * sign(plane.orient2(p, q, b)) <= 0
    };
    plane.axes().into_iter().all(overlaps) && divides(p, q, a, b) && divides(a, b, p, q)
}

/// Whether the shadow of a point lies in that of a triangle.
fn is_inside(plane: Plane, p: DVec3, [a, b, c]: [DVec3; 3]) -> bool {
    let signs = [(a, b), (b, c), (c, a)].map(|(a, b)| sign(plane.orient2(a, b, p)));
    signs.iter().all(|s| *s >= 0) || signs.iter().all(|s| *s <= 0)
}

/// The ends of the part of a segment that lies in a triangle of its plane, rounded.
fn clipped(plane: Plane, p: DVec3, q: DVec3, [a, b, c]: [DVec3; 3]) -> [Option<DVec3>; 2] {
    let turn = f64::from(sign(plane.orient2(a, b, c)));
    let (mut first, mut last) = (0.0f64, 1.0f64);
    for (a, b) in [(a, b), (b, c), (c, a)] {
        let (at_p, at_q) = (turn * plane.orient2(a, b, p), turn * plane.orient2(a, b, q));
        if (at_p < 0.0) != (at_q < 0.0) {
            let crossing = at_p / (at_p - at_q);
            if at_p < 0.0 { first = first.max(crossing) } else { last = last.min(crossing) }
        }
    }
    // Rounding may exchange them by little where the segment touches a corner.
    [first, last].map(|t| Some(p + (q - p) * t))
}
