//! The report: one line of JSON per step.

use std::path::Path;

use plisse::io::{append, read_text, write_atomically};
use plisse::picture::{Curve, Plot};
use plisse::system::{Ended, StepReport};
use plisse::yarn::YarnEvent;
use serde_json::{Value, json};

use crate::error::Failure;
use crate::summary::Summary;

/// The report of a run: a file that grows by the lines of each frame, and what is needed to plot
/// it.
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
    /// What an earlier run has reported up to a frame, which ended at a time; lines of later frames
    /// are left out.
    ///
    /// The lines must tell of every frame in order and end at that time: a report that does not
    /// belong to the checkpoint would be continued with a jump in its curves.
    pub(crate) fn read(path: &Path, up_to: u32, time: f64) -> Result<Self, Failure> {
        let text = if path.exists() { read_text(path)? } else { String::new() };
        let mut report = Self::default();
        let mut last = (0, 0.0);
        let mut torn = None;
        let wrong = |whole: u32, what: String| {
            Failure::Input(format!(
                "{}: {what}. Up to frame {whole} it is right: go on from there with --from {whole}",
                path.display()
            ))
        };
        for (number, line) in (1..).zip(text.lines()) {
            let value = serde_json::from_str::<Value>(line).ok();
            let frame = value.as_ref().and_then(|value| u32::try_from(value["frame"].as_u64()?).ok());
            let (Some(value), Some(frame)) = (value, frame) else {
                // The last line may have been torn by a crash; then it belongs to no frame that is
                // kept.
                torn = torn.or(Some(number));
                continue;
            };
            if frame > up_to {
                break;
            }
            let before: u32 = last.0;
            if let Some(torn) = torn {
                return Err(wrong(before.saturating_sub(1), format!("line {torn} is damaged")));
            }
            let energies = energies(&value);
            // False also where there is no time.
            let is_later = energies[0] > last.1;
            if !(before..=before + 1).contains(&frame) || frame == 0 || !is_later {
                let text = format!("line {number}, of frame {frame}, does not follow frame {before}");
                return Err(wrong(before.saturating_sub(1), text));
            }
            last = (frame, energies[0]);
            report.energies.push(energies);
            report.summary.add(&value);
            report.pending.push_str(line);
            report.pending.push('\n');
        }
        // Numbers are read back as they were.
        if last.0 != up_to || last.1.total_cmp(&time).is_ne() {
            let (frame, end) = last;
            let text = format!(
                "the report ends with frame {frame} at t = {end} s, the checkpoint is of frame {up_to} at t = {time} s"
            );
            return Err(wrong(frame.min(up_to.saturating_sub(1)), text));
        }
        report.kept = report.energies.len();
        Ok(report)
    }

    /// Writes the lines that were read, and no others: where the file goes on from.
    pub(crate) fn restart(&mut self, path: &Path) -> Result<(), Failure> {
        write_atomically(path, |out| out.write_all(self.pending.as_bytes()))?;
        self.pending.clear();
        Ok(())
    }

    /// Adds a step and gives its line. `ends` are crossings at the ends of yarns, with the names of
    /// their bodies; a line without any has no such key.
    pub(crate) fn add(
        &mut self,
        frame: u32,
        time: f64,
        step: &StepReport,
        ends: &[(&str, YarnEvent)],
        seconds: f64,
    ) -> String {
        let ended = step.solves.last().and_then(|solve| solve.ended);
        let ended = match ended {
            Some(Ended::Residual) => "residual",
            Some(Ended::Decrement) => "decrement",
            Some(Ended::Rounding) => "rounding",
            _ => "fixed",
        };
        let closest = step.closest.as_ref().filter(|closest| closest.gap.is_finite());
        let terms: serde_json::Map<String, Value> =
            step.energies.terms.iter().map(|term| (term.name.clone(), json!(term.energy))).collect();
        let mut line = json!({
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
            "stable": step.stable,
            "gap": closest.map(|closest| closest.gap),
            "gap_between": closest.map(|closest| &closest.parts),
            "gap_at": closest.map(|closest| closest.place.to_array()),
            "held_depth": step.closest.as_ref().map_or(0.0, |closest| closest.held_depth),
            "stretch": step.tautest.as_ref().map(|tautest| tautest.taut.stretch),
            "energies": terms,
            "momentum": step.momentum.to_array(),
            "angular_momentum": step.angular_momentum.to_array(),
            "seconds": seconds,
        });
        if !ends.is_empty() {
            let one = |(body, YarnEvent { yarn, crossing, left }): &(&str, YarnEvent)| json!({ "body": body, "yarn": yarn, "crossing": crossing, "left": left });
            line["yarn_ends"] = ends.iter().map(one).collect();
        }
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
        append(path, self.pending.as_bytes())?;
        self.pending.clear();
        self.kept = self.energies.len();
        Ok(())
    }

    /// Energies over time.
    pub(crate) fn plot(&self, title: &str) -> Plot {
        let curve = |label: &str, value: &dyn Fn(&[f64; 4]) -> f64| Curve {
            label: label.to_owned(),
            points: self.energies.iter().map(|e| [e[0], value(e)]).collect(),
            ..Curve::default()
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
            ..Plot::default()
        }
    }
}

fn energies(line: &Value) -> [f64; 4] {
    ["time", "kinetic", "elastic", "external"].map(|key| line[key].as_f64().unwrap_or(f64::NAN))
}
