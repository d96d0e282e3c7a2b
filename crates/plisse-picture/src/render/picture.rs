//! A finished picture.

use std::io;
use std::path::Path;

use super::colour::Rgb;
use plisse_io::{FileError, write_atomically};

/// A picture of 8-bit colours, rows from top to bottom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    width: u32,
    height: u32,
    pixels: Vec<Rgb>,
}

impl Picture {
    /// A picture of one colour; width and height in pixels.
    #[must_use]
    pub fn new(width: u32, height: u32, colour: Rgb) -> Self {
        Self { width, height, pixels: vec![colour; width as usize * height as usize] }
    }

    /// Width in pixels.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All pixels, row by row from the top, each row from the left.
    #[must_use]
    pub fn pixels(&self) -> &[Rgb] {
        &self.pixels
    }

    /// The pixel in column `x` from the left and row `y` from the top; none outside the picture.
    #[must_use]
    pub fn pixel(&self, x: u32, y: u32) -> Option<Rgb> {
        let inside = x < self.width && y < self.height;
        inside.then(|| self.pixels[y as usize * self.width as usize + x as usize])
    }

    pub(crate) fn row_mut(&mut self, y: u32) -> &mut [Rgb] {
        let width = self.width as usize;
        let start = y as usize * width;
        &mut self.pixels[start..start + width]
    }

    /// Writes the picture as a PNG file, whole or not at all.
    ///
    /// # Errors
    /// [`FileError::Write`] when the file cannot be written.
    pub fn write_png(&self, path: &Path) -> Result<(), FileError> {
        write_atomically(path, |out| {
            let mut encoder = png::Encoder::new(out, self.width, self.height);
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_depth(png::BitDepth::Eight);
            encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
            let mut writer = encoder.write_header().map_err(plain)?;
            writer.write_image_data(self.pixels.as_flattened()).map_err(plain)?;
            writer.finish().map_err(plain)
        })
    }
}

/// What the system said, where it said anything: its kind decides on the advice in the message.
fn plain(error: png::EncodingError) -> io::Error {
    match error {
        png::EncodingError::IoError(error) => error,
        error => io::Error::other(error),
    }
}
