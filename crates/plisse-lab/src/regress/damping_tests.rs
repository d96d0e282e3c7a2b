//! Strain-rate damping against `fixtures/vectors/damping.json`: elements, the spring of SO18's
//! figure 2, the cloth of its figure 3.

use glam::{DVec2, DVec3};
use plisse::core::{ElementStep, Id, Positive, Psd, StepElement, TriangleMap, Vertices};
use plisse::damping::{
    Dissipation, FibreStrain, GreenStrain, HingeAngle, OnTriangle, PlaneStrain, PositionJacobian, RodJoint,
    Strain, StretchTensor, Viscosity,
};
use plisse_testkit::assert_close;
use serde_json::Value;

use super::{spring, swing};

fn vectors() -> Value {
    let path = crate::repository_root().join("fixtures/vectors/damping.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        value => vec![value.as_f64().unwrap()],
    }
}

fn points<const V: usize>(value: &Value) -> [DVec3; V] {
    let x = numbers(value);
    std::array::from_fn(|i| DVec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]))
}

fn flat<const V: usize>(x: [DVec3; V]) -> Vec<f64> {
    x.iter().flat_map(DVec3::to_array).collect()
}

fn nodes<const V: usize>() -> [Id<Vertices>; V] {
    std::array::from_fn(|i| Id::new(i as u32))
}

fn triangle<S: PlaneStrain>(
    case: &Value,
    strain: S,
    viscosity: Viscosity<3>,
) -> Dissipation<OnTriangle<S>, Viscosity<3>, 3, 3> {
    let uv = numbers(&case["rest"]);
    let map = TriangleMap::new([0, 1, 2].map(|i| DVec2::new(uv[2 * i], uv[2 * i + 1]))).unwrap();
    let area = Positive::new(map.area()).unwrap();
    Dissipation::new(nodes(), OnTriangle::new(map, strain), viscosity, area)
}

#[test]
fn triangles() {
    let all = vectors();
    let case = &all["stvk"];
    let (x, v) = (points(&case["x"]), points(&case["v"]));
    let isotropic =
        Viscosity::isotropic(case["lam_d"].as_f64().unwrap(), case["mu_d"].as_f64().unwrap()).unwrap();
    let green = triangle(case, GreenStrain::default(), isotropic);
    let rate = numbers(&case["strain_rate"]);
    assert_close("rate", &green.strain_rate(&x, &v), &[rate[0], rate[3], 2.0 * rate[1]], 1e-12, 0.0);
    assert_close("force", &flat(green.force(&x, &v)), &numbers(&case["force"]), 1e-12, 0.0);
    assert_close("potential", &[green.potential(&x, &v)], &numbers(&case["Vd"]), 1e-12, 0.0);
    let close = |what: &str, found: plisse::core::Blocks<3>, expected: &Value| {
        assert_close(what, found.to_matrix::<9>().as_flattened(), &numbers(expected), 1e-11, 0.0);
    };
    close("by velocity", green.velocity_jacobian(&x, &v), &case["dfdv"]);
    close("by position", green.position_jacobian(&x, &v, PositionJacobian::Full), &case["dfdx_full"]);
    close(
        "symmetric part",
        green.position_jacobian(&x, &v, PositionJacobian::Symmetric),
        &case["dfdx_geometric"],
    );
    close(
        "clamped part",
        green.position_jacobian(&x, &v, PositionJacobian::ClampedStress),
        &case["dfdx_geometric_clamped"],
    );
    let increment = &case["incremental"];
    let step = ElementStep::backward_euler(
        points(&increment["x_prev"]),
        Positive::new(increment["dt"].as_f64().unwrap()).unwrap(),
    );
    let start = green.start(&step);
    let force = flat(green.gradient(&x, &start).map(|g| -g));
    // A rate is the difference of two strains of which fourteen digits are known, over 0.01 s.
    assert_close("increment", &force, &numbers(&increment["force"]), 1e-10, 0.0);
    close("hessian of increment", green.hessian(&x, &start, Psd::Exact), &increment["hessian"]);

    let stretch = triangle(case, StretchTensor, isotropic);
    let expected = numbers(&all["corotational"]["force"]);
    assert_close("corotational", &flat(stretch.force(&x, &v)), &expected, 1e-12, 0.0);
    let kd: [f64; 3] = numbers(&all["baraff_witkin"]["kd"]).try_into().unwrap();
    let fibres = triangle(case, FibreStrain::default(), Viscosity::per_component(kd).unwrap());
    let expected = numbers(&all["baraff_witkin"]["force"]);
    assert_close("fibres", &flat(fibres.force(&x, &v)), &expected, 1e-12, 0.0);
}

