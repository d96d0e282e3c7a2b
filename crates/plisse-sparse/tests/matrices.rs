//! Matrices of nodes of any sizes against dense ones: products, solves, growth, restriction,
//! threads.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use std::sync::Arc;

use glam::{DMat3, DVec3};
use plisse_sparse::{
    BlockMatrix, Layout, Linear, LinearSolver, Operator, Pattern, PatternError, Sink, Slot, dot,
};
use proptest::prelude::*;

const ALL: [LinearSolver; 5] = [
    LinearSolver::Cholesky,
    LinearSolver::Ldlt,
    LinearSolver::BlockJacobi,
    LinearSolver::StaleCholesky,
    LinearSolver::Auto,
];

/// Numbers between -1 and 1 that look random.
fn noise(seed: usize) -> f64 {
    let x = (seed as f64 * 12.9898 + 4.1).sin() * 43758.5453;
    2.0 * (x - x.floor()) - 1.0
}

fn noise_of(seed: usize, len: usize) -> Vec<f64> {
    (0..len).map(|i| noise(seed * 7919 + i)).collect()
}

/// Fills the blocks with noise and makes the matrix diagonally dominant.
fn fill(matrix: &mut BlockMatrix, seed: usize) {
    let pattern = Arc::clone(matrix.pattern());
    let layout = pattern.layout();
    for j in 0..pattern.size() {
        for (i, numbers) in pattern.column(j) {
            let (rows, start) = (layout.size(i), numbers.start);
            for at in numbers {
                let (r, c) = ((at - start) % rows, (at - start) / rows);
                let entry = if i == j { r.min(c) * rows + r.max(c) } else { at - start };
                matrix.values_mut()[at] = noise(seed + 101 * i + 13 * j + entry);
            }
        }
    }
    for node in 0..pattern.size() {
        matrix.add_to_diagonal(node, 30.0);
    }
}

fn dense_product(a: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
}

fn layout_and_pairs() -> impl Strategy<Value = (Vec<usize>, Vec<(u32, u32)>)> {
    prop::collection::vec(1usize..=6, 1..9).prop_flat_map(|sizes| {
        let n = sizes.len() as u32;
        (Just(sizes), prop::collection::vec((0..n, 0..n), 0..12))
    })
}

