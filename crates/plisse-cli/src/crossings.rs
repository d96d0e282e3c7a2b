//! `plisse info` of the folder of a run: whether anything crosses anything in its frames.

use std::collections::BTreeMap;
use std::path::Path;

use plisse::file::Loaded;
use plisse::scene::Crossings;

use crate::arguments::Frames;
use crate::error::Failure;
use crate::folder::Folder;
use crate::progress::out;

/// How many pairs of triangles are named in each frame.
const NAMED: usize = 5;

/// Says which triangles cross in some frames of a run.
pub(crate) fn info(path: &Path, frames: Frames) -> Result<(), Failure> {
    let folder = Folder::new(path);
    let (mut loaded, _) = folder.scene()?;
    let kept = folder.frames();
    let last = kept.last().map_or("none".to_owned(), u32::to_string);
    out!("{}", path.display());
    out!("  a run, {}: {} frames are kept, the last is {last}", folder.outcome(), kept.len());
    let frames = folder.chosen(frames)?;
    let mut crossed = Vec::new();
    let mut said = false;
    for frame in frames {
        let (time, found) = crossings(&folder, &mut loaded, frame)?;
        if !said {
            checked(&found);
            said = true;
        }
        out!("  frame {frame}, t = {time:.3} s: {}", count(found.forbidden.len()));
        tell(&found);
        if !found.forbidden.is_empty() {
            crossed.push(frame.to_string());
        }
    }
    match crossed.len() {
        0 => Ok(()),
        1 => Err(Failure::Input(format!("{}: triangles cross in frame {}", path.display(), crossed[0]))),
        n => Err(Failure::Input(format!(
            "{}: triangles cross in {n} frames, the first is {}",
            path.display(),
            crossed[0]
        ))),
    }
}

fn crossings(folder: &Folder, loaded: &mut Loaded, frame: u32) -> Result<(f64, Crossings), Failure> {
    let checkpoint = folder.load(frame, loaded)?;
    loaded.scene.set_state(checkpoint.state).map_err(Failure::Step)?;
    Ok((loaded.scene.time(), loaded.scene.crossings()))
}

/// Says what was compared.
fn checked(found: &Crossings) {
    let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    out!("  triangles are compared of: {}", list(&found.checked));
    if !found.unchecked.is_empty() {
        out!("  without triangles, not compared: {}", list(&found.unchecked));
    }
}

/// Names the first pairs, and counts those that may cross.
fn tell(found: &Crossings) {
    for faces in found.forbidden.iter().take(NAMED) {
        out!("    {faces}");
    }
    if let Some(more @ 1..) = found.forbidden.len().checked_sub(NAMED) {
        out!("    and {more} more");
    }
    let mut allowed = BTreeMap::new();
    for (faces, reason) in &found.allowed {
        *allowed.entry((*reason, &faces.bodies)).or_insert(0_usize) += 1;
    }
    for ((reason, [a, b]), number) in allowed {
        let who = if a == b { format!("{a} with itself") } else { format!("{a} with {b}") };
        out!("    may cross: {number} pairs of {who}, {reason}");
    }
}

fn count(crossings: usize) -> String {
    match crossings {
        1 => "1 crossing".to_owned(),
        n => format!("{n} crossings"),
    }
}
