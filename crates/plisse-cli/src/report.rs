//! The report: one line of JSON per step.

use std::path::Path;

use plisse::io::{Curve, Plot, read_text, write_atomically};
use plisse::system::{Ended, StepReport};
use serde_json::{Value, json};

use crate::error::Failure;

/// The lines so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    lines: Vec<Value>,
}

impl Report {
    /// What an earlier run has reported up to a frame.
    pub(crate) fn read(path: &Path, up_to: u32) -> Self {
        let text = read_text(path).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let belongs = |line: &Value| line["frame"].as_u64().is_some_and(|frame| frame <= up_to.into());
        Self { lines: lines.filter(belongs).collect() }
    }

    /// Adds a step and gives its line.
    pub(crate) fn add(&mut self, frame: u32, time: f64, step: &StepReport, seconds: f64) -> &Value {
        let ended = step.solves.last().and_then(|solve| solve.ended);
        let ended = match ended {
            Some(Ended::Residual) => "residual",
            Some(Ended::Decrement) => "decrement",
            Some(Ended::Rounding) => "rounding",
            _ => "fixed",
        };
        let terms: serde_json::Map<String, Value> =
            step.energies.terms.iter().map(|term| (term.name.clone(), json!(term.energy))).collect();
        self.lines.push(json!({
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
            "energies": terms,
            "momentum": step.momentum.to_array(),
            "angular_momentum": step.angular_momentum.to_array(),
            "seconds": seconds,
        }));
        &self.lines[self.lines.len() - 1]
    }

    /// Forgets steps of frames that were not finished.
    pub(crate) fn keep_up_to(&mut self, frame: u32) {
        self.lines.retain(|line| line["frame"].as_u64().is_some_and(|f| f <= frame.into()));
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        Ok(write_atomically(path, |out| self.lines.iter().try_for_each(|line| writeln!(out, "{line}")))?)
    }

    /// Energies over time.
    pub(crate) fn plot(&self, title: &str) -> Plot {
        let curve = |key: &str| {
            let point = |line: &Value| Some([line["time"].as_f64()?, line[key].as_f64()?]);
            Curve { label: key.to_owned(), points: self.lines.iter().filter_map(point).collect() }
        };
        let total = |line: &Value| {
            let sum = line["kinetic"].as_f64()? + line["elastic"].as_f64()? + line["external"].as_f64()?;
            Some([line["time"].as_f64()?, sum])
        };
        let total =
            Curve { label: "total".to_owned(), points: self.lines.iter().filter_map(total).collect() };
        Plot {
            title: title.to_owned(),
            x_label: "time (s)".to_owned(),
            y_label: "energy (J)".to_owned(),
            curves: vec![curve("kinetic"), curve("elastic"), curve("external"), total],
        }
    }
}
