//! Closest points of pairs of primitives, their distance and its direction.

use glam::DVec3;
use plisse_core::range::largest_coordinate;
use plisse_core::{length_and_direction, rarely, saturate};

use crate::hull::{LONGEST, OnEdge, Part, SHORTEST, along_normal, on_edge, on_edges, on_triangle};

/// The features that hold the two closest points, by the places of their vertices in the stencil.
///
/// Stencils are (p, q), (p, a, b), (p, a, b, c) and (a0, a1, b0, b1). The distance is smooth where
/// the feature does not change; where it changes, the distance has one derivative, or none if the
/// edges are parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Two vertices.
    PointPoint([usize; 2]),
    /// A vertex and the interior of an edge.
    PointEdge {
        /// The vertex.
        point: usize,
        /// The ends of the edge.
        edge: [usize; 2],
    },
    /// The vertex 0 and the interior of the triangle 1, 2, 3.
    PointTriangle,
    /// The interiors of the edges 0, 1 and 2, 3.
    EdgeEdge,
}

/// The closest points of two primitives with `V` vertices in total.
///
/// The weights `c` give the vector between the closest points, `y = Σ cᵢ xᵢ`; those of the first
/// primitive are positive and sum to one, those of the second are negative and sum to minus one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest<const V: usize> {
    pub(crate) weights: [f64; V],
    pub(crate) distance: f64,
    pub(crate) normal: DVec3,
    pub(crate) feature: Feature,
}

impl<const V: usize> Closest<V> {
    /// The weights `c` of the vertices, in the order of the stencil.
    #[inline]
    #[must_use]
    pub fn weights(&self) -> &[f64; V] {
        &self.weights
    }

    /// The distance in metres; zero where the primitives touch. Saturates at 1e300.
    #[inline]
    #[must_use]
    pub fn distance(&self) -> f64 {
        self.distance
    }

    /// The square of the distance in m². Saturates at 1e300.
    #[inline]
    #[must_use]
    pub fn distance_squared(&self) -> f64 {
        saturate(self.distance * self.distance)
    }

    /// The unit vector from the second primitive to the first; **zero where they touch**, because
    /// no direction is better than another there.
    #[inline]
    #[must_use]
    pub fn normal(&self) -> DVec3 {
        self.normal
    }

    /// Whether the distance is zero, so that there is no normal and no derivative.
    #[inline]
    #[must_use]
    pub fn is_touching(&self) -> bool {
        self.normal == DVec3::ZERO
    }

    /// Where the closest points lie.
    #[inline]
    #[must_use]
    pub fn feature(&self) -> Feature {
        self.feature
    }

    /// The derivative of the distance by the vertices, `cᵢ n` (by the envelope theorem the weights
    /// count as constants). Zero where the primitives touch.
    #[inline]
    #[must_use]
    pub fn gradient(&self) -> [DVec3; V] {
        self.weights.map(|c| self.normal * c)
    }
}

/// The distance of two points, (p, q).
#[must_use]
pub fn point_point(p: DVec3, q: DVec3) -> Closest<2> {
    measure([p, q], |[p, q]| {
        let (distance, normal) = length_and_direction(p - q);
        Closest { weights: [1.0, -1.0], distance, normal, feature: Feature::PointPoint([0, 1]) }
    })
}

/// The distance of a point and an edge, (p, a, b). An edge of no length is its first end.
///
/// ```
/// use glam::DVec3;
/// use plisse_collision::{Feature, point_edge};
/// let beside = point_edge(DVec3::new(0.25, 2.0, 0.0), [DVec3::ZERO, DVec3::X]);
/// assert_eq!(beside.weights(), &[1.0, -0.75, -0.25]);
/// assert_eq!(beside.feature(), Feature::PointEdge { point: 0, edge: [1, 2] });
/// let beyond = point_edge(DVec3::new(3.0, 0.0, 0.0), [DVec3::ZERO, DVec3::X]);
/// assert_eq!((beyond.distance(), beyond.feature()), (2.0, Feature::PointPoint([0, 2])));
/// ```
#[must_use]
pub fn point_edge(p: DVec3, edge: [DVec3; 2]) -> Closest<3> {
    measure([p, edge[0], edge[1]], |[p, a, b]| {
        let OnEdge { t, y, part, .. } = on_edge([p - a, p - b], b - a);
        let (distance, normal) = length_and_direction(y);
        let feature = match part {
            Part::Corner(k) => Feature::PointPoint([0, 1 + k]),
            _ => Feature::PointEdge { point: 0, edge: [1, 2] },
        };
        Closest { weights: [1.0, t - 1.0, -t], distance, normal, feature }
    })
}

