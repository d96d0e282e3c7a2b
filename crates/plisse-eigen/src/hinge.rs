//! The hinge: angle, gradient, exact Hessian and filtered Hessians in four 2×2 blocks.
//!
//! Stencil `x0, x1` (edge), `x2, x3` (wings), see [`plisse_core::Hinge`]. With the unit edge `t`,
//! edge length `l`, heights `hᵢ`, unit altitudes `τᵢ`, unit normals `n0 = t × τ0`, `n1 = τ1 × t`
//! and feet `αᵢ`, let
//!
//! ```text
//! w0 = (-(1-α0), -α0, 1, 0)    w1 = (-(1-α1), -α1, 0, 1)    wd = (-1, 1, 0, 0)     Row(w, v) = w ⊗ v
//! uᵢ = Row(wᵢ, τᵢ)/hᵢ    vᵢ = Row(wᵢ, nᵢ)/hᵢ    sᵢ = Row(wᵢ, t)/hᵢ
//! m = cos(θ/2) n0 + sin(θ/2) τ0    k = cos(θ/2) τ0 - sin(θ/2) n0    dm = Row(wd, m)/l    dk = Row(wd, k)/l
//! ```
//!
//! and `(·)± = ((·)0 ± (·)1)/√2`. Then `∇θ = v0 + v1` and for every law with `g = ψ'`, `h = ψ''`
//!
//! ```text
//! ∇²ψ = blk(u+, v+; 0, -g, 2h) + blk(u-, v-; 0, -g, 0)
//!     + blk(dm, s+; -g sin θ, -√2 g cos(θ/2), 0) + blk(dk, s-; g sin θ, √2 g sin(θ/2), 0)
//! blk(a, b; A, B, C) = A a aᵀ + B (a bᵀ + b aᵀ) + C b bᵀ
//! ```
//!
//! Exact, with no division by `sin θ`, smooth through the flat state, and the same for symmetric
//! hinges. WK23 filters its own form of the Hessian (its section 5), which divides by quantities
//! that vanish on every regular grid.

use glam::DMat3;
use plisse_core::{Blocks, HingeFrame, Psd, hypot, outer, project_numeric};

use crate::outer::{outer_sum, symmetric_outer};
use crate::sym2::{Sym2, projection};

/// How the Hessian of a hinge is made positive semidefinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HingeFilter {
    /// Each 2×2 block projected in dimensionless coordinates: cheapest and crudest.
    V1,
    /// Each block projected with rows scaled to unit length. On random hinges its distance to the
    /// true Hessian is about five percent larger than the best possible one.
    #[default]
    V2,
    /// Like `V2` with the rows of each pair orthogonalised first. Hardly better, a little dearer.
    V3,
    /// The nearest matrix, by a numeric 12×12 eigensolver: the oracle.
    Numeric,
}

