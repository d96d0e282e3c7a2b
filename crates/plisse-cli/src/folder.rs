//! The folder of a run: what it contains, and where.

use std::fs;
use std::path::{Path, PathBuf};

use plisse::file::Loaded;
use plisse::io::{read_bytes, read_text, write_atomically};
use plisse::scene::Checkpoint;
use serde_json::{Value, json};

use crate::error::Failure;

/// The scene that runs when nothing is said.
pub(crate) const EMBEDDED: &str = include_str!("default.toml");
/// How it is called in files and messages.
pub(crate) const EMBEDDED_NAME: &str = "the built-in scene";

/// The folder of a run.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) root: PathBuf,
}

impl Folder {
    pub(crate) fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub(crate) fn checkpoint(&self, frame: u32) -> PathBuf {
        self.root.join("checkpoints").join(format!("frame_{frame:04}.plisse"))
    }

    pub(crate) fn report(&self) -> PathBuf {
        self.root.join("report.jsonl")
    }

    /// Removes what an earlier run has left, if this is the folder of a run.
    pub(crate) fn clear(&self) -> Result<(), Failure> {
        if !self.root.join("run.json").exists() {
            return Ok(());
        }
        let remove = |error: std::io::Error, path: PathBuf| {
            Failure::Input(format!("cannot remove {}: {error}", path.display()))
        };
        for name in ["checkpoints", "pictures", "meshes", "vtk"] {
            let path = self.root.join(name);
            if path.is_dir() {
                fs::remove_dir_all(&path).map_err(|error| remove(error, path))?;
            }
        }
        for name in ["outcome.json", "report.jsonl", "run.json", "energies.svg", "frames.pc2"] {
            let path = self.root.join(name);
            if path.exists() {
                fs::remove_file(&path).map_err(|error| remove(error, path))?;
            }
        }
        Ok(())
    }

    /// Writes down which scene this is a run of.
    pub(crate) fn begin(&self, scene: Option<&Path>) -> Result<(), Failure> {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let scene = scene.map_or(Value::Null, |path| json!(absolute(path).to_string_lossy()));
        self.write_json("run.json", &json!({ "plisse": env!("CARGO_PKG_VERSION"), "scene": scene }))
    }

    /// Writes down how it ended.
    pub(crate) fn end(&self, outcome: &Value) -> Result<(), Failure> {
        self.write_json("outcome.json", outcome)
    }

    fn write_json(&self, name: &str, value: &Value) -> Result<(), Failure> {
        let text = format!("{value:#}\n");
        Ok(write_atomically(&self.root.join(name), |out| out.write_all(text.as_bytes()))?)
    }

    /// The scene of this run, and the path it came from; none for the one that is built in.
    pub(crate) fn scene(&self) -> Result<(Loaded, Option<PathBuf>), Failure> {
        let path = self.root.join("run.json");
        let text = read_text(&path).map_err(|error| {
            Failure::Input(format!("{} is not the folder of a run: {error}", self.root.display()))
        })?;
        let wrong = || Failure::Input(format!("{} is damaged; run the scene again", path.display()));
        let value: Value = serde_json::from_str(&text).map_err(|_| wrong())?;
        match value.get("scene") {
            Some(Value::Null) => Ok((embedded()?, None)),
            Some(Value::String(scene)) => {
                let scene = PathBuf::from(scene);
                Ok((Loaded::read(&scene)?, Some(scene)))
            }
            _ => Err(wrong()),
        }
    }

    /// Frames that have a checkpoint, ascending.
    pub(crate) fn frames(&self) -> Vec<u32> {
        let entries = fs::read_dir(self.root.join("checkpoints")).into_iter().flatten().flatten();
        let number = |name: String| name.strip_prefix("frame_")?.strip_suffix(".plisse")?.parse().ok();
        let mut frames: Vec<u32> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).filter_map(number).collect();
        frames.sort_unstable();
        frames
    }

    pub(crate) fn save(&self, checkpoint: &Checkpoint) -> Result<(), Failure> {
        let bytes = checkpoint.to_bytes();
        Ok(write_atomically(&self.checkpoint(checkpoint.frame), |out| out.write_all(&bytes))?)
    }

    /// Forgets a frame.
    pub(crate) fn discard(&self, frame: u32) {
        // A file that cannot be removed does no harm.
        _ = fs::remove_file(self.checkpoint(frame));
    }

    /// The checkpoint of a frame, if it belongs to this scene.
    pub(crate) fn load(&self, frame: u32, loaded: &Loaded) -> Result<Checkpoint, Failure> {
        let path = self.checkpoint(frame);
        let checkpoint = Checkpoint::from_bytes(&read_bytes(&path)?)
            .map_err(|source| Failure::Checkpoint { path: path.display().to_string(), source })?;
        let expected = loaded.scene.state().x().len();
        if checkpoint.tag != loaded.tag || checkpoint.state.x().len() != expected {
            return Err(Failure::Input(format!(
                "{} is of another scene: the scene file or one of its meshes has changed since. Run it again",
                path.display()
            )));
        }
        Ok(checkpoint)
    }
}

/// The scene that is built in.
pub(crate) fn embedded() -> Result<Loaded, Failure> {
    Loaded::parse(EMBEDDED, EMBEDDED_NAME, Path::new("")).map_err(|mistakes| Failure::Load(mistakes.into()))
}
