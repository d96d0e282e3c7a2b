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
    /// What it rubs on; none without friction.
    pub(crate) rub: Option<Rub>,
}

/// Friction of a supported vertex.
#[derive(Clone, Debug)]
pub(crate) struct Rub {
    /// Coulomb's coefficient, above zero.
    pub(crate) coefficient: f64,
    nodes: Vec<Id<Edges>>,
    weights: Vec<f64>,
    /// Where the weighted sum of nodes is if nothing slips, m.
    place: DVec3,
    /// `Σ w²/m` of the nodes, 1/kg.
    mobility: f64,
    /// In 1/J.
    compliance: f64,
    /// Two unit vectors across the normal.
    tangents: [DVec3; 2],
    pub(crate) grip: Grip,
}

/// How a contact rubs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Grip {
    /// It does not slip: two rows of the projection.
    Sticks,
    /// It slips, against this force times what the scheme multiplies forces with, kg m.
    Slips(DVec3),
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
        Self { vertex, normal, level: normal.dot(place), nodes, weights, compliance, rub: None }
    }

    /// How far it is along its normal from where it was, m.
    pub(crate) fn raised(&self, old: &Field<Vertices, DVec3>, x: &Field<Edges, DVec3>) -> f64 {
        let now: DVec3 = self.nodes.iter().zip(&self.weights).map(|(e, w)| x[*e] * *w).sum();
        self.normal.dot(now - old[self.vertex])
    }
}

impl Rub {
    /// Of a vertex of the ghost on `partner`, vertices with weights whose sum is one if none of
    /// them is prescribed; `place` is where their difference is without slip. `factor` and `length`
    /// are as in [`Support::new`].
    pub(crate) fn new(
        ghost: &Ghost,
        (vertex, normal): (Id<Vertices>, DVec3),
        partner: &[(Id<Vertices>, f64)],
        (place, coefficient): (DVec3, f64),
        [factor, length]: [f64; 2],
    ) -> Self {
        let (mut nodes, mut weights): (Vec<Id<Edges>>, Vec<f64>) = ghost.row(vertex).iter().copied().unzip();
        for (other, share) in partner {
            for (edge, a) in ghost.row(*other) {
                match nodes.iter().position(|node| node == edge) {
                    Some(k) => weights[k] -= share * a,
                    None => {
                        nodes.push(*edge);
                        weights.push(-share * a);
                    }
                }
            }
        }
        let mobility = nodes.iter().zip(&weights).map(|(e, w)| w * w * ghost.inverse_mass(*e)).sum();
        let compliance = SOFT * mobility / (length * length) * factor;
        let first = normal.any_orthonormal_vector();
        let tangents = [first, normal.cross(first)];
        let grip = Grip::Sticks;
        Self { coefficient, nodes, weights, place, mobility, compliance, tangents, grip }
    }

    /// How far it has slipped, m: a vector across the normal.
    pub(crate) fn slip(&self, x: &Field<Edges, DVec3>) -> DVec3 {
        let sum: DVec3 = self.nodes.iter().zip(&self.weights).map(|(e, w)| x[*e] * *w).sum();
        self.tangents.into_iter().map(|t| t * t.dot(sum - self.place)).sum()
    }

    /// Adds a force at the contact, kg m, to those of the nodes.
    pub(crate) fn push(&self, force: DVec3, out: &mut Field<Edges, DVec3>) {
        for (node, weight) in self.nodes.iter().zip(&self.weights) {
            out[*node] += force * *weight;
        }
    }

    /// The force of two rows with these multipliers and this scale, kg m.
    pub(crate) fn force(&self, multipliers: [f64; 2], scale: f64) -> DVec3 {
        (self.tangents[0] * multipliers[0] + self.tangents[1] * multipliers[1]) * scale
    }

    /// Coulomb's law: does what it must where the last projection has found `held` (kg m) as the
    /// force of a contact that sticks, `normal` (kg m) as that along the normal, and ended at `x`.
    /// By how much the force was wrong, kg m.
    pub(crate) fn update(&mut self, held: DVec3, normal: f64, x: &Field<Edges, DVec3>) -> f64 {
        let most = self.coefficient * normal;
        let slip = self.slip(x);
        match self.grip {
            Grip::Sticks if held.length() <= most => 0.0,
            Grip::Sticks => {
                self.grip = Grip::Slips(held.clamp_length_max(most));
                held.length() - most
            }
            Grip::Slips(force) => {
                // The law's states are the fixed points of this, whatever multiplies the slip.
                // What would stop the vertex alone is enough where it slips far, and does not
                // overshoot where it hardly does.
                let next = (force - slip / self.mobility).clamp_length_max(most);
                self.grip = Grip::Slips(next);
                next.distance(force)
            }
        }
    }
}

/// `t · (Σ w x - p)/h`, two rows for each contact that sticks.
#[derive(Clone, Debug)]
pub(crate) struct Rubs {
    pub(crate) list: Vec<Rub>,
    pub(crate) scale: f64,
}

impl Constraint<Edges> for Rubs {
    fn name(&self) -> &str {
        "friction"
    }

    fn groups(&self) -> usize {
        self.list.len()
    }

    fn nodes(&self, group: usize) -> &[Id<Edges>] {
        &self.list[group].nodes
    }

    fn rows(&self, _: usize) -> usize {
        2
    }

    fn evaluate(&self, group: usize, x: &Field<Edges, DVec3>, _: f64, out: &mut Rows<'_>) {
        let rub = &self.list[group];
        let slip = rub.slip(x);
        for (row, tangent) in rub.tangents.into_iter().enumerate() {
            out.set(row, tangent.dot(slip) * self.scale);
            for (k, weight) in rub.weights.iter().enumerate() {
                out.add(row, k, tangent * (weight * self.scale));
            }
        }
    }

    fn compliance(&self, group: usize, _: usize) -> f64 {
        self.list[group].compliance
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

    fn compliance(&self, group: usize, _: usize) -> f64 {
        self.list[group].compliance
    }

    fn describe(&self, group: usize) -> String {
        format!("the contact of {}", self.list[group].vertex)
    }
}
