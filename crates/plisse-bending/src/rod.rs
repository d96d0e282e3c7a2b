//! Rods: bending of two consecutive segments, stretching of one.

use glam::DVec3;
use plisse_core::range::{FACTOR, limit};
use plisse_core::{
    Angle, Blocks, Element, ElementEvaluation, Id, Positive, Psd, Vertices, length_and_direction, saturate,
};
use plisse_eigen::{AngleFrame, Eigenpairs, radial_hessian};

use crate::law::{AngleEnergy, limited, nothing};

/// Bending rigidity `B = E π r⁴/4` of a round wire in N m²: Young's modulus in Pa, radius in m. May
/// under- or overflow for absurd wires.
#[must_use]
pub fn wire_rigidity(young: Positive, radius: Positive) -> f64 {
    0.25 * std::f64::consts::PI * young.get() * radius.get().powi(4)
}

/// Three vertices `x0, x1, x2` with an energy `stiffness · ψ(θ; θr)` of the angle between the
/// segments.
///
/// ```text
///   x0 ──── x1
///       e0    ╲ e1      θ = angle between e0 = x1 - x0 and e1 = x2 - x1, in [0, π]; zero when straight
///              ╲
///               x2
/// ```
///
/// The angle has no sign, so rest angles are not negative and the rest curvature has no direction.
/// Projection is the exact clamp in the space of the two edges, pulled back. Straight (`θ < 1e-8`)
/// with a straight rest state everything is smooth and exact; straight with a bent rest state, or
/// folded onto itself, the energy has a cone: the force is zero there and the positive part of
/// `ψ''` acts in all directions across, which majorises the energy of every law that restores an
/// angle between 0 and π. A rod with a segment of no length (below 1e-12 of the other) has zero
/// energy and derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodElement<L> {
    nodes: [Id<Vertices>; 3],
    stiffness: f64,
    rest: f64,
    law: L,
}

impl<L: AngleEnergy> RodElement<L> {
    /// Stiffness in N m; of the rest angle the absolute value counts.
    ///
    /// For a rod of bending rigidity `B` the stiffness is `B` over half the sum of the two rest
    /// lengths.
    #[must_use]
    pub fn new(nodes: [Id<Vertices>; 3], law: L, stiffness: Positive, rest: Angle) -> Self {
        Self { nodes, stiffness: stiffness.get(), rest: rest.get().abs(), law }
    }

    /// The law.
    #[must_use]
    pub fn law(&self) -> &L {
        &self.law
    }

    /// The rest angle in radians.
    #[must_use]
    pub fn rest_angle(&self) -> f64 {
        self.rest
    }

    /// The stiffness in N m.
    #[must_use]
    pub fn stiffness(&self) -> f64 {
        self.stiffness
    }

    #[inline]
    fn frame(x: &[DVec3; 3]) -> Option<AngleFrame> {
        AngleFrame::new(x[1] - x[0], x[2] - x[1])
    }

    #[inline]
    fn scale(&self, value: f64) -> f64 {
        limited(value, self.stiffness)
    }

    #[inline]
    fn gradient_at(&self, frame: &AngleFrame) -> [DVec3; 3] {
        let g = self.scale(self.law.g(frame.theta(), self.rest));
        let [a, b] = frame.gradient().map(|v| v * g);
        [-a, a - b, b]
    }

    /// The Hessian by the two edges.
    #[inline]
    fn edge_hessian(&self, frame: &AngleFrame, psd: Psd) -> Blocks<2> {
        let theta = frame.theta();
        let (g, h) = (self.scale(self.law.g(theta, self.rest)), self.scale(self.law.h(theta, self.rest)));
        frame.hessian(g, h, psd)
    }

    /// The six eigenpairs in the space of the two edges, numerically: four in the plane of the
    /// angle, two across it.
    #[must_use]
    pub fn eigensystem(&self, x: &[DVec3; 3]) -> Eigenpairs<2, 6> {
        let hessian = Self::frame(x).map_or(Blocks::ZERO, |frame| self.edge_hessian(&frame, Psd::Exact));
        Eigenpairs::numeric(&hessian)
    }
}

/// From the edges `x1 - x0`, `x2 - x1` to the three corners.
#[inline]
fn pull_back(h: &Blocks<2>) -> Blocks<3> {
    let [[aa, ab], [ba, bb]] = h.0;
    let (h01, h12) = (ab - aa, ab - bb);
    let h11 = aa - ab - ba + bb;
    Blocks([[aa, h01, -ab], [h01.transpose(), h11, h12], [-ba, h12.transpose(), bb]])
}

