//! Surfaces that are known, and what must hold of every one.

use std::f64::consts::TAU;

use glam::DVec2;
use plisse_core::generate::{self, Diagonal};
use plisse_core::{IsotropicSheet, PoissonRatio, Positive, RestShape};

use super::*;
use crate::phase::PhaseField;

/// The differences that matter here are those of numbers of size one.
const ROUNDING: f64 = 1e-12;

fn linear_phase(
    mesh: &TriMesh,
    x: &Field<Vertices, DVec3>,
    slope: DVec3,
    offset: impl Fn(Id<Faces>) -> Option<f64>,
) -> PhaseField {
    let phases = Field::from_fn(mesh.face_count(), |face| {
        offset(face).map(|o| mesh.faces()[face].map(|v| o + slope.dot(x[v])))
    });
    PhaseField::from_corners(mesh, &phases).unwrap()
}

/// Turns around a centre in the plane.
fn vortex(
    mesh: &TriMesh,
    x: &Field<Vertices, DVec3>,
    waves: i64,
    with: impl Fn(Id<Faces>) -> bool,
) -> PhaseField {
    let phases = Field::from_fn(mesh.face_count(), |face| {
        let at = mesh.faces()[face].map(|v| x[v].truncate());
        let first = at[0].to_angle();
        with(face).then(|| at.map(|p| waves as f64 * (first + at[0].perp_dot(p).atan2(at[0].dot(p)))))
    });
    PhaseField::from_corners(mesh, &phases).unwrap()
}

fn level(mesh: &TriMesh, x: &Field<Vertices, DVec3>, amplitude: f64, phase: PhaseField) -> Level {
    let mut level = Level {
        mesh: mesh.clone(),
        x: x.clone(),
        amplitude: Field::filled(mesh.vertex_count(), amplitude),
        phase,
        sharp: sharp_vertices(mesh, x, SharpVertices::Corners).unwrap(),
        parent: Field::from_fn(mesh.face_count(), |face| face),
        normals: None,
    };
    level.flatten();
    level
}

fn flat(levels: usize) -> SurfaceOptions<'static> {
    SurfaceOptions { levels, profile: Profile::Cosine, ..SurfaceOptions::default() }
}

#[test]
fn a_regular_grid_becomes_a_finer_one() {
    let (mesh, uv) = generate::grid(4, 3, [1.0, 0.6], Diagonal::Right).unwrap();
    let x = generate::embed(&uv);
    let none = linear_phase(&mesh, &x, DVec3::ZERO, |_| None);
    let amplitude = Field::filled(mesh.vertex_count(), 0.0);
    let surface = wrinkled_surface(&mesh, &x, &amplitude, &none, &flat(2)).unwrap();
    assert_eq!(surface.mesh.face_count(), 16 * mesh.face_count());
    assert_eq!(surface.mesh.vertex_count(), (4 * 4 + 1) * (3 * 4 + 1));
    assert_eq!(surface.mesh.euler_characteristic(), mesh.euler_characteristic());
    let mut seen = vec![false; surface.mesh.vertex_count()];
    for (_, p) in surface.x.iter() {
        let (i, j) = (p.x * 16.0, p.y * 20.0);
        assert!((i - i.round()).abs() < ROUNDING && (j - j.round()).abs() < ROUNDING && p.z == 0.0, "{p}");
        let slot = &mut seen[i.round() as usize + 17 * j.round() as usize];
        assert!(!*slot);
        *slot = true;
    }
    assert_eq!(surface.x, surface.base);
    for face in mesh.faces().ids() {
        assert_eq!(surface.parent.iter().filter(|(_, p)| **p == face).count(), 16);
    }
}

