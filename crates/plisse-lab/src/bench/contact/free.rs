//! A sheet that touches nothing, with contact and without.

use std::time::Duration;

use anyhow::Result;
use plisse::core::{Positive, Vertices};
use plisse::system::{Implicit, Integrator, NewtonSettings, Scheme, State, System};

use super::scene::Layout;
use crate::bench::clock::thread_time;

struct Runner {
    system: System<Vertices>,
    state: State<Vertices>,
    integrator: Implicit<Vertices>,
    time: Duration,
    newton: usize,
    linear: usize,
    factors: usize,
}

impl Runner {
    fn new(layout: &Layout, has_contact: bool, newton: NewtonSettings) -> Result<Self> {
        let (system, state) = layout.system(has_contact, None)?;
        let integrator = Implicit::new(&system, Scheme::BackwardEuler, newton)?;
        Ok(Self { system, state, integrator, time: Duration::ZERO, newton: 0, linear: 0, factors: 0 })
    }

    fn step(&mut self, dt: Positive) -> Result<()> {
        let start = thread_time();
        let report = self.integrator.step(&self.system, &mut self.state, dt)?;
        self.time += thread_time() - start;
        self.newton += report.iterations();
        for solve in &report.solves {
            self.linear += solve.linear_iterations();
            self.factors += solve.factorisations();
        }
        Ok(())
    }
}

pub(super) fn table(vertices: usize, newton: NewtonSettings) -> Result<()> {
    println!(
        "sheet of {vertices} x {vertices} vertices, 1 m, nothing near: with contact and without, interleaved\n"
    );
    println!(
        "{:>9}{:>8}{:>8}{:>9}{:>9}{:>9}{:>9}{:>10}{:>8}{:>11}",
        "sheet", "dt", "contact", "steps", "newton", "linear", "factors", "ms/step", "ratio", "farthest"
    );
    for (pinned, dt, steps) in [(true, 0.005, 80), (true, 1.0 / 60.0, 24), (false, 0.005, 80)] {
        let layout = Layout::free(vertices, pinned);
        let mut runners = [Runner::new(&layout, false, newton)?, Runner::new(&layout, true, newton)?];
        for _ in 0..steps {
            for runner in &mut runners {
                runner.step(Positive::new(dt)?)?;
            }
        }
        let per_step = |runner: &Runner| runner.time.as_secs_f64() * 1e3 / f64::from(steps);
        let unit = per_step(&runners[0]);
        let pairs = runners[0].state.x().as_slice().iter().zip(runners[1].state.x().as_slice());
        // Both fall alike, unless something touches.
        let farthest = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        for (runner, contact) in runners.iter().zip(["no", "yes"]) {
            println!(
                "{:>9}{dt:>8.4}{contact:>8}{steps:>9}{:>9}{:>9}{:>9}{:>10.2}{:>8.3}{:>11.1e}",
                layout.name,
                runner.newton,
                runner.linear,
                runner.factors,
                per_step(runner),
                per_step(runner) / unit,
                farthest
            );
        }
    }
    println!();
    Ok(())
}
