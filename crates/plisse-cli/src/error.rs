//! Why a command failed, and with which status.

use std::process::ExitCode;

use plisse::file::LoadError;
use plisse::io::{FileError, ObjError, WriteError};
use plisse::picture::RenderError;
use plisse::scene::CheckpointError;
use plisse::system::StepError;
use plisse::wrinkle::WrinkleError;
use thiserror::Error;

/// Why a command failed.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Load(#[from] LoadError),
    #[error("{0}")]
    Mesh(#[from] ObjError),
    #[error("{0}")]
    Input(String),
    #[error("{path}: {source}")]
    Checkpoint { path: String, source: CheckpointError },
    #[error(
        "{path} is of another scene: a body, an obstacle, a mesh, gravity or the air has changed since. Run it again"
    )]
    OtherScene { path: String },
    #[error("cannot write to standard output: {0}")]
    Print(String),
    #[error("{0}")]
    Step(#[from] StepError),
    #[error("frame {frame}: {source}")]
    WrinkleFrame { frame: u32, source: WrinkleError },
    #[error("{0}")]
    File(#[from] FileError),
    #[error("{0}")]
    Write(#[from] WriteError),
    #[error("{0}")]
    Render(#[from] RenderError),
    #[error("{0}")]
    Wrinkle(#[from] WrinkleError),
    #[error("{0}")]
    NotConverged(String),
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// 2 for input, 3 for convergence, 4 for files, 130 as shells have it for an interrupt.
    pub(crate) fn status(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Load(_)
            | Self::Mesh(_)
            | Self::Input(_)
            | Self::Checkpoint { .. }
            | Self::OtherScene { .. }
            | Self::Render(_)
            | Self::Wrinkle(_) => 2,
            Self::File(FileError::Read { .. } | FileError::NotText { .. } | FileError::TooLarge { .. }) => 2,
            Self::Step(_) | Self::NotConverged(_) | Self::WrinkleFrame { .. } => 3,
            Self::File(_) | Self::Write(_) | Self::Print(_) => 4,
            Self::Interrupted => 130,
        })
    }
}
