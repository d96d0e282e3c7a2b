//! The function that a step minimises: inertia and energy.

use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Field, Psd, Space, StepEnergy};
use plisse_sparse::{BlockMatrix, Pattern};

use super::problem::{Problem, Value, largest_of_nodes};
use super::stopping::largest;
use crate::memory::Memory;
use crate::pose::{Pose, StepMap};
use crate::state::Configuration;
use crate::system::System;
use crate::term::{Gradient, RankOne, Term};

/// `Φ(x) = ½ inertia Σ mᵢ |xᵢ - targetᵢ|² + E(x)`, the incremental potential of an implicit step.
/// Without inertia: the energy of an equilibrium.
pub(crate) struct Objective<'a, S: Space> {
    pub(crate) system: &'a System<S>,
    pub(crate) time: f64,
    pub(crate) map: StepMap<'a, S>,
    /// Factor of the inertia in 1/s².
    pub(crate) inertia: f64,
    pub(crate) target: &'a Field<S, DVec3>,
    /// Whether the solver has been at work in this step.
    pub(crate) touched: bool,
    /// What each term keeps of the step.
    pub(crate) memories: &'a mut [Memory],
    pub(crate) scratch: &'a mut Scratch<S>,
}

/// What evaluations leave behind.
pub(crate) struct Scratch<S: Space> {
    /// The derivative by every node, held ones included, where it was computed last.
    pub(crate) gradient: Field<S, DVec3>,
    /// The derivative by what terms bring along.
    own_gradient: Vec<f64>,
    /// Energies of each term at the last iterate.
    pub(crate) parts: Vec<StepEnergy>,
    /// Energies of each term where the derivative was computed last.
    trial_parts: Vec<StepEnergy>,
}

impl<S: Space> Default for Scratch<S> {
    fn default() -> Self {
        let gradient = Field::from_vec(Vec::new());
        Self { gradient, own_gradient: Vec::new(), parts: Vec::new(), trial_parts: Vec::new() }
    }
}

/// A force below this part of the tolerance is left alone in a time step. A larger one is worth an
/// iteration even if it meets the criterion at the start: small forces that always point the same
/// way would else never act.
const UNTOUCHED: f64 = 1e-3;
/// An equilibrium that is farther away than this many times the size of the system is none.
const FARTHEST: f64 = 1e3;
/// Masses that hold an equilibrium back count at least this much where errors are estimated, 1/s²:
/// as much as in a step of 1/32 s.
const LEAST_INERTIA: f64 = 1024.0;

impl<S: Space> Objective<'_, S> {
    /// The pose for a term, with what it keeps.
    pub(crate) fn pose_for<'b>(&'b self, term: usize, at: &'b Configuration<S>) -> Pose<'b, S> {
        let step = Some(StepMap { memory: self.memories.get(term), ..self.map });
        self.system.seen_by(term, &Pose { step, ..at.pose(self.time) })
    }

    /// The same with the very positions of the start, by which terms know that nothing has moved.
    pub(crate) fn pose_at_start<'b>(&'b self, term: usize, at: &'b Configuration<S>) -> Pose<'b, S> {
        Pose { x: self.map.start, ..self.pose_for(term, at) }
    }

    /// Tells every term that the solver is here.
    pub(crate) fn follow(&mut self, at: &Configuration<S>) {
        let Self { system, map, time, .. } = *self;
        for (i, (term, memory)) in system.terms().zip(&mut *self.memories).enumerate() {
            let pose = Pose { step: Some(map), ..at.pose(time) };
            term.follow(&system.seen_by(i, &pose), memory);
        }
    }

    /// Whether a term has a better estimate of something now, so that the solver must go on.
    pub(crate) fn refine(&mut self, at: &Configuration<S>, pass: usize) -> bool {
        let Self { system, map, time, .. } = *self;
        let mut any = false;
        for (i, (term, memory)) in system.terms().zip(&mut *self.memories).enumerate() {
            let pose = Pose { step: Some(map), ..at.pose(time) };
            any |= term.refine(&system.seen_by(i, &pose), pass, memory);
        }
        any
    }

    /// What terms bring along after a step that ends at a configuration.
    pub(crate) fn settle(&self, at: &Configuration<S>) -> Vec<f64> {
        let mut own = at.own.clone();
        for (i, term) in self.system.terms().enumerate() {
            term.settle(&self.pose_for(i, at), &mut own[self.system.own_of(i)]);
        }
        own
    }

    /// Whether a term will probably have a better estimate of something after a solve.
    pub(crate) fn refines(&self) -> bool {
        self.system.terms().zip(&*self.memories).any(|(term, memory)| term.refines(memory))
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
        let (out, _) = self.system.split_mut(out);
        for (out, &node) in out.iter_mut().zip(self.system.unknowns()) {
            *out = field[node];
        }
        self.system.pins().filter(out);
    }
}

