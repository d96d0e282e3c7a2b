//! The folder of a run: what it contains, and where.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use plisse::file::{AnyScene, Loaded};
use plisse::io::{FileError, read_bytes_up_to, read_text_up_to, write_atomically};
use plisse::scene::Checkpoint;
use serde_json::{Value, json};

use crate::arguments::Frames;
use crate::error::Failure;

/// The scene that runs when nothing is said.
pub(crate) const EMBEDDED: &str = include_str!("default.toml");
/// How it is called in files and messages.
pub(crate) const EMBEDDED_NAME: &str = "the built-in scene";

/// Version of what is in the folder of a run.
const FORMAT: u64 = 2;
/// Most bytes of `run.json` and `outcome.json`.
const LARGEST_RECORD: u64 = 1 << 20;
/// The folders in that of a run, and what their files end with.
const PARTS: [(&str, &str); 6] = [
    ("checkpoints", "plisse"),
    ("pictures", "png"),
    ("meshes", "obj"),
    ("obstacles", "obj"),
    ("pc2", "pc2"),
    ("vtk", "vtk"),
];

/// A run that is to begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New<'a> {
    /// The scene file; none for the scene that is built in.
    pub(crate) scene: Option<&'a Path>,
    /// The meshes that the scene reads.
    pub(crate) inputs: &'a [PathBuf],
    /// Whether an earlier run of the same scene may be replaced.
    pub(crate) force: bool,
    /// Whether `plisse resume` can go on with it.
    pub(crate) resumable: bool,
}

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

    /// The first of `root`, `root-2`, `root-3` and so on that is new or empty. It is made at once,
    /// so that of two programs each has its own.
    pub(crate) fn numbered(root: &Path) -> Result<Self, Failure> {
        let failed = |path: &Path, source| Failure::File(FileError::Write { path: path.to_owned(), source });
        if let Some(parent) = root.parent() {
            fs::create_dir_all(parent).map_err(|source| failed(parent, source))?;
        }
        for number in 1..10_000_u32 {
            let mut path = root.as_os_str().to_owned();
            if number > 1 {
                path.push(format!("-{number}"));
            }
            let path = PathBuf::from(path);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self::new(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        Err(Failure::Input(format!("{} and all its successors are taken; remove some", root.display())))
    }

    pub(crate) fn checkpoint(&self, frame: u32) -> PathBuf {
        self.root.join("checkpoints").join(frame_name(frame, "plisse"))
    }

    pub(crate) fn report(&self) -> PathBuf {
        self.root.join("report.jsonl")
    }

    /// Takes the folder for a run. It must be new or empty; only a run of the same scene is
    /// replaced, with `force`, and of that nothing but what it has written. The record is replaced
    /// first and never missing, so that an earlier run which still goes on finds out at once.
    pub(crate) fn take(&self, new: &New<'_>) -> Result<(), Failure> {
        self.is_plain()?;
        self.spare(new.scene, new.inputs)?;
        if self.is_empty()? {
            return self.begin(new.scene);
        }
        let root = self.root.display();
        let Some(record) = self.record() else {
            return Err(Failure::Input(format!(
                "{root} is not empty and not the folder of a run; choose another folder with --out"
            )));
        };
        if record.get("scene") != Some(&scene_name(new.scene)) {
            return Err(Failure::Input(format!(
                "{root} holds something else than a run of this scene; choose another folder with --out, or remove it"
            )));
        }
        if !new.force {
            let resume = if new.resumable {
                format!("\n  plisse resume \"{root}\"   goes on with it")
            } else {
                String::new()
            };
            return Err(Failure::Input(format!(
                "{root} holds a run of this scene already, {}:{resume}\n  --force   replaces it\n  --out     chooses another folder",
                self.outcome()
            )));
        }
        self.begin(new.scene)?;
        for (folder, suffix) in PARTS {
            let folder = self.root.join(folder);
            for frame in numbered(&folder, suffix) {
                remove(&folder.join(frame_name(frame, suffix)))?;
            }
        }
        let caches = fs::read_dir(self.root.join("pc2")).into_iter().flatten().flatten();
        for cache in caches.filter(|entry| is_cache(&entry.file_name().to_string_lossy())) {
            remove(&cache.path())?;
        }
        for name in
            ["outcome.json", "report.jsonl", "energies.svg", "vtk/frames.vtk.series", "pictures/film.png"]
        {
            remove(&self.root.join(name))?;
        }
        Ok(())
    }

    /// Whether there is nothing here; hidden files, such as those that file managers leave, do not
    /// count.
    fn is_empty(&self) -> Result<bool, Failure> {
        let hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".");
        match fs::read_dir(&self.root) {
            Ok(mut entries) => Ok(!entries.any(|entry| entry.is_ok_and(|entry| !hidden(&entry.file_name())))),
            // If a file is in the way, writing will say so.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(true),
            Err(source) => Err(FileError::Read { path: self.root.clone(), source }.into()),
        }
    }

    /// Refuses a folder in which a part is a symbolic link: what is written would go somewhere
    /// else.
    pub(crate) fn is_plain(&self) -> Result<(), Failure> {
        for (part, _) in PARTS {
            let path = self.root.join(part);
            if path.is_symlink() {
                return Err(Failure::Input(format!(
                    "{} is a symbolic link; nothing is written outside of the folder of a run. Remove the link",
                    path.display()
                )));
            }
        }
        Ok(())
    }

    /// Refuses results in a folder that has files which the scene reads: they might replace them.
    pub(crate) fn spare(&self, scene: Option<&Path>, inputs: &[PathBuf]) -> Result<(), Failure> {
        let Ok(root) = self.root.canonicalize() else { return Ok(()) };
        let read = scene.into_iter().chain(inputs.iter().map(PathBuf::as_path));
        for path in read {
            if path.canonicalize().is_ok_and(|path| path.starts_with(&root)) {
                return Err(Failure::Input(format!(
                    "the scene reads {}, which is in the folder of the results, {}; choose another folder with --out",
                    path.display(),
                    self.root.display()
                )));
            }
        }
        Ok(())
    }

    /// How an earlier run ended.
    pub(crate) fn outcome(&self) -> &'static str {
        let text = read_text_up_to(&self.root.join("outcome.json"), LARGEST_RECORD).ok();
        let value: Value = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null);
        let known = ["finished", "stopped", "interrupted", "not converged", "failed"];
        known.into_iter().find(|known| value["outcome"] == *known).unwrap_or("without an end")
    }

    /// What `run.json` says; none if it is not a record of plisse.
    fn record(&self) -> Option<Value> {
        let text = read_text_up_to(&self.root.join("run.json"), LARGEST_RECORD).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        value.get("plisse").is_some().then_some(value)
    }

    /// Refuses runs of other versions: their steps would differ from those to come.
    pub(crate) fn is_of_this_version(&self) -> Result<(), Failure> {
        let own = env!("CARGO_PKG_VERSION");
        let record = self.record().unwrap_or(Value::Null);
        match record["plisse"].as_str() {
            Some(version) if version == own => Ok(()),
            version => Err(Failure::Input(format!(
                "{} is a run of {}, this is plisse {own}, whose steps may differ. Go on with that version, or run the scene again \
                 in another folder",
                self.root.display(),
                version
                    .filter(|text| is_version(text))
                    .map_or("another version".to_owned(), |v| format!("plisse {v}"))
            ))),
        }
    }

    /// Forgets how an earlier part of the run ended.
    pub(crate) fn reopen(&self) -> Result<(), Failure> {
        remove(&self.root.join("outcome.json"))
    }

    /// Writes down which scene this is a run of.
    pub(crate) fn begin(&self, scene: Option<&Path>) -> Result<(), Failure> {
        let version = env!("CARGO_PKG_VERSION");
        self.write_json(
            "run.json",
            &json!({ "plisse": version, "format": FORMAT, "scene": scene_name(scene), "id": self.id }),
        )
    }

    /// An error once another run has begun here: two that write into one folder would destroy each
    /// other's results.
    pub(crate) fn still_ours(&self) -> Result<(), Failure> {
        self.is_plain()?;
        let text = read_text_up_to(&self.root.join("run.json"), LARGEST_RECORD)?;
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
        let text = read_text_up_to(&path, LARGEST_RECORD).map_err(|error| {
            Failure::Input(format!("{} is not the folder of a run: {error}", self.root.display()))
        })?;
        let wrong = || Failure::Input(format!("{} is damaged; run the scene again", path.display()));
        let value: Value = serde_json::from_str(&text).map_err(|_| wrong())?;
        if value.get("plisse").is_some() && value["format"].as_u64() != Some(FORMAT) {
            return Err(Failure::Input(format!(
                "{} is a run of another version of plisse, whose files this one does not read; use that version, or run the \
                 scene again in another folder",
                self.root.display()
            )));
        }
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

    /// The frames that were asked for, of those that have a checkpoint; an error if there are none.
    pub(crate) fn chosen(&self, frames: Frames) -> Result<Vec<u32>, Failure> {
        let all = self.frames();
        let chosen: Vec<u32> = match frames {
            Frames::All => all.clone(),
            Frames::Last => all.last().copied().into_iter().collect(),
            Frames::One(frame) => all.iter().copied().filter(|f| *f == frame).collect(),
        };
        if chosen.is_empty() {
            let kept: Vec<String> = all.iter().map(u32::to_string).collect();
            let kept = if kept.is_empty() { "none".to_owned() } else { kept.join(", ") };
            let root = self.root.display();
            return Err(Failure::Input(format!("{root}: no such frame is kept; there are: {kept}")));
        }
        Ok(chosen)
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
        let expected = loaded.scene.state().x().len();
        // Five vectors per vertex, and a little; a file of another scene may be longer.
        let limit = (5 * 24 * expected as u64 + 1024).max(1 << 30);
        let checkpoint = Checkpoint::from_bytes(&read_bytes_up_to(&path, limit)?)
            .map_err(|source| Failure::Checkpoint { path: path.display().to_string(), source })?;
        if checkpoint.tag != loaded.tag || checkpoint.state.x().len() != expected {
            return Err(Failure::OtherScene { path: path.display().to_string() });
        }
        if checkpoint.frame != frame {
            let (path, found) = (path.display(), checkpoint.frame);
            return Err(Failure::Input(format!(
                "{path} is the checkpoint of frame {found} under another name"
            )));
        }
        Ok(checkpoint)
    }
}

/// Whether a text from a file may be shown as a version.
fn is_version(text: &str) -> bool {
    text.len() <= 32 && text.chars().all(|c| c.is_ascii_alphanumeric() || ".+-".contains(c))
}

/// How files of a frame are called.
pub(crate) fn frame_name(frame: u32, suffix: &str) -> String {
    format!("frame_{frame:04}.{suffix}")
}

/// How the point cache of an object is called.
pub(crate) fn cache_name(object: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    format!("cache_{}.pc2", object.chars().map(plain).collect::<String>())
}

/// Whether a file is called as point caches are.
fn is_cache(name: &str) -> bool {
    name.starts_with("cache_") && name.ends_with(".pc2")
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
        Err(source) if source.kind() != ErrorKind::NotFound => {
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
