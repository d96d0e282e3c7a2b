//! Pictures: what is seen where, and that strange input does no harm.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::DVec3;
use plisse_core::generate;
use plisse_io::read_bytes;
use plisse_picture::{
    Background, Camera, ColourMap, Drawing, Ground, Look, Part, Picture, RenderOptions, Rgb, Surface, Wires,
    render,
};

const SKY: Rgb = [200, 210, 220];

fn options(size: [u32; 2]) -> RenderOptions {
    let background = Background { top: SKY, bottom: SKY };
    RenderOptions { size, background, ..RenderOptions::default() }
}

/// From negative y towards the origin, z up.
fn front(distance: f64) -> Camera {
    Camera { from: DVec3::NEG_Y * distance, at: DVec3::ZERO, up: DVec3::Z, field_of_view: 40.0 }
}

fn sphere(centre: DVec3, radius: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (mesh, x) = generate::sphere(4, radius).unwrap();
    let faces = mesh.faces().iter().map(|(_, corners)| corners.map(|v| v.index() as u32)).collect();
    (x.as_slice().iter().map(|x| *x + centre).collect(), faces)
}

fn plain<'a>(x: &'a [DVec3], faces: &'a [[u32; 3]], front: Rgb, back: Rgb) -> Part<'a> {
    Part::Surface(Surface::cloth(x, faces).with_look(Look::Plain { front, back }))
}

fn draw(parts: Vec<Part<'_>>, camera: &Camera, options: &RenderOptions) -> Picture {
    render(&Drawing { parts }, camera, options).unwrap()
}

fn brightness(picture: &Picture, x: u32, y: u32) -> i32 {
    picture.pixel(x, y).unwrap().iter().map(|c| i32::from(*c)).sum()
}

const RED: Rgb = [200, 40, 40];
const GREEN: Rgb = [40, 180, 40];

fn is_red([r, g, b]: Rgb) -> bool {
    i32::from(r) > 2 * i32::from(g).max(i32::from(b))
}

fn is_green([r, g, b]: Rgb) -> bool {
    i32::from(g) > i32::from(r).max(i32::from(b)) * 3 / 2
}

#[test]
fn silhouette_of_a_sphere() {
    let (x, faces) = sphere(DVec3::ZERO, 1.0);
    let picture = draw(vec![plain(&x, &faces, RED, GREEN)], &front(5.0), &options([200, 160]));
    // A sphere is seen under the half angle asin(r/d).
    let radius = 1f64.atan2(24f64.sqrt()).tan() / 20f64.to_radians().tan() * 80.0;
    for py in 0..160 {
        for px in 0..200 {
            let distance = (f64::from(px) + 0.5 - 100.0).hypot(f64::from(py) + 0.5 - 80.0);
            let colour = picture.pixel(px, py).unwrap();
            if distance < radius - 1.2 {
                assert!(is_red(colour), "({px}, {py}) is {colour:?}");
            } else if distance > radius + 1.0 {
                assert_eq!(colour, SKY, "({px}, {py})");
            }
        }
    }
    assert!(brightness(&picture, 80, 55) > brightness(&picture, 120, 105), "the lamp is at the upper left");
}

#[test]
fn near_hides_far_in_any_order() {
    let (near, faces) = sphere(DVec3::new(0.3, -1.0, 0.0), 0.6);
    let (far, _) = sphere(DVec3::new(-0.3, 1.0, 0.0), 0.8);
    let parts = vec![plain(&near, &faces, RED, RED), plain(&far, &faces, GREEN, GREEN)];
    let swapped = parts.iter().cloned().rev().collect();
    let picture = draw(parts, &front(6.0), &options([120, 90]));
    assert_eq!(picture, draw(swapped, &front(6.0), &options([120, 90])));
    assert!(is_red(picture.pixel(60, 45).unwrap()) && is_green(picture.pixel(45, 45).unwrap()));
}

#[test]
fn cloth_has_two_sides() {
    let x = [DVec3::new(-1.0, 0.0, -1.0), DVec3::new(1.0, 0.0, -1.0), DVec3::new(0.0, 0.0, 1.0)];
    let side = |camera: &Camera| {
        let picture = draw(vec![plain(&x, &[[0, 1, 2]], RED, GREEN)], camera, &options([40, 40]));
        picture.pixel(20, 20).unwrap()
    };
    // Counter-clockwise seen from negative y.
    assert!(is_red(side(&front(4.0))), "{:?}", side(&front(4.0)));
    assert!(is_green(side(&Camera { from: DVec3::Y * 4.0, ..front(4.0) })));
}

