//! Damping in scenes: rigid motions are free, static shapes stay, energy goes.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::{DQuat, DVec3};
use plisse_core::{Id, PoissonRatio, Positive};
use plisse_damping::RateLaw;
use plisse_membrane::Lame;
use plisse_scene::scene::{
    Bending, Cloth, Damping, Material, Membrane, Pick, Scene, SceneError, Settings, Shearing, StrainRate,
    Stretching, Wire, Wires,
};
use plisse_system::{Criterion, NewtonSettings, Scheme, State};

const G: f64 = 9.81;

fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn tight(tolerance: f64, scheme: Scheme) -> Settings {
    let newton =
        NewtonSettings { criterion: Criterion::ForcePerMass(p(tolerance)), ..NewtonSettings::default() };
    Settings { newton, scheme, ..Settings::default() }
}

/// Every membrane with every damping of strain rates that it can have, strong: minutes where cloth
/// has milliseconds.
fn strongly_damped() -> Vec<Material> {
    let lame = Lame::from_tensile(p(100.0), PoissonRatio::literal(0.3)).unwrap();
    let denim = Material::denim();
    let quartic = Membrane { shearing: Shearing::Quartic(p(50.0)), ..denim.membrane };
    let membranes = [
        denim.membrane,
        quartic,
        Membrane::woven(p(100.0), p(80.0), p(20.0)),
        Membrane { stretching: Stretching::GreenFibres { warp: p(100.0), weft: p(50.0) }, ..denim.membrane },
        Membrane::isotropic(Stretching::Arap(p(50.0))),
        Membrane::isotropic(Stretching::StVenantKirchhoff(lame)),
        Membrane::isotropic(Stretching::Corotational(lame)),
        Membrane {
            shearing: Shearing::Quadratic(p(9.0)),
            ..Membrane::isotropic(Stretching::NeoHookean(lame))
        },
    ];
    let dampings = [
        Damping { bending: Some(p(60.0)), ..Damping::strain_rate(p(60.0)) },
        Damping { membrane: StrainRate::Isotropic { lambda: 3e3, mu: 5e3 }, ..Damping::NONE },
        Damping { membrane: StrainRate::PerDirection([4e3, 3e3, 2e3]), ..Damping::NONE },
        Damping { rayleigh: Some(p(60.0)), ..Damping::NONE },
        Damping { rate_law: Some(RateLaw::new(p(0.1), 1.2).unwrap()), ..Damping::strain_rate(p(60.0)) },
    ];
    let mut all = Vec::new();
    for membrane in membranes {
        for damping in dampings {
            all.push(Material { membrane, damping, ..denim });
        }
    }
    // Bending without hinges has dashpots of its own.
    let rigidity = p(1e-4);
    for bending in
        [Bending::Quadratic { rigidity }, Bending::MidEdge { rigidity, poisson: PoissonRatio::literal(0.3) }]
    {
        all.push(Material { bending, damping: dampings[0], ..denim });
    }
    all
}

/// Free fall is a parabola to rounding for every vertex, and nothing begins to turn. 1e-11 m are
/// 1e-9 m/s² of the solver over 0.2 s, and 200 roundings of coordinates.
#[test]
fn free_fall_is_a_parabola() {
    let throw = DVec3::new(1.0, 0.0, 2.0);
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 0.5).normalize(), 0.7);
    for material in strongly_damped() {
        for scheme in [Scheme::BackwardEuler, Scheme::Bdf2, Scheme::NEWMARK] {
            let cloth =
                Cloth::sheet([2, 3], [0.1, 0.15]).unwrap().material(material).rotated(turn).velocity(throw);
            // Rows of a stiffness matrix sum to zero only to rounding; strain rates vanish exactly.
            let rayleigh = material.damping.rayleigh.is_some();
            let tolerance = if rayleigh { 1e-5 } else { 1e-9 };
            let mut scene = Scene::builder().cloth(cloth).settings(tight(tolerance, scheme)).build().unwrap();
            let start = scene.state().x().clone();
            let mut point = Scene::builder()
                .cloth(Cloth::sheet([1, 1], [0.1, 0.1]).unwrap().velocity(throw))
                .settings(tight(1e-9, scheme))
                .build()
                .unwrap();
            let origin = point.state().x()[Id::new(0)];
            for _ in 0..20 {
                scene.step().unwrap();
                point.step().unwrap();
            }
            // The parabola of the scheme, from a sheet without damping; that of Newmark is the true
            // one.
            let way = point.state().x()[Id::new(0)] - origin;
            if scheme == Scheme::NEWMARK {
                let t = point.time();
                assert!((way - throw * t + DVec3::Z * (0.5 * G * t * t)).length() < 1e-11);
            }
            for (v, x) in scene.state().x().iter() {
                let off = (*x - start[v] - way).length();
                assert!(off < if rayleigh { 1e-6 } else { 1e-11 }, "{material:?} {scheme:?}: {off:e}");
            }
        }
    }
}

