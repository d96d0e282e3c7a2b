//! The program among the files of others: nothing of theirs is replaced, followed, read without end
//! or repeated.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const QUAD: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";

/// Three frames in no time.
const SCENE: &str = "version = 1\ntime = { duration = 0.12, step = 0.02 }\n\
    [[cloth]]\nname = \"a sheet\"\ngrid = { cells = [4, 4], size = [1, 1] }\npin = [{ group = \"left\" }]\n\
    [output]\nmeshes = \"last\"\npictures = \"none\"\n[camera]\nsize = [32, 32]\n";

/// A folder with a scene in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.at("s.toml"), SCENE).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn plisse(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_plisse"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.plisse(arguments);
        let said = text(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        said
    }

    fn fails(&self, arguments: &[&str], status: i32, parts: &[&str]) -> String {
        let output = self.plisse(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        for part in parts {
            assert!(said.contains(part), "{arguments:?}: \"{part}\" is missing in: {said}");
        }
        said
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every file below a folder with its bytes, except what is hidden.
fn contents(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(contents(&path));
        } else {
            files.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    files.sort();
    files
}

#[test]
fn a_finished_run_is_not_replaced_without_a_word() {
    let place = Place::new();
    place.succeeds(&["run", "s.toml", "-q"]);
    let before = contents(&place.at("out/s"));
    let parts =
        ["holds a run of this scene already, finished", "plisse resume \"out/s\"", "--force", "--out"];
    place.fails(&["run", "s.toml"], 2, &parts);
    assert_eq!(contents(&place.at("out/s")), before);
    // With a word it is, but nothing else that is there.
    fs::write(place.at("out/s/meshes/frame_0001.obj.bak"), "mine").unwrap();
    fs::write(place.at("out/s/notes.txt"), "mine").unwrap();
    place.succeeds(&["run", "s.toml", "-q", "--force", "--stop-after", "1"]);
    assert!(!place.at("out/s/checkpoints/frame_0002.plisse").exists());
    for mine in ["out/s/meshes/frame_0001.obj.bak", "out/s/notes.txt"] {
        assert_eq!(fs::read_to_string(place.at(mine)).unwrap(), "mine");
    }
    // A run that was stopped is refused as well, and can go on.
    place.fails(&["run", "s.toml"], 2, &["already, stopped"]);
    place.succeeds(&["resume", "out/s", "-q"]);
    // The run of another scene is never replaced.
    fs::write(place.at("t.toml"), SCENE).unwrap();
    for force in [&["run", "t.toml", "-o", "out/s"][..], &["run", "t.toml", "-o", "out/s", "--force"]] {
        place.fails(force, 2, &["something else than a run of this scene", "choose another folder"]);
    }
}

#[test]
fn folders_of_other_things_are_left_alone() {
    let place = Place::new();
    fs::create_dir_all(place.at("thesis/pictures")).unwrap();
    fs::write(place.at("thesis/pictures/frame_0001.png"), "mine").unwrap();
    fs::create_dir(place.at("foreign")).unwrap();
    fs::write(place.at("foreign/run.json"), "{\"experiment\": 1}").unwrap();
    fs::create_dir(place.at("broken")).unwrap();
    fs::write(place.at("broken/run.json"), "{").unwrap();
    for folder in ["thesis", "foreign", "broken"] {
        let before = contents(&place.at(folder));
        for force in [&["run", "s.toml", "-o", folder][..], &["run", "s.toml", "-o", folder, "--force"]] {
            place.fails(force, 2, &["not empty and not the folder of a run", "--out"]);
        }
        assert_eq!(contents(&place.at(folder)), before);
    }
    // An empty one will do, also where a file manager has been.
    fs::create_dir(place.at("empty")).unwrap();
    fs::write(place.at("empty/.DS_Store"), "x").unwrap();
    place.succeeds(&["run", "s.toml", "-q", "-o", "empty"]);
}

#[test]
fn what_a_scene_reads_is_never_replaced() {
    let place = Place::new();
    fs::create_dir(place.at("meshes")).unwrap();
    fs::write(place.at("meshes/frame_0003.obj"), QUAD).unwrap();
    let scene = SCENE.replace("grid = { cells = [4, 4], size = [1, 1] }", "mesh = \"meshes/frame_0003.obj\"");
    let scene = scene.replace("pin = [{ group = \"left\" }]", "pin = [{ vertices = [0] }]");
    fs::write(place.at("m.toml"), &scene).unwrap();
    place.fails(&["run", "m.toml", "-o", "."], 2, &["m.toml", "in the folder of the results"]);
    place.fails(&["run", "m.toml", "-o", ".", "--force"], 2, &["in the folder of the results"]);
    assert_eq!(fs::read_to_string(place.at("meshes/frame_0003.obj")).unwrap(), QUAD);
    assert!(!place.at("run.json").exists());
    // A scene that goes on with the mesh of its own earlier run.
    place.succeeds(&["run", "m.toml", "-q", "-o", "o"]);
    let mesh = fs::read(place.at("o/meshes/frame_0003.obj")).unwrap();
    fs::write(place.at("m.toml"), scene.replace("meshes/", "o/meshes/")).unwrap();
    place.fails(
        &["run", "m.toml", "-o", "o", "--force"],
        2,
        &["frame_0003.obj", "in the folder of the results"],
    );
    place.fails(&["resume", "o", "--from", "1"], 2, &["in the folder of the results"]);
    assert_eq!(fs::read(place.at("o/meshes/frame_0003.obj")).unwrap(), mesh);
}

/// Whoever tries the program twice gets two results.
#[test]
fn the_built_in_scene_has_a_new_folder_each_time() {
    let place = Place::new();
    fs::create_dir_all(place.at("out/default")).unwrap();
    fs::write(place.at("out/default/mine"), "mine").unwrap();
    fs::create_dir_all(place.at("out/default-2")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_plisse"))
        .current_dir(place.0.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = std::time::Instant::now();
    while !place.at("out/default-3/checkpoints/frame_0001.plisse").exists() {
        assert!(started.elapsed().as_secs() < 120 && child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(contents(&place.at("out/default")).len(), 1);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_links() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    fs::write(place.at("precious"), "mine").unwrap();
    fs::create_dir(place.at("elsewhere")).unwrap();
    // The report grows: it is opened, not replaced.
    place.succeeds(&["run", "s.toml", "-q", "-o", "o", "--stop-after", "1"]);
    fs::remove_file(place.at("o/report.jsonl")).unwrap();
    symlink(place.at("precious"), place.at("o/report.jsonl")).unwrap();
    place.fails(&["resume", "o", "-q"], 2, &["report.jsonl"]);
    assert_eq!(fs::read_to_string(place.at("precious")).unwrap(), "mine");
    // A link with the right content is replaced by a file of one's own, and the rest goes there.
    place.succeeds(&["run", "s.toml", "-q", "-o", "o", "--stop-after", "1", "--force"]);
    fs::rename(place.at("o/report.jsonl"), place.at("report of mine")).unwrap();
    let before = fs::read(place.at("report of mine")).unwrap();
    symlink(place.at("report of mine"), place.at("o/report.jsonl")).unwrap();
    place.succeeds(&["resume", "o", "-q", "--stop-after", "2"]);
    assert_eq!(fs::read(place.at("report of mine")).unwrap(), before);
    assert!(!place.at("o/report.jsonl").is_symlink());
    // Folders in that of the run.
    for part in ["checkpoints", "meshes", "pictures", "vtk"] {
        let path = place.at("o").join(part);
        if path.exists() {
            fs::rename(&path, place.at("kept")).unwrap();
        }
        symlink(place.at("elsewhere"), &path).unwrap();
        for command in [&["resume", "o", "-q"][..], &["run", "s.toml", "-q", "-o", "o", "--force"]] {
            place.fails(command, 2, &[part, "symbolic link"]);
        }
        fs::remove_file(&path).unwrap();
        if place.at("kept").exists() {
            fs::rename(place.at("kept"), &path).unwrap();
        }
    }
    assert!(contents(&place.at("elsewhere")).is_empty());
    // All of it elsewhere is the user's own choice.
    symlink(place.at("elsewhere"), place.at("big disk")).unwrap();
    place.succeeds(&["run", "s.toml", "-q", "-o", "big disk"]);
    assert!(place.at("elsewhere/run.json").exists());
}

/// A link that appears while the run goes on.
#[cfg(unix)]
#[test]
fn a_report_that_becomes_a_link_ends_the_run() {
    let place = Place::new();
    fs::write(place.at("s.toml"), SCENE.replace("duration = 0.12", "duration = 400")).unwrap();
    fs::write(place.at("precious"), "mine").unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_plisse"))
        .args(["run", "s.toml", "-q", "-o", "o"])
        .current_dir(place.0.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !place.at("o/checkpoints/frame_0002.plisse").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::os::unix::fs::symlink(place.at("precious"), place.at("link")).unwrap();
    fs::rename(place.at("link"), place.at("o/report.jsonl")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("not a regular file"), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(place.at("precious")).unwrap(), "mine");
}

#[test]
fn resume_takes_what_belongs_together() {
    let place = Place::new();
    place.succeeds(&["run", "s.toml", "-q", "-o", "o"]);
    let record = fs::read_to_string(place.at("o/run.json")).unwrap();
    let report = fs::read_to_string(place.at("o/report.jsonl")).unwrap();
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(lines.len(), 6, "{report}");
    let with_report =
        |lines: &[&str]| fs::write(place.at("o/report.jsonl"), lines.join("\n") + "\n").unwrap();

    // Records of other versions, and such that someone has changed.
    let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(place.at("o/run.json"), record.replace(&version, "\"0.0.1\"")).unwrap();
    place.fails(&["resume", "o"], 2, &["a run of plisse 0.0.1, this is plisse"]);
    // Its pictures can be taken all the same.
    place.succeeds(&["render", "o", "-q", "--frame", "1"]);
    fs::write(place.at("o/run.json"), record.replace(&version, "\"\\u001b[31m\"")).unwrap();
    let said = place.fails(&["resume", "o"], 2, &["a run of another version"]);
    assert!(!said.contains('\u{1b}'));
    fs::write(place.at("o/run.json"), record.replace("\"format\": 2", "\"format\": 3")).unwrap();
    place.fails(&["resume", "o"], 2, &["another version of plisse"]);
    place.fails(&["render", "o"], 2, &["another version of plisse"]);
    for damaged in ["", "{", "[]", "{\"plisse\": 1, \"format\": 2, \"scene\": 3}"] {
        fs::write(place.at("o/run.json"), damaged).unwrap();
        place.fails(&["resume", "o"], 2, &["run.json is damaged"]);
    }
    fs::write(place.at("o/run.json"), &record).unwrap();

    // Reports that tell of other frames than the checkpoints.
    for (kept, parts) in [
        (vec![0, 1, 2, 3], ["ends with frame 2", "--from 2"]),
        (vec![0, 1, 4, 5], ["line 3, of frame 3, does not follow frame 1", "--from 0"]),
        (vec![], ["ends with frame 0", "--from 0"]),
        (vec![0, 1, 2, 3, 2, 3, 4, 5], ["line 5, of frame 2, does not follow frame 2", "--from 1"]),
        (vec![0, 1, 2, 3, 4], ["ends with frame 3", "--from 2"]),
    ] {
        with_report(&kept.iter().map(|i: &usize| lines[*i]).collect::<Vec<_>>());
        let before = contents(&place.at("o"));
        place.fails(&["resume", "o", "-q"], 2, &parts);
        assert_eq!(contents(&place.at("o")), before, "nothing is changed by a refusal");
    }
    with_report(&[lines[0], lines[1], lines[2], "{\"frame\": 2, \"ti", lines[4], lines[5]]);
    place.fails(&["resume", "o", "-q"], 2, &["line 4 is damaged", "--from 1"]);
    place.succeeds(&["resume", "o", "-q", "--from", "1"]);
    assert_eq!(fs::read_to_string(place.at("o/report.jsonl")).unwrap().lines().count(), 6);
    // What a crash has torn is no damage.
    with_report(&[lines[0], lines[1], lines[2], lines[3], lines[4], lines[5], "{\"frame\": 4, \"ti"]);
    place.succeeds(&["resume", "o", "-q"]);
}

#[test]
fn the_last_good_checkpoint_is_named() {
    let place = Place::new();
    place.succeeds(&["run", "s.toml", "-q", "-o", "o"]);
    let checkpoint = |frame: u32| place.at(&format!("o/checkpoints/frame_{frame:04}.plisse"));
    let bytes = fs::read(checkpoint(3)).unwrap();
    let mut flipped = bytes.clone();
    flipped[100] ^= 1;
    for (damaged, reason) in [
        (bytes[..bytes.len() / 2].to_vec(), "damaged"),
        (flipped.clone(), "its checksum is wrong"),
        (Vec::new(), "not a checkpoint"),
        (fs::read(checkpoint(2)).unwrap(), "is the checkpoint of frame 2 under another name"),
    ] {
        fs::write(checkpoint(3), damaged).unwrap();
        let parts = ["frame_0003.plisse", reason, "last good checkpoint before it is of frame 2", "--from 2"];
        place.fails(&["resume", "o"], 2, &parts);
    }
    fs::write(checkpoint(2), flipped).unwrap();
    place.fails(&["resume", "o"], 2, &["of frame 1", "plisse resume \"o\" --from 1"]);
    place.fails(&["resume", "o", "--from", "2"], 2, &["of frame 1"]);
    place.succeeds(&["resume", "o", "-q", "--from", "1"]);
    assert_eq!(fs::read(checkpoint(3)).unwrap(), bytes);
    for frame in 0..4 {
        fs::write(checkpoint(frame), b"x").unwrap();
    }
    place.fails(&["resume", "o"], 2, &["No checkpoint before it is good"]);
}

/// How a scene looks may change; what is simulated may not.
#[test]
fn a_new_colour_does_not_orphan_a_run() {
    let place = Place::new();
    place.succeeds(&["run", "s.toml", "-q", "-o", "o", "--stop-after", "2"]);
    let looks = SCENE
        .replace("\"a sheet\"", "\"another name\"\ncolour = [1, 0, 0]\nposition = [0, 0, 0]")
        .replace("version = 1\n", "version = 1\ntitle = \"later\"\ngravity = 9.81\n");
    fs::write(place.at("s.toml"), &looks).unwrap();
    place.succeeds(&["render", "o", "-q", "--frame", "1"]);
    place.succeeds(&["resume", "o", "-q"]);
    fs::write(place.at("s.toml"), looks.replace("gravity = 9.81", "gravity = 9.8")).unwrap();
    place.fails(&["render", "o"], 2, &["of another scene"]);
    place.fails(&["resume", "o"], 2, &["of another scene"]);
}

#[cfg(unix)]
#[test]
fn endless_and_huge_files_are_refused() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.at("pipe")).status().unwrap().success());
    fs::File::create(place.at("huge")).unwrap().set_len(1 << 40).unwrap();
    for (name, reason) in
        [("/dev/zero", "not a regular file"), ("pipe", "not a regular file"), ("huge", "more than")]
    {
        for command in [&["check", name][..], &["run", name], &["info", name]] {
            let output = place.plisse(command);
            let said = text(&output.stderr);
            assert!(!output.status.success() && said.contains(reason), "{command:?}: {said}");
        }
        let mesh = SCENE.replace("grid = { cells = [4, 4], size = [1, 1] }", &format!("mesh = \"{name}\""));
        fs::write(place.at("m.toml"), mesh).unwrap();
        place.fails(&["check", "m.toml"], 2, &["m.toml:3: ", reason]);
    }
    // Files of a run.
    place.succeeds(&["run", "s.toml", "-q", "-o", "o"]);
    for name in ["run.json", "report.jsonl", "checkpoints/frame_0003.plisse"] {
        let path = place.at("o").join(name);
        let kept = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let output = place.plisse(&["resume", "o"]);
        assert!(!output.status.success() && text(&output.stderr).contains("not a regular file"), "{name}");
        fs::remove_file(&path).unwrap();
        fs::write(&path, kept).unwrap();
    }
}

#[test]
fn the_content_of_other_files_is_not_repeated() {
    let place = Place::new();
    let secret = "root:hunter2:0:0\npassword = \"hunter2\"\nhunter2\n[hunter2]\nv hunter2\n";
    fs::write(place.at("secret"), secret).unwrap();
    let mesh = SCENE.replace("grid = { cells = [4, 4], size = [1, 1] }", "mesh = \"secret\"");
    fs::write(place.at("m.toml"), mesh).unwrap();
    fs::create_dir(place.at("o")).unwrap();
    let record =
        serde_json::json!({ "plisse": env!("CARGO_PKG_VERSION"), "format": 2, "scene": place.at("secret") });
    fs::write(place.at("o/run.json"), record.to_string()).unwrap();
    fs::write(place.at("t.obj"), QUAD.replace("f 1 2 3 4", "f 1 2 3\nf 1 3 4")).unwrap();
    let wrinkle = |mesh: &'static str, clamped: &'static str| {
        let sheet = ["--young", "1", "--poisson", "0.3", "--thickness", "1"];
        [&["wrinkle", "--rest", mesh, "--base", mesh, "--clamped", clamped], &sheet[..]].concat()
    };
    for command in [
        &["check", "secret"][..],
        &["run", "secret"],
        &["info", "secret"],
        &["check", "m.toml"],
        &["resume", "o"],
        &["render", "o"],
        &wrinkle("secret", "t.obj"),
        &wrinkle("t.obj", "secret"),
    ] {
        let output = place.plisse(command);
        let said = text(&output.stderr) + &text(&output.stdout);
        assert!(!output.status.success() && !said.contains("hunter2"), "{command:?}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn output_that_is_lost_is_an_error() {
    let place = Place::new();
    fs::write(place.at("quad.obj"), QUAD).unwrap();
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let command = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plisse"));
        command.args(arguments).current_dir(place.0.path());
        command
    };
    for arguments in [
        &["materials"][..],
        &["info", "quad.obj"],
        &["check", "s.toml"],
        &["run", "s.toml", "--json", "-o", "o"],
        &["resume", "o", "--json", "--from", "0"],
    ] {
        let output = command(arguments).stdout(full()).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {said}");
        assert!(said.contains("cannot write to standard output"), "{arguments:?}: {said}");
    }
    // The run is stopped at once, and can go on.
    assert!(fs::read_to_string(place.at("o/outcome.json")).unwrap().contains("failed"));
    place.succeeds(&["resume", "o", "-q"]);
    // Whoever has read enough may go; a lost message of progress is none.
    for arguments in [&["materials"][..], &["run", "s.toml", "--json", "-o", "p"]] {
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{arguments:?}: {}",
            text(&output.stderr)
        );
    }
    assert!(command(&["run", "s.toml", "-o", "q"]).stderr(full()).status().unwrap().success());
    assert_eq!(command(&["run", "none.toml"]).stderr(full()).status().unwrap().code(), Some(2));
}

#[test]
fn control_characters_stay_in_their_files() {
    let place = Place::new();
    let title = "version = 1\ntitle = \"a\\u001b[31m\\u0000b\\nc\"\n";
    let name = "name = \"x\\u001b]0;y\\u0007\"";
    fs::write(place.at("s.toml"), SCENE.replace("version = 1\n", title).replace("name = \"a sheet\"", name))
        .unwrap();
    place.succeeds(&["run", "s.toml", "-q", "-o", "o"]);
    let svg = fs::read_to_string(place.at("o/energies.svg")).unwrap();
    assert!(svg.contains("a [31m b c") && !svg.chars().any(|c| c.is_control() && c != '\n'), "{svg}");
    for line in fs::read_to_string(place.at("o/report.jsonl")).unwrap().lines() {
        assert!(!line.chars().any(char::is_control));
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    // Messages with names of bodies and of groups.
    fs::write(place.at("t.toml"), SCENE.replace("name = \"a sheet\"", &format!("{name}\npressure = 1")))
        .unwrap();
    let said = place.fails(&["check", "t.toml"], 2, &["x\\u{1b}]0;y\\u{7}"]);
    assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{said:?}");
    fs::write(place.at("g.obj"), QUAD.replace("f 1", "g a\u{1b}[2J\nf 1")).unwrap();
    let said = text(&place.plisse(&["info", "g.obj"]).stdout);
    assert!(said.contains("a\\u{1b}[2J") && !said.contains('\u{1b}'), "{said:?}");
}

#[test]
fn a_small_file_does_not_fill_the_memory() {
    let place = Place::new();
    let grids = "[[cloth]]\ngrid = { cells = [900, 900], size = [1, 1] }\n".repeat(30);
    fs::write(place.at("grids.toml"), format!("version = 1\ntime.duration = 1\n{grids}")).unwrap();
    place.fails(&["run", "grids.toml"], 2, &["grids.toml:5: all bodies together have 24354030 vertices"]);
    let unknown: String = (0..300).map(|i| format!("key{i} = 1\n")).collect();
    fs::write(place.at("keys.toml"), format!("version = 1\n{unknown}")).unwrap();
    let said = place.fails(&["check", "keys.toml"], 2, &["keys.toml: and 201 more"]);
    assert_eq!(said.lines().count(), 102, "{said}");
}

/// A run that was started with `nohup` goes on after its terminal; others end with a checkpoint.
#[cfg(target_os = "linux")]
#[test]
fn hangups_are_ignored_if_they_were() {
    let place = Place::new();
    fs::write(place.at("s.toml"), SCENE.replace("duration = 0.12", "duration = 400")).unwrap();
    // Under `nohup cargo test` the second run ignores them, too: no shell can undo that.
    let own = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = own.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    let is_ignored = u64::from_str_radix(ignored, 16).unwrap() & 1 == 1;
    let status = if is_ignored { None } else { Some(130) };
    for (shell, folder, status) in [("trap '' HUP;", "a", None), ("", "b", status)] {
        let program = env!("CARGO_BIN_EXE_plisse");
        let mut child = Command::new("sh")
            .args(["-c", &format!("{shell} exec {program} run s.toml -q -o {folder}")])
            .current_dir(place.0.path())
            .spawn()
            .unwrap();
        let reaches =
            |frame: u32| place.at(&format!("{folder}/checkpoints/frame_{frame:04}.plisse")).exists();
        let wait = || std::thread::sleep(std::time::Duration::from_millis(5));
        while !reaches(2) {
            wait();
        }
        assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
        if status.is_some() {
            assert_eq!(child.wait().unwrap().code(), status);
            continue;
        }
        let last = (0..).find(|frame| !reaches(*frame)).unwrap();
        while !reaches(last + 20) {
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
            wait();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Whoever moves the folder of a run away gets no new results in what takes its place.
#[test]
fn a_folder_that_is_exchanged_ends_the_run() {
    let place = Place::new();
    fs::write(place.at("s.toml"), SCENE.replace("duration = 0.12", "duration = 400")).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_plisse"))
        .args(["run", "s.toml", "-q", "-o", "o"])
        .current_dir(place.0.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !place.at("o/checkpoints/frame_0002.plisse").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    fs::rename(place.at("o"), place.at("moved")).unwrap();
    // What was being written at this moment may have made it again.
    fs::create_dir_all(place.at("o")).unwrap();
    fs::write(place.at("o/notes.txt"), "mine").unwrap();
    let output = child.wait_with_output().unwrap();
    // The folder is no longer that of the run, or a file of it could not be written at this moment.
    assert!(matches!(output.status.code(), Some(2 | 4)), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("o/"), "{}", text(&output.stderr));
    assert!(!place.at("o/run.json").exists() && !place.at("o/outcome.json").exists());
    // What there was by then is whole.
    place.succeeds(&["resume", "moved", "-q", "--stop-after", "3"]);
}

/// Frames of a run have one rate: what is made of them is played at one.
#[test]
fn the_rate_of_frames_stays() {
    let place = Place::new();
    place.succeeds(&["run", "s.toml", "-q", "-o", "o", "--stop-after", "2"]);
    for (rate, parts) in [
        ("20", ["frame 2 of this run ends at t = 0.080000 s", "at t = 0.100000 s", "what it was, 25.000000"]),
        ("50", ["frame 2 of this run ends at t = 0.080000 s", "at t = 0.040000 s", "start a new run"]),
    ] {
        let changed = SCENE.replace("step = 0.02", &format!("step = 0.02, frames_per_second = {rate}"));
        fs::write(place.at("s.toml"), changed).unwrap();
        let before = contents(&place.at("o"));
        place.fails(&["resume", "o", "-q"], 2, &parts);
        assert_eq!(contents(&place.at("o")), before, "nothing has changed");
    }
    // A longer duration is no other rate, and a last frame that was shorter can be made again.
    fs::write(place.at("s.toml"), SCENE.replace("duration = 0.12", "duration = 0.1")).unwrap();
    place.succeeds(&["resume", "o", "-q"]);
    place.succeeds(&["resume", "o", "-q"]);
    fs::write(place.at("s.toml"), SCENE).unwrap();
    place.fails(&["resume", "o", "-q"], 2, &["frame 3", "t = 0.100000 s", "--from 2"]);
    place.succeeds(&["resume", "o", "-q", "--from", "2"]);
}
