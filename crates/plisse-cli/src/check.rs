//! `plisse check`.

use std::path::PathBuf;

use plisse::file::AnyScene;

use crate::arguments::Talk;
use crate::error::Failure;
use crate::progress::{complain, out};

/// Loads every scene and says all that is wrong with each.
pub(crate) fn check(scenes: &[PathBuf], talk: &Talk) -> Result<(), Failure> {
    let mut wrong = 0;
    for path in scenes {
        match AnyScene::read(path) {
            Ok(_) if talk.quiet => {}
            Ok(AnyScene::Wrinkle(loaded)) => {
                let scene = &loaded.scene;
                let (vertices, faces) = (scene.mesh().vertex_count(), scene.mesh().face_count());
                let obstacles = scene.obstacles().len();
                out!(
                    "{}: ok, wrinkles on {vertices} vertices, {faces} faces, {obstacles} obstacles",
                    path.display()
                );
            }
            Ok(AnyScene::Elastic(loaded)) => {
                let scene = &loaded.scene;
                out!(
                    "{}: ok, {} bodies, {} vertices, {} obstacles, {} unknowns",
                    path.display(),
                    scene.bodies().len(),
                    scene.state().x().len(),
                    scene.obstacles().len(),
                    3 * scene.system().unknowns().len()
                );
            }
            Err(error) => {
                wrong += 1;
                complain(&error.to_string());
            }
        }
    }
    match (wrong, scenes.len()) {
        (0, _) => Ok(()),
        (_, 1) => Err(Failure::Input("the scene has mistakes; see above".to_owned())),
        (wrong, all) => Err(Failure::Input(format!("{wrong} of {all} scenes have mistakes; see above"))),
    }
}
