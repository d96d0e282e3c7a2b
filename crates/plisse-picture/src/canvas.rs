//! Lines, boxes and text on a picture.

use glam::DVec2;

use crate::font;
use crate::render::{Picture, Rgb};

/// Where a text is anchored: at its left end, its middle or its right end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Left,
    Middle,
    Right,
}

/// Width of a text in pixels; `height` is that of a large letter.
pub(crate) fn text_width(text: &str, height: f64) -> f64 {
    font::write(text).1 * height
}

/// Writes a text. `at` is on the line it is written on, in pixels from the upper left corner.
pub(crate) fn text(picture: &mut Picture, text: &str, at: DVec2, height: f64, anchor: Anchor, colour: Rgb) {
    turned_text(picture, text, at, height, anchor, colour, DVec2::X);
}

/// Writes a text along a direction of unit length; (0, -1) is upwards.
pub(crate) fn turned_text(
    picture: &mut Picture,
    text: &str,
    at: DVec2,
    height: f64,
    anchor: Anchor,
    colour: Rgb,
    along: DVec2,
) {
    let (lines, width) = font::write(text);
    let start = match anchor {
        Anchor::Left => 0.0,
        Anchor::Middle => -0.5 * width,
        Anchor::Right => -width,
    };
    let up = DVec2::new(along.y, -along.x);
    let place = |p: DVec2| at + (along * (p.x + start) + up * p.y) * height;
    let lines: Vec<[DVec2; 2]> = lines.iter().map(|line| line.map(place)).collect();
    stroke(picture, &lines, (0.115 * height).max(1.0), colour);
}

/// Draws lines of a width in pixels with round ends, smooth at their edges. Crossings are not
/// darker.
pub(crate) fn stroke(picture: &mut Picture, lines: &[[DVec2; 2]], width: f64, colour: Rgb) {
    let size = DVec2::new(f64::from(picture.width()), f64::from(picture.height()));
    let reach = 0.5 * width + 0.5;
    let mut low = size;
    let mut high = DVec2::ZERO;
    for end in lines.iter().flatten() {
        low = low.min(*end - reach);
        high = high.max(*end + reach);
    }
    let low = low.floor().clamp(DVec2::ZERO, size);
    let high = high.ceil().clamp(low, size);
    let [left, top] = low.to_array().map(|p| p as usize);
    let [columns, rows] = (high - low).to_array().map(|p| p as usize);
    let mut covered = vec![0f32; columns * rows];
    for [a, b] in lines {
        let from = (a.min(*b) - reach).floor().clamp(low, high) - low;
        let to = (a.max(*b) + reach).ceil().clamp(low, high) - low;
        let along = (*b - *a) / (*b - *a).length_squared().max(1e-12);
        for y in from.y as usize..to.y as usize {
            for x in from.x as usize..to.x as usize {
                let p = low + DVec2::new(x as f64 + 0.5, y as f64 + 0.5);
                let t = along.dot(p - *a).clamp(0.0, 1.0);
                let cover = (reach - p.distance(a.lerp(*b, t))).clamp(0.0, 1.0) as f32;
                let slot = &mut covered[y * columns + x];
                *slot = slot.max(cover);
            }
        }
    }
    if columns == 0 {
        return;
    }
    for (y, covered) in covered.chunks(columns).enumerate() {
        let row = &mut picture.row_mut((top + y) as u32)[left..left + columns];
        for (pixel, cover) in row.iter_mut().zip(covered) {
            *pixel = mix(*pixel, colour, f64::from(*cover));
        }
    }
}

/// Fills a box between two corners in pixels.
pub(crate) fn fill(picture: &mut Picture, from: [u32; 2], to: [u32; 2], colour: Rgb) {
    let to = [to[0].min(picture.width()), to[1].min(picture.height())];
    for y in from[1]..to[1] {
        if let Some(row) = picture.row_mut(y).get_mut(from[0] as usize..to[0] as usize) {
            row.fill(colour);
        }
    }
}

/// Fills a convex polygon between its corners, in either order, smooth at its edges.
pub(crate) fn polygon(picture: &mut Picture, corners: &[DVec2], colour: Rgb) {
    let size = DVec2::new(f64::from(picture.width()), f64::from(picture.height()));
    let (mut low, mut high, mut area) = (size, DVec2::ZERO, 0.0);
    let edges = || corners.iter().zip(corners.iter().cycle().skip(1));
    for (a, b) in edges() {
        (low, high) = (low.min(*a), high.max(*a));
        area += a.perp_dot(*b);
    }
    let low = low.floor().clamp(DVec2::ZERO, size);
    let high = high.ceil().clamp(low, size);
    let inwards = |(a, b): (&DVec2, &DVec2)| (*a, ((*b - *a).perp() * f64::signum(area)).normalize_or_zero());
    let sides: Vec<(DVec2, DVec2)> = edges().map(inwards).filter(|(_, n)| *n != DVec2::ZERO).collect();
    if sides.len() < 3 {
        return;
    }
    for y in low.y as usize..high.y as usize {
        let row = picture.row_mut(y as u32);
        for x in low.x as usize..high.x as usize {
            let p = DVec2::new(x as f64 + 0.5, y as f64 + 0.5);
            let inside = sides.iter().map(|(a, n)| n.dot(p - *a)).fold(f64::INFINITY, f64::min);
            row[x] = mix(row[x], colour, (inside + 0.5).clamp(0.0, 1.0));
        }
    }
}

/// Mixed as on screen: thin dark strokes would fade in linear light.
fn mix(under: Rgb, over: Rgb, cover: f64) -> Rgb {
    std::array::from_fn(|k| {
        let (a, b) = (f64::from(under[k]), f64::from(over[k]));
        (a + (b - a) * cover).round() as u8
    })
}
