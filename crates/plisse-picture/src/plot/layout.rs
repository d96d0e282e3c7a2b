//! Where the parts of a plot go. A pen draws them, as pixels or as SVG.

use glam::DVec2;

use super::{GRID, INK, Mark, PAPER, Plot};
use crate::canvas::{self, Anchor};
use crate::render::Rgb;
use crate::ticks::{number, ticks};

/// What plots are drawn with. Places are in pixels from the upper left corner, y downwards.
pub(super) trait Pen {
    /// Lines through points, of a width in pixels, with round ends.
    fn stroke(&mut self, runs: &[Vec<DVec2>], width: f64, colour: Rgb);
    /// A filled convex polygon.
    fn polygon(&mut self, corners: &[DVec2], colour: Rgb);
    fn text(&mut self, text: &Text<'_>);
}

/// A text with the place of its anchor on the line it is written on.
pub(super) struct Text<'a> {
    pub(super) text: &'a str,
    pub(super) at: DVec2,
    /// Of a large letter, in pixels.
    pub(super) height: f64,
    pub(super) anchor: Anchor,
    /// Direction of writing, of unit length; (0, -1) is upwards.
    pub(super) along: DVec2,
}

/// Margins of the field between the axes, in pixels of a plot of 960 by 600.
const LEFT: f64 = 96.5;
const RIGHT: f64 = 29.5;
const TOP: f64 = 54.5;
const BOTTOM: f64 = 69.5;
/// Heights of large letters, in the same pixels.
const SMALL: f64 = 10.0;
const MEDIUM: f64 = 11.5;
const LARGE: f64 = 14.0;
/// Letters and margins shrink with the panel down to this part, so that they can be read.
const SMALLEST: f64 = 0.7;

/// The field of a plot: what is where.
struct Field {
    size: DVec2,
    scale: f64,
    low: DVec2,
    high: DVec2,
    ranges: [[f64; 2]; 2],
}

/// Draws a plot into the box of this size at `origin`.
pub(super) fn draw(plot: &Plot, pen: &mut dyn Pen, origin: DVec2, size: DVec2) {
    let scale = (size / DVec2::new(960.0, 600.0)).min_element().clamp(SMALLEST, 1.0);
    let field = Field::new(plot, origin, size, scale);
    let text = |pen: &mut dyn Pen, text: &str, at: DVec2, height: f64| {
        pen.text(&Text { text, at, height: height * scale, anchor: Anchor::Middle, along: DVec2::X });
    };
    if !plot.bare {
        grid(pen, &field);
    }
    curves(plot, pen, &field);
    let middle = 0.5 * (field.low + field.high);
    text(pen, &plot.title, DVec2::new(middle.x, origin.y + 34.0 * scale), LARGE);
    if plot.bare {
        return;
    }
    axes(pen, &field);
    text(pen, &plot.x_label, DVec2::new(middle.x, origin.y + size.y - 20.0 * scale), MEDIUM);
    let beside = DVec2::new(origin.x + 26.0 * scale, middle.y);
    let height = MEDIUM * scale;
    let anchor = Anchor::Middle;
    pen.text(&Text { text: &plot.y_label, at: beside, height, anchor, along: DVec2::NEG_Y });
    legend(plot, pen, &field);
}

impl Field {
    fn new(plot: &Plot, origin: DVec2, size: DVec2, scale: f64) -> Self {
        let [x, y] = plot.ranges();
        let mut low = origin + DVec2::new(LEFT, TOP) * scale;
        let mut high = origin + size - DVec2::new(RIGHT, BOTTOM) * scale;
        if plot.bare {
            // The largest box with the proportions of the ranges.
            low = origin + DVec2::new(RIGHT, TOP) * scale;
            high = origin + size - RIGHT * scale;
            let span = DVec2::new(0.5 * x[1] - 0.5 * x[0], 0.5 * y[1] - 0.5 * y[0]);
            let unit = ((high - low) / span).min_element();
            let half = Some(0.5 * unit * span).filter(|half| half.is_finite()).unwrap_or(0.5 * (high - low));
            let middle = 0.5 * (low + high);
            (low, high) = (middle - half, middle + half);
        }
        Self { size, scale, low, high, ranges: [x, y] }
    }

    /// Where a value is along an axis, from 0 to 1.
    fn part(&self, axis: usize, value: f64) -> f64 {
        let range = self.ranges[axis];
        let t = (0.5 * value - 0.5 * range[0]) / (0.5 * range[1] - 0.5 * range[0]);
        // Ranges as narrow as the smallest numbers have no inside.
        if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.5 }
    }

    fn column(&self, x: f64) -> f64 {
        self.low.x + self.part(0, x) * (self.high.x - self.low.x)
    }

    fn row(&self, y: f64) -> f64 {
        self.high.y - self.part(1, y) * (self.high.y - self.low.y)
    }

    fn place(&self, p: &[f64; 2]) -> DVec2 {
        DVec2::new(self.column(p[0]), self.row(p[1]))
    }

    /// Round numbers along both axes, fewer across a narrow panel.
    fn ticks(&self) -> [Vec<f64>; 2] {
        let across = if self.size.x < 600.0 { 5 } else { 8 };
        [ticks(self.ranges[0], across), ticks(self.ranges[1], 6)]
    }
}

