//! Small hanging and pulled patches from disturbed starts, soft and stiff, with short and long
//! steps, as scenes take them: no failure, and no energy from nothing.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::DVec3;
use plisse_core::{Field, Id, Positive, Vertices};
use plisse_system::{Adaptive, Implicit, Integrator, NewtonSettings, Scheme, State, System, SystemBuilder};
use plisse_yarn::{Contacts, Passing, Weave, Woven, YarnMaterial, YarnModel};

const SIDE: usize = 5;
const REPEATS: u64 = 10;

/// Pseudo-random numbers from -1 to 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

#[derive(Clone, Copy, Debug)]
enum Setup {
    /// Held at two corners, under its weight.
    Hanging,
    /// One warp yarn is pulled at its end, the other yarns are held at theirs.
    Pulled,
    /// Thrown, and held by nothing.
    Flying,
}

#[derive(Clone, Copy, Debug)]
enum Stiffness {
    Soft,
    Cotton,
    Stiff,
}

fn model(stiffness: Stiffness) -> YarnModel {
    let (factor, friction) = match stiffness {
        Stiffness::Soft => (1e-2, 0.0),
        Stiffness::Cotton => (1.0, 0.3),
        Stiffness::Stiff => (100.0, 1.0),
    };
    let material = YarnMaterial {
        stretch: 60.0 * factor,
        bending: 1e-9 * factor,
        stretch_damping: 1e-4,
        bending_damping: 1e-3,
        ..YarnMaterial::COTTON
    };
    let contacts = Contacts { shear: 1e-6 * factor, friction, ..Contacts::COTTON };
    let woven = Woven {
        counts: [SIDE; 2],
        tails: [3e-3, 0.0],
        weave: Weave::twill(2, 1).unwrap(),
        warp: material,
        weft: material,
        contacts,
        ..Woven::default()
    };
    YarnModel::new(woven.patch().unwrap())
}

fn id(node: usize) -> Id<Vertices> {
    Id::new(node as u32)
}

/// Which nodes are held or pulled, and which the start does not disturb.
fn hold(
    setup: Setup,
    model: &YarnModel,
    builder: SystemBuilder<Vertices>,
) -> (SystemBuilder<Vertices>, Vec<usize>) {
    let ends = SIDE * SIDE;
    match setup {
        Setup::Flying => (builder, Vec::new()),
        Setup::Hanging => {
            let held = vec![0, SIDE - 1];
            (builder.pins(held.iter().map(|node| id(*node))), held)
        }
        Setup::Pulled => {
            let pulled = ends + 2 * (SIDE / 2) + 1;
            let mut held: Vec<usize> =
                (0..2 * SIDE).map(|k| ends + k).filter(|k| (k - ends) / 2 != SIDE / 2).collect();
            let start = model.patch().rest()[pulled];
            let builder = builder
                .pins(held.iter().map(|node| id(*node)))
                .move_pin(id(pulled), move |t| start + DVec3::X * (0.05 * t));
            held.push(pulled);
            (builder, held)
        }
    }
}

/// Runs to `duration`; gives the most energy that came from nothing, as a part of that in play.
fn run(setup: Setup, stiffness: Stiffness, dt: f64, steps: usize, seed: u64) -> f64 {
    let model = model(stiffness);
    let mut noise = Noise(seed);
    let builder = System::builder(Field::from_vec(model.patch().masses()));
    let gravity = if matches!(setup, Setup::Flying) { DVec3::ZERO } else { DVec3::new(0.0, 0.0, -9.81) };
    let terms = model.terms(gravity, DVec3::ZERO);
    let builder = terms.into_iter().fold(builder, SystemBuilder::boxed_term);
    let (builder, held) = hold(setup, &model, builder);
    let system = builder.build().unwrap();
    // The same energy, however stiff.
    let amplitude = if matches!(stiffness, Stiffness::Stiff) { 5e-6 } else { 5e-5 };
    let mut vector = |size: f64| DVec3::new(noise.next(), noise.next(), noise.next()) * size;
    let mut x = model.patch().rest().to_vec();
    let mut v = vec![DVec3::ZERO; x.len()];
    for node in (0..x.len()).filter(|node| !held.contains(node)) {
        x[node] += vector(amplitude);
        if matches!(setup, Setup::Flying) {
            v[node] = vector(0.3);
        }
    }
    let mut state = State::new(Field::from_vec(x), Field::from_vec(v)).unwrap();
    let implicit = Implicit::new(&system, Scheme::BackwardEuler, NewtonSettings::default()).unwrap();
    let mut adaptive = Adaptive::new(implicit, Positive::literal(1e-8));
    let mut worst = 0.0f64;
    for step in 0..steps {
        let what = || format!("{setup:?}, {stiffness:?}, {dt} s, seed {seed}, step {step}");
        let report = adaptive.step(&system, &mut state, Positive::new(dt).unwrap());
        let report = report.unwrap_or_else(|error| panic!("{}: {error}", what()));
        assert!(state.x().iter().all(|(_, x)| x.is_finite()), "{}", what());
        assert!(report.balance.after.is_finite() && report.balance.dissipated >= -1e-15, "{}", what());
        worst = worst.max(report.unexplained);
        // Crossings stay in their order.
        let own = &state.own().values;
        for (yarn, of) in model.patch().yarns().iter().enumerate() {
            let length = |place: usize| model.patch().arc_length(Passing { yarn, place }, own);
            assert!((1..of.nodes.len()).all(|place| length(place) > length(place - 1)), "{}", what());
        }
    }
    worst
}

fn all(setup: Setup) {
    let mut worst = 0.0f64;
    for stiffness in [Stiffness::Soft, Stiffness::Cotton, Stiffness::Stiff] {
        for (dt, steps) in [(1e-4, 10), (1e-3, 10), (5e-3, 5), (1.0 / 60.0, 3)] {
            for seed in 1..=REPEATS {
                worst = worst.max(run(setup, stiffness, dt, steps, seed));
            }
        }
    }
    assert!(worst < 0.01, "{setup:?}: {worst}");
}

#[test]
fn hanging_patches() {
    all(Setup::Hanging);
}

#[test]
fn patches_with_a_pulled_yarn() {
    all(Setup::Pulled);
}

#[test]
fn thrown_patches() {
    all(Setup::Flying);
}
