//! Repository tasks of plisse. `cargo xtask help` lists them.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line program talks to its user")]

mod ci;
mod tidy;

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

const HELP: &str = "\
cargo xtask COMMAND

  ci               everything that must hold: fmt, clippy, tests, docs, features, packages, tidy
  tidy             rules of the repository: dependency edges, docs, paper keys, links, paths, columns
  eval FILE|-      evaluate energies on cases given as JSON; see docs/src/eval.md
  bench kernels    nanoseconds per element of every energy, with ratios (--json for one line per row)
  bench step [N…]  time per Newton iteration and per step of a hanging sheet of N x N vertices, by solver
  bench step second [WORD…]  CPU time of a whole second of it, by cloth, step and solver
  bench shell [N…] steps of a sheet of N x N cells with hinges, mean normals and free directors
  bench damping [N [MEMBRANE [STEPS]]]
                    time per step of a hanging sheet with and without damping
  bench contact [free] [drape] [stack] [N] [5ms] [1/60] [every]
                   what contact costs: a sheet that touches nothing, one on a ball, a stack of five; also with
                   0.1 m/s² at every vertex instead of their mean
  bench developable [N…]
                   steps of a sheet of N x N cells that does not stretch, by solver, beside elastic ones
  bench wrinkle    time, memory and steps of the wrinkle solver, in factorisations of its own matrix
  bench yarn [NODES…] [steps=N] [solvers]
                   CPU time per step of a patch of yarns, by part and by number of nodes
  ccd DIR [LEVELS] collision queries with exact truth: misses, false alarms and times; see docs/src/contact/ccd.md
  regress [NAME…] [--short] [--bless]
                   experiments of the papers and runs of the scenes, each with a verdict by rules and by a golden
                   file: v-strips, stretch-test, spring, swing, wrinkle, animation, cantilever, settling, plate,
                   cusick, scenes, hard, jitter (an hour), contact (a night; --quick, --frames N, --repeats N);
                   also one of a group, as scenes/drape.
                   --short: a minute of scenes. --bless: renew the golden files
  figures          draw the plots of the book again
  pictures [NAME…] run the scenes of the repository and take the pictures of the book again
  reference        write the reference of scene files again
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["ci"] => report(ci::run()),
        ["tidy"] => report(tidy::check()),
        ["eval" | "bench" | "ccd" | "regress" | "figures" | "pictures" | "reference", ..] => {
            match lab(&words) {
                Ok(status) => status,
                Err(error) => report(Err(error)),
            }
        }
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("unknown command: {}\n\n{HELP}", words.join(" "));
            ExitCode::from(2)
        }
    }
}

/// Runs the crate `plisse-lab`, in release: what it does is measured, or takes long.
fn lab(words: &[&str]) -> Result<ExitCode> {
    let manifest = repository_root().join("Cargo.toml");
    let status = cargo()
        .args(["run", "--release", "--quiet", "--package", "plisse-lab", "--manifest-path"])
        .arg(manifest)
        .arg("--")
        .args(words)
        .status()
        .context("cargo run could not be started")?;
    // Without a code: ended by a signal.
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The folder of the workspace, wherever the command was started.
fn repository_root() -> std::path::PathBuf {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.map_or_else(|| ".".into(), std::path::Path::to_path_buf)
}

fn report(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
