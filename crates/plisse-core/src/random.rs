//! Random numbers that are the same on every machine.

/// SplitMix64 (Steele, Lea and Flood 2014): 64 bits of state, and the same numbers for the same
/// seed on every machine.
///
/// For irregular meshes and small perturbations, where any sequence without visible order will do;
/// not for cryptography. Every seed is a good one, zero included.
///
/// ```
/// use plisse_core::SplitMix;
///
/// let (mut a, mut b) = (SplitMix::new(7), SplitMix::new(7));
/// let first = a.signed();
/// assert!((-1.0..1.0).contains(&first));
/// assert_eq!(first, b.signed());
/// assert_ne!(first, b.signed());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix(u64);

impl SplitMix {
    /// A sequence of its own for every seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next number, uniform in [-1, 1), a multiple of 2⁻⁵².
    pub fn signed(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        // As published for this seed.
        let mut random = SplitMix::new(1_234_567);
        let known = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(std::array::from_fn(|_| random.next_u64()), known);
    }

    #[test]
    fn signed_numbers_are_centred_and_within_one() {
        let mut random = SplitMix::new(0);
        let numbers: Vec<f64> = (0..10_000).map(|_| random.signed()).collect();
        assert!(numbers.iter().all(|x| (-1.0..1.0).contains(x)));
        // Five standard deviations of a mean of 10⁴ numbers of variance 1/3.
        assert!((numbers.iter().sum::<f64>() / 1e4).abs() < 5.0 * (1.0f64 / 3e4).sqrt());
    }
}
