//! Smoothed Coulomb friction of a contact whose normal force is known.

use glam::{DMat3, DVec3};
use plisse_core::outer;

/// A contact that rubs, as it was when its normal force was known last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rubbing {
    pub(crate) vertices: [u32; 4],
    pub(crate) weights: [f64; 4],
    pub(crate) normal: DVec3,
    /// Coefficient of friction times normal force, N.
    pub(crate) limit: f64,
    /// Speed below which friction holds, m/s.
    pub(crate) slip: f64,
}

impl Rubbing {
    /// The part of a relative velocity along the surfaces.
    #[inline]
    pub(crate) fn tangential(&self, velocity: DVec3) -> DVec3 {
        velocity - self.normal * self.normal.dot(velocity)
    }

    /// `f`, `f'/|u|` and `f''` of a speed: the force rises to its limit within the slip speed, as
    /// `2y - y²`, and stays there.
    #[inline]
    pub(crate) fn law(&self, speed: f64) -> [f64; 3] {
        let s = self.slip;
        let y = speed / s;
        if y >= 1.0 {
            [speed - s / 3.0, 1.0 / speed, 0.0]
        } else {
            [s * y * y * (1.0 - y / 3.0), (2.0 - y) / s, 2.0 * (1.0 - y) / s]
        }
    }

    /// The second derivative by the relative velocity, per unit of the limit: `f'/|u|` across it
    /// and `f''` along it. Never indefinite.
    #[inline]
    pub(crate) fn curvature(&self, slip: DVec3) -> DMat3 {
        let [_, across, along] = self.law(slip.length());
        let tangent = DMat3::IDENTITY - outer(self.normal, self.normal);
        let direction = slip.normalize_or_zero();
        tangent * across + outer(direction * (along - across), direction)
    }
}