#[test]
fn an_icosahedron_converges_to_the_known_limit() {
    let (mesh, x) = generate::sphere(0, 1.0).unwrap();
    let none = linear_phase(&mesh, &x, DVec3::ZERO, |_| None);
    let amplitude = Field::filled(mesh.vertex_count(), 0.0);
    let surface = wrinkled_surface(&mesh, &x, &amplitude, &none, &flat(5)).unwrap();
    // In the limit a vertex is the mean of itself and of the mean of its neighbours, for every
    // valence above three; the neighbours' mean is at 1/√5 of the radius.
    let limit = 0.5 * (1.0 + 1.0 / 5f64.sqrt());
    for v in mesh.vertices() {
        assert!((surface.x[v].length() - limit).abs() < 1e-3, "{}", surface.x[v].length());
        assert!(surface.x[v].normalize().dot(x[v]) > 1.0 - ROUNDING);
    }
    // A round body: the icosahedron's radii are 0.79 to 1, these differ by 3 percent.
    let (low, high) = surface
        .x
        .iter()
        .fold((1.0, 0.0), |(l, h): (f64, f64), (_, p)| (l.min(p.length()), h.max(p.length())));
    assert!((limit - high).abs() < 1e-3 && low > 0.97 * high, "{low} {high}");
}

#[test]
fn too_many_levels_are_refused_at_once() {
    let (mesh, uv) = generate::grid(1, 1, [1.0, 1.0], Diagonal::Right).unwrap();
    let phase = PhaseField::from_corners(&mesh, &Field::filled(2, None)).unwrap();
    let amplitude = Field::filled(4, 0.0);
    // 2 · 4^13 is more than 50 million; the others are no numbers that could be counted.
    for levels in [13, 31, 32, usize::MAX] {
        let error =
            wrinkled_surface(&mesh, &generate::embed(&uv), &amplitude, &phase, &flat(levels)).unwrap_err();
        let said = error.to_string();
        assert!(said.contains(&format!("{levels} levels on 2 faces")), "{said}");
        assert!(said.contains("at most 50000000 are possible: take fewer levels"), "{said}");
    }
}

#[test]
fn margins_are_finite() {
    let (mesh, uv) = generate::grid(1, 1, [1.0, 1.0], Diagonal::Right).unwrap();
    let phase = PhaseField::from_corners(&mesh, &Field::filled(2, None)).unwrap();
    let distance = |x: DVec3| (x.z + 1.0, DVec3::Z);
    for margin in [f64::NAN, f64::INFINITY] {
        let options =
            SurfaceOptions { limit: Some(ObstacleLimit { distance: &distance, margin }), ..flat(0) };
        let surface =
            wrinkled_surface(&mesh, &generate::embed(&uv), &Field::filled(4, 0.0), &phase, &options);
        let said = surface.unwrap_err().to_string();
        assert!(said.starts_with("the margin to the obstacle is") && said.contains("finite"), "{said}");
    }
}

#[test]
fn corners_stay() {
    let (mesh, uv) = generate::irregular_grid(5, 5, [1.0, 1.0], 3).unwrap();
    let x = generate::embed(&uv);
    let none = linear_phase(&mesh, &x, DVec3::ZERO, |_| None);
    let amplitude = Field::filled(mesh.vertex_count(), 0.0);
    let run = |sharp| {
        wrinkled_surface(&mesh, &x, &amplitude, &none, &SurfaceOptions { sharp, ..SurfaceOptions::default() })
            .unwrap()
    };
    let is_corner = |p: DVec3| (p.x == 0.0 || p.x == 1.0) && (p.y == 0.0 || p.y == 1.0);
    let corners: Vec<_> = mesh.vertices().filter(|v| is_corner(x[*v])).collect();
    assert_eq!(corners.len(), 4);
    let area = |s: &WrinkledSurface| -> f64 {
        let faces = s.mesh.faces().as_slice().iter();
        faces.map(|f| (s.x[f[1]] - s.x[f[0]]).cross(s.x[f[2]] - s.x[f[0]]).z / 2.0).sum()
    };
    let kept = run(SharpVertices::Corners);
    assert!((area(&kept) - 1.0).abs() < ROUNDING);
    assert!(corners.iter().all(|v| kept.x[*v] == x[*v]));
    let round = run(SharpVertices::Given(&[]));
    assert!(area(&round) < 0.999);
    assert!(corners.iter().all(|v| round.x[*v].distance(x[*v]) > 0.01));
    let inner = mesh.vertices().find(|v| !mesh.is_boundary_vertex(*v)).unwrap();
    let held = run(SharpVertices::Given(&[inner]));
    assert_eq!(held.x[inner], x[inner]);
    assert_ne!(round.x[inner], x[inner]);
    let missing = SharpVertices::Given(&[Id::new(9999)]);
    let options = SurfaceOptions { sharp: missing, ..SurfaceOptions::default() };
    let error = wrinkled_surface(&mesh, &x, &amplitude, &none, &options).unwrap_err();
    assert!(error.to_string().contains("vertex 9999"));
}

