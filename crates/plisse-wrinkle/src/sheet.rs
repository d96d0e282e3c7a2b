//! What a thin sheet is made of.

use plisse_core::Positive;

use crate::error::WrinkleError;

/// An isotropic thin sheet in plane stress: Young's modulus, Poisson's ratio, thickness.
///
/// The energy of a tensor `M` is `‖M‖² = α/2 tr²M + β tr(M²)` (Chen21, section 3) with `α` and `β`
/// in pascals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThinSheet {
    young: f64,
    poisson: f64,
    thickness: f64,
}

impl ThinSheet {
    /// Young's modulus in Pa, Poisson's ratio in `(-1, 1)`, thickness in m. Of ratios from 0.5 on
    /// only sheets are capable, no solid; they are accepted.
    pub fn new(young: Positive, poisson: f64, thickness: Positive) -> Result<Self, WrinkleError> {
        if poisson > -1.0 && poisson < 1.0 {
            Ok(Self { young: young.get(), poisson, thickness: thickness.get() })
        } else {
            Err(WrinkleError::Poisson { value: poisson })
        }
    }

    /// Young's modulus in Pa.
    #[must_use]
    pub fn young(&self) -> f64 {
        self.young
    }

    /// Poisson's ratio.
    #[must_use]
    pub fn poisson(&self) -> f64 {
        self.poisson
    }

    /// Thickness in m.
    #[must_use]
    pub fn thickness(&self) -> f64 {
        self.thickness
    }

    /// `α = Y ν/(1 - ν²)` in Pa.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.young * self.poisson / (1.0 - self.poisson * self.poisson)
    }

    /// `β = Y/(2 (1 + ν))` in Pa.
    #[must_use]
    pub fn beta(&self) -> f64 {
        0.5 * self.young / (1.0 + self.poisson)
    }

    /// Rigidity of the plate, `D = Y h³/(12 (1 - ν²))`, in N m.
    #[must_use]
    pub fn rigidity(&self) -> f64 {
        self.young * self.thickness.powi(3) / (12.0 * (1.0 - self.poisson * self.poisson))
    }
}
