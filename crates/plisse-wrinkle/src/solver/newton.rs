//! Projected Newton steps under `a ≥ 0`.

use plisse_core::{Edges, Field, Psd, Vertices};

use super::report::{Kkt, WrinkleEnd, WrinkleIteration, WrinkleRun};
use super::settings::{FaceProjection, WrinkleSettings};
use super::system::{FaceHessian, WrinkleSystem};
use crate::start::WrinkleStart;

/// Amplitudes below this part of the largest one at the start count as zero where the energy grows with them.
const ZERO: f64 = 1e-6;
/// Parts of the mean diagonal that are added to the projected Hessian, one after the other until a step is found. The first only keeps
/// phases that nobody sees from stopping the factorisation.
const SHIFTS: [f64; 5] = [1e-10, 1e-7, 1e-4, 1e-2, 1.0];
/// The same for phases under the exact Hessian; amplitudes get nothing.
const EXACT_SHIFT: f64 = 1e-13;
/// Halvings of a step before another one is tried.
const HALVINGS: usize = 40;
/// Energies are sums of some thousand faces, right to some ten roundings: a step that gains less cannot be judged by them.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// A state of the unknowns, and the frequencies that follow from it.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) a: Field<Vertices, f64>,
    pub(crate) phi: Vec<f64>,
    pub(crate) c: Vec<f64>,
    pub(crate) omega: Field<Edges, f64>,
}

impl Point {
    pub(crate) fn new(
        system: &WrinkleSystem<'_>,
        a: Field<Vertices, f64>,
        phi: Vec<f64>,
        c: Vec<f64>,
    ) -> Self {
        let complex = system.problem().complex();
        let mut omega = Field::filled(system.problem().sheet().mesh().edge_count(), 0.0);
        complex.write_omega(&phi, &c, &mut omega);
        Self { a, phi, c, omega }
    }

    /// `self = from + length · step`, amplitudes not below `shrink` times what they were; returns the slope's share `g · (self - from)`.
    fn advance(
        &mut self,
        system: &WrinkleSystem<'_>,
        from: &Self,
        step: &[f64],
        length: f64,
        shrink: f64,
        g: &[f64],
    ) -> f64 {
        let mut gain = 0.0;
        for (k, &vertex) in system.free_vertices().iter().enumerate() {
            let old = from.a[vertex];
            let new = (old + length * step[k]).max(shrink * old);
            self.a[vertex] = new;
            gain += g[k] * (new - old);
        }
        self.phi.copy_from_slice(&from.phi);
        system.add_phases(step, length, &mut self.phi);
        for ((to, from), by) in self.c.iter_mut().zip(&from.c).zip(system.periods(step)) {
            *to = from + length * by;
        }
        let forms = system.amplitude_count();
        gain += length * g[forms..].iter().zip(&step[forms..]).map(|(g, s)| g * s).sum::<f64>();
        system.problem().complex().write_omega(&self.phi, &self.c, &mut self.omega);
        gain
    }
}

/// Memory of a run.
struct Work {
    gradient: Vec<f64>,
    step: Vec<f64>,
    /// Per unknown, whether it is held at its bound.
    active: Vec<bool>,
    trial: Point,
}

/// A step that was taken.
struct Taken {
    energy: f64,
    length: f64,
    exact: bool,
}

/// What it took to find a step.
#[derive(Default)]
struct Effort {
    factorisations: usize,
    evaluations: usize,
}

