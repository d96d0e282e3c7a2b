//! The broad phase against all pairs: none missed, none far off, the same order for any number of
//! threads.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::DVec3;
use plisse_collision::{Body, BroadPhase, Colliders, Pairs};
use plisse_core::{Edges, Faces, Field, Id, TriMesh, Vertices};
use proptest::prelude::*;

type Positions = Field<Vertices, DVec3>;

/// Two strips of triangles (bodies 0 and 1), a line that goes through vertices of its own (body 2)
/// and points (bodies 3 and 4).
const STRIP: usize = 8;
const LINE: usize = 7;
const POINTS: usize = 5;
const TOTAL: usize = 2 * STRIP + LINE + POINTS;
const LINE_RADIUS: f64 = 0.03;

fn colliders(size: f64) -> Colliders {
    let strip: Vec<[u32; 3]> = (0..STRIP as u32 - 2)
        .map(|i| if i % 2 == 0 { [i, i + 1, i + 2] } else { [i + 1, i, i + 2] })
        .collect();
    let strip = TriMesh::new(STRIP, &strip).unwrap();
    let ids = |from: usize, count: usize| (from as u32..(from + count) as u32).map(Id::new);
    let mut colliders = Colliders::new(TOTAL);
    colliders.add_surface(Body(0), &strip.among(0, TOTAL), 0.0).unwrap();
    let line: Vec<Id<Vertices>> = ids(2 * STRIP, LINE).collect();
    let segments: Vec<[Id<Vertices>; 2]> = line.windows(2).map(|pair| [pair[0], pair[1]]).collect();
    // Lines before the second surface, so that their edges are not the last ones.
    colliders.add_lines(Body(2), &segments, LINE_RADIUS * size).unwrap();
    colliders.add_surface(Body(1), &strip.among(STRIP as u32, TOTAL), 0.01 * size).unwrap();
    let points: Vec<Id<Vertices>> = ids(2 * STRIP + LINE, POINTS).collect();
    colliders.add_points(Body(3), &points[..2], 0.0).unwrap();
    colliders.add_points(Body(4), &points[2..], 0.02 * size).unwrap();
    colliders
}

/// A box in double precision, and the radius of what is in it.
#[derive(Clone, Copy)]
struct Boxed {
    low: DVec3,
    high: DVec3,
    radius: f64,
}

impl Boxed {
    fn new(vertices: &[Id<Vertices>], [from, to]: [&Positions; 2], radius: f64) -> Self {
        let points = || vertices.iter().flat_map(|v| [from[*v], to[*v]]);
        Self { low: points().reduce(DVec3::min).unwrap(), high: points().reduce(DVec3::max).unwrap(), radius }
    }

    /// The largest distance along an axis, in halves, which do not overflow; negative if the boxes
    /// overlap on all axes.
    fn half_apart(&self, other: &Self) -> f64 {
        let apart = (self.low * 0.5 - other.high * 0.5).max(other.low * 0.5 - self.high * 0.5);
        apart.max_element() - 0.5 * self.radius - 0.5 * other.radius
    }
}

/// A pair and half the distance of its boxes.
type Apart<A, B> = ((Id<A>, Id<B>), f64);

/// All pairs.
struct All {
    vertex_faces: Vec<Apart<Vertices, Faces>>,
    edge_edges: Vec<Apart<Edges, Edges>>,
    vertex_edges: Vec<Apart<Vertices, Edges>>,
    vertex_vertices: Vec<Apart<Vertices, Vertices>>,
}