#[test]
fn a_plane_wave_is_a_cosine() {
    let (mesh, uv) = generate::irregular_grid(12, 8, [1.0, 0.6], 11).unwrap();
    let x = generate::embed(&uv);
    let (slope, a) = (DVec3::new(40.0, 15.0, 0.0), 0.004);
    let phase = linear_phase(&mesh, &x, slope, |_| Some(0.3));
    let amplitude = Field::filled(mesh.vertex_count(), a);
    let cosine = wrinkled_surface(&mesh, &x, &amplitude, &phase, &flat(3)).unwrap();
    let bulging = wrinkled_surface(&mesh, &x, &amplitude, &phase, &SurfaceOptions::default()).unwrap();
    let mut highest = 0.0f64;
    for v in cosine.mesh.vertices() {
        let phi = 0.3 + slope.dot(cosine.base[v]);
        let wave = cosine.base[v] + DVec3::Z * (a * phi.cos());
        assert!(cosine.x[v].distance(wave) < ROUNDING, "{v} {} {wave}", cosine.x[v]);
        let bulge = wave + slope * (a * a / 8.0 * (2.0 * phi).sin());
        assert!(bulging.x[v].distance(bulge) < ROUNDING);
        assert!((cosine.phase[v] - phi).sin().abs() < 1e-10 && (cosine.phase[v] - phi).cos() > 0.0);
        highest = highest.max(cosine.x[v].z);
    }
    assert!(highest > 0.999 * a && highest <= a * (1.0 + ROUNDING));
    assert!(cosine.wrinkled.as_slice().iter().all(|w| *w));
    // The longest edges have about an eighth of the diagonal of a cell.
    assert!((0.3..1.2).contains(&cosine.largest_step), "{}", cosine.largest_step);
}

#[test]
fn the_length_of_bulging_waves_is_even() {
    // The point of the in-plane term: the stretch |dx/ds| along the wave has no part in cos 2φ to
    // second order.
    let (mesh, uv) = generate::grid(8, 2, [1.0, 0.2], Diagonal::Right).unwrap();
    let x = generate::embed(&uv);
    let slope = DVec3::X * 4.0 * TAU;
    let a = 0.4 / slope.x;
    let phase = linear_phase(&mesh, &x, slope, |_| Some(0.0));
    let amplitude = Field::filled(mesh.vertex_count(), a);
    let spread = |profile| {
        let options = SurfaceOptions { levels: 5, profile, ..SurfaceOptions::default() };
        let s = wrinkled_surface(&mesh, &x, &amplitude, &phase, &options).unwrap();
        let stretches = s.mesh.edges().as_slice().iter().filter_map(|e| {
            let [p, q] = e.vertices.map(|v| s.base[v]);
            (p.y == q.y).then(|| {
                let [p2, q2] = e.vertices.map(|v| s.x[v]);
                p2.distance(q2) / p.distance(q)
            })
        });
        let (low, high) = stretches.fold((f64::MAX, 0.0), |(l, h): (f64, f64), s| (l.min(s), h.max(s)));
        high - low
    };
    let (cosine, bulging) = (spread(Profile::Cosine), spread(Profile::Bulging));
    assert!((cosine - 0.077).abs() < 0.003, "{cosine}");
    assert!(bulging < 0.1 * cosine, "{bulging} {cosine}");
}

