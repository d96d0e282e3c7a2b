//! Closest integers against all integers in reach.

use super::*;
use proptest::prelude::*;

/// Every vector within `reach` of the target.
fn brute_force(gram: &[f64], target: &[f64], reach: i64) -> (Vec<i64>, f64) {
    let n = target.len();
    let width = 2 * reach + 1;
    let mut best = (vec![], f64::INFINITY);
    for code in 0..width.pow(n as u32) {
        let mut rest = code;
        let k: Vec<i64> = target
            .iter()
            .map(|t| {
                let digit = rest % width;
                rest /= width;
                t.round() as i64 + digit - reach
            })
            .collect();
        let cost = quadratic_form(gram, target, &k);
        if cost < best.1 {
            best = (k, cost);
        }
    }
    best
}

/// Fixes the unknown that is nearest to an integer, solves for the others again, and so on.
fn greedy(gram: &[f64], target: &[f64]) -> Vec<i64> {
    let n = target.len();
    let mut free: Vec<usize> = (0..n).collect();
    let mut k: Vec<f64> = target.to_vec();
    while !free.is_empty() {
        let at = (0..free.len())
            .min_by(|a, b| {
                let off = |i: usize| (k[free[i]] - k[free[i]].round()).abs();
                off(*a).total_cmp(&off(*b))
            })
            .unwrap();
        let fixed = free.remove(at);
        k[fixed] = k[fixed].round();
        // Gauss-Seidel on the free ones: slow and sure.
        for _ in 0..10_000 {
            for &i in &free {
                let sum: f64 = (0..n).filter(|j| *j != i).map(|j| gram[i * n + j] * (k[j] - target[j])).sum();
                k[i] = target[i] - sum / gram[i * n + i];
            }
        }
    }
    k.iter().map(|k| *k as i64).collect()
}

fn gram_of(rows: &[f64], n: usize, ridge: f64) -> Vec<f64> {
    let mut g = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            g[i * n + j] = (0..n).map(|k| rows[k * n + i] * rows[k * n + j]).sum::<f64>();
        }
        g[i * n + i] += ridge;
    }
    g
}

#[test]
fn the_optimum_is_below_all_ways_of_rounding() {
    // Columns of a skewed basis: rounding number by number and rounding one after the other miss
    // the closest point.
    let rows = [1.0, 0.45, 0.30, 0.0, 0.30, 0.55, 0.0, 0.0, 0.20];
    let gram = gram_of(&rows, 3, 0.0);
    let target = [3.41, -7.45, 12.40];
    let exact = closest_integers(&gram, &target, DEFAULT_NODE_LIMIT).unwrap();
    assert!(exact.proven);
    let rounded: Vec<i64> = target.iter().map(|t| t.round() as i64).collect();
    let by_rounding = quadratic_form(&gram, &target, &rounded);
    let by_greed = quadratic_form(&gram, &target, &greedy(&gram, &target));
    // The first leaf of the search in the basis as it is: rounding from the last to the first, each
    // for what the others have become.
    let leaf = Basis::new(&gram, 3).unwrap().enumerate(&target, 0).best;
    let by_planes = quadratic_form(&gram, &target, &leaf.iter().map(|k| *k as i64).collect::<Vec<_>>());
    let (k, cost) = brute_force(&gram, &target, 6);
    assert_eq!(exact.integers, k);
    assert!((exact.cost - cost).abs() < 1e-14);
    assert!(exact.cost < 0.9 * by_greed, "{} {by_greed}", exact.cost);
    assert!(exact.cost < 0.9 * by_planes, "{} {by_planes}", exact.cost);
    assert!(exact.cost < 0.9 * by_rounding, "{} {by_rounding}", exact.cost);
}

#[test]
fn one_unknown_is_rounded() {
    let found = closest_integers(&[2.0], &[-85.078], 10).unwrap();
    assert_eq!((found.integers, found.proven), (vec![-85], true));
    assert!((found.cost - 2.0 * 0.078f64.powi(2)).abs() < 1e-12);
    assert_eq!(found.nodes, 2);
}

#[test]
fn nothing_to_choose_costs_nothing() {
    let found = closest_integers(&[], &[], 0).unwrap();
    assert_eq!(found, ClosestIntegers { integers: vec![], cost: 0.0, nodes: 0, proven: true });
}

#[test]
fn unknowns_without_coupling_are_solved_apart() {
    // Two blocks interleaved; each has its own tree, so the nodes add up instead of multiplying.
    let gram = [2.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 1.0, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 2.0];
    assert_eq!(blocks(&gram, 4), vec![vec![0, 2], vec![1, 3]]);
    let target = [0.45, 0.4, 0.3, -0.4];
    let whole = closest_integers(&gram, &target, 100).unwrap();
    let part = |i: f64, j: f64| closest_integers(&[2.0, 1.0, 1.0, 2.0], &[i, j], 100).unwrap();
    assert_eq!(whole.nodes, part(0.45, 0.3).nodes + part(0.4, -0.4).nodes);
    assert_eq!(whole.integers, brute_force(&gram, &target, 3).0);
}

