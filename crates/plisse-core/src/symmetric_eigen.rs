//! Eigenvalues of small dense symmetric matrices: the numeric oracle beside the closed forms.
//!
//! Householder reduction to tridiagonal form, then implicit QR steps with Wilkinson's shift. Sizes
//! are compile time constants (6 in F space, 9 for triangles and rods, 12 for hinges), nothing is
//! allocated. Errors are of the order of the rounding of the largest entry, as for every backward
//! stable method; eigenvalues much smaller than the largest one carry that absolute error, which is
//! where closed forms are better.

use crate::psd::Psd;
use crate::scalar::{hypot, limit_factor, saturate};

/// Eigenvalues in ascending order, and the unit eigenvectors as rows in the same order.
///
/// Only the lower triangle is read. Entries may have any finite size; results saturate.
///
/// ```
/// use plisse_core::symmetric_eigen;
/// let (values, vectors) = symmetric_eigen(&[[2.0, 1.0], [1.0, 2.0]]);
/// assert!((values[0] - 1.0).abs() < 1e-15 && (values[1] - 3.0).abs() < 1e-15);
/// assert!((vectors[1][0] - vectors[1][1]).abs() < 1e-15);
/// ```
#[must_use]
pub fn symmetric_eigen<const N: usize>(matrix: &[[f64; N]; N]) -> ([f64; N], [[f64; N]; N]) {
    let mut a = *matrix;
    let mut largest: f64 = 0.0;
    for i in 0..N {
        for j in 0..=i {
            largest = largest.max(a[i][j].abs());
        }
    }
    // Squares of entries, and of what rounding makes of rounding errors in several steps, must stay
    // in range. Outside it, work on the matrix divided by its largest entry: at 1e-72 the iteration
    // came to no end.
    let rescale = largest > 0.0 && !(1e-30..1e30).contains(&largest);
    for i in 0..N {
        for j in 0..=i {
            if rescale {
                a[i][j] /= largest;
            }
            a[j][i] = a[i][j];
        }
    }

    let mut rows = identity::<N>();
    let (mut diagonal, mut off) = tridiagonalize(&mut a, &mut rows);
    diagonalize(&mut diagonal, &mut off, &mut rows);
    sort(&mut diagonal, &mut rows);
    if rescale {
        diagonal = diagonal.map(|value| saturate(value * largest));
    }
    (diagonal, rows)
}

/// Applies the policy to the eigenvalues of a symmetric matrix, numerically.
///
/// The slow and general route to what the closed forms give directly; they are tested against it.
/// Costs about 1.5 µs for 6×6 and 4.6 µs for 12×12.
#[must_use]
pub fn project_numeric<const N: usize>(matrix: &[[f64; N]; N], psd: Psd) -> [[f64; N]; N] {
    if psd == Psd::Exact {
        return *matrix;
    }
    let (values, vectors) = symmetric_eigen(matrix);
    let negative = values.iter().filter(|value| **value < 0.0).count();
    // Work on the smaller side: remove the negative part from the matrix, or build the result from
    // nothing. The former leaves an error of the rounding of the negative part, which must not be
    // the larger one.
    let remove = negative <= N / 2 && N > 0 && -values[0] <= values[N - 1];
    let mut out = if remove { *matrix } else { [[0.0; N]; N] };
    for (value, v) in values.iter().zip(&vectors) {
        let weight = if remove { psd.apply(*value) - value } else { psd.apply(*value) };
        if weight == 0.0 {
            continue;
        }
        for i in 0..N {
            let wi = weight * v[i];
            for j in 0..N {
                out[i][j] += wi * v[j];
            }
        }
    }
    let largest = out.as_flattened().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let factor = limit_factor(1.0, largest);
    if factor < 1.0 { out.map(|row| row.map(|x| x * factor)) } else { out }
}

fn identity<const N: usize>() -> [[f64; N]; N] {
    std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))))
}

