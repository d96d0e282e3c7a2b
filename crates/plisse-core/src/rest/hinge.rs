//! Hinges: two triangles that share an edge, and the angle between them.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use crate::range::LENGTH;
use crate::scalar::length_and_direction;
use crate::space::{Edges, Faces, Id, Vertices};

/// An interior edge with its two wings, and what bending needs to know of the rest shape.
///
/// ```text
///            x1
///           /|\
///          / | \           faces[0] = (x0, x1, x2) with normal n0
///    x2   / f| f\   x3     faces[1] = (x1, x0, x3) with normal n1
///         \ 0| 1/
///          \ | /
///           \|/
///            x0
/// ```
///
/// Hinges come only from [`RestShape::hinges`](crate::RestShape::hinges), in this order of
/// vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge {
    pub(super) edge: Id<Edges>,
    pub(super) vertices: [Id<Vertices>; 4],
    pub(super) faces: [Id<Faces>; 2],
    pub(super) rest_length: f64,
    pub(super) rest_areas: [f64; 2],
    pub(super) reach: f64,
    pub(super) rest_angle: f64,
}

impl Hinge {
    /// The edge.
    #[must_use]
    pub fn edge(&self) -> Id<Edges> {
        self.edge
    }

    /// `x0, x1` of the edge, then the wings `x2` of the left and `x3` of the right face.
    #[must_use]
    pub fn vertices(&self) -> [Id<Vertices>; 4] {
        self.vertices
    }

    /// The left and the right face.
    #[must_use]
    pub fn faces(&self) -> [Id<Faces>; 2] {
        self.faces
    }

    /// Rest length of the edge in metres; across a seam, the mean of its two sides.
    #[must_use]
    pub fn rest_length(&self) -> f64 {
        self.rest_length
    }

    /// Rest areas of the two faces in m².
    #[must_use]
    pub fn rest_areas(&self) -> [f64; 2] {
        self.rest_areas
    }

    /// The mean height `(Σ 1/h²)^(-1/2)` in metres below which a triangle of the hinge counts as
    /// collapsing: a tenth of that at rest, of the smaller one. Energies and damping of the angle
    /// fade there.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Rest angle in radians, in the sense of [`hinge_angle`].
    #[must_use]
    pub fn rest_angle(&self) -> f64 {
        self.rest_angle
    }
}

/// Triangles with less than this part of their height at rest count as collapsing. On the scene
/// *shear-test-3-1*, whose corner collapses, parts from 0.01 to 0.25 all finish; a smaller part
/// takes more iterations (522 against 316).
pub(super) const COLLAPSE: f64 = 0.1;

/// The angle of a hinge in (-π, π]: zero when flat, positive when `x3` lies on the side that `n0`
/// points to (a valley seen from the normals).
///
/// `θ = atan2(t · (τ0 × τ1), -τ0 · τ1)` with the unit edge `t` and the unit altitudes `τ0, τ1` of
/// the wings (WK23, section 5; atan2 keeps all digits near 0 and π, where the printed arccos loses
/// half of them). Smooth through zero. A hinge without an angle (see [`HingeFrame::new`])
/// answers 0.
#[must_use]
pub fn hinge_angle(x: &[DVec3; 4]) -> f64 {
    HingeFrame::angle(x).unwrap_or(0.0)
}

/// The change from the angle `b` to the angle `a`, both in [-π, π], the shorter way round: a hinge
/// that folds through has not turned by a full circle.
#[inline(always)]
#[must_use]
pub fn angle_change(a: f64, b: f64) -> f64 {
    let d = a - b;
    if d > PI {
        d - TAU
    } else if d < -PI {
        d + TAU
    } else {
        d
    }
}

/// Angle and frame of a hinge at one state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HingeFrame {
    theta: f64,
    sin: f64,
    cos: f64,
    longest: f64,
    length: f64,
    edge: DVec3,
    heights: [f64; 2],
    altitudes: [DVec3; 2],
    normals: [DVec3; 2],
    feet: [f64; 2],
}

/// Edge or height below this part of the longest edge: no angle to speak of.
const FLATNESS: f64 = 1e-12;

impl HingeFrame {
    /// The frame, or `None` for a hinge without an angle: edge or a height below 1e-12 of the
    /// longest edge, or a longest edge outside of [`range::LENGTH`](crate::range::LENGTH).
    // Always in line, so that what is not used is not computed: a third of the time of energy and
    // gradient.
    #[inline(always)]
    #[must_use]
    pub fn new(x: &[DVec3; 4]) -> Option<Self> {
        let y = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
        let longest_square = y[0].length_squared().max(y[1].length_squared()).max(y[2].length_squared());
        let longest = longest_square.sqrt();
        let (length, t) = length_and_direction(y[0]);
        if !(LENGTH.contains(&longest) && length > FLATNESS * longest) {
            return None;
        }
        let inverse = 1.0 / length;
        let wing = |y: DVec3| {
            let along = t.dot(y);
            let z = y - t * along;
            // Once more: near the line of the edge the first subtraction leaves a component along
            // it.
            let (height, tau) = length_and_direction(z - t * t.dot(z));
            (along * inverse, height, tau)
        };
        let ((foot0, height0, tau0), (foot1, height1, tau1)) = (wing(y[1]), wing(y[2]));
        if !(height0 > FLATNESS * longest && height1 > FLATNESS * longest) {
            return None;
        }
        // Adding zero turns -0 into +0: exactly folded is +π.
        let (sin, cos) = (t.dot(tau0.cross(tau1)) + 0.0, -tau0.dot(tau1));
        Some(Self {
            theta: sin.atan2(cos),
            sin,
            cos,
            longest,
            length,
            edge: t,
            heights: [height0, height1],
            altitudes: [tau0, tau1],
            normals: [t.cross(tau0), tau1.cross(t)],
            feet: [foot0, foot1],
        })
    }