impl<L: AngleEnergy> Element<3> for RodElement<L> {
    type Space = Vertices;

    fn nodes(&self) -> [Id<Vertices>; 3] {
        self.nodes
    }

    #[inline]
    fn energy(&self, x: &[DVec3; 3]) -> f64 {
        Self::frame(x).map_or_else(|| nothing(x), |frame| self.scale(self.law.psi(frame.theta(), self.rest)))
    }

    #[inline]
    fn gradient(&self, x: &[DVec3; 3]) -> [DVec3; 3] {
        Self::frame(x).map_or_else(|| [DVec3::splat(nothing(x)); 3], |frame| self.gradient_at(&frame))
    }

    #[inline]
    fn energy_and_gradient(&self, x: &[DVec3; 3]) -> (f64, [DVec3; 3]) {
        let Some(frame) = Self::frame(x) else { return (nothing(x), [DVec3::splat(nothing(x)); 3]) };
        (self.scale(self.law.psi(frame.theta(), self.rest)), self.gradient_at(&frame))
    }

    #[inline]
    fn hessian(&self, x: &[DVec3; 3], psd: Psd) -> Blocks<3> {
        Self::frame(x).map_or_else(
            || Blocks::identity() * nothing(x),
            |frame| pull_back(&self.edge_hessian(&frame, psd)),
        )
    }

    #[inline]
    fn evaluate(&self, x: &[DVec3; 3], psd: Psd) -> ElementEvaluation<3> {
        let Some(frame) = Self::frame(x) else {
            let nothing = nothing(x);
            return ElementEvaluation {
                energy: nothing,
                gradient: [DVec3::splat(nothing); 3],
                hessian: Blocks::identity() * nothing,
            };
        };
        ElementEvaluation {
            energy: self.scale(self.law.psi(frame.theta(), self.rest)),
            gradient: self.gradient_at(&frame),
            hessian: pull_back(&self.edge_hessian(&frame, psd)),
        }
    }
}

/// Stretching of one segment, `k l/2 (|e|/l - 1)²` (discrete viscous threads' stretch), with
/// `k = E π r²` in N.
///
/// The projection is exact. A collapsed segment has no direction: no force, and the stiffness `k/l`
/// in all directions, which majorises the energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodStretch {
    nodes: [Id<Vertices>; 2],
    length: f64,
    stiffness: f64,
}

impl RodStretch {
    /// A segment between two vertices: rest length in m, stiffness `k` in N.
    #[must_use]
    pub fn new(nodes: [Id<Vertices>; 2], rest_length: Positive, stiffness: Positive) -> Self {
        Self { nodes, length: rest_length.get(), stiffness: stiffness.get() }
    }

    /// The stiffness `k` in N.
    #[must_use]
    pub fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// The rest length in m.
    #[must_use]
    pub fn rest_length(&self) -> f64 {
        self.length
    }

    /// Length and direction; ends further apart than 1e300 m count as that far.
    #[inline]
    fn segment(x: &[DVec3; 2]) -> (f64, DVec3) {
        length_and_direction(DVec3::from_array((x[1] - x[0]).to_array().map(saturate)))
    }

    /// Tension `ψ'` in N at a length.
    #[inline]
    fn tension(&self, s: f64) -> f64 {
        limited(s / self.length - 1.0, self.stiffness)
    }
}

impl Element<2> for RodStretch {
    type Space = Vertices;

    fn nodes(&self) -> [Id<Vertices>; 2] {
        self.nodes
    }

    #[inline]
    fn energy(&self, x: &[DVec3; 2]) -> f64 {
        let s = Self::segment(x).0;
        saturate(0.5 * self.tension(s) * (s - self.length))
    }

    #[inline]
    fn gradient(&self, x: &[DVec3; 2]) -> [DVec3; 2] {
        let (s, n) = Self::segment(x);
        let force = n * self.tension(s);
        [-force, force]
    }

    #[inline]
    fn hessian(&self, x: &[DVec3; 2], psd: Psd) -> Blocks<2> {
        let (s, n) = Self::segment(x);
        let along = limit(self.stiffness / self.length, FACTOR);
        let across = if s == 0.0 { along } else { limit(self.tension(s) / s, FACTOR) };
        let block = radial_hessian(n, psd.apply(along), psd.apply(across));
        Blocks([[block, -block], [-block, block]])
    }
}
