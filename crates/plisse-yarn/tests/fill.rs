//! The factor of a patch is as sparse as that of nodes with five unknowns.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Field, Id, Psd, Vertices};
use plisse_sparse::{Layout, Pattern};
use plisse_system::{BlockMatrix, Linear, LinearSolver, Pose, System};
use plisse_yarn::{Woven, YarnModel};

const SIDE: u32 = 30;

fn fill_of(mut matrix: BlockMatrix) -> usize {
    for node in 0..matrix.pattern().size() {
        matrix.add_to_diagonal(node, 10.0);
    }
    let mut linear = Linear::new(LinearSolver::Cholesky);
    linear.factorise(&matrix).unwrap();
    linear.factor_len().unwrap()
}

/// Minimum degree eliminated chains of arc lengths first, which couples whole yarns: 7.5 times the
/// fill on 45 by 45 crossings.
#[test]
fn arc_lengths_are_eliminated_with_their_crossings() {
    let woven = Woven { counts: [SIDE as usize; 2], ..Woven::default() };
    let model = YarnModel::new(woven.patch().unwrap());
    let mut builder = System::builder(Field::<Vertices, f64>::from_vec(model.patch().masses()));
    for term in model.terms(DVec3::NEG_Z, DVec3::ZERO) {
        builder = builder.boxed_term(term);
    }
    let system = builder.pin(Id::new(0)).build().unwrap();
    let mut matrix = BlockMatrix::zeros(Arc::clone(system.pattern()));
    let x = Field::from_vec(model.patch().rest().to_vec());
    system.hessian(&Pose::at(&x), Psd::Clamp, &mut matrix);
    let ours = fill_of(matrix);

    let node = |i: u32, j: u32| (i < SIDE && j < SIDE).then_some(j * SIDE + i);
    let mut pairs = Vec::new();
    for (i, j) in (0..SIDE * SIDE).map(|k| (k % SIDE, k / SIDE)) {
        let others = [(1, 0), (2, 0), (0, 1), (0, 2), (1, 1)];
        pairs.extend(others.iter().filter_map(|(a, b)| node(i, j).zip(node(i + a, j + b))));
        pairs.extend(node(i + 1, j).zip(node(i, j + 1)));
    }
    let layout = Layout::mixed((0..SIDE * SIDE).map(|_| 5)).unwrap();
    let five = fill_of(BlockMatrix::zeros(Pattern::new(layout, pairs.into_iter()).unwrap()));
    assert!(ours < five + five / 10, "{ours} numbers instead of {five}");
}
