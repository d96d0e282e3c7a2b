//! Reading with messages that help, and writing whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a file was not read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// Reading failed.
    #[error("cannot read {}: {source}. {}", path.display(), remedy(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Writing failed. Nothing was left behind; a file that was there before still is.
    #[error("cannot write {}: {source}. {}", path.display(), remedy(source))]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A text file with bytes that are no text.
    #[error("{} is not a text file: byte {at} is not UTF-8. Export it as text again", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// Position of the first wrong byte.
        at: usize,
    },
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "Check the name; relative paths in a scene count from the folder of the scene file"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "Check the permissions, or choose another folder"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "Free some space, then go on with `plisse resume`"
        }
        io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => "Check the name",
        _ => "Check the folder",
    }
}

/// All bytes of a file.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(|source| FileError::Read { path: path.to_owned(), source })
}

/// A file of text in UTF-8, with or without a byte order mark.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    let text = String::from_utf8(read_bytes(path)?).map_err(|error| FileError::NotText {
        path: path.to_owned(),
        at: error.utf8_error().valid_up_to(),
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Writes a file whole or not at all: into a temporary file beside it, which then takes its name. Missing folders are
/// made.
///
/// ```
/// use plisse_io::write_atomically;
/// let folder = std::env::temp_dir().join("plisse doctest");
/// write_atomically(&folder.join("a.txt"), |out| out.write_all(b"whole"))?;
/// assert_eq!(plisse_io::read_text(&folder.join("a.txt"))?, "whole");
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_atomically(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FileError> {
    write(path, content).map_err(|source| FileError::Write { path: path.to_owned(), source })
}

fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".plisse-");
    // Temporary files are private by default; what people share should not be.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder)?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    content(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    // A name must not outlive a crash of the machine that its content did not.
    file.as_file().sync_data()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a file.txt");
        write_atomically(&path, |out| out.write_all(b"old")).unwrap();
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let error = write_atomically(&path, |out| {
            out.write_all(b"half of the new")?;
            Err(full())
        });
        let message = error.unwrap_err().to_string();
        assert!(message.contains("a file.txt") && message.contains("Free some space"), "{message}");
        assert_eq!(read_text(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a file.txt"]);
    }

    #[test]
    fn folders_are_made_and_files_in_the_way_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/c.txt");
        write_atomically(&path, |out| out.write_all(b"x")).unwrap();
        let error = write_atomically(&path.join("d.txt"), |out| out.write_all(b"x")).unwrap_err();
        assert!(error.to_string().contains("d.txt"), "{error}");
        let error = read_text(&folder.path().join("none.obj")).unwrap_err();
        assert!(error.to_string().contains("none.obj") && error.to_string().contains("Check the name"));
        fs::write(folder.path().join("bytes"), [65, 0xff]).unwrap();
        let error = read_text(&folder.path().join("bytes")).unwrap_err();
        assert!(error.to_string().contains("byte 1"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_full_disk_leaves_nothing() {
        // `/dev/full` refuses every byte, as a full disk does.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let error = write_atomically(&path, |_| fs::write("/dev/full", b"x")).unwrap_err();
        assert!(error.to_string().contains("Free some space"), "{error}");
        assert!(names(folder.path()).is_empty());
    }
}
