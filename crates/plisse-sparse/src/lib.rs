//! Symmetric sparse matrices of small blocks: patterns that grow, deterministic parallel assembly,
//! and every factorisation of plisse in one place.
//!
//! | what | items |
//! |---|---|
//! | unknowns | [`Layout`]: nodes with one to six unknowns each |
//! | patterns | [`Pattern`], [`Revision`], [`Slot`], [`PatternError`] |
//! | numbers | [`BlockMatrix`], [`Sink`], [`Operator`] |
//! | solves | [`Linear`], [`LinearSolver`], [`SolveReport`], [`LinearError`] |
//! | work in parallel, with the bits of one thread | [`parallel`], [`Sink::for_each`] |
//!
//! The crate knows no mesh, no energy and no time step: nodes are numbers.
//!
//! ```
//! use plisse_sparse::{BlockMatrix, Layout, Linear, LinearSolver, Operator, Pattern, Sink};
//!
//! // A place in space (3 unknowns) tied to an angle (1 unknown).
//! let pattern = Pattern::new(Layout::mixed([3, 1])?, [(0, 1)].into_iter())?;
//! let slots: Vec<_> = [(0, 0), (1, 1), (1, 0)].iter().filter_map(|&(i, j)| pattern.slot(i, j)).collect();
//! let mut matrix = BlockMatrix::zeros(pattern);
//! let mut sink = Sink::new(&mut matrix, &slots);
//! sink.add(0, &(glam::DMat3::IDENTITY * 4.0));
//! sink.add_block(1, &[[2.0]]);
//! sink.add_block(2, &[[1.0], [0.0], [0.0]]); // a row of three columns
//! let operator = Operator { matrix: &matrix, rank_ones: &[] };
//! let mut x = [0.0; 4];
//! Linear::new(LinearSolver::Cholesky).solve(&operator, &[5.0, 4.0, 0.0, 3.0], &mut x, 1e-12)?;
//! assert!((x[0] - 1.0).abs() + (x[1] - 1.0).abs() + x[2].abs() + (x[3] - 1.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod cg;
mod dissection;
mod error;
mod factor;
mod graph;
mod indefinite;
mod layout;
mod matrix;
mod multifrontal;
mod operator;
#[doc(hidden)]
pub mod oracle;
mod order;
pub mod parallel;
mod pattern;
mod single;
mod sink;
mod slot;
mod solver;

pub use cg::dot;
pub use error::{LinearError, PatternError};
pub use layout::{LARGEST_NODE, Layout};
pub use matrix::BlockMatrix;
pub use operator::Operator;
pub use pattern::{Pattern, Revision};
pub use sink::Sink;
pub use slot::Slot;
pub use solver::{Linear, LinearSolver, SolveReport};
