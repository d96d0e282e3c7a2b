//! Set-ups that are refused, and what the messages say.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use common::{G, Sheet, positive, settings};
use glam::DVec3;
use plisse_core::{Field, Id, Positive, Vertices, generate};
use plisse_system::{
    Attachments, Criterion, Gravity, Implicit, Integrator, NewtonSettings, OwnState, Pin, PointLoads,
    Pressure, Scheme, State, StepError, System, Volume,
};

fn sheet() -> Sheet {
    Sheet::grid(2, 2, [1.0, 1.0], generate::Diagonal::Right)
}

fn refusal(builder: plisse_system::SystemBuilder<Vertices>) -> String {
    builder.build().err().unwrap().to_string()
}

#[test]
fn masses() {
    let mut mass = sheet().mass(0.2);
    mass[Id::new(4)] = 0.0;
    let message = refusal(System::builder(mass.clone()));
    assert!(message.contains("vertex 4 has no mass") && message.contains("Pin it"), "{message}");
    assert!(System::builder(mass.clone()).pin(Id::new(4)).build().is_ok(), "held nodes need no mass");
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        mass[Id::new(4)] = bad;
        let message = refusal(System::builder(mass.clone()));
        assert!(message.contains("vertex 4 has mass"), "{message}");
    }
    let message = refusal(System::massless(9));
    assert!(message.contains("neither mass nor pins"), "{message}");
}

#[test]
fn pins() {
    let mass = sheet().mass(0.2);
    let twice = System::builder(mass.clone()).pin(Id::new(3)).move_pin(Id::new(3), |_| DVec3::ZERO);
    let message = refusal(twice);
    assert!(
        message.contains("vertex 3 is constrained twice, as a still pin and as a moving pin"),
        "{message}"
    );
    assert!(
        System::builder(mass.clone()).pin(Id::new(3)).pin(Id::new(3)).build().is_ok(),
        "the same twice is no conflict"
    );
    let message = refusal(System::builder(mass.clone()).pin(Id::new(9)));
    assert!(message.contains("vertex 9") && message.contains("only 9"), "{message}");
    let message = refusal(System::builder(mass).constrain(Id::new(2), Pin::Plane(DVec3::ZERO)));
    assert!(message.contains("normal of the constraint on vertex 2"), "{message}");
}

#[test]
fn terms() {
    let sheet = sheet();
    let mass = sheet.mass(0.2);
    let energy = plisse_membrane::Arap::new(positive(10.0));
    let message = refusal(System::builder(Field::filled(5, 0.1)).term(sheet.membrane(energy)));
    assert!(message.contains("\"membrane\"") && message.contains("only 5"), "{message}");
    let message = refusal(System::builder(Field::filled(5, 0.1)).term(sheet.gravity(0.2)));
    assert!(message.contains("masses of gravity"), "{message}");
    let message =
        refusal(System::builder(mass.clone()).term(sheet.membrane(energy)).term(sheet.membrane(energy)));
    assert!(message.contains("two terms are called \"membrane\""), "{message}");
    let far = PointLoads::new("loads", vec![(Id::new(99), DVec3::X)]).unwrap();
    assert!(refusal(System::builder(mass).term(far)).contains("point loads"));
    assert!(Gravity::new(DVec3::NAN, &sheet.mass(0.2)).is_err());
    assert!(PointLoads::<Vertices>::new("loads", vec![(Id::new(0), DVec3::INFINITY)]).is_err());
    let message = Pressure::new(&sheet.mesh, 10.0).unwrap_err().to_string();
    assert!(message.contains("edge") && message.contains("closed"), "{message}");
    let (ball, x) = generate::sphere(1, 1.0).unwrap();
    assert!(Pressure::new(&ball, f64::NAN).is_err() && Volume::new(&ball, positive(1.0), 0.0).is_err());
    let mirrored = x.map(|x| -*x);
    let message = Volume::keeping(&ball, &mirrored, positive(1.0)).unwrap_err().to_string();
    assert!(message.contains("inwards"), "{message}");
}

#[test]
fn states() {
    let sheet = sheet();
    let mut x = sheet.flat.clone();
    x[Id::new(7)].y = f64::NAN;
    let message = State::at_rest(x).unwrap_err().to_string();
    assert!(message.contains("position of vertex 7") && message.contains("not finite"), "{message}");
    let short = Field::filled(3, DVec3::ZERO);
    assert!(State::new(sheet.flat.clone(), short).is_err());
    // A step of no length cannot be written down.
    assert!(Positive::new(0.0).is_err());
    let still = Field::filled(9, DVec3::ZERO);
    assert!(
        State::resume(sheet.flat.clone(), still, OwnState::default(), f64::NAN, None, None, None).is_err()
    );
}

#[test]
fn integrators() {
    let sheet = sheet();
    let massless = System::massless(9).pin(Id::new(0)).term(Attachments::new("a").to_point(
        Id::new(1),
        G,
        positive(1.0),
    ));
    let massless = massless.build().unwrap();
    let message = |result: Result<Implicit<Vertices>, _>| {
        result.err().map(|e: plisse_system::SetupError| e.to_string()).unwrap()
    };
    assert!(
        message(Implicit::new(&massless, Scheme::BackwardEuler, settings(0.1)))
            .contains("backward Euler needs masses")
    );
    assert!(message(Implicit::new(&massless, Scheme::Quasistatic, settings(0.1))).contains("Decrement"));
    let decrement = NewtonSettings { criterion: Criterion::Decrement(positive(1e-9)), ..settings(0.1) };
    let loose = message(Implicit::new(&massless, Scheme::Quasistatic, decrement));
    assert!(loose.contains("vertex 2") && loose.contains("undetermined"), "{loose}");

    let system = sheet.cloth(0.2, [10.0; 3], 1e-3).pin(Id::new(0)).build().unwrap();
    let other = sheet.cloth(0.2, [10.0; 3], 1e-3).build().unwrap();
    let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, settings(0.1)).unwrap();
    let mut state = State::at_rest(sheet.flat.clone()).unwrap();
    assert_eq!(integrator.step(&other, &mut state, positive(0.1)).unwrap_err(), StepError::WrongSystem);
    let mut small = State::at_rest(Field::filled(4, DVec3::ZERO)).unwrap();
    let error = integrator.step(&system, &mut small, positive(0.1)).unwrap_err();
    assert_eq!(error, StepError::WrongSize { expected: 9, found: 4 });
}

/// A path that ends in NaN is named, and the state stays as it was.
#[test]
fn bad_paths() {
    let sheet = sheet();
    let system = sheet
        .cloth(0.2, [10.0; 3], 1e-3)
        .move_pin(Id::new(2), |t| if t < 0.15 { DVec3::new(1.0, 0.0, t) } else { DVec3::NAN })
        .build()
        .unwrap();
    let mut integrator = Implicit::new(&system, Scheme::BackwardEuler, settings(0.1)).unwrap();
    let mut state = State::at_rest(sheet.flat.clone()).unwrap();
    integrator.step(&system, &mut state, positive(0.1)).unwrap();
    let before = state.clone();
    let error = integrator.step(&system, &mut state, positive(0.1)).unwrap_err();
    assert!(error.to_string().contains("path of vertex 2"), "{error}");
    assert_eq!(state, before);
}
