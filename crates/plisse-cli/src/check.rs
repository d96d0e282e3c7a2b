//! `plisse check`.

use std::path::PathBuf;

use plisse::file::AnyScene;

use crate::arguments::Talk;
use crate::error::Failure;
use crate::progress::{complain, out, suspect};

/// Loads every scene and says all that is wrong or suspicious about each.
pub(crate) fn check(scenes: &[PathBuf], talk: &Talk) -> Result<(), Failure> {
    let mut wrong = 0;
    for path in scenes {
        match AnyScene::read(path) {
            Ok(_) if talk.quiet => {}
            Ok(scene) => {
                suspect(talk, Some(path), scene.warnings());
                let ok = match scene.warnings().len() {
                    0 => "ok".to_owned(),
                    1 => "ok with a warning".to_owned(),
                    n => format!("ok with {n} warnings"),
                };
                out!("{}: {ok}, {}", path.display(), summary(&scene));
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

fn summary(scene: &AnyScene) -> String {
    match scene {
        AnyScene::Wrinkle(loaded) => {
            let scene = &loaded.scene;
            let (vertices, faces) = (scene.mesh().vertex_count(), scene.mesh().face_count());
            let obstacles = scene.obstacles().len();
            format!("wrinkles on {vertices} vertices, {faces} faces, {obstacles} obstacles")
        }
        AnyScene::Elastic(loaded) => {
            let scene = &loaded.scene;
            format!(
                "{} bodies, {} vertices, {} obstacles, {} unknowns",
                scene.bodies().len(),
                scene.state().x().len(),
                scene.obstacles().len(),
                scene.system().pattern().layout().unknowns()
            )
        }
    }
}
