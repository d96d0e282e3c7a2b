//! The angle between the two yarns of a crossing.

use glam::DVec3;
use plisse_core::{Blocks, Element, Id, Positive, Psd, Vertices};
use plisse_eigen::AngleFrame;

/// A corner between a segment of a warp yarn and one of a weft yarn: `½ k (φ - φ₀)²` of the angle
/// `φ` between them.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    nodes: [Id<Vertices>; 3],
    rest: f64,
    stiffness: f64,
}

impl Corner {
    /// The corner at the first of three nodes; the others are its neighbours on the two yarns. The
    /// angle at rest in radians, stiffness in N m.
    #[must_use]
    pub fn new(nodes: [Id<Vertices>; 3], rest: f64, stiffness: Positive) -> Self {
        Self { nodes, rest, stiffness: stiffness.get() }
    }

    fn frame(x: &[DVec3; 3]) -> Option<AngleFrame> {
        AngleFrame::new(x[1] - x[0], x[2] - x[0])
    }
}

impl Element<3> for Corner {
    type Space = Vertices;

    fn nodes(&self) -> [Id<Vertices>; 3] {
        self.nodes
    }

    fn energy(&self, x: &[DVec3; 3]) -> f64 {
        let change = Self::frame(x).map_or(0.0, |frame| frame.theta() - self.rest);
        0.5 * self.stiffness * change * change
    }

    fn gradient(&self, x: &[DVec3; 3]) -> [DVec3; 3] {
        let Some(frame) = Self::frame(x) else { return [DVec3::ZERO; 3] };
        let moment = self.stiffness * (frame.theta() - self.rest);
        let [a, b] = frame.gradient().map(|slope| slope * moment);
        [-a - b, a, b]
    }

    fn hessian(&self, x: &[DVec3; 3], psd: Psd) -> Blocks<3> {
        let Some(frame) = Self::frame(x) else { return Blocks::ZERO };
        let [[aa, ab], [ba, bb]] =
            frame.hessian(self.stiffness * (frame.theta() - self.rest), self.stiffness, psd).0;
        let (a, b) = (aa + ba, ab + bb);
        Blocks([[a + b, -a, -b], [-a.transpose(), aa, ab], [-b.transpose(), ba, bb]])
    }
}
