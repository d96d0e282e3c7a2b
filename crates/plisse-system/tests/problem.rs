//! Newton's method on a problem of somebody else: nodes of sizes 1, 2, 3 and 5, pairs that change
//! in every iteration, a barrier with a longest step, a point that is no list of numbers, a
//! residual of its own. And on one with kinks and almost no stiffness at its start.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::sync::Arc;

use plisse_core::{Positive, Psd};
use plisse_sparse::{BlockMatrix, Layout, Pattern};
use plisse_system::{
    Criterion, Ended, Failure, HessianPolicy, Newton, NewtonSettings, Problem, Search, Value,
};

const SIZES: [usize; 4] = [1, 2, 3, 5];
const UNKNOWNS: usize = 11;

/// Where the problem is, and how often somebody went there.
#[derive(Clone, Debug, Default)]
struct Place {
    x: [f64; UNKNOWNS],
}

/// `Σ cosh(xᵢ - i/10) + Σ over pairs ½ (sum of node a - sum of node b)² - log(x₀)`, with `x₀ > 0`.
///
/// The pairs that count change with the iteration, as those of contact do; what they add is small
/// at the minimum.
struct Toy {
    base: Arc<Pattern>,
    patterns: Vec<Arc<Pattern>>,
    hessians: usize,
    longest: Vec<f64>,
}

impl Toy {
    fn new() -> Self {
        let base = Pattern::new(Layout::mixed(SIZES).unwrap(), [].into_iter()).unwrap();
        Self { base, patterns: Vec::new(), hessians: 0, longest: Vec::new() }
    }

    fn node(&self, node: usize) -> std::ops::Range<usize> {
        self.base.layout().range(node)
    }
}

