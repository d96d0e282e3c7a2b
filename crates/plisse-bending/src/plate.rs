//! Engineering parameters of a plate.

use plisse_core::Positive;
use thiserror::Error;

/// Why plate parameters were refused.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlateError {
    /// Outside what an isotropic solid can have.
    #[error("Poisson's ratio {value} is outside the range of isotropic solids, -1 < nu <= 0.5")]
    PoissonRatio {
        /// The ratio given.
        value: f64,
    },
    /// The product of the parameters is not a number that can be used.
    #[error("the bending rigidity {value} N m that follows from these parameters is not in (0, 1e100] N m")]
    Rigidity {
        /// The value found.
        value: f64,
    },
}

/// A thin isotropic plate: Young's modulus in Pa, Poisson's ratio, thickness in m. Checked once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plate {
    young: f64,
    poisson: f64,
    thickness: f64,
    rigidity: Positive,
}

impl Plate {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`PlateError`] for a Poisson's ratio outside (-1, 0.5] or a rigidity that under- or
    /// overflows.
    pub fn new(young: Positive, poisson: f64, thickness: Positive) -> Result<Self, PlateError> {
        if !(poisson > -1.0 && poisson <= 0.5) {
            return Err(PlateError::PoissonRatio { value: poisson });
        }
        let (young, thickness) = (young.get(), thickness.get());
        let value = young * thickness.powi(3) / (12.0 * (1.0 - poisson) * (1.0 + poisson));
        match Positive::new(value) {
            Ok(rigidity) if value <= 1e100 => Ok(Self { young, poisson, thickness, rigidity }),
            _ => Err(PlateError::Rigidity { value }),
        }
    }

    /// Bending rigidity `D = E h³/(12 (1 - ν²))` in N m.
    #[must_use]
    pub fn rigidity(&self) -> Positive {
        self.rigidity
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

    /// `E ν h³/(12 (1 - ν²))` and `E h³/(24 (1 + ν))` in N m: the two moduli of the bending energy
    /// `a/2 tr²S + β ‖S‖²` per area. Their combination `a + 2β` is `D`.
    pub(crate) fn moduli(&self) -> (f64, f64) {
        let (d, nu) = (self.rigidity.get(), self.poisson);
        (d * nu, 0.5 * d * (1.0 - nu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rigidity_and_refusals() {
        let one = Positive::ONE;
        for nu in [-0.5, 0.0, 0.3, 0.5] {
            let plate = Plate::new(Positive::new(12.0).unwrap(), nu, one).unwrap();
            assert!((plate.rigidity().get() * (1.0 - nu * nu) - 1.0).abs() < 1e-15);
        }
        assert_eq!(
            Plate::new(one, 0.6, one).unwrap_err().to_string(),
            "Poisson's ratio 0.6 is outside the range of isotropic solids, -1 < nu <= 0.5"
        );
        assert!(Plate::new(one, f64::NAN, one).is_err());
        assert!(Plate::new(one, 0.3, Positive::new(1e-30).unwrap()).is_err());
    }
}
