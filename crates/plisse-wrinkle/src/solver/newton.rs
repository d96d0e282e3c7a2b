//! Projected Newton steps under `a ≥ 0`.

use plisse_core::{Edges, Field, Psd, Vertices};

use super::projection::FaceHessian;
use super::report::{Kkt, WrinkleEnd, WrinkleIteration, WrinkleRun};
use super::settings::{FaceProjection, Periods, WrinkleSettings};
use super::system::WrinkleSystem;
use crate::start::WrinkleStart;

/// Amplitudes below this part of the largest one at the start count as zero where the energy grows
/// with them.
const ZERO: f64 = 1e-6;
/// Parts of the mean diagonal that are added to the projected Hessian, one after the other until a
/// step is found. The first only keeps phases that nobody sees from stopping the factorisation.
const SHIFTS: [f64; 5] = [1e-10, 1e-7, 1e-4, 1e-2, 1.0];
/// The least and the largest such part for phases, with less than the whole correction; amplitudes
/// get nothing. A single phase next to amplitudes of almost nothing is enough to make the matrix
/// indefinite: a diagonal of its own size cures that and leaves all others to Newton, where more of
/// the correction would slow down the whole sheet. Beyond the largest, others would be slow as
/// well.
const UNSEEN: [f64; 2] = [1e-13, 2e-7];
/// By how much the shift of phases grows where it was not enough, and falls after a step that
/// worked at once.
const UNSEEN_GROWTH: [f64; 2] = [1e3, 0.1];
/// The least part of the correction that is tried besides none.
const LEAST: f64 = 1.0 / 64.0;
/// The relative change up to which amplitudes follow a hyperbola.
const BENT: f64 = 0.5;
/// Steps shorter than this part of themselves ask for more of the correction next time.
const SHORT: f64 = 0.1;
/// Halvings of a step before another one is tried.
const HALVINGS: usize = 40;
/// Energies are sums of some thousand faces, right to some ten roundings: a step that gains less
/// cannot be judged by them.
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

    fn is_finite(&self) -> bool {
        self.a.as_slice().iter().chain(self.omega.as_slice()).all(|value| value.is_finite())
    }

    /// Moves to `from + length · step`, amplitudes not below `shrink` times what they were; returns
    /// `g · (self - from)`.
    ///
    /// The compression fixes the product of amplitude and frequency, little fixes either: the
    /// energy has valleys along the hyperbolas `a |w| = const`, and straight steps along one leave
    /// it. Therefore not the amplitude but its inverse is moved in proportion, to `a/(1 - p/a)`,
    /// which is `a + p` to first order and keeps to the hyperbola; amplitudes that change by more
    /// than half move straight.
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
            let by = length * step[k];
            let new =
                if by.abs() < BENT * old { old / (1.0 - by / old) } else { (old + by).max(shrink * old) };
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

/// A run and its memory.
struct Run<'r, 'a> {
    system: &'r mut WrinkleSystem<'a>,
    settings: &'r WrinkleSettings,
    projected: FaceHessian,
    /// Whether the last step gained a lot, or there was none.
    far: bool,
    /// The shift of phases to begin with.
    unseen: f64,
    gradient: Vec<f64>,
    step: Vec<f64>,
    /// Per unknown, whether it is held: an amplitude at its bound, a period if all are.
    active: Vec<bool>,
    /// The state at the end of the step that is tried.
    trial: Point,
}

/// A step that was taken.
struct Taken {
    energy: f64,
    length: f64,
    /// How much of the correction was in its matrix.
    part: f64,
}

/// What it took to find a step.
#[derive(Default)]
struct Effort {
    factorisations: usize,
    evaluations: usize,
}

fn lessened(part: f64) -> f64 {
    if part > LEAST { 0.25 * part } else { 0.0 }
}

fn raised(part: f64) -> f64 {
    (4.0 * part).clamp(LEAST, 1.0)
}

