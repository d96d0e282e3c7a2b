//! Impulses at one contact, of vertices of any masses.

use glam::DVec3;
use plisse_core::length_and_direction;

/// What an impulse at a contact of `V` vertices acts on.
///
/// The closest points move against each other with the velocity `v_r = Σ cᵢ vᵢ`. An impulse `j`
/// along the normal `n` changes the velocities by `cᵢ j n / mᵢ`, and the velocity of approach
/// `v_n = n·v_r` by `S j` with `S = Σ cᵢ²/mᵢ`. The weights sum to zero, so that no impulse changes
/// the momentum of vertices that can move.
///
/// Velocities may be replaced by displacements everywhere: then impulses are in kg·m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact<const V: usize> {
    /// The weights `c` of the closest points, of [`Closest::weights`](crate::Closest::weights).
    pub weights: [f64; V],
    /// The unit vector from the second primitive to the first.
    pub normal: DVec3,
    /// `1/mᵢ` in 1/kg; zero for vertices whose motion is prescribed.
    pub inverse_masses: [f64; V],
}

/// An impulse that was applied, in kg·m/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impulse {
    /// Along the normal; it pushes the primitives apart.
    pub normal: f64,
    /// Against the sliding.
    pub tangential: f64,
}

impl<const V: usize> Impact<V> {
    /// `S = Σ cᵢ²/mᵢ` in 1/kg: how much an impulse changes the relative velocity. Zero if nothing
    /// that counts can move.
    #[must_use]
    pub fn compliance(&self) -> f64 {
        (0..V).map(|i| self.weights[i] * self.weights[i] * self.inverse_masses[i]).sum()
    }

    /// `v_r = Σ cᵢ vᵢ`: the velocity of the first closest point against the second.
    #[must_use]
    pub fn relative_velocity(&self, velocities: &[DVec3; V]) -> DVec3 {
        (0..V).map(|i| velocities[i] * self.weights[i]).sum()
    }

    /// Stops the approach, with Coulomb's friction of the coefficient `friction`. Primitives that
    /// move apart already are left alone, and so are those that cannot move.
    ///
    /// The kinetic energy does not grow, as long as what is prescribed rests.
    ///
    /// ```
    /// use glam::DVec3;
    /// use plisse_collision::Impact;
    ///
    /// // A grain falls on a triangle that cannot move.
    /// let impact =
    ///     Impact { weights: [1.0, -0.2, -0.3, -0.5], normal: DVec3::Z, inverse_masses: [1.0, 0.0, 0.0, 0.0] };
    /// let mut v = [DVec3::new(1.0, 0.0, -1.0), DVec3::ZERO, DVec3::ZERO, DVec3::ZERO];
    /// let impulse = impact.stop(&mut v, 0.5);
    /// assert_eq!((impulse.normal, impulse.tangential), (1.0, 0.5));
    /// assert_eq!(v[0], DVec3::new(0.5, 0.0, 0.0));
    /// ```
    pub fn stop(&self, velocities: &mut [DVec3; V], friction: f64) -> Impulse {
        self.raise(velocities, 0.0, f64::INFINITY, friction)
    }

    /// Raises the velocity along the normal to `target` (m/s), as far as an impulse of at most
    /// `limit` can, with friction in proportion. A velocity that is not below the target stays.
    ///
    /// Velocities stay as they are where the impulse is beyond the range of `f64`.
    pub fn raise(&self, velocities: &mut [DVec3; V], target: f64, limit: f64, friction: f64) -> Impulse {
        let compliance = self.compliance();
        let relative = self.relative_velocity(velocities);
        let along = relative.dot(self.normal);
        // Also false for NaN, of velocities that are out of range.
        if !(compliance > 0.0 && along < target) {
            return Impulse::default();
        }
        let normal = ((target - along) / compliance).min(limit);
        let (speed, direction) = length_and_direction(relative - self.normal * along);
        let tangential = (friction * normal).min(speed / compliance);
        let impulse = self.normal * normal - direction * tangential;
        let after: [DVec3; V] =
            std::array::from_fn(|i| velocities[i] + impulse * (self.weights[i] * self.inverse_masses[i]));
        if !(normal > 0.0 && after.iter().all(|v| v.is_finite())) {
            return Impulse::default();
        }
        *velocities = after;
        Impulse { normal, tangential }
    }
}
