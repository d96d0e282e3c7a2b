//! Symmetric matrices over `N` nodes, as 3×3 blocks: the shape of every element Hessian.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use glam::{DMat3, DVec3};

use crate::scalar::{largest_abs, limit_factor, saturate};

/// An `N`×`N` matrix of 3×3 blocks; block `(i, j)` couples node `i` with node `j`.
///
/// `N = 2` is a Hessian in F space (node 0 is the first column of `F`, node 1 the second), `N = 3`
/// a triangle or a rod stencil, `N = 4` a hinge. Row `3 i + k` of the dense matrix is component `k`
/// of node `i`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blocks<const N: usize>(pub [[DMat3; N]; N]);

impl<const N: usize> Blocks<N> {
    /// The zero matrix.
    pub const ZERO: Self = Self([[DMat3::ZERO; N]; N]);

    /// The identity.
    #[must_use]
    pub fn identity() -> Self {
        let mut out = Self::ZERO;
        for i in 0..N {
            out.0[i][i] = DMat3::IDENTITY;
        }
        out
    }

    /// Entry of the dense matrix.
    ///
    /// # Panics
    /// If `row` or `column` is `3 N` or more.
    #[inline]
    #[must_use]
    pub fn entry(&self, row: usize, column: usize) -> f64 {
        self.0[row / 3][column / 3].col(column % 3)[row % 3]
    }

    /// The dense matrix, rows first. `M` must be `3 N`; anything else does not compile.
    ///
    /// ```
    /// let rows = plisse_core::Blocks::<2>::identity().to_matrix::<6>();
    /// assert_eq!(rows[4], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    /// ```
    #[must_use]
    pub fn to_matrix<const M: usize>(&self) -> [[f64; M]; M] {
        const { assert!(M == 3 * N, "a Blocks<N> is a dense matrix of size 3 N") }
        std::array::from_fn(|row| std::array::from_fn(|column| self.entry(row, column)))
    }

    /// From a dense matrix. `M` must be `3 N`; anything else does not compile.
    #[must_use]
    pub fn from_matrix<const M: usize>(rows: &[[f64; M]; M]) -> Self {
        const { assert!(M == 3 * N, "a Blocks<N> is a dense matrix of size 3 N") }
        Self(std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                DMat3::from_cols(
                    DVec3::new(rows[3 * i][3 * j], rows[3 * i + 1][3 * j], rows[3 * i + 2][3 * j]),
                    DVec3::new(
                        rows[3 * i][3 * j + 1],
                        rows[3 * i + 1][3 * j + 1],
                        rows[3 * i + 2][3 * j + 1],
                    ),
                    DVec3::new(
                        rows[3 * i][3 * j + 2],
                        rows[3 * i + 1][3 * j + 2],
                        rows[3 * i + 2][3 * j + 2],
                    ),
                )
            })
        }))
    }

    /// Adds `weight · v vᵀ`.
    #[inline]
    pub fn add_outer(&mut self, v: &[DVec3; N], weight: f64) {
        for i in 0..N {
            for j in 0..N {
                self.0[i][j] += outer(v[i] * weight, v[j]);
            }
        }
    }

    /// The lower triangle on both sides of the diagonal: a matrix that is symmetric but for
    /// rounding becomes so to the last bit.
    ///
    /// ```
    /// # use plisse_core::{Blocks, outer};
    /// # use glam::DVec3;
    /// let skewed = Blocks([[outer(DVec3::X, DVec3::ONE)]]).mirrored().to_matrix::<3>();
    /// assert_eq!(skewed, [[1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]]);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let mut out = *self;
        for i in 0..N {
            let [a, b, c] = [self.0[i][i].x_axis, self.0[i][i].y_axis, self.0[i][i].z_axis];
            out.0[i][i] = DMat3::from_cols(a, DVec3::new(a.y, b.y, b.z), DVec3::new(a.z, b.z, c.z));
            for j in 0..i {
                out.0[j][i] = self.0[i][j].transpose();
            }
        }
        out
    }

    /// The product with a vector over the nodes.
    #[must_use]
    pub fn mul_vector(&self, v: &[DVec3; N]) -> [DVec3; N] {
        std::array::from_fn(|i| {
            let mut sum = DVec3::ZERO;
            for j in 0..N {
                sum += self.0[i][j] * v[j];
            }
            sum
        })
    }

    /// The Frobenius norm, safe at every scale.
    #[must_use]
    pub fn norm(&self) -> f64 {
        let largest = self.max_abs();
        if largest == 0.0 || !largest.is_finite() {
            // The plain formula keeps NaN, which does not count in `largest`.
            return self.values().map(|value| value * value).sum();
        }
        let mut square = 0.0;
        for value in self.values() {
            square += (value / largest).powi(2);
        }
        saturate(largest * square.sqrt())
    }

    /// The largest absolute entry; NaN entries do not count.
    #[inline]
    #[must_use]
    pub fn max_abs(&self) -> f64 {
        let mut largest = 0.0;
        for block in self.0.as_flattened() {
            let of_block = largest_abs(&block.to_cols_array());
            largest = if of_block > largest { of_block } else { largest };
        }
        largest
    }

    /// Whether no entry is infinite or NaN.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.values().all(f64::is_finite)
    }

    /// This matrix times a finite factor, made smaller as a whole where an entry would exceed
    /// [`SATURATION`](crate::SATURATION): what was positive semidefinite stays so.
    #[inline]
    #[must_use]
    pub fn mul_saturating(self, factor: f64) -> Self {
        let factor = limit_factor(factor, self.max_abs());
        self * factor
    }

    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.as_flattened().iter().flat_map(DMat3::to_cols_array)
    }
}

