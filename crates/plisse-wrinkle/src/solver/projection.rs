//! Positive semidefinite Hessians of faces.

use plisse_core::{Psd, symmetric_eigen};

/// What is done with the Hessian of a face before it is added to the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaceHessian {
    /// Nothing: the exact Hessian, in general indefinite.
    Exact,
    /// The policy is applied to its eigenvalues, with amplitudes counted in metres and differences
    /// of phase in radians.
    Projected(Psd),
    /// The same with amplitudes counted in the given unit, in metres. An amplitude that is typical
    /// of the problem weighs amplitudes and phases alike.
    Scaled(Psd, f64),
}

impl FaceHessian {
    /// What the policy adds to a Hessian, if anything: a positive semidefinite matrix.
    pub(super) fn correction(self, hessian: &[[f64; 5]; 5]) -> Option<[[f64; 5]; 5]> {
        let (psd, unit) = match self {
            Self::Exact | Self::Projected(Psd::Exact) | Self::Scaled(Psd::Exact, _) => return None,
            Self::Projected(psd) => (psd, 1.0),
            Self::Scaled(psd, unit) => (psd, unit),
        };
        // Without negative eigenvalues there is nothing to do, which a factorisation tells in a
        // tenth of the time.
        if is_positive(*hessian) {
            return None;
        }
        let scale = [unit, unit, unit, 1.0, 1.0];
        let scaled = std::array::from_fn(|i| std::array::from_fn(|j| scale[i] * hessian[i][j] * scale[j]));
        let (values, vectors) = symmetric_eigen::<5>(&scaled);
        let mut out = [[0.0; 5]; 5];
        for (value, vector) in values.iter().zip(&vectors).filter(|(value, _)| **value < 0.0) {
            let weight = psd.apply(*value) - value;
            let vector: [f64; 5] = std::array::from_fn(|i| vector[i] / scale[i]);
            for i in 0..5 {
                for j in 0..5 {
                    out[i][j] += weight * vector[i] * vector[j];
                }
            }
        }
        Some(out)
    }
}

/// Whether every pivot of `L D Lᵀ` is positive.
fn is_positive(mut m: [[f64; 5]; 5]) -> bool {
    for k in 0..5 {
        let pivot = m[k][k];
        if pivot <= 0.0 || pivot.is_nan() {
            return false;
        }
        let inverse = 1.0 / pivot;
        for i in k + 1..5 {
            let factor = m[i][k] * inverse;
            for j in k + 1..=i {
                m[i][j] -= factor * m[j][k];
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Indefinite, with entries of very different sizes as between amplitudes and phases.
    fn matrix() -> [[f64; 5]; 5] {
        let mut m = [[0.0; 5]; 5];
        for i in 0..5usize {
            for j in 0..=i {
                let size = if i < 3 && j < 3 {
                    1e4
                } else if j < 3 {
                    1.0
                } else {
                    1e-3
                };
                m[i][j] = size * ((7 * i + 3 * j) as f64).sin();
                m[j][i] = m[i][j];
            }
        }
        m
    }

    #[test]
    fn corrected_hessians_have_the_eigenvalues_of_the_policy() {
        let m = matrix();
        let unit = 1e-3;
        let scaled = |m: &[[f64; 5]; 5]| -> [[f64; 5]; 5] {
            let scale = [unit, unit, unit, 1.0, 1.0];
            std::array::from_fn(|i| std::array::from_fn(|j| scale[i] * m[i][j] * scale[j]))
        };
        let (values, _) = symmetric_eigen(&scaled(&m));
        assert!(values[0] < 0.0 && values[4] > 0.0);
        for psd in [Psd::Clamp, Psd::Abs] {
            let c = FaceHessian::Scaled(psd, unit).correction(&m).unwrap();
            let sum: [[f64; 5]; 5] = std::array::from_fn(|i| std::array::from_fn(|j| m[i][j] + c[i][j]));
            let mut expected = values.map(|value| psd.apply(value));
            expected.sort_by(f64::total_cmp);
            let (found, _) = symmetric_eigen(&scaled(&sum));
            for (x, y) in found.iter().zip(&expected) {
                assert!((x - y).abs() < 1e-14 * values[4].max(-values[0]), "{psd:?}: {found:?} {expected:?}");
            }
        }
    }

    #[test]
    fn definite_hessians_are_left_alone() {
        let mut m = matrix();
        assert!(!is_positive(m));
        for (i, row) in m.iter_mut().enumerate() {
            row[i] += if i < 3 { 3e4 } else { 1.0 };
        }
        assert!(is_positive(m));
        assert_eq!(FaceHessian::Projected(Psd::Clamp).correction(&m), None);
        assert_eq!(FaceHessian::Exact.correction(&matrix()), None);
        m[2][2] = f64::NAN;
        assert!(!is_positive(m));
    }
}