fn all(c: &Colliders, motion: [&Positions; 2], bodies: impl Fn(Body, Body) -> bool) -> All {
    let vertices = || (0..TOTAL as u32).map(Id::<Vertices>::new);
    let edges = || (0..c.edge_count() as u32).map(Id::<Edges>::new);
    let faces = || (0..c.face_count() as u32).map(Id::<Faces>::new);
    let is_line = |e: &Id<Edges>| c.body(c.edge(*e)[0]) == Some(Body(2));
    let is_point = |v: &Id<Vertices>| v.index() >= 2 * STRIP + LINE;
    let admitted = |a: &[Id<Vertices>], b: &[Id<Vertices>]| {
        let (p, q) = (c.body(a[0]).unwrap(), c.body(b[0]).unwrap());
        bodies(p.min(q), p.max(q)) && !a.iter().any(|v| b.contains(v))
    };
    let apart = |a: &[Id<Vertices>], r: f64, b: &[Id<Vertices>], s: f64| {
        admitted(a, b).then(|| Boxed::new(a, motion, r).half_apart(&Boxed::new(b, motion, s)))
    };
    let mut all =
        All { vertex_faces: vec![], edge_edges: vec![], vertex_edges: vec![], vertex_vertices: vec![] };
    for v in vertices() {
        let r = c.vertex_radius(v);
        for f in faces() {
            let apart = apart(&[v], r, &c.face(f), c.face_radius(f));
            all.vertex_faces.extend(apart.map(|apart| ((v, f), apart)));
        }
        for e in edges().filter(is_line) {
            let apart = apart(&[v], r, &c.edge(e), c.edge_radius(e));
            all.vertex_edges.extend(apart.map(|apart| ((v, e), apart)));
        }
        for w in vertices().filter(|w| is_point(w) && is_point(&v) && *w > v) {
            let apart = apart(&[v], r, &[w], c.vertex_radius(w));
            all.vertex_vertices.extend(apart.map(|apart| ((v, w), apart)));
        }
    }
    for e in edges() {
        for f in edges().filter(|f| *f > e) {
            let apart = apart(&c.edge(e), c.edge_radius(e), &c.edge(f), c.edge_radius(f));
            all.edge_edges.extend(apart.map(|apart| ((e, f), apart)));
        }
    }
    all
}

/// Every pair that is surely within `gap` is found, none that is farther than `gap` and `slack`,
/// and the list ascends.
fn check_list<P: PartialEq + PartialOrd + std::fmt::Debug>(
    all: &[(P, f64)],
    found: &[P],
    gap: f64,
    slack: f64,
) {
    assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "not ascending: {found:?}");
    assert!(found.iter().all(|pair| all.iter().any(|(p, _)| p == pair)), "a pair that is none");
    for (pair, half_apart) in all {
        let is_found = found.contains(pair);
        assert!(is_found || *half_apart > 0.5 * gap, "{pair:?} missed: {half_apart}, {gap}");
        assert!(!is_found || *half_apart <= 0.5 * gap + slack, "{pair:?} is far: {half_apart}, {gap}");
    }
}

fn check(all: &All, found: &Pairs, gap: f64, slack: f64) {
    check_list(&all.vertex_faces, &found.vertex_faces, gap, slack);
    check_list(&all.edge_edges, &found.edge_edges, gap, slack);
    check_list(&all.vertex_edges, &found.vertex_edges, gap, slack);
    check_list(&all.vertex_vertices, &found.vertex_vertices, gap, slack);
}

/// Positions of size one: anywhere, on a lattice (many equal coordinates and points), in a plane,
/// on a line, in one point.
fn positions() -> impl Strategy<Value = Vec<DVec3>> {
    let any = prop::array::uniform3(-1.0..1.0f64).prop_map(DVec3::from_array);
    let lattice =
        prop::array::uniform3(-2..=2i32).prop_map(|c| DVec3::from_array(c.map(|c| f64::from(c) * 0.5)));
    (prop::collection::vec((any, lattice), TOTAL), 0..5usize).prop_map(|(points, kind)| {
        let flat = |x: DVec3| DVec3::new(x.x, x.y, 0.25);
        let choose = |(any, lattice): (DVec3, DVec3)| match kind {
            0 => any,
            1 => lattice,
            2 => flat(any),
            3 => DVec3::splat(any.x),
            _ => DVec3::splat(0.7),
        };
        points.into_iter().map(choose).collect()
    })
}