impl<S: Space> Problem for Objective<'_, S> {
    type Point = Configuration<S>;

    fn pattern(&self) -> &Arc<Pattern> {
        self.system.pattern()
    }

    fn value(&mut self, at: &Configuration<S>) -> Value {
        let terms = self.system.terms().enumerate();
        self.sum(&at.x, terms.map(|(i, term)| term.energy(&self.pose_for(i, at))))
    }

    fn value_and_gradient(&mut self, at: &Configuration<S>, gradient: &mut [f64]) -> Value {
        let Self { system, map, time, .. } = *self;
        let memories = &*self.memories;
        let Scratch { gradient: whole, own_gradient: own, trial_parts: parts, .. } = &mut *self.scratch;
        let x = &at.x;
        parts.clear();
        own.clear();
        own.resize(system.own_count(), 0.0);
        if whole.len() != x.len() {
            *whole = Field::filled(x.len(), DVec3::ZERO);
        }
        whole.as_mut_slice().fill(DVec3::ZERO);
        parts.extend(system.terms().enumerate().map(|(i, term)| {
            let step = Some(StepMap { memory: memories.get(i), ..map });
            let pose = system.seen_by(i, &Pose { step, ..at.pose(time) });
            let mut gradient = Gradient { nodes: &mut *whole, own: &mut own[system.own_of(i)] };
            term.energy_and_add_gradient(&pose, &mut gradient)
        }));
        if let Some(mass) = system.mass().filter(|_| self.inertia > 0.0) {
            for (node, m) in mass.iter() {
                whole[node] += (x[node] - self.target[node]) * (m * self.inertia);
            }
        }
        self.reduce(&self.scratch.gradient, gradient);
        self.system.split_mut(gradient).1.copy_from_slice(&self.scratch.own_gradient);
        self.sum(x, self.scratch.trial_parts.iter().map(|part| part.potential))
    }

    fn accepted(&mut self, at: &Configuration<S>) {
        std::mem::swap(&mut self.scratch.parts, &mut self.scratch.trial_parts);
        self.follow(at);
    }

    fn hessian(&mut self, at: &Configuration<S>, psd: Psd, out: &mut BlockMatrix) {
        let pose = |i| {
            let step = Some(StepMap { memory: self.memories.get(i), ..self.map });
            Pose { step, ..at.pose(self.time) }
        };
        self.system.hessian_with(pose, psd, out);
        if let Some(mass) = self.system.mass().filter(|_| self.inertia > 0.0) {
            for (i, &node) in self.system.unknowns().iter().enumerate() {
                out.add_to_diagonal(i, mass[node] * self.inertia);
            }
        }
    }

    fn retract(&self, at: &Configuration<S>, step: &[f64], length: f64, out: &mut Configuration<S>) {
        out.x.as_mut_slice().copy_from_slice(at.x.as_slice());
        let (steps, own_steps) = self.system.split(step);
        for (&node, step) in self.system.unknowns().iter().zip(steps) {
            out.x[node] += *step * length;
        }
        for (out, (own, step)) in out.own.iter_mut().zip(at.own.iter().zip(own_steps)) {
            *out = own + step * length;
        }
    }

    fn dense_parts(&mut self, at: &Configuration<S>) -> Vec<(f64, Vec<f64>)> {
        let reduce = |part: RankOne<S>| {
            let mut reduced = vec![0.0; self.pattern().layout().unknowns()];
            self.reduce(&part.vector, &mut reduced);
            (part.weight, reduced)
        };
        let pose = Pose { step: Some(self.map), ..at.pose(self.time) };
        self.system.rank_ones(&pose).into_iter().map(reduce).collect()
    }

    fn longest_step(&mut self, at: &Configuration<S>, _: &[f64], to: &Configuration<S>) -> f64 {
        let longest = |(i, term): (usize, &dyn Term<S>)| {
            term.longest_step(&self.pose_for(i, at), &self.pose_for(i, to))
        };
        self.system.terms().enumerate().map(longest).fold(f64::INFINITY, f64::min)
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
        let weight = |i: usize| match nodes.get(i) {
            Some(node) => self.system.mass().map_or(1.0, |mass| mass[*node]),
            None => self.system.own()[i - nodes.len()].weight(),
        };
        largest_of_nodes(self.pattern(), gradient, weight)
    }

    /// The change of accelerations that is left, in the root mean square over the mass of each part
    /// of the system that nothing couples to the others: one that is heavy must not hide what is
    /// wrong with another that is light.
    fn error_of_step(&self, decrement: f64, force: &[f64], step: &[f64]) -> Option<f64> {
        let parts = self.system.parts();
        if self.inertia <= 0.0 || parts.mass().is_empty() {
            return None;
        }
        // Masses that hold an equilibrium back for minutes would let any decrement pass.
        let is_held_back = self.map.dt.is_infinite();
        let inertia = if is_held_back { self.inertia.max(LEAST_INERTIA) } else { self.inertia };
        let error = |decrement: f64, mass: f64| (2.0 * decrement.abs() * inertia / mass).sqrt();
        if let [mass] = parts.mass() {
            return Some(error(decrement, *mass));
        }
        let ((force, own_force), (step, own_step)) = (self.system.split(force), self.system.split(step));
        let nodes = force.iter().zip(step).map(|(force, step)| force.dot(*step));
        let own = own_force.iter().zip(own_step).map(|(force, step)| force * step);
        let mut decrements = vec![0.0; parts.mass().len()];
        for (part, work) in parts.of_unknowns().iter().zip(nodes.chain(own)) {
            decrements[*part as usize] += 0.5 * work;
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
        for (own, i) in self.system.own().iter().zip(nodes.len()..) {
            matrix.add_to_diagonal(i, amount * own.inertia() / mean_mass);
        }
    }

    fn extent(&self, at: &Configuration<S>) -> f64 {
        largest(bytemuck::cast_slice(at.x.as_slice()))
            .max(largest(bytemuck::cast_slice(self.map.start.as_slice())))
    }

    fn forgives_short_steps(&self) -> bool {
        self.inertia > 0.0
    }

    fn untouched(&self) -> f64 {
        if self.inertia > 0.0 && !self.touched { UNTOUCHED } else { 1.0 }
    }

    /// Energies of equilibria without a minimum fall for ever.
    fn runs_away(&self, at: &Configuration<S>) -> bool {
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
        at.x.as_slice().iter().zip(start).any(|(x, start)| x.distance(*start) > FARTHEST * extent)
    }
}
