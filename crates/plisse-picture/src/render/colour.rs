//! Colours on screen and in linear light, and colour maps for numbers.

use std::sync::LazyLock;

use glam::DVec3;

/// Red, green and blue as on a screen (sRGB), 0 to 255.
pub type Rgb = [u8; 3];

/// Colour of values that are no numbers.
pub const NO_VALUE: Rgb = [150, 150, 150];

/// How numbers become colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourMap {
    /// From dark violet over teal to yellow: equal steps of the value look equally large.
    #[default]
    Sequential,
    /// From blue over white to red: for values on both sides of the middle of the range.
    Diverging,
    /// Around a circle of hues, all equally light: both ends of the range are the same, as for
    /// angles. Between the corners of a triangle the short way around is taken.
    Cyclic,
}

/// Colours at equal distances, lightness rising evenly from the first to the last.
const SEQUENTIAL: [Rgb; 9] = [
    [70, 8, 86],
    [71, 45, 124],
    [60, 78, 138],
    [46, 108, 142],
    [34, 137, 140],
    [40, 166, 130],
    [92, 193, 100],
    [166, 215, 52],
    [250, 230, 40],
];

/// Colours at equal distances, lightness symmetric about the middle.
const DIVERGING: [Rgb; 9] = [
    [40, 66, 140],
    [62, 112, 178],
    [116, 160, 206],
    [180, 204, 226],
    [242, 240, 237],
    [238, 196, 172],
    [222, 140, 110],
    [190, 80, 70],
    [134, 24, 44],
];

/// Colours at equal distances around a circle, the first again at the end.
const CYCLIC: [Rgb; 9] = [
    [201, 112, 120],
    [184, 127, 72],
    [144, 144, 68],
    [92, 158, 98],
    [46, 162, 150],
    [72, 152, 190],
    [132, 136, 200],
    [180, 118, 176],
    [201, 112, 120],
];

impl ColourMap {
    /// Colour at `t`, from 0 at the lower end to 1 at the upper end of the range; outside clamped
    /// or, around a circle, repeated; grey for NaN.
    #[must_use]
    pub fn colour(self, t: f64) -> Rgb {
        let table = match self {
            Self::Sequential => &SEQUENTIAL,
            Self::Diverging => &DIVERGING,
            Self::Cyclic => &CYCLIC,
        };
        if t.is_nan() {
            return NO_VALUE;
        }
        let t = if self == Self::Cyclic && !(0.0..=1.0).contains(&t) { t - t.floor() } else { t };
        // What is infinite is nowhere on a circle.
        if t.is_nan() {
            return NO_VALUE;
        }
        let t = t.clamp(0.0, 1.0) * (table.len() - 1) as f64;
        let cell = (t as usize).min(table.len() - 2);
        // Mixed as on screen: the tables are even in what the eye sees, not in linear light.
        let [a, b] = [table[cell], table[cell + 1]].map(|c| DVec3::from(c.map(f64::from)));
        a.lerp(b, t - cell as f64).to_array().map(|c| c.round() as u8)
    }
}

/// Place of a value in a range: 0 at its lower, 1 at its upper end. NaN where range or value are no
/// numbers.
pub(super) fn place(value: f64, range: [f64; 2]) -> f64 {
    // Halved, because the width of the widest range exceeds `f64`.
    let t = (0.5 * value - 0.5 * range[0]) / (0.5 * range[1] - 0.5 * range[0]);
    if value.is_finite() || value.is_nan() { t } else { t.signum() * f64::MAX }
}

/// Smallest and largest finite value, in the unit of the values.
///
/// One value alone is put into the middle of a range of some width; without any the range is 0
/// to 1.
///
/// ```
/// assert_eq!(plisse_picture::value_range([2.0, f64::NAN, -1.0]), [-1.0, 2.0]);
/// assert_eq!(plisse_picture::value_range([0.0, 0.0]), [-0.5, 0.5]);
/// ```
#[must_use]
pub fn value_range(values: impl IntoIterator<Item = f64>) -> [f64; 2] {
    let none = [f64::INFINITY, f64::NEG_INFINITY];
    let [low, high] = values
        .into_iter()
        .filter(|value| value.is_finite())
        .fold(none, |[low, high], value| [low.min(value), high.max(value)]);
    if low > high {
        return [0.0, 1.0];
    }
    // Narrower than rounding shows: no colours or ticks could be told apart.
    let least = 1e-9 * low.abs().max(high.abs());
    if high - low > least {
        return [low, high];
    }
    let half = if low == 0.0 { 0.5 } else { 0.1 * low.abs().max(high.abs()) };
    [(low - half).max(f64::MIN), (high + half).min(f64::MAX)]
}

