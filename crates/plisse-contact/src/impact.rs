//! How stiff contact must be where something is hit hard.
//!
//! An impact ends within one step: it takes the pressure `p = ρ v/Δt`, which grows as the step
//! shrinks. A barrier of `κ` has it at a gap of about `κ/p` ranges; thousands of `κ` leave gaps in
//! which Newton's method does not find its way, and shorter steps make it worse. Pairs that come at
//! each other so fast are as stiff in this step as it takes to keep a tenth of the range.

use glam::DVec3;
use plisse_core::{Id, Vertices};
use plisse_system::StepMap;

use crate::model::Model;
use crate::stencil::Kind;

/// Of the stiffness, the pressure that leaves a tenth of the range.
const HARDEST: f64 = 12.24;

/// Where everything would go within a step if nothing were in its way.
#[derive(Default)]
pub(crate) struct Impact {
    /// Ways of the nodes, then of the vertices of obstacles, m; none outside of time steps.
    ways: Vec<DVec3>,
    /// Acceleration by way, 1/s².
    factor: f64,
}

impl Impact {
    /// Of a step, whose obstacles go these ways.
    pub(crate) fn new(step: &StepMap<'_, Vertices>, solids: impl Iterator<Item = DVec3>) -> Self {
        let Some(inertia) = step.inertia else { return Self::default() };
        let nodes = inertia.target.as_slice().iter().zip(step.start.as_slice());
        let ways = nodes.map(|(to, from)| *to - *from).chain(solids).collect();
        Self { ways, factor: inertia.factor }
    }

    /// The stiffness that a pair needs, Pa; zero if nothing moves.
    pub(crate) fn stiffness(&self, model: &Model, kind: Kind, vertices: [u32; 4]) -> f64 {
        if self.ways.is_empty() {
            return 0.0;
        }
        let way = kind.reach(&vertices.map(|v| self.ways[v as usize]));
        // Vertices without area have no contact of their own, and those that are held no mass.
        let density = |v: &u32| {
            let mass = 1.0 / model.inverse_masses.get(Id::new(*v));
            let density = mass / model.areas.vertices[*v as usize];
            if density.is_finite() { density } else { 0.0 }
        };
        let density = vertices[..kind.vertices()[1]].iter().map(density).fold(0.0, f64::max);
        density * self.factor * way / HARDEST
    }
}
