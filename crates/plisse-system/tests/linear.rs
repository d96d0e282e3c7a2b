//! Linear solvers: residuals, known answers, and matrices that have none.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use std::sync::Arc;

use common::Sheet;
use glam::DVec3;
use plisse_core::{Id, Psd, generate};
use plisse_sparse::dot;
use plisse_system::{BlockMatrix, Linear, LinearError, LinearSolver, Operator, Pose};

const ALL: [LinearSolver; 5] = [
    LinearSolver::Cholesky,
    LinearSolver::Ldlt,
    LinearSolver::BlockJacobi,
    LinearSolver::StaleCholesky,
    LinearSolver::Auto,
];

/// Stiffness of a crumpled sheet with mass / dt².
fn cloth_matrix(n: usize, inertia: f64, bump: f64) -> BlockMatrix {
    let sheet = Sheet::grid(n, n, [1.0, 1.0], generate::Diagonal::Right);
    let x = sheet.flat.map(|x| DVec3::new(x.x, x.y, bump * (9.0 * x.x).sin() * (7.0 * x.y).cos()));
    let system =
        sheet.cloth(0.2, [300.0, 400.0, 50.0], 1e-3).pin(Id::new(0)).pin(Id::new(n as u32)).build().unwrap();
    let mut a = BlockMatrix::zeros(Arc::clone(system.pattern()));
    system.hessian(&Pose::at(&x), Psd::Clamp, &mut a);
    for (i, &node) in system.unknowns().iter().enumerate() {
        a.add_to_diagonal(i, inertia * system.mass().unwrap()[node]);
    }
    a
}

/// Numbers for `n` nodes.
fn wavy(n: usize) -> Vec<f64> {
    (0..n).flat_map(|i| [(0.3 * i as f64).sin(), (0.7 * i as f64).cos(), 1.0 / (1.0 + i as f64)]).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let apart: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    dot(&apart, &apart).sqrt()
}

#[test]
fn every_solver_finds_a_known_answer() {
    let a = cloth_matrix(20, 1e4, 0.1);
    let n = a.pattern().size();
    let expected = wavy(n);
    let vectors = [(3.0, wavy(n)), (0.5, [0.0, 0.0, 1.0].repeat(n))];
    for rank_ones in [&vectors[..0], &vectors[..]] {
        let operator = Operator { matrix: &a, rank_ones };
        let mut b = vec![0.0; 3 * n];
        operator.apply(&expected, &mut b);
        for choice in ALL {
            if choice == LinearSolver::Ldlt && !rank_ones.is_empty() {
                continue; // without conjugate gradients there are no dense parts
            }
            let mut solver = Linear::new(choice);
            let mut x = vec![0.0; 3 * n];
            for _ in 0..3 {
                let report = solver.solve(&operator, &b, &mut x, 1e-11).unwrap();
                let mut ax = vec![0.0; 3 * n];
                operator.apply(&x, &mut ax);
                let residual = distance(&ax, &b) / dot(&b, &b).sqrt();
                assert!(report.relative_residual <= 1e-11, "{choice:?} {report:?}");
                assert!(
                    (report.relative_residual - residual).abs() <= 1e-14,
                    "{choice:?} reports what is true"
                );
                let error = distance(&x, &expected) / dot(&expected, &expected).sqrt();
                assert!(error < 1e-8, "{choice:?} {error}");
            }
        }
    }
}

#[test]
fn an_old_factor_serves_until_it_no_longer_pays() {
    let matrices: Vec<BlockMatrix> = (0..12).map(|k| cloth_matrix(24, 1e4, 0.1 + 0.002 * k as f64)).collect();
    let n = matrices[0].pattern().size();
    let mut solver = Linear::new(LinearSolver::StaleCholesky);
    let b = wavy(n);
    let (mut factorisations, mut x) = (0, vec![0.0; 3 * n]);
    for matrix in &matrices {
        // The pattern is that of the first: the same mesh.
        let mut a = BlockMatrix::zeros(Arc::clone(matrices[0].pattern()));
        a.values_mut().copy_from_slice(matrix.values());
        let report = solver.solve(&Operator { matrix: &a, rank_ones: &[] }, &b, &mut x, 1e-6).unwrap();
        assert!(report.relative_residual <= 1e-6);
        factorisations += report.factorisations;
    }
    assert!((1..8).contains(&factorisations), "{factorisations}");
    // Forgotten, it starts again with a new factor.
    solver.forget();
    let a = &matrices[0];
    let report = solver.solve(&Operator { matrix: a, rank_ones: &[] }, &b, &mut x, 1e-6).unwrap();
    assert_eq!(report.factorisations, 1);
}

#[test]
fn auto_iterates_where_mass_dominates_and_factorises_where_it_does_not() {
    for (inertia, method) in [(1e8, LinearSolver::BlockJacobi), (1.0, LinearSolver::StaleCholesky)] {
        let a = cloth_matrix(40, inertia, 0.1);
        let mut solver = Linear::new(LinearSolver::Auto);
        let b = wavy(a.pattern().size());
        let mut x = b.clone();
        let report = solver.solve(&Operator { matrix: &a, rank_ones: &[] }, &b, &mut x, 1e-4).unwrap();
        assert_eq!(report.method, method);
    }
}

#[test]
fn indefinite_and_infinite_matrices_are_refused() {
    let mut a = cloth_matrix(6, 1e4, 0.1);
    let b = wavy(a.pattern().size());
    let mut x = b.clone();
    a.diagonal_mut(7)[4] -= 1e6;
    for choice in
        [LinearSolver::Cholesky, LinearSolver::BlockJacobi, LinearSolver::StaleCholesky, LinearSolver::Auto]
    {
        let mut solver = Linear::new(choice);
        let error = solver.solve(&Operator { matrix: &a, rank_ones: &[] }, &b, &mut x, 1e-8).unwrap_err();
        assert!(
            matches!(error, LinearError::NotPositiveDefinite | LinearError::NegativeCurvature),
            "{choice:?} {error}"
        );
    }
    // L D Lᵀ does not mind.
    let mut solver = Linear::new(LinearSolver::Ldlt);
    let report = solver.solve(&Operator { matrix: &a, rank_ones: &[] }, &b, &mut x, 1e-10).unwrap();
    assert!(report.relative_residual <= 1e-10);
    a.diagonal_mut(3)[0] = f64::NAN;
    for choice in ALL {
        let mut solver = Linear::new(choice);
        let result = solver.solve(&Operator { matrix: &a, rank_ones: &[] }, &b, &mut x, 1e-8);
        assert!(result.is_err(), "{choice:?} {result:?}");
    }
}
