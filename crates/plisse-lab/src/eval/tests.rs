//! The test vectors through `eval`, and what it says to wrong input.

use super::evaluate;
use plisse_testkit::{assert_close, max_abs};
use serde_json::{Value, json};

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/eigen.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

#[test]
fn test_vectors() {
    let all = vectors();
    let results = evaluate(&all).unwrap();
    let mut count = 0;
    for (found, expected) in results["cases"].as_array().unwrap().iter().zip(all["cases"].as_array().unwrap())
    {
        let label = format!("{} {}", expected["energy"], expected["name"]);
        let hess = numbers(&expected["hess"]);
        let scale = max_abs(&hess);
        // Positions are given to twelve digits or so, angles near π/2 and π are worse conditioned
        // than F.
        let bending = expected.get("theta").is_some() || expected["energy"] == "hinge_theta";
        let tolerance = if bending { 1e-12 } else { 1e-13 };
        // At rest gradients vanish: their rounding is that of the stiffness times the rounding of
        // F. Quartic terms have no stiffness there either; the reference differences leave 1e-36.
        let floor = (1e-3 * scale).max(1e-15);
        assert_close(&label, &numbers(&found["psi"]), &numbers(&expected["psi"]), tolerance, floor);
        assert_close(&label, &numbers(&found["grad"]), &numbers(&expected["grad"]), tolerance, floor);
        assert_close(&label, &numbers(&found["hess"]), &hess, tolerance, 1e-15);
        // Triangles and rods are projected in the space of F and of the edges, hinges by the filter
        // V2.
        let keys = ["hess_psd_f_space_sum", "hess_psd_f_space", "hess_psd_blocks_v2", "hess_psd"];
        let psd = keys.iter().find_map(|key| expected.get(*key)).unwrap();
        if expected["energy"] != "hinge_theta" {
            assert_close(&label, &numbers(&found["hess_psd"]), &numbers(psd), tolerance, scale.max(1e-15));
        }
        if let Some(values) = found.get("eigenvalues") {
            assert_close(&label, &numbers(values), &numbers(&expected["eigenvalues"]), tolerance, 1e-15);
        }
        count += 1;
    }
    assert_eq!(count, 105);
}

#[test]
fn every_hinge_filter_has_its_vectors() {
    use crate::eval::{bending, case::Case};
    use plisse::bending::HingeFilter;
    let all = vectors();
    let mut count = 0;
    for (i, case) in all["cases"].as_array().unwrap().iter().enumerate() {
        let tag = case["energy"].as_str().unwrap();
        if !tag.starts_with("hinge_") {
            continue;
        }
        for (filter, key) in [
            (HingeFilter::V1, "hess_psd_blocks_v1"),
            (HingeFilter::V2, "hess_psd_blocks_v2"),
            (HingeFilter::V3, "hess_psd_blocks_v3"),
            (HingeFilter::Numeric, "hess_psd"),
        ] {
            let Some(expected) = case.get(key) else { continue };
            let found = bending::evaluate(&Case::new(i, case).unwrap(), tag, filter).unwrap();
            let found: Vec<f64> = found.hess_psd.into_iter().flatten().collect();
            let scale = max_abs(&numbers(&case["hess"]));
            assert_close(
                &format!("{tag} {} {filter:?}", case["name"]),
                &found,
                &numbers(expected),
                1e-12,
                scale,
            );
            count += 1;
        }
    }
    // Hinges with a law have all four, the angle itself only the nearest matrix.
    assert_eq!(count, 4 * 23 + 6);
}

fn check_error(case: &Value, message: &str) {
    let error = evaluate(&json!({ "cases": [case] })).unwrap_err();
    assert_eq!(format!("{error:#}"), message);
}

#[test]
fn mistakes_are_named_in_one_line() {
    let x = json!([1, 0, 0, 0, 1, 0]);
    check_error(
        &json!({"energy": "stvk_membrane", "name": "n", "params": {"mu": -1, "lambda_": 1}, "x": x}),
        "case 0 (n), field params.mu: -1 is not a positive finite number",
    );
    check_error(
        &json!({"energy": "stvk_membrane", "params": {"mu": 1}, "x": x}),
        "case 0, field params.lambda_: is missing",
    );
    check_error(
        &json!({"energy": "arap_membrane", "params": {"mu": 1}, "x": x}),
        "case 0, field params.mu: unknown; this energy has none",
    );
    check_error(
        &json!({"energy": "bw_shear", "params": {"a": [1, 0], "b": [1, 1], "d": 0}, "x": x}),
        "case 0, field params.b: (1, 1) has length 1.4142135623730951; give a unit vector",
    );
    check_error(
        &json!({"energy": "arap_membrane", "params": {}, "x": [1, 2, 3]}),
        "case 0, field x: has 3 numbers, 6 are needed",
    );
    check_error(
        &json!({"energy": "arap_membrane", "params": {}, "x": [1, 2, 3, "a", 5, 6]}),
        "case 0, field x[3]: \"a\" is not a number",
    );
    check_error(
        &json!({"energy": "arap_membrane", "params": {}, "x": x, "scale": 0}),
        "case 0, field scale: 0 is not a positive finite number",
    );
    check_error(&json!({"params": {}, "x": x}), "case 0, field energy: is missing");
    check_error(&json!([]), "case 0: must be an object");
    let error = evaluate(&json!({"cases": [{"energy": "arap", "x": x}]})).unwrap_err().to_string();
    assert!(
        error.starts_with("case 0, field energy: unknown tag \"arap\"; known are bw_stretch,"),
        "{error}"
    );
    assert_eq!(
        evaluate(&json!([])).unwrap_err().to_string(),
        "the input must be an object with an array \"cases\""
    );
}

#[test]
fn a_term_of_a_triangle_may_be_absent() {
    let case = |stretch: f64, shear: f64| {
        let case = json!({"cases": [{"energy": "triangle_bw_stretch_plus_shear_area_weighted",
            "params": {"rest": [[0, 0], [1, 0], [0, 1]], "bu": 1, "bv": 1, "k_stretch": stretch, "k_shear": shear},
            "x": [0, 0, 0, 1.1, 0.1, 0, 0.05, 0.9, 0.2]}]});
        evaluate(&case).unwrap()["cases"][0]["psi"].as_f64().unwrap()
    };
    assert!(case(0.0, 1.0) > 0.0 && case(1.0, 0.0) > 0.0 && case(0.0, 0.0) == 0.0);
    assert!((case(1.0, 1.0) - case(0.0, 1.0) - case(1.0, 0.0)).abs() < 1e-16);
}

#[test]
fn scale_multiplies_everything() {
    let case = |scale: f64| {
        json!({"cases": [{"energy": "corotational_membrane", "params": {"mu": 1.5, "lambda_": 0.5},
               "x": [1.1, 0.2, 0.0, 0.1, 0.7, 0.3], "scale": scale}]})
    };
    let (one, three) = (evaluate(&case(1.0)).unwrap(), evaluate(&case(3.0)).unwrap());
    for key in ["psi", "grad", "hess", "hess_psd", "eigenvalues"] {
        let expected: Vec<f64> = numbers(&one["cases"][0][key]).iter().map(|v| 3.0 * v).collect();
        assert_close(key, &numbers(&three["cases"][0][key]), &expected, 1e-15, 0.0);
    }
}
