//! Strains: what measures deformation, whatever it is made of.

use glam::DVec3;
use plisse_core::{Blocks, Psd, outer};

/// `K` numbers that measure the deformation of `V` nodes, with two derivatives (SO18, section 3.1).
///
/// A rigid motion must not change them; whatever is built on them then acts on changes of shape
/// only. ([`RodJoint`](crate::RodJoint) has components that a turn does change, for want of better
/// ones.) Evaluation never fails: where a strain is not defined, it says so. Strain and derivatives
/// are functions of a frame, so that what they share is computed once.
pub trait Strain<const V: usize, const K: usize>: Send + Sync {
    /// What strain and derivatives are computed from.
    type Frame;

    /// The frame at positions in metres, or none where the strain is not defined (a hinge without
    /// height, a segment without length).
    fn frame(&self, x: &[DVec3; V]) -> Option<Self::Frame>;

    /// The strain.
    fn strain(&self, frame: &Self::Frame) -> [f64; K];

    /// The strain at positions, where nothing else is needed: that of the start of a step.
    #[inline]
    fn strain_at(&self, x: &[DVec3; V]) -> Option<[f64; K]> {
        self.frame(x).map(|frame| self.strain(&frame))
    }

    /// Derivatives `∂ε_k/∂x` of each component; the strain rate is their product with the
    /// velocities.
    fn gradient(&self, frame: &Self::Frame) -> [[DVec3; V]; K];

    /// `Σ_k s_k ∂²ε_k/∂x²` for a stress `s`; for the policies other than exact, a positive
    /// semidefinite matrix that is not below it.
    fn geometric(&self, frame: &Self::Frame, stress: &[f64; K], psd: Psd) -> Blocks<V>;

    /// Whether the strain may be near a state where it has no limit, so that [`Strain::faded`] must
    /// be asked.
    #[inline(always)]
    fn may_fade(&self, _: &[DVec3; V]) -> bool {
        false
    }

    /// The weight of what depends on the strain: one, or less where the strain fades, zero where it
    /// is not defined.
    #[inline(always)]
    fn weight(&self, _: &[DVec3; V]) -> f64 {
        1.0
    }

    /// The weight `w`, and both derivatives of `w Ψ(ε)`, given `Ψ` and its derivatives `stress` and
    /// `tangent`.
    fn faded(
        &self,
        _: &[DVec3; V],
        frame: &Self::Frame,
        _: f64,
        stress: &[f64; K],
        tangent: &[[f64; K]; K],
        psd: Psd,
    ) -> (f64, [DVec3; V], Blocks<V>) {
        (1.0, self.pull_back(frame, stress), self.stiffness(frame, stress, tangent, psd))
    }

    /// The change from `b` to `a`. Angles take the shorter way.
    #[inline(always)]
    fn difference(&self, a: &[f64; K], b: &[f64; K]) -> [f64; K] {
        std::array::from_fn(|k| a[k] - b[k])
    }

    /// `Σ_k s_k ∂ε_k/∂x`.
    #[inline(always)]
    fn pull_back(&self, frame: &Self::Frame, stress: &[f64; K]) -> [DVec3; V] {
        let gradient = self.gradient(frame);
        std::array::from_fn(|i| {
            let mut sum = DVec3::ZERO;
            for k in 0..K {
                sum += gradient[k][i] * stress[k];
            }
            sum
        })
    }

    /// `Σ_kl t_kl ∂ε_k/∂x ∂ε_l/∂xᵀ` plus [`Strain::geometric`]: positive semidefinite if the
    /// symmetric tangent `t` is, for the policies other than exact.
    #[inline(always)]
    fn stiffness(
        &self,
        frame: &Self::Frame,
        stress: &[f64; K],
        tangent: &[[f64; K]; K],
        psd: Psd,
    ) -> Blocks<V> {
        self.geometric(frame, stress, psd) + product(&self.gradient(frame), tangent)
    }
}

/// `Σ_kl t_kl g_k g_lᵀ` for a symmetric `t`: symmetric to the last bit.
#[inline(always)]
pub(crate) fn product<const N: usize, const K: usize>(g: &[[DVec3; N]; K], t: &[[f64; K]; K]) -> Blocks<N> {
    let mut sum = Blocks::ZERO;
    // h_k = Σ_l t_kl g_l, then Σ_k g_k h_kᵀ.
    for k in 0..K {
        let mut h = [DVec3::ZERO; N];
        for l in 0..K {
            for i in 0..N {
                h[i] += g[l][i] * t[k][l];
            }
        }
        for i in 0..N {
            for j in 0..=i {
                sum.0[i][j] += outer(g[k][i], h[j]);
            }
        }
    }
    sum.mirrored()
}
