//! The contract of energies of a hinge's angle.

use crate::space::{Id, Vertices};

/// An energy of the angle of a hinge, as a function of the angle alone. What shares the geometry of the hinge with it (damping, for
/// example) can then evaluate both at once.
///
/// Angles in radians, in the sense of [`hinge_angle`](crate::hinge_angle). Values and derivatives must be finite, and small enough that
/// inverse squares of lengths do not overflow them.
pub trait HingeSpring: Send + Sync {
    /// The four vertices, in the order of [`Hinge`](crate::Hinge).
    fn hinge(&self) -> [Id<Vertices>; 4];

    /// The energy at an angle, in joules.
    fn energy_at(&self, theta: f64) -> f64;

    /// Its derivative by the angle, N m.
    fn moment_at(&self, theta: f64) -> f64;

    /// Its second derivative by the angle, N m.
    fn stiffness_at(&self, theta: f64) -> f64;

    /// The height in metres below which a triangle counts as collapsing, so that energy and damping of the angle fade;
    /// zero for springs that never fade.
    #[inline(always)]
    fn reach(&self) -> f64 {
        0.0
    }

    /// The energy of a hinge that has no angle, in joules: what fading leads to.
    #[inline(always)]
    fn collapsed_energy(&self) -> f64 {
        0.0
    }
}
