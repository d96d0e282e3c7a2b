//! Pictures, meshes and caches from the checkpoints of a run.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use plisse::core::Vertices;
use plisse::file::Loaded;
use plisse::io::scene_file::{ColourBy, Which};
use plisse::io::{ObjSource, VtkCellScalars, VtkFrame, write_obj, write_pc2, write_vtk, write_vtk_series};
use plisse::scene::Checkpoint;
use plisse::system::State;

use crate::arguments::{Colouring, Frames, RenderArguments, Talk};
use crate::error::Failure;
use crate::folder::{Folder, frame_name};
use crate::picture::{Bounds, View};
use crate::progress::{Progress, say};
use crate::reel::{Reel, SHORTEST};
use crate::shown::Shown;

/// Makes everything that the scene asks for, and says what there is.
pub(crate) fn export(
    loaded: &Loaded,
    folder: &Folder,
    talk: &Talk,
    interrupted: &AtomicBool,
) -> Result<String, Failure> {
    let output = &loaded.file.output;
    let frames = folder.frames();
    folder.is_plain()?;
    let mut made = String::new();
    let mut list = |what: &str, text: &str| _ = writeln!(made, "  {what:<24} {text}");
    list("report.jsonl", "every step: energies, iterations, residuals");
    list("energies.svg", "energies over time");
    list("checkpoints/", "states, for `plisse resume` and `plisse render`");
    let meshes = chosen(&frames, output.meshes);
    for frame in &meshes {
        go_on(talk, interrupted)?;
        let state = folder.load(*frame, loaded)?.state;
        mesh(loaded, &state, &folder.root.join("meshes").join(frame_name(*frame, "obj")))?;
    }
    if !meshes.is_empty() {
        list("meshes/", "OBJ");
    }
    if output.pc2 {
        point_cache(loaded, folder, &frames)?;
        list("frames.pc2", "point cache for Blender");
    }
    if output.vtk {
        vtk(loaded, folder, &frames, talk, interrupted)?;
        list("vtk/", "series for ParaView");
    }
    let pictures = chosen(&frames, output.pictures);
    if !pictures.is_empty() {
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
fn go_on(talk: &Talk, interrupted: &AtomicBool) -> Result<(), Failure> {
    if interrupted.load(Ordering::Relaxed) {
        say(
            talk,
            "interrupted; the simulation is done: `plisse resume` makes what is missing, `plisse render` the pictures alone",
        );
        return Err(Failure::Interrupted);
    }
    Ok(())
}

/// One frame in memory at a time.
fn point_cache(loaded: &Loaded, folder: &Folder, frames: &[u32]) -> Result<(), Failure> {
    let mut failure = None;
    let positions = frames.iter().map(|frame| match folder.load(*frame, loaded) {
        Ok(checkpoint) => Shown::new(loaded.scene.bodies(), &checkpoint.state).positions,
        Err(error) => {
            // A frame of another size makes the writer stop; the reason is this one.
            failure.get_or_insert(error);
            Vec::new()
        }
    });
    let result = write_pc2(&folder.root.join("frames.pc2"), 0.0, 1.0, positions);
    match failure {
        Some(failure) => Err(failure),
        None => Ok(result?),
    }
}

fn mesh(loaded: &Loaded, state: &State<Vertices>, path: &Path) -> Result<(), Failure> {
    let shown = Shown::new(loaded.scene.bodies(), state);
    Ok(write_obj(path, &ObjSource { positions: &shown.positions, parts: &shown.parts() })?)
}

fn vtk(
    loaded: &Loaded,
    folder: &Folder,
    frames: &[u32],
    talk: &Talk,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    let mut files = Vec::new();
    for frame in frames {
        go_on(talk, interrupted)?;
        let state = folder.load(*frame, loaded)?.state;
        let shown = Shown::new(loaded.scene.bodies(), &state);
        let strain = shown.on_points(|body| body.strain(&state));
        let velocity = shown.on_points(|body| state.v().as_slice()[body.vertices.clone()].to_vec());
        let yarns = shown.yarns();
        let yarns = yarns.as_ref().map(|[segments, faces]| VtkCellScalars { name: "yarn", segments, faces });
        let name = frame_name(*frame, "vtk");
        let content = VtkFrame {
            title: loaded.file.title.as_deref().unwrap_or("plisse"),
            positions: &shown.positions,
            segments: &shown.segments(),
            faces: &shown.faces(),
            point_scalars: &[("strain", &strain)],
            point_vectors: &[("velocity", &velocity)],
            cell_scalars: yarns.as_slice(),
        };
        write_vtk(&folder.root.join("vtk").join(&name), &content)?;
        files.push((name, state.time()));
    }
    Ok(write_vtk_series(&folder.root.join("vtk/frames.vtk.series"), &files)?)
}