/// Angular momentum after four turns in free flight, over that at the start.
fn momentum_left(mut scene: Scene, axis: DVec3) -> f64 {
    let x = scene.state().x().clone();
    let centre = x.as_slice().iter().sum::<DVec3>() / x.len() as f64;
    let v = x.map(|x| (axis.normalize() * 40.0).cross(*x - centre));
    scene.set_state(State::new(x, v).unwrap()).unwrap();
    let first = scene.step().unwrap();
    let mut last = first.clone();
    for _ in 0..640 {
        last = scene.step().unwrap();
    }
    assert!(scene.time() * 40.0 > 8.0 * std::f64::consts::PI);
    last.angular_momentum.length() / first.angular_momentum.length()
}

/// A sheet that spins in free flight goes on spinning, however strongly its strain rates are
/// damped; with Rayleigh's damping it stops. Newmark's own error is second order: 40 rad/s and 1 ms
/// make 1e-3 in four turns.
#[test]
fn spinning_is_free() {
    let settings = Settings { time_step: p(1e-3), ..tight(1e-6, Scheme::NEWMARK) };
    for material in strongly_damped() {
        let cloth = Cloth::sheet([2, 2], [0.1, 0.1]).unwrap().material(material);
        let scene = Scene::builder().cloth(cloth).gravity(DVec3::ZERO).settings(settings).build().unwrap();
        let left = momentum_left(scene, DVec3::new(0.1, 0.2, 1.0));
        if material.damping.rayleigh.is_some() {
            // Fibres of the denim hardly stretch: what brakes is their tension.
            assert!(left < 0.5, "{material:?}: {left}");
        } else {
            assert!((left - 1.0).abs() < 1e-3, "{material:?}: {left}");
        }
    }
}

/// A bent wire of a few joints spins freely about every axis.
#[test]
fn bent_wires_spin_freely() {
    let damping = Damping { bending: Some(p(30.0)), ..Damping::strain_rate(p(30.0)) };
    let wire = Wire { young: p(1e9), damping, ..Wire::default() };
    let points = (0..6).map(|k| {
        let (sin, cos) = (0.4 * f64::from(k)).sin_cos();
        DVec3::new(0.1 * cos, 0.1 * sin, 0.0)
    });
    let segments: Vec<[u32; 2]> = (0..5).map(|k| [k, k + 1]).collect();
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        let wires = Wires::new(points.clone().collect(), segments.clone(), []).unwrap().wire(wire);
        let settings = Settings { time_step: p(1e-3), ..tight(1e-5, Scheme::NEWMARK) };
        let scene = Scene::builder().wires(wires).gravity(DVec3::ZERO).settings(settings).build().unwrap();
        let left = momentum_left(scene, axis);
        assert!((left - 1.0).abs() < 1e-3, "{axis}: {left}");
    }
}

/// Damping has no part in equilibria: found directly, or by waiting.
#[test]
fn static_shapes_do_not_change() {
    let hang = |damping: Damping, scheme: Scheme| {
        let material = Material { damping, ..Material::interlock() };
        let cloth = Cloth::sheet([6, 6], [0.3, 0.3])
            .unwrap()
            .material(material)
            .pin(Pick::group("top-left"))
            .pin(Pick::group("top-right"));
        Scene::builder().cloth(cloth).settings(tight(1e-8, scheme)).build().unwrap()
    };
    let damping = Damping { bending: Some(p(0.02)), ..Damping::strain_rate(p(0.02)) };
    let mut plain = hang(Damping::NONE, Scheme::Quasistatic);
    plain.step().unwrap();
    for damping in [
        damping,
        Damping { membrane: StrainRate::Isotropic { lambda: 0.1, mu: 0.2 }, ..Damping::NONE },
        Damping { membrane: StrainRate::PerDirection([0.5, 0.5, 0.2]), ..Damping::NONE },
        Damping { rate_law: Some(RateLaw::new(p(0.1), 1.0).unwrap()), ..damping },
        Damping { mass: Some(p(4.0)), rayleigh: Some(p(0.02)), ..Damping::NONE },
    ] {
        let mut damped = hang(damping, Scheme::Quasistatic);
        damped.step().unwrap();
        assert_eq!(plain.state().x(), damped.state().x(), "the same problem to the last bit: {damping:?}");
    }
    // The same by waiting, with some drag: damping of strain alone would leave the sheet swinging.
    // (The equilibrium above need not be the one that is found so: it may be a saddle.)
    let rest = |damping: Damping| {
        let mut scene = hang(Damping { mass: Some(p(4.0)), ..damping }, Scheme::BackwardEuler);
        let disturbed = plain.state().x().map(|x| *x + DVec3::new(0.0, 0.0, 1e-3 * x.x));
        scene.set_state(State::at_rest(disturbed).unwrap()).unwrap();
        for _ in 0..1000 {
            scene.step_by(p(0.02)).unwrap();
        }
        scene.state().x().clone()
    };
    let (without, with) = (rest(Damping::NONE), rest(damping));
    for (v, x) in with.iter() {
        let off = x.distance(without[v]);
        assert!(off < 1e-7, "{v}: {off:e}");
    }
}

