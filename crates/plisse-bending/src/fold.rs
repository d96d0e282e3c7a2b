//! Mid-edge bending near a full fold and near a collapse.
//!
//! The mean of two normals has no direction where they are opposite: at a full fold the sine law
//! `b = 2h sin(θ/2)` jumps from `2h` to `-2h`, and with it its products with the bends of the other
//! edges and with the rest curvature. Its square does not. And where a triangle collapses, the
//! angle itself has no limit. So
//!
//! ```text
//! χ = w((1 + cos θ)/¼)             one up to 138°, zero at the full fold
//! c = W χ (b - b̄)                  W = w0 w1, the weights of both triangles (see plisse_eigen::HingeFade)
//! m = W² (1 - χ²)(b² + b̄²)
//! E = ½ Σ Q_jk c_j c_k + ½ Σ Q_jj m_j
//! ```
//!
//! which is `½ (b - b̄)ᵀ Q (b - b̄)` for `χ = W = 1`, never negative, and twice differentiable
//! everywhere. At the full fold, what is left is even in `b`: a fold keeps its energy and loses its
//! sign.
//!
//! **Bound.** With the largest height `H` of the face, `M = 2H + max b̄` and `|Q|` the largest
//! entry, `|χ'| ≤ 3`, and the bounds of the weights give `|∇c| ≤ 13 M/reach`, `|∇m| ≤ 26 M²/reach`,
//! hence `|∇E| ≤ 160 |Q| M²/reach` over all vertices.

use glam::DVec3;
use plisse_core::{Blocks, HingeFrame, Psd, outer};
use plisse_eigen::{HingeFade, HingeFilter, fade_weight, hinge_form, hinge_hessian};

/// Folds fade where `1 + cos θ` is below this.
const FOLD: f64 = 0.25;

/// A number that depends on the four vertices of a hinge, with both derivatives.
#[derive(Clone, Copy)]
pub(crate) struct Jet {
    pub(crate) value: f64,
    pub(crate) gradient: [DVec3; 4],
    pub(crate) hessian: Blocks<4>,
}

impl Jet {
    const ONE: Self = Self { value: 1.0, gradient: [DVec3::ZERO; 4], hessian: Blocks::ZERO };

    /// `f(self)` with the derivatives of `f`.
    fn map(&self, [f, f1, f2]: [f64; 3]) -> Self {
        let mut hessian = self.hessian * f1;
        hessian.add_outer(&self.gradient, f2);
        Self { value: f, gradient: self.gradient.map(|g| g * f1), hessian }
    }

    fn times(&self, other: &Self) -> Self {
        let (a, b) = (&self.gradient, &other.gradient);
        let mixed: Blocks<4> =
            Blocks(std::array::from_fn(|i| std::array::from_fn(|j| outer(a[i], b[j]) + outer(b[i], a[j]))));
        Self {
            value: self.value * other.value,
            gradient: std::array::from_fn(|i| a[i] * other.value + b[i] * self.value),
            hessian: self.hessian * other.value + other.hessian * self.value + mixed,
        }
    }

    fn square(&self) -> Self {
        self.times(self)
    }

    fn scaled(&self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            gradient: self.gradient.map(|g| g * factor),
            hessian: self.hessian * factor,
        }
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            value: self.value + other.value,
            gradient: std::array::from_fn(|i| self.gradient[i] + other.gradient[i]),
            hessian: self.hessian + other.hessian,
        }
    }
}

/// Whether the plain law holds, as far as can be told cheaply.
pub(crate) fn is_plain(frame: &HingeFrame, reach: f64) -> bool {
    1.0 + frame.sin_cos().1 >= FOLD && frame.is_higher_than(reach)
}

/// `χ` and its derivatives by the angle.
fn chi(frame: &HingeFrame) -> [f64; 3] {
    let (sin, cos) = frame.sin_cos();
    let [w, w1, w2] = fade_weight((1.0 + cos) / FOLD);
    [w, -w1 * sin / FOLD, (w2 * sin * sin / FOLD - w1 * cos) / FOLD]
}

/// `χ` where it is not one.
pub(crate) fn fold_blend(frame: &HingeFrame) -> Option<[f64; 3]> {
    (1.0 + frame.sin_cos().1 < FOLD).then(|| chi(frame))
}

/// `c` and `m` of an edge, with the face first among the two triangles.
pub(crate) fn folded(x: &[DVec3; 4], frame: &HingeFrame, reach: f64, rest: f64) -> [Jet; 2] {
    let weight = HingeFade::new(x, reach).map_or(Jet::ONE, |fade| Jet {
        value: fade.weight(),
        gradient: *fade.gradient(),
        hessian: *fade.hessian(),
    });
    let angle = Jet {
        value: frame.theta(),
        gradient: frame.gradient(),
        hessian: hinge_hessian(frame, 1.0, 0.0, HingeFilter::V2, Psd::Exact),
    };
    let height = height(frame);
    let (sin, cos) = frame.sin_cos();
    let (s2, c2) = (0.5 * frame.theta()).sin_cos();
    let chi = chi(frame);
    let bend = product(chi, [s2, 0.5 * c2, -0.25 * s2]);
    let square = product(chi, chi);
    let left = [1.0 - square[0], -square[1], -square[2]];
    let kept = product(left, [0.5 * (1.0 - cos), 0.5 * sin, 0.5 * cos]);

    let c = height.times(&angle.map(bend)).scaled(2.0).plus(&angle.map(chi).scaled(-rest));
    let m = height.square().times(&angle.map(kept)).scaled(4.0).plus(&angle.map(left).scaled(rest * rest));
    [weight.times(&c), weight.square().times(&m)]
}

/// The height of the face over the edge.
fn height(frame: &HingeFrame) -> Jet {
    let (h, foot, tau) = (frame.heights()[0], frame.feet()[0], frame.altitudes()[0]);
    let (s2, c2) = (0.5 * frame.theta()).sin_cos();
    let mut in_plane = [[0.0; 4]; 4];
    in_plane[1][1] = h;
    // -(s0 eᵀ + e s0ᵀ) - e eᵀ with e = sin(θ/2) dm + cos(θ/2) dk, over (dm, dk, s0, s1).
    let across = [
        [-h * s2 * s2, -h * s2 * c2, -h * s2, 0.0],
        [-h * s2 * c2, -h * c2 * c2, -h * c2, 0.0],
        [-h * s2, -h * c2, 0.0, 0.0],
        [0.0; 4],
    ];
    Jet {
        value: h,
        gradient: [tau * (foot - 1.0), tau * -foot, tau, DVec3::ZERO],
        hessian: hinge_form(frame, &in_plane, &across),
    }
}

/// Value and derivatives of a product of two functions of one number.
fn product(f: [f64; 3], g: [f64; 3]) -> [f64; 3] {
    [f[0] * g[0], f[1] * g[0] + f[0] * g[1], f[2] * g[0] + 2.0 * f[1] * g[1] + f[0] * g[2]]
}
