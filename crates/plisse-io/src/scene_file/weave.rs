//! Which yarn is on top, as scene files say it.

use toml::de::DeValue;

use super::canonical::Canonical;
use super::mistakes::Collector;
use super::read::{Item, Read, refuse};

/// A pattern of floats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeaveChoice {
    /// Over one, under one.
    Plain,
    /// Over so many, under so many, one step to the side in each row.
    Twill {
        /// Floats on top.
        over: usize,
        /// Floats below.
        under: usize,
    },
    /// Satin of so many yarns with a step.
    Satin {
        /// Yarns of the repeat.
        size: usize,
        /// From one row to the next.
        step: usize,
    },
    /// Rows of the repeat, one for each weft yarn: whether each warp yarn is on top.
    Matrix(Vec<Vec<bool>>),
}

const WEAVE: &str = "\"plain\", \"twill 2/2\", \"satin 5/2\", or rows of 0 and 1: [[1, 0], [0, 1]], 1 where the warp is on top";
/// Longest repeat of a matrix: longer ones are slips of the keyboard.
const LONGEST: usize = 4096;

impl WeaveChoice {
    fn from_text(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (kind, numbers) = (words.next()?, words.next());
        if words.next().is_some() {
            return None;
        }
        let pair = || -> Option<[usize; 2]> {
            let (a, b) = numbers?.split_once('/')?;
            Some([a.parse().ok()?, b.parse().ok()?])
        };
        match kind {
            "plain" if numbers.is_none() => Some(Self::Plain),
            "twill" => pair().map(|[over, under]| Self::Twill { over, under }),
            "satin" => pair().map(|[size, step]| Self::Satin { size, step }),
            _ => None,
        }
    }
}

fn row(item: &Item<'_>) -> Option<Vec<bool>> {
    let entry = |entry: &Item<'_>| match entry.get_ref() {
        DeValue::Integer(number) => match number.as_str() {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        },
        _ => None,
    };
    item.get_ref().as_array().filter(|row| row.len() <= LONGEST)?.iter().map(entry).collect()
}

impl Read for WeaveChoice {
    fn expected() -> String {
        WEAVE.to_owned()
    }
    fn read(item: &Item<'_>, mistakes: &mut Collector) -> Option<Self> {
        let choice = match item.get_ref() {
            DeValue::String(text) => Self::from_text(text),
            DeValue::Array(rows) if rows.len() <= LONGEST => {
                rows.iter().map(row).collect::<Option<Vec<_>>>().map(Self::Matrix)
            }
            _ => None,
        };
        if choice.is_none() {
            refuse(item, WEAVE, mistakes);
        }
        choice
    }
}

impl Canonical for WeaveChoice {
    fn add_canonical(&self, out: &mut String) {
        match self {
            Self::Plain => out.push_str("plain"),
            Self::Twill { over, under } => [*over, *under].add_canonical(push(out, "twill")),
            Self::Satin { size, step } => [*size, *step].add_canonical(push(out, "satin")),
            Self::Matrix(rows) => rows.add_canonical(out),
        }
    }
}

fn push<'a>(out: &'a mut String, word: &str) -> &'a mut String {
    out.push_str(word);
    out
}
