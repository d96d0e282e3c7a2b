//! Unknowns beside the positions of nodes, pairs that change with the pose, terms through maps,
//! systems over edges, inertia as a term.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use std::sync::Arc;

use common::{G, Sheet, positive};
use glam::{DMat3, DVec3};
use plisse_bending::{Director, DirectorBending, KoiterBending, Plate};
use plisse_core::generate::Diagonal;
use plisse_core::{Edges, Element, Field, Id, PoissonRatio, Positive, Psd, Space, Vertices};
use plisse_membrane::BaraffWitkin;
use plisse_system::{
    Adaptive, Attachments, BlockMatrix, Cause, Criterion, ElementTerm, Gradient, Gravity, Implicit,
    Integrator, MappedTerm, MixedTerm, Moving, NewtonSettings, OwnState, OwnUnknown, PointLoads, Pose, Role,
    Scheme, SetupError, Sink, SparseMap, State, StepError, StepReport, SymplecticEuler, System, Term,
    Unknown,
};

/// Bending of a sheet with free directors.
fn directors(sheet: &Sheet, rigidity: f64, director: Director) -> MixedTerm<DirectorBending, 6, 3> {
    let plate = Plate::new(positive(rigidity), PoissonRatio::literal(0.3));
    let face = |face| {
        let face = KoiterBending::new(&sheet.mesh, &sheet.rest, face, director, &plate);
        DirectorBending::new(face, &sheet.rest)
    };
    let unknowns = vec![OwnUnknown { start: 0.0, arm: 0.05 }; sheet.mesh.edge_count()];
    MixedTerm::new("bending", sheet.mesh.faces().ids().map(face).collect(), unknowns)
}

fn bumpy(sheet: &Sheet) -> Field<Vertices, DVec3> {
    sheet.flat.map(|p| {
        let z = 0.05 * (7.0 * p.x + 1.0).sin() * (5.0 * p.y).cos();
        DVec3::new(p.x + 0.01 * (9.0 * p.y).sin(), p.y, z)
    })
}

/// Derivatives of a system by all unknowns, own ones included, against central differences.
fn check_derivatives<S: Space>(system: &System<S>, x: &Field<S, DVec3>, own: &[f64], tolerance: f64) {
    let h = 1e-6;
    let nodes = system.unknowns();
    let gradient_at = |x: &Field<S, DVec3>, own: &[f64]| {
        let pose = Pose { own, ..Pose::at(x) };
        let mut g = Field::filled(system.size(), DVec3::ZERO);
        system.gradient(&pose, &mut g);
        let mut all: Vec<f64> = nodes.iter().flat_map(|&v| g[v].to_array()).collect();
        all.extend(system.own_gradient(&pose));
        all
    };
    let moved = |k: usize, by: f64| {
        let (mut x, mut own) = (x.clone(), own.to_vec());
        match nodes.get(k / 3) {
            Some(node) => x[*node][k % 3] += by,
            None => own[k - 3 * nodes.len()] += by,
        }
        (x, own)
    };
    let mut matrix = BlockMatrix::zeros(Arc::clone(system.pattern()));
    system.hessian(&Pose { own, ..Pose::at(x) }, Psd::Exact, &mut matrix);
    let (g, hessian) = (gradient_at(x, own), matrix.to_dense());
    let largest = |values: &[f64]| values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let (g_scale, h_scale) = (largest(&g), hessian.iter().map(|row| largest(row)).fold(0.0, f64::max));
    assert!(g_scale > 0.0 && h_scale > 0.0, "a check of zero proves nothing");
    assert_eq!(g.len(), 3 * nodes.len() + system.own_count());
    for k in 0..g.len() {
        let ((xp, op), (xm, om)) = (moved(k, h), moved(k, -h));
        let energy = |x, own| system.energy(&Pose { own, ..Pose::at(x) });
        let slope = (energy(&xp, &op) - energy(&xm, &om)) / (2.0 * h);
        assert!((slope - g[k]).abs() < tolerance * g_scale, "gradient {k}: {slope} {}", g[k]);
        let (gp, gm) = (gradient_at(&xp, &op), gradient_at(&xm, &om));
        for i in 0..g.len() {
            let second = (gp[i] - gm[i]) / (2.0 * h);
            assert!(
                (second - hessian[i][k]).abs() < tolerance * h_scale,
                "{i} {k}: {second} {}",
                hessian[i][k]
            );
        }
    }
}

