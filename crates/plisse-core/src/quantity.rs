//! Numbers that were checked once, so that nobody has to check them again.

use glam::DVec2;
use thiserror::Error;

use crate::range::PARAMETER;

/// Why a number was refused.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum QuantityError {
    /// Not finite, zero or negative.
    #[error("{value} is not a positive finite number")]
    NotPositive {
        /// The number given.
        value: f64,
    },
    /// Positive, but beyond what computations can carry.
    #[error("{value:e} is outside of the range from 1e-60 to 1e60: check its unit, SI units are expected")]
    OutOfRange {
        /// The number given.
        value: f64,
    },
    /// Not an angle between -π and π.
    #[error("{value} is not an angle in radians between -pi and pi")]
    NotAnAngle {
        /// The number given.
        value: f64,
    },
    /// Not the ratio of a stable sheet.
    #[error("Poisson's ratio {value} is not between -1 and 1; metals have 0.3, rubber nearly 0.5")]
    NotAPoissonRatio {
        /// The number given.
        value: f64,
    },
    /// A direction without a direction.
    #[error("({x}, {y}) has no direction: give a finite vector that is not zero")]
    NoDirection {
        /// First component given.
        x: f64,
        /// Second component given.
        y: f64,
    },
}

/// A number greater than zero, within [`range::PARAMETER`](crate::range::PARAMETER) (1e-60 to
/// 1e60). The unit is that of the parameter it is passed for.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Positive(f64);

impl Positive {
    /// One.
    pub const ONE: Self = Self(1.0);

    /// Checks the number.
    ///
    /// # Errors
    /// [`QuantityError::NotPositive`] for zero, negative numbers, infinities and NaN;
    /// [`QuantityError::OutOfRange`] for positive numbers outside of
    /// [`range::PARAMETER`](crate::range::PARAMETER).
    ///
    /// ```
    /// use plisse_core::Positive;
    /// assert_eq!(Positive::new(0.2)?.get(), 0.2);
    /// assert_eq!(Positive::new(-3.0).unwrap_err().to_string(), "-3 is not a positive finite number");
    /// # Ok::<(), plisse_core::QuantityError>(())
    /// ```
    pub fn new(value: f64) -> Result<Self, QuantityError> {
        if PARAMETER.contains(&value) {
            Ok(Self(value))
        } else if value > 0.0 && value.is_finite() {
            Err(QuantityError::OutOfRange { value })
        } else {
            Err(QuantityError::NotPositive { value })
        }
    }

    /// A number that is written down in the program.
    ///
    /// # Panics
    /// If it is not within [`range::PARAMETER`](crate::range::PARAMETER); in a constant that is an
    /// error of compilation.
    ///
    /// ```
    /// use plisse_core::Positive;
    /// const DENSITY: Positive = Positive::literal(0.2);
    /// assert_eq!(DENSITY.get(), 0.2);
    /// ```
    #[must_use]
    pub const fn literal(value: f64) -> Self {
        assert!(
            value >= *PARAMETER.start() && value <= *PARAMETER.end(),
            "the literal is a positive number from 1e-60 to 1e60"
        );
        Self(value)
    }

    /// The number.
    #[inline]
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Positive {
    type Error = QuantityError;
    fn try_from(value: f64) -> Result<Self, QuantityError> {
        Self::new(value)
    }
}

impl From<Positive> for f64 {
    fn from(value: Positive) -> Self {
        value.get()
    }
}

/// Poisson's ratio of a sheet in its plane, between -1 and 1 without these two.
///
/// In plane stress a sheet resists a change of area with `E/(1 - ν)` and shear with `E/(1 + ν)`,
/// times its thickness. Both are positive for these ratios and for no others; beyond, a sheet would
/// gain energy by deforming. An isotropic solid has at most 0.5, because it also resists a change
/// of volume, with `E/(3 (1 - 2ν))`. Membranes, plates and wrinkles know only the plane: a knit, a
/// fabric or paper is not isotropic across its thickness, and its ratio in the plane may be above
/// 0.5. So every sheet of plisse accepts the same range. Whoever means a solid gives at most 0.5.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct PoissonRatio(f64);

impl PoissonRatio {
    /// A sheet that does not narrow when it is stretched.
    pub const ZERO: Self = Self(0.0);
    /// Rubber: an isotropic solid that keeps its volume.
    pub const INCOMPRESSIBLE: Self = Self(0.5);

