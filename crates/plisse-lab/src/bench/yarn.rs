//! Yarns: what a step of a patch costs, and where the time goes.
//!
//! A square patch of cotton, a millimetre between crossings, is let go horizontally with two
//! corners held. Times are those of the processor on one thread. Each term is timed where the
//! integrator calls it; what is left is the linear solver, and the vectors of Newton's method.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use glam::DVec3;
use plisse::core::{Field, Id, Positive, Psd, StepEnergy, Vertices};
use plisse::system::{
    Adaptive, Gradient, Implicit, Integrator, LinearSolver, Memory, Moving, NewtonSettings, OwnUnknown, Pose,
    Role, Scheme, Sink, State, StepMap, System, Term, Unknown,
};
use plisse::yarn::{Contacts, Woven, YarnModel};

use super::clock::thread_time;

const SIZES: [usize; 5] = [2_000, 5_000, 10_000, 20_000, 50_000];
/// Length of a step, and the shortest one.
const DT: Positive = Positive::literal(1e-3);
const SHORTEST: Positive = Positive::literal(1e-7);
/// Steps of a row, after one that pays for memory and analysis.
const STEPS: usize = 10;

/// `cargo xtask bench yarn [NODES…] [steps=N] [solvers]`.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let (mut sizes, mut steps, mut solvers) = (Vec::new(), STEPS, vec![LinearSolver::Auto]);
    for word in words {
        if *word == "solvers" {
            solvers = vec![
                LinearSolver::Auto,
                LinearSolver::BlockJacobi,
                LinearSolver::StaleCholesky,
                LinearSolver::Cholesky,
            ];
        } else if let Some(count) = word.strip_prefix("steps=") {
            steps = count.parse().with_context(|| format!("\"{count}\" is not a number of steps"))?;
        } else {
            sizes.push(word.parse().with_context(|| format!("\"{word}\" is not a number of nodes"))?);
        }
    }
    if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    ensure!(steps > 0 && sizes.iter().all(|n| *n >= 9), "give at least 9 nodes and one step");
    println!(
        "cotton patch, 1 mm, two corners held, {steps} steps of {} ms; CPU ms per step, one thread",
        1e3 * DT.get()
    );
    println!(
        "{:>7}{:>9}{:>16}{:>8}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "nodes",
        "unknowns",
        "solver",
        "newton",
        "linear",
        "factors",
        "substeps",
        "step",
        "energy",
        "gradient",
        "hessian",
        "other",
        "rest",
        "us/node"
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for size in sizes {
        for solver in &solvers {
            pool.install(|| row(size, *solver, steps))?;
        }
    }
    Ok(())
}

/// A patch of about so many crossings, with two corners held.
fn patch(nodes: usize) -> Result<(YarnModel, [Id<Vertices>; 2])> {
    let side = (nodes as f64).sqrt().round().max(3.0) as usize;
    let contacts = Contacts { press: 5e-3, ..Contacts::COTTON };
    let woven = Woven { counts: [side, nodes.div_ceil(side).max(3)], contacts, ..Woven::default() };
    Ok((YarnModel::new(woven.patch()?), [Id::new(0), Id::new(side as u32 - 1)]))
}

