//! From frequencies to waves that can be counted on the surface.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use plisse_core::generate::{self, Diagonal};
use plisse_core::{Field, IsotropicSheet, PoissonRatio, Positive, RestShape};
use plisse_wrinkle::{
    BaseSheet, Curvature, FreeRule, Periods, PhaseFaces, PhaseOptions, PhaseProblem, Profile, SurfaceOptions,
    WrinkleField, WrinkleProblem, WrinkleSettings, recover_phase, solve_wrinkles, solve_wrinkles_from,
    wrinkled_surface,
};

/// A ring that is pulled inwards and bulges: compressed around, stretched outwards. Solved,
/// rounded, subdivided: as many crests along the inner boundary as the phase winds.
#[test]
fn crests_of_a_ring_are_as_many_as_the_phase_has_turns() {
    let (mesh, uv) = generate::annulus(32, 4, 0.5, 1.0, Diagonal::Alternating).unwrap();
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let x = uv.map(|u| {
        let r = u.length();
        (*u * ((r - 0.025 / r) / r)).extend(0.15 * r * r)
    });
    let material = IsotropicSheet::new(
        Positive::new(1e7).unwrap(),
        PoissonRatio::literal(0.44),
        Positive::new(2e-3).unwrap(),
    );
    let sheet = BaseSheet::new(&mesh, rest.maps(), &x, material, Curvature::SecondForm).unwrap();
    let problem = WrinkleProblem::new(sheet, FreeRule::default()).unwrap();
    let field = solve_wrinkles(&problem, &WrinkleSettings::default()).unwrap();
    assert!(field.report.converged() && !field.report.is_trivial());

    let free = problem.kept().map(|kept| !kept);
    let input = PhaseProblem {
        mesh: &mesh,
        rest: rest.maps(),
        amplitude: &field.amplitude,
        omega: &field.omega,
        free: &free,
    };
    let phase = recover_phase(&input, &PhaseOptions::default()).unwrap();
    let loops = mesh.boundary_loops();
    let inner = loops.iter().min_by(|a, b| uv[a[0]].length().total_cmp(&uv[b[0]].length())).unwrap();
    let turns = phase.field.winding(&mesh, inner).unwrap().unsigned_abs() as usize;
    assert!((5..40).contains(&turns), "{turns}");

    // On the solver's faces the periods are the solver's, rounded; and rounding costs little of
    // what the wrinkles have relieved.
    let options = PhaseOptions { faces: PhaseFaces::Wrinkling, ..PhaseOptions::default() };
    let whole = recover_phase(&input, &options).unwrap();
    for ((real, k), period) in whole.real_waves.iter().zip(&whole.waves).zip(&field.periods) {
        assert!((real - period / std::f64::consts::TAU).abs() < 1e-8, "{real} {period}");
        assert!((*k as f64 - real).abs() <= 0.5 + 1e-9);
    }
    let energy = |omega| problem.sheet().terms(&field.amplitude, omega, problem.quadrature()).total();
    let (real, rounded) = (energy(&field.omega), energy(&whole.omega));
    let relieved = field.report.smooth_energy - real;
    assert!(real <= rounded && rounded - real < 0.02 * relieved, "{real} {rounded} {relieved}");

    // With the numbers of waves held the rest adapts: better than rounding alone, not better than
    // without whole numbers.
    let held = WrinkleSettings { periods: Periods::Held, ..WrinkleSettings::default() };
    let adapted = solve_wrinkles_from(&problem, &field.amplitude, &whole.omega, &held).unwrap();
    assert!(adapted.report.converged());
    for (period, wanted) in adapted.periods.iter().zip(whole.periods()) {
        assert!((period - wanted).abs() < 1e-10 * (1.0 + wanted.abs()), "{period} {wanted}");
    }
    let energy = |f: &WrinkleField| f.report.terms.total();
    assert!(
        energy(&field) < energy(&adapted) && energy(&adapted) < rounded,
        "{} {}",
        energy(&adapted),
        rounded
    );
    let again = PhaseProblem { amplitude: &adapted.amplitude, omega: &adapted.omega, ..input };
    let again = recover_phase(&again, &PhaseOptions::default()).unwrap();
    assert!(again.rounding() < 1e-9 && again.deviation < 1e-8, "{} {}", again.rounding(), again.deviation);
    // Without holding them they go back.
    let released =
        solve_wrinkles_from(&problem, &adapted.amplitude, &adapted.omega, &WrinkleSettings::default())
            .unwrap();
    assert!((energy(&released) - energy(&field)).abs() < 1e-7 * relieved);

    let options = SurfaceOptions { levels: 4, profile: Profile::Cosine, ..SurfaceOptions::default() };
    let surface = wrinkled_surface(&mesh, &x, &field.amplitude, &phase.field, &options).unwrap();
    assert!(surface.largest_step < 1.0, "{}", surface.largest_step);
    let loops = surface.mesh.boundary_loops();
    let radius = |v| surface.base[v].truncate().length();
    let inner = loops.iter().min_by(|a, b| radius(a[0]).total_cmp(&radius(b[0]))).unwrap();
    let heights: Vec<f64> = inner.iter().map(|v| (surface.x[*v] - surface.base[*v]).z).collect();
    let ups =
        (0..heights.len()).filter(|i| heights[*i] < 0.0 && heights[(i + 1) % heights.len()] >= 0.0).count();
    assert_eq!(ups, turns);
    // No vertex is farther from its base than its amplitude, and some are as far.
    let largest = surface.amplitude.as_slice().iter().fold(0.0, |m: f64, a| m.max(*a));
    let mut farthest = 0.0f64;
    for v in surface.mesh.vertices() {
        let off = surface.x[v].distance(surface.base[v]);
        assert!(off <= surface.amplitude[v] * (1.0 + 1e-9));
        farthest = farthest.max(off);
    }
    assert!(farthest > 0.95 * largest);

    // Without amplitude there is nothing to recover, and the base is what is left.
    let flat = Field::filled(mesh.vertex_count(), 0.0);
    let nothing =
        recover_phase(&PhaseProblem { amplitude: &flat, ..input }, &PhaseOptions::default()).unwrap();
    let surface = wrinkled_surface(&mesh, &x, &flat, &nothing.field, &options).unwrap();
    assert_eq!(surface.x, surface.base);
}
