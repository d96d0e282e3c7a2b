//! The stretch of an edge or a spring.

use glam::DVec3;
use plisse_core::range::{STRETCH, limit};
use plisse_core::{Blocks, Positive, Psd, length_and_direction};
use plisse_eigen::radial_hessian;

use crate::strain::Strain;

/// `|x1 - x0|/L - 1` with the rest length `L`. An edge without length has no direction: no
/// derivative, no force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeStretch {
    length: f64,
}

impl EdgeStretch {
    /// With this rest length, m.
    #[must_use]
    pub fn new(rest_length: Positive) -> Self {
        Self { length: rest_length.get() }
    }

    /// The rest length, m.
    #[must_use]
    pub fn rest_length(&self) -> f64 {
        self.length
    }
}

impl Strain<2, 1> for EdgeStretch {
    /// Length and direction.
    type Frame = (f64, DVec3);

    #[inline(always)]
    fn frame(&self, x: &[DVec3; 2]) -> Option<(f64, DVec3)> {
        Some(length_and_direction(x[1] - x[0]))
    }

    #[inline(always)]
    fn strain(&self, (length, _): &(f64, DVec3)) -> [f64; 1] {
        [limit(length / self.length, STRETCH) - 1.0]
    }

    #[inline(always)]
    fn gradient(&self, (_, n): &(f64, DVec3)) -> [[DVec3; 2]; 1] {
        let g = *n / self.length;
        [[-g, g]]
    }

    #[inline(always)]
    fn geometric(&self, (length, n): &(f64, DVec3), stress: &[f64; 1], psd: Psd) -> Blocks<2> {
        let across = psd.apply(stress[0]) / (self.length * length.max(1e-9 * self.length));
        let block = radial_hessian(*n, 0.0, across);
        Blocks::from_upper(block, -block, block)
    }
}
