//! How an angle fades as a triangle beside it collapses.
//!
//! The angle of a hinge has no limit where one of its triangles loses its height: a wing that
//! passes the line of the edge turns it by π, and its derivative grows as one over the height.
//! Whatever is bounded and continuous there must not depend on the angle any more. So energies of
//! angles are multiplied by a weight per triangle,
//!
//! ```text
//! q = 2A/√(Σ e²)          σ = min(q²/reach², 1)          w(σ) = σ² (6 - 8σ + 3σ²)
//! ```
//!
//! with the area `A` and the three edges `e` of the triangle now. `q` is a smooth stand-in for its
//! smallest height (that is between `q` and `√3 q`): it vanishes with a height, with an edge, and
//! with the size. `w` is one, with all its derivatives up to the second, for `q ≥ reach`, and falls
//! to zero as `q⁴`.
//!
//! **Bounds.** With `s = q/reach`: `w/s ≤ 1.1`, `|dw/ds| ≤ 2.2`. `|∇q|² = 1 - 9q²/Σe² ≤ 1` over the
//! three corners, and the part of `∇θ` that belongs to the triangle is at most `1/q` long. Hence,
//! over all corners of a hinge,
//!
//! ```text
//! |∇(w0 w1 ψ(θ))| ≤ (2.2 max|ψ'| + 4.4 max|ψ|)/reach
//! ```

use glam::{DMat3, DVec3};
use plisse_core::{Blocks, HingeFrame, Psd, outer, project_numeric, rarely};

use crate::hinge::{HingeFilter, hinge_hessian};

/// `w(σ) = σ² (6 - 8σ + 3σ²)` with two derivatives, for `σ` from zero; one beyond one.
#[must_use]
pub fn fade_weight(sigma: f64) -> [f64; 3] {
    if sigma >= 1.0 {
        return [1.0, 0.0, 0.0];
    }
    let left = 1.0 - sigma;
    [
        sigma * sigma * (6.0 + sigma * (3.0 * sigma - 8.0)),
        12.0 * sigma * left * left,
        12.0 * left * (1.0 - 3.0 * sigma),
    ]
}

/// The weight of a triangle and its derivatives by the corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleFade {
    weight: f64,
    gradient: [DVec3; 3],
    hessian: Blocks<3>,
}

impl TriangleFade {
    /// A triangle that has not collapsed: one, without derivatives.
    pub const NONE: Self = Self { weight: 1.0, gradient: [DVec3::ZERO; 3], hessian: Blocks::ZERO };

    /// Corners and reach in metres; a reach of zero is that of triangles that never fade. Sizes
    /// from 1e-40 m to 1e40 m.
    #[must_use]
    pub fn new(x: &[DVec3; 3], reach: f64) -> Self {
        let (a, b) = (x[1] - x[0], x[2] - x[0]);
        let (aa, bb, ab) = (a.length_squared(), b.length_squared(), a.dot(b));
        // The square of twice the area: as a cross product, which keeps its digits where the
        // corners are in line.
        let n = a.cross(b).length_squared();
        let d = aa + bb + (a - b).length_squared();
        let scale = 1.0 / (d * reach * reach);
        let sigma = n * scale;
        if sigma >= 1.0 || sigma.is_nan() {
            return Self::NONE;
        }
        // σ = n/(d reach²), by a and b.
        let dn = [(a * bb - b * ab) * 2.0, (b * aa - a * ab) * 2.0];
        let dd = [(a * 2.0 - b) * 2.0, (b * 2.0 - a) * 2.0];
        let r = n / d;
        let inverse = 1.0 / (reach * reach);
        let dr = [(dn[0] - dd[0] * r) / d, (dn[1] - dd[1] * r) / d];
        let i = DMat3::IDENTITY;
        let nab = outer(a, b) * 4.0 - outer(b, a) * 2.0 - i * (2.0 * ab);
        let second = [
            [(i * bb - outer(b, b)) * 2.0 - i * (4.0 * r), nab + i * (2.0 * r)],
            [nab.transpose() + i * (2.0 * r), (i * aa - outer(a, a)) * 2.0 - i * (4.0 * r)],
        ];
        let [w, w1, w2] = fade_weight(sigma);
        let block = |j: usize, k: usize| {
            let ddr = (second[j][k] - outer(dr[j], dd[k]) - outer(dd[j], dr[k])) * (1.0 / d);
            ddr * (w1 * inverse) + outer(dr[j] * inverse, dr[k] * inverse) * w2
        };
        let (haa, hab, hbb) = (block(0, 0), block(0, 1), block(1, 1));
        let (ga, gb) = (dr[0] * (w1 * inverse), dr[1] * (w1 * inverse));
        let hba = hab.transpose();
        let (h0a, h0b) = (-(haa + hba), -(hab + hbb));
        Self {
            weight: w,
            gradient: [-(ga + gb), ga, gb],
            hessian: Blocks([
                [-(h0a + h0b), h0a, h0b],
                [h0a.transpose(), haa, hab],
                [h0b.transpose(), hba, hbb],
            ]),
        }
    }