/// Linear light of a part of a colour, 0 to 255 (sRGB).
fn linear_part(c: f64) -> f64 {
    let c = c / 255.0;
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// Linear light of a colour on screen.
pub(super) fn linear(colour: Rgb) -> DVec3 {
    static LIGHT: LazyLock<[f64; 256]> = LazyLock::new(|| std::array::from_fn(|c| linear_part(c as f64)));
    DVec3::from(colour.map(|c| LIGHT[usize::from(c)]))
}

/// Cells of the range of linear light, each narrower than the light between two colours.
const CELLS: usize = 4096;

/// Powers cost more than all else of a pixel of the background: each colour has its light, and
/// each cell of light the colour in which it begins.
struct Screen {
    /// Light above which the next colour is shown.
    ends: [f64; 255],
    cells: [u8; CELLS],
}

impl Screen {
    fn new() -> Self {
        let ends: [f64; 255] = std::array::from_fn(|c| linear_part(c as f64 + 0.5));
        let colour = |light: f64| ends.partition_point(|end| *end <= light) as u8;
        Self { ends, cells: std::array::from_fn(|cell| colour(cell as f64 / CELLS as f64)) }
    }
}

/// Colour on screen of linear light; black where it is not a number.
pub(super) fn screen(light: DVec3) -> Rgb {
    static SCREEN: LazyLock<Screen> = LazyLock::new(Screen::new);
    let screen = &*SCREEN;
    light.to_array().map(|c| {
        // Conversions clamp, and turn what is not a number into zero.
        let cell = ((c * CELLS as f64) as usize).min(CELLS - 1);
        let mut colour = screen.cells[cell];
        while colour < 255 && c >= screen.ends[usize::from(colour)] {
            colour += 1;
        }
        colour
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screen_and_light_are_inverse() {
        for c in 0..=255 {
            assert_eq!(screen(linear([c, 255 - c, c / 2])), [c, 255 - c, c / 2]);
        }
        assert_eq!(screen(DVec3::new(-1.0, 9.0, f64::NAN)), [0, 255, 0]);
    }

    #[test]
    fn every_light_has_the_colour_of_the_formula() {
        for k in 0..=20_000 {
            let c = f64::from(k) / 20_000.0;
            let part = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
            assert_eq!(screen(DVec3::splat(c)), [(255.0 * part).round() as u8; 3], "{c}");
        }
        assert_eq!(screen(DVec3::new(f64::INFINITY, f64::NEG_INFINITY, -0.0)), [255, 0, 0]);
    }

    /// Lightness (CIE L*) of a colour.
    fn lightness(colour: Rgb) -> f64 {
        116.0 * linear(colour).dot(DVec3::new(0.2126, 0.7152, 0.0722)).cbrt() - 16.0
    }

    #[test]
    fn lightness_rises_evenly() {
        let steps: Vec<f64> =
            (0..=8).map(|i| lightness(ColourMap::Sequential.colour(f64::from(i) / 8.0))).collect();
        let mean = (steps[8] - steps[0]) / 8.0;
        for pair in steps.windows(2) {
            assert!((pair[1] - pair[0] - mean).abs() < 0.25 * mean, "{steps:?}");
        }
        for i in 0..=4 {
            let [a, b] = [i, 8 - i].map(|i| lightness(ColourMap::Diverging.colour(f64::from(i) / 8.0)));
            assert!((a - b).abs() < 6.0, "{a} and {b}");
        }
    }

    #[test]
    fn the_circle_is_even_and_closed() {
        let map = ColourMap::Cyclic;
        let all: Vec<f64> = (0..32).map(|i| lightness(map.colour(f64::from(i) / 32.0))).collect();
        assert!(all.iter().all(|l| (50.0..66.0).contains(l)), "{all:?}");
        assert_eq!(map.colour(0.0), map.colour(1.0));
        assert_eq!([map.colour(1.25), map.colour(-0.75)], [map.colour(0.25); 2]);
        assert_eq!([map.colour(f64::INFINITY), map.colour(f64::NAN)], [NO_VALUE; 2]);
    }

    #[test]
    fn outside_and_no_values() {
        for map in [ColourMap::Sequential, ColourMap::Diverging] {
            assert_eq!(map.colour(-1.0), map.colour(0.0));
            assert_eq!(map.colour(f64::INFINITY), map.colour(1.0));
            assert_eq!(map.colour(f64::NAN), NO_VALUE);
        }
        assert_eq!(place(1.0, [0.0, 4.0]), 0.25);
        assert!(place(f64::INFINITY, [0.0, 4.0]) > 1.0 && place(f64::NEG_INFINITY, [0.0, 4.0]) < 0.0);
        assert!(place(f64::NAN, [0.0, 1.0]).is_nan() && place(1.0, [f64::MIN, f64::MAX]).is_finite());
    }

    #[test]
    fn ranges() {
        assert_eq!(value_range([]), [0.0, 1.0]);
        assert_eq!(value_range([f64::NAN, f64::INFINITY]), [0.0, 1.0]);
        let [low, high] = value_range([5.0]);
        assert!(low < 5.0 && high > 5.0);
        let [low, high] = value_range([f64::MAX]);
        assert!(low < high && high.is_finite());
    }
}
