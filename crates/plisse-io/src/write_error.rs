//! What can be wrong with a mesh, a motion or a field that is to be written.

use std::path::{Path, PathBuf};

use glam::DVec3;
use thiserror::Error;

use crate::file::FileError;

/// Why a file was not written. Nothing was left behind; a file that was there before still is.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// A number that is infinite or NaN.
    #[error("cannot write {}: {place} is {value}, which is not finite. Look for the step where the motion \
        went wrong", path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// Where the number is, "vertex 3" for instance.
        place: String,
        /// The value found there.
        value: String,
    },
    /// A number beyond what 32 bits hold, about 3.4e38.
    #[error("cannot write {}: {place} is {value}, beyond single precision. Check the unit of the \
        positions", path.display())]
    BeyondSingle {
        /// The file.
        path: PathBuf,
        /// Where the number is, "point 3 of frame 0" for instance.
        place: String,
        /// The value found there.
        value: String,
    },
    /// A face or a segment with a vertex that does not exist.
    #[error("cannot write {}: {place} uses vertex {index}, but there are {count} vertices. Give the faces \
        and positions of one mesh", path.display())]
    IndexOutOfRange {
        /// The file.
        path: PathBuf,
        /// The face or segment, "face 3" for instance.
        place: String,
        /// The index found there, counted from 0.
        index: u32,
        /// How many vertices there are.
        count: usize,
    },
    /// Too many or too few values.
    #[error("cannot write {}: {what} must have {expected} values, but has {found}. Give values of the same \
        mesh", path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// What has the values, "frame 3" for instance.
        what: String,
        /// How many values it needs.
        expected: usize,
        /// How many there were.
        found: usize,
    },
    /// Nothing to write.
    #[error("cannot write {}: there are no {what}. Give at least one", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What is missing, "frames" for instance.
        what: &'static str,
    },
    /// More than the format can count.
    #[error("cannot write {}: {count} {what} are more than the format can count. Split the mesh or the \
        motion", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What there is too much of.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// Two fields with one name.
    #[error("cannot write {}: two fields are called `{name}`. Rename one of them", path.display())]
    RepeatedName {
        /// The file.
        path: PathBuf,
        /// The name as it would be written.
        name: String,
    },
}

/// Every position finite.
pub(crate) fn check_positions(path: &Path, positions: &[DVec3]) -> Result<(), WriteError> {
    match positions.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(at) => Err(WriteError::NotFinite {
            path: path.to_owned(),
            place: format!("vertex {at}"),
            value: positions[at].to_string(),
        }),
    }
}

/// Every vertex of every face or segment exists. `of` follows the number of the place in messages.
pub(crate) fn check_indices<const N: usize>(
    path: &Path,
    what: &str,
    of: &str,
    cells: &[[u32; N]],
    count: usize,
) -> Result<(), WriteError> {
    for (at, cell) in cells.iter().enumerate() {
        if let Some(index) = cell.iter().find(|index| **index as usize >= count) {
            let place = format!("{what} {at}{of}");
            return Err(WriteError::IndexOutOfRange { path: path.to_owned(), place, index: *index, count });
        }
    }
    Ok(())
}

/// As many values as there should be.
pub(crate) fn check_length(
    path: &Path,
    what: impl FnOnce() -> String,
    expected: usize,
    found: usize,
) -> Result<(), WriteError> {
    if expected == found {
        return Ok(());
    }
    Err(WriteError::Length { path: path.to_owned(), what: what(), expected, found })
}

/// A count as the formats store it.
pub(crate) fn count(path: &Path, what: &'static str, count: usize) -> Result<i32, WriteError> {
    i32::try_from(count).map_err(|_| WriteError::TooLarge { path: path.to_owned(), what, count })
}

/// A text on one line, of characters that XML, VTK and terminals can take; a blank for each other
/// one.
pub(crate) fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { ' ' } else { c };
    text.chars().map(plain).collect()
}

/// A name without anything that would end it: white space and the characters in `also` become `_`.
pub(crate) fn plain_name(name: &str, also: &[char]) -> String {
    let bad = |c: char| c.is_whitespace() || c.is_control() || also.contains(&c);
    let name: String = name.chars().map(|c| if bad(c) { '_' } else { c }).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}
