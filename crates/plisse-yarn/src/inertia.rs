//! The inertia of a segment whose material flows between its nodes.
//!
//! Nodes at `x0`, `x1` with material `u0`, `u1`, `Δ = u1 - u0`, `w = (x1 - x0)/Δ`: the material at
//! a node moves with `pᵢ = ẋᵢ - w u̇ᵢ`, linearly in between, so that
//!
//! ```text
//! T = ρ Δ/6 (p0·p0 + p0·p1 + p1·p1) = ½ q̇ᵀ M(q) q̇,     M q̈ = ∂T/∂q - Ṁ q̇ + forces
//! ```
//!
//! A step keeps `M` and `∂T/∂q - Ṁ q̇` as they are at its start, which is first order, as backward
//! Euler is.

use glam::DVec3;
use plisse_core::{Id, Positive, Psd, StepEnergy, Vertices};

use crate::element::{ArcLength, YarnElement, put, vector};

/// The inertia of a segment, beside the masses that its nodes have.
#[derive(Clone, Copy, Debug)]
pub struct SegmentInertia {
    nodes: [Id<Vertices>; 2],
    arcs: [ArcLength; 2],
    density: f64,
    /// Mass that the system gives to each of the two nodes, kg.
    lumped: f64,
}

/// The potential of inertia in a step.
#[derive(Clone, Copy, Debug)]
pub struct InertiaStart {
    /// `M/dt²` without the masses of the nodes.
    mass: [[f64; 8]; 8],
    /// `∂T/∂q - Ṁ q̇`.
    force: [f64; 8],
    start: [f64; 8],
    target: [f64; 8],
}

/// What kinetic energy and momenta are computed from.
struct Flow {
    delta: f64,
    w: DVec3,
    p: [DVec3; 2],
    /// Momenta by the velocities of the nodes.
    momenta: [DVec3; 2],
}

impl SegmentInertia {
    /// A segment with a density in kg/m, of which the system has `lumped` kilograms at each node.
    #[must_use]
    pub fn new(nodes: [Id<Vertices>; 2], arcs: [ArcLength; 2], density: Positive, lumped: f64) -> Self {
        Self { nodes, arcs, density: density.get(), lumped }
    }

    fn flow(&self, q: &[f64; 8], rates: &[f64; 8]) -> Option<Flow> {
        let delta = q[7] - q[6];
        (delta > 0.0).then_some(())?;
        let w = (vector(q, 1) - vector(q, 0)) / delta;
        let p = [vector(rates, 0) - w * rates[6], vector(rates, 1) - w * rates[7]];
        let sixth = self.density * delta / 6.0;
        let momenta = [(p[0] * 2.0 + p[1]) * sixth, (p[0] + p[1] * 2.0) * sixth];
        Some(Flow { delta, w, p, momenta })
    }

    /// The kinetic energy in joules, all of it.
    #[must_use]
    pub fn kinetic_energy(&self, q: &[f64; 8], rates: &[f64; 8]) -> f64 {
        self.flow(q, rates).map_or(0.0, |flow| {
            let [p0, p1] = flow.p;
            self.density * flow.delta / 6.0 * (p0.dot(p0) + p0.dot(p1) + p1.dot(p1))
        })
    }

    /// The kinetic energy beyond that of the masses of the nodes, J.
    #[must_use]
    pub fn beyond_nodes(&self, q: &[f64; 8], rates: &[f64; 8]) -> f64 {
        let nodes = vector(rates, 0).length_squared() + vector(rates, 1).length_squared();
        self.kinetic_energy(q, rates) - 0.5 * self.lumped * nodes
    }

    /// The mass matrix `M(q)`, all of it.
    #[must_use]
    pub fn mass(&self, q: &[f64; 8]) -> [[f64; 8]; 8] {
        let mut m = [[0.0; 8]; 8];
        let Some(Flow { delta, w, .. }) = self.flow(q, &[0.0; 8]) else { return m };
        let sixth = self.density * delta / 6.0;
        for i in 0..2 {
            for j in 0..2 {
                let weight = sixth * if i == j { 2.0 } else { 1.0 };
                for r in 0..3 {
                    m[3 * i + r][3 * j + r] = weight;
                    m[3 * i + r][6 + j] = -weight * w[r];
                    m[6 + j][3 * i + r] = -weight * w[r];
                }
                m[6 + i][6 + j] = weight * w.length_squared();
            }
        }
        m
    }

