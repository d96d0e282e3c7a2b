//! Cylinders, cones and mesh sequences in scene files: what they mean, and what is refused.
#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use glam::DVec3;
use plisse_scene::file::Loaded;

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plisse {name} {}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn load(&self, obstacle: &str) -> Result<Loaded, String> {
        let text = format!(
            "version = 1\ntime = {{ duration = 1 }}\n[[cloth]]\ngrid = {{ cells = [4, 4], size = [0.5, 0.5] }}\n\
             position = [0, 0, 0.6]\n[[obstacle]]\n{obstacle}\n"
        );
        Loaded::parse(&text, "s", &self.0).map_err(|mistakes| mistakes.to_string())
    }

    fn refusal(&self, obstacle: &str) -> String {
        let found = self.load(obstacle).err().unwrap();
        found.replace(&format!("{}{}", self.0.display(), std::path::MAIN_SEPARATOR), "")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// A box of quads with these half sides; the upper face is sheared along x.
fn cuboid(half: [f64; 3], shear: f64) -> String {
    let mut text = String::new();
    for i in 0..8 {
        let sign = |bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
        let x = sign(0) * half[0] + if i > 3 { shear } else { 0.0 };
        text += &format!("v {x} {} {}\n", sign(1) * half[1], sign(2) * half[2]);
    }
    text + "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"
}

fn three_boxes(name: &str) -> Folder {
    let folder = Folder::new(name);
    for (number, (height, shear)) in [(0.2, 0.1), (0.3, 0.0), (0.4, -0.1)].into_iter().enumerate() {
        folder.write(&format!("body-{:02}.obj", number + 8), &cuboid([0.2, 0.2, height], shear));
    }
    folder
}

const LISTED: &str = r#"files = ["body-08.obj", "body-09.obj", "body-10.obj"]"#;

#[test]
fn cylinders_and_cones_are_where_they_are_placed() {
    let folder = Folder::new("round");
    let pillar = "cylinder = { from = [0, 0, 0], to = [0, 0, 0.4], radius = 0.1 }\nposition = [0, 0, 0.1]";
    let distance =
        |text: &str, x: DVec3| folder.load(text).unwrap().scene.obstacles()[0].distance(0.0, x).value;
    assert!((distance(pillar, DVec3::new(0.3, 0.0, 0.3)) - 0.2).abs() < 1e-12);
    assert!((distance(pillar, DVec3::Z * 0.55) - 0.05).abs() < 1e-12);
    let lying = "cylinder = { from = [0, 0, 0], to = [0, 0, 1], radius = 0.1 }\nrotation = [0, 90, 0]";
    assert!((distance(lying, DVec3::new(0.5, 0.0, 0.3)) - 0.2).abs() < 1e-12);
    let cone = "cone = { from = [0, 0, 0], to = [0, 0, 0.4], radii = [0.3, 0] }";
    assert!((distance(cone, DVec3::Z * 0.5) - 0.1).abs() < 1e-12);
    for (text, expected) in [
        (
            "cylinder = { from = [0, 0, 1], to = [0, 0, 1], radius = 1 }",
            "s:7: cylinder: the length of the axis is 0; the ends must lie apart, by at most 1e60 m",
        ),
        ("cylinder = { from = [0, 0, 1], to = [0, 0, 2], radius = -1 }", "s:7: -1 is not a positive number"),
        (
            "cone = { from = [0, 0, 1], to = [0, 0, 2], radii = [0, 0] }",
            "s:7: cone: each radius is 0; one of them must be positive",
        ),
        (
            "cone = { from = [0, 0, 1], to = [0, 0, 2], radii = [1, -1] }",
            "s:7: -1 is not zero or a positive number",
        ),
        (
            "cone = { from = [0, 0, 1], to = [0, 0, 2], radius = 1 }",
            "s:7: cone has no \"radius\"; did you mean \"radii\"?\n\
             s:7: cone needs \"radii\": two numbers, zero or positive",
        ),
    ] {
        assert_eq!(folder.refusal(text), expected);
    }
}

/// Whatever is accepted can be built, and takes a step or says why not.
#[test]
fn extreme_sizes_never_make_it_fall_over() {
    let folder = Folder::new("extreme");
    let sizes = [-1e300, -1e60, -1e5, -1.0, -1e-9, -1e-60, 0.0, 5e-324, 1e-60, 1e-12, 1e-3, 0.2, 1e30, 1e60];
    let (mut built, mut stepped) = (0, 0);
    for to in sizes {
        for radius in sizes {
            for radii in [[radius, radius], [radius, 0.1], [0.0, radius]] {
                let text = format!("cone = {{ from = [0, 0, 0.1], to = [0, 0, {to}], radii = {radii:?} }}");
                let Ok(mut loaded) = folder.load(&text) else { continue };
                built += 1;
                if loaded.scene.step().is_ok() {
                    stepped += 1;
                    assert!(loaded.scene.state().x().as_slice().iter().all(|x| x.is_finite()), "{text}");
                }
            }
        }
    }
    assert!(built > 100 && stepped > 100, "{built} {stepped}");
}

#[test]
fn a_sequence_follows_its_files() {
    let folder = three_boxes("sequence");
    let listed = folder.load(&format!("mesh_sequence = {{ {LISTED}, times = [0.5, 0.6, 1.0] }}")).unwrap();
    let body = &listed.scene.obstacles()[0];
    for (time, height) in [(0.0, 0.2), (0.5, 0.2), (0.55, 0.25), (0.6, 0.3), (0.8, 0.35), (2.0, 0.4)] {
        assert!((body.distance(time, DVec3::Z).value - (1.0 - height)).abs() < 1e-12, "{time}");
        let (x, _) = body.surface(time).unwrap();
        assert!((x.iter().map(|x| x.z).fold(0.0, f64::max) - height).abs() < 1e-12, "{time}");
    }
    let names = ["08", "09", "10"].map(|number| folder.0.join(format!("body-{number}.obj")));
    assert_eq!(listed.inputs, names);
    // By a pattern and a rate; with a unit, a place and a motion.
    let text = "mesh_sequence = { pattern = \"body-##.obj\", frames = [8, 10], frames_per_second = 10, start = 0.1 }\n\
                mesh_unit = 0.5\nposition = [0, 0, 0.1]\nmotion = [{ time = 0 }, { time = 1, move = [0, 0, -1] }]\nlinear = true";
    let numbered = folder.load(text).unwrap();
    let body = &numbered.scene.obstacles()[0];
    for (time, top) in [(0.0, 0.2), (0.1, 0.1), (0.2, 0.05), (0.3, 0.0)] {
        assert!((body.distance(time, DVec3::Z).value - (1.0 - top)).abs() < 1e-12, "{time}");
    }
    // As a sequence, the shape of the same files at the same times is the same scene.
    let tag = |text: &str| folder.load(text).unwrap().tag;
    let rate = tag(&format!("mesh_sequence = {{ {LISTED}, frames_per_second = 2 }}"));
    let pattern = "mesh_sequence = { pattern = \"body-##.obj\", frames = [8, 10], times = [0, 0.5, 1] }";
    assert_eq!(rate, tag(pattern));
    assert_ne!(rate, tag(&format!("mesh_sequence = {{ {LISTED}, frames_per_second = 3 }}")));
    assert_ne!(rate, tag(&pattern.replace("[8, 10], times = [0, 0.5, 1]", "[8, 9], times = [0, 0.5]")));
    folder.write("body-10.obj", &cuboid([0.2, 0.2, 0.4], -0.11));
    assert_ne!(rate, tag(pattern));
}

/// A scene that was loaded again goes on with the same bits.
#[test]
fn a_sequence_of_files_can_be_resumed() {
    let folder = three_boxes("resume");
    let text = format!("mesh_sequence = {{ {LISTED}, frames_per_second = 20 }}\nposition = [0, 0, 0.38]");
    let [mut whole, mut resumed] = [(); 2].map(|()| folder.load(&text).unwrap());
    assert_eq!(whole.tag, resumed.tag);
    for _ in 0..4 {
        whole.scene.step().unwrap();
    }
    resumed.scene.set_state(whole.scene.checkpoint(1, whole.tag).state).unwrap();
    for loaded in [&mut whole, &mut resumed] {
        for _ in 0..4 {
            loaded.scene.step().unwrap();
        }
    }
    assert_eq!(whole.scene.state(), resumed.scene.state());
    let (time, x) = (whole.scene.time(), whole.scene.state().x().as_slice());
    assert!(x.iter().all(|x| whole.scene.obstacles()[0].distance(time, *x).value > 0.0));
}

#[test]
fn bad_sequences_are_refused_with_file_and_line() {
    let folder = three_boxes("refused");
    let good = cuboid([0.2; 3], 0.0);
    folder.write("fewer.obj", &good.replace("f 2 4 8 6\n", ""));
    folder.write("more.obj", &good.replace("f 1 3", "v 0 0 0\nf 1 3"));
    folder.write("other.obj", &good.replace("f 1 3 4 2\nf 5 6 8 7\n", "f 5 6 8 7\nf 1 3 4 2\n"));
    folder.write("turned.obj", &good.replace("f 1 2 6 5", "f 6 5 1 2"));
    folder.write("flat.obj", &cuboid([0.2, 0.2, 0.0], 0.0));
    folder.write("inside out.obj", &cuboid([0.2, 0.2, -0.2], 0.0));
    let with = |file: &str| {
        format!("mesh_sequence = {{ files = [\"body-08.obj\", \"{file}\"], frames_per_second = 1 }}")
    };
    assert!(folder.load(&with("turned.obj")).is_ok());
    let same = "; all meshes of a sequence need the same vertices and faces";
    for (file, expected) in [
        ("fewer.obj", format!("fewer.obj: it has 5 faces, and body-08.obj has 6{same}")),
        ("more.obj", format!("more.obj: it has 9 vertices, and body-08.obj has 8{same}")),
        (
            "other.obj",
            format!(
                "other.obj: the face on line 9 has other vertices than that on line 9 of body-08.obj{same}"
            ),
        ),
    ] {
        assert_eq!(folder.refusal(&with(file)), format!("s:7: {expected}"));
    }
    for (text, expected) in [
        (with("inside out.obj"), "s:7: inside out.obj: the mesh of an obstacle: "),
        (with("missing.obj"), "s:7: cannot read missing.obj: "),
        ("mesh_sequence = {}".into(), "s:7: mesh_sequence needs one of files, pattern"),
        (
            "mesh_sequence = { files = [\"body-08.obj\"], frames_per_second = 1 }".into(),
            "s:7: a mesh sequence needs at least two files; one that stays is a \"mesh\"",
        ),
        (format!("mesh_sequence = {{ {LISTED} }}"), "s:7: mesh_sequence needs one of frames_per_second, times"),
        (
            format!("mesh_sequence = {{ {LISTED}, times = [0, 1] }}"),
            "s:7: mesh_sequence has 3 files and 2 times; give one for each",
        ),
        (
            format!("mesh_sequence = {{ {LISTED}, times = [0, 1, 1] }}"),
            "s:7: the times of mesh_sequence must ascend; 1 s follows 1 s",
        ),
        (
            format!("mesh_sequence = {{ {LISTED}, frames_per_second = 1, times = [0, 1, 2] }}"),
            "s:7: mesh_sequence has frames_per_second and times; only one of them is possible",
        ),
        (
            format!("mesh_sequence = {{ {LISTED}, start = 1, times = [0, 1, 2] }}"),
            "s:7: \"start\" belongs to \"frames_per_second\"; remove it",
        ),
        (
            format!("mesh_sequence = {{ {LISTED}, frames = [0, 2], frames_per_second = 1 }}"),
            "s:7: \"frames\" belongs to \"pattern\"; remove it",
        ),
        (
            format!("mesh_sequence = {{ {LISTED}, pattern = \"#.obj\", frames_per_second = 1 }}"),
            "s:7: mesh_sequence has files and pattern; only one of them is possible",
        ),
        (
            "mesh_sequence = { pattern = \"body.obj\", frames = [0, 9], frames_per_second = 1 }".into(),
            "s:7: \"body.obj\" needs a # where the number of a file stands",
        ),
        (
            "mesh_sequence = { pattern = \"#-#.obj\", frames = [0, 9], frames_per_second = 1 }".into(),
            "s:7: \"#-#.obj\" has # in several places; only one is possible",
        ),
        (
            "mesh_sequence = { pattern = \"body-##.obj\", frames_per_second = 1 }".into(),
            "s:7: \"pattern\" needs \"frames\", the first and the last number",
        ),
        (
            "mesh_sequence = { pattern = \"body-##.obj\", frames = [9, 8], frames_per_second = 1 }".into(),
            "s:7: frames = [9, 8] ends before it begins",
        ),
        (
            "mesh_sequence = { pattern = \"body-##.obj\", frames = [0, 4294967295], frames_per_second = 1 }".into(),
            "s:7: cannot read body-00.obj: ",
        ),
        (
            "mesh_sequence = { pattern = \"body-##.obj\", frames = [8, 10], frames_per_second = 1e60, start = 1 }"
                .into(),
            "s:7: frame 1 of a mesh sequence: times must ascend from frame to frame",
        ),
        (
            "sphere = { radius = 0.1 }\nmesh_unit = 2".into(),
            "s:6: \"mesh_unit\" says how a \"mesh\" is read; remove it",
        ),
    ] {
        let found = folder.refusal(&text);
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
    assert!(folder.refusal(&with("flat.obj")).contains("flat.obj"));
    assert!(!Path::new("body-08.obj").exists(), "files count from the folder of the scene");
}