const SIZES: [f64; 7] = [1.0, 1e-310, 1e-100, 1e-6, 1e6, 1e100, 1e307];

fn field(points: &[DVec3], size: f64, offset: f64) -> Positions {
    Field::from_vec(points.iter().map(|x| (*x + DVec3::splat(offset)) * size).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_pair_is_missed(
        start in positions(), from in positions(), to in positions(), moves in any::<bool>(),
        size in prop::sample::select(&SIZES[..]), offset in prop::sample::select(vec![0.0f64, 1.0, 3e4]),
        gap in prop::sample::select(vec![0.0, 1e-3, 0.1, 1.0]), filter in 0..4u32,
    ) {
        let offset = if size > 1e300 { offset.min(1.0) } else { offset };
        let bodies = |a: Body, b: Body| match filter {
            0 => true,
            1 => a != b,
            2 => a == b,
            _ => !(a == Body(0) && b == Body(2) || a == Body(1) && b == Body(1)),
        };
        let [start, from, to] = [&start, &from, &to].map(|x| field(x, size, offset));
        let to = if moves { &to } else { &from };
        // Built for other positions than it is used for.
        let mut phase = BroadPhase::new(colliders(size), &start);
        let all = all(phase.colliders(), [&from, to], bodies);
        let gap = gap * size;
        // Boxes are off by a few units in the last place of single precision, in halves.
        let slack = 8.0 * f64::from(f32::EPSILON) * size;
        let along = phase.along(&from, to, gap, bodies);
        check(&all, &along, gap, slack);
        if !moves {
            let near = phase.near(&from, gap, 0.05 * size, bodies);
            check(&all, near.pairs(), gap + 0.1 * size, slack + 1e-15 * size * (1.0 + offset));
        }
        // A tree of its own for these positions makes no difference.
        prop_assert_eq!(BroadPhase::new(colliders(size), &from).along(&from, to, gap, bodies), along);
    }

    /// Whatever the numbers are, pairs whose boxes overlap are found.
    #[test]
    fn no_pair_is_missed_at_any_finite_positions(
        x in prop::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 6 * TOTAL),
        gap in any::<f64>().prop_filter("finite", |x| x.is_finite()),
    ) {
        let points = |first: usize| -> Positions {
            Field::from_fn(TOTAL, |v| DVec3::from_slice(&x[3 * (first + v.index())..]))
        };
        let (from, to) = (points(0), points(TOTAL));
        let mut phase = BroadPhase::new(colliders(1.0), &from);
        for to in [&from, &to] {
            let all = all(phase.colliders(), [&from, to], |_, _| true);
            check(&all, &phase.along(&from, to, gap, |_, _| true), gap.max(0.0), f64::INFINITY);
        }
        let near = phase.near(&from, gap, gap, |_, _| true);
        check(&all(phase.colliders(), [&from, &from], |_, _| true), near.pairs(), gap.max(0.0), f64::INFINITY);
        prop_assert!(near.cover(&from));
    }

    /// What is not in the list stays apart while the list covers the positions.
    #[test]
    fn a_list_is_complete_while_it_covers_the_positions(
        start in positions(), step in positions(), offset in prop::sample::select(vec![0.0, 1e4]), radius in 0.01..0.3f64,
    ) {
        let (start, step) = (field(&start, 1.0, offset), field(&step, 1.0, 0.0));
        let mut phase = BroadPhase::new(colliders(1.0), &start);
        let near = phase.near(&start, 0.05, radius, |_, _| true);
        let share = near.longest_step(&start, &step);
        let x = Field::from_fn(TOTAL, |v| start[v] + step[v] * share);
        prop_assert!(near.cover(&start) && near.cover(&x));
        prop_assert!(near.largest_displacement(&x) <= radius + 1e-11 * (1.0 + offset));
        // Pairs within the gap at the end.
        let along = phase.along(&x, &x, 0.0, |_, _| true);
        let all = all(phase.colliders(), [&x, &x], |_, _| true);
        for (pair, half_apart) in &all.edge_edges {
            prop_assert!(*half_apart > 0.025 || near.pairs().edge_edges.binary_search(pair).is_ok());
        }
        for pair in &along.vertex_faces {
            prop_assert!(near.pairs().vertex_faces.binary_search(pair).is_ok());
        }
    }
}