    /// The weight, from zero to one.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Derivative by the corners, 1/m.
    #[must_use]
    pub fn gradient(&self) -> &[DVec3; 3] {
        &self.gradient
    }

    /// Second derivative by the corners, 1/m².
    #[must_use]
    pub fn hessian(&self) -> &Blocks<3> {
        &self.hessian
    }
}

/// The product of the weights of both triangles of a hinge, with derivatives by its four vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HingeFade {
    weight: f64,
    gradient: [DVec3; 4],
    hessian: Blocks<4>,
}

/// Vertices of the two triangles of a hinge.
const TRIANGLES: [[usize; 3]; 2] = [[0, 1, 2], [1, 0, 3]];

impl HingeFade {
    /// None where neither of the triangles has collapsed, so that the weight is one; the same reach
    /// for both, in metres.
    #[must_use]
    pub fn new(x: &[DVec3; 4], reach: f64) -> Option<Self> {
        let fades = TRIANGLES.map(|t| TriangleFade::new(&t.map(|i| x[i]), reach));
        if fades.iter().all(|fade| *fade == TriangleFade::NONE) {
            return None;
        }
        let mut out = Self {
            weight: fades[0].weight * fades[1].weight,
            gradient: [DVec3::ZERO; 4],
            hessian: Blocks::ZERO,
        };
        let mut slopes = [[DVec3::ZERO; 4]; 2];
        for (side, places) in TRIANGLES.iter().enumerate() {
            let (fade, other) = (&fades[side], fades[1 - side].weight);
            for (i, &a) in places.iter().enumerate() {
                slopes[side][a] = fade.gradient[i];
                out.gradient[a] += fade.gradient[i] * other;
                for (j, &b) in places.iter().enumerate() {
                    out.hessian.0[a][b] += fade.hessian.0[i][j] * other;
                }
            }
        }
        out.hessian += symmetric(&slopes[0], &slopes[1]);
        Some(out)
    }

    /// The weight alone: one where neither of the triangles has collapsed, zero for a hinge without
    /// an angle.
    #[inline(always)]
    #[must_use]
    pub fn weight_at(x: &[DVec3; 4], reach: f64) -> f64 {
        match HingeFrame::new(x) {
            Some(frame) if frame.is_higher_than(reach) => 1.0,
            Some(_) => {
                let x = *x;
                rarely(move || Self::new(&x, reach).map_or(1.0, |fade| fade.weight))
            }
            None => 0.0,
        }
    }

    /// The weight, from zero to one.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Derivative by the four vertices, 1/m.
    #[must_use]
    pub fn gradient(&self) -> &[DVec3; 4] {
        &self.gradient
    }

    /// Second derivative by the four vertices, 1/m².
    #[must_use]
    pub fn hessian(&self) -> &Blocks<4> {
        &self.hessian
    }

    /// Derivative of `w ψ(θ)`, given `ψ` and `g = ψ'`.
    #[must_use]
    pub fn gradient_of(&self, frame: &HingeFrame, psi: f64, g: f64) -> [DVec3; 4] {
        let theta = frame.gradient();
        std::array::from_fn(|i| theta[i] * (self.weight * g) + self.gradient[i] * psi)
    }

    /// Second derivative of `w ψ(θ)`, given `ψ`, `g = ψ'` and `h = ψ''`; projected numerically,
    /// which gives the nearest positive semidefinite matrix.
    #[must_use]
    pub fn hessian_of(&self, frame: &HingeFrame, psi: f64, g: f64, h: f64, psd: Psd) -> Blocks<4> {
        let w = self.weight;
        let angle = hinge_hessian(frame, w * g, w * h, HingeFilter::V2, Psd::Exact);
        let mixed = symmetric(&frame.gradient().map(|v| v * g), &self.gradient);
        let exact = (angle + mixed + self.hessian * psi).mirrored();
        if psd == Psd::Exact {
            return exact;
        }
        Blocks::from_matrix(&project_numeric(&exact.to_matrix::<12>(), psd)).mirrored()
    }
}

/// `a bᵀ + b aᵀ`.
fn symmetric(a: &[DVec3; 4], b: &[DVec3; 4]) -> Blocks<4> {
    Blocks(std::array::from_fn(|i| std::array::from_fn(|j| outer(a[i], b[j]) + outer(b[i], a[j]))))
}
