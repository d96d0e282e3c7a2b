//! Strains of triangles.

use glam::{DMat3, DVec3};
use plisse_core::{Blocks, Mat3x2, Psd, TriangleMap};
use plisse_eigen::Sym2;

use crate::strain::{Strain, product};

/// Entries of `F` beyond this count as this: products of a few then stay in the range of numbers.
const LARGEST: f64 = 1e60;

/// Three numbers that measure the deformation gradient `F`. Where they are components of a symmetric tensor `E`, they are
/// `(E_xx, E_yy, 2 E_xy)`.
pub trait PlaneStrain: Send + Sync {
    /// The strain, or none where it is not defined.
    fn strain(&self, f: &Mat3x2) -> Option<[f64; 3]>;

    /// Derivatives of the three components by `F`.
    fn gradient(&self, f: &Mat3x2) -> [Mat3x2; 3];

    /// `Σ_k s_k ∂²ε_k/∂F²`; for the policies other than exact, a positive semidefinite matrix that is not below it.
    fn geometric(&self, f: &Mat3x2, stress: &[f64; 3], psd: Psd) -> Blocks<2>;
}

/// A strain of the deformation gradient on a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnTriangle<P> {
    map: TriangleMap,
    strain: P,
}

impl<P: PlaneStrain> OnTriangle<P> {
    /// On the triangle with this rest map.
    #[must_use]
    pub fn new(map: TriangleMap, strain: P) -> Self {
        Self { map, strain }
    }

    /// The rest map.
    #[must_use]
    pub fn map(&self) -> &TriangleMap {
        &self.map
    }

    #[inline]
    fn f(&self, x: &[DVec3; 3]) -> Mat3x2 {
        let f = self.map.deformation_gradient(x);
        if f.max_abs() <= LARGEST {
            f
        } else {
            let limit = |c: DVec3| c.clamp(DVec3::splat(-LARGEST), DVec3::splat(LARGEST));
            Mat3x2::new(limit(f.c0), limit(f.c1))
        }
    }

    /// From derivatives by `F` to derivatives by the corners.
    #[inline]
    fn to_corners(&self, p: &Mat3x2) -> [DVec3; 3] {
        let w = self.map.weights();
        let [g1, g2] = [1, 2].map(|i| p.c0 * w[0][i] + p.c1 * w[1][i]);
        [-(g1 + g2), g1, g2]
    }

    /// The map multiplies by the rest area, which is the weight of a density; a strain has none.
    #[inline]
    fn to_corner_blocks(&self, h: &Blocks<2>) -> Blocks<3> {
        self.map.pull_back_hessian(h) * (1.0 / self.map.area())
    }
}

impl<P: PlaneStrain> Strain<3, 3> for OnTriangle<P> {
    #[inline]
    fn strain(&self, x: &[DVec3; 3]) -> Option<[f64; 3]> {
        self.strain.strain(&self.f(x))
    }

    #[inline]
    fn gradient(&self, x: &[DVec3; 3]) -> [[DVec3; 3]; 3] {
        self.strain.gradient(&self.f(x)).map(|p| self.to_corners(&p))
    }

    #[inline]
    fn geometric(&self, x: &[DVec3; 3], stress: &[f64; 3], psd: Psd) -> Blocks<3> {
        self.to_corner_blocks(&self.strain.geometric(&self.f(x), stress, psd))
    }

    #[inline]
    fn pull_back(&self, x: &[DVec3; 3], stress: &[f64; 3]) -> [DVec3; 3] {
        let [a, b, c] = self.strain.gradient(&self.f(x));
        self.to_corners(&(a * stress[0] + b * stress[1] + c * stress[2]))
    }

    #[inline]
    fn stiffness(&self, x: &[DVec3; 3], stress: &[f64; 3], tangent: &[[f64; 3]; 3], psd: Psd) -> Blocks<3> {
        let f = self.f(x);
        let rows = self.strain.gradient(&f).map(|p| [p.c0, p.c1]);
        self.to_corner_blocks(&(self.strain.geometric(&f, stress, psd) + product(&rows, tangent)))
    }
}

/// `q ⊗ I`: the Hessian of `tr(F q Fᵀ)/2` by `F`.
#[inline]
pub(crate) fn isotropic_blocks(q: &Sym2) -> Blocks<2> {
    let block = |value: f64| DMat3::from_diagonal(DVec3::splat(value));
    Blocks::from_upper(block(q.a), block(q.b), block(q.c))
}
