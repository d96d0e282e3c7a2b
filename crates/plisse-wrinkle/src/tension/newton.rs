//! Newton's method for tension fields: a Hessian that jumps and may vanish, pressure that makes it
//! indefinite.

use std::sync::Arc;

use glam::{DMat3, DVec3};
use plisse_core::{Field, Id, Psd, Vertices};
use plisse_sparse::dot;
use plisse_system::Gradient;
use plisse_system::{BlockMatrix, Linear, LinearError, LinearSolver, Operator, Pose, System};

use super::report::{BaseFailure, BaseIteration};

/// Where a run has come to.
pub(super) struct Run {
    pub(super) iterations: Vec<BaseIteration>,
    pub(super) residual: f64,
    /// Whether the exact Hessian at the end is positive definite.
    pub(super) minimum: bool,
    pub(super) result: Result<(), BaseFailure>,
}

/// When to stop.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Force per area in Pa.
    pub(super) tolerance: f64,
    pub(super) iterations: usize,
}

/// The energy of a system as a function of the places that may change.
pub(super) struct Energy<'a> {
    pub(super) system: &'a System<Vertices>,
    /// Rest area of each vertex, m².
    pub(super) areas: &'a Field<Vertices, f64>,
    /// Vertices that may move only in some directions: projections onto them.
    pub(super) sliding: &'a [Sliding],
}

/// A vertex and the projection onto the directions in which it may move.
pub(super) type Sliding = (Id<Vertices>, DMat3);

/// Armijo's fraction of the promised decrease.
const SUFFICIENT: f64 = 1e-4;
/// Relative rounding error of an energy; below it slopes decide.
const NOISE: f64 = 1e-11;
/// Steps shorter than `2^-HALVINGS` are none.
const HALVINGS: usize = 60;
/// Largest multiple of the mean diagonal that is added.
const LARGEST_SHIFT: f64 = 1e4;
/// A step that promises less than this part of the energies is near the end.
const NEAR: f64 = 1e-2;

struct Newton<'a> {
    energy: &'a Energy<'a>,
    /// Area of each unknown relative to their mean.
    weights: Vec<f64>,
    /// Projection of each unknown, where it slides.
    allowed: Vec<Option<DMat3>>,
    linear: Linear,
    matrix: BlockMatrix,
    shifted: BlockMatrix,
    gradient: Field<Vertices, DVec3>,
    trial: Field<Vertices, DVec3>,
    shift: f64,
    /// Whether the last step was good enough to try the exact Hessian.
    tries_exact: bool,
    near: bool,
}

/// Energy, the sum of the sizes of its parts, and force at a place.
struct Point {
    energy: f64,
    scale: f64,
    force: Vec<f64>,
}

/// Minimises the energy from `x`, which holds the last iterate afterwards, also on failure.
pub(super) fn minimise(energy: &Energy<'_>, x: &mut Field<Vertices, DVec3>, limits: Limits) -> Run {
    let unknowns = energy.system.unknowns();
    let mean = unknowns.iter().map(|v| energy.areas[*v]).sum::<f64>() / unknowns.len().max(1) as f64;
    let mut allowed = vec![None; unknowns.len()];
    for (vertex, projection) in energy.sliding {
        if let Ok(i) = unknowns.binary_search(vertex) {
            allowed[i] = Some(*projection);
        }
    }
    let mut newton = Newton {
        energy,
        weights: unknowns.iter().map(|v| energy.areas[*v] / mean).collect(),
        allowed,
        linear: Linear::new(LinearSolver::Cholesky),
        matrix: BlockMatrix::zeros(Arc::clone(energy.system.pattern())),
        shifted: BlockMatrix::zeros(Arc::clone(energy.system.pattern())),
        gradient: Field::filled(x.len(), DVec3::ZERO),
        trial: x.clone(),
        shift: 0.0,
        tries_exact: false,
        near: false,
    };
    let mut run = Run { iterations: Vec::new(), residual: f64::INFINITY, minimum: false, result: Ok(()) };
    run.result = newton.iterate(x, limits, &mut run.iterations, &mut run.residual);
    run.minimum = run.result.is_ok() && newton.is_definite(x);
    run
}

