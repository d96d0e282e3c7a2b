//! A whole second of a hanging sheet: its fall, and its swing.
//!
//! Forty steps of the fall do not tell what a second costs: the sheet is nearly flat and slow at
//! first, and the choices of the linear solver come later.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use plisse::core::{Positive, Vertices};
use plisse::system::{
    Implicit, Integrator, LinearSolver, NewtonReport, NewtonSettings, Scheme, State, System,
};

use super::clock::process_time;
use crate::scene::{Cloth, DENIM, hanging_sheet};

/// The sheet that everybody tries first, denim, ten times the first, and thirty times of that.
const CLOTHS: [(&str, Cloth); 4] = [
    ("soft", Cloth { density: 0.2, moduli: [100.0, 100.0, 38.0], rigidity: 1e-5 }),
    ("denim", DENIM),
    ("stiff", Cloth { density: 0.2, moduli: [1000.0, 1000.0, 380.0], rigidity: 1e-5 }),
    ("30x", Cloth { density: 0.2, moduli: [3e4, 3e4, 1.14e4], rigidity: 1e-5 }),
];
const LENGTHS: [(&str, f64); 2] = [("5ms", 0.005), ("33ms", 1.0 / 30.0)];
const SOLVERS: [(&str, LinearSolver); 3] = [
    ("auto", LinearSolver::Auto),
    ("jacobi", LinearSolver::BlockJacobi),
    ("stale", LinearSolver::StaleCholesky),
];
/// Ends of the phases in seconds: the fall ends where the lower edge passes below the pins.
const PHASES: [(&str, f64); 3] = [("fall", 0.3), ("swing", 1.0), ("all", 1.0)];

