//! Directors as unknowns: derivatives in every regime, folds, collapse, turning over, clamps, step
//! limits.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DQuat, DVec3};
use plisse_bending::{Director, KoiterBending, Plate};
use plisse_core::{
    Edges, Element, Faces, Field, HingeFrame, Id, IsotropicSheet, PoissonRatio, Positive, Psd, RestShape,
    TriMesh, Vertices,
};
use plisse_testkit::{any_points, assert_semidefinite, check_gradient, check_jacobian, max_abs, rotation};
use proptest::prelude::*;

const FACES: [[u32; 3]; 4] = [[0, 1, 2], [2, 1, 3], [0, 2, 4], [1, 0, 5]];
const CORNERS: [[f64; 2]; 6] = [[0.0, 0.0], [1.0, 0.1], [0.3, 0.9], [1.2, 1.0], [-0.6, 0.7], [0.6, -0.8]];
/// An upper bound of the entries of `Q` for this patch, and of the heights of its faces at rest.
const LARGEST: [f64; 2] = [30.0, 1.5];

struct Patch {
    mesh: TriMesh,
    rest: RestShape,
    x: Field<Vertices, DVec3>,
    plate: Plate,
}

impl Patch {
    /// A face in the middle of one to three others, curved at rest or not.
    fn new(neighbours: usize, curved: f64) -> Self {
        let mesh = TriMesh::new(3 + neighbours, &FACES[..=neighbours]).unwrap();
        let place = |[u, v]: [f64; 2]| DVec3::new(u, v, curved * (u * u + 0.5 * v));
        let x = Field::from_vec(CORNERS[..3 + neighbours].iter().map(|c| place(*c)).collect());
        let rest = RestShape::from_positions(&mesh, &x).unwrap();
        let sheet = IsotropicSheet::new(Positive::literal(12.0), PoissonRatio::literal(0.3), Positive::ONE);
        let plate = Plate::of_sheet(&sheet).unwrap();
        Self { mesh, rest, x, plate }
    }

    fn element(&self, face: u32, director: Director) -> KoiterBending {
        KoiterBending::new(&self.mesh, &self.rest, Id::new(face), director, &self.plate)
    }

    fn elements(&self, director: Director) -> Vec<KoiterBending> {
        (0..self.mesh.face_count() as u32).map(|face| self.element(face, director)).collect()
    }

    fn reach(&self) -> f64 {
        self.rest.hinges().iter().map(plisse_core::Hinge::reach).fold(f64::INFINITY, f64::min)
    }
}

fn split(y: &[f64; 21]) -> ([DVec3; 6], [f64; 3]) {
    (std::array::from_fn(|i| DVec3::from_slice(&y[3 * i..])), [y[18], y[19], y[20]])
}

fn join(x: &[DVec3; 6], a: &[f64; 3]) -> [f64; 21] {
    std::array::from_fn(|i| if i < 18 { x[i / 3][i % 3] } else { a[i - 18] })
}

fn energy(element: &KoiterBending, y: &[f64; 21]) -> f64 {
    let (x, a) = split(y);
    element.energy_with_directors(&x, &a)
}

fn gradient(element: &KoiterBending, y: &[f64; 21]) -> [f64; 21] {
    let (x, a) = split(y);
    let (g, d) = element.gradient_with_directors(&x, &a);
    join(&g, &d)
}

fn hessian(element: &KoiterBending, y: &[f64; 21], psd: Psd) -> [[f64; 21]; 21] {
    let (x, a) = split(y);
    let e = element.evaluate_with_directors(&x, &a, psd);
    let h = e.hessian.to_matrix::<18>();
    std::array::from_fn(|i| {
        std::array::from_fn(|j| match (i < 18, j < 18) {
            (true, true) => h[i][j],
            (false, true) => e.mixed_hessian[i - 18][j / 3][j % 3],
            (true, false) => e.mixed_hessian[j - 18][i / 3][i % 3],
            (false, false) => e.director_hessian[i - 18][j - 18],
        })
    })
}