/// Reduces `a` by reflections `I - 2 v vᵀ`; row `j` of `rows` becomes column `j` of the accumulated
/// product.
fn tridiagonalize<const N: usize>(a: &mut [[f64; N]; N], rows: &mut [[f64; N]; N]) -> ([f64; N], [f64; N]) {
    let mut off = [0.0; N];
    for k in 0..N.saturating_sub(2) {
        let mut tail = 0.0;
        for i in k + 2..N {
            tail += a[i][k] * a[i][k];
        }
        let head = a[k + 1][k];
        // Entries below 1e-140 are below the rounding of the largest one (1e-30 or more), and their
        // squares leave the range of normal numbers.
        if tail < 1e-280 {
            off[k] = head;
            continue;
        }
        // The sign that avoids cancellation in the first component of v.
        let alpha = -(head * head + tail).sqrt().copysign(head);
        // Unit length: in a graded matrix v may be much smaller than the rest, and 1/|v|² would
        // overflow.
        let inverse = 1.0 / ((head - alpha) * (head - alpha) + tail).sqrt();
        let mut v = [0.0; N];
        v[k + 1] = (head - alpha) * inverse;
        for i in k + 2..N {
            v[i] = a[i][k] * inverse;
        }
        off[k] = alpha;

        let mut w = [0.0; N];
        let mut vw = 0.0;
        for i in k + 1..N {
            let mut sum = 0.0;
            for j in k + 1..N {
                sum += a[i][j] * v[j];
            }
            w[i] = 2.0 * sum;
            vw += v[i] * w[i];
        }
        for i in k + 1..N {
            w[i] -= vw * v[i];
        }
        for i in k + 1..N {
            for j in k + 1..N {
                a[i][j] -= v[i] * w[j] + w[i] * v[j];
            }
        }

        let mut mixed = [0.0; N];
        for i in k + 1..N {
            for j in 0..N {
                mixed[j] += v[i] * rows[i][j];
            }
        }
        for i in k + 1..N {
            for j in 0..N {
                rows[i][j] -= 2.0 * v[i] * mixed[j];
            }
        }
    }
    if N >= 2 {
        off[N - 2] = a[N - 1][N - 2];
    }
    (std::array::from_fn(|i| a[i][i]), off)
}

/// Implicit QR steps on the tridiagonal matrix, rotating the rows along.
fn diagonalize<const N: usize>(d: &mut [f64; N], e: &mut [f64; N], rows: &mut [[f64; N]; N]) {
    if N < 2 {
        return;
    }
    let mut hi = N - 1;
    // Convergence is cubic and takes two or three steps per eigenvalue; the bound only guards
    // against NaN input.
    for _ in 0..60 * N {
        while hi > 0 && negligible(d, e, hi - 1) {
            hi -= 1;
        }
        if hi == 0 {
            return;
        }
        let mut lo = hi - 1;
        while lo > 0 && !negligible(d, e, lo - 1) {
            lo -= 1;
        }

        // Wilkinson's shift: the eigenvalue of the last 2×2 block nearest to its last entry.
        let half = 0.5 * (d[hi - 1] - d[hi]);
        let last = e[hi - 1];
        let shift = d[hi] - last * last / (half + hypot(half, last).copysign(half));
        let mut x = d[lo] - shift;
        let mut z = e[lo];
        for k in lo..hi {
            let r = hypot(x, z);
            let (c, s) = if r > 0.0 { (x / r, z / r) } else { (1.0, 0.0) };
            if k > lo {
                e[k - 1] = r;
            }
            let (dk, dn, ek) = (d[k], d[k + 1], e[k]);
            let cross = 2.0 * c * s * ek;
            d[k] = c * c * dk + cross + s * s * dn;
            d[k + 1] = s * s * dk - cross + c * c * dn;
            e[k] = c * s * (dn - dk) + (c * c - s * s) * ek;
            if k + 1 < hi {
                z = s * e[k + 1];
                e[k + 1] *= c;
                x = e[k];
            }
            for j in 0..N {
                let (p, q) = (rows[k][j], rows[k + 1][j]);
                rows[k][j] = c * p + s * q;
                rows[k + 1][j] = c * q - s * p;
            }
        }
    }
}

#[inline]
fn negligible<const N: usize>(d: &[f64; N], e: &[f64; N], k: usize) -> bool {
    // The tiny absolute part ends the iteration on blocks that are zero up to underflow.
    e[k].abs() <= f64::EPSILON * (d[k].abs() + d[k + 1].abs()) + f64::MIN_POSITIVE
}

