//! Reading with messages that help, and writing whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
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
    /// A pipe, a device or a folder. These may have no end, or never answer.
    #[error("{} is not a regular file; pipes, devices and folders are not read", path.display())]
    NotRegular {
        /// What was to be read.
        path: PathBuf,
    },
    /// A file that is too long for what it should be.
    #[error("{} has more than {limit} bytes, the most that is read of such a file", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How many bytes are read at most.
        limit: u64,
    },
}

/// Most bytes that are read where nothing else is said: 4 GiB.
const LARGEST: u64 = 4 << 30;

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

/// All bytes of a regular file, at most 4 GiB.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    read_bytes_up_to(path, LARGEST)
}

/// All bytes of a regular file that has at most `limit` of them.
///
/// # Errors
/// [`FileError::NotRegular`] for pipes, devices and folders, [`FileError::TooLarge`] beyond the
/// limit, [`FileError::Read`] if the system refuses. No more than the limit is ever held in memory.
pub fn read_bytes_up_to(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let failed = |source| FileError::Read { path: path.to_owned(), source };
    let regular = |metadata: &fs::Metadata| match metadata.is_file() {
        true => Ok(()),
        false => Err(FileError::NotRegular { path: path.to_owned() }),
    };
    // Before it is opened: to open a pipe is to wait for its other end.
    regular(&fs::metadata(path).map_err(failed)?)?;
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    regular(&metadata)?;
    let mut bytes = Vec::new();
    if metadata.len() <= limit {
        bytes.reserve_exact(usize::try_from(metadata.len()).unwrap_or(0));
        // The length may be wrong: it is zero for files of the system, and some files grow.
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    }
    if metadata.len() > limit || bytes.len() as u64 > limit {
        return Err(FileError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(bytes)
}

/// A file of text in UTF-8, with or without a byte order mark, at most 4 GiB.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    read_text_up_to(path, LARGEST)
}

/// A file of text in UTF-8, with or without a byte order mark, that has at most `limit` bytes.
///
/// # Errors
/// Those of [`read_bytes_up_to`], and [`FileError::NotText`].
pub fn read_text_up_to(path: &Path, limit: u64) -> Result<String, FileError> {
    let text = String::from_utf8(read_bytes_up_to(path, limit)?).map_err(|error| FileError::NotText {
        path: path.to_owned(),
        at: error.utf8_error().valid_up_to(),
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Adds bytes to the end of a regular file, which is made if there is none. A symbolic link is an
/// error, never followed: the file that it names may be anyone's.
///
/// # Errors
/// [`FileError::NotRegular`] for links, pipes, devices and folders; [`FileError::Write`] if the
/// system refuses.
pub fn append(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let failed = |source| FileError::Write { path: path.to_owned(), source };
    let mut file = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Fails if something has appeared in the meantime, a link included.
            OpenOptions::new().append(true).create_new(true).open(path).map_err(failed)?
        }
        Err(error) => return Err(failed(error)),
        Ok(seen) if !seen.is_file() => return Err(FileError::NotRegular { path: path.to_owned() }),
        Ok(seen) => {
            let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
            if !is_same(&seen, &file.metadata().map_err(failed)?) {
                return Err(FileError::NotRegular { path: path.to_owned() });
            }
            file
        }
    };
    file.write_all(bytes).and_then(|()| file.flush()).map_err(failed)
}

/// Whether what was opened is what was seen before: a link may have taken its place in between.
#[cfg(unix)]
fn is_same(seen: &fs::Metadata, opened: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (seen.dev(), seen.ino()) == (opened.dev(), opened.ino())
}

/// Whether what was opened is what was seen before, as far as can be told here.
#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, opened: &fs::Metadata) -> bool {
    opened.is_file()
}

/// Writes a file whole or not at all: into a temporary file beside it, which then takes its name.
/// Missing folders are made. A symbolic link of that name is replaced, not followed.
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

    #[test]
    fn only_so_much_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, [b'x'; 10]).unwrap();
        assert_eq!(read_bytes_up_to(&path, 10).unwrap().len(), 10);
        assert!(matches!(read_bytes_up_to(&path, 9), Err(FileError::TooLarge { limit: 9, .. })));
        // A file with a hole is as long as it says.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(matches!(read_bytes(&path), Err(FileError::TooLarge { .. })));
        assert!(matches!(read_bytes(folder.path()), Err(FileError::NotRegular { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            assert!(matches!(read_bytes(path), Err(FileError::NotRegular { .. })), "{}", path.display());
        }
    }

    #[test]
    fn appending_makes_a_file_grow() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        append(&path, b"one ").unwrap();
        append(&path, b"two").unwrap();
        assert_eq!(read_text(&path).unwrap(), "one two");
        assert!(append(folder.path(), b"x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_written_through() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("precious"), b"mine").unwrap();
        symlink(at("precious"), at("link")).unwrap();
        symlink(at("nothing yet"), at("dangling")).unwrap();
        for link in ["link", "dangling"] {
            assert!(matches!(append(&at(link), b"x"), Err(FileError::NotRegular { .. })), "{link}");
        }
        write_atomically(&at("link"), |out| out.write_all(b"x")).unwrap();
        assert_eq!(fs::read(at("precious")).unwrap(), b"mine");
        assert!(!at("nothing yet").exists() && !at("link").is_symlink());
    }
}