/// Derivatives against differences, three ways to the same numbers, and projections.
fn check(element: &KoiterBending, x: &[DVec3; 6], a: &[f64; 3]) -> Result<(), TestCaseError> {
    let y = join(x, a);
    let g = gradient(element, &y);
    prop_assume!(max_abs(&g) > 1e-2);
    check_gradient(|y| energy(element, y), |y| gradient(element, y), &y, 1e-6);
    check_jacobian(|y| gradient(element, y), |y| hessian(element, y, Psd::Exact), &y, 1e-5);
    let exact = hessian(element, &y, Psd::Exact);
    for psd in Psd::ALL {
        let all = element.evaluate_with_directors(x, a, psd);
        prop_assert_eq!(all.energy, element.energy_with_directors(x, a));
        prop_assert_eq!(join(&all.gradient, &all.director_gradient), g);
        if psd != Psd::Exact {
            let h = hessian(element, &y, psd);
            let size = max_abs(h.as_flattened());
            assert_semidefinite("projected", &h, 1e-12, size);
            let gap: [[f64; 21]; 21] =
                std::array::from_fn(|i| std::array::from_fn(|j| h[i][j] - exact[i][j]));
            assert_semidefinite("above the exact one", &gap, 1e-11, size);
        }
    }
    Ok(())
}

/// The neighbour across edge `j` turned about it.
fn turned(mut x: [DVec3; 6], j: usize, angle: f64) -> [DVec3; 6] {
    let (a, b) = (x[(j + 1) % 3], x[(j + 2) % 3]);
    x[3 + j] = a + DQuat::from_axis_angle((b - a).normalize(), angle) * (x[3 + j] - a);
    x
}

fn angle_at(x: &[DVec3; 6], j: usize) -> f64 {
    HingeFrame::angle(&[x[(j + 1) % 3], x[(j + 2) % 3], x[j], x[3 + j]]).unwrap_or(0.0)
}

fn moved(x: [DVec3; 6], noise: &[f64], size: f64) -> [DVec3; 6] {
    std::array::from_fn(|i| x[i] + DVec3::from_slice(&noise[3 * i..]) * size)
}

