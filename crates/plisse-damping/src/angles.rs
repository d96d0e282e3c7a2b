//! Angles as strains: hinges of shells, joints of rods.

use glam::{DMat3, DVec3};
use plisse_core::{
    Blocks, Hinge, HingeFrame, Psd, angle_change, length_and_direction, outer, project_numeric,
};
use plisse_eigen::{AngleFrame, HingeFade, HingeFilter, hinge_hessian};

use crate::strain::Strain;

/// The signed angle between two triangles that share an edge, in the order of [`Hinge`]. Not
/// defined for a hinge without length or height.
///
/// The angle [of a hinge of a rest shape](HingeAngle::of) fades where one of the triangles
/// collapses ([`HingeFade`]): what depends on it is multiplied by a weight that falls from one to
/// zero there, so that forces are bounded. The plain one (the default) never fades.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HingeAngle {
    reach: f64,
}

impl HingeAngle {
    /// The angle of a hinge, which fades below [`Hinge::reach`].
    #[must_use]
    pub fn of(hinge: &Hinge) -> Self {
        Self { reach: hinge.reach() }
    }
}

impl Strain<4, 1> for HingeAngle {
    type Frame = HingeFrame;

    #[inline(always)]
    fn frame(&self, x: &[DVec3; 4]) -> Option<HingeFrame> {
        HingeFrame::new(x)
    }

    #[inline(always)]
    fn strain(&self, frame: &HingeFrame) -> [f64; 1] {
        [frame.theta()]
    }

    #[inline(always)]
    fn strain_at(&self, x: &[DVec3; 4]) -> Option<[f64; 1]> {
        HingeFrame::angle(x).map(|theta| [theta])
    }

    #[inline(always)]
    fn gradient(&self, frame: &HingeFrame) -> [[DVec3; 4]; 1] {
        [frame.gradient()]
    }

    #[inline(always)]
    fn geometric(&self, frame: &HingeFrame, stress: &[f64; 1], psd: Psd) -> Blocks<4> {
        hinge_hessian(frame, stress[0], 0.0, HingeFilter::V2, psd)
    }

    /// The filter of hinges for both parts at once.
    #[inline(always)]
    fn stiffness(&self, frame: &HingeFrame, s: &[f64; 1], t: &[[f64; 1]; 1], psd: Psd) -> Blocks<4> {
        hinge_hessian(frame, s[0], t[0][0], HingeFilter::V2, psd)
    }

    #[inline(always)]
    fn may_fade(&self, x: &[DVec3; 4]) -> bool {
        HingeFrame::new(x).is_some_and(|frame| !frame.is_higher_than(self.reach))
    }

    #[inline(always)]
    fn weight(&self, x: &[DVec3; 4]) -> f64 {
        HingeFade::weight_at(x, self.reach)
    }

    fn faded(
        &self,
        x: &[DVec3; 4],
        frame: &HingeFrame,
        value: f64,
        stress: &[f64; 1],
        tangent: &[[f64; 1]; 1],
        psd: Psd,
    ) -> (f64, [DVec3; 4], Blocks<4>) {
        match HingeFade::new(x, self.reach) {
            None => (1.0, self.pull_back(frame, stress), self.stiffness(frame, stress, tangent, psd)),
            Some(fade) => (
                fade.weight(),
                fade.gradient_of(frame, value, stress[0]),
                fade.hessian_of(frame, value, stress[0], tangent[0][0], psd),
            ),
        }
    }

    /// A hinge that folds through has not turned by a full circle.
    #[inline(always)]
    fn difference(&self, a: &[f64; 1], b: &[f64; 1]) -> [f64; 1] {
        [angle_change(a[0], b[0])]
    }
}

/// The joint of two consecutive segments of a rod: its angle in `[0, π]`, and its curvature vector
/// `κ = 2 tan(θ/2) n` with the unit normal `n` of the plane it bends in (SO18, section 3.7).
///
/// The angle alone has no direction when straight, where the vector is smooth; the vector alone is
/// not the same in a turned frame. [`JointViscosity`](crate::JointViscosity) blends the two. The
/// angle has no sign: a joint that passes the straight state within a step of which only the angle
/// counts has changed by the difference of two sizes. SO18 has `tan θ` for the vector, which ends
/// at 90 degrees; this one agrees with it to second order and ends at the full fold. Not defined
/// for a segment without length and within 1e-8 of the full fold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RodJoint;

/// Nearness of a full fold, as `1 + cos θ`.
const FOLDED: f64 = 1e-16;

/// Angle and curvature vector of two segments.
#[derive(Clone, Copy, Debug)]
pub struct JointFrame {
    angle: AngleFrame,
    curvature: Curvature,
}

/// `κ = 2 (a × b)/d` with `d = |a||b| + a·b`, and the first two derivatives of `d`.
#[derive(Clone, Copy, Debug)]
struct Curvature {
    a: DVec3,
    b: DVec3,
    lengths: [f64; 2],
    units: [DVec3; 2],
    d: f64,
}

impl Curvature {
    #[inline(always)]
    fn new(a: DVec3, b: DVec3) -> Option<Self> {
        let ((la, ta), (lb, tb)) = (length_and_direction(a), length_and_direction(b));
        let d = la * lb * (1.0 + ta.dot(tb));
        (d > FOLDED * la * lb).then_some(Self { a, b, lengths: [la, lb], units: [ta, tb], d })
    }

