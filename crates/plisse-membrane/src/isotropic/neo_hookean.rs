//! Three neo-Hookean membranes: `ψ = μ/2 ‖F‖² + f(J)` with the ratio of areas `J = σ₀σ₁`.
//!
//! For every `f`:
//!
//! ```text
//! ψᵢ = μ σᵢ + f' σⱼ     ψᵢᵢ = μ + f'' σⱼ²    ψ₀₁ = f' + f'' J
//! twist = μ + f'        flip = μ - f'        ψᵢ/σᵢ = μ + f' σⱼ/σᵢ
//! ```

use plisse_core::range::PARAMETER;
use plisse_core::{Positive, saturate};
use plisse_eigen::{IsotropicModuli, Stretches, Sym2};

use super::{Isotropic, IsotropicLaw};
use crate::material::{Lame, MaterialError};

/// `J - 1`: from the strains near rest, where the product would lose digits; from the product
/// elsewhere, where the sum of a large and a small strain would.
#[inline]
fn area_strain(s: &Stretches) -> f64 {
    let [s0, s1] = s.values;
    let (e0, e1) = (s0 - 1.0, s1 - 1.0);
    saturate(if s0 < 2.0 { e0 + e1 + e0 * e1 } else { s0 * s1 - 1.0 })
}

/// Stress of a law given by `α = J f'`, the form that suits powers and logarithms of `J`.
#[inline]
fn stress_by_logarithm(mu: f64, alpha: f64, s: &Stretches) -> [f64; 2] {
    let principal = |i: usize| saturate(mu * s.values[i]) + saturate(alpha * s.inverses[i]);
    [principal(0), principal(1)]
}

/// Moduli of a law given by `α = J f'`, `β = J² f''` and `α + β`.
#[inline(always)]
fn moduli_by_logarithm(mu: f64, alpha: f64, beta: f64, sum: f64, s: &Stretches) -> IsotropicModuli {
    let by_square = |x: f64| s.inverses.map(|i| mu + x * i * i);
    let by_j = saturate(s.inverses[0] * s.inverses[1]);
    let [a, c] = by_square(beta);
    IsotropicModuli {
        stretch: Sym2::new(a, sum * by_j, c),
        twist: mu + alpha * by_j,
        flip: mu - alpha * by_j,
        normal: by_square(alpha),
    }
}

/// `ψ = μ/2 (‖F‖² - 2) - μ ln J + λ/2 ln²J`: a barrier against collapse.
///
/// The energy is infinite (reported as 1e300) at `J = 0`, and a line search must stay away from it;
/// the barrier is logarithmic, hence weak: 2.4e5 μ at `J = 1e-300` for `λ = μ`.
pub type NeoHookeanLog = Isotropic<NeoHookeanLogLaw>;

/// The law of [`NeoHookeanLog`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeoHookeanLogLaw {
    mu: f64,
    lambda: f64,
}

impl NeoHookeanLog {
    /// From the Lamé parameters of the sheet.
    ///
    /// # Errors
    /// [`MaterialError::Lambda`] for a negative `λ`: the energy would fall without bound as `J`
    /// goes to zero.
    pub fn new(lame: Lame) -> Result<Self, MaterialError> {
        let (mu, lambda) = (lame.mu(), lame.lambda());
        if lambda < 0.0 {
            return Err(MaterialError::Lambda { lambda, mu, accepted: "lambda >= 0" });
        }
        Ok(Self::from_law(NeoHookeanLogLaw { mu, lambda }))
    }
}

impl NeoHookeanLogLaw {
    /// The coefficients `μ` and `λ` of the formula, N/m.
    #[must_use]
    pub fn parameters(&self) -> (f64, f64) {
        (self.mu, self.lambda)
    }

    /// `ln J`, accurate near rest and far beyond the range of `J` itself; saturated at `J = 0`.
    #[inline]
    fn log_area(s: &Stretches) -> f64 {
        let strain = area_strain(s);
        if strain.abs() < 0.5 {
            return strain.ln_1p();
        }
        let [s0, s1] = s.values;
        let j = s0 * s1;
        saturate(if (1e-300..1e300).contains(&j) { j.ln() } else { s0.ln() + s1.ln() })
    }
}

