//! Strains of triangles.

use glam::{DMat3, DVec3};
use plisse_core::range::{STRETCH, limit_vector};
use plisse_core::{Blocks, Mat3x2, Psd, TriangleMap, UnitDir2, outer};
use plisse_eigen::Sym2;

use crate::strain::Strain;

/// Three numbers that measure the images `f = (F a, F b)` of two directions of the material. Where
/// they are components of a symmetric tensor `E`, they are `(E_aa, E_bb, 2 E_ab)`.
pub trait PlaneStrain: Send + Sync {
    /// The directions `a`, `b`, which need not be orthogonal.
    fn directions(&self) -> [UnitDir2; 2] {
        [UnitDir2::U, UnitDir2::V]
    }

    /// What strain and derivatives are computed from.
    type Frame;

    /// The frame at images `f`, or none where the strain is not defined.
    fn frame(&self, f: &Mat3x2) -> Option<Self::Frame>;

    /// The strain.
    fn strain(&self, frame: &Self::Frame) -> [f64; 3];

    /// The strain at images `f`, where nothing else is needed.
    #[inline]
    fn strain_at(&self, f: &Mat3x2) -> Option<[f64; 3]> {
        self.frame(f).map(|frame| self.strain(&frame))
    }

    /// Derivatives of the three components by `f`.
    fn gradient(&self, frame: &Self::Frame) -> [Mat3x2; 3];

    /// `Σ_k s_k ∂²ε_k/∂f²`; for the policies other than exact, a positive semidefinite matrix that
    /// is not below it.
    fn geometric(&self, frame: &Self::Frame, stress: &[f64; 3], psd: Psd) -> PlaneHessian;

    /// `Σ_kl t_kl ∂ε_k/∂f ∂ε_l/∂fᵀ` plus [`PlaneStrain::geometric`]. Strains override it where the
    /// gradient is sparse.
    #[inline(always)]
    fn stiffness(
        &self,
        frame: &Self::Frame,
        stress: &[f64; 3],
        tangent: &[[f64; 3]; 3],
        psd: Psd,
    ) -> PlaneHessian {
        self.geometric(frame, stress, psd).plus_product(&self.gradient(frame), tangent)
    }
}

/// A symmetric matrix over the two columns of `f`: its upper blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneHessian {
    /// By the first column, twice.
    pub b00: DMat3,
    /// By the first and the second column.
    pub b01: DMat3,
    /// By the second column, twice.
    pub b11: DMat3,
}

impl PlaneHessian {
    /// Nothing.
    pub const ZERO: Self = Self { b00: DMat3::ZERO, b01: DMat3::ZERO, b11: DMat3::ZERO };

    /// `q ⊗ I`: the Hessian of `tr(f q fᵀ)/2`.
    #[inline(always)]
    #[must_use]
    pub(crate) fn isotropic(q: &Sym2) -> Self {
        let block = |value: f64| DMat3::from_diagonal(DVec3::splat(value));
        Self { b00: block(q.a), b01: block(q.b), b11: block(q.c) }
    }

    /// With `Σ_kl t_kl g_k g_lᵀ` added, for a symmetric `t`.
    #[inline(always)]
    #[must_use]
    pub(crate) fn plus_product(mut self, g: &[Mat3x2; 3], t: &[[f64; 3]; 3]) -> Self {
        for k in 0..3 {
            let h = g[0] * t[k][0] + g[1] * t[k][1] + g[2] * t[k][2];
            self.b00 += outer(g[k].c0, h.c0);
            self.b01 += outer(g[k].c0, h.c1);
            self.b11 += outer(g[k].c1, h.c1);
        }
        self
    }
}

/// A strain of the deformation gradient on a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnTriangle<P> {
    /// How much corners 1 and 2 contribute to the images of the two directions, 1/m.
    weights: [[f64; 2]; 2],
    /// Components of edges beyond this count as this, m: then no entry of `F` exceeds [`STRETCH`].
    longest: f64,
    strain: P,
}

