//! Cylinders and cones with flat ends: their exact distance, and the flat sides that contact sees.

use glam::{DMat3, DVec2, DVec3};
use plisse_core::{Positive, outer};

use super::super::SceneError;
use super::distance::Distance;
use super::{DrawnSurface, finite};

/// How many flat sides pictures have at least, and contact where no range is known.
const SIDES: u32 = 64;
/// The fewest and the most that contact has.
const FEWEST: u32 = 16;
const MOST: u32 = 4096;
/// Of the range of contact, how far the flat sides may reach out of the round surface.
const BULGE: f64 = 0.01;

/// An end that is smaller than this part of the size is a tip: corners of its own would not be
/// resolved.
const SMALLEST_END: f64 = 1e-9;

/// Distances from the axis or a rim below which no direction is known, m.
const NO_DIRECTION: f64 = 1e-12;

/// Everything between two discs with a common axis; one of them may be a point.
///
/// ```text
///       rb        In a half plane through the axis, with the distance ρ from it across and the
///     b ──╲       height h along it, the shape is a convex polygon: two ends and a slanted side,
///     │    ╲      whose normal is (length, ra - rb)/slant. The closest point of the shape lies in
///     a ────╲     the half plane of the point.
///        ra
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) struct Frustum {
    a: DVec3,
    b: DVec3,
    /// At `a` and at `b`, m.
    radii: [f64; 2],
    /// Flat sides that contact sees, three or four times a power of two.
    sides: u32,
}

impl Frustum {
    /// Checks the ends and the radii; `shape` is its name in messages.
    pub(super) fn new(shape: &'static str, a: DVec3, b: DVec3, radii: [f64; 2]) -> Result<Self, SceneError> {
        finite("an end of the axis of an obstacle", a)?;
        finite("an end of the axis of an obstacle", b)?;
        let wrong = |what, value, expected| Err(SceneError::RoundObstacle { shape, what, value, expected });
        let length = a.distance(b);
        if Positive::new(length).is_err() {
            return wrong("the length of the axis", length, "the ends must lie apart, by at most 1e60 m");
        }
        let is_radius = |r: &f64| *r == 0.0 || Positive::new(*r).is_ok();
        if let Some(radius) = radii.iter().find(|r| !is_radius(r)) {
            return wrong("a radius", *radius, "give zero or a positive number up to 1e60 m");
        }
        if radii.iter().all(|r| *r == 0.0) {
            return wrong("each radius", 0.0, "one of them must be positive");
        }
        Ok(Self { a, b, radii, sides: SIDES })
    }

    pub(super) fn map(self, place: impl Fn(DVec3) -> DVec3) -> Self {
        Self { a: place(self.a), b: place(self.b), ..self }
    }

    /// Grown or shrunk about the origin.
    pub(super) fn scaled(self, factor: f64) -> Result<Self, SceneError> {
        let radii = self.radii.map(|radius| radius * factor);
        Self::new("cylinder or cone", self.a * factor, self.b * factor, radii)
    }

    /// The middle of the axis.
    pub(super) fn centre(&self) -> DVec3 {
        self.a.midpoint(self.b)
    }

    /// With as many flat sides as keep them within [`BULGE`] of a range of contact, m, around the
    /// round surface. Beyond [`MOST`] sides, with a radius of 30,000 ranges, they reach farther.
    pub(super) fn resolving(self, range: f64) -> Self {
        // Powers of two and, in between, three times such: every second corner can be cut off.
        let mut numbers = (0..).flat_map(|k| [FEWEST << k, (FEWEST + FEWEST / 2) << k]);
        let is_enough = |sides: &u32| *sides >= MOST || bulge(&self.radii, *sides) <= BULGE * range;
        Self { sides: numbers.find(is_enough).unwrap_or(MOST), ..self }
    }

    /// How far the flat sides reach out of the round surface at most, m.
    pub(super) fn bulge(&self) -> f64 {
        bulge(&self.radii, self.sides)
    }

    /// Exact, inside and outside. Around the axis the distance `d(ρ, h)` curves by `∂d/∂ρ/ρ`; in
    /// the half plane it curves only around the corners, by the reciprocal of the distance.
    pub(super) fn distance(&self, x: DVec3) -> Distance {
        let axis = self.b - self.a;
        let length = axis.length();
        let up = axis / length;
        let [ra, rb] = self.radii;
        let h = up.dot(x - self.a);
        let across = x - self.a - up * h;
        let rho = across.length();
        let out = if rho < NO_DIRECTION { up.any_orthonormal_vector() } else { across / rho };
        let around = |slope: f64| {
            let turn = up.cross(out);
            if rho < NO_DIRECTION { DMat3::ZERO } else { outer(turn * (slope / rho), turn) }
        };
        let place = |v: DVec2| out * v.x + up * v.y;

        let slant = length.hypot(rb - ra);
        let normal = DVec2::new(length, ra - rb) / slant;
        let from_a = DVec2::new(rho - ra, h);
        let from_b = DVec2::new(rho - rb, h - length);
        let height = normal.dot(from_a);
        let on_side = Distance { value: height, gradient: place(normal), hessian: around(normal.x) };
        let on_a = Distance::without_curvature(-h, -up);
        let on_b = Distance::without_curvature(h - length, up);

        if h >= 0.0 && h <= length && height <= 0.0 {
            // Inside of a convex shape the nearest of its faces counts.
            let ends = if on_a.value >= on_b.value { on_a } else { on_b };
            return if on_side.value >= ends.value { on_side } else { ends };
        }
        if h < 0.0 && rho < ra {
            return on_a;
        }
        if h > length && rho < rb {
            return on_b;
        }
        let along = normal.perp().dot(from_a);
        if (0.0..=slant).contains(&along) {
            return on_side;
        }
        let is_a = from_a.length_squared() <= from_b.length_squared();
        let (corner, radius, tip) = if is_a { (from_a, ra, self.a) } else { (from_b, rb, self.b) };
        let fallback = place(normal);
        if radius == 0.0 {
            return Distance::round(x - tip, DMat3::IDENTITY, 0.0, fallback);
        }
        let value = corner.length();
        if value < NO_DIRECTION {
            return Distance::without_curvature(value, fallback);
        }
        let n = corner / value;
        let across_n = place(n.perp());
        let hessian = outer(across_n * (1.0 / value), across_n) + around(n.x);
        Distance { value, gradient: place(n), hessian }
    }

