//! Pictures that appear while a run goes on.

use std::path::PathBuf;

use plisse::file::Loaded;
use plisse::io::scene_file::{Kept, Which};

use crate::error::Failure;
use crate::folder::{Folder, frame_name};
use crate::picture::{Bounds, View};
use crate::reel::Reel;

/// Takes a picture of each frame as soon as it is done.
///
/// Where the file fixes the view, these are the pictures, and the film is made of them. Elsewhere
/// the camera frames what there is at the start, and pictures of half the size are shown until the
/// last frame is known: then all are taken again.
pub(crate) struct Live {
    view: View,
    folder: PathBuf,
    /// Where the pictures stay.
    reel: Option<Reel>,
}

impl Live {
    /// For frames from `frame` to `last`; none if the scene does not ask for all pictures, or if
    /// they could not be taken again.
    pub(crate) fn new(
        loaded: &Loaded,
        folder: &Folder,
        frame: u32,
        last: u32,
    ) -> Result<Option<Self>, Failure> {
        let output = &loaded.file.output;
        let (scene, file) = (&loaded.scene, &loaded.file);
        let is_known = View::is_known(file, scene.obstacles());
        if output.pictures != Which::All || (!is_known && output.checkpoints == Kept::Last) {
            return Ok(None);
        }
        folder.is_plain()?;
        let mut bounds = Bounds::none();
        bounds.add(scene.state().x().as_slice());
        bounds.add_obstacles(scene.obstacles(), scene.time());
        let half = file.camera.size.map(|pixels| (pixels.0 / 2).max(16));
        let mut view = View::new(file, scene.obstacles(), &bounds, (!is_known).then_some(half))?;
        if !is_known {
            view.widen(loaded, scene.state());
        }
        let folder = folder.root.join("pictures");
        // A run that goes on lacks the first part of its film.
        let reel = (is_known && frame == 0)
            .then(|| Reel::new(&folder, last as usize + 1, file.time.frames_per_second.get()));
        Ok(Some(Self { view, folder, reel }))
    }

    /// The picture of the scene as it is now.
    pub(crate) fn take(&mut self, frame: u32, loaded: &Loaded) -> Result<(), Failure> {
        let picture = self.view.take(loaded, loaded.scene.state())?;
        match &mut self.reel {
            Some(reel) => reel.take(frame, &picture),
            None => Ok(picture.write_png(&self.folder.join(frame_name(frame, "png")))?),
        }
    }

    /// Makes the film, if the pictures stay: then how many there are.
    pub(crate) fn finish(self) -> Result<Option<usize>, Failure> {
        let Some(reel) = self.reel else { return Ok(None) };
        let taken = reel.taken();
        reel.finish()?;
        Ok(Some(taken))
    }
}
