//! Time integration and equilibria.

mod adaptive;
mod forces;
mod implicit;
mod relax;
mod report;
mod scheme;
mod symplectic;
mod worst;

use plisse_core::{Positive, Space};

pub use adaptive::Adaptive;
pub use implicit::Implicit;
pub(crate) use report::momenta;
pub use report::{Balance, Cause, Closest, Energies, StepError, StepReport, Tautest};
pub use scheme::{Scheme, SpectralRadius, StepFormula};
pub use symplectic::SymplecticEuler;
pub use worst::Worst;

use crate::state::State;
use crate::system::System;

/// Something that advances a state in time.
pub trait Integrator<S: Space> {
    /// Advances the state by `dt` seconds, or leaves it as it was and says why.
    fn step(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        dt: Positive,
    ) -> Result<StepReport, StepError>;

    /// Forgets what earlier steps left behind, so that the next step depends on the state alone,
    /// bit by bit. An integrator that keeps nothing has nothing to do here.
    fn forget(&mut self) {}

    /// What helps where a motion gains energy from nowhere, as a sentence without its full stop.
    fn remedy(&self) -> &'static str {
        "Take a shorter time step"
    }
}

impl<S: Space, I: Integrator<S> + ?Sized> Integrator<S> for Box<I> {
    fn step(
        &mut self,
        system: &System<S>,
        state: &mut State<S>,
        dt: Positive,
    ) -> Result<StepReport, StepError> {
        (**self).step(system, state, dt)
    }

    fn forget(&mut self) {
        (**self).forget();
    }

    fn remedy(&self) -> &'static str {
        (**self).remedy()
    }
}