impl IsotropicLaw for NeoHookeanLogLaw {
    #[inline]
    fn energy(&self, s: &Stretches) -> f64 {
        if s.values[1] == 0.0 {
            return f64::INFINITY;
        }
        // μ/2 (σ₀² + σ₁² - 2) - μ ln J = μ/2 (σ₀ - σ₁)² + μ (J - 1 - ln J): two terms that are
        // never negative.
        let log = Self::log_area(s);
        let skew = s.values[0] - s.values[1];
        saturate(self.mu * saturate(0.5 * skew * skew + (area_strain(s) - log)))
            + saturate(0.5 * self.lambda * log * log)
    }

    #[inline]
    fn stress(&self, s: &Stretches) -> [f64; 2] {
        stress_by_logarithm(self.mu, saturate(self.lambda * Self::log_area(s)) - self.mu, s)
    }

    #[inline]
    fn moduli(&self, s: &Stretches) -> IsotropicModuli {
        let alpha = saturate(self.lambda * Self::log_area(s)) - self.mu;
        moduli_by_logarithm(self.mu, alpha, self.lambda - alpha, self.lambda, s)
    }
}

/// `ψ = μ/2 (‖F‖² + 1/J² - 3)`: an incompressible solid that thins as it is stretched, in plane
/// stress.
///
/// The Lamé parameters are `μ` and `λ = 2μ`. Infinite (reported as 1e300) at `J = 0`: a barrier.
pub type NeoHookeanIncompressible = Isotropic<NeoHookeanIncompressibleLaw>;

/// The law of [`NeoHookeanIncompressible`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeoHookeanIncompressibleLaw {
    mu: f64,
}

impl NeoHookeanIncompressible {
    /// With the shear modulus of the sheet in N/m.
    #[must_use]
    pub fn new(mu: Positive) -> Self {
        Self::from_law(NeoHookeanIncompressibleLaw { mu: mu.get() })
    }

    /// From Young's modulus in Pa and the thickness in m: `μ = E h / 3`.
    ///
    /// # Errors
    /// [`MaterialError::Stiffness`] if the product leaves
    /// [`range::PARAMETER`](plisse_core::range::PARAMETER).
    pub fn plane_stress(young: Positive, thickness: Positive) -> Result<Self, MaterialError> {
        let mu = young.get() * thickness.get() / 3.0;
        Ok(Self::new(Positive::new(mu).map_err(|_| MaterialError::Stiffness { value: mu })?))
    }
}

impl IsotropicLaw for NeoHookeanIncompressibleLaw {
    #[inline]
    fn energy(&self, s: &Stretches) -> f64 {
        // With gᵢ = σᵢ² - 1 and J² = (1 + g₀)(1 + g₁): I2 + 1/J² - 3 = [(g₀ + g₁)(J² - 1) -
        // g₀g₁]/J², of second order in g. Far from rest, where squares overflow, the sum itself.
        let j = s.values[0] * s.values[1];
        let g = s.values.map(|s| (s - 1.0) * (s + 1.0));
        let trace = g[0] + g[1];
        let excess = if trace.abs() < 1.0 && j > 0.5 {
            (trace * (trace + g[0] * g[1]) - g[0] * g[1]) / (j * j)
        } else {
            saturate(trace) + saturate(1.0 / j / j - 1.0)
        };
        0.5 * self.mu * saturate(excess)
    }

    #[inline]
    fn stress(&self, s: &Stretches) -> [f64; 2] {
        stress_by_logarithm(self.mu, self.alpha(s), s)
    }

    #[inline]
    fn moduli(&self, s: &Stretches) -> IsotropicModuli {
        let alpha = self.alpha(s);
        moduli_by_logarithm(self.mu, alpha, -3.0 * alpha, -2.0 * alpha, s)
    }
}

impl NeoHookeanIncompressibleLaw {
    /// Shear modulus, N/m.
    #[must_use]
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// `J f' = -μ/J²`.
    #[inline]
    fn alpha(&self, s: &Stretches) -> f64 {
        let by_j = saturate(s.inverses[0] * s.inverses[1]);
        -saturate(self.mu * by_j * by_j)
    }
}

