//! The strains of Baraff and Witkin's cloth.

use glam::DVec3;
use plisse_core::{Mat3x2, Psd, UnitDir2, length_and_direction, outer};
use plisse_eigen::{Sym2, radial_hessian};

use crate::triangle::{PlaneHessian, PlaneStrain};

/// Stretch of two fibres and shear between them: `(|Fa| - 1, |Fb| - 1, Fa·Fb)` (SO18, section 3.5,
/// with the densities of Kim20, so that results do not depend on the mesh).
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
}

/// The images of two fibres: lengths and directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FibreImages {
    f: Mat3x2,
    lengths: [f64; 2],
    directions: [DVec3; 2],
}

impl PlaneStrain for FibreStrain {
    type Frame = FibreImages;

    fn directions(&self) -> [UnitDir2; 2] {
        self.directions
    }

    #[inline(always)]
    fn frame(&self, f: &Mat3x2) -> Option<FibreImages> {
        let ((la, na), (lb, nb)) = (length_and_direction(f.c0), length_and_direction(f.c1));
        Some(FibreImages { f: *f, lengths: [la, lb], directions: [na, nb] })
    }

    #[inline(always)]
    fn strain(&self, frame: &FibreImages) -> [f64; 3] {
        [frame.lengths[0] - 1.0, frame.lengths[1] - 1.0, frame.f.c0.dot(frame.f.c1)]
    }

    #[inline(always)]
    fn gradient(&self, frame: &FibreImages) -> [Mat3x2; 3] {
        let [na, nb] = frame.directions;
        [Mat3x2::new(na, DVec3::ZERO), Mat3x2::new(DVec3::ZERO, nb), Mat3x2::new(frame.f.c1, frame.f.c0)]
    }

    /// Each fibre's part has the sign of its stress; that of shear is a tensor times the identity.
    #[inline(always)]
    fn geometric(&self, frame: &FibreImages, s: &[f64; 3], psd: Psd) -> PlaneHessian {
        self.stiffness(frame, s, &[[0.0; 3]; 3], psd)
    }

    #[inline(always)]
    fn stiffness(&self, frame: &FibreImages, s: &[f64; 3], t: &[[f64; 3]; 3], psd: Psd) -> PlaneHessian {
        let across = |length: f64, stress: f64| psd.apply(stress) / length.max(COLLAPSED);
        let ([la, lb], [na, nb]) = (frame.lengths, frame.directions);
        let mut h = PlaneHessian::isotropic(&Sym2::new(0.0, s[2], 0.0).project(psd));
        h.b00 += radial_hessian(na, t[0][0], across(la, s[0]));
        h.b11 += radial_hessian(nb, t[1][1], across(lb, s[1]));
        let (a, b) = (frame.f.c0, frame.f.c1);
        let (at, bt) = (a * t[2][2], b * t[2][2]);
        h.b00 += outer(bt, b);
        h.b01 += outer(bt, a);
        h.b11 += outer(at, a);
        // Fabrics seldom couple stretch and shear.
        if t[0][1] != 0.0 || t[0][2] != 0.0 || t[1][2] != 0.0 {
            h.b00 += outer(na * t[0][2], b) + outer(b * t[0][2], na);
            h.b01 += outer(na * t[0][1], nb) + outer(na * t[0][2], a) + outer(b * t[1][2], nb);
            h.b11 += outer(nb * t[1][2], a) + outer(a * t[1][2], nb);
        }
        h
    }
}