    /// `∂T/∂q - Ṁ q̇`: the forces of material that flows.
    #[must_use]
    pub fn flow_force(&self, q: &[f64; 8], rates: &[f64; 8]) -> [f64; 8] {
        let mut f = [0.0; 8];
        let Some(Flow { delta, w, p: [p0, p1], momenta }) = self.flow(q, rates) else { return f };
        let (u0, u1) = (rates[6], rates[7]);
        let tau = -(momenta[0] * u0 + momenta[1] * u1);
        let by_x = tau / delta;
        let by_u = self.density / 6.0 * (p0.dot(p0) + p0.dot(p1) + p1.dot(p1)) - tau.dot(w) / delta;
        let growth = u1 - u0;
        let w_rate = (vector(rates, 1) - vector(rates, 0) - w * growth) / delta;
        let p_rate = [-w_rate * u0, -w_rate * u1];
        let (sixth, sixth_rate) = (self.density * delta / 6.0, self.density * growth / 6.0);
        let momentum_rates = [
            (p0 * 2.0 + p1) * sixth_rate + (p_rate[0] * 2.0 + p_rate[1]) * sixth,
            (p0 + p1 * 2.0) * sixth_rate + (p_rate[0] + p_rate[1] * 2.0) * sixth,
        ];
        put(&mut f, 0, -by_x - momentum_rates[0]);
        put(&mut f, 1, by_x - momentum_rates[1]);
        for (i, sign) in [(0, -1.0), (1, 1.0)] {
            f[6 + i] = sign * by_u + w_rate.dot(momenta[i]) + w.dot(momentum_rates[i]);
        }
        f
    }
}

impl YarnElement<2, 2, 8> for SegmentInertia {
    type Start = InertiaStart;

    fn nodes(&self) -> [Id<Vertices>; 2] {
        self.nodes
    }

    fn arcs(&self) -> [ArcLength; 2] {
        self.arcs
    }

    fn start(&self, q: &[f64; 8], rates: &[f64; 8], dt: f64) -> InertiaStart {
        let mut mass = self.mass(q);
        for (i, row) in mass.iter_mut().enumerate().take(6) {
            row[i] -= self.lumped;
        }
        let factor = 1.0 / (dt * dt);
        let mass = mass.map(|row| row.map(|m| m * factor));
        let target = std::array::from_fn(|i| q[i] + dt * rates[i]);
        InertiaStart { mass, force: self.flow_force(q, rates), start: *q, target }
    }

    fn gradient(&self, q: &[f64; 8], start: Option<&InertiaStart>) -> (StepEnergy, [f64; 8]) {
        let Some(start) = start else { return (StepEnergy::default(), [0.0; 8]) };
        let off: [f64; 8] = std::array::from_fn(|i| q[i] - start.target[i]);
        let (mut g, mut potential) = ([0.0; 8], 0.0);
        for i in 0..8 {
            let pull: f64 = start.mass[i].iter().zip(&off).map(|(m, off)| m * off).sum();
            g[i] = pull - start.force[i];
            potential += 0.5 * pull * off[i] - start.force[i] * (q[i] - start.start[i]);
        }
        (StepEnergy::of_loss(potential, 0.0), g)
    }

    fn kinetic(&self, q: &[f64; 8], rates: &[f64; 8]) -> f64 {
        self.beyond_nodes(q, rates)
    }

    /// Never projected: with the masses of the nodes it is the inertia, which is positive.
    fn hessian(&self, _: &[f64; 8], start: Option<&InertiaStart>, _: Psd) -> [[f64; 8]; 8] {
        start.map_or([[0.0; 8]; 8], |start| start.mass)
    }
}
