//! Plots as SVG.

use std::fmt::Write;

use glam::DVec2;

use super::layout::{Pen, Text};
use super::{INK, PAPER};
use crate::canvas::Anchor;
use crate::render::Rgb;

/// Height of a font whose large letters are one unit high.
const FONT: f64 = 1.4;

/// A file while it is written. Writing to a string cannot fail.
pub(super) struct Svg(String);

impl Svg {
    pub(super) fn new([width, height]: [u32; 2]) -> Self {
        let (sides, paper) = (format!("width=\"{width}\" height=\"{height}\""), hex(PAPER));
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" {sides} viewBox=\"0 0 {width} {height}\">\n\
             <rect {sides} fill=\"{paper}\"/>\n"
        ))
    }

    /// The whole text.
    pub(super) fn finish(self) -> String {
        self.0 + "</svg>\n"
    }
}

impl Pen for Svg {
    fn stroke(&mut self, runs: &[Vec<DVec2>], width: f64, colour: Rgb) {
        let style = format!(
            "fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" stroke-linecap=\"round\"",
            hex(colour)
        );
        _ = match runs {
            [] => Ok(()),
            [run] => writeln!(self.0, "<polyline points=\"{}\" {style}/>", points(run)),
            runs => {
                let path: String = runs.iter().map(|run| format!("M{}", points(run))).collect();
                writeln!(self.0, "<path d=\"{path}\" {style}/>")
            }
        };
    }

    fn polygon(&mut self, corners: &[DVec2], colour: Rgb) {
        _ = writeln!(self.0, "<polygon points=\"{}\" fill=\"{}\"/>", points(corners), hex(colour));
    }

    fn text(&mut self, text: &Text<'_>) {
        let anchor = match text.anchor {
            Anchor::Left => "start",
            Anchor::Middle => "middle",
            Anchor::Right => "end",
        };
        let [x, y] = text.at.to_array();
        let angle = text.along.to_angle().to_degrees();
        let turn = if angle == 0.0 {
            String::new()
        } else {
            format!(" transform=\"rotate({angle:.0} {x:.1} {y:.1})\"")
        };
        _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-family=\"sans-serif\" font-size=\"{:.1}\" \
             text-anchor=\"{anchor}\" fill=\"{}\"{turn}>{}</text>",
            FONT * text.height,
            hex(INK),
            escaped(text.text)
        );
    }
}

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// To a tenth of a pixel, so that curves have no steps.
fn points(list: &[DVec2]) -> String {
    list.iter().map(|p| format!("{:.1},{:.1}", p.x, p.y)).collect::<Vec<_>>().join(" ")
}

/// XML has no way to write most control characters: they become blanks.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
