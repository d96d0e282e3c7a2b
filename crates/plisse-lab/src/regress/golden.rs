//! What an experiment found, and its comparison with a golden file.
//!
//! Rounding a figure to a few digits is not a tolerance: a value beside a boundary of the rounding
//! flips between processors. So each figure carries its tolerance. One that lies within it of the
//! golden value is written as the golden value, any other with its own digits; then insta compares
//! the texts. Only real differences show, and they show as lines.
//!
//! Of insta we use the format of the files and the comparison of texts, not its assertions: these
//! panic, and take the choice between comparing and renewing from the environment, which a program
//! cannot set without `unsafe`.

use std::fmt::{self, Display, Formatter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use insta::internals::TextSnapshotContents;
use insta::{Snapshot, TextSnapshotKind};

use crate::repository_root;

/// How far a figure may be from its golden value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tolerance {
    /// Not at all: counts of what is built, not of what a solver did.
    Exact,
    /// By this part of the golden value; a golden value of zero allows zero alone.
    Relative(f64),
    /// By this much, in the unit of the figure.
    Absolute(f64),
    /// By the larger of both, the relative one first: for figures that may come close to zero.
    Either(f64, f64),
}

impl Tolerance {
    /// The largest distance from a golden value, in its unit.
    pub(crate) fn around(self, golden: f64) -> f64 {
        match self {
            Self::Exact => 0.0,
            Self::Relative(part) => part * golden.abs(),
            Self::Absolute(distance) => distance,
            Self::Either(part, distance) => distance.max(part * golden.abs()),
        }
    }

    /// Digits that are enough to compare by: rounded to a fiftieth of the tolerance. A value that
    /// is not finite is written as it is.
    fn write(self, value: f64) -> String {
        let allowed = self.around(value);
        let rounded = if value == 0.0 || !value.is_finite() || allowed <= 0.0 {
            value
        } else {
            let exponent = value.abs().log10().floor();
            let digits = (exponent - (allowed / 50.0).log10()).ceil().clamp(0.0, 16.0) as usize;
            format!("{value:.digits$e}").parse().unwrap_or(value)
        };
        let size = rounded.abs();
        if rounded == 0.0 {
            // Without the sign of a negative zero.
            "0".to_owned()
        } else if !size.is_finite() || (1e-3..1e7).contains(&size) {
            rounded.to_string()
        } else {
            format!("{rounded:e}")
        }
    }
}

impl Display for Tolerance {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // Without the digits of rounding that 100 times 0.07 has.
        let percent = |part: f64| (1e10 * part).round() / 1e8;
        match self {
            Self::Exact => write!(f, "exact"),
            Self::Relative(part) => write!(f, "± {} %", percent(*part)),
            Self::Absolute(distance) => write!(f, "± {distance}"),
            Self::Either(part, distance) => write!(f, "± {} % or {distance}", percent(*part)),
        }
    }
}

/// One thing that an experiment found.
#[derive(Clone, Debug)]
pub(crate) enum Finding {
    /// A number.
    Figure { name: String, value: f64, tolerance: Tolerance },
    /// A word, such as how a run ended.
    Text { name: String, text: String },
    /// A verdict by rule; it does not depend on the golden file.
    Rule { name: String, holds: bool },
}

impl Finding {
    /// What comes before the value in its line.
    fn name(&self) -> &str {
        match self {
            Self::Figure { name, .. } | Self::Text { name, .. } | Self::Rule { name, .. } => name,
        }
    }

    /// Its line where nothing is known to compare with. Rules are listed whether they hold or not:
    /// a golden file must not excuse a broken one.
    fn line(&self) -> String {
        match self {
            Self::Figure { name, value, tolerance } => {
                format!("{name} = {}  [{tolerance}]", tolerance.write(*value))
            }
            Self::Text { name, text } => format!("{name} = {text}"),
            Self::Rule { name, .. } => format!("must hold: {name}"),
        }
    }

