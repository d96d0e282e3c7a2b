//! The program `plisse`: scenes of cloth from files.

mod arguments;
mod check;
mod crossings;
mod error;
mod export;
mod folder;
mod hangup;
mod info;
mod live;
mod materials;
mod meshes;
mod moduli;
mod picture;
mod progress;
mod reel;
mod report;
mod run;
mod shown;
mod summary;
mod wrinkle;
mod wrinkle_run;
mod yarn_picture;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use error::Failure;
use progress::{complain, printed};

fn main() -> ExitCode {
    hangup::keep_ignoring();
    let arguments = Arguments::parse();
    let reports = matches!(
        arguments.command,
        None | Some(Command::Run(_) | Command::Resume(_) | Command::Wrinkle(_) | Command::Moduli(_))
    );
    if arguments.talk.json && !reports {
        complain("plisse: --json is for run, resume, wrinkle and moduli");
        return ExitCode::from(2);
    }
    let result = match &arguments.command {
        None => run::embedded(&arguments.talk),
        Some(Command::Run(options)) => run::start(options, &arguments.talk),
        Some(Command::Resume(options)) => run::resume(options, &arguments.talk),
        Some(Command::Check { scenes }) => check::check(scenes, &arguments.talk),
        Some(Command::Materials) => {
            materials::list();
            Ok(())
        }
        Some(Command::Moduli(options)) => moduli::moduli(options, &arguments.talk),
        Some(Command::Info(options)) => info::info(options),
        Some(Command::Wrinkle(options)) => wrinkle::wrinkle(options, &arguments.talk),
        Some(Command::Export(options)) => export::export_command(options, &arguments.talk),
        Some(Command::Render(options)) => export::render_command(options, &arguments.talk),
    };
    match result.and_then(|()| printed()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // A run that was interrupted has said so already.
            if !matches!(failure, Failure::Interrupted) {
                complain(&format!("plisse: {failure}"));
            }
            failure.status()
        }
    }
}
