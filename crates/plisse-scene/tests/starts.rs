//! Bad starts: what cannot give a result to trust is refused with the remedy, what is suspicious is
//! a warning.
#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::fmt::Write as _;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use glam::{DVec2, DVec3};
use plisse_core::Positive;
use plisse_scene::file::{AnyScene, Loaded};
use plisse_scene::scene::{Cloth, Obstacle, Pick, Scene, SceneError, SceneWarning};

const HEAD: &str = "version = 1\ntime.duration = 1\n";

/// Loads a scene beside a mesh.
fn load(obj: &str, scene: &str) -> Result<Loaded, String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("plisse starts {} {number}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("m.obj"), obj).unwrap();
    let loaded = Loaded::parse(&format!("{HEAD}{scene}"), "s", &folder);
    fs::remove_dir_all(&folder).unwrap();
    loaded.map_err(|mistakes| mistakes.to_string())
}

fn warnings(obj: &str, scene: &str) -> Vec<String> {
    load(obj, scene)
        .unwrap_or_else(|error| panic!("{error}"))
        .scene
        .warnings()
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// The cells of a sheet as quads, as a modeller exports it: `n` by `n` cells of one metre in all,
/// curved a little, with texture coordinates times `uv`, and with vertices of their own for every
/// face if it is not welded.
fn exported(n: usize, welded: bool, unit: f64, uv: Option<f64>) -> String {
    let (mut v, mut vt, mut f) = (String::new(), String::new(), String::new());
    let at = |i: usize, j: usize| {
        let (x, y) = (i as f64 / n as f64, j as f64 / n as f64);
        (DVec3::new(x, y, 0.02 * (3.0 * x).sin()) * unit, DVec2::new(x, y) * uv.unwrap_or(1.0))
    };
    let mut vertices = 0;
    let mut add = |(x, u): (DVec3, DVec2)| {
        writeln!(v, "v {:.6} {:.6} {:.6}", x.x, x.y, x.z).unwrap();
        writeln!(vt, "vt {:.6} {:.6}", u.x, u.y).unwrap();
        vertices += 1;
        vertices
    };
    if welded {
        for j in 0..=n {
            for i in 0..=n {
                add(at(i, j));
            }
        }
    }
    for j in 0..n {
        for i in 0..n {
            let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
            let ids = corners.map(|(i, j)| if welded { j * (n + 1) + i + 1 } else { add(at(i, j)) });
            let words = ids.map(|k| if uv.is_some() { format!("{k}/{k}") } else { k.to_string() });
            writeln!(f, "f {}", words.join(" ")).unwrap();
        }
    }
    format!("{v}{}{f}", if uv.is_some() { vt } else { String::new() })
}

#[test]
fn cloth_that_starts_inside_an_obstacle_is_refused() {
    let below = "[[cloth]]\nname = \"cape\"\ngrid = { cells = [4, 4], size = [1, 1] }\nposition = [0, 0, -0.5]\n\
                 [[obstacle]]\nname = \"floor\"\nplane = { normal = [0, 0, 1] }\n";
    let error = load("", below).err().unwrap();
    assert_eq!(
        error,
        "s:3: cape starts inside floor, or on its surface: 25 of its 25 vertices. The deepest, vertex 0 at \
         [-0.5, -0.5, -0.5], is 0.5 m inside; move cape by more than that along [0.0, 0.0, 1.0], or the obstacle, or pin what belongs inside"
    );
    // A floor through the cloth, and a cloth within a ball; wires, too.
    let through = below.replace("position = [0, 0, -0.5]", "rotation = [90, 0, 0]\nposition = [0, 0, 0.1]");
    assert!(load("", &through).err().unwrap().contains("10 of its 25 vertices"));
    let ball = below.replace("plane = { normal = [0, 0, 1] }", "sphere = { radius = 3 }");
    assert!(load("", &ball).err().unwrap().contains("25 of its 25 vertices"));
    let wires =
        below.replace("[[cloth]]", "[[wires]]").replace("grid = { cells = [4, 4]", "net = { meshes = [4, 4]");
    assert!(load("", &wires).err().unwrap().contains("25 of its 25 vertices"));
    // Above the surface is fine, however little; on it is not.
    load("", &below.replace("-0.5]", "1e-9]")).unwrap_or_else(|error| panic!("{error}"));
    assert!(load("", &below.replace("-0.5]", "0]")).is_err());
    // A wire has a radius: it touches earlier.
    assert!(load("", &wires.replace("-0.5]", "0.0005]")).is_err());
}

/// Contact cannot move what a pin holds; what it lets slide must be outside.
#[test]
fn held_vertices_may_be_inside() {
    let sheet = || Cloth::sheet([4, 4], [0.4, 0.4]).unwrap();
    let ball = || Obstacle::sphere(DVec3::new(-0.2, 0.0, 0.0), Positive::literal(0.05));
    let build = |cloth: Cloth| Scene::builder().cloth(cloth).obstacle(ball()).build();
    match build(sheet()).err() {
        Some(SceneError::StartsInside { obstacle, count: 1, vertex: 10, depth, .. }) => {
            assert!(obstacle == "obstacle 1" && (depth - 0.05).abs() < 1e-15);
        }
        other => panic!("{other:?}"),
    }
    assert!(build(sheet().pin(Pick::group("left"))).is_ok());
    let slides = plisse_scene::scene::Hold::Plane(DVec3::Z);
    assert!(build(sheet().hold(Pick::group("left"), slides)).is_err());
}

#[test]
fn loose_triangles_are_refused_unless_one_says_what_they_are() {
    let (loose, whole) = (exported(3, false, 1.0, None), exported(3, true, 1.0, None));
    let cloth = "[[cloth]]\nmesh = \"m.obj\"\nmaterial = \"mylar\"\n";
    let error = load(&loose, cloth).err().unwrap();
    for part in ["s:3:", "m.obj: 12 edges lie on others", "9 pieces", "weld = true joins them"] {
        assert!(error.contains(part), "{error}");
    }
    let size = |scene: &str, obj: &str| load(obj, scene).unwrap().scene.state().x().len();
    assert_eq!(size(&format!("{cloth}weld = true\n"), &loose), 16);
    assert_eq!(size(&format!("{cloth}weld = 1e-6\n"), &loose), 16);
    assert_eq!(size(&format!("{cloth}weld = false\n"), &loose), 36);
    assert_eq!((size(cloth, &whole), warnings(&whole, cloth)), (16, Vec::new()));
    assert!(warnings(&loose, &format!("{cloth}weld = false\n")).is_empty());
    assert!(
        load(&loose, &format!("{cloth}weld = 0.9\n")).err().unwrap().contains("choose a smaller distance")
    );
    assert!(
        load(&loose, &format!("{cloth}weld = -1\n"))
            .err()
            .unwrap()
            .contains("-1 is not true, false, or a distance")
    );
    let grid = "[[cloth]]\ngrid = { cells = [3, 3], size = [1, 1] }\nweld = true\n";
    assert!(load("", grid).err().unwrap().contains("\"weld\" says how a \"mesh\" is read; remove it"));
    // The welded mesh is the same one, whoever welds it.
    let same = load(&loose, &format!("{cloth}weld = true\n")).unwrap();
    let other = load(&whole, cloth).unwrap();
    let sorted = |loaded: &Loaded| {
        let mut x: Vec<_> = loaded.scene.state().x().as_slice().iter().map(DVec3::to_array).collect();
        x.sort_by(|a, b| a.partial_cmp(b).unwrap());
        x
    };
    assert_eq!(sorted(&same), sorted(&other));
}

/// Pieces that touch nowhere are no seam; without a pin they are worth a word.
#[test]
fn separate_pieces_without_a_pin_are_a_warning() {
    let two = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 3 0 0\nv 4 0 0\nv 3 1 0\ng a\nf 1 2 3\ng b\nf 4 5 6\n";
    let cloth = "[[cloth]]\nname = \"flags\"\nmesh = \"m.obj\"\npin = [{ group = \"a\" }]\n";
    let found = warnings(two, cloth);
    assert!(
        found.len() == 1 && found[0].starts_with("flags consists of 2 separate pieces, the smallest with 3"),
        "{found:?}"
    );
    assert!(found[0].contains("nothing holds 1 of them"), "{found:?}");
    let both = cloth.replace("}]", "}, { group = \"b\" }]");
    assert!(warnings(two, &both).is_empty());
}

#[test]
fn texture_coordinates_that_are_not_metres_are_refused() {
    // The unit square for a sheet of 0.85 by 0.85 m: nearly its size, which a bound on the ratio
    // alone would accept.
    let cloth = "[[cloth]]\nmesh = \"m.obj\"\n";
    let small = exported(4, true, 0.85, Some(1.0));
    let error = load(&small, cloth).err().unwrap();
    for part in ["unit square", "gives 1 m2 at rest", "0.72", "uv_scale = \"area\"", "uv_scale = 1"] {
        assert!(error.contains(part), "{error}");
    }
    let area = |obj: &str, scene: &str| match &load(obj, scene).unwrap().scene.bodies()[0].kind {
        plisse_scene::scene::Kind::Cloth { rest, .. } => rest.area(),
        _ => panic!(),
    };
    assert!((area(&small, &format!("{cloth}uv_scale = \"area\"\n")) / 0.7233 - 1.0).abs() < 1e-3);
    assert!((area(&small, &format!("{cloth}uv_scale = 0.85\n")) - 0.7225).abs() < 1e-9);
    assert!((area(&small, &format!("{cloth}uv_scale = 1\n")) - 1.0).abs() < 1e-9);
    // Close to its size: a warning, which a choice answers.
    let close = exported(4, true, 0.96, Some(1.0));
    assert!(warnings(&close, cloth)[0].contains("lie in the unit square"), "{:?}", warnings(&close, cloth));
    assert!(warnings(&close, &format!("{cloth}uv_scale = 1\n")).is_empty());
    // Metres that happen to fill the square, and metres that do not.
    assert!(warnings(&exported(4, true, 1.0, Some(1.0)), cloth).is_empty());
    assert!(warnings(&exported(4, true, 0.3, Some(0.3)), cloth).is_empty());
    // Pixels, or millimetres.
    let pixels = load(&exported(4, true, 1.0, Some(1000.0)), cloth).err().unwrap();
    assert!(pixels.contains("gives 1000000 m2 at rest") && !pixels.contains("unit square"), "{pixels}");
    assert!(load("", &format!("{cloth}uv_scale = \"auto\"\n")).err().unwrap().contains("or \"area\""));
}

/// Islands that overlap or are mirrored are as good as others: only lengths and the directions of
/// fibres matter.
#[test]
fn overlapping_and_mirrored_islands_are_fine() {
    let v = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 2 1 0\n";
    let vt = "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";
    let stacked = format!("{v}{vt}f 1/1 2/2 3/3 4/4\nf 2/1 5/2 6/3 3/4\n");
    let mirrored = format!("{v}{vt}f 1/1 2/2 3/3 4/4\nf 2/2 5/1 6/4 3/3\n");
    for obj in [stacked, mirrored] {
        assert!(warnings(&obj, "[[cloth]]\nmesh = \"m.obj\"\n").is_empty());
    }
}

#[test]
fn implausible_figures_are_warnings_with_the_value() {
    let cloth = "[[cloth]]\ngrid = { cells = [3, 3], size = [1, 1] }\n";
    for (scene, parts) in [
        (format!("{cloth}material = {{ density = 200 }}"), ["200 kg/m2", "200 g/m2 has 0.2 kg/m2"]),
        (
            format!("{cloth}material = {{ warp = 1e10, weft = 1e3 }}"),
            ["10000000000 N/m", "Pa times thickness"],
        ),
        (format!("{cloth}material = {{ rigidity = 1e-12 }}"), ["0.000000000001 N m", "gf cm2/cm"]),
        (cloth.replace("[1, 1]", "[730, 1000]"), ["1238 m", "mesh_unit = 1e-3"]),
        (cloth.replace("[1, 1]", "[1e-3, 1e-3]"), ["0.001414 m", "Lengths are metres"]),
        (
            "[[wires]]\nline = { from = [0, 0, 0], to = [1, 0, 0], segments = 3 }\ndensity = 7.85\n"
                .to_owned(),
            ["7.85 kg/m3", "steel 7850"],
        ),
    ] {
        let found = warnings("", &scene);
        assert!(found.len() == 1 && parts.iter().all(|part| found[0].contains(part)), "{scene}: {found:?}");
    }
    assert!(warnings("", cloth).is_empty());
}

#[test]
fn meshes_in_millimetres_have_a_unit() {
    let cloth = "[[cloth]]\nmesh = \"m.obj\"\nmaterial = \"mylar\"\n";
    let millimetres = exported(4, true, 1000.0, None);
    assert!(warnings(&millimetres, cloth)[0].contains("mesh_unit = 1e-3"));
    let scene = format!("{cloth}mesh_unit = 1e-3\n");
    assert!(warnings(&millimetres, &scene).is_empty());
    let x = load(&millimetres, &scene).unwrap();
    assert!(x.scene.state().x().as_slice().iter().all(|x| x.max_element() <= 1.0));
}

#[test]
fn wires_that_only_touch_are_refused() {
    let two = "v 0 0 0\nv 1 0 0\nv 1 0 0\nv 2 0 0\nl 1 2\nl 3 4\n";
    let wires = "[[wires]]\nmesh = \"m.obj\"\n";
    let error = load(two, wires).err().unwrap();
    assert!(error.contains("1 vertices lie on others") && error.contains("vertex 2 on vertex 1"), "{error}");
    assert_eq!(load(two, &format!("{wires}weld = true\n")).unwrap().scene.state().x().len(), 3);
    assert_eq!(load(two, &format!("{wires}weld = false\n")).unwrap().scene.state().x().len(), 4);
}

/// A cube with vertices of its own for every face has holes along all its edges.
#[test]
fn an_obstacle_is_welded_if_one_asks() {
    let mut obj = String::new();
    let corner = |c: usize| [c & 1, c >> 1 & 1, c >> 2 & 1].map(|b| b as f64 - 0.5);
    for face in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]] {
        for [x, y, z] in face.map(corner) {
            writeln!(obj, "v {x} {y} {z}").unwrap();
        }
        obj.push_str("f -4 -3 -2 -1\n");
    }
    let scene = "[[cloth]]\ngrid = { cells = [3, 3], size = [1, 1] }\nposition = [0, 0, 1]\n[[obstacle]]\nmesh = \"m.obj\"\n";
    let error = load(&obj, scene).err().unwrap();
    assert!(
        error.contains("is open")
            && error.contains("12 edges lie on others")
            && error.contains("weld = true"),
        "{error}"
    );
    assert!(load(&obj, &format!("{scene}weld = true\n")).is_ok());
}

#[test]
fn an_uneven_unwrap_is_a_warning_that_names_the_face() {
    let v = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
    let obj = format!(
        "{v}vt 0 0\nvt 2.5 0\nvt 2.5 2.5\nvt 3 0\nvt 3.4 0.4\nvt 3 0.4\nf 1/1 2/2 3/3\nf 1/4 3/5 4/6\n"
    );
    let scene = "[[cloth]]\nmesh = \"m.obj\"\nuv_scale = 1\n";
    let loaded = load(&obj, scene).unwrap();
    let stretched = loaded.scene.warnings().iter().any(
        |warning| matches!(warning, SceneWarning::Stretched { faces: 2, stretch: [low, high], .. } if *low > 0.3 && *high < 3.0),
    );
    assert!(stretched, "{:?}", loaded.scene.warnings());
}

#[test]
fn every_scene_of_the_repository_is_without_warnings() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenes");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            let scene = AnyScene::read(&path).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(scene.warnings(), &[], "{}", path.display());
            count += 1;
        }
    }
    assert!(count >= 26, "{count}");
}
