//! One second of a scene: what its steps cost, by quarters, and what on.

use anyhow::Result;
use plisse::core::{Positive, Vertices};
use plisse::system::{Adaptive, Implicit, Integrator, NewtonSettings, Scheme, State, StepReport};

use super::book::{Shared, Work};
use super::scene::{FRICTION, Layout};
use super::unit::Units;
use crate::bench::clock::thread_time;

/// Substeps of steps that fail, s, as in scenes.
const SHORTEST: Positive = Positive::literal(1e-5);
/// States of a run whose matrices are timed.
const SAMPLES: usize = 40;

/// What some steps have cost.
#[derive(Clone, Copy, Default)]
struct Quarter {
    steps: usize,
    ms: f64,
    substeps: usize,
    newton: usize,
    linear: usize,
    factors: usize,
    analyses: usize,
}

impl Quarter {
    fn add(&mut self, report: &StepReport, ms: f64, analyses: usize) {
        self.steps += 1;
        self.ms += ms;
        self.analyses += analyses;
        self.substeps += report.solves.len() + report.rejected;
        for solve in &report.solves {
            self.newton += solve.iterations.len();
            self.linear += solve.linear_iterations();
            self.factors += solve.factorisations();
        }
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            ms: self.ms + other.ms,
            substeps: self.substeps + other.substeps,
            newton: self.newton + other.newton,
            linear: self.linear + other.linear,
            factors: self.factors + other.factors,
            analyses: self.analyses + other.analyses,
        }
    }

    fn print(&self, name: &str, unit: f64) {
        let steps = self.steps.max(1) as f64;
        let each = |count: usize| count as f64 / steps;
        println!(
            "{name:>9}{:>7}{:>10.1}{:>10.2}{:>10.2}{:>9.2}{:>9.1}{:>9.2}{:>10.2}",
            self.steps,
            self.ms / steps,
            self.ms / steps / unit,
            each(self.substeps),
            each(self.newton),
            each(self.linear),
            each(self.factors),
            each(self.analyses)
        );
    }
}

/// Runs one second in so many steps.
pub(super) fn table(layout: &Layout, steps: usize, newton: NewtonSettings) -> Result<()> {
    let book = Shared::default();
    let (system, mut state) = layout.system(Some(FRICTION), Some(&book))?;
    let dt = 1.0 / steps as f64;
    let mut units = Units::new(layout.system(None, None)?.0, &state, dt)?;
    let implicit = Implicit::new(&system, Scheme::BackwardEuler, newton)?;
    let mut integrator = Adaptive::new(implicit, SHORTEST);
    let mut quarters = [Quarter::default(); 4];
    let (n, sheets) = (layout.vertices, layout.sheets());
    println!("{}: {sheets} of {n} x {n} vertices, 1 s in {steps} steps\n", layout.name);
    print_head();
    for step in 0..steps {
        let analyses = integrator.inner().linear().analyses();
        book.lock().open();
        let start = thread_time();
        let report = integrator.step(&system, &mut state, Positive::new(dt)?)?;
        let ms = (thread_time() - start).as_secs_f64() * 1e3;
        book.lock().close();
        let analyses = integrator.inner().linear().analyses() - analyses;
        quarters[4 * step / steps].add(&report, ms, analyses);
        if step % steps.div_ceil(SAMPLES) == 0 {
            units.measure(&system, &state)?;
        }
        let quarter = 4 * step / steps;
        if 4 * (step + 1) / steps > quarter {
            // In factorisations so far.
            quarters[quarter].print(&(quarter + 1).to_string(), units.factor());
        }
    }
    let all = quarters.iter().fold(Quarter::default(), Quarter::plus);
    all.print("all", units.factor());
    println!("{:>9}{:>17.1}{:>10.2}   (double precision, without contact)\n", "factor", units.factor(), 1.0);
    print_split(&book, &all, &units);
    print_end(&state);
    Ok(())
}

fn print_head() {
    println!(
        "{:>9}{:>7}{:>10}{:>10}{:>10}{:>9}{:>9}{:>9}{:>10}",
        "quarter", "steps", "ms/step", "/factor", "substeps", "newton", "linear", "factors", "analyses"
    );
}

/// Where the time went. The linear solve as a whole is timed; of it, analyses and factors are
/// counted, with the mean times of one.
fn print_split(book: &Shared, all: &Quarter, units: &Units) {
    let book = book.lock();
    let (analyses, factors) = (all.analyses as f64 * units.analysis(), all.factors as f64 * units.single());
    let linear = book.time(Work::Linear);
    let rows = [
        ("lists of pairs", book.time(Work::Lists)),
        ("collision detection", book.time(Work::Ccd)),
        ("energies and forces of contact", book.time(Work::ContactForces)),
        ("Hessians of contact", book.time(Work::ContactHessians)),
        ("energies and forces of sheets", book.time(Work::Forces)),
        ("Hessians of sheets", book.time(Work::Hessians)),
        ("patterns and places of blocks", book.time(Work::Pattern)),
        ("linear solves", linear),
        ("  analyses (counted)", analyses),
        ("  factors (counted)", factors),
        ("  iterations (what is left)", linear - analyses - factors),
        ("rest", book.time(Work::Rest)),
    ];
    println!("{:>34}{:>10}{:>9}", "work", "ms/step", "part");
    for (name, ms) in rows {
        println!("{name:>34}{:>10.2}{:>8.1}%", ms / all.steps.max(1) as f64, 100.0 * ms / all.ms);
    }
    println!(
        "one analysis {:.1} ms, one factor in single precision {:.1} ms, with contact; \
         stencils of contact per Hessian: {:.0}",
        units.analysis(),
        units.single(),
        book.mean_blocks() / 10.0
    );
}

fn print_end(state: &State<Vertices>) {
    let z = || state.x().as_slice().iter().map(|x| x.z);
    let mean = z().sum::<f64>() / state.x().len() as f64;
    println!("at the end: lowest z {:.4} m, mean z {mean:.4} m\n", z().fold(f64::INFINITY, f64::min));
}