#[test]
fn shadow_falls_on_the_ground_away_from_the_light() {
    let (x, faces) = sphere(DVec3::Z * 1.0, 0.5);
    let camera =
        Camera { from: DVec3::new(0.0, -6.0, 5.0), at: DVec3::ZERO, up: DVec3::Z, field_of_view: 40.0 };
    let ground = Some(Ground { up: DVec3::Z * 3.0, height: 0.0 });
    let light = Some(DVec3::new(-1.0, 0.0, 1.0));
    let with = RenderOptions { ground, light, ..options([160, 120]) };
    let picture = draw(vec![plain(&x, &faces, RED, RED)], &camera, &with);
    // The shadow is centred at x = 1, half a picture is tan 20° times the distance wide.
    let pixels_per_metre = 60.0 / (61f64.sqrt() * 20f64.to_radians().tan());
    let shadow = brightness(&picture, (80.0 + pixels_per_metre) as u32, 60);
    let lit = brightness(&picture, (80.0 - pixels_per_metre) as u32, 60);
    assert!(shadow < lit - 60 && lit > 560, "{shadow} in the shadow, {lit} beside it");
    assert_eq!(picture.pixel(0, 0), Some(SKY), "far away the ground looks like the background");
    let without = draw(vec![plain(&x, &faces, RED, RED)], &camera, &RenderOptions { ground: None, ..with });
    assert_eq!(without.pixel((80.0 + pixels_per_metre) as u32, 60), Some(SKY));
    // What is below the ground is hidden; a camera below it sees no ground.
    let high = RenderOptions { ground: Some(Ground { up: DVec3::Z, height: 2.0 }), ..with };
    let hidden = draw(vec![plain(&x, &faces, RED, RED)], &camera, &high);
    assert!(!hidden.pixels().iter().any(|c| is_red(*c)));
    let below = Camera { from: DVec3::new(0.0, -6.0, 1.0), ..camera };
    assert!(draw(vec![plain(&x, &faces, RED, RED)], &below, &high).pixels().iter().any(|c| is_red(*c)));
}

#[test]
fn lit_surfaces_are_even() {
    // A wavy sheet under a high lamp: shadows of a surface on itself would be dark spots.
    let (mesh, uv) = generate::grid(60, 60, [2.0, 2.0], generate::Diagonal::Alternating).unwrap();
    let x: Vec<DVec3> =
        uv.as_slice().iter().map(|u| DVec3::new(u.x - 1.0, u.y - 1.0, 0.03 * (4.0 * u.x).sin())).collect();
    let faces: Vec<[u32; 3]> = mesh.faces().iter().map(|(_, c)| c.map(|v| v.index() as u32)).collect();
    let camera =
        Camera { from: DVec3::new(0.0, -2.0, 4.0), at: DVec3::ZERO, up: DVec3::Z, field_of_view: 40.0 };
    let picture = draw(vec![plain(&x, &faces, [180; 3], [180; 3])], &camera, &options([160, 120]));
    for y in 45..75 {
        for x in 50..110 {
            let step = (brightness(&picture, x, y) - brightness(&picture, x + 1, y)).abs();
            assert!(step < 12, "({x}, {y}) differs by {step}");
        }
    }
}

#[test]
fn edges_of_shadows_have_no_grain() {
    // A plate over the ground: along its straight edge the shadow is the same everywhere.
    let x = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| DVec3::new(x, y, 1.0));
    let camera =
        Camera { from: DVec3::new(0.0, -1e-3, 12.0), at: DVec3::ZERO, up: DVec3::Y, field_of_view: 40.0 };
    let ground = Some(Ground { up: DVec3::Z, height: 0.0 });
    let light = Some(DVec3::new(-1.5, 0.0, 1.0));
    let with = RenderOptions { ground, light, ..options([320, 320]) };
    let picture = draw(vec![plain(&x, &[[0, 1, 2], [0, 2, 3]], RED, RED)], &camera, &with);
    let mut columns = Vec::new();
    for column in 180..300 {
        let rows: Vec<i32> = (150..170).map(|row| brightness(&picture, column, row)).collect();
        let (low, high) = (*rows.iter().min().unwrap(), *rows.iter().max().unwrap());
        // Three parts of a colour, each within a hundredth of its range.
        assert!(high - low <= 9, "column {column} from {low} to {high}");
        columns.push(low);
    }
    let (dark, lit) = (columns.iter().min().unwrap() + 10, brightness(&picture, 10, 160) - 10);
    let half_lit = columns.iter().filter(|low| (dark..lit).contains(*low)).count();
    assert!(half_lit >= 4, "the edge of the shadow is soft: {half_lit} columns");
}

