//! Line plots, alone or as the panels of a figure.

mod layout;
mod svg;

use std::path::Path;

use glam::DVec2;
use plisse_io::{FileError, write_atomically};

use crate::canvas;
use crate::render::{Picture, Rgb, value_range};
use layout::Pen;
use svg::Svg;

/// A plot of curves over common axes.
///
/// ```
/// use plisse_picture::{Curve, Plot};
/// let points = (0..50).map(|i| [f64::from(i), f64::from(i).sqrt()]).collect();
/// let plot = Plot {
///     title: "Energy".to_owned(),
///     x_label: "time (s)".to_owned(),
///     y_label: "energy (J)".to_owned(),
///     curves: vec![Curve { label: "kinetic".to_owned(), points, ..Curve::default() }],
///     ..Plot::default()
/// };
/// let folder = std::env::temp_dir().join("plisse doctest plot");
/// plot.write_svg(&folder.join("energy.svg"))?;
/// assert!(plisse_io::read_text(&folder.join("energy.svg"))?.contains("kinetic"));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Text above the plot.
    pub title: String,
    /// Text below the horizontal axis, with its unit.
    pub x_label: String,
    /// Text beside the vertical axis, with its unit.
    pub y_label: String,
    /// Curves, in the order of the legend; later ones cover earlier ones.
    pub curves: Vec<Curve>,
    /// Range of the horizontal axis; none: that of the points. Points outside are left out.
    pub x_range: Option<[f64; 2]>,
    /// Range of the vertical axis; none: that of the points with a margin. Points outside are left
    /// out.
    pub y_range: Option<[f64; 2]>,
    /// Draws the curves alone, with one unit as long across as it is up: shapes rather than
    /// functions.
    pub bare: bool,
}

/// One curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Text in the legend; a curve without a label is not in it.
    pub label: String,
    /// Points, joined in their order; those that are not finite are left out, and the curve has a
    /// gap there.
    pub points: Vec<[f64; 2]>,
    /// None: the next of seven that can be told apart.
    pub colour: Option<Rgb>,
    /// How the points are drawn.
    pub mark: Mark,
}

/// How the points of a curve are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Joined by a line.
    #[default]
    Line,
    /// Joined by a dashed line.
    Dashed,
    /// Each by itself.
    Dots,
    /// As the corners of a convex polygon.
    Filled,
}

/// Plots beside and below each other.
///
/// ```
/// use plisse_picture::{Curve, Figure, Mark, Plot};
/// let corners = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
/// let face = Curve { points: corners, mark: Mark::Filled, ..Curve::default() };
/// let panel = Plot { curves: vec![face], bare: true, ..Plot::default() };
/// let figure = Figure { size: [400, 200], columns: 2, panels: vec![panel.clone(), panel] };
/// assert_eq!(figure.picture().width(), 400);
/// let path = std::env::temp_dir().join("plisse doctest figure.svg");
/// figure.write_svg(&path)?;
/// assert_eq!(plisse_io::read_text(&path)?.matches("<polygon").count(), 2);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// How many plots are beside each other; zero counts as one.
    pub columns: usize,
    /// The plots, row by row from the top.
    pub panels: Vec<Plot>,
}

/// Width and height of a plot in pixels.
const SIZE: [u32; 2] = [960, 600];
const PAPER: Rgb = [255, 255, 255];
const INK: Rgb = [44, 46, 50];
const GRID: Rgb = [226, 228, 232];
/// Told apart also by people who see red and green alike; darker than the usual choice on white.
const COLOURS: [Rgb; 7] =
    [[0, 104, 170], [205, 90, 0], [0, 140, 106], [176, 78, 140], [84, 84, 88], [60, 160, 215], [190, 150, 0]];

impl Plot {
    /// Writes the plot as an SVG file of 960 by 600 pixels, whole or not at all.
    ///
    /// # Errors
    /// [`FileError::Write`] when the file cannot be written.
    pub fn write_svg(&self, path: &Path) -> Result<(), FileError> {
        write_svg(path, SIZE, |pen| self.draw(pen))
    }

    /// Writes the plot as a PNG file, whole or not at all.
    ///
    /// # Errors
    /// [`FileError::Write`] when the file cannot be written.
    pub fn write_png(&self, path: &Path) -> Result<(), FileError> {
        self.picture().write_png(path)
    }

