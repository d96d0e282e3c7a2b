//! What a person sees while it runs.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plisse::scene::SceneWarning;
use plisse::system::StepReport;

use crate::arguments::Talk;

/// A bar in a terminal, a line now and then elsewhere, nothing if that is wanted.
pub(crate) struct Progress {
    bar: ProgressBar,
    plain: bool,
    total: u64,
    started: Instant,
    first: u64,
    said: u64,
}

impl Progress {
    /// `what` is counted from `first` to `total`.
    pub(crate) fn new(talk: &Talk, what: &'static str, first: u32, total: u32) -> Self {
        let silent = talk.quiet || talk.json;
        let terminal = std::io::stderr().is_terminal();
        let target =
            if terminal && !silent { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total.into()), target);
        let template = format!("{what} {{pos}}/{{len}} [{{bar:30}}] {{msg}} {{elapsed}}, {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_position(first.into());
        bar.reset_eta();
        let plain = !terminal && !silent;
        Self { bar, plain, total: total.into(), started: Instant::now(), first: first.into(), said: 0 }
    }

    pub(crate) fn step(&self, time: f64, step: &StepReport) {
        self.bar.set_message(format!(
            "t = {time:.3} s, {} Newton iterations, residual {:.1e} m/s2,",
            step.iterations(),
            step.residual()
        ));
    }

    /// Says something beside the bar.
    pub(crate) fn message(&self, text: String) {
        self.bar.set_message(text);
    }

    /// A frame or picture is done.
    pub(crate) fn done(&mut self, count: u32, what: &str) {
        self.bar.set_position(count.into());
        let count = u64::from(count);
        // About ten lines in all.
        let due = count * 10 / self.total.max(1) > self.said || count == self.total;
        if self.plain && due {
            self.said = count * 10 / self.total.max(1);
            let elapsed = self.started.elapsed().as_secs_f64();
            let left =
                elapsed / (count - self.first).max(1) as f64 * (self.total - count.min(self.total)) as f64;
            eprintln!("{what} {count}/{}, {elapsed:.1} s, {left:.1} s left", self.total);
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A line on standard output. Nobody may be listening any more, as after `| head`; that is no reason to stop.
pub(crate) fn print(line: &str) {
    _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// A line on standard output, with a format.
macro_rules! out {
    ($($part:tt)*) => { $crate::progress::print(&format!($($part)*)) };
}
pub(crate) use out;

/// Says something to a person, if that is wanted.
pub(crate) fn say(talk: &Talk, text: &str) {
    if !talk.quiet && !talk.json {
        eprintln!("{text}");
    }
}

/// Says what is suspicious about a scene, also beside a report for machines.
pub(crate) fn warn(talk: &Talk, file: Option<&Path>, warnings: &[SceneWarning]) {
    let place = file.map(|file| format!("{}: ", file.display())).unwrap_or_default();
    for warning in warnings.iter().filter(|_| !talk.quiet) {
        eprintln!("{place}warning: {warning}");
    }
}