proptest! {
    #[test]
    fn products_and_solves_are_those_of_the_dense_matrix((sizes, pairs) in layout_and_pairs(), seed in 0usize..1000) {
        let pattern = Pattern::new(Layout::mixed(sizes).unwrap(), pairs.into_iter()).unwrap();
        let mut a = BlockMatrix::zeros(pattern);
        fill(&mut a, seed);
        let dense = a.to_dense();
        let n = dense.len();
        let expected = noise_of(seed, n);
        let mut b = vec![0.0; n];
        a.mul(&expected, &mut b);
        prop_assert!(close(&b, &dense_product(&dense, &expected), 1e-12));
        let dense_parts = [(0.7, noise_of(seed + 1, n))];
        for rank_ones in [&dense_parts[..0], &dense_parts[..]] {
            let operator = Operator { matrix: &a, rank_ones };
            operator.apply(&expected, &mut b);
            for choice in ALL {
                if choice == LinearSolver::Ldlt && !rank_ones.is_empty() {
                    continue; // without conjugate gradients there are no dense parts
                }
                let mut x = vec![0.0; n];
                let report = Linear::new(choice).solve(&operator, &b, &mut x, 1e-12).unwrap();
                prop_assert!(report.relative_residual <= 1e-12, "{choice:?} {report:?}");
                prop_assert!(close(&x, &expected, 1e-10), "{choice:?}");
            }
        }
    }

    /// Blocks keep their places in a pattern that grows, twice, and what was added through old
    /// slots is where it was.
    #[test]
    fn slots_stay_valid_when_a_pattern_grows(
        (sizes, pairs) in layout_and_pairs(),
        more in prop::collection::vec((0u32..100, 0u32..100), 0..6),
        seed in 0usize..1000,
    ) {
        let n = sizes.len() as u32;
        let more: Vec<(u32, u32)> = more.into_iter().map(|(i, j)| (i % n, j % n)).collect();
        let small = Pattern::new(Layout::mixed(sizes).unwrap(), pairs.iter().copied()).unwrap();
        let (first, second) = more.split_at(more.len() / 2);
        let large = small.grown(first.iter().copied()).unwrap().grown(second.iter().copied()).unwrap();
        for &(i, j) in pairs.iter().chain([(0, 0), (n - 1, n - 1)].iter()) {
            prop_assert_eq!(small.slot(i, j), large.slot(i, j));
        }
        let known = |pair: &&(u32, u32)| small.slot(pair.0, pair.1).is_some();
        prop_assert_eq!(small.revision() == large.revision(), more.iter().all(|pair| known(&pair)));
        let direct = {
            let pairs = pairs.iter().chain(&more).copied();
            Pattern::new(small.layout().clone(), pairs).unwrap()
        };
        prop_assert_eq!(direct.block_count(), large.block_count());
        // The same numbers through another order of storage.
        let (mut a, mut b) = (BlockMatrix::zeros(Arc::clone(&large)), BlockMatrix::zeros(direct));
        fill(&mut a, seed);
        fill(&mut b, seed);
        prop_assert_eq!(a.to_dense(), b.to_dense());
        let size = large.layout().unknowns();
        let x = noise_of(seed, size);
        let (mut ax, mut bx) = (vec![0.0; size], vec![0.0; size]);
        a.mul(&x, &mut ax);
        b.mul(&x, &mut bx);
        prop_assert_eq!(&ax, &bx);
        let (mut y, mut z) = (vec![0.0; size], vec![0.0; size]);
        let mut linear = Linear::new(LinearSolver::Cholesky);
        linear.solve(&Operator { matrix: &a, rank_ones: &[] }, &ax, &mut y, 1e-12).unwrap();
        linear.solve(&Operator { matrix: &b, rank_ones: &[] }, &ax, &mut z, 1e-12).unwrap();
        prop_assert_eq!(&y, &z);
        prop_assert!(close(&y, &x, 1e-10));
    }

    #[test]
    fn restriction_is_that_of_the_dense_matrix((sizes, pairs) in layout_and_pairs(), seed in 0usize..1000) {
        let pattern = Pattern::new(Layout::mixed(sizes.clone()).unwrap(), pairs.into_iter()).unwrap();
        let mut a = BlockMatrix::zeros(Arc::clone(&pattern));
        fill(&mut a, seed);
        // The first node keeps one direction.
        let d = noise_of(seed, sizes[0]);
        let square = dot(&d, &d);
        let p: Vec<f64> = d.iter().flat_map(|a| d.iter().map(move |b| a * b / square)).collect();
        let (before, scale) = (a.to_dense(), a.mean_diagonal());
        a.restrict(|node| (node == 0).then_some(p.as_slice()));
        let n = before.len();
        let whole = |i: usize, j: usize| match (i < sizes[0], j < sizes[0]) {
            (true, true) => p[i * sizes[0] + j],
            _ => f64::from(u8::from(i == j)),
        };
        for (i, row) in a.to_dense().iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                let projected: f64 = (0..n)
                    .flat_map(|k| (0..n).map(move |l| (k, l)))
                    .map(|(k, l)| whole(i, k) * before[k][l] * whole(l, j))
                    .sum();
                let rest = scale * (f64::from(u8::from(i == j)) - whole(i, j));
                prop_assert!((value - projected - rest).abs() < 1e-10);
            }
        }
    }
}

/// Every pair of neighbours in a row of nodes whose sizes change.
fn chain(nodes: usize) -> (Arc<Pattern>, Vec<Slot>) {
    let layout = Layout::mixed((0..nodes).map(|node| if node % 2 == 0 { 3 } else { 1 })).unwrap();
    let pairs = |k: u32| [(k, k), (k + 1, k), (k + 1, k + 1)];
    let all = || (0..nodes as u32 - 1).flat_map(pairs);
    let pattern = Pattern::new(layout, all()).unwrap();
    let slots = all().map(|(i, j)| pattern.slot(i, j).unwrap()).collect();
    (pattern, slots)
}