/// The distance of a point and a triangle, (p, a, b, c). A triangle without an area is its edges.
#[must_use]
pub fn point_triangle(p: DVec3, triangle: [DVec3; 3]) -> Closest<4> {
    measure([p, triangle[0], triangle[1], triangle[2]], |[p, a, b, c]| {
        let d = [p - a, p - b, p - c];
        let found = on_triangle(d, b - a, c - a);
        let (distance, normal) = match found.part {
            Part::Interior => along_normal(found.y, found.cross, found.sine, found.size, &d),
            _ => length_and_direction(found.y),
        };
        let feature = match found.part {
            Part::Corner(k) => Feature::PointPoint([0, 1 + k]),
            Part::Edge(k) => Feature::PointEdge { point: 0, edge: [1 + (k + 1) % 3, 1 + (k + 2) % 3] },
            Part::Interior => Feature::PointTriangle,
        };
        let [alpha, beta, gamma] = found.weights;
        Closest { weights: [1.0, -alpha, -beta, -gamma], distance, normal, feature }
    })
}

/// The distance of two edges, (a0, a1, b0, b1).
///
/// Parallel edges have many closest pairs; one of them that contains an end is returned, always the
/// same for the same input. Edges of no length are their first ends.
#[must_use]
pub fn edge_edge(a: [DVec3; 2], b: [DVec3; 2]) -> Closest<4> {
    measure([a[0], a[1], b[0], b[1]], |[a0, a1, b0, b1]| {
        let d = [a0 - b0, a0 - b1, a1 - b0, a1 - b1];
        let found = on_edges(d, a1 - a0, b1 - b0);
        let (distance, normal) = match found.parts {
            [Part::Interior, _] => along_normal(found.y, found.cross, found.sine, found.size, &d),
            _ => length_and_direction(found.y),
        };
        let feature = match found.parts {
            [Part::Corner(i), Part::Corner(j)] => Feature::PointPoint([i, 2 + j]),
            [Part::Corner(i), _] => Feature::PointEdge { point: i, edge: [2, 3] },
            [_, Part::Corner(j)] => Feature::PointEdge { point: 2 + j, edge: [0, 1] },
            _ => Feature::EdgeEdge,
        };
        let (s, t) = (found.s, found.t);
        Closest { weights: [1.0 - s, s, t - 1.0, -t], distance, normal, feature }
    })
}

/// Calls the kernel on the points as they are, or scaled by a power of two where their size is out
/// of the range of the kernels.
#[inline]
fn measure<const V: usize>(x: [DVec3; V], kernel: impl Fn([DVec3; V]) -> Closest<V>) -> Closest<V> {
    let size = size(&x);
    // Zero and NaN need no scale.
    if size == 0.0 || size.is_nan() || (SHORTEST..=LONGEST).contains(&size) {
        kernel(x)
    } else {
        rarely(|| {
            // Coordinates near the end of the range would overflow in differences.
            let down = if size > 1e300 { 0.125 } else { 1.0 };
            let x = x.map(|p| p * down);
            let moved = x.map(|p| p - x[0]);
            let size = largest_coordinate(&moved);
            if size == 0.0 {
                return kernel(moved);
            }
            // Limited, so that neither the factor nor its inverse overflows.
            let exponent = (-size.log2()).clamp(-1000.0, 1000.0) as i32;
            let factor = 2f64.powi(exponent);
            let scaled = kernel(moved.map(|p| p * factor));
            Closest { distance: saturate(scaled.distance / factor / down), ..scaled }
        })
    }
}

/// The largest component of differences to the first point, or of the points where that overflows.
#[inline]
fn size<const V: usize>(x: &[DVec3; V]) -> f64 {
    let mut largest = DVec3::ZERO;
    for p in &x[1..] {
        largest = largest.max((*p - x[0]).abs());
    }
    largest.max_element()
}
