//! The solver against differences, against the constrained problem it was derived from, and against
//! a wave known in closed form.

use plisse_core::generate::{self, Diagonal};
use plisse_core::{Faces, Id, IsotropicSheet, PoissonRatio, Positive, Psd, RestShape, TriMesh};
use proptest::prelude::*;

use super::*;
use crate::curvature::Curvature;
use crate::energy::Quadrature;
use crate::free::FreeRule;
use crate::geometry::{BaseFace, BaseSheet};
use crate::start::WrinkleStart;

fn rubber(thickness: f64) -> IsotropicSheet {
    IsotropicSheet::new(
        Positive::new(1e7).unwrap(),
        PoissonRatio::literal(0.44),
        Positive::new(thickness).unwrap(),
    )
}

/// A ring that is pulled inwards and bulges: compressed around, stretched outwards everywhere. Its
/// rim is clamped.
fn ring(around: usize, across: usize) -> (BaseSheet, Vec<Id<Vertices>>) {
    let (mesh, uv) = generate::annulus(around, across, 0.5, 1.0, Diagonal::Right).unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let x = uv.map(|u| {
        let r = u.length();
        (*u * ((r - 0.025 / r) / r)).extend(0.15 * r * r)
    });
    let rim = mesh.vertices().filter(|v| uv[*v].length() > 0.99).collect();
    let sheet = BaseSheet::new(&mesh, rest.maps(), &x, rubber(2e-3), Curvature::SecondForm).unwrap();
    (sheet, rim)
}

/// The ring with two faces held free of wrinkles: two holes, three generators, of which some cross
/// each other's faces.
fn ring_problem(around: usize, across: usize) -> WrinkleProblem {
    let (sheet, rim) = ring(around, across);
    let count = sheet.mesh().face_count();
    let free = Field::from_fn(count, |face| face.index() == count / 3 || face.index() == count / 2);
    WrinkleProblem::with_free_faces(sheet, &free).unwrap().with_clamped(&rim).unwrap()
}

/// A sheet that is compressed across at one end and stretched at the other, bent along. Every face
/// may wrinkle; not every one should.
fn graded_problem() -> WrinkleProblem {
    let (mesh, uv) = generate::irregular_grid(9, 3, [1.0, 0.3], 2).unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let x = uv.map(|u| glam::DVec3::new(1.02 * u.x, (0.75 + 1.5 * u.x) * (u.y - 0.15), 0.3 * u.x * u.x));
    let sheet = BaseSheet::new(&mesh, rest.maps(), &x, rubber(2e-4), Curvature::QuadricFit).unwrap();
    let none = Field::filled(mesh.face_count(), false);
    WrinkleProblem::with_free_faces(sheet, &none).unwrap()
}

fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// A start with everything shaken, so that no symmetry hides a mistake.
fn shaken(system: &mut WrinkleSystem<'_>) -> Point {
    let mut point = start::start(system, WrinkleStart::Stress).unwrap();
    let step = noise(system.unknown_count(), 9);
    for (k, vertex) in system.free_vertices().iter().enumerate() {
        point.a[*vertex] = (0.02 + 0.004 * step[k]).max(0.0);
    }
    let mut phi = point.phi.clone();
    system.add_phases(&step, 0.7, &mut phi);
    let c = point.c.iter().zip(system.periods(&step)).map(|(c, s)| c + s).collect();
    Point::new(system, point.a, phi, c)
}

/// The state moved along one unknown.
fn moved(system: &WrinkleSystem<'_>, from: &Point, unknown: usize, by: f64) -> Point {
    let mut step = vec![0.0; system.unknown_count()];
    step[unknown] = by;
    let (mut a, mut phi) = (from.a.clone(), from.phi.clone());
    if let Some(vertex) = system.free_vertices().get(unknown) {
        a[*vertex] += by;
    }
    system.add_phases(&step, 1.0, &mut phi);
    let c = from.c.iter().zip(system.periods(&step)).map(|(c, s)| c + s).collect();
    Point::new(system, a, phi, c)
}