/// Minimises from a start; the point becomes the minimum.
pub(super) fn minimise(
    system: &mut WrinkleSystem<'_>,
    point: &mut Point,
    settings: &WrinkleSettings,
    start: WrinkleStart,
) -> WrinkleRun {
    let n = system.unknown_count();
    let mut work =
        Work { gradient: vec![0.0; n], step: vec![0.0; n], active: vec![false; n], trial: point.clone() };
    let largest = |a: &Field<Vertices, f64>| a.as_slice().iter().fold(0.0f64, |m, x| m.max(*x));
    let start_scale = largest(&point.a).max(system.problem().sheet().sheet().thickness());
    let projected = match settings.projection {
        FaceProjection::Clamp => FaceHessian::Projected(Psd::Clamp),
        FaceProjection::ScaledAbs => FaceHessian::Scaled(Psd::Abs, start_scale),
    };

    let mut iterations = Vec::with_capacity(settings.max_iterations.min(1000));
    let mut exact = false;
    let mut energy = system.energy(&point.a, &point.omega);
    loop {
        system.gradient(&point.a, &point.omega, &mut work.gradient);
        if snap(system, point, &work.gradient, ZERO * start_scale) {
            energy = system.energy(&point.a, &point.omega);
            system.gradient(&point.a, &point.omega, &mut work.gradient);
        }
        let active = mark(system, point, &work.gradient, &mut work.active);
        let scale = largest(&point.a).max(system.problem().sheet().sheet().thickness());
        let kkt = residual(system, &work, scale, energy);
        let done = |end, iterations| WrinkleRun { start, end, iterations, energy, kkt, active };
        if kkt.relative <= settings.tolerance {
            return done(WrinkleEnd::Converged, iterations);
        }
        if iterations.len() >= settings.max_iterations {
            return done(WrinkleEnd::IterationLimit, iterations);
        }

        let mut effort = Effort::default();
        let mut taken = None;
        if exact {
            system.assemble(&point.a, &point.omega, FaceHessian::Exact);
            system.regularise(0.0, EXACT_SHIFT, &work.active);
            taken = search(system, point, &mut work, energy, (settings, true), &mut effort);
        }
        for shift in SHIFTS {
            if taken.is_some() {
                break;
            }
            system.assemble(&point.a, &point.omega, projected);
            system.regularise(shift, shift, &work.active);
            taken = search(system, point, &mut work, energy, (settings, false), &mut effort);
        }
        let Some(step) = taken else {
            return done(WrinkleEnd::Stalled, iterations);
        };
        iterations.push(WrinkleIteration {
            energy,
            kkt,
            active,
            exact: step.exact,
            length: step.length,
            factorisations: effort.factorisations,
            evaluations: effort.evaluations,
        });
        // Where the energy hardly changes any more, the exact Hessian is likely to be positive definite.
        exact = energy - step.energy < settings.switch * energy.abs();
        energy = step.energy;
        std::mem::swap(point, &mut work.trial);
    }
}

/// Factorises what was assembled and halves the step until the energy falls enough along the projected arc; the state it finds is
/// `work.trial`.
fn search(
    system: &mut WrinkleSystem<'_>,
    point: &Point,
    work: &mut Work,
    energy: f64,
    (settings, exact): (&WrinkleSettings, bool),
    effort: &mut Effort,
) -> Option<Taken> {
    effort.factorisations += 1;
    if !system.factorise() {
        return None;
    }
    for ((step, g), active) in work.step.iter_mut().zip(&work.gradient).zip(&work.active) {
        *step = if *active { 0.0 } else { -g };
    }
    system.solve(&mut work.step);
    let shrink = if exact { 0.0 } else { settings.shrink };
    let mut length = 1.0;
    for _ in 0..HALVINGS {
        let gain = work.trial.advance(system, point, &work.step, length, shrink, &work.gradient);
        let reached = system.energy(&work.trial.a, &work.trial.omega);
        effort.evaluations += 1;
        if gain < 0.0 && reached <= energy + settings.armijo * gain + ROUNDING * energy.abs() {
            return Some(Taken { energy: reached, length, exact });
        }
        length *= 0.5;
    }
    None
}

/// Sets amplitudes that are as good as zero to zero where the energy grows with them; whether there were any.
fn snap(system: &WrinkleSystem<'_>, point: &mut Point, gradient: &[f64], zero: f64) -> bool {
    let mut any = false;
    for (&vertex, &g) in system.free_vertices().iter().zip(gradient) {
        if g > 0.0 && point.a[vertex] > 0.0 && point.a[vertex] <= zero {
            point.a[vertex] = 0.0;
            any = true;
        }
    }
    any
}

/// Marks amplitudes that are zero and would only shrink; how many. Where all neighbours are zero too the derivative is exactly zero, and
/// the amplitude is held as well: it is stationary, and its exact Hessian may be of any sign.
fn mark(system: &WrinkleSystem<'_>, point: &Point, gradient: &[f64], active: &mut [bool]) -> usize {
    let mut count = 0;
    for (k, &vertex) in system.free_vertices().iter().enumerate() {
        active[k] = point.a[vertex] <= 0.0 && gradient[k] >= 0.0;
        count += usize::from(active[k]);
    }
    count
}

fn residual(system: &WrinkleSystem<'_>, work: &Work, scale: f64, energy: f64) -> Kkt {
    let forms = system.amplitude_count();
    let largest = |range: std::ops::Range<usize>| {
        let entries = work.gradient[range.clone()].iter().zip(&work.active[range]);
        entries.filter(|(_, active)| !**active).fold(0.0f64, |m, (g, _)| m.max(g.abs()))
    };
    let (amplitude, omega) = (largest(0..forms), largest(forms..work.gradient.len()));
    let size = (amplitude * scale).max(omega);
    // Zero over zero: no strain, no residual.
    let relative = if size > 0.0 { size / energy.abs() } else { 0.0 };
    Kkt { amplitude, omega, relative }
}