#[test]
fn a_winding_phase_has_no_seam_at_any_level() {
    let (around, waves) = (20, 17);
    let (mesh, uv) = generate::annulus(around, 3, 0.5, 1.0, Diagonal::Right).unwrap();
    let x = generate::embed(&uv);
    let mut level = level(&mesh, &x, 0.01, vortex(&mesh, &x, waves, |_| true));
    for step in 0..=3 {
        assert_eq!(level.phase.torn_edge(&level.mesh), None);
        let loops = level.mesh.boundary_loops();
        assert_eq!(loops.len(), 2);
        for path in &loops {
            assert_eq!(level.phase.winding(&level.mesh, path).map(i64::abs), Some(waves));
        }
        // No edge has more than its share of the turns: a seam would be an edge with all of them.
        let share = TAU * waves as f64 / (around << step) as f64;
        let omega = level.phase.differential(&level.mesh);
        let largest = omega.as_slice().iter().fold(0.0, |m: f64, w| m.max(w.abs()));
        assert!((share * 0.99..share * 1.3).contains(&largest), "level {step}: {largest} {share}");
        level = level.finer(PhaseExtension::Linear).unwrap();
    }
    // cos φ depends on the angle only, with the symmetry of the mesh: 20 sectors of 17/20 turns.
    let means = Means::new(&level);
    let find = |p: DVec3| level.mesh.vertices().find(|v| level.x[*v].distance(p) < 1e-9).unwrap();
    let turn = 2.0 * TAU / around as f64;
    for v in level.mesh.vertices().step_by(97) {
        let there = find(DVec2::from_angle(turn).rotate(level.x[v].truncate()).extend(0.0));
        let here = DVec2::new(means.cos[v], means.sin[v]);
        let expected = DVec2::from_angle(turn * waves as f64).rotate(here);
        assert!(expected.distance(DVec2::new(means.cos[there], means.sin[there])) < 1e-9);
    }
}

/// A grid with a hole of flat faces in the middle.
fn with_flat_middle(seed: u64) -> (TriMesh, Field<Vertices, DVec3>, Field<Faces, bool>) {
    let (mesh, uv) = generate::irregular_grid(12, 12, [1.0, 1.0], seed).unwrap();
    let x = generate::embed(&uv);
    let flat = Field::from_fn(mesh.face_count(), |face| {
        let centre = mesh.faces()[face].map(|v| x[v]).iter().sum::<DVec3>() / 3.0;
        centre.distance(DVec3::new(0.5, 0.5, 0.0)) < 0.25
    });
    (mesh, x, flat)
}

#[test]
fn a_wave_reaches_the_flat_part_undisturbed() {
    let (mesh, x, is_flat) = with_flat_middle(5);
    let slope = DVec3::new(25.0, 40.0, 0.0);
    let phase = linear_phase(&mesh, &x, slope, |f| (!is_flat[f]).then_some(0.0));
    let amplitude = Field::filled(mesh.vertex_count(), 0.003);
    let worst = |extension| {
        let options = SurfaceOptions { extension, ..flat(3) };
        let s = wrinkled_surface(&mesh, &x, &amplitude, &phase, &options).unwrap();
        let mut worst = 0.0f64;
        for (face, corners) in s.mesh.faces().iter() {
            for v in corners {
                if s.wrinkled[face] {
                    let off = s.phase[*v] - slope.dot(s.base[*v]);
                    worst = worst.max(off.cos().clamp(-1.0, 1.0).acos());
                } else {
                    assert_eq!((s.x[*v], s.amplitude[*v]), (s.base[*v], 0.0));
                }
            }
        }
        // The flat part shrinks, into itself.
        let flat_faces = s.wrinkled.as_slice().iter().filter(|w| !**w).count();
        let all_flat = 64 * is_flat.as_slice().iter().filter(|f| **f).count();
        assert!(flat_faces < all_flat * 9 / 10 && flat_faces > all_flat / 3, "{flat_faces} {all_flat}");
        assert!(s.wrinkled.iter().all(|(f, wrinkled)| *wrinkled || is_flat[s.parent[f]]));
        // Away from its border, nothing happens.
        let inside = |v: Id<Vertices>| mesh.vertex_faces(v).iter().all(|f| is_flat[*f]);
        for (face, parent) in s.parent.iter() {
            if mesh.faces()[*parent].iter().all(|v| inside(*v)) {
                assert!(s.mesh.faces()[face].iter().all(|v| s.x[*v] == s.base[*v]));
            }
        }
        worst
    };
    // The angle comes from a cosine, which hides errors below the root of rounding.
    assert!(worst(PhaseExtension::Linear) < 1e-6);
    let own = worst(PhaseExtension::OwnValue);
    assert!(own > 1.0, "{own}");
}