#[test]
fn sharp_edges_stay_sharp() {
    // The corners of a cube belong to three sides; the mean of their normals would shade each side
    // from edge to edge.
    let corner = |k: u32| {
        let side = |bit: u32| if k & bit == 0 { -1.0 } else { 1.0 };
        DVec3::new(side(1), side(2), side(4))
    };
    let x: Vec<DVec3> = (0..8).map(corner).collect();
    let quads = [[0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6], [4, 5, 7, 6], [0, 2, 3, 1]];
    let faces: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let with = RenderOptions { occlusion: false, ..options([120, 120]) };
    let picture = draw(vec![plain(&x, &faces, [180; 3], [180; 3])], &front(6.0), &with);
    let middle = brightness(&picture, 60, 60);
    for (column, row) in [(35, 35), (85, 35), (35, 85), (85, 85), (60, 34), (34, 60)] {
        let difference = (brightness(&picture, column, row) - middle).abs();
        assert!(difference < 30, "({column}, {row}) differs by {difference}");
    }
    // A ball stays smooth.
    let (x, faces) = sphere(DVec3::ZERO, 1.0);
    let picture = draw(vec![plain(&x, &faces, [180; 3], [180; 3])], &front(5.0), &with);
    for column in 45..75 {
        let step = (brightness(&picture, column, 60) - brightness(&picture, column + 1, 60)).abs();
        assert!(step < 16, "column {column} differs by {step}");
    }
}

#[test]
fn wires_are_round_and_never_vanish() {
    let x = [DVec3::new(-0.8, 0.0, 0.0), DVec3::new(0.8, 0.0, 0.0)];
    for (radius, least, most) in [(0.2, 20, 28), (1e-9, 1, 3), (f64::NAN, 1, 3), (-1.0, 1, 3)] {
        let wires = Part::Wires(Wires { positions: &x, segments: &[[0, 1]], radius, colour: RED });
        let picture = draw(vec![wires], &front(3.0), &options([100, 120]));
        let column = |x: u32| (0..120).filter(|y| picture.pixel(x, *y) != Some(SKY)).count();
        assert!((least..=most).contains(&column(50)), "radius {radius}: {} pixels", column(50));
    }
}

#[test]
fn numbers_become_colours_with_a_bar() {
    let x = [DVec3::new(-1.0, 0.0, -1.0), DVec3::new(1.0, 0.0, -1.0), DVec3::new(0.0, 0.0, 1.0)];
    let draw_values = |values: &[f64], label: &str| {
        let look = Look::Scalar { values, range: [0.0, 1.0], map: ColourMap::Sequential, label };
        let surface = Surface::cloth(&x, &[[0, 1, 2]]).with_look(look);
        draw(vec![Part::Surface(surface)], &front(4.0), &options([200, 150]))
    };
    let middle = |picture: &Picture| picture.pixel(85, 80).unwrap();
    let [r, g, b] = middle(&draw_values(&[7.0; 3], "")).map(i32::from);
    assert!(r > 150 && g > 150 && b < 120, "clamped to yellow: {r} {g} {b}");
    for values in [&[0.5, f64::NAN, 0.5][..], &[]] {
        let [r, g, b] = middle(&draw_values(values, "")).map(i32::from);
        assert!((r - g).abs() < 25 && (g - b).abs() < 25, "grey: {r} {g} {b}");
    }
    let picture = draw_values(&[0.0; 3], "energy (J/m²)");
    for (y, t) in [(31, 1.0), (75, 0.5), (118, 0.0)] {
        let wanted = ColourMap::Sequential.colour(t);
        let near = |c: Rgb| (0..3).all(|k| c[k].abs_diff(wanted[k]) < 14);
        assert!((100..200).any(|x| near(picture.pixel(x, y).unwrap())), "the bar at {t}");
    }
    assert_ne!(picture, draw_values(&[0.0; 3], "something else"));
}

#[test]
fn edges_are_drawn_on_request() {
    let (x, faces) = sphere(DVec3::ZERO, 1.0);
    let plain = Surface::cloth(&x, &faces);
    let dark = |edges: bool| {
        let part = Part::Surface(Surface { edges, ..plain.clone() });
        let picture = draw(vec![part], &front(3.5), &options([300, 300]));
        (150..170).map(|x| brightness(&picture, x, 100)).min().unwrap()
    };
    assert!(dark(true) < dark(false) - 40);
}