#[test]
fn gradient_and_matrix_are_derivatives_of_the_energy() {
    let problem = ring_problem(10, 3);
    assert_eq!(problem.complex().betti(), 3);
    let mut system = WrinkleSystem::new(&problem).unwrap();
    let n = system.unknown_count();
    let point = shaken(&mut system);
    let mut gradient = vec![0.0; n];
    system.gradient(&point.a, &point.omega, &mut gradient);
    system.assemble(&point.a, &point.omega, FaceHessian::Exact);
    system.load(0.0, 0.0, 0.0, &vec![false; n]);

    let kinds = [0..system.amplitude_count(), system.amplitude_count()..n - 3, n - 3..n];
    for kind in kinds.clone() {
        let largest = gradient[kind.clone()].iter().fold(0.0f64, |m, g| m.max(g.abs()));
        assert!(largest > 0.0 && !kind.is_empty());
        for i in kind {
            // Steps of a thousandth of what is typical: errors of the fourth order are about 1e-11,
            // rounding about 1e-12.
            let h = if i < system.amplitude_count() { 2e-5 } else { 1e-3 };
            let at = |s: f64| moved(&system, &point, i, s * h);
            let energy = |s: f64| {
                let p = at(s);
                system.energy(&p.a, &p.omega)
            };
            let slope = (8.0 * (energy(1.0) - energy(-1.0)) - (energy(2.0) - energy(-2.0))) / (12.0 * h);
            assert!((slope - gradient[i]).abs() < 1e-7 * largest, "{i}: {slope} {}", gradient[i]);

            let derivative = |s: f64| {
                let (p, mut g) = (at(s), vec![0.0; n]);
                system.gradient(&p.a, &p.omega, &mut g);
                g
            };
            let [b, c, d, e] = [-2.0, -1.0, 1.0, 2.0].map(derivative);
            let column: Vec<f64> =
                (0..n).map(|j| (8.0 * (d[j] - c[j]) - (e[j] - b[j])) / (12.0 * h)).collect();
            for rows in &kinds {
                let scale = column[rows.clone()].iter().fold(0.0f64, |m, g| m.max(g.abs()));
                for j in rows.clone() {
                    let found = system.matrix_entry(i, j);
                    assert!(
                        (found - column[j]).abs() < 1e-7 * scale + 1e-12,
                        "{i} {j}: {found} {}",
                        column[j]
                    );
                }
            }
        }
    }
}

#[test]
fn projected_matrices_are_positive_definite_where_the_exact_one_is_not() {
    let problem = ring_problem(10, 3);
    let mut system = WrinkleSystem::new(&problem).unwrap();
    let point = shaken(&mut system);
    let none = vec![false; system.unknown_count()];
    system.assemble(&point.a, &point.omega, FaceHessian::Exact);
    system.load(0.0, 0.0, 0.0, &none);
    assert!(!system.factorise());
    for policy in [FaceHessian::Projected(Psd::Clamp), FaceHessian::Scaled(Psd::Abs, 0.02)] {
        system.assemble(&point.a, &point.omega, policy);
        system.load(1.0, 1e-10, 1e-10, &none);
        assert!(system.factorise());
    }
    // The solution solves: residual of the last matrix.
    let n = system.unknown_count();
    let b = noise(n, 4);
    let mut x = b.clone();
    system.solve(&mut x);
    for i in 0..n {
        let terms = (0..n).map(|j| system.matrix_entry(i, j) * x[j]);
        let size: f64 = terms.clone().map(f64::abs).sum::<f64>().max(1.0);
        assert!((terms.sum::<f64>() - b[i]).abs() < 1e-11 * size);
    }
}

