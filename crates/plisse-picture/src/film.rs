//! Films: pictures one after the other in one animated PNG file, which every browser plays.

use std::path::Path;

use plisse_io::{FileError, write_atomically};
use thiserror::Error;

use crate::render::{Picture, plain_error};

/// Pictures of one size that are shown one after the other, over and over. Each is kept at half of
/// its width and height, and only where it differs from the one before.
///
/// ```
/// use plisse_picture::{Film, Picture};
/// let mut film = Film::default();
/// for shade in [0, 120, 240] {
///     film.add(&Picture::new(64, 48, [shade; 3]))?;
/// }
/// assert_eq!((film.len(), film.size()), (3, [32, 24]));
/// let path = std::env::temp_dir().join("plisse doctest film.png");
/// film.write_png(&path, 25.0)?;
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Film {
    last: Option<Picture>,
    frames: Vec<Frame>,
}

/// What changes from one picture to the next.
#[derive(Clone, Debug)]
struct Frame {
    /// Of the part that changes, the column and the row of its first pixel.
    corner: [u32; 2],
    part: Picture,
}

/// A picture that does not fit into a film.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the picture has {} x {} pixels, those before have {} x {}; take all pictures of a film in one size",
    found[0], found[1], expected[0], expected[1]
)]
pub struct OtherSize {
    /// Width and height of the picture, halved.
    pub found: [u32; 2],
    /// Those of the pictures before.
    pub expected: [u32; 2],
}

/// Slowest and fastest pictures per second that a file can say, and players show.
const RATES: [f64; 2] = [0.1, 60.0];

impl Film {
    /// How many pictures there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Width and height in pixels; zero without pictures.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.last.as_ref().map_or([0; 2], |last| [last.width(), last.height()])
    }

    /// Adds a picture.
    ///
    /// # Errors
    /// [`OtherSize`] if the pictures before have another one.
    pub fn add(&mut self, picture: &Picture) -> Result<(), OtherSize> {
        let half = picture.halved();
        let frame = match &self.last {
            None => Frame { corner: [0, 0], part: half.clone() },
            Some(last) => {
                let found = [half.width(), half.height()];
                if found != self.size() {
                    return Err(OtherSize { found, expected: self.size() });
                }
                let [corner, size] = changed(last, &half);
                Frame { corner, part: half.cropped(corner, size) }
            }
        };
        self.frames.push(frame);
        self.last = Some(half);
        Ok(())
    }

    /// Writes the film as an animated PNG file, whole or not at all. Rates are pictures per second,
    /// from 0.1 to 60; others are shown at the nearest of these, and what is no number at 0.1. A
    /// film without pictures has one black pixel.
    ///
    /// # Errors
    /// [`FileError::Write`] when the file cannot be written.
    pub fn write_png(&self, path: &Path, rate: f64) -> Result<(), FileError> {
        let [width, height] = self.size().map(|pixels| pixels.max(1));
        let nothing = Frame { corner: [0, 0], part: Picture::new(width, height, [0; 3]) };
        let frames = if self.is_empty() { std::slice::from_ref(&nothing) } else { &self.frames };
        let rate = if rate.is_nan() { RATES[0] } else { rate.clamp(RATES[0], RATES[1]) };
        // In thousandths of a second.
        let delay = (1e3 / rate).round() as u16;
        write_atomically(path, |out| {
            let mut encoder = Picture::encoder(out, [width, height]);
            encoder.set_animated(frames.len() as u32, 0).map_err(plain_error)?;
            encoder.set_frame_delay(delay, 1000).map_err(plain_error)?;
            let mut writer = encoder.write_header().map_err(plain_error)?;
            for Frame { corner, part } in frames {
                writer.reset_frame_position().map_err(plain_error)?;
                writer.set_frame_dimension(part.width(), part.height()).map_err(plain_error)?;
                writer.set_frame_position(corner[0], corner[1]).map_err(plain_error)?;
                writer.write_image_data(part.pixels().as_flattened()).map_err(plain_error)?;
            }
            writer.finish().map_err(plain_error)
        })
    }
}

/// Corner and size of the smallest rectangle in which two pictures of one size differ; one pixel if
/// they do not, because no part of a film may be empty.
fn changed(a: &Picture, b: &Picture) -> [[u32; 2]; 2] {
    let width = a.width() as usize;
    let (mut low, mut high) = ([u32::MAX; 2], [0; 2]);
    for (number, (one, other)) in a.pixels().iter().zip(b.pixels()).enumerate() {
        if one != other {
            let at = [(number % width) as u32, (number / width) as u32];
            for k in 0..2 {
                low[k] = low[k].min(at[k]);
                high[k] = high[k].max(at[k]);
            }
        }
    }
    if low[0] == u32::MAX {
        return [[0, 0], [1, 1]];
    }
    [low, [high[0] - low[0] + 1, high[1] - low[1] + 1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A white square somewhere on black.
    fn square(at: u32) -> Picture {
        let mut picture = Picture::new(64, 48, [0; 3]);
        for y in 10..20 {
            picture.row_mut(y)[at as usize..at as usize + 8].fill([255; 3]);
        }
        picture
    }

    /// What a player shows: parts are put over what was there.
    fn played(path: &Path) -> Vec<Picture> {
        let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let count = reader.info().animation_control().unwrap().num_frames;
        let mut shown = Picture::new(reader.info().width, reader.info().height, [0; 3]);
        let mut all = Vec::new();
        for _ in 0..count {
            let mut room = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut room).unwrap();
            let frame = *reader.info().frame_control().unwrap();
            assert_eq!((frame.delay_num, frame.delay_den), (40, 1000));
            for y in 0..frame.height {
                let row = &mut shown.row_mut(frame.y_offset + y)[frame.x_offset as usize..];
                for x in 0..frame.width as usize {
                    let k = 3 * (y as usize * frame.width as usize + x);
                    row[x] = [room[k], room[k + 1], room[k + 2]];
                }
            }
            all.push(shown.clone());
        }
        all
    }

    #[test]
    fn players_show_every_picture() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("film.png");
        let mut film = Film::default();
        // The third does not differ from the second.
        let pictures = [square(4), square(20), square(20), square(50)];
        pictures.iter().for_each(|picture| film.add(picture).unwrap());
        film.write_png(&path, 25.0).unwrap();
        let shown = played(&path);
        assert_eq!(shown, pictures.map(|picture| picture.halved()));
        assert_ne!(shown[0], shown[1]);
    }

    #[test]
    fn other_sizes_are_refused() {
        let mut film = Film::default();
        film.add(&Picture::new(8, 8, [0; 3])).unwrap();
        let refused = film.add(&Picture::new(10, 8, [0; 3]));
        assert_eq!(refused, Err(OtherSize { found: [5, 4], expected: [4, 4] }));
        assert_eq!(film.len(), 1);
    }

    #[test]
    fn odd_tiny_and_empty_films_are_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("film.png");
        Film::default().write_png(&path, 25.0).unwrap();
        assert_eq!(played(&path).len(), 1);
        let mut film = Film::default();
        film.add(&Picture::new(1, 3, [7; 3])).unwrap();
        film.add(&Picture::new(1, 3, [9; 3])).unwrap();
        film.write_png(&path, 25.0).unwrap();
        assert_eq!(played(&path).last().unwrap().pixels(), [[9; 3]]);
    }
}