/// Hessian of `ψ(θ)` for `g = ψ'(θ)`, `h = ψ''(θ)`, exact or filtered.
#[inline]
#[must_use]
pub fn hinge_hessian(frame: &HingeFrame, g: f64, h: f64, filter: HingeFilter, psd: Psd) -> Blocks<4> {
    if filter == HingeFilter::Numeric && psd != Psd::Exact {
        let exact = hinge_hessian(frame, g, h, HingeFilter::V1, Psd::Exact);
        return Blocks::from_matrix(&project_numeric(&exact.to_matrix::<12>(), psd));
    }
    let (s2, c2) = (0.5 * frame.theta()).sin_cos();
    let (n, tau, t) = (frame.normals(), frame.altitudes(), frame.edge());
    let (m, k) = (n[0] * c2 + tau[0] * s2, tau[0] * c2 - n[0] * s2);
    let [p, q] = [1.0 / frame.heights()[0], 1.0 / frame.heights()[1]];
    let r = 1.0 / frame.length();

    let root2 = std::f64::consts::SQRT_2;
    let turn = g * frame.sin_cos().0;
    let exact = [
        Sym2::new(0.0, -g, 2.0 * h),
        Sym2::new(0.0, -g, 0.0),
        Sym2::new(-turn, -root2 * g * c2, 0.0),
        Sym2::new(turn, root2 * g * s2, 0.0),
    ];
    let [b1, b2, b3, b4] = if psd == Psd::Exact { exact } else { filter_blocks(frame, exact, filter, psd) };

    // From the pairs (+, -) to the wings (0, 1).
    let half = |x: f64, y: f64| (0.5 * (x + y), 0.5 * (x - y));
    let ((ap, am), (bp, bm), (cp, cm)) = (half(b1.a, b2.a), half(b1.b, b2.b), half(b1.c, b2.c));
    let (ep, em) = half(b3.c, b4.c);
    let (f3, f4) = (b3.b * (0.5 * root2), b4.b * (0.5 * root2));

    // The Hessian in the three differences w0·x, w1·x, wd·x: 3×3 blocks of outer products of unit
    // vectors.
    let tt = |weight: f64| outer(t * weight, t);
    let wing = |i: usize, scale: f64| {
        let (tau, n) = (tau[i] * scale, n[i] * scale);
        symmetric_outer(tau, tau * ap + n * bp, n, tau * bp + n * cp, 0.0) + tt(ep * scale * scale)
    };
    let (m00, m11) = (wing(0, p), wing(1, q));
    let (tau1, n1) = (tau[1] * (p * q), n[1] * (p * q));
    let m01 = outer_sum(tau[0], tau1 * am + n1 * bm, n[0], tau1 * bm + n1 * cm, 0.0) + tt(em * p * q);
    let mdd = symmetric_outer(m, m * (b3.a * r * r), k, k * (b4.a * r * r), 0.0);
    let m0d = outer(t * (r * p), m * f3 + k * f4);
    let m1d = outer(t * (r * q), m * f3 - k * f4);

    pull_back(frame, &Reduced { m00, m01, m11, m0d, m1d, mdd })
}

/// A quadratic form over the four positions of a hinge, given in the coordinates of the module's
/// derivation: `in_plane` over `(u0, v0, u1, v1)` and `across` over `(dm, dk, s0, s1)`, both
/// symmetric.
///
/// Second derivatives of everything that depends on the angle and on the heights of a hinge split
/// this way. The form is positive semidefinite if both matrices are.
#[must_use]
pub fn hinge_form(frame: &HingeFrame, in_plane: &[[f64; 4]; 4], across: &[[f64; 4]; 4]) -> Blocks<4> {
    let (n, tau, t) = (frame.normals(), frame.altitudes(), frame.edge());
    let (m, k) = frame.mean_frame();
    let [p, q] = [1.0 / frame.heights()[0], 1.0 / frame.heights()[1]];
    let r = 1.0 / frame.length();
    let tt = |weight: f64| outer(t * weight, t);
    let wing = |i: usize, scale: f64| {
        let (tau, n) = (tau[i] * scale, n[i] * scale);
        let (uu, uv, vv) =
            (in_plane[2 * i][2 * i], in_plane[2 * i][2 * i + 1], in_plane[2 * i + 1][2 * i + 1]);
        symmetric_outer(tau, tau * uu + n * uv, n, tau * uv + n * vv, 0.0)
            + tt(across[2 + i][2 + i] * scale * scale)
    };
    let (tau1, n1) = (tau[1] * (p * q), n[1] * (p * q));
    let row = |i: usize| tau1 * in_plane[i][2] + n1 * in_plane[i][3];
    let (a, b, c) = (across[0][0] * r * r, across[0][1] * r * r, across[1][1] * r * r);
    let reduced = Reduced {
        m00: wing(0, p),
        m11: wing(1, q),
        m01: outer_sum(tau[0], row(0), n[0], row(1), 0.0) + tt(across[2][3] * p * q),
        mdd: symmetric_outer(m, m * a + k * b, k, m * b + k * c, 0.0),
        m0d: outer(t * (r * p), m * across[2][0] + k * across[2][1]),
        m1d: outer(t * (r * q), m * across[3][0] + k * across[3][1]),
    };
    pull_back(frame, &reduced)
}

