//! Pictures, meshes and caches from the checkpoints of a run.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use glam::DVec3;
use plisse::file::Loaded;
use plisse::io::scene_file::{ColourBy, Up, Which};
use plisse::scene::Checkpoint;

use crate::arguments::{Axis, Colouring, ExportArguments, Frames, RenderArguments, Talk};
use crate::error::Failure;
use crate::folder::Folder;
use crate::meshes::Meshes;
use crate::picture::{Bounds, View};
use crate::progress::{Progress, say};
use crate::reel::{Reel, SHORTEST};

/// Makes everything that the scene asks for, and says what there is. `taken` pictures are there
/// already.
pub(crate) fn export(
    loaded: &Loaded,
    folder: &Folder,
    talk: &Talk,
    interrupted: &AtomicBool,
    taken: Option<usize>,
) -> Result<String, Failure> {
    let output = &loaded.file.output;
    let frames = folder.frames();
    folder.is_plain()?;
    let mut made = String::new();
    let mut list = |what: &str, text: &str| _ = writeln!(made, "  {what:<24} {text}");
    list("report.jsonl", "every step: energies, iterations, residuals");
    list("energies.svg", "energies over time");
    list("checkpoints/", "states, for `plisse resume` and `plisse render`");
    let writer = Meshes { loaded, folder, out: &folder.root, turn: |x| x, talk, interrupted };
    let meshes = chosen(&frames, output.meshes);
    writer.obj(&meshes)?;
    if !meshes.is_empty() {
        list("meshes/", "OBJ, those of obstacles in obstacles/");
    }
    if output.pc2 {
        writer.pc2(&frames)?;
        list("pc2/", "point caches for Blender");
    }
    if output.vtk {
        writer.vtk(&frames)?;
        list("vtk/", "series for ParaView");
    }
    let pictures = chosen(&frames, output.pictures);
    if let Some(taken) = taken {
        list("pictures/", pictures_made(taken));
    } else if !pictures.is_empty() {
        let view = view_of(loaded, folder, &frames, None)?;
        pictures_of(loaded, folder, &pictures, view, &folder.root.join("pictures"), talk, interrupted)?;
        list("pictures/", pictures_made(pictures.len()));
    }
    Ok(made.trim_end().to_owned())
}

/// What a folder of pictures has.
pub(crate) fn pictures_made(pictures: usize) -> &'static str {
    if pictures < SHORTEST { "PNG" } else { "PNG, and film.png, which browsers play" }
}

/// `plisse render`.
pub(crate) fn render_command(arguments: &RenderArguments, talk: &Talk) -> Result<(), Failure> {
    let folder = Folder::new(&arguments.folder);
    let (loaded, _) = folder.scene()?;
    let frames = folder.chosen(arguments.frame.map_or(Frames::All, Frames::One))?;
    let mut view = view_of(&loaded, &folder, &folder.frames(), arguments.size)?;
    view.camera.from = arguments.from.unwrap_or(view.camera.from);
    view.camera.at = arguments.at.unwrap_or(view.camera.at);
    view.wireframe |= arguments.wireframe;
    if let Some(colouring) = arguments.colour_by {
        view.colour_by = match colouring {
            Colouring::Material => ColourBy::Material,
            Colouring::Strain => ColourBy::Strain,
            Colouring::Speed => ColourBy::Speed,
            Colouring::Height => ColourBy::Height,
        };
    }
    folder.is_plain()?;
    let out = arguments.out.clone().unwrap_or_else(|| folder.root.join("pictures"));
    pictures_of(&loaded, &folder, &frames, view, &out, talk, &AtomicBool::new(false))?;
    say(talk, &format!("pictures in {}", out.display()));
    Ok(())
}

/// `plisse export`.
pub(crate) fn export_command(arguments: &ExportArguments, talk: &Talk) -> Result<(), Failure> {
    let folder = Folder::new(&arguments.folder);
    let (loaded, _) = folder.scene()?;
    let frames = folder.chosen(arguments.frame.map_or(Frames::All, Frames::One))?;
    if arguments.out.is_none() {
        folder.is_plain()?;
    }
    let turn: fn(DVec3) -> DVec3 = match (loaded.file.up == Up::Y, arguments.up) {
        (false, Some(Axis::Y)) => |x| DVec3::new(x.x, x.z, -x.y),
        (true, Some(Axis::Z)) => |x| DVec3::new(x.x, -x.z, x.y),
        _ => |x| x,
    };
    let out = arguments.out.as_deref().unwrap_or(&folder.root);
    let interrupted = AtomicBool::new(false);
    let writer = Meshes { loaded: &loaded, folder: &folder, out, turn, talk, interrupted: &interrupted };
    let mut made = Vec::new();
    if arguments.obj {
        writer.obj(&frames)?;
        made.push("meshes/");
    }
    if arguments.pc2 {
        writer.pc2(&frames)?;
        made.push("pc2/");
    }
    if arguments.vtk {
        writer.vtk(&frames)?;
        made.push("vtk/");
    }
    say(talk, &format!("{} frames in {}: {}", frames.len(), out.display(), made.join(", ")));
    Ok(())
}

pub(crate) fn chosen(frames: &[u32], which: Which) -> Vec<u32> {
    match which {
        Which::None => Vec::new(),
        Which::All => frames.to_vec(),
        Which::Last => {
            let mut ends: Vec<u32> = frames.first().into_iter().chain(frames.last()).copied().collect();
            ends.dedup();
            ends
        }
    }
}

/// The view of the file; a camera of its own sees all frames.
fn view_of(
    loaded: &Loaded,
    folder: &Folder,
    frames: &[u32],
    size: Option<[u32; 2]>,
) -> Result<View, Failure> {
    let mut bounds = Bounds::none();
    for frame in frames {
        let state = folder.load(*frame, loaded)?.state;
        bounds.add(state.x().as_slice());
        bounds.add_obstacles(loaded.scene.obstacles(), state.time());
    }
    View::new(&loaded.file, loaded.scene.obstacles(), &bounds, size)
}

fn pictures_of(
    loaded: &Loaded,
    folder: &Folder,
    frames: &[u32],
    mut view: View,
    out: &Path,
    talk: &Talk,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    if view.colour_by != ColourBy::Material {
        // Of all frames, so that a single picture has the colours of the film.
        for frame in &folder.frames() {
            let checkpoint: Checkpoint = folder.load(*frame, loaded)?;
            view.widen(loaded, &checkpoint.state);
        }
    }
    let mut progress = Progress::new(talk, "picture", 0, frames.len() as u32);
    let mut reel = Reel::new(out, frames.len(), loaded.file.time.frames_per_second.get());
    for (count, frame) in (1..).zip(frames) {
        go_on(talk, interrupted).inspect_err(|_| progress.finish())?;
        let state = folder.load(*frame, loaded)?.state;
        reel.take(*frame, &view.take(loaded, &state)?)?;
        progress.done(count, "picture");
    }
    progress.finish();
    reel.finish()
}

/// An error after Ctrl-C.
pub(crate) fn go_on(talk: &Talk, interrupted: &AtomicBool) -> Result<(), Failure> {
    if interrupted.load(Ordering::Relaxed) {
        say(
            talk,
            "interrupted; the simulation is done: `plisse resume` makes what is missing, `plisse render` the pictures alone",
        );
        return Err(Failure::Interrupted);
    }
    Ok(())
}
