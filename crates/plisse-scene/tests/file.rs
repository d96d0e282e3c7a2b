//! Scenes from files: what is wrong is named with its line, and nothing makes the loader fall over.
#![cfg(feature = "file")]
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use std::fs;
use std::path::Path;

use plisse_io::scene_file::SceneFile;
use plisse_scene::file::Loaded;

fn load(text: &str) -> Result<Loaded, String> {
    Loaded::parse(text, "s", Path::new("")).map_err(|mistakes| mistakes.to_string())
}

fn message(text: &str) -> String {
    load(&format!("version = 1\ntime.duration = 1\n{text}")).err().unwrap()
}

const SHEET: &str = "[[cloth]]\ngrid = { cells = [3, 3], size = [1, 1] }\n";

#[test]
fn mistakes_have_lines() {
    for (text, expected) in [
        ("", "s:1: the scene has nothing that moves; add a [[cloth]] or [[wires]]"),
        (
            "[[cloth]]",
            "s:3: [[cloth]] needs one of grid, disc, cylinder, sphere, pillow, discs, annuli, mesh",
        ),
        (
            "\n[[cloth]]\ndisc = { rings = 2, radius = 1 }\nsphere = { divisions = 1, radius = 1 }",
            "s:4: [[cloth]] has disc and sphere; only one of them is possible",
        ),
        (
            "[[cloth]]\nsphere = { divisions = 9, radius = 1 }",
            "s:3: cloth: cannot generate the sphere: 9 divisions are more than eight",
        ),
        (
            "[[cloth]]\ngrid = { cells = [5000, 5000], size = [1, 1] }",
            "s:3: 25010001 vertices are more than 1000000; choose fewer cells",
        ),
    ] {
        assert_eq!(message(text), expected);
    }
    let with = |text: &str| message(&format!("{SHEET}{text}"));
    for (text, expected) in [
        (
            "material = \"denims\"",
            "s:5: there is no material \"denims\"; known: cotton, denim, silk, wool, interlock, tablecloth, paper, mylar, steel-sheet",
        ),
        ("material = { membrane = \"arap\" }", "s:5: this membrane needs \"tensile\", in N/m"),
        (
            "material = { preset = \"paper\", warp = 3 }",
            "s:5: \"warp\" has no meaning for this membrane; remove it or choose another",
        ),
        (
            "material = { bending = \"quadratic\", law = \"sine\" }",
            "s:5: \"law\" belongs to bending = \"hinge\"; remove it or choose that",
        ),
        ("pin = [{}]", "s:5: a pin needs one of vertices, box, group"),
        (
            "pin = [{ group = \"left\", line = [1, 0, 0], plane = [1, 0, 0] }]",
            "s:5: a pin has at most one of motion, follow, line, plane",
        ),
        (
            "pin = [{ group = \"left\", motion = [{ time = 1 }, { time = 0 }] }]",
            "s:5: keyframe 1: times must ascend from keyframe to keyframe",
        ),
        (
            "pin = [{ group = \"lefft\" }]",
            "s:5: this cloth: there is no group \"lefft\"; known groups: bottom, bottom-left, bottom-right, corners, left, right, top, top-left, top-right",
        ),
        (
            "pressure = 3",
            "s:3: cloth 1 is open, and vertex 0 of its boundary is free or moves: pressure needs a closed surface, or pins that hold all of its boundary where it starts, for ever. For a sail, blow with the wind of the air instead",
        ),
        (
            "fold = { at = 0.1, angle = 30 }",
            "s:5: the fold at x = 0.1 cuts through cells; put it where cells meet",
        ),
        (
            "[camera]\nfrom = [1, 0, 0]\nat = [1, 0, 0]",
            "s:5: the camera looks at the place where it stands; move \"from\" or \"at\"",
        ),
        (
            "[[cloth]]\nsphere = { divisions = 1, radius = 1 }",
            "s:5: cloth 2 has no material coordinates, so warp and weft have no direction; give it some (vt in OBJ files), or choose an isotropic membrane without shear term, such as corotational",
        ),
        (
            "[[cloth]]\npillow = { cells = [4, 4], size = [1, 1] }\nmaterial = \"mylar\"",
            "s:5: the seams of cloth 2 bend freely, which only hinges can represent; choose bending by hinges",
        ),
        (
            "pin = [{ group = \"left\" }, { group = \"top\", line = [1, 0, 0] }]",
            "s:3: cloth 1: vertex 12 is held in two ways; let the picks of its pins not overlap",
        ),
        (
            "[[obstacle]]",
            "s:5: [[obstacle]] needs one of plane, sphere, capsule, cylinder, cone, box, mesh, mesh_sequence",
        ),
        (
            "[output]\ncheckpoints = \"last\"",
            "s:5: pictures, meshes, pc2 and vtk of all frames are made from checkpoints; set checkpoints = \"all\", or pictures and meshes to \"last\" and the others to false",
        ),
    ] {
        assert_eq!(with(text), expected);
    }
}

