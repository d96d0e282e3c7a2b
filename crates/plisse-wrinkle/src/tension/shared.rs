//! A term that a problem and its systems share.

use std::sync::Arc;

use plisse_core::{Psd, StepEnergy, Vertices};
use plisse_system::{Gradient, Memory, Pose, RankOne, Role, SetupError, Sink, StepMap, Term, Unknown};

/// Systems own their terms; a problem may be solved more than once.
#[derive(Clone)]
pub(super) struct Shared(pub(super) Arc<dyn Term<Vertices>>);

impl Term<Vertices> for Shared {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn role(&self) -> Role {
        self.0.role()
    }
    fn depends_on_time(&self) -> bool {
        self.0.depends_on_time()
    }
    fn has_potential(&self) -> bool {
        self.0.has_potential()
    }
    fn check(&self, size: usize) -> Result<(), SetupError> {
        self.0.check(size)
    }
    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        self.0.pattern(pair);
    }
    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        self.0.energy(pose)
    }
    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        self.0.add_gradient(pose, gradient);
    }
    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, Vertices>,
        gradient: &mut Gradient<'_, Vertices>,
    ) -> StepEnergy {
        self.0.energy_and_add_gradient(pose, gradient)
    }
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut Sink<'_>) {
        self.0.add_hessian(pose, psd, sink);
    }
    fn remember(&self, step: &StepMap<'_, Vertices>, memory: &mut Memory) {
        self.0.remember(step, memory);
    }
    fn rank_ones(&self, pose: &Pose<'_, Vertices>, out: &mut Vec<RankOne<Vertices>>) {
        self.0.rank_ones(pose, out);
    }
}
