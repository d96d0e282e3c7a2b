//! What can be said on the command line.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use crate::moduli::ModuliOptions;
use crate::wrinkle::WrinkleOptions;

/// Simulates cloth, shells and wires from scene files.
///
/// Without a command it runs a scene that is built in, in a new folder each time, and says where
/// the results are.
///
/// Exit status: 0 success, 2 mistakes in the input or crossings that `info` finds, 3 a step did not
/// converge, 4 a file could not be written, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "plisse", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// How much is said.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Talk {
    /// Say nothing but mistakes.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Print the report as JSON lines on standard output instead of progress.
    #[arg(long, global = true, conflicts_with = "quiet")]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scene file.
    Run(RunOptions),
    /// Say everything that is wrong with scene files, without running them.
    Check {
        /// Scene files (TOML).
        #[arg(required = true)]
        scenes: Vec<PathBuf>,
    },
    /// List the materials with their figures and sources.
    Materials,
    Moduli(Box<ModuliOptions>),
    Info(InfoOptions),
    /// Make pictures of a run again, from another side or with other colours.
    Render(RenderArguments),
    Export(ExportArguments),
    Wrinkle(Box<WrinkleOptions>),
    /// Go on with a run that was interrupted.
    Resume(ResumeOptions),
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// The scene file (TOML).
    pub(crate) scene: PathBuf,
    /// Folder for the results; out/NAME OF THE SCENE if nothing is said. It must be new, or empty,
    /// or see --force.
    #[arg(long, short)]
    pub(crate) out: Option<PathBuf>,
    /// Replace an earlier run of this scene. Nothing else is ever replaced.
    #[arg(long)]
    pub(crate) force: bool,
    /// Stop after this frame; `plisse resume` goes on.
    #[arg(long)]
    pub(crate) stop_after: Option<u32>,
}

/// Say what is in an OBJ mesh and whether it can be simulated, or what crosses in a run.
///
/// Of the folder of a run, triangles of cloths, boxes and meshes are compared in exact arithmetic.
/// Pairs that cross are named by body, face (counted from 0) and place, and the exit status is 2.
/// Bodies with self_contact = false may cross themselves: their pairs are counted and no mistake.
#[derive(Debug, Args)]
pub(crate) struct InfoOptions {
    /// The mesh, or the folder of a run.
    pub(crate) path: PathBuf,
    /// Of a run, the frame to look at instead of the last one: a number, or all.
    #[arg(long, value_parser = frames)]
    pub(crate) frame: Option<Frames>,
}

/// Which frames of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Frames {
    #[default]
    Last,
    All,
    One(u32),
}

#[derive(Debug, Args)]
pub(crate) struct ResumeOptions {
    /// Folder of the run.
    pub(crate) folder: PathBuf,
    /// Go on from this frame instead of the last one.
    #[arg(long)]
    pub(crate) from: Option<u32>,
    /// Stop after this frame.
    #[arg(long)]
    pub(crate) stop_after: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct RenderArguments {
    /// Folder of the run.
    pub(crate) folder: PathBuf,
    /// Only this frame.
    #[arg(long)]
    pub(crate) frame: Option<u32>,
    /// Folder for the pictures; `pictures` in that of the run if nothing is said. Pictures of these
    /// frames are replaced.
    #[arg(long, short)]
    pub(crate) out: Option<PathBuf>,
    /// Where the camera is, in metres: x,y,z.
    #[arg(long, value_parser = vector, allow_hyphen_values = true)]
    pub(crate) from: Option<glam::DVec3>,
    /// What it looks at, in metres: x,y,z.
    #[arg(long, value_parser = vector, allow_hyphen_values = true)]
    pub(crate) at: Option<glam::DVec3>,
    /// Width and height in pixels: 1280x960.
    #[arg(long, value_parser = size)]
    pub(crate) size: Option<[u32; 2]>,
    /// Draw the edges of the mesh.
    #[arg(long)]
    pub(crate) wireframe: bool,
    /// What colours show.
    #[arg(long)]
    pub(crate) colour_by: Option<Colouring>,
}

/// Write meshes of a run, finished or not, whatever its scene asks for.
///
/// Obstacles are written as triangles, but for planes. A PC2 file has one object, as Blender
/// imports it from the OBJ file of frame 0. Files of these names are replaced.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("formats").required(true).multiple(true))]
pub(crate) struct ExportArguments {
    /// Folder of the run.
    pub(crate) folder: PathBuf,
    /// OBJ meshes: bodies in `meshes`, obstacles in `obstacles`.
    #[arg(long, group = "formats")]
    pub(crate) obj: bool,
    /// A PC2 point cache for each body and each moving obstacle, in `pc2`.
    #[arg(long, group = "formats", conflicts_with = "frame")]
    pub(crate) pc2: bool,
    /// VTK files for ParaView, in `vtk`.
    #[arg(long, group = "formats")]
    pub(crate) vtk: bool,
    /// Only this frame.
    #[arg(long)]
    pub(crate) frame: Option<u32>,
    /// Folder for the files; that of the run if nothing is said.
    #[arg(long, short)]
    pub(crate) out: Option<PathBuf>,
    /// The axis that points up in the files; that of the scene if nothing is said. Blender's OBJ
    /// importer expects y.
    #[arg(long)]
    pub(crate) up: Option<Axis>,
}

/// An axis that points up.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Axis {
    Y,
    Z,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Colouring {
    Material,
    Strain,
    Speed,
    Height,
}

fn frames(text: &str) -> Result<Frames, String> {
    match text {
        "all" => Ok(Frames::All),
        number => number.parse().map(Frames::One).map_err(|_| "give a number, or all".to_owned()),
    }
}

fn vector(text: &str) -> Result<glam::DVec3, String> {
    let parts: Vec<f64> = text
        .split(',')
        .map(|part| part.trim().parse::<f64>().ok().filter(|x| x.is_finite()))
        .collect::<Option<_>>()
        .ok_or("give three finite numbers: x,y,z")?;
    <[f64; 3]>::try_from(parts).map(Into::into).map_err(|_| "give three numbers: x,y,z".to_owned())
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let parts =
        text.split_once('x').and_then(|(w, h)| Some([w.trim().parse().ok()?, h.trim().parse().ok()?]));
    parts
        .filter(|sides| sides.iter().all(|s| (16..=8192).contains(s)))
        .ok_or_else(|| "give width and height, 16 to 8192 each, as 1280x960".to_owned())
}