#[test]
fn tables_mean_what_they_say() {
    let text = r#"
version = 1
up = "y"
time = { duration = 1, scheme = "newmark", step = 0.02 }
solver = { tolerance = 0.01, linear = "cholesky", hessian = "projected" }
air = { wind = [1, 0, 0], gusts = 0.5 }
[[cloth]]
cylinder = { cells = [8, 4], radius = 0.1, length = 0.3 }
material = { preset = "paper", membrane = "neo-hookean", bending = "hinge", damping = 2 }
[[cloth]]
name = "b"
grid = { cells = [4, 4], size = [1, 1], irregular = 3 }
rotation = [90, 0, 0]
position = [0, 2, 0]
material = { shear = 0, fibres = [[1, 0], [1, 1]], bending = "mid-edge", poisson = 0.2 }
pin = [{ vertices = [0] }, { box = { min = [-1, 1, 0.4], max = [1, 3, 0.6] } }]
[[wires]]
line = { from = [0, 0, 0], to = [1, 0, 0], segments = 4 }
law = "tangent"
position = [0, 4, 0]
[[obstacle]]
box = { size = [1, 1, 1], rotation = [0, 45, 0] }
position = [0, -3, 0]
motion = [{ time = 0 }, { time = 1, rotate = [0, 90, 0] }]
[[obstacle]]
capsule = { from = [0, 0, 0], to = [1, 0, 0], radius = 0.1 }
position = [0, -1, 0]
"#;
    let mut loaded = load(text).map_err(|e| panic!("{e}")).unwrap();
    let scene = &loaded.scene;
    assert_eq!(
        scene.bodies().iter().map(|b| b.name.as_str()).collect::<Vec<_>>(),
        ["cloth 1", "b", "wires 1"]
    );
    // Turned about x: the sheet lies in x and z, level if y is up.
    let b = scene.positions(&scene.bodies()[1]);
    assert!(b.iter().all(|x| (x.y - 2.0).abs() < 1e-12 && x.z.abs() < 0.51));
    let names: Vec<&str> = scene.system().terms().map(plisse_system::Term::name).collect();
    for name in ["cloth 1: damping", "b: bending", "wires 1: stretching", "contact", "wind", "gravity"] {
        assert!(names.contains(&name), "{name} {names:?}");
    }
    assert!(!names.contains(&"b: damping"));
    loaded.scene.step().unwrap();
}

