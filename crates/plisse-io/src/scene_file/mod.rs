//! Scene files: TOML with a fixed set of keys, read strictly and with every mistake at once.

mod choices;
mod mistakes;
mod read;
mod tables;
mod values;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use choices::{UvScaleChoice, WarpWeft, WeldChoice};
pub use mistakes::{Mistake, Mistakes};
pub use read::{KeyReference, TableReference};
pub use tables::*;
pub use values::{
    Count, Direction, Fraction, NonNegative, Pixels, Poisson, RateExponent, Version, ViewAngle,
};

use mistakes::Collector;
use read::Read;

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

    /// Reads what can be read, and gives all mistakes. What is wrong is left out or has its default; without something that is
    /// required there is no scene. For those who look for further mistakes.
    #[must_use]
    pub fn parse_leniently(text: &str) -> (Option<Self>, Vec<Mistake>) {
        let mut collector = Collector::new(text);
        let (table, errors) = DeTable::parse_recoverable(text);
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
