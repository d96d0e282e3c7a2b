//! Forces of given size and direction.

use glam::DVec3;
use plisse_core::{FieldError, Id, Psd, SATURATION, Space, range};
use plisse_sparse::Sink;

use crate::error::SetupError;
use crate::pose::Pose;
use crate::term::{Gradient, Role, Term, Unknown};

/// Constant forces on some nodes: `E = -Σ fᵢ·xᵢ`.
#[derive(Clone, Debug)]
pub struct PointLoads<S: Space> {
    name: String,
    loads: Vec<(Id<S>, DVec3)>,
}

impl<S: Space> PointLoads<S> {
    /// Forces in newtons. Several on one node add up.
    pub fn new(name: impl Into<String>, loads: Vec<(Id<S>, DVec3)>) -> Result<Self, SetupError> {
        match loads.iter().find(|(_, force)| !force.is_finite()) {
            Some((node, force)) => {
                let (what, value) = ("the load", force.to_array());
                Err(SetupError::NotFinite { what, node: node.to_string(), value })
            }
            None => {
                let limit = |(node, force)| (node, range::limit_vector(force, SATURATION));
                Ok(Self { name: name.into(), loads: loads.into_iter().map(limit).collect() })
            }
        }
    }
}

impl<S: Space> Term<S> for PointLoads<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::External
    }

    fn check(&self, size: usize) -> Result<(), SetupError> {
        match self.loads.iter().find(|(node, _)| node.index() >= size) {
            None => Ok(()),
            Some((node, _)) => {
                let source = FieldError { space: S::NAME, expected: size, found: node.index() + 1 };
                Err(SetupError::Length { what: "nodes of point loads", source })
            }
        }
    }

    fn pattern(&self, _: &mut dyn FnMut(Unknown<S>, Unknown<S>)) {}

    fn energy(&self, pose: &Pose<'_, S>) -> f64 {
        let plain = -self.loads.iter().map(|(node, force)| force.dot(pose.x[*node])).sum::<f64>();
        if plain.is_finite() {
            return plain;
        }
        -self.loads.iter().map(|(node, force)| range::dot(&[*force], &[pose.x[*node]])).sum::<f64>()
    }

    fn add_gradient(&self, _: &Pose<'_, S>, gradient: &mut Gradient<'_, S>) {
        for (node, force) in &self.loads {
            gradient[*node] -= *force;
        }
    }

    fn add_hessian(&self, _: &Pose<'_, S>, _: Psd, _: &mut Sink<'_>) {}
}