fn sort<const N: usize>(values: &mut [f64; N], rows: &mut [[f64; N]; N]) {
    for i in 1..N {
        let mut j = i;
        while j > 0 && values[j - 1] > values[j] {
            values.swap(j - 1, j);
            rows.swap(j - 1, j);
            j -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Residual |A v - λ v|, orthonormality and order, all relative to the largest entry.
    fn check<const N: usize>(a: &[[f64; N]; N]) -> Result<(), TestCaseError> {
        let scale = a.as_flattened().iter().fold(0.0f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
        let (values, vectors) = symmetric_eigen(a);
        for k in 0..N {
            prop_assert!(k == 0 || values[k - 1] <= values[k]);
            for i in 0..N {
                let av: f64 = (0..N).map(|j| a[i][j] / scale * vectors[k][j]).sum();
                let residual = (av - values[k] / scale * vectors[k][i]).abs();
                prop_assert!(residual <= 1e-13, "residual {residual:e} of pair {k}");
            }
            for l in 0..N {
                let dot: f64 = (0..N).map(|j| vectors[k][j] * vectors[l][j]).sum();
                let expected = f64::from(u8::from(k == l));
                prop_assert!((dot - expected).abs() <= 1e-13, "rows {k} and {l}: {dot}");
            }
        }
        Ok(())
    }

    fn symmetric<const N: usize>(entries: &[f64], scale: f64) -> [[f64; N]; N] {
        std::array::from_fn(|i| {
            std::array::from_fn(|j| scale * entries[(i.max(j) * (i.max(j) + 1)) / 2 + i.min(j)])
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn pairs_are_right_for_every_size(entries in prop::collection::vec(-1.0..1.0f64, 78), e in -300..300i32) {
            let scale = 10f64.powi(e);
            check::<1>(&symmetric(&entries, scale))?;
            check::<2>(&symmetric(&entries, scale))?;
            check::<3>(&symmetric(&entries, scale))?;
            check::<6>(&symmetric(&entries, scale))?;
            check::<9>(&symmetric(&entries, scale))?;
            check::<12>(&symmetric(&entries, scale))?;
        }

        #[test]
        fn sparse_and_repeated_spectra(entries in prop::collection::vec(prop::sample::select(vec![0.0, 0.0, 1.0, -1.0, 2.0]), 78)) {
            check::<6>(&symmetric(&entries, 1.0))?;
            check::<12>(&symmetric(&entries, 1.0))?;
        }

        #[test]
        fn projections_have_the_signs_they_promise(entries in prop::collection::vec(-1.0..1.0f64, 21)) {
            let a = symmetric::<6>(&entries, 1.0);
            let (values, _) = symmetric_eigen(&a);
            for psd in Psd::ALL {
                let mut expected = values.map(|v| psd.apply(v));
                expected.sort_by(f64::total_cmp);
                let (found, _) = symmetric_eigen(&project_numeric(&a, psd));
                for (x, y) in found.iter().zip(&expected) {
                    // Two decompositions of a matrix of norm up to 6, each backward stable to some
                    // ten ε.
                    prop_assert!((x - y).abs() < 1e-13, "{psd:?}: {found:?} {expected:?}");
                }
            }
        }
    }

    #[test]
    fn zero_and_diagonal() {
        assert_eq!(symmetric_eigen(&[[0.0; 6]; 6]).0, [0.0; 6]);
        let mut a = [[0.0; 4]; 4];
        for (i, value) in [3.0, -1.0, 2.0, -1.0].into_iter().enumerate() {
            a[i][i] = value;
        }
        assert_eq!(symmetric_eigen(&a).0, [-1.0, -1.0, 2.0, 3.0]);
    }

    #[test]
    fn negligible_entries_do_not_divide_by_zero() {
        // Squares of 1e-160 are subnormal: the reflection that removes them would be infinite.
        let mut a = [[0.0; 6]; 6];
        for (i, row) in a.iter_mut().enumerate() {
            row[i] = i as f64;
        }
        (a[3][0], a[4][1], a[5][0]) = (1e-160, -1e-155, 1e-162);
        let (values, vectors) = symmetric_eigen(&a);
        assert_eq!(values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(vectors.as_flattened().iter().all(|v| v.is_finite()));
    }

    #[test]
    fn graded_tridiagonal_blocks_do_not_overflow() {
        // A large entry beside a column of size 1e-130: with reflections scaled by 1/|v|² this
        // overflowed.
        let mut a = [[0.0; 6]; 6];
        a[1][0] = 1e-130;
        a[2][0] = -2e-130;
        a[3][3] = 1e119;
        a[4][3] = 3e118;
        a[2][2] = 1e119;
        let (values, _) = symmetric_eigen(&a);
        assert!(values.iter().all(|v| v.is_finite()), "{values:?}");
    }

    #[test]
    fn graded_matrix() {
        // Entries over 24 orders of magnitude: the small eigenvalue is below rounding, the rest
        // must be right.
        let a = [[1e12, 1.0, 0.0], [1.0, 1.0, 1e-6], [0.0, 1e-6, 1e-12]];
        let (values, _) = symmetric_eigen(&a);
        assert!((values[2] / 1e12 - 1.0).abs() < 1e-15);
        assert!((values[1] - 1.0).abs() < 1e-3);
    }
}