#[test]
fn derivatives_by_directors_and_positions() {
    let sheet = Sheet::grid(3, 2, [0.3, 0.2], Diagonal::Alternating);
    for director in [Director::Sine, Director::Tangent] {
        let term = directors(&sheet, 1e-3, director).holding(|edge| (edge % 5 == 2).then_some(0.1));
        let system = System::builder(sheet.mass(0.2)).term(term).pin(Id::new(4)).build().unwrap();
        let own: Vec<f64> = (0..system.own_count()).map(|k| 0.1 * (3.0 * k as f64).sin()).collect();
        assert!(system.own_count() < sheet.mesh.edge_count());
        check_derivatives(&system, &bumpy(&sheet), &own, 1e-6);
    }
}

#[test]
fn projected_hessians_of_mixed_unknowns_are_semidefinite() {
    let sheet = Sheet::grid(2, 2, [0.2, 0.2], Diagonal::Right);
    let system =
        System::builder(sheet.mass(0.2)).term(directors(&sheet, 1e-3, Director::Sine)).build().unwrap();
    let own: Vec<f64> = (0..system.own_count()).map(|k| 0.4 * (5.0 * k as f64).cos()).collect();
    let x = bumpy(&sheet);
    let mut matrix = BlockMatrix::zeros(Arc::clone(system.pattern()));
    system.hessian(&Pose { own: &own, ..Pose::at(&x) }, Psd::Clamp, &mut matrix);
    let dense = matrix.to_dense();
    // Products with many directions, some of which bend nothing.
    for k in 0..200u32 {
        let v: Vec<f64> = (0..dense.len()).map(|i| (f64::from(k) * 1.7 + i as f64 * 2.3).sin()).collect();
        let mut product = vec![0.0; v.len()];
        matrix.mul(&v, &mut product);
        let form: f64 = v.iter().zip(&product).map(|(a, b)| a * b).sum();
        assert!(form >= -1e-12, "{form}");
        for (row, product) in dense.iter().zip(&product) {
            let expected: f64 = row.iter().zip(&v).map(|(a, b)| a * b).sum();
            assert!((expected - product).abs() < 1e-10, "{expected} {product}");
        }
    }
}

fn shell(cells: usize) -> (Sheet, System<Vertices>, State<Vertices>) {
    let sheet = Sheet::grid(cells, cells, [0.4, 0.4], Diagonal::Alternating);
    let mass = sheet.mass(0.2);
    let system = System::builder(mass.clone())
        .term(sheet.membrane(BaraffWitkin::from_moduli(positive(200.0), positive(200.0), positive(100.0))))
        .term(directors(&sheet, 1e-4, Director::Sine))
        .term(Gravity::new(G, &mass).unwrap())
        .pins((0..=cells as u32).map(Id::new))
        .build()
        .unwrap();
    let state = State::at_rest(bumpy(&sheet)).unwrap();
    (sheet, system, state)
}

fn run(system: &System<Vertices>, state: &mut State<Vertices>, steps: usize) {
    let mut integrator = Implicit::new(system, Scheme::Bdf2, NewtonSettings::default()).unwrap();
    for _ in 0..steps {
        integrator.step(system, state, positive(0.01)).unwrap();
        integrator.forget();
    }
}