/// A Hessian in the three differences `w0·x`, `w1·x`, `wd·x`.
struct Reduced {
    m00: DMat3,
    m01: DMat3,
    m11: DMat3,
    m0d: DMat3,
    m1d: DMat3,
    mdd: DMat3,
}

/// To the corners; rows sum to zero because translations cost nothing. Symmetric to the last bit.
#[inline]
fn pull_back(frame: &HingeFrame, reduced: &Reduced) -> Blocks<4> {
    let Reduced { m00, m01, m11, m0d, m1d, mdd } = *reduced;
    let [a0, a1] = frame.feet();
    let h21 = m0d - m00 * a0 - m01 * a1;
    let h31 = m1d - m01.transpose() * a0 - m11 * a1;
    let hd1 = mdd - m0d.transpose() * a0 - m1d.transpose() * a1;
    let h11 = hd1 - h21 * a0 - h31 * a1;
    let (h12, h13, h32) = (h21.transpose(), h31.transpose(), m01.transpose());
    let (h10, h20, h30) = (-(h11 + h12 + h13), -(h21 + m00 + m01), -(h31 + h32 + m11));
    let (h01, h02, h03) = (h10.transpose(), h20.transpose(), h30.transpose());
    let h00 = -(h10 + h20 + h30);
    Blocks([[h00, h01, h02, h03], [h10, h11, h12, h13], [h20, h21, m00, m01], [h30, h31, h32, m11]])
        .mirrored()
}

/// Projects each block in the coordinates that the filter asks for.
#[inline(always)]
fn filter_blocks(
    frame: &HingeFrame,
    [b1, b2, b3, b4]: [Sym2; 4],
    filter: HingeFilter,
    psd: Psd,
) -> [Sym2; 4] {
    if filter == HingeFilter::V1 {
        return [b1.project(psd), b2.project(psd), b3.project(psd), b4.project(psd)];
    }
    let (sin, cos) = frame.sin_cos();
    let [a0, a1] = frame.feet();
    let [p, q] = [1.0 / frame.heights()[0], 1.0 / frame.heights()[1]];
    // Squared lengths of s± and v±, as sums of squares: for feet far outside the edge, differences
    // would cancel. With A = p (1 - a0, a0), B = q (1 - a1, a1) and p, q the entries at the wings,
    //   |s±|² = ½ (|A ± B|² + p² + q²),
    //   |v±|² = ¼ ((1 ± cos) |A + B|² + (1 ∓ cos) |A - B|²) + ½ (p² + q²).
    let (ax, ay, bx, by) = (p * (1.0 - a0), p * a0, q * (1.0 - a1), q * a1);
    let square = |x: f64, y: f64| x * x + y * y;
    let (sum, difference) = (square(ax + bx, ay + by), square(ax - bx, ay - by));
    let wings = 0.5 * square(p, q);
    let (s_plus, s_minus) = (0.5 * sum + wings, 0.5 * difference + wings);
    let (c_plus, c_minus) = (0.25 * (1.0 + cos).max(0.0), 0.25 * (1.0 - cos).max(0.0));
    let (v_plus, v_minus) =
        (c_plus * sum + c_minus * difference + wings, c_minus * sum + c_plus * difference + wings);
    let d = 2.0 / (frame.length() * frame.length());
    // u± = v∓ in length, because τ0·τ1 = -n0·n1; u±·v± = ±(w0·w1) sin θ/(h0 h1).
    let mixed = if filter == HingeFilter::V3 { (ax * bx + ay * by) * sin } else { 0.0 };
    // Two inverses for one division each; none of the products leaves the range of f64 for lengths
    // within SIZE.
    let pair = |x: f64, y: f64| {
        let inverse = 1.0 / (x * y);
        (Square { value: x, inverse: y * inverse }, Square { value: y, inverse: x * inverse })
    };
    let ((v_plus, v_minus), (s_plus, s_minus)) = (pair(v_plus, v_minus), pair(s_plus, s_minus));
    let d = Square { value: d, inverse: 0.5 * frame.length() * frame.length() };
    [
        project_scaled(&b1, v_minus, v_plus, mixed, psd),
        project_mixed(&b2, v_plus, v_minus, -mixed, psd),
        project_scaled(&b3, d, s_plus, 0.0, psd),
        project_scaled(&b4, d, s_minus, 0.0, psd),
    ]
}

