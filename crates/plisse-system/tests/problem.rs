//! Newton's method on a problem of somebody else: nodes of sizes 1, 2, 3 and 5, pairs that change
//! in every iteration, a barrier with a longest step, a point that is no list of numbers, a
//! residual of its own.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::sync::Arc;

use plisse_core::{Positive, Psd};
use plisse_sparse::{BlockMatrix, Layout, Pattern};
use plisse_system::{Criterion, Ended, Failure, Newton, NewtonSettings, Problem, Value};

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
