//! What strains keep of the start of a step.

use plisse_core::ElementStep;
use plisse_core::range::{RATE, limit};

use crate::strain::Strain;

/// The strain at the start of a step, and what it takes to make a rate of a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrainStart<const K: usize> {
    /// The strain.
    pub(crate) at: [f64; K],
    /// How much it would have to change for the rate to be zero.
    pub(crate) expected: [f64; K],
    /// Factor of rates, 1/s.
    pub(crate) factor: f64,
    /// Weight of the strain at the start.
    pub(crate) weight: f64,
}

impl<const K: usize> StrainStart<K> {
    /// None where the strain is not defined.
    #[inline(always)]
    pub(crate) fn new<const V: usize>(strain: &impl Strain<V, K>, step: &ElementStep<V>) -> Option<Self> {
        let at = strain.strain_at(&step.start)?;
        let expected = step.expected(
            |x| Some(strain.difference(&at, &strain.strain_at(x)?)),
            || Some(strain.gradient(&strain.frame(&step.start)?)),
        )?;
        let factor = limit(step.rate, RATE);
        Some(Self { at, expected, factor, weight: strain.weight(&step.start) })
    }

    /// The rate of a step that ends with a strain.
    #[inline(always)]
    pub(crate) fn rate<const V: usize>(&self, strain: &impl Strain<V, K>, end: &[f64; K]) -> [f64; K] {
        let change = strain.difference(end, &self.at);
        limited(std::array::from_fn(|k| (change[k] - self.expected[k]) * self.factor))
    }
}

#[inline(always)]
pub(crate) fn limited<const K: usize>(rate: [f64; K]) -> [f64; K] {
    rate.map(|r| limit(r, RATE))
}
