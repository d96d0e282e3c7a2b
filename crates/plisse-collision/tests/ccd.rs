//! Continuous collision detection against contacts that are known exactly.
//!
//! Coordinates are integers times a power of two, and so exact in `f64`. Two references share
//! nothing with the code they judge: contacts that are constructed (a point of one primitive is put
//! on the other at a dyadic time), and translations, for which integers decide: a point that moves
//! against a triangle is a segment that meets it or not, an edge that moves against an edge a
//! parallelogram.

#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::DVec3;
use plisse_collision::{Ccd, edge_edge, point_edge, point_point, point_triangle};
use plisse_core::SplitMix;
use plisse_testkit::any_points;
use proptest::prelude::*;

type Int3 = [i64; 3];

const LEVELS: [u32; 3] = [10, 20, 48];

/// Integers times a power of two. All are below 2^53, so that the products are exact.
fn exact<const V: usize>(x: &[Int3; V], exponent: i32) -> [DVec3; V] {
    x.map(|p| {
        assert!(p.iter().all(|c| c.abs() < 1 << 53));
        DVec3::from_array(p.map(|c| c as f64)) * 2f64.powi(exponent)
    })
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    PointTriangle,
    EdgeEdge,
}

fn query(kind: Kind, ccd: Ccd, start: &[DVec3; 4], end: &[DVec3; 4], separation: f64) -> Option<f64> {
    match kind {
        Kind::PointTriangle => ccd.point_triangle(start, end, separation),
        Kind::EdgeEdge => ccd.edge_edge(start, end, separation),
    }
}

fn distance(kind: Kind, x: &[DVec3; 4]) -> f64 {
    match kind {
        Kind::PointTriangle => point_triangle(x[0], [x[1], x[2], x[3]]).distance(),
        Kind::EdgeEdge => edge_edge([x[0], x[1]], [x[2], x[3]]).distance(),
    }
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::PointTriangle, Kind::EdgeEdge])
}

/// How the constructed contacts are special.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Generic,
    /// All motion in one plane: volumes vanish at all times.
    Coplanar,
    /// A triangle without an area, parallel edges.
    Flat,
    /// An edge without a length.
    Short,
    /// The second primitive rests.
    Static,
    /// Both primitives translate.
    Translation,
    /// The contact is at a vertex of each.
    Vertices,
}

/// A contact at the time `k/64`: the stencil at this time times 64, and the velocities.
#[derive(Clone, Debug)]
struct Contact {
    kind: Kind,
    start: [Int3; 4],
    end: [Int3; 4],
    time: f64,
}

fn small() -> impl Strategy<Value = Int3> {
    prop::array::uniform3(-1000..=1000i64)
}

