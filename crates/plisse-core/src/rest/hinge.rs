//! Hinges: two triangles that share an edge, and the angle between them.

use glam::DVec3;

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
/// Hinges come only from [`RestShape::hinges`](crate::RestShape::hinges), in this order of vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge {
    pub(super) edge: Id<Edges>,
    pub(super) vertices: [Id<Vertices>; 4],
    pub(super) faces: [Id<Faces>; 2],
    pub(super) rest_length: f64,
    pub(super) rest_areas: [f64; 2],
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

    /// Rest angle in radians, in the sense of [`hinge_angle`].
    #[must_use]
    pub fn rest_angle(&self) -> f64 {
        self.rest_angle
    }
}

/// The angle of a hinge in (-π, π]: zero when flat, positive when `x3` lies on the side that `n0` points to (a
/// valley seen from the normals).
///
/// `θ = atan2(t · (τ0 × τ1), -τ0 · τ1)` with the unit edge `t` and the unit altitudes `τ0, τ1` of the wings
/// (WK23, section 5; atan2 keeps all digits near 0 and π, where the printed arccos loses half of them). Smooth
/// through zero. A hinge without edge or with a wing on the line of the edge has no angle; the answer is 0.
#[must_use]
pub fn hinge_angle(x: &[DVec3; 4]) -> f64 {
    let [x0, x1, x2, x3] = *x;
    let (length, t) = length_and_direction(x1 - x0);
    let altitude = |wing: DVec3| {
        let y = wing - x0;
        let z = y - t * t.dot(y);
        // Once more: near the line of the edge the first subtraction leaves a component along it.
        length_and_direction(z - t * t.dot(z))
    };
    let ((height0, tau0), (height1, tau1)) = (altitude(x2), altitude(x3));
    if length == 0.0 || height0 == 0.0 || height1 == 0.0 {
        return 0.0;
    }
    // Adding zero turns -0 into +0: a hinge folded onto itself is at +π, whatever the sign of a zero.
    (t.dot(tau0.cross(tau1)) + 0.0).atan2(-tau0.dot(tau1))
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
        for theta in [0.0, 1e-12, -1e-12, 0.3, -0.3, 1.5, -3.0, std::f64::consts::PI - 1e-8] {
            assert!((hinge_angle(&hinge(theta)) - theta).abs() < 1e-15, "{theta}");
        }
    }

    #[test]
    fn exactly_folded_is_plus_pi() {
        let x = [DVec3::ZERO, DVec3::X, DVec3::new(0.4, 1.0, 0.0), DVec3::new(0.6, 1.0, 0.0)];
        assert_eq!(hinge_angle(&x), std::f64::consts::PI);
    }

    #[test]
    fn degenerate_hinges_have_angle_zero() {
        let [a, b, c, d] = hinge(0.5);
        assert_eq!(hinge_angle(&[a, a, c, d]), 0.0);
        assert_eq!(hinge_angle(&[a, b, (a + b) / 2.0, d]), 0.0);
        assert_eq!(hinge_angle(&[a, b, c, a]), 0.0);
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
