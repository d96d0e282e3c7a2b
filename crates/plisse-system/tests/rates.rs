//! Elements that resist change, and explicit steps.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use std::sync::Arc;

use common::{Sheet, distance, positive, settings, with_solver};
use glam::DVec3;
use plisse_bending::{DampedHinge, HingeElement, HingeWeight, QuadraticAngle};
use plisse_core::{Element, Field, Id, Past, Positive, Psd, Vertices, generate};
use plisse_damping::{
    Dissipation, GreenStrain, HingeAngle, OnTriangle, PositionJacobian, RateDependent, RateLaw, Viscosity,
};
use plisse_membrane::{BaraffWitkin, Lame, StVenantKirchhoff};
use plisse_system::{
    Attachments, BlockMatrix, ElementTerm, Gradient, Gravity, HessianPolicy, Implicit, Integrator,
    LinearSolver, Memory, NewtonSettings, Pin, Pose, Role, Scheme, SetupError, State, StepError, StepMap,
    SymplecticEuler, System, Term, Wind,
};

/// The same bits for any number of threads, and for energy and gradient together or apart.
#[test]
fn rates_have_the_same_bits_for_any_number_of_threads() {
    let sheet = Sheet::grid(30, 30, [1.0, 1.0], generate::Diagonal::Alternating);
    let viscosity = Viscosity::per_component([1.0, 2.0, 0.5]).unwrap();
    let damping = ElementTerm::<_, 3>::new("damping", sheet.dampers(viscosity));
    assert!(damping.elements().len() > 1500);
    let system = sheet.cloth(0.2, [80.0, 120.0, 30.0], 0.4).term(damping).build().unwrap();
    let start = &sheet.flat;
    let x = start.map(|x| *x + DVec3::new(0.02 * (9.0 * x.y).sin(), 0.0, 0.05 * (7.0 * x.x).cos()));
    let v = start.map(|x| DVec3::new(x.y, -x.x, 0.3));
    for past in [Past::Start, Past::Earlier { weight: 0.3, x: &v }, Past::Velocity { time: 0.01, v: &v }] {
        let step = StepMap {
            start,
            dt: 0.01,
            reference: start,
            rate: 100.0,
            past,
            own: &[],
            inertia: None,
            memory: None,
        };
        let pose = Pose { x: &x, own: &[], time: 0.0, step: Some(step) };
        let evaluate = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut a = BlockMatrix::zeros(Arc::clone(system.pattern()));
                system.hessian(&pose, Psd::Clamp, &mut a);
                let mut g = Field::filled(system.size(), DVec3::ZERO);
                let together = system.energy_and_gradient(&pose, &mut g);
                let mut apart = Field::filled(system.size(), DVec3::ZERO);
                system.gradient(&pose, &mut apart);
                assert!(g == apart && together == system.energy(&pose));
                (together, g, a.values().to_vec())
            })
        };
        let one = evaluate(1);
        for threads in 2..=4 {
            assert!(evaluate(threads) == one, "{threads} threads");
        }
    }
}

fn dashpot(hinge: &HingeElement<QuadraticAngle>, beta: f64) -> Dissipation<HingeAngle, Viscosity<1>, 4, 1> {
    let viscosity = Viscosity::per_component([beta * hinge.stiffness()]).unwrap();
    Dissipation::new(hinge.nodes(), HingeAngle::default(), viscosity, Positive::ONE)
}

