//! Deformation gradients worth trying: six numbers, the two columns one after the other.

use std::ops::RangeInclusive;

use proptest::prelude::*;

/// A rotation of space, as its three columns.
pub fn rotation() -> impl Strategy<Value = [[f64; 3]; 3]> {
    prop::array::uniform4(-1.0..1.0f64).prop_filter_map("a quaternion needs a length", |q| {
        let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length < 0.1 {
            return None;
        }
        let [w, x, y, z] = q.map(|c| c / length);
        Some([
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)],
            [2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)],
            [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)],
        ])
    })
}

/// `U diag(s0, s1) Vᵀ` with a rotation `U` of space and a rotation `V` of the material by `angle`.
fn compose(u: [[f64; 3]; 3], s: [f64; 2], angle: f64) -> [f64; 6] {
    let (sin, cos) = angle.sin_cos();
    let v = [[cos, sin], [-sin, cos]];
    std::array::from_fn(|k| {
        let (column, row) = (k / 3, k % 3);
        (0..2).map(|i| u[i][row] * s[i] * v[i][column]).sum()
    })
}

fn with_stretches(s: impl Strategy<Value = [f64; 2]>) -> impl Strategy<Value = [f64; 6]> {
    (rotation(), s, -3.2..3.2f64).prop_map(|(u, s, angle)| compose(u, s, angle))
}

/// Rotated, with strains up to 10 %, but at least 0.1 % so that derivatives are not zero.
pub fn near_rest() -> impl Strategy<Value = [f64; 6]> {
    let strain = || prop_oneof![-0.1..-1e-3, 1e-3..0.1f64].prop_map(|e| 1.0 + e);
    with_stretches([strain(), strain()])
}

/// Both stretches above one, up to threefold.
pub fn stretched() -> impl Strategy<Value = [f64; 6]> {
    with_stretches([1.01..3.0f64, 1.01..3.0f64])
}

/// At least one stretch well below one.
pub fn compressed() -> impl Strategy<Value = [f64; 6]> {
    with_stretches([0.15..0.95f64, 0.15..1.3f64])
}

/// Columns that are far from orthogonal.
pub fn sheared() -> impl Strategy<Value = [f64; 6]> {
    (rotation(), 0.4..1.6f64, 0.4..1.6f64, prop_oneof![-1.2..-0.3, 0.3..1.2f64]).prop_map(
        |(u, a, b, shear)| {
            std::array::from_fn(|k| {
                let row = k % 3;
                if k < 3 { a * u[0][row] } else { b * u[1][row] + shear * u[0][row] }
            })
        },
    )
}

/// Full rank, but with the smaller stretch down to 1e-12 of the larger one.
pub fn near_degenerate() -> impl Strategy<Value = [f64; 6]> {
    with_stretches((0.3..2.0f64, -12.0..-2.0f64).prop_map(|(s, e)| [s, s * 10f64.powf(e)]))
}

/// Equal stretches: the singular vectors are arbitrary.
pub fn conformal() -> impl Strategy<Value = [f64; 6]> {
    with_stretches((0.2..2.5f64).prop_map(|s| [s, s]))
}

