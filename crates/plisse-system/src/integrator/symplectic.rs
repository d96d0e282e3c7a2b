//! Explicit steps.

use glam::DVec3;
use plisse_core::range::LENGTH;
use plisse_core::{Field, Positive, Space};

use super::Integrator;
use super::forces::{acceleration_of, pin_targets};
use super::report::{Balance, Energies, StepError, StepReport, Tautest, momenta};
use crate::error::SetupError;
use crate::state::{Kept, State};
use crate::system::System;
use crate::term::{Role, Term};

/// Symplectic Euler: `v' = v + dt M⁻¹ f(x, v)`, then `x' = x + dt v'`. First order, one evaluation
/// of forces, no solve.
///
/// Stable only where the step resolves everything: `dt < 2/ω` with the highest frequency `ω` of the
/// system, and less with damping. A sheet of 1000 N/m and 0.2 kg/m² on a grid of 1 cm needs about
/// 0.05 ms. For experiments and comparisons; nothing warns of instability but positions beyond 1e30
/// m, which are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymplecticEuler;

const NAME: &str = "symplectic Euler";

impl SymplecticEuler {
    /// An integrator for this system. Refuses one without mass, and unknowns without inertia.
    pub fn new<S: Space>(system: &System<S>) -> Result<Self, SetupError> {
        if system.mass().is_none() {
            return Err(SetupError::Massless { integrator: NAME });
        }
        let needs_more = |term: &&dyn Term<S>| !term.own().is_empty() || term.role() == Role::Inertial;
        if let Some(term) = system.terms().find(needs_more) {
            return Err(SetupError::OwnInertia { term: term.name().to_owned(), integrator: NAME });
        }
        Ok(Self)
    }
}

impl<S: Space> Integrator<S> for SymplecticEuler {
    /// The report has no solves, its balance leaves all that is lost to `numerical`, and nobody
    /// watches it: for a term that limits steps, such as contact, take an implicit scheme.
    fn step(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        dt: Positive,
    ) -> Result<StepReport, StepError> {
        if state.x().len() != system.size() {
            return Err(StepError::WrongSize { expected: system.size(), found: state.x().len() });
        }
        let (dt, size) = (dt.get(), state.x().len());
        let time = state.time() + dt;
        let targets = pin_targets(system, time)?;
        let before = Energies::of(system, state);
        let a = acceleration_of(system, state, dt);
        let mut v = Field::from_fn(size, |i| state.v()[i] + a[i] * dt);
        for i in v.ids().filter(|&i| system.is_held(i)) {
            v[i] = DVec3::ZERO;
        }
        for (&node, allowed) in system.unknowns().iter().zip(system.pins().allowed()) {
            if let Some(p) = allowed {
                v[node] = *p * v[node];
            }
        }
        let mut x = Field::from_fn(size, |i| state.x()[i] + v[i] * dt);
        for (node, target) in targets {
            v[node] = (target - state.x()[node]) / dt;
            x[node] = target;
        }
        // Forces saturate, so that numbers alone would stay finite for ever.
        let is_out = |x: &DVec3| !x.is_finite() || x.abs().max_element() > *LENGTH.end();
        if let Some((node, _)) = x.iter().find(|(_, x)| is_out(x)) {
            return Err(StepError::Unstable { node: node.to_string(), time, dt });
        }

        let kept = Kept { previous: None, acceleration: None, ledger: None };
        state.advance(x, v, state.own().clone(), time, kept);
        let energies = Energies::of(system, state);
        let balance = Balance { before: before.total(), after: energies.total(), work: 0.0, dissipated: 0.0 };
        let (momentum, angular_momentum) = momenta(system, state);
        Ok(StepReport {
            dt,
            solves: Vec::new(),
            rejected: 0,
            energies,
            balance,
            stable: None,
            unexplained: 0.0,
            closest: None,
            tautest: Tautest::of(system, &state.pose()),
            momentum,
            angular_momentum,
        })
    }
}