    /// The plot as a picture of 960 by 600 pixels.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let mut picture = Picture::new(SIZE[0], SIZE[1], PAPER);
        self.draw(&mut picture);
        picture
    }

    fn draw(&self, pen: &mut dyn Pen) {
        layout::draw(self, pen, DVec2::ZERO, SIZE.map(f64::from).into());
    }

    /// Ranges of the axes: those of the points, the vertical one with a margin, unless they are
    /// given.
    fn ranges(&self) -> [[f64; 2]; 2] {
        let finite = || self.curves.iter().flat_map(|curve| self.runs(&curve.points)).flatten();
        let x = value_range(finite().map(|p| p[0]));
        let [low, high] = value_range(finite().map(|p| p[1]));
        let margin = 0.05 * high - 0.05 * low;
        [self.x_range.unwrap_or(x), self.y_range.unwrap_or([low - margin, high + margin])]
    }

    /// Stretches of points without gaps.
    fn runs<'a>(&self, points: &'a [[f64; 2]]) -> impl Iterator<Item = &'a [[f64; 2]]> + use<'a> {
        let ranges = [self.x_range, self.y_range];
        let good = move |p: &[f64; 2]| {
            let inside = |(c, range): (&f64, &Option<[f64; 2]>)| {
                c.abs() <= FARTHEST && range.is_none_or(|[low, high]| (low..=high).contains(c))
            };
            p.iter().zip(&ranges).all(inside)
        };
        points.split(move |p| !good(p)).filter(|run| !run.is_empty())
    }

    fn colour(&self, curve: usize) -> Rgb {
        self.curves[curve].colour.unwrap_or(COLOURS[curve % COLOURS.len()])
    }
}

impl Figure {
    /// Writes the figure as an SVG file, whole or not at all.
    ///
    /// # Errors
    /// [`FileError::Write`] when the file cannot be written.
    pub fn write_svg(&self, path: &Path) -> Result<(), FileError> {
        write_svg(path, self.size, |pen| self.draw(pen))
    }

    /// The figure as a picture.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let mut picture = Picture::new(self.size[0], self.size[1], PAPER);
        self.draw(&mut picture);
        picture
    }

    fn draw(&self, pen: &mut dyn Pen) {
        let columns = self.columns.max(1);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let size = DVec2::from(self.size.map(f64::from)) / DVec2::new(columns as f64, rows as f64);
        for (k, panel) in self.panels.iter().enumerate() {
            let place = DVec2::new((k % columns) as f64, (k / columns) as f64);
            layout::draw(panel, pen, place * size, size);
        }
    }
}

fn write_svg(path: &Path, size: [u32; 2], draw: impl Fn(&mut dyn Pen)) -> Result<(), FileError> {
    write_atomically(path, |out| out.write_all(svg_text(size, &draw).as_bytes()))
}

fn svg_text(size: [u32; 2], draw: impl Fn(&mut dyn Pen)) -> String {
    let mut svg = Svg::new(size);
    draw(&mut svg);
    svg.finish()
}

/// Points beyond this are left out: differences and margins stay finite.
const FARTHEST: f64 = 1e300;

impl Pen for Picture {
    fn stroke(&mut self, runs: &[Vec<DVec2>], width: f64, colour: Rgb) {
        let pairs = runs.iter().flat_map(|run| run.windows(2).map(|pair| [pair[0], pair[1]]));
        canvas::stroke(self, &pairs.collect::<Vec<_>>(), width, colour);
    }

    fn polygon(&mut self, corners: &[DVec2], colour: Rgb) {
        canvas::polygon(self, corners, colour);
    }