/// The function of an element with damping is that of the two, in one pass: the same motion,
/// energies and losses.
#[test]
fn damped_terms_are_the_sum_of_two() {
    let sheet = Sheet::grid(12, 12, [1.0, 1.0], generate::Diagonal::Alternating);
    let membrane = || {
        let [warp, weft, shear] = [80.0, 120.0, 30.0].map(positive);
        System::builder(sheet.mass(0.2))
            .term(sheet.membrane(BaraffWitkin::from_moduli(warp, weft, shear)))
            .term(sheet.gravity(0.2))
            .pins([Id::new(0), Id::new(12)])
    };
    let hinges = sheet.hinges(0.02, HingeWeight::AreaSum);
    let dashpots: Vec<_> = hinges.elements().iter().map(|hinge| dashpot(hinge, 0.05)).collect();
    let damped = hinges.elements().iter().map(|h| DampedHinge::new(*h, positive(0.05))).collect();
    let apart =
        membrane().term(hinges).term(ElementTerm::<_, 4>::new("bending damping", dashpots)).build().unwrap();
    let together = membrane().term(ElementTerm::<_, 4>::new("bending", damped)).build().unwrap();
    let bulge = sheet.flat.map(|x| *x + DVec3::Z * 0.1 * (3.0 * x.x).sin() * (2.0 * x.y).cos());
    for scheme in [Scheme::BackwardEuler, Scheme::Bdf2, Scheme::NEWMARK] {
        let run = |system: &System<Vertices>| {
            let mut integrator = Implicit::new(system, scheme, settings(1e-8)).unwrap();
            let mut state = State::at_rest(bulge.clone()).unwrap();
            let mut reports = Vec::new();
            for _ in 0..10 {
                reports.push(integrator.step(system, &mut state, Positive::literal(0.01)).unwrap());
            }
            let still = integrator.equilibrate(system, &mut state.clone()).unwrap();
            (state, reports, still)
        };
        let ((a, reports_a, still_a), (b, reports_b, still_b)) = (run(&apart), run(&together));
        assert!(distance(a.x(), b.x()) < 1e-9, "{}", distance(a.x(), b.x()));
        for (a, b) in reports_a.iter().zip(&reports_b) {
            let scale = a.balance.before.abs();
            assert!((a.energies.elastic() - b.energies.elastic()).abs() < 1e-8 * scale);
            assert!((a.energies.total() - b.energies.total()).abs() < 1e-8 * scale);
            assert!(a.balance.dissipated > 0.0 || scheme != Scheme::BackwardEuler);
            assert!((a.balance.dissipated - b.balance.dissipated).abs() < 1e-8 * scale);
        }
        // At rest nothing resists.
        assert!((still_a.energies.total() - still_b.energies.total()).abs() < 1e-9);
    }
}

/// Reports have what the terms give at the end of a step, also where the solver had to try several
/// lengths.
#[test]
fn reports_are_those_of_the_end() {
    let sheet = Sheet::grid(6, 6, [1.0, 1.0], generate::Diagonal::Alternating);
    let lame = Lame::new(positive(1e4), 5e3).unwrap();
    let damped = sheet
        .hinges(1e-4, HingeWeight::AreaSum)
        .elements()
        .iter()
        .map(|h| DampedHinge::new(*h, positive(0.02)))
        .collect();
    let system = System::builder(sheet.mass(0.1))
        .term(sheet.membrane(StVenantKirchhoff::new(lame)))
        .term(ElementTerm::<_, 4>::new("bending", damped))
        .term(sheet.gravity(0.1))
        .term(Wind::new(&sheet.mesh, DVec3::new(0.0, 4.0, 1.0), positive(1.2), positive(1.0)))
        .pins([0, 6].map(Id::new))
        .build()
        .unwrap();
    let (dt, mut lengths, mut fed_at_all) = (1.0 / 30.0, Vec::new(), false);
    // Exact Hessians give steps that are too long, projected ones steps that are too short.
    for hessian in [HessianPolicy::OnDemand, HessianPolicy::Always(Psd::Clamp)] {
        let mut state = State::at_rest(sheet.flat.clone()).unwrap();
        let settings = NewtonSettings { hessian, ..settings(1e-3) };
        let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, settings).unwrap();
        for _ in 0..30 {
            let start = state.x().clone();
            let report = integrator.step(&system, &mut state, positive(dt)).unwrap();
            let (x, rate) = (state.x(), 1.0 / dt);
            let map = StepMap {
                start: &start,
                dt,
                reference: &start,
                rate,
                past: Past::Start,
                own: &[],
                inertia: None,
                memory: None,
            };
            let pose = Pose { x, own: &[], time: state.time(), step: Some(map) };
            let (mut dissipated, mut fed): (f64, f64) = (0.0, 0.0);
            for (term, reported) in system.terms().zip(&report.energies.terms) {
                let mut unused = Field::filled(x.len(), DVec3::ZERO);
                let fresh = term.energy_and_add_gradient(&pose, &mut Gradient::by_nodes(&mut unused));
                dissipated += fresh.dissipated;
                if term.drives() {
                    fed += (-fresh.dissipated).max(0.0);
                }
                let expected = match term.role() {
                    Role::Dissipative => fresh.potential,
                    _ => term.energy(&Pose { step: None, ..pose }),
                };
                assert_eq!(reported.energy, expected, "{}", term.name());
            }
            // What the wind feeds into the motion is work, not a negative loss.
            assert_eq!(report.balance.dissipated, dissipated + fed);
            assert_eq!(report.balance.work, fed);
            fed_at_all |= fed > 0.0;
            lengths.extend(report.solves[0].iterations.iter().map(|iteration| iteration.length));
        }
    }
    assert!(fed_at_all);
    assert!(lengths.iter().any(|l| *l < 1.0) && lengths.iter().any(|l| *l >= 2.0), "{lengths:?}");
}

