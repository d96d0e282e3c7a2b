//! The 3×2 matrix: deformation gradients, first Piola-Kirchhoff stresses, eigenmatrices.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use glam::{DMat2, DVec2, DVec3};

use crate::scalar::{largest_abs, limit_factor, saturate};

/// A 3×2 matrix stored as its two columns.
///
/// `vec` is column-major: `vec(F) = (c0; c1) = (F00, F10, F20, F01, F11, F21)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Mat3x2 {
    /// First column: the image of the first material axis.
    pub c0: DVec3,
    /// Second column: the image of the second material axis.
    pub c1: DVec3,
}

impl Mat3x2 {
    /// The zero matrix.
    pub const ZERO: Self = Self { c0: DVec3::ZERO, c1: DVec3::ZERO };

    /// The flat embedding `[e0 | e1]`: the deformation gradient of a sheet at rest in the xy plane.
    pub const FLAT: Self = Self { c0: DVec3::X, c1: DVec3::Y };

    /// From columns.
    #[inline]
    #[must_use]
    pub const fn new(c0: DVec3, c1: DVec3) -> Self {
        Self { c0, c1 }
    }

    /// From `vec(F)`, column-major.
    #[inline]
    #[must_use]
    pub const fn from_array(v: [f64; 6]) -> Self {
        Self { c0: DVec3::new(v[0], v[1], v[2]), c1: DVec3::new(v[3], v[4], v[5]) }
    }

    /// `vec(F)`, column-major.
    #[inline]
    #[must_use]
    pub const fn to_array(self) -> [f64; 6] {
        [self.c0.x, self.c0.y, self.c0.z, self.c1.x, self.c1.y, self.c1.z]
    }

    /// The outer product `y aᵀ`, whose `vec` is `a ⊗ y`.
    #[inline]
    #[must_use]
    pub fn outer(y: DVec3, a: DVec2) -> Self {
        Self { c0: y * a.x, c1: y * a.y }
    }

    /// The inner product `A : B = tr(Aᵀ B)`.
    #[inline]
    #[must_use]
    pub fn dot(&self, other: &Self) -> f64 {
        self.c0.dot(other.c0) + self.c1.dot(other.c1)
    }

    /// The squared Frobenius norm. Overflows beyond about `1e154`; [`Self::norm`] does not.
    #[inline]
    #[must_use]
    pub fn norm_squared(&self) -> f64 {
        self.dot(self)
    }

    /// The Frobenius norm, safe at every scale.
    #[must_use]
    pub fn norm(&self) -> f64 {
        let largest = self.max_abs();
        if largest == 0.0 || !largest.is_finite() {
            // The plain formula keeps NaN, which does not count in `largest`.
            return self.norm_squared();
        }
        let scaled = Self { c0: self.c0 / largest, c1: self.c1 / largest };
        saturate(largest * scaled.norm_squared().sqrt())
    }

    /// The largest absolute entry; NaN entries do not count.
    #[inline]
    #[must_use]
    pub fn max_abs(&self) -> f64 {
        largest_abs(&self.to_array())
    }

    /// Whether no entry is infinite or NaN.
    #[inline]
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.c0.is_finite() && self.c1.is_finite()
    }

    /// Limits every entry to ±[`SATURATION`](crate::SATURATION).
    #[inline]
    #[must_use]
    pub fn saturated(&self) -> Self {
        Self::from_array(self.to_array().map(saturate))
    }

    /// This matrix times a finite factor, shortened where an entry would exceed
    /// [`SATURATION`](crate::SATURATION): the direction is kept.
    #[inline]
    #[must_use]
    pub fn mul_saturating(&self, factor: f64) -> Self {
        *self * limit_factor(factor, self.max_abs())
    }
}

impl Add for Mat3x2 {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self { c0: self.c0 + other.c0, c1: self.c1 + other.c1 }
    }
}

impl AddAssign for Mat3x2 {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Mat3x2 {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self { c0: self.c0 - other.c0, c1: self.c1 - other.c1 }
    }
}

impl Neg for Mat3x2 {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { c0: -self.c0, c1: -self.c1 }
    }
}

impl Mul<f64> for Mat3x2 {
    type Output = Self;
    #[inline]
    fn mul(self, factor: f64) -> Self {
        Self { c0: self.c0 * factor, c1: self.c1 * factor }
    }
}

/// `F a`: the image of a material direction.
impl Mul<DVec2> for Mat3x2 {
    type Output = DVec3;
    #[inline]
    fn mul(self, a: DVec2) -> DVec3 {
        self.c0 * a.x + self.c1 * a.y
    }
}

/// `F A` for a 2×2 matrix `A` acting on the material side.
impl Mul<DMat2> for Mat3x2 {
    type Output = Self;
    #[inline]
    fn mul(self, a: DMat2) -> Self {
        Self { c0: self * a.x_axis, c1: self * a.y_axis }
    }
}

/// `A F` for a 3×3 matrix `A` acting on the world side, a rotation for instance.
impl Mul<Mat3x2> for glam::DMat3 {
    type Output = Mat3x2;
    #[inline]
    fn mul(self, f: Mat3x2) -> Mat3x2 {
        Mat3x2 { c0: self * f.c0, c1: self * f.c1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vec_of_an_outer_product_is_the_kronecker_product() {
        let (a, y) = (DVec2::new(2.0, -3.0), DVec3::new(1.0, 5.0, 7.0));
        assert_eq!(Mat3x2::outer(y, a).to_array(), [2.0, 10.0, 14.0, -3.0, -15.0, -21.0]);
    }

    #[test]
    fn norm_survives_extreme_scales() {
        for exponent in [-320, -200, 0, 200, 299] {
            let scale = 10f64.powi(exponent);
            let norm =
                Mat3x2::new(DVec3::new(3.0 * scale, 0.0, 0.0), DVec3::new(0.0, 4.0 * scale, 0.0)).norm();
            assert!((norm / scale - 5.0).abs() < 1e-2, "{norm} at 1e{exponent}");
        }
        assert_eq!(Mat3x2::ZERO.norm(), 0.0);
    }

    #[test]
    fn products_agree_with_each_other() {
        let f = Mat3x2::from_array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let a = DMat2::from_cols_array(&[2.0, 1.0, -1.0, 3.0]);
        let x = DVec2::new(0.5, -2.0);
        assert_eq!((f * a) * x, f * (a * x));
    }
}
