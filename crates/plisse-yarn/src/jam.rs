//! Yarns that cannot pass each other: two crossings on a yarn keep apart.
//!
//! Below the sum `d` of the radii of the two yarns that cross there, `½ k d (d²/Δ - 2 d + Δ)`: the
//! quadratic law `½ k (d - Δ)²` near `Δ = d`, and infinite at `Δ = 0`. It is convex, like the
//! stretch of a rod of length `d`. A quadratic law alone would let a large force push one crossing
//! past the next.

use plisse_core::{Id, Positive, Psd, StepEnergy, Vertices};

use crate::element::{ArcLength, YarnElement};

/// Two neighbours on a yarn that keep apart.
#[derive(Clone, Copy, Debug)]
pub struct Jam {
    arcs: [ArcLength; 2],
    distance: f64,
    stiffness: f64,
}

/// The part of the material between two crossings that one step of the solver may take away.
const REACH: f64 = 0.9;

impl Jam {
    /// Neighbours that are pushed apart below `distance` metres of material, with a stiffness in
    /// N/m.
    #[must_use]
    pub fn new(arcs: [ArcLength; 2], distance: Positive, stiffness: Positive) -> Self {
        Self { arcs, distance: distance.get(), stiffness: stiffness.get() }
    }
}

impl YarnElement<0, 2, 2> for Jam {
    type Start = ();

    fn nodes(&self) -> [Id<Vertices>; 0] {
        []
    }

    fn arcs(&self) -> [ArcLength; 2] {
        self.arcs
    }

    fn start(&self, _: &[f64; 2], _: &[f64; 2], _: f64) {}

    fn gradient(&self, q: &[f64; 2], _: Option<&()>) -> (StepEnergy, [f64; 2]) {
        let (d, delta) = (self.distance, q[1] - q[0]);
        if delta >= d {
            return (StepEnergy::default(), [0.0; 2]);
        }
        if delta <= 0.0 {
            return (StepEnergy::of_storage(f64::INFINITY), [0.0; 2]);
        }
        let (half, gap) = (0.5 * self.stiffness * d, d - delta);
        let slope = -half * gap * (d + delta) / (delta * delta);
        (StepEnergy::of_storage(half * gap * gap / delta), [-slope, slope])
    }

    fn hessian(&self, q: &[f64; 2], _: Option<&()>, _: Psd) -> [[f64; 2]; 2] {
        let (d, delta) = (self.distance, q[1] - q[0]);
        if delta >= d || delta <= 0.0 {
            return [[0.0; 2]; 2];
        }
        let h = self.stiffness * (d / delta).powi(3);
        [[h, -h], [-h, h]]
    }

    fn longest_step(&self, q: &[f64; 2], to: &[f64; 2]) -> f64 {
        let (from, change) = (q[1] - q[0], (to[1] - to[0]) - (q[1] - q[0]));
        if change < -REACH * from { REACH * from / -change } else { f64::INFINITY }
    }
}
