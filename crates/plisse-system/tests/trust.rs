//! A step that is taken can be trusted: what must not be called converged, what must not be passed,
//! energy that nothing explains, and how step sizes recover.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use common::{G, Sheet, positive, settings};
use glam::{DMat3, DVec3};
use plisse_core::{Field, Id, Positive, Psd, Vertices, generate};
use plisse_membrane::BaraffWitkin;
use plisse_system::{
    Adaptive, Attachments, Clearance, Criterion, Ended, Failure, Gradient, Gravity, Implicit, Integrator,
    Ledger, NewtonSettings, PointLoads, Pose, Role, Scheme, Sink, SpectralRadius, State, StepError,
    StepReport, System, Term, Unknown, Way,
};

/// A sheet that nothing holds has no equilibrium under gravity. Steps are then as small as rounding
/// of the huge positions that the solver has reached, which must not be called success.
#[test]
fn nothing_holds_is_no_equilibrium() {
    for n in 3..9 {
        let sheet = Sheet::grid(n, n, [1.0, 1.0], generate::Diagonal::Alternating);
        let system = sheet.cloth(0.2, [1e4, 1e4, 1e3], 1e-4).term(sheet.gravity(0.2)).build().unwrap();
        let mut state = State::at_rest(sheet.flat.clone()).unwrap();
        let before = state.clone();
        let mut integrator = Implicit::new(&system, Scheme::Quasistatic, settings(0.1)).unwrap();
        match integrator.equilibrate(&system, &mut state) {
            Err(StepError::NotConverged { error, .. }) => {
                assert_eq!(error.failure, Failure::RunsAway, "{error}");
                assert!(error.to_string().contains("no equilibrium"), "{error}");
            }
            other => panic!("{n}: {other:?}"),
        }
        assert_eq!(state, before);
    }
}

/// Rounding is accepted where it is the truth: a stiff spring far from the origin cannot be
/// balanced better, and the report counts it.
#[test]
fn rounding_is_accepted_at_its_floor() {
    let mass = Field::filled(1, 1e-3);
    let far = DVec3::new(1e6, 2e6, -1e6);
    let spring = Attachments::<Vertices>::new("spring").to_point(Id::new(0), far, positive(1e6));
    let gravity = Gravity::new(G, &mass).unwrap();
    let system = System::builder(mass).term(spring).term(gravity).build().unwrap();
    let mut state = State::at_rest(Field::filled(1, far + DVec3::X * 1e-3)).unwrap();
    let strict = NewtonSettings { criterion: Criterion::ForcePerMass(positive(1e-9)), ..settings(1e-9) };
    let mut integrator = Implicit::new(&system, Scheme::Quasistatic, strict).unwrap();
    let report = integrator.equilibrate(&system, &mut state).unwrap();
    assert_eq!((report.solves[0].ended, report.at_rounding()), (Some(Ended::Rounding), 1));
    // The spacing of numbers near 2e6 is 2e-10 m, and of forces 2e-4 N: 0.2 m/s².
    assert!(report.residual() < 1.0, "{}", report.residual());
}

/// `E = -k ln x` along one axis and `-k ln(-x)` on the other side, which only
/// [`Term::longest_step`] keeps apart.
struct Wall {
    strength: f64,
}

impl Term<Vertices> for Wall {
    fn name(&self) -> &str {
        "wall"
    }
    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        pair(Id::new(0).into(), Id::new(0).into());
    }
    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        -self.strength * pose.x[Id::new(0)].x.abs().ln()
    }
    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        gradient[Id::new(0)].x -= self.strength / pose.x[Id::new(0)].x;
    }
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, _: Psd, sink: &mut Sink<'_>) {
        let x = pose.x[Id::new(0)].x;
        sink.add(0, &DMat3::from_diagonal(DVec3::X * (self.strength / (x * x))));
    }
    fn longest_step(&self, pose: &Pose<'_, Vertices>, to: &Pose<'_, Vertices>) -> f64 {
        let (x, to) = (pose.x[Id::new(0)].x, to.x[Id::new(0)].x);
        if to >= x { f64::INFINITY } else { 0.9 * x / (x - to) }
    }
    fn admit(&self, way: &Way<'_, Vertices>, guess: &mut Field<Vertices, DVec3>) {
        let (from, to) = (way.start[Id::new(0)].x, &mut guess[Id::new(0)].x);
        *to = to.max(0.1 * from);
    }
    fn clearance(&self, pose: &Pose<'_, Vertices>) -> Option<Clearance<Vertices>> {
        let node = Id::new(0);
        let parts = ["the mass".to_owned(), "the wall".to_owned()];
        Some(Clearance { node, gap: pose.x[node].x, parts, place: pose.x[node], held_depth: 0.0 })
    }
}

