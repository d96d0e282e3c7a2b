//! Steps of a hanging sheet: where the time goes, and what the choices cost.
//!
//! Every figure is a mean over the same steps, and each block of a table is one interleaved run:
//! the machine is noisy, ratios within a run are not. The unit of the ratios is a factorisation in
//! double precision of the same matrix.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use glam::DVec3;
use plisse::core::{Field, Positive, Psd, Vertices};
use plisse::system::{
    BlockMatrix, Criterion, HessianPolicy, Implicit, Integrator, Linear, LinearSolver, NewtonSettings,
    Operator, Pose, Scheme, State, System,
};

use crate::scene::{DENIM, hanging_sheet};

const SIZES: [usize; 4] = [33, 100, 200, 300];

/// `cargo xtask bench step [N…]`.
pub(crate) fn run(sizes: &[&str]) -> Result<()> {
    let sizes: Vec<usize> = if sizes.is_empty() {
        SIZES.to_vec()
    } else {
        sizes
            .iter()
            .map(|s| s.parse().with_context(|| format!("\"{s}\" is not a number of vertices")))
            .collect::<Result<_>>()?
    };
    anyhow::ensure!(sizes.iter().all(|n| *n >= 2), "a sheet has at least 2 x 2 vertices");
    println!("hanging sheet, 1 m, denim (Baraff-Witkin + hinges), pinned at two corners, backward Euler\n");
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    println!("one Newton iteration, ms (mean of interleaved rounds; assembly with 1 and 2 threads)");
    println!(
        "{:>9}{:>9}{:>10}{:>10}{:>10}{:>9}{:>9}{:>11}{:>9}{:>11}{:>9} | {:>9}{:>9}{:>8}{:>8}",
        "vertices",
        "gradient",
        "fused E+g",
        "H exact",
        "H clamp",
        "2 thr",
        "product",
        "factor f64",
        "solve",
        "factor f32",
        "solve",
        "assembly",
        "clamp/ex",
        "f32/f64",
        "MB"
    );
    for &n in &sizes {
        iteration(n, &one, &two)?;
    }
    println!(
        "\nsteps: ms per step to a force per mass, one thread; /factor: in factorisations (f64) of the same matrix"
    );
    println!(
        "{:>9}{:>7}{:>16}{:>22}{:>6}{:>8}{:>9}{:>9}{:>9}{:>9}{:>10}{:>10}",
        "vertices",
        "dt",
        "solver",
        "hessian",
        "m/s²",
        "steps",
        "newton",
        "hessians",
        "linear",
        "factors",
        "ms/step",
        "/factor"
    );
    for &n in &sizes {
        // Large sheets say the same with fewer steps.
        let (short, long) = if n > 150 { (10, 4) } else { (40, 12) };
        one.install(|| table(n, 0.005, short))?;
        one.install(|| table(n, 0.033, long))?;
    }
    Ok(())
}

/// The sheet a while after its release, so that nothing is flat or at rest.
fn moving_sheet(n: usize) -> Result<(System<Vertices>, State<Vertices>)> {
    let (system, mut state) = hanging_sheet(n, DENIM)?;
    let mut integrator = Implicit::new(
        &system,
        Scheme::BackwardEuler,
        settings(LinearSolver::Auto, HessianPolicy::OnDemand, TIGHT),
    )?;
    for _ in 0..6 {
        integrator.step(&system, &mut state, Positive::literal(0.033))?;
    }
    Ok((system, state))
}

/// Forces left over per mass, m/s².
const TIGHT: Positive = Positive::literal(0.1);
const LOOSE: Positive = Positive::literal(0.5);

fn settings(solver: LinearSolver, hessian: HessianPolicy, tolerance: Positive) -> NewtonSettings {
    let criterion = Criterion::ForcePerMass(tolerance);
    NewtonSettings { solver, hessian, criterion, ..NewtonSettings::default() }
}

