//! The energy of a base mesh, for Newton's method.

use std::sync::Arc;

use glam::DVec3;
use plisse_core::range::largest_coordinate;
use plisse_core::{Field, Psd, Vertices};
use plisse_system::{BlockMatrix, Gradient, Pattern, Pose, Problem, RankOne, System, Value};

/// The energy of a system without masses as a function of its positions. Vertices count by their
/// rest areas, so that nothing depends on the mesh.
pub(super) struct Energy<'a> {
    system: &'a System<Vertices>,
    /// Rest area of each unknown, m².
    areas: Vec<f64>,
    /// The derivative by every vertex, held ones included, where it was computed last.
    gradient: Field<Vertices, DVec3>,
}

impl<'a> Energy<'a> {
    pub(super) fn new(system: &'a System<Vertices>, areas: &Field<Vertices, f64>) -> Self {
        let areas = system.unknowns().iter().map(|v| areas[*v]).collect();
        Self { system, areas, gradient: Field::filled(system.size(), DVec3::ZERO) }
    }

    fn reduce(&self, field: &Field<Vertices, DVec3>, out: &mut [f64]) {
        for (out, v) in out.chunks_exact_mut(3).zip(self.system.unknowns()) {
            out.copy_from_slice(&field[*v].to_array());
        }
        self.system.restrict(out);
    }
}

fn sum(parts: impl Iterator<Item = f64>) -> Value {
    let (sum, magnitude) = parts.fold((0.0, 0.0), |(sum, size), part| (sum + part, size + part.abs()));
    Value { sum, magnitude }
}

impl Problem for Energy<'_> {
    type Point = Field<Vertices, DVec3>;

    fn pattern(&self) -> &Arc<Pattern> {
        self.system.pattern()
    }

    fn value(&mut self, x: &Self::Point) -> Value {
        sum(self.system.terms().map(|term| term.energy(&Pose::at(x))))
    }

    fn value_and_gradient(&mut self, x: &Self::Point, gradient: &mut [f64]) -> Value {
        let whole = &mut self.gradient;
        whole.as_mut_slice().fill(DVec3::ZERO);
        let terms = self.system.terms();
        let mut gradient_of = Gradient::by_nodes(whole);
        let value =
            sum(terms.map(|term| term.energy_and_add_gradient(&Pose::at(x), &mut gradient_of).potential));
        self.reduce(&self.gradient, gradient);
        value
    }

    fn hessian(&mut self, x: &Self::Point, psd: Psd, out: &mut BlockMatrix) {
        self.system.hessian(&Pose::at(x), psd, out);
    }

    fn retract(&self, x: &Self::Point, step: &[f64], length: f64, out: &mut Self::Point) {
        out.as_mut_slice().copy_from_slice(x.as_slice());
        for (step, v) in step.chunks_exact(3).zip(self.system.unknowns()) {
            out[*v] += DVec3::from_slice(step) * length;
        }
    }

    fn dense_parts(&mut self, x: &Self::Point) -> Vec<(f64, Vec<f64>)> {
        let reduce = |part: RankOne<Vertices>| {
            let mut out = vec![0.0; 3 * self.areas.len()];
            self.reduce(&part.vector, &mut out);
            (part.weight, out)
        };
        self.system.rank_ones(&Pose::at(x)).into_iter().map(reduce).collect()
    }

    fn longest_step(&mut self, x: &Self::Point, _: &[f64], to: &Self::Point) -> f64 {
        let terms = self.system.terms();
        terms.map(|term| term.longest_step(&Pose::at(x), &Pose::at(to))).fold(f64::INFINITY, f64::min)
    }

    fn restrict(&self, vector: &mut [f64]) {
        self.system.restrict(vector);
    }

    fn restrict_matrix(&self, matrix: &mut BlockMatrix) {
        self.system.restrict_matrix(matrix);
    }

    /// Largest force per rest area, Pa.
    fn residual(&self, gradient: &[f64]) -> f64 {
        let forces = gradient.chunks_exact(3).map(|force| DVec3::from_slice(force).length());
        // Written so that NaN is kept.
        forces
            .zip(&self.areas)
            .map(|(force, area)| force / area)
            .fold(0.0, |worst, here| if here.is_nan() || here > worst { here } else { worst })
    }

    /// Weighted by area.
    fn regularise(&self, amount: f64, matrix: &mut BlockMatrix) {
        let mean = self.areas.iter().sum::<f64>() / self.areas.len().max(1) as f64;
        for (i, area) in self.areas.iter().enumerate() {
            matrix.add_to_diagonal(i, amount * area / mean);
        }
    }

    fn extent(&self, x: &Self::Point) -> f64 {
        largest_coordinate(x.as_slice())
    }
}