/// What must hold of every answer.
#[track_caller]
fn check(problem: &WrinkleProblem, field: &WrinkleField) {
    assert!(field.report.converged(), "{:?}", field.report.run().map(|run| (run.end, run.kkt)));
    assert!(field.amplitude.as_slice().iter().all(|a| *a >= 0.0));
    for (vertex, held) in problem.held().iter() {
        assert!(!held || field.amplitude[vertex] == 0.0);
    }
    let largest = field.omega.as_slice().iter().fold(1.0f64, |m, w| m.max(w.abs()));
    for (face, kept) in problem.kept().iter() {
        let curl = problem.complex().curl(face, &field.omega).unwrap();
        // Phases are sums of frequencies over the mesh: some ten times as large, each right to a
        // rounding.
        assert!(!kept || curl.abs() < 1e-13 * largest, "{face}: {curl:e}");
    }
    assert_eq!(problem.complex().omega(&field.phi, &field.periods).unwrap(), field.omega);
    let energy = field.report.terms.total();
    if let Some(run) = field.report.run() {
        assert!((run.energy - energy).abs() < 1e-13 * energy);
        for pair in run.iterations.windows(2) {
            assert!(pair[1].energy <= pair[0].energy * (1.0 + 1e-13));
        }
    }
}

#[test]
fn both_starts_and_projections_find_a_minimum() {
    let problem = ring_problem(24, 4);
    for projection in [FaceProjection::Clamp, FaceProjection::ScaledAbs] {
        let settings = WrinkleSettings { projection, ..Default::default() };
        let field = solve_wrinkles(&problem, &settings).unwrap();
        check(&problem, &field);
        assert_eq!(field.report.runs.len(), 2);
        let energies: Vec<f64> = field.report.runs.iter().map(|run| run.energy).collect();
        let lowest = energies.iter().copied().fold(f64::MAX, f64::min);
        assert_eq!(field.report.run().unwrap().energy, lowest);
        // Most of the energy is the tension outwards, which wrinkles do not relieve.
        assert!(lowest < 0.95 * field.report.smooth_energy, "{energies:?} {}", field.report.smooth_energy);
        // Newton's convergence at the end: the last steps are exact and whole.
        for run in field.report.runs.iter().filter(|run| run.end == WrinkleEnd::Converged) {
            let last = run.iterations.last().unwrap();
            assert!(last.part == 0.0 && last.length == 1.0, "{last:?}");
        }
        assert_eq!(field, solve_wrinkles(&problem, &settings).unwrap());
    }
}