fn add_inertia(system: &System<Vertices>, dt: f64, a: &mut BlockMatrix) {
    if let Some(mass) = system.mass() {
        for (i, &node) in system.unknowns().iter().enumerate() {
            a.add_to_diagonal(i, mass[node] / (dt * dt));
        }
    }
}

/// Sums of the times of one kind of work.
#[derive(Clone, Copy, Default)]
struct Timer {
    ms: f64,
    count: usize,
}

impl Timer {
    fn time<T>(&mut self, body: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = body();
        self.ms += start.elapsed().as_secs_f64() * 1e3;
        self.count += 1;
        result
    }

    fn mean(&self) -> f64 {
        self.ms / self.count.max(1) as f64
    }
}

fn iteration(n: usize, one: &rayon::ThreadPool, two: &rayon::ThreadPool) -> Result<()> {
    let (system, state) = moving_sheet(n)?;
    let pose = Pose::at(state.x());
    let mut gradient = Field::filled(system.size(), DVec3::ZERO);
    let mut a = BlockMatrix::zeros(Arc::clone(system.pattern()));
    let mut double = Linear::new(LinearSolver::Cholesky);
    let mut single = Linear::new(LinearSolver::StaleCholesky);
    let b = vec![1.0; 3 * system.unknowns().len()];
    let mut x = b.clone();
    let rounds = if n > 150 { 3 } else { 10 };
    let [mut g, mut fused, mut exact, mut clamp, mut parallel, mut product] = [Timer::default(); 6];
    let [mut factor64, mut solve64, mut factor32, mut solve32] = [Timer::default(); 4];
    for round in 0..=rounds {
        if round == 1 {
            // The first round has paid for memory and analysis.
            for t in [
                &mut g,
                &mut fused,
                &mut exact,
                &mut clamp,
                &mut parallel,
                &mut product,
                &mut factor64,
                &mut solve64,
                &mut factor32,
                &mut solve32,
            ] {
                *t = Timer::default();
            }
        }
        one.install(|| -> Result<()> {
            g.time(|| system.gradient(&pose, &mut gradient));
            fused.time(|| system.energy_and_gradient(&pose, &mut gradient));
            exact.time(|| system.hessian(&pose, Psd::Exact, &mut a));
            clamp.time(|| system.hessian(&pose, Psd::Clamp, &mut a));
            add_inertia(&system, 0.033, &mut a);
            product.time(|| a.mul(&b, &mut x));
            factor64.time(|| double.factorise(&a))?;
            solve64.time(|| double.substitute(&b, &mut x));
            factor32.time(|| single.factorise(&a))?;
            solve32.time(|| single.substitute(&b, &mut x));
            Ok(())
        })?;
        two.install(|| parallel.time(|| system.hessian(&pose, Psd::Clamp, &mut a)));
    }
    let assembly = fused.mean() + clamp.mean();
    let total = assembly + factor64.mean() + solve64.mean();
    println!(
        "{:>9}{:>9.2}{:>10.2}{:>10.2}{:>10.2}{:>9.2}{:>9.3}{:>11.1}{:>9.2}{:>11.1}{:>9.2} | {:>8.0}%{:>9.2}{:>8.2}{:>8.0}",
        n * n,
        g.mean(),
        fused.mean(),
        exact.mean(),
        clamp.mean(),
        parallel.mean(),
        product.mean(),
        factor64.mean(),
        solve64.mean(),
        factor32.mean(),
        solve32.mean(),
        100.0 * assembly / total,
        clamp.mean() / exact.mean(),
        factor32.mean() / factor64.mean(),
        (double.bytes() + a.bytes()) as f64 / 1e6
    );
    Ok(())
}

/// One variant of the solver, with its own copy of the simulation.
struct Variant {
    name: &'static str,
    hessian: &'static str,
    tolerance: Positive,
    integrator: Implicit<Vertices>,
    state: State<Vertices>,
    time: Timer,
    newton: usize,
    hessians: usize,
    linear: usize,
    factors: usize,
    error: Option<String>,
}

