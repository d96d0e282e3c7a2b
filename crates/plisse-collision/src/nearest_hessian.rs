//! The nearest positive semidefinite matrix to the Hessian of a contact energy.
//!
//! The Hessian acts on the space of `c⊗n`, `wₘ⊗n` and `c⊗eₘ` only: at most five dimensions. In an
//! orthonormal basis of it, the clamp of a 5×5 matrix is that of the whole.

use glam::DMat3;
use plisse_core::{Blocks, Psd, outer, project_numeric};

use crate::frame::ContactFrame;

pub(crate) fn nearest_hessian<const V: usize>(
    frame: &ContactFrame<V>,
    slope: f64,
    curvature: f64,
) -> Blocks<V> {
    let (q, r) = orthonormal(&[frame.weights, frame.slides[0], frame.slides[1]]);
    let length = r[0][0];
    // Rows 0 to 2 are q⊗n, rows 3 and 4 q₀⊗eₘ.
    let mut reduced = [[0.0; 5]; 5];
    reduced[0][0] = curvature * length * length;
    for m in 0..2 {
        let row = 3 + m;
        if m >= frame.free {
            reduced[row][row] = slope / frame.distance * length * length;
            continue;
        }
        for i in 0..3 {
            for j in 0..3 {
                reduced[i][j] -= slope * frame.distance * r[i][1 + m] * r[j][1 + m];
            }
            reduced[row][i] = -slope * length * r[i][1 + m];
            reduced[i][row] = reduced[row][i];
        }
    }
    let p = project_numeric(&reduced, Psd::Clamp);

    let (n, e) = (frame.normal, frame.tangents);
    let mut out = Blocks::ZERO;
    for i in 0..V {
        for j in 0..=i {
            let of_i: [f64; 3] = std::array::from_fn(|k| q[k][i]);
            let of_j: [f64; 3] = std::array::from_fn(|k| q[k][j]);
            let mut normal = 0.0;
            let mut block = DMat3::ZERO;
            for k in 0..3 {
                for l in 0..3 {
                    normal += p[k][l] * of_i[k] * of_j[l];
                }
                for m in 0..2 {
                    block += outer(n, e[m]) * (p[k][3 + m] * of_i[k] * of_j[0]);
                    block += outer(e[m], n) * (p[3 + m][k] * of_i[0] * of_j[k]);
                }
            }
            for m in 0..2 {
                for l in 0..2 {
                    block += outer(e[m], e[l]) * (p[3 + m][3 + l] * of_i[0] * of_j[0]);
                }
            }
            out.0[i][j] = block + outer(n, n) * normal;
        }
    }
    out.mirrored()
}

/// Gram and Schmidt, twice, so that nearly dependent rows come out orthogonal: rows `q` and `r`
/// with `rows[k] = Σ r[j][k] q[j]`. A row that depends on those before it has a zero `q`.
fn orthonormal<const V: usize>(rows: &[[f64; V]; 3]) -> ([[f64; V]; 3], [[f64; 3]; 3]) {
    let dot = |a: &[f64; V], b: &[f64; V]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut q, mut r) = ([[0.0; V]; 3], [[0.0; 3]; 3]);
    for k in 0..3 {
        let mut rest = rows[k];
        let before = dot(&rest, &rest).sqrt();
        for _ in 0..2 {
            for j in 0..k {
                let along = dot(&rest, &q[j]);
                r[j][k] += along;
                for i in 0..V {
                    rest[i] -= along * q[j][i];
                }
            }
        }
        let length = dot(&rest, &rest).sqrt();
        // What is left of a dependent row is rounding, some ε of it.
        if length > 16.0 * f64::EPSILON * before {
            r[k][k] = length;
            q[k] = rest.map(|x| x / length);
        }
    }
    (q, r)
}