#[test]
fn windings_around_the_flat_part_stay() {
    let (mesh, x, is_flat) = with_flat_middle(8);
    let centred = x.map(|p| *p - DVec3::new(0.5, 0.5, 0.0));
    for extension in [PhaseExtension::Linear, PhaseExtension::OwnValue] {
        let mut level = level(&mesh, &centred, 0.01, vortex(&mesh, &centred, -9, |f| !is_flat[f]));
        let mut flat_before = usize::MAX;
        for _ in 0..=3 {
            assert_eq!(level.phase.torn_edge(&level.mesh), None);
            let rim = level.mesh.boundary_loops();
            assert_eq!(level.phase.winding(&level.mesh, &rim[0]), Some(-9));
            // Nodes are those of the complex of the faces with a phase, neither more nor fewer: no
            // fan has two, no two fans share one.
            let with = level.phase.corners().map(Option::is_some);
            let complex = crate::KeptComplex::new(&level.mesh, &with).unwrap();
            let mut used: Vec<_> =
                level.phase.corners().as_slice().iter().flatten().flatten().map(|c| c.node).collect();
            used.sort_unstable();
            used.dedup();
            assert_eq!((used.len(), complex.betti()), (complex.node_count(), 1));
            let flat = 64 * with.as_slice().iter().filter(|w| !**w).count() / level.mesh.face_count();
            assert!(flat <= flat_before);
            flat_before = flat;
            level = level.finer(extension).unwrap();
        }
    }
}

#[test]
fn nothing_is_tied_across_a_flat_strip() {
    // A strip one cell wide, with phases on both sides that do not fit together; its edges are
    // chords.
    let (mesh, uv) = generate::grid(9, 6, [0.9, 0.6], Diagonal::Alternating).unwrap();
    let x = generate::embed(&uv);
    let slope = DVec3::new(10.0, 20.0, 0.0);
    let phase = linear_phase(&mesh, &x, slope, |face| {
        let centre = mesh.faces()[face].map(|v| x[v].x).iter().sum::<f64>() / 3.0;
        if centre < 0.4 { Some(0.0) } else { (centre > 0.5).then_some(2.0) }
    });
    let mut level = level(&mesh, &x, 0.01, phase);
    for _ in 0..3 {
        level = level.finer(PhaseExtension::Linear).unwrap();
        assert_eq!(level.phase.torn_edge(&level.mesh), None);
        for (face, corners) in level.mesh.faces().iter() {
            let Some(phases) = level.phase.at(face) else { continue };
            let offsets: [f64; 3] = std::array::from_fn(|i| phases[i] - slope.dot(level.x[corners[i]]));
            let side = if level.x[corners[0]].x < 0.45 { 0.0 } else { 2.0 };
            assert!(offsets.iter().all(|o| (o - side).abs() < 1e-9), "{face} {offsets:?}");
        }
    }
    assert!(level.phase.corners().as_slice().iter().any(Option::is_none));
}

#[test]
fn speckled_phases_never_tear() {
    // Random faces without a phase: pinched vertices, chords, islands.
    let (mesh, x, _) = with_flat_middle(2);
    let centred = x.map(|p| *p - DVec3::new(0.513, 0.498, 0.0));
    let around_centre = |face: Id<Faces>| {
        let at = mesh.faces()[face].map(|v| centred[v].truncate());
        (0..3).all(|i| at[i].perp_dot(at[(i + 1) % 3]) > 0.0)
    };
    for seed in 1..8u32 {
        let flat = |f: Id<Faces>| f.get().wrapping_mul(2_654_435_761 + 2 * seed) >> 24 < 30 * seed;
        let phase = vortex(&mesh, &centred, 5, |f| !flat(f) && !around_centre(f));
        let mut level = level(&mesh, &centred, 0.01, phase);
        for _ in 0..2 {
            level = level.finer(PhaseExtension::Linear).unwrap();
            assert_eq!(level.phase.torn_edge(&level.mesh), None);
            assert!(level.phase.values().as_slice().iter().all(|p| p.is_finite()));
        }
    }
}

