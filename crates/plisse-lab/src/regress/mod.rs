//! `cargo xtask regress`: experiments of the papers, as tables, each with a verdict.
//!
//! An experiment returns [`Findings`]: figures, words, and rules that must hold. It passes if every
//! rule holds and the rest agrees with its golden file in `crates/plisse-lab/goldens`.

mod animation;
mod cantilever;
mod contact;
mod cusick;
#[cfg(test)]
mod damping_tests;
mod gauss_newton;
mod golden;
mod jitter;
mod plate;
mod progress;
mod scenes;
mod settling;
pub(crate) mod spring;
mod stretch_test;
pub(crate) mod swing;
mod v_strips;
mod verdict;
mod wrinkle;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, anyhow, bail, ensure};

use contact::Size;
pub(crate) use golden::{Findings, Tolerance};
use verdict::Verdict;

/// One experiment.
struct Experiment {
    /// With a slash after the name of its group, if it has one.
    name: String,
    run: Box<dyn Fn() -> Result<Findings>>,
}

impl Experiment {
    fn new(name: impl Into<String>, run: impl Fn() -> Result<Findings> + 'static) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }

    /// Whether a name on the command line means this experiment or its group.
    fn is_meant_by(&self, name: &str) -> bool {
        self.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// All experiments, in the order in which they run.
fn experiments(contact: Size) -> Result<Vec<Experiment>> {
    let mut all = vec![
        Experiment::new("v-strips", v_strips::run),
        Experiment::new("stretch-test", stretch_test::run),
        Experiment::new("spring", spring::run),
        Experiment::new("swing", swing::run),
        Experiment::new("wrinkle", wrinkle::run),
        Experiment::new("animation", animation::run),
        Experiment::new("cantilever", cantilever::run),
        Experiment::new("plate", plate::run),
        Experiment::new("settling", settling::run),
    ];
    let drape = |(name, band)| Experiment::new(format!("cusick/{name}"), move || cusick::run(name, band));
    all.extend(cusick::FABRICS.map(drape));
    all.extend(scenes::all()?);
    all.extend(scenes::hard()?);
    all.extend(scenes::short());
    all.extend(jitter::all()?);
    all.extend(contact::all(contact));
    Ok(all)
}

/// Runs the experiments that are named, or all of them: `[NAME…] [--short] [--bless]`, and for
/// `contact` also `[--quick] [--frames N] [--repeats N]`. A group is a name too; `--short` is the
/// group `short`.
///
/// # Errors
///
/// If a name is unknown, or an experiment has failed. The others run all the same.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    let (mut names, mut bless, mut contact) = (Vec::new(), false, Size::FULL);
    let mut rest = args.iter().copied();
    while let Some(arg) = rest.next() {
        match arg {
            "--bless" => bless = true,
            "--quick" => contact = Size::QUICK,
            "--frames" => contact.frames = contact::count(arg, rest.next())?,
            "--repeats" => contact.repeats = contact::count(arg, rest.next())?,
            "--short" => names.push("short"),
            option if option.starts_with('-') => {
                let known = "--short, --bless, --quick, --frames, --repeats";
                bail!("no option is called \"{option}\"; there are: {known}")
            }
            name => names.push(name),
        }
    }
    let all = experiments(contact)?;
    for name in &names {
        let known: Vec<&str> = all.iter().map(|experiment| experiment.name.as_str()).collect();
        let meant = all.iter().any(|experiment| experiment.is_meant_by(name));
        ensure!(meant, "no experiment is called \"{name}\"; there are: {}", known.join(", "));
    }
    let chosen = |experiment: &&Experiment| {
        // The short form of another experiment, and hours of disturbed runs, are run where they are
        // asked for.
        let on_demand = ["short", "jitter", "contact"];
        let by_default = names.is_empty() && !on_demand.iter().any(|name| experiment.is_meant_by(name));
        by_default || names.iter().any(|name| experiment.is_meant_by(name))
    };
    let verdicts: Vec<Verdict> =
        all.iter().filter(chosen).map(|experiment| carry_out(experiment, &golden::folder(), bless)).collect();
    verdict::print_summary(&verdicts);
    let failed = verdicts.iter().filter(|verdict| !verdict.passed()).count();
    ensure!(failed == 0, "{failed} of {} experiments failed", verdicts.len());
    Ok(())
}

fn carry_out(experiment: &Experiment, goldens: &Path, bless: bool) -> Verdict {
    eprintln!("== {}", experiment.name);
    let start = Instant::now();
    // The other experiments run even if this one breaks an invariant.
    let result = catch_unwind(AssertUnwindSafe(|| (experiment.run)()));
    let result = result.unwrap_or_else(|_| Err(anyhow!("panicked; see the message above")));
    let verdict = Verdict::new(&experiment.name, result, goldens, bless, start.elapsed());
    println!("{verdict}\n");
    verdict
}
