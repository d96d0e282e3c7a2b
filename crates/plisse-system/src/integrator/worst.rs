//! The node that a failed step could not bring into balance.

use std::fmt;

use glam::DVec3;
use plisse_core::Space;

use crate::newton::{Objective, Problem};
use crate::state::Configuration;

/// The node that is farthest from balance where the solver gave up.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// Number of the node.
    pub node: usize,
    /// What it is called, with the name of its space.
    pub name: String,
    /// Where it is, m.
    pub place: DVec3,
    /// Unbalanced force per mass, m/s²; in a system without masses the force, N.
    pub unbalanced: f64,
    /// What is around it, in words of somebody who knows the mesh.
    pub around: Option<String>,
}

impl Worst {
    /// Of all free nodes; none if there is none, or if no force is finite.
    pub(super) fn of<S: Space>(objective: &mut Objective<'_, S>, at: &Configuration<S>) -> Option<Self> {
        let system = objective.system;
        let mut gradient = vec![0.0; objective.pattern().layout().unknowns()];
        _ = objective.value_and_gradient(at, &mut gradient);
        let (forces, _) = system.split(&gradient);
        let of_node = |(&node, force): (&_, &DVec3)| {
            let mass = system.mass().map_or(1.0, |mass| mass[node]);
            (node, force.length() / mass)
        };
        let all = system.unknowns().iter().zip(forces).map(of_node);
        let (node, unbalanced) =
            all.filter(|(_, size)| size.is_finite()).max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        Some(Self { node: node.index(), name: node.to_string(), place: at.x[node], unbalanced, around: None })
    }
}

impl fmt::Display for Worst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.place.to_array();
        write!(f, "worst: {} at ({x:.4}, {y:.4}, {z:.4})", self.name)?;
        self.around.as_ref().map_or(Ok(()), |around| write!(f, "; {around}"))
    }
}