/// Minimises from a start; the point becomes the minimum.
pub(super) fn minimise(
    system: &mut WrinkleSystem<'_>,
    point: &mut Point,
    settings: &WrinkleSettings,
    start: Option<WrinkleStart>,
) -> WrinkleRun {
    let n = system.unknown_count();
    let thickness = system.problem().sheet().sheet().thickness();
    let largest = |a: &Field<Vertices, f64>| a.as_slice().iter().fold(thickness, |m, x| m.max(*x));
    let start_scale = largest(&point.a);
    let mut run = Run {
        system,
        settings,
        projected: match settings.projection {
            FaceProjection::Clamp => FaceHessian::Projected(Psd::Clamp),
            FaceProjection::ScaledAbs => FaceHessian::Scaled(Psd::Abs, start_scale),
        },
        far: true,
        unseen: UNSEEN[0],
        gradient: vec![0.0; n],
        step: vec![0.0; n],
        active: vec![false; n],
        trial: point.clone(),
    };

    if settings.periods == Periods::Held {
        let first = run.system.first_period();
        run.active[first..].fill(true);
    }

    let mut iterations = Vec::with_capacity(settings.max_iterations.min(1000));
    let mut part = 1.0;
    let mut energy = run.system.energy(&point.a, &point.omega);
    loop {
        run.system.gradient(&point.a, &point.omega, &mut run.gradient);
        if run.snap(point, ZERO * start_scale) {
            energy = run.system.energy(&point.a, &point.omega);
        }
        let active = mark(run.system, point, &run.gradient, &mut run.active);
        let kkt = run.residual(largest(&point.a), energy);
        let done = |end, iterations| WrinkleRun { start, end, iterations, energy, kkt, active };
        // Energies of faces saturate and hide what is not finite; an infinite sum would make every
        // residual small.
        if !(point.is_finite() && energy.is_finite()) || kkt.relative.is_nan() {
            return done(WrinkleEnd::NotFinite, iterations);
        }
        if kkt.relative <= settings.tolerance {
            return done(WrinkleEnd::Converged, iterations);
        }
        if iterations.len() >= settings.max_iterations {
            return done(WrinkleEnd::IterationLimit, iterations);
        }
        let mut effort = Effort::default();
        let Some(taken) = run.find_step(point, energy, part, &mut effort) else {
            return done(WrinkleEnd::Stalled, iterations);
        };
        iterations.push(WrinkleIteration {
            energy,
            kkt,
            active,
            part: taken.part,
            length: taken.length,
            factorisations: effort.factorisations,
            evaluations: effort.evaluations,
        });
        run.far = energy - taken.energy >= settings.switch * run.system.excess(energy);
        part = match effort.factorisations {
            // Far away, the whole correction leads to better minima.
            _ if run.far => 1.0,
            // Less of it after a step that worked at once, more where that had to be shortened a
            // lot.
            1 if taken.length > SHORT => lessened(taken.part),
            1 => raised(taken.part),
            // As much after one that was found only now.
            _ => taken.part,
        };
        energy = taken.energy;
        std::mem::swap(point, &mut run.trial);
    }
}

impl Run<'_, '_> {
    /// Sets amplitudes that are as good as zero to zero where the energy grows with them from there
    /// on; whether there were any. The gradient is up to date afterwards.
    fn snap(&mut self, point: &mut Point, zero: f64) -> bool {
        let mut any = false;
        for (k, &vertex) in self.system.free_vertices().iter().enumerate() {
            let a = point.a[vertex];
            self.trial.a[vertex] = a;
            if self.gradient[k] > 0.0 && a > 0.0 && a <= zero {
                point.a[vertex] = 0.0;
                any = true;
            }
        }
        if any {
            self.system.gradient(&point.a, &point.omega, &mut self.gradient);
            let mut back = false;
            for (k, &vertex) in self.system.free_vertices().iter().enumerate() {
                // Small, but not zero: it would leave again.
                if point.a[vertex] < self.trial.a[vertex] && self.gradient[k] < 0.0 {
                    point.a[vertex] = self.trial.a[vertex];
                    back = true;
                }
            }
            if back {
                self.system.gradient(&point.a, &point.omega, &mut self.gradient);
            }
        }
        any
    }

