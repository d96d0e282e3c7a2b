//! Engineering parameters of isotropic sheets.

use plisse_core::range::PARAMETER;
use plisse_core::{IsotropicSheet, PoissonRatio, Positive};
use thiserror::Error;

/// Why material parameters were refused.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MaterialError {
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
    /// A limit of stretch that is none.
    #[error("a largest stretch of {limit} is not between 1.0001 and 100; 1.05 lets a sheet grow by 5 %")]
    StretchLimit {
        /// The limit given.
        limit: f64,
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

    /// Plane stress: `μ = E h / (2 (1 + ν))`, `λ = E h ν / (1 - ν²)`.
    ///
    /// # Errors
    /// [`MaterialError::Stiffness`] if `E h` leaves
    /// [`range::PARAMETER`](plisse_core::range::PARAMETER).
    pub fn plane_stress(sheet: &IsotropicSheet) -> Result<Self, MaterialError> {
        Self::of(sheet.tensile_stiffness(), sheet.poisson())
    }

    /// The same for a sheet of which `E h` in N/m is known, but neither `E` nor `h`.
    ///
    /// # Errors
    /// [`MaterialError::Stiffness`] if a parameter leaves
    /// [`range::PARAMETER`](plisse_core::range::PARAMETER).
    pub fn from_tensile(stiffness: Positive, poisson: PoissonRatio) -> Result<Self, MaterialError> {
        Self::of(stiffness.get(), poisson.get())
    }

    fn of(stiffness: f64, poisson: f64) -> Result<Self, MaterialError> {
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

    fn plane_stress(young: f64, poisson: f64, thickness: f64) -> Result<Lame, MaterialError> {
        let poisson = PoissonRatio::new(poisson).unwrap();
        Lame::plane_stress(&IsotropicSheet::new(positive(young), poisson, positive(thickness)))
    }

    #[test]
    fn plane_stress_gives_back_what_was_put_in() {
        for nu in [-0.9, -0.3, 0.0, 0.3, 0.5, 0.9] {
            let lame = plane_stress(2e6, nu, 1e-3).unwrap();
            assert!((lame.tensile_stiffness() / 2e3 - 1.0).abs() < 1e-14, "{nu}");
            assert!((lame.poisson() - nu).abs() < 1e-14);
            let same = Lame::from_tensile(positive(2e6 * 1e-3), PoissonRatio::new(nu).unwrap()).unwrap();
            assert_eq!(lame, same);
        }
    }

    #[test]
    fn refusals_say_what_is_accepted() {
        assert_eq!(
            Lame::new(positive(2.0), -3.0).unwrap_err().to_string(),
            "lambda = -3 N/m with mu = 2 N/m: a stable sheet needs a finite lambda > -mu"
        );
        assert!(Lame::new(positive(2.0), f64::NAN).is_err());
        assert!(plane_stress(1e-40, 0.3, 1e-40).is_err());
        assert!(plane_stress(1e40, 0.3, 1e40).is_err());
    }
}
