//! Point cache 2: the motion of a mesh, as Blender and Houdini read it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use glam::DVec3;
use thiserror::Error;

use crate::file::{FileError, read_bytes, write_atomically};
use crate::write_error::{WriteError, check_length, count};

const MAGIC: &[u8; 12] = b"POINTCACHE2\0";
const HEADER: usize = 32;

/// Why a point cache was not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Pc2Error {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file of another kind.
    #[error("{} does not begin like a point cache (POINTCACHE2): check the name", path.display())]
    NotPc2 {
        /// The file.
        path: PathBuf,
    },
    /// A version, a count or a rate that cannot be.
    #[error("{}: the header says {what} {value}, expected {expected}: export the file again", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// Which entry.
        what: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A file that ends too early or too late.
    #[error(
        "{} has {found} bytes, but {points} points in {frames} frames need {expected}: export the file again",
        path.display()
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// How many points the header promises.
        points: usize,
        /// How many frames the header promises.
        frames: usize,
        /// Bytes of such a file.
        expected: u128,
        /// Bytes found.
        found: usize,
    },
    /// A position that is infinite or NaN.
    #[error("{}: point {point} of frame {frame} is not finite: export the file again", path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The frame, counted from 0.
        frame: usize,
        /// The point, counted from 0.
        point: usize,
    },
}

/// The motion in a point cache.
#[derive(Clone, Debug, PartialEq)]
pub struct PointCache {
    /// Number of the first frame.
    pub start_frame: f32,
    /// Frames of the animation between two frames of the cache, usually 1.
    pub sample_rate: f32,
    /// Positions of every point in every frame, in m. All frames have the same number of points.
    pub frames: Vec<Vec<[f32; 3]>>,
}

/// Writes positions of every frame, in m, as a point cache; whole or not at all. Positions are
/// rounded to single precision.
///
/// `start_frame` is the number of the first frame, `sample_rate` the number of frames of the
/// animation from one frame here to the next, usually 1. The frames may be made one by one while
/// the file is written.
///
/// # Errors
/// [`WriteError`] if there is no frame or no point, if a frame has another number of points than
/// the first, if a number is beyond single precision, or if the system refuses.
///
/// ```
/// use glam::DVec3;
/// use plisse_io::{read_pc2, write_pc2};
/// let path = std::env::temp_dir().join("plisse doctest.pc2");
/// write_pc2(&path, 1.0, 1.0, [[DVec3::ZERO, DVec3::X], [DVec3::Z, DVec3::X]])?;
/// assert_eq!(read_pc2(&path)?.frames[1][0], [0.0, 0.0, 1.0]);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_pc2<F: AsRef<[DVec3]>>(
    path: &Path,
    start_frame: f32,
    sample_rate: f32,
    frames: impl IntoIterator<Item = F, IntoIter: ExactSizeIterator>,
) -> Result<(), WriteError> {
    for (place, value) in [("the start frame", start_frame), ("the sample rate", sample_rate)] {
        if !value.is_finite() {
            let (path, place, value) = (path.to_owned(), place.to_owned(), value.to_string());
            return Err(WriteError::NotFinite { path, place, value });
        }
    }
    let mut frames = frames.into_iter();
    let promised = frames.len();
    let samples = count(path, "frames", promised)?;
    let first = frames.next().ok_or(WriteError::Empty { path: path.to_owned(), what: "frames" })?;
    let points = first.as_ref().len();
    let point_count = count(path, "points", points)?;
    if points == 0 {
        return Err(WriteError::Empty { path: path.to_owned(), what: "points" });
    }

    // Frames are checked one by one; what is wrong with one must get out through the error of the
    // system.
    let mut refused = None;
    let written = write_atomically(path, |out| {
        out.write_all(MAGIC)?;
        out.write_all(&1i32.to_le_bytes())?;
        out.write_all(&point_count.to_le_bytes())?;
        out.write_all(&start_frame.to_le_bytes())?;
        out.write_all(&sample_rate.to_le_bytes())?;
        out.write_all(&samples.to_le_bytes())?;
        let mut found = 0;
        for frame in std::iter::once(first).chain(frames) {
            let frame = frame.as_ref();
            if let Err(error) = check_frame(path, found, frame, points) {
                refused = Some(error);
                return Err(io::ErrorKind::InvalidData.into());
            }
            write_frame(out, frame)?;
            found += 1;
        }
        // An iterator may err about its length.
        check_length(path, || "the list of frames".to_owned(), promised, found).map_err(|error| {
            refused = Some(error);
            io::ErrorKind::InvalidData.into()
        })
    });
    match refused {
        Some(error) => Err(error),
        None => Ok(written?),
    }
}