#[test]
fn threads_do_not_matter() {
    let (x, faces) = sphere(DVec3::Z * 0.6, 0.5);
    let values: Vec<f64> = x.iter().map(|x| x.x).collect();
    let look = Look::Scalar { values: &values, range: [-0.5, 0.5], map: ColourMap::Diverging, label: "x" };
    let wires = Wires { positions: &x, segments: &[[0, 7], [7, 100]], radius: 0.05, colour: GREEN };
    let parts = vec![Part::Surface(Surface::cloth(&x, &faces).with_look(look)), Part::Wires(wires)];
    let with = RenderOptions { ground: Some(Ground { up: DVec3::Z, height: 0.0 }), ..options([150, 100]) };
    let pictures = [1, 2, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| draw(parts.clone(), &front(4.0), &with))
    });
    assert!(pictures[0] == pictures[1] && pictures[1] == pictures[2]);
}

#[test]
fn an_empty_drawing_is_the_background() {
    for ground in [None, Some(Ground { up: DVec3::Z, height: -1.0 })] {
        let picture = draw(vec![], &front(4.0), &RenderOptions { ground, ..options([33, 17]) });
        assert!(picture.pixels().iter().all(|c| *c == SKY));
        assert_eq!((picture.width(), picture.height(), picture.pixels().len()), (33, 17, 33 * 17));
        assert_eq!(picture.pixel(33, 0), None);
    }
}

#[test]
fn garbage_does_no_harm() {
    // A linear congruence: the same numbers everywhere.
    let mut state = 12345u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    let strange = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 1e30, -1e30, 1e-300, 0.0, 1e9, -4.0];
    for round in 0..12 {
        let mut coordinate = || match random() % 4 {
            0 => strange[random() as usize % strange.len()],
            _ => f64::from(random() % 2001) / 1000.0 - 1.0,
        };
        let x: Vec<DVec3> = (0..40).map(|_| DVec3::new(coordinate(), coordinate(), coordinate())).collect();
        let values: Vec<f64> = (0..30).map(|_| coordinate()).collect();
        let range = [coordinate(), coordinate()];
        let radius = coordinate();
        let mut corner = || random() % 42;
        let faces: Vec<[u32; 3]> = (0..60).map(|_| [corner(), corner(), corner()]).collect();
        let segments: Vec<[u32; 2]> = (0..10).map(|_| [corner(), corner()]).collect();
        let look = Look::Scalar { values: &values, range, map: ColourMap::Sequential, label: "\u{0} µ" };
        let surface = Surface { smooth: round % 2 == 0, edges: round % 3 == 0, ..Surface::cloth(&x, &faces) };
        let wires = Wires { positions: &x, segments: &segments, radius, colour: RED };
        let parts = vec![Part::Surface(surface.with_look(look)), Part::Wires(wires)];
        let ground = (round % 2 == 0).then_some(Ground { up: DVec3::Z, height: -0.5 });
        let with = RenderOptions { ground, samples: 1 + round % 3, ..options([40, 30]) };
        // Also from among the triangles, and framing all of it.
        let framed = Camera::framing(x.iter().copied(), DVec3::ONE, DVec3::Z, 4.0 / 3.0).unwrap();
        for camera in [front(3.0), front(1e-3), Camera { field_of_view: 179.9, ..front(0.5) }, framed] {
            let picture = draw(parts.clone(), &camera, &with);
            assert_eq!(picture.pixels().len(), 1200);
        }
    }
}

#[test]
fn a_plane_through_the_camera_is_clipped() {
    // A floor from far behind the camera to far before it fills the lower half of the picture.
    for reach in [10.0, 1e6, 1e20] {
        let x = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let x = x.map(|(x, y)| DVec3::new(x * reach, y * reach, -0.5));
        let picture =
            draw(vec![plain(&x, &[[0, 1, 2], [0, 2, 3]], RED, RED)], &front(1.0), &options([60, 60]));
        for column in [0, 30, 59] {
            assert!(is_red(picture.pixel(column, 58).unwrap()), "reach {reach}");
            assert_eq!(picture.pixel(column, 20), Some(SKY));
        }
    }
}

#[test]
fn png_files_hold_the_same_pixels() {
    let (x, faces) = sphere(DVec3::ZERO, 1.0);
    let picture = draw(vec![plain(&x, &faces, RED, GREEN)], &front(5.0), &options([70, 50]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sphere.png");
    picture.write_png(&path).unwrap();
    let bytes = read_bytes(&path).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (70, 50, png::ColorType::Rgb));
    assert_eq!(pixels, picture.pixels().as_flattened());
    assert!(picture.write_png(folder.path()).is_err(), "a folder is in the way");
}
