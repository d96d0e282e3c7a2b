//! Fades the energy of edge pairs out where the edges become parallel.
//!
//! The closest pair of parallel edges is not unique: as one edge turns through the other's
//! direction, the closest points jump from one end to the other. The distance is continuous there,
//! but has a kink, at which Newton's method chatters. Li20 multiplies
//! the energy by
//!
//! ```text
//! m = (C/ε)(2 - C/ε) for C < ε, else 1       C = |U × V|²       ε = 1e-3 |U₀|²|V₀|²
//! ```
//!
//! with the edges `U`, `V` and their rest lengths. The contact is then carried by pairs of points
//! and triangles.

use glam::{DMat3, DVec3};
use plisse_core::range::{STRETCH, limit_vector};
use plisse_core::{Blocks, ElementEvaluation, Positive, outer, saturate};

/// The fraction of `|U₀|²|V₀|²` below which the weight fades: a sine of 0.03, 1.8 degrees (Li20).
const THRESHOLD: f64 = 1e-3;

/// The weight of a pair of edges, (a0, a1, b0, b1), near the parallel state: one for ordinary
/// pairs, falling to zero for parallel ones.
///
/// Needed where pairs of edges enter an energy, and neither for CCD nor for impulses. Edges that
/// are stretched more than 1e30 times count as if they were not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeMollifier {
    /// Inverse rest lengths.
    inverse: [f64; 2],
}

impl EdgeMollifier {
    /// From the rest lengths of the two edges in metres.
    #[must_use]
    pub fn new(rest_lengths: [Positive; 2]) -> Self {
        Self { inverse: rest_lengths.map(|length| 1.0 / length.get()) }
    }

    /// Edges in units of their rest lengths, and `C/ε`.
    #[inline]
    fn edges(&self, x: &[DVec3; 4]) -> (DVec3, DVec3, f64) {
        let u = limit_vector((x[1] - x[0]) * self.inverse[0], STRETCH);
        let v = limit_vector((x[3] - x[2]) * self.inverse[1], STRETCH);
        (u, v, u.cross(v).length_squared() / THRESHOLD)
    }

    /// The weight, from 0 for parallel edges to 1.
    #[must_use]
    pub fn weight(&self, x: &[DVec3; 4]) -> f64 {
        let (_, _, c) = self.edges(x);
        // Not `c < 1.0`, which would hide NaN.
        if c >= 1.0 { 1.0 } else { c * (2.0 - c) }
    }

    /// Whether the weight is below one: few pairs are, and only they need [`Self::apply`].
    #[must_use]
    pub fn is_active(&self, x: &[DVec3; 4]) -> bool {
        self.edges(x).2 < 1.0
    }

    /// The weight with its derivatives by the four ends, in 1/m and 1/m².
    #[must_use]
    pub fn evaluate(&self, x: &[DVec3; 4]) -> ElementEvaluation<4> {
        let (u, v, c) = self.edges(x);
        if c >= 1.0 {
            return ElementEvaluation { energy: 1.0, gradient: [DVec3::ZERO; 4], hessian: Blocks::ZERO };
        }
        let (slope, curvature) = (2.0 * (1.0 - c), -2.0);
        let (uu, vv, uv) = (u.length_squared(), v.length_squared(), u.dot(v));
        let [p, q] = self.inverse;
        let scale = 2.0 / THRESHOLD;
        // Derivatives of C/ε by the edges: |v|² u - (u·v) v and |u|² v - (u·v) u would cancel.
        let cross = u.cross(v);
        let (of_u, of_v) = (v.cross(cross) * (scale * p), cross.cross(u) * (scale * q));
        let identity = DMat3::from_diagonal;
        let second_u = (identity(DVec3::splat(vv)) - outer(v, v)) * (scale * p * p);
        let second_v = (identity(DVec3::splat(uu)) - outer(u, u)) * (scale * q * q);
        let mixed = (outer(u, v) * 2.0 - outer(v, u) - identity(DVec3::splat(uv))) * (scale * p * q);

        let block_uu = second_u * slope + outer(of_u, of_u) * curvature;
        let block_uv = mixed * slope + outer(of_u, of_v) * curvature;
        let block_vv = second_v * slope + outer(of_v, of_v) * curvature;
        let block_vu = block_uv.transpose();
        let (g, h) = (of_u * slope, of_v * slope);
        ElementEvaluation {
            energy: c * (2.0 - c),
            gradient: [-g, g, -h, h],
            hessian: Blocks([
                [block_uu, -block_uu, block_uv, -block_uv],
                [-block_uu, block_uu, -block_uv, block_uv],
                [block_vu, -block_vu, block_vv, -block_vv],
                [-block_vu, block_vu, -block_vv, block_vv],
            ]),
        }
    }

    /// The weight times an energy ψ of the same pair, with exact derivatives:
    /// `∇²(mψ) = m∇²ψ + ∇m∇ψᵀ + ∇ψ∇mᵀ + ψ∇²m`.
    ///
    /// Indefinite as a rule, and without a closed form: where a solver needs a positive
    /// semidefinite matrix, clamp it with [`plisse_core::project_numeric`]. ψ and its derivatives
    /// must be below 1e60, which every energy of physical size is; larger ones count as that.
    #[must_use]
    pub fn apply(&self, x: &[DVec3; 4], energy: &ElementEvaluation<4>) -> ElementEvaluation<4> {
        let weight = self.evaluate(x);
        // With derivatives of the weight up to 1e180 (rest lengths of 1e-60 m) and five terms.
        const LARGEST: f64 = 1e60;
        let psi = energy.energy.clamp(-LARGEST, LARGEST);
        let slope = energy.gradient.map(|g| limit_vector(g, LARGEST));
        let largest = energy.hessian.max_abs();
        let shrink = if largest > LARGEST { LARGEST / largest } else { 1.0 };
        let mut hessian = energy.hessian * (weight.energy * shrink) + weight.hessian * psi;
        for i in 0..4 {
            for j in 0..4 {
                hessian.0[i][j] += outer(weight.gradient[i], slope[j]) + outer(slope[i], weight.gradient[j]);
            }
        }
        ElementEvaluation {
            energy: saturate(weight.energy * psi),
            gradient: std::array::from_fn(|i| slope[i] * weight.energy + weight.gradient[i] * psi),
            hessian: hessian.mirrored(),
        }
    }
}
