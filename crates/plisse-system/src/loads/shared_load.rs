//! A force that some nodes share, and that may change with time.

use std::fmt;
use std::sync::Arc;

use glam::DVec3;
use plisse_core::range::limit_vector;
use plisse_core::{FieldError, Id, Psd, SATURATION, Space, saturate};
use plisse_sparse::Sink;

use crate::error::SetupError;
use crate::pins::Motion;
use crate::pose::Pose;
use crate::term::{Gradient, Role, Term, Unknown};

/// A force over time on some nodes: `E = -f(t) · Σ wᵢ (xᵢ - oᵢ)`, with shares `wᵢ` and places `oᵢ`
/// from which displacements count.
///
/// Where the force stays the same, `-E` is the work that it has done since the nodes were at `oᵢ`.
/// Where it changes, its change at places that stay counts as work in the energy balance, so that
/// the whole is `∫ f · dx` by the trapezoidal rule.
pub struct SharedLoad<S: Space> {
    name: String,
    nodes: Vec<Share<S>>,
    force: Motion,
}

/// A node of a load.
#[derive(Clone, Copy, Debug)]
struct Share<S: Space> {
    node: Id<S>,
    /// Its part of the force.
    part: f64,
    /// From where its displacement counts, m.
    origin: DVec3,
}

impl<S: Space> SharedLoad<S> {
    /// A force in newtons by time in seconds on nodes with weights and origins. Weights are
    /// positive; parts are in proportion to them and sum to one.
    pub fn new(
        name: impl Into<String>,
        nodes: impl IntoIterator<Item = (Id<S>, f64, DVec3)>,
        force: impl Fn(f64) -> DVec3 + Send + Sync + 'static,
    ) -> Result<Self, SetupError> {
        let nodes: Vec<(Id<S>, f64, DVec3)> = nodes.into_iter().collect();
        let total: f64 = nodes.iter().map(|(_, weight, _)| weight).sum();
        for (node, weight, origin) in &nodes {
            if !(*weight > 0.0 && (weight / total).is_finite()) {
                let (what, expected) = ("the weight of a node of a load", "give a positive number");
                return Err(SetupError::BadParameter { what, value: *weight, expected });
            }
            if !origin.is_finite() {
                let (what, value) = ("the origin of a load", origin.to_array());
                return Err(SetupError::NotFinite { what, node: node.to_string(), value });
            }
        }
        let share = |(node, weight, origin)| Share { node, part: weight / total, origin };
        Ok(Self { name: name.into(), nodes: nodes.into_iter().map(share).collect(), force: Arc::new(force) })
    }

    fn force(&self, time: f64) -> DVec3 {
        limit_vector((self.force)(time), SATURATION)
    }
}

impl<S: Space> fmt::Debug for SharedLoad<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedLoad").field("name", &self.name).field("nodes", &self.nodes.len()).finish()
    }
}

impl<S: Space> Term<S> for SharedLoad<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::External
    }

    fn depends_on_time(&self) -> bool {
        true
    }

    fn check(&self, size: usize) -> Result<(), SetupError> {
        match self.nodes.iter().find(|share| share.node.index() >= size) {
            None => Ok(()),
            Some(share) => {
                let source = FieldError { space: S::NAME, expected: size, found: share.node.index() + 1 };
                Err(SetupError::Length { what: "nodes of a load", source })
            }
        }
    }

    fn pattern(&self, _: &mut dyn FnMut(Unknown<S>, Unknown<S>)) {}

    fn energy(&self, pose: &Pose<'_, S>) -> f64 {
        let way = |share: &Share<S>| limit_vector(pose.x[share.node] - share.origin, SATURATION) * share.part;
        let way = self.nodes.iter().map(way).sum::<DVec3>();
        saturate(-self.force(pose.time).dot(way))
    }

    fn add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Gradient<'_, S>) {
        let force = self.force(pose.time);
        for share in &self.nodes {
            gradient[share.node] -= force * share.part;
        }
    }

    fn add_hessian(&self, _: &Pose<'_, S>, _: Psd, _: &mut Sink<'_>) {}
}
