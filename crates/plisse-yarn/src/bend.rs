//! The bending of a yarn at a node, and what it loses.
//!
//! With the angle `θ` between two consecutive segments and `L = u2 - u0` metres of material, the
//! strain is `θ/L` and the stored energy `k θ²/L` (SO18, section 4, after Cirio et al. 2014): a
//! modulus `K = 2 k` with weight `L`. Damping is the incremental potential of `½ β K L₀ |ε̇|²`; for
//! small angles, where `θ` has no direction, of the curvature vector of
//! [`RodJoint`](plisse_damping::RodJoint). The blend is that of the angle at the start of the step.

use glam::{DMat3, DVec3};
use plisse_core::{Id, Positive, Psd, StepEnergy, Vertices, length_and_direction, outer, project_numeric};
use plisse_damping::{JointViscosity, RodJoint, Strain};
use plisse_eigen::AngleFrame;

use crate::element::{ArcLength, YarnElement, put, vector};

/// Two segments with an angle between them.
#[derive(Clone, Copy, Debug)]
pub struct Bend {
    nodes: [Id<Vertices>; 3],
    arcs: [ArcLength; 2],
    stiffness: f64,
    damping: f64,
    blend: [f64; 2],
}

/// Strains at the start of a step, and the factors of their damping.
#[derive(Clone, Copy, Debug)]
pub struct BendStart {
    angle: f64,
    curvature: DVec3,
    /// `β K L₀ / dt`, shared out between angle and curvature vector.
    factors: [f64; 2],
}

/// Derivatives of a function of the two segments and of `L`.
struct Derivatives {
    energy: StepEnergy,
    by_edges: [DVec3; 2],
    by_length: f64,
}

impl Bend {
    /// The bending of a yarn at the second of three nodes; arc lengths are those of the first and
    /// the last one. Stiffness `k` in N m², damping time `β` in seconds, not negative.
    #[must_use]
    pub fn new(nodes: [Id<Vertices>; 3], arcs: [ArcLength; 2], stiffness: Positive, damping: f64) -> Self {
        let blend = [JointViscosity::STRAIGHT, JointViscosity::BENT];
        Self { nodes, arcs, stiffness: stiffness.get(), damping: damping.max(0.0), blend }
    }

    /// With another blend of the damping: that of the curvature vector alone below the angle
    /// `straight`, that of the angle alone from `bent` on, in radians. Zero twice is the angle
    /// always.
    #[must_use]
    pub fn with_blend(self, straight: f64, bent: f64) -> Self {
        Self { blend: [straight, bent], ..self }
    }

