//! Factors against the matrices they are of, and bits against bits.

use std::sync::Arc;

use proptest::prelude::*;

use super::{Multifrontal, Plan, Real};
use crate::cg::norm;
use crate::dissection;
use crate::error::LinearError;
use crate::graph::Graph;
use crate::layout::Layout;
use crate::matrix::BlockMatrix;
use crate::oracle::FaerCholesky;
use crate::order;
use crate::pattern::Pattern;

/// Numbers between -1 and 1 that look random.
fn noise(seed: usize) -> f64 {
    let x = (seed as f64 * 12.9898 + 4.1).sin() * 43758.5453;
    2.0 * (x - x.floor()) - 1.0
}

/// Noise in every block, and as much on the diagonal as makes it positive definite.
fn matrix(pattern: &Arc<Pattern>, seed: usize) -> BlockMatrix {
    let mut a = BlockMatrix::zeros(Arc::clone(pattern));
    let layout = pattern.layout();
    let mut sums = vec![0.5; pattern.size()];
    for j in 0..pattern.size() {
        for (i, numbers) in pattern.column(j) {
            let (rows, start) = (layout.size(i), numbers.start);
            sums[i] += layout.size(j) as f64;
            sums[j] += layout.size(i) as f64;
            for at in numbers {
                let (r, c) = ((at - start) % rows, (at - start) / rows);
                let entry = if i == j { r.min(c) * rows + r.max(c) } else { at - start };
                a.values_mut()[at] = noise(seed + 101 * i + 13 * j + entry);
            }
        }
    }
    for (node, sum) in sums.into_iter().enumerate() {
        a.add_to_diagonal(node, sum);
    }
    a
}

fn plan(pattern: &Pattern, order: &[u32]) -> Arc<Plan> {
    Arc::new(Plan::new(pattern, &Graph::of(pattern), order))
}

/// Relative error of the solution of a known system.
fn error<T: Real>(a: &BlockMatrix, order: &[u32]) -> f64 {
    let mut factor = Multifrontal::<T>::new(&plan(a.pattern(), order)).unwrap();
    let n = a.pattern().layout().unknowns();
    let expected: Vec<f64> = (0..n).map(|i| noise(i + 77)).collect();
    let (mut b, mut x) = (vec![0.0; n], vec![0.0; n]);
    a.mul(&expected, &mut b);
    // Twice: memory is used again.
    for _ in 0..2 {
        factor.factorise(a).unwrap();
        factor.solve(&b, &mut x);
    }
    let difference: Vec<f64> = x.iter().zip(&expected).map(|(x, e)| x - e).collect();
    norm(&difference) / norm(&expected).max(1e-300)
}

fn check(pattern: &Arc<Pattern>, seed: usize) {
    let a = matrix(pattern, seed);
    let by_degree = order::by_nodes(pattern).unwrap();
    let natural: Vec<u32> = (0..pattern.size() as u32).collect();
    let dissected = dissection::order(&Graph::of(pattern));
    let mut all = dissected.clone();
    all.sort_unstable();
    assert_eq!(all, natural, "every node once");
    for order in [by_degree, natural, dissected] {
        let double = error::<f64>(&a, &order);
        assert!(double < 1e-12, "{double}");
        let single = error::<f32>(&a, &order);
        assert!(single < 1e-4, "{single}");
    }
}

fn pattern(
    sizes: impl IntoIterator<Item = usize>,
    pairs: impl IntoIterator<Item = (u32, u32)>,
) -> Arc<Pattern> {
    Pattern::new(Layout::mixed(sizes).unwrap(), pairs.into_iter()).unwrap()
}

fn grid(n: u32, size: usize) -> Arc<Pattern> {
    let right = (0..n * n).filter(move |k| k % n + 1 < n).map(|k| (k, k + 1));
    let up = (0..n * n - n).flat_map(move |k| [(k, k + n), (k, (k + n + 1).min(n * n - 1))]);
    pattern(vec![size; (n * n) as usize], right.chain(up))
}

/// faer's solution is ours.
fn compare(pattern: &Arc<Pattern>, seed: usize) {
    let a = matrix(pattern, seed);
    let n = pattern.layout().unknowns();
    let b: Vec<f64> = (0..n).map(|i| noise(i + 5)).collect();
    let (mut theirs, mut ours) = (vec![0.0; n], vec![0.0; n]);
    let mut oracle = FaerCholesky::new(pattern).unwrap();
    oracle.factorise_double(&a).unwrap();
    oracle.substitute_double(&b, &mut theirs);
    let mut factor =
        Multifrontal::<f64>::new(&plan(pattern, &dissection::order(&Graph::of(pattern)))).unwrap();
    factor.factorise(&a).unwrap();
    factor.solve(&b, &mut ours);
    let difference: Vec<f64> = ours.iter().zip(&theirs).map(|(x, y)| x - y).collect();
    assert!(norm(&theirs) > 0.0 && norm(&difference) < 1e-12 * norm(&theirs));
}

#[test]
fn solutions_are_those_of_faer() {
    compare(&grid(40, 3), 1);
    compare(&pattern((0..900usize).map(|k| 1 + k % 6), (0..899).flat_map(|k| [(k, k + 1), (k, k / 2)])), 2);
    compare(&pattern([4, 2, 6], [(0, 2)]), 3);
}

proptest! {
    #[test]
    fn any_graph(
        sizes in prop::collection::vec(1usize..=6, 1..60),
        pairs in prop::collection::vec((0u32..1000, 0u32..1000), 0..150),
        seed in 0usize..1000,
    ) {
        let n = sizes.len() as u32;
        check(&pattern(sizes, pairs.into_iter().map(|(i, j)| (i % n, j % n))), seed);
    }
}

