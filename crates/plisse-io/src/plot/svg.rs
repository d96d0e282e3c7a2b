//! Plots as SVG, by plotters.

use std::io;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{GRID, INK, PAPER, Plot, SIZE, colour, runs};
use crate::render::Rgb;
use crate::ticks::number;
use crate::write_error::one_line;

/// Units per pixel: plotters rounds coordinates to integers, and curves would have steps.
const FINE: u32 = 10;

/// The whole file.
pub(super) fn draw(plot: &Plot) -> io::Result<String> {
    let mut text = String::new();
    // What fails here is a text that cannot be laid out; no file is involved yet.
    draw_into(plot, &mut text).map_err(|error| io::Error::other(error.to_string()))?;
    let [width, height] = SIZE;
    let size = |scale: u32| format!("width=\"{}\" height=\"{}\"", width * scale, height * scale);
    Ok(text.replacen(&size(FINE), &size(1), 1))
}

fn rgb([r, g, b]: Rgb) -> RGBColor {
    RGBColor(r, g, b)
}

fn draw_into(plot: &Plot, text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let [width, height] = SIZE.map(|side| side * FINE);
    let root = SVGBackend::with_string(text, (width, height)).into_drawing_area();
    root.fill(&rgb(PAPER))?;
    let font = |size: u32| ("sans-serif", size * FINE).into_font().color(&rgb(INK));
    let title = font(25).pos(Pos::new(HPos::Center, VPos::Top));
    root.draw(&Text::new(one_line(&plot.title), ((width / 2) as i32, (14 * FINE) as i32), title))?;
    let [x, y] = plot.ranges();
    let mut chart = ChartBuilder::on(&root)
        .margin(16 * FINE)
        .margin_top(50 * FINE)
        .margin_right(28 * FINE)
        .x_label_area_size(50 * FINE)
        .y_label_area_size(80 * FINE)
        .build_cartesian_2d(x[0]..x[1], y[0]..y[1])?;
    chart
        .configure_mesh()
        .bold_line_style(rgb(GRID).stroke_width(FINE))
        .light_line_style(TRANSPARENT)
        .axis_style(rgb(INK).stroke_width(FINE))
        .set_all_tick_mark_size(5 * FINE)
        .label_style(font(18))
        .axis_desc_style(font(20))
        .x_desc(one_line(&plot.x_label))
        .y_desc(one_line(&plot.y_label))
        .x_label_formatter(&|value| number(*value))
        .y_label_formatter(&|value| number(*value))
        .draw()?;
    for (index, curve) in plot.curves.iter().enumerate() {
        let style = rgb(colour(index)).stroke_width(2 * FINE);
        let mut labelled = false;
        for run in runs(&curve.points) {
            // A point alone would be a line without length.
            if let [point] = run {
                chart.draw_series([Circle::new((point[0], point[1]), 3 * FINE, style.filled())])?;
            }
            let series = chart.draw_series(LineSeries::new(run.iter().map(|p| (p[0], p[1])), style))?;
            if !labelled {
                let length = (22 * FINE) as i32;
                let key = move |(x, y)| PathElement::new([(x, y), (x + length, y)], style);
                series.label(one_line(&curve.label)).legend(key);
                labelled = true;
            }
        }
    }
    if plot.curves.iter().any(|curve| runs(&curve.points).next().is_some()) {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(rgb(PAPER).mix(0.85))
            .border_style(rgb(GRID).stroke_width(FINE))
            .label_font(font(18))
            .legend_area_size(30 * FINE)
            .margin(8 * FINE)
            .draw()?;
    }
    root.present()?;
    Ok(())
}
