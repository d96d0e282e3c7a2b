//! Scene files: TOML with a fixed set of keys, read strictly and with every mistake at once.

mod canonical;
mod choices;
mod mistakes;
mod read;
mod tables;
mod values;
mod weave;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use canonical::Canonical;
pub use choices::{ComplianceChoice, UvScaleChoice, WarpWeft, WeldChoice};
pub use mistakes::{Mistake, Mistakes, is_full};
pub use read::{KeyReference, Name, TableReference};
pub use tables::*;
pub use values::{
    Count, Direction, Fraction, LargestStretch, NonNegative, Pixels, RateExponent, Version, ViewAngle,
};
pub use weave::WeaveChoice;

use mistakes::Collector;
use read::{Item, Read};

impl SceneFile {
    /// Reads a scene from text; `file` is its name in messages.
    ///
    /// ```
    /// use plisse_io::scene_file::SceneFile;
    /// let text = "version = 1\ntime.duration = -1\n[[cloth]]\ndisk = { rings = 4, radius = 1 }\n";
    /// let mistakes = SceneFile::parse(text, "a.toml").unwrap_err().to_string();
    /// assert_eq!(
    ///     mistakes,
    ///     "a.toml:2: -1 is not a positive number\n\
    ///      a.toml:4: [[cloth]] has no \"disk\"; did you mean \"disc\"?"
    /// );
    /// ```
    pub fn parse(text: &str, file: &str) -> Result<Self, Mistakes> {
        match Self::parse_leniently(text) {
            (Some(scene), mistakes) if mistakes.is_empty() => Ok(scene),
            (_, mistakes) => Err(Mistakes::new(file, mistakes)),
        }
    }

    /// Reads what can be read, and gives all mistakes, up to ten thousand. What is wrong is left
    /// out or has its default; without something that is required there is no scene. For those who
    /// look for further mistakes.
    #[must_use]
    pub fn parse_leniently(text: &str) -> (Option<Self>, Vec<Mistake>) {
        let mut collector = Collector::new(text);
        let (table, errors) = DeTable::parse_recoverable(text);
        if !(is_scene(table.get_ref()) || text.trim().is_empty()) {
            return (None, vec![Mistake { line: 1, message: NOT_A_SCENE.to_owned() }]);
        }
        for error in errors {
            let at = error.span().map_or(0, |span| span.start);
            collector.add(at, error.message().to_owned());
        }
        let span = table.span();
        let item = Spanned::new(span, DeValue::Table(table.into_inner()));
        let scene = if collector.list.is_empty() { Self::read(&item, &mut collector) } else { None };
        (scene, collector.list)
    }

    /// Every table of the format with its keys, for the reference.
    #[must_use]
    pub fn reference() -> Vec<TableReference> {
        let mut tables = Vec::new();
        Self::tables(&mut tables);
        tables
    }
}

const NOT_A_SCENE: &str = "this is not a scene file: it has none of version = 1, [time], [[cloth]], [[wires]], \
                           [[obstacle]] and [wrinkle]";

/// Whether a file is meant to be a scene. Of other files nothing is repeated in messages: they may
/// be private.
fn is_scene(table: &DeTable<'_>) -> bool {
    let number = |item: &Item<'_>| matches!(item.get_ref(), DeValue::Integer(_));
    let tables = ["time", "cloth", "wires", "obstacle", "wrinkle"];
    table.get("version").is_some_and(number) || tables.iter().any(|t| table.contains_key(*t))
}

impl Mistakes {
    /// Sorts mistakes by line; there is always at least one.
    #[must_use]
    pub fn new(file: &str, mut list: Vec<Mistake>) -> Self {
        if list.is_empty() {
            list.push(Mistake { line: 1, message: "the file cannot be read as a scene".to_owned() });
        }
        list.sort();
        list.dedup();
        Self { file: file.to_owned(), list }
    }
}
