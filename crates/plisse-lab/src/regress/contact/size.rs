//! How many frames and starts.

use anyhow::{Context, Result};

/// How long and how often each scene is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::regress) struct Size {
    /// Time steps of each run.
    pub(in crate::regress) frames: u32,
    /// Runs: the first from the start as it is, the others from disturbed ones.
    pub(in crate::regress) repeats: u32,
}

impl Size {
    /// That of a night.
    pub(in crate::regress) const FULL: Self = Self { frames: 300, repeats: 10 };
    /// `--quick`: what a scene shows, and one more.
    pub(in crate::regress) const QUICK: Self = Self { frames: 100, repeats: 2 };
}

/// The value after an option, at least 1.
pub(in crate::regress) fn count(option: &str, value: Option<&str>) -> Result<u32> {
    let number = value.and_then(|value| value.parse().ok()).filter(|count| *count >= 1);
    number.with_context(|| format!("{option} needs a whole number of at least 1, such as {option} 20"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_and_not_zero() {
        assert_eq!(count("--frames", Some("20")).unwrap(), 20);
        for wrong in [None, Some("0"), Some("-3"), Some("many"), Some("--quick")] {
            assert!(count("--frames", wrong).unwrap_err().to_string().contains("--frames 20"));
        }
    }
}