/// What terms keep of a step changes no bit, nor does the number of threads; and a memory of
/// something else is not believed.
#[test]
fn memories_change_nothing() {
    let sheet = Sheet::grid(30, 30, [1.0, 1.0], generate::Diagonal::Right);
    let hinges = sheet.hinges(0.02, HingeWeight::AreaSum);
    let damped = hinges.elements().iter().map(|h| DampedHinge::new(*h, positive(0.05))).collect();
    let term = ElementTerm::<_, 4>::new("bending", damped);
    assert!(term.elements().len() > 1500);
    assert_eq!([term.role(), hinges.role()], [Role::Elastic; 2]);
    let start = &sheet.flat;
    let x = start.map(|x| *x + DVec3::new(0.02 * (9.0 * x.y).sin(), 0.0, 0.05 * (7.0 * x.x).cos()));
    let v = start.map(|x| DVec3::new(x.y, -x.x, 0.3 * x.x * x.y));
    for past in [Past::Start, Past::Earlier { weight: 0.3, x: &v }, Past::Velocity { time: 0.01, v: &v }] {
        let step = StepMap {
            start,
            dt: 0.01,
            reference: start,
            rate: 100.0,
            past,
            own: &[],
            inertia: None,
            memory: None,
        };
        let evaluate = |threads: usize, remembers: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut memory = Memory::default();
                memory.keep(vec![1.0, 2.0]);
                if remembers {
                    term.remember(&step, &mut memory);
                }
                let pose = Pose {
                    x: &x,
                    own: &[],
                    time: 0.0,
                    step: Some(StepMap { memory: Some(&memory), ..step }),
                };
                let mut g = Field::filled(x.len(), DVec3::ZERO);
                let energies = term.energy_and_add_gradient(&pose, &mut Gradient::by_nodes(&mut g));
                assert_eq!(energies.potential, term.energy(&pose));
                (energies, g)
            })
        };
        let one = evaluate(1, false);
        assert!(one.0.dissipated != 0.0 && one.0.stored > 0.0 && one.0.stored < one.0.potential);
        for threads in 1..=3 {
            assert!(evaluate(threads, true) == one && evaluate(threads, false) == one, "{threads} threads");
        }
    }
    let pose = Pose::at(&x);
    assert_eq!(term.energy(&pose), hinges.energy(&pose));
    let mut memory = Memory::default();
    memory.keep(vec![1_u32]);
    assert_eq!(memory.get::<Vec<f64>>(), None);
    assert_eq!(memory.take::<Vec<u32>>(), [1]);
    assert!(memory.take::<Vec<u32>>().is_empty());
}

