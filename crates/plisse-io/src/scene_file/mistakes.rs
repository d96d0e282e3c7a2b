//! What is wrong with a scene file: all of it, each with its line.

use std::fmt;

use thiserror::Error;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// Line, from one.
    pub line: usize,
    /// What is wrong, and what would be accepted.
    pub message: String,
}

/// Most mistakes that are collected: a file with more of them is no scene.
const MOST: usize = 10_000;
/// Most mistakes that are shown.
const SHOWN: usize = 100;

/// A scene file with mistakes, in the order of their lines. The first hundred are shown.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Mistakes {
    /// Name of the file.
    pub file: String,
    /// At least one.
    pub list: Vec<Mistake>,
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.list.iter().take(SHOWN).enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{}:{}: {}", self.file, mistake.line, mistake.message)?;
        }
        match self.list.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more if is_full(&self.list) => write!(f, "\n{}: and at least {more} more", self.file),
            more => write!(f, "\n{}: and {more} more", self.file),
        }
    }
}

/// Whether no more mistakes are collected.
#[must_use]
pub fn is_full(list: &[Mistake]) -> bool {
    list.len() >= MOST
}

/// Collects mistakes while a file is read.
pub(super) struct Collector {
    /// Offset of the first byte of each line.
    starts: Vec<usize>,
    pub(super) list: Vec<Mistake>,
}

impl Collector {
    pub(super) fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(breaks).collect(), list: Vec::new() }
    }

    /// The line of a byte, from one.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).max(1)
    }

    /// Whether no more mistakes are collected.
    pub(super) fn is_full(&self) -> bool {
        is_full(&self.list)
    }

    pub(super) fn add(&mut self, offset: usize, message: impl Into<String>) {
        if self.is_full() {
            return;
        }
        let line = self.line(offset);
        self.list.push(Mistake { line, message: message.into() });
    }
}

/// The known name that is most like an unknown one, if any is like it.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Names are short; longer ones are noise, and would make comparing slow.
    if name.len() > 64 {
        return None;
    }
    let plain = |s: &str| s.to_lowercase().replace(['_', ' '], "-");
    let scored = known.into_iter().map(|k| (strsim::damerau_levenshtein(&plain(name), &plain(k)), k));
    let (distance, best) = scored.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + name.chars().count() / 3).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one() {
        let collector = Collector::new("a\nbc\n\nd");
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 99].map(|at| collector.line(at)), [1, 1, 2, 2, 2, 3, 4, 4]);
    }

    #[test]
    fn near_names_are_found() {
        assert_eq!(nearest("densty", ["density", "name"]), Some("density"));
        assert_eq!(nearest("max_iteration", ["max-iterations"]), Some("max-iterations"));
        assert_eq!(nearest("xyz", ["density", "name"]), None);
    }
}