#[test]
fn bits_do_not_depend_on_threads_and_states_resume() {
    let (_, system, start) = shell(24);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut state = start.clone();
        pool.install(|| run(&system, &mut state, 2));
        state
    };
    let one = with(1);
    assert_eq!(one.own().values.len(), system.own_count());
    assert!(one.own().values.iter().any(|angle| angle.abs() > 1e-4), "directors turn");
    assert_eq!(one, with(3));
    let mut halfway = start.clone();
    run(&system, &mut halfway, 1);
    let (x, v, own) = (halfway.x().clone(), halfway.v().clone(), halfway.own().clone());
    let (previous, a) = (halfway.previous().cloned(), halfway.acceleration().cloned());
    let mut resumed =
        State::resume(x, v, own, halfway.time(), previous, a, halfway.ledger().copied()).unwrap();
    run(&system, &mut resumed, 1);
    assert_eq!(resumed, one);
}

/// Minimised over the directors, a twisted sheet has the energy of its plate on a triangulation
/// that mean normals see wrongly: `D (1 - ν) κ²` per area.
#[test]
fn directors_find_the_energy_of_a_plate() {
    let sheet = Sheet::grid(16, 16, [0.4, 0.4], Diagonal::Alternating);
    let curvature = 0.3;
    let x = sheet.flat.map(|p| DVec3::new(p.x, p.y, curvature * p.x * p.y));
    let term = directors(&sheet, 1.0, Director::Sine);
    let all = (0..sheet.mesh.vertex_count() as u32).map(Id::new);
    let settings =
        NewtonSettings { criterion: Criterion::ForcePerMass(positive(1e-9)), ..NewtonSettings::default() };
    let energy = |term| {
        let system = System::builder(sheet.mass(1.0)).term(term).pins(all.clone()).build().unwrap();
        let mut state = State::at_rest(x.clone()).unwrap();
        let mut integrator = Implicit::new(&system, Scheme::Quasistatic, settings).unwrap();
        let report = integrator.equilibrate(&system, &mut state).unwrap();
        report.energies.elastic()
    };
    let expected = 0.7 * curvature * curvature * 0.16;
    let free = energy(term.clone());
    let mean = energy(term.holding(|_| Some(0.0)));
    assert!((free / expected - 1.0).abs() < 0.01, "{}", free / expected);
    assert!(mean > 2.0 * expected, "mean normals: {}", mean / expected);
}

/// Nodes repel each other below a distance: pairs come and go.
struct Repulsion {
    range: f64,
}

impl Repulsion {
    fn close(&self, x: &Field<Vertices, DVec3>) -> Vec<[Id<Vertices>; 2]> {
        let ids = || x.ids();
        let pairs = ids().flat_map(|a| ids().filter(move |b| *b < a).map(move |b| [a, b]));
        pairs.filter(|[a, b]| x[*a].distance(x[*b]) < self.range).collect()
    }
}

impl Term<Vertices> for Repulsion {
    fn name(&self) -> &str {
        "repulsion"
    }
    fn pattern(&self, _: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {}
    fn pairs(&self, pose: &Pose<'_, Vertices>, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        for [a, b] in self.close(pose.x) {
            pair(a.into(), a.into());
            pair(b.into(), b.into());
            pair(a.into(), b.into());
        }
    }
    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        let one = |[a, b]: [Id<Vertices>; 2]| (self.range - pose.x[a].distance(pose.x[b])).powi(3);
        self.close(pose.x).into_iter().map(one).sum::<f64>() * 1e3
    }
    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        for [a, b] in self.close(pose.x) {
            let way = pose.x[a] - pose.x[b];
            let force = way.normalize() * (-3e3 * (self.range - way.length()).powi(2));
            gradient[a] += force;
            gradient[b] -= force;
        }
    }
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut Sink<'_>) {
        for (k, [a, b]) in self.close(pose.x).into_iter().enumerate() {
            let way = pose.x[a] - pose.x[b];
            let (l, n) = (way.length(), way.normalize());
            let along = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
            let gap = self.range - l;
            let across = psd.apply(-3e3 * gap * gap / l);
            let block = along * (6e3 * gap) + (DMat3::IDENTITY - along) * across;
            sink.add(3 * k, &block);
            sink.add(3 * k + 1, &block);
            sink.add(3 * k + 2, &-block);
        }
    }
}