/// As [`moved`], where the place of a missing neighbour stays that of its corner.
fn moved_on(element: &KoiterBending, patch: &Patch, noise: &[f64], size: f64) -> [DVec3; 6] {
    element.nodes().map(|v| patch.x[v] + DVec3::from_slice(&noise[3 * v.index()..]) * size)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn derivatives_of_the_sine_law_for_any_director(
        noise in prop::collection::vec(-1.0..1.0f64, 18), a in prop::array::uniform3(-7.0..7.0f64),
        neighbours in 1..=3usize, curved in 0.0..0.5f64,
    ) {
        let patch = Patch::new(neighbours, curved);
        let element = patch.element(0, Director::Sine);
        check(&element, &moved_on(&element, &patch, &noise, 0.25), &a)?;
    }

    #[test]
    fn derivatives_of_the_tangent_law(
        noise in prop::collection::vec(-1.0..1.0f64, 18), a in prop::array::uniform3(-0.6..0.6f64),
        neighbours in 1..=3usize, curved in 0.0..0.5f64,
    ) {
        let patch = Patch::new(neighbours, curved);
        let element = patch.element(0, Director::Tangent);
        let x = moved_on(&element, &patch, &noise, 0.2);
        prop_assume!((0..neighbours).all(|j| 0.5 * angle_at(&x, j).abs() + a[j].abs() < 1.1));
        check(&element, &x, &a)?;
    }

    #[test]
    fn derivatives_near_a_fold_and_a_collapse(
        noise in prop::collection::vec(-0.1..0.1f64, 18), angle in 2.45..3.8f64, other in -1.0..1.0f64,
        curved in 0.0..0.5f64, squeeze in 0.02..1.0f64, a in prop::array::uniform3(-4.0..4.0f64),
    ) {
        let patch = Patch::new(3, curved);
        let element = patch.element(0, Director::Sine);
        let mut x = turned(turned(element.nodes().map(|v| patch.x[v]), 0, angle), 1, other);
        let foot = 0.5 * (x[0] + x[1]);
        x[5] = foot + (x[5] - foot) * squeeze;
        check(&element, &moved(x, &noise, squeeze), &a)?;
    }

    /// A face without neighbours on two sides loses its height.
    #[test]
    fn derivatives_where_a_boundary_collapses(
        noise in prop::collection::vec(-0.1..0.1f64, 18), squeeze in 0.03..0.3f64, tangent in any::<bool>(),
        a in prop::array::uniform3(-1.2..1.2f64), corner in 0..3usize,
    ) {
        let patch = Patch::new(1, 0.2);
        let element = patch.element(0, if tangent { Director::Tangent } else { Director::Sine });
        let mut x = moved_on(&element, &patch, &noise, squeeze);
        let foot = 0.5 * (x[(corner + 1) % 3] + x[(corner + 2) % 3]);
        let shift = (foot - x[corner]) * (1.0 - squeeze);
        x[corner] += shift;
        if corner > 0 {
            x[3 + corner] = x[corner];
        }
        prop_assume!(!tangent || 0.5 * angle_at(&x, 0).abs() + a[0].abs() < 1.2);
        check(&element, &x, &a)?;
    }

    #[test]
    fn derivatives_beside_a_clamp(
        noise in prop::collection::vec(-1.0..1.0f64, 18), a in prop::array::uniform3(-3.0..3.0f64),
        own in any::<bool>(), angle in -4.0..4.0f64,
    ) {
        let patch = Patch::new(3, 0.3);
        let element = patch.element(0, Director::Sine);
        let held = if own { Id::<Faces>::new(0) } else { Id::new(1) };
        let element = element.with_clamp(&patch.rest, element.edges()[0], held);
        let x = turned(moved_on(&element, &patch, &noise, 0.2), 0, angle);
        check(&element, &x, &a)?;
        // As an element, with its directors at zero.
        let all = element.evaluate_with_directors(&x, &[0.0; 3], Psd::Exact);
        prop_assert_eq!((all.energy, all.gradient), element.energy_and_gradient(&x));
        prop_assert_eq!(all.hessian, element.hessian(&x, Psd::Exact));
    }

    /// Rigid motions change nothing. A reflection turns hinge angles and directors over.
    #[test]
    fn invariances(
        noise in prop::collection::vec(-1.0..1.0f64, 18), a in prop::array::uniform3(-3.0..3.0f64),
        r in rotation(), tangent in any::<bool>(), neighbours in 1..=3usize,
    ) {
        let patch = Patch::new(neighbours, 0.0);
        let element = patch.element(0, if tangent { Director::Tangent } else { Director::Sine });
        let a = if tangent { a.map(|a| 0.2 * a) } else { a };
        let x = moved_on(&element, &patch, &noise, 0.2);
        let [u, v, w] = r.map(DVec3::from);
        let place = |p: DVec3| u * p.x + v * p.y + w * p.z + DVec3::new(0.3, -2.0, 1.0);
        let here = element.evaluate_with_directors(&x, &a, Psd::Exact);
        let there = element.evaluate_with_directors(&x.map(place), &a, Psd::Exact);
        let size = here.energy.max(1.0);
        prop_assert!((here.energy - there.energy).abs() < 1e-11 * size);
        for i in 0..3 {
            prop_assert!((here.director_gradient[i] - there.director_gradient[i]).abs() < 1e-10 * size);
        }
        let mirror = |p: DVec3| DVec3::new(p.x, p.y, -p.z);
        let there = element.evaluate_with_directors(&x.map(mirror), &a.map(|a| -a), Psd::Exact);
        prop_assert!((here.energy - there.energy).abs() < 1e-11 * size);
        for i in 0..6 {
            prop_assert!((mirror(here.gradient[i]) - there.gradient[i]).length() < 1e-9 * size);
        }
        // Force and torque balance.
        let force: DVec3 = here.gradient.iter().sum();
        let torque: DVec3 = x.iter().zip(&here.gradient).map(|(x, g)| x.cross(*g)).sum();
        let scale = here.gradient.iter().map(|g| g.length()).fold(1.0, f64::max);
        prop_assert!(force.length() < 1e-11 * scale && torque.length() < 1e-11 * scale);
    }

    /// With all directors at the mean normals, the sine law is the averaged one: its guard is zero.
    #[test]
    fn directors_at_the_mean_normals_are_the_averaged_element(
        noise in prop::collection::vec(-1.0..1.0f64, 18), fold in -4.0..4.0f64, squeeze in 0.01..1.0f64,
    ) {
        let patch = Patch::new(3, 0.2);
        let (average, sine) = (patch.element(0, Director::Average), patch.element(0, Director::Sine));
        let mut x = turned(moved_on(&sine, &patch, &noise, 0.2), 0, fold);
        x[5] = x[0].lerp(x[1], 0.4) + (x[5] - x[0].lerp(x[1], 0.4)) * squeeze;
        let (a, b) = (average.evaluate(&x, Psd::Exact), sine.evaluate_with_directors(&x, &[0.0; 3], Psd::Exact));
        let size = max_abs(a.hessian.to_matrix::<18>().as_flattened());
        prop_assert!((a.energy - b.energy).abs() <= 1e-12 * a.energy.max(1.0));
        for i in 0..6 {
            prop_assert!((a.gradient[i] - b.gradient[i]).length() <= 1e-11 * size);
        }
        prop_assert!((a.hessian - b.hessian).max_abs() <= 1e-10 * size);
    }

    /// A whole turn of a director is none.
    #[test]
    fn the_sine_law_has_the_period_of_a_turn(
        noise in prop::collection::vec(-1.0..1.0f64, 18), a in prop::array::uniform3(-3.0..3.0f64), j in 0..3usize,
    ) {
        let patch = Patch::new(2, 0.2);
        let element = patch.element(0, Director::Sine);
        let x = moved_on(&element, &patch, &noise, 0.25);
        let mut b = a;
        b[j] += TAU;
        let (e, f) = (element.energy_with_directors(&x, &a), element.energy_with_directors(&x, &b));
        prop_assert!((e - f).abs() < 1e-12 * e.max(1.0), "{e} {f}");
    }

    /// Two faces and their common edge, whatever its angle and the shapes beside it: one minimum
    /// and one maximum in a turn.
    #[test]
    fn an_edge_has_one_resting_director(theta in -PI..PI, height in 0.1..10.0f64) {
        let mesh = TriMesh::new(4, &[[0, 1, 2], [1, 0, 3]]).unwrap();
        let flat = [DVec3::ZERO, DVec3::X, DVec3::new(0.4, 1.0, 0.0), DVec3::new(0.6, -height, 0.0)];
        let rest = RestShape::from_positions(&mesh, &Field::from_vec(flat.to_vec())).unwrap();
        let sheet = IsotropicSheet::new(Positive::literal(12.0), PoissonRatio::literal(0.3), Positive::ONE);
        let plate = Plate::of_sheet(&sheet).unwrap();
        let edge = mesh.edge_between(Id::new(0), Id::new(1)).unwrap();
        let mut x = flat;
        x[3] = DVec3::new(0.6, -height * theta.cos(), height * theta.sin());
        let elements = [0, 1].map(|f| KoiterBending::new(&mesh, &rest, Id::new(f), Director::Sine, &plate));
        let at = |alpha: f64| -> f64 {
            elements.iter().map(|e| {
                let a = e.edges().map(|id| if id == edge { alpha } else { 0.0 });
                e.energy_with_directors(&e.nodes().map(|v| x[v.index()]), &a)
            }).sum()
        };
        let n = 720;
        let values: Vec<f64> = (0..n).map(|i| at(TAU * (f64::from(i) + 0.37) / f64::from(n))).collect();
        let minima: Vec<usize> = (0..n as usize)
            .filter(|i| values[*i] < values[(i + 1) % n as usize] && values[*i] < values[(i + n as usize - 1) % n as usize])
            .collect();
        prop_assert_eq!(minima.len(), 1, "{:?}", minima);
        let alpha = TAU * (minima[0] as f64 + 0.37) / f64::from(n);
        prop_assert!(alpha.min(TAU - alpha) < 22.5f64.to_radians(), "{alpha}");
    }

    /// Along the step that was allowed, and at its end, no director of the tangent law reaches the
    /// pole.
    #[test]
    fn steps_stay_inside_the_poles(
        noise in prop::collection::vec(-1.0..1.0f64, 18), a in prop::array::uniform3(-0.7..0.7f64),
        p in prop::collection::vec(-1.0..1.0f64, 18), q in prop::array::uniform3(-3.0..3.0f64), size in -3.0..1.0f64,
    ) {
        let patch = Patch::new(3, 0.0);
        let element = patch.element(0, Director::Tangent);
        let x = moved_on(&element, &patch, &noise, 0.2);
        let size = 10f64.powf(size);
        let (p, q) = (split(&std::array::from_fn(|i| if i < 18 { p[i] * size } else { 0.0 })).0, q.map(|q| q * size));
        let lean = |t: f64| {
            let y: [DVec3; 6] = std::array::from_fn(|i| x[i] + p[i] * t);
            (0..3).map(|j| 0.5 * angle_at(&y, j).abs() + (a[j] + t * q[j]).abs()).fold(0.0, f64::max)
        };
        prop_assume!(lean(0.0) < FRAC_PI_2);
        let longest = element.longest_step(&x, &a, &p, &q);
        prop_assert!((0.0..=1.0).contains(&longest) && longest > 0.0);
        for i in 0..=400 {
            let t = longest * f64::from(i) / 400.0;
            prop_assert!(lean(t) < FRAC_PI_2, "{} at {t} of {longest}", lean(t));
        }
        // Directors alone: exact, so that the limit is no shorter than it must be.
        let still = element.longest_step(&x, &a, &[DVec3::ZERO; 6], &q);
        let exact = (0..3).map(|j| {
            let half = 0.5 * angle_at(&x, j).abs();
            let most = FRAC_PI_2 - 0.1 * (FRAC_PI_2 - half - a[j].abs()) - half;
            (most - a[j] * q[j].signum()) / q[j].abs().max(1e-300)
        }).fold(1.0, f64::min);
        prop_assert!(still <= exact * (1.0 + 1e-9) && still >= 0.98 * exact, "{still} {exact}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    /// The bounds of the documentation, for slivers, needles and points, and for any director.
    #[test]
    fn forces_and_moments_are_bounded(
        x in prop::collection::vec(-1.0..1.0f64, 18), sizes in prop::collection::vec(-9.0..0.5f64, 6),
        curved in 0.0..0.5f64, a in prop::array::uniform3(-10.0..10.0f64),
    ) {
        let patch = Patch::new(3, curved);
        let [q, h] = LARGEST;
        let x: [DVec3; 6] = std::array::from_fn(|i| DVec3::from_slice(&x[3 * i..]) * 10f64.powf(sizes[i]));
        for element in [patch.element(0, Director::Sine), patch.element(1, Director::Sine)] {
            let longest = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| x[i].distance(x[j])).into_iter().fold(0.0, f64::max);
            let m = 2.0 * longest + 2.0 * h;
            let (force, moment) = element.gradient_with_directors(&x, &a);
            let size = force.iter().map(|f| f.length_squared()).sum::<f64>().sqrt();
            prop_assert!(size <= 230.0 * q * m * m / patch.reach(), "{size:e} at {x:?}");
            prop_assert!(max_abs(&moment) <= 6.0 * q * m * m, "{moment:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    /// Whatever the numbers: finite, and semidefinite where that is asked for.
    #[test]
    fn finite_and_semidefinite_everywhere(
        x in any_points::<6>(), a in prop::array::uniform3(plisse_testkit::any_finite()),
        ordinary in prop::array::uniform3(-4.0..4.0f64), pick in any::<bool>(),
    ) {
        let patch = Patch::new(3, 0.3);
        let x = x.map(DVec3::from);
        let a = if pick { a } else { ordinary };
        for director in [Director::Sine, Director::Tangent] {
            for element in patch.elements(director) {
                let x = element.nodes().map(|v| x[v.index()]);
                let y = join(&x, &a);
                prop_assert!(energy(&element, &y).is_finite());
                prop_assert!(gradient(&element, &y).iter().all(|v| v.is_finite()));
                prop_assert!((0.0..=1.0).contains(&element.longest_step(&x, &a, &x, &a)));
                for psd in Psd::ALL {
                    let h = hessian(&element, &y, psd);
                    prop_assert!(h.as_flattened().iter().all(|v| v.is_finite()), "{director:?} {psd:?} {h:?}");
                    if psd == Psd::Exact {
                        continue;
                    }
                    // Positions and angles in units in which both parts of the diagonal are alike:
                    // semidefinite in one unit is semidefinite in all. What was projected away
                    // counts, because its rounding stays.
                    let exact = hessian(&element, &y, Psd::Exact);
                    let part = |r: std::ops::Range<usize>| {
                        r.map(|i| h[i][i].abs().max(exact[i][i].abs())).fold(0.0, f64::max)
                    };
                    let (length, angle) = (part(0..18).sqrt(), part(18..21).sqrt());
                    let unit = |i: usize| {
                        let size = if i < 18 { length } else { angle };
                        if size > 1e-140 { 1.0 / size } else { 0.0 }
                    };
                    let scaled: [[f64; 21]; 21] = std::array::from_fn(|i| std::array::from_fn(|j| h[i][j] * unit(i) * unit(j)));
                    // Rows of three hinges are summed, each with its own pull-back. Near its pole
                    // the tangent law has entries of the orders tan³, tan² and tan, up to 1e18.
                    let tolerance = if director == Director::Tangent { 1e-9 } else { 1e-12 };
                    assert_semidefinite(&format!("{director:?}, {psd:?}"), &scaled, tolerance, 1.0);
                }
            }
        }
    }
}

/// Through a full fold with a director that stays: the hinge angle jumps, energy and gradient do
/// not.
#[test]
fn a_full_fold_is_passed_without_a_jump() {
    for (curved, a) in
        [(0.0, [0.0; 3]), (0.0, [0.9, -0.4, 0.2]), (0.4, [-1.3, 0.3, 2.0]), (0.4, [PI, 0.0, 0.5])]
    {
        let patch = Patch::new(3, curved);
        let element = patch.element(0, Director::Sine);
        let x = turned(turned(element.nodes().map(|v| patch.x[v]), 1, 0.8), 2, -0.5);
        let at = |angle: f64| join(&turned(x, 0, angle), &a);
        let steps = 4000;
        let mut before = (energy(&element, &at(2.0)), gradient(&element, &at(2.0)));
        let mut jumps = 0;
        for i in 1..=steps {
            let angle = 2.0 + 2.5 * f64::from(i) / f64::from(steps);
            let now = (energy(&element, &at(angle)), gradient(&element, &at(angle)));
            jumps += usize::from(
                (angle_at(&split(&at(angle)).0, 0) - angle_at(&split(&at(angle - 1e-3)).0, 0)).abs() > 3.0,
            );
            assert!((now.0 - before.0).abs() < 2e-2, "{a:?} {i}: {} {}", now.0, before.0);
            for k in 0..21 {
                assert!((now.1[k] - before.1[k]).abs() < 0.3, "{a:?} {i} {k}: {} {}", now.1[k], before.1[k]);
            }
            before = now;
        }
        assert!(jumps > 0, "the angle must have jumped");
    }
}

/// A corner passes the line of an edge, inside and at the boundary.
#[test]
fn a_corner_passes_an_edge_without_a_jump() {
    for neighbours in [1, 3] {
        let patch = Patch::new(neighbours, 0.2);
        let element = patch.element(0, Director::Sine);
        let rest = element.nodes().map(|v| patch.x[v]);
        let at = |t: f64| {
            let mut x = rest;
            x[2] = x[0].lerp(x[1], 0.4).lerp(x[2], t) + DVec3::Z * 0.3 * t;
            if neighbours < 3 {
                x[5] = x[2];
            }
            join(&x, &[0.7, -0.9, 1.4])
        };
        let mut before = (energy(&element, &at(-1.0)), gradient(&element, &at(-1.0)));
        let steps = 20_000;
        for i in 1..=steps {
            let y = at(2.0 * f64::from(i) / f64::from(steps) - 1.0);
            let now = (energy(&element, &y), gradient(&element, &y));
            assert!((now.0 - before.0).abs() < 2e-2, "{neighbours} {i}: {} {}", now.0, before.0);
            for k in 0..21 {
                assert!(
                    (now.1[k] - before.1[k]).abs() < 0.5,
                    "{neighbours} {i} {k}: {} {}",
                    now.1[k],
                    before.1[k]
                );
            }
            before = now;
        }
    }
}

/// Directors alone, by Newton's method with projected Hessians and halved steps.
fn relax(elements: &[KoiterBending], x: &Field<Vertices, DVec3>, start: Vec<f64>) -> (f64, Vec<f64>) {
    let mut alpha = start;
    let of = |alpha: &[f64], e: &KoiterBending| e.edges().map(|id| alpha[id.index()]);
    let total = |alpha: &[f64]| -> f64 {
        elements.iter().map(|e| e.energy_with_directors(&e.nodes().map(|v| x[v]), &of(alpha, e))).sum()
    };
    let n = alpha.len();
    for _ in 0..200 {
        let (mut g, mut h) = (vec![0.0; n], vec![vec![0.0; n]; n]);
        for e in elements {
            let all = e.evaluate_with_directors(&e.nodes().map(|v| x[v]), &of(&alpha, e), Psd::Abs);
            let ids = e.edges().map(Id::<Edges>::index);
            for i in 0..3 {
                g[ids[i]] += all.director_gradient[i];
                for j in 0..3 {
                    h[ids[i]][ids[j]] += all.director_hessian[i][j];
                }
            }
        }
        if max_abs(&g) < 1e-12 {
            break;
        }
        // Gaussian elimination: a few unknowns.
        let mut p: Vec<f64> = g.iter().map(|g| -g).collect();
        for (i, row) in h.iter_mut().enumerate() {
            row[i] += 1e-9;
        }
        for k in 0..n {
            for i in k + 1..n {
                let f = h[i][k] / h[k][k];
                for j in k..n {
                    h[i][j] -= f * h[k][j];
                }
                p[i] -= f * p[k];
            }
        }
        for k in (0..n).rev() {
            let sum: f64 = (k + 1..n).map(|j| h[k][j] * p[j]).sum();
            p[k] = (p[k] - sum) / h[k][k];
        }
        let before = total(&alpha);
        let mut t = 1.0;
        loop {
            let trial: Vec<f64> = alpha.iter().zip(&p).map(|(a, p)| a + t * p).collect();
            if total(&trial) <= before || t < 1e-10 {
                alpha = trial;
                break;
            }
            t *= 0.5;
        }
    }
    (total(&alpha), alpha)
}

/// From directors on the wrong side, minimisation finds the same state as from the mean normals.
#[test]
fn turned_directors_come_back() {
    for (curved, bend) in [(0.0, 0.3), (0.3, 0.5), (0.0, 1.2)] {
        let patch = Patch::new(3, curved);
        let x = Field::from_fn(6, |v| {
            let p = patch.x[v];
            DVec3::new(p.x, p.y, p.z + bend * (p.x * p.x - 0.7 * p.x * p.y))
        });
        let elements = patch.elements(Director::Sine);
        let n = patch.mesh.edge_count();
        let (lowest, rest) = relax(&elements, &x, vec![0.0; n]);
        assert!(max_abs(&rest) < 0.5 && lowest > 1e-3, "{lowest} {rest:?}");
        for k in 0..n {
            // Not exactly over: there the moment is zero.
            let start = (0..n).map(|i| if i == k { PI - 0.01 } else { 0.0 }).collect();
            let (found, alpha) = relax(&elements, &x, start);
            assert!((found / lowest - 1.0).abs() < 1e-9, "edge {k}: {found} instead of {lowest}, {alpha:?}");
        }
        let (found, _) = relax(&elements, &x, vec![2.9; n]);
        assert!((found / lowest - 1.0).abs() < 1e-9, "all: {found} instead of {lowest}");
    }
}

/// A held face and a free one: what the clamp holds is the slope of the free one, whatever the
/// angle of the clamp.
#[test]
fn clamped_directors_hold_the_slope() {
    let patch = Patch::new(1, 0.0);
    let edge = patch.element(0, Director::Sine).edges()[0];
    let (left, right) = patch.mesh.edges()[edge].faces;
    for director in [Director::Sine, Director::Tangent] {
        for held in [left, right.unwrap()] {
            let sign = if held == left { 1.0 } else { -1.0 };
            let elements: Vec<_> =
                patch.elements(director).into_iter().map(|e| e.with_clamp(&patch.rest, edge, held)).collect();
            let total = |theta: f64, alpha: f64| -> f64 {
                let x = patch.element(0, director).nodes().map(|v| patch.x[v]);
                let x3 = turned(x, 0, theta)[3];
                elements
                    .iter()
                    .map(|e| {
                        let x = e.nodes().map(|v| if v.index() == 3 { x3 } else { patch.x[v] });
                        e.energy_with_directors(&x, &e.edges().map(|id| if id == edge { alpha } else { 0.0 }))
                    })
                    .sum()
            };
            // The angle of the hinge, as the sign of the turn about the edge goes.
            let theta_of = |turn: f64| {
                angle_at(&turned(patch.element(0, director).nodes().map(|v| patch.x[v]), 0, turn), 0)
            };
            for alpha in [0.0, 0.3, -0.5] {
                let held_part = total(0.0, alpha) - 0.0;
                assert!(held_part >= 0.0);
                let lowest = (-600..=600)
                    .map(|i| f64::from(i) * 1e-3)
                    .min_by(|a, b| total(*a, alpha).total_cmp(&total(*b, alpha)))
                    .unwrap();
                let theta = theta_of(lowest);
                assert!((theta - sign * alpha).abs() < 1.5e-3, "{director:?} {alpha}: {theta}");
            }
            // Only the free face bends: half the angle would cost half as much in two faces.
            assert!(total(0.2, 0.0) > 0.0);
        }
    }
}

#[test]
fn laws_without_a_pole_need_no_limit_and_starts_beyond_it_have_none() {
    let patch = Patch::new(3, 0.0);
    let far = [DVec3::splat(1e3); 6];
    for director in [Director::Average, Director::Sine] {
        let element = patch.element(0, director);
        let x = element.nodes().map(|v| patch.x[v]);
        assert_eq!(element.longest_step(&x, &[0.0; 3], &far, &[9.0; 3]), 1.0);
    }
    let element = patch.element(0, Director::Tangent);
    let x = element.nodes().map(|v| patch.x[v]);
    assert_eq!(element.longest_step(&x, &[0.0; 3], &far, &[0.0; 3]), 1.0, "a translation turns nothing");
    assert_eq!(element.longest_step(&x, &[0.0, 2.0, 0.0], &far, &[-1.0; 3]), 0.0);
    // Beyond the pole the energy is that at the pole: no line search is tempted.
    let [inside, at, beyond] =
        [1.5, FRAC_PI_2, 2.0].map(|a| element.energy_with_directors(&x, &[a, 0.0, 0.0]));
    assert!(inside < 1e4 && at > 1e11 && beyond >= at, "{inside} {at} {beyond}");
}
