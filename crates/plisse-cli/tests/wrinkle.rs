//! `plisse wrinkle`, run as a person would.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use std::f64::consts::TAU;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use glam::{DMat3, DVec3};
use plisse::core::generate::{self, Diagonal};
use plisse::core::{Id, TriMesh};
use plisse::io::{Obj, ObjPart, ObjSource, write_obj};
use serde_json::Value;
use tempfile::TempDir;

const SHEET: [&str; 6] = ["--young", "1e7", "--poisson", "0.44", "--thickness", "2e-3"];

fn plisse(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plisse"))
        .arg("wrinkle")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// With rest.obj, base.obj and the sheet.
fn wrinkle(folder: &Path, arguments: &[&str]) -> Output {
    let mut all = vec!["--rest", "rest.obj", "--base", "base.obj"];
    all.extend(SHEET);
    all.extend(arguments);
    plisse(folder, &all)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Standard output of a command that must succeed.
fn success(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&success(output)).unwrap()
}

#[track_caller]
fn refused(output: &Output, status: i32, parts: &[&str]) {
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{message}");
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
    assert!(!message.contains("panicked"), "{message}");
}

fn faces(mesh: &TriMesh) -> Vec<[u32; 3]> {
    mesh.faces().as_slice().iter().map(|corners| corners.map(Id::get)).collect()
}

fn save(path: &Path, positions: &[DVec3], faces: &[[u32; 3]]) {
    let part = ObjPart { name: "mesh", faces, ..ObjPart::default() };
    write_obj(path, &ObjSource { positions, parts: &[part] }).unwrap();
}

/// A ring whose inner rim is pushed inwards along a paraboloid, in `rest.obj` and `base.obj`.
fn ring() -> (TempDir, TriMesh) {
    let folder = tempfile::tempdir().unwrap();
    let (mesh, uv) = generate::annulus(24, 3, 0.5, 1.0, Diagonal::Alternating).unwrap();
    let flat: Vec<DVec3> = uv.as_slice().iter().map(|u| u.extend(0.0)).collect();
    let pushed = |u: &DVec3| {
        let r = u.length();
        (*u * ((r - 0.025 / r) / r)).with_z(0.15 * r * r)
    };
    save(&folder.path().join("rest.obj"), &flat, &faces(&mesh));
    save(&folder.path().join("base.obj"), &flat.iter().map(pushed).collect::<Vec<_>>(), &faces(&mesh));
    (folder, mesh)
}

fn numbers(path: &Path) -> Vec<f64> {
    fs::read_to_string(path).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn what_is_solved_is_written_and_reads_back() {
    let (folder, mesh) = ring();
    let at = |name: &str| folder.path().join("out").join(name);
    let printed = success(&wrinkle(folder.path(), &["-o", "out", "--levels", "2"]));
    for part in [
        "quadrature: exact",
        "W_s1  stretch",
        "W_b2  wrinkle bending",
        "E     total",
        "* from",
        "converged",
        "the best there are",
    ] {
        assert!(printed.contains(part), "{part:?} is not in {printed}");
    }
    let report: Value = serde_json::from_str(&fs::read_to_string(at("wrinkle.json")).unwrap()).unwrap();
    assert_eq!(report, json(&wrinkle(folder.path(), &["-o", "out", "--levels", "2", "--json"])));
    assert_eq!(report["solution"]["converged"], true);
    assert_eq!(report["b1"], 1);
    assert_eq!(report["quadrature"], "exact");
    assert_eq!(report["waves_proven"], true);
    let total: f64 = report["terms"].as_array().unwrap().iter().map(|t| t["energy"].as_f64().unwrap()).sum();
    let energy = report["energy"].as_f64().unwrap();
    assert!((total / energy - 1.0).abs() < 1e-14);
    let smooth = report["smooth_energy"].as_f64().unwrap();
    assert!(energy < 0.95 * smooth, "{energy} {smooth}");
    let waves = report["waves"][0]["whole"].as_i64().unwrap();
    assert!((5..40).contains(&waves.abs()), "{waves}");

    let (amplitude, dphi) = (numbers(&at("amplitude.txt")), numbers(&at("dphi.txt")));
    assert_eq!((amplitude.len(), dphi.len()), (mesh.vertex_count(), mesh.edge_count()));
    assert_eq!(numbers(&at("phi.txt")).len(), mesh.vertex_count());
    let largest = amplitude.iter().fold(0.0, |m: f64, a| m.max(*a));
    assert_eq!(report["amplitude"]["max"], largest);
    assert!(report["wavelength"].as_f64().unwrap() > 0.0);
    let (surface, base) = (Obj::read(&at("surface.obj")).unwrap(), Obj::read(&at("smooth.obj")).unwrap());
    assert_eq!(surface.faces.len(), 16 * mesh.face_count());
    assert_eq!((surface.faces.len(), surface.positions.len()), (base.faces.len(), base.positions.len()));
    let off = surface.positions.iter().zip(&base.positions).map(|(x, r)| x.distance(*r)).fold(0.0, f64::max);
    assert!(off > 0.5 * largest && off <= 1.0001 * largest, "{off} {largest}");
    surface.into_surface().unwrap();

    // The same energy from the files, with or without a count in front of the numbers and with
    // another end of lines.
    let arguments = ["--evaluate", "out/amplitude.txt", "out/dphi.txt", "--quadrature", "exact", "--json"];
    let again = json(&wrinkle(folder.path(), &arguments));
    assert!((again["energy"].as_f64().unwrap() / energy - 1.0).abs() < 1e-12);
    assert!(again["kkt"]["relative"].as_f64().unwrap() < 1e-7);
    assert!(again["curl"].as_f64().unwrap() < 1e-11);
    assert_eq!(again["held_amplitude"], 0.0);
    assert_eq!(again["wrinkle_free_faces"], report["wrinkle_free_faces"]);
    assert!((again["periods"][0].as_f64().unwrap().abs() - waves.abs() as f64).abs() < 0.51);
    for name in ["amplitude.txt", "dphi.txt"] {
        let values = fs::read_to_string(at(name)).unwrap();
        let headed = format!("{}\r\n# counted\r\n{}", values.lines().count(), values.replace('\n', "\r\n"));
        fs::write(at(name), headed).unwrap();
    }
    assert_eq!(json(&wrinkle(folder.path(), &arguments)), again);
    // As published: three points, which is another energy. With a folder also the surface.
    let mut published = vec!["--evaluate", "out/amplitude.txt", "out/dphi.txt", "--json"];
    let three = json(&wrinkle(folder.path(), &published));
    assert_eq!(three["quadrature"], "three-point");
    let change = three["energy"].as_f64().unwrap() / energy - 1.0;
    assert!(change.abs() > 1e-9 && change.abs() < 0.01, "{change}");
    published.extend(["-o", "other", "--levels", "2"]);
    json(&wrinkle(folder.path(), &published));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("other/surface.obj"), read("out/surface.obj"));
    assert!(
        success(&wrinkle(folder.path(), &published[..3])).contains("gradient by omega: norm"),
        "slopes are printed"
    );
}

#[test]
fn whole_waves_are_held() {
    let (folder, mesh) = ring();
    let free = json(&wrinkle(folder.path(), &["--json", "--start", "strain"]));
    let report = json(&wrinkle(folder.path(), &["--json", "--start", "strain", "--rounded", "-o", "out"]));
    assert_eq!((&free["rounded"], &report["rounded"]), (&false.into(), &true.into()));
    assert_eq!(report["solution"]["start"], "whole waves");
    let [real, whole] = ["real", "whole"].map(|key| report["waves"][0][key].as_f64().unwrap());
    assert!((real - whole).abs() < 1e-8);
    assert_eq!(whole, free["waves"][0]["whole"].as_f64().unwrap());
    let energy = |report: &Value| report["energy"].as_f64().unwrap();
    assert!(energy(&report) > energy(&free) && energy(&report) < energy(&free) * 1.05);
    // Now differences are those of the phase, up to whole turns.
    let [phi, dphi, a] =
        ["phi.txt", "dphi.txt", "amplitude.txt"].map(|name| numbers(&folder.path().join("out").join(name)));
    let mut seen = 0;
    for (id, edge) in mesh.edges().iter() {
        let [p, q] = edge.vertices.map(Id::index);
        if a[p] > 0.0 && a[q] > 0.0 {
            let turns = (phi[p.max(q)] - phi[p.min(q)] - dphi[id.index()]) / TAU;
            assert!((turns - turns.round()).abs() < 1e-7, "{id}: {turns}");
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

/// Only the lengths of edges count: panels may lie anywhere in space, each triangle by itself.
#[test]
fn panels_may_lie_anywhere() {
    let (folder, mesh) = ring();
    let expected = json(&wrinkle(folder.path(), &["--json"]));
    let rest = Obj::read(&folder.path().join("rest.obj")).unwrap();
    let mut apart = Vec::new();
    for (i, face) in rest.faces.iter().enumerate() {
        let turn = DMat3::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 0.37 * i as f64);
        apart.extend(face.corners.map(|v| turn * rest.positions[v as usize] + DVec3::splat(0.01 * i as f64)));
    }
    let own: Vec<[u32; 3]> = (0..mesh.face_count() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    save(&folder.path().join("rest.obj"), &apart, &own);
    let found = json(&wrinkle(folder.path(), &["--json"]));
    for key in ["energy", "smooth_energy"] {
        let ratio = found[key].as_f64().unwrap() / expected[key].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 1e-9, "{key} {ratio}");
    }
    assert_eq!(found["kept_faces"], expected["kept_faces"]);
    assert_eq!(found["waves"][0]["whole"], expected["waves"][0]["whole"]);
}

#[test]
fn clamped_vertices_have_no_amplitude_and_stay() {
    let (folder, mesh) = ring();
    let rim: Vec<usize> = mesh.vertices().filter(|v| mesh.is_boundary_vertex(*v)).map(Id::index).collect();
    let bare = rim.iter().map(|v| format!("{v}\n")).collect::<String>();
    let placed = rim.iter().map(|v| format!("{v} 0.5 -1e-3 0\n")).collect::<String>();
    let mut reports = Vec::new();
    for content in [bare, format!("{}\n#\n{placed}", rim.len()), placed] {
        fs::write(folder.path().join("clamped.dat"), content).unwrap();
        reports.push(json(&wrinkle(folder.path(), &["--json", "--clamped", "clamped.dat", "-o", "out"])));
    }
    assert!(reports.iter().all(|report| *report == reports[0]));
    assert_eq!(reports[0]["clamped"], rim.len());
    let a = numbers(&folder.path().join("out/amplitude.txt"));
    assert!(rim.iter().all(|v| a[*v] == 0.0) && a.iter().any(|a| *a > 0.0));
    let given = Obj::read(&folder.path().join("base.obj")).unwrap();
    let surface = Obj::read(&folder.path().join("out/surface.obj")).unwrap();
    assert!(rim.iter().all(|v| surface.positions[*v].distance(given.positions[*v]) < 1e-15));
}

#[test]
fn without_compression_the_surface_is_the_subdivided_base() {
    let (folder, _) = ring();
    let rest = Obj::read(&folder.path().join("rest.obj")).unwrap();
    let wide: Vec<DVec3> = rest.positions.iter().map(|x| *x * 1.05).collect();
    let triangles: Vec<[u32; 3]> = rest.faces.iter().map(|face| face.corners).collect();
    save(&folder.path().join("base.obj"), &wide, &triangles);
    let printed = success(&wrinkle(folder.path(), &["-o", "out", "--levels", "1", "--rounded"]));
    assert!(
        printed
            .contains("no face is compressed: nothing wrinkles, the surface is that of the subdivided base"),
        "{printed}"
    );
    let read = |name: &str| Obj::read(&folder.path().join("out").join(name)).unwrap();
    assert_eq!(read("surface.obj").positions, read("smooth.obj").positions);
    assert_eq!(read("surface.obj").faces.len(), 4 * triangles.len());
    let report: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("out/wrinkle.json")).unwrap()).unwrap();
    assert_eq!((&report["wrinkles"], &report["kept_faces"]), (&false.into(), &0.into()));
    assert_eq!(report["energy"], report["smooth_energy"]);
    assert_eq!(success(&wrinkle(folder.path(), &["-q", "-o", "out", "--levels", "0"])), "");
    let base = Obj::read(&folder.path().join("base.obj")).unwrap();
    assert_eq!(read("surface.obj").positions, base.positions);
    let corners = |obj: Obj| obj.faces.iter().map(|face| face.corners).collect::<Vec<_>>();
    assert_eq!(corners(read("surface.obj")), corners(base));
}

#[test]
fn collapsed_triangles_are_states() {
    let (folder, mesh) = ring();
    let mut base = Obj::read(&folder.path().join("base.obj")).unwrap();
    let [a, b, _] = mesh.faces()[Id::new(10)].map(Id::index);
    base.positions[a] = base.positions[b];
    save(&folder.path().join("base.obj"), &base.positions, &faces(&mesh));
    let output = wrinkle(folder.path(), &["--json", "-o", "out", "--tolerance", "1e-6"]);
    let report = json(&output);
    assert!(report["energy"].as_f64().unwrap() < report["smooth_energy"].as_f64().unwrap());
    // Everything in one point is a state as well, but the sheet has no material for waves that
    // would take it up.
    save(&folder.path().join("base.obj"), &vec![DVec3::ONE; base.positions.len()], &faces(&mesh));
    let output = wrinkle(folder.path(), &["-o", "out"]);
    assert!(text(&output.stderr).contains("warning: the base has 0.000e0 times the area"), "{output:?}");
    refused(&output, 3, &["has an amplitude of", "no two points of the sheet are farther than"]);
    // Something that nothing can be computed for.
    let far: Vec<DVec3> = base.positions.iter().map(|x| *x * 1e30).collect();
    save(&folder.path().join("base.obj"), &far, &faces(&mesh));
    refused(&wrinkle(folder.path(), &[]), 2, &["base.obj", "face 0: its largest strain", "check the units"]);
}

#[test]
fn what_does_not_converge_says_so() {
    let (folder, _) = ring();
    let output = wrinkle(folder.path(), &["--max-iterations", "1", "--start", "strain", "-o", "out"]);
    refused(&output, 3, &["did not converge: out of steps after 1 steps", "--max-iterations"]);
    assert!(
        folder.path().join("out/surface.obj").exists() && folder.path().join("out/wrinkle.json").exists()
    );
}

#[test]
fn folders_of_others_are_left_alone() {
    let (folder, _) = ring();
    let at = |name: &str| folder.path().join("out").join(name);
    let run = || wrinkle(folder.path(), &["-o", "out", "--levels", "0", "-q"]);
    fs::create_dir(folder.path().join("out")).unwrap();
    fs::write(at("notes.txt"), "mine").unwrap();
    fs::write(at("surface.obj"), "mine").unwrap();
    for record in [None, Some("{}"), Some("not JSON")] {
        if let Some(text) = record {
            fs::write(at("wrinkle.json"), text).unwrap();
        }
        refused(&run(), 2, &["surface.obj is there, and no wrinkle.json beside it", "another folder"]);
        assert_eq!(fs::read_to_string(at("surface.obj")).unwrap(), "mine");
        assert!(!at("amplitude.txt").exists());
    }
    for name in ["surface.obj", "wrinkle.json"] {
        fs::remove_file(at(name)).unwrap();
    }
    success(&run());
    assert_eq!(fs::read_to_string(at("notes.txt")).unwrap(), "mine");
    // A run that cannot write all of its files leaves no record of an earlier one behind.
    success(&run());
    fs::remove_file(at("smooth.obj")).unwrap();
    fs::create_dir_all(at("smooth.obj/full")).unwrap();
    refused(&run(), 4, &["smooth.obj"]);
    assert!(!at("wrinkle.json").exists());
}

#[test]
fn few_levels_are_warned_about() {
    let (folder, _) = ring();
    let output = wrinkle(folder.path(), &["--levels", "0", "-o", "out", "--thickness", "2e-4"]);
    // clap takes an option once.
    refused(&output, 2, &["--thickness"]);
    let thin = ["--rest", "rest.obj", "--base", "base.obj", "--young", "1e7", "--poisson", "0.44"];
    let output =
        plisse(folder.path(), &[&thin[..], &["--thickness", "2e-4", "--levels", "0", "-o", "out"]].concat());
    success(&output);
    assert!(text(&output.stderr).contains("take --levels"), "{output:?}");
    let output =
        plisse(folder.path(), &[&thin[..], &["--thickness", "2e-9", "--levels", "0", "-o", "out"]].concat());
    assert!(text(&output.stderr).contains("levels; refine the base mesh"), "{output:?}");
}

#[test]
fn meshes_that_do_not_fit_are_named() {
    let (folder, mesh) = ring();
    let (rest, base) = (folder.path().join("rest.obj"), folder.path().join("base.obj"));
    let good = fs::read_to_string(&rest).unwrap();
    let write = |text: &str| fs::write(&rest, text).unwrap();

    write(good.trim_end().rsplit_once('\n').unwrap().0);
    let faces =
        [format!("rest.obj has {} faces", mesh.face_count() - 1), format!("has {}:", mesh.face_count())];
    refused(&wrinkle(folder.path(), &[]), 2, &[&faces[0], &faces[1], "in the same order"]);

    let mut lines: Vec<&str> = good.lines().collect();
    let last = lines.len() - 1;
    lines.swap(last, last - 40);
    write(&lines.join("\n"));
    let swapped = wrinkle(folder.path(), &[]);
    refused(&swapped, 2, &["rest.obj, line", "does not correspond to line", "base.obj", "in the same order"]);

    write("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
    refused(
        &wrinkle(folder.path(), &[]),
        2,
        &["rest.obj, line 5: a face with more than three corners", "triangulate"],
    );

    let mut flat = Obj::parse(&good, "").unwrap();
    let [a, b, _] = mesh.faces()[Id::new(0)].map(Id::index);
    flat.positions[a] = flat.positions[b];
    save(&rest, &flat.positions, &flat.faces.iter().map(|f| f.corners).collect::<Vec<_>>());
    refused(&wrinkle(folder.path(), &[]), 2, &["rest.obj, line", "has no area at rest", "in both files"]);

    fs::remove_file(&rest).unwrap();
    refused(&wrinkle(folder.path(), &[]), 2, &["cannot read rest.obj"]);
    write(&good);

    fs::write(&base, format!("{good}v 0 0 0\n")).unwrap();
    refused(&wrinkle(folder.path(), &[]), 2, &["base.obj, line", "belongs to no face"]);
    fs::write(&base, "v 0 0 0\n").unwrap();
    refused(&wrinkle(folder.path(), &[]), 2, &["base.obj has 0"]);
}

#[test]
fn numbers_that_do_not_fit_are_named() {
    let (folder, mesh) = ring();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let zeros = |count: usize| "0\n".repeat(count);
    write("dphi.txt", &zeros(mesh.edge_count()));
    let evaluate = || wrinkle(folder.path(), &["--evaluate", "a.txt", "dphi.txt"]);
    write("a.txt", &zeros(5));
    let expected = format!("a.txt: 5 numbers, but the base mesh has {} vertices", mesh.vertex_count());
    refused(&evaluate(), 2, &[&expected]);
    write("a.txt", &format!("5\n{}", zeros(5)));
    refused(&evaluate(), 2, &[&expected]);
    write("a.txt", &format!("# header\n0\nhalf\n{}", zeros(mesh.vertex_count() - 2)));
    refused(&evaluate(), 2, &["a.txt, line 3: here is a word that is not a finite number"]);
    write("a.txt", &format!("nan\n{}", zeros(mesh.vertex_count() - 1)));
    refused(&evaluate(), 2, &["a.txt, line 1: here is a word that is not a finite number"]);
    write("a.txt", &"-1e-3\n".repeat(mesh.vertex_count()));
    let negative = success(&evaluate());
    assert!(negative.contains(&format!("negative at {} vertices", mesh.vertex_count())), "{negative}");
    write("a.txt", &zeros(mesh.vertex_count()));
    write("dphi.txt", &zeros(7));
    refused(&evaluate(), 2, &["dphi.txt: 7 numbers", &format!("{} edges", mesh.edge_count())]);

    let clamp = || wrinkle(folder.path(), &["--clamped", "c.dat"]);
    write("c.dat", "3\n#\n0 1 2 3\n1 1 2 3\n");
    refused(&clamp(), 2, &["c.dat, line 1: 3 vertices are announced, 2 follow"]);
    for (list, said) in [("0\n", 0), ("1\n0\n", 1), ("# ring\n2\n5\n9\n", 2)] {
        write("c.dat", list);
        let either = format!("{said} may be a vertex or the number of those that follow");
        refused(&clamp(), 2, &["c.dat, line", &either, "remove it", &format!("`{said} 0 0 0`")]);
    }
    // The remedies.
    let clamped = |list: &str| {
        write("c.dat", list);
        json(&wrinkle(folder.path(), &["--clamped", "c.dat", "--json"]))["clamped"].clone()
    };
    assert_eq!(clamped("0 0 0 0\n"), 1);
    assert_eq!(clamped("1 0 0 0\n0\n"), 2);
    assert_eq!(clamped("0\n1\n"), 2);
    write("c.dat", "0\n4\n9999\n");
    refused(&clamp(), 2, &["c.dat, line 3: `9999` is no vertex: the base has 0 to"]);
    write("c.dat", "0\n4 1\n");
    refused(&clamp(), 2, &["c.dat, line 1: 0 vertices are announced, 1 follow"]);
    write("c.dat", "4 1\n");
    refused(&clamp(), 2, &["c.dat, line 1: 2 numbers: write a vertex"]);
    write("c.dat", "4 1 x 2\n");
    refused(&clamp(), 2, &["c.dat, line 1: here is a word that is not a finite number"]);
}

#[test]
fn arguments_that_make_no_sense_are_named() {
    let (folder, _) = ring();
    let sheet = |young: &str, poisson: &str, thickness: &str| {
        let start = ["--rest", "rest.obj", "--base", "base.obj", "--young", young];
        plisse(folder.path(), &[&start[..], &["--poisson", poisson, "--thickness", thickness]].concat())
    };
    refused(&sheet("1e7", "0.4", "0"), 2, &["--thickness", "0 is not a positive finite number"]);
    refused(&sheet("-1", "0.4", "1e-3"), 2, &["--young", "-1 is not a positive finite number"]);
    refused(&sheet("hard", "0.4", "1e-3"), 2, &["--young", "give a number"]);
    refused(&sheet("1e7", "1.5", "1e-3"), 2, &["Poisson", "1.5"]);
    refused(&sheet("1e7", "nan", "1e-3"), 2, &["Poisson", "NaN"]);
    refused(&wrinkle(folder.path(), &["--levels", "9"]), 2, &["--levels", "0..=8"]);
    let start = wrinkle(folder.path(), &["--evaluate", "a.txt", "b.txt", "--start", "strain"]);
    refused(&start, 2, &["--evaluate", "cannot be used with", "--start"]);
    refused(&wrinkle(folder.path(), &["--evaluate", "a.txt"]), 2, &["--evaluate", "2 values required"]);

    // A result must not take the place of what it is computed from.
    let before = fs::read(folder.path().join("base.obj")).unwrap();
    fs::write(folder.path().join("smooth.obj"), &before).unwrap();
    let read = ["--rest", "rest.obj", "--base", "smooth.obj", "-o", "."];
    let replaced = "smooth.obj is read, and would be replaced by the result smooth.obj";
    refused(&plisse(folder.path(), &[&read[..], &SHEET].concat()), 2, &[replaced, "another folder"]);
    assert_eq!(fs::read(folder.path().join("smooth.obj")).unwrap(), before);
    refused(&wrinkle(folder.path(), &["-o", "rest.obj"]), 4, &["cannot write", "rest.obj"]);

    let (mesh, uv) = generate::annulus(40, 5, 0.5, 1.0, Diagonal::Alternating).unwrap();
    for name in ["rest.obj", "base.obj"] {
        save(&folder.path().join(name), generate::embed(&uv).as_slice(), &faces(&mesh));
    }
    let huge = wrinkle(folder.path(), &["--levels", "8", "-o", "out"]);
    refused(&huge, 2, &["--levels 8: the surface would have 26214400 triangles", "fewer levels"]);
    assert!(!folder.path().join("out").exists());
}
