//! What an isotropic sheet is made of.

use crate::quantity::{PoissonRatio, Positive};

/// A thin sheet in plane stress that is isotropic in its plane and the same through its thickness:
/// Young's modulus, Poisson's ratio, thickness.
///
/// The one description from which membranes (`Lame` of `plisse-membrane`), plates (`Plate` of
/// `plisse-bending`) and wrinkles take their moduli. In the plane the energy of a strain `ε` per
/// volume is `α/2 tr²ε + β tr(ε²)`, which is positive for all that [`PoissonRatio`] allows.
///
/// ```
/// use plisse_core::{IsotropicSheet, PoissonRatio, Positive};
/// let [young, thickness] = [200e9, 1e-3].map(Positive::literal);
/// let steel = IsotropicSheet::new(young, PoissonRatio::literal(0.3), thickness);
/// assert!((steel.rigidity() - 18.315).abs() < 1e-3); // N m
/// assert!((steel.alpha() + 2.0 * steel.beta() - 200e9 / 0.91).abs() < 1e-3);
/// # Ok::<(), plisse_core::QuantityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IsotropicSheet {
    young: Positive,
    poisson: PoissonRatio,
    thickness: Positive,
}

impl IsotropicSheet {
    /// Young's modulus in Pa, Poisson's ratio, thickness in m.
    #[must_use]
    pub const fn new(young: Positive, poisson: PoissonRatio, thickness: Positive) -> Self {
        Self { young, poisson, thickness }
    }

    /// Young's modulus in Pa.
    #[must_use]
    pub fn young(&self) -> f64 {
        self.young.get()
    }

    /// Poisson's ratio.
    #[must_use]
    pub fn poisson(&self) -> f64 {
        self.poisson.get()
    }

    /// Poisson's ratio, as the number that was checked.
    #[must_use]
    pub fn poisson_ratio(&self) -> PoissonRatio {
        self.poisson
    }

    /// Thickness in m.
    #[must_use]
    pub fn thickness(&self) -> f64 {
        self.thickness.get()
    }

    /// Tensile stiffness `E h` in N/m: force per width over strain in uniaxial tension.
    #[must_use]
    pub fn tensile_stiffness(&self) -> f64 {
        self.young() * self.thickness()
    }

    /// `α = E ν/(1 - ν²)` in Pa: Lamé's first parameter in plane stress.
    //
    // Here and below `1 - ν²` is a product, which keeps its digits next to ±1.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.young() * self.poisson() / ((1.0 - self.poisson()) * (1.0 + self.poisson()))
    }

    /// `β = E/(2 (1 + ν))` in Pa: the shear modulus.
    #[must_use]
    pub fn beta(&self) -> f64 {
        0.5 * self.young() / (1.0 + self.poisson())
    }

    /// Bending rigidity of the plate, `D = E h³/(12 (1 - ν²))`, in N m.
    #[must_use]
    pub fn rigidity(&self) -> f64 {
        self.young() * self.thickness().powi(3) / (12.0 * (1.0 - self.poisson()) * (1.0 + self.poisson()))
    }
}
