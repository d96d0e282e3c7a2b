//! The sign of a symmetric matrix, by a solver that shares nothing with what it checks.

/// The smallest and the largest eigenvalue of a symmetric matrix, divided by its largest entry: by
/// Jacobi's rotations, so that matrices of every scale are judged alike. Zero matrices answer
/// zeros.
#[must_use]
pub fn extreme_eigenvalues<const N: usize>(matrix: &[[f64; N]; N]) -> [f64; 2] {
    let largest = crate::max_abs(matrix.as_flattened());
    if largest == 0.0 || !largest.is_finite() {
        return [largest; 2].map(|x| if x == 0.0 { 0.0 } else { f64::NAN });
    }
    let mut a = matrix.map(|row| row.map(|x| x / largest));
    // Convergence is quadratic: six or seven sweeps.
    for _ in 0..30 {
        let mut off: f64 = 0.0;
        for p in 0..N {
            for q in p + 1..N {
                off = off.max(a[p][q].abs());
                if a[p][q].abs() > 1e-300 {
                    rotate(&mut a, p, q);
                }
            }
        }
        if off < 1e-18 {
            break;
        }
    }
    let diagonal = || (0..N).map(|i| a[i][i]);
    [diagonal().fold(f64::INFINITY, f64::min), diagonal().fold(f64::NEG_INFINITY, f64::max)]
}

/// Makes entry `(p, q)` zero.
fn rotate<const N: usize>(a: &mut [[f64; N]; N], p: usize, q: usize) {
    let half = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
    let t = if half.abs() > 1e150 { 0.5 / half } else { half.signum() / (half.abs() + half.hypot(1.0)) };
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for k in 0..N {
        let (x, y) = (a[k][p], a[k][q]);
        (a[k][p], a[k][q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..N {
        let (x, y) = (a[p][k], a[q][k]);
        (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
    }
    (a[p][q], a[q][p]) = (0.0, 0.0);
}

/// Requires that no eigenvalue of a symmetric matrix is below
/// `-tolerance · max(largest eigenvalue, floor)`.
///
/// `floor` is the size of the terms that cancelled in the matrix; zero where none did.
/// Matrices without an entry above 1e-290 pass: subnormal numbers have too few digits for a sign.
///
/// # Panics
/// If one is, if an entry is not finite, or if the matrix is not symmetric to `tolerance`.
#[track_caller]
pub fn assert_semidefinite<const N: usize>(what: &str, matrix: &[[f64; N]; N], tolerance: f64, floor: f64) {
    let largest = crate::max_abs(matrix.as_flattened());
    assert!(largest.is_finite(), "{what}: an entry is not finite");
    if largest < 1e-290 {
        return;
    }
    for i in 0..N {
        for j in 0..i {
            let skew = (matrix[i][j] / 2.0 - matrix[j][i] / 2.0).abs();
            assert!(
                skew <= tolerance * largest.max(floor),
                "{what}: not symmetric at {i}, {j}: {skew:e} of {largest:e}"
            );
        }
    }
    let [low, high] = extreme_eigenvalues(matrix);
    let semidefinite = low >= -tolerance * high.max(floor / largest);
    assert!(semidefinite, "{what}: eigenvalue {low:e} beside {high:e}, times {largest:e}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_eigenvalues_at_every_scale() {
        for scale in [1e-300, 1.0, 1e300] {
            // 1, 2 and 4, over the largest entry 3.
            let m = [[3.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 1.0]].map(|row| row.map(|x| x * scale));
            let [low, high] = extreme_eigenvalues(&m);
            assert!((low - 1.0 / 3.0).abs() < 1e-15 && (high - 4.0 / 3.0).abs() < 1e-15, "{low} {high}");
            assert_semidefinite("m", &m, 1e-15, 0.0);
        }
        assert!(extreme_eigenvalues(&[[0.0; 4]; 4]).iter().all(|value| value.abs() < f64::MIN_POSITIVE));
    }

    #[test]
    #[should_panic(expected = "eigenvalue -1e-12")]
    fn a_small_negative_eigenvalue_is_found() {
        assert_semidefinite("m", &[[1.0, 0.0], [0.0, -1e-12]], 1e-13, 0.0);
    }

    #[test]
    #[should_panic(expected = "not finite")]
    fn nan_is_not_semidefinite() {
        assert_semidefinite("m", &[[1.0, f64::NAN], [f64::NAN, 1.0]], 1.0, 0.0);
    }
}
