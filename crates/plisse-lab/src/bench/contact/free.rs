//! A sheet that touches nothing, with contact and without.

use std::time::Duration;

use anyhow::Result;
use plisse::core::{Positive, Vertices};
use plisse::system::{Implicit, Integrator, NewtonSettings, Scheme, State, System};

use super::book::{Shared, Work};
use super::scene::{FRICTION, Layout};
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
    fn new(
        layout: &Layout,
        friction: Option<f64>,
        book: Option<&Shared>,
        newton: NewtonSettings,
    ) -> Result<Self> {
        let (system, state) = layout.system(friction, book)?;
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

    /// The largest distance between vertices of both, m: both fall alike unless something touches.
    fn distance(&self, other: &Self) -> f64 {
        let pairs = self.state.x().as_slice().iter().zip(other.state.x().as_slice());
        pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
    }
}

pub(super) fn table(vertices: usize, newton: NewtonSettings) -> Result<()> {
    println!(
        "sheet of {vertices} x {vertices} vertices, 1 m, nothing near: without contact, and with it with and without friction\n"
    );
    println!(
        "{:>9}{:>8}{:>8}{:>9}{:>9}{:>9}{:>9}{:>10}{:>8}{:>11}",
        "sheet", "dt", "contact", "steps", "newton", "linear", "factors", "ms/step", "ratio", "apart, m"
    );
    for (pinned, dt, steps) in [(true, 0.005, 40), (true, 1.0 / 60.0, 12), (false, 0.005, 40)] {
        let layout = Layout::free(vertices, pinned);
        let book = Shared::default();
        let new = |friction, book| Runner::new(&layout, friction, book, newton);
        let friction = Some(FRICTION);
        let mut runners =
            [new(None, None)?, new(Some(0.0), None)?, new(friction, None)?, new(friction, Some(&book))?];
        for _ in 0..steps {
            // Only one of them writes into it.
            book.lock().open();
            for runner in &mut runners {
                runner.step(Positive::new(dt)?)?;
            }
            book.lock().close();
        }
        let per_step = |runner: &Runner| runner.time.as_secs_f64() * 1e3 / f64::from(steps);
        let unit = per_step(&runners[0]);
        for (runner, contact) in runners.iter().zip(["none", "smooth", "rough", "timed"]) {
            println!(
                "{:>9}{dt:>8.4}{contact:>8}{steps:>9}{:>9}{:>9}{:>9}{:>10.2}{:>8.3}{:>11.1e}",
                layout.name,
                runner.newton,
                runner.linear,
                runner.factors,
                per_step(runner),
                per_step(runner) / unit,
                runner.distance(&runners[0])
            );
        }
        let book = book.lock();
        let parts = [Work::Lists, Work::Ccd, Work::ContactForces, Work::ContactHessians];
        let [lists, ccd, forces, hessians] = parts.map(|work| book.time(work) / f64::from(steps));
        println!(
            "{:>9}ms/step of contact: lists {lists:.2}, collision detection {ccd:.2}, \
             forces {forces:.2}, Hessians {hessians:.2}",
            ""
        );
    }
    println!();
    Ok(())
}
