//! The report: one line of JSON per step.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use plisse::io::{Curve, FileError, Plot, read_text, write_atomically};
use plisse::system::{Ended, StepReport};
use serde_json::{Value, json};

use crate::error::Failure;
use crate::summary::Summary;

/// The report of a run: a file that grows by the lines of each frame, and what is needed to plot it.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Lines of the frame that is being computed.
    pending: String,
    /// Time, kinetic, elastic and external energy.
    energies: Vec<[f64; 4]>,
    /// How many of these belong to whole frames.
    kept: usize,
    summary: Summary,
}

impl Report {
    /// Goes on with what an earlier run has reported up to a frame; lines of later frames are dropped.
    pub(crate) fn resume(path: &Path, up_to: u32) -> Result<Self, Failure> {
        let text = if path.exists() { read_text(path)? } else { String::new() };
        let mut report = Self::default();
        let mut kept = String::new();
        for line in text.lines() {
            // A line that was torn by a crash is none.
            let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
            if value["frame"].as_u64().is_some_and(|frame| frame <= up_to.into()) {
                report.energies.push(energies(&value));
                report.summary.add(&value);
                kept.push_str(line);
                kept.push('\n');
            }
        }
        report.kept = report.energies.len();
        write_atomically(path, |out| out.write_all(kept.as_bytes()))?;
        Ok(report)
    }

    /// Adds a step and gives its line.
    pub(crate) fn add(&mut self, frame: u32, time: f64, step: &StepReport, seconds: f64) -> String {
        let ended = step.solves.last().and_then(|solve| solve.ended);
        let ended = match ended {
            Some(Ended::Residual) => "residual",
            Some(Ended::Decrement) => "decrement",
            Some(Ended::Rounding) => "rounding",
            _ => "fixed",
        };
        let terms: serde_json::Map<String, Value> =
            step.energies.terms.iter().map(|term| (term.name.clone(), json!(term.energy))).collect();
        let line = json!({
            "frame": frame,
            "time": time,
            "dt": step.dt,
            "substeps": step.solves.len(),
            "rejected": step.rejected,
            "newton": step.iterations(),
            "linear": step.solves.iter().map(plisse::system::NewtonReport::linear_iterations).sum::<usize>(),
            "factorisations": step.solves.iter().map(plisse::system::NewtonReport::factorisations).sum::<usize>(),
            "residual": step.residual(),
            "ended": ended,
            "kinetic": step.energies.kinetic,
            "elastic": step.energies.elastic(),
            "external": step.energies.external(),
            "dissipated": step.balance.dissipated,
            "work": step.balance.work,
            "numerical": step.balance.numerical(),
            "unexplained": step.unexplained,
            "at_rounding": step.at_rounding(),
            "gap": step.closest.as_ref().map(|closest| closest.gap).filter(|gap| gap.is_finite()),
            "held_depth": step.closest.as_ref().map_or(0.0, |closest| closest.held_depth),
            "energies": terms,
            "momentum": step.momentum.to_array(),
            "angular_momentum": step.angular_momentum.to_array(),
            "seconds": seconds,
        });
        self.energies.push(energies(&line));
        self.summary.add(&line);
        let line = line.to_string();
        self.pending.push_str(&line);
        self.pending.push('\n');
        line
    }

    /// What all steps together tell, also those of a frame that was not finished.
    pub(crate) fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Forgets the steps of a frame that was not finished.
    pub(crate) fn drop_frame(&mut self) {
        self.pending.clear();
        self.energies.truncate(self.kept);
    }

    /// Adds the lines of a frame to the file, in one piece.
    pub(crate) fn write(&mut self, path: &Path) -> Result<(), Failure> {
        let append = || {
            let mut file = OpenOptions::new().append(true).create(true).open(path)?;
            file.write_all(self.pending.as_bytes())?;
            file.flush()
        };
        append().map_err(|source| FileError::Write { path: path.to_owned(), source })?;
        self.pending.clear();
        self.kept = self.energies.len();
        Ok(())
    }

    /// Energies over time.
    pub(crate) fn plot(&self, title: &str) -> Plot {
        let curve = |label: &str, value: &dyn Fn(&[f64; 4]) -> f64| Curve {
            label: label.to_owned(),
            points: self.energies.iter().map(|e| [e[0], value(e)]).collect(),
        };
        Plot {
            title: title.to_owned(),
            x_label: "time (s)".to_owned(),
            y_label: "energy (J)".to_owned(),
            curves: vec![
                curve("kinetic", &|e| e[1]),
                curve("elastic", &|e| e[2]),
                curve("external", &|e| e[3]),
                curve("total", &|e| e[1] + e[2] + e[3]),
            ],
        }
    }
}

fn energies(line: &Value) -> [f64; 4] {
    ["time", "kinetic", "elastic", "external"].map(|key| line[key].as_f64().unwrap_or(f64::NAN))
}
