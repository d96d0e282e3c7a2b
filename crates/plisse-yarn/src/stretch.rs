//! A segment of a yarn that is stretched, and what its stretching loses.
//!
//! Between two nodes lie `Δ = u1 - u0` metres of material on `l = |x1 - x0|` metres of space. With
//! the strain `ε = l/Δ - 1` the stored energy is `½ k Δ ε²` (SO18, section 4; the weight `Δ`
//! depends on the unknowns). Everything is a function of `l` and `Δ`:
//!
//! ```text
//! ½ k Δ (l/Δ - 1)² = ½ k (l²/Δ - 2 l + Δ),   Hessian by (l, Δ): k/Δ [[1, -l/Δ], [-l/Δ, l²/Δ²]]
//! ```
//!
//! which is convex. Damping is `½ c (ε - ε₀)²` with `c = β k Δ₀ / dt`: the incremental form of
//! SO18 eq. (7), whose force has no derivative of the weight, because `Δ₀` is that of the start.

use glam::DVec3;
use plisse_core::{Id, Positive, Psd, StepEnergy, Vertices, length_and_direction, outer};
use plisse_eigen::Sym2;

use crate::element::{ArcLength, YarnElement, put, vector};

/// A segment that is stretched.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    nodes: [Id<Vertices>; 2],
    arcs: [ArcLength; 2],
    stiffness: f64,
    damping: f64,
}

/// The strain at the start of a step, and the factor of damping.
#[derive(Clone, Copy, Debug)]
pub struct StretchStart {
    strain: f64,
    /// `β k Δ₀ / dt`, J.
    factor: f64,
}

/// Value and derivatives of a function of `l` and `Δ`.
struct Law {
    energy: StepEnergy,
    slope: [f64; 2],
    curvature: Sym2,
}

impl Stretch {
    /// A segment between two nodes at these arc lengths: stiffness in newtons (force per strain),
    /// damping time `β` in seconds, not negative.
    #[must_use]
    pub fn new(nodes: [Id<Vertices>; 2], arcs: [ArcLength; 2], stiffness: Positive, damping: f64) -> Self {
        Self { nodes, arcs, stiffness: stiffness.get(), damping: damping.max(0.0) }
    }

    fn law(&self, l: f64, delta: f64, start: Option<&StretchStart>) -> Law {
        let (k, ratio) = (self.stiffness, l / delta);
        let strain = ratio - 1.0;
        let stored = 0.5 * k * delta * strain * strain;
        let mut law = Law {
            energy: StepEnergy::of_storage(stored),
            slope: [k * strain, -0.5 * k * strain * (ratio + 1.0)],
            curvature: Sym2::new(k / delta, -k * ratio / delta, k * ratio * ratio / delta),
        };
        if let Some(start) = start.filter(|start| start.factor > 0.0) {
            let change = strain - start.strain;
            let stress = start.factor * change;
            // ε by (l, Δ): 1/Δ, -l/Δ²; second: 0, -1/Δ², 2 l/Δ³.
            let (by_l, by_delta) = (1.0 / delta, -ratio / delta);
            law.energy.potential += 0.5 * stress * change;
            law.energy.dissipated = stress * change;
            law.slope[0] += stress * by_l;
            law.slope[1] += stress * by_delta;
            law.curvature.a += start.factor * by_l * by_l;
            law.curvature.b += start.factor * by_l * by_delta - stress / (delta * delta);
            law.curvature.c += start.factor * by_delta * by_delta + 2.0 * stress * ratio / (delta * delta);
        }
        law
    }
}

/// Length and direction of a segment, and its material; none where the material does not increase.
fn shape(q: &[f64; 8]) -> Option<(f64, DVec3, f64)> {
    let delta = q[7] - q[6];
    let (l, t) = length_and_direction(vector(q, 1) - vector(q, 0));
    (delta > 0.0).then_some((l, t, delta))
}

impl YarnElement<2, 2, 8> for Stretch {
    type Start = StretchStart;

    fn nodes(&self) -> [Id<Vertices>; 2] {
        self.nodes
    }

    fn arcs(&self) -> [ArcLength; 2] {
        self.arcs
    }

    fn start(&self, q: &[f64; 8], _: &[f64; 8], dt: f64) -> StretchStart {
        match shape(q) {
            None => StretchStart { strain: 0.0, factor: 0.0 },
            Some((l, _, delta)) => {
                StretchStart { strain: l / delta - 1.0, factor: self.damping * self.stiffness * delta / dt }
            }
        }
    }

    fn gradient(&self, q: &[f64; 8], start: Option<&StretchStart>) -> (StepEnergy, [f64; 8]) {
        let mut g = [0.0; 8];
        let Some((l, t, delta)) = shape(q) else { return (StepEnergy::of_storage(f64::INFINITY), g) };
        let Law { energy, slope, .. } = self.law(l, delta, start);
        put(&mut g, 0, -t * slope[0]);
        put(&mut g, 1, t * slope[0]);
        (g[6], g[7]) = (-slope[1], slope[1]);
        (energy, g)
    }

    /// Along the segment and by the material the Hessian is that by `(l, Δ)`, across it
    /// `slope/l`: two spaces that are orthogonal, and both differences have the same norm, so that
    /// each can be projected by itself.
    fn hessian(&self, q: &[f64; 8], start: Option<&StretchStart>, psd: Psd) -> [[f64; 8]; 8] {
        let Some((l, t, delta)) = shape(q) else { return [[0.0; 8]; 8] };
        let Law { slope, curvature, .. } = self.law(l, delta, start);
        let along = curvature.project(psd);
        // A segment without length has no direction, and pushes in none.
        let across = if l > 0.0 { psd.apply(slope[0] / l) } else { 0.0 };
        let block = outer(t, t) * (along.a - across) + glam::DMat3::IDENTITY * across;
        let mixed = t * along.b;
        let mut h = [[0.0; 8]; 8];
        for (i, si) in [(0, -1.0), (1, 1.0)] {
            for (j, sj) in [(0, -1.0), (1, 1.0)] {
                let sign = si * sj;
                for r in 0..3 {
                    for c in 0..3 {
                        h[3 * i + r][3 * j + c] = sign * block.col(c)[r];
                    }
                    h[3 * i + r][6 + j] = sign * mixed[r];
                    h[6 + j][3 * i + r] = sign * mixed[r];
                }
                h[6 + i][6 + j] = sign * along.c;
            }
        }
        h
    }
}