    /// The triangles that stand for it in contact: a closed surface around it, seen from outside.
    /// Its flat sides touch the round surface along their middles, and nothing of it is inside.
    pub(super) fn surface(&self) -> DrawnSurface {
        let Facets { corners, sides, ends } = self.facets(self.sides);
        (corners, sides.into_iter().flatten().chain(ends.into_iter().flatten()).collect())
    }

    /// Such triangles with vertices of their own at the rims and at a tip, so that shading does not
    /// smooth these; at least 64 sides.
    pub(super) fn drawn(&self) -> DrawnSurface {
        let Facets { corners, sides, ends } = self.facets(self.sides.max(SIDES));
        let (mut x, mut faces) = (Vec::new(), Vec::new());
        for group in [sides.into_iter().flatten().collect(), ends[0].clone(), ends[1].clone()] {
            // At a tip every side has a normal of its own.
            let mut copies = vec![None; corners.len()];
            for face in group {
                faces.push(face.map(|v: u32| {
                    let index = v as usize;
                    let copy = copies[index].filter(|_| !self.is_tip(index, &corners)).unwrap_or_else(|| {
                        x.push(corners[index]);
                        x.len() as u32 - 1
                    });
                    copies[index] = Some(copy);
                    copy
                }));
            }
        }
        (x, faces)
    }

    fn is_tip(&self, corner: usize, corners: &[DVec3]) -> bool {
        corners[corner] == self.a || corners[corner] == self.b
    }

    fn facets(&self, count: u32) -> Facets {
        let axis = self.b - self.a;
        let length = axis.length();
        let up = axis / length;
        let u = up.any_orthonormal_vector();
        let v = up.cross(u);
        let size = length.max(self.radii[0]).max(self.radii[1]);
        let mut corners = Vec::new();
        // The first corner around each end, and how many.
        let mut ring = |end: DVec3, radius: f64| {
            let first = corners.len() as u32;
            if radius <= SMALLEST_END * size {
                corners.push(end);
                return (first, 1);
            }
            corners.extend((0..count).map(|i| {
                let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / f64::from(count)).sin_cos();
                end + (u * cos + v * sin) * (corner_factor(count) * radius)
            }));
            (first, count)
        };
        let rings = [ring(self.a, self.radii[0]), ring(self.b, self.radii[1])];
        let at = |end: usize, i: u32| rings[end].0 + i % rings[end].1;
        let side = |i: u32| {
            let [a, next_a, b, next_b] = [at(0, i), at(0, i + 1), at(1, i), at(1, i + 1)];
            let triangles = [[a, next_a, next_b], [a, next_b, b]];
            triangles.into_iter().filter(|[a, b, c]| a != b && b != c && c != a).collect()
        };
        // Every second corner is cut off, until none is left: a line across the end meets few
        // edges, where all spokes of a wheel would meet in its middle.
        let end = |end: usize| -> Vec<[u32; 3]> {
            let mut triangles = Vec::new();
            let mut step = 1;
            // What is left has three corners, or four: of these, both halves.
            while rings[end].1 > 1 && 3 * step <= count {
                let last = count - 2 * step;
                for i in (0..=last).step_by(2 * step as usize) {
                    let [a, b, c] = [0, step, 2 * step].map(|k| at(end, i + k));
                    triangles.push(if end == 0 { [a, c, b] } else { [a, b, c] });
                }
                step *= 2;
            }
            triangles
        };
        Facets { sides: (0..count).map(side).collect(), ends: [end(0), end(1)], corners }
    }
}

/// Triangles of a frustum.
struct Facets {
    /// Around both ends, or a tip.
    corners: Vec<DVec3>,
    /// Of each side, one or two.
    sides: Vec<Vec<[u32; 3]>>,
    ends: [Vec<[u32; 3]>; 2],
}

/// What the radius is multiplied by for the corners of a polygon around the circle.
fn corner_factor(sides: u32) -> f64 {
    1.0 / (std::f64::consts::PI / f64::from(sides)).cos()
}

/// How far the corners reach out, m: `2 sin²(x/2)/cos x` of the radius with `x = π/n`.
fn bulge(radii: &[f64; 2], sides: u32) -> f64 {
    let angle = std::f64::consts::PI / f64::from(sides);
    let half = (0.5 * angle).sin();
    2.0 * half * half * corner_factor(sides) * radii[0].max(radii[1])
}