    /// How much of the damping is that of the angle; the rest is that of the curvature vector.
    fn share_of_angle(&self, theta: f64) -> f64 {
        let [straight, bent] = self.blend;
        // Written so that a blend without width is a switch.
        if theta >= bent {
            return 1.0;
        }
        let t = ((theta - straight) / (bent - straight)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    }

    fn derivatives(
        &self,
        angle: &AngleFrame,
        q: &[f64; 11],
        length: f64,
        start: Option<&BendStart>,
    ) -> Derivatives {
        let theta = angle.theta();
        let stored = self.stiffness * theta * theta / length;
        let mut energy = StepEnergy::of_storage(stored);
        let mut by_theta = 2.0 * self.stiffness * theta / length;
        let mut by_length = -stored / length;
        let mut by_edges = [DVec3::ZERO; 2];
        if let Some(start) = start {
            let change = theta / length - start.angle;
            let stress = start.factors[0] * change;
            energy.potential += 0.5 * stress * change;
            energy.dissipated += stress * change;
            by_theta += stress / length;
            by_length -= stress * theta / (length * length);
            if let Some((frame, kappa)) = joint(q, start) {
                let change = kappa / length - start.curvature;
                let stress = change * start.factors[1];
                energy.potential += 0.5 * stress.dot(change);
                energy.dissipated += stress.dot(change);
                by_edges = edges(&RodJoint.pull_back(&frame, &four(stress / length)));
                by_length -= stress.dot(kappa) / (length * length);
            }
        }
        let slopes = match straight(angle, q) {
            Some(slopes) => slopes.map(|slope| slope * (2.0 * self.stiffness / length)),
            None => angle.gradient().map(|slope| slope * by_theta),
        };
        for (sum, slope) in by_edges.iter_mut().zip(slopes) {
            *sum += slope;
        }
        Derivatives { energy, by_edges, by_length }
    }

    /// By the two segments and the length: seven numbers.
    fn second(
        &self,
        angle: &AngleFrame,
        q: &[f64; 11],
        length: f64,
        start: Option<&BendStart>,
    ) -> [[f64; 7]; 7] {
        let (theta, k) = (angle.theta(), self.stiffness);
        let (mut g, mut h) = (2.0 * k * theta / length, 2.0 * k / length);
        let mut mixed = -2.0 * k * theta / (length * length);
        let mut last = 2.0 * k * theta * theta / length.powi(3);
        let mut out = [[0.0; 7]; 7];
        if let Some(start) = start {
            let factor = start.factors[0];
            let stress = factor * (theta / length - start.angle);
            let square = length * length;
            g += stress / length;
            h += factor / square;
            mixed -= (stress + factor * theta / length) / square;
            last += (factor * theta / length + 2.0 * stress) * theta / (square * length);
            if let Some((frame, kappa)) = joint(q, start) {
                add_curvature(&frame, kappa, length, start, &mut out);
            }
        }
        let blocks = angle.hessian(g, h, Psd::Exact);
        for i in 0..6 {
            for j in 0..6 {
                out[i][j] += blocks.entry(i, j);
            }
        }
        let slopes = angle.gradient();
        for i in 0..6 {
            let value = slopes[i / 3][i % 3] * mixed;
            out[i][6] += value;
            out[6][i] += value;
        }
        out[6][6] += last;
        out
    }
}

/// The frame and the curvature vector of a joint whose vector is damped.
fn joint(q: &[f64; 11], start: &BendStart) -> Option<(<RodJoint as Strain<3, 4>>::Frame, DVec3)> {
    if start.factors[1] == 0.0 {
        return None;
    }
    let frame = RodJoint.frame(&points(q))?;
    let strain = RodJoint.strain(&frame);
    Some((frame, DVec3::new(strain[1], strain[2], strain[3])))
}

/// `½ c |κ/L - κ₀|²`.
fn add_curvature(
    frame: &<RodJoint as Strain<3, 4>>::Frame,
    kappa: DVec3,
    length: f64,
    start: &BendStart,
    out: &mut [[f64; 7]; 7],
) {
    let factor = start.factors[1];
    let stress = (kappa / length - start.curvature) * factor;
    let square = length * length;
    let slopes = RodJoint.gradient(frame).map(|slope| edges(&slope));
    let geometric = RodJoint.geometric(frame, &four(stress / length), Psd::Exact).0;
    let blocks = [[geometric[0][0], -geometric[0][2]], [-geometric[2][0], geometric[2][2]]];
    // The derivative of `c (κ/L - κ₀)/L` by L.
    let turned = -(kappa * (factor / length) + stress) / square;
    for i in 0..2 {
        let mut along = DVec3::ZERO;
        for k in 0..3 {
            along += slopes[k + 1][i] * turned[k];
        }
        for r in 0..3 {
            out[3 * i + r][6] += along[r];
            out[6][3 * i + r] += along[r];
        }
        for j in 0..2 {
            let squares = (1..4).map(|k| outer(slopes[k][i], slopes[k][j]));
            let block = squares.fold(DMat3::ZERO, |sum, one| sum + one) * (factor / square) + blocks[i][j];
            for r in 0..3 {
                for c in 0..3 {
                    out[3 * i + r][3 * j + c] += block.col(c)[r];
                }
            }
        }
    }
    out[6][6] += (kappa.length_squared() * factor / length + 2.0 * stress.dot(kappa)) / (square * length);
}

/// `∂(½ θ²)/∂e` by the two segments where they are so straight that the angle has lost its
/// direction: `θ/sin θ (t0 cos θ - t1)/l0` and the same the other way round, which is smooth there.
/// The derivative of the angle itself counts as zero below 1e-8 rad, and a force that jumps by so
/// little already keeps a solver from a residual of 1e-3 m/s² in stiff yarns.
fn straight(angle: &AngleFrame, q: &[f64; 11]) -> Option<[DVec3; 2]> {
    let [x0, x1, x2] = points(q);
    let ((l0, t0), (l1, t1)) = (length_and_direction(x1 - x0), length_and_direction(x2 - x1));
    let cos = t0.dot(t1);
    (angle.is_straight() && cos > 0.0).then(|| [(t0 * cos - t1) / l0, (t1 * cos - t0) / l1])
}

fn four(s: DVec3) -> [f64; 4] {
    [0.0, s.x, s.y, s.z]
}

/// Derivatives by the segments `x1 - x0` and `x2 - x1` from those by the nodes.
fn edges(nodes: &[DVec3; 3]) -> [DVec3; 2] {
    [-nodes[0], nodes[2]]
}

fn points(q: &[f64; 11]) -> [DVec3; 3] {
    [vector(q, 0), vector(q, 1), vector(q, 2)]
}

/// The angle and the material; none where there is none.
fn shape(q: &[f64; 11]) -> Option<(AngleFrame, f64)> {
    let [x0, x1, x2] = points(q);
    let length = q[10] - q[9];
    (length > 0.0).then_some(())?;
    Some((AngleFrame::new(x1 - x0, x2 - x1)?, length))
}

impl YarnElement<3, 2, 11> for Bend {
    type Start = BendStart;

