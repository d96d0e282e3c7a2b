//! Baraff-Witkin cloth: stretch along warp and weft, shear between them.

use plisse_core::{Positive, UnitDir2};

use crate::energy::Sum;
use crate::fibre::{Fibre, Stretch};
use crate::law::Quadratic;
use crate::shear::Shear;

/// Baraff-Witkin cloth (Kim20, section 3.4): stretch plus shear.
pub type BaraffWitkin = Sum<Stretch, Shear>;

impl BaraffWitkin {
    /// From the moduli of a fabric, in N/m, with warp and weft along the material axes.
    ///
    /// `warp` and `weft` are the small-strain tensile moduli per width (force per width over
    /// strain), `shear` the small-strain shear modulus per width (force per width over shear
    /// angle): the figures that fabric testers report. The energy is
    /// `warp/2 (‖Fu‖ - 1)² + weft/2 (‖Fv‖ - 1)² + shear/2 I6²`.
    ///
    /// ```
    /// use plisse_core::{Mat3x2, Positive};
    /// use plisse_membrane::{BaraffWitkin, MembraneEnergy};
    /// // Denim: 205 N/m warp, 1014 N/m weft, 53 N/m shear.
    /// let [warp, weft, shear] = [205.0, 1014.0, 53.0].map(|k| Positive::new(k).unwrap());
    /// let denim = BaraffWitkin::from_moduli(warp, weft, shear);
    /// let pulled = Mat3x2::from_array([1.01, 0.0, 0.0, 0.0, 1.0, 0.0]);
    /// assert!((denim.pk1(&pulled).c0.x - 2.05).abs() < 1e-12); // 1 % strain, 2.05 N/m
    /// ```
    #[must_use]
    pub fn from_moduli(warp: Positive, weft: Positive, shear: Positive) -> Self {
        // The terms are squares without the factor one half. Halving a subnormal number could give
        // zero.
        let half = |k: Positive| Positive::new(0.5 * k.get()).unwrap_or(k);
        let fibre = |direction, k| Fibre::new(direction, Positive::ONE, Quadratic).with_stiffness(half(k));
        let stretch = Stretch::from_fibres(fibre(UnitDir2::U, warp), fibre(UnitDir2::V, weft));
        Sum(stretch, Shear::warp_weft().with_stiffness(half(shear)))
    }
}