/// A stretched strip let go: every model of strain-rate damping takes the energy that an undamped
/// one keeps, and the budget closes.
#[test]
fn vibrations_end() {
    let energy_left = |damping: Damping| {
        let lame = Lame::from_tensile(p(100.0), PoissonRatio::literal(0.3)).unwrap();
        let membrane = Membrane::isotropic(Stretching::StVenantKirchhoff(lame));
        let material = Material { damping, membrane, ..Material::denim() };
        let cloth = Cloth::sheet([6, 2], [0.3, 0.1]).unwrap().material(material).pin(Pick::group("left"));
        let settings = Settings { time_step: p(1e-3), ..tight(1e-7, Scheme::NEWMARK) };
        let mut scene =
            Scene::builder().cloth(cloth).gravity(DVec3::ZERO).settings(settings).build().unwrap();
        let x = scene.state().x().clone();
        // Stretched by 5 % away from the held side.
        let pulled = x.map(|x| DVec3::new(x.x + 0.05 * (x.x + 0.15), x.y, x.z));
        scene.set_state(State::at_rest(pulled).unwrap()).unwrap();
        let report = scene.step().unwrap();
        let first = report.balance.before;
        let (mut last, mut dissipated) = (report.balance.after, report.balance.dissipated);
        for _ in 0..300 {
            let report = scene.step().unwrap();
            last = report.balance.after;
            dissipated += report.balance.dissipated;
        }
        (last / first, dissipated / first)
    };
    let (left, taken) = energy_left(Damping::NONE);
    assert!(left > 0.98 && taken == 0.0, "{left}");
    for damping in [
        Damping::strain_rate(p(0.005)),
        Damping { membrane: StrainRate::Isotropic { lambda: 0.1, mu: 0.2 }, ..Damping::NONE },
        Damping { membrane: StrainRate::PerDirection([0.5, 0.5, 0.2]), ..Damping::NONE },
        Damping { rate_law: Some(RateLaw::new(p(0.2), 1.5).unwrap()), ..Damping::strain_rate(p(0.01)) },
    ] {
        let (left, taken) = energy_left(damping);
        assert!(left < 0.2 && (left + taken - 1.0).abs() < 0.06, "{damping:?}: {left} {taken}");
    }
}

/// Wires: falling freely, and ringing down without losing their swing.
#[test]
fn wires_are_damped_alike() {
    let damping = Damping { bending: Some(p(30.0)), ..Damping::strain_rate(p(30.0)) };
    let wire = Wire { young: p(1e7), damping, ..Wire::default() };
    let net = Wires::net([3, 3], 2, [0.2, 0.2]).unwrap().wire(wire).velocity(DVec3::new(1.0, 2.0, 3.0));
    let mut scene = Scene::builder().wires(net).settings(tight(1e-9, Scheme::NEWMARK)).build().unwrap();
    let start = scene.state().x().clone();
    for _ in 0..20 {
        scene.step().unwrap();
    }
    let t = scene.time();
    let way = DVec3::new(1.0, 2.0, 3.0) * t - DVec3::Z * (0.5 * G * t * t);
    for (v, x) in scene.state().x().iter() {
        assert!((*x - start[v] - way).length() < 1e-10);
    }
    let sheet = Damping { membrane: StrainRate::PerDirection([1.0; 3]), ..Damping::NONE };
    let wrong = Wires::line(DVec3::ZERO, DVec3::X, 4).unwrap().wire(Wire { damping: sheet, ..wire });
    assert!(matches!(Scene::builder().wires(wrong).build().err().unwrap(), SceneError::WireViscosity { .. }));
}

#[test]
fn dampings_that_drive_are_refused() {
    for membrane in
        [StrainRate::Isotropic { lambda: -2.0, mu: 1.0 }, StrainRate::PerDirection([1.0, -1.0, 0.0])]
    {
        let material = Material { damping: Damping { membrane, ..Damping::NONE }, ..Material::denim() };
        let cloth = Cloth::sheet([2, 2], [0.1, 0.1]).unwrap().material(material);
        let error = Scene::builder().cloth(cloth).build().err().unwrap();
        assert!(matches!(error, SceneError::Viscosity { .. }), "{error}");
    }
}