/// Free fall with one linear solve per step and with explicit steps, for every kind of element that
/// resists change: the parabola of the scheme, no vertex apart from the others.
#[test]
fn free_fall_without_iterations() {
    let sheet = Sheet::grid(3, 2, [0.3, 0.2], generate::Diagonal::Right);
    let throw = DVec3::new(1.0, -0.5, 2.0);
    // Strong for implicit steps, 60 s times the moduli; what explicit ones can bear. Rows of a
    // matrix sum to zero only to rounding, and this one is 1e5 times stiffer than the inertia: what
    // a single solve leaves of that adds up over the steps.
    for (explicit, beta, dt, tolerance) in [(false, 60.0, 0.01, 1e-9), (true, 1e-4, 1e-4, 1e-12)] {
        let viscosity = Viscosity::per_component([80.0 * beta, 120.0 * beta, 30.0 * beta]).unwrap();
        let thinning = RateDependent::new(viscosity, RateLaw::new(positive(0.1), 1.2).unwrap());
        let hinges = sheet.hinges(1e-3, HingeWeight::AreaSum);
        let with = |damping: Box<dyn Term<Vertices>>| {
            let [warp, weft, shear] = [80.0, 120.0, 30.0].map(positive);
            System::builder(sheet.mass(0.2))
                .term(sheet.membrane(BaraffWitkin::from_moduli(warp, weft, shear)))
                .term(sheet.gravity(0.2))
                .boxed_term(damping)
                .build()
                .unwrap()
        };
        let damped = hinges.elements().iter().map(|h| DampedHinge::new(*h, positive(beta))).collect();
        let velocity_form =
            sheet.dampers(viscosity).into_iter().map(|d| d.in_velocity_form(PositionJacobian::Symmetric));
        let systems = [
            with(Box::new(ElementTerm::<_, 3>::new("viscosity", sheet.dampers(viscosity)))),
            with(Box::new(ElementTerm::<_, 3>::new("thinning", sheet.dampers(thinning)))),
            with(Box::new(ElementTerm::<_, 3>::new("velocity form", velocity_form.collect()))),
            with(Box::new(ElementTerm::<_, 4>::new("hinges", damped))),
        ];
        for system in &systems {
            let mut integrator: Box<dyn Integrator<Vertices>> = if explicit {
                Box::new(SymplecticEuler::new(system).unwrap())
            } else {
                Box::new(
                    Implicit::one_iteration(system, Psd::Clamp, with_solver(1e-9, LinearSolver::Cholesky))
                        .unwrap(),
                )
            };
            let x = sheet.flat.map(|x| DVec3::new(x.x, 0.8 * x.y, 0.6 * x.y));
            let mut state = State::new(x.clone(), x.map(|_| throw)).unwrap();
            for _ in 0..100 {
                integrator.step(system, &mut state, positive(dt)).unwrap();
            }
            // Both schemes move by dt (v - k g dt) in step k.
            let (n, t) = (100.0, 100.0 * dt);
            let way = throw * t - DVec3::Z * (9.81 * dt * dt * 0.5 * n * (n + 1.0));
            for (i, p) in state.x().iter() {
                let off = (*p - x[i] - way).length();
                assert!(
                    off < tolerance,
                    "explicit {explicit}, {:?}: {off:e}",
                    system.terms().last().map(Term::name)
                );
            }
        }
    }
}

/// A force that no potential has must not be judged by one.
#[test]
fn forces_without_potential_need_a_solver_without_line_search() {
    let sheet = Sheet::grid(2, 2, [1.0, 1.0], generate::Diagonal::Right);
    let map = *sheet.rest.map(Id::new(0));
    let strain = OnTriangle::new(map, GreenStrain::default());
    let viscosity = Viscosity::isotropic(1.0, 1.0).unwrap();
    let nodes = sheet.mesh.faces()[Id::new(0)];
    let element = Dissipation::<_, _, 3, 3>::new(nodes, strain, viscosity, positive(map.area()));
    let element = element.in_velocity_form(PositionJacobian::Symmetric);
    let damping = ElementTerm::<_, 3>::new("dashpots", vec![element]);
    assert_eq!(damping.role(), Role::Dissipative);
    let system = sheet.cloth(0.2, [80.0, 120.0, 30.0], 0.4).term(damping).build().unwrap();
    let error = Implicit::new(&system, Scheme::BackwardEuler, NewtonSettings::default()).err().unwrap();
    assert_eq!(error, SetupError::NoPotential { term: "dashpots".to_owned() });
    let without = NewtonSettings { line_search: false, ..NewtonSettings::default() };
    assert!(Implicit::new(&system, Scheme::BackwardEuler, without).is_ok());
    assert!(Implicit::one_iteration(&system, Psd::Clamp, NewtonSettings::default()).is_ok());
}

