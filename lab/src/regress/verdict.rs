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
    /// Judges the result of an experiment by its rules and by its golden file in `folder`, which `bless` writes anew.
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
        for rule in findings.broken() {
            self.complain(format!("does not hold: {rule}"), Vec::new());
        }
        if bless {
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
