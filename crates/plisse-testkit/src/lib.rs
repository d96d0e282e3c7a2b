//! Finite-difference checks, comparisons and proptest strategies on plain arrays.
//!
//! Knows nothing of plisse: an energy is a function of `[f64; N]`, a deformation gradient is its
//! six numbers in column-major order. Every check panics with the numbers that matter and the
//! caller's line.

mod compare;
mod differences;
mod semidefinite;
mod strategies;

pub use compare::{assert_close, max_abs, max_difference};
pub use differences::{check_gradient, check_jacobian};
pub use semidefinite::{assert_semidefinite, extreme_eigenvalues};
pub use strategies::{
    any_f, any_finite, any_points, compressed, conformal, degenerate, extreme, magnitude, near_degenerate,
    near_rest, rotation, sheared, stretched,
};