    fn nodes(&self) -> [Id<Vertices>; 3] {
        self.nodes
    }

    fn arcs(&self) -> [ArcLength; 2] {
        self.arcs
    }

    fn start(&self, q: &[f64; 11], _: &[f64; 11], dt: f64) -> BendStart {
        let still = BendStart { angle: 0.0, curvature: DVec3::ZERO, factors: [0.0; 2] };
        let Some((angle, length)) = shape(q) else { return still };
        let factor = 2.0 * self.damping * self.stiffness * length / dt;
        let share = self.share_of_angle(angle.theta());
        let start = BendStart {
            angle: angle.theta() / length,
            factors: [factor * share, factor * (1.0 - share)],
            ..still
        };
        let curvature = joint(q, &start).map_or(DVec3::ZERO, |(_, kappa)| kappa / length);
        BendStart { curvature, ..start }
    }

    fn gradient(&self, q: &[f64; 11], start: Option<&BendStart>) -> (StepEnergy, [f64; 11]) {
        let mut g = [0.0; 11];
        let Some((angle, length)) = shape(q) else { return (StepEnergy::default(), g) };
        let Derivatives { energy, by_edges: [a, b], by_length } = self.derivatives(&angle, q, length, start);
        put(&mut g, 0, -a);
        put(&mut g, 1, a - b);
        put(&mut g, 2, b);
        (g[9], g[10]) = (-by_length, by_length);
        (energy, g)
    }

    /// Projected by the segments and the length, seven numbers, from which the eleven follow
    /// linearly.
    fn hessian(&self, q: &[f64; 11], start: Option<&BendStart>, psd: Psd) -> [[f64; 11]; 11] {
        let Some((angle, length)) = shape(q) else { return [[0.0; 11]; 11] };
        let exact = self.second(&angle, q, length, start);
        let h = if psd == Psd::Exact { exact } else { project_numeric(&exact, psd) };
        // Which of the seven an unknown moves, and by how much.
        let parts = |i: usize| -> [(usize, f64); 2] {
            match i {
                0..3 => [(i, -1.0), (i, 0.0)],
                3..6 => [(i - 3, 1.0), (i, -1.0)],
                6..9 => [(i - 3, 1.0), (i - 3, 0.0)],
                9 => [(6, -1.0), (6, 0.0)],
                _ => [(6, 1.0), (6, 0.0)],
            }
        };
        let mut out = [[0.0; 11]; 11];
        for i in 0..11 {
            for j in 0..11 {
                for (p, a) in parts(i) {
                    for (r, b) in parts(j) {
                        out[i][j] += a * b * h[p][r];
                    }
                }
            }
        }
        out
    }
}