impl Blocks<2> {
    /// A symmetric matrix from its upper blocks; block (1, 0) is the transpose of block (0, 1).
    #[inline]
    #[must_use]
    pub fn from_upper(b00: DMat3, b01: DMat3, b11: DMat3) -> Self {
        Self([[b00, b01], [b01.transpose(), b11]])
    }
}

/// The outer product `a bᵀ` of two 3-vectors.
#[inline]
#[must_use]
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl<const N: usize> Default for Blocks<N> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<const N: usize> AddAssign for Blocks<N> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        for (mine, theirs) in self.0.as_flattened_mut().iter_mut().zip(other.0.as_flattened()) {
            *mine += *theirs;
        }
    }
}

impl<const N: usize> Add for Blocks<N> {
    type Output = Self;
    #[inline]
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl<const N: usize> Neg for Blocks<N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl<const N: usize> Sub for Blocks<N> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl<const N: usize> Mul<f64> for Blocks<N> {
    type Output = Self;
    #[inline]
    fn mul(mut self, factor: f64) -> Self {
        for block in self.0.as_flattened_mut() {
            *block *= factor;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_round_trip_and_entries() {
        let rows: [[f64; 6]; 6] = std::array::from_fn(|i| std::array::from_fn(|j| (10 * i + j) as f64));
        let blocks = Blocks::<2>::from_matrix(&rows);
        assert_eq!(blocks.to_matrix::<6>(), rows);
        assert_eq!(blocks.entry(4, 1), 41.0);
        assert_eq!(blocks.0[1][0].col(1).y, 41.0);
    }

    #[test]
    fn outer_products_multiply_as_projections() {
        let v = [DVec3::new(1.0, 2.0, 3.0), DVec3::new(-1.0, 0.5, 4.0)];
        let mut a = Blocks::<2>::ZERO;
        a.add_outer(&v, 2.0);
        let square: f64 = v.iter().map(|x| x.length_squared()).sum();
        let av = a.mul_vector(&v);
        for i in 0..2 {
            assert!((av[i] - v[i] * (2.0 * square)).length() < 1e-13);
        }
        assert!((a.norm() - 2.0 * square).abs() < 1e-13);
    }
}