#[test]
fn pairs_that_change_with_the_pose() {
    let n = 12u32;
    let x = Field::from_fn(n as usize, |i| {
        let t = i.index() as f64;
        DVec3::new((2.3 * t).sin(), (1.7 * t + 0.4).cos(), (3.1 * t).sin()) * 0.1
    });
    let springs = x.ids().fold(Attachments::new("springs"), |springs, v| {
        springs.to_point(v, DVec3::ZERO, positive(1.0 + 0.1 * v.index() as f64))
    });
    let masses = Field::filled(n as usize, 1.0);
    let system = System::builder(masses).term(springs).term(Repulsion { range: 0.08 }).build().unwrap();
    let mut matrix = BlockMatrix::zeros(Arc::clone(system.pattern()));
    system.hessian(&Pose::at(&x), Psd::Exact, &mut matrix);
    let grown = matrix.pattern().block_count();
    assert!(grown > system.pattern().block_count(), "some are close");
    let revision = matrix.pattern().revision();
    system.hessian(&Pose::at(&x), Psd::Exact, &mut matrix);
    assert_eq!(matrix.pattern().revision(), revision, "the same pairs need no new pattern");

    let mut state = State::at_rest(x.clone()).unwrap();
    let settings =
        NewtonSettings { criterion: Criterion::ForcePerMass(positive(1e-10)), ..Default::default() };
    let mut implicit = Implicit::new(&system, Scheme::Quasistatic, settings).unwrap();
    let report = implicit.equilibrate(&system, &mut state).unwrap();
    assert!(report.residual() <= 1e-10 && report.stable == Some(true), "{report:?}");
    let mut at_end = BlockMatrix::zeros(Arc::clone(system.pattern()));
    system.hessian(&Pose::at(state.x()), Psd::Exact, &mut at_end);
    assert_ne!(at_end.pattern().block_count(), grown, "pairs have come or gone");
    let mut gradient = Field::filled(n as usize, DVec3::ZERO);
    system.gradient(&Pose::at(state.x()), &mut gradient);
    assert!(gradient.as_slice().iter().all(|g| g.length() < 1e-9));

    // What was forgotten leaves no trace.
    let mut one = State::at_rest(x.clone()).unwrap();
    let mut other = one.clone();
    let mut kept = Implicit::new(&system, Scheme::BackwardEuler, settings).unwrap();
    for _ in 0..4 {
        kept.step(&system, &mut one, positive(0.05)).unwrap();
        kept.forget();
        let mut fresh = Implicit::new(&system, Scheme::BackwardEuler, settings).unwrap();
        fresh.step(&system, &mut other, positive(0.05)).unwrap();
    }
    assert_eq!(one, other);
}

/// A spring between two nodes of any space.
struct Spring<S: Space>([Id<S>; 2], f64);

impl<S: Space> Element<2> for Spring<S> {
    type Space = S;
    fn nodes(&self) -> [Id<S>; 2] {
        self.0
    }
    fn energy(&self, x: &[DVec3; 2]) -> f64 {
        0.5 * self.1 * (x[0].distance(x[1]) - 0.1).powi(2)
    }
    fn gradient(&self, x: &[DVec3; 2]) -> [DVec3; 2] {
        let way = x[0] - x[1];
        let force = way.normalize_or_zero() * (self.1 * (way.length() - 0.1));
        [force, -force]
    }
    fn hessian(&self, x: &[DVec3; 2], psd: Psd) -> plisse_core::Blocks<2> {
        let way = x[0] - x[1];
        let n = way.normalize_or_zero();
        let along = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        let across = psd.apply(self.1 * (1.0 - 0.1 / way.length()));
        let block = along * self.1 + (DMat3::IDENTITY - along) * across;
        plisse_core::Blocks([[block, -block], [-block, block]])
    }
}