    #[inline(always)]
    fn vector(&self) -> DVec3 {
        self.a.cross(self.b) * (2.0 / self.d)
    }

    /// Derivatives of `d` by the two segments.
    #[inline(always)]
    fn slopes(&self) -> [DVec3; 2] {
        [self.b + self.units[0] * self.lengths[1], self.a + self.units[1] * self.lengths[0]]
    }

    /// Derivatives of `s·κ` by the two segments.
    #[inline(always)]
    fn gradient(&self, s: DVec3) -> [DVec3; 2] {
        let f = 2.0 / self.d;
        let p = s.dot(self.a.cross(self.b));
        let [da, db] = self.slopes();
        // s·(a × b) = a·(b × s) = b·(s × a).
        let factor = p / self.d;
        [(self.b.cross(s) - da * factor) * f, (s.cross(self.a) - db * factor) * f]
    }

    /// Second derivatives of `s·κ = f p` with `f = 2/d`, `p = s·(a × b)`.
    #[inline(always)]
    fn hessian(&self, s: DVec3) -> Blocks<2> {
        let (f, p) = (2.0 / self.d, s.dot(self.a.cross(self.b)));
        let [la, lb] = self.lengths;
        let [ta, tb] = self.units;
        let d = self.slopes();
        let dp = [self.b.cross(s), s.cross(self.a)];
        // ∂²d/∂a∂b = I + â b̂ᵀ; along one segment |b| (I - â âᵀ)/|a|.
        let d2 = [
            [(DMat3::IDENTITY - outer(ta, ta)) * (lb / la), DMat3::IDENTITY + outer(ta, tb)],
            [DMat3::IDENTITY + outer(tb, ta), (DMat3::IDENTITY - outer(tb, tb)) * (la / lb)],
        ];
        // ∂²p/∂a∂b · u = ∂(b × s)/∂b u = u × s.
        let cross = DMat3::from_cols(DVec3::X.cross(s), DVec3::Y.cross(s), DVec3::Z.cross(s));
        let p2 = [[DMat3::ZERO, cross], [cross.transpose(), DMat3::ZERO]];
        let (f1, f2) = (-f / self.d, 2.0 * f / (self.d * self.d));
        Blocks(std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                p2[i][j] * f
                    + (outer(d[i], dp[j]) + outer(dp[i], d[j])) * f1
                    + (outer(d[i], d[j]) * f2 + d2[i][j] * f1) * p
            })
        }))
    }
}

/// From the segments `a = x1 - x0`, `b = x2 - x1` to the nodes.
#[inline(always)]
fn to_nodes([a, b]: [DVec3; 2]) -> [DVec3; 3] {
    [-a, a - b, b]
}

#[inline(always)]
fn to_node_blocks(h: &Blocks<2>) -> Blocks<3> {
    let [[aa, ab], [ba, bb]] = h.0;
    let (h01, h12) = (ab - aa, ab - bb);
    Blocks([[aa, h01, -ab], [h01.transpose(), aa - ab - ba + bb, h12], [-ba, h12.transpose(), bb]])
}

impl Strain<3, 4> for RodJoint {
    type Frame = JointFrame;

    #[inline(always)]
    fn frame(&self, x: &[DVec3; 3]) -> Option<JointFrame> {
        let (a, b) = (x[1] - x[0], x[2] - x[1]);
        Some(JointFrame { angle: AngleFrame::new(a, b)?, curvature: Curvature::new(a, b)? })
    }

    #[inline(always)]
    fn strain(&self, frame: &JointFrame) -> [f64; 4] {
        let k = frame.curvature.vector();
        [frame.angle.theta(), k.x, k.y, k.z]
    }

    #[inline(always)]
    fn gradient(&self, frame: &JointFrame) -> [[DVec3; 3]; 4] {
        let [kx, ky, kz] = [DVec3::X, DVec3::Y, DVec3::Z].map(|s| to_nodes(frame.curvature.gradient(s)));
        [to_nodes(frame.angle.gradient()), kx, ky, kz]
    }

    #[inline(always)]
    fn pull_back(&self, frame: &JointFrame, s: &[f64; 4]) -> [DVec3; 3] {
        let ([a0, b0], [a1, b1]) =
            (frame.angle.gradient(), frame.curvature.gradient(DVec3::new(s[1], s[2], s[3])));
        to_nodes([a0 * s[0] + a1, b0 * s[0] + b1])
    }

    #[inline(always)]
    fn geometric(&self, frame: &JointFrame, s: &[f64; 4], psd: Psd) -> Blocks<3> {
        let mut sum = Blocks::ZERO;
        if s[0] != 0.0 {
            sum += frame.angle.hessian(s[0], 0.0, psd);
        }
        let vector = DVec3::new(s[1], s[2], s[3]);
        if vector != DVec3::ZERO {
            let exact = frame.curvature.hessian(vector);
            sum += match psd {
                Psd::Exact => exact,
                _ => Blocks::from_matrix(&project_numeric(&exact.to_matrix::<6>(), psd)),
            };
        }
        to_node_blocks(&sum)
    }
}
