//! What a person sees while it runs.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plisse::scene::SceneWarning;
use plisse::system::StepReport;

use crate::arguments::Talk;
use crate::error::Failure;

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
        // The message takes what is left of the line and is cut there: a line that wraps cannot be
        // drawn over, and fills the terminal.
        let template = format!("{what} {{pos}}/{{len}} [{{bar:8}}] {{elapsed}}, {{eta}} left, {{wide_msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_position(first.into());
        bar.reset_eta();
        let plain = !terminal && !silent;
        Self { bar, plain, total: total.into(), started: Instant::now(), first: first.into(), said: 0 }
    }

    pub(crate) fn step(&self, time: f64, step: &StepReport) {
        self.bar.set_message(step_text(time, step.iterations(), step.residual()));
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
            complain(&format!("{what} {count}/{}, {elapsed:.1} s, {left:.1} s left", self.total));
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A step beside the bar.
fn step_text(time: f64, iterations: usize, residual: f64) -> String {
    format!("t = {time:.3} s, {iterations} iterations, {residual:.1e} m/s2")
}

/// Why standard output took no more.
static LOST: OnceLock<String> = OnceLock::new();

/// A line on standard output. Nobody may be listening any more, as after `| head`; that is no
/// reason to stop. Other failures, such as a full disk, are remembered for [`printed`].
pub(crate) fn print(line: &str) {
    if let Err(error) = writeln!(std::io::stdout().lock(), "{line}")
        && error.kind() != ErrorKind::BrokenPipe
    {
        LOST.get_or_init(|| error.to_string());
    }
}

/// An error if something that was to be printed is lost.
pub(crate) fn printed() -> Result<(), Failure> {
    LOST.get().map_or(Ok(()), |reason| Err(Failure::Print(reason.clone())))
}

/// A line on standard output, with a format.
macro_rules! out {
    ($($part:tt)*) => { $crate::progress::print(&$crate::progress::plain(&format!($($part)*))) };
}
pub(crate) use out;

/// A text without characters that would control the terminal; names of files, bodies and groups may
/// have them.
pub(crate) fn plain(text: &str) -> String {
    let controls = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if controls(c) { plain.extend(c.escape_default()) } else { plain.push(c) }
    }
    plain
}

/// Says something on standard error. If that fails, there is nobody left to tell.
pub(crate) fn complain(text: &str) {
    _ = writeln!(std::io::stderr().lock(), "{}", plain(text));
}

/// Says what makes a result doubtful, whatever else is said.
pub(crate) fn warn(text: &str) {
    complain(&format!("plisse: warning: {text}"));
}

/// Says something to a person, if that is wanted.
pub(crate) fn say(talk: &Talk, text: &str) {
    if !talk.quiet && !talk.json {
        complain(text);
    }
}

/// Says what is suspicious about a scene, also beside a report for machines.
pub(crate) fn suspect(talk: &Talk, file: Option<&Path>, warnings: &[SceneWarning]) {
    let place = file.map(|file| format!("{}: ", file.display())).unwrap_or_default();
    for warning in warnings.iter().filter(|_| !talk.quiet) {
        complain(&format!("{place}warning: {warning}"));
    }
}

#[cfg(test)]
mod tests {
    use super::{plain, step_text};

    #[test]
    fn a_step_fits_beside_the_bar() {
        // 80 columns, without what is beside it: a count, a bar, two times.
        let beside = "frame 250/1000 [====>   ] 12m, 59s left, ".len();
        assert!(beside + step_text(1.234, 9, 1.2e-3).len() <= 80);
    }

    #[test]
    fn terminals_are_not_controlled() {
        assert_eq!(plain("a\u{1b}[31m\tb\n\u{9b}2Jé\r"), "a\\u{1b}[31m\tb\n\\u{9b}2Jé\\r");
    }
}