#[test]
fn answers_are_answers_of_themselves() {
    let problem = ring_problem(24, 4);
    let settings = WrinkleSettings::default();
    let field = solve_wrinkles(&problem, &settings).unwrap();
    let again = solve_wrinkles_from(&problem, &field.amplitude, &field.omega, &settings).unwrap();
    check(&problem, &again);
    let run = again.report.run().unwrap();
    assert!(run.start.is_none() && run.iterations.len() <= 1);
    // From near by it is found again, quickly, whatever the sign of amplitudes at zero.
    let near = field.amplitude.map(|a| if *a > 0.0 { 1.1 * a } else { -1e-3 });
    let again = solve_wrinkles_from(&problem, &near, &field.omega, &settings).unwrap();
    check(&problem, &again);
    let (found, energy) = (again.report.terms.total(), field.report.terms.total());
    assert!((found - energy).abs() < 1e-11 * energy, "{found} {energy}");
    assert!(again.report.run().unwrap().iterations.len() <= 10);

    let mut broken = field.amplitude.clone();
    broken[Id::new(3)] = f64::NAN;
    assert_eq!(
        solve_wrinkles_from(&problem, &broken, &field.omega, &settings).unwrap_err().to_string(),
        "in the start, the amplitude of vertex 3 is not finite: leave it to the solver, or repair the input"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_base_gives_finite_wrinkles(
        shifts in prop::collection::vec(-1.0..1.0f64, 3 * 20),
        size in 0.0..0.6f64,
        collapse in prop::sample::select(vec![1.0, 0.9, 1e-3, 0.0]),
        thickness in -6.0..0.0f64,
        poisson in -0.9..0.9f64,
    ) {
        let (mesh, uv) = generate::grid(4, 3, [1.0, 0.7], Diagonal::Alternating).unwrap();
        let rest = RestShape::from_uv(&mesh, &uv).unwrap();
        let x = Field::from_fn(mesh.vertex_count(), |v| {
            let [a, b, c] = [0, 1, 2].map(|i| 0.25 * size * shifts[3 * v.index() + i]);
            glam::DVec3::new(uv[v].x + a, collapse * uv[v].y + b, c)
        });
        let [young, thickness] = [1e6, 10f64.powf(thickness)].map(|value| Positive::new(value).unwrap());
        let material = IsotropicSheet::new(young, PoissonRatio::new(poisson).unwrap(), thickness);
        let sheet = BaseSheet::new(&mesh, rest.maps(), &x, material, Curvature::QuadricFit).unwrap();
        let problem = WrinkleProblem::new(sheet, FreeRule::Authors).unwrap();
        let settings = WrinkleSettings { max_iterations: 60, ..Default::default() };
        let field = solve_wrinkles(&problem, &settings).unwrap();
        prop_assert!(field.amplitude.as_slice().iter().all(|a| a.is_finite() && *a >= 0.0));
        prop_assert!(field.omega.as_slice().iter().all(|w| w.is_finite()));
        prop_assert!(field.report.terms.total().is_finite());
        for run in &field.report.runs {
            prop_assert!(run.kkt.relative.is_finite());
            if let Some(first) = run.iterations.first() {
                prop_assert!(run.energy <= first.energy * (1.0 + 1e-12));
            }
        }
    }
}

#[test]
fn nothing_to_wrinkle() {
    let (sheet, _) = ring(10, 2);
    let everywhere = sheet.mesh().vertices().collect::<Vec<_>>();
    let free = Field::filled(sheet.mesh().face_count(), true);
    for problem in [
        WrinkleProblem::with_free_faces(sheet.clone(), &free).unwrap(),
        WrinkleProblem::new(sheet, FreeRule::Authors).unwrap().with_clamped(&everywhere).unwrap(),
    ] {
        let field = solve_wrinkles(&problem, &WrinkleSettings::default()).unwrap();
        check(&problem, &field);
        assert!(field.report.is_trivial() && field.report.runs.is_empty());
        assert!(field.amplitude.as_slice().iter().chain(field.omega.as_slice()).all(|value| *value == 0.0));
        assert_eq!(field.report.terms.total(), field.report.smooth_energy);
    }
}

#[test]
fn a_sheet_at_rest_has_no_wrinkles() {
    // Nothing is compressed and nothing is free of wrinkles by itself: zero energy, zero amplitude,
    // at once.
    let (mesh, uv) = generate::grid(4, 3, [1.0, 0.7], Diagonal::Right).unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let sheet =
        BaseSheet::new(&mesh, rest.maps(), &generate::embed(&uv), rubber(1e-3), Curvature::QuadricFit)
            .unwrap();
    let none = Field::filled(mesh.face_count(), false);
    let problem = WrinkleProblem::with_free_faces(sheet, &none).unwrap();
    let field = solve_wrinkles(&problem, &WrinkleSettings::default()).unwrap();
    let largest = field.amplitude.as_slice().iter().fold(0.0f64, |m, a| m.max(*a));
    assert!(largest < 1e-9, "{largest}");
    assert!(field.report.terms.total() < 1e-20);
}

#[test]
fn rounding_does_not_beat_convergence() {
    let run = |end, energy| WrinkleRun {
        start: None,
        end,
        iterations: Vec::new(),
        energy,
        kkt: Kkt::default(),
        active: 0,
    };
    let converged = run(WrinkleEnd::Converged, 1.0);
    for end in [WrinkleEnd::Stalled, WrinkleEnd::IterationLimit] {
        let (near, lower) = (run(end, 1.0 - 1e-12), run(end, 0.9));
        assert!(!preferred(&near, &converged, 1e-8) && preferred(&converged, &near, 1e-8));
        assert!(preferred(&lower, &converged, 1e-8) && !preferred(&converged, &lower, 1e-8));
    }
    let lower = run(WrinkleEnd::Converged, 1.0 - 1e-12);
    assert!(preferred(&lower, &converged, 1e-8) && !preferred(&converged, &lower, 1e-8));
    assert!(!preferred(&converged, &converged, 1e-8), "the first of equal ones");
}

#[test]
fn states_without_finite_numbers_are_no_answers() {
    let problem = ring_problem(8, 2);
    let mut system = WrinkleSystem::new(&problem).unwrap();
    let a = Field::from_fn(problem.held().len(), |v| if problem.held()[v] { 0.0 } else { 1e-3 });
    let phi = vec![f64::NAN; problem.complex().node_count()];
    let point = Point::new(&system, a, phi, vec![0.0; problem.complex().betti()]);
    let field = best_of(&mut system, vec![(None, point)], &WrinkleSettings::default());
    let report = &field.report;
    assert_eq!(report.runs[0].end, WrinkleEnd::NotFinite);
    assert!(!report.converged() && !report.is_trivial() && report.run().is_none());
    assert!(field.amplitude.as_slice().iter().chain(field.omega.as_slice()).all(|x| *x == 0.0));
    assert_eq!(report.terms.total(), report.smooth_energy);
}

#[test]
fn refusals_name_the_setting_and_the_vertex() {
    let problem = ring_problem(8, 2);
    let refused = |settings: &WrinkleSettings| solve_wrinkles(&problem, settings).unwrap_err().to_string();
    let settings = WrinkleSettings { tolerance: 0.0, ..Default::default() };
    assert_eq!(
        refused(&settings),
        "the setting `tolerance` of the wrinkle solver is 0: give a positive number such as 1e-8"
    );
    let settings = WrinkleSettings { starts: Vec::new(), ..Default::default() };
    assert_eq!(refused(&settings), "the setting `starts` of the wrinkle solver is 0: give one or more");
    let settings = WrinkleSettings { shrink: f64::NAN, ..Default::default() };
    assert!(refused(&settings).contains("`shrink`"));
    let settings = WrinkleSettings { periods: Periods::Held, ..Default::default() };
    assert!(refused(&settings).contains("use `solve_wrinkles_from`"));
    assert_eq!(WrinkleSettings::default().projection, FaceProjection::default());
    assert_eq!(
        problem.with_clamped(&[Id::new(24)]).unwrap_err().to_string(),
        "vertex 24 cannot be clamped: the mesh has 24 vertices (0 to 23)"
    );
}

/// A tube, wider and shorter than at rest. Crests run around it, along the tension, and are bent
/// with curvature `1/R`; the sum of the energies per area of a wave of amplitude `a` and frequency
/// `k` along the axis is, with `q = a²k²`, `M = α/2 tr S + β λ₂`,
///
/// ```text
/// h/4 { q M + C_κ q/k² + c q²/4 } + h³/24 c q k²     least for   k⁴ = 6 C_κ/(c h²),   q = -2/c (M + 2 C_κ/k²)
/// ```
#[test]
fn wave_on_a_tube_is_the_one_known_in_closed_form() {
    let (widen, shorten, thickness) = (1.02, 0.95, 1e-3);
    let tube = generate::cylinder(96, 6, 1.0, 0.42, Diagonal::Alternating).unwrap();
    let rest = RestShape::from_corner_uv(&tube.mesh, &tube.uv).unwrap();
    let x = tube.positions.map(|p| glam::DVec3::new(widen * p.x, widen * p.y, shorten * p.z));
    let material = rubber(thickness);
    let sheet = BaseSheet::new(&tube.mesh, rest.maps(), &x, material, Curvature::QuadricFit).unwrap();
    let curvature = sheet.faces().as_slice().iter().map(BaseFace::curvature).sum::<f64>()
        / sheet.mesh().face_count() as f64;
    // A quadric over five rings, a third of a radian to either side, takes the circle for a
    // parabola.
    assert!((curvature * widen - 1.0).abs() < 0.04, "{curvature}");

    let (alpha, beta) = (material.alpha(), material.beta());
    let c = 0.5 * alpha + beta;
    let (along, across) = (widen * widen - 1.0, shorten * shorten - 1.0);
    let bent = curvature * (1.0 + along);
    let cost = 4.0 * beta * (alpha + beta) / (alpha + 2.0 * beta) * bent * bent;
    let k = (6.0 * cost / (c * thickness * thickness)).powf(0.25);
    let m = 0.5 * alpha * (along + across) + beta * across;
    let amplitude = (-2.0 / c * (m + 2.0 * cost / (k * k))).sqrt() / k;

    let problem = WrinkleProblem::new(sheet, FreeRule::Authors).unwrap();
    let field = solve_wrinkles(&problem, &WrinkleSettings::default()).unwrap();
    check(&problem, &field);
    // Both starts have other wavelengths. Straight steps along the valley of equal `a k` took 12
    // and 10.
    let steps: Vec<_> = field.report.runs.iter().map(|run| run.iterations.len()).collect();
    assert!(steps[0] <= 10 && steps[1] <= 8, "{steps:?}");
    assert_eq!(field.report.betti, 1);
    assert!(field.periods[0].abs() < 1e-3, "waves run along the tube: {}", field.periods[0]);
    // The fitted curvature differs a little between faces, and with it amplitude and frequency.
    for (vertex, a) in field.amplitude.iter() {
        assert!((a / amplitude - 1.0).abs() < 1e-3, "{vertex}: {a} instead of {amplitude}");
    }
    for (face, _) in tube.mesh.faces().iter() {
        let omega = problem.sheet().face_omega(face, &field.omega);
        let w = problem.sheet().faces()[face].covector(omega).length();
        assert!((w / k - 1.0).abs() < 1e-3, "{face}: {w} instead of {k}");
    }
}

/// The problem as it is written down: all frequencies are unknowns, their curl is a constraint with
/// a multiplier. Dense.
struct Literal<'a> {
    problem: &'a WrinkleProblem,
    free: Vec<Id<Vertices>>,
    curls: Vec<Vec<f64>>,
}