/// Midpoints of edges as unknowns, and a term on vertices that follow them.
#[test]
fn terms_through_maps_on_systems_over_edges() {
    let sheet = Sheet::grid(2, 2, [0.2, 0.2], Diagonal::Right);
    let mesh = &sheet.mesh;
    let count = mesh.edge_count();
    // A vertex is the mean of the midpoints around it.
    let rows = Field::from_fn(mesh.vertex_count(), |v| {
        let around: Vec<Id<Edges>> = mesh.vertex_edges(v).to_vec();
        let weight = 1.0 / around.len() as f64;
        around.into_iter().map(|edge| (edge, weight)).collect()
    });
    let map: SparseMap<Edges, Vertices> = SparseMap::new(count, rows).unwrap();
    let membrane =
        sheet.membrane(BaraffWitkin::from_moduli(positive(200.0), positive(200.0), positive(100.0)));
    let seen = MappedTerm::new(membrane.clone(), map.clone()).unwrap();
    let springs: Vec<Spring<Edges>> =
        (1..count as u32).map(|e| Spring([Id::new(e), Id::new(e - 1)], 30.0 + f64::from(e))).collect();
    let bumps = bumpy(&sheet);
    let x: Field<Edges, DVec3> = mesh.edges().map(|edge| {
        let [a, b] = edge.vertices;
        (bumps[a] + bumps[b]) * 0.52
    });
    let system = System::builder(Field::filled(count, 0.01))
        .term(seen)
        .term(ElementTerm::<_, 2>::new("springs", springs))
        .pin(Id::new(3))
        .build()
        .unwrap();
    check_derivatives(&system, &x, &[], 2e-6);
    // Energies agree with those of the mapped positions.
    let direct = System::builder(sheet.mass(1.0)).term(membrane).build().unwrap();
    let through: f64 = system.energies(&Pose::at(&x))[0].energy;
    assert_eq!(through, direct.energy(&Pose::at(&map.apply(&x))));
    // And the system moves like any other.
    let mut state = State::at_rest(x).unwrap();
    let mut implicit = Implicit::new(&system, Scheme::BackwardEuler, NewtonSettings::default()).unwrap();
    let before = system.energy(&Pose::at(state.x()));
    for _ in 0..200 {
        implicit.step(&system, &mut state, positive(0.01)).unwrap();
    }
    assert!(system.energy(&Pose::at(state.x())) < 0.05 * before);
    let error = SparseMap::<Edges, Vertices>::new(3, Field::filled(1, vec![(Id::new(3), 1.0)])).unwrap_err();
    assert!(matches!(error, SetupError::NodeOutOfRange { .. }), "{error}");
}

/// A bead on a rail through its node: `½ m (ẋ + ṡ)²` along the first axis, where `s` is an unknown
/// of the term's own and the node has a mass of its own.
struct Bead {
    mass: f64,
}

impl Term<Vertices> for Bead {
    fn name(&self) -> &str {
        "bead"
    }
    fn role(&self) -> Role {
        Role::Inertial
    }
    fn own(&self) -> Vec<OwnUnknown> {
        vec![OwnUnknown { start: 0.0, arm: 1.0 }]
    }
    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        pair(Id::new(0).into(), Id::new(0).into());
        pair(Unknown::Own(0), Id::new(0).into());
        pair(Unknown::Own(0), Unknown::Own(0));
    }
    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        let Some((inertia, off)) = self.off(pose) else { return 0.0 };
        0.5 * inertia * off * off
    }
    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        let Some((inertia, off)) = self.off(pose) else { return };
        gradient[Id::new(0)].x += inertia * off;
        gradient.own[0] += inertia * off;
    }
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, _: Psd, sink: &mut Sink<'_>) {
        let Some((inertia, _)) = self.off(pose) else { return };
        sink.add(0, &DMat3::from_diagonal(DVec3::X * inertia));
        sink.add_block(1, &[[inertia], [0.0], [0.0]]);
        sink.add_block(2, &[[inertia]]);
    }
    fn kinetic_energy(&self, motion: &Moving<'_, Vertices>) -> f64 {
        let rate = motion.own_rates.first().copied().unwrap_or(0.0);
        0.5 * self.mass * (motion.v[Id::new(0)].x + rate).powi(2)
    }
}