fn contact() -> impl Strategy<Value = Contact> {
    let shape = prop::sample::select(vec![
        Shape::Generic,
        Shape::Coplanar,
        Shape::Flat,
        Shape::Short,
        Shape::Static,
        Shape::Translation,
        Shape::Vertices,
    ]);
    let points = || prop::array::uniform4(small());
    (kind(), shape, points(), points(), 0..=64i64, [0..=16i64, 0..=16i64], small(), 0..28u32).prop_map(
        |(kind, shape, mut at, mut velocity, k, [s, t], offset, shift)| {
            match shape {
                Shape::Coplanar => at.iter_mut().chain(&mut velocity).for_each(|p| p[2] = p[0] - p[1]),
                Shape::Flat => {
                    at[3] = if kind == Kind::PointTriangle {
                        std::array::from_fn(|k| 2 * at[2][k] - at[1][k])
                    } else {
                        std::array::from_fn(|k| at[2][k] + at[1][k] - at[0][k])
                    };
                }
                Shape::Short => at[3] = at[2],
                Shape::Static => velocity[if kind == Kind::PointTriangle { 1 } else { 2 }..].fill([0; 3]),
                Shape::Translation => {
                    let first = if kind == Kind::PointTriangle { 1 } else { 2 };
                    let (a, b) = (velocity[0], velocity[3]);
                    velocity[..first].fill(a);
                    velocity[first..].fill(b);
                }
                Shape::Generic | Shape::Vertices => {}
            }
            let (s, t) = if matches!(shape, Shape::Vertices) { (16 * (s & 1), 16 * (t & 1)) } else { (s, t) };
            // The first primitive is moved such that its point with the parameter s/16 lies on the
            // second: everything times 256 to stay with integers.
            let mut scaled = at.map(|p| p.map(|c| 256 * c));
            let (first, here, there): (usize, Int3, Int3) = match kind {
                Kind::PointTriangle => {
                    let [p, a, b, c] = at;
                    let t = t.min(16 - s);
                    (
                        1,
                        p.map(|c| 256 * c),
                        std::array::from_fn(|k| 16 * ((16 - s - t) * a[k] + s * b[k] + t * c[k])),
                    )
                }
                Kind::EdgeEdge => {
                    let mean = |a: Int3, b: Int3, s: i64| -> Int3 {
                        std::array::from_fn(|k| 16 * ((16 - s) * a[k] + s * b[k]))
                    };
                    (2, mean(at[0], at[1], s), mean(at[2], at[3], t))
                }
            };
            for p in &mut scaled[..first] {
                *p = std::array::from_fn(|k| p[k] + there[k] - here[k]);
            }
            // Far from the origin, where coordinates have lost the digits that differences need.
            let place = |p: Int3| -> Int3 { std::array::from_fn(|k| p[k] + (offset[k] << shift)) };
            let start =
                std::array::from_fn(|i| place(std::array::from_fn(|c| scaled[i][c] - k * velocity[i][c])));
            let end = std::array::from_fn(|i| {
                place(std::array::from_fn(|c| scaled[i][c] + (64 - k) * velocity[i][c]))
            });
            Contact { kind, start, end, time: k as f64 / 64.0 }
        },
    )
}

/// Orientation and intersection of integers, exact in `i128`.
mod integers {
    use super::Int3;

    fn sub(a: Int3, b: Int3) -> [i128; 3] {
        std::array::from_fn(|k| i128::from(a[k]) - i128::from(b[k]))
    }

    fn cross(a: [i128; 3], b: [i128; 3]) -> [i128; 3] {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }

    fn orient(a: Int3, b: Int3, c: Int3, d: Int3) -> i128 {
        let n = cross(sub(b, a), sub(c, a));
        let e = sub(d, a);
        (n[0] * e[0] + n[1] * e[1] + n[2] * e[2]).signum()
    }

    /// Whether a segment crosses a triangle properly or touches it, and whether this is certain:
    /// not where the segment lies in the plane of the triangle.
    pub(super) fn meets(p: Int3, q: Int3, [a, b, c]: [Int3; 3]) -> Option<bool> {
        let (s, t) = (orient(a, b, c, p), orient(a, b, c, q));
        if s == 0 && t == 0 {
            return None;
        }
        if s * t > 0 {
            return Some(false);
        }
        let sides = [orient(p, q, a, b), orient(p, q, b, c), orient(p, q, c, a)];
        Some(sides.iter().all(|s| *s >= 0) || sides.iter().all(|s| *s <= 0))
    }
}

fn add(a: Int3, b: Int3) -> Int3 {
    std::array::from_fn(|k| a[k] + b[k])
}