    fn text(&mut self, text: &layout::Text<'_>) {
        let layout::Text { text, at, height, anchor, along } = *text;
        canvas::turned_text(self, text, at, height, anchor, INK, along);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plisse_io::read_text;

    fn plot(curves: Vec<Vec<[f64; 2]>>) -> Plot {
        let curve = |(i, points)| Curve { label: format!("curve {i}"), points, ..Curve::default() };
        Plot {
            title: "A <title> & more".to_owned(),
            x_label: "x (m)".to_owned(),
            y_label: "y (N)".to_owned(),
            curves: curves.into_iter().enumerate().map(curve).collect(),
            ..Plot::default()
        }
    }

    fn svg(plot: &Plot) -> String {
        svg_text(SIZE, |pen| plot.draw(pen))
    }

    fn has(picture: &Picture, colour: Rgb) -> bool {
        picture.pixels().contains(&colour)
    }

    #[test]
    fn strange_data_still_gives_plots() {
        let folder = tempfile::tempdir().unwrap();
        let nan = f64::NAN;
        for curves in [
            vec![],
            vec![vec![]],
            vec![vec![[nan, 1.0], [0.0, nan], [f64::INFINITY, 2.0]]],
            vec![vec![[1.0, 2.0]]],
            vec![vec![[1.0, 2.0]; 5]],
            vec![vec![[0.0, 3.0], [1.0, 3.0]]],
            vec![vec![[0.0, f64::MIN], [1.0, f64::MAX]], vec![[0.0, -1e300], [1.0, 1e300]]],
            vec![vec![[0.0, 1e-310], [1.0, 0.0]]],
            vec![vec![[1e16, 0.0], [1e16 + 2.0, 1.0]]],
            vec![vec![[0.0, 0.0], [1.0, nan], [2.0, 1.0], [3.0, 0.5]]; 9],
        ] {
            let plot = plot(curves);
            let path = folder.path().join("plot.svg");
            plot.write_svg(&path).unwrap();
            let text = read_text(&path).unwrap();
            assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
            assert!(!text.contains("NaN") && !text.contains("inf"), "{plot:?}");
            assert!(has(&plot.picture(), PAPER) && has(&plot.picture(), INK));
        }
    }

    #[test]
    fn curves_and_legend_are_there() {
        let plot = plot(vec![vec![[0.0, 0.0], [1.0, 1.0]], vec![[0.0, 1.0], [1.0, 0.0]]]);
        let text = svg(&plot);
        for part in ["curve 0", "curve 1", "x (m)", "y (N)", "&lt;title&gt; &amp; more"] {
            assert!(text.contains(part), "{part}");
        }
        let lines = |text: &str| text.matches("<polyline").count();
        assert_eq!(lines(&text) - lines(&svg(&self::plot(vec![]))), 4);
        let picture = plot.picture();
        assert!(has(&picture, COLOURS[0]) && has(&picture, COLOURS[1]) && !has(&picture, COLOURS[2]));
    }

    /// XML has no way to write most control characters: a file with one of them cannot be opened.
    #[test]
    fn control_characters_leave_a_whole_file() {
        let mut plot = plot(vec![vec![[0.0, 0.0], [1.0, 1.0]]]);
        plot.title = "a\u{1b}[31m\u{0}b\nc\u{ffff}".to_owned();
        plot.curves[0].label = "d\u{7}e".to_owned();
        let text = svg(&plot);
        assert!(text.contains("a [31m b c ") && text.contains("d e"));
        assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{ffff}'));
        assert!(has(&plot.picture(), PAPER));
    }

    #[test]
    fn gaps_stay_open() {
        let points = [[0.0, 0.0], [1.0, 0.0], [f64::NAN, 0.0], [2.0, 0.0]];
        let lengths = |plot: &Plot| plot.runs(&points).map(<[_]>::len).collect::<Vec<_>>();
        assert_eq!(lengths(&Plot::default()), [2, 1]);
        // So do those at the ends of a given range.
        assert_eq!(lengths(&Plot { x_range: Some([0.5, 2.0]), ..Plot::default() }), [1, 1]);
    }

    /// A unit is as long across as it is up, and nothing but the shape is drawn.
    #[test]
    fn bare_panels_keep_shapes() {
        let red = [200, 0, 0];
        let corners = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let square = Curve { points: corners, colour: Some(red), mark: Mark::Filled, ..Curve::default() };
        let panel = Plot { curves: vec![square], bare: true, ..Plot::default() };
        let figure = Figure { size: [600, 200], columns: 2, panels: vec![panel.clone(), panel] };
        let picture = figure.picture();
        let found: Vec<[usize; 2]> = (0..200)
            .flat_map(|y| (0..600).map(move |x| [x, y]))
            .filter(|[x, y]| picture.pixel(*x as u32, *y as u32) == Some(red))
            .collect();
        let extent = |axis: usize| {
            let all = found.iter().filter(|p| p[0] < 300).map(|p| p[axis]);
            all.clone().max().unwrap() - all.min().unwrap()
        };
        assert!(extent(0) > 100 && extent(0).abs_diff(extent(1)) <= 1, "{} {}", extent(0), extent(1));
        let others = picture.pixels().iter().filter(|p| **p == INK || **p == GRID).count();
        assert_eq!(others, 0);
        assert_eq!(found.iter().filter(|p| p[0] >= 300).count() * 2, found.len());
    }
}
