//! Experiments of plisse: what is measured, compared and drawn. `cargo xtask help` lists the
//! commands; this program gets those that need the library.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line program talks to its user")]

mod bench;
mod ccd;
mod eval;
mod figures;
mod pictures;
mod reference;
mod regress;
mod scene;
mod wrinkles;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bench", "kernels"] => report(bench::kernels::run(false)),
        ["bench", "kernels", "--json"] => report(bench::kernels::run(true)),
        ["bench", "contact", words @ ..] => report(bench::contact::run(words)),
        ["bench", "damping", args @ ..] => report(bench::damping::run(args)),
        ["bench", "developable", sizes @ ..] => report(bench::developable::run(sizes)),
        ["bench", "wrinkle", names @ ..] => report(bench::wrinkle::run(names)),
        ["bench", "shell", sizes @ ..] => report(bench::shell::run(sizes)),
        ["bench", "step", "second", words @ ..] => report(bench::second::run(words)),
        ["bench", "step", sizes @ ..] => report(bench::step::run(sizes)),
        ["bench", "yarn", words @ ..] => report(bench::yarn::run(words)),
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
        ["ccd", args @ ..] => report(ccd::run(args)),
        ["regress", names @ ..] => report(regress::run(names)),
        ["figures"] => report(figures::draw()),
        ["pictures", names @ ..] => report(pictures::take(names)),
        ["reference"] => report(reference::write()),
        _ => {
            eprintln!("unknown command: {}; see `cargo xtask help`", words.join(" "));
            ExitCode::from(2)
        }
    }
}

/// The folder of the workspace, wherever the command was started.
fn repository_root() -> std::path::PathBuf {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
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
