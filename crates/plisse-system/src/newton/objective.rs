//! The function that a step minimises: inertia and energy.

use glam::{DMat3, DVec3};
use plisse_core::{Field, Psd, Space, StepEnergy};

use crate::matrix::BlockMatrix;
use crate::memory::Memory;
use crate::pose::{Pose, StepMap};
use crate::system::System;

/// `Φ(x) = ½ inertia Σ mᵢ |xᵢ - targetᵢ|² + E(x)`, the incremental potential of an implicit step. Without inertia: the
/// energy of an equilibrium.
pub(crate) struct Objective<'a, S: Space> {
    pub(crate) system: &'a System<S>,
    pub(crate) time: f64,
    pub(crate) map: StepMap<'a, S>,
    /// Factor of the inertia in 1/s².
    pub(crate) inertia: f64,
    pub(crate) target: &'a Field<S, DVec3>,
    /// What each term keeps of the step.
    pub(crate) memories: &'a [Memory],
}

/// A value and the size of the parts it was summed from, which bounds its rounding error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub(crate) sum: f64,
    pub(crate) magnitude: f64,
}

impl<S: Space> Objective<'_, S> {
    pub(crate) fn pose<'b>(&'b self, x: &'b Field<S, DVec3>) -> Pose<'b, S> {
        Pose { x, time: self.time, step: Some(self.map) }
    }

    /// The pose for a term, with what it keeps.
    pub(crate) fn pose_for<'b>(&'b self, term: usize, x: &'b Field<S, DVec3>) -> Pose<'b, S> {
        Pose { step: Some(StepMap { memory: self.memories.get(term), ..self.map }), ..self.pose(x) }
    }

    /// The value alone.
    pub(crate) fn value(&self, x: &Field<S, DVec3>) -> Value {
        let terms = self.system.terms().enumerate();
        self.sum(x, terms.map(|(i, term)| term.energy(&self.pose_for(i, x))))
    }

    /// The value and the derivative by every node, held ones included; `parts` holds the energies of each term.
    pub(crate) fn value_and_gradient(
        &self,
        x: &Field<S, DVec3>,
        parts: &mut Vec<StepEnergy>,
        gradient: &mut Field<S, DVec3>,
    ) -> Value {
        parts.clear();
        gradient.as_mut_slice().fill(DVec3::ZERO);
        let terms = self.system.terms().enumerate();
        parts.extend(terms.map(|(i, term)| term.energy_and_add_gradient(&self.pose_for(i, x), gradient)));
        self.add_inertia(x, gradient);
        self.sum(x, parts.iter().map(|part| part.potential))
    }

    /// The largest multiple of the displacement from `x` to `to` that every term allows.
    pub(crate) fn longest_step(&self, x: &Field<S, DVec3>, to: &Field<S, DVec3>) -> f64 {
        let terms = self.system.terms().enumerate();
        terms.map(|(i, term)| term.longest_step(&self.pose_for(i, x), to)).fold(f64::INFINITY, f64::min)
    }

    /// The derivative by every node, held ones included.
    pub(crate) fn gradient(&self, x: &Field<S, DVec3>, out: &mut Field<S, DVec3>) {
        out.as_mut_slice().fill(DVec3::ZERO);
        for (i, term) in self.system.terms().enumerate() {
            term.add_gradient(&self.pose_for(i, x), out);
        }
        self.add_inertia(x, out);
    }

    fn add_inertia(&self, x: &Field<S, DVec3>, out: &mut Field<S, DVec3>) {
        if let Some(mass) = self.system.mass().filter(|_| self.inertia > 0.0) {
            for (node, m) in mass.iter() {
                out[node] += (x[node] - self.target[node]) * (m * self.inertia);
            }
        }
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

    /// The second derivative over the unknowns, with `regularisation` times the mean diagonal, weighted by mass, on the
    /// diagonal.
    pub(crate) fn hessian(&self, x: &Field<S, DVec3>, psd: Psd, regularisation: f64, out: &mut BlockMatrix) {
        self.system.hessian_with(|i| self.pose_for(i, x), psd, out);
        let nodes = self.system.unknowns();
        let mass = self.system.mass();
        if let Some(mass) = mass.filter(|_| self.inertia > 0.0) {
            for (i, &node) in nodes.iter().enumerate() {
                *out.diagonal_mut(i) += DMat3::from_diagonal(DVec3::splat(mass[node] * self.inertia));
            }
        }
        if regularisation > 0.0 {
            let scale = regularisation * out.mean_abs_diagonal().max(f64::MIN_POSITIVE);
            let mean_mass =
                mass.map_or(1.0, |m| nodes.iter().map(|&n| m[n]).sum::<f64>() / nodes.len().max(1) as f64);
            for (i, &node) in nodes.iter().enumerate() {
                let weight = mass.map_or(1.0, |m| m[node] / mean_mass);
                *out.diagonal_mut(i) += DMat3::from_diagonal(DVec3::splat(scale * weight));
            }
        }
        let allowed = self.system.pins().allowed();
        if !allowed.is_empty() {
            out.restrict(allowed);
        }
    }

    /// The dense parts over the unknowns, filtered.
    pub(crate) fn rank_ones(&self, x: &Field<S, DVec3>) -> Vec<(f64, Vec<DVec3>)> {
        let reduce = |part: crate::term::RankOne<S>| (part.weight, self.reduce(&part.vector));
        self.system.rank_ones(&self.pose(x)).into_iter().map(reduce).collect()
    }

    /// The part of a field that belongs to the unknowns, without the directions that sliding nodes may not take.
    pub(crate) fn reduce(&self, field: &Field<S, DVec3>) -> Vec<DVec3> {
        let mut out: Vec<DVec3> = self.system.unknowns().iter().map(|&node| field[node]).collect();
        self.system.pins().filter(&mut out);
        out
    }
}
