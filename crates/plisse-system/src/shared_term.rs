//! A term that several systems share.

use std::sync::Arc;

use glam::DVec3;
use plisse_core::{Field, Id, Psd, Space, StepEnergy};
use plisse_sparse::Sink;

use crate::error::SetupError;
use crate::memory::Memory;
use crate::pose::{Pose, StepMap};
use crate::term::{Clearance, Gradient, Moving, OwnUnknown, RankOne, Role, Taut, Term, Unknown, Way};

/// Systems own their terms; one that is behind an [`Arc`] can belong to more than one.
impl<S: Space, T: Term<S> + ?Sized> Term<S> for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }
    fn role(&self) -> Role {
        (**self).role()
    }
    fn depends_on_time(&self) -> bool {
        (**self).depends_on_time()
    }
    fn drives(&self) -> bool {
        (**self).drives()
    }
    fn has_potential(&self) -> bool {
        (**self).has_potential()
    }
    fn check(&self, size: usize) -> Result<(), SetupError> {
        (**self).check(size)
    }
    fn own(&self) -> Vec<OwnUnknown> {
        (**self).own()
    }
    fn shares_own(&self) -> Option<&str> {
        (**self).shares_own()
    }
    fn settle(&self, pose: &Pose<'_, S>, own: &mut [f64]) {
        (**self).settle(pose, own);
    }
    fn pattern(&self, pair: &mut dyn FnMut(Unknown<S>, Unknown<S>)) {
        (**self).pattern(pair);
    }
    fn pairs(&self, pose: &Pose<'_, S>, pair: &mut dyn FnMut(Unknown<S>, Unknown<S>)) {
        (**self).pairs(pose, pair);
    }
    fn energy(&self, pose: &Pose<'_, S>) -> f64 {
        (**self).energy(pose)
    }
    fn add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Gradient<'_, S>) {
        (**self).add_gradient(pose, gradient);
    }
    fn energy_and_add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Gradient<'_, S>) -> StepEnergy {
        (**self).energy_and_add_gradient(pose, gradient)
    }
    fn kinetic_energy(&self, motion: &Moving<'_, S>) -> f64 {
        (**self).kinetic_energy(motion)
    }
    fn add_hessian(&self, pose: &Pose<'_, S>, psd: Psd, sink: &mut Sink<'_>) {
        (**self).add_hessian(pose, psd, sink);
    }
    fn remember(&self, step: &StepMap<'_, S>, memory: &mut Memory) {
        (**self).remember(step, memory);
    }
    fn rank_ones(&self, pose: &Pose<'_, S>, out: &mut Vec<RankOne<S>>) {
        (**self).rank_ones(pose, out);
    }
    fn longest_step(&self, pose: &Pose<'_, S>, to: &Pose<'_, S>) -> f64 {
        (**self).longest_step(pose, to)
    }
    fn admit(&self, way: &Way<'_, S>, guess: &mut Field<S, DVec3>) {
        (**self).admit(way, guess);
    }
    fn is_reachable(&self, way: &Way<'_, S>, guess: &Field<S, DVec3>) -> bool {
        (**self).is_reachable(way, guess)
    }
    fn crossed(&self, way: &Way<'_, S>, end: &Field<S, DVec3>) -> Option<Id<S>> {
        (**self).crossed(way, end)
    }
    fn follow(&self, pose: &Pose<'_, S>, memory: &mut Memory) {
        (**self).follow(pose, memory);
    }
    fn refines(&self, memory: &Memory) -> bool {
        (**self).refines(memory)
    }

    fn refine(&self, pose: &Pose<'_, S>, pass: usize, memory: &mut Memory) -> bool {
        (**self).refine(pose, pass, memory)
    }
    fn clearance(&self, pose: &Pose<'_, S>) -> Option<Clearance<S>> {
        (**self).clearance(pose)
    }
    fn tautest(&self, pose: &Pose<'_, S>) -> Option<Taut> {
        (**self).tautest(pose)
    }
    fn work(&self, start: &Pose<'_, S>, end: &Pose<'_, S>) -> f64 {
        (**self).work(start, end)
    }
}