/// A mass that flies at a wall with a metre per step stops in front of it, and the report says how
/// close.
#[test]
fn steps_end_before_a_wall() {
    for strength in [1.0, 1e-3, 1e-9] {
        let wall = Wall { strength };
        let system = System::builder(Field::filled(1, 1.0)).term(wall).build().unwrap();
        for scheme in
            [Scheme::BackwardEuler, Scheme::Bdf2, Scheme::Newmark(SpectralRadius::new(0.5).unwrap())]
        {
            let start = Field::filled(1, DVec3::X);
            let mut state = State::new(start, Field::filled(1, DVec3::X * -100.0)).unwrap();
            let mut integrator = Implicit::new(&system, scheme, settings(1e-6)).unwrap();
            for _ in 0..10 {
                let report = integrator.step(&system, &mut state, positive(0.01)).unwrap();
                let closest = report.closest.unwrap();
                assert_eq!((closest.node, closest.gap), (0, state.x()[Id::new(0)].x));
                assert!(closest.gap > 0.0, "{scheme:?} {closest:?}");
                assert!(closest.to_string().starts_with("the mass and the wall, gap "), "{closest}");
            }
        }
    }
}

/// Something that pushes without an energy: a motor.
struct Motor;

impl Term<Vertices> for Motor {
    fn name(&self) -> &str {
        "motor"
    }
    fn role(&self) -> Role {
        Role::Elastic
    }
    fn has_potential(&self) -> bool {
        false
    }
    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        pair(Id::new(0).into(), Id::new(0).into());
    }
    fn energy(&self, _: &Pose<'_, Vertices>) -> f64 {
        0.0
    }
    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        gradient[Id::new(0)].x -= if pose.time > 0.5 { 1.0 } else { 0.0 };
    }
    fn add_hessian(&self, _: &Pose<'_, Vertices>, _: Psd, _: &mut Sink<'_>) {}
}

#[test]
fn energy_from_nowhere_is_refused() {
    let mass = Field::filled(1, 1.0);
    let system = System::builder(mass.clone()).term(Motor).build().unwrap();
    for scheme in [Scheme::BackwardEuler, Scheme::Bdf2, Scheme::NEWMARK] {
        let newton = NewtonSettings { line_search: false, ..settings(1e-9) };
        let implicit = Implicit::new(&system, scheme, newton).unwrap();
        let mut integrator = Adaptive::new(implicit, positive(1e-5));
        let mut state = State::new(Field::filled(1, DVec3::ZERO), Field::filled(1, DVec3::X)).unwrap();
        let mut worst: f64 = 0.0;
        let error = loop {
            // Short enough that one of them ends between the warning and the limit.
            match integrator.step(&system, &mut state, positive(0.02)) {
                Ok(report) => worst = worst.max(report.unexplained),
                Err(error) => break error,
            }
            assert!(state.time() < 2.0, "{scheme:?}: nobody noticed");
        };
        // Part of the kinetic energy of 1 m/s, and not before a warning was due.
        let said = error.to_string();
        let StepError::EnergyGained { time, excess, scale, .. } = error else { panic!("{said}") };
        // No scheme is advised against itself.
        let own = if scheme == Scheme::NEWMARK { "Newmark" } else { scheme.name() };
        assert!(!said.contains(own) && said.contains("horter time step"), "{said}");
        assert!((0.5..1.0).contains(&time) && excess / scale > Ledger::LIMIT, "{time} {excess} {scale}");
        assert!(worst > Ledger::WARNING, "{worst}");
    }
    // The same push as a load, which has a potential, is explained.
    let push = PointLoads::<Vertices>::new("push", vec![(Id::new(0), DVec3::X)]).unwrap();
    let system = System::builder(mass).term(push).build().unwrap();
    let implicit = Implicit::new(&system, Scheme::BackwardEuler, settings(1e-9)).unwrap();
    let mut integrator = Adaptive::new(implicit, positive(1e-5));
    let mut state = State::new(Field::filled(1, DVec3::ZERO), Field::filled(1, DVec3::X)).unwrap();
    for _ in 0..100 {
        let report = integrator.step(&system, &mut state, positive(0.05)).unwrap();
        assert!(report.unexplained < 1e-9, "{}", report.unexplained);
    }
}

