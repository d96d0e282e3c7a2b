//! The angle between two consecutive edges: the stencil of rods.
//!
//! With `eᵢ = lᵢ tᵢ`, the binormal `b ∥ e0 × e1` and `pᵢ = tᵢ × b`, the unsigned angle `θ = atan2(|t0 × t1|, t0·t1)` has
//! `∂θ/∂e0 = p0/l0`, `∂θ/∂e1 = -p1/l1`. The Hessian of `ψ(θ)` by the edges splits into an in-plane 4×4 part on
//! `(t0, p0, t1, p1)` and an out-of-plane 2×2 part on the binormal (WK23, section 3). With `g = ψ'`, `h = ψ''`,
//! `a = 1/l0²`, `c = 1/l1²`, `q = 1/(l0 l1)`:
//!
//! ```text
//! K = [ 0   -ga   0    0  ]          O = g/sin θ [ a cos θ   -q      ]
//!     [ -ga  ha   0   -hq ]                      [ -q        c cos θ ]
//!     [ 0    0    0    gc ]
//!     [ 0   -hq   gc   hc ]
//! ```
//!
//! Both projections are closed forms without eigenvectors.

use glam::{DMat3, DVec3};
use plisse_core::{Blocks, Psd, hypot, length_and_direction};

use crate::sym2::Sym2;

/// Angle and frame of two consecutive edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AngleFrame {
    theta: f64,
    sin: f64,
    cos: f64,
    lengths: [f64; 2],
    tangents: [DVec3; 2],
    normals: [DVec3; 2],
    binormal: DVec3,
}

/// Below this distance from 0 or π the binormal is rounding noise.
const STRAIGHT: f64 = 1e-8;

impl AngleFrame {
    /// The frame of `e0` and `e1`, or `None` if an edge is shorter than 1e-12 of the other or outside 1e-60 m to
    /// 1e60 m.
    #[inline]
    #[must_use]
    pub fn new(e0: DVec3, e1: DVec3) -> Option<Self> {
        let ((l0, t0), (l1, t1)) = (length_and_direction(e0), length_and_direction(e1));
        let range = 1e-60..1e60;
        if !(range.contains(&l0) && range.contains(&l1) && l0 > 1e-12 * l1 && l1 > 1e-12 * l0) {
            return None;
        }
        let (sin, b) = length_and_direction(t0.cross(t1));
        let binormal = if sin > STRAIGHT { b } else { t0.any_orthonormal_vector() };
        let cos = t0.dot(t1);
        Some(Self {
            theta: sin.atan2(cos),
            sin,
            cos,
            lengths: [l0, l1],
            tangents: [t0, t1],
            normals: [t0.cross(binormal), t1.cross(binormal)],
            binormal,
        })
    }

    /// The angle in [0, π], zero when straight.
    #[inline]
    #[must_use]
    pub fn theta(&self) -> f64 {
        self.theta
    }

    /// Whether the edges are parallel to rounding, straight or folded: the plane of the angle is lost.
    #[inline]
    #[must_use]
    pub fn is_straight(&self) -> bool {
        self.sin <= STRAIGHT
    }

    /// Derivative of the angle by the two edges, in 1/m; zero for parallel edges, where it has no direction.
    #[inline]
    #[must_use]
    pub fn gradient(&self) -> [DVec3; 2] {
        if self.is_straight() {
            return [DVec3::ZERO; 2];
        }
        [self.normals[0] / self.lengths[0], -self.normals[1] / self.lengths[1]]
    }

    /// Hessian of `ψ(θ)` by the two edges for `g = ψ'(θ)`, `h = ψ''(θ)`, exact or projected.
    ///
    /// For parallel edges: `h n nᵀ ⊗ (I - t tᵀ)` with `n = (1/l0, ∓1/l1)`, which is exact where `g` vanishes (rest
    /// straight); elsewhere the energy has a cone there and the positive part of `h` majorises it for every policy.
    #[inline]
    #[must_use]
    pub fn hessian(&self, g: f64, h: f64, psd: Psd) -> Blocks<2> {
        let [l0, l1] = self.lengths;
        let ([t0, t1], [p0, p1], b) = (self.tangents, self.normals, self.binormal);
        if self.is_straight() {
            // Smooth if the slope vanishes to the accuracy with which the angle is known here.
            let smooth = g.abs() <= 10.0 * STRAIGHT * h.abs() && self.cos > 0.0;
            let stiffness = if smooth { psd.apply(h) } else { h.max(0.0) };
            let across = DMat3::IDENTITY - outer(t0, t0);
            let (x, y) = (1.0 / l0, if self.cos > 0.0 { -1.0 / l1 } else { 1.0 / l1 });
            let block = |weight: f64| across * (stiffness * weight);
            return Blocks::from_upper(block(x * x), block(x * y), block(y * y));
        }
        let (a, c, q) = (1.0 / (l0 * l0), 1.0 / (l1 * l1), 1.0 / (l0 * l1));
        let k = in_plane(a, c, g, h, psd);
        let s = g / self.sin;
        let o = Sym2::new(s * a * self.cos, -s * q, s * c * self.cos).project(psd);
        let block = |i: usize, j: usize, t: DVec3, p: DVec3, tt: DVec3, pp: DVec3, o: f64| {
            outer(t, tt * k[i][j] + pp * k[i][j + 1])
                + outer(p, tt * k[i + 1][j] + pp * k[i + 1][j + 1])
                + outer(b * o, b)
        };
        Blocks::from_upper(
            block(0, 0, t0, p0, t0, p0, o.a),
            block(0, 2, t0, p0, t1, p1, o.b),
            block(2, 2, t1, p1, t1, p1, o.c),
        )
    }
}