fn check_frame(path: &Path, number: usize, frame: &[DVec3], points: usize) -> Result<(), WriteError> {
    check_length(path, || format!("frame {number}"), points, frame.len())?;
    let Some(at) = frame.iter().position(|x| !x.as_vec3().is_finite()) else { return Ok(()) };
    let (path, place, value) =
        (path.to_owned(), format!("point {at} of frame {number}"), frame[at].to_string());
    if frame[at].is_finite() {
        Err(WriteError::BeyondSingle { path, place, value })
    } else {
        Err(WriteError::NotFinite { path, place, value })
    }
}

fn write_frame(out: &mut dyn Write, frame: &[DVec3]) -> io::Result<()> {
    for x in frame {
        for number in x.as_vec3().to_array() {
            out.write_all(&number.to_le_bytes())?;
        }
    }
    Ok(())
}

/// Reads a point cache.
///
/// # Errors
/// [`Pc2Error`] if it is none, if its length does not fit its header, or if a position is not
/// finite.
pub fn read_pc2(path: &Path) -> Result<PointCache, Pc2Error> {
    let bytes = read_bytes(path)?;
    parse(&bytes, path)
}

fn parse(bytes: &[u8], path: &Path) -> Result<PointCache, Pc2Error> {
    let path = || path.to_owned();
    let header = bytes.get(..HEADER).filter(|header| header.starts_with(MAGIC));
    let header = header.ok_or_else(|| Pc2Error::NotPc2 { path: path() })?;
    let [version, points, _, _, frames] = [12, 16, 20, 24, 28].map(|at| i32::from_le_bytes(word(header, at)));
    let [start_frame, sample_rate] = [20, 24].map(|at| f32::from_le_bytes(word(header, at)));
    let wrong = |what, value, expected| Err(Pc2Error::Header { path: path(), what, value, expected });
    if version != 1 {
        return wrong("version", version.to_string(), "1");
    }
    // Without points a file of 32 bytes could promise any number of frames.
    for (what, value) in [("points", points), ("samples", frames)] {
        if value < 1 {
            return wrong(what, value.to_string(), "at least 1");
        }
    }
    for (what, value) in [("start frame", start_frame), ("sample rate", sample_rate)] {
        if !value.is_finite() {
            return wrong(what, value.to_string(), "a finite number");
        }
    }
    let (points, frames) = (points as usize, frames as usize);
    let expected = HEADER as u128 + 12 * points as u128 * frames as u128;
    if expected != bytes.len() as u128 {
        return Err(Pc2Error::Length { path: path(), points, frames, expected, found: bytes.len() });
    }
    let mut out = Vec::with_capacity(frames);
    for (frame, block) in bytes[HEADER..].chunks_exact(12 * points).enumerate() {
        let read = |x: &[u8]| [0, 4, 8].map(|at| f32::from_le_bytes(word(x, at)));
        let positions: Vec<[f32; 3]> = block.chunks_exact(12).map(read).collect();
        if let Some(point) = positions.iter().position(|x| !x.iter().all(|c| c.is_finite())) {
            return Err(Pc2Error::NotFinite { path: path(), frame, point });
        }
        out.push(positions);
    }
    Ok(PointCache { start_frame, sample_rate, frames: out })
}