#[test]
fn hinge_and_joints() {
    let all = vectors();
    let case = &all["hinge"];
    let (x, v): ([DVec3; 4], [DVec3; 4]) = (points(&case["x"]), points(&case["v"]));
    // The other sign of the angle, with the wings the other way round.
    let frame = HingeAngle::default().frame(&x).unwrap();
    let [gradient] = HingeAngle::default().gradient(&frame);
    let rate: f64 = gradient.iter().zip(&v).map(|(g, v)| g.dot(*v)).sum();
    let theta = HingeAngle::default().strain(&frame)[0];
    let sign = (theta * case["theta"].as_f64().unwrap()).signum();
    assert_close("angle", &[theta * sign], &numbers(&case["theta"]), 1e-13, 0.0);
    assert_close("rate", &[rate * sign], &numbers(&case["thetadot"]), 1e-12, 0.0);
    assert_close("gradient", &flat(gradient.map(|g| g * sign)), &numbers(&case["grad"]), 1e-12, 0.0);

    for case in all["rod_bending"].as_array().unwrap() {
        let [a, b, ad, bd] = ["a", "b", "ad", "bd"].map(|key| points::<1>(&case[key])[0]);
        let (x, v) = ([DVec3::ZERO, a, a + b], [DVec3::ZERO, ad, ad + bd]);
        let frame = RodJoint.frame(&x).unwrap();
        let (strain, gradient) = (RodJoint.strain(&frame), RodJoint.gradient(&frame));
        let rate = gradient.map(|row| row.iter().zip(&v).map(|(g, v)| g.dot(*v)).sum::<f64>());
        assert_close("angle", &[strain[0]], &numbers(&case["theta"]), 1e-12, 0.0);
        assert_close("rate of the angle", &[rate[0]], &numbers(&case["thetadot"]), 1e-11, 0.0);
        // Theirs is tan θ n, ours k = 2 tan(θ/2) n: theirs is k/(1 - k²/4).
        let (k, kd) = (DVec3::from_slice(&strain[1..]), DVec3::from_slice(&rate[1..]));
        let q = 1.0 - 0.25 * k.length_squared();
        let theirs = kd / q + k * (0.5 * k.dot(kd) / (q * q));
        assert_close("rate of the vector", &theirs.to_array(), &numbers(&case["kdot"]), 1e-10, 0.0);
    }
}

/// The times of the figures.
fn times() -> Vec<f64> {
    numbers(&vectors()["spring"]["times"])
}

/// Half a percent of every kinetic energy: the exact solution by small steps, symplectic Euler and
/// Newmark at 0.01 s.
#[test]
fn spring_of_figure_2() {
    use spring::{Method, Model};
    let curves = &vectors()["spring"]["curves"];
    for beta in ["0.01", "0.05", "0.1", "0.2"] {
        let factor: f64 = beta.parse().unwrap();
        for (damping, models) in [
            ("strain", vec![Model::StrainRate, Model::StrainRateOfVelocities]),
            ("rayleigh", vec![Model::Rayleigh]),
        ] {
            for model in models {
                for (scheme, method, step) in [
                    ("exact", Method::Newmark, 5e-4),
                    ("symp", Method::SymplecticEuler, 0.01),
                    ("newmark", Method::Newmark, 0.01),
                ] {
                    let name = format!("{damping}_b{beta}_{scheme}");
                    let expected = numbers(&curves[&name]);
                    let found = spring::kinetic(model, factor, method, step, &times()).unwrap();
                    for ((t, found), expected) in times().iter().zip(found).zip(expected) {
                        assert!(
                            (found / expected - 1.0).abs() < 0.005,
                            "{name}, {model:?}, t = {t}: {found} instead of {expected}"
                        );
                    }
                }
            }
        }
    }
}

/// The scene of the repository is the same spring.
#[test]
fn spring_of_the_scene_file() {
    let path = crate::repository_root().join("fixtures/scenes/spring.toml");
    let mut scene = plisse::file::Loaded::read(&path).unwrap().scene;
    let expected = numbers(&vectors()["spring"]["curves"]["strain_b0.05_newmark"]);
    for (time, expected) in times().into_iter().zip(expected) {
        let mut kinetic = 0.0;
        while scene.time() < time - 1e-6 {
            kinetic = scene.step().unwrap().energies.kinetic;
        }
        assert!((kinetic / expected - 1.0).abs() < 0.005, "t = {time}: {kinetic} instead of {expected}");
    }
}

