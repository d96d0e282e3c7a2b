//! Repository tasks of plisse. `cargo xtask help` lists them.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line program talks to its user")]

mod bench;
mod ci;
mod eval;
mod figures;
mod pictures;
mod reference;
mod regress;
mod scene;
mod tidy;
mod wrinkles;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND

  ci               everything that must hold: fmt, clippy, tests, docs, features, packages, tidy
  tidy             rules of the repository: dependency edges, first-line docs, paper keys, links, paths
  eval FILE|-      evaluate energies on cases given as JSON; see docs/src/eval.md
  bench kernels    nanoseconds per element of every energy, with ratios (--json for one line per row)
  bench step [N…]  time per Newton iteration and per step of a hanging sheet of N x N vertices, by solver
  bench damping [N [MEMBRANE]]
                    time per step of a hanging sheet with and without damping
  bench wrinkle    time, memory and steps of the wrinkle solver, in factorisations of its own matrix
  regress [NAME…]  experiments of the papers as tables: v-strips, stretch-test, spring, swing, wrinkle, animation
  figures          draw the plots of the book again
  pictures [NAME…] run the scenes of the repository and take the pictures of the book again
  reference        write the reference of scene files again
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bench", "kernels"] => report(bench::kernels::run(false)),
        ["bench", "kernels", "--json"] => report(bench::kernels::run(true)),
        ["bench", "damping"] => report(bench::damping::run(None, None)),
        ["bench", "damping", size] => report(bench::damping::run(Some(size), None)),
        ["bench", "damping", size, membrane] => report(bench::damping::run(Some(size), Some(membrane))),
        ["bench", "wrinkle", names @ ..] => report(bench::wrinkle::run(names)),
        ["bench", "step", sizes @ ..] => report(bench::step::run(sizes)),
        ["eval", path] => match eval::run(path) {
            Ok(text) => {
                print!("{text}");
                ExitCode::SUCCESS
            }
            // Status 2 and nothing on standard output: the input was wrong.
            Err(error) => {
                eprintln!("{error:#}");
                ExitCode::from(2)
            }
        },
        ["regress", names @ ..] => report(regress::run(names)),
        ["ci"] => report(ci::run()),
        ["tidy"] => report(tidy::check()),
        ["figures"] => report(figures::draw()),
        ["pictures", names @ ..] => report(pictures::take(names)),
        ["reference"] => report(reference::write()),
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

/// The folder of the workspace, wherever the command was started.
fn repository_root() -> std::path::PathBuf {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.map_or_else(|| ".".into(), std::path::Path::to_path_buf)
}

fn report(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