impl Newton<'_> {
    fn iterate(
        &mut self,
        x: &mut Field<Vertices, DVec3>,
        limits: Limits,
        history: &mut Vec<BaseIteration>,
        residual: &mut f64,
    ) -> Result<(), BaseFailure> {
        let mut here = self.at(x);
        let mut step = vec![0.0; here.force.len()];
        loop {
            *residual = self.residual(&here.force);
            if !(residual.is_finite() && here.energy.is_finite()) {
                return Err(BaseFailure::NotFinite);
            }
            if *residual <= limits.tolerance {
                return Ok(());
            }
            if history.len() >= limits.iterations {
                return Err(BaseFailure::Iterations);
            }
            let (exact, factorisations) = self.direction(x, &here.force, &mut step)?;
            let shift = self.shift;
            // Steps as small as the spacing of numbers: no smaller residual exists in this
            // arithmetic.
            let at_rounding = shift == 0.0
                && largest(&step) <= 8.0 * f64::EPSILON * largest(bytemuck::cast_slice(x.as_slice()));
            let search = self.search(x, &here, &step);
            history.push(BaseIteration {
                residual: *residual,
                energy: here.energy,
                exact,
                shift,
                length: search.as_ref().map_or(0.0, |(_, length)| *length),
                factorisations,
            });
            match search {
                Some((next, length)) => {
                    if at_rounding && self.residual(&next.force) >= 0.5 * *residual {
                        return Ok(());
                    }
                    self.adapt(&here, &step, length);
                    x.as_mut_slice().copy_from_slice(self.trial.as_slice());
                    here = next;
                }
                None if at_rounding => return Ok(()),
                None if shift >= LARGEST_SHIFT => return Err(BaseFailure::LineSearch),
                // A shorter step, more along the force.
                None => self.shift = (100.0 * shift).max(1e-6),
            }
        }
    }

    /// Short steps ask for a larger shift, full ones for a smaller one and for the exact Hessian.
    fn adapt(&mut self, here: &Point, step: &[f64], length: f64) {
        let promised = dot(&here.force, step);
        self.tries_exact = length >= 1.0;
        self.near = self.near || (length >= 1.0 && promised < NEAR * here.scale);
        if length >= 0.5 {
            self.shift = if self.shift < 1e-10 { 0.0 } else { 0.1 * self.shift };
        } else if length < 0.25 {
            // The curvature along the step was too small by the factor that the step was too long.
            let steps = step.chunks_exact(3).zip(&self.weights);
            let square: f64 = steps.map(|(s, w)| w * DVec3::from_slice(s).length_squared()).sum();
            let curvature = promised / square / self.diagonal().max(f64::MIN_POSITIVE);
            let wanted = curvature / length.max(1e-6);
            self.shift = wanted.clamp(4.0 * self.shift, (100.0 * self.shift).max(1e-4));
        }
    }

    fn diagonal(&self) -> f64 {
        self.matrix.mean_diagonal().abs()
    }

    /// Solves for a direction of descent. Gives whether the Hessian was the exact one, and how many
    /// factorisations it took.
    fn direction(
        &mut self,
        x: &Field<Vertices, DVec3>,
        force: &[f64],
        step: &mut [f64],
    ) -> Result<(bool, usize), BaseFailure> {
        let rank_ones = self.rank_ones(x);
        let mut count = 0;
        let mut exact = self.near || self.tries_exact;
        self.assemble(x, exact);
        loop {
            self.add_shift();
            count += 1;
            let operator = Operator { matrix: &self.shifted, rank_ones: &rank_ones };
            let error = match self.linear.solve(&operator, force, step, 1e-10) {
                Ok(_) => {
                    for (step, p) in step.chunks_exact_mut(3).zip(&self.allowed) {
                        if let Some(p) = p {
                            step.copy_from_slice(&(*p * DVec3::from_slice(step)).to_array());
                        }
                    }
                    if dot(force, step) > 0.0 && step.iter().all(|s| s.is_finite()) {
                        return Ok((exact, count));
                    }
                    LinearError::NegativeCurvature
                }
                Err(error @ (LinearError::NotFinite | LinearError::OutOfMemory)) => return Err(error.into()),
                Err(error) => error,
            };
            if exact && !self.near {
                exact = false;
                self.assemble(x, false);
            } else if self.shift >= LARGEST_SHIFT {
                return Err(error.into());
            } else {
                self.shift = (10.0 * self.shift).max(1e-7);
            }
        }
    }

    /// The matrix with its shift, restricted.
    fn add_shift(&mut self) {
        self.shifted.values_mut().copy_from_slice(self.matrix.values());
        let scale = self.shift * self.diagonal();
        if scale > 0.0 {
            for (i, weight) in self.weights.iter().enumerate() {
                self.shifted.add_to_diagonal(i, scale * weight);
            }
        }
        let allowed = &self.allowed;
        self.shifted.restrict(|i| allowed[i].as_ref().map(|p| p.as_ref() as &[f64]));
    }

    fn is_definite(&mut self, x: &Field<Vertices, DVec3>) -> bool {
        self.assemble(x, true);
        self.shift = 0.0;
        self.add_shift();
        self.shifted.pattern().size() == 0 || self.linear.factorise(&self.shifted).is_ok()
    }

    fn assemble(&mut self, x: &Field<Vertices, DVec3>, exact: bool) {
        let psd = if exact { Psd::Exact } else { Psd::Clamp };
        self.energy.system.hessian(&Pose::at(x), psd, &mut self.matrix);
    }

    fn rank_ones(&self, x: &Field<Vertices, DVec3>) -> Vec<(f64, Vec<f64>)> {
        let parts = self.energy.system.rank_ones(&Pose::at(x)).into_iter();
        parts.map(|part| (part.weight, self.reduce(&part.vector))).collect()
    }

    fn reduce(&self, field: &Field<Vertices, DVec3>) -> Vec<f64> {
        let unknowns = self.energy.system.unknowns().iter().zip(&self.allowed);
        unknowns.flat_map(|(v, p)| p.map_or(field[*v], |p| p * field[*v]).to_array()).collect()
    }

    fn at(&mut self, x: &Field<Vertices, DVec3>) -> Point {
        let pose = Pose::at(x);
        self.gradient.as_mut_slice().fill(DVec3::ZERO);
        let (mut energy, mut scale) = (0.0, 0.0);
        for term in self.energy.system.terms() {
            let part =
                term.energy_and_add_gradient(&pose, &mut Gradient::by_nodes(&mut self.gradient)).potential;
            energy += part;
            scale += part.abs();
        }
        let mut force = self.reduce(&self.gradient);
        for f in &mut force {
            *f = -*f;
        }
        Point { energy, scale, force }
    }

    /// Largest force per area.
    fn residual(&self, force: &[f64]) -> f64 {
        let mut worst = 0.0;
        for (v, f) in self.energy.system.unknowns().iter().zip(force.chunks_exact(3)) {
            let here = DVec3::from_slice(f).length() / self.energy.areas[*v];
            if here.is_nan() || here > worst {
                worst = here;
            }
        }
        worst
    }

    fn go(&mut self, x: &Field<Vertices, DVec3>, step: &[f64], length: f64) -> Point {
        self.trial.as_mut_slice().copy_from_slice(x.as_slice());
        for (&v, step) in self.energy.system.unknowns().iter().zip(step.chunks_exact(3)) {
            self.trial[v] += DVec3::from_slice(step) * length;
        }
        let trial = std::mem::replace(&mut self.trial, Field::from_vec(Vec::new()));
        let point = self.at(&trial);
        self.trial = trial;
        point
    }

    /// A length at which the energy is low: 1 if the slope has fallen to half there; else near the
    /// minimum along the step. The energy has a continuous slope but kinks in it, and steps that
    /// end behind one would oscillate about it.
    fn search(&mut self, x: &Field<Vertices, DVec3>, here: &Point, step: &[f64]) -> Option<(Point, f64)> {
        let promised = dot(&here.force, step);
        let noise = NOISE * here.scale;
        let lower = |point: &Point, length: f64| point.energy <= here.energy - SUFFICIENT * length * promised;
        let slope = |point: &Point| -dot(&point.force, step);
        let full = self.go(x, step, 1.0);
        let steep = slope(&full);
        let quiet = steep.abs() <= 0.5 * promised;
        if quiet && (lower(&full, 1.0) || (promised < noise && full.energy <= here.energy + noise)) {
            return Some((full, 1.0));
        }
        // The minimum lies between `low`, where the energy falls, and `high`.
        let (mut low, mut high): ((f64, f64), Option<(f64, f64)>) = ((0.0, -promised), None);
        let mut best: Option<(f64, f64)> = None;
        let mut length = 1.0;
        let mut point = full;
        let mut found = 0;
        for _ in 0..HALVINGS {
            let good =
                lower(&point, length) || (promised * length < noise && point.energy <= here.energy + noise);
            let s = slope(&point);
            if good && best.is_none_or(|(lowest, _)| point.energy <= lowest + noise) {
                best = Some((point.energy, length));
                if s.abs() <= 0.1 * promised {
                    break;
                }
            }
            if !good || s > 0.0 {
                high = Some((length, if s > 0.0 && s.is_finite() { s } else { f64::INFINITY }));
            } else {
                low = (length, s);
            }
            found += usize::from(best.is_some());
            if found > 6 {
                break;
            }
            length = match high {
                None if length >= 32.0 => break,
                None => 2.0 * length,
                // Nothing good yet: halves. Else the secant, kept away from the ends.
                Some((h, _)) if best.is_none() => 0.5 * h,
                Some((h, at_high)) => {
                    let width = h - low.0;
                    let part = if at_high.is_finite() { -low.1 / (at_high - low.1) } else { 0.5 };
                    low.0 + width * part.clamp(0.1, 0.9)
                }
            };
            point = self.go(x, step, length);
        }
        // The trial is to be the place that is accepted.
        let (_, length) = best?;
        Some((self.go(x, step, length), length))
    }
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, v| v.abs().max(m))
}
