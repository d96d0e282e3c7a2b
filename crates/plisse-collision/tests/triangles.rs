//! Two triangles: the vectors of the fixtures, and an independent test in integers.
//!
//! The independent test: two convex sets meet if zero is in the hull of the differences of their
//! corners. By Carathéodory's theorem it is then in the hull of at most four of them that are
//! affinely independent, and every such hull is looked at, in integers of 128 bits.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use glam::DVec3;
use plisse_collision::{triangles_fold_on_edge, triangles_meet, triangles_meet_beyond_vertex};
use proptest::prelude::*;
use serde_json::Value;

type Int = [i128; 3];

fn sub(a: Int, b: Int) -> Int {
    std::array::from_fn(|k| a[k] - b[k])
}
fn dot(a: Int, b: Int) -> i128 {
    (0..3).map(|k| a[k] * b[k]).sum()
}
fn cross(a: Int, b: Int) -> Int {
    std::array::from_fn(|k| {
        let (u, v) = ((k + 1) % 3, (k + 2) % 3);
        a[u] * b[v] - a[v] * b[u]
    })
}
fn det(a: Int, b: Int, c: Int) -> i128 {
    dot(a, cross(b, c))
}

/// Whether zero is in the hull of affinely independent points. Points that are dependent are
/// passed over: fewer of them have the same hull.
fn simplex_has_zero(points: &[Int]) -> bool {
    const ZERO: Int = [0; 3];
    match *points {
        [a] => a == ZERO,
        [a, b] => cross(a, b) == ZERO && dot(a, b) <= 0,
        [a, b, c] => {
            let normal = cross(sub(b, a), sub(c, a));
            let inside = |a, b| {
                let n = cross(a, b);
                // The sign along the normal, component by component: both are parallel.
                (0..3).all(|k| n[k].signum() * normal[k].signum() >= 0)
            };
            normal != ZERO && det(a, b, c) == 0 && inside(a, b) && inside(b, c) && inside(c, a)
        }
        [a, b, c, d] => {
            let whole = det(sub(b, a), sub(c, a), sub(d, a)).signum();
            let parts = [det(b, c, d), -det(a, c, d), det(a, b, d), -det(a, b, c)];
            whole != 0 && parts.iter().all(|part| part.signum() * whole >= 0)
        }
        _ => false,
    }
}

fn hull_has_zero(points: &[Int]) -> bool {
    (1u32..1 << points.len()).filter(|set| set.count_ones() <= 4).any(|set| {
        let chosen: Vec<Int> =
            points.iter().enumerate().filter(|(i, _)| set & (1 << i) != 0).map(|(_, p)| *p).collect();
        simplex_has_zero(&chosen)
    })
}

fn hulls_meet(a: &[Int], b: &[Int]) -> bool {
    let differences: Vec<Int> = a.iter().flat_map(|p| b.iter().map(|q| sub(*p, *q))).collect();
    hull_has_zero(&differences)
}

fn point(x: Int, scale: f64) -> DVec3 {
    DVec3::from_array(x.map(|c| c as f64)) * scale
}

/// Checks one pair, both ways round, and that the place is in the boxes of both.
fn check(a: [Int; 3], b: [Int; 3], scale: f64, expected: bool) {
    let (p, q) = (a.map(|x| point(x, scale)), b.map(|x| point(x, scale)));
    for (p, q) in [(p, q), (q, p), ([p[1], p[2], p[0]], [q[0], q[2], q[1]])] {
        let place = triangles_meet(p, q);
        assert_eq!(place.is_some(), expected, "{p:?} {q:?}");
        if let Some(x) = place {
            for t in [p, q] {
                let (low, high) = (t[0].min(t[1]).min(t[2]), t[0].max(t[1]).max(t[2]));
                assert!(low.cmple(x).all() && x.cmple(high).all(), "{x} outside of {t:?}");
            }
        }
    }
}

