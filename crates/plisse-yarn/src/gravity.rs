//! The weight of a segment, which moves with the material: `V = -ρ Δ g·(x0 + x1)/2`.

use glam::DVec3;
use plisse_core::{Id, Positive, Psd, StepEnergy, Vertices};

use crate::element::{ArcLength, YarnElement, put, vector};

/// The weight of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Weight {
    nodes: [Id<Vertices>; 2],
    arcs: [ArcLength; 2],
    density: f64,
    gravity: DVec3,
    origin: DVec3,
}

impl Weight {
    /// Density in kg/m, gravity in m/s². The potential is zero at `origin`: a place near the patch,
    /// so that sliding material does not feel how far away zero is by rounding.
    #[must_use]
    pub fn new(
        nodes: [Id<Vertices>; 2],
        arcs: [ArcLength; 2],
        density: Positive,
        gravity: DVec3,
        origin: DVec3,
    ) -> Self {
        Self { nodes, arcs, density: density.get(), gravity, origin }
    }
}

impl YarnElement<2, 2, 8> for Weight {
    type Start = ();

    fn nodes(&self) -> [Id<Vertices>; 2] {
        self.nodes
    }

    fn arcs(&self) -> [ArcLength; 2] {
        self.arcs
    }

    fn start(&self, _: &[f64; 8], _: &[f64; 8], _: f64) {}

    fn gradient(&self, q: &[f64; 8], _: Option<&()>) -> (StepEnergy, [f64; 8]) {
        let delta = q[7] - q[6];
        let middle = (vector(q, 0) + vector(q, 1)) * 0.5 - self.origin;
        let potential = -self.density * self.gravity.dot(middle);
        let force = self.gravity * (-0.5 * self.density * delta);
        let mut g = [0.0; 8];
        put(&mut g, 0, force);
        put(&mut g, 1, force);
        (g[6], g[7]) = (-potential, potential);
        (StepEnergy::of_storage(potential * delta), g)
    }

    /// `σ (a bᵀ + b aᵀ)` with unit vectors `a` of positions and `b` of arc lengths, whose
    /// eigenvalues are `±σ`.
    fn hessian(&self, _: &[f64; 8], _: Option<&()>, psd: Psd) -> [[f64; 8]; 8] {
        let mut h = [[0.0; 8]; 8];
        let size = self.gravity.length();
        if size == 0.0 {
            return h;
        }
        let sigma = -self.density * size;
        let direction = self.gravity / (size * std::f64::consts::SQRT_2);
        let (mut a, mut b) = ([0.0; 8], [0.0; 8]);
        put(&mut a, 0, direction);
        put(&mut a, 1, direction);
        (b[6], b[7]) = (-std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_1_SQRT_2);
        let (plus, minus) = (psd.apply(sigma), psd.apply(-sigma));
        let (same, cross) = (0.5 * (plus + minus), 0.5 * (plus - minus));
        for i in 0..8 {
            for j in 0..8 {
                h[i][j] = same * (a[i] * a[j] + b[i] * b[j]) + cross * (a[i] * b[j] + b[i] * a[j]);
            }
        }
        h
    }
}
