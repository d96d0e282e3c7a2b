//! What the elements of yarns have in common: positions and arc lengths as one list of numbers.

use glam::DVec3;
use plisse_core::{Id, Psd, StepEnergy, Vertices};

/// An arc length at a node of a yarn: how much material, in metres, lies before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArcLength {
    /// An unknown, by its place among the own unknowns of the model.
    Free(u32),
    /// Fixed: the end of a yarn, or a node that only one yarn passes, in metres.
    Held(f64),
}

/// An energy over `V` nodes and `O` arc lengths, with `N = 3 V + O` numbers: the coordinates of the
/// nodes, then the arc lengths.
///
/// The gradient is the negative of a force; inside a time step it has the damping of that step,
/// whose potential is a part of [`StepEnergy::potential`]. Evaluation never fails and never
/// allocates. Outside of its domain (arc lengths that do not increase) an energy is infinite and
/// its derivatives are zero; [`YarnElement::longest_step`] keeps solvers inside.
pub trait YarnElement<const V: usize, const O: usize, const N: usize>: Send + Sync {
    /// What stays the same during a step.
    type Start: Send + Sync + 'static;

    /// The nodes, in the order of the coordinates.
    fn nodes(&self) -> [Id<Vertices>; V];

    /// The arc lengths, in their order.
    fn arcs(&self) -> [ArcLength; O];

    /// What a step of `dt` seconds from `q` with the velocities `rates` needs to know of its start.
    fn start(&self, q: &[f64; N], rates: &[f64; N], dt: f64) -> Self::Start;

    /// Energies of a step, or outside of one what is stored, and the derivative of the potential.
    fn gradient(&self, q: &[f64; N], start: Option<&Self::Start>) -> (StepEnergy, [f64; N]);

    /// Second derivative of the potential, exact or made positive semidefinite.
    fn hessian(&self, q: &[f64; N], start: Option<&Self::Start>, psd: Psd) -> [[f64; N]; N];

    /// Energies alone, with the bits of [`Self::gradient`].
    fn energies(&self, q: &[f64; N], start: Option<&Self::Start>) -> StepEnergy {
        self.gradient(q, start).0
    }

    /// Kinetic energy beyond that of the masses of nodes, J.
    fn kinetic(&self, q: &[f64; N], rates: &[f64; N]) -> f64 {
        _ = (q, rates);
        0.0
    }

    /// The largest multiple of the way from `q` to `to` that a solver may take.
    fn longest_step(&self, q: &[f64; N], to: &[f64; N]) -> f64 {
        _ = (q, to);
        f64::INFINITY
    }
}

/// Coordinates `3 i..3 i + 3` of a list of numbers.
#[inline]
pub(crate) fn vector<const N: usize>(q: &[f64; N], i: usize) -> DVec3 {
    DVec3::new(q[3 * i], q[3 * i + 1], q[3 * i + 2])
}

/// Writes coordinates `3 i..3 i + 3`.
#[inline]
pub(crate) fn put<const N: usize>(q: &mut [f64; N], i: usize, v: DVec3) {
    q[3 * i..3 * i + 3].copy_from_slice(&v.to_array());
}