/// Vibrations much faster than the step shrink by the spectral radius in each; slow ones are second
/// order, see `orders`.
#[test]
fn newmark_dissipates_as_its_radius_says() {
    for radius in [0.0, 0.3, 0.8, 1.0] {
        let spring = Attachments::<Vertices>::new("spring").to_point(Id::new(0), DVec3::ZERO, positive(1e12));
        let system = System::builder(Field::filled(1, 1.0)).term(spring).build().unwrap();
        let scheme = Scheme::Newmark(SpectralRadius::new(radius).unwrap());
        let newton = NewtonSettings { fixed: true, max_iterations: 2, ..settings(1e-9) };
        let mut integrator = Implicit::new(&system, scheme, newton).unwrap();
        let mut state = State::at_rest(Field::filled(1, DVec3::X)).unwrap();
        // Without a radius a few steps leave nothing to measure.
        let steps = if radius > 0.0 { 40 } else { 5 };
        let mut speeds = Vec::new();
        for _ in 0..steps {
            integrator.step(&system, &mut state, positive(1.0)).unwrap();
            speeds.push(state.v()[Id::new(0)].length());
        }
        if radius > 0.0 {
            // A double root grows by a factor of the number of steps at first; forty steps leave
            // the rate.
            let rate = (speeds[39] / speeds[19]).powf(1.0 / 20.0);
            assert!((rate / radius - 1.0).abs() < 0.05, "{radius}: {rate}");
        } else {
            assert!(speeds[4] < 1e-6 * speeds[0], "{speeds:?}");
        }
    }
}

/// Steps of up to a limit succeed.
struct UpTo {
    limit: f64,
    attempts: usize,
    failures: usize,
}

impl Integrator<Vertices> for UpTo {
    fn step(
        &mut self,
        system: &System<Vertices>,
        state: &mut State<Vertices>,
        dt: Positive,
    ) -> Result<StepReport, StepError> {
        self.attempts += 1;
        if dt.get() > self.limit {
            self.failures += 1;
            return Err(StepError::Crossed {
                time: state.time(),
                dt: dt.get(),
                node: 0,
                term: String::new(),
            });
        }
        Implicit::new(system, Scheme::BackwardEuler, settings(1e-3)).unwrap().step(system, state, dt)
    }
}

/// Where only short steps succeed, few long ones are tried in vain; where long ones do again, the
/// step grows back.
#[test]
fn steps_grow_only_after_several_successes() {
    let system = System::builder(Field::filled(1, 1.0)).build().unwrap();
    let inner = UpTo { limit: 2e-3, attempts: 0, failures: 0 };
    let mut integrator = Adaptive::new(inner, positive(1e-6));
    let mut state = State::at_rest(Field::filled(1, DVec3::ZERO)).unwrap();
    for _ in 0..100 {
        integrator.step(&system, &mut state, positive(0.02)).unwrap();
    }
    let (attempts, failures) = (integrator.inner().attempts, integrator.inner().failures);
    let accepted = attempts - failures;
    assert!(failures * 20 < accepted, "{failures} of {attempts}");
    integrator.inner_mut().limit = 1.0;
    for _ in 0..100 {
        integrator.step(&system, &mut state, positive(0.02)).unwrap();
    }
    let report = integrator.step(&system, &mut state, positive(0.02)).unwrap();
    assert_eq!((report.solves.len(), report.rejected), (1, 0));
}

/// A force that is smaller than the tolerance still acts: small errors of one sign would add up.
#[test]
fn small_steady_forces_act() {
    for scheme in [Scheme::BackwardEuler, Scheme::Bdf2, Scheme::NEWMARK] {
        let mass: Field<Vertices, f64> = Field::filled(2, 2.0);
        let load = PointLoads::new("load", vec![(Id::new(1), DVec3::X * 0.02)]).unwrap();
        let system = System::builder(mass).term(load).build().unwrap();
        let mut state = State::at_rest(Field::filled(2, DVec3::ZERO)).unwrap();
        let mut integrator = Implicit::new(&system, scheme, settings(0.1)).unwrap();
        for _ in 0..100 {
            integrator.step(&system, &mut state, positive(0.01)).unwrap();
        }
        // 0.01 m/s² for one second. A thousandth of the tolerance, 1e-4 m/s², may be left.
        assert!((state.v()[Id::new(1)].x - 0.01).abs() < 1e-4, "{scheme:?}: {}", state.v()[Id::new(1)]);
        assert_eq!(state.v()[Id::new(0)], DVec3::ZERO);
    }
}

