//! The function that a step minimises: inertia and energy.

use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Field, Psd, Space, StepEnergy};
use plisse_sparse::{BlockMatrix, Pattern};

use super::problem::{Problem, Value, largest_of_nodes};
use super::stopping::largest;
use crate::memory::Memory;
use crate::pose::{Pose, StepMap};
use crate::system::System;
use crate::term::RankOne;

/// `Φ(x) = ½ inertia Σ mᵢ |xᵢ - targetᵢ|² + E(x)`, the incremental potential of an implicit step.
/// Without inertia: the energy of an equilibrium.
pub(crate) struct Objective<'a, S: Space> {
    pub(crate) system: &'a System<S>,
    pub(crate) time: f64,
    pub(crate) map: StepMap<'a, S>,
    /// Factor of the inertia in 1/s².
    pub(crate) inertia: f64,
    pub(crate) target: &'a Field<S, DVec3>,
    /// What each term keeps of the step.
    pub(crate) memories: &'a [Memory],
    pub(crate) scratch: &'a mut Scratch<S>,
}

/// What evaluations leave behind.
pub(crate) struct Scratch<S: Space> {
    /// The derivative by every node, held ones included, where it was computed last.
    pub(crate) gradient: Field<S, DVec3>,
    /// Energies of each term at the last iterate.
    pub(crate) parts: Vec<StepEnergy>,
    /// Energies of each term where the derivative was computed last.
    trial_parts: Vec<StepEnergy>,
}

impl<S: Space> Default for Scratch<S> {
    fn default() -> Self {
        Self { gradient: Field::from_vec(Vec::new()), parts: Vec::new(), trial_parts: Vec::new() }
    }
}

/// A force below this part of the tolerance is left alone in a time step. A larger one is worth an
/// iteration even if it meets the criterion at the start: small forces that always point the same
/// way would else never act.
const UNTOUCHED: f64 = 1e-3;
/// An equilibrium that is farther away than this many times the size of the system is none.
const FARTHEST: f64 = 1e3;

impl<S: Space> Objective<'_, S> {
    /// The pose for a term, with what it keeps.
    pub(crate) fn pose_for<'b>(&'b self, term: usize, x: &'b Field<S, DVec3>) -> Pose<'b, S> {
        let step = Some(StepMap { memory: self.memories.get(term), ..self.map });
        Pose { x, time: self.time, step }
    }

    fn sum(&self, x: &Field<S, DVec3>, parts: impl Iterator<Item = f64>) -> Value {
        let inertial = self.inertial_energy(x);
        let (sum, magnitude) = parts.fold((0.0, 0.0), |(sum, size), part| (sum + part, size + part.abs()));
        Value { sum: sum + inertial, magnitude: magnitude + inertial }
    }

    /// The quadratic part. Held nodes have no say: their place is given.
    pub(crate) fn inertial_energy(&self, x: &Field<S, DVec3>) -> f64 {
        let Some(mass) = self.system.mass().filter(|_| self.inertia > 0.0) else { return 0.0 };
        let of_node = |&node| mass[node] * (x[node] - self.target[node]).length_squared();
        0.5 * self.inertia * self.system.unknowns().iter().map(of_node).sum::<f64>()
    }

    /// Writes the part of a field that belongs to the unknowns, without the directions that sliding
    /// nodes may not take.
    fn reduce(&self, field: &Field<S, DVec3>, out: &mut [f64]) {
        let out: &mut [DVec3] = bytemuck::cast_slice_mut(out);
        for (out, &node) in out.iter_mut().zip(self.system.unknowns()) {
            *out = field[node];
        }
        self.system.pins().filter(out);
    }
}