impl Bead {
    fn off(&self, pose: &Pose<'_, Vertices>) -> Option<(f64, f64)> {
        let inertia = pose.step?.inertia?;
        let node = Id::new(0);
        let off = pose.x[node].x - inertia.target[node].x + pose.own[0] - inertia.own_target[0];
        Some((inertia.factor * self.mass, off))
    }
}

/// A spring between the bead and its node, `½ k s²`.
struct OwnSpring(f64);

/// Terms do not share unknowns: the spring belongs to the bead's term.
struct SprungBead(Bead, OwnSpring);

impl Term<Vertices> for SprungBead {
    fn name(&self) -> &str {
        "sprung bead"
    }
    fn role(&self) -> Role {
        Role::Inertial
    }
    fn own(&self) -> Vec<OwnUnknown> {
        vec![OwnUnknown { start: 0.1, arm: 1.0 }]
    }
    fn pattern(&self, pair: &mut dyn FnMut(Unknown<Vertices>, Unknown<Vertices>)) {
        self.0.pattern(pair);
        pair(Unknown::Own(0), Unknown::Own(0));
    }
    fn energy(&self, pose: &Pose<'_, Vertices>) -> f64 {
        self.0.energy(pose) + 0.5 * self.1.0 * pose.own[0].powi(2)
    }
    fn add_gradient(&self, pose: &Pose<'_, Vertices>, gradient: &mut Gradient<'_, Vertices>) {
        self.0.add_gradient(pose, gradient);
        gradient.own[0] += self.1.0 * pose.own[0];
    }
    fn add_hessian(&self, pose: &Pose<'_, Vertices>, psd: Psd, sink: &mut Sink<'_>) {
        self.0.add_hessian(pose, psd, sink);
        sink.add_block(3, &[[self.1.0]]);
    }
    fn kinetic_energy(&self, motion: &Moving<'_, Vertices>) -> f64 {
        self.0.kinetic_energy(motion)
    }
}

/// Two masses on a spring vibrate with the frequency of the reduced mass, and keep their momentum:
/// one is a node, the other the coupled inertia of a term.
#[test]
fn inertia_as_a_term() {
    let (node_mass, bead, k) = (0.3, 0.2, 50.0);
    let term = || SprungBead(Bead { mass: bead }, OwnSpring(k));
    let system = System::builder(Field::filled(1, node_mass)).term(term()).build().unwrap();
    let settings =
        NewtonSettings { criterion: Criterion::ForcePerMass(positive(1e-5)), ..Default::default() };
    let mut state = State::at_rest(Field::filled(1, DVec3::ZERO)).unwrap();
    let mut implicit = Implicit::new(&system, Scheme::BackwardEuler, settings).unwrap();
    let omega = (k * (1.0 / node_mass + 1.0 / bead)).sqrt();
    let period = std::f64::consts::TAU / omega;
    let steps = 4000;
    let dt = period / f64::from(steps);
    for step in 1..=steps / 2 {
        let report = implicit.step(&system, &mut state, positive(dt)).unwrap();
        // The node moves against the bead, about their common centre.
        let node = state.x()[Id::new(0)].x;
        let centre = node_mass * node + bead * (node + state.own().values[0]);
        assert!((centre - bead * 0.1).abs() < 1e-9, "{step}: {centre}");
        let stored = 0.5 * k * state.own().values[0].powi(2);
        let total = report.energies.kinetic + stored;
        assert!((total / (0.5 * k * 0.01) - 1.0).abs() < 0.02, "{step}: {total}");
    }
    // Half a period later the spring is as far on the other side, but for what the scheme loses.
    assert!((state.own().values[0] + 0.1).abs() < 5e-4, "{:?}", state.own());
    let refused = |scheme| Implicit::new(&system, scheme, settings).map(|_| ()).unwrap_err();
    assert!(matches!(refused(Scheme::Bdf2), SetupError::OwnInertia { .. }));
    assert!(matches!(refused(Scheme::NEWMARK), SetupError::OwnInertia { .. }));
    assert!(matches!(SymplecticEuler::new(&system).unwrap_err(), SetupError::OwnInertia { .. }));
}