fn check_vertex(s: Int, [a, b]: [Int; 2], [c, d]: [Int; 2], scale: f64, expected: bool) {
    let [s, a, b, c, d] = [s, a, b, c, d].map(|x| point(x, scale));
    for (one, other) in [([a, b], [c, d]), ([d, c], [a, b])] {
        assert_eq!(triangles_meet_beyond_vertex(s, one, other).is_some(), expected, "{s} {one:?} {other:?}");
    }
}

fn check_edge([s, t]: [Int; 2], a: Int, c: Int, scale: f64, expected: bool) {
    let [s, t, a, c] = [s, t, a, c].map(|x| point(x, scale));
    for (edge, a, c) in [([s, t], a, c), ([t, s], a, c), ([s, t], c, a)] {
        assert_eq!(triangles_fold_on_edge(edge, a, c), expected, "{edge:?} {a} {c}");
    }
}

fn fixture() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/contact.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn corner(value: &Value) -> Int {
    std::array::from_fn(|k| i128::from(value[k].as_i64().unwrap()))
}

const SCALES: [f64; 6] = [1.0, 0.1, 1e-320, 1e-200, 1e200, 1e306];

#[test]
fn vectors_of_separate_triangles() {
    let fixture = fixture();
    let cases = fixture["triangles"].as_array().unwrap();
    assert_eq!(cases.len(), 80);
    for case in cases {
        let triangle = |name: &str| std::array::from_fn(|i| corner(&case[name][i]));
        let (a, b): ([Int; 3], [Int; 3]) = (triangle("a"), triangle("b"));
        let hit = case["hit"].as_bool().unwrap();
        assert_eq!(hulls_meet(&a, &b), hit, "the independent test: {case}");
        check(a, b, 1.0, hit);
    }
}

#[test]
fn vectors_of_triangles_with_a_common_vertex() {
    let fixture = fixture();
    let cases = fixture["triangles_shared_vertex"].as_array().unwrap();
    assert_eq!(cases.len(), 30);
    for case in cases {
        let [s, a, b, c, d] = ["s", "a", "b", "c", "d"].map(|name| corner(&case[name]));
        check_vertex(s, [a, b], [c, d], 1.0, case["hit"].as_bool().unwrap());
    }
}

#[test]
fn vectors_of_triangles_with_a_common_edge() {
    let fixture = fixture();
    let cases = fixture["triangles_shared_edge"].as_array().unwrap();
    assert_eq!(cases.len(), 16);
    for case in cases {
        let [s, t, a, c] = ["s", "t", "a", "c"].map(|name| corner(&case[name]));
        check_edge([s, t], a, c, 1.0, case["hit"].as_bool().unwrap());
    }
}

/// The tests below would say little if all triangles met, or none.
#[test]
fn hits_and_misses_are_both_frequent() {
    let mut random = plisse_core::SplitMix::new(5);
    let (mut hits, pairs) = (0, 3000);
    for _ in 0..pairs {
        let mut corner = || -> Int { std::array::from_fn(|_| i128::from(random.next_u64() % 5)) };
        let (a, b): ([Int; 3], [Int; 3]) =
            (std::array::from_fn(|_| corner()), std::array::from_fn(|_| corner()));
        let hit = hulls_meet(&a, &b);
        check(a, b, 1.0, hit);
        hits += usize::from(hit);
    }
    assert!((pairs / 5..pairs * 4 / 5).contains(&hits), "{hits} of {pairs}");
}

/// Small integers: coplanar, touching and collapsed triangles are frequent.
fn small(range: i128) -> impl Strategy<Value = Int> {
    prop::array::uniform3(-range..=range)
}

/// Corners in a plane, or near to it: `u p + v q` with small shares of two large vectors, each
/// coordinate off by at most one. Products of their differences stay below 2¹²⁷.
fn near_plane() -> impl Strategy<Value = Vec<Int>> {
    let large = || prop::array::uniform3(-(1i128 << 33)..=1 << 33);
    let corner = (prop::array::uniform2(-4i128..=4), prop::array::uniform3(-1i128..=1));
    (large(), large(), prop::collection::vec(corner, 6), any::<bool>()).prop_map(|(p, q, corners, exact)| {
        let off = i128::from(!exact);
        corners
            .into_iter()
            .map(|([u, v], e)| std::array::from_fn(|k| u * p[k] + v * q[k] + off * e[k]))
            .collect()
    })
}

