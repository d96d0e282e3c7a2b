//! Pairs that can touch, and how long a list of them stays complete.

use glam::DVec3;
use plisse_core::{Edges, Faces, Field, Id, Vertices, length_and_direction};

/// Pairs that can touch, each list ascending. No pair has a vertex in common.
///
/// Together they cover every way in which two parts come closest:
///
/// | | point | line | surface |
/// |---|---|---|---|
/// | point | vertex-vertex | vertex-edge | vertex-face |
/// | line | | edge-edge, vertex-edge both ways | edge-edge, its vertices on faces, vertices of faces on its edges |
/// | surface | | | edge-edge, vertex-face both ways |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// A vertex of anything and a face.
    pub vertex_faces: Vec<(Id<Vertices>, Id<Faces>)>,
    /// Two edges of surfaces or lines, the smaller number first.
    pub edge_edges: Vec<(Id<Edges>, Id<Edges>)>,
    /// A vertex of anything and an edge of a line.
    pub vertex_edges: Vec<(Id<Vertices>, Id<Edges>)>,
    /// Two vertices that have no edge, the smaller number first.
    pub vertex_vertices: Vec<(Id<Vertices>, Id<Vertices>)>,
}

impl Pairs {
    /// How many pairs of all kinds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vertex_faces.len() + self.edge_edges.len() + self.vertex_edges.len() + self.vertex_vertices.len()
    }

    /// Whether there is no pair of any kind.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Pairs around some positions, complete while no vertex has moved farther than a radius.
///
/// A pair that is missing here was farther apart than the gap and twice the radius when the list
/// was made. While both its parts stay within the radius of where they were, it is farther apart
/// than the gap. Points within a radius form a ball, which is convex: straight steps between
/// positions that are covered are covered on the way, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    pairs: Pairs,
    /// The vertices that take part and where they were.
    start: Vec<(Id<Vertices>, DVec3)>,
    radius: f64,
    limit: f64,
}

/// The radius with room for rounding, for positions of this size.
///
/// A step that is cut to end exactly at the radius ends within half a unit in the last place of
/// each coordinate of it, and its length is known to a few units in its own last place. Without the
/// room, such a step would pass for too long.
pub(crate) fn limit(radius: f64, largest: f64) -> f64 {
    radius * (1.0 + 16.0 * f64::EPSILON) + 4.0 * f64::EPSILON * largest
}

impl Candidates {
    pub(crate) fn new(pairs: Pairs, start: Vec<(Id<Vertices>, DVec3)>, radius: f64, limit: f64) -> Self {
        Self { pairs, start, radius, limit }
    }

    /// The pairs.
    #[must_use]
    pub fn pairs(&self) -> &Pairs {
        &self.pairs
    }

    /// How far every vertex may move, in metres.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// How far the vertex that has moved farthest is from where it was, in metres. Infinite if a
    /// position is not finite.
    ///
    /// A new list is worth its time when this passes half the radius: steps would be cut soon.
    ///
    /// # Panics
    /// If there are fewer positions than vertices.
    #[must_use]
    pub fn largest_displacement(&self, x: &Field<Vertices, DVec3>) -> f64 {
        self.start.iter().fold(0.0, |largest, (vertex, start)| largest.max(distance(x[*vertex], *start)))
    }

    /// Whether the list is complete for these positions: no vertex has moved farther than the
    /// radius.
    ///
    /// # Panics
    /// If there are fewer positions than vertices.
    #[must_use]
    pub fn cover(&self, x: &Field<Vertices, DVec3>) -> bool {
        self.largest_displacement(x) <= self.limit
    }

    /// The largest share in [0, 1] of this step that the list covers: `cover(x + share step)`
    /// holds. Zero if `x` itself is not covered or the step is not finite.
    ///
    /// # Panics
    /// If there are fewer positions or steps than vertices.
    #[must_use]
    pub fn longest_step(&self, x: &Field<Vertices, DVec3>, step: &Field<Vertices, DVec3>) -> f64 {
        self.start.iter().fold(1.0, |share: f64, (vertex, start)| {
            // Most vertices move less than the radius, and need no more than this.
            if distance(x[*vertex] + step[*vertex], *start) <= self.radius {
                share
            } else {
                share.min(share_within(x[*vertex] - *start, step[*vertex], self.radius))
            }
        })
    }
}

/// `|x - y|`, infinite if it is no number.
fn distance(x: DVec3, y: DVec3) -> f64 {
    let difference = x - y;
    if difference.is_finite() { length_and_direction(difference).0 } else { f64::INFINITY }
}

/// The `t ≥ 0` with `|u + t p| = r`, or zero if `|u| ≥ r`: the larger root of
/// `|p|² t² + 2 u·p t - (r² - |u|²) = 0`, all lengths in units of `r`.
fn share_within(u: DVec3, p: DVec3, r: f64) -> f64 {
    let (u, p) = (u / r, p / r);
    let (length, direction) = length_and_direction(p);
    let (along, room) = (u.dot(direction), 1.0 - u.length_squared());
    if !(p.is_finite() && room > 0.0 && length > 0.0) {
        return 0.0;
    }
    let root = (along * along + room).sqrt();
    // The form of the root that does not cancel.
    let t = if along > 0.0 { room / (root + along) } else { root - along };
    (t / length).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_core::SplitMix;

    fn around(start: DVec3, radius: f64) -> Candidates {
        let limit = limit(radius, start.abs().max_element());
        Candidates::new(Pairs::default(), vec![(Id::new(0), start)], radius, limit)
    }

    #[test]
    fn the_longest_step_ends_at_the_radius_and_is_covered() {
        let mut random = SplitMix::new(3);
        let mut vector = || DVec3::new(random.signed(), random.signed(), random.signed());
        for scale in [1e-200, 1e-6, 1.0, 1e150] {
            for far in [0.0, 1.0, 1e6] {
                for _ in 0..200 {
                    let start = vector() * far * scale;
                    let candidates = around(start, scale);
                    let x = Field::from_vec(vec![start + vector() * (0.5 * scale)]);
                    let step = Field::from_vec(vec![vector() * (4.0 * scale)]);
                    let share = candidates.longest_step(&x, &step);
                    let end =
                        |share: f64| Field::from_vec(vec![x.as_slice()[0] + step.as_slice()[0] * share]);
                    assert!((0.0..=1.0).contains(&share));
                    assert!(candidates.cover(&end(share)), "{share} {x:?} {step:?}");
                    assert!(share == 1.0 || !candidates.cover(&end(share + 1e-3)));
                }
            }
        }
    }

    #[test]
    fn what_is_no_number_is_not_covered() {
        let candidates = around(DVec3::ZERO, 1.0);
        let field = |x: f64| Field::from_vec(vec![DVec3::new(x, 0.0, 0.0)]);
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(!candidates.cover(&field(bad)));
            assert_eq!(candidates.longest_step(&field(0.0), &field(bad)), 0.0);
        }
        assert_eq!(candidates.longest_step(&field(2.0), &field(1.0)), 0.0);
        assert_eq!(candidates.longest_step(&field(0.5), &field(0.25)), 1.0);
        // A radius of zero covers the start and nothing else.
        assert!(around(DVec3::ZERO, 0.0).cover(&field(0.0)));
        assert_eq!(around(DVec3::ZERO, 0.0).longest_step(&field(0.0), &field(1.0)), 0.0);
    }
}
