//! The pictures of a run, and the film that they make.

use std::path::{Path, PathBuf};

use plisse::picture::{Film, Picture};

use crate::error::Failure;
use crate::folder::frame_name;

/// Pictures in a film at most: longer runs show every second or third one.
const LONGEST: usize = 250;
/// Fewer pictures make no film: the first and the last say as much.
pub(crate) const SHORTEST: usize = 3;

/// Writes pictures as they are taken, and a film of them at the end.
pub(crate) struct Reel {
    folder: PathBuf,
    film: Film,
    pictures: usize,
    taken: usize,
    /// Pictures per second.
    rate: f64,
}

impl Reel {
    /// For so many pictures, this many per second.
    pub(crate) fn new(folder: &Path, pictures: usize, rate: f64) -> Self {
        Self { folder: folder.to_owned(), film: Film::default(), pictures, taken: 0, rate }
    }

    fn every(&self) -> usize {
        self.pictures.div_ceil(LONGEST).max(1)
    }

    /// Writes a picture, all of which have one size.
    #[expect(clippy::expect_used, reason = "one view takes all pictures, so that they have one size")]
    pub(crate) fn take(&mut self, frame: u32, picture: &Picture) -> Result<(), Failure> {
        picture.write_png(&self.folder.join(frame_name(frame, "png")))?;
        if self.pictures >= SHORTEST && self.taken.is_multiple_of(self.every()) {
            self.film.add(picture).expect("pictures of one size");
        }
        self.taken += 1;
        Ok(())
    }

    /// How many pictures were written.
    pub(crate) fn taken(&self) -> usize {
        self.taken
    }

    /// Writes the film, if there are pictures for one.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        if self.film.is_empty() {
            return Ok(());
        }
        Ok(self.film.write_png(&self.folder.join("film.png"), self.rate / self.every() as f64)?)
    }
}
