//! The constant linear map from the corners of a triangle to its deformation gradient.

use glam::{DMat3, DVec2, DVec3};

use crate::blocks::Blocks;
use crate::mat3x2::Mat3x2;
use crate::range::{LENGTH, PARAMETER};
use crate::scalar::{hypot, saturate};

/// The map from three corner positions to the deformation gradient `F`, and back for derivatives.
///
/// With rest corners `u0, u1, u2`, `Dm = [u1-u0 | u2-u0]` and `Ds = [x1-x0 | x2-x0]`, `F = Ds Dm⁻¹`
/// (Kim20, section 3.1). `F` is linear in `x`: `vec(F) = (w ⊗ I₃) x` with a 2×3 matrix `w`, so
/// derivatives are pulled back with six numbers instead of a dense 6×9 matrix. The second
/// derivative of `F` is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleMap {
    w: [[f64; 3]; 2],
    area: f64,
}

impl TriangleMap {
    /// From the rest corners in material coordinates, metres. Either winding is accepted.
    ///
    /// `None` if the triangle has no area to speak of: `|det Dm| <= 1e-14 |u1-u0| |u2-u0|`, a
    /// coordinate that is not finite, edges outside of [`range::LENGTH`](crate::range::LENGTH) or
    /// an area outside of [`range::PARAMETER`](crate::range::PARAMETER).
    #[must_use]
    pub fn new(corners: [DVec2; 3]) -> Option<Self> {
        let [u0, u1, u2] = corners;
        let (a, b) = (u1 - u0, u2 - u0);
        let (la, lb) = (a.length(), b.length());
        if !(LENGTH.contains(&la) && LENGTH.contains(&lb)) {
            return None;
        }
        let det = a.perp_dot(b);
        let spans_an_area = det.abs() > 1e-14 * la * lb && PARAMETER.contains(&(0.5 * det.abs()));
        if !spans_an_area {
            return None;
        }
        // Rows of Dm⁻¹: the gradients of the barycentric coordinates of corners 1 and 2.
        let (r0, r1) = (DVec2::new(b.y, -b.x) / det, DVec2::new(-a.y, a.x) / det);
        Some(Self { w: [[-(r0.x + r1.x), r0.x, r1.x], [-(r0.y + r1.y), r0.y, r1.y]], area: 0.5 * det.abs() })
    }

    /// The same map from the midpoints of the edges opposite corners 0, 1 and 2, with the area of
    /// the whole triangle: the Crouzeix-Raviart element. The midpoints span a triangle whose
    /// barycentric coordinates are `1 - 2 λ`.
    #[must_use]
    pub fn of_midpoints(&self) -> Self {
        Self { w: self.w.map(|row| row.map(|w| -2.0 * w)), area: self.area }
    }

    /// `w[c][i]`: how much corner `i` contributes to column `c` of `F`, in 1/m. Each row sums to
    /// zero.
    #[inline]
    #[must_use]
    pub fn weights(&self) -> &[[f64; 3]; 2] {
        &self.w
    }

    /// Gradient of the barycentric coordinate of corner `i` in material space, in 1/m: column `i`
    /// of the weights. Its length is the inverse of the height over the opposite edge.
    #[inline]
    #[must_use]
    pub fn barycentric_gradient(&self, i: usize) -> DVec2 {
        DVec2::new(self.w[0][i], self.w[1][i])
    }

    /// Mean height `(Σ 1/h²)^(-1/2)` at rest over the three edges, m: between the smallest height
    /// and `1/√3` of it.
    #[must_use]
    pub fn mean_height(&self) -> f64 {
        let [a, b, c] = [0, 1, 2].map(|i| self.barycentric_gradient(i).length());
        // Gradients of tiny triangles have squares beyond the range of f64.
        1.0 / hypot(hypot(a, b), c)
    }

    /// Rest area in m².
    #[inline]
    #[must_use]
    pub fn area(&self) -> f64 {
        self.area
    }

    /// The deformation gradient. Entries beyond ±[`SATURATION`](crate::SATURATION) saturate.
    #[inline]
    #[must_use]
    pub fn deformation_gradient(&self, x: &[DVec3; 3]) -> Mat3x2 {
        let (d1, d2) = (x[1] - x[0], x[2] - x[0]);
        let f = self.combine(d1, d2);
        if f.is_finite() { f } else { self.deformation_gradient_saturated(x) }
    }

    #[inline]
    fn combine(&self, d1: DVec3, d2: DVec3) -> Mat3x2 {
        let w = &self.w;
        Mat3x2 { c0: d1 * w[0][1] + d2 * w[0][2], c1: d1 * w[1][1] + d2 * w[1][2] }
    }

