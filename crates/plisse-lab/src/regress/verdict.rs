//! Whether an experiment passed, and why not.

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::golden::{Comparison, Findings};

/// The outcome of one experiment.
pub(crate) struct Verdict {
    /// Of the experiment.
    pub(crate) name: String,
    pub(crate) time: Duration,
    /// None if the experiment did not come to its end.
    pub(crate) findings: Option<Findings>,
    /// What does not hold, each with lines to show. None: passed.
    pub(crate) complaints: Vec<Complaint>,
    /// The golden file was written.
    pub(crate) blessed: bool,
}

/// Something that does not hold.
pub(crate) struct Complaint {
    pub(crate) what: String,
    pub(crate) lines: Vec<String>,
}

impl Verdict {
    /// Judges the result of an experiment by its rules and by its golden file in `folder`, which
    /// `bless` writes anew.
    pub(crate) fn new(
        name: &str,
        result: Result<Findings>,
        folder: &Path,
        bless: bool,
        time: Duration,
    ) -> Self {
        let mut verdict =
            Self { name: name.to_owned(), time, findings: None, complaints: Vec::new(), blessed: false };
        match result {
            Ok(findings) => {
                assert_eq!(findings.name(), name, "an experiment found what belongs to another");
                verdict.judge(&findings, folder, bless);
                verdict.findings = Some(findings);
            }
            Err(error) => verdict.complain(format!("error: {error:#}"), Vec::new()),
        }
        verdict
    }

    fn judge(&mut self, findings: &Findings, folder: &Path, bless: bool) {
        let broken = findings.broken();
        for rule in &broken {
            self.complain(format!("does not hold: {rule}"), Vec::new());
        }
        if bless {
            // What breaks a rule is no result to compare others with.
            if !broken.is_empty() {
                return;
            }
            match findings.bless(folder) {
                Ok(()) => self.blessed = true,
                Err(error) => self.complain(format!("error: {error:#}"), Vec::new()),
            }
            return;
        }
        match findings.compare(folder) {
            Ok(Comparison::Same) => {}
            Ok(Comparison::Missing) => {
                let what =
                    format!("no golden file; write it with `cargo xtask regress {} --bless`", self.name);
                self.complain(what, Vec::new());
            }
            Ok(Comparison::Different(lines)) => {
                let what = "differs from the golden file (-); if it should, renew it with --bless";
                self.complain(what.to_owned(), lines);
            }
            Err(error) => self.complain(format!("error: {error:#}"), Vec::new()),
        }
    }

    fn complain(&mut self, what: String, lines: Vec<String>) {
        self.complaints.push(Complaint { what, lines });
    }

    pub(crate) fn passed(&self) -> bool {
        self.complaints.is_empty()
    }

    fn word(&self) -> &'static str {
        match (self.passed(), self.blessed) {
            (false, _) => "FAILED",
            (true, true) => "blessed",
            (true, false) => "passed",
        }
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} in {:.1} s", self.name, self.word(), self.time.as_secs_f64())?;
        for complaint in &self.complaints {
            write!(f, "\n  {}", complaint.what)?;
            for line in &complaint.lines {
                write!(f, "\n    {line}")?;
            }
        }
        Ok(())
    }
}

/// One line per experiment.
pub(crate) fn print_summary(verdicts: &[Verdict]) {
    let width = verdicts.iter().map(|verdict| verdict.name.len()).max().unwrap_or(0).max(10);
    println!("{:<width$}{:>9}{:>10}{:>8}  why", "experiment", "verdict", "time, s", "found");
    for verdict in verdicts {
        println!(
            "{:<width$}{:>9}{:>10.1}{:>8}  {}",
            verdict.name,
            verdict.word(),
            verdict.time.as_secs_f64(),
            verdict.findings.as_ref().map_or(0, |findings| findings.all().len()),
            verdict.complaints.first().map_or("", |complaint| &complaint.what),
        );
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;
    use crate::regress::Tolerance;

    fn judged(value: f64, holds: bool, folder: &Path, bless: bool) -> Verdict {
        let mut findings = Findings::new("test");
        findings.figure("height (m)", value, Tolerance::Relative(0.01)).require("it stands", holds);
        Verdict::new("test", Ok(findings), folder, bless, Duration::ZERO)
    }

    #[test]
    fn an_experiment_passes_by_its_rules_and_its_golden_file() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let missing = judged(1.0, true, folder, false);
        assert!(!missing.passed() && missing.to_string().contains("regress test --bless"), "{missing}");
        // Not written, and so still missing.
        assert!(!judged(1.0, false, folder, true).passed());
        assert!(!judged(1.0, true, folder, false).passed());
        assert!(judged(1.0, true, folder, true).passed());
        assert!(judged(1.009, true, folder, false).passed());
        assert!(!judged(1.0, false, folder, false).passed());
        let text = judged(1.02, true, folder, false).to_string();
        let expected = "test: FAILED in 0.0 s\n  differs from the golden file (-); if it should, renew it with --bless\n    \
                        - height (m) = 1  [± 1 %]\n    + height (m) = 1.02  [± 1 %]  (+2.000 %)";
        assert_eq!(text, expected);
    }

    #[test]
    fn an_error_is_a_failure() {
        let verdict = Verdict::new("test", Err(anyhow!("no")), Path::new(""), true, Duration::ZERO);
        assert!(!verdict.passed() && verdict.to_string().contains("error: no"), "{verdict}");
    }
}
