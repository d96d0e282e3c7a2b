//! What takes energy out of the motion: the choices of a material.

use plisse_core::Positive;
use plisse_damping::RateLaw;

/// What takes energy out of the motion, besides the time integration.
///
/// ```
/// use plisse_core::Positive;
/// use plisse_scene::scene::{Damping, Material, StrainRate};
/// let damping = Damping { bending: Some(Positive::literal(0.01)), ..Damping::strain_rate(Positive::literal(0.02)) };
/// let cotton = Material { damping, ..Material::cotton() };
/// assert!(matches!(cotton.damping.membrane, StrainRate::Proportional(_)) && cotton.damping.mass.is_none());
/// # let _ = Damping::NONE;
/// # let _ = Damping::mass(Positive::ONE);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Damping {
    /// Resistance to changes of strain in the plane of a sheet, or along wires. Rigid motions are
    /// free.
    pub membrane: StrainRate,
    /// How that resistance changes with the rate; none if it is in proportion to the rate.
    pub rate_law: Option<RateLaw>,
    /// Resistance to changes of bending angles: the stiffness times this, in seconds. Rigid motions
    /// of sheets are free; finely divided curved wires resist turning a little, see
    /// [`JointViscosity`](plisse_damping::JointViscosity).
    pub bending: Option<Positive>,
    /// A force `-rate · mass · velocity`, with the rate in 1/s: the air of a still room, roughly.
    /// It also slows free fall and rigid turning.
    pub mass: Option<Positive>,
    /// Rayleigh's damping in proportion to the stiffness in the plane, in seconds, for comparison:
    /// it slows down swinging under tension although nothing deforms.
    pub rayleigh: Option<Positive>,
}

/// Resistance to changes of strain in the plane of a sheet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum StrainRate {
    /// None.
    #[default]
    None,
    /// The moduli of the material times this, in seconds, in the strain of its membrane. A
    /// vibration of angular frequency `ω` in the plane has the damping ratio `ω/2` times this.
    Proportional(Positive),
    /// Viscosities of an isotropic sheet, N s/m, independent of its elasticity; `mu` and
    /// `lambda + mu` must not be negative.
    Isotropic {
        /// Of changes of area.
        lambda: f64,
        /// Of changes of shape.
        mu: f64,
    },
    /// Viscosities of warp, weft and shear, N s/m; not negative.
    PerDirection([f64; 3]),
}

impl Damping {
    /// None.
    pub const NONE: Self =
        Self { membrane: StrainRate::None, rate_law: None, bending: None, mass: None, rayleigh: None };

    /// In proportion to the moduli in the plane, in seconds.
    #[must_use]
    pub fn strain_rate(beta: Positive) -> Self {
        Self { membrane: StrainRate::Proportional(beta), ..Self::NONE }
    }

    /// In proportion to mass, 1/s.
    #[must_use]
    pub fn mass(rate: Positive) -> Self {
        Self { mass: Some(rate), ..Self::NONE }
    }
}
