//! A term that writes down how long its calls take.

use glam::DVec3;
use plisse::core::{Field, Id, Psd, StepEnergy, Vertices};
use plisse::system::{
    Clearance, Gradient, Memory, Moving, OwnUnknown, Pose, RankOne, Role, SetupError, Sink, StepMap, Taut,
    Term, Unknown, Way,
};

use super::book::{Call, Shared};

/// Of contact all calls that cost something are timed, of other terms forces and Hessians.
pub(super) struct Clocked {
    pub(super) inner: Box<dyn Term<Vertices>>,
    pub(super) is_contact: bool,
    pub(super) book: Shared,
}

impl Clocked {
    fn time<T>(&self, call: Call, body: impl FnOnce() -> T) -> T {
        if !self.is_contact && !matches!(call, Call::Forces | Call::Hessian) {
            return body();
        }
        self.book.lock().enter(call);
        let result = body();
        self.book.lock().leave(self.is_contact);
        result
    }
}

impl Term<Vertices> for Clocked {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn role(&self) -> Role {
        self.inner.role()
    }
    fn depends_on_time(&self) -> bool {
        self.inner.depends_on_time()
    }
    fn drives(&self) -> bool {
        self.inner.drives()
    }
    fn has_potential(&self) -> bool {
        self.inner.has_potential()
    }
    fn check(&self, size: usize) -> Result<(), SetupError> {
        self.inner.check(size)
    }
    fn own(&self) -> Vec<OwnUnknown> {
        self.inner.own()
    }
    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        self.inner.pattern(pair);
    }
    fn pairs(&self, pose: &Pose<'_, Vertices>, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        let mut blocks = 0;
        self.time(Call::Pairs, || {
            self.inner.pairs(pose, &mut |a, b| {
                blocks += 1;
                pair(a, b);
            });
        });
        if self.is_contact {
            self.book.lock().count(blocks);
        }
    }
    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        self.time(Call::Forces, || self.inner.energy(pose))
    }
    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        self.time(Call::Forces, || self.inner.add_gradient(pose, gradient));
    }
    fn energy_and_add_gradient(
        &self,
        pose: &Pose<'_, Vertices>,
        gradient: &mut Gradient<'_, Vertices>,
    ) -> StepEnergy {
        self.time(Call::Forces, || self.inner.energy_and_add_gradient(pose, gradient))
    }
    fn kinetic_energy(&self, motion: &Moving<'_, Vertices>) -> f64 {
        self.inner.kinetic_energy(motion)
    }
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut Sink<'_>) {
        self.time(Call::Hessian, || self.inner.add_hessian(pose, psd, sink));
    }
    fn remember(&self, step: &StepMap<'_, Vertices>, memory: &mut Memory) {
        self.time(Call::Lists, || self.inner.remember(step, memory));
    }
    fn rank_ones(&self, pose: &Pose<'_, Vertices>, out: &mut Vec<RankOne<Vertices>>) {
        self.inner.rank_ones(pose, out);
    }
    fn longest_step(&self, pose: &Pose<'_, Vertices>, to: &Pose<'_, Vertices>) -> f64 {
        self.time(Call::Ccd, || self.inner.longest_step(pose, to))
    }
    fn admit(&self, way: &Way<'_, Vertices>, guess: &mut Field<Vertices, DVec3>) {
        self.time(Call::Ccd, || self.inner.admit(way, guess));
    }
    fn is_reachable(&self, way: &Way<'_, Vertices>, guess: &Field<Vertices, DVec3>) -> bool {
        self.time(Call::Ccd, || self.inner.is_reachable(way, guess))
    }
    fn crossed(&self, way: &Way<'_, Vertices>, end: &Field<Vertices, DVec3>) -> Option<Id<Vertices>> {
        self.time(Call::Ccd, || self.inner.crossed(way, end))
    }
    fn follow(&self, pose: &Pose<'_, Vertices>, memory: &mut Memory) {
        self.time(Call::Lists, || self.inner.follow(pose, memory));
    }
    fn refines(&self, memory: &Memory) -> bool {
        self.inner.refines(memory)
    }
    fn refine(&self, pose: &Pose<'_, Vertices>, pass: usize, memory: &mut Memory) -> bool {
        self.time(Call::Lists, || self.inner.refine(pose, pass, memory))
    }
    fn clearance(&self, pose: &Pose<'_, Vertices>) -> Option<Clearance<Vertices>> {
        self.time(Call::Forces, || self.inner.clearance(pose))
    }
    fn tautest(&self, pose: &Pose<'_, Vertices>) -> Option<Taut> {
        self.inner.tautest(pose)
    }
    fn work(&self, start: &Pose<'_, Vertices>, end: &Pose<'_, Vertices>) -> f64 {
        self.time(Call::Forces, || self.inner.work(start, end))
    }
}
