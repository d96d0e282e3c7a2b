//! What an analysis and a factorisation cost, timed between the steps of a run.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use plisse::core::{Psd, Vertices};
use plisse::system::{BlockMatrix, Linear, LinearSolver, Pose, State, System};

use crate::bench::clock::thread_time;

/// Means over some states of a run.
pub(super) struct Units {
    /// The same sheets without contact.
    alone: System<Vertices>,
    double: Linear,
    inertia: f64,
    /// Factorisations of each matrix: small ones take less than a tick of the clock.
    rounds: u32,
    count: u32,
    /// Sums over states: in double precision, the first in single precision with its analysis, and
    /// later ones.
    factor: Duration,
    first: Duration,
    single: Duration,
}

impl Units {
    /// Analyses the matrix without contact, which happens once.
    pub(super) fn new(alone: System<Vertices>, state: &State<Vertices>, dt: f64) -> Result<Self> {
        let mut double = Linear::new(LinearSolver::Cholesky);
        let inertia = 1.0 / (dt * dt);
        double.factorise(&matrix(&alone, state, inertia))?;
        let rounds = 1 + 10_000 / alone.size().max(1) as u32;
        let [factor, first, single] = [Duration::ZERO; 3];
        Ok(Self { alone, double, inertia, rounds, count: 0, factor, first, single })
    }

    /// Times the matrices of a state: without contact, and as it is.
    pub(super) fn measure(&mut self, system: &System<Vertices>, state: &State<Vertices>) -> Result<()> {
        let a = matrix(&self.alone, state, self.inertia);
        let start = thread_time();
        for _ in 0..self.rounds {
            self.double.factorise(&a)?;
        }
        self.factor += (thread_time() - start) / self.rounds;
        let a = matrix(system, state, self.inertia);
        let mut linear = Linear::new(LinearSolver::StaleCholesky);
        let start = thread_time();
        linear.factorise(&a)?;
        let middle = thread_time();
        for _ in 0..self.rounds {
            linear.factorise(&a)?;
        }
        let second = (thread_time() - middle) / self.rounds;
        self.first += middle - start;
        self.single += second;
        self.count += 1;
        Ok(())
    }

    fn mean(&self, sum: Duration) -> f64 {
        sum.as_secs_f64() * 1e3 / f64::from(self.count.max(1))
    }

    /// A factorisation in double precision of the matrix without contact, ms.
    pub(super) fn factor(&self) -> f64 {
        self.mean(self.factor)
    }

    /// An analysis of the matrix with contact, ms, with the memory for a factor.
    pub(super) fn analysis(&self) -> f64 {
        self.mean(self.first) - self.mean(self.single)
    }

    /// A factorisation in single precision of the matrix with contact, ms.
    pub(super) fn single(&self) -> f64 {
        self.mean(self.single)
    }
}

fn matrix(system: &System<Vertices>, state: &State<Vertices>, inertia: f64) -> BlockMatrix {
    let mut a = BlockMatrix::zeros(Arc::clone(system.pattern()));
    system.hessian(&Pose::at(state.x()), Psd::Clamp, &mut a);
    if let Some(mass) = system.mass() {
        for (i, &node) in system.unknowns().iter().enumerate() {
            a.add_to_diagonal(i, mass[node] * inertia);
        }
    }
    a
}