impl Literal<'_> {
    fn new(problem: &WrinkleProblem) -> Literal<'_> {
        let complex = problem.complex();
        let free: Vec<_> = problem.held().iter().filter(|(_, held)| !**held).map(|(v, _)| v).collect();
        let kept = problem.kept().iter().filter(|(_, kept)| **kept).map(|(face, _)| face);
        let curls = kept.map(|face: Id<Faces>| {
            let mut row = vec![0.0; complex.edges().len()];
            complex.face_steps(face).iter().for_each(|s| row[complex.edge_place(s.edge).unwrap()] = s.sign);
            row
        });
        Literal { problem, curls: curls.collect(), free }
    }

    fn state(&self, x: &[f64]) -> (Field<Vertices, f64>, Field<Edges, f64>) {
        let (mesh, n) = (self.problem.sheet().mesh(), self.free.len());
        let mut a = Field::filled(mesh.vertex_count(), 0.0);
        let mut omega = Field::filled(mesh.edge_count(), 0.0);
        self.free.iter().zip(x).for_each(|(vertex, value)| a[*vertex] = *value);
        self.problem
            .complex()
            .edges()
            .iter()
            .zip(&x[n..])
            .for_each(|(edge, value)| omega[edge.edge] = *value);
        (a, omega)
    }

    fn energy(&self, x: &[f64]) -> f64 {
        let (a, omega) = self.state(x);
        self.problem.sheet().terms(&a, &omega, self.problem.quadrature()).total()
    }

    /// Gradient and Hessian by all unknowns.
    fn derivatives(&self, x: &[f64], psd: Psd) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (a, omega) = self.state(x);
        let (mesh, sheet, complex) =
            (self.problem.sheet().mesh(), self.problem.sheet(), self.problem.complex());
        let (mut g, mut h) = (vec![0.0; x.len()], vec![vec![0.0; x.len()]; x.len()]);
        for (face, _) in self.problem.kept().iter().filter(|(_, kept)| **kept) {
            let corners = mesh.faces()[face];
            let (fa, fw, q) =
                (corners.map(|v| a[v]), sheet.face_omega(face, &omega), self.problem.quadrature());
            let local = sheet.faces()[face].gradient(fa, fw, q);
            let block = plisse_core::project_numeric(&sheet.faces()[face].hessian(fa, fw, q), psd);
            let steps = complex.face_steps(face);
            let place = |i: usize| match i {
                0..3 => self.free.iter().position(|v| *v == corners[i]).map(|at| (at, 1.0)),
                3 => complex.edge_place(steps[2].edge).map(|at| (self.free.len() + at, steps[2].sign)),
                _ => complex.edge_place(steps[1].edge).map(|at| (self.free.len() + at, -steps[1].sign)),
            };
            for (i, si) in (0..5).filter_map(|i| Some((i, place(i)?))) {
                g[si.0] += si.1 * local[i];
                for (j, sj) in (0..5).filter_map(|j| Some((j, place(j)?))) {
                    h[si.0][sj.0] += si.1 * sj.1 * block[i][j];
                }
            }
        }
        (g, h)
    }

    /// `[H Cᵀ; C 0] [d; λ] = [-g; 0]`, active amplitudes held; the step, and the slope left over
    /// after the multipliers.
    fn step(&self, g: &[f64], h: &[Vec<f64>], active: &[bool]) -> (Vec<f64>, Vec<f64>) {
        let (n, m, first) = (g.len(), self.curls.len(), self.free.len());
        let mut matrix = vec![vec![0.0; n + m + 1]; n + m];
        for i in 0..n {
            for j in 0..n {
                matrix[i][j] = if active[i] || active[j] { f64::from(u8::from(i == j)) } else { h[i][j] };
            }
            matrix[i][n + m] = if active[i] { 0.0 } else { -g[i] };
        }
        for (k, row) in self.curls.iter().enumerate() {
            for (e, value) in row.iter().enumerate() {
                matrix[n + k][first + e] = *value;
                matrix[first + e][n + k] = *value;
            }
        }
        let solution = eliminate(matrix);
        let residual = |i: usize| {
            let ties = |k: usize| if i >= first { self.curls[k][i - first] * solution[n + k] } else { 0.0 };
            if active[i] { 0.0 } else { g[i] + (0..m).map(ties).sum::<f64>() }
        };
        ((solution[..n]).to_vec(), (0..n).map(residual).collect())
    }

    fn minimise(&self, mut x: Vec<f64>) -> (Vec<f64>, f64) {
        let n = self.free.len();
        for _ in 0..200 {
            let energy = self.energy(&x);
            let mut left = f64::MAX;
            let mut moved = false;
            for psd in [Psd::Exact, Psd::Abs] {
                let (g, mut h) = self.derivatives(&x, psd);
                // Frequencies where nothing wrinkles have no energy: any value will do, so they
                // stay.
                let mean = h.iter().enumerate().skip(n).map(|(i, row)| row[i].abs()).sum::<f64>();
                h.iter_mut().enumerate().skip(n).for_each(|(i, row)| row[i] += 1e-12 * mean);
                let active: Vec<bool> = (0..x.len()).map(|i| i < n && x[i] <= 0.0 && g[i] >= 0.0).collect();
                let (d, residual) = self.step(&g, &h, &active);
                left = residual.iter().take(n).fold(0.0f64, |m, r| m.max(r.abs()));
                // What is left to gain is of the order of the square of this, far below the
                // rounding of energies.
                let scale = x[..n].iter().fold(0.0f64, |m, a| m.max(*a));
                if left * scale < 1e-9 * energy {
                    return (x, energy);
                }
                let slope: f64 = g.iter().zip(&d).map(|(g, d)| g * d).sum();
                let mut length = 1.0;
                while slope < 0.0 && length > 1e-9 && !moved {
                    let trial: Vec<f64> = (0..x.len())
                        .map(|i| x[i] + length * d[i])
                        .enumerate()
                        .map(|(i, value)| if i < n { value.max(0.0) } else { value })
                        .collect();
                    if self.energy(&trial) < energy + 1e-4 * length * slope.max(-energy) {
                        x = trial;
                        moved = true;
                    }
                    length *= 0.5;
                }
                if moved {
                    break;
                }
            }
            assert!(moved, "no step at a residual of {left:e}");
        }
        panic!("the reference did not converge");
    }
}