/// The in-plane matrix `K` of the module's derivation, exact or projected, for `a = 1/l0²`, `c = 1/l1²`.
///
/// `K - p K⁻¹` with `p = g² a c` has only two eigenvalues `μ±`, so that the projection is a divided difference of a
/// smooth function of `K` and needs neither eigenvectors nor a case for equal lengths. Exactly two eigenvalues are
/// positive and two negative unless `g = 0`.
#[must_use]
pub fn in_plane(a: f64, c: f64, g: f64, h: f64, psd: Psd) -> [[f64; 4]; 4] {
    let q = (a * c).sqrt();
    let k = [
        [0.0, -g * a, 0.0, 0.0],
        [-g * a, h * a, 0.0, -h * q],
        [0.0, 0.0, 0.0, g * c],
        [0.0, -h * q, g * c, h * c],
    ];
    match psd {
        Psd::Exact => k,
        Psd::Clamp => in_plane_clamp(a, c, g, h),
        Psd::Abs => {
            let p = in_plane_clamp(a, c, g, h);
            std::array::from_fn(|i| std::array::from_fn(|j| 2.0 * p[i][j] - k[i][j]))
        }
    }
}

fn in_plane_clamp(a: f64, c: f64, g: f64, h: f64) -> [[f64; 4]; 4] {
    // Dimensionless: the largest of g, h and of a, c become one.
    let (stiffness, inverse_square) = (g.abs().max(h.abs()), a.max(c));
    if stiffness == 0.0 {
        return [[0.0; 4]; 4];
    }
    let (mut g, h, a, c) = (g / stiffness, h / stiffness, a / inverse_square, c / inverse_square);
    if g.abs() < 1e-75 {
        g = 0.0;
    }
    let scale = stiffness * inverse_square;
    let q = (a * c).sqrt();
    let (ga, gc) = (g * a, g * c);
    let k = [[0.0, -ga, 0.0, 0.0], [-ga, h * a, 0.0, -h * q], [0.0, 0.0, 0.0, gc], [0.0, -h * q, gc, h * c]];
    if g == 0.0 {
        let weight = if h > 0.0 { scale } else { 0.0 };
        return k.map(|row| row.map(|x| x * weight));
    }
    let mean = 0.5 * h * (a + c);
    let skew = g * (a - c);
    let larger = mean + hypot(mean, skew).copysign(mean);
    let other = if larger == 0.0 { 0.0 } else { -skew * skew / larger };
    let (plus, minus) = (larger.max(other), larger.min(other));
    let p = g * g * a * c;
    let (s_plus, s_minus) = (hypot(plus, 2.0 * g * q), hypot(minus, 2.0 * g * q));
    let a0 = 0.25 * (2.0 + plus / s_plus + minus / s_minus);
    let b0 = 0.5 * p * (1.0 / s_plus + 1.0 / s_minus);
    let total = plus.abs() + minus.abs();
    let bracket = if total == 0.0 { s_plus } else { (plus.abs() * s_minus + minus.abs() * s_plus) / total };
    let a1 = bracket / (2.0 * s_plus * s_minus);
    let b1 = -2.0 * p * mean / (s_plus * s_minus * (s_plus + s_minus));
    let x = [
        [h * c, -skew, h * q, 0.0],
        [-skew, h * a, 0.0, -h * q],
        [h * q, 0.0, h * a, -skew],
        [0.0, -h * q, -skew, h * c],
    ];
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let square: f64 = (0..4).map(|m| k[i][m] * k[m][j]).sum();
            let one = f64::from(u8::from(i == j));
            let value = a0 * k[i][j]
                + b0 * one
                + a1 * (square - p * one - mean * k[i][j])
                + b1 * (x[i][j] - mean * one);
            value * scale
        })
    })
}

#[inline]
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_core::project_numeric;
    use plisse_testkit::{assert_close, max_abs};
    use proptest::prelude::*;

    #[test]
    fn known_projection() {
        // a = 1, c = 0.25, g = 0.3, h = 1.2.
        let k = in_plane(1.0, 0.25, 0.3, 1.2, Psd::Clamp);
        let upper =
            [k[0][0], k[0][1], k[0][2], k[0][3], k[1][1], k[1][2], k[1][3], k[2][2], k[2][3], k[3][3]];
        let expected = [
            0.085267479192987,
            -0.253772209594611,
            -0.023043778374507,
            0.062687875910356,
            1.225732069392144,
            -0.015671968977589,
            -0.564471350505952,
            0.021316869798247,
            0.05073687004532,
            0.349640101800237,
        ];
        assert_close("K", &upper, &expected, 1e-14, 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]
        #[test]
        fn projection_agrees_with_the_oracle(
            g in prop_oneof![-2.0..2.0f64, Just(0.0), -1e-9..1e-9f64],
            h in prop_oneof![-2.0..2.0f64, Just(0.0), -1e-9..1e-9f64],
            ratio in prop_oneof![Just(1.0), -4.0..4.0f64],
            scale in -60..60i32,
        ) {
            let a = 10f64.powi(scale);
            let c = a * 10f64.powf(ratio);
            let exact = in_plane(a, c, g, h, Psd::Exact);
            for psd in Psd::ALL {
                let (found, oracle) = (in_plane(a, c, g, h, psd), project_numeric(&exact, psd));
                assert_close("in plane", found.as_flattened(), oracle.as_flattened(), 2e-14, max_abs(exact.as_flattened()));
            }
        }
    }
}