#[test]
fn own_unknowns_are_checked() {
    let sheet = Sheet::grid(1, 1, [0.1, 0.1], Diagonal::Right);
    let of = |unknowns| {
        MixedTerm::new("bending", directors(&sheet, 1.0, Director::Sine).elements().to_vec(), unknowns)
    };
    let build = |term| System::builder(sheet.mass(1.0)).term(term).build().map(|_| ()).unwrap_err();
    let good = OwnUnknown { start: 0.0, arm: 1.0 };
    let short = build(of(vec![good; 2]));
    assert!(short.to_string().contains("number"), "{short}");
    let bad = build(of(vec![OwnUnknown { arm: 0.0, ..good }; 5]));
    assert!(matches!(bad, SetupError::BadOwnUnknown { index: 0, .. }), "{bad}");
    let x = Field::filled(1, DVec3::ZERO);
    let own = OwnState { values: vec![1.0], rates: vec![] };
    let error = State::<Vertices>::resume(x.clone(), x, own, 0.0, None, None, None).unwrap_err();
    assert!(matches!(error, SetupError::Length { .. }), "{error}");
}

/// An integrator that fails with an error of its own for long steps.
struct Fussy(f64);

impl Integrator<Vertices> for Fussy {
    fn step(
        &mut self,
        system: &System<Vertices>,
        state: &mut State<Vertices>,
        dt: Positive,
    ) -> Result<StepReport, StepError> {
        if dt.get() > self.0 {
            let cause = Cause::new(std::io::Error::other("the projection stalls"));
            let (time, dt) = (state.time(), dt.get());
            return Err(StepError::Failed { time, dt, may_heal: self.0 > 0.0, cause });
        }
        SymplecticEuler::new(system).unwrap().step(system, state, dt)
    }
}

#[test]
fn errors_of_ones_own_are_retried() {
    let load = PointLoads::new("load", vec![(Id::new(0), DVec3::X)]).unwrap();
    let system = System::builder(Field::filled(1, 1.0)).term(load).build().unwrap();
    let mut state = State::at_rest(Field::filled(1, DVec3::ZERO)).unwrap();
    let report = Adaptive::new(Fussy(0.02), positive(1e-3)).step(&system, &mut state, positive(0.1)).unwrap();
    assert!(report.rejected > 0 && (state.time() - 0.1).abs() < 1e-12);
    let error =
        Adaptive::new(Fussy(0.0), positive(1e-3)).step(&system, &mut state, positive(0.1)).unwrap_err();
    let StepError::Failed { cause, .. } = &error else { panic!("{error}") };
    assert!(cause.downcast_ref::<std::io::Error>().is_some());
    assert!(std::error::Error::source(&error).is_some());
    let error =
        Adaptive::new(Fussy(1e-9), positive(1e-3)).step(&system, &mut state, positive(0.1)).unwrap_err();
    assert!(error.to_string().contains("the projection stalls"), "{error}");
}