fn point_mass(stiffness: f64, pin: Option<Pin>) -> (System<Vertices>, State<Vertices>) {
    let mass: Field<Vertices, f64> = Field::filled(1, 2.0);
    let gravity = Gravity::new(DVec3::new(0.0, 0.0, -9.81), &mass).unwrap();
    let spring = Attachments::new("spring").to_point(Id::new(0), DVec3::ZERO, positive(stiffness));
    let mut builder = System::builder(mass).term(gravity).term(spring);
    if let Some(pin) = pin {
        builder = builder.constrain(Id::new(0), pin);
    }
    let x = Field::filled(1, DVec3::new(1.0, 0.0, 0.0));
    let v = Field::filled(1, DVec3::new(0.0, 0.5, 0.3));
    (builder.build().unwrap(), State::new(x, v).unwrap())
}

/// Explicit steps of an oscillator: first order, and an energy that stays near for a thousand
/// periods.
#[test]
fn symplectic_euler_keeps_an_oscillator() {
    let omega: f64 = 5.0;
    let exact = |t: f64| {
        let rest = DVec3::new(0.0, 0.0, -9.81 / (omega * omega));
        let offset = DVec3::X - rest;
        let v = DVec3::new(0.0, 0.5, 0.3);
        rest + offset * (omega * t).cos() + v / omega * (omega * t).sin()
    };
    let mut errors = Vec::new();
    for steps in [100, 200, 400] {
        let (system, mut state) = point_mass(50.0, None);
        let mut integrator = SymplecticEuler::new(&system).unwrap();
        for _ in 0..steps {
            integrator.step(&system, &mut state, Positive::new(1.0 / f64::from(steps)).unwrap()).unwrap();
        }
        errors.push(state.x()[Id::new(0)].distance(exact(1.0)));
    }
    for pair in errors.windows(2) {
        assert!((pair[0] / pair[1] - 2.0).abs() < 0.1, "{errors:?}");
    }
    let (system, mut state) = point_mass(50.0, None);
    let mut integrator = SymplecticEuler::new(&system).unwrap();
    let dt = Positive::literal(0.01);
    let first = integrator.step(&system, &mut state, dt).unwrap().energies.total();
    for _ in 0..100_000 {
        let report = integrator.step(&system, &mut state, dt).unwrap();
        assert!((report.energies.total() - first).abs() < 3.0, "{}", report.energies.total());
    }
}

/// Held, moving and sliding nodes stay where they must, whatever their velocity was.
#[test]
fn symplectic_euler_respects_pins() {
    let dt = Positive::literal(0.01);
    for (pin, expected) in [
        (Pin::Still, None),
        (Pin::Moving(Arc::new(|t| DVec3::new(1.0 + t, 0.0, 0.0))), Some(DVec3::new(1.05, 0.0, 0.0))),
    ] {
        let (system, mut state) = point_mass(50.0, Some(pin));
        let mut integrator = SymplecticEuler::new(&system).unwrap();
        for _ in 0..5 {
            integrator.step(&system, &mut state, dt).unwrap();
        }
        let expected = expected.unwrap_or(DVec3::X);
        assert!(state.x()[Id::new(0)].distance(expected) < 1e-15);
    }
    let (system, mut state) = point_mass(50.0, Some(Pin::Plane(DVec3::Z)));
    let mut integrator = SymplecticEuler::new(&system).unwrap();
    for _ in 0..50 {
        integrator.step(&system, &mut state, dt).unwrap();
    }
    assert!(state.x()[Id::new(0)].z == 0.0 && state.x()[Id::new(0)].x < 0.9);
}

/// A step that is too long for the stiffness ends with a message, and leaves the state alone.
#[test]
fn symplectic_euler_says_when_it_is_unstable() {
    let (system, mut state) = point_mass(1e8, None);
    let mut integrator = SymplecticEuler::new(&system).unwrap();
    let error = loop {
        let before = state.clone();
        if let Err(error) = integrator.step(&system, &mut state, Positive::literal(0.1)) {
            assert_eq!(state, before);
            break error;
        }
    };
    assert!(matches!(error, StepError::Unstable { .. }), "{error}");
    assert!(error.to_string().contains("shorten it or integrate implicitly"));
}