impl<P: PlaneStrain> OnTriangle<P> {
    /// On the triangle with this rest map.
    #[must_use]
    pub fn new(map: TriangleMap, strain: P) -> Self {
        let weights =
            strain.directions().map(|d| [1, 2].map(|corner| d.get().dot(map.barycentric_gradient(corner))));
        let largest = weights.as_flattened().iter().fold(0.0f64, |m, w| m.max(w.abs()));
        Self { weights, longest: 0.5 * STRETCH / largest, strain }
    }

    #[inline(always)]
    fn images(&self, x: &[DVec3; 3]) -> Mat3x2 {
        // Without a branch: a call for what no simulation does would keep `f` in memory for all
        // others.
        let edge = |i: usize| limit_vector(x[i] - x[0], self.longest);
        let (d1, d2) = (edge(1), edge(2));
        let [a, b] = self.weights.map(|[w1, w2]| d1 * w1 + d2 * w2);
        Mat3x2::new(a, b)
    }

    /// From derivatives by `f` to derivatives by the corners.
    #[inline(always)]
    fn to_corners(&self, p: &Mat3x2) -> [DVec3; 3] {
        let [a, b] = &self.weights;
        let [g1, g2] = [0, 1].map(|i| p.c0 * a[i] + p.c1 * b[i]);
        [-(g1 + g2), g1, g2]
    }

    #[inline(always)]
    fn to_corner_blocks(&self, h: &PlaneHessian) -> Blocks<3> {
        let [a, b] = &self.weights;
        // Columns of corners 1 and 2, then their rows; corner 0 balances them.
        let b10 = h.b01.transpose();
        let column = |j: usize| [h.b00 * a[j] + h.b01 * b[j], b10 * a[j] + h.b11 * b[j]];
        let [r1, r2] = [column(0), column(1)];
        let k11 = r1[0] * a[0] + r1[1] * b[0];
        let k21 = r1[0] * a[1] + r1[1] * b[1];
        let k22 = r2[0] * a[1] + r2[1] * b[1];
        let k12 = k21.transpose();
        let (k10, k20) = (-(k11 + k12), -(k21 + k22));
        let k00 = -(k10 + k20);
        Blocks([[k00, k10.transpose(), k20.transpose()], [k10, k11, k12], [k20, k21, k22]])
    }
}

impl<P: PlaneStrain> Strain<3, 3> for OnTriangle<P> {
    type Frame = P::Frame;

    #[inline(always)]
    fn frame(&self, x: &[DVec3; 3]) -> Option<P::Frame> {
        self.strain.frame(&self.images(x))
    }

    #[inline(always)]
    fn strain(&self, frame: &P::Frame) -> [f64; 3] {
        self.strain.strain(frame)
    }

    #[inline(always)]
    fn strain_at(&self, x: &[DVec3; 3]) -> Option<[f64; 3]> {
        self.strain.strain_at(&self.images(x))
    }

    #[inline(always)]
    fn gradient(&self, frame: &P::Frame) -> [[DVec3; 3]; 3] {
        self.strain.gradient(frame).map(|p| self.to_corners(&p))
    }

    #[inline(always)]
    fn geometric(&self, frame: &P::Frame, stress: &[f64; 3], psd: Psd) -> Blocks<3> {
        self.to_corner_blocks(&self.strain.geometric(frame, stress, psd))
    }

    #[inline(always)]
    fn pull_back(&self, frame: &P::Frame, stress: &[f64; 3]) -> [DVec3; 3] {
        let [a, b, c] = self.strain.gradient(frame);
        self.to_corners(&(a * stress[0] + b * stress[1] + c * stress[2]))
    }

    #[inline(always)]
    fn stiffness(&self, frame: &P::Frame, stress: &[f64; 3], tangent: &[[f64; 3]; 3], psd: Psd) -> Blocks<3> {
        self.to_corner_blocks(&self.strain.stiffness(frame, stress, tangent, psd))
    }
}
