//! Viscosity that changes with the rate.

use plisse_core::{Positive, saturate};

use crate::viscosity::{Potential, ViscosityError, dot, times};

/// Rates beyond this, in units of the rate of the law, change the viscosity no more.
const FASTEST: f64 = 1e30;

/// How a viscosity changes with the strain rate, after Carreau: constant below a rate, a power of
/// the rate above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLaw {
    rate: f64,
    exponent: f64,
}

impl RateLaw {
    /// The rate of the change in 1/s, and the exponent `p` from 1 to 4: above the rate the stress
    /// grows like its power `p - 1`. For `p = 1` it stays constant, as dry friction between yarns
    /// does; for `p = 2` nothing changes; above, fast motion is damped more than slow.
    pub fn new(rate: Positive, exponent: f64) -> Result<Self, ViscosityError> {
        if (1.0..=4.0).contains(&exponent) {
            Ok(Self { rate: rate.get(), exponent })
        } else {
            Err(ViscosityError::Exponent { value: exponent })
        }
    }

    /// The rate of the change, 1/s.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The exponent, from 1 to 4.
    #[must_use]
    pub fn exponent(&self) -> f64 {
        self.exponent
    }
}

/// A viscosity that falls or grows with the rate: `Ψ = (d r²/p) ((1 + q)^(p/2) - 1)` with
/// `q = ε̇ᵀ D ε̇/(d r²)`.
///
/// `D` is the viscosity of another potential at rest, `d` the largest number of its diagonal, `r`
/// and `p` those of the [`RateLaw`]. For slow motion this is `½ ε̇ᵀ D ε̇`. The rate is measured by
/// `D` itself: if that is isotropic, so is this.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateDependent<P> {
    slow: P,
    law: RateLaw,
}

impl<P> RateDependent<P> {
    /// `slow` is the potential of slow motion: a [`Viscosity`](crate::Viscosity) or an
    /// [`ElasticViscosity`](crate::ElasticViscosity).
    #[must_use]
    pub fn new(slow: P, law: RateLaw) -> Self {
        Self { slow, law }
    }

    /// None if nothing is viscous.
    #[inline]
    fn measure<const K: usize>(&self, at: &[f64; K], rate: &[f64; K]) -> Option<Measure<K>>
    where
        P: Potential<K>,
    {
        let matrix = self.slow.tangent(at, &[0.0; K]);
        let largest = (0..K).fold(0.0, |d: f64, k| d.max(matrix[k][k]));
        if largest == 0.0 {
            return None;
        }
        // Made smaller as a whole where they are too fast, so that powers are still numbers.
        let u = rate.map(|v| saturate(v / self.law.rate));
        let fastest = u.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let u = if fastest > FASTEST { u.map(|v| v / fastest * FASTEST) } else { u };
        let pushed = times(&matrix.map(|row| row.map(|d| d / largest)), &u);
        // Rounding must not make it negative.
        let q = dot(&u, &pushed).max(0.0);
        Some(Measure { matrix, largest, pushed, q })
    }
}

/// Of a strain rate, in units of the rate `r` of the law.
struct Measure<const K: usize> {
    matrix: [[f64; K]; K],
    /// `d`.
    largest: f64,
    /// `D ε̇/(d r)`.
    pushed: [f64; K],
    /// Apart from the one that it is added to, so that slow motion keeps its digits.
    q: f64,
}

impl<const K: usize> Measure<K> {
    /// The viscosity in units of that at rest.
    #[inline]
    fn factor(&self, exponent: f64) -> f64 {
        (1.0 + self.q).powf(0.5 * exponent - 1.0)
    }
}

impl<const K: usize, P: Potential<K>> Potential<K> for RateDependent<P> {
    #[inline]
    fn value(&self, at: &[f64; K], rate: &[f64; K]) -> f64 {
        let RateLaw { rate: r, exponent: p } = self.law;
        self.measure(at, rate).map_or(0.0, |m| {
            let excess = (0.5 * p * m.q.ln_1p()).exp_m1();
            m.largest * r * r / p * excess
        })
    }

    #[inline]
    fn stress(&self, at: &[f64; K], rate: &[f64; K]) -> [f64; K] {
        let Some(m) = self.measure(at, rate) else { return [0.0; K] };
        let factor = m.factor(self.law.exponent);
        times(&m.matrix, rate).map(|s| factor * s)
    }

    /// `(1 + q)^(p/2 - 1) (D + (p - 2) d w wᵀ)` with `w = D ε̇/(d r √(1 + q))`: `D - d w wᵀ` is
    /// positive semidefinite.
    #[inline]
    fn tangent(&self, at: &[f64; K], rate: &[f64; K]) -> [[f64; K]; K] {
        let Some(m) = self.measure(at, rate) else { return [[0.0; K]; K] };
        let factor = m.factor(self.law.exponent);
        let slope = (self.law.exponent - 2.0) * m.largest;
        let w = m.pushed.map(|v| v / (1.0 + m.q).sqrt());
        std::array::from_fn(|i| std::array::from_fn(|j| factor * (m.matrix[i][j] + slope * (w[i] * w[j]))))
    }
}
