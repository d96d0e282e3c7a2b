//! The folder of a run: what it contains, and where.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use plisse::file::{AnyScene, Loaded};
use plisse::io::{FileError, read_bytes, read_text, write_atomically};
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
    /// Tells this run from every other.
    id: String,
}

impl Folder {
    pub(crate) fn new(root: impl Into<PathBuf>) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        Self { root: root.into(), id: format!("{}-{now}", std::process::id()) }
    }

    pub(crate) fn checkpoint(&self, frame: u32) -> PathBuf {
        self.root.join("checkpoints").join(frame_name(frame, "plisse"))
    }

    pub(crate) fn report(&self) -> PathBuf {
        self.root.join("report.jsonl")
    }

    /// Takes the folder for this run: refuses that of another scene, and removes what an earlier run of the same scene has left, but
    /// nothing else. The record is replaced first and never missing, so that an earlier run which still goes on finds out at once.
    pub(crate) fn take(&self, scene: Option<&Path>) -> Result<(), Failure> {
        let record = self.root.join("run.json");
        if !record.exists() {
            return self.begin(scene);
        }
        let value: Value =
            read_text(&record).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null);
        if value.get("plisse").is_none() || value.get("scene") != Some(&scene_name(scene)) {
            return Err(Failure::Input(format!(
                "{} holds something else than a run of this scene; choose another folder with --out, or remove it",
                self.root.display()
            )));
        }
        self.begin(scene)?;
        for (folder, suffix) in
            [("checkpoints", "plisse"), ("pictures", "png"), ("meshes", "obj"), ("vtk", "vtk")]
        {
            let folder = self.root.join(folder);
            for frame in numbered(&folder, suffix) {
                remove(&folder.join(frame_name(frame, suffix)))?;
            }
        }
        for name in ["outcome.json", "report.jsonl", "energies.svg", "frames.pc2", "vtk/frames.vtk.series"] {
            remove(&self.root.join(name))?;
        }
        Ok(())
    }

    /// Forgets how an earlier part of the run ended.
    pub(crate) fn reopen(&self) -> Result<(), Failure> {
        remove(&self.root.join("outcome.json"))
    }

    /// Writes down which scene this is a run of.
    pub(crate) fn begin(&self, scene: Option<&Path>) -> Result<(), Failure> {
        let version = env!("CARGO_PKG_VERSION");
        self.write_json("run.json", &json!({ "plisse": version, "scene": scene_name(scene), "id": self.id }))
    }

    /// An error once another run has begun here: two that write into one folder would destroy each other's results.
    pub(crate) fn still_ours(&self) -> Result<(), Failure> {
        let text = read_text(&self.root.join("run.json"))?;
        let record: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        if record["id"].as_str() == Some(&self.id) {
            return Ok(());
        }
        let folder = self.root.display();
        Err(Failure::Input(format!(
            "another run has begun in {folder}; this one ends here and leaves it alone"
        )))
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
                match AnyScene::read(&scene)? {
                    AnyScene::Elastic(loaded) => Ok((*loaded, Some(scene))),
                    AnyScene::Wrinkle(_) => Err(Failure::Input(format!(
                        "{} is a run of wrinkles, which keeps no checkpoints; run it again: plisse run \"{}\"",
                        self.root.display(),
                        scene.display()
                    ))),
                }
            }
            _ => Err(wrong()),
        }
    }

    /// Frames that have a checkpoint, ascending.
    pub(crate) fn frames(&self) -> Vec<u32> {
        numbered(&self.root.join("checkpoints"), "plisse")
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

/// How files of a frame are called.
pub(crate) fn frame_name(frame: u32, suffix: &str) -> String {
    format!("frame_{frame:04}.{suffix}")
}

/// The frames that have a file in a folder, ascending.
fn numbered(folder: &Path, suffix: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |name: String| -> Option<u32> {
        let frame = name.strip_prefix("frame_")?.strip_suffix(suffix)?.strip_suffix('.')?.parse().ok()?;
        // Only names that are written here.
        (name == frame_name(frame, suffix)).then_some(frame)
    };
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut frames: Vec<u32> = names.filter_map(number).collect();
    frames.sort_unstable();
    frames
}

/// Removes a file if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::File(FileError::Write { path: path.to_owned(), source }))
        }
        _ => Ok(()),
    }
}

/// A scene as it is called in `run.json`.
fn scene_name(scene: Option<&Path>) -> Value {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    scene.map_or(Value::Null, |path| json!(absolute(path).to_string_lossy()))
}

/// The scene that is built in.
pub(crate) fn embedded() -> Result<Loaded, Failure> {
    Loaded::parse(EMBEDDED, EMBEDDED_NAME, Path::new("")).map_err(|mistakes| Failure::Load(mistakes.into()))
}
