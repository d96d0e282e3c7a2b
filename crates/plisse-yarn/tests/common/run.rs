//! Patches that move.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "not every test needs all of it, and tests may panic"
)]

use glam::DVec3;
use plisse_core::{Field, Id, Positive, Vertices};
use plisse_system::{
    Criterion, Implicit, Integrator, NewtonSettings, Pose, Scheme, State, StepReport, System, SystemBuilder,
};
use plisse_yarn::YarnModel;

pub struct Run {
    pub model: YarnModel,
    pub system: System<Vertices>,
    pub state: State<Vertices>,
    pub implicit: Implicit<Vertices>,
}

pub fn id(node: usize) -> Id<Vertices> {
    Id::new(node as u32)
}

impl Run {
    /// A run of a model from positions and velocities, with accelerations right to `tolerance`.
    pub fn new(
        model: YarnModel,
        gravity: DVec3,
        state: State<Vertices>,
        tolerance: f64,
        more: impl FnOnce(SystemBuilder<Vertices>) -> SystemBuilder<Vertices>,
    ) -> Self {
        let mut builder = System::builder(Field::from_vec(model.patch().masses()));
        for term in model.terms(gravity, DVec3::ZERO) {
            builder = builder.boxed_term(term);
        }
        let system = more(builder).build().unwrap();
        let criterion = Criterion::Acceleration(Positive::new(tolerance).unwrap());
        let settings = NewtonSettings { criterion, ..NewtonSettings::default() };
        let implicit = Implicit::new(&system, Scheme::BackwardEuler, settings).unwrap();
        Self { model, system, state, implicit }
    }

    /// From the patch at rest.
    pub fn at_rest(
        model: YarnModel,
        gravity: DVec3,
        tolerance: f64,
        more: impl FnOnce(SystemBuilder<Vertices>) -> SystemBuilder<Vertices>,
    ) -> Self {
        let state = State::at_rest(Field::from_vec(model.patch().rest().to_vec())).unwrap();
        Self::new(model, gravity, state, tolerance, more)
    }

    pub fn step(&mut self, dt: f64) -> StepReport {
        let report = self.implicit.step(&self.system, &mut self.state, Positive::new(dt).unwrap());
        report.unwrap_or_else(|error| panic!("{error}"))
    }

    /// What pins must supply at a node, N.
    pub fn force_at(&self, node: usize) -> DVec3 {
        let mut gradient = Field::filled(self.system.size(), DVec3::ZERO);
        let pose = Pose { own: &self.state.own().values, ..Pose::at(self.state.x()) };
        self.system.gradient(&pose, &mut gradient);
        gradient[id(node)]
    }
}