/// A sheet of `n` by `n` cells that is crumpled.
fn crumpled(n: usize) -> (TriMesh, Positions) {
    use plisse_core::generate;
    let (mesh, uv) = generate::grid(n, n, [1.0, 1.0], generate::Diagonal::Alternating).unwrap();
    let x = uv.map(|u| DVec3::new(u.x * 0.3, u.y * 0.4, 0.02 * ((40.0 * u.x).sin() + (37.0 * u.y).cos())));
    (mesh, x)
}

#[test]
fn the_order_is_the_same_for_any_number_of_threads() {
    let (mesh, x) = crumpled(40);
    let mut colliders = Colliders::new(mesh.vertex_count());
    colliders.add_surface(Body(0), &mesh, 0.0).unwrap();
    let phase = BroadPhase::new(colliders, &x);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| phase.clone().near(&x, 2e-3, 3e-3, |_, _| true))
    };
    let one = run(1);
    assert!(one.pairs().vertex_faces.len() > 1000 && one.pairs().edge_edges.len() > 1000);
    for threads in 2..=4 {
        assert!(run(threads) == one, "{threads} threads");
    }
}

#[test]
fn a_filter_spares_bodies_from_themselves() {
    let (mesh, x) = crumpled(10);
    let n = mesh.vertex_count();
    let mut colliders = Colliders::new(2 * n);
    colliders.add_surface(Body(5), &mesh.among(0, 2 * n), 0.0).unwrap();
    colliders.add_surface(Body(u32::MAX), &mesh.among(n as u32, 2 * n), 0.0).unwrap();
    let x = Field::from_fn(2 * n, |v| x[Id::new((v.index() % n) as u32)]);
    let mut phase = BroadPhase::new(colliders, &x);
    let pairs = phase.along(&x, &x, 0.0, |a, b| a != b);
    assert!(pairs.len() > 1000);
    let side = |v: Id<Vertices>| v.index() < n;
    let colliders = phase.colliders();
    assert!(pairs.vertex_faces.iter().all(|(v, f)| side(*v) != side(colliders.face(*f)[0])));
    assert!(pairs.edge_edges.iter().all(|(e, f)| side(colliders.edge(*e)[0]) != side(colliders.edge(*f)[0])));
    assert!(phase.along(&x, &x, 0.0, |_, _| false).is_empty());
}

#[test]
fn nothing_finds_nothing() {
    let x = Field::from_vec(vec![DVec3::ZERO; 3]);
    let mut phase = BroadPhase::new(Colliders::new(3), &x);
    assert!(phase.along(&x, &x, 1.0, |_, _| true).is_empty());
    let near = phase.near(&x, 1.0, 1.0, |_, _| true);
    assert!(near.pairs().is_empty() && near.cover(&x) && near.largest_displacement(&x) == 0.0);
}

#[test]
fn a_filter_is_asked_for_single_parts_too() {
    let mut colliders = Colliders::new(4);
    colliders.add_surface(Body(0), &TriMesh::new(3, &[[0, 1, 2]]).unwrap().among(0, 4), 0.0).unwrap();
    colliders.add_points(Body(1), &[Id::new(3)], 0.0).unwrap();
    let x = Field::from_vec(vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ZERO]);
    let mut phase = BroadPhase::new(colliders, &x);
    assert_eq!(phase.along(&x, &x, 0.0, |_, _| true).len(), 1);
    assert!(phase.along(&x, &x, 0.0, |a, b| a == b).is_empty());
}