    #[cold]
    #[inline(never)]
    fn deformation_gradient_saturated(&self, x: &[DVec3; 3]) -> Mat3x2 {
        // On positions divided by the largest coordinate nothing overflows; multiply back and
        // saturate.
        let largest = x.iter().fold(0.0f64, |m, p| m.max(p.abs().max_element()));
        let (d1, d2) = (x[1] / largest - x[0] / largest, x[2] / largest - x[0] / largest);
        Mat3x2::from_array(self.combine(d1, d2).to_array().map(|value| saturate(value * largest)))
    }

    /// `area · (dF/dx)ᵀ P`: the gradient by the corners of an energy whose density has the stress
    /// `P = dψ/dF`.
    ///
    /// The three vectors sum to zero. The force is the negative.
    #[inline]
    #[must_use]
    pub fn pull_back_gradient(&self, p: &Mat3x2) -> [DVec3; 3] {
        let g = self.pull_back_gradient_unchecked(p);
        if g[0].is_finite() { g } else { self.pull_back_gradient_saturated(p) }
    }

    #[inline]
    fn pull_back_gradient_unchecked(&self, p: &Mat3x2) -> [DVec3; 3] {
        let w = &self.w;
        let g1 = (p.c0 * w[0][1] + p.c1 * w[1][1]) * self.area;
        let g2 = (p.c0 * w[0][2] + p.c1 * w[1][2]) * self.area;
        [-(g1 + g2), g1, g2]
    }

    /// On a stress of unit size nothing overflows; multiply back and keep the direction.
    #[cold]
    #[inline(never)]
    fn pull_back_gradient_saturated(&self, p: &Mat3x2) -> [DVec3; 3] {
        let largest = p.max_abs();
        let [_, g1, g2] = self.pull_back_gradient_unchecked(&(*p * (1.0 / largest)));
        let Mat3x2 { c0: g1, c1: g2 } = Mat3x2::new(g1, g2).mul_saturating(largest);
        [-(g1 + g2), g1, g2]
    }

    /// `area · (dF/dx)ᵀ H (dF/dx)`: the Hessian by the corners of an energy whose density has the
    /// Hessian `H`.
    ///
    /// Positive semidefinite if `H` is; each block row sums to zero.
    #[inline]
    #[must_use]
    pub fn pull_back_hessian(&self, h: &Blocks<2>) -> Blocks<3> {
        let k = self.pull_back_hessian_unchecked(h);
        // Block (0, 0) is minus the sum of all others: it is finite only if they are.
        let sum = k.0[0][0].x_axis + k.0[0][0].y_axis + k.0[0][0].z_axis;
        if sum.is_finite() { k } else { self.pull_back_hessian_saturated(h) }
    }

    #[inline]
    fn pull_back_hessian_unchecked(&self, h: &Blocks<2>) -> Blocks<3> {
        let w = &self.w;
        let [[h00, h01], [h10, h11]] = &h.0;
        // Half products H (dF/dx) for corners 1 and 2: two block rows each.
        let half = |j: usize| {
            let (s, t) = (w[0][j] * self.area, w[1][j] * self.area);
            [*h00 * s + *h01 * t, *h10 * s + *h11 * t]
        };
        let block = |i: usize, half: &[DMat3; 2]| half[0] * w[0][i] + half[1] * w[1][i];
        let (half1, half2) = (half(1), half(2));
        let (k11, k12, k22) = (block(1, &half1), block(1, &half2), block(2, &half2));
        // H is symmetric, and translations cost nothing: every row of blocks sums to zero.
        let k21 = k12.transpose();
        let (k10, k20) = (-(k11 + k12), -(k21 + k22));
        let k00 = -(k10 + k20);
        Blocks([[k00, k10.transpose(), k20.transpose()], [k10, k11, k12], [k20, k21, k22]])
    }

