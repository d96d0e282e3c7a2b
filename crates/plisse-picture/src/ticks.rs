//! Round numbers along an axis, and numbers as short text.

/// Multiples of 1, 2 or 5 times a power of ten within a range, about `wanted` of them.
pub(crate) fn ticks([low, high]: [f64; 2], wanted: usize) -> Vec<f64> {
    let raw = (high / wanted.max(1) as f64) - (low / wanted.max(1) as f64);
    if !(raw > 0.0 && raw.is_finite()) {
        return Vec::new();
    }
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|step| *step >= 0.999 * raw);
    let Some(step) = step.filter(|step| *step > 0.0 && step.is_finite()) else { return Vec::new() };
    let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
    // Where steps are finer than the numbers there is nothing to count.
    if !(last - first < 3.0 * wanted as f64 && first + 1.0 > first) {
        return Vec::new();
    }
    // Zero without a sign.
    (0..=(last - first) as usize).map(|i| (first + i as f64) * step + 0.0).collect()
}

/// A number with about three digits.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let exponent = value.abs().log10().floor();
    if (-3.0..5.0).contains(&exponent) {
        let text = format!("{value:.*}", (2.0 - exponent).max(0.0) as usize);
        return if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        };
    }
    let text = format!("{value:.2e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks([0.0, 1.0], 5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks([-3.0, 9.0], 5), [0.0, 5.0]);
        assert_eq!(ticks([-20.0, 20.0], 4), [-20.0, -10.0, 0.0, 10.0, 20.0]);
        for range in
            [[1.0, 1.0], [f64::NAN, 1.0], [1.0, 1.0 + 1e-16], [1e16, 1e16 + 2.0], [0.0, f64::INFINITY]]
        {
            assert!(ticks(range, 5).len() < 20);
        }
        assert!(ticks([f64::MIN, f64::MAX], 5).len() > 1);
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-0.25, "-0.25"),
            (1234.5, "1234"),
            (0.00123, "0.00123"),
            (1.5e-7, "1.5e-7"),
            (2e12, "2e12"),
            (0.6000000000000001, "0.6"),
            (100.0, "100"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
