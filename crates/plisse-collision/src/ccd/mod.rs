//! Continuous collision detection: the times of contact of linear motions, never too late.

mod path;

use glam::DVec3;
use plisse_core::range::largest_coordinate;

use crate::hull::{Part, on_edge, on_edges, on_triangle};
use path::{Path, Volume};

/// Continuous collision detection for primitives whose vertices move along straight lines at
/// constant velocities.
///
/// A query takes the stencil at time 0 and at time 1 and a separation in metres. It answers
///
/// - `None`: the distance is larger than the separation throughout `[0, 1]`. This is proven.
/// - `Some(t)`: the distance is larger than the separation throughout `[0, t]`, which is proven too
///   if `t > 0`. Within [`Self::resolution`] after `t` the primitives come as close as the
///   separation, or so close that rounding hides the difference, or the budget of the search ended.
///   `t = 0` if they are so close at the start.
///
/// Contact is thus never missed and never reported too late, for every finite input and every
/// degenerate primitive. Reports without a contact are possible where primitives come within about
/// 1e-15 of their size. A negative separation counts as zero; NaN anywhere answers `Some(0.0)`.
///
/// The work is bounded: at most 256 nodes of a bisection of time. The proof is in the chapter
/// *Continuous collision detection* of the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ccd {
    /// The smallest interval of time is `2^-levels`.
    levels: u32,
}

impl Default for Ccd {
    /// A resolution of 2⁻²⁰.
    fn default() -> Self {
        Self { levels: 20 }
    }
}

impl Ccd {
    /// Bisection down to intervals of `2^-levels`, with `levels` limited to 48: beyond, the ends of
    /// intervals would not be exact in `f64`.
    ///
    /// Ten are enough to limit the step of a line search; twenty are for impulses, which need a
    /// state just before the contact.
    #[must_use]
    pub fn with_levels(levels: u32) -> Self {
        Self { levels: levels.min(48) }
    }

    /// The length of the smallest interval of time.
    #[must_use]
    pub fn resolution(&self) -> f64 {
        0.5f64.powi(self.levels as i32)
    }

    /// Two points, (p, q).
    #[must_use]
    pub fn point_point(&self, start: &[DVec3; 2], end: &[DVec3; 2], separation: f64) -> Option<f64> {
        let (start, end, separation) = in_range(start, end, separation);
        let hull = |x: &[DVec3; 2]| [x[0] - x[1]];
        Path::new([hull(&start), hull(&end)], None, separation).search(self.levels, |d| d[0])
    }

    /// A point and an edge, (p, a, b).
    #[must_use]
    pub fn point_edge(&self, start: &[DVec3; 3], end: &[DVec3; 3], separation: f64) -> Option<f64> {
        let (start, end, separation) = in_range(start, end, separation);
        let hull = |x: &[DVec3; 3]| [x[0] - x[1], x[0] - x[2]];
        let nearest = |d: &[DVec3; 2]| on_edge(*d, d[0] - d[1]).y;
        Path::new([hull(&start), hull(&end)], None, separation).search(self.levels, nearest)
    }

    /// A point and a triangle, (p, a, b, c).
    #[must_use]
    pub fn point_triangle(&self, start: &[DVec3; 4], end: &[DVec3; 4], separation: f64) -> Option<f64> {
        let (start, end, separation) = in_range(start, end, separation);
        let hull = |x: &[DVec3; 4]| [x[0] - x[1], x[0] - x[2], x[0] - x[3]];
        let edges = |x: &[DVec3; 4]| [x[0] - x[1], x[2] - x[1], x[3] - x[1]];
        let nearest = |d: &[DVec3; 3]| {
            let found = on_triangle(*d, d[0] - d[1], d[0] - d[2]);
            facing(found.y, found.cross, found.part == Part::Interior)
        };
        let volume = Volume::new([edges(&start), edges(&end)]);
        Path::new([hull(&start), hull(&end)], volume, separation).search(self.levels, nearest)
    }

    /// Two edges, (a0, a1, b0, b1).
    #[must_use]
    pub fn edge_edge(&self, start: &[DVec3; 4], end: &[DVec3; 4], separation: f64) -> Option<f64> {
        let (start, end, separation) = in_range(start, end, separation);
        let hull = |x: &[DVec3; 4]| [x[0] - x[2], x[0] - x[3], x[1] - x[2], x[1] - x[3]];
        let edges = |x: &[DVec3; 4]| [x[0] - x[2], x[1] - x[0], x[3] - x[2]];
        let nearest = |d: &[DVec3; 4]| {
            let found = on_edges(*d, d[2] - d[0], d[0] - d[1]);
            facing(found.y, found.cross, found.parts[0] == Part::Interior)
        };
        let volume = Volume::new([edges(&start), edges(&end)]);
        Path::new([hull(&start), hull(&end)], volume, separation).search(self.levels, nearest)
    }
}

/// The direction that separates best: the normal of the interior, which does not cancel as `y`
/// does. No proof depends on it.
#[inline]
fn facing(y: DVec3, cross: DVec3, interior: bool) -> DVec3 {
    if interior && cross.dot(y) != 0.0 { cross * cross.dot(y).signum() } else { y }
}

/// The query itself, or scaled by a power of two so that its largest coordinate is about one: where
/// products of three lengths would leave the range of `f64`.
///
/// Scaling up is exact. Scaling down loses at most what [`Path`] allows for underflow.
#[inline]
fn in_range<const V: usize>(
    start: &[DVec3; V],
    end: &[DVec3; V],
    separation: f64,
) -> ([DVec3; V], [DVec3; V], f64) {
    // Not f64::max, which would turn NaN into zero.
    let separation = if separation < 0.0 { 0.0 } else { separation };
    let largest = largest_coordinate(start.iter().chain(end));
    if (1e-50..=1e50).contains(&largest) || largest == 0.0 {
        return (*start, *end, separation);
    }
    // Limited, so that the factor does not overflow.
    let factor = 2f64.powi((-largest.log2()).clamp(-1020.0, 1000.0) as i32);
    (start.map(|p| p * factor), end.map(|p| p * factor), separation * factor)
}