#[test]
fn a_limit_of_nodes_gives_the_best_so_far_and_says_so() {
    let n = 12;
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let rows: Vec<f64> = (0..n * n).map(|_| random()).collect();
    let target: Vec<f64> = (0..n).map(|_| 100.0 * random()).collect();
    let gram = gram_of(&rows, n, 1e-3);
    let full = closest_integers(&gram, &target, DEFAULT_NODE_LIMIT).unwrap();
    let cut = closest_integers(&gram, &target, n).unwrap();
    assert!(full.proven && full.nodes > 2 * n);
    assert!(!cut.proven && cut.nodes <= n + 1);
    assert!(cut.cost >= full.cost);
}

#[test]
fn thirty_unknowns_are_within_reach() {
    // Loops of a garment: neighbours share edges, so the matrix is banded, with strong coupling.
    let n = 30;
    let mut gram = vec![0.0; n * n];
    for i in 0..n {
        gram[i * n + i] = 2.0 + 0.3 * (i as f64).sin();
        for (off, value) in [(1, 0.6), (2, -0.2)] {
            if i + off < n {
                gram[i * n + i + off] = value;
                gram[(i + off) * n + i] = value;
            }
        }
    }
    let target: Vec<f64> = (0..n).map(|i| 40.0 * (1.7 * i as f64).sin()).collect();
    let found = closest_integers(&gram, &target, 200_000).unwrap();
    assert!(found.proven, "{} nodes", found.nodes);
    // No change of one or two numbers by one is an improvement.
    for i in 0..n {
        for j in 0..n {
            for (a, b) in [(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0)] {
                let mut k = found.integers.clone();
                k[i] += a;
                k[j] += b;
                assert!(quadratic_form(&gram, &target, &k) >= found.cost - 1e-12);
            }
        }
    }
}

#[test]
fn what_is_no_lattice_is_refused() {
    let message = |gram: &[f64], target: &[f64]| closest_integers(gram, target, 10).unwrap_err().to_string();
    assert!(message(&[1.0], &[0.0, 1.0]).contains("2 unknowns need a matrix of 4 numbers, got 1"));
    assert!(message(&[1.0, 1.0, 1.0, 1.0], &[0.0, 1.0]).contains("not positive definite"));
    assert!(message(&[-1.0], &[0.0]).contains("not positive definite"));
    assert!(message(&[1.0], &[f64::NAN]).contains("unknown 0"));
    assert!(message(&[f64::INFINITY], &[0.0]).contains("(0, 0)"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_in_reach_is_closer(
        n in 1usize..=4,
        rows in prop::collection::vec(-1.0..1.0f64, 16),
        target in prop::collection::vec(-50.0..50.0f64, 4),
    ) {
        let gram = gram_of(&rows, n, 0.3);
        let target = &target[..n];
        let found = closest_integers(&gram, target, DEFAULT_NODE_LIMIT).unwrap();
        // Rounding costs at most trace/4; the least eigenvalue is 0.3 or more, so nothing farther
        // away than this can be better. (Eight at most, for the time it takes.)
        let trace: f64 = (0..n).map(|i| gram[i * n + i]).sum();
        let reach = ((trace * n as f64 / 4.0 / 0.3).sqrt() + 0.5).ceil() as i64;
        let (_, cost) = brute_force(&gram, target, reach.min(8));
        prop_assert!(found.proven);
        prop_assert!(found.cost <= cost + 1e-12 * (1.0 + cost), "{} {}", found.cost, cost);
    }

    #[test]
    fn the_answer_does_not_depend_on_the_basis(
        rows in prop::collection::vec(-1.0..1.0f64, 9),
        target in prop::collection::vec(-5.0..5.0f64, 3),
        skew in prop::array::uniform3(-3i64..=3),
    ) {
        // k = V m with a unimodular V: the same points, seen in a worse basis.
        let gram = gram_of(&rows, 3, 0.2);
        let [a, b, c] = skew.map(|s| s as f64);
        let v = [1.0, a, b, 0.0, 1.0, c, 0.0, 0.0, 1.0];
        let inverse = [1.0, -a, a * c - b, 0.0, 1.0, -c, 0.0, 0.0, 1.0];
        let mut other = vec![0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                other[3 * i + j] = (0..9).map(|x| v[3 * (x / 3) + i] * gram[x] * v[3 * (x % 3) + j]).sum();
            }
        }
        let moved: Vec<f64> = (0..3).map(|i| (0..3).map(|j| inverse[3 * i + j] * target[j]).sum()).collect();
        let here = closest_integers(&gram, &target, DEFAULT_NODE_LIMIT).unwrap();
        let there = closest_integers(&other, &moved, DEFAULT_NODE_LIMIT).unwrap();
        // Entries of the skewed matrix are up to 300 times larger, and so is its rounding.
        prop_assert!((here.cost - there.cost).abs() < 1e-11, "{} {}", here.cost, there.cost);
    }
}