    /// Its line beside a golden text: that of the text if it lies within its tolerance.
    fn line_beside(&self, golden: &str) -> String {
        let Self::Figure { name, value, tolerance } = self else { return self.line() };
        let same = golden.lines().find(|line| golden_value(line, name, *tolerance).is_some());
        let Some(line) = same else { return self.line() };
        match golden_value(line, name, *tolerance) {
            Some(expected) if (value - expected).abs() <= tolerance.around(expected) => line.to_owned(),
            _ => self.line(),
        }
    }
}

/// The value in a line of a golden text, if the line is that of a figure with this name and
/// tolerance.
fn golden_value(line: &str, name: &str, tolerance: Tolerance) -> Option<f64> {
    let value = line.strip_prefix(name)?.strip_prefix(" = ")?;
    value.strip_suffix(&format!("  [{tolerance}]"))?.parse().ok()
}

/// What an experiment found, in the order in which it found it.
///
/// ```
/// let mut findings = Findings::new("cusick");
/// findings
///     .figure("cotton, irregular disc: drape coefficient (%)", 68.2, Tolerance::Absolute(3.0))
///     .text("cotton, irregular disc: outcome", "finished")
///     .require("cotton within 60 to 76 %", (60.0..=76.0).contains(&68.2));
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    name: String,
    all: Vec<Finding>,
}

impl Findings {
    /// Nothing found yet. The name is that of the experiment and of its golden file; a slash in it
    /// makes a folder.
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), all: Vec::new() }
    }

    /// Adds a number. The name should state the unit.
    ///
    /// # Panics
    ///
    /// If a finding has this name already: it could not be told from the other in a golden file.
    /// The same for texts and rules.
    pub(crate) fn figure(&mut self, name: impl Into<String>, value: f64, tolerance: Tolerance) -> &mut Self {
        self.add(Finding::Figure { name: name.into(), value, tolerance })
    }

    /// Adds a word.
    pub(crate) fn text(&mut self, name: impl Into<String>, text: impl Into<String>) -> &mut Self {
        self.add(Finding::Text { name: name.into(), text: text.into() })
    }

    /// Adds a rule that must hold, whatever the golden file says.
    pub(crate) fn require(&mut self, name: impl Into<String>, holds: bool) -> &mut Self {
        self.add(Finding::Rule { name: name.into(), holds })
    }

    fn add(&mut self, finding: Finding) -> &mut Self {
        let name = finding.name();
        assert!(!self.all.iter().any(|known| known.name() == name), "{}: two findings \"{name}\"", self.name);
        assert!(!name.contains(" = ") && !name.contains('\n'), "{}: \"{name}\" is no name", self.name);
        self.all.push(finding);
        self
    }

    /// Name of the experiment.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Everything that was found.
    pub(crate) fn all(&self) -> &[Finding] {
        &self.all
    }

    /// Rules that do not hold, and figures that are not finite: no golden file excuses either.
    pub(crate) fn broken(&self) -> Vec<String> {
        let broken = |finding: &Finding| match finding {
            Finding::Rule { name, holds: false } => Some(name.clone()),
            Finding::Figure { name, value, .. } if !value.is_finite() => Some(format!("{name} is finite")),
            _ => None,
        };
        self.all.iter().filter_map(broken).collect()
    }

    /// Where its golden file is, below the folder of the golden files.
    fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.snap", self.name))
    }

    /// The text of a golden file as these findings would write it.
    fn text_alone(&self) -> String {
        lines(self.all.iter().map(Finding::line))
    }

    /// Compares with the golden file in a folder.
    ///
    /// # Errors
    ///
    /// If the golden file exists but cannot be read.
    pub(crate) fn compare(&self, folder: &Path) -> Result<Comparison> {
        let path = self.path(folder);
        if !path.exists() {
            return Ok(Comparison::Missing);
        }
        let snapshot = Snapshot::from_file(&path)
            .map_err(|error| anyhow!("{error}"))
            .with_context(|| format!("cannot read {}", path.display()))?;
        let golden = snapshot.as_text().with_context(|| format!("{} holds no text", path.display()))?;
        let now = lines(self.all.iter().map(|finding| finding.line_beside(&golden.to_string())));
        if golden.matches_latest(&TextSnapshotContents::new(now.clone(), TextSnapshotKind::File)) {
            return Ok(Comparison::Same);
        }
        Ok(Comparison::Different(differences(&golden.to_string(), &now)))
    }

    /// Writes the golden file into a folder.
    ///
    /// # Errors
    ///
    /// If a figure is not finite, or the file cannot be written.
    pub(crate) fn bless(&self, folder: &Path) -> Result<()> {
        for finding in &self.all {
            if let Finding::Figure { name, value, .. } = finding {
                ensure!(value.is_finite(), "{}: {name} is {value}; that is not to be expected", self.name);
            }
        }
        let path = self.path(folder);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // The format of insta: a head in YAML, then the text.
        let head = format!(
            "---\nsource: crates/plisse-lab/src/regress\ndescription: cargo xtask regress {}\n---\n",
            self.name
        );
        std::fs::write(&path, head + &self.text_alone())
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

fn lines(all: impl Iterator<Item = String>) -> String {
    all.fold(String::new(), |mut text, line| {
        // Writing to a string cannot fail.
        _ = writeln!(text, "{line}");
        text
    })
}

/// How findings compare with a golden file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Same,
    /// There is no golden file.
    Missing,
    /// Lines to show, `-` for the golden file and `+` for now.
    Different(Vec<String>),
}

