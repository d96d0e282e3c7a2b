//! Any text as a scene file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plisse_io::scene_file::SceneFile;

fuzz_target!(|text: &str| {
    if let Err(mistakes) = SceneFile::parse(text, "fuzz.toml") {
        assert!(!mistakes.list.is_empty());
    }
});
