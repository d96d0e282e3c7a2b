//! Linear solvers: residuals, known answers, and matrices that have none.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use std::sync::Arc;

use common::Sheet;
use glam::{DMat3, DVec3};
use plisse_core::{Id, Psd, generate};
use plisse_system::{
    BlockMatrix, BlockPattern, ConstraintRow, KktSolver, Linear, LinearError, LinearSolver, Operator, Pose,
};

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
        *a.diagonal_mut(i) += DMat3::from_diagonal(DVec3::splat(inertia * system.mass().unwrap()[node]));
    }
    a
}

fn wavy(n: usize) -> Vec<DVec3> {
    (0..n)
        .map(|i| DVec3::new((0.3 * i as f64).sin(), (0.7 * i as f64).cos(), 1.0 / (1.0 + i as f64)))
        .collect()
}

#[test]
fn every_solver_finds_a_known_answer() {
    let a = cloth_matrix(20, 1e4, 0.1);
    let n = a.pattern().size();
    let expected = wavy(n);
    let vectors = [(3.0, wavy(n)), (0.5, vec![DVec3::Z; n])];
    for rank_ones in [&vectors[..0], &vectors[..]] {
        let operator = Operator { matrix: &a, rank_ones };
        let mut b = vec![DVec3::ZERO; n];
        operator.apply(&expected, &mut b);
        for choice in ALL {
            if choice == LinearSolver::Ldlt && !rank_ones.is_empty() {
                continue; // without conjugate gradients there are no dense parts
            }
            let mut solver = Linear::new(choice, a.pattern());
            let mut x = vec![DVec3::ZERO; n];
            for _ in 0..3 {
                let report = solver.solve(&operator, &b, &mut x, 1e-11).unwrap();
                let mut ax = vec![DVec3::ZERO; n];
                operator.apply(&x, &mut ax);
                let norm =
                    |v: &mut dyn Iterator<Item = DVec3>| v.map(DVec3::length_squared).sum::<f64>().sqrt();
                let residual =
                    norm(&mut ax.iter().zip(&b).map(|(a, b)| *a - *b)) / norm(&mut b.iter().copied());
                assert!(report.relative_residual <= 1e-11, "{choice:?} {report:?}");
                assert!(
                    (report.relative_residual - residual).abs() <= 1e-14,
                    "{choice:?} reports what is true"
                );
                let error = norm(&mut x.iter().zip(&expected).map(|(a, b)| *a - *b))
                    / norm(&mut expected.iter().copied());
                assert!(error < 1e-8, "{choice:?} {error}");
            }
        }
    }
}

#[test]
fn an_old_factor_serves_until_it_no_longer_pays() {
    let matrices: Vec<BlockMatrix> = (0..12).map(|k| cloth_matrix(24, 1e4, 0.1 + 0.002 * k as f64)).collect();
    let n = matrices[0].pattern().size();
    let mut solver = Linear::new(LinearSolver::StaleCholesky, matrices[0].pattern());
    let b = wavy(n);
    let (mut factorisations, mut x) = (0, vec![DVec3::ZERO; n]);
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
        let mut solver = Linear::new(LinearSolver::Auto, a.pattern());
        let mut x = vec![DVec3::ZERO; a.pattern().size()];
        let b = wavy(x.len());
        let report = solver.solve(&Operator { matrix: &a, rank_ones: &[] }, &b, &mut x, 1e-4).unwrap();
        assert_eq!(report.method, method);
    }
}

#[test]
fn indefinite_and_infinite_matrices_are_refused() {
    let mut a = cloth_matrix(6, 1e4, 0.1);
    let b = wavy(a.pattern().size());
    let mut x = b.clone();
    *a.diagonal_mut(7) -= DMat3::from_diagonal(DVec3::new(0.0, 1e6, 0.0));
    for choice in
        [LinearSolver::Cholesky, LinearSolver::BlockJacobi, LinearSolver::StaleCholesky, LinearSolver::Auto]
    {
        let mut solver = Linear::new(choice, a.pattern());
        let error = solver.solve(&Operator { matrix: &a, rank_ones: &[] }, &b, &mut x, 1e-8).unwrap_err();
        assert!(
            matches!(error, LinearError::NotPositiveDefinite | LinearError::NegativeCurvature),
            "{choice:?} {error}"
        );
    }
    // L D Lᵀ does not mind.
    let mut solver = Linear::new(LinearSolver::Ldlt, a.pattern());
    let report = solver.solve(&Operator { matrix: &a, rank_ones: &[] }, &b, &mut x, 1e-10).unwrap();
    assert!(report.relative_residual <= 1e-10);
    a.diagonal_mut(3).x_axis.x = f64::NAN;
    for choice in ALL {
        let mut solver = Linear::new(choice, a.pattern());
        let result = solver.solve(&Operator { matrix: &a, rank_ones: &[] }, &b, &mut x, 1e-8);
        assert!(result.is_err(), "{choice:?} {result:?}");
    }
}

