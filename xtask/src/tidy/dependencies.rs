//! The real dependency edges against the table in `docs/src/architecture.md`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{File, find};
use crate::{cargo, repository_root};

const TABLE: &str = "docs/src/architecture.md";

/// Crates that must stay free of others, directly or through others: whoever takes an energy must
/// not pay for a solver, whoever reads an OBJ file not for pictures.
const LIGHT: [(&str, &[&str]); 7] = [
    ("plisse-core", ENERGY),
    ("plisse-eigen", ENERGY),
    ("plisse-membrane", ENERGY),
    ("plisse-bending", ENERGY),
    ("plisse-damping", ENERGY),
    ("plisse-collision", &["faer"]),
    ("plisse-io", &["faer", "rayon", "png"]),
];
const ENERGY: &[&str] = &["faer", "rayon"];

type Edges = BTreeMap<String, BTreeSet<String>>;

pub(super) fn check(files: &[File], problems: &mut Vec<String>) -> Result<()> {
    let metadata = metadata()?;
    compare(&documented(find(files, TABLE)), &real(&metadata)?, problems);
    for (light, heavy) in LIGHT {
        let reached = reachable(&metadata, light)?;
        for heavy in heavy.iter().filter(|heavy| reached.contains(**heavy)) {
            problems.push(format!("{light} depends on {heavy}: its users must not pay for that"));
        }
    }
    default_members(&metadata, problems);
    Ok(())
}

/// Everything that is published is built by default, and nothing else: `cargo run` must mean the
/// program `plisse`, and what tests need must not be built for it.
const NOT_BY_DEFAULT: [&str; 3] = ["plisse-lab", "plisse-testkit", "xtask"];

fn default_members(metadata: &Value, problems: &mut Vec<String>) {
    let default: BTreeSet<&str> = strings(&metadata["workspace_default_members"]).collect();
    let members: BTreeSet<&str> = strings(&metadata["workspace_members"]).collect();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let (id, name) =
            (package["id"].as_str().unwrap_or_default(), package["name"].as_str().unwrap_or_default());
        if members.contains(id) && default.contains(id) == NOT_BY_DEFAULT.contains(&name) {
            let verb = if default.contains(id) { "contains" } else { "lacks" };
            problems.push(format!("Cargo.toml: `default-members` {verb} {name}"));
        }
    }
}

fn metadata() -> Result<Value> {
    let output = cargo()
        .args(["metadata", "--format-version", "1"])
        .current_dir(repository_root())
        .output()
        .context("cargo metadata could not be started")?;
    ensure!(
        output.status.success(),
        "cargo metadata failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Rows "| `crate` | ours | theirs | … |".
fn documented(text: &str) -> Edges {
    let mut edges = Edges::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, name, ours, theirs, ..] = cells.as_slice() {
            let list = ours.split(',').chain(theirs.split(','));
            let names = list.map(|n| n.trim().to_owned()).filter(|n| !n.is_empty());
            edges.insert(name.trim_matches('`').to_owned(), names.collect());
        }
    }
    edges
}

/// Normal dependencies of the members; those of tests and build scripts do not count.
fn real(metadata: &Value) -> Result<Edges> {
    let members: BTreeSet<&str> = strings(&metadata["workspace_members"]).collect();
    let mut edges = Edges::new();
    for package in metadata["packages"].as_array().context("cargo metadata without packages")? {
        if package["id"].as_str().is_some_and(|id| members.contains(id)) {
            let list = package["dependencies"].as_array().into_iter().flatten();
            let normal = list.filter(|dependency| dependency["kind"].is_null());
            let names = normal.filter_map(|dependency| dependency["name"].as_str().map(str::to_owned));
            edges.insert(package["name"].as_str().unwrap_or_default().to_owned(), names.collect());
        }
    }
    Ok(edges)
}

fn compare(documented: &Edges, real: &Edges, problems: &mut Vec<String>) {
    let names: BTreeSet<&String> = documented.keys().chain(real.keys()).collect();
    for name in names {
        match (documented.get(name), real.get(name)) {
            (Some(said), Some(found)) => {
                for extra in found.difference(said) {
                    problems.push(format!("{name} depends on {extra}, which {TABLE} does not say"));
                }
                for missing in said.difference(found) {
                    problems
                        .push(format!("{TABLE} says that {name} depends on {missing}, which it does not"));
                }
            }
            (None, _) => problems.push(format!("{name} is not in the table of {TABLE}")),
            (_, None) => problems.push(format!("{TABLE} lists {name}, which does not exist")),
        }
    }
}

/// Names of everything that a member reaches through normal dependencies.
fn reachable(metadata: &Value, from: &str) -> Result<BTreeSet<String>> {
    let nodes = metadata["resolve"]["nodes"].as_array().context("cargo metadata without a resolved graph")?;
    let names: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|p| Some((p["id"].as_str()?, p["name"].as_str()?)))
        .collect();
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = names.iter().filter(|(_, name)| **name == from).map(|(id, _)| *id).collect();
    let mut seen: BTreeSet<&str> = open.iter().copied().collect();
    while let Some(id) = open.pop() {
        reached.insert(names.get(id).copied().unwrap_or_default().to_owned());
        let node = nodes.iter().find(|node| node["id"].as_str() == Some(id));
        for dependency in node.and_then(|node| node["deps"].as_array()).into_iter().flatten() {
            let kinds = dependency["dep_kinds"].as_array();
            let normal = kinds.is_none_or(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()));
            if let Some(next) = dependency["pkg"].as_str().filter(|next| normal && seen.insert(next)) {
                open.push(next);
            }
        }
    }
    Ok(reached)
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_members_are_those_that_are_published() {
        let package = |name: &str| serde_json::json!({ "id": name, "name": name });
        let packages = ["plisse", "new", "xtask", "plisse-lab", "plisse-testkit", "foreign"].map(package);
        let metadata = serde_json::json!({
            "packages": packages,
            "workspace_members": ["plisse", "new", "xtask", "plisse-lab", "plisse-testkit"],
            "workspace_default_members": ["plisse", "xtask"],
        });
        let mut problems = Vec::new();
        default_members(&metadata, &mut problems);
        assert_eq!(
            problems,
            ["Cargo.toml: `default-members` lacks new", "Cargo.toml: `default-members` contains xtask"]
        );
    }

    #[test]
    fn differences_are_reported_in_both_directions() {
        let said = documented("| `a` | b | c, d | text |\n| `gone` | | | text |\n");
        let found = Edges::from([
            ("a".to_owned(), ["b", "c", "e"].map(str::to_owned).into()),
            ("new".to_owned(), BTreeSet::new()),
        ]);
        let mut problems = Vec::new();
        compare(&said, &found, &mut problems);
        assert_eq!(
            problems,
            [
                "a depends on e, which docs/src/architecture.md does not say",
                "docs/src/architecture.md says that a depends on d, which it does not",
                "docs/src/architecture.md lists gone, which does not exist",
                "new is not in the table of docs/src/architecture.md",
            ]
        );
    }
}
