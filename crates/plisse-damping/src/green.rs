//! Green's strain.

use plisse_core::{Mat3x2, Psd, UnitDir2, outer};
use plisse_eigen::Sym2;

use crate::triangle::{PlaneHessian, PlaneStrain};

/// Green's strain along two directions `a`, `b` of the material:
/// `((|Fa|² - 1)/2, (|Fb|² - 1)/2, Fa·Fb)` (SO18, equation 17, for orthonormal directions). Defined
/// for every `F`, and smooth.
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
}

impl PlaneStrain for GreenStrain {
    fn directions(&self) -> [UnitDir2; 2] {
        self.directions
    }

    /// `f` itself.
    type Frame = Mat3x2;

    #[inline(always)]
    fn frame(&self, f: &Mat3x2) -> Option<Mat3x2> {
        Some(*f)
    }

    #[inline(always)]
    fn strain(&self, f: &Mat3x2) -> [f64; 3] {
        let (a, b) = (f.c0, f.c1);
        [0.5 * (a.length_squared() - 1.0), 0.5 * (b.length_squared() - 1.0), a.dot(b)]
    }

    #[inline(always)]
    fn gradient(&self, f: &Mat3x2) -> [Mat3x2; 3] {
        let zero = glam::DVec3::ZERO;
        [Mat3x2::new(f.c0, zero), Mat3x2::new(zero, f.c1), Mat3x2::new(f.c1, f.c0)]
    }

    /// The stress tensor, projected, times the identity: SO18's clamp of the stress.
    #[inline(always)]
    fn geometric(&self, _: &Mat3x2, s: &[f64; 3], psd: Psd) -> PlaneHessian {
        PlaneHessian::isotropic(&Sym2::new(s[0], s[2], s[1]).project(psd))
    }

    #[inline(always)]
    fn stiffness(&self, f: &Mat3x2, s: &[f64; 3], t: &[[f64; 3]; 3], psd: Psd) -> PlaneHessian {
        let mut h = self.geometric(f, s, psd);
        let (a, b) = (f.c0, f.c1);
        h.b00 += outer(a * t[0][0] + b * t[0][2], a) + outer(a * t[0][2] + b * t[2][2], b);
        h.b01 += outer(a * t[0][2] + b * t[2][2], a) + outer(a * t[0][1] + b * t[1][2], b);
        h.b11 += outer(a * t[2][2] + b * t[1][2], a) + outer(a * t[1][2] + b * t[1][1], b);
        h
    }
}