/// What to run: everything that no word restricts.
struct Choice {
    sizes: Vec<usize>,
    cloths: Vec<(&'static str, Cloth)>,
    lengths: Vec<(&'static str, f64)>,
    solvers: Vec<(&'static str, LinearSolver)>,
    threads: usize,
}

fn named<T: Copy>(all: &[(&'static str, T)], words: &[&str], default: usize) -> Vec<(&'static str, T)> {
    let chosen: Vec<_> = all.iter().filter(|(name, _)| words.contains(name)).copied().collect();
    if chosen.is_empty() { all[..default].to_vec() } else { chosen }
}

impl Choice {
    fn new(words: &[&str]) -> Result<Self> {
        let (mut sizes, mut threads) = (Vec::new(), 1);
        let known = |word: &str| {
            let names = CLOTHS.iter().map(|(name, _)| name).chain(LENGTHS.iter().map(|(name, _)| name));
            names.chain(SOLVERS.iter().map(|(name, _)| name)).any(|name| *name == word)
        };
        for word in words.iter().filter(|word| !known(word)) {
            let number = word.strip_prefix("threads=");
            let value: usize = number
                .unwrap_or(word)
                .parse()
                .with_context(|| format!("\"{word}\" is no size, cloth, length of step or solver"))?;
            if number.is_some() { threads = value } else { sizes.push(value) }
        }
        if sizes.is_empty() {
            sizes = vec![33, 100];
        }
        anyhow::ensure!(sizes.iter().all(|n| *n >= 2), "a sheet has at least 2 x 2 vertices");
        anyhow::ensure!(threads > 0, "steps need a thread");
        Ok(Self {
            sizes,
            cloths: named(&CLOTHS, words, CLOTHS.len()),
            lengths: named(&LENGTHS, words, LENGTHS.len()),
            solvers: named(&SOLVERS, words, 1),
            threads,
        })
    }
}

/// `cargo xtask bench step second [N…] [soft] [denim] [stiff] [30x] [5ms] [33ms] [auto] [jacobi]
/// [stale] [threads=K]`.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let choice = Choice::new(words)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(choice.threads).build()?;
    println!("hanging sheet, 1 m, pinned at two corners, one second, backward Euler, default tolerance");
    println!("{} threads; CPU and wall time, ms per step; solvers take steps in turn", choice.threads);
    if choice.threads > 1 {
        println!("control: {} independent tasks gain {:.2}", choice.threads, control(&pool));
    }
    println!(
        "{:>9}{:>7}{:>6}{:>8}{:>7}{:>7}{:>9}{:>10}{:>9}{:>9}{:>9}{:>12}",
        "vertices",
        "cloth",
        "dt",
        "solver",
        "phase",
        "steps",
        "newton",
        "linear",
        "factors",
        "CPU",
        "wall",
        "lowest z, m"
    );
    for &n in &choice.sizes {
        for (name, cloth) in &choice.cloths {
            for (length, dt) in &choice.lengths {
                let (system, state) = hanging_sheet(n, *cloth)?;
                let mut variants = choice
                    .solvers
                    .iter()
                    .map(|(solver, choice)| Variant::new(solver, *choice, &system, &state))
                    .collect::<Result<Vec<_>>>()?;
                let steps = (1.0 / dt).round() as usize;
                for k in 0..steps {
                    let phase = usize::from((k as f64 + 0.5) * dt > PHASES[0].1);
                    for variant in &mut variants {
                        pool.install(|| variant.step(&system, Positive::literal(*dt), phase))?;
                    }
                }
                for variant in &variants {
                    variant.print(&format!("{:>9}{name:>7}{length:>6}", n * n));
                }
            }
        }
    }
    Ok(())
}

/// How many times as much independent tasks get done with all threads of the pool as with one, by
/// the wall: what the machine gives, and no program can exceed.
fn control(pool: &rayon::ThreadPool) -> f64 {
    let task = || {
        let mut x = 1.0f64;
        for k in 0..40_000_000u32 {
            x = x * 0.999_999 + f64::from(k & 7);
        }
        std::hint::black_box(x);
    };
    let start = Instant::now();
    pool.install(task);
    let alone = start.elapsed();
    let start = Instant::now();
    pool.broadcast(|_| task());
    pool.current_num_threads() as f64 * alone.as_secs_f64() / start.elapsed().as_secs_f64()
}

/// What a phase has taken.
#[derive(Clone, Copy, Default)]
struct Counts {
    steps: usize,
    newton: usize,
    linear: usize,
    factors: usize,
    cpu: Duration,
    wall: Duration,
}

struct Variant {
    name: &'static str,
    integrator: Implicit<Vertices>,
    state: State<Vertices>,
    /// By phase, the last of everything.
    counts: [Counts; 3],
}

impl Variant {
    fn new(
        name: &'static str,
        solver: LinearSolver,
        system: &System<Vertices>,
        state: &State<Vertices>,
    ) -> Result<Self> {
        let settings = NewtonSettings { solver, ..NewtonSettings::default() };
        let integrator = Implicit::new(system, Scheme::BackwardEuler, settings)?;
        Ok(Self { name, integrator, state: state.clone(), counts: Default::default() })
    }

    fn step(&mut self, system: &System<Vertices>, dt: Positive, phase: usize) -> Result<()> {
        let (cpu, wall) = (process_time(), Instant::now());
        let report = self.integrator.step(system, &mut self.state, dt)?;
        let (cpu, wall) = (process_time().saturating_sub(cpu), wall.elapsed());
        for k in [phase, 2] {
            let counts = &mut self.counts[k];
            counts.steps += 1;
            counts.newton += report.iterations();
            counts.linear += report.solves.iter().map(NewtonReport::linear_iterations).sum::<usize>();
            counts.factors += report.solves.iter().map(NewtonReport::factorisations).sum::<usize>();
            counts.cpu += cpu;
            counts.wall += wall;
        }
        Ok(())
    }

    fn print(&self, start: &str) {
        let lowest = self.state.x().iter().map(|(_, x)| x.z).fold(f64::INFINITY, f64::min);
        for ((phase, _), counts) in PHASES.iter().zip(&self.counts) {
            let ms = |time: Duration| 1e3 * time.as_secs_f64() / counts.steps.max(1) as f64;
            println!(
                "{start}{:>8}{phase:>7}{:>7}{:>9}{:>10}{:>9}{:>9.2}{:>9.2}{:>12.6}",
                self.name,
                counts.steps,
                counts.newton,
                counts.linear,
                counts.factors,
                ms(counts.cpu),
                ms(counts.wall),
                lowest
            );
        }
    }
}