/// Backward Euler with the rate of velocities is theirs; with increments it differs at the first
/// order of the step. BDF2 is near the exact solution.
#[test]
fn spring_with_other_schemes() {
    use spring::{Method, Model};
    let curves = &vectors()["spring"]["curves"];
    for (beta, factor) in [("0.05", 0.05), ("0.2", 0.2)] {
        for (scheme, model, method, tolerance) in [
            ("be", Model::StrainRateOfVelocities, Method::BackwardEuler, 0.005),
            ("be", Model::StrainRate, Method::BackwardEuler, 0.025),
            ("exact", Model::StrainRate, Method::Bdf2, 0.01),
        ] {
            let expected = numbers(&curves[format!("strain_b{beta}_{scheme}")]);
            let found = spring::kinetic(model, factor, method, 0.01, &times()).unwrap();
            for ((t, found), expected) in times().iter().zip(found).zip(expected) {
                assert!(
                    (found / expected - 1.0).abs() < tolerance,
                    "{beta} {scheme} {t}: {found} {expected}"
                );
            }
        }
    }
}

/// One linear solve per step follows the converged steps, nearer for shorter steps.
#[test]
fn one_iteration_is_near() {
    use spring::{Method, Model};
    let difference = |step: f64| {
        let at = |method| spring::kinetic(Model::StrainRate, 0.05, method, step, &[0.25, 0.5, 1.0]).unwrap();
        let (once, full) = (at(Method::BackwardEulerOnce), at(Method::BackwardEuler));
        once.iter().zip(&full).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
    };
    let [coarse, fine] = [0.01, 0.0025].map(difference);
    assert!(coarse < 0.15 && fine < 0.5 * coarse, "{coarse} {fine}");
}

/// Damping by increments keeps the order of the scheme.
#[test]
fn damped_schemes_have_their_order() {
    use spring::{Method, Model};
    let at = |method, step| spring::kinetic(Model::StrainRate, 0.05, method, step, &[0.5]).unwrap()[0];
    let exact = at(Method::Newmark, 1.25e-4);
    for (method, order) in [(Method::BackwardEuler, 1.0), (Method::Bdf2, 2.0), (Method::Newmark, 2.0)] {
        let [a, b, c] = [0.01, 0.005, 0.0025].map(|step| (at(method, step) - exact).abs());
        for ratio in [a / b, b / c] {
            assert!((ratio.log2() - order).abs() < 0.15, "{method:?}: {a:e} {b:e} {c:e}");
        }
    }
}

/// Angular momentum is kept, so that the spring ends in the circle that has it: 83.9287 J.
#[test]
fn spring_ends_in_a_circle() {
    use spring::{Method, Model};
    let terminal = vectors()["spring"]["terminal"]["KE"].as_f64().unwrap();
    let found = spring::kinetic(Model::StrainRate, 0.2, Method::Newmark, 5e-4, &[10.0]).unwrap()[0];
    assert!((found - 83.9287).abs() < 5e-4 && (found - terminal).abs() < 5e-4, "{found}");
}

/// Two percent of every kinetic energy above a thousandth of the largest, and of the integral over
/// time; five after one second, as swings part company.
fn compare(what: &str, expected: &Value, run: &swing::Run) {
    let energies = expected["KE"].as_object().unwrap();
    let largest = energies.values().map(|e| e.as_f64().unwrap()).fold(0.0, f64::max);
    let mut compared = 0;
    for (time, expected) in energies {
        let (time, expected): (f64, f64) = (time.parse().unwrap(), expected.as_f64().unwrap());
        if expected > 1e-3 * largest && time <= run.duration() + 1e-9 {
            let tolerance = if time <= 1.0 { 0.02 } else { 0.05 };
            let found = run.at(time);
            assert!((found / expected - 1.0).abs() < tolerance, "{what}, t = {time}: {found}, {expected}");
            compared += 1;
        }
    }
    assert!(compared >= 3, "{what}: {compared}");
    let (found, expected) = (run.integral(), expected["int_KE"].as_f64().unwrap());
    assert!((found / expected - 1.0).abs() < 0.02, "{what}, integral: {found}, {expected}");
}

