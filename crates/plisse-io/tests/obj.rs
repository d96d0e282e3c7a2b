//! OBJ files as programs write them, as they go wrong, and as plisse writes them.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

mod common;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use common::Mutator;
use glam::{DVec2, DVec3};
use plisse_core::Id;
use plisse_io::{Obj, ObjPart, ObjSource, write_obj};
use proptest::prelude::*;
use proptest::sample::subsequence;

const PLANE: &str = "\u{feff}# Blender 4.1.1\r\n# www.blender.org\r\nmtllib untitled.mtl\r\no Plane\r\n\
    v -1.000000 0.000000 1.000000\r\nv 1.000000 0.000000 1.000000\r\nv -1.000000 0.000000 -1.000000\r\n\
    v 1.000000 0.000000 -1.000000\r\nvn -0.0000 1.0000 -0.0000\r\nvt 0.000000 0.000000\r\n\
    vt 1.000000 0.000000\r\nvt 0.000000 1.000000\r\n\
    vt 1.000000 1.000000\r\ns 0\r\nusemtl Material\r\nf 1/1/1 2/2/1 4/4/1 3/3/1\r\n";

/// Relative indices, groups, polylines, continued lines, colours, tabs.
const MIXED: &str = "\
g left\tcollar  # two at once
v 0 0 0 1
v\t1 0 0  0.2 0.4 0.6
v +1 1. 0
v 0 1 .0
f -4//-1 -3//-1 \\
  -2//-1
g left
f -4// -2/ -1
o thread
v 0 0 1e0

l 1 5 \\
3
g
p 1
f 2 5 3
";

const SEAM: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0.5\nvt 0 0\nvt 1 0\nvt 0 1\nvt 5 5 0\nvt 6 5\nvt 6 6\n\
    f 1/1 2/2 3/3\nf 3/4 2/5 4/6\n";

const HEXAGON: &str =
    "v 2 0 0\nv 1 2 0\nv -1 2 0\nv -2 0 0\nv -1 -2 0\nv 1 -2 0\nvt 0 0\ng cap\nf 1/1 2/1 3/1 4/1 5/1 6/1\n";