    /// Checks the number.
    ///
    /// # Errors
    /// [`QuantityError::NotAPoissonRatio`] outside of the open interval from -1 to 1, NaN included.
    ///
    /// ```
    /// use plisse_core::PoissonRatio;
    /// assert_eq!(PoissonRatio::new(0.3)?.get(), 0.3);
    /// assert!(PoissonRatio::new(0.8).is_ok() && PoissonRatio::new(-0.5).is_ok());
    /// assert!(PoissonRatio::new(1.0).is_err() && PoissonRatio::new(-1.0).is_err());
    /// # Ok::<(), plisse_core::QuantityError>(())
    /// ```
    pub fn new(value: f64) -> Result<Self, QuantityError> {
        if value > -1.0 && value < 1.0 {
            Ok(Self(value))
        } else {
            Err(QuantityError::NotAPoissonRatio { value })
        }
    }

    /// A number that is written down in the program.
    ///
    /// # Panics
    /// If it is not between -1 and 1; in a constant that is an error of compilation.
    #[must_use]
    pub const fn literal(value: f64) -> Self {
        assert!(value > -1.0 && value < 1.0, "the literal is a number between -1 and 1");
        Self(value)
    }

    /// The ratio.
    #[inline]
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// An angle in radians, in [-π, π].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Angle(f64);

impl Angle {
    /// Zero.
    pub const ZERO: Self = Self(0.0);

    /// Checks the number.
    ///
    /// # Errors
    /// [`QuantityError::NotAnAngle`] outside [-π, π], infinities and NaN included.
    pub fn new(radians: f64) -> Result<Self, QuantityError> {
        if radians.abs() <= std::f64::consts::PI {
            Ok(Self(radians))
        } else {
            Err(QuantityError::NotAnAngle { value: radians })
        }
    }

    /// The angle in radians.
    #[inline]
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// A unit vector in material space, a warp or weft direction for instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitDir2(DVec2);

impl UnitDir2 {
    /// The first material axis, the usual warp.
    pub const U: Self = Self(DVec2::X);
    /// The second material axis, the usual weft.
    pub const V: Self = Self(DVec2::Y);

    /// The direction of a vector of any length.
    ///
    /// # Errors
    /// [`QuantityError::NoDirection`] for zero or a non-finite component.
    pub fn new(x: f64, y: f64) -> Result<Self, QuantityError> {
        let largest = x.abs().max(y.abs());
        if !(largest > 0.0 && x.is_finite() && y.is_finite()) {
            return Err(QuantityError::NoDirection { x, y });
        }
        let v = DVec2::new(x, y);
        // A vector that is unit to rounding is taken as it is, so that what was normalised once is
        // not moved.
        if (v.length_squared() - 1.0).abs() <= 4.0 * f64::EPSILON {
            return Ok(Self(v));
        }
        Ok(Self((v / largest).normalize()))
    }

    /// The direction at an angle from the first material axis, counter-clockwise, in radians.
    ///
    /// # Errors
    /// [`QuantityError::NoDirection`] for an infinite or NaN angle.
    pub fn from_angle(radians: f64) -> Result<Self, QuantityError> {
        let (sin, cos) = radians.sin_cos();
        Self::new(cos, sin)
    }

    /// The unit vector.
    #[inline]
    #[must_use]
    pub const fn get(self) -> DVec2 {
        self.0
    }

    /// A quarter turn counter-clockwise.
    #[inline]
    #[must_use]
    pub fn perp(self) -> Self {
        Self(self.0.perp())
    }

    /// The cosine of the angle with another direction.
    #[inline]
    #[must_use]
    pub fn dot(self, other: Self) -> f64 {
        self.0.dot(other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_not_positive() {
        for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Positive::new(bad).is_err(), "{bad}");
        }
        for edge in [*PARAMETER.start(), *PARAMETER.end()] {
            assert_eq!(Positive::new(edge).unwrap().get(), edge);
        }
        for bad in [f64::MIN_POSITIVE / 2.0, 9e-61, 2e60, f64::MAX] {
            assert_eq!(Positive::new(bad), Err(QuantityError::OutOfRange { value: bad }));
        }
        assert_eq!(
            Positive::new(1e-70).unwrap_err().to_string(),
            "1e-70 is outside of the range from 1e-60 to 1e60: check its unit, SI units are expected"
        );
    }

    #[test]
    fn directions_are_unit_at_every_scale() {
        for scale in [1e-320, 1e-200, 1.0, 1e200, 1e308] {
            let d = UnitDir2::new(scale, scale).unwrap().get();
            assert!((d.length() - 1.0).abs() < 1e-15, "{scale}");
        }
        for (x, y) in [(0.0, 0.0), (f64::NAN, 1.0), (1.0, f64::NAN), (f64::INFINITY, 1.0)] {
            assert!(UnitDir2::new(x, y).is_err(), "{x} {y}");
        }
        assert!(UnitDir2::from_angle(f64::INFINITY).is_err());
        assert!(
            (UnitDir2::from_angle(1.0).unwrap().perp().dot(UnitDir2::from_angle(1.0).unwrap())).abs() < 1e-16
        );
    }
}