fn row(nodes: usize, solver: LinearSolver, steps: usize) -> Result<()> {
    let (model, corners) = patch(nodes)?;
    let clock = Arc::new(Mutex::new([Duration::ZERO; 4]));
    let mut builder = System::builder(Field::from_vec(model.patch().masses()));
    for term in model.terms(DVec3::new(0.0, 0.0, -9.81), DVec3::ZERO) {
        builder = builder.term(Timed { term, clock: Arc::clone(&clock) });
    }
    let system = builder.pins(corners).build()?;
    let mut state = State::at_rest(Field::from_vec(model.patch().rest().to_vec()))?;
    let settings = NewtonSettings { solver, ..NewtonSettings::default() };
    let implicit = Implicit::new(&system, Scheme::BackwardEuler, settings)?;
    let mut adaptive = Adaptive::new(implicit, SHORTEST);
    adaptive.step(&system, &mut state, DT)?;
    *lock(&clock) = [Duration::ZERO; 4];
    let [mut newton, mut linear, mut factors, mut substeps] = [0; 4];
    let start = thread_time();
    for step in 0..steps {
        let report = adaptive
            .step(&system, &mut state, DT)
            .with_context(|| format!("step {} of {steps} with {} nodes", step + 1, model.patch().len()))?;
        newton += report.iterations();
        substeps += report.rejected;
        for solve in &report.solves {
            substeps += 1;
            linear += solve.linear_iterations();
            factors += solve.factorisations();
        }
    }
    let total = thread_time().saturating_sub(start);
    let per_step = |time: Duration| 1e3 * time.as_secs_f64() / steps as f64;
    let parts = lock(&clock).map(per_step);
    let rest = per_step(total) - parts.iter().sum::<f64>();
    let mean = |count: usize| count as f64 / steps as f64;
    let count = model.patch().len();
    println!(
        "{count:>7}{:>9}{:>16}{:>8.1}{:>8.1}{:>9.1}{:>9.1}{:>9.1}{:>9.1}{:>9.1}{:>9.1}{:>9.1}{rest:>9.1}{:>9.1}",
        3 * system.unknowns().len() + system.own_count(),
        format!("{solver:?}"),
        mean(newton),
        mean(linear),
        mean(factors),
        mean(substeps),
        per_step(total),
        parts[0],
        parts[1],
        parts[2],
        parts[3],
        1e3 * per_step(total) / count as f64,
    );
    ensure!(state.x().iter().all(|(_, x)| x.is_finite()), "a position is not finite");
    Ok(())
}

/// Energies, gradients, Hessians and the rest of what terms do.
type Clock = Mutex<[Duration; 4]>;

fn lock(clock: &Clock) -> std::sync::MutexGuard<'_, [Duration; 4]> {
    clock.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A term of yarns with a clock: what these terms do is handed on, and nothing else.
struct Timed {
    term: Box<dyn Term<Vertices>>,
    clock: Arc<Clock>,
}

impl Timed {
    fn time<T>(&self, part: usize, body: impl FnOnce(&dyn Term<Vertices>) -> T) -> T {
        let start = thread_time();
        let result = body(&*self.term);
        lock(&self.clock)[part] += thread_time().saturating_sub(start);
        result
    }
}

impl Term<Vertices> for Timed {
    fn name(&self) -> &str {
        self.term.name()
    }
    fn role(&self) -> Role {
        self.term.role()
    }
    fn own(&self) -> Vec<OwnUnknown> {
        self.term.own()
    }
    fn shares_own(&self) -> Option<&str> {
        self.term.shares_own()
    }
    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        self.term.pattern(pair);
    }
    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        self.time(0, |term| term.energy(pose))
    }
    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        self.time(1, |term| term.add_gradient(pose, gradient));
    }
    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, Vertices>,
        gradient: &mut Gradient<'_, Vertices>,
    ) -> StepEnergy {
        self.time(1, |term| term.energy_and_add_gradient(pose, gradient))
    }
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut Sink<'_>) {
        self.time(2, |term| term.add_hessian(pose, psd, sink));
    }
    fn kinetic_energy(&self, motion: &Moving<'_, Vertices>) -> f64 {
        self.time(3, |term| term.kinetic_energy(motion))
    }
    fn remember(&self, step: &StepMap<'_, Vertices>, memory: &mut Memory) {
        self.time(3, |term| term.remember(step, memory));
    }
    fn longest_step(&self, pose: &Pose<'_, Vertices>, to: &Pose<'_, Vertices>) -> f64 {
        self.time(3, |term| term.longest_step(pose, to))
    }
    fn settle(&self, pose: &Pose<'_, Vertices>, own: &mut [f64]) {
        self.time(3, |term| term.settle(pose, own));
    }
}
