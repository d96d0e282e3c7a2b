//! Comparison relative to the size of what is compared.

/// The largest absolute value; NaN counts as infinite, so that no comparison overlooks it.
#[must_use]
pub fn max_abs(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, v| if v.is_nan() { f64::INFINITY } else { m.max(v.abs()) })
}

/// The largest absolute difference; NaN counts as infinite.
///
/// # Panics
/// If the lengths differ.
#[must_use]
#[track_caller]
pub fn max_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "cannot compare {} with {} values", a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m, (x, y)| {
        let d = (x - y).abs();
        if d.is_nan() { f64::INFINITY } else { m.max(d) }
    })
}

/// Requires `|found - expected| <= tolerance · max(|expected|, floor)` in the largest entry.
///
/// `floor` is the size below which `expected` counts as zero: the size of the terms that cancelled
/// in it.
///
/// # Panics
/// If the difference is larger, with both sides and the worst entry.
#[track_caller]
pub fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64, floor: f64) {
    let difference = max_difference(found, expected);
    let scale = max_abs(expected).max(floor);
    // Written so that NaN or an infinity on either side fails.
    let close = difference <= tolerance * scale && scale.is_finite();
    if !close {
        let worst = (0..found.len())
            .max_by(|i, j| (found[*i] - expected[*i]).abs().total_cmp(&(found[*j] - expected[*j]).abs()))
            .unwrap_or(0);
        panic!(
            "{what}: relative difference {:.3e} exceeds {tolerance:.1e} (scale {scale:.3e}); worst entry {worst}: \
             found {:e}, expected {:e}\n   found {found:?}\nexpected {expected:?}",
            difference / scale,
            found[worst],
            expected[worst],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "worst entry 1: found 2.1e0, expected 2e0")]
    fn reports_the_worst_entry() {
        assert_close("x", &[1.0, 2.1], &[1.0, 2.0], 1e-3, 0.0);
    }

    #[test]
    #[should_panic(expected = "relative difference inf")]
    fn nan_never_passes() {
        assert_close("x", &[f64::NAN], &[1.0], 1e3, 0.0);
    }

    #[test]
    #[should_panic(expected = "expected NaN")]
    fn nan_never_passes_as_the_expectation_either() {
        assert_close("x", &[1.0], &[f64::NAN], 1e3, 0.0);
    }

    #[test]
    fn floor_is_a_scale() {
        assert_close("x", &[1e-17], &[0.0], 1e-15, 1.0);
    }
}
