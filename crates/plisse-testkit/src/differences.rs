//! Gradients against energies and Jacobians against gradients, over a ladder of steps.
//!
//! Central differences have an error of `h² f'''/6` from truncation and `ε f/h` from rounding;
//! which `h` is best depends on the point. The checks try every step of a ladder and judge the best
//! one: a wrong derivative is wrong for all of them.

use crate::compare::{max_abs, max_difference};

/// Steps relative to the size of the point.
const LADDER: [f64; 7] = [1e-2, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7];

/// Checks a gradient against central differences of the energy.
///
/// # Panics
/// If the gradient is zero or not finite (a check of zero against zero proves nothing), or if the
/// best step of the ladder leaves an error above `tolerance` times the largest component.
#[track_caller]
pub fn check_gradient<const N: usize>(
    energy: impl Fn(&[f64; N]) -> f64,
    gradient: impl Fn(&[f64; N]) -> [f64; N],
    x: &[f64; N],
    tolerance: f64,
) {
    let g = gradient(x);
    let difference = |h: f64| -> [f64; N] {
        std::array::from_fn(|i| {
            let (plus, minus, width) = shifted(x, i, h);
            (energy(&plus) - energy(&minus)) / width
        })
    };
    judge("gradient", &g, difference, x, tolerance);
}

/// Checks a Jacobian (rows) against central differences of the vector field.
///
/// # Panics
/// As [`check_gradient`]; also if the Jacobian of a gradient is not symmetric to `tolerance`.
#[track_caller]
pub fn check_jacobian<const N: usize>(
    field: impl Fn(&[f64; N]) -> [f64; N],
    jacobian: impl Fn(&[f64; N]) -> [[f64; N]; N],
    x: &[f64; N],
    tolerance: f64,
) {
    let rows = jacobian(x);
    let difference = |h: f64| -> Vec<f64> {
        let mut out = vec![0.0; N * N];
        for j in 0..N {
            let (plus, minus, width) = shifted(x, j, h);
            let (a, b) = (field(&plus), field(&minus));
            for i in 0..N {
                out[N * i + j] = (a[i] - b[i]) / width;
            }
        }
        out
    };
    judge("Jacobian", rows.as_flattened(), difference, x, tolerance);
    let transposed: [[f64; N]; N] = std::array::from_fn(|i| std::array::from_fn(|j| rows[j][i]));
    let asymmetry = max_difference(rows.as_flattened(), transposed.as_flattened());
    assert!(
        asymmetry <= tolerance * max_abs(rows.as_flattened()),
        "the Jacobian is not symmetric: {asymmetry:e} of {:e} at x = {x:?}",
        max_abs(rows.as_flattened())
    );
}

fn shifted<const N: usize>(x: &[f64; N], i: usize, h: f64) -> ([f64; N], [f64; N], f64) {
    let (mut plus, mut minus) = (*x, *x);
    plus[i] += h;
    minus[i] -= h;
    // The step that was really taken, after rounding.
    (plus, minus, plus[i] - minus[i])
}

#[track_caller]
fn judge<D: AsRef<[f64]>>(
    what: &str,
    analytic: &[f64],
    difference: impl Fn(f64) -> D,
    x: &[f64],
    tolerance: f64,
) {
    let size = max_abs(analytic);
    assert!(size > 0.0, "the {what} is zero at x = {x:?}: comparing zero with zero proves nothing");
    assert!(size.is_finite(), "the {what} is not finite at x = {x:?}: {analytic:?}");
    let scale = max_abs(x).max(1e-3);
    let mut best = (f64::INFINITY, 0.0, Vec::new());
    for step in LADDER {
        let numeric = difference(step * scale);
        let error = max_difference(analytic, numeric.as_ref()) / size;
        if error < best.0 {
            best = (error, step * scale, numeric.as_ref().to_vec());
        }
    }
    assert!(
        best.0 <= tolerance,
        "the {what} differs from central differences by {:.3e} (allowed {tolerance:.1e}), best step {:.1e}, at x = {x:?}\n\
         analytic {analytic:?}\n numeric {:?}",
        best.0,
        best.1,
        best.2,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn energy(x: &[f64; 2]) -> f64 {
        x[0].powi(3) * x[1] + x[1].exp()
    }
    fn gradient(x: &[f64; 2]) -> [f64; 2] {
        [3.0 * x[0] * x[0] * x[1], x[0].powi(3) + x[1].exp()]
    }
    fn hessian(x: &[f64; 2]) -> [[f64; 2]; 2] {
        [[6.0 * x[0] * x[1], 3.0 * x[0] * x[0]], [3.0 * x[0] * x[0], x[1].exp()]]
    }

    #[test]
    fn right_derivatives_pass() {
        check_gradient(energy, gradient, &[1.3, -0.4], 1e-9);
        check_jacobian(gradient, hessian, &[1.3, -0.4], 1e-9);
    }

    #[test]
    #[should_panic(expected = "gradient differs from central differences")]
    fn slightly_wrong_gradient_fails() {
        check_gradient(energy, |x| gradient(x).map(|g| g * (1.0 + 1e-6)), &[1.3, -0.4], 1e-7);
    }

    #[test]
    #[should_panic(expected = "Jacobian differs from central differences")]
    fn wrong_sign_fails() {
        check_jacobian(gradient, |x| hessian(x).map(|r| r.map(|v| -v)), &[1.3, -0.4], 1e-7);
    }

    #[test]
    #[should_panic(expected = "proves nothing")]
    fn zero_against_zero_fails() {
        check_gradient(|_: &[f64; 2]| 1.0, |_| [0.0; 2], &[1.0, 2.0], 1e-7);
    }

    #[test]
    #[should_panic(expected = "not finite")]
    fn nan_fails() {
        check_gradient(energy, |_| [f64::NAN; 2], &[1.0, 2.0], 1e-7);
    }
}