#[test]
fn assembly_of_mixed_nodes_has_the_same_bits_for_any_number_of_threads() {
    let (pattern, slots) = chain(6001);
    let assemble = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut matrix = BlockMatrix::zeros(Arc::clone(&pattern));
            Sink::new(&mut matrix, &slots).for_each(3, |k, sink| {
                let value = |at| noise(31 * k + at);
                let three = DMat3::from_diagonal(DVec3::splat(10.0 + value(0)));
                let [three_at, one_at] = if k % 2 == 0 { [0, 2] } else { [2, 0] };
                sink.add(three_at, &three);
                sink.add_block(one_at, &[[10.0 + value(1)]]);
                if k % 2 == 0 {
                    sink.add_block(1, &[[value(2)], [value(3)], [value(4)]]);
                } else {
                    sink.add_block(1, &[[value(2), value(3), value(4)]]);
                }
            });
            let x = noise_of(3, pattern.layout().unknowns());
            let mut product = vec![0.0; x.len()];
            matrix.mul(&x, &mut product);
            (matrix.values().to_vec(), product)
        })
    };
    let one = assemble(1);
    assert!(one.0.iter().filter(|v| **v != 0.0).count() > 20_000);
    for threads in 2..=5 {
        assert!(assemble(threads) == one, "{threads} threads");
    }
}

/// A factor serves conjugate gradients after a change of the pattern, and a pattern is analysed
/// once.
#[test]
fn old_factors_serve_grown_patterns() {
    // A grid so large that its factor costs more than some iterations.
    let n = 90;
    let sizes = (0..n * n).map(|node| 3 + (node % 2) as usize);
    let pairs = (0..n * (n - 1)).flat_map(|k| [(k, k + 1), (k, k + n)]);
    let base = Pattern::new(Layout::mixed(sizes).unwrap(), pairs).unwrap();
    let mut linear = Linear::new(LinearSolver::StaleCholesky);
    let b = noise_of(1, base.layout().unknowns());
    let mut x = b.clone();
    let mut factorisations = 0;
    for k in 0..6 {
        // Other pairs in every iteration.
        let pattern = base.grown([(k, 100 + 7 * k), (2 * k + 1, 300)].into_iter()).unwrap();
        let mut a = BlockMatrix::zeros(pattern);
        fill(&mut a, 5);
        let operator = Operator { matrix: &a, rank_ones: &[] };
        factorisations += linear.solve(&operator, &b, &mut x, 1e-5).unwrap().factorisations;
        let mut product = vec![0.0; b.len()];
        a.mul(&x, &mut product);
        assert!(close(&product, &b, 1e-2));
        let analyses = linear.analyses();
        linear.solve(&operator, &b, &mut x, 1e-5).unwrap();
        assert_eq!(linear.analyses(), analyses, "the same revision");
    }
    assert!((1..6).contains(&factorisations), "{factorisations}");
}

#[test]
fn what_cannot_be_is_refused() {
    assert_eq!(Layout::mixed([3, 0]).unwrap_err(), PatternError::NodeSize { node: 1, size: 0 });
    let error = Layout::mixed([7]).unwrap_err();
    assert_eq!(error.to_string(), "node 0 has 7 unknowns; a node has one to six");
    assert_eq!(Layout::mixed([3; 5]).unwrap(), Layout::vectors(5));
    assert_eq!(Layout::mixed([]).unwrap().unknowns(), 0);
}

#[test]
#[should_panic(expected = "factorise has succeeded before")]
fn there_is_no_solution_without_a_factor() {
    Linear::new(LinearSolver::Cholesky).substitute(&[1.0], &mut [0.0]);
}

/// A pattern with room is taken again; without, the base grows. Every pair has its slot.
#[test]
fn a_pattern_with_room_serves_again() {
    let base = Pattern::new(Layout::vectors(9), [(0, 1), (4, 5)].into_iter()).unwrap();
    let first = [Some((7, 2)), None, Some((2, 7)), Some((3, 3))];
    let (grown, slots) = base.with_slots_for(&base, &first).unwrap();
    assert_ne!(grown.revision(), base.revision());
    let expected = [grown.slot(7, 2), Some(Slot::NONE), grown.slot(2, 7), grown.slot(3, 3)];
    assert_eq!(slots.into_iter().map(Some).collect::<Vec<_>>(), expected);
    let (again, _) = base.with_slots_for(&grown, &first[..1]).unwrap();
    assert_eq!(again.revision(), grown.revision());
    // What is no longer asked for goes when something new is.
    let (other, _) = base.with_slots_for(&grown, &[Some((8, 1))]).unwrap();
    assert!(other.slot(7, 2).is_none() && other.slot(1, 8).is_some());
    // A pattern of something else is no room.
    let (none, slots) = base.with_slots_for(&other, &[]).unwrap();
    assert!(none.revision() == base.revision() && slots.is_empty());
}

