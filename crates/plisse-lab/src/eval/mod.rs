//! `cargo xtask eval`: evaluates energies on cases given as JSON and answers as JSON.
//!
//! The way another program checks itself against plisse. The format is described in
//! `docs/src/eval.md`.

mod bending;
mod case;
mod energies;

use std::io::Read;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use case::Case;

/// Reads a file, or standard input for `-`, and returns the text to print.
pub(crate) fn run(path: &str) -> Result<String> {
    let text = if path == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("standard input")?;
        text
    } else {
        std::fs::read_to_string(path).with_context(|| path.to_owned())?
    };
    let input: Value = serde_json::from_str(&text).with_context(|| format!("{path} is not JSON"))?;
    let mut output = serde_json::to_string_pretty(&evaluate(&input)?)?;
    output.push('\n');
    Ok(output)
}

/// Evaluates all cases, or none: the first mistake ends it.
fn evaluate(input: &Value) -> Result<Value> {
    let cases = input.get("cases").and_then(Value::as_array);
    let cases = cases.context("the input must be an object with an array \"cases\"")?;
    let results: Result<Vec<Value>> =
        cases.iter().enumerate().map(|(i, case)| Ok(evaluate_case(&Case::new(i, case)?)?.into())).collect();
    Ok(json!({ "cases": results? }))
}

fn evaluate_case(case: &Case<'_>) -> Result<Map<String, Value>> {
    let result = energies::evaluate(case)?;
    // The case as it was given, without results of others that it may carry.
    let mut out = case.object().clone();
    for key in ["psi", "grad", "hess", "hess_psd", "eigenvalues"] {
        out.shift_remove(key);
    }
    out.insert("psi".to_owned(), json!(result.psi));
    out.insert("grad".to_owned(), json!(result.grad));
    out.insert("hess".to_owned(), json!(result.hess));
    out.insert("hess_psd".to_owned(), json!(result.hess_psd));
    if let Some(eigenvalues) = result.eigenvalues {
        out.insert("eigenvalues".to_owned(), json!(eigenvalues));
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
