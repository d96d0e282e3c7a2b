//! The wrinkle energy of a face and its derivatives.
//!
//! With amplitudes `a` linear over the face and constant `w = dφ`, `d = da`, `S = S0 + d dᵀ/2` in
//! the orthonormal rest frame, and the means `q2`, `q4` of `a²` and `a⁴` (Chen21, equations 20 to
//! 26; `c = α/2 + β`):
//!
//! ```text
//! E = A h/4 { ‖S‖² + q2 B + q4 c |w|⁴/4 + c |d|⁴/8 } + A h³/12 { W_b1 + q2 c |w|⁴/2 }
//! B = α/2 tr(S) |w|² + β w·S w + C_κ + ((α + β)(w·d)² + β |w|²|d|²)/16
//! ```
//!
//! a function of `(q2, q4, w, d)` that is differentiated as such; `q2` and `q4` are polynomials of
//! the amplitudes, `w` and `d` are linear in the five unknowns.

mod quadrature;

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use glam::{DMat2, DVec2};
use plisse_core::{Edges, Field, Vertices, saturate};
use plisse_eigen::Sym2;

use crate::geometry::{BaseFace, BaseSheet, norm};

pub use quadrature::Quadrature;
pub(crate) use quadrature::mean2;

/// The wrinkle energy by its terms, in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// `W_s1`: stretching of the surface that wrinkles have relieved of compression (Chen21,
    /// equation 21).
    pub stretch: f64,
    /// `W_s2`: crests along a curved base, which one side of each wave must stretch and the other
    /// compress (equation 22).
    pub curvature: f64,
    /// `W_s3`: amplitude that changes along and across the waves (equation 23).
    pub gradient: f64,
    /// `W_s4`: amplitude that changes as quickly as a wave (equation 24).
    pub quartic: f64,
    /// `W_b1`: bending of the base (equation 26). Does not depend on the wrinkles.
    pub base_bending: f64,
    /// `W_b2`: bending of the waves (equation 26).
    pub wrinkle_bending: f64,
}

impl Terms {
    /// The sum of all.
    #[must_use]
    pub fn total(&self) -> f64 {
        saturate(
            self.stretch
                + self.curvature
                + self.gradient
                + self.quartic
                + self.base_bending
                + self.wrinkle_bending,
        )
    }
}

impl Add for Terms {
    type Output = Self;

    /// Term by term; sums beyond ±[`SATURATION`](plisse_core::SATURATION) saturate.
    fn add(self, other: Self) -> Self {
        Self {
            stretch: saturate(self.stretch + other.stretch),
            curvature: saturate(self.curvature + other.curvature),
            gradient: saturate(self.gradient + other.gradient),
            quartic: saturate(self.quartic + other.quartic),
            base_bending: saturate(self.base_bending + other.base_bending),
            wrinkle_bending: saturate(self.wrinkle_bending + other.wrinkle_bending),
        }
    }
}

impl AddAssign for Terms {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Terms {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), Add::add)
    }
}

/// Amplitudes (m), their gradient and frequencies (rad/m) beyond this are taken as this: its sixth
/// power, times the squares of the gradients of the smallest rest triangle (1e84 per metre) and the
/// moduli of Poisson's ratios next to ±1, is in the range of `f64`.
const LARGEST: f64 = 1e18;

/// One state of a face, in its rest frame.
struct State {
    a: [f64; 3],
    w: DVec2,
    d: DVec2,
    /// `S`.
    s: Sym2,
    ww: f64,
    dd: f64,
    wd: f64,
    /// Mean of `a²`.
    q2: f64,
}

impl State {
    fn new(face: &BaseFace, a: [f64; 3], omega: [f64; 2]) -> Self {
        let limit = |v: DVec2| v.clamp(DVec2::splat(-LARGEST), DVec2::splat(LARGEST));
        let a = a.map(|a| a.clamp(-LARGEST, LARGEST));
        let w = limit(face.covector(omega.map(|o| o.clamp(-1e200, 1e200))));
        let d = limit(face.covector([a[1] - a[0], a[2] - a[0]]));
        let s0 = face.strain;
        let s = Sym2::new(s0.a + 0.5 * d.x * d.x, s0.b + 0.5 * d.x * d.y, s0.c + 0.5 * d.y * d.y);
        Self { a, w, d, s, ww: w.length_squared(), dd: d.length_squared(), wd: w.dot(d), q2: mean2(a) }
    }

