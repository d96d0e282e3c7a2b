//! Any text as an OBJ file, and what can be read as a surface.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plisse_io::Obj;

fuzz_target!(|text: &str| {
    if let Ok(obj) = Obj::parse(text, "fuzz.obj") {
        _ = obj.into_surface();
    }
});