/// Gaussian elimination with row pivots; the last column is the right side.
fn eliminate(mut m: Vec<Vec<f64>>) -> Vec<f64> {
    let n = m.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| m[*i][k].abs().total_cmp(&m[*j][k].abs())).unwrap();
        m.swap(k, pivot);
        let row = m[k].clone();
        for other in &mut m[k + 1..] {
            let factor = other[k] / row[k];
            if factor != 0.0 {
                (k..=n).for_each(|j| other[j] -= factor * row[j]);
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        x[k] = (m[k][n] - (k + 1..n).map(|j| m[k][j] * x[j]).sum::<f64>()) / m[k][k];
    }
    x
}

#[track_caller]
fn check_literal(problem: &WrinkleProblem, field: &WrinkleField) {
    let literal = Literal::new(problem);
    let reached = |a: &Field<Vertices, f64>, omega: &Field<Edges, f64>| {
        let frequencies = problem.complex().edges().iter().map(|edge| omega[edge.edge]);
        let x = literal.free.iter().map(|v| a[*v]).chain(frequencies).collect();
        literal.minimise(x)
    };
    // From the answer it does not move.
    let (x, energy) = reached(&field.amplitude, &field.omega);
    let report = field.report.terms.total();
    assert!((energy - report).abs() < 1e-12 * report, "{energy} {report}");
    // From elsewhere it comes back to it: amplitudes a fifth larger, frequencies (still closed) a
    // tenth smaller.
    let (y, energy) = reached(&field.amplitude.map(|a| 1.2 * a), &field.omega.map(|w| 0.9 * w));
    assert!((energy - report).abs() < 1e-10 * report, "{energy} {report}");
    let largest = x[..literal.free.len()].iter().fold(0.0f64, |m, a| m.max(*a));
    for (a, b) in x.iter().zip(&y).take(literal.free.len()) {
        assert!((a - b).abs() < 1e-4 * largest);
    }
}