fn grid(pen: &mut dyn Pen, field: &Field) {
    let [xs, ys] = field.ticks();
    let sharp = |c: f64| c.floor() + 0.5;
    let (low, high) = (field.low, field.high);
    let down = xs.iter().map(|&x| sharp(field.column(x))).map(|x| [(x, low.y), (x, high.y)]);
    let across = ys.iter().map(|&y| sharp(field.row(y))).map(|y| [(low.x, y), (high.x, y)]);
    let lines: Vec<Vec<DVec2>> = down.chain(across).map(|line| line.map(DVec2::from).to_vec()).collect();
    pen.stroke(&lines, 1.0, GRID);
}

fn axes(pen: &mut dyn Pen, field: &Field) {
    let (low, high) = (field.low, field.high);
    let corner = DVec2::new(low.x, high.y);
    pen.stroke(&[vec![low, corner], vec![corner, high]], 1.0, INK);
    let small = SMALL * field.scale;
    let [xs, ys] = field.ticks();
    for &x in &xs {
        let at = DVec2::new(field.column(x), high.y + 8.0 * field.scale + small);
        let text = &number(x);
        pen.text(&Text { text, at, height: small, anchor: Anchor::Middle, along: DVec2::X });
    }
    for &y in &ys {
        let at = DVec2::new(low.x - 9.0 * field.scale, field.row(y) + 0.5 * small);
        let text = &number(y);
        pen.text(&Text { text, at, height: small, anchor: Anchor::Right, along: DVec2::X });
    }
}

fn curves(plot: &Plot, pen: &mut dyn Pen, field: &Field) {
    let (width, dot) = (2.2, 6.0);
    for (index, curve) in plot.curves.iter().enumerate() {
        let colour = plot.colour(index);
        let runs: Vec<Vec<DVec2>> =
            plot.runs(&curve.points).map(|run| run.iter().map(|p| field.place(p)).collect()).collect();
        if runs.is_empty() {
            continue;
        }
        match curve.mark {
            Mark::Filled => runs.iter().for_each(|run| pen.polygon(run, colour)),
            Mark::Dots => {
                let dots: Vec<Vec<DVec2>> = runs.iter().flatten().map(|p| vec![*p, *p]).collect();
                pen.stroke(&dots, dot, colour);
            }
            Mark::Dashed => {
                let pieces: Vec<Vec<DVec2>> = runs.iter().flat_map(|run| dashes(run)).collect();
                pen.stroke(&pieces, 1.6, colour);
            }
            Mark::Line => {
                // A point alone would be a line without length.
                let seen = |run: Vec<DVec2>| match run[..] {
                    [point] => vec![point - DVec2::X, point + DVec2::X],
                    _ => run,
                };
                pen.stroke(&runs.into_iter().map(seen).collect::<Vec<_>>(), width, colour);
            }
        }
    }
}

/// Length of a dash and of the gap after it, in pixels.
const DASH: f64 = 4.0;

/// Pieces of a line through points.
fn dashes(run: &[DVec2]) -> Vec<Vec<DVec2>> {
    let mut pieces = Vec::new();
    let mut passed = 0.0;
    for pair in run.windows(2) {
        let length = pair[0].distance(pair[1]);
        let place = |at: f64| pair[0].lerp(pair[1], ((at - passed) / length).clamp(0.0, 1.0));
        let mut k = (passed / (2.0 * DASH)).floor();
        while k * 2.0 * DASH < passed + length {
            let (from, to) = (k * 2.0 * DASH, k * 2.0 * DASH + DASH);
            if to > passed {
                pieces.push(vec![place(from), place(to)]);
            }
            k += 1.0;
        }
        passed += length;
    }
    pieces
}

fn legend(plot: &Plot, pen: &mut dyn Pen, field: &Field) {
    let shown: Vec<(usize, &str)> = plot
        .curves
        .iter()
        .enumerate()
        .filter(|(_, curve)| !curve.label.is_empty() && plot.runs(&curve.points).next().is_some())
        .map(|(index, curve)| (index, curve.label.as_str()))
        .collect();
    if shown.is_empty() {
        return;
    }
    let scale = field.scale;
    let small = SMALL * scale;
    let widest = shown.iter().map(|(_, label)| canvas::text_width(label, small)).fold(0.0, f64::max);
    let line = 2.1 * small;
    let left = (field.high.x - widest - 66.0 * scale).max(field.low.x + 8.0 * scale).floor();
    let top = field.low.y + 10.0 * scale;
    let bottom = field.low.y + 22.0 * scale + line * shown.len() as f64 - 0.5 * small;
    let right = field.high.x - 8.0 * scale;
    let [a, b, c, d] = [(left, top), (right, top), (right, bottom), (left, bottom)].map(DVec2::from);
    pen.polygon(&[a, b, c, d].map(DVec2::floor), PAPER);
    let [a, d] = [a, d].map(|p| p + DVec2::X * 0.5);
    pen.stroke(&[vec![a, b], vec![b, c], vec![c, d], vec![d, a]], 1.0, GRID);
    for (k, (index, label)) in shown.into_iter().enumerate() {
        let y = top + 16.0 * scale + line * k as f64;
        let key = [left + 10.0 * scale, left + 34.0 * scale].map(|x| DVec2::new(x, y)).to_vec();
        pen.stroke(&[key], 2.6, plot.colour(index));
        let at = DVec2::new(left + 44.0 * scale, y + 0.5 * small);
        pen.text(&Text { text: label, at, height: small, anchor: Anchor::Left, along: DVec2::X });
    }
}