/// A heavy body that has nothing to do with a light one does not loosen what is asked of the light
/// one.
#[test]
fn a_heavy_body_does_not_hide_a_light_one() {
    let sheet = Sheet::grid(6, 6, [0.1, 0.1], generate::Diagonal::Alternating);
    let fall = |weight: Option<f64>| {
        let mass = Field::from_vec([sheet.mass(0.01).as_slice(), weight.as_slice()].concat());
        let [warp, weft, shear] = [300.0, 300.0, 50.0].map(positive);
        let system = System::builder(mass.clone())
            .term(sheet.membrane(BaraffWitkin::from_moduli(warp, weft, shear)))
            .term(Gravity::new(G, &mass).unwrap())
            .pins([Id::new(0), Id::new(6)])
            .build()
            .unwrap();
        let far = weight.map(|_| DVec3::new(100.0, 0.0, 0.0));
        let start = Field::from_vec([sheet.flat.as_slice(), far.as_slice()].concat());
        let mut state = State::at_rest(start).unwrap();
        let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, settings(0.1)).unwrap();
        let mut worst = 0.0_f64;
        for _ in 0..20 {
            let report = integrator.step(&system, &mut state, positive(0.01)).unwrap();
            worst = worst.max(report.residual());
        }
        (state.x().as_slice()[..49].to_vec(), worst)
    };
    let ((alone, residual), (beside, other)) = (fall(None), fall(Some(1e4)));
    let apart = alone.iter().zip(&beside).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(apart < 1e-4, "{apart} m, residuals {residual:e} and {other:e} m/s²");
    assert!(other <= residual.max(10.0), "residuals {residual:e} and {other:e} m/s²");
}

/// A mass on a rod that stands on its end, or hangs from it.
#[test]
fn equilibria_say_whether_they_are_stable() {
    let rod = |below: bool| {
        let end = if below { DVec3::Z } else { -DVec3::Z };
        let mass = Field::filled(1, 1.0);
        let pull = Gravity::<Vertices>::new(DVec3::Z * -9.81, &mass).unwrap();
        let spring = Attachments::<Vertices>::new("rod").to_point(Id::new(0), end, positive(1e-3));
        let stiff = Rod { end, stiffness: 1e4 };
        let system = System::builder(mass).term(pull).term(stiff).term(spring).build().unwrap();
        let mut integrator = Implicit::new(&system, Scheme::Quasistatic, settings(1e-6)).unwrap();
        let mut state = State::at_rest(Field::filled(1, DVec3::ZERO)).unwrap();
        let report = integrator.step(&system, &mut state, positive(1.0)).unwrap();
        assert!(state.x()[Id::new(0)].length() < 0.01);
        let mut motion = Implicit::new(&system, Scheme::BackwardEuler, settings(1e-6)).unwrap();
        assert_eq!(motion.step(&system, &mut state, positive(0.01)).unwrap().stable, None);
        report.stable
    };
    assert_eq!(rod(true), Some(true));
    assert_eq!(rod(false), Some(false));
    // A mass that nothing pulls aside is neutral.
    let wall = Attachments::<Vertices>::new("wall").to_point(Id::new(0), DVec3::ZERO, positive(1e-12));
    let system = System::builder(Field::filled(1, 1.0)).term(wall).build().unwrap();
    let mut integrator = Implicit::new(&system, Scheme::Quasistatic, settings(1e-6)).unwrap();
    let mut state = State::at_rest(Field::filled(1, DVec3::ZERO)).unwrap();
    assert_eq!(integrator.equilibrate(&system, &mut state).unwrap().stable, Some(true));
}

/// `½ k (‖x - end‖ - 1)²`.
struct Rod {
    end: DVec3,
    stiffness: f64,
}

impl Term<Vertices> for Rod {
    fn name(&self) -> &str {
        "stiff rod"
    }
    fn role(&self) -> Role {
        Role::Elastic
    }
    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        pair(Id::new(0).into(), Id::new(0).into());
    }
    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        let excess = pose.x[Id::new(0)].distance(self.end) - 1.0;
        0.5 * self.stiffness * excess * excess
    }
    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        let way = pose.x[Id::new(0)] - self.end;
        gradient[Id::new(0)] += way.normalize() * (self.stiffness * (way.length() - 1.0));
    }
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, _: Psd, sink: &mut Sink<'_>) {
        let way = pose.x[Id::new(0)] - self.end;
        let (length, n) = (way.length(), way.normalize());
        let along = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        let across = DMat3::IDENTITY - along;
        sink.add(0, &((along + across * (1.0 - 1.0 / length)) * self.stiffness));
    }
}