#[test]
fn special_graphs() {
    for size in [1, 3, 6] {
        // One node, nodes without neighbours, a chain, a star with its centre first and last, a
        // full matrix, a grid.
        check(&pattern([size], []), 1);
        check(&pattern(vec![size; 700], []), 2);
        check(&pattern(vec![size; 700], (0..699).map(|k| (k, k + 1))), 3);
        check(&pattern(vec![size; 300], (1..300).map(|k| (0, k))), 4);
        check(&pattern(vec![size; 300], (0..299).map(|k| (299, k))), 5);
        check(&pattern(vec![size; 70], (0..70).flat_map(|i| (0..i).map(move |j| (i, j)))), 6);
        check(&grid(23, size), 7);
    }
    check(&pattern([], []), 0);
}

/// Blocks that were added to a pattern later are stored elsewhere.
#[test]
fn grown_patterns() {
    let base = grid(12, 3);
    let grown = base.grown([(0, 100), (5, 77), (140, 3)].into_iter()).unwrap();
    check(&grown, 5);
}

/// Long chains in their natural order are a tree as deep as can be.
#[test]
fn deep_trees_need_no_deep_stack() {
    let chain = pattern(vec![3; 60_000], (0..59_999).map(|k| (k, k + 1)));
    let natural: Vec<u32> = (0..60_000).collect();
    let a = matrix(&chain, 3);
    for threads in [1, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(|| error::<f64>(&a, &natural)) < 1e-12);
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let a = matrix(&grid(70, 3), 11);
    let plan = plan(a.pattern(), &order::by_nodes(a.pattern()).unwrap());
    assert!(plan.work() > 4.0 * super::SUBTREE.max(super::FRONT), "{}", plan.work());
    fn bits<T: Real>(a: &BlockMatrix, plan: &Arc<Plan>, threads: usize) -> Vec<f64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut factor = Multifrontal::<T>::new(plan).unwrap();
            factor.factorise(a).unwrap();
            let b: Vec<f64> = (0..a.pattern().layout().unknowns()).map(noise).collect();
            let mut x = vec![0.0; b.len()];
            factor.solve(&b, &mut x);
            x
        })
    }
    let (single, double) = (bits::<f32>(&a, &plan, 1), bits::<f64>(&a, &plan, 1));
    for threads in [2, 3, 4, 8] {
        assert!(bits::<f32>(&a, &plan, threads) == single, "{threads} threads, single precision");
        assert!(bits::<f64>(&a, &plan, threads) == double, "{threads} threads, double precision");
    }
}

#[test]
fn what_is_not_positive_definite_is_told() {
    for node in [0, 200, 483] {
        for value in [-300.0, f64::NAN, f64::INFINITY] {
            let mut a = matrix(&grid(22, 3), 1);
            a.add_to_diagonal(node, value);
            let plan = plan(a.pattern(), &order::by_nodes(a.pattern()).unwrap());
            let mut factor = Multifrontal::<f64>::new(&plan).unwrap();
            assert_eq!(factor.factorise(&a), Err(LinearError::NotPositiveDefinite), "{node} {value}");
            let mut factor = Multifrontal::<f32>::new(&plan).unwrap();
            assert_eq!(factor.factorise(&a), Err(LinearError::NotPositiveDefinite), "{node} {value}");
        }
    }
}

/// Units do not matter, not even in single precision.
#[test]
fn units_do_not_matter() {
    for unit in [1e-60, 1e60] {
        let mut a = matrix(&grid(12, 3), 5);
        a.values_mut().iter_mut().for_each(|value| *value *= unit);
        let natural: Vec<u32> = (0..144).collect();
        assert!(error::<f32>(&a, &natural) < 1e-5);
    }
}

/// More precision helps where the matrix is definite, and where it is not that is told.
#[test]
fn indefinite_for_sure_or_only_in_single_precision() {
    let base = grid(22, 3);
    let plan = plan(&base, &order::by_nodes(&base).unwrap());
    let mut factor = Multifrontal::<f32>::new(&plan).unwrap();
    for node in [0, 100, 240, 483] {
        let mut a = matrix(&base, 1);
        a.add_to_diagonal(node, -80.0);
        assert_eq!(factor.factorise(&a), Err(LinearError::NotPositiveDefinite));
        assert!(factor.is_surely_indefinite(&a), "{node}");
    }
    // Two unknowns whose difference is all but free: single precision cannot tell.
    let two = pattern([1, 1], [(0, 1)]);
    let plan = self::plan(&two, &[0, 1]);
    let mut factor = Multifrontal::<f32>::new(&plan).unwrap();
    for (coupling, is_sure) in [(1.0 - 1e-9, false), (1.0 + 1e-9, true)] {
        let mut a = BlockMatrix::zeros(Arc::clone(&two));
        a.values_mut().copy_from_slice(&[1.0, coupling, 1.0]);
        assert_eq!(factor.factorise(&a), Err(LinearError::NotPositiveDefinite), "{coupling}");
        assert_eq!(factor.is_surely_indefinite(&a), is_sure, "{coupling}");
        assert_eq!(Multifrontal::<f64>::new(&plan).unwrap().factorise(&a).is_ok(), !is_sure);
    }
}

#[test]
fn dissection_depends_on_no_thread_and_has_little_fill() {
    let base = grid(90, 3);
    let graph = Graph::of(&base);
    let order_by = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| dissection::order(&graph))
    };
    let one = order_by(1);
    for threads in [2, 3, 4, 8] {
        assert_eq!(order_by(threads), one, "{threads} threads");
    }
    let [dissected, by_degree] =
        [one, order::by_nodes(&base).unwrap()].map(|order| plan(&base, &order).factor_len());
    assert!(5 * dissected < 6 * by_degree, "{dissected} against {by_degree}");
}
