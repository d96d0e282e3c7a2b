//! Elements with unknowns beside the positions of nodes.

use glam::DVec3;

use crate::blocks::Blocks;
use crate::psd::Psd;
use crate::space::{Id, Space};

/// Second derivatives of an element with `V` nodes and `O` unknowns of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixedBlocks<const V: usize, const O: usize> {
    /// By two positions, N/m.
    pub nodes: Blocks<V>,
    /// By an own unknown (first index) and a position.
    pub mixed: [[DVec3; V]; O],
    /// By two own unknowns.
    pub own: [[f64; O]; O],
}

/// An energy over `V` nodes and `O` numbers that are unknowns as well: director angles of a shell,
/// for instance. Elements share these numbers as they share nodes.
///
/// The promises are those of an [`Element`](crate::Element): evaluation never fails, never
/// allocates, and is finite where its arguments are.
pub trait MixedElement<const V: usize, const O: usize>: Send + Sync {
    /// What the nodes live on.
    type Space: Space;

    /// The nodes, in the order of `x`. A node may appear twice where a stencil has no neighbour;
    /// its second place then has zero derivatives.
    fn nodes(&self) -> [Id<Self::Space>; V];

    /// Which of the numbers of all elements are those of this one, in the order of `own`; all
    /// different.
    fn own(&self) -> [u32; O];

    /// Energy in joules.
    fn energy(&self, x: &[DVec3; V], own: &[f64; O]) -> f64;

    /// Derivative of the energy by the positions, in newtons, and by the own unknowns.
    fn gradient(&self, x: &[DVec3; V], own: &[f64; O]) -> ([DVec3; V], [f64; O]);

    /// Second derivatives, exact or made positive semidefinite as a whole.
    fn hessian(&self, x: &[DVec3; V], own: &[f64; O], psd: Psd) -> MixedBlocks<V, O>;

    /// The largest multiple of the way from `(x, own)` to `(to, own_to)` that a solver may take,
    /// all smaller ones included; infinite where nothing limits it.
    fn longest_step(&self, x: &[DVec3; V], own: &[f64; O], to: &[DVec3; V], own_to: &[f64; O]) -> f64 {
        _ = (x, own, to, own_to);
        f64::INFINITY
    }
}
