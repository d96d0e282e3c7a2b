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
            let mut encoder = Self::encoder(out, [self.width, self.height]);
            // Files are a quarter longer; the usual compression took a tenth of the time of a
            // picture.
            encoder.set_compression(png::Compression::Fast);
            let mut writer = encoder.write_header().map_err(plain_error)?;
            writer.write_image_data(self.pixels.as_flattened()).map_err(plain_error)?;
            writer.finish().map_err(plain_error)
        })
    }

    /// Writes PNG in the colours of all pictures.
    pub(crate) fn encoder<'a, W: io::Write>(out: W, [width, height]: [u32; 2]) -> png::Encoder<'a, W> {
        let mut encoder = png::Encoder::new(out, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder
    }

    /// Half as wide and high, at least one pixel each way; of an odd width or height the last
    /// pixels are left out.
    pub(crate) fn halved(&self) -> Self {
        let [width, height] = [self.width, self.height].map(|pixels| (pixels / 2).max(1));
        let mut half = Self::new(width, height, [0; 3]);
        for y in 0..height {
            for (x, out) in half.row_mut(y).iter_mut().enumerate() {
                let near = |n: u32, size: u32| n.min(size - 1);
                let columns = [2 * x as u32, 2 * x as u32 + 1].map(|x| near(x, self.width));
                let rows = [2 * y, 2 * y + 1].map(|y| near(y, self.height));
                let of = |x: u32, y: u32| self.pixels[(y * self.width + x) as usize];
                let four = rows.map(|y| columns.map(|x| of(x, y)));
                *out = std::array::from_fn(|c| {
                    let sum: u16 = four.as_flattened().iter().map(|pixel| u16::from(pixel[c])).sum();
                    ((sum + 2) / 4) as u8
                });
            }
        }
        half
    }

    /// A part of the picture, which must lie inside.
    pub(crate) fn cropped(&self, [left, top]: [u32; 2], [width, height]: [u32; 2]) -> Self {
        let rows = (top..top + height).map(|y| (y * self.width + left) as usize);
        let pixels = rows.flat_map(|first| &self.pixels[first..first + width as usize]).copied().collect();
        Self { width, height, pixels }
    }
}

/// What the system said, where it said anything: its kind decides on the advice in the message.
pub(crate) fn plain_error(error: png::EncodingError) -> io::Error {
    match error {
        png::EncodingError::IoError(error) => error,
        error => io::Error::other(error),
    }
}