    /// Finds a step that lowers the energy, beginning with this part of the correction; `trial` is
    /// where it ends.
    fn find_step(&mut self, point: &Point, energy: f64, part: f64, effort: &mut Effort) -> Option<Taken> {
        let first = if part > 0.0 { self.projected } else { FaceHessian::Exact };
        self.system.assemble(&point.a, &point.omega, first);
        let mut part = part;
        // Below one the matrix may be indefinite or its step too long: more of the correction cures
        // both.
        while part < 1.0 {
            let first = self.unseen;
            let ([least, most], [more, less]) = (UNSEEN, UNSEEN_GROWTH);
            self.unseen = (less * first).max(least);
            let mut shift = first;
            while shift <= most {
                self.system.load(part, 0.0, shift, &self.active);
                if let Some(taken) = self.search(point, energy, part, effort) {
                    self.unseen = if shift > first { shift } else { self.unseen };
                    return Some(taken);
                }
                shift *= more;
            }
            if part <= 0.0 {
                self.system.assemble(&point.a, &point.omega, self.projected);
            }
            part = raised(part);
        }
        SHIFTS.into_iter().find_map(|shift| {
            self.system.load(1.0, shift, shift, &self.active);
            self.search(point, energy, 1.0, effort)
        })
    }

    /// Factorises what was loaded and halves the step until the energy falls enough along the
    /// projected arc.
    fn search(&mut self, point: &Point, energy: f64, part: f64, effort: &mut Effort) -> Option<Taken> {
        effort.factorisations += 1;
        if !self.system.factorise() {
            return None;
        }
        for ((step, g), active) in self.step.iter_mut().zip(&self.gradient).zip(&self.active) {
            *step = if *active { 0.0 } else { -g };
        }
        self.system.solve(&mut self.step);
        let shrink = if self.far { self.settings.shrink } else { 0.0 };
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let gain = self.trial.advance(self.system, point, &self.step, length, shrink, &self.gradient);
            let reached = self.system.energy(&self.trial.a, &self.trial.omega);
            effort.evaluations += 1;
            let enough = energy + self.settings.armijo * gain + ROUNDING * energy.abs();
            if gain < 0.0 && reached <= enough {
                return Some(Taken { energy: reached, length, part });
            }
            length *= 0.5;
        }
        None
    }

    fn residual(&self, scale: f64, energy: f64) -> Kkt {
        let forms = self.system.amplitude_count();
        let largest = |range: std::ops::Range<usize>| {
            let entries = self.gradient[range.clone()].iter().zip(&self.active[range]);
            entries.filter(|(_, active)| !**active).fold(0.0, |m, (g, _)| larger(m, g.abs()))
        };
        let (amplitude, omega) = (largest(0..forms), largest(forms..self.gradient.len()));
        let size = larger(amplitude * scale, omega);
        // Zero over zero: no strain, no residual.
        let relative = if size == 0.0 { 0.0 } else { size / self.system.excess(energy) };
        Kkt { amplitude, omega, relative }
    }
}

/// The larger number; NaN if one is, which `f64::max` would drop.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a >= b { a } else { b }
}

/// Marks amplitudes that are zero and would only shrink; how many. Where all neighbours are zero
/// too the derivative is exactly zero, and the amplitude is held as well: it is stationary, and its
/// exact Hessian may be of any sign.
fn mark(system: &WrinkleSystem<'_>, point: &Point, gradient: &[f64], active: &mut [bool]) -> usize {
    let mut count = 0;
    for (k, &vertex) in system.free_vertices().iter().enumerate() {
        active[k] = point.a[vertex] <= 0.0 && gradient[k] >= 0.0;
        count += usize::from(active[k]);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::larger;

    #[test]
    fn nan_is_larger_than_everything() {
        assert_eq!([(1.0, 2.0), (2.0, 1.0), (0.0, 0.0)].map(|(a, b)| larger(a, b)), [2.0, 2.0, 0.0]);
        for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::INFINITY, f64::NAN)] {
            assert!(larger(a, b).is_nan());
        }
    }
}
