//! Engineering parameters of a plate.

use plisse_core::{IsotropicSheet, PoissonRatio, Positive};
use thiserror::Error;

/// Why plate parameters were refused.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlateError {
    /// The product of the parameters is not a number that can be used.
    #[error(
        "the bending rigidity {value:e} N m that follows from these parameters is not between 1e-60 and 1e60 N m"
    )]
    Rigidity {
        /// The value found.
        value: f64,
    },
}

/// How a thin isotropic plate resists bending: its rigidity in N m and its Poisson's ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plate {
    rigidity: Positive,
    poisson: PoissonRatio,
}

impl Plate {
    /// A plate of which the bending rigidity in N m is known, but not what it is made of.
    #[must_use]
    pub fn new(rigidity: Positive, poisson: PoissonRatio) -> Self {
        Self { rigidity, poisson }
    }

    /// The plate that a sheet is, with `D = E h³/(12 (1 - ν²))`.
    ///
    /// # Errors
    /// [`PlateError`] if the rigidity leaves [`range::PARAMETER`](plisse_core::range::PARAMETER).
    pub fn of_sheet(sheet: &IsotropicSheet) -> Result<Self, PlateError> {
        let value = sheet.rigidity();
        let rigidity = Positive::new(value).map_err(|_| PlateError::Rigidity { value })?;
        Ok(Self::new(rigidity, sheet.poisson_ratio()))
    }

    /// Bending rigidity `D` in N m.
    #[must_use]
    pub fn rigidity(&self) -> Positive {
        self.rigidity
    }

    /// Poisson's ratio.
    #[must_use]
    pub fn poisson(&self) -> f64 {
        self.poisson.get()
    }

    /// `D ν` and `D (1 - ν)/2` in N m: the two moduli of the bending energy `a/2 tr²S + β ‖S‖²` per
    /// area. Their combination `a + 2β` is `D`.
    pub(crate) fn moduli(&self) -> (f64, f64) {
        let (d, nu) = (self.rigidity.get(), self.poisson());
        (d * nu, 0.5 * d * (1.0 - nu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plate(young: f64, poisson: f64, thickness: f64) -> Result<Plate, PlateError> {
        let [young, thickness] = [young, thickness].map(|value| Positive::new(value).unwrap());
        Plate::of_sheet(&IsotropicSheet::new(young, PoissonRatio::new(poisson).unwrap(), thickness))
    }

    #[test]
    fn rigidity_and_refusals() {
        for nu in [-0.5, 0.0, 0.3, 0.5, 0.9] {
            let plate = plate(12.0, nu, 1.0).unwrap();
            assert!((plate.rigidity().get() * (1.0 - nu * nu) - 1.0).abs() < 1e-15);
        }
        assert!(plate(1.0, 0.3, 1e-30).is_err());
    }

    /// The energy of every curvature is positive up to both ends of the range.
    #[test]
    fn moduli_are_positive_definite() {
        for nu in [-0.999_999, -0.5, 0.0, 0.5, 0.999_999] {
            let (a, beta) = plate(12.0, nu, 1.0).unwrap().moduli();
            assert!(beta > 0.0 && a + beta > 0.0, "{nu}");
        }
    }
}
