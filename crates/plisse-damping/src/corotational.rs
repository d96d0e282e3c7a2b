//! The strain of corotational sheets.

use glam::DVec3;
use plisse_core::{Mat3x2, Psd, length_and_direction, outer};
use plisse_eigen::Sym2;

use crate::triangle::{PlaneHessian, PlaneStrain};

/// The stretch tensor less the identity, `U - I` with `F = R U`: `(U_xx - 1, U_yy - 1, 2 U_xy)`
/// (SO18, section 3.4).
///
/// Its rate contains the rate of the rotation, `U̇ = Rᵀ Ḟ - Ω U`. Freezing the rotation, as is
/// sometimes done, would damp rigid turning. Not defined where both stretches vanish (below 1e-9
/// together); one of them may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StretchTensor;

/// Sums of the two stretches below this are none.
const COLLAPSED: f64 = 1e-9;

/// The polar decomposition `f = R U` of a 3×2 matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polar {
    r: Mat3x2,
    u: Sym2,
    /// Sum of the stretches, the trace of `U`.
    trace: f64,
}

/// The trace of `U`, `U`, and the inverse of the trace, for the area ratio `j`.
#[inline(always)]
fn stretch(f: &Mat3x2, j: f64) -> Option<(f64, Sym2, f64)> {
    let (cxx, cxy, cyy) = (f.c0.length_squared(), f.c0.dot(f.c1), f.c1.length_squared());
    let trace = (cxx + cyy + 2.0 * j).sqrt();
    if trace < COLLAPSED {
        return None;
    }
    let inverse = 1.0 / trace;
    // C + J I = U tr U and F + cof F = R tr U, by Cayley and Hamilton.
    Some((trace, Sym2::new((cxx + j) * inverse, cxy * inverse, (cyy + j) * inverse), inverse))
}

impl Polar {
    #[inline(always)]
    fn new(f: &Mat3x2) -> Option<Self> {
        let (j, mut n) = length_and_direction(f.c0.cross(f.c1));
        if j == 0.0 {
            // A line: its image has many normals, each as good as the others.
            let along = if f.c0.length_squared() >= f.c1.length_squared() { f.c0 } else { f.c1 };
            let (_, t) = length_and_direction(along);
            n = if t == DVec3::ZERO { DVec3::Z } else { t.any_orthonormal_vector() };
        }
        let (trace, u, inverse) = stretch(f, j)?;
        let r = Mat3x2::new((f.c0 + f.c1.cross(n)) * inverse, (f.c1 + n.cross(f.c0)) * inverse);
        Some(Self { r, u, trace })
    }

    /// Derivatives of `U_xx`, `U_yy`, `U_xy` by `F`: those of `Rᵀ F` less those of the turn
    /// `ω = (r₁·Ḟ₀ - r₀·Ḟ₁)/tr U` times `U`.
    #[inline(always)]
    fn gradient(&self) -> [Mat3x2; 3] {
        let (r0, r1) = (self.r.c0, self.r.c1);
        let [xx, xy, yy] = [self.u.a, self.u.b, self.u.c].map(|u| u / self.trace);
        [
            Mat3x2::new(r0 + r1 * xy, -r0 * xy),
            Mat3x2::new(-r1 * xy, r1 + r0 * xy),
            Mat3x2::new(r1 * yy, r0 * xx),
        ]
    }

    /// The same along `r₀` and `r₁` alone: of each column of `F` and each of the two, the
    /// derivatives of `(U_xx, U_yy, U_xy)`.
    #[inline(always)]
    fn gradient_along(&self) -> [[[f64; 3]; 2]; 2] {
        let [xx, xy, yy] = [self.u.a, self.u.b, self.u.c].map(|u| u / self.trace);
        [[[1.0, 0.0, 0.0], [xy, -xy, yy]], [[-xy, xy, xx], [0.0, 1.0, 0.0]]]
    }

