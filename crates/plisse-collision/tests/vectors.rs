//! Distances, mollifiers and contact times against `fixtures/vectors/contact.json`: differences in
//! 50-digit arithmetic and contacts that were constructed exactly, from no formula of ours.

#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::DVec3;
use plisse_collision::{
    Ccd, Closest, ContactFrame, ContactHessian, EdgeMollifier, edge_edge, point_triangle,
};
use plisse_core::{Blocks, Positive, symmetric_eigen};
use plisse_testkit::assert_close;
use serde_json::Value;

fn section(name: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/contact.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    all[name].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn points(values: &[f64]) -> [DVec3; 4] {
    std::array::from_fn(|i| DVec3::from_slice(&values[3 * i..]))
}

fn flat(x: &[DVec3; 4]) -> Vec<f64> {
    x.iter().flat_map(DVec3::to_array).collect()
}

fn closest(kind: &str, x: &[DVec3; 4]) -> Closest<4> {
    if kind == "pt" {
        point_triangle(x[0], [x[1], x[2], x[3]])
    } else {
        edge_edge([x[0], x[1]], [x[2], x[3]])
    }
}

fn upper(h: &Blocks<4>) -> Vec<f64> {
    (0..12).flat_map(|i| (i..12).map(move |j| (i, j))).map(|(i, j)| h.entry(i, j)).collect()
}

#[test]
fn distances_and_derivatives() {
    let cases = section("distance");
    assert_eq!(cases.len(), 40);
    for (number, case) in cases.iter().enumerate() {
        let (kind, shape) = (case["kind"].as_str().unwrap(), case["shape"].as_str().unwrap());
        let what = |quantity: &str| format!("{quantity} of case {number}, {kind} {shape}");
        // Nearly parallel edges: the parameters are conditioned like the inverse square of the
        // angle, 1e-6 here. The distance is not.
        let parallel = shape == "parallel";
        let x = points(&numbers(&case["x"]));
        let found = closest(kind, &x);
        let frame = ContactFrame::new(&found, &x);
        let d = case["d"].as_f64().unwrap();

        assert_eq!(frame.parameters() as u64, case["nparam"].as_u64().unwrap(), "{}", what("type"));
        // A gap is a difference of coordinates of size one: it has their rounding, not its own.
        assert_close(&what("distance"), &[found.distance()], &[d], 5e-15, 1.0);
        let loose = |strict: f64| if parallel { 1e-5 } else { strict };
        assert_close(&what("weights"), found.weights(), &numbers(&case["weights"]), loose(1e-13), 0.0);
        assert_close(&what("gradient"), &flat(&found.gradient()), &numbers(&case["grad"]), loose(1e-13), 0.0);
        let hessian = frame.hessian(1.0, 0.0, ContactHessian::Exact);
        // The reference has twelve digits.
        assert_close(&what("hessian"), &upper(&hessian), &numbers(&case["hess_upper"]), loose(5e-12), 0.0);

        let psi = numbers(&case["barriers"]["log"]);
        let of = |form| frame.hessian(psi[1], psi[2], form);
        let (eigenvalues, _) = symmetric_eigen(&of(ContactHessian::Exact).to_matrix::<12>());
        // The reference has eight digits of eigenvalues and ten of norms.
        let expected = numbers(&case["log_energy_eigs"]);
        assert_close(&what("eigenvalues"), &eigenvalues, &expected, loose(1e-7), 0.0);
        for (form, name) in
            [(ContactHessian::Nearest, "norm_projected"), (ContactHessian::Closed, "norm_closed")]
        {
            let norm = case[name].as_f64().unwrap();
            assert_close(&what(name), &[of(form).norm()], &[norm], loose(1e-8), 0.0);
        }
    }
}

#[test]
fn mollifiers() {
    let cases = section("mollifier");
    assert!(!cases.is_empty());
    for case in &cases {
        let x = points(&numbers(&case["x"]));
        let (c, gradient) = (case["c"].as_f64().unwrap(), numbers(&case["grad"]));
        let sine = c.sqrt() / ((x[1] - x[0]).length() * (x[3] - x[2]).length());
        for ratio in [0.1, 0.5, 0.9] {
            // Rest lengths that place the pair at C = ratio ε, ε = 1e-3 l⁴.
            let length = Positive::new((c / ratio / 1e-3).sqrt().sqrt()).unwrap();
            let found = EdgeMollifier::new([length; 2]).evaluate(&x);
            // The cross product cancels as the sine does; its square doubles the error.
            let tolerance = 1e-14 / sine;
            assert_close("weight", &[found.energy], &[ratio * (2.0 - ratio)], tolerance, 0.0);
            let slope = 2.0 * (1.0 - ratio) * ratio / c;
            let expected: Vec<f64> = gradient.iter().map(|g| g * slope).collect();
            assert_close("gradient", &flat(&found.gradient), &expected, tolerance, 0.0);
        }
    }
}

#[test]
fn contact_times() {
    let cases = section("ccd");
    assert_eq!(cases.len(), 96);
    // Gaps go down to 1e-14 of the size: three of the forty misses cannot be told from contacts.
    // Two more need intervals that are shorter than the coarser resolutions.
    for (levels, allowed) in [(10, 5), (20, 4), (48, 3)] {
        let mut false_positives = 0;
        for case in &cases {
            let x: Vec<DVec3> =
                case["x"].as_array().unwrap().iter().map(|p| DVec3::from_slice(&numbers(p))).collect();
            let (start, end) = (x[..4].try_into().unwrap(), x[4..].try_into().unwrap());
            let ccd = Ccd::with_levels(levels);
            let found = match case["kind"].as_str().unwrap() {
                "vf" => ccd.point_triangle(start, end, 0.0),
                _ => ccd.edge_edge(start, end, 0.0),
            };
            if case["hit"].as_bool().unwrap() {
                let time = case["t_contact"].as_f64().unwrap();
                assert!(found.is_some_and(|t| t <= time), "{case}: {found:?}");
            } else {
                false_positives += usize::from(found.is_some());
            }
        }
        assert!(false_positives <= allowed, "{false_positives} false positives at {levels} levels");
    }
}
