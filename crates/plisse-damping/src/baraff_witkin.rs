//! The strains of Baraff and Witkin's cloth.

use glam::DVec2;
use plisse_core::{Blocks, Mat3x2, Psd, UnitDir2, length_and_direction};
use plisse_eigen::radial_hessian;

use crate::green::tensor;
use crate::triangle::{PlaneStrain, isotropic_blocks};

/// Stretch of two fibres and shear between them: `(|Fa| - 1, |Fb| - 1, Fa·Fb)` (SO18, section 3.5, with the densities of Kim20, so that
/// results do not depend on the mesh).
///
/// A fibre that has collapsed has no direction: its stretch has no derivative there, and no force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FibreStrain {
    directions: [UnitDir2; 2],
}

impl Default for FibreStrain {
    /// Along the axes of the material.
    fn default() -> Self {
        Self { directions: [UnitDir2::U, UnitDir2::V] }
    }
}

/// Below this stretch a fibre counts as collapsed as far as its turning is concerned.
const COLLAPSED: f64 = 1e-9;

impl FibreStrain {
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

impl PlaneStrain for FibreStrain {
    #[inline]
    fn strain(&self, f: &Mat3x2) -> Option<[f64; 3]> {
        let [a, b] = self.axes().map(|d| *f * d);
        Some([length_and_direction(a).0 - 1.0, length_and_direction(b).0 - 1.0, a.dot(b)])
    }

    #[inline]
    fn gradient(&self, f: &Mat3x2) -> [Mat3x2; 3] {
        let [a, b] = self.axes();
        let (fa, fb) = (*f * a, *f * b);
        let ((_, na), (_, nb)) = (length_and_direction(fa), length_and_direction(fb));
        [Mat3x2::outer(na, a), Mat3x2::outer(nb, b), Mat3x2::outer(fa, b) + Mat3x2::outer(fb, a)]
    }

    /// Each fibre's part has the sign of its stress; that of shear is a tensor times the identity.
    #[inline]
    fn geometric(&self, f: &Mat3x2, s: &[f64; 3], psd: Psd) -> Blocks<2> {
        let axes = self.axes();
        let mut sum = isotropic_blocks(&tensor(&axes, &[0.0, 0.0, s[2]]).project(psd));
        for (d, stress) in axes.into_iter().zip(s) {
            let (length, n) = length_and_direction(*f * d);
            let turn = radial_hessian(n, 0.0, psd.apply(*stress) / length.max(COLLAPSED));
            sum.0[0][0] += turn * (d.x * d.x);
            sum.0[0][1] += turn * (d.x * d.y);
            sum.0[1][0] += turn * (d.x * d.y);
            sum.0[1][1] += turn * (d.y * d.y);
        }
        sum
    }
}