    /// The solution of `U Y + Y U = S`. Where a stretch vanishes it is that of a stretch of 1e-9 of
    /// the sum.
    #[inline(always)]
    fn solve(&self, s: &Sym2) -> Sym2 {
        let (u, t) = (&self.u, self.trace);
        let det = (u.a * u.c - u.b * u.b).max(1e-9 * t * t);
        // adj(U) S adj(U).
        let (p, q, r) = (u.c, -u.b, u.a);
        let (m00, m01) = (p * s.a + q * s.b, p * s.b + q * s.c);
        let (m10, m11) = (q * s.a + r * s.b, q * s.b + r * s.c);
        let (a, b, c) = (m00 * p + m01 * q, m00 * q + m01 * r, m10 * q + m11 * r);
        let half = 0.5 / t;
        Sym2::new((s.a + a / det) * half, (s.b + b / det) * half, (s.c + c / det) * half)
    }
}

impl PlaneStrain for StretchTensor {
    type Frame = Polar;

    #[inline(always)]
    fn frame(&self, f: &Mat3x2) -> Option<Polar> {
        Polar::new(f)
    }

    #[inline(always)]
    fn strain(&self, polar: &Polar) -> [f64; 3] {
        [polar.u.a - 1.0, polar.u.c - 1.0, 2.0 * polar.u.b]
    }

    /// Without the rotation.
    #[inline(always)]
    fn strain_at(&self, f: &Mat3x2) -> Option<[f64; 3]> {
        let (_, u, _) = stretch(f, length_and_direction(f.c0.cross(f.c1)).0)?;
        Some([u.a - 1.0, u.c - 1.0, 2.0 * u.b])
    }

    #[inline(always)]
    fn gradient(&self, polar: &Polar) -> [Mat3x2; 3] {
        let [xx, yy, xy] = polar.gradient();
        [xx, yy, xy * 2.0]
    }

    #[inline(always)]
    fn geometric(&self, polar: &Polar, s: &[f64; 3], psd: Psd) -> PlaneHessian {
        self.stiffness(polar, s, &[[0.0; 3]; 3], psd)
    }

    /// The geometric part from `U² = FᵀF` differentiated twice, with `U Y + Y U = S`:
    /// `S : d²U = 2 tr(dF Y dFᵀ) - 2 tr(dU Y dU)`. Projected, only the positive part of `Y` enters
    /// the first term and only its negative part the second.
    ///
    /// All but the first term is a quadratic form of `dU`, whose gradients have no part along the
    /// normal: it is summed over the coordinates of the columns of `dF` along `R`.
    #[inline(always)]
    fn stiffness(&self, polar: &Polar, s: &[f64; 3], t: &[[f64; 3]; 3], psd: Psd) -> PlaneHessian {
        let y = polar.solve(&Sym2::new(s[0], s[2], s[1]));
        let (first, second) = match psd {
            Psd::Exact => (y, y),
            _ => {
                let positive = y.project(Psd::Clamp);
                (positive, Sym2::new(y.a - positive.a, y.b - positive.b, y.c - positive.c))
            }
        };
        // -2 tr(dU Y dU) as a form of (dU_xx, dU_yy, dU_xy), and the tangent, whose third strain is
        // 2 U_xy.
        let (a, b, c) = (-2.0 * second.a, -2.0 * second.b, -2.0 * second.c);
        let form = [
            [a + t[0][0], t[0][1], b + 2.0 * t[0][2]],
            [t[0][1], c + t[1][1], b + 2.0 * t[1][2]],
            [b + 2.0 * t[0][2], b + 2.0 * t[1][2], a + c + 4.0 * t[2][2]],
        ];
        let [g0, g1] = polar.gradient_along();
        // gᵀ form g, for each pair of columns and directions.
        let along = |g: &[[f64; 3]; 2], h: &[[f64; 3]; 2]| {
            let dot = |u: &[f64; 3], v: &[f64; 3]| u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
            let pushed = h.map(|h| [dot(&form[0], &h), dot(&form[1], &h), dot(&form[2], &h)]);
            let [r0, r1] = [polar.r.c0, polar.r.c1];
            let row = |g: &[f64; 3]| r0 * dot(g, &pushed[0]) + r1 * dot(g, &pushed[1]);
            outer(r0, row(&g[0])) + outer(r1, row(&g[1]))
        };
        let mut sum = PlaneHessian::isotropic(&Sym2::new(2.0 * first.a, 2.0 * first.b, 2.0 * first.c));
        sum.b00 += along(&g0, &g0);
        sum.b01 += along(&g0, &g1);
        sum.b11 += along(&g1, &g1);
        sum
    }
}