#[test]
fn without_amplitude_the_base_remains() {
    let (mesh, x) = generate::sphere(1, 1.0).unwrap();
    let zero = Field::filled(mesh.vertex_count(), 0.0);
    for phase in [
        linear_phase(&mesh, &x, DVec3::ONE, |_| None),
        linear_phase(&mesh, &x, DVec3::new(5.0, 90.0, 2.0), |_| Some(1.0)),
    ] {
        let s = wrinkled_surface(&mesh, &x, &zero, &phase, &SurfaceOptions::default()).unwrap();
        assert_eq!(s.x, s.base);
        assert!(s.phase.as_slice().iter().all(|p| p.is_finite()) && s.largest_step == 0.0);
    }
    // No level at all: the base mesh itself, displaced.
    let options = SurfaceOptions { levels: 0, ..SurfaceOptions::default() };
    let phase = linear_phase(&mesh, &x, DVec3::Z, |_| Some(0.0));
    let s = wrinkled_surface(&mesh, &x, &Field::filled(mesh.vertex_count(), 0.1), &phase, &options).unwrap();
    assert_eq!((s.mesh, s.base), (mesh, x));
}

#[test]
fn degenerate_bases_stay_finite() {
    // All in one point, all on a line, and a sliver.
    let mesh = TriMesh::new(5, &[[0, 1, 2], [2, 1, 3], [2, 3, 4]]).unwrap();
    let phases = Field::from_vec(vec![Some([0.0, 1.0, 2.0]), Some([2.0, 1.0, 7.0]), Some([2.0, 7.0, 70.0])]);
    let phase = PhaseField::from_corners(&mesh, &phases).unwrap();
    let amplitude = Field::filled(5, 0.5);
    let uv = Field::from_vec((0..5).map(|i| DVec2::new(f64::from(i), f64::from(i % 2))).collect());
    let rest = RestShape::from_uv(&mesh, &uv).unwrap();
    let sheet = IsotropicSheet::new(
        Positive::new(1.0).unwrap(),
        PoissonRatio::literal(0.3),
        Positive::new(1e-3).unwrap(),
    );
    let options = SurfaceOptions {
        curvature: Some(CurvatureShift { sheet: &sheet, rest: rest.maps() }),
        ..SurfaceOptions::default()
    };
    for at in [
        [DVec3::ONE; 5],
        std::array::from_fn(|i| DVec3::X * i as f64),
        std::array::from_fn(|i| DVec3::new(i as f64, 1e-9 * (i % 2) as f64, 0.0)),
        std::array::from_fn(|i| DVec3::new(1e-70 * i as f64, 1e-70 * (i % 2) as f64, 0.0)),
        std::array::from_fn(|i| DVec3::new(1e69 * i as f64, 1e69 * (i % 2) as f64, 0.0)),
    ] {
        let s = wrinkled_surface(&mesh, &Field::from_vec(at.to_vec()), &amplitude, &phase, &options).unwrap();
        assert!(s.x.as_slice().iter().all(|p| p.is_finite()), "{at:?}");
    }
    let refuse = |x: DVec3, a: f64| {
        let x = Field::from_vec(vec![x; 5]);
        wrinkled_surface(&mesh, &x, &Field::filled(5, a), &phase, &options).unwrap_err().to_string()
    };
    assert!(refuse(DVec3::NAN, 0.1).contains("vertex 0"));
    assert!(refuse(DVec3::splat(1e80), 0.1).contains("coordinate"));
    assert!(refuse(DVec3::ZERO, f64::NAN).contains("amplitude"));
}

#[test]
fn deep_waves_do_not_pass_through_their_neighbours() {
    let (mesh, uv) = generate::grid(10, 2, [1.0, 0.2], Diagonal::Right).unwrap();
    let x = generate::embed(&uv);
    let slope = DVec3::X * 5.0 * TAU;
    let phase = linear_phase(&mesh, &x, slope, |_| Some(0.0));
    for steepness in [1.0, 4.0, 20.0] {
        let amplitude = Field::filled(mesh.vertex_count(), steepness / slope.x);
        let options = SurfaceOptions { levels: 5, ..SurfaceOptions::default() };
        let s = wrinkled_surface(&mesh, &x, &amplitude, &phase, &options).unwrap();
        // A crest stays in its own wavelength.
        for v in s.mesh.vertices() {
            let crest = (s.base[v].x * 5.0).round() / 5.0;
            if s.x[v].z > 1e-9 {
                assert!((s.x[v].x - crest).abs() <= 0.1 * (1.0 + 1e-9), "{steepness} {}", s.x[v]);
            }
        }
    }
}

