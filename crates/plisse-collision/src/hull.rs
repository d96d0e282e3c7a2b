//! The point of a segment, a triangle or a parallelogram that is nearest to the origin.
//!
//! Distances and CCD share these kernels. A pair of primitives is a set of difference vectors `D`
//! (point minus corner, or end of one edge minus end of the other), and the closest pair is the
//! point of their convex hull that is nearest to the origin. Interior points have a closed form;
//! where it does not apply, the best of the sub-features is taken. That replaces the usual tree of
//! Voronoi regions: it cannot return a wrong region, only a value that is larger by rounding.
//!
//! Lengths must lie between [`SHORTEST`] and [`LONGEST`]: products of four of them are formed.

use glam::DVec3;

/// Stencils smaller than this are scaled before they come here: squares of areas must not
/// underflow.
pub(crate) const SHORTEST: f64 = 1e-50;

/// Stencils larger than this are scaled before they come here: squares of areas must not overflow.
pub(crate) const LONGEST: f64 = 1e50;

/// Edges whose squared length is not above this are points. They are at least 1e-50 times shorter
/// than the stencil, and their squares begin to lose digits to underflow.
const POINT: f64 = SHORTEST * SHORTEST * 1e-100;

/// Below a squared sine of 1e-24, the direction of a cross product of edges has no digit left that
/// one can trust (its relative error is u divided by the sine, 1e-4): the primitive has no
/// interior.
const FLAT: f64 = 1e-24;

/// Interior results below this squared sine are compared with the sub-features: their parameters
/// have an error of u divided by the sine, which may place an outer point inside.
const NEARLY_PARALLEL: f64 = 1e-8;

/// Interior results farther away than this multiple of the size, squared, are compared with the
/// sub-features: their parameters have lost six digits or more.
const FAR: f64 = 1e6;

/// Which part of a primitive is nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Its corner with this number.
    Corner(usize),
    /// Its edge with this number.
    Edge(usize),
    /// Its interior.
    Interior,
}

/// The nearest point of an edge `x0, x1`: its parameter in `[0, 1]` and the vector from there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnEdge {
    pub(crate) t: f64,
    pub(crate) y: DVec3,
    pub(crate) square: f64,
    pub(crate) part: Part,
}

/// `d[i] = p - x[i]` and `e = x[1] - x[0]`.
#[inline]
pub(crate) fn on_edge(d: [DVec3; 2], e: DVec3) -> OnEdge {
    let at = |t: f64, y: DVec3, part: Part| OnEdge { t, y, square: y.length_squared(), part };
    let length = e.length_squared();
    // NaN passes all comparisons below, and shows in `y`.
    if length <= POINT {
        return at(0.0, d[0], Part::Corner(0));
    }
    let t = d[0].dot(e) / length;
    if t <= 0.0 {
        at(0.0, d[0], Part::Corner(0))
    } else if t >= 1.0 {
        at(1.0, d[1], Part::Corner(1))
    } else {
        at(t, d[0] - e * t, Part::Edge(0))
    }
}

/// The nearest point of a triangle: barycentric weights, the vector from there, and its normal
/// (not of unit length; zero where the nearest point is not in the interior).
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnTriangle {
    pub(crate) weights: [f64; 3],
    pub(crate) y: DVec3,
    pub(crate) part: Part,
    pub(crate) cross: DVec3,
    /// Squared sine of the angle at corner 0, and the squared length of the longest edge.
    pub(crate) sine: f64,
    pub(crate) size: f64,
}

/// `d[i] = p - x[i]`, `u = x[1] - x[0]` and `v = x[2] - x[0]`. Edge `i` is opposite of corner `i`.
#[inline]
pub(crate) fn on_triangle(d: [DVec3; 3], u: DVec3, v: DVec3) -> OnTriangle {
    let cross = u.cross(v);
    let square = cross.length_squared();
    let size = u.length_squared().max(v.length_squared()).max((v - u).length_squared());
    if square > FLAT * size * size {
        let w = [cross.dot(d[1].cross(d[2])), cross.dot(d[2].cross(d[0])), cross.dot(d[0].cross(d[1]))];
        let sum = w[0] + w[1] + w[2];
        // The sum is the square of `cross` but for rounding; far away rounding can make it zero.
        if w[0] >= 0.0 && w[1] >= 0.0 && w[2] >= 0.0 && sum > 0.0 {
            let weights = w.map(|w| w / sum);
            let y = d[0] * weights[0] + d[1] * weights[1] + d[2] * weights[2];
            let sine = square / (u.length_squared() * v.length_squared());
            let inner = OnTriangle { weights, y, part: Part::Interior, cross, sine, size };
            let doubtful = square < NEARLY_PARALLEL * size * size || d[0].length_squared() > FAR * size;
            if doubtful {
                let outer = on_triangle_edges(d, u, v);
                if outer.y.length_squared() < y.length_squared() {
                    return outer;
                }
            }
            return inner;
        }
    }
    on_triangle_edges(d, u, v)
}