/// Four bytes from a slice that is known to hold them.
fn word(bytes: &[u8], at: usize) -> [u8; 4] {
    [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Vec<Vec<DVec3>> {
        vec![vec![DVec3::new(0.1, -2.0, 1e-40), DVec3::ZERO], vec![DVec3::ONE, DVec3::new(-0.0, -1.0, 3.0)]]
    }

    #[test]
    fn layout_and_reading_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pc2");
        write_pc2(&path, 3.0, 0.5, frames()).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let mut expected = b"POINTCACHE2\0\x01\0\0\0\x02\0\0\0\0\0\x40\x40\0\0\0\x3f\x02\0\0\0".to_vec();
        for number in [0.1f32, -2.0, 1e-40, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, -0.0, -1.0, 3.0] {
            expected.extend(number.to_le_bytes());
        }
        assert_eq!(bytes, expected);
        let back = read_pc2(&path).unwrap();
        assert_eq!((back.start_frame, back.sample_rate), (3.0, 0.5));
        let single = |frame: &Vec<DVec3>| frame.iter().map(|x| x.as_vec3().to_array()).collect::<Vec<_>>();
        assert_eq!(back.frames, frames().iter().map(single).collect::<Vec<_>>());
    }

    #[test]
    fn frames_that_do_not_fit_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pc2");
        let refusal = |frames: Vec<Vec<DVec3>>| {
            let error = write_pc2(&path, 0.0, 1.0, frames).unwrap_err();
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
            error.to_string().replace(&format!("cannot write {}: ", path.display()), "")
        };
        assert_eq!(refusal(vec![]), "there are no frames. Give at least one");
        assert_eq!(refusal(vec![vec![]]), "there are no points. Give at least one");
        let mut short = frames();
        short[1].pop();
        assert_eq!(refusal(short), "frame 1 must have 2 values, but has 1. Give values of the same mesh");
        let mut far = frames();
        far[1][0].y = 3.5e38;
        assert_eq!(
            refusal(far).replace('0', ""),
            "point  of frame 1 is [1, 35, 1], beyond single precision. Check the unit of the positions"
        );
        let mut nan = frames();
        nan[0][1].z = f64::NAN;
        assert_eq!(
            refusal(nan),
            "point 1 of frame 0 is [0, 0, NaN], which is not finite. Look for the step where the motion \
             went wrong"
        );
        let error = write_pc2(&path, 0.0, f32::NAN, frames()).unwrap_err().to_string();
        assert!(error.contains("the sample rate is NaN"), "{error}");
    }

    #[test]
    fn garbage_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pc2");
        write_pc2(&path, 0.0, 1.0, frames()).unwrap();
        let good = std::fs::read(&path).unwrap();
        let refusal = |bytes: &[u8]| parse(bytes, Path::new("a.pc2")).unwrap_err().to_string();
        let with = |at: usize, word: [u8; 4]| {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&word);
            refusal(&bytes)
        };
        for length in 0..good.len() {
            let message = refusal(&good[..length]);
            let expected = if length < 32 { "does not begin like" } else { "2 points in 2 frames need 80" };
            assert!(message.contains(expected), "{message}");
        }
        assert_eq!(
            refusal(&[&good[..], &[0]].concat()),
            "a.pc2 has 81 bytes, but 2 points in 2 frames need 80: export the file again"
        );
        assert_eq!(
            refusal(b"v 0 0 0"),
            "a.pc2 does not begin like a point cache (POINTCACHE2): check the name"
        );
        assert_eq!(
            with(12, 2i32.to_le_bytes()),
            "a.pc2: the header says version 2, expected 1: export the file again"
        );
        assert_eq!(
            with(16, 0i32.to_le_bytes()),
            "a.pc2: the header says points 0, expected at least 1: export the file again"
        );
        assert!(with(28, (-1i32).to_le_bytes()).contains("samples -1"));
        assert!(with(28, i32::MAX.to_le_bytes()).contains("in 2147483647 frames need 51539607560"));
        assert!(with(24, f32::NAN.to_le_bytes()).contains("sample rate NaN"));
        assert_eq!(
            with(60, f32::INFINITY.to_le_bytes()),
            "a.pc2: point 0 of frame 1 is not finite: export the file again"
        );
    }
}
