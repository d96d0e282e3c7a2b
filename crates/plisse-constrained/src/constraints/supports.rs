//! Vertices of the ghost that rest on something.

use glam::DVec3;
use plisse_core::{Edges, Field, Id, Vertices};

use crate::constraint::{Constraint, Rows};
use crate::ghost::Ghost;

/// A vertex of the ghost that contact has stopped: it may not go back beyond a plane.
#[derive(Clone, Debug)]
pub(crate) struct Support {
    pub(crate) vertex: Id<Vertices>,
    /// Where contact pushes, a unit vector.
    pub(crate) normal: DVec3,
    /// The plane: `normal · x = level`, m.
    pub(crate) level: f64,
    nodes: Vec<Id<Edges>>,
    weights: Vec<f64>,
    /// In 1/J.
    compliance: f64,
}

/// What a row gives way, relative to what it does: contacts of neighbours may depend on each other,
/// and what is left of them the response takes.
const SOFT: f64 = 1e-3;

impl Support {
    /// `factor` is what the scheme multiplies forces per mass with, in s²; `length` the mean edge
    /// in metres.
    pub(crate) fn new(
        ghost: &Ghost,
        vertex: Id<Vertices>,
        [normal, place]: [DVec3; 2],
        factor: f64,
        length: f64,
    ) -> Self {
        let row = ghost.row(vertex);
        let (nodes, weights) = row.iter().copied().unzip();
        let mobility: f64 = row.iter().map(|(e, a)| a * a * ghost.inverse_mass(*e)).sum();
        let compliance = SOFT * mobility / (length * length) * factor;
        Self { vertex, normal, level: normal.dot(place), nodes, weights, compliance }
    }
}

/// `(n · (A x)ᵥ - level)/h` for the supported vertices `v`.
#[derive(Clone, Debug)]
pub(crate) struct Supports {
    pub(crate) list: Vec<Support>,
    pub(crate) scale: f64,
}

impl Constraint<Edges> for Supports {
    fn name(&self) -> &str {
        "contact"
    }

    fn groups(&self) -> usize {
        self.list.len()
    }

    fn nodes(&self, group: usize) -> &[Id<Edges>] {
        &self.list[group].nodes
    }

    fn rows(&self, _: usize) -> usize {
        1
    }

    fn evaluate(&self, group: usize, x: &Field<Edges, DVec3>, _: f64, out: &mut Rows<'_>) {
        let Support { normal, level, nodes, weights, .. } = &self.list[group];
        let mut height = -level;
        for (k, (node, weight)) in nodes.iter().zip(weights).enumerate() {
            height += weight * normal.dot(x[*node]);
            out.add(0, k, *normal * (weight * self.scale));
        }
        out.set(0, height * self.scale);
    }

    fn compliance(&self, group: usize) -> f64 {
        self.list[group].compliance
    }

    fn describe(&self, group: usize) -> String {
        format!("the contact of {}", self.list[group].vertex)
    }
}