const PAIRS: [(u32, u32); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

impl Problem for Toy {
    type Point = Place;

    fn pattern(&self) -> &Arc<Pattern> {
        &self.base
    }

    fn value(&mut self, at: &Place) -> Value {
        if at.x[0] <= 0.0 {
            return Value::of(f64::INFINITY);
        }
        let wells: f64 = at.x.iter().enumerate().map(|(i, x)| (x - 0.1 * i as f64).cosh()).sum();
        let sum = |node: u32| at.x[self.node(node as usize)].iter().sum::<f64>();
        let springs: f64 = PAIRS.iter().map(|(a, b)| 0.5 * (sum(*a) - sum(*b)).powi(2)).sum();
        Value::of(wells + springs - at.x[0].ln())
    }

    fn value_and_gradient(&mut self, at: &Place, gradient: &mut [f64]) -> Value {
        for (i, (g, x)) in gradient.iter_mut().zip(&at.x).enumerate() {
            *g = (x - 0.1 * i as f64).sinh();
        }
        gradient[0] -= 1.0 / at.x[0];
        for (a, b) in PAIRS {
            let sum = |node: u32| at.x[self.node(node as usize)].iter().sum::<f64>();
            let apart = sum(a) - sum(b);
            gradient[self.node(a as usize)].iter_mut().for_each(|g| *g += apart);
            gradient[self.node(b as usize)].iter_mut().for_each(|g| *g -= apart);
        }
        self.value(at)
    }

    fn hessian(&mut self, at: &Place, _: Psd, out: &mut BlockMatrix) {
        // The pairs arrive in another order and number each time, so that no two patterns are the
        // same object.
        let count = 6 - self.hessians % 2;
        let mut pairs: Vec<(u32, u32)> = PAIRS.to_vec();
        pairs.rotate_left(self.hessians % 6);
        let first = self.base.grown(pairs[..count].iter().copied()).unwrap();
        let pattern = first.grown(pairs[count..].iter().copied()).unwrap();
        self.hessians += 1;
        out.reset(&pattern);
        let layout = pattern.layout().clone();
        for node in 0..SIZES.len() {
            for (k, i) in layout.range(node).enumerate() {
                let barrier = if i == 0 { at.x[0].powi(-2) } else { 0.0 };
                out.diagonal_mut(node)[k * (layout.size(node) + 1)] +=
                    (at.x[i] - 0.1 * i as f64).cosh() + barrier;
            }
        }
        for (a, b) in PAIRS {
            for node in [a, b] {
                out.diagonal_mut(node as usize).iter_mut().for_each(|entry| *entry += 1.0);
            }
            let start = pattern.slot(b, a).unwrap().offset();
            let numbers = layout.size(a as usize) * layout.size(b as usize);
            out.values_mut()[start..start + numbers].iter_mut().for_each(|entry| *entry -= 1.0);
        }
        self.patterns.push(pattern);
    }

    fn retract(&self, at: &Place, step: &[f64], length: f64, out: &mut Place) {
        for (i, step) in step.iter().enumerate() {
            out.x[i] = at.x[i] + length * step;
        }
    }

    fn longest_step(&mut self, at: &Place, step: &[f64], _: &Place) -> f64 {
        let longest = if step[0] < 0.0 { -0.9 * at.x[0] / step[0] } else { f64::INFINITY };
        self.longest.push(longest);
        longest
    }

    fn residual(&self, gradient: &[f64]) -> f64 {
        gradient.iter().map(|g| g.abs()).sum()
    }

    fn extent(&self, at: &Place) -> f64 {
        at.x.iter().fold(1.0, |m, x| x.abs().max(m))
    }
}

fn settings(tolerance: f64) -> NewtonSettings {
    let criterion = Criterion::ForcePerMass(Positive::new(tolerance).unwrap());
    NewtonSettings {
        criterion,
        linear_tolerance: Some(Positive::literal(1e-13)),
        ..NewtonSettings::default()
    }
}

#[test]
fn a_problem_of_somebody_else_converges_quadratically() {
    let mut toy = Toy::new();
    let mut at = Place { x: [4.0; UNKNOWNS] };
    at.x[0] = 1e-3;
    let report = Newton::new(settings(1e-11)).minimise(&mut toy, &mut at).unwrap();
    assert_eq!(report.ended, Some(Ended::Residual));
    // The gradient there, from differences of the value.
    for i in 0..UNKNOWNS {
        let moved = |h: f64| {
            let mut other = at.clone();
            other.x[i] += h;
            Toy::new().value(&other).sum
        };
        assert!((moved(1e-5) - moved(-1e-5)).abs() / 2e-5 < 1e-8);
    }
    // Quadratic at the end: each residual is below a constant times the square of the one before.
    let residuals: Vec<f64> = report.residuals().collect();
    let tail = &residuals[residuals.len() - 4..];
    for pair in tail.windows(2) {
        assert!(pair[1] <= 3.0 * pair[0] * pair[0] + 1e-13, "{residuals:?}");
    }
    assert!(tail[0] > 1e-4, "the end is more than rounding: {residuals:?}");
    // Patterns did change, and no two were the same.
    assert!(toy.patterns.len() >= 5);
    for (k, pattern) in toy.patterns.iter().enumerate() {
        assert!(toy.patterns[..k].iter().all(|other| other.revision() != pattern.revision()));
    }
}

/// A start from which the full step leaves the domain: the longest step keeps the iteration inside.
#[test]
fn the_longest_step_is_kept() {
    let mut toy = Toy::new();
    let mut at = Place { x: [0.0; UNKNOWNS] };
    at.x[0] = 20.0;
    let report = Newton::new(settings(1e-10)).minimise(&mut toy, &mut at).unwrap();
    assert!(at.x[0] > 0.0 && toy.longest.iter().any(|longest| longest.is_finite()), "{at:?}");
    assert!(report.iterations.iter().all(|iteration| iteration.limit <= 1.0));
}

#[test]
fn a_start_outside_of_the_domain_is_an_error() {
    let mut at = Place { x: [-1.0; UNKNOWNS] };
    let error = Newton::new(settings(1e-10)).minimise(&mut Toy::new(), &mut at).unwrap_err();
    assert_eq!(error.failure, Failure::NoRoom);
}

/// A point on ropes that bear no push: `Σ ½ k max(0, d·x - l)² - f·x`, and a stiffness of almost
/// nothing. The projection leaves out what `twist` adds, which has curvatures of both signs.
struct Ropes {
    pattern: Arc<Pattern>,
    twist: f64,
}

const ROPES: [([f64; 2], f64, f64); 3] =
    [([1.0, 0.0], 1e3, 1.0), ([0.6, 0.8], 1e2, 1.0), ([0.0, -1.0], 1e3, 1.0)];
const LOAD: [f64; 2] = [5.0, 4.0];
const ALMOST_NOTHING: f64 = 1e-8;

impl Ropes {
    fn new(twist: f64) -> Self {
        Self { pattern: Pattern::new(Layout::mixed([2]).unwrap(), [].into_iter()).unwrap(), twist }
    }

    fn taut(x: &[f64; 2]) -> impl Iterator<Item = ([f64; 2], f64, f64)> + '_ {
        let length = |(d, k, l): ([f64; 2], f64, f64)| (d, k, d[0] * x[0] + d[1] * x[1] - l);
        ROPES.into_iter().map(length).filter(|(.., longer)| *longer > 0.0)
    }
}

