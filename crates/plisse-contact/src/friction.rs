//! Smoothed Coulomb friction of a contact whose normal force is known.

use glam::{DMat3, DVec3};
use plisse_core::{Positive, outer};

use crate::stencil::Kind;

/// Smoothed Coulomb friction, per unit of its limit: the force rises to one within the slip speed
/// `s`, as `2y - y²` with `y = |u|/s`, and stays there. Its potential is convex, with a continuous
/// first derivative.
///
/// ```
/// use plisse_contact::Coulomb;
/// use plisse_core::Positive;
/// let friction = Coulomb { slip: Positive::literal(1e-3) };
/// let [_, slope, _] = friction.evaluate(0.5e-3);
/// assert!((0.5e-3 * slope - 0.75).abs() < 1e-15);
/// let [_, slope, curvature] = friction.evaluate(2.0);
/// assert_eq!((2.0 * slope, curvature), (1.0, 0.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coulomb {
    /// Speed below which friction holds, m/s. What should stick creeps at most this fast.
    pub slip: Positive,
}

impl Coulomb {
    /// `f` in m/s, `f'/|u|` in s/m and `f''` in s/m of a speed in m/s.
    #[inline]
    #[must_use]
    pub fn evaluate(&self, speed: f64) -> [f64; 3] {
        let s = self.slip.get();
        let y = speed / s;
        if y >= 1.0 {
            [speed - s / 3.0, 1.0 / speed, 0.0]
        } else {
            [s * y * y * (1.0 - y / 3.0), (2.0 - y) / s, 2.0 * (1.0 - y) / s]
        }
    }

    /// The second derivative by a velocity along the surface with this normal: `f'/|u|` across it
    /// and `f''` along it. Never indefinite.
    #[inline]
    #[must_use]
    pub fn hessian(&self, velocity: DVec3, normal: DVec3) -> DMat3 {
        let [_, across, along] = self.evaluate(velocity.length());
        let tangent = DMat3::IDENTITY - outer(normal, normal);
        let direction = velocity.normalize_or_zero();
        tangent * across + outer(direction * (along - across), direction)
    }
}

/// A contact that rubs, as it was when its normal force was known last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rubbing {
    pub(crate) kind: Kind,
    /// The numbers of the two parts.
    pub(crate) parts: [u32; 2],
    pub(crate) vertices: [u32; 4],
    pub(crate) weights: [f64; 4],
    pub(crate) normal: DVec3,
    /// Coefficient of friction times normal force, N.
    pub(crate) limit: f64,
    pub(crate) law: Coulomb,
}

impl Rubbing {
    pub(crate) fn key(&self) -> (Kind, [u32; 2]) {
        (self.kind, self.parts)
    }

    /// The part of a relative velocity along the surfaces.
    #[inline]
    pub(crate) fn tangential(&self, velocity: DVec3) -> DVec3 {
        velocity - self.normal * self.normal.dot(velocity)
    }
}