/// The exact answer for a first primitive that moves by `way` against a second one at rest; none if
/// the integers do not tell.
fn translation_meets(kind: Kind, x: &[Int3; 4], way: Int3) -> Option<bool> {
    match kind {
        Kind::PointTriangle => integers::meets(x[0], add(x[0], way), [x[1], x[2], x[3]]),
        Kind::EdgeEdge => {
            let [a, b] = [x[0], x[1]];
            let (c, d) = (add(a, way), add(b, way));
            let halves = [integers::meets(x[2], x[3], [a, b, d])?, integers::meets(x[2], x[3], [a, d, c])?];
            Some(halves[0] || halves[1])
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// No contact is missed, and none is reported too late: at scales from 1e-18 to 1e6.
    #[test]
    fn constructed_contacts_are_found_in_time(contact in contact(), exponent in -85..-5i32) {
        let (start, end) = (exact(&contact.start, exponent), exact(&contact.end, exponent));
        for levels in LEVELS {
            let found = query(contact.kind, Ccd::with_levels(levels), &start, &end, 0.0);
            prop_assert!(found.is_some_and(|t| t <= contact.time), "{levels}: {found:?} {contact:?}");
        }
    }

    /// The same with a separation: contact comes no later than without.
    #[test]
    fn separations_only_stop_earlier(contact in contact(), separation in 0.0..1e6f64) {
        let (start, end) = (exact(&contact.start, 0), exact(&contact.end, 0));
        let found = query(contact.kind, Ccd::default(), &start, &end, separation);
        prop_assert!(found.is_some_and(|t| t <= contact.time), "{found:?} {contact:?}");
    }

    /// Translations, decided by integers: hits are found, and misses are not taken for hits unless
    /// the gap is within rounding.
    #[test]
    fn translations_agree_with_integers(kind in kind(), x in prop::array::uniform4(prop::array::uniform3(-8..=8i64)), way in prop::array::uniform3(-24..=24i64), common in small(), exponent in -60..20i32) {
        let Some(meets) = translation_meets(kind, &x, way) else { return Ok(()) };
        let moving = if kind == Kind::PointTriangle { 1 } else { 2 };
        let end: [Int3; 4] = std::array::from_fn(|i| add(add(x[i], common), if i < moving { way } else { [0; 3] }));
        let found = LEVELS.map(|levels| query(kind, Ccd::with_levels(levels), &exact(&x, exponent), &exact(&end, exponent), 0.0));
        for found in found {
            prop_assert!(!meets || found.is_some());
        }
        // Integers this small that do not meet are 1e-5 apart at least, as inverse determinants
        // are, relative to a motion of 1e3. At the finest resolution all are told apart.
        prop_assert!(meets || found[2].is_none(), "{found:?}");
    }

    /// Primitives on both sides of a plane, a gap of 1e-14 or more of their size apart.
    #[test]
    fn narrow_gaps_are_free(kind in kind(), x in prop::array::uniform4(prop::array::uniform3(-1000..=1000i64)), end in prop::array::uniform4(prop::array::uniform3(-1000..=1000i64)), gap in 4..40u32, axis in 0..3usize, exponent in -60..0i32) {
        // Heights are non-negative for the first primitive and at most -16 for the second, beside
        // coordinates of up to 1000 · 2^gap.
        let moving = if kind == Kind::PointTriangle { 1 } else { 2 };
        let lift = |x: [Int3; 4]| -> [Int3; 4] { std::array::from_fn(|i| {
            let mut p = x[i].map(|c| c << gap);
            p[axis] = if i < moving { p[axis].abs() } else { -p[axis].abs() - 16 };
            p
        }) };
        for levels in LEVELS {
            let found = query(kind, Ccd::with_levels(levels), &exact(&lift(x), exponent), &exact(&lift(end), exponent), 0.0);
            prop_assert_eq!(found, None);
        }
    }

    /// The states that are called free are so, with the separation, along the whole way.
    #[test]
    fn free_times_keep_the_separation(kind in kind(), x in prop::array::uniform4(prop::array::uniform3(-1.0..1.0f64)), end in prop::array::uniform4(prop::array::uniform3(-1.0..1.0f64)), part in 0.0..0.9f64) {
        let (x, end) = (x.map(DVec3::from), end.map(DVec3::from));
        let separation = part * distance(kind, &x);
        for levels in LEVELS {
            let found = query(kind, Ccd::with_levels(levels), &x, &end, separation);
            let last = found.unwrap_or(1.0);
            for step in 0..=64 {
                let t = last * f64::from(step) / 64.0;
                let at: [DVec3; 4] = std::array::from_fn(|i| x[i] * (1.0 - t) + end[i] * t);
                prop_assert!(distance(kind, &at) >= separation * (1.0 - 1e-12) - 1e-15, "{t}: {found:?}");
            }
        }
    }

    /// Swapping what has no order changes no proof.
    #[test]
    fn order_changes_no_verdict(contact in contact()) {
        let (start, end) = (exact(&contact.start, 0), exact(&contact.end, 0));
        let orders: [[usize; 4]; 3] = match contact.kind {
            Kind::PointTriangle => [[0, 2, 3, 1], [0, 2, 1, 3], [0, 3, 2, 1]],
            Kind::EdgeEdge => [[1, 0, 2, 3], [0, 1, 3, 2], [2, 3, 0, 1]],
        };
        for order in orders {
            let found = query(contact.kind, Ccd::default(), &order.map(|i| start[i]), &order.map(|i| end[i]), 0.0);
            prop_assert!(found.is_some_and(|t| t <= contact.time));
        }
    }

    /// Pairs of points and of a point and an edge, at a contact that is constructed likewise.
    #[test]
    fn points_and_edges(at in prop::array::uniform3(small()), velocity in prop::array::uniform3(small()), k in 0..=64i64, s in 0..=16i64, exponent in -85..-5i32) {
        let mut at = at.map(|p| p.map(|c| 16 * c));
        at[0] = std::array::from_fn(|k| ((16 - s) * at[1][k] + s * at[2][k]) / 16);
        let start: [Int3; 3] = std::array::from_fn(|i| std::array::from_fn(|c| 64 * at[i][c] - k * velocity[i][c]));
        let end: [Int3; 3] = std::array::from_fn(|i| std::array::from_fn(|c| 64 * at[i][c] + (64 - k) * velocity[i][c]));
        let (start, end) = (exact(&start, exponent), exact(&end, exponent));
        let time = k as f64 / 64.0;
        for levels in LEVELS {
            let found = Ccd::with_levels(levels).point_edge(&start, &end, 0.0);
            prop_assert!(found.is_some_and(|t| t <= time), "{found:?}");
            if s == 0 {
                let found = Ccd::with_levels(levels).point_point(&[start[0], start[1]], &[end[0], end[1]], 0.0);
                prop_assert!(found.is_some_and(|t| t <= time), "{found:?}");
            }
        }
        // Moved aside by more than everything moves.
        let aside = DVec3::splat(4e5 * 2f64.powi(exponent));
        prop_assert_eq!(Ccd::default().point_edge(&[start[0] + aside, start[1], start[2]], &[end[0] + aside, end[1], end[2]], 0.0), None);
    }

    /// Every finite query is answered, by a time in range.
    #[test]
    fn every_query_has_an_answer(x in any_points::<4>(), end in any_points::<4>(), separation in plisse_testkit::any_finite()) {
        let (x, end) = (x.map(DVec3::from), end.map(DVec3::from));
        for kind in [Kind::PointTriangle, Kind::EdgeEdge] {
            for separation in [0.0, separation] {
                let found = query(kind, Ccd::default(), &x, &end, separation);
                prop_assert!(found.is_none_or(|t| (0.0..1.0).contains(&t)));
            }
        }
        let edge = Ccd::default().point_edge(&[x[0], x[1], x[2]], &[end[0], end[1], end[2]], 0.0);
        let point = Ccd::default().point_point(&[x[0], x[1]], &[end[0], end[1]], 0.0);
        prop_assert!(edge.is_none_or(|t| t < 1.0) && point.is_none_or(|t| t < 1.0));
    }
}

#[test]
fn extreme_scales_are_decided_as_well() {
    let x = [DVec3::new(0.25, 0.25, 1.0), DVec3::ZERO, DVec3::X, DVec3::Y];
    let through = [DVec3::new(0.25, 0.25, -1.0), DVec3::ZERO, DVec3::X, DVec3::Y];
    let beside = [DVec3::new(1.25, 0.25, -1.0), DVec3::X, DVec3::X * 2.0, DVec3::ONE];
    for exponent in [-1060, -1000, -300, 0, 300, 1000, 1022] {
        let scale =
            |x: [DVec3; 4]| x.map(|p| p * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2));
        let ccd = Ccd::default();
        let found = ccd.point_triangle(&scale(x), &scale(through), 0.0);
        assert!(found.is_some_and(|t| t > 0.499 && t <= 0.5), "2^{exponent}: {found:?}");
        let moved = [beside[0] + DVec3::Z * 3.0, beside[1], beside[2], beside[3]];
        assert_eq!(ccd.point_triangle(&scale(x), &scale(moved), 0.0), None, "2^{exponent}");
    }
}

/// What is reported is near: the distance changes by no more than the points move, 2√3 each in a
/// unit of time, and the search stops at its resolution. Only pairs that graze the separation spend
/// the budget before, and they are rare.
#[test]
fn reports_come_shortly_before_contact() {
    let mut random = SplitMix::new(16);
    let mut points = || -> [DVec3; 4] {
        std::array::from_fn(|_| DVec3::from_array(std::array::from_fn(|_| random.signed())))
    };
    let (mut reports, mut early) = (0, 0);
    for number in 0..4000 {
        let kind = [Kind::PointTriangle, Kind::EdgeEdge][number % 2];
        let (start, end) = (points(), points());
        let separation = [0.0, 0.1, 0.5][number % 3] * distance(kind, &start);
        if let Some(t) = query(kind, Ccd::default(), &start, &end, separation) {
            let at: [DVec3; 4] = std::array::from_fn(|i| start[i] * (1.0 - t) + end[i] * t);
            reports += 1;
            early += usize::from(distance(kind, &at) > separation + 7.0 * Ccd::default().resolution());
        }
    }
    assert!(reports > 500 && early * 100 < reports, "{early} of {reports}");
}

/// The same with a plane that is not along an axis, and motions that touch it from both sides: the
/// direction must be found to as many digits as the gap is small.
#[test]
fn oblique_gaps_are_free_with_few_exceptions() {
    let mut random = SplitMix::new(14);
    let mut points = || -> [Int3; 4] {
        std::array::from_fn(|_| std::array::from_fn(|_| (random.signed() * 1000.0) as i64))
    };
    let (mut alarms, count) = (0, 4000);
    for number in 0..count {
        let kind = [Kind::PointTriangle, Kind::EdgeEdge][number % 2];
        let moving = if kind == Kind::PointTriangle { 1 } else { 2 };
        let gap = 4 + number % 36;
        // Half of the heights are those of the planes. The shear keeps integers.
        let place = |x: [Int3; 4]| -> [Int3; 4] {
            std::array::from_fn(|i| {
                let [x, y, z] = x[i].map(|c| c << gap);
                let height = if z % 2 == 0 && x > y { 0 } else { z.abs() };
                let z = if i < moving { height } else { -16 - height };
                let x = x + z;
                [x, y - x, z + y]
            })
        };
        let (start, end) = (exact(&place(points()), -20), exact(&place(points()), -20));
        alarms += usize::from(query(kind, Ccd::with_levels(48), &start, &end, 0.0).is_some());
    }
    // 11 when this was written.
    assert!(alarms * 100 < count, "{alarms} of {count}");
}

#[test]
fn pairs_that_start_in_contact_are_stopped_at_once() {
    let x = [DVec3::new(0.25, 0.25, 0.0), DVec3::ZERO, DVec3::X, DVec3::Y];
    let mut end = x;
    end[0].z = 1.0;
    assert_eq!(Ccd::default().point_triangle(&x, &end, 0.0), Some(0.0));
    assert_eq!(Ccd::default().point_triangle(&end, &end, 2.0), Some(0.0));
    assert_eq!(Ccd::default().point_triangle(&end, &end, 0.5), None);
    let negative = Ccd::default().point_triangle(&end, &x, -1.0);
    assert_eq!(negative, Ccd::default().point_triangle(&end, &x, 0.0));
    assert!(negative.is_some());
}

#[test]
fn nan_and_infinity_are_no_free_paths() {
    let x = [DVec3::Z, DVec3::ZERO, DVec3::X, DVec3::Y];
    for bad in [f64::NAN, f64::INFINITY] {
        for place in 0..8 {
            let mut both = [x, x];
            both[place / 4][place % 4].x = bad;
            assert_eq!(Ccd::default().point_triangle(&both[0], &both[1], 0.0), Some(0.0));
            assert_eq!(Ccd::default().edge_edge(&both[0], &both[1], 0.0), Some(0.0));
        }
    }
    assert_eq!(Ccd::default().point_triangle(&x, &x, f64::NAN), Some(0.0));
    assert_eq!(point_edge(x[0], [x[1], x[2]]).distance(), point_point(x[0], x[1]).distance());
}

#[test]
fn levels_are_limited() {
    assert_eq!(Ccd::with_levels(100), Ccd::with_levels(48));
    assert_eq!(Ccd::default().resolution(), 2f64.powi(-20));
}
