//! The angle stencil in the plane: the teaching case of WK23, with its signs corrected.

use glam::DVec2;
use plisse_core::range::LENGTH;
use plisse_core::{Psd, hypot};
use plisse_eigen::in_plane;

/// Two edges in the plane and the signed angle from the first to the second.
///
/// `θ = atan2(e0 × e1, e0·e1)` in (-π, π]; with the clockwise quarter turn `C`, `∂θ/∂e0 = C t0/l0`
/// and `∂θ/∂e1 = -C t1/l1`. WK23 multiplies both by the sign of the cross product, which the signed
/// angle already carries: as printed, the gradient points the wrong way for every clockwise angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarAngle {
    theta: f64,
    lengths: [f64; 2],
    tangents: [DVec2; 2],
}

impl PlanarAngle {
    /// The angle between two edges, or `None` if one of them is zero or outside of
    /// [`range::LENGTH`](plisse_core::range::LENGTH).
    #[must_use]
    pub fn new(e0: DVec2, e1: DVec2) -> Option<Self> {
        let lengths = [hypot(e0.x, e0.y), hypot(e1.x, e1.y)];
        if !lengths.iter().all(|l| LENGTH.contains(l)) {
            return None;
        }
        let tangents = [e0 / lengths[0], e1 / lengths[1]];
        let theta = (tangents[0].perp_dot(tangents[1]) + 0.0).atan2(tangents[0].dot(tangents[1]));
        Some(Self { theta, lengths, tangents })
    }

    /// The signed angle, counter-clockwise positive.
    #[must_use]
    pub fn theta(&self) -> f64 {
        self.theta
    }

    /// Clockwise quarter turns of the tangents.
    fn normals(&self) -> [DVec2; 2] {
        self.tangents.map(|t| DVec2::new(t.y, -t.x))
    }

    /// Derivative of the angle by the two edges, in 1/m.
    #[must_use]
    pub fn gradient(&self) -> [DVec2; 2] {
        let [p0, p1] = self.normals();
        [p0 / self.lengths[0], -p1 / self.lengths[1]]
    }

    /// Hessian of `ψ(θ)` by `(e0, e1)` for `g = ψ'`, `h = ψ''`, rows first, exact or projected in
    /// closed form.
    #[must_use]
    pub fn hessian(&self, g: f64, h: f64, psd: Psd) -> [[f64; 4]; 4] {
        let [l0, l1] = self.lengths;
        let k = in_plane(1.0 / (l0 * l0), 1.0 / (l1 * l1), g, h, psd);
        let ([t0, t1], [p0, p1]) = (self.tangents, self.normals());
        // Rows of the basis (t0, p0, t1, p1) in the coordinates (e0, e1).
        let basis =
            [[t0.x, t0.y, 0.0, 0.0], [p0.x, p0.y, 0.0, 0.0], [0.0, 0.0, t1.x, t1.y], [0.0, 0.0, p1.x, p1.y]];
        std::array::from_fn(|r| {
            std::array::from_fn(|c| {
                (0..4)
                    .flat_map(|i| (0..4).map(move |j| (i, j)))
                    .map(|(i, j)| basis[i][r] * k[i][j] * basis[j][c])
                    .sum()
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_core::project_numeric;
    use plisse_testkit::{assert_close, check_gradient, check_jacobian, max_abs};
    use proptest::prelude::*;

    fn angle(x: &[f64; 4]) -> PlanarAngle {
        PlanarAngle::new(DVec2::new(x[0], x[1]), DVec2::new(x[2], x[3])).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn derivatives_for_both_senses(x in prop::array::uniform4(-1.0..1.0f64), rest in -1.0..1.0f64) {
            let [l0, l1] = [x[0].hypot(x[1]), x[2].hypot(x[3])];
            prop_assume!(l0 > 0.2 && l1 > 0.2 && angle(&x).theta().abs() < 2.9 && (angle(&x).theta() - rest).abs() > 1e-2);
            // ψ = (θ - rest)²/2.
            let energy = |x: &[f64; 4]| 0.5 * (angle(x).theta() - rest).powi(2);
            let gradient = |x: &[f64; 4]| {
                let a = angle(x);
                let [g0, g1] = a.gradient().map(|v| v * (a.theta() - rest));
                [g0.x, g0.y, g1.x, g1.y]
            };
            let hessian = |x: &[f64; 4], psd| angle(x).hessian(angle(x).theta() - rest, 1.0, psd);
            check_gradient(energy, gradient, &x, 1e-7);
            check_jacobian(gradient, |x| hessian(x, Psd::Exact), &x, 1e-6);
            let exact = hessian(&x, Psd::Exact);
            for psd in Psd::ALL {
                let oracle = project_numeric(&exact, psd);
                assert_close("planar", hessian(&x, psd).as_flattened(), oracle.as_flattened(), 1e-13, max_abs(exact.as_flattened()));
            }
        }
    }
}
