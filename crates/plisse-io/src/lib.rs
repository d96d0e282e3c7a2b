//! Files of plisse: meshes, caches, pictures, plots and scene files. No other crate of plisse touches files.

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::unwrap_used,
        reason = "tests compare bits where bits are promised, and may panic"
    )
)]

mod file;

pub use file::{FileError, read_bytes, read_text, write_atomically};
