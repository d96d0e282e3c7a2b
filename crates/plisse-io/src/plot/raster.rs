//! Plots as pixels.

use glam::DVec2;

use super::{GRID, INK, PAPER, Plot, SIZE, colour, runs};
use crate::canvas::{self, Anchor};
use crate::render::Picture;
use crate::ticks::{number, ticks};

/// Edges of the field between the axes, in pixels.
const LEFT: f64 = 96.5;
const RIGHT: f64 = 930.5;
const TOP: f64 = 54.5;
const BOTTOM: f64 = 530.5;
/// Heights of large letters, in pixels.
const SMALL: f64 = 10.0;
const MEDIUM: f64 = 11.5;
const LARGE: f64 = 14.0;

pub(super) fn draw(plot: &Plot) -> Picture {
    let mut picture = Picture::new(SIZE[0], SIZE[1], PAPER);
    let [x_range, y_range] = plot.ranges();
    let part = |value: f64, range: [f64; 2]| {
        let t = (0.5 * value - 0.5 * range[0]) / (0.5 * range[1] - 0.5 * range[0]);
        // Ranges as narrow as the smallest numbers have no inside.
        if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.5 }
    };
    let column = |x: f64| LEFT + part(x, x_range) * (RIGHT - LEFT);
    let row = |y: f64| BOTTOM - part(y, y_range) * (BOTTOM - TOP);
    let xs: Vec<f64> = ticks(x_range, 8);
    let ys: Vec<f64> = ticks(y_range, 6);
    let down =
        xs.iter().map(|&x| column(x).floor() + 0.5).map(|x| [DVec2::new(x, TOP), DVec2::new(x, BOTTOM)]);
    let across =
        ys.iter().map(|&y| row(y).floor() + 0.5).map(|y| [DVec2::new(LEFT, y), DVec2::new(RIGHT, y)]);
    canvas::stroke(&mut picture, &down.chain(across).collect::<Vec<_>>(), 1.0, GRID);
    for (index, curve) in plot.curves.iter().enumerate() {
        let place = |p: &[f64; 2]| DVec2::new(column(p[0]), row(p[1]));
        let mut lines = Vec::new();
        for run in runs(&curve.points) {
            let points: Vec<DVec2> = run.iter().map(place).collect();
            lines.extend(points.windows(2).map(|pair| [pair[0], pair[1]]));
            if let [point] = points[..] {
                lines.push([point - DVec2::X, point + DVec2::X]);
            }
        }
        canvas::stroke(&mut picture, &lines, 2.2, colour(index));
    }
    let corner = DVec2::new(LEFT, BOTTOM);
    let axes = [[DVec2::new(LEFT, TOP), corner], [corner, DVec2::new(RIGHT, BOTTOM)]];
    canvas::stroke(&mut picture, &axes, 1.0, INK);
    for &x in &xs {
        let at = DVec2::new(column(x), BOTTOM + 8.0 + SMALL);
        canvas::text(&mut picture, &number(x), at, SMALL, Anchor::Middle, INK);
    }
    for &y in &ys {
        let at = DVec2::new(LEFT - 9.0, row(y) + 0.5 * SMALL);
        canvas::text(&mut picture, &number(y), at, SMALL, Anchor::Right, INK);
    }
    let middle = DVec2::new(0.5 * (LEFT + RIGHT), 0.5 * (TOP + BOTTOM));
    canvas::text(&mut picture, &plot.title, DVec2::new(middle.x, 34.0), LARGE, Anchor::Middle, INK);
    canvas::text(&mut picture, &plot.x_label, DVec2::new(middle.x, 580.0), MEDIUM, Anchor::Middle, INK);
    let beside = DVec2::new(26.0, middle.y);
    canvas::turned_text(&mut picture, &plot.y_label, beside, MEDIUM, Anchor::Middle, INK, DVec2::NEG_Y);
    draw_legend(&mut picture, plot);
    picture
}

fn draw_legend(picture: &mut Picture, plot: &Plot) {
    let shown: Vec<(usize, &str)> = plot
        .curves
        .iter()
        .enumerate()
        .filter(|(_, curve)| runs(&curve.points).next().is_some())
        .map(|(index, curve)| (index, curve.label.as_str()))
        .collect();
    if shown.is_empty() {
        return;
    }
    let widest = shown.iter().map(|(_, label)| canvas::text_width(label, SMALL)).fold(0.0, f64::max);
    let line = 2.1 * SMALL;
    let left = (RIGHT - widest - 66.0).max(LEFT + 8.0).floor();
    let (top, bottom) = (TOP + 10.0, TOP + 22.0 + line * shown.len() as f64 - 0.5 * SMALL);
    let right = RIGHT - 8.0;
    canvas::fill(picture, [left as u32, top as u32], [right as u32, bottom as u32], PAPER);
    let [a, b] = [DVec2::new(left + 0.5, top), DVec2::new(right, bottom)];
    let [c, d] = [DVec2::new(b.x, a.y), DVec2::new(a.x, b.y)];
    canvas::stroke(picture, &[[a, c], [c, b], [b, d], [d, a]], 1.0, GRID);
    for (k, (index, label)) in shown.into_iter().enumerate() {
        let y = top + 16.0 + line * k as f64;
        let key = [DVec2::new(left + 10.0, y), DVec2::new(left + 34.0, y)];
        canvas::stroke(picture, &[key], 2.6, colour(index));
        let at = DVec2::new(left + 44.0, y + 0.5 * SMALL);
        canvas::text(picture, label, at, SMALL, Anchor::Left, INK);
    }
}
