//! Line plots.

mod raster;
mod svg;

use std::io::Write;
use std::path::Path;

use crate::file::{FileError, write_atomically};
use crate::render::{Picture, Rgb, value_range};

/// A plot of curves over common axes.
///
/// ```
/// use plisse_io::{Curve, Plot};
/// let points = (0..50).map(|i| [f64::from(i), f64::from(i).sqrt()]).collect();
/// let plot = Plot {
///     title: "Energy".to_owned(),
///     x_label: "time (s)".to_owned(),
///     y_label: "energy (J)".to_owned(),
///     curves: vec![Curve { label: "kinetic".to_owned(), points }],
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
    /// Curves, in the order of the legend.
    pub curves: Vec<Curve>,
}

/// One curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Text in the legend.
    pub label: String,
    /// Points, joined in their order; those that are not finite are left out, and the curve has a gap there.
    pub points: Vec<[f64; 2]>,
}

/// Width and height in pixels.
const SIZE: [u32; 2] = [960, 600];
const PAPER: Rgb = [255, 255, 255];
const INK: Rgb = [44, 46, 50];
const GRID: Rgb = [226, 228, 232];
/// Told apart also by people who see red and green alike; darker than the usual choice on white.
const COLOURS: [Rgb; 7] =
    [[0, 104, 170], [205, 90, 0], [0, 140, 106], [176, 78, 140], [84, 84, 88], [60, 160, 215], [190, 150, 0]];

impl Plot {
    /// Writes the plot as an SVG file, whole or not at all.
    ///
    /// # Errors
    /// [`FileError::Write`] when the file cannot be written.
    pub fn write_svg(&self, path: &Path) -> Result<(), FileError> {
        write_atomically(path, |out: &mut dyn Write| out.write_all(svg::draw(self)?.as_bytes()))
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
        raster::draw(self)
    }

    /// Ranges of the axes: those of the points, the vertical one with a margin.
    fn ranges(&self) -> [[f64; 2]; 2] {
        let finite = || self.curves.iter().flat_map(|curve| runs(&curve.points)).flatten();
        let x = value_range(finite().map(|p| p[0]));
        let [low, high] = value_range(finite().map(|p| p[1]));
        let margin = 0.05 * high - 0.05 * low;
        [x, [low - margin, high + margin]]
    }
}

/// Points beyond this are left out: differences and margins stay finite.
const FARTHEST: f64 = 1e300;

/// Stretches of points without gaps.
fn runs(points: &[[f64; 2]]) -> impl Iterator<Item = &[[f64; 2]]> {
    let good = |p: &[f64; 2]| p.iter().all(|c| c.abs() <= FARTHEST);
    points.split(move |p| !good(p)).filter(|run| !run.is_empty())
}

fn colour(curve: usize) -> Rgb {
    COLOURS[curve % COLOURS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::read_text;

    fn plot(curves: Vec<Vec<[f64; 2]>>) -> Plot {
        let curve = |(i, points)| Curve { label: format!("curve {i}"), points };
        Plot {
            title: "A <title> & more".to_owned(),
            x_label: "x (m)".to_owned(),
            y_label: "y (N)".to_owned(),
            curves: curves.into_iter().enumerate().map(curve).collect(),
        }
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
        let svg = svg::draw(&plot).unwrap();
        for text in ["curve 0", "curve 1", "x (m)", "y (N)", "&lt;title&gt; &amp; more"] {
            assert!(svg.contains(text), "{text}");
        }
        assert_eq!(
            svg.matches("<polyline").count()
                - svg::draw(&self::plot(vec![])).unwrap().matches("<polyline").count(),
            4
        );
        let picture = plot.picture();
        assert!(has(&picture, COLOURS[0]) && has(&picture, COLOURS[1]) && !has(&picture, COLOURS[2]));
    }

    /// XML has no way to write most control characters: a file with one of them cannot be opened.
    #[test]
    fn control_characters_leave_a_whole_file() {
        let mut plot = plot(vec![vec![[0.0, 0.0], [1.0, 1.0]]]);
        plot.title = "a\u{1b}[31m\u{0}b\nc\u{ffff}".to_owned();
        plot.curves[0].label = "d\u{7}e".to_owned();
        let svg = svg::draw(&plot).unwrap();
        assert!(svg.contains("a [31m b c ") && svg.contains("d e"));
        assert!(!svg.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{ffff}'));
        assert!(has(&plot.picture(), PAPER));
    }

    #[test]
    fn gaps_stay_open() {
        let points = [[0.0, 0.0], [1.0, 0.0], [f64::NAN, 0.0], [2.0, 0.0]];
        assert_eq!(runs(&points).map(<[_]>::len).collect::<Vec<_>>(), [2, 1]);
    }
}