#[inline]
fn on_triangle_edges(d: [DVec3; 3], u: DVec3, v: DVec3) -> OnTriangle {
    let mut best = on_edge([d[0], d[1]], u);
    let mut ends = [0, 1];
    for (i, j, e) in [(1, 2, v - u), (2, 0, -v)] {
        let next = on_edge([d[i], d[j]], e);
        if next.square < best.square {
            (best, ends) = (next, [i, j]);
        }
    }
    let mut weights = [0.0; 3];
    weights[ends[0]] = 1.0 - best.t;
    weights[ends[1]] += best.t;
    let part = match best.part {
        Part::Corner(k) => Part::Corner(ends[k]),
        _ => Part::Edge(3 - ends[0] - ends[1]),
    };
    OnTriangle { weights, y: best.y, part, cross: DVec3::ZERO, sine: 0.0, size: 0.0 }
}

/// The nearest pair of points of two edges `a0 a1` and `b0 b1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnEdges {
    /// Parameters on either edge.
    pub(crate) s: f64,
    pub(crate) t: f64,
    pub(crate) y: DVec3,
    /// The parts of the two edges; both interior or one of them a corner.
    pub(crate) parts: [Part; 2],
    pub(crate) cross: DVec3,
    /// Squared sine of the angle, and the squared length of the longer edge.
    pub(crate) sine: f64,
    pub(crate) size: f64,
}

/// `d[2 i + j] = a[i] - b[j]`, `u = a[1] - a[0]`, `v = b[1] - b[0]`.
#[inline]
pub(crate) fn on_edges(d: [DVec3; 4], u: DVec3, v: DVec3) -> OnEdges {
    let cross = u.cross(v);
    let square = cross.length_squared();
    let (uu, vv) = (u.length_squared(), v.length_squared());
    if square > FLAT * uu * vv {
        let w = d[0];
        let (s, t) = (-w.cross(v).dot(cross) / square, -w.cross(u).dot(cross) / square);
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            let y = w + u * s - v * t;
            let (sine, size) = (square / (uu * vv), uu.max(vv));
            let inner = OnEdges { s, t, y, parts: [Part::Interior; 2], cross, sine, size };
            if sine < NEARLY_PARALLEL || w.length_squared() > FAR * uu.min(vv) {
                let outer = on_edge_ends(d, u, v);
                if outer.y.length_squared() < y.length_squared() {
                    return outer;
                }
            }
            return inner;
        }
    }
    on_edge_ends(d, u, v)
}

/// The best of the four pairs of an end and an edge.
#[inline]
fn on_edge_ends(d: [DVec3; 4], u: DVec3, v: DVec3) -> OnEdges {
    let (mut best, mut square) = (OnEdges::FARTHEST, f64::INFINITY);
    let mut first = true;
    for i in 0..2 {
        let end = on_edge([d[2 * i], d[2 * i + 1]], v);
        if first || end.square < square {
            let parts = [Part::Corner(i), end.part];
            best = OnEdges { s: i as f64, t: end.t, y: end.y, parts, ..OnEdges::FARTHEST };
            (square, first) = (end.square, false);
        }
    }
    for j in 0..2 {
        let end = on_edge([-d[j], -d[2 + j]], u);
        if end.square < square {
            let parts = [end.part, Part::Corner(j)];
            best = OnEdges { s: end.t, t: j as f64, y: -end.y, parts, ..OnEdges::FARTHEST };
            square = end.square;
        }
    }
    best
}

impl OnEdges {
    const FARTHEST: Self = Self {
        s: 0.0,
        t: 0.0,
        y: DVec3::ZERO,
        parts: [Part::Corner(0); 2],
        cross: DVec3::ZERO,
        sine: 0.0,
        size: 0.0,
    };
}

/// Distance and direction of an interior pair (the accuracy rule of the book): `y` cancels where
/// the gap is small, so that its direction has lost as many digits as the gap is smaller than the
/// edges. The cross product of the edges has the direction, and any difference vector of corners
/// has the distance. Where the edges are so parallel that the cross product is worse, `y` is taken.
///
/// The direction has unit length, or is zero where the distance is.
#[inline]
pub(crate) fn along_normal(y: DVec3, cross: DVec3, sine: f64, size: f64, d: &[DVec3]) -> (f64, DVec3) {
    let square = y.length_squared();
    if sine * size > square {
        let mut shortest = d[0];
        for other in &d[1..] {
            if other.length_squared() < shortest.length_squared() {
                shortest = *other;
            }
        }
        let n = cross * (1.0 / cross.length());
        let signed = n.dot(shortest);
        let sign = if signed == 0.0 { 0.0 } else { signed.signum() };
        (signed.abs(), n * sign)
    } else {
        plisse_core::length_and_direction(y)
    }
}
