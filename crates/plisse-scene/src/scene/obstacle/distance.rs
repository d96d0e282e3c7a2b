//! Signed distances to simple shapes, with their derivatives.

use glam::{DMat3, DVec3};
use plisse_core::outer;

/// A signed distance and its derivatives at a point. Negative inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Metres.
    pub value: f64,
    /// The direction in which it grows: a unit vector.
    pub gradient: DVec3,
    /// Second derivative, 1/m. Semidefinite: positive around a convex feature, negative inside one.
    pub hessian: DMat3,
}

impl Distance {
    /// A distance in metres with its direction, a unit vector. The curvature of the surface, which
    /// is left out, only speeds up the solver.
    #[must_use]
    pub fn without_curvature(value: f64, gradient: DVec3) -> Self {
        Self::flat(value, gradient)
    }

    /// The distance to a flat piece.
    fn flat(value: f64, gradient: DVec3) -> Self {
        Self { value, gradient, hessian: DMat3::ZERO }
    }

    /// The distance from a point, line or corner at `offset`, less `radius`. Directions in `free`
    /// curve; at the feature itself, where no direction is known, it is `fallback`.
    pub(super) fn round(offset: DVec3, free: DMat3, radius: f64, fallback: DVec3) -> Self {
        let length = offset.length();
        if length < 1e-12 {
            return Self::flat(length - radius, fallback);
        }
        let n = offset / length;
        let hessian = (free - outer(n, n)) * (1.0 / length);
        Self { value: length - radius, gradient: n, hessian }
    }

    /// The same for a point inside, where the distance is negative.
    pub(super) fn inside(self) -> Self {
        Self { value: -self.value, gradient: -self.gradient, hessian: -self.hessian }
    }
}

/// Distance to the half space `normal · (x - point) < 0`; the normal has unit length.
pub(super) fn plane(x: DVec3, point: DVec3, normal: DVec3) -> Distance {
    Distance::flat(normal.dot(x - point), normal)
}

/// Distance to a ball.
pub(super) fn sphere(x: DVec3, centre: DVec3, radius: f64) -> Distance {
    Distance::round(x - centre, DMat3::IDENTITY, radius, DVec3::Z)
}

/// Distance to a segment with thickness.
pub(super) fn capsule(x: DVec3, a: DVec3, b: DVec3, radius: f64) -> Distance {
    let axis = b - a;
    let length = axis.length();
    if length < 1e-12 {
        return sphere(x, a, radius);
    }
    let e = axis / length;
    let along = e.dot(x - a);
    if along <= 0.0 {
        sphere(x, a, radius)
    } else if along >= length {
        sphere(x, b, radius)
    } else {
        Distance::round(x - a - e * along, DMat3::IDENTITY - outer(e, e), radius, e.any_orthonormal_vector())
    }
}

/// Distance to a box about the origin with these half sides.
pub(super) fn cuboid(x: DVec3, half: DVec3) -> Distance {
    let beyond = x.abs() - half;
    // The nearest face; of two at the same distance the first.
    let axis = if beyond.x >= beyond.y && beyond.x >= beyond.z {
        DVec3::X
    } else if beyond.y >= beyond.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    let sign = DVec3::new(1f64.copysign(x.x), 1f64.copysign(x.y), 1f64.copysign(x.z));
    if beyond.max_element() <= 0.0 {
        return Distance::flat(beyond.max_element(), axis * sign);
    }
    let outside = beyond.max(DVec3::ZERO);
    let free = DVec3::select(beyond.cmpgt(DVec3::ZERO), DVec3::ONE, DVec3::ZERO);
    Distance::round(outside * sign, DMat3::from_diagonal(free), 0.0, axis * sign)
}