/// The two highest kinetic energies of a swing, with what Rayleigh's damping takes between them: 3
/// g beta/(2 L) per second are 2.2, of which the sheet, which is no rigid pendulum, makes 2.5.
fn swing_peaks(none: &swing::Run, strain: &swing::Run, rayleigh: &swing::Run) {
    let decay = |run: &swing::Run, [first, second]: [f64; 2], at: [f64; 2]| {
        let peaks = [0.2..0.7, 1.0..1.6].map(|times| run.peak(times));
        for ((time, energy), (expected, height)) in peaks.iter().zip(at.iter().zip([first, second])) {
            // Times are multiples of 5 ms, and the top is flat.
            assert!(
                (time - expected).abs() < 0.0201 && (energy / height - 1.0).abs() < 0.02,
                "{time} {energy}"
            );
        }
        (peaks[0].1 / peaks[1].1).ln() / (peaks[1].0 - peaks[0].0)
    };
    let of_scheme = decay(none, [0.2764, 0.2498], [0.44, 1.315]);
    assert!((of_scheme - 0.12).abs() < 0.01, "{of_scheme}");
    decay(strain, [0.2699, 0.2415], [0.43, 1.30]);
    let of_rayleigh = decay(rayleigh, [0.1436, 0.0155], [0.34, 1.23]);
    assert!((of_rayleigh - 2.5).abs() < 0.05, "{of_rayleigh}");
}

#[test]
fn swinging_cloth_of_figure_3() {
    use swing::{Model, Run, Start};
    let all = vectors();
    for (key, cells, step, duration, [ratio, rayleigh_ratio]) in
        [("cloth17", 16, 0.005, 2.0, [0.97, 0.26]), ("cloth33", 32, 0.01, 1.0, [0.975, 0.471])]
    {
        let run = |model| Run::new(Start::Swinging, model, cells, step, duration).unwrap();
        let none = run(Model::None);
        compare(key, &all[key]["swinging_none"], &none);
        let rayleigh = run(Model::Rayleigh);
        compare(key, &all[key]["swinging_rayleigh"], &rayleigh);
        let strain = run(Model::StrainRateOfVelocities);
        compare(key, &all[key]["swinging_strain"], &strain);
        // Ratios as printed, with half of the last digit.
        assert!((strain.integral() / none.integral() - ratio).abs() < 0.005);
        assert!((rayleigh.integral() / none.integral() - rayleigh_ratio).abs() < 0.005);
        if cells == 16 {
            for (run, ratio) in [(&strain, 0.987), (&rayleigh, 0.499)] {
                let found = run.at(0.4) / none.at(0.4);
                assert!((found - ratio).abs() < 5e-4, "{found} instead of {ratio}");
            }
            swing_peaks(&none, &strain, &rayleigh);
        }
        // The increment form differs in the first order of the step: after a second by 3 % with 5
        // ms, 5 % with 10 ms.
        let increment = run(Model::StrainRate);
        for time in [0.05, 0.1, 0.2, 0.4, 0.6] {
            assert!((increment.at(time) / strain.at(time) - 1.0).abs() < 0.005, "{key} {time}");
        }
        let seen = if cells == 16 { 0.9645 } else { 0.9737 };
        assert!((increment.integral() / none.integral() - seen).abs() < 0.003);
    }
}

/// One linear solve per step, as the paper does it, changes kinetic energies by less than the 2 %
/// that it says.
#[test]
fn one_linear_solve_is_enough_for_a_swing() {
    use swing::{Run, Solve, Start};
    let run = |solve| Run::of_velocities(Start::Swinging, solve, 12, 0.005, 0.4).unwrap();
    let (once, converged) = (run(Solve::Once), run(Solve::Converged));
    for time in [0.05, 0.1, 0.2, 0.4] {
        let off = (once.at(time) / converged.at(time) - 1.0).abs();
        assert!(off > 0.0 && off < 0.02, "{time}: {off}");
    }
}

#[test]
fn hanging_cloth_of_figure_3() {
    use swing::{Model, Run, Start};
    let all = vectors();
    for (key, cells, step, duration) in [("cloth17", 16, 0.005, 2.0), ("cloth33", 32, 0.01, 0.4)] {
        let run = |model| Run::new(Start::Hanging, model, cells, step, duration).unwrap();
        let none = run(Model::None);
        compare(key, &all[key]["hanging_none"], &none);
        let rayleigh = run(Model::Rayleigh);
        compare(key, &all[key]["hanging_rayleigh"], &rayleigh);
        for model in [Model::StrainRate, Model::StrainRateOfVelocities] {
            let strain = run(model);
            compare(key, &all[key]["hanging_strain"], &strain);
            let ratio = strain.integral() / rayleigh.integral();
            assert!((ratio - 1.008).abs() < 0.01, "{key}, {model:?}: {ratio}");
            let (left, expected) =
                (strain.integral() / none.integral(), if cells == 16 { 0.034 } else { 0.071 });
            assert!((left - expected).abs() < 5e-4, "{key}, {model:?}: {left} is left");
        }
    }
}