#[test]
fn constrained_problem_has_the_same_minimum() {
    let problem = ring_problem(12, 3).with_quadrature(Quadrature::ThreePoint);
    let field = solve_wrinkles(&problem, &WrinkleSettings::default()).unwrap();
    check(&problem, &field);
    check_literal(&problem, &field);
}

#[test]
fn amplitudes_at_zero_are_where_the_energy_would_grow() {
    let problem = graded_problem();
    let field = solve_wrinkles(&problem, &WrinkleSettings::default()).unwrap();
    check(&problem, &field);
    check_literal(&problem, &field);
    let run = field.report.run().unwrap();
    let zeros: Vec<_> =
        field.amplitude.iter().filter(|(_, a)| **a == 0.0).map(|(vertex, _)| vertex).collect();
    assert_eq!(zeros.len(), run.active);
    assert!((3..field.amplitude.len() - 3).contains(&run.active), "{}", run.active);
    // The steps of active amplitudes are nothing, those of the others are not disturbed by them.
    let mut system = WrinkleSystem::new(&problem).unwrap();
    let held: Vec<bool> = (0..system.unknown_count())
        .map(|k| system.free_vertices().get(k).is_some_and(|vertex| zeros.contains(vertex)))
        .collect();
    system.assemble(&field.amplitude, &field.omega, FaceHessian::Exact);
    system.load(0.0, 0.0, 1e-13, &held);
    for i in 0..held.len() {
        for j in (0..held.len()).filter(|j| held[i] || held[*j]) {
            assert_eq!(system.matrix_entry(i, j), f64::from(u8::from(i == j)));
        }
    }
    assert!(system.factorise(), "the minimum is one");
}

#[test]
fn mesh_without_faces_of_some_vertices() {
    let mesh = TriMesh::with_isolated_vertices(6, &[[0, 1, 2], [2, 1, 3]]).unwrap();
    let x = Field::from_vec(
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [5.0, 5.0], [6.0, 5.0]]
            .map(|[x, y]| glam::DVec3::new(x, y, 0.0))
            .to_vec(),
    );
    let rest = RestShape::from_positions(&mesh, &x).unwrap();
    let base = x.map(|p| glam::DVec3::new(1.01 * p.x, 0.9 * p.y, 0.0));
    let sheet = BaseSheet::new(&mesh, rest.maps(), &base, rubber(1e-2), Curvature::SecondForm).unwrap();
    let problem = WrinkleProblem::new(sheet, FreeRule::Authors).unwrap().with_clamped(&[Id::new(0)]).unwrap();
    let field = solve_wrinkles(&problem, &WrinkleSettings::default()).unwrap();
    assert!(field.amplitude.as_slice().iter().all(|a| a.is_finite() && *a >= 0.0));
    assert!(field.amplitude.as_slice()[4..].iter().all(|a| *a == 0.0));
}