/// Lines that only one of two texts has, those of the same name beside each other.
fn differences(golden: &str, now: &str) -> Vec<String> {
    let name = |line: &str| line.split(" = ").next().unwrap_or_default().to_owned();
    let mut out = Vec::new();
    for line in golden.lines().filter(|line| !now.lines().any(|other| other == *line)) {
        out.push(format!("- {line}"));
        let same = now.lines().find(|other| name(other) == name(line));
        out.extend(same.map(|other| format!("+ {other}{}", distance(line, other))));
    }
    let new = now.lines().filter(|line| !golden.lines().any(|other| name(other) == name(line)));
    out.extend(new.map(|line| format!("+ {line}")));
    if out.is_empty() {
        out.push("the same lines in another order".to_owned());
    }
    out
}

/// How far a figure is from the golden one, to be read.
fn distance(golden: &str, now: &str) -> String {
    let value = |line: &str| -> Option<f64> { line.split(" = ").nth(1)?.split("  [").next()?.parse().ok() };
    match (value(golden), value(now)) {
        (Some(golden), Some(now)) if golden != 0.0 && (now / golden - 1.0).is_finite() => {
            format!("  ({:+.3} %)", 100.0 * (now / golden - 1.0))
        }
        (Some(golden), Some(now)) => format!("  ({:+.3e})", now - golden),
        _ => String::new(),
    }
}

