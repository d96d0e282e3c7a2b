//! The 2×2 symmetric matrix `[[a, b], [b, c]]` and its projection without eigenvectors.

use plisse_core::{Psd, hypot};

/// `[[a, b], [b, c]]`, with entries up to 1e300: beyond, sums of them overflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sym2 {
    /// Entry (0, 0).
    pub a: f64,
    /// Entries (0, 1) and (1, 0).
    pub b: f64,
    /// Entry (1, 1).
    pub c: f64,
}

impl Sym2 {
    /// From its three entries.
    #[inline]
    #[must_use]
    pub const fn new(a: f64, b: f64, c: f64) -> Self {
        Self { a, b, c }
    }

    /// Half the trace, half the difference of the diagonal, and half the distance of the
    /// eigenvalues.
    #[inline(always)]
    fn parts(&self) -> (f64, f64, f64) {
        let (mean, half) = (0.5 * (self.a + self.c), 0.5 * (self.a - self.c));
        (mean, half, hypot(half, self.b))
    }

    /// Applies the policy to the two eigenvalues.
    ///
    /// With `λ± = m ± r`: unchanged if `λ- ≥ 0`, zero if `λ+ ≤ 0`, else `λ+ (M - λ- I)/(λ+ - λ-)`,
    /// which is continuous across both boundaries. `|M| = 2 P(M) - M`.
    #[inline(always)]
    #[must_use]
    pub fn project(&self, psd: Psd) -> Self {
        if psd == Psd::Exact { *self } else { self.project_with_radius(self.parts().2, psd) }
    }

    /// [`Self::project`] with half the distance of the eigenvalues at hand.
    #[inline(always)]
    #[must_use]
    pub(crate) fn project_with_radius(&self, r: f64, psd: Psd) -> Self {
        if psd == Psd::Exact {
            return *self;
        }
        let (s, t) = projection(0.5 * (self.a + self.c), r, psd);
        Self { a: s * self.a + t, b: s * self.b, c: s * self.c + t }
    }

    /// Eigenvalues, the larger one first, and the unit eigenvector `(x, y)` of the larger one; that
    /// of the smaller one is `(-y, x)`.
    #[must_use]
    pub fn eigen(&self) -> ([f64; 2], [f64; 2]) {
        let (mean, half, r) = self.parts();
        // Of the two rows of M - λ- I, the one that does not cancel.
        let (x, y) = if half >= 0.0 { (half + r, self.b) } else { (self.b, r - half) };
        let length = hypot(x, y);
        // Shorter ones have lost digits to underflow, and their quotients are not unit vectors.
        let vector =
            if length > f64::MIN_POSITIVE / f64::EPSILON { [x / length, y / length] } else { [1.0, 0.0] };
        ([mean + r, mean - r], vector)
    }
}

/// The projection of a symmetric 2×2 matrix `M` with eigenvalues `mean ± r` is `s M + t I` in every
/// case: `(s, t)` for [`Psd::Clamp`] or [`Psd::Abs`]. Two numbers keep the branches short.
#[inline(always)]
pub(crate) fn projection(mean: f64, r: f64, psd: Psd) -> (f64, f64) {
    let (low, high) = (mean - r, mean + r);
    let (s, t) = if low >= 0.0 {
        (1.0, 0.0)
    } else if high <= 0.0 {
        (0.0, 0.0)
    } else {
        // r > 0 here: with r = 0 one of the cases above was taken.
        let s = high / (2.0 * r);
        (s, -s * low)
    };
    if psd == Psd::Abs { (2.0 * s - 1.0, 2.0 * t) } else { (s, t) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_core::{project_numeric, symmetric_eigen};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]
        #[test]
        fn agrees_with_the_oracle(m in prop::array::uniform3(-1.0..1.0f64), exponent in -290..290i32) {
            let [a, b, c] = m.map(|x| x * 10f64.powi(exponent));
            let dense = [[a, b], [b, c]];
            let tolerance = 1e-15 * 10f64.powi(exponent);
            for psd in Psd::ALL {
                let (found, expected) = (Sym2::new(a, b, c).project(psd), project_numeric(&dense, psd));
                let difference = (found.a - expected[0][0]).abs().max((found.b - expected[0][1]).abs()).max((found.c - expected[1][1]).abs());
                prop_assert!(difference <= 8.0 * tolerance, "{psd:?} {found:?} {expected:?}");
            }
            let ([high, low], [x, y]) = Sym2::new(a, b, c).eigen();
            let (values, _) = symmetric_eigen(&dense);
            prop_assert!((low - values[0]).abs().max((high - values[1]).abs()) <= 8.0 * tolerance);
            prop_assert!((a * x + b * y - high * x).abs().max((b * x + c * y - high * y).abs()) <= 8.0 * tolerance);
            prop_assert!((x * x + y * y - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn multiples_of_the_identity() {
        for value in [-2.0, 0.0, 3.0] {
            let m = Sym2::new(value, 0.0, value);
            let clamped = value.max(0.0);
            assert_eq!(m.project(Psd::Clamp), Sym2::new(clamped, 0.0, clamped));
            assert_eq!(m.project(Psd::Abs).a, value.abs());
            assert_eq!(m.eigen(), ([value, value], [1.0, 0.0]));
        }
    }
}
