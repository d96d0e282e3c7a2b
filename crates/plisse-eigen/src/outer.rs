//! Sums of two outer products plus a multiple of the identity: the 3×3 blocks of every closed form.

use glam::{DMat3, DVec3};

/// `a uᵀ + b vᵀ + d I`.
#[inline(always)]
pub(crate) fn outer_sum(a: DVec3, u: DVec3, b: DVec3, v: DVec3, d: f64) -> DMat3 {
    let mut m = DMat3::from_cols(a * u.x + b * v.x, a * u.y + b * v.y, a * u.z + b * v.z);
    m.x_axis.x += d;
    m.y_axis.y += d;
    m.z_axis.z += d;
    m
}

/// The same where the sum is known to be symmetric: only one triangle is computed.
#[inline(always)]
pub(crate) fn symmetric_outer(a: DVec3, u: DVec3, b: DVec3, v: DVec3, d: f64) -> DMat3 {
    let (xx, yx, zx) = (a.x * u.x + b.x * v.x + d, a.y * u.x + b.y * v.x, a.z * u.x + b.z * v.x);
    let (yy, zy, zz) = (a.y * u.y + b.y * v.y + d, a.z * u.y + b.z * v.y, a.z * u.z + b.z * v.z + d);
    DMat3::from_cols_array(&[xx, yx, zx, yx, yy, zy, zx, zy, zz])
}