fn table(n: usize, dt: f64, steps: usize) -> Result<()> {
    let (system, state) = hanging_sheet(n, DENIM)?;
    let dt = Positive::new(dt)?;
    let mut variants = Vec::new();
    let choices = [
        ("auto", LinearSolver::Auto, "on demand", HessianPolicy::OnDemand, TIGHT),
        ("auto", LinearSolver::Auto, "projected then exact", HessianPolicy::ProjectedThenExact, TIGHT),
        ("auto", LinearSolver::Auto, "always projected", HessianPolicy::Always(Psd::Clamp), TIGHT),
        ("auto", LinearSolver::Auto, "on demand", HessianPolicy::OnDemand, LOOSE),
        ("stale cholesky", LinearSolver::StaleCholesky, "on demand", HessianPolicy::OnDemand, TIGHT),
        ("block jacobi", LinearSolver::BlockJacobi, "on demand", HessianPolicy::OnDemand, TIGHT),
        ("cholesky", LinearSolver::Cholesky, "on demand", HessianPolicy::OnDemand, TIGHT),
    ];
    // The other variants take minutes on large sheets.
    let choices = if n > 150 { &choices[..1] } else { &choices[..] };
    for &(name, solver, policy, hessian, tolerance) in choices {
        variants.push(Variant {
            name,
            hessian: policy,
            tolerance,
            integrator: Implicit::new(&system, Scheme::BackwardEuler, settings(solver, hessian, tolerance))?,
            state: state.clone(),
            time: Timer::default(),
            newton: 0,
            hessians: 0,
            linear: 0,
            factors: 0,
            error: None,
        });
    }
    let mut a = BlockMatrix::zeros(Arc::clone(system.pattern()));
    let mut double = Linear::new(LinearSolver::Cholesky);
    let mut factor = Timer::default();
    // Memory and analysis are paid once.
    system.hessian(&Pose::at(state.x()), Psd::Clamp, &mut a);
    add_inertia(&system, dt.get(), &mut a);
    double.factorise(&a)?;
    for _ in 0..steps {
        for variant in &mut variants {
            variant.step(&system, dt);
        }
        system.hessian(&Pose::at(variants[0].state.x()), Psd::Clamp, &mut a);
        add_inertia(&system, dt.get(), &mut a);
        factor.time(|| double.factorise(&a))?;
    }
    // A residual that nothing but the matrix limits, as a check on what was timed.
    let b = vec![1.0; 3 * system.unknowns().len()];
    let mut x = b.clone();
    double.solve(&Operator { matrix: &a, rank_ones: &[] }, &b, &mut x, 1e-10)?;
    for v in &variants {
        println!(
            "{:>9}{:>7}{:>16}{:>22}{:>6}{:>8}{:>9}{:>9}{:>9}{:>9}{:>10.1}{:>10.2}{}",
            n * n,
            dt.get(),
            v.name,
            v.hessian,
            v.tolerance.get(),
            v.time.count,
            v.newton,
            v.hessians,
            v.linear,
            v.factors,
            v.time.mean(),
            v.time.mean() / factor.mean(),
            v.error.as_deref().unwrap_or("")
        );
    }
    println!("{:>9}{:>7}{:>16}{:>101.1}{:>10.2}", n * n, dt.get(), "one factor f64", factor.mean(), 1.0);
    Ok(())
}

impl Variant {
    fn step(&mut self, system: &System<Vertices>, dt: Positive) {
        if self.error.is_some() {
            return;
        }
        match self.time.time(|| self.integrator.step(system, &mut self.state, dt)) {
            Ok(report) => {
                self.newton += report.iterations();
                for solve in &report.solves {
                    self.hessians += solve.hessians();
                    self.linear += solve.linear_iterations();
                    self.factors += solve.factorisations();
                }
            }
            Err(error) => self.error = Some(format!("  {error}")),
        }
    }
}
