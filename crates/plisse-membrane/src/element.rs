//! A triangle with a membrane energy.

use glam::DVec3;
use plisse_core::{Blocks, Element, ElementEvaluation, Id, Psd, Space, TriangleMap, Vertices, saturate};

use crate::energy::MembraneEnergy;

/// One triangle: its corners, its rest map, its energy (by value or by reference). Its corners are
/// vertices of a mesh, or anything else that has a position: the midpoints of three edges span a
/// triangle, too.
///
/// Projection happens in F space, which is 2.25 times smaller than the space of the corners and has
/// closed forms; the pulled-back Hessian is positive semidefinite, but not the nearest such 9×9
/// matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MembraneElement<E, S: Space = Vertices> {
    nodes: [Id<S>; 3],
    map: TriangleMap,
    energy: E,
}

impl<E: MembraneEnergy, S: Space> MembraneElement<E, S> {
    /// A triangle of a mesh: its corners, and its map from
    /// [`RestShape::map`](plisse_core::RestShape::map).
    #[must_use]
    pub fn new(nodes: [Id<S>; 3], map: TriangleMap, energy: E) -> Self {
        Self { nodes, map, energy }
    }

    /// The rest map.
    #[must_use]
    pub fn map(&self) -> &TriangleMap {
        &self.map
    }

    /// The energy density.
    #[must_use]
    pub fn density(&self) -> &E {
        &self.energy
    }
}

impl<E: MembraneEnergy, S: Space> Element<3> for MembraneElement<E, S> {
    type Space = S;

    fn nodes(&self) -> [Id<S>; 3] {
        self.nodes
    }

    #[inline]
    fn energy(&self, x: &[DVec3; 3]) -> f64 {
        saturate(self.energy.energy(&self.map.deformation_gradient(x)) * self.map.area())
    }

    #[inline]
    fn gradient(&self, x: &[DVec3; 3]) -> [DVec3; 3] {
        self.map.pull_back_gradient(&self.energy.pk1(&self.map.deformation_gradient(x)))
    }

    #[inline]
    fn energy_and_gradient(&self, x: &[DVec3; 3]) -> (f64, [DVec3; 3]) {
        let f = self.map.deformation_gradient(x);
        let energy = saturate(self.energy.energy(&f) * self.map.area());
        (energy, self.map.pull_back_gradient(&self.energy.pk1(&f)))
    }

    #[inline]
    fn hessian(&self, x: &[DVec3; 3], psd: Psd) -> Blocks<3> {
        self.map.pull_back_hessian(&self.energy.hessian(&self.map.deformation_gradient(x), psd))
    }

    #[inline]
    fn evaluate(&self, x: &[DVec3; 3], psd: Psd) -> ElementEvaluation<3> {
        let inner = self.energy.evaluate(&self.map.deformation_gradient(x), psd);
        ElementEvaluation {
            energy: saturate(inner.energy * self.map.area()),
            gradient: self.map.pull_back_gradient(&inner.pk1),
            hessian: self.map.pull_back_hessian(&inner.hessian),
        }
    }
}
