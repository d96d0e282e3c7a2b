//! The bar that explains colours.

use glam::DVec2;

use super::colour::{ColourMap, Rgb};
use super::drawing::{Drawing, Look, Part, Surface};
use super::picture::Picture;
use crate::canvas::{self, Anchor};
use crate::ticks;

const INK: Rgb = [52, 54, 58];

/// What the bar shows, and its measures in pixels.
struct Bar<'a> {
    range: [f64; 2],
    map: ColourMap,
    label: &'a str,
    /// Height of large letters.
    letter: f64,
    /// Numbers from the upper to the lower end, and the width of the widest.
    numbers: [String; 3],
    widest: f64,
}

impl<'a> Bar<'a> {
    /// The bar of the first surface with numbers.
    fn new(drawing: &Drawing<'a>, height: u32) -> Option<Self> {
        let (range, map, label) = drawing.parts.iter().find_map(|part| match part {
            Part::Surface(Surface { look: Look::Scalar { range, map, label, .. }, .. }) => {
                Some((*range, *map, *label))
            }
            _ => None,
        })?;
        let letter = (f64::from(height) / 60.0).max(5.0);
        let middle = 0.5 * range[0] + 0.5 * range[1];
        let numbers = [range[1], middle, range[0]].map(ticks::number);
        let widest = numbers.iter().map(|n| canvas::text_width(n, letter)).fold(0.0, f64::max);
        Some(Self { range, map, label, letter, numbers, widest })
    }

    fn width(&self) -> f64 {
        self.widest + 6.4 * self.letter
    }
}

/// Width of the strip that the bar needs at the right of the picture, in pixels; at most half the
/// picture.
pub(super) fn strip(drawing: &Drawing<'_>, size: [u32; 2]) -> f64 {
    Bar::new(drawing, size[1]).map_or(0.0, |bar| bar.width().min(0.5 * f64::from(size[0])))
}

/// Draws the bar; nothing without a surface that has numbers.
pub(super) fn draw(picture: &mut Picture, drawing: &Drawing<'_>) {
    let Some(bar) = Bar::new(drawing, picture.height()) else { return };
    let letter = bar.letter;
    let height = f64::from(picture.height());
    let left = (f64::from(picture.width()) - bar.width()).max(0.0).floor();
    let right = left + (1.4 * letter).ceil();
    let [top, bottom] = [(0.2 * height).floor(), (0.8 * height).floor()];
    for y in top as u32..bottom as u32 {
        let t = 1.0 - (f64::from(y) + 0.5 - top) / (bottom - top);
        canvas::fill(picture, [left as u32, y], [right as u32, y + 1], bar.map.colour(t));
    }
    let pen = (0.09 * letter).max(1.0);
    // A range without width, or of NaN, has one number only.
    let count = if bar.range[0] < bar.range[1] { 3 } else { 1 };
    for (number, y) in bar.numbers.iter().zip([top, 0.5 * (top + bottom), bottom]).take(count) {
        canvas::stroke(picture, &[[DVec2::new(right, y), DVec2::new(right + 0.4 * letter, y)]], pen, INK);
        let at = DVec2::new(right + 0.9 * letter, y + 0.5 * letter);
        canvas::text(picture, number, at, letter, Anchor::Left, INK);
    }
    let at = DVec2::new(right + bar.widest + 3.2 * letter, 0.5 * height);
    canvas::turned_text(picture, bar.label, at, letter, Anchor::Middle, INK, DVec2::NEG_Y);
}