impl<S: Space> Problem for Objective<'_, S> {
    type Point = Field<S, DVec3>;

    fn pattern(&self) -> &Arc<Pattern> {
        self.system.pattern()
    }

    fn value(&mut self, x: &Field<S, DVec3>) -> Value {
        let terms = self.system.terms().enumerate();
        self.sum(x, terms.map(|(i, term)| term.energy(&self.pose_for(i, x))))
    }

    fn value_and_gradient(&mut self, x: &Field<S, DVec3>, gradient: &mut [f64]) -> Value {
        let Self { system, map, memories, time, .. } = *self;
        let Scratch { gradient: whole, trial_parts: parts, .. } = &mut *self.scratch;
        parts.clear();
        if whole.len() != x.len() {
            *whole = Field::filled(x.len(), DVec3::ZERO);
        }
        whole.as_mut_slice().fill(DVec3::ZERO);
        parts.extend(system.terms().enumerate().map(|(i, term)| {
            let step = Some(StepMap { memory: memories.get(i), ..map });
            term.energy_and_add_gradient(&Pose { x, time, step }, whole)
        }));
        if let Some(mass) = system.mass().filter(|_| self.inertia > 0.0) {
            for (node, m) in mass.iter() {
                whole[node] += (x[node] - self.target[node]) * (m * self.inertia);
            }
        }
        self.reduce(&self.scratch.gradient, gradient);
        self.sum(x, self.scratch.trial_parts.iter().map(|part| part.potential))
    }

    fn accepted(&mut self) {
        std::mem::swap(&mut self.scratch.parts, &mut self.scratch.trial_parts);
    }

    fn hessian(&mut self, x: &Field<S, DVec3>, psd: Psd, out: &mut BlockMatrix) {
        self.system.hessian_with(|i| self.pose_for(i, x), psd, out);
        if let Some(mass) = self.system.mass().filter(|_| self.inertia > 0.0) {
            for (i, &node) in self.system.unknowns().iter().enumerate() {
                out.add_to_diagonal(i, mass[node] * self.inertia);
            }
        }
    }

    fn retract(&self, x: &Field<S, DVec3>, step: &[f64], length: f64, out: &mut Field<S, DVec3>) {
        out.as_mut_slice().copy_from_slice(x.as_slice());
        let steps: &[DVec3] = bytemuck::cast_slice(step);
        for (&node, step) in self.system.unknowns().iter().zip(steps) {
            out[node] += *step * length;
        }
    }

    fn dense_parts(&mut self, x: &Field<S, DVec3>) -> Vec<(f64, Vec<f64>)> {
        let reduce = |part: RankOne<S>| {
            let mut reduced = vec![0.0; self.pattern().layout().unknowns()];
            self.reduce(&part.vector, &mut reduced);
            (part.weight, reduced)
        };
        let pose = Pose { x, time: self.time, step: Some(self.map) };
        self.system.rank_ones(&pose).into_iter().map(reduce).collect()
    }

    fn longest_step(&mut self, x: &Field<S, DVec3>, _: &[f64], to: &Field<S, DVec3>) -> f64 {
        let terms = self.system.terms().enumerate();
        terms.map(|(i, term)| term.longest_step(&self.pose_for(i, x), to)).fold(f64::INFINITY, f64::min)
    }

    fn restrict(&self, vector: &mut [f64]) {
        self.system.restrict(vector);
    }

    fn restrict_matrix(&self, matrix: &mut BlockMatrix) {
        self.system.restrict_matrix(matrix);
    }

    /// Largest force per mass in m/s²; largest force in newtons without masses.
    fn residual(&self, gradient: &[f64]) -> f64 {
        let nodes = self.system.unknowns();
        let mass = |i: usize| self.system.mass().map_or(1.0, |mass| mass[nodes[i]]);
        largest_of_nodes(self.pattern(), gradient, mass)
    }

    /// The change of accelerations that is left, in the root mean square over the mass of each part
    /// of the system that nothing couples to the others: one that is heavy must not hide what is
    /// wrong with another that is light.
    fn error_of_step(&self, decrement: f64, force: &[f64], step: &[f64]) -> Option<f64> {
        let parts = self.system.parts();
        if self.inertia <= 0.0 || parts.mass().is_empty() {
            return None;
        }
        let error = |decrement: f64, mass: f64| (2.0 * decrement.abs() * self.inertia / mass).sqrt();
        if let [mass] = parts.mass() {
            return Some(error(decrement, *mass));
        }
        let (force, step): (&[DVec3], &[DVec3]) = (bytemuck::cast_slice(force), bytemuck::cast_slice(step));
        let mut decrements = vec![0.0; parts.mass().len()];
        for (part, (force, step)) in parts.of_unknowns().iter().zip(force.iter().zip(step)) {
            decrements[*part as usize] += 0.5 * force.dot(*step);
        }
        Some(decrements.iter().zip(parts.mass()).map(|(d, m)| error(*d, *m)).fold(0.0, f64::max))
    }

    /// Weighted by mass.
    fn regularise(&self, amount: f64, matrix: &mut BlockMatrix) {
        let nodes = self.system.unknowns();
        let mass = self.system.mass();
        let mean_mass =
            mass.map_or(1.0, |m| nodes.iter().map(|&n| m[n]).sum::<f64>() / nodes.len().max(1) as f64);
        for (i, &node) in nodes.iter().enumerate() {
            matrix.add_to_diagonal(i, amount * mass.map_or(1.0, |m| m[node] / mean_mass));
        }
    }

    fn extent(&self, x: &Field<S, DVec3>) -> f64 {
        largest(bytemuck::cast_slice(x.as_slice()))
            .max(largest(bytemuck::cast_slice(self.map.start.as_slice())))
    }

    fn forgives_short_steps(&self) -> bool {
        self.inertia > 0.0
    }

    fn untouched(&self) -> f64 {
        if self.inertia > 0.0 { UNTOUCHED } else { 1.0 }
    }

    /// Energies of equilibria without a minimum fall for ever.
    fn runs_away(&self, x: &Field<S, DVec3>) -> bool {
        if self.inertia > 0.0 {
            return false;
        }
        let start = self.map.start.as_slice();
        let (low, high) = start
            .iter()
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
        let extent = low.distance(high);
        // A system without extent: where it is, or a metre.
        let sizes = [extent, largest(bytemuck::cast_slice(start))];
        let extent = sizes.into_iter().find(|size| *size > 0.0).unwrap_or(1.0);
        x.as_slice().iter().zip(start).any(|(x, start)| x.distance(*start) > FARTHEST * extent)
    }
}
