//! The pressure of contact by the gap.

use plisse_core::Positive;

/// Of the range, gaps below which the law goes on as a parabola: far below what collision detection
/// leaves, so that derivatives stay finite whatever comes.
const SMALLEST: f64 = 1e-12;

/// A barrier `ψ(g) = κ r β(g/r)`, energy per area, with `β(s) = -(s - 1)² ln s` below the range `r`
/// and zero beyond.
///
/// κ is a pressure: that of a gap is `p = -κ β'(g/r)`, whatever the range. It has two continuous
/// derivatives at the range and no bound towards zero.
///
/// | g/r | 0.99 | 0.9 | 0.75 | 0.5 | 0.25 | 0.1 | 0.01 |
/// |---|---|---|---|---|---|---|---|
/// | p/κ | 3.02e-4 | 0.0322 | 0.227 | 1.19 | 4.33 | 12.2 | 107 |
///
/// ```
/// use plisse_contact::Barrier;
/// use plisse_core::Positive;
/// let barrier = Barrier::new(Positive::literal(1e3), Positive::literal(1e-3));
/// let [energy, slope, curvature] = barrier.evaluate(0.5e-3);
/// assert!(energy > 0.0 && (slope + 1193.147).abs() < 1e-3 && curvature > 0.0);
/// assert_eq!(barrier.evaluate(2e-3), [0.0; 3]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Barrier {
    stiffness: f64,
    range: f64,
}

impl Barrier {
    /// With the stiffness κ in pascals and the range in metres.
    #[must_use]
    pub fn new(stiffness: Positive, range: Positive) -> Self {
        Self { stiffness: stiffness.get(), range: range.get() }
    }

    pub(crate) fn raw(stiffness: f64, range: f64) -> Self {
        Self { stiffness, range }
    }

    /// Energy in J/m², its derivative by the gap (the negative pressure, Pa) and the second one
    /// (Pa/m). A gap of zero or less has an infinite energy.
    #[inline]
    #[must_use]
    pub fn evaluate(&self, gap: f64) -> [f64; 3] {
        let s = gap / self.range;
        if s >= 1.0 {
            return [0.0; 3];
        }
        let at = s.max(SMALLEST);
        let (log, away) = (at.ln(), at - 1.0);
        let value = if s > 0.0 { -away * away * log } else { f64::INFINITY };
        let slope = -2.0 * away * log - away * away / at;
        let curvature = -2.0 * log - 4.0 * away / at + away * away / (at * at);
        [self.stiffness * self.range * value, self.stiffness * slope, self.stiffness / self.range * curvature]
    }
}