fn corners() -> impl Strategy<Value = Vec<Int>> {
    let flat = prop::collection::vec((small(3), Just(0i128)), 6)
        .prop_map(|points| points.into_iter().map(|(p, z)| [p[0], p[1], z]).collect());
    prop_oneof![
        prop::collection::vec(small(1), 6),
        prop::collection::vec(small(3), 6),
        prop::collection::vec(small(40), 6),
        flat,
        near_plane(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn separate_triangles_agree_with_integers(x in corners(), scale in prop::sample::select(&SCALES[..])) {
        // Powers of two keep integers what they are. Small integers have room for all scales.
        let small = x.iter().flatten().all(|c| c.abs() < 100);
        let scale = if small { exact_scale(scale) } else { 1.0 };
        let (a, b) = ([x[0], x[1], x[2]], [x[3], x[4], x[5]]);
        check(a, b, scale, hulls_meet(&a, &b));
    }

    #[test]
    fn triangles_with_a_common_vertex_agree_with_integers(x in corners(), scale in prop::sample::select(&SCALES[..])) {
        let [s, a, b, c, d] = [x[0], x[1], x[2], x[3], x[4]];
        let small = x.iter().flatten().all(|c| c.abs() < 100);
        let scale = if small { exact_scale(scale) } else { 1.0 };
        let expected = hulls_meet(&[a, b], &[s, c, d]) || hulls_meet(&[c, d], &[s, a, b]);
        check_vertex(s, [a, b], [c, d], scale, expected);
        // Where both have area, that is the question whether their cones have a ray in common.
        let [p, q, u, v] = [a, b, c, d].map(|x| sub(x, s));
        if cross(p, q) != [0; 3] && cross(u, v) != [0; 3] {
            prop_assert_eq!(expected, hull_has_zero(&[p, q, u.map(|c| -c), v.map(|c| -c)]));
        }
    }

    #[test]
    fn triangles_with_a_common_edge_agree_with_integers(x in corners(), scale in prop::sample::select(&SCALES[..])) {
        let [s, t, a, c] = [x[0], x[1], x[2], x[3]];
        let small = x.iter().flatten().all(|c| c.abs() < 100);
        let scale = if small { exact_scale(scale) } else { 1.0 };
        // Normals that are parallel, of the same sense, and not zero.
        let [n, m] = [a, c].map(|x| cross(sub(t, s), sub(x, s)));
        let same = (0..3).all(|k| n[k].signum() == m[k].signum()) && n != [0; 3];
        let expected = same && det(sub(t, s), sub(a, s), sub(c, s)) == 0;
        check_edge([s, t], a, c, scale, expected);
    }

    /// No panic and a place within both, whatever the coordinates.
    #[test]
    fn any_finite_coordinates_have_an_answer(
        x in prop::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 18),
    ) {
        let point = |i: usize| DVec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
        let (a, b) = ([point(0), point(1), point(2)], [point(3), point(4), point(5)]);
        if let Some(place) = triangles_meet(a, b) {
            prop_assert!(place.is_finite());
        }
        prop_assert!(triangles_meet(a, a).is_some_and(DVec3::is_finite));
        let beyond = triangles_meet_beyond_vertex(point(0), [point(1), point(2)], [point(3), point(4)]);
        prop_assert!(beyond.is_none_or(DVec3::is_finite));
        let folded = triangles_fold_on_edge([point(0), point(1)], point(2), point(3));
        prop_assert!(!folded || triangles_meet(a, [point(0), point(1), point(3)]).is_some());
    }
}

/// The power of two below.
fn exact_scale(scale: f64) -> f64 {
    let mut power = 1.0;
    while power > scale {
        power *= 0.5;
    }
    while power * 2.0 <= scale {
        power *= 2.0;
    }
    power
}