#[test]
fn the_curvature_term_evens_out_a_tube() {
    // Waves around a tube: crests are longer than troughs by 2 a/R, and the term moves material by
    // -a/(R |∇φ|) sin φ.
    let (radius, waves) = (1.0, 12);
    let tube = generate::cylinder(48, 8, radius, 1.0, Diagonal::Right).unwrap();
    let (mesh, x) = (&tube.mesh, &tube.positions);
    let rest = RestShape::from_corner_uv(mesh, &tube.uv).unwrap();
    let phase = vortex(mesh, x, waves, |_| true);
    let a = 0.01;
    let amplitude = Field::filled(mesh.vertex_count(), a);
    let sheet = IsotropicSheet::new(
        Positive::new(1e6).unwrap(),
        PoissonRatio::literal(0.3),
        Positive::new(1e-3).unwrap(),
    );
    let options = SurfaceOptions { levels: 2, ..SurfaceOptions::default() };
    let with =
        SurfaceOptions { curvature: Some(CurvatureShift { sheet: &sheet, rest: rest.maps() }), ..options };
    let plain = wrinkled_surface(mesh, x, &amplitude, &phase, &options).unwrap();
    let moved = wrinkled_surface(mesh, x, &amplitude, &phase, &with).unwrap();
    let size = a / waves as f64;
    for v in plain.mesh.vertices() {
        let p = plain.base[v];
        if !(0.3..0.7).contains(&p.z) {
            continue;
        }
        let azimuth = DVec3::new(-p.y, p.x, 0.0).normalize();
        let expected = azimuth * (-size * plain.phase[v].sin());
        // Tangents of a polygon with 192 sides.
        assert!(
            (moved.x[v] - plain.x[v]).distance(expected) < 0.03 * size,
            "{}",
            (moved.x[v] - plain.x[v]) / size
        );
    }
}

#[test]
fn troughs_do_not_enter_the_obstacle() {
    let (mesh, uv) = generate::irregular_grid(12, 8, [1.0, 0.6], 4).unwrap();
    let x = generate::embed(&uv);
    let phase = linear_phase(&mesh, &x, DVec3::new(45.0, 5.0, 0.0), |_| Some(0.0));
    let a = 0.03;
    let amplitude = Field::filled(mesh.vertex_count(), a);
    let plane = |p: DVec3| (p.z + 0.02, DVec3::Z);
    let centre = DVec3::new(0.5, 0.3, -0.4);
    // The base is 0.01 above the sphere's top.
    let sphere = |p: DVec3| ((p - centre).length() - 0.39, (p - centre).normalize_or_zero());
    let free = wrinkled_surface(&mesh, &x, &amplitude, &phase, &SurfaceOptions::default()).unwrap();
    let check = |distance: &dyn Fn(DVec3) -> (f64, DVec3), margin: f64| {
        let limit = Some(ObstacleLimit { distance, margin });
        let s = wrinkled_surface(
            &mesh,
            &x,
            &amplitude,
            &phase,
            &SurfaceOptions { limit, ..SurfaceOptions::default() },
        )
        .unwrap();
        let entering = free.x.as_slice().iter().filter(|p| distance(**p).0 < margin).count();
        assert!(
            entering > 50 && s.limited >= entering && s.stuck == 0,
            "{entering} {} {}",
            s.limited,
            s.stuck
        );
        for v in s.mesh.vertices() {
            assert!(distance(s.x[v]).0 >= margin - 1e-12);
            if free.x[v].z > s.base[v].z && distance(free.x[v]).0 > 0.03 {
                assert_eq!(s.x[v], free.x[v]);
            }
        }
        s
    };
    let s = check(&plane, 0.005);
    check(&sphere, 0.0);
    // Limited, not cut off: troughs keep an order, deeper ones stay deeper.
    let mut troughs: Vec<(f64, f64)> = s.mesh.vertices().map(|v| (free.x[v].z, s.x[v].z)).collect();
    troughs.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(troughs.windows(2).all(|w| w[1].1 >= w[0].1 - ROUNDING));
    let highest = troughs.last().unwrap().1;
    assert!((highest - a).abs() < 0.01 * a, "{highest}");
}