    fn trace(&self) -> f64 {
        self.s.a + self.s.c
    }

    /// `S v`.
    fn times(&self, v: DVec2) -> DVec2 {
        DVec2::new(self.s.a * v.x + self.s.b * v.y, self.s.b * v.x + self.s.c * v.y)
    }
}

fn outer(u: DVec2, v: DVec2) -> DMat2 {
    DMat2::from_cols(u * v.x, u * v.y)
}

impl BaseFace {
    /// `c = α/2 + β`.
    fn c(&self) -> f64 {
        0.5 * self.alpha + self.beta
    }

    /// The energy of the face by its terms, in J.
    ///
    /// `a` are the amplitudes at the three corners in m, of any sign (the energy is even in all of
    /// them together); `omega` the differences of the phase from corner 0 to 1 and from 0 to 2 in
    /// rad. Terms beyond ±1e300 saturate; amplitudes beyond 1e18 m and frequencies beyond 1e18
    /// rad/m count as that.
    #[must_use]
    pub fn terms(&self, a: [f64; 3], omega: [f64; 2], q: Quadrature) -> Terms {
        let t = State::new(self, a, omega);
        let (alpha, beta, c) = (self.alpha, self.beta, self.c());
        let relief = 0.5 * alpha * t.trace() * t.ww + beta * t.w.dot(t.times(t.w));
        let slope = ((alpha + beta) * t.wd * t.wd + beta * t.ww * t.dd) / 16.0;
        let joules = |value: f64| saturate(self.weight * value);
        Terms {
            stretch: joules(norm(&t.s, alpha, beta) + t.q2 * relief + 0.25 * c * q.mean4(t.a) * t.ww * t.ww),
            curvature: joules(t.q2 * self.crest_cost),
            gradient: joules(t.q2 * slope),
            quartic: joules(0.125 * c * t.dd * t.dd),
            base_bending: joules(self.bending_ratio * self.base_bending),
            wrinkle_bending: joules(0.5 * c * self.bending_ratio * t.q2 * t.ww * t.ww),
        }
    }

    /// The energy of the face in J: the sum of [`Self::terms`].
    #[must_use]
    pub fn energy(&self, a: [f64; 3], omega: [f64; 2], q: Quadrature) -> f64 {
        self.terms(a, omega, q).total()
    }

    /// The derivative of [`Self::energy`] by `(a0, a1, a2, ω01, ω02)`, in J/m and J/rad.
    #[must_use]
    pub fn gradient(&self, a: [f64; 3], omega: [f64; 2], q: Quadrature) -> [f64; 5] {
        let t = State::new(self, a, omega);
        let slopes = Slopes::new(self, &t, q.mean4(t.a));
        let (q2, q4, g) = (quadrature::mean2_gradient(t.a), q.mean4_gradient(t.a), &self.gradients);
        let by_a = |i: usize| slopes.q2 * q2[i] + slopes.q4 * q4[i] + slopes.d.dot(g[i]);
        [by_a(0), by_a(1), by_a(2), slopes.w.dot(g[1]), slopes.w.dot(g[2])]
            .map(|value| saturate(self.weight * value))
    }

