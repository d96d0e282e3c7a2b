//! Gradients and Hessians of whole systems against differences; bits for any number of threads.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use std::sync::Arc;

use common::{G, Sheet, positive};
use glam::DVec3;
use plisse_bending::QuadraticBending;
use plisse_core::{Field, Id, Psd, Vertices, generate};
use plisse_membrane::BaraffWitkin;
use plisse_system::{
    Attachments, BlockMatrix, ConstantTerm, Gradient, Gravity, PointLoads, Pose, Pressure, RankOne, Role,
    Sink, StepMap, System, Term, Unknown, Volume, Wind,
};
use proptest::prelude::*;

/// The dense Hessian of a system over its unknowns, dense parts included.
fn dense(system: &System<Vertices>, pose: &Pose<'_, Vertices>, psd: Psd) -> Vec<Vec<f64>> {
    let mut a = BlockMatrix::zeros(Arc::clone(system.pattern()));
    system.hessian(pose, psd, &mut a);
    let mut out = a.to_dense();
    for RankOne { weight, vector } in system.rank_ones(pose) {
        let flat: Vec<f64> = system.unknowns().iter().flat_map(|&v| vector[v].to_array()).collect();
        for (row, a) in out.iter_mut().zip(&flat) {
            for (value, b) in row.iter_mut().zip(&flat) {
                *value += weight * a * b;
            }
        }
    }
    out
}

/// Gradient against energy and Hessian against gradient, by central differences of the unknowns.
fn check(system: &System<Vertices>, pose: &Pose<'_, Vertices>, tolerance: f64) {
    let h = 1e-6;
    let n = system.unknowns().len();
    let gradient_at = |x: &Field<Vertices, DVec3>| {
        let mut g = Field::filled(system.size(), DVec3::ZERO);
        let fused = system.energy_and_gradient(&Pose { x, ..*pose }, &mut g);
        let mut alone = g.clone();
        system.gradient(&Pose { x, ..*pose }, &mut alone);
        assert_eq!(
            (fused, &g),
            (system.energy(&Pose { x, ..*pose }), &alone),
            "fused evaluation has the same bits"
        );
        system.unknowns().iter().flat_map(|&v| g[v].to_array()).collect::<Vec<f64>>()
    };
    let (g, hessian) = (gradient_at(pose.x), dense(system, pose, Psd::Exact));
    let scale = |v: &mut dyn Iterator<Item = f64>| v.fold(0.0, |m: f64, x| m.max(x.abs()));
    let g_scale = scale(&mut g.iter().copied());
    let h_scale = scale(&mut hessian.iter().flatten().copied());
    assert!(g_scale > 0.0, "a check of zero proves nothing");
    for k in 0..3 * n {
        let node = system.unknowns()[k / 3];
        let moved = |sign: f64| {
            let mut x = pose.x.clone();
            x[node][k % 3] += sign * h;
            x
        };
        let (plus, minus) = (moved(1.0), moved(-1.0));
        let slope = (system.energy(&Pose { x: &plus, ..*pose })
            - system.energy(&Pose { x: &minus, ..*pose }))
            / (2.0 * h);
        assert!((slope - g[k]).abs() < tolerance * g_scale, "gradient {k}: {slope} {}", g[k]);
        let (gp, gm) = (gradient_at(&plus), gradient_at(&minus));
        for i in 0..3 * n {
            let second = (gp[i] - gm[i]) / (2.0 * h);
            assert!(
                (second - hessian[i][k]).abs() < tolerance * h_scale.max(g_scale),
                "{i} {k}: {second} {}",
                hessian[i][k]
            );
        }
    }
}

fn noise(n: usize, seed: u64, size: f64) -> Field<Vertices, DVec3> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        size * ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5)
    };
    Field::from_fn(n, |_| DVec3::new(next(), next(), next()))
}

fn jittered(x: &Field<Vertices, DVec3>, seed: u64, size: f64) -> Field<Vertices, DVec3> {
    let jitter = noise(x.len(), seed, size);
    Field::from_fn(x.len(), |i| x[i] + jitter[i])
}

fn check_load(term: impl Term<Vertices> + 'static, x: &Field<Vertices, DVec3>, seed: u64) {
    let system = System::builder(Field::filled(x.len(), 0.1)).term(term).build().unwrap();
    let start = jittered(x, seed ^ 77, 0.1);
    let reference = jittered(x, seed ^ 99, 0.1);
    let step = Some(StepMap {
        start: &start,
        dt: 0.02,
        reference: &reference,
        rate: 50.0,
        past: plisse_core::Past::Start,
        own: &[],
        inertia: None,
        memory: None,
    });
    let pose = Pose { x, own: &[], time: 0.3, step };
    check(&system, &pose, 1e-6);
    for term in system.terms() {
        check_energies(term, &pose);
        // In an equilibrium, and outside of a step.
        let still = step.map(|step| StepMap { dt: f64::INFINITY, rate: 0.0, ..step });
        check_energies(term, &Pose { step: still, ..pose });
        check_energies(term, &Pose { step: None, ..pose });
    }
}