    #[cold]
    #[inline(never)]
    fn pull_back_hessian_saturated(&self, h: &Blocks<2>) -> Blocks<3> {
        let largest = h.max_abs();
        self.pull_back_hessian_unchecked(&(*h * (1.0 / largest))).mul_saturating(largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_testkit::{check_gradient, max_difference};
    use proptest::prelude::*;

    fn map(corners: [[f64; 2]; 3]) -> TriangleMap {
        TriangleMap::new(corners.map(DVec2::from)).unwrap()
    }

    #[test]
    fn unit_right_triangle() {
        let m = map([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(m.area(), 0.5);
        assert_eq!(m.weights(), &[[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]);
    }

    #[test]
    fn degenerate_corners_are_refused() {
        let refuse = |c: [[f64; 2]; 3]| assert_eq!(TriangleMap::new(c.map(DVec2::from)), None, "{c:?}");
        refuse([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]);
        refuse([[0.0, 0.0], [0.0, 0.0], [2.0, 2.0]]);
        refuse([[0.0, 0.0], [1.0, 0.0], [2.0, 1e-15]]);
        refuse([[0.0, 0.0], [f64::NAN, 0.0], [0.0, 1.0]]);
        refuse([[0.0, 0.0], [f64::INFINITY, 0.0], [0.0, 1.0]]);
        refuse([[0.0, 0.0], [9e-31, 0.0], [0.0, 9e-31]]);
        refuse([[0.0, 0.0], [2e30, 0.0], [0.0, 2e30]]);
        refuse([[0.0, 0.0], [1e-30, 0.0], [0.0, 1e-30]]);
    }

    proptest! {
        #[test]
        fn affine_images_are_recovered(u in prop::array::uniform6(-1.0..1.0f64), f in prop::array::uniform6(-2.0..2.0f64), t in prop::array::uniform3(-5.0..5.0f64)) {
            let corners = [DVec2::new(u[0], u[1]), DVec2::new(u[2], u[3]), DVec2::new(u[4], u[5])];
            let det = (corners[1] - corners[0]).perp_dot(corners[2] - corners[0]);
            prop_assume!(det.abs() > 1e-2);
            let m = TriangleMap::new(corners).unwrap();
            let f = Mat3x2::from_array(f);
            let x = corners.map(|u| f * u + DVec3::from(t));
            let found = m.deformation_gradient(&x);
            prop_assert!((found - f).max_abs() < 1e-12, "{found:?}");
        }

        #[test]
        fn pulling_back_is_the_chain_rule(
            u in prop::array::uniform6(-1.0..1.0f64),
            x in prop::collection::vec(-1.0..1.0f64, 9),
            q in prop::collection::vec(-1.0..1.0f64, 36),
        ) {
            let corners = [DVec2::new(u[0], u[1]), DVec2::new(u[2], u[3]), DVec2::new(u[4], u[5])];
            prop_assume!((corners[1] - corners[0]).perp_dot(corners[2] - corners[0]).abs() > 1e-2);
            let m = TriangleMap::new(corners).unwrap();
            // ψ = ½ f·Hf with a symmetric H; its gradient and Hessian by x are pulled back from Hf
            // and H.
            let rows: [[f64; 6]; 6] = std::array::from_fn(|i| std::array::from_fn(|j| q[6 * i + j] + q[6 * j + i]));
            let h = Blocks::<2>::from_matrix(&rows);
            let x: [f64; 9] = std::array::from_fn(|i| x[i]);
            let points = |x: &[f64; 9]| std::array::from_fn(|i| DVec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]));
            let p = |x: &[f64; 9]| {
                let f = m.deformation_gradient(&points(x));
                let [c0, c1] = h.mul_vector(&[f.c0, f.c1]);
                (f, Mat3x2::new(c0, c1))
            };
            let energy = |x: &[f64; 9]| { let (f, p) = p(x); 0.5 * m.area() * f.dot(&p) };
            let gradient = |x: &[f64; 9]| {
                let g = m.pull_back_gradient(&p(x).1);
                std::array::from_fn(|i| g[i / 3][i % 3])
            };
            check_gradient(energy, gradient, &x, 1e-7);
            let k = m.pull_back_hessian(&h);
            let kx: [f64; 9] = { let v = k.mul_vector(&points(&x)); std::array::from_fn(|i| v[i / 3][i % 3]) };
            prop_assert!(max_difference(&kx, &gradient(&x)) < 1e-11 * k.norm());
            for row in k.to_matrix::<9>() {
                for c in 0..3 {
                    prop_assert!((row[c] + row[3 + c] + row[6 + c]).abs() < 1e-12 * k.norm());
                }
            }
        }
    }

    #[test]
    fn finite_input_gives_finite_output() {
        let m = map([[0.0, 0.0], [1e-3, 0.0], [0.0, 1e-3]]);
        let far = DVec3::splat(f64::MAX);
        for x in [[far, -far, far], [far, far, far], [DVec3::ZERO, far, -far], [-far, far, DVec3::ZERO]] {
            let f = m.deformation_gradient(&x);
            assert!(f.is_finite(), "{f:?}");
            let p = Mat3x2::new(DVec3::splat(1e300), DVec3::splat(-1e300));
            assert!(m.pull_back_gradient(&p).iter().all(|g| g.is_finite()));
        }
        let mut h = Blocks::<2>::identity() * 1e305;
        h.0[0][1] = DMat3::from_diagonal(DVec3::splat(-1e305));
        h.0[1][0] = h.0[0][1];
        assert!(m.pull_back_hessian(&h).is_finite());
        let sliver = map([[0.0, 0.0], [1.0, 0.0], [0.5, 1e-12]]);
        assert!(sliver.pull_back_hessian(&h).is_finite());
    }
}
