//! Engineering parameters of isotropic sheets.

use plisse_core::Positive;
use plisse_core::range::PARAMETER;
use thiserror::Error;

/// Why material parameters were refused.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MaterialError {
    /// Outside what an isotropic solid can have.
    #[error("Poisson's ratio {value} is outside the range of isotropic solids, -1 < nu <= 0.5")]
    PoissonRatio {
        /// The ratio given.
        value: f64,
    },
    /// A sheet that would collapse by itself.
    #[error("lambda = {lambda} N/m with mu = {mu} N/m: a stable sheet needs a finite {accepted}")]
    Lambda {
        /// First Lamé parameter given.
        lambda: f64,
        /// Second Lamé parameter.
        mu: f64,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// The product of the parameters is not a number that can be used.
    #[error("the stiffness {value} N/m that follows from these parameters is not between 1e-60 and 1e60 N/m")]
    Stiffness {
        /// The value found.
        value: f64,
    },
}

/// The Lamé parameters of a sheet, in N/m (those of the solid times its thickness, in plane
/// stress).
///
/// To second order around rest every isotropic energy is `μ ‖ε‖² + λ/2 tr²ε`. Checked: `μ > 0`,
/// `λ > -μ`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    mu: f64,
    lambda: f64,
}

impl Lame {
    /// From the parameters of the sheet, N/m.
    ///
    /// # Errors
    /// [`MaterialError::Lambda`] unless `lambda` is finite and greater than `-mu`;
    /// [`MaterialError::Stiffness`] above [`range::PARAMETER`](plisse_core::range::PARAMETER).
    pub fn new(mu: Positive, lambda: f64) -> Result<Self, MaterialError> {
        let mu = mu.get();
        if !(lambda.is_finite() && lambda > -mu) {
            return Err(MaterialError::Lambda { lambda, mu, accepted: "lambda > -mu" });
        }
        if lambda > *PARAMETER.end() {
            return Err(MaterialError::Stiffness { value: lambda });
        }
        Ok(Self { mu, lambda })
    }

    /// Plane stress: Young's modulus in Pa, Poisson's ratio, thickness in m.
    ///
    /// `μ = E h / (2 (1 + ν))`, `λ = E h ν / (1 - ν²)`.
    ///
    /// # Errors
    /// [`MaterialError::PoissonRatio`] outside `-1 < ν ≤ 0.5`; [`MaterialError::Stiffness`] if
    /// `E h` leaves [`range::PARAMETER`](plisse_core::range::PARAMETER).
    pub fn plane_stress(young: Positive, poisson: f64, thickness: Positive) -> Result<Self, MaterialError> {
        if !(poisson > -1.0 && poisson <= 0.5) {
            return Err(MaterialError::PoissonRatio { value: poisson });
        }
        let stiffness = young.get() * thickness.get();
        let mu = 0.5 * stiffness / (1.0 + poisson);
        let mu = Positive::new(mu).map_err(|_| MaterialError::Stiffness { value: mu })?;
        Self::new(mu, stiffness * poisson / ((1.0 - poisson) * (1.0 + poisson)))
    }

    /// Shear modulus, N/m.
    #[inline]
    #[must_use]
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// First parameter, N/m; negative for auxetic sheets.
    #[inline]
    #[must_use]
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Tensile stiffness of the sheet, `E h` in N/m: force per width over strain in uniaxial
    /// tension.
    #[must_use]
    pub fn tensile_stiffness(&self) -> f64 {
        4.0 * self.mu * ((self.mu + self.lambda) / (2.0 * self.mu + self.lambda))
    }

    /// Poisson's ratio in the plane, `λ/(2μ + λ)`.
    #[must_use]
    pub fn poisson(&self) -> f64 {
        self.lambda / (2.0 * self.mu + self.lambda)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positive(value: f64) -> Positive {
        Positive::new(value).unwrap()
    }

    #[test]
    fn plane_stress_gives_back_what_was_put_in() {
        for nu in [-0.9, -0.3, 0.0, 0.3, 0.5] {
            let lame = Lame::plane_stress(positive(2e6), nu, positive(1e-3)).unwrap();
            assert!((lame.tensile_stiffness() / 2e3 - 1.0).abs() < 1e-14, "{nu}");
            assert!((lame.poisson() - nu).abs() < 1e-14);
        }
    }

    #[test]
    fn refusals_say_what_is_accepted() {
        assert_eq!(
            Lame::plane_stress(positive(1.0), 0.7, positive(1.0)).unwrap_err().to_string(),
            "Poisson's ratio 0.7 is outside the range of isotropic solids, -1 < nu <= 0.5"
        );
        assert_eq!(
            Lame::new(positive(2.0), -3.0).unwrap_err().to_string(),
            "lambda = -3 N/m with mu = 2 N/m: a stable sheet needs a finite lambda > -mu"
        );
        assert!(Lame::new(positive(2.0), f64::NAN).is_err());
        assert!(Lame::plane_stress(positive(1e-40), 0.3, positive(1e-40)).is_err());
        assert!(Lame::plane_stress(positive(1e40), 0.3, positive(1e40)).is_err());
    }
}