#[test]
fn meshes_of_scenes_are_read_from_their_folder() {
    let folder = std::env::temp_dir().join(format!("plisse test {}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let quad =
        "o my cloth\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 2 0\nvt 2 2\nvt 0 2\nf 1/1 2/2 3/3 4/4\n";
    fs::write(folder.join("a mesh.obj"), quad).unwrap();
    let scene = "version = 1\ntime.duration = 1\n[[cloth]]\nmesh = \"a mesh.obj\"\npin = [{ group = \"my cloth\" }]\n";
    fs::write(folder.join("scene.toml"), scene).unwrap();
    let loaded = Loaded::read(&folder.join("scene.toml")).map_err(|e| panic!("{e}")).unwrap();
    // At rest it is twice as large as it is placed.
    let body = &loaded.scene.bodies()[0];
    assert!(loaded.scene.strain(body).iter().all(|e| (e + 0.5).abs() < 1e-12));
    // The tag notices a change of the mesh.
    fs::write(folder.join("a mesh.obj"), quad.replace("v 0 1 0", "v 0 1.5 0")).unwrap();
    let changed = Loaded::read(&folder.join("scene.toml")).map_err(|e| panic!("{e}")).unwrap();
    assert_ne!(loaded.tag, changed.tag);
    // But not of its remarks, its normals and its place.
    let remarks = quad.replace("o my cloth", "# by hand\no my cloth\nvn 0 0 1");
    fs::write(folder.join("moved.obj"), remarks).unwrap();
    fs::write(folder.join("moved.toml"), scene.replace("a mesh", "moved")).unwrap();
    let moved = Loaded::read(&folder.join("moved.toml")).map_err(|e| panic!("{e}")).unwrap();
    assert_eq!(loaded.tag, moved.tag);
    assert_eq!(moved.inputs, [folder.join("moved.obj")]);
    fs::write(folder.join("a mesh.obj"), "v 0 0 0\nv 1 0 0\nv 1 1 x\nf 1 2 3\n").unwrap();
    let error = Loaded::read(&folder.join("scene.toml")).err().unwrap().to_string();
    assert!(error.contains("scene.toml:3:") && error.contains("a mesh.obj, line 3"), "{error}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn several_mistakes_of_several_bodies_at_once() {
    let text = "[[cloth]]\ngrid = { cells = [2, 2], size = [1, 1] }\npin = [{ group = \"a\" }]\n\
                [[wires]]\nline = { from = [0, 0, 0], to = [1, 0, 0], segments = 2 }\npin = [{ vertices = [9] }]\n\
                [[obstacle]]\n";
    let found = message(text);
    assert_eq!(found.lines().count(), 3, "{found}");
    // Misspelt keys, wrong values, unknown materials: one look finds them all.
    let mixed = message(
        "gravty = 3\n[[cloth]]\ngird = { cells = [2, 2], size = [1, 1] }\nmaterial = \"demin\"\n[[obstacle]]\nsphere = { radius = 0 }\n\
                         [[cloth]]\npillow = { cells = [1, 3], size = [1, 1] }\n",
    );
    let lines: Vec<&str> = mixed.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(lines, ["s:3:", "s:5:", "s:6:", "s:8:", "s:9:"], "{mixed}");
    assert!(
        found.contains("s:5: this cloth") && found.contains("s:8: these wires: there is no vertex 9"),
        "{found}"
    );
}

#[test]
fn damping_is_a_rate_or_a_table() {
    let scene = |damping: &str| {
        format!(
            "[[cloth]]\ngrid = {{ cells = [2, 2], size = [1, 1] }}\nmaterial = {{ preset = \"denim\", damping = {damping} }}\n"
        )
    };
    let terms = |damping: &str| {
        let mut loaded = load(&format!("version = 1\ntime.duration = 1\n{}", scene(damping))).unwrap();
        let report = loaded.scene.step().unwrap();
        report.energies.terms.iter().map(|term| term.name.clone()).collect::<Vec<_>>().join(", ")
    };
    assert!(terms("2").contains("cloth 1: damping"));
    let names = terms("{ strain_rate = 0.01, bending = 0.02, mass = 1 }");
    for name in ["membrane damping", "cloth 1: damping"] {
        assert!(names.contains(name), "{names}");
    }
    // Hinges have their damping themselves: it shows in what is lost.
    let lost = |damping: &str| {
        let text =
            format!("version = 1\ntime.duration = 1\n{}pin = [{{ group = \"top\" }}]\n", scene(damping));
        let mut loaded = load(&text).unwrap();
        (0..5).map(|_| loaded.scene.step().unwrap().balance.dissipated).sum::<f64>()
    };
    assert!(lost("0") == 0.0 && lost("{ bending = 0.02 }") > 0.0);
    // Warp, weft, shear: the sheet hangs along its weft.
    assert!(lost("{ viscosity = [0, 0.1, 0] }") > 10.0 * lost("{ viscosity = [0.1, 0, 0] }"));
    // A rate that is never reached changes nothing, one that soon is does.
    let linear = lost("{ strain_rate = 0.1 }");
    let off = |rate: &str| {
        (lost(&format!("{{ strain_rate = 0.1, rate_law = {{ rate = {rate}, exponent = 1 }} }}")) / linear
            - 1.0)
            .abs()
    };
    assert!(off("1e9") < 1e-6 && off("0.01") > 0.02, "{} {}", off("1e9"), off("0.01"));
    assert!(terms("{ viscosity = [1, 2, 0] }").contains("membrane damping"));
    assert!(terms("{ isotropic_viscosity = [0.1, 0.2] }").contains("membrane damping"));
    assert!(terms("{ rayleigh = 0.01 }").contains("Rayleigh damping of membrane"));
    assert!(!terms("{ strain_rate = 0 }").contains("damping"));
    for (damping, expected) in [
        ("-1", "-1 is not zero or a positive number"),
        ("{ strainrate = 1 }", "strain_rate"),
        ("{ strain_rate = 1, viscosity = [1, 1, 1] }", "only one can act"),
        ("{ viscosity = [1, -1, 1] }", "may be negative"),
        ("{ isotropic_viscosity = [-2, 1] }", "lambda + mu may be negative"),
        ("{ strain_rate = 0.1, rate_law = { rate = 2 } }", "exponent"),
        ("{ bending = 0.1, rate_law = { rate = 2, exponent = 1 } }", "add \"strain_rate\""),
        ("{ strain_rate = 0.1, rate_law = { rate = 2, exponent = 0.5 } }", "0.5 is not a number from 1 to 4"),
    ] {
        let text = message(&scene(damping));
        assert!(text.contains("5: ") && text.contains(expected) && text.lines().count() == 1, "{text}");
    }
    let wires = "[[wires]]\nline = { from = [0, 0, 0], to = [1, 0, 0], segments = 2 }\ndamping = { viscosity = [1, 1, 1] }\n";
    assert!(message(wires).contains("wires have no viscosity of sheets"), "{}", message(wires));
}

#[test]
fn strain_limits() {
    let text = |keys: &str| format!("{SHEET}{keys}\n");
    let tautest = |keys: &str| {
        let file = format!("version = 1\ntime.duration = 1\n{}", text(keys));
        load(&file).unwrap().scene.step().unwrap().tautest
    };
    assert_eq!(tautest(""), None);
    for keys in ["strain_limit = 1.05", "strain_limit = 1.05\nstrain_limit_of = \"warp-weft\""] {
        let tautest = tautest(keys).unwrap();
        assert_eq!((tautest.term.as_str(), tautest.taut.limit), ("cloth 1: strain limit", 1.05));
    }
    assert_eq!(message(&text("strain_limit = 1")), "s:5: 1 is not a number from 1.0001 to 100, such as 1.05");
    assert_eq!(
        message(&text("strain_limit_of = \"warp-weft\"")),
        "s:3: \"strain_limit_of\" needs a \"strain_limit\""
    );
    let beyond = message(&text("scale = [1.2, 1, 1]\nstrain_limit = 1.1"));
    assert!(beyond.contains("starts beyond its strain limit: face 0 is 1.2 times"), "{beyond}");
}

#[test]
fn runs_without_end_are_refused() {
    for time in
        ["duration = 1, frames_per_second = 1e7", "duration = 1, step = 1e-300, shortest_step = 1e-300"]
    {
        let found = load(&format!("version = 1\ntime = {{ {time} }}\n{SHEET}")).err().unwrap();
        assert!(found.starts_with("s:2: "), "{found}");
    }
}

#[test]
fn the_tag_is_that_of_what_is_simulated() {
    let tag = |text: &str| match load(&format!("version = 1\ntime.duration = 1\n{text}")) {
        Ok(loaded) => loaded.tag,
        Err(error) => panic!("{error}\n{text}"),
    };
    let ball = "[[obstacle]]\nsphere = { centre = [0, 0, -3], radius = 0.2 }\n";
    let net =
        "[[wires]]\nnet = { meshes = [2, 2], size = [1, 1] }\nrotation = [0, 0, 0]\nposition = [0, 0, 1]\n";
    let scene = |head: &str, sheet: &str, obstacle: &str, wires: &str| {
        format!("{head}{SHEET}{sheet}{ball}{obstacle}{net}{wires}")
    };
    let first = tag(&scene("", "", "", ""));
    // How it looks, how it is computed, and how it is written down.
    for (head, sheet, obstacle, wires) in [
        ("title = \"t\"\n# a remark\n\n", "", "", ""),
        ("camera = { wireframe = true, from = [1, 1, 1], at = [0, 0, 0] }\n", "", "", ""),
        ("output = { pictures = \"none\", vtk = true }\nsolver.tolerance = 1\n", "", "", ""),
        ("time.step = 0.001\ntime.scheme = \"bdf2\"\n", "", "", ""),
        ("up = \"z\"\ngravity = 981e-2\n", "", "", ""),
        (
            "",
            "colour = [1, 0, 0]\nname = \"a\"\n",
            "colour = [0, 1, 0]\nname = \"b\"\n",
            "colour = [0, 0, 1]\nname = \"c\"\n",
        ),
        (
            "",
            "position = [0, 0, 0]\nscale = [1.0, 1, 1]\nmaterial = \"cotton\"\n",
            "friction = 0.3\n",
            "young = 2e11\n",
        ),
        (
            "",
            "material = { preset = \"cotton\", density = 0.2 }\n",
            "linear = false\n",
            "damping = { mass = 0 }\n",
        ),
        (
            "",
            "material = {}\npin = []\njitter = -0.0\ngrid.diagonal = \"alternating\"\n",
            "",
            "damping = 0\n",
        ),
    ] {
        let text = scene(head, sheet, obstacle, wires).replace(
            "grid = { cells = [3, 3], size = [1, 1] }",
            if sheet.contains("grid.") {
                "grid.cells = [3, 3]\ngrid.size = [1, 1]"
            } else {
                "grid = { size = [1e0, 1.0], cells = [3, 3] }"
            },
        );
        assert_eq!(first, tag(&text), "{text}");
    }
    // What is simulated.
    let mut tags = vec![first];
    for (head, sheet, obstacle, wires) in [
        ("up = \"y\"\n", "", "", ""),
        ("gravity = 9.8\n", "", "", ""),
        ("air = {}\n", "", "", ""),
        ("air.gusts = 0.5\n", "", "", ""),
        ("", "material = \"silk\"\n", "", ""),
        ("", "material = { density = 0.3 }\n", "", ""),
        ("", "material = { rigidity = 2e-6 }\n", "", ""),
        ("", "material = { law = \"cosine\" }\n", "", ""),
        ("", "material = { weight = \"unit\" }\n", "", ""),
        ("", "material = { shear = 31 }\n", "", ""),
        ("", "material = { shear_law = \"quartic\" }\n", "", ""),
        ("", "material = { membrane = \"green\" }\n", "", ""),
        ("", "material = { warp = 201 }\n", "", ""),
        ("", "material = { weft = 201 }\n", "", ""),
        ("", "material = { fibres = [[1, 1], [-1, 1]] }\n", "", ""),
        ("", "material = { damping = 0.1 }\n", "", ""),
        ("", "material = { damping = { bending = 0.1 } }\n", "", ""),
        ("", "material = { damping = { strain_rate = 0.1 } }\n", "", ""),
        (
            "",
            "material = { damping = { strain_rate = 0.1, rate_law = { rate = 1, exponent = 3 } } }\n",
            "",
            "",
        ),
        ("", "material = { damping = { rayleigh = 0.1 } }\n", "", ""),
        ("", "pin = [{ vertices = [0] }]\n", "", ""),
        ("", "pin = [{ group = \"left\" }]\n", "", ""),
        ("", "pin = [{ group = \"left\", line = [1, 0, 0] }]\n", "", ""),
        ("", "position = [0, 0, 1e-9]\n", "", ""),
        ("", "velocity = [0, 0, 1e-9]\n", "", ""),
        ("", "rotation = [0, 0, 1e-9]\n", "", ""),
        ("", "scale = [1, 1.1, 1]\n", "", ""),
        ("", "jitter = 1e-9\n", "", ""),
        ("", "", "friction = 0.4\n", ""),
        ("", "", "position = [0, 0, 1]\n", ""),
        ("", "", "motion = [{ time = 0 }, { time = 1, move = [0, 0, 1] }]\n", ""),
        ("", "", "", "young = 1e9\n"),
        ("", "", "", "damping = 0.1\n"),
        ("", "", "", "law = \"cosine\"\n"),
    ] {
        let text = scene(head, sheet, obstacle, wires);
        let tag = tag(&text);
        assert!(!tags.contains(&tag), "{text}");
        tags.push(tag);
    }
}

/// The digest of a scene as it was when the format began: if this fails, all runs that exist are
/// orphaned. A preset or the meaning of a key may have changed; then that is right, and the number
/// is to be replaced.
#[test]
fn the_tag_does_not_change_by_accident() {
    let material =
        "material = { density = 0.3, warp = 100, weft = 200, shear = 30, rigidity = 1e-6, damping = 0.5 }\n";
    let text = format!(
        "version = 1\ntime.duration = 1\n{SHEET}{material}[[obstacle]]\nsphere = {{ centre = [0, 0, -3], radius = 0.2 }}\n"
    );
    assert_eq!(format!("{:016x}", load(&text).ok().unwrap().tag), "ff094f5edc2b0f93");
}

/// Thirty grids of 900 by 900 cells in one and a half kilobytes.
#[test]
fn all_bodies_together_are_counted_before_any_is_made() {
    let grid = "[[cloth]]\ngrid = { cells = [900, 900], size = [1, 1] }\n";
    let started = std::time::Instant::now();
    let found = message(&grid.repeat(30));
    assert_eq!(
        found,
        "s:5: all bodies together have 24354030 vertices, more than 1000000; choose fewer cells"
    );
    let wires = "[[wires]]\nline = { from = [0, 0, 0], to = [1, 0, 0], segments = 600000 }\n";
    assert!(message(&format!("{grid}{wires}")).contains("all bodies together"), "cloth and wires");
    let spheres = "[[cloth]]\nsphere = { divisions = 8, radius = 1 }\n".repeat(2);
    assert!(message(&spheres).contains("all bodies together"), "spheres");
    // Other mistakes are told all the same.
    let found = message(&format!("{}material = \"denims\"\n", grid.repeat(2)));
    assert!(found.contains("all bodies together") && found.contains("no material \"denims\""), "{found}");
    // A million vertices take seconds to make.
    assert!(started.elapsed().as_secs_f64() < 1.0, "{:?}", started.elapsed());
}

#[cfg(unix)]
#[test]
fn only_regular_files_of_some_size_are_read() {
    let folder = std::env::temp_dir().join(format!("plisse test of sizes {}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let read = |path: &Path| Loaded::read(path).err().unwrap().to_string();
    assert!(read(Path::new("/dev/zero")).contains("not a regular file"));
    let large = folder.join("large.toml");
    fs::File::create(&large).unwrap().set_len(17 << 20).unwrap();
    assert!(read(&large).contains("more than 16777216 bytes"));
    for (name, expected) in [("/dev/zero", "not a regular file"), ("huge.obj", "more than 1073741824 bytes")]
    {
        fs::File::create(folder.join("huge.obj")).unwrap().set_len(2 << 30).unwrap();
        let scene = format!("version = 1\ntime.duration = 1\n[[cloth]]\nmesh = \"{name}\"\n");
        fs::write(folder.join("s.toml"), scene).unwrap();
        let found = read(&folder.join("s.toml"));
        assert!(found.contains(":3: ") && found.contains(expected), "{found}");
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Scenes with numbers and words exchanged: whatever is accepted can be built and takes a step or
/// says why not.
#[test]
fn exchanged_values_never_make_it_fall_over() {
    let seed = format!(
        "version = 1\ntime = {{ duration = 0.1, step = 0.01 }}\ngravity = 9.81\n{SHEET}material = {{ preset = \"denim\", density = 0.3, \
         rigidity = 1e-4, weight = \"unit\" }}\nposition = [0, 0, 0.25]\njitter = 0.01\npin = [{{ vertices = [3] }}]\n\
         [[obstacle]]\nsphere = {{ centre = [0, 0, 0], radius = 0.2 }}\nfriction = 0.4\nrange = 0.01\n\
         [[wires]]\nnet = {{ meshes = [2, 2], size = [1, 1] }}\nyoung = 1e9\nradius = 0.001\nposition = [0, 0, -0.5]\n"
    );
    let values = [
        "0",
        "1",
        "-1",
        "1e-300",
        "1e300",
        "1e30",
        "5e-324",
        "0.5",
        "1e5",
        "[0, 0, 0]",
        "\"sine\"",
        "3",
        "7",
        "true",
    ];
    let spots: Vec<usize> = seed.match_indices("= ").map(|(at, _)| at + 2).collect();
    let (mut built, mut stepped) = (0, 0);
    for (i, &spot) in spots.iter().enumerate() {
        for value in values {
            let end = seed[spot..].find([',', '\n', ' ', '}']).map_or(seed.len(), |end| spot + end);
            let mut text = format!("{}{value}{}", &seed[..spot], &seed[end..]);
            // Two at once, every other time.
            if i % 2 == 1 {
                text = text.replace("0.3,", "1e-30,");
            }
            let Ok(file) = SceneFile::parse(&text, "m") else { continue };
            if file.cloth.iter().filter_map(|c| c.grid.as_ref()).any(|g| g.cells[0].0 * g.cells[1].0 > 2000) {
                continue;
            }
            if let Ok(mut loaded) = load(&text) {
                built += 1;
                if loaded.scene.step().is_ok() {
                    stepped += 1;
                    assert!(loaded.scene.state().x().as_slice().iter().all(|x| x.is_finite()), "{text}");
                }
            }
        }
    }
    assert!(built > 50 && stepped > 25, "{built} {stepped}");
}