impl Problem for Ropes {
    type Point = [f64; 2];

    fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    fn value(&mut self, x: &[f64; 2]) -> Value {
        let ropes: f64 = Self::taut(x).map(|(_, k, longer)| 0.5 * k * longer * longer).sum();
        let work = LOAD[0] * x[0] + LOAD[1] * x[1];
        let rest = 0.5 * ALMOST_NOTHING * (x[0] * x[0] + x[1] * x[1]) + self.twist * x[0] * x[1];
        Value { sum: ropes - work + rest, magnitude: ropes + work.abs() + rest.abs() }
    }

    fn value_and_gradient(&mut self, x: &[f64; 2], gradient: &mut [f64]) -> Value {
        for i in 0..2 {
            let ropes: f64 = Self::taut(x).map(|(d, k, longer)| k * longer * d[i]).sum();
            gradient[i] = ropes - LOAD[i] + ALMOST_NOTHING * x[i] + self.twist * x[1 - i];
        }
        self.value(x)
    }

    fn hessian(&mut self, x: &[f64; 2], psd: Psd, out: &mut BlockMatrix) {
        out.reset(&self.pattern);
        out.add_to_diagonal(0, ALMOST_NOTHING);
        let twist = if psd == Psd::Exact { self.twist } else { 0.0 };
        for (at, entry) in out.diagonal_mut(0).iter_mut().enumerate() {
            let [i, j] = [at / 2, at % 2];
            *entry += Self::taut(x).map(|(d, k, _)| k * d[i] * d[j]).sum::<f64>();
            *entry += if i == j { 0.0 } else { twist };
        }
    }

    fn retract(&self, x: &[f64; 2], step: &[f64], length: f64, out: &mut [f64; 2]) {
        *out = [x[0] + length * step[0], x[1] + length * step[1]];
    }

    fn extent(&self, x: &[f64; 2]) -> f64 {
        x[0].abs().max(x[1].abs()).max(1.0)
    }
}

/// The first step is a hundred thousand kilometres long; the ropes end it after a metre.
#[test]
fn secants_find_the_kinks() {
    let secant =
        NewtonSettings { search: Search::Secant, hessian: HessianPolicy::ExactWhenNear, ..settings(1e-9) };
    let mut x = [0.0; 2];
    let mut newton = Newton::new(secant);
    let report = newton.minimise(&mut Ropes::new(0.0), &mut x).unwrap();
    // Both forces are in balance: 0.8 k t = 4 of the second rope, the rest is on the first.
    let known = [1.002, (1.05 - 0.6 * 1.002) / 0.8];
    assert!((x[0] - known[0]).abs() < 1e-9 && (x[1] - known[1]).abs() < 1e-9, "{x:?}");
    assert_eq!(newton.is_minimum(&mut Ropes::new(0.0), &x), Some(true));
    assert!(report.iterations[0].length < 1e-7 && report.iterations[1].regularisation > 0.0, "{report:?}");
    assert!(report.iterations.len() <= 8, "{report:?}");
    assert!(report.iterations.windows(2).all(|pair| pair[1].energy < pair[0].energy), "{report:?}");
}

/// What the projection leaves out is in the matrix at the end, and makes it converge quadratically.
#[test]
fn near_the_minimum_the_hessian_is_exact() {
    let near =
        NewtonSettings { search: Search::Secant, hessian: HessianPolicy::ExactWhenNear, ..settings(1e-9) };
    let mut x = [0.0; 2];
    let mut newton = Newton::new(near);
    let report = newton.minimise(&mut Ropes::new(20.0), &mut x).unwrap();
    assert!(!report.iterations[0].exact && report.iterations.last().is_some_and(|last| last.exact));
    assert_eq!(newton.is_minimum(&mut Ropes::new(20.0), &x), Some(true));
    // Where no rope is taut nothing but the twist is left: a saddle.
    assert_eq!(newton.is_minimum(&mut Ropes::new(20.0), &[0.0; 2]), Some(false));
}
