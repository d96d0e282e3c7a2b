//! How time advances and equations are solved.

use plisse_core::Positive;

use crate::scene_file::read::{names, table};
use crate::scene_file::values::{Count, Fraction};

table! {
    /// How time advances.
    pub struct Time ("[time]") {
        /// How long it runs, s.
        duration: Positive = required,
        /// Longest step, s.
        step: Positive = "0.01",
        /// Steps that do not converge are shortened down to this, s; equal to `step` to forbid
        /// that.
        shortest_step: Positive = "1e-5",
        /// Pictures, meshes and checkpoints per second of simulated time.
        frames_per_second: Positive = "25",
        /// How a step is computed. `quasistatic` finds the equilibrium at each time.
        scheme: SchemeName = "\"backward-euler\"",
        /// For `newmark`: what is left of the fastest vibrations after each step, from 0 (nothing)
        /// to 1 (everything: no dissipation, for steps that resolve all vibrations).
        spectral_radius: Fraction = "0.8",
    }
}

names! {
    /// How a step is computed.
    pub enum SchemeName {
        /// First order, robust, loses energy.
        BackwardEuler = "backward-euler",
        /// Second order, loses little energy.
        Bdf2 = "bdf2",
        /// Second order, with as much dissipation as `spectral_radius` says.
        Newmark = "newmark",
        /// Equilibria.
        Quasistatic = "quasistatic",
    }
}

table! {
    /// How equations are solved.
    pub struct Solver ("[solver]") {
        /// Accelerations are right to this, m/s².
        tolerance: Positive = "0.1",
        /// Newton iterations after which a step counts as not converged.
        max_iterations: Count = "100",
        /// How linear systems are solved.
        linear: LinearName = "\"auto\"",
        /// When Hessians are made positive semidefinite.
        hessian: HessianName = "\"on-demand\"",
    }
}

names! {
    /// How linear systems are solved.
    pub enum LinearName {
        /// Whatever the last steps show to be cheapest.
        Auto = "auto",
        /// A factorisation each.
        Cholesky = "cholesky",
        /// Conjugate gradients with an old factorisation.
        StaleCholesky = "stale-cholesky",
        /// Conjugate gradients with the diagonal blocks.
        BlockJacobi = "block-jacobi",
    }
}

names! {
    /// When Hessians are made positive semidefinite.
    pub enum HessianName {
        /// Where the exact one is not.
        OnDemand = "on-demand",
        /// At first.
        ProjectedThenExact = "projected-then-exact",
        /// Always.
        Projected = "projected",
    }
}
