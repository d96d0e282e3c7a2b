//! The invariants that membrane energies are written in (Kim20, sections 3.2 and 3.3).
//!
//! With the singular values σ₀ ≥ σ₁ ≥ 0 of the 3×2 deformation gradient. Values beyond the range of
//! `f64` saturate at [`SATURATION`](plisse_core::SATURATION).

use plisse_core::{Mat3x2, UnitDir2, saturate};

/// `I1 = σ₀ + σ₁`, the trace of the stretch.
#[must_use]
pub fn i1(f: &Mat3x2) -> f64 {
    let scale = scale(f);
    let f = *f * (1.0 / scale);
    saturate((i2(&f) + 2.0 * i3(&f)).sqrt() * scale)
}

/// `I2 = ‖F‖² = σ₀² + σ₁²`.
#[must_use]
pub fn i2(f: &Mat3x2) -> f64 {
    saturate(f.norm_squared())
}

/// `I3 = σ₀ σ₁ = |f0 × f1|`, the ratio of areas. Never negative: a sheet in space has no inside.
#[must_use]
pub fn i3(f: &Mat3x2) -> f64 {
    let scale = scale(f);
    let cross = (f.c0 * (1.0 / scale)).cross(f.c1 * (1.0 / scale));
    saturate(saturate(cross.length() * scale) * scale)
}

/// `I5(a) = |F a|²`, the squared stretch of a fibre.
#[must_use]
pub fn i5(f: &Mat3x2, a: UnitDir2) -> f64 {
    i6(f, a, a)
}

/// `I6(a, b) = (F a) · (F b)`, the shear between two fibres.
#[inline]
#[must_use]
pub fn i6(f: &Mat3x2, a: UnitDir2, b: UnitDir2) -> f64 {
    let plain = (*f * a.get()).dot(*f * b.get());
    if plain.is_finite() { plain } else { i6_rescaled(f, a, b) }
}

#[cold]
#[inline(never)]
fn i6_rescaled(f: &Mat3x2, a: UnitDir2, b: UnitDir2) -> f64 {
    let scale = scale(f);
    let f = *f * (1.0 / scale);
    saturate(saturate((f * a.get()).dot(f * b.get()) * scale) * scale)
}

/// One, unless fourth powers of the entries (the squared cross product) would leave the range of
/// `f64`.
fn scale(f: &Mat3x2) -> f64 {
    let largest = f.max_abs();
    if (1e-70..1e70).contains(&largest) || largest == 0.0 { 1.0 } else { largest.clamp(1e-300, 1e300) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn relations_between_invariants(f in plisse_testkit::any_f(), angle in -3.0..3.0f64) {
            let f = Mat3x2::from_array(f);
            let (a, b) = (UnitDir2::from_angle(angle).unwrap(), UnitDir2::from_angle(angle).unwrap().perp());
            // Kim20, equation 16 corrected: it is the sum of the I5, not of their squares.
            prop_assert!((i5(&f, a) + i5(&f, b) - i2(&f)).abs() < 1e-14 * i2(&f));
            prop_assert!((i1(&f).powi(2) - i2(&f) - 2.0 * i3(&f)).abs() < 1e-14 * i2(&f));
            prop_assert!((i3(&f).powi(2) - i5(&f, a) * i5(&f, b) + i6(&f, a, b).powi(2)).abs() < 1e-13 * i2(&f).powi(2));
        }

        #[test]
        fn always_finite(f in plisse_testkit::extreme()) {
            let f = Mat3x2::from_array(f);
            let (a, b) = (UnitDir2::from_angle(0.3).unwrap(), UnitDir2::V);
            for value in [i1(&f), i2(&f), i3(&f), i5(&f, a), i6(&f, a, b)] {
                prop_assert!(value.is_finite(), "{value} for {f:?}");
            }
        }
    }

    #[test]
    fn scales_are_kept() {
        let f = Mat3x2::new(DVec3::new(3.0, 0.0, 0.0), DVec3::new(0.0, 4.0, 0.0));
        for e in [-100, 0, 100] {
            let s = 10f64.powi(e);
            assert!((i1(&(f * s)) / s - 7.0).abs() < 1e-14);
            assert!((i3(&(f * s)) / (s * s) - 12.0).abs() < 1e-13);
        }
    }
}