/// Energies and derivative at once are those that come apart; a dissipative term loses the work of
/// its force.
fn check_energies(term: &dyn Term<Vertices>, pose: &Pose<'_, Vertices>) {
    let zeros = Field::filled(pose.x.len(), DVec3::ZERO);
    let (mut apart, mut together) = (zeros.clone(), zeros);
    term.add_gradient(pose, &mut Gradient::by_nodes(&mut apart));
    let energies = term.energy_and_add_gradient(pose, &mut Gradient::by_nodes(&mut together));
    assert_eq!(together, apart, "{}", term.name());
    assert_eq!(energies.potential, term.energy(pose), "{}", term.name());
    let start = pose.step.map_or(pose.x, |step| step.start);
    let work: f64 = apart.iter().map(|(node, g)| g.dot(pose.x[node] - start[node])).sum();
    let (stored, dissipated) =
        if term.role() == Role::Dissipative { (0.0, work) } else { (energies.potential, 0.0) };
    assert_eq!(energies.stored, stored, "{}", term.name());
    assert!((energies.dissipated - dissipated).abs() <= 1e-12 * work.abs().max(1e-3), "{}", term.name());
}

/// A term that does not know what it loses is asked for its force.
struct Plain(Wind);

impl Term<Vertices> for Plain {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn role(&self) -> Role {
        self.0.role()
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
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut Sink<'_>) {
        self.0.add_hessian(pose, psd, sink);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn cloth(seed in any::<u64>()) {
        let sheet = Sheet::grid(3, 2, [0.5, 0.4], generate::Diagonal::Alternating);
        let x = jittered(&sheet.flat, seed, 0.1);
        let bending = QuadraticBending::on_vertices(&sheet.mesh, &sheet.rest, positive(0.3));
        let system = sheet
            .cloth(0.2, [80.0, 120.0, 30.0], 0.4)
            .term(ConstantTerm::from_rows("quadratic", bending.size(), |i| bending.row(i)))
            .term(sheet.gravity(0.2))
            .pin(Id::new(0))
            .pin(Id::new(5))
            .build()
            .unwrap();
        check(&system, &Pose::at(&x), 1e-6);
    }

    #[test]
    fn loads(seed in any::<u64>()) {
        let (mesh, ball) = generate::sphere(0, 0.7).unwrap();
        let x = jittered(&ball, seed, 0.3);
        check_load(Gravity::new(G, &Field::filled(x.len(), 0.3)).unwrap(), &x, seed);
        check_load(PointLoads::new("loads", vec![(Id::new(3), DVec3::ONE), (Id::new(3), DVec3::X)]).unwrap(), &x, seed);
        check_load(Pressure::new(&mesh, 120.0).unwrap(), &x, seed);
        check_load(Volume::new(&mesh, positive(50.0), 0.9).unwrap(), &x, seed);
        let wind = || Wind::new(&mesh, DVec3::new(3.0, -1.0, 0.5), positive(1.2), positive(1.5));
        check_load(wind(), &x, seed);
        check_load(Plain(wind()), &x, seed);
        let springs = Attachments::new("springs")
            .to_point(Id::new(1), DVec3::ONE, positive(3.0))
            .to_path(Id::new(2), |t| DVec3::X * t, positive(2.0))
            .between(Id::new(4), Id::new(7), positive(5.0));
        check_load(springs, &x, seed);
    }