fn refusal(text: &str) -> String {
    match Obj::parse(text, "a.obj").and_then(Obj::into_surface) {
        Ok(_) => "no refusal".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn blender_plane() {
    let obj = Obj::parse(PLANE, "plane.obj").unwrap();
    assert_eq!((obj.positions.len(), obj.uv.len(), obj.segments.len()), (4, 4, 0));
    assert_eq!(obj.position_lines, [5, 6, 7, 8]);
    let faces: Vec<_> = obj.faces.iter().map(|face| (face.corners, face.uv, face.line)).collect();
    assert_eq!(faces, [([0, 1, 3], Some([0, 1, 3]), 16), ([0, 3, 2], Some([0, 3, 2]), 16)]);
    let surface = obj.into_surface().unwrap();
    assert_eq!(surface.mesh.face_count(), 2);
    assert_eq!(surface.positions[Id::new(2)], DVec3::new(-1.0, 0.0, -1.0));
    assert_eq!(surface.uv.unwrap()[Id::new(1)], [DVec2::ZERO, DVec2::ONE, DVec2::Y]);
    assert_eq!(surface.groups, BTreeMap::from([("Plane".to_owned(), [0, 1, 2, 3].map(Id::new).to_vec())]));
}

#[test]
fn relative_indices_groups_and_polylines() {
    let obj = Obj::parse(MIXED, "mixed.obj").unwrap();
    assert_eq!(obj.positions[1..3], [DVec3::X, DVec3::new(1.0, 1.0, 0.0)]);
    let faces: Vec<_> = obj.faces.iter().map(|face| (face.corners, face.line)).collect();
    assert_eq!(faces, [([0, 1, 2], 6), ([0, 2, 3], 9), ([1, 4, 2], 17)]);
    assert_eq!((obj.segments, obj.segment_lines), (vec![[0, 4], [4, 2]], vec![13, 13]));
    let groups: Vec<_> = obj.groups.iter().map(|(name, v)| (name.as_str(), v.as_slice())).collect();
    assert_eq!(groups, [("collar", &[0, 1, 2][..]), ("left", &[0, 1, 2, 3]), ("thread", &[0, 1, 2, 4])]);
}

#[test]
fn vertices_may_come_after_the_faces() {
    let obj = Obj::parse("f 1/1 2/1 3/1\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0", "a.obj").unwrap();
    assert_eq!(obj.faces[0].corners, [0, 1, 2]);
}

#[test]
fn seams_keep_both_sides() {
    let uv = Obj::parse(SEAM, "a.obj").unwrap().into_surface().unwrap().uv.unwrap();
    assert_eq!(uv[Id::new(0)][1], DVec2::X);
    assert_eq!(uv[Id::new(1)][1], DVec2::new(6.0, 5.0));
}

#[test]
fn convex_polygons_become_fans() {
    let obj = Obj::parse(HEXAGON, "a.obj").unwrap();
    let corners: Vec<_> = obj.faces.iter().map(|face| face.corners).collect();
    assert_eq!(corners, [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]);
    assert!(obj.faces.iter().all(|face| face.uv == Some([0; 3]) && face.line == 9));
}

#[test]
fn lines_are_refused_with_file_and_line() {
    let cases = [
        (
            "\n\nV 0 0 0",
            "line 3: the line starts with no keyword of OBJ: check that this is an OBJ file, or remove the line",
        ),
        (
            "<html>",
            "line 1: the line starts with no keyword of OBJ: check that this is an OBJ file, or remove the line",
        ),
        (
            "v 1 2",
            "line 1: `v` takes 3 numbers (up to 7 with weight and colour), found 2: give as many, or export \
             the file again",
        ),
        (
            "v 1 2 3 4 5 6 7 8",
            "line 1: `v` takes 3 numbers (up to 7 with weight and colour), found 8: give as many, or export \
             the file again",
        ),
        ("vt 1", "line 1: `vt` takes 2 numbers (or 3), found 1: give as many, or export the file again"),
        ("v 1,5 0 0", "line 1: `1,5` is not a number: write numbers like -1.25 or 3e-4"),
        ("v 0 0 nan", "line 1: `nan` is not a finite number: repair the mesh before the export"),
        ("vt -inf 0", "line 1: `-inf` is not a finite number: repair the mesh before the export"),
        ("v 0 0 1e999", "line 1: `1e999` is not a finite number: repair the mesh before the export"),
        ("f 1 2 3/x", "line 1: `3/x` is not a corner: write v, v/vt, v//vn or v/vt/vn in whole numbers"),
        ("f 1 2 3//x", "line 1: `3//x` is not a corner: write v, v/vt, v//vn or v/vt/vn in whole numbers"),
        (
            "f 1 2 3/1/1/1",
            "line 1: `3/1/1/1` is not a corner: write v, v/vt, v//vn or v/vt/vn in whole numbers",
        ),
        ("f 1 2 1.5", "line 1: `1.5` is not a corner: write v, v/vt, v//vn or v/vt/vn in whole numbers"),
        ("f 1 2 0/1", "line 1: `0/1` has the index 0: OBJ counts from 1, or backwards from -1"),
        (
            "v 0 0 0\nf 1 2 3",
            "line 2: index 2 is out of range, the file has 1 `v` in all: export the file again",
        ),
        (
            "v 0 0 0\nl 1 2",
            "line 2: index 2 is out of range, the file has 1 `v` in all: export the file again",
        ),
        (
            "v 0 0 0\nf -1 -2 -3",
            "line 2: index -2 is out of range, only 1 `v` stand above: export the file again",
        ),
        (
            "v 0 0 0\nf 1/-1 2 3",
            "line 2: index -1 is out of range, only 0 `vt` stand above: export the file again",
        ),
        ("f 1 2", "line 1: `f` needs at least 3 vertices, found 2: remove the line"),
        ("l 1", "line 1: `l` needs at least 2 vertices, found 1: remove the line"),
        ("f 1 2 1", "line 1: `f` uses vertex 1 twice: remove the line or merge the vertices properly"),
        ("l 2 2", "line 1: `l` uses vertex 2 twice: remove the line or merge the vertices properly"),
        (
            "vt 0 0\nf 1/1 2/1 3",
            "line 2: some corners of the face have a `vt` and some have none: give all of them one, or none",
        ),
        (
            "v 0 0 0\nv 2 -1 0\nv 1 0 0\nv 2 1 0\nf 1 2 3 4",
            "line 5: the face has 4 corners and is not clearly convex: triangulate on export",
        ),
        (
            "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nf 1 2 3 4",
            "line 5: the face has 4 corners and no area: remove it, or triangulate on export",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(refusal(text), format!("a.obj, {message}"), "{text}");
        // The same with the line ends of Windows, and with lines before.
        let number: usize = message[5..message.find(':').unwrap()].parse().unwrap();
        let moved = message.replacen(&number.to_string(), &(number + 1).to_string(), 1);
        assert_eq!(refusal(&format!("# x\r\n{}\r\n", text.replace('\n', "\r\n"))), format!("a.obj, {moved}"));
    }
    let names = format!("g{}", " a".repeat(17));
    assert_eq!(refusal(&names), "a.obj, line 1: `g` has 17 names, at most 16 are read: split the line");
}

#[test]
fn surfaces_are_refused_with_file_and_line() {
    let vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\n";
    let cases = [
        ("", "a.obj has no faces (`f`): export the surface as polygons, not as points, curves or NURBS"),
        ("l 1 2", "a.obj has no faces (`f`): export the surface as polygons, not as points, curves or NURBS"),
        (
            "f 1 2 3",
            "a.obj, line 4: vertex 4 belongs to no face (1 such vertices in all): delete loose vertices \
             before the export",
        ),
        (
            "f 1/1 2/1 3/1\nf 3 2 4",
            "a.obj, line 7: the face has no `vt`, while the face on line 6 has: unwrap the whole surface, \
             or export it without UVs",
        ),
        (
            "f 1 2 3\n\nf 2 3 4",
            "a.obj, lines 6 and 8 (faces and vertices counted from 0): face 0 and face 1 run along the edge \
             between \
             vertex 1 and vertex 2 in the same direction: reverse the winding of one of them",
        ),
        (
            "f 1 2 3\nf 2 1 4\nf 1 2 4 3",
            "a.obj, lines 7 and 8 (faces and vertices counted from 0): face 1 and face 2 have the same \
             three vertices: \
             remove one of them",
        ),
        (
            "v 5 5 5\nf 1 2 3\nf 2 1 4\nf 1 2 5",
            "a.obj, lines 7, 8 and 9 (faces and vertices counted from 0): the edge between vertex 0 and \
             vertex 1 has more \
             than two faces (face 0, face 1, face 2): split the mesh along it",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(refusal(&format!("{vertices}{text}")), message, "{text}");
    }
}

#[test]
fn fields_changed_by_hand_do_not_panic() {
    let mut obj = Obj::parse(SEAM, "a.obj").unwrap();
    obj.uv.clear();
    assert!(obj.clone().into_surface().unwrap_err().to_string().contains("index 1 is out of range"));
    obj.faces[1].corners = [7, 1, 2];
    obj.position_lines.clear();
    assert!(obj.clone().into_surface().unwrap_err().to_string().contains("a.obj, line 12"));
    obj.faces.pop();
    assert!(obj.into_surface().unwrap_err().to_string().contains("vertex 4 belongs to no face"));
}

#[test]
fn files_that_are_missing_are_named() {
    let error = Obj::read(std::path::Path::new("/nowhere/shirt.obj")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read /nowhere/shirt.obj"), "{error}");
}

/// Work that grows with the square of the length would take minutes here.
#[test]
fn long_inputs_take_no_longer_than_they_are() {
    let n = 100_000;
    let start = Instant::now();
    let vertices: String = (0..n).map(|i| format!("v {i} {} 0\n", i % 2)).collect();
    let names: String = (0..16).map(|i| format!(" name{i}")).collect();
    let texts = [
        format!("{vertices}f{}", (1..=n).map(|i| format!(" {i}")).collect::<String>()),
        format!("{vertices}l{}", (1..=n).map(|i| format!(" {i}")).collect::<String>()),
        format!("v 0 0 0\nv 1 0 0\nv 0 1 0\ng{names}\n{}", "f 1 2 3\n".repeat(n)),
        (0..n).map(|i| format!("g group{i}\n")).collect(),
        "v 1 \\\n".repeat(n),
        "\\\n".repeat(n),
        format!("v {} 0 0", "1".repeat(10 * n)),
        format!("v 0.{}e-9 0 0", "0".repeat(10 * n)),
        "f".repeat(10 * n),
        "/".repeat(10 * n),
        format!("f {} 1 1", "/".repeat(10 * n)),
        format!("o {}", "a ".repeat(10 * n)),
    ];
    for text in &texts {
        let _ = Obj::parse(text, "a.obj").and_then(Obj::into_surface);
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn spoilt_files_are_read_or_refused() {
    // Between semicolons, as some of them contain blanks and line ends.
    let dictionary = "v;vt;vn;f;l;g;o;s;p;end;usemtl;#;\\;\n;\r\n;/;//;0;1;-1;-4;4294967296;\
        9223372036854775807;-9223372036854775808;99999999999999999999;1/1;1//1;2/2/2;3/;nan;inf;-0.0;\
        1e308;-1e308;5e-324;1e999;1.7976931348623157e308;0x10;\u{feff};é;f 1 2 3;\nf 4 3 2 1\n;\nv 0 0 0\n";
    let dictionary: Vec<&str> = dictionary.split(';').collect();
    let seeds = [PLANE, MIXED, SEAM, HEXAGON];
    let mut mutator = Mutator::new(1);
    let (mut read, mut surfaces) = (0, 0);
    for i in 0..100_000 {
        let mut text = mutator.mutate(seeds[i % seeds.len()], &dictionary);
        if i % 3 == 0 {
            text = mutator.mutate(&text, &dictionary);
        }
        match Obj::parse(&text, "a.obj") {
            Ok(obj) => {
                read += 1;
                assert!(obj.positions.iter().all(|x| x.is_finite()));
                assert!(
                    obj.faces
                        .iter()
                        .flat_map(|face| face.corners)
                        .all(|v| (v as usize) < obj.positions.len())
                );
                surfaces += usize::from(obj.into_surface().is_ok());
            }
            Err(error) => {
                let message = error.to_string();
                assert!(message.starts_with("a.obj, line ") && !message.contains('\n'), "{message:?}");
            }
        }
    }
    // The mutations must leave some texts whole, or only the first lines of the reader were tested.
    assert!(read > 10_000 && surfaces > 5_000, "{read} {surfaces}");
}

fn number() -> impl Strategy<Value = f64> {
    use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    const SPECIAL: [f64; 8] = [0.0, -0.0, 5e-324, 1e308, f64::MAX, f64::MIN_POSITIVE, 0.1, 1.0 / 3.0];
    prop_oneof![prop::sample::select(&SPECIAL[..]), NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE]
}

fn cells<const N: usize>(vertices: usize) -> impl Strategy<Value = Vec<[u32; N]>> {
    let cell = subsequence((0..vertices as u32).collect::<Vec<_>>(), N).prop_shuffle();
    prop::collection::vec(cell.prop_map(|cell| cell.try_into().unwrap()), 0..12)
}

#[derive(Clone, Debug)]
struct Part {
    faces: Vec<[u32; 3]>,
    uv: Option<Vec<[DVec2; 3]>>,
    segments: Vec<[u32; 2]>,
}

fn part(vertices: usize) -> impl Strategy<Value = Part> {
    let uv = prop::array::uniform3(prop::array::uniform2(number()).prop_map(DVec2::from));
    (cells(vertices), cells(vertices), any::<bool>(), prop::collection::vec(uv, 12)).prop_map(
        |(faces, segments, with_uv, mut uv)| {
            uv.truncate(faces.len());
            Part { faces, uv: with_uv.then_some(uv), segments }
        },
    )
}

fn bits3(x: DVec3) -> [u64; 3] {
    x.to_array().map(f64::to_bits)
}

fn bits2(x: DVec2) -> [u64; 2] {
    x.to_array().map(f64::to_bits)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_written_is_read_back(
        (positions, parts) in (3..10usize).prop_flat_map(|n| {
            let position = prop::array::uniform3(number()).prop_map(DVec3::from);
            (prop::collection::vec(position, n), prop::collection::vec(part(n), 0..4))
        })
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("written.obj");
        let names: Vec<String> = (0..parts.len()).map(|i| format!("part-{i}")).collect();
        let borrowed: Vec<ObjPart<'_>> = parts.iter().zip(&names).map(|(part, name)| ObjPart {
            name,
            faces: &part.faces,
            uv: part.uv.as_deref(),
            segments: &part.segments,
        }).collect();
        write_obj(&path, &ObjSource { positions: &positions, parts: &borrowed }).unwrap();
        let obj = Obj::read(&path).unwrap();

        prop_assert!(obj.positions.iter().map(|x| bits3(*x)).eq(positions.iter().map(|x| bits3(*x))));
        let faces: Vec<_> = parts.iter().flat_map(|part| part.faces.clone()).collect();
        prop_assert_eq!(obj.faces.iter().map(|face| face.corners).collect::<Vec<_>>(), faces);
        let segments: Vec<_> = parts.iter().flat_map(|part| part.segments.clone()).collect();
        prop_assert_eq!(&obj.segments, &segments);
        let given = parts.iter().flat_map(|part| {
            (0..part.faces.len()).map(|i| part.uv.as_ref().map(|uv| uv[i].map(bits2)))
        });
        let back = obj.faces.iter().map(|face| face.uv.map(|uv| uv.map(|i| bits2(obj.uv[i as usize]))));
        prop_assert!(back.eq(given));
        for (name, part) in names.iter().zip(&parts) {
            let mut vertices = [part.faces.concat(), part.segments.concat()].concat();
            vertices.sort_unstable();
            vertices.dedup();
            prop_assert_eq!(obj.groups.get(name).cloned().unwrap_or_default(), vertices);
        }
    }
}
