//! `eval` as another program calls it: standard output, standard error and exit status.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn eval(input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_plisse-lab"))
        .args(["eval", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn good_input_gives_json_and_status_zero() {
    let output = eval(r#"{"cases": [{"energy": "arap_membrane", "note": "kept", "x": [1, 0, 0, 0, 1, 0]}]}"#);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["cases"][0]["psi"], 0.0);
    assert_eq!(json["cases"][0]["note"], "kept");
    assert_eq!(json["cases"][0]["eigenvalues"].as_array().unwrap().len(), 6);
}

#[test]
fn bad_input_gives_one_line_status_two_and_no_output() {
    let good = r#"{"energy": "arap_membrane", "x": [1, 0, 0, 0, 1, 0]}"#;
    for (input, message) in [
        (
            r#"{"cases": [GOOD, {"energy": "arap_membrane", "x": [1]}]}"#,
            "case 1, field x: has 1 numbers, 6 are needed\n",
        ),
        (
            r#"{"cases": [GOOD, {"energy": "arap_membrane", "x": [1, 0, 0, 0, 1, 1e999]}]}"#,
            "- is not JSON: number out of range",
        ),
        ("not json", "- is not JSON: expected ident"),
    ] {
        let output = eval(&input.replace("GOOD", good));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(output.stdout.is_empty());
        assert!(error.starts_with(message) && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn unknown_commands_are_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_plisse-lab")).arg("evaluate").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("unknown command: evaluate"));
}
