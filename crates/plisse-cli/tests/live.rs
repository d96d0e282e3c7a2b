//! Pictures appear while a run goes on, and are those that `plisse render` makes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn scene(duration: f64, camera: &str) -> String {
    format!(
        r#"
version = 1
time = {{ duration = {duration}, frames_per_second = 25, step = 0.01 }}
camera = {{ size = [64, 48]{camera} }}
[[cloth]]
grid = {{ cells = [6, 6], size = [0.5, 0.5] }}
material = "denim"
pin = [{{ group = "corners" }}]
"#
    )
}

/// Says all of a view.
const FIXED: &str = ", from = [1, -2, 1], at = [0, 0, 0], ground_height = -1";

fn plisse(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plisse"));
    command.args(arguments).current_dir(folder).stderr(Stdio::null());
    command
}

#[test]
fn pictures_are_there_before_the_end() {
    for camera in [FIXED, ""] {
        let folder = tempfile::tempdir().unwrap();
        // Long enough not to end while it is looked at.
        fs::write(folder.path().join("s.toml"), scene(4000.0, camera)).unwrap();
        let mut run = plisse(folder.path(), &["run", "s.toml"]).spawn().unwrap();
        let picture = folder.path().join("out/s/pictures/frame_0002.png");
        let begun = Instant::now();
        while !picture.exists() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let goes_on = run.try_wait().unwrap().is_none();
        run.kill().unwrap();
        run.wait().unwrap();
        assert!(goes_on && picture.exists(), "no picture after {:?}", begun.elapsed());
        assert!(!folder.path().join("out/s/outcome.json").exists());
    }
}

#[test]
fn they_are_the_pictures_of_the_checkpoints() {
    // By a camera of its own all are taken again at the end, in the size that was asked for.
    for camera in [FIXED, ""] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("s.toml"), scene(0.2, camera)).unwrap();
        // In two parts: the second lacks the first pictures of its film.
        for part in [&["run", "s.toml", "--stop-after", "2"][..], &["resume", "out/s"]] {
            assert!(plisse(folder.path(), part).status().unwrap().success());
        }
        let again = plisse(folder.path(), &["render", "out/s", "--out", "again"]).status();
        assert!(again.unwrap().success());
        for name in (0..=5).map(|frame| format!("frame_{frame:04}.png")).chain(["film.png".to_owned()]) {
            let [a, b] =
                ["out/s/pictures", "again"].map(|part| fs::read(folder.path().join(part).join(&name)));
            assert!(a.unwrap() == b.unwrap(), "{name} with camera {camera:?}");
        }
    }
}