/// A squared length and its inverse.
#[derive(Clone, Copy)]
struct Square {
    value: f64,
    inverse: f64,
}

/// Projects `A a aᵀ + B (a bᵀ + b aᵀ) + C b bᵀ` in the plane of `a` and `b`, given `|a|²`, `|b|²`
/// and `a·b` (zero to treat them as orthogonal).
///
/// In unit rows the projection is `s M + t I`; back in `a` and `b` that is
/// `(s A + t/|a|², s B, s C + t/|b|²)`, so that the lengths themselves are never needed.
#[inline(always)]
fn project_scaled(block: &Sym2, aa: Square, bb: Square, dot: f64, psd: Psd) -> Sym2 {
    if dot != 0.0 {
        return project_oblique(block, aa, bb, dot, psd);
    }
    let (a, c) = (block.a * aa.value, block.c * bb.value);
    let half = 0.5 * (a - c);
    let square = half * half + (block.b * aa.value) * (block.b * bb.value);
    let r = if (1e-280..1e280).contains(&square) {
        square.sqrt()
    } else {
        hypot(half, block.b * (aa.value * bb.value).sqrt())
    };
    let (s, t) = projection(0.5 * (a + c), r, psd);
    Sym2::new(s * block.a + t * aa.inverse, s * block.b, s * block.c + t * bb.inverse)
}

/// The same for a block that is nothing but `B (a bᵀ + b aᵀ)`: its eigenvalues are `±B |a||b|`.
#[inline(always)]
fn project_mixed(block: &Sym2, aa: Square, bb: Square, dot: f64, psd: Psd) -> Sym2 {
    if dot != 0.0 {
        return project_oblique(block, aa, bb, dot, psd);
    }
    let (s, t) = if psd == Psd::Abs { (0.0, 1.0) } else { (0.5, 0.5) };
    let t = t * block.b.abs() * (aa.value * bb.value).sqrt();
    Sym2::new(t * aa.inverse, s * block.b, t * bb.inverse)
}

/// The same for rows that are not orthogonal.
fn project_oblique(block: &Sym2, aa: Square, bb: Square, dot: f64, psd: Psd) -> Sym2 {
    let lengths = (aa.value * bb.value).sqrt();
    let unit = Sym2::new(block.a * aa.value, block.b * lengths, block.c * bb.value);
    let cosine = dot / lengths;
    let sine_square = 1.0 - cosine * cosine;
    // Parallel rows have no plane; the orthogonal treatment is positive semidefinite all the same.
    if sine_square < 1e-12 {
        return project_scaled(block, aa, bb, 0.0, psd);
    }
    // b = cosine a + sine e with e perpendicular to a.
    let sine = sine_square.sqrt();
    let straight = Sym2::new(
        unit.a + 2.0 * unit.b * cosine + unit.c * cosine * cosine,
        (unit.b + unit.c * cosine) * sine,
        unit.c * sine_square,
    );
    let p = straight.project(psd);
    let (b, c) = (p.b / sine, p.c / sine_square);
    Sym2::new(
        (p.a - 2.0 * b * cosine + c * cosine * cosine) * aa.inverse,
        (b - c * cosine) / lengths,
        c * bb.inverse,
    )
}