/// Three particles on a line, the last at a prescribed distance from the first along x: minimise ½ |x - y|² under
/// x₂ - x₀ = 1 in x.
#[test]
fn constraints_with_a_known_answer() {
    let pattern = Arc::new(BlockPattern::new(3, [(0, 1)].into_iter()).unwrap());
    let mut a = BlockMatrix::zeros(Arc::clone(&pattern));
    for i in 0..3 {
        *a.diagonal_mut(i) = DMat3::IDENTITY;
    }
    let rows = [ConstraintRow { entries: vec![(0, -DVec3::X), (2, DVec3::X)] }];
    let mut solver = KktSolver::new(&pattern, &rows).unwrap();
    let f = [DVec3::new(0.2, 1.0, 0.0), DVec3::Y, DVec3::new(0.6, 0.0, 3.0)];
    let (mut x, mut lambda) = ([DVec3::ZERO; 3], [0.0]);
    let report = solver.solve(&a, &rows, &f, &[1.0], &mut x, &mut lambda, 1e-12).unwrap();
    assert!(report.relative_residual <= 1e-12);
    assert!((x[2].x - x[0].x - 1.0).abs() < 1e-12);
    assert!(
        (x[0].x - (-0.1)).abs() < 1e-12 && (x[2].x - 0.9).abs() < 1e-12 && (lambda[0] + 0.3).abs() < 1e-12
    );
    assert!(x[1] == DVec3::Y || x[1].distance(DVec3::Y) < 1e-14);
}

/// A large saddle-point system: the residual is at rounding after a few refinements.
#[test]
fn constraints_on_a_sheet() {
    let a = cloth_matrix(20, 1e4, 0.1);
    let n = a.pattern().size();
    let row = |i: u32| ConstraintRow {
        entries: vec![(i, DVec3::new(0.3, 1.0, -0.2)), (i + 1, DVec3::new(0.0, -1.0, 0.4))],
    };
    let rows: Vec<ConstraintRow> = (0..60).map(|k| row(5 * k)).collect();
    let mut solver = KktSolver::new(a.pattern(), &rows).unwrap();
    let (f, g) = (wavy(n), vec![0.01; rows.len()]);
    let (mut x, mut lambda) = (vec![DVec3::ZERO; n], vec![0.0; rows.len()]);
    let report = solver.solve(&a, &rows, &f, &g, &mut x, &mut lambda, 1e-11).unwrap();
    assert!(report.relative_residual <= 1e-11, "{report:?}");
    for (row, g) in rows.iter().zip(&g) {
        let sum: f64 = row.entries.iter().map(|(i, c)| c.dot(x[*i as usize])).sum();
        assert!((sum - g).abs() < 1e-9);
    }
}

/// Stiff matrices and large forces do not hide a violated constraint.
#[test]
fn constraints_on_stiff_matrices() {
    for stiffness in [1.0, 1e5, 1e6, 1e8] {
        for force in [1.0, 1e5] {
            let pattern = Arc::new(BlockPattern::new(2, [].into_iter()).unwrap());
            let mut a = BlockMatrix::zeros(Arc::clone(&pattern));
            for i in 0..2 {
                *a.diagonal_mut(i) = DMat3::IDENTITY * stiffness;
            }
            let rows = [ConstraintRow { entries: vec![(0, -DVec3::X), (1, DVec3::X)] }];
            let mut solver = KktSolver::new(&pattern, &rows).unwrap();
            let f = [DVec3::new(force, 0.3 * force, 0.0), DVec3::new(-0.5 * force, 0.0, force)];
            let (mut x, mut lambda) = ([DVec3::ZERO; 2], [0.0]);
            let report = solver.solve(&a, &rows, &f, &[0.01], &mut x, &mut lambda, 1e-9).unwrap();
            assert!((x[1].x - x[0].x - 0.01).abs() < 1e-9, "{stiffness} {force} {report:?}");
        }
    }
}
