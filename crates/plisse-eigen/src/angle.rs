//! The angle between two consecutive edges: the stencil of rods.
//!
//! With `eᵢ = lᵢ tᵢ`, the binormal `b ∥ e0 × e1` and `pᵢ = tᵢ × b`, the unsigned angle
//! `θ = atan2(|t0 × t1|, t0·t1)` has `∂θ/∂e0 = p0/l0`, `∂θ/∂e1 = -p1/l1`. The Hessian of `ψ(θ)` by
//! the edges splits into an in-plane 4×4 part on `(t0, p0, t1, p1)` and an out-of-plane 2×2 part on
//! the binormal (WK23, section 3). With `g = ψ'`, `h = ψ''`, `a = 1/l0²`, `c = 1/l1²`,
//! `q = 1/(l0 l1)`:
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
use plisse_core::range::LENGTH;
use plisse_core::{Blocks, Psd, hypot, length_and_direction, outer, rarely};

use crate::outer::{outer_sum, symmetric_outer};
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
    /// The frame of `e0` and `e1`, or `None` if an edge is shorter than 1e-12 of the other or
    /// outside of [`range::LENGTH`](plisse_core::range::LENGTH).
    #[inline]
    #[must_use]
    pub fn new(e0: DVec3, e1: DVec3) -> Option<Self> {
        let ((l0, t0), (l1, t1)) = (length_and_direction(e0), length_and_direction(e1));
        if !(LENGTH.contains(&l0) && LENGTH.contains(&l1) && l0 > 1e-12 * l1 && l1 > 1e-12 * l0) {
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

    /// Whether the edges are parallel to rounding, straight or folded: the plane of the angle is
    /// lost.
    #[inline]
    #[must_use]
    pub fn is_straight(&self) -> bool {
        self.sin <= STRAIGHT
    }

    /// Derivative of the angle by the two edges, in 1/m; zero for parallel edges, where it has no
    /// direction.
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
    /// For parallel edges: `h n nᵀ ⊗ (I - t tᵀ)` with `n = (1/l0, ∓1/l1)`, which is exact where `g`
    /// vanishes (rest straight). Elsewhere the energy has a cone there, and the positive part of
    /// `h` is returned for every policy; it majorises the energy where the cone points up, that is
    /// for `g ≤ 0` when straight and `g ≥ 0` when folded, as it is for laws that restore an angle
    /// between 0 and π.
    #[inline]
    #[must_use]
    pub fn hessian(&self, g: f64, h: f64, psd: Psd) -> Blocks<2> {
        let [l0, l1] = self.lengths;
        let ([t0, t1], [p0, p1], b) = (self.tangents, self.normals, self.binormal);
        if self.is_straight() {
            // Smooth if the slope vanishes to the accuracy with which the angle is known here.
            let smooth = g.abs() <= 10.0 * STRAIGHT * h.abs() && self.cos > 0.0;
            let stiffness = if smooth { psd.apply(h) } else { Psd::Clamp.apply(h) };
            let across = DMat3::IDENTITY - outer(t0, t0);
            let (x, y) = (1.0 / l0, if self.cos > 0.0 { -1.0 / l1 } else { 1.0 / l1 });
            let block = |weight: f64| across * (stiffness * weight);
            return Blocks::from_upper(block(x * x), block(x * y), block(y * y));
        }
        let (a, c, q) = (1.0 / (l0 * l0), 1.0 / (l1 * l1), 1.0 / (l0 * l1));
        let k = in_plane(a, c, g, h, psd);
        let s = g / self.sin;
        let o = Sym2::new(s * a * self.cos, -s * q, s * c * self.cos).project(psd);
        // In the plane k, across it o b bᵀ; rows (t, p) of one edge against columns (t, p) of the
        // other.
        let on_edge = |i: usize, t: DVec3, p: DVec3, o: f64| {
            let (u, v) = (t * k[i][i] + p * k[i][i + 1], t * k[i][i + 1] + p * k[i + 1][i + 1]);
            symmetric_outer(t, u, p, v, 0.0) + symmetric_outer(b, b * o, DVec3::ZERO, DVec3::ZERO, 0.0)
        };
        let between = outer_sum(t0, t1 * k[0][2] + p1 * k[0][3], p0, t1 * k[1][2] + p1 * k[1][3], 0.0);
        Blocks::from_upper(on_edge(0, t0, p0, o.a), between + outer(b * o.b, b), on_edge(2, t1, p1, o.c))
    }
}

/// The in-plane matrix `K` of the module's derivation, exact or projected, for `a = 1/l0²`,
/// `c = 1/l1²`.
///
/// `K - p K⁻¹` with `p = g² a c` has only two eigenvalues `μ±`, so that the projection is a divided
/// difference of a smooth function of `K` and needs neither eigenvectors nor a case for equal
/// lengths. Exactly two eigenvalues are positive and two negative unless `g = 0`.
#[inline(always)]
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

#[inline(always)]
fn in_plane_clamp(a: f64, c: f64, g: f64, h: f64) -> [[f64; 4]; 4] {
    let size = 1e-30..1e30;
    let gg = g.abs();
    if size.contains(&a)
        && size.contains(&c)
        && size.contains(&gg)
        && h >= -2.0 * gg
        && h < 1e30 * gg.min(1.0)
    {
        in_plane_clamp_regular(a, c, g, h)
    } else {
        rarely(|| in_plane_clamp_at_any_scale(a, c, g, h))
    }
}

/// Makes the largest of `g, h` and of `a, c` one.
fn in_plane_clamp_at_any_scale(a: f64, c: f64, g: f64, h: f64) -> [[f64; 4]; 4] {
    if g == 0.0 && h == 0.0 {
        return [[0.0; 4]; 4];
    }
    let (stiffness, inverse_square) = (g.abs().max(h.abs()), a.max(c));
    let (g, h, a, c) = (g / stiffness, h / stiffness, a / inverse_square, c / inverse_square);
    let scale = stiffness * inverse_square;
    let result = if g.abs() < 1e-75 {
        let h = Psd::Clamp.apply(h);
        symmetric([0.0, 0.0, 0.0, 0.0, h * a, 0.0, -h * (a * c).sqrt(), 0.0, 0.0, h * c])
    } else if h < -2.0 * g.abs() {
        in_plane_clamp_of_concave(a, c, g, h)
    } else {
        in_plane_clamp_regular(a, c, g, h)
    };
    result.map(|row| row.map(|x| x * scale))
}

/// For `h < -2 |g|`, as near a fold of a law that softens: what is left of `K` is as small as
/// `g²/h`, and its rounding must be small beside that and not beside `K`. Hence a sum of two outer
/// products of eigenvectors, with positive eigenvalues `λ` from `λ - p/λ = μ±`.
///
/// The first and the third row of `K v = λ v` give `v = (-ga x, λ x, gc y, λ y)`, the others
/// `(g²a²+haλ-λ²) x = hqλ y` and `hqλ x = (g²c²+hcλ-λ²) y`, of which the one with the larger factor
/// is used.
fn in_plane_clamp_of_concave(a: f64, c: f64, g: f64, h: f64) -> [[f64; 4]; 4] {
    let q = (a * c).sqrt();
    let (ga, gc, ha, hc, hq) = (g * a, g * c, h * a, h * c, h * q);
    let (mean, skew, root) = (0.5 * (ha + hc), ga - gc, 2.0 * (g * q).abs());
    let radius = hypot(mean, skew);
    // Both without cancellation: μ+ is small, μ- negative.
    let (high, low) = (skew * (skew / (radius - mean)), mean - radius);
    let values = [0.5 * (high + hypot(high, root)), 0.5 * root * (root / (hypot(low, root) - low))];
    let mut sum = [[0.0; 4]; 4];
    for value in values {
        let by_x = ga * ga + value * (ha - value);
        let by_y = gc * gc + value * (hc - value);
        let mixed = hq * value;
        let (x, y) = if by_x.abs() >= by_y.abs() { (mixed, by_x) } else { (by_y, mixed) };
        let longest = x.abs().max(y.abs());
        if longest == 0.0 {
            // Lost to underflow, and as good as nothing.
            continue;
        }
        let (x, y) = (x / longest, y / longest);
        let v = [-ga * x, value * x, gc * y, value * y];
        let size = v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let v = v.map(|v| v / size);
        let weight = value / v.iter().map(|v| v * v).sum::<f64>();
        for i in 0..4 {
            for j in 0..4 {
                sum[i][j] += weight * (v[i] * v[j]);
            }
        }
    }
    sum
}

/// Squares of the products must be normal numbers, and `g` not zero. Accurate beside `K`, hence for
/// `h ≥ -2 |g|`, where at least a sixth of `K` is left.
#[inline(always)]
fn in_plane_clamp_regular(a: f64, c: f64, g: f64, h: f64) -> [[f64; 4]; 4] {
    let q = (a * c).sqrt();
    let (ga, gc, ha, hc, hq) = (g * a, g * c, h * a, h * c, h * q);
    let mean = 0.5 * (ha + hc);
    let skew = ga - gc;
    let p = ga * gc;
    // With s± = hypot(μ±, 2 √p), only their product and sum are needed, and these contain neither
    // μ+ nor μ-: (s+ s-)² = skew⁴ + 8p (2 mean² + skew²) + 16p², (s+ + s-)² = 4 mean² + 2 skew² +
    // 8p + 2 s+ s-.
    let (skew2, mean2) = (skew * skew, mean * mean);
    let product = (skew2 * skew2 + 8.0 * p * (2.0 * mean2 + skew2) + 16.0 * p * p).sqrt();
    let sum2 = 4.0 * mean2 + 2.0 * skew2 + 8.0 * p + 2.0 * product;
    let inverse = 1.0 / (sum2.sqrt() * product);
    let a0 = 0.5 + 0.5 * mean * (product + 4.0 * p - skew2) * inverse;
    let b0 = 0.5 * p * sum2 * inverse;
    let a1 = 0.5 * (product + 4.0 * p + skew2) * inverse;
    let b1 = -2.0 * p * mean * inverse;

    // a0 K + b0 I + a1 (K² - p I - mean K) + b1 (X - mean I), entry by entry, with
    //   X = K - p K⁻¹ = [[hc, -skew, hq, 0], [., ha, 0, -hq], [., ., ha, -skew], [., ., ., hc]].
    let k = a0 - a1 * mean;
    let one = b0 - a1 * p - b1 * mean;
    let (gg_aa, gg_cc, hh_q) = (ga * ga, gc * gc, hq * hq);
    symmetric([
        a1 * gg_aa + b1 * hc + one,
        -k * ga - a1 * ga * ha - b1 * skew,
        b1 * hq,
        a1 * ga * hq,
        k * ha + a1 * (gg_aa + ha * ha + hh_q) + b1 * ha + one,
        -a1 * gc * hq,
        -k * hq - a1 * hq * (ha + hc) - b1 * hq,
        a1 * gg_cc + b1 * ha + one,
        k * gc + a1 * gc * hc - b1 * skew,
        k * hc + a1 * (gg_cc + hc * hc + hh_q) + b1 * hc + one,
    ])
}

/// A symmetric matrix from its upper triangle, row by row.
#[inline]
fn symmetric(u: [f64; 10]) -> [[f64; 4]; 4] {
    [[u[0], u[1], u[2], u[3]], [u[1], u[4], u[5], u[6]], [u[2], u[5], u[7], u[8]], [u[3], u[6], u[8], u[9]]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_core::project_numeric;
    use plisse_testkit::{assert_close, assert_semidefinite, extreme_eigenvalues, magnitude, max_abs};
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

        #[test]
        fn what_is_left_of_a_concave_law_is_semidefinite_beside_itself(
            g in magnitude(1e-20..=1.0), h in 0.0..1.0f64, ratio in -8.0..8.0f64, sign in prop::sample::select(vec![-1.0, 1.0]),
        ) {
            let (c, g) = (10f64.powf(ratio), sign * g);
            let clamped = in_plane(1.0, c, g, -h, Psd::Clamp);
            // Two outer products, or polynomials of a matrix that is at most six times as large.
            assert_semidefinite("clamp", &clamped, 5e-15, 0.0);
            // The positive eigenvalues are known: λ - p/λ = μ±.
            let (mean, skew, p) = (-0.5 * h * (1.0 + c), g * (1.0 - c), g * g * c);
            let radius = mean.hypot(skew);
            let largest = 0.5 * (skew * skew / (radius - mean) + (skew * skew / (radius - mean)).hypot(2.0 * p.sqrt()));
            let [_, high] = extreme_eigenvalues(&clamped);
            let high = high * max_abs(clamped.as_flattened());
            prop_assert!((high / largest - 1.0).abs() < 1e-12, "{high:e} {largest:e}");
        }
    }
}
