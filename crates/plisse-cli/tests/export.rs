//! `plisse export`: meshes of a run that its scene does not ask for.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use glam::DVec3;
use plisse::io::{Obj, read_pc2};

const SCENE: &str = r#"
version = 1
time = { duration = 0.1, step = 0.01, frames_per_second = 20 }
[[cloth]]
name = "sheet"
grid = { cells = [3, 2], size = [0.3, 0.2] }
material = "denim"
position = [0, 0, 0.5]
[[cloth]]
name = "a/b"
grid = { cells = [1, 1], size = [0.1, 0.1] }
material = "denim"
position = [2, 0, 0.5]
[[obstacle]]
name = "ball"
sphere = { radius = 0.1 }
[[obstacle]]
name = "lift"
box = { size = [0.1, 0.1, 0.1], centre = [0, 3, 0] }
motion = [{ time = 0 }, { time = 1, move = [0, 0, 1] }]
[output]
pictures = "none"
meshes = "none"
"#;

fn plisse(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plisse")).args(arguments).current_dir(folder).output().unwrap()
}

fn done(arguments: &[&str], folder: &Path) {
    let output = plisse(arguments, folder);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn caches_play_on_the_objects_of_the_meshes() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("s.toml"), SCENE).unwrap();
    done(&["run", "s.toml", "-q"], at);
    assert!(!at.join("out/s/meshes").exists());
    done(&["export", "out/s", "--obj", "--pc2", "--vtk", "-q"], at);
    // The ball stays where it is and needs no cache.
    let mut caches: Vec<String> = fs::read_dir(at.join("out/s/pc2"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    caches.sort();
    assert_eq!(caches, ["cache_a_b.pc2", "cache_lift.pc2", "cache_sheet.pc2"]);
    for frame in 0..3 {
        let [bodies, obstacles] = ["meshes", "obstacles"]
            .map(|part| Obj::read(&at.join(format!("out/s/{part}/frame_{frame:04}.obj"))).unwrap());
        for object in ["sheet", "a/b", "lift"] {
            let mesh = if object == "lift" { &obstacles } else { &bodies };
            let name = format!("out/s/pc2/cache_{}.pc2", object.replace('/', "_"));
            let cache = read_pc2(&at.join(name)).unwrap();
            assert_eq!((cache.frames.len(), cache.start_frame), (3, 0.0));
            let vertices = mesh.groups[object].iter().map(|v| mesh.positions[*v as usize]);
            let expected: Vec<[f32; 3]> = vertices.map(|x| x.as_vec3().to_array()).collect();
            assert_eq!(cache.frames[frame], expected, "{object}");
        }
        assert_eq!(obstacles.groups["ball"].len(), 2562);
    }
    let vtk = fs::read(at.join("out/s/vtk/frame_0002.vtk")).unwrap();
    assert!(String::from_utf8_lossy(&vtk).contains("body"));
    // The last point is one of the lift, which starts gently: 6 t (1 - t) m/s.
    let end = vtk.windows(9).position(|bytes| bytes == b"CELL_DATA").unwrap() - 1;
    let velocity = vtk[end - 24..end].as_chunks::<8>().0.iter().map(|bytes| f64::from_be_bytes(*bytes));
    let off: Vec<f64> = velocity.zip([0.0, 0.0, 0.54]).map(|(v, known)| v - known).collect();
    assert!(off.iter().all(|off| off.abs() < 1e-6), "{off:?}");
    assert!(at.join("out/s/vtk/frames.vtk.series").is_file());

    // The same with y up, somewhere else, of one frame.
    done(&["export", "out/s", "--obj", "--vtk", "--frame", "2", "--up", "y", "-o", "y", "-q"], at);
    let [z, y] = ["out/s", "y"].map(|run| Obj::read(&at.join(run).join("meshes/frame_0002.obj")).unwrap());
    assert!(z.positions.iter().zip(&y.positions).all(|(z, y)| DVec3::new(z.x, z.z, -z.y) == *y));
    assert_eq!(z.positions.len(), y.positions.len());
    assert!(!at.join("y/meshes/frame_0001.obj").exists() && !at.join("y/vtk/frames.vtk.series").exists());
    assert_eq!(z.faces.len(), y.faces.len());
}

#[test]
fn refusals() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let scene = SCENE.replace("[output]", "[output]\ncheckpoints = \"last\"");
    fs::write(at.join("s.toml"), scene.replace("duration = 0.1", "duration = 0.15")).unwrap();
    done(&["run", "s.toml", "-q"], at);
    for (arguments, reason) in [
        (&["export", "out/s"][..], "--obj"),
        (&["export", "out/s", "--pc2", "--frame", "0"], "cannot be used with"),
        (&["export", "out/s", "--pc2"], "keeps no frame between 0 and 3"),
        (&["export", "out/s", "--obj", "--frame", "2"], "no such frame is kept; there are: 0, 3"),
        (&["export", "out", "--obj"], "is not the folder of a run"),
    ] {
        let output = plisse(arguments, at);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(reason), "{said}");
    }
    // Meshes of what there is.
    done(&["export", "out/s", "--obj", "-q"], at);
    assert!(at.join("out/s/meshes/frame_0003.obj").is_file());
}
