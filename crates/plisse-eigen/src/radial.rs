//! Energies of the length of one vector: two numbers are the whole spectrum.

use glam::{DMat3, DVec3};

/// `along · n nᵀ + across · (I - n nᵀ)` for a unit vector `n`, with both numbers up to 1e300.
///
/// The Hessian of `ψ(|y|)` by `y` has `n = y/|y|`, `along = ψ''` and `across = ψ'/|y|` (Kim20,
/// equations 23 to 26, for any law); its projection is the same with both numbers projected. For
/// `y = F a` with a unit `a` the Hessian by `vec(F)` is `a aᵀ ⊗` this, with the same eigenvalues
/// and three zeros.
#[inline(always)]
#[must_use]
pub fn radial_hessian(n: DVec3, along: f64, across: f64) -> DMat3 {
    let d = n * (along - across);
    let (yx, zx, zy) = (d.y * n.x, d.z * n.x, d.z * n.y);
    DMat3::from_cols(
        DVec3::new(d.x * n.x + across, yx, zx),
        DVec3::new(yx, d.y * n.y + across, zy),
        DVec3::new(zx, zy, d.z * n.z + across),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spectrum() {
        let n = DVec3::new(1.0, 2.0, -2.0) / 3.0;
        let h = radial_hessian(n, 5.0, -1.5);
        let t = n.any_orthonormal_vector();
        assert!((h * n - n * 5.0).length() < 1e-15);
        assert!((h * t + t * 1.5).length() < 1e-15);
    }
}