/// `ψ = μ/2 (‖F‖² - 2) - μ (J - 1) + λ'/2 (J - 1)²`: finite everywhere, at rest for every `λ'`.
///
/// Its small-strain Lamé parameters are `μ` and `λ' - μ`. [`Self::new`] takes the true ones and
/// sets `λ' = λ + μ`, so that it agrees with the other energies to second order;
/// [`Self::with_raw_parameters`] takes `λ'` as printed. At rank one the stiffness out of the plane
/// tends to minus infinity and is reported with the inverse that [`Stretches`] gives; at `F = 0`
/// its limit along conformal states is returned.
pub type NeoHookeanStable = Isotropic<NeoHookeanStableLaw>;

/// The law of [`NeoHookeanStable`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeoHookeanStableLaw {
    mu: f64,
    lambda: f64,
}

impl NeoHookeanStable {
    /// From the small-strain Lamé parameters of the sheet.
    #[must_use]
    pub fn new(lame: Lame) -> Self {
        Self::from_law(NeoHookeanStableLaw { mu: lame.mu(), lambda: lame.lambda() + lame.mu() })
    }

    /// With the coefficients of the formula, N/m.
    ///
    /// # Errors
    /// [`MaterialError::Lambda`] unless `lambda` is finite and greater than zero;
    /// [`MaterialError::Stiffness`] above [`range::PARAMETER`](plisse_core::range::PARAMETER).
    pub fn with_raw_parameters(mu: Positive, lambda: f64) -> Result<Self, MaterialError> {
        let mu = mu.get();
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(MaterialError::Lambda { lambda, mu, accepted: "lambda > 0" });
        }
        if lambda > *PARAMETER.end() {
            return Err(MaterialError::Stiffness { value: lambda });
        }
        Ok(Self::from_law(NeoHookeanStableLaw { mu, lambda }))
    }
}

impl NeoHookeanStableLaw {
    /// The coefficients `μ` and `λ` of the formula, N/m.
    #[must_use]
    pub fn parameters(&self) -> (f64, f64) {
        (self.mu, self.lambda)
    }

    /// `f' = -μ + λ' (J - 1)`.
    #[inline]
    fn slope(&self, s: &Stretches) -> f64 {
        saturate(self.lambda * area_strain(s)) - self.mu
    }
}

impl IsotropicLaw for NeoHookeanStableLaw {
    #[inline]
    fn energy(&self, s: &Stretches) -> f64 {
        // μ/2 (σ₀² + σ₁² - 2) - μ (J - 1) = μ/2 (σ₀ - σ₁)².
        let (skew, e) = (s.values[0] - s.values[1], area_strain(s));
        saturate(0.5 * self.mu * skew * skew) + saturate(0.5 * self.lambda * e * e)
    }

    #[inline]
    fn stress(&self, s: &Stretches) -> [f64; 2] {
        // μ σᵢ + f' σⱼ = μ (σᵢ - σⱼ) + λ' (J - 1) σⱼ, without cancellation near rest.
        let pressure = saturate(self.lambda * area_strain(s));
        let [s0, s1] = s.values;
        let skew = saturate(self.mu * (s0 - s1));
        [skew + saturate(pressure * s1), saturate(pressure * s0) - skew]
    }

    #[inline]
    fn moduli(&self, s: &Stretches) -> IsotropicModuli {
        let (mu, slope) = (self.mu, self.slope(s));
        let [s0, s1] = s.values;
        let by_square = |s: f64| mu + saturate(self.lambda * saturate(s * s));
        let normal = if s0 == 0.0 {
            [mu + slope; 2]
        } else {
            [mu + saturate(slope * (s1 * s.inverses[0])), mu + saturate(slope * (s0 * s.inverses[1]))]
        };
        IsotropicModuli {
            stretch: Sym2::new(
                by_square(s1),
                slope + saturate(self.lambda * saturate(s0 * s1)),
                by_square(s0),
            ),
            twist: mu + slope,
            flip: mu - slope,
            normal,
        }
    }
}