/// The folder of the golden files.
pub(crate) fn folder() -> PathBuf {
    repository_root().join("crates/plisse-lab/goldens")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(drape: f64, iterations: f64, outcome: &str) -> Findings {
        let mut findings = Findings::new("group/test");
        findings
            .figure("drape (%)", drape, Tolerance::Absolute(0.5))
            .figure("height (m)", 1.0 / 3.0, Tolerance::Relative(0.02))
            .figure("iterations", iterations, Tolerance::Relative(0.25))
            .text("outcome", outcome)
            .require("drape below 76 %", drape < 76.0);
        findings
    }

    #[test]
    fn figures_within_their_tolerance_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let golden = findings(68.25, 100.0, "finished");
        assert_eq!(golden.compare(folder.path()).unwrap(), Comparison::Missing);
        golden.bless(folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join("group/test.snap")).unwrap();
        let expected = "\
---
source: crates/plisse-lab/src/regress
description: cargo xtask regress group/test
---
drape (%) = 68.25  [± 0.5]
height (m) = 0.3333  [± 2 %]
iterations = 100  [± 25 %]
outcome = finished
must hold: drape below 76 %
";
        assert_eq!(text, expected);
        assert_eq!(golden.compare(folder.path()).unwrap(), Comparison::Same);
        // On either side, beyond every boundary of rounding.
        for (drape, iterations) in [(68.74, 124.0), (67.76, 76.0)] {
            let near = findings(drape, iterations, "finished");
            assert_eq!(near.compare(folder.path()).unwrap(), Comparison::Same, "{drape} {iterations}");
        }
    }

    #[test]
    fn differences_are_shown_as_lines() {
        let folder = tempfile::tempdir().unwrap();
        findings(50.0, 100.0, "finished").bless(folder.path()).unwrap();
        let mut other = findings(51.0, 100.0, "stopped");
        other.figure("new", 0.0, Tolerance::Exact);
        let expected = [
            "- drape (%) = 50  [± 0.5]",
            "+ drape (%) = 51  [± 0.5]  (+2.000 %)",
            "- outcome = finished",
            "+ outcome = stopped",
            "+ new = 0  [exact]",
        ];
        let expected = Comparison::Different(expected.map(str::to_owned).to_vec());
        assert_eq!(other.compare(folder.path()).unwrap(), expected);
        // One that is gone, and one with another tolerance.
        let mut other = Findings::new("group/test");
        other.figure("drape (%)", 50.0, Tolerance::Absolute(5.0));
        let Comparison::Different(lines) = other.compare(folder.path()).unwrap() else { panic!("different") };
        assert_eq!(lines.len(), 6, "{lines:?}");
    }

    #[test]
    fn no_golden_file_excuses_a_number_that_is_none() {
        let folder = tempfile::tempdir().unwrap();
        for wrong in [f64::NAN, f64::INFINITY] {
            let all = findings(50.0, wrong, "finished");
            assert_eq!(all.broken(), ["iterations is finite"]);
            assert!(all.bless(folder.path()).is_err());
        }
    }

    #[test]
    fn blessing_does_not_mend_a_rule() {
        let folder = tempfile::tempdir().unwrap();
        let broken = findings(80.0, 100.0, "finished");
        broken.bless(folder.path()).unwrap();
        assert_eq!(broken.compare(folder.path()).unwrap(), Comparison::Same);
        assert_eq!(broken.broken(), ["drape below 76 %"]);
    }

    #[test]
    fn golden_values_have_enough_digits_and_no_more() {
        let written = |value, tolerance: Tolerance| tolerance.write(value);
        assert_eq!(written(1234.5678, Tolerance::Relative(0.01)), "1234.6");
        assert_eq!(written(1234.5678, Tolerance::Absolute(100.0)), "1235");
        assert_eq!(written(1.234_567_8e-9, Tolerance::Relative(0.1)), "1.235e-9");
        assert_eq!(written(-1.234_567_8e9, Tolerance::Relative(0.1)), "-1.235e9");
        assert_eq!(written(289.0, Tolerance::Exact), "289");
        assert_eq!(written(-1e-12, Tolerance::Either(0.1, 1.0)), "-1e-12");
        assert_eq!(written(-0.0, Tolerance::Absolute(0.1)), "0");
        for value in [0.123_456, 98.765, 5.5e-5] {
            for tolerance in [Tolerance::Relative(0.02), Tolerance::Absolute(1e-3), Tolerance::Relative(1e-9)]
            {
                let read: f64 = tolerance.write(value).parse().unwrap();
                assert!(
                    (read - value).abs() <= 0.011 * tolerance.around(value),
                    "{value} {tolerance}: {read}"
                );
            }
        }
    }
}