    /// The angle alone, with the same bits; `None` where there is no frame.
    #[inline(always)]
    #[must_use]
    pub fn angle(x: &[DVec3; 4]) -> Option<f64> {
        Self::new(x).map(|frame| frame.theta)
    }

    /// The angle in (-π, π], zero when flat, positive for a valley seen from the normals.
    #[inline]
    #[must_use]
    pub fn theta(&self) -> f64 {
        self.theta
    }

    /// Sine and cosine of the angle.
    #[inline]
    #[must_use]
    pub fn sin_cos(&self) -> (f64, f64) {
        (self.sin, self.cos)
    }

    /// Length of the edge, m.
    #[inline]
    #[must_use]
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Heights of the two triangles over the edge, m.
    #[inline]
    #[must_use]
    pub fn heights(&self) -> [f64; 2] {
        self.heights
    }

    /// Whether both triangles certainly have mean heights `(Σ 1/h²)^(-1/2)` of at least `height`,
    /// in m. True for zero.
    ///
    /// Triangles that have just this height may be told from higher ones only by computing it; this
    /// costs two products.
    #[inline(always)]
    #[must_use]
    pub fn is_higher_than(&self, height: f64) -> bool {
        // Twice an area over the root of the sum of three squared edges, which is at most 6
        // longest².
        const ROOT_OF_SIX: f64 = 2.449_489_742_783_178;
        let lower = if self.heights[0] < self.heights[1] { self.heights[0] } else { self.heights[1] };
        self.length * lower >= height * (ROOT_OF_SIX * self.longest)
    }

    /// Unit vector along the edge, from `x0` to `x1`.
    #[inline]
    #[must_use]
    pub fn edge(&self) -> DVec3 {
        self.edge
    }

    /// Unit altitudes of the two triangles, pointing from the edge to the wings.
    #[inline]
    #[must_use]
    pub fn altitudes(&self) -> [DVec3; 2] {
        self.altitudes
    }

    /// Unit normals of the two triangles.
    #[inline]
    #[must_use]
    pub fn normals(&self) -> [DVec3; 2] {
        self.normals
    }

    /// Feet of the altitudes along the edge: 0 at `x0`, 1 at `x1`.
    #[inline]
    #[must_use]
    pub fn feet(&self) -> [f64; 2] {
        self.feet
    }

    /// `m` and `k`: mean normal and mean tangent across the edge, without a branch at any angle.
    #[inline]
    #[must_use]
    pub fn mean_frame(&self) -> (DVec3, DVec3) {
        let (s, c) = (0.5 * self.theta).sin_cos();
        let (n, tau) = (self.normals[0], self.altitudes[0]);
        (n * c + tau * s, tau * c - n * s)
    }

    /// Derivative of the angle by the four positions, in 1/m.
    #[inline]
    #[must_use]
    pub fn gradient(&self) -> [DVec3; 4] {
        let (g2, g3) = (self.normals[0] / self.heights[0], self.normals[1] / self.heights[1]);
        let g1 = -(g2 * self.feet[0] + g3 * self.feet[1]);
        [-(g1 + g2 + g3), g1, g2, g3]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hinge(theta: f64) -> [DVec3; 4] {
        // Wing 3 starts at -y (flat) and turns towards the normal +z of face 0 for positive angles.
        let wing = DVec3::new(0.7, -theta.cos(), theta.sin()) * 0.5;
        [DVec3::ZERO, DVec3::X, DVec3::new(0.4, 0.9, 0.0), wing]
    }

    #[test]
    fn angle_is_recovered_with_sign_and_all_digits() {
        for theta in [0.0, 1e-12, -1e-12, 0.3, -0.3, 1.5, -3.0, PI - 1e-8] {
            assert!((hinge_angle(&hinge(theta)) - theta).abs() < 1e-15, "{theta}");
        }
    }

    #[test]
    fn exactly_folded_is_plus_pi() {
        let x = [DVec3::ZERO, DVec3::X, DVec3::new(0.4, 1.0, 0.0), DVec3::new(0.6, 1.0, 0.0)];
        assert_eq!(hinge_angle(&x), PI);
    }

    #[test]
    fn degenerate_hinges_have_angle_zero() {
        let [a, b, c, d] = hinge(0.5);
        assert_eq!(hinge_angle(&[a, a, c, d]), 0.0);
        assert_eq!(hinge_angle(&[a, b, (a + b) / 2.0, d]), 0.0);
        assert_eq!(hinge_angle(&[a, b, c, a]), 0.0);
        // On the line of an edge in general position the height is rounding, not zero.
        let (p, q) = (DVec3::new(0.3, 0.1, 0.2), DVec3::new(-0.5, 0.9, 0.1));
        assert_eq!(hinge_angle(&[DVec3::ZERO, p, p * 0.5, q]), 0.0);
        let far = DVec3::new(1e308, 0.0, 0.0);
        assert_eq!(hinge_angle(&[-far, far, c, d]), 0.0);
    }

    #[test]
    fn rigid_motion_and_scale_do_not_matter() {
        let rotation = glam::DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 1.1);
        for scale in [1e-6, 1.0, 1e6] {
            let moved = hinge(0.8).map(|x| (rotation * x + DVec3::new(0.3, -0.2, 0.1)) * scale);
            assert!((hinge_angle(&moved) - 0.8).abs() < 1e-14);
        }
    }
}
