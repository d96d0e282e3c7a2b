//! Green's strain.

use glam::DVec2;
use plisse_core::{Blocks, Mat3x2, Psd, UnitDir2};
use plisse_eigen::Sym2;

use crate::triangle::{PlaneStrain, isotropic_blocks};

/// Green's strain along two directions `a`, `b` of the material: `((|Fa|² - 1)/2, (|Fb|² - 1)/2, Fa·Fb)` (SO18, equation 17, for
/// orthonormal directions). Defined for every `F`, and smooth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GreenStrain {
    directions: [UnitDir2; 2],
}

impl Default for GreenStrain {
    /// Along the axes of the material.
    fn default() -> Self {
        Self { directions: [UnitDir2::U, UnitDir2::V] }
    }
}

impl GreenStrain {
    /// Along two directions, which need not be orthogonal.
    #[must_use]
    pub fn along(directions: [UnitDir2; 2]) -> Self {
        Self { directions }
    }

    #[inline]
    fn axes(&self) -> [DVec2; 2] {
        self.directions.map(UnitDir2::get)
    }
}

impl PlaneStrain for GreenStrain {
    #[inline]
    fn strain(&self, f: &Mat3x2) -> Option<[f64; 3]> {
        let [a, b] = self.axes().map(|d| *f * d);
        Some([0.5 * (a.length_squared() - 1.0), 0.5 * (b.length_squared() - 1.0), a.dot(b)])
    }

    #[inline]
    fn gradient(&self, f: &Mat3x2) -> [Mat3x2; 3] {
        let [a, b] = self.axes();
        let (fa, fb) = (*f * a, *f * b);
        [Mat3x2::outer(fa, a), Mat3x2::outer(fb, b), Mat3x2::outer(fa, b) + Mat3x2::outer(fb, a)]
    }

    /// The stress tensor `S = s₀ aaᵀ + s₁ bbᵀ + s₂ (abᵀ + baᵀ)`, projected, times the identity: SO18's clamp of the stress.
    #[inline]
    fn geometric(&self, _: &Mat3x2, s: &[f64; 3], psd: Psd) -> Blocks<2> {
        isotropic_blocks(&tensor(&self.axes(), s).project(psd))
    }
}

/// `s₀ aaᵀ + s₁ bbᵀ + s₂ (abᵀ + baᵀ)`.
#[inline]
pub(crate) fn tensor([a, b]: &[DVec2; 2], s: &[f64; 3]) -> Sym2 {
    Sym2::new(
        s[0] * a.x * a.x + s[1] * b.x * b.x + 2.0 * s[2] * a.x * b.x,
        s[0] * a.x * a.y + s[1] * b.x * b.y + s[2] * (a.x * b.y + a.y * b.x),
        s[0] * a.y * a.y + s[1] * b.y * b.y + 2.0 * s[2] * a.y * b.y,
    )
}