    /// The second derivative by the same five unknowns; exact, symmetric, in general indefinite.
    #[must_use]
    pub fn hessian(&self, a: [f64; 3], omega: [f64; 2], q: Quadrature) -> [[f64; 5]; 5] {
        let t = State::new(self, a, omega);
        let (alpha, beta, c) = (self.alpha, self.beta, self.c());
        let mean4 = q.mean4(t.a);
        let slopes = Slopes::new(self, &t, mean4);
        let (q2, q4, q4_hessian) =
            (quadrature::mean2_gradient(t.a), q.mean4_gradient(t.a), q.mean4_hessian(t.a));
        let identity = DMat2::IDENTITY;
        let (ww, dd) = (outer(t.w, t.w), outer(t.d, t.d));
        let (wd, dw) = (outer(t.w, t.d), outer(t.d, t.w));
        let cross = identity * t.wd + dw;
        // P = α tr(S) I + 2β S, the derivative of ‖S‖² by S.
        let p = DMat2::from_cols(
            DVec2::new(alpha * t.trace() + 2.0 * beta * t.s.a, 2.0 * beta * t.s.b),
            DVec2::new(2.0 * beta * t.s.b, alpha * t.trace() + 2.0 * beta * t.s.c),
        );
        let quartic = identity * t.ww + ww * 2.0;
        let by_ww = (p + (dd * (alpha + beta) + identity * (beta * t.dd)) * 0.125) * t.q2
            + quartic * (c * (mean4 + 2.0 * self.bending_ratio * t.q2));
        let by_dd = p
            + dd * (alpha + beta)
            + identity * (beta * t.dd)
            + (identity * (0.5 * alpha * t.ww)
                + ww * beta
                + (ww * (alpha + beta) + identity * (beta * t.ww)) * 0.125)
                * t.q2
            + (identity * t.dd + dd * 2.0) * (0.5 * c);
        // Rows by w, columns by d.
        let by_wd = (wd * alpha + cross * beta + (cross * (alpha + beta) + wd * (2.0 * beta)) * 0.125) * t.q2;
        let q2_by_w = slopes.b_w + t.w * (2.0 * self.bending_ratio * c * t.ww);
        let q4_by_w = t.w * (c * t.ww);

        let g = &self.gradients;
        let by_aa = |i: usize, j: usize| {
            let q2_hessian = if i == j { 1.0 / 3.0 } else { 1.0 / 6.0 };
            slopes.q2 * q2_hessian
                + slopes.q4 * q4_hessian[i][j]
                + slopes.b_d.dot(g[j]) * q2[i]
                + slopes.b_d.dot(g[i]) * q2[j]
                + g[i].dot(by_dd * g[j])
        };
        let by_wa = |k: usize, i: usize| {
            q2_by_w.dot(g[k]) * q2[i] + q4_by_w.dot(g[k]) * q4[i] + g[k].dot(by_wd * g[i])
        };
        let mut out = [[0.0; 5]; 5];
        for i in 0..5 {
            for j in 0..=i {
                let value = match (i < 3, j < 3) {
                    (true, _) => by_aa(i, j),
                    (false, true) => by_wa(i - 2, j),
                    (false, false) => g[i - 2].dot(by_ww * g[j - 2]),
                };
                // One triangle is computed and mirrored: symmetric to the bit.
                out[i][j] = saturate(self.weight * value);
                out[j][i] = out[i][j];
            }
        }
        out
    }
}

/// First derivatives by `(q2, q4, w, d)`, and of `B` by `w` and `d`; all divided by the weight of
/// the face.
struct Slopes {
    q2: f64,
    q4: f64,
    w: DVec2,
    d: DVec2,
    b_w: DVec2,
    b_d: DVec2,
}

impl Slopes {
    fn new(face: &BaseFace, t: &State, mean4: f64) -> Self {
        let (alpha, beta, c) = (face.alpha, face.beta, face.c());
        let p = |v: DVec2| v * (alpha * t.trace()) + t.times(v) * (2.0 * beta);
        let b = 0.5 * alpha * t.trace() * t.ww
            + beta * t.w.dot(t.times(t.w))
            + face.crest_cost
            + ((alpha + beta) * t.wd * t.wd + beta * t.ww * t.dd) / 16.0;
        let b_w = p(t.w) + (t.d * ((alpha + beta) * t.wd) + t.w * (beta * t.dd)) * 0.125;
        let b_d = t.d * (0.5 * alpha * t.ww)
            + t.w * (beta * t.wd)
            + (t.w * ((alpha + beta) * t.wd) + t.d * (beta * t.ww)) * 0.125;
        Self {
            q2: b + 0.5 * c * face.bending_ratio * t.ww * t.ww,
            q4: 0.25 * c * t.ww * t.ww,
            w: b_w * t.q2 + t.w * (c * t.ww * (mean4 + 2.0 * face.bending_ratio * t.q2)),
            d: p(t.d) + b_d * t.q2 + t.d * (0.5 * c * t.dd),
            b_w,
            b_d,
        }
    }
}

impl BaseSheet {
    /// The energy of all faces by its terms, in J: amplitudes per vertex in m, differences of the
    /// phase per edge in rad, from the smaller to the larger vertex.
    ///
    /// Wrinkle-free faces are included: where amplitudes are zero they add a constant.
    ///
    /// # Panics
    /// If a field is too short for the mesh.
    #[must_use]
    pub fn terms(&self, a: &Field<Vertices, f64>, omega: &Field<Edges, f64>, q: Quadrature) -> Terms {
        self.faces()
            .iter()
            .map(|(id, face)| {
                face.terms(self.mesh().faces()[id].map(|v| a[v]), self.face_omega(id, omega), q)
            })
            .sum()
    }
}