/// Exactly rank one or zero, zero columns, equal and opposite columns, rest, and flat conformal
/// states.
pub fn degenerate() -> impl Strategy<Value = [f64; 6]> {
    let column = prop::array::uniform3(prop::sample::select(vec![0.0, 1.0, -1.0, 0.5, -0.7, 2.0]));
    (column, prop::sample::select(vec![0.0, 1.0, -1.0, 0.5, -3.0, 1e-9]), 0..8u8).prop_map(
        |(c, factor, kind)| match kind {
            0 => [0.0; 6],
            1 => [c[0], c[1], c[2], 0.0, 0.0, 0.0],
            2 => [0.0, 0.0, 0.0, c[0], c[1], c[2]],
            3 => [c[0], c[1], c[2], factor * c[0], factor * c[1], factor * c[2]],
            4 => [1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
            5 => [factor, 0.0, 0.0, 0.0, factor, 0.0],
            6 => [0.0, 0.7, 0.0, -0.7, 0.0, 0.0],
            // Orthogonal columns: no shear at all.
            _ => [c[0], 0.0, 0.0, 0.0, c[1], 0.0],
        },
    )
}

/// Any finite number of any size: scales from subnormal to the largest, mixed within one matrix.
pub fn extreme() -> impl Strategy<Value = [f64; 6]> {
    let entry = || {
        prop_oneof![
            4 => (-1.0..1.0f64, -330..308i32).prop_map(|(m, e)| m * 10f64.powi(e)),
            1 => prop::sample::select(vec![0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 1e154, -1e154, 1e-162, 1e100, 1e-100]),
        ]
    };
    let mixed = [entry(), entry(), entry(), entry(), entry(), entry()];
    let scaled = (prop_oneof![degenerate(), any_f()], -320..309i32)
        .prop_map(|(f, e)| f.map(|x| (x * 10f64.powi(e)).clamp(f64::MIN, f64::MAX)));
    prop_oneof![mixed, scaled]
}

/// A positive number, log-uniform over a range: every decade is as likely as the next. The ends are
/// tried as well.
pub fn magnitude(range: RangeInclusive<f64>) -> impl Strategy<Value = f64> + Clone {
    let (low, high) = range.into_inner();
    let between = (low.log10()..=high.log10()).prop_map(move |e| 10f64.powf(e).clamp(low, high));
    prop_oneof![8 => between, 1 => Just(low), 1 => Just(high)]
}

/// A finite number of any size and sign, log-uniform down to the smallest subnormal number; zeros
/// and both ends too.
pub fn any_finite() -> impl Strategy<Value = f64> + Clone {
    let special = vec![0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -5e-324, 1.0, -1.0];
    prop_oneof![
        8 => (-1.0..1.0f64, -323.0..308.0f64).prop_map(|(m, e)| m * 10f64.powf(e)),
        1 => prop::sample::select(special),
    ]
}

/// `V` finite points: a shape of unit size at any scale, at a distance from the origin or not, with
/// coordinates that coincide or not; or numbers of any size, each with a scale of its own.
pub fn any_points<const V: usize>() -> impl Strategy<Value = [[f64; 3]; V]> + Clone {
    fn points<const V: usize>(values: &[f64]) -> [[f64; 3]; V] {
        std::array::from_fn(|i| std::array::from_fn(|k| values[3 * i + k]))
    }
    let unit = || prop_oneof![-1.0..1.0f64, prop::sample::select(vec![0.0, 0.5, 1.0, -1.0, 1e-6, 1e-13])];
    let shape = || prop::collection::vec(unit(), 3 * V);
    let general = || prop::collection::vec(-1.0..1.0f64, 3 * V);
    let scaled = (prop_oneof![general(), shape()], -323.0..308.0f64);
    let usual = (prop_oneof![general(), shape()], -32.0..32.0f64);
    let moved = (general(), -40.0..40.0f64, prop::array::uniform3(any_finite()));
    prop_oneof![
        3 => scaled.prop_map(|(x, e)| points(&x.iter().map(|x| x * 10f64.powf(e)).collect::<Vec<_>>())),
        3 => usual.prop_map(|(x, e)| points(&x.iter().map(|x| x * 10f64.powf(e)).collect::<Vec<_>>())),
        1 => moved.prop_map(|(x, e, o)| points(
            &x.iter().enumerate().map(|(i, x)| (x * 10f64.powf(e) + o[i % 3]).clamp(f64::MIN, f64::MAX)).collect::<Vec<_>>()
        )),
        1 => prop::collection::vec(any_finite(), 3 * V).prop_map(|x| points(&x)),
    ]
}

/// A regular deformation gradient of any of the kinds above.
pub fn any_f() -> impl Strategy<Value = [f64; 6]> {
    prop_oneof![near_rest(), stretched(), compressed(), sheared(), conformal()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gram(f: &[f64; 6]) -> [f64; 3] {
        let dot = |i: usize, j: usize| (0..3).map(|k| f[3 * i + k] * f[3 * j + k]).sum::<f64>();
        [dot(0, 0), dot(0, 1), dot(1, 1)]
    }

    proptest! {
        #[test]
        fn stretches_are_what_the_names_say(a in stretched(), b in conformal(), c in compressed(), d in near_rest()) {
            // Eigenvalues of FᵀF are the squares of the stretches.
            let range = |f: &[f64; 6]| {
                let [x, y, z] = gram(f);
                let (m, r) = ((x + z) / 2.0, ((x - z) / 2.0).hypot(y));
                ((m - r).max(0.0).sqrt(), (m + r).sqrt())
            };
            prop_assert!(range(&a).0 > 1.0 && range(&a).1 < 3.01);
            prop_assert!((range(&b).1 - range(&b).0).abs() < 1e-7);
            prop_assert!(range(&c).0 < 0.96);
            prop_assert!(range(&d).0 > 0.89 && range(&d).1 < 1.11);
        }

        #[test]
        fn rotations_rotate(u in rotation()) {
            for i in 0..3 {
                for j in 0..3 {
                    let dot: f64 = (0..3).map(|k| u[i][k] * u[j][k]).sum();
                    prop_assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-14);
                }
            }
        }

        #[test]
        fn extreme_is_finite(f in extreme()) {
            prop_assert!(f.iter().all(|x| x.is_finite()));
        }
    }
}
