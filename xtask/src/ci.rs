//! `cargo xtask ci`: everything that must hold, in the order of how fast it fails.

use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, bail};

use crate::{cargo, repository_root, tidy};

/// Property tests draw new cases on every `cargo test`; here the same ones, so that a run can be
/// repeated.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "20201116");

const FACADE_FEATURES: [&str; 15] = [
    "eigen",
    "membrane",
    "bending",
    "damping",
    "collision",
    "sparse",
    "system",
    "constrained",
    "contact",
    "wrinkle",
    "yarn",
    "io",
    "picture",
    "scene",
    "file",
];
const PUBLISHED: [&str; 17] = [
    "plisse-core",
    "plisse-eigen",
    "plisse-membrane",
    "plisse-bending",
    "plisse-damping",
    "plisse-collision",
    "plisse-sparse",
    "plisse-system",
    "plisse-constrained",
    "plisse-contact",
    "plisse-wrinkle",
    "plisse-yarn",
    "plisse-io",
    "plisse-picture",
    "plisse-scene",
    "plisse",
    "plisse-cli",
];

/// Runs every step; the first failure ends it.
pub(crate) fn run() -> Result<()> {
    step("format", &[], &["fmt", "--all", "--check"])?;
    println!("\n== tidy");
    tidy::check()?;
    step("clippy", &[], &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    step("tests and doctests", &[SEED], &["test", "--workspace"])?;
    let deny = ("RUSTDOCFLAGS", "-D warnings");
    step(
        "documentation",
        &[deny],
        &[
            "doc",
            "--workspace",
            "--no-deps",
            "--exclude",
            "plisse-lab",
            "--exclude",
            "xtask",
            "--all-features",
        ],
    )?;
    step("facade without features", &[], &["check", "-p", "plisse", "--no-default-features"])?;
    for feature in FACADE_FEATURES {
        let args = ["check", "-p", "plisse", "--no-default-features", "--features", feature];
        step(&format!("facade with {feature}"), &[], &args)?;
    }
    let args = ["check", "-p", "plisse-scene", "--no-default-features"];
    step("scenes without files", &[], &args)?;
    packages()?;
    println!("\nall passed");
    Ok(())
}

/// Packages the published crates and builds them from their packages.
///
/// In a target folder of its own: cargo keeps what it unpacked of a version by the path of the
/// folder, and would build the next run of the same version from the sources of the last one.
fn packages() -> Result<()> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |t| t.as_nanos());
    let folder = repository_root().join(format!("target/packages-{now}"));
    let target = folder.to_string_lossy().into_owned();
    let names = PUBLISHED.iter().flat_map(|name| ["-p", name]);
    // The working tree may have changes; what is packaged is what is there.
    let args: Vec<&str> = ["package", "--allow-dirty"].into_iter().chain(names).collect();
    // Whether it builds is the question, not how fast it would be.
    let env = [("CARGO_TARGET_DIR", target.as_str()), ("CARGO_PROFILE_DEV_OPT_LEVEL", "0")];
    let result = step("packages", &env, &args);
    // Whether it could be removed does not matter to the result.
    _ = std::fs::remove_dir_all(&folder);
    result
}

fn step(name: &str, env: &[(&str, &str)], args: &[&str]) -> Result<()> {
    println!("\n== {name}: cargo {}", args.join(" "));
    let start = Instant::now();
    // What incremental builds keep for the next one costs time now.
    let status = cargo()
        .env("CARGO_INCREMENTAL", "0")
        .args(args)
        .envs(env.iter().copied())
        .current_dir(repository_root())
        .status();
    let status = status.with_context(|| format!("cargo {} could not be started", args[0]))?;
    if !status.success() {
        bail!("{name} failed");
    }
    println!("== {name}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}
