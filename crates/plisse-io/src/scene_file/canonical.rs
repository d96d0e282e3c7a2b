//! What a table says, in a form that depends on nothing else.
//!
//! Two tables have the same text if and only if they say the same: order, remarks, lines, and the
//! way in which a number is written do not count, and a key with its default value counts as
//! absent. A key that is added to the format later therefore leaves the texts of all older files as
//! they are.

use std::fmt::Write;

use glam::{DVec2, DVec3};
use plisse_core::{PoissonRatio, Positive, UnitDir2};
use toml::de::DeValue;

use super::mistakes::Collector;
use super::read::Read;
use super::tables::{DampingChoice, Indices, MaterialChoice};
use super::values::{
    Count, Direction, Fraction, LargestStretch, NonNegative, Pixels, RateExponent, Version, ViewAngle,
};

/// Something with a canonical text.
///
/// ```
/// use plisse_io::scene_file::{Canonical, SceneFile};
/// let cloth = |text: &str| {
///     let text = format!("version = 1\ntime.duration = 1\n[[cloth]]\n{text}");
///     SceneFile::parse(&text, "a.toml").map(|file| file.cloth[0].canonical())
/// };
/// let short = cloth("disc = { rings = 4, radius = 1 }")?;
/// let long = cloth("# the same\njitter = -0.0\ndisc = { radius = 1e0, rings = 4 }\nposition = [0, 0, 0]")?;
/// assert_eq!(short, long);
/// assert_ne!(short, cloth("disc = { rings = 4, radius = 2 }")?);
/// # Ok::<(), plisse_io::scene_file::Mistakes>(())
/// ```
pub trait Canonical {
    /// Adds the text to `out`.
    fn add_canonical(&self, out: &mut String);

    /// The text.
    fn canonical(&self) -> String {
        let mut out = String::new();
        self.add_canonical(&mut out);
        out
    }
}

/// Adds a key with its value.
pub(super) fn entry(out: &mut String, key: &str, value: &impl Canonical) {
    out.push_str(key);
    out.push('=');
    value.add_canonical(out);
    out.push(';');
}

/// Adds a key with its value unless that is the default, which is written as in a file.
pub(super) fn entry_unless<T: Read + Canonical>(out: &mut String, key: &str, value: &T, default: &str) {
    let item = DeValue::parse(default).ok();
    let default = item.and_then(|item| T::read(&item, &mut Collector::new(default)));
    // By their texts: values also know their lines.
    if default.is_none_or(|default| default.canonical() != value.canonical()) {
        entry(out, key, value);
    }
}

/// By exact bits; both zeros are one number.
impl Canonical for f64 {
    fn add_canonical(&self, out: &mut String) {
        _ = write!(out, "{:016x}", (self + 0.0).to_bits());
    }
}

/// In quotes, so that no text can pass for something else.
impl Canonical for str {
    fn add_canonical(&self, out: &mut String) {
        _ = write!(out, "\"{}\"", self.escape_default());
    }
}

impl Canonical for String {
    fn add_canonical(&self, out: &mut String) {
        self.as_str().add_canonical(out);
    }
}

impl<T: Canonical> Canonical for [T] {
    fn add_canonical(&self, out: &mut String) {
        out.push('[');
        for value in self {
            value.add_canonical(out);
            out.push(',');
        }
        out.push(']');
    }
}

impl<T: Canonical, const N: usize> Canonical for [T; N] {
    fn add_canonical(&self, out: &mut String) {
        self.as_slice().add_canonical(out);
    }
}

impl<T: Canonical> Canonical for Vec<T> {
    fn add_canonical(&self, out: &mut String) {
        self.as_slice().add_canonical(out);
    }
}

macro_rules! plain {
    ($($T:ty),*) => { $(
        impl Canonical for $T {
            fn add_canonical(&self, out: &mut String) {
                _ = write!(out, "{self}");
            }
        }
    )* };
}
plain!(bool, u32, u64, usize);

macro_rules! like {
    ($($T:ty: |$value:ident| $inner:expr),* $(,)?) => { $(
        impl Canonical for $T {
            fn add_canonical(&self, out: &mut String) {
                let $value = self;
                $inner.add_canonical(out);
            }
        }
    )* };
}
like! {
    Positive: |p| p.get(),
    UnitDir2: |d| d.get().to_array(),
    DVec2: |v| v.to_array(),
    DVec3: |v| v.to_array(),
    Direction: |v| v.0,
    NonNegative: |x| x.0,
    Fraction: |x| x.0,
    PoissonRatio: |x| x.get(),
    RateExponent: |x| x.0,
    LargestStretch: |x| x.0,
    ViewAngle: |x| x.0,
    Count: |n| n.0,
    Pixels: |n| n.0,
    Version: |n| n.0,
    Indices: |list| list.0,
}

/// As the table that has nothing but the preset.
impl Canonical for MaterialChoice {
    fn add_canonical(&self, out: &mut String) {
        match self {
            Self::Preset(name, _) => {
                out.push('{');
                entry(out, "preset", name);
                out.push('}');
            }
            Self::Table(table) => table.add_canonical(out),
        }
    }
}

/// As the table that has nothing but the damping in proportion to mass.
impl Canonical for DampingChoice {
    fn add_canonical(&self, out: &mut String) {
        match self {
            Self::Mass(rate) => {
                out.push('{');
                entry_unless(out, "mass", rate, "0");
                out.push('}');
            }
            Self::Table(table) => table.add_canonical(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SceneFile;
    use super::*;

    fn text(scene: &str) -> String {
        let scene = SceneFile::parse(&format!("version = 1\ntime.duration = 1\n{scene}"), "s").unwrap();
        scene.canonical()
    }

    #[test]
    fn what_is_said_counts_and_not_how() {
        let cloth = "[[cloth]]\ngrid = { cells = [3, 4], size = [1, 0.5] }\n";
        let first = text(cloth);
        for same in [
            "gravity = 981e-2\n[[cloth]]\n\ngrid.size = [1.0, 0.50]\ngrid.cells = [3, 4]\nmaterial = \"cotton\"\n",
            "[[cloth]]\ngrid = { cells = [3, 4], size = [1, 0.5] }\nscale = [1, 1, 1]\npin = []\n[solver]\n[output]\nmeshes = \"last\"\n",
            "[[cloth]]\ngrid = { cells = [3, 4], size = [1, 0.5] }\nposition = [-0.0, 0, 0.0]\n",
        ] {
            assert_eq!(text(same), first, "{same}");
        }
        for other in
            ["jitter = 1e-300", "pin = [{ group = \"left\" }]", "pressure = 0", "material = \"silk\""]
        {
            assert_ne!(text(&format!("{cloth}{other}\n")), first, "{other}");
        }
    }

    /// Neither can a value be moved from one key to the next, nor a text pretend to be a table.
    #[test]
    fn different_tables_have_different_texts() {
        let texts = [
            "name = \"a\"",
            "name = \"a;mesh=b\"",
            "name = \"a\\\";mesh=\\\"b\"",
            "mesh = \"a\"",
            "position = [1, 0, 0]",
            "velocity = [1, 0, 0]",
            "position = [0, 1, 0]",
            "pin = [{ vertices = [1] }, { vertices = [2] }]",
            "pin = [{ vertices = [1, 2] }]",
            "pin = [{ vertices = [12] }]",
        ]
        .map(|key| text(&format!("[[cloth]]\n{key}\n")));
        for (i, a) in texts.iter().enumerate() {
            assert!(texts[..i].iter().all(|b| a != b), "{a}");
        }
    }
}