    /// On a sheet whose boundary is held, wherever the tip of the cone is.
    #[test]
    fn pressure_on_a_held_sheet(seed in any::<u64>(), tip in prop::array::uniform3(-1.0..1.0f64)) {
        let (mesh, uv) = generate::disc(3, 0.5).unwrap();
        let dome = uv.map(|u| u.extend(0.1 - u.length_squared() + 0.3 * u.x * u.y));
        let x = jittered(&dome, seed, 0.1);
        let rim = || mesh.vertices().filter(|v| mesh.is_boundary_vertex(*v));
        let of = |tip: DVec3| Pressure::held(&mesh, 250.0, tip).unwrap();
        let system = |tip| System::massless(x.len()).term(of(tip)).pins(rim()).build().unwrap();
        let (near, far) = (system(DVec3::ZERO), system(tip.into()));
        check(&near, &Pose::at(&x), 1e-6);
        check(&far, &Pose::at(&x), 1e-6);
        let gradient = |system: &System<Vertices>| {
            let mut out = Field::filled(x.len(), DVec3::ZERO);
            system.gradient(&Pose::at(&x), &mut out);
            out
        };
        for (v, g) in gradient(&near).iter() {
            prop_assert!(g.distance(gradient(&far)[v]) < 1e-13 * 250.0);
        }
        let [a, b] = [near, far].map(|system| dense(&system, &Pose::at(&x), Psd::Exact));
        let pairs = a.iter().flatten().zip(b.iter().flatten());
        prop_assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-13 * 250.0));
        // Another tip changes the volume by a constant.
        let mut moved = x.clone();
        let inner = mesh.vertices().find(|v| !mesh.is_boundary_vertex(*v)).unwrap();
        moved[inner] += DVec3::new(0.01, -0.02, 0.1);
        let change = |tip| of(tip).volume(&moved) - of(tip).volume(&x);
        prop_assert!(change(DVec3::ZERO).abs() > 1e-4);
        prop_assert!((change(DVec3::ZERO) - change(tip.into())).abs() < 1e-13);
    }

    /// Forces of loads that live inside a closed surface, and of springs between nodes, add up to
    /// nothing.
    #[test]
    fn internal_forces_balance(seed in any::<u64>()) {
        let (mesh, ball) = generate::sphere(1, 0.7).unwrap();
        let x = jittered(&ball, seed, 0.2);
        let terms: [Box<dyn Term<Vertices>>; 3] = [
            Box::new(Pressure::new(&mesh, 120.0).unwrap()),
            Box::new(Volume::new(&mesh, positive(50.0), 0.9).unwrap()),
            Box::new(Attachments::new("springs").between(Id::new(4), Id::new(9), positive(5.0))),
        ];
        for term in terms {
            let mut g = Field::filled(x.len(), DVec3::ZERO);
            term.add_gradient(&Pose::at(&x), &mut Gradient::by_nodes(&mut g));
            let (mut force, mut torque, mut size) = (DVec3::ZERO, DVec3::ZERO, 0.0);
            for (i, g) in g.iter() {
                force += *g;
                torque += x[i].cross(*g);
                size += g.length();
            }
            prop_assert!(size > 0.0 && force.length() < 1e-13 * size && torque.length() < 1e-13 * size, "{}", term.name());
        }
    }
}

/// Without motion, in an equilibrium, the wind pushes with its own speed.
#[test]
fn wind_on_a_plate_at_rest() {
    let sheet = Sheet::grid(4, 4, [2.0, 1.0], generate::Diagonal::Right);
    let wind = Wind::new(&sheet.mesh, DVec3::new(5.0, 0.0, 3.0), positive(1.2), positive(1.1));
    let step = StepMap {
        start: &sheet.flat,
        dt: f64::INFINITY,
        reference: &sheet.flat,
        rate: 0.0,
        past: plisse_core::Past::Start,
        own: &[],
        inertia: None,
        memory: None,
    };
    let mut g = Field::filled(sheet.flat.len(), DVec3::ZERO);
    wind.add_gradient(
        &Pose { x: &sheet.flat, own: &[], time: 0.0, step: Some(step) },
        &mut Gradient::by_nodes(&mut g),
    );
    let force: DVec3 = -g.as_slice().iter().sum::<DVec3>();
    // ½ ρ c A w_n², along the normal, with the wind.
    let expected = DVec3::Z * 0.5 * 1.2 * 1.1 * 2.0 * 9.0;
    assert!(force.distance(expected) < 1e-12 * expected.length());
}

/// The volume of a cube corner and of a sphere, anywhere in space.
#[test]
fn volumes() {
    let (mesh, x) = generate::sphere(4, 1.0).unwrap();
    let far = x.map(|x| *x + DVec3::splat(1e3));
    let volume = Pressure::new(&mesh, 1.0).unwrap();
    let exact = 4.0 / 3.0 * std::f64::consts::PI;
    assert!((volume.volume(&x) / exact - 1.0).abs() < 5e-3);
    assert!((volume.volume(&far) - volume.volume(&x)).abs() < 1e-10);
    let keeping = Volume::keeping(&mesh, &x, positive(10.0)).unwrap();
    assert!(keeping.pressure(&x).abs() < 1e-13);
}

/// Assembly gives the same bits for every number of threads, on meshes large enough to be cut.
#[test]
fn assembly_has_the_same_bits_for_any_number_of_threads() {
    let sheet = Sheet::grid(40, 40, [1.0, 1.0], generate::Diagonal::Alternating);
    let x = jittered(&sheet.flat, 5, 0.02);
    let membrane = sheet.membrane(BaraffWitkin::from_moduli(positive(80.0), positive(90.0), positive(20.0)));
    assert!(membrane.elements().len() > 3000);
    let system = sheet.cloth(0.2, [80.0, 120.0, 30.0], 0.4).pin(Id::new(3)).build().unwrap();
    let evaluate = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut a = BlockMatrix::zeros(Arc::clone(system.pattern()));
            system.hessian(&Pose::at(&x), Psd::Clamp, &mut a);
            let mut g = Field::filled(system.size(), DVec3::ZERO);
            let energy = system.energy_and_gradient(&Pose::at(&x), &mut g);
            let v: Vec<f64> = system.unknowns().iter().flat_map(|&i| g[i].to_array()).collect();
            let mut product = v.clone();
            a.mul(&v, &mut product);
            (energy, g, a.values().to_vec(), product)
        })
    };
    let one = evaluate(1);
    for threads in 2..=4 {
        assert!(evaluate(threads) == one, "{threads} threads");
    }
}
