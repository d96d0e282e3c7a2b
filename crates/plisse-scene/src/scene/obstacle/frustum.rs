//! Cylinders and cones with flat ends: their exact distance, and the flat sides that contact sees.

use glam::{DMat3, DVec2, DVec3};
use plisse_core::{Positive, outer};

use super::super::SceneError;
use super::distance::Distance;
use super::{DrawnSurface, finite};

/// How many flat sides stand for the round surface in contact and in pictures. Corners lie outside
/// of it and the middles of sides inside, both by `tan²(π/2n)` = 6.1e-4 of the radius.
const SIDES: u32 = 64;

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
        Ok(Self { a, b, radii })
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

    /// How far the flat sides reach out of the round surface at most, m.
    pub(super) fn bulge(&self) -> f64 {
        (corner_factor() - 1.0) * self.radii[0].max(self.radii[1])
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

    /// The triangles that stand for it in contact: a closed surface, seen from outside.
    pub(super) fn surface(&self) -> DrawnSurface {
        let Facets { corners, sides, ends } = self.facets();
        (corners, sides.into_iter().flatten().chain(ends.into_iter().flatten()).collect())
    }

    /// The same triangles with vertices of their own at the rims and at a tip, so that shading does
    /// not smooth these.
    pub(super) fn drawn(&self) -> DrawnSurface {
        let Facets { corners, sides, ends } = self.facets();
        let (mut x, mut faces) = (Vec::new(), Vec::new());
        for group in [sides.into_iter().flatten().collect(), ends[0].clone(), ends[1].clone()] {
            // The first two corners are the middles of the ends; a side that has one of them ends
            // in a tip there, whose normal is that of this side alone.
            let mut copies = vec![None; corners.len()];
            for face in group {
                faces.push(face.map(|v: u32| {
                    let index = v as usize;
                    let copy = copies[index].filter(|_| v > 1).unwrap_or_else(|| {
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

    fn facets(&self) -> Facets {
        let axis = self.b - self.a;
        let length = axis.length();
        let up = axis / length;
        let u = up.any_orthonormal_vector();
        let v = up.cross(u);
        let size = length.max(self.radii[0]).max(self.radii[1]);
        let mut corners = vec![self.a, self.b];
        // The first corner around each end; none for a tip.
        let mut ring = |end: DVec3, radius: f64| {
            (radius > SMALLEST_END * size).then(|| {
                let first = corners.len() as u32;
                corners.extend((0..SIDES).map(|i| {
                    let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / f64::from(SIDES)).sin_cos();
                    end + (u * cos + v * sin) * (corner_factor() * radius)
                }));
                first
            })
        };
        let rings = [ring(self.a, self.radii[0]), ring(self.b, self.radii[1])];
        let at = |end: usize, i: u32| rings[end].map_or(end as u32, |first| first + i % SIDES);
        let side = |i: u32| {
            let [a, next_a, b, next_b] = [at(0, i), at(0, i + 1), at(1, i), at(1, i + 1)];
            let triangles = [[a, next_a, next_b], [a, next_b, b]];
            triangles.into_iter().filter(|[a, b, c]| a != b && b != c && c != a).collect()
        };
        let fan = |end: usize| -> Vec<[u32; 3]> {
            let count = rings[end].map_or(0, |_| SIDES);
            let spoke = |i| if end == 0 { [0, at(0, i + 1), at(0, i)] } else { [1, at(1, i), at(1, i + 1)] };
            (0..count).map(spoke).collect()
        };
        Facets { sides: (0..SIDES).map(side).collect(), ends: [fan(0), fan(1)], corners }
    }
}

/// Triangles of a frustum.
struct Facets {
    /// The middles of the ends, then what is around them.
    corners: Vec<DVec3>,
    /// Of each side, one or two.
    sides: Vec<Vec<[u32; 3]>>,
    ends: [Vec<[u32; 3]>; 2],
}

/// What the radius is multiplied by for the corners of a polygon whose sides reach as far inside of
/// the circle as its corners reach outside.
fn corner_factor() -> f64 {
    2.0 / (1.0 + (std::f64::consts::PI / f64::from(SIDES)).cos())
}