/// The products of weights with a symmetric matrix, through slots that are turned and slots that
/// are not there.
#[test]
fn weighted_blocks_are_those_of_the_lower_triangle() {
    let weights = [0.5, -1.25, 0.0, 0.75];
    let matrix = DMat3::from_cols_array(&[2.0, 0.5, -1.0, 0.5, 3.0, 0.25, -1.0, 0.25, 4.0]);
    let nodes = [3u32, 1, 0, 2];
    let all = || (0..4).flat_map(|a| (0..=a).map(move |b| (nodes[a], nodes[b])));
    let pattern = Pattern::new(Layout::vectors(4), all()).unwrap();
    let slots: Vec<Slot> = all().map(|(i, j)| pattern.slot(i, j).unwrap()).collect();
    let [mut a, mut b] = [(); 2].map(|()| BlockMatrix::zeros(Arc::clone(&pattern)));
    Sink::new(&mut a, &slots).add_weighted(&weights, &matrix);
    let blocks = std::array::from_fn(|i| std::array::from_fn(|j| matrix * (weights[i] * weights[j])));
    Sink::new(&mut b, &slots).add_lower::<4>(&blocks);
    assert!(a.to_dense().iter().flatten().any(|value| *value != 0.0));
    assert_eq!(a.to_dense(), b.to_dense());
}

/// A grid of vectors, large enough for several threads.
fn grid_of_vectors(n: u32) -> BlockMatrix {
    let right = (0..n * n).filter(|k| k % n + 1 < n).map(|k| (k, k + 1));
    let up = (0..n * (n - 1)).map(|k| (k, k + n));
    let pattern = Pattern::new(Layout::vectors((n * n) as usize), right.chain(up)).unwrap();
    let mut a = BlockMatrix::zeros(pattern);
    fill(&mut a, 7);
    a
}

/// Single precision in the iteration, double in what is promised: the known answer to tolerances
/// on both sides of its limit, in any units, with the same bits for any number of threads.
#[test]
fn iterations_in_single_precision_reach_their_tolerance() {
    let base = grid_of_vectors(60);
    for unit in [1.0, 1e-60, 1e60] {
        let mut a = base.clone();
        a.values_mut().iter_mut().for_each(|value| *value *= unit);
        let expected = noise_of(2, a.pattern().layout().unknowns());
        let mut b = expected.clone();
        a.mul(&expected, &mut b);
        for tolerance in [1e-2, 1e-4, 2e-5, 1e-5, 1e-6, 1e-12] {
            let solve = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut x = vec![0.0; b.len()];
                let operator = Operator { matrix: &a, rank_ones: &[] };
                let mut linear = Linear::new(LinearSolver::BlockJacobi);
                let report = pool.install(|| linear.solve(&operator, &b, &mut x, tolerance)).unwrap();
                let mut product = vec![0.0; b.len()];
                a.mul(&x, &mut product);
                let left: Vec<f64> = product.iter().zip(&b).map(|(p, b)| p - b).collect();
                let residual = (dot(&left, &left) / dot(&b, &b)).sqrt();
                assert!(residual <= 1.001 * tolerance, "{unit} {tolerance}: {residual}");
                assert!((residual - report.relative_residual).abs() <= 1e-3 * residual + 1e-15);
                assert!(close(&x, &expected, 5.0 * tolerance), "{unit} {tolerance}");
                x
            };
            let one = solve(1);
            for threads in [2, 3, 4, 8] {
                assert!(solve(threads) == one, "{threads} threads");
            }
        }
    }
}

/// An indefinite matrix is still told.
#[test]
fn iterations_in_single_precision_refuse_indefinite_matrices() {
    let mut a = grid_of_vectors(20);
    a.add_to_diagonal(17, -200.0);
    let b = noise_of(4, a.pattern().layout().unknowns());
    let mut x = b.clone();
    let operator = Operator { matrix: &a, rank_ones: &[] };
    let result = Linear::new(LinearSolver::BlockJacobi).solve(&operator, &b, &mut x, 1e-3);
    assert_eq!(result.unwrap_err(), plisse_sparse::LinearError::NegativeCurvature);
}
