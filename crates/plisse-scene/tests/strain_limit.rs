//! Cloth with a strain limit: never beyond it, in motion and at rest, with pins that move, and said
//! so where it cannot be.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compare bits where bits are promised, and may panic"
)]

use glam::DVec3;
use plisse_core::{Id, Positive};
use plisse_scene::scene::{
    Cloth, Hold, Keyframe, Keyframes, Kind, Material, MaxStretch, Membrane, Obstacle, Pick, Scene,
    SceneBuilder, SceneError, Stretching, rotation_degrees,
};
use plisse_system::{Scheme, StepError, StepReport};

/// Cotton as soft as rubber: its own weight stretches it by more than a fifth.
fn soft() -> Material {
    let [fibre, shear] = [15.0, 3.0].map(Positive::literal);
    Material { membrane: Membrane::woven(fibre, fibre, shear), ..Material::cotton() }
}

fn sheet(cells: usize) -> Cloth {
    let sheet = Cloth::sheet([cells, cells], [1.0, 1.0]).unwrap().material(soft());
    sheet.pin(Pick::group("top-left")).pin(Pick::group("top-right"))
}

fn scene(cloth: Cloth) -> SceneBuilder {
    Scene::builder().cloth(cloth)
}

/// Found from positions alone: the larger principal stretch, and those of warp and weft.
fn stretches(scene: &Scene) -> [f64; 2] {
    let mut largest: [f64; 2] = [0.0; 2];
    for body in scene.bodies() {
        let Kind::Cloth { mesh, rest, .. } = &body.kind else { continue };
        let x = scene.positions(body);
        for (face, corners) in mesh.faces().iter() {
            let f = rest.map(face).deformation_gradient(&corners.map(|v| x[v.index()]));
            let (a, b, c) = (f.c0.length_squared(), f.c1.length_squared(), f.c0.dot(f.c1));
            let principal = (0.5 * (a + b) + (0.25 * (a - b) * (a - b) + c * c).sqrt()).sqrt();
            largest = [largest[0].max(principal), largest[1].max(a.max(b).sqrt())];
        }
    }
    largest
}

struct Run {
    largest: [f64; 2],
    iterations: usize,
    rejected: usize,
    last: StepReport,
}

fn run(scene: &mut Scene, steps: usize) -> Run {
    let (mut largest, mut iterations, mut rejected, mut last) = ([0.0f64; 2], 0, 0, None);
    for _ in 0..steps {
        let report = scene.step().unwrap();
        let here = stretches(scene);
        if let Some(tautest) = &report.tautest {
            assert!(tautest.taut.stretch < tautest.taut.limit, "{tautest}");
            // Of several substeps the report has the largest.
            assert!(tautest.taut.stretch >= here[0].min(here[1]) - 1e-12);
        }
        largest = [largest[0].max(here[0]), largest[1].max(here[1])];
        iterations += report.iterations();
        rejected += report.rejected;
        last = Some(report);
    }
    Run { largest, iterations, rejected, last: last.unwrap() }
}

#[test]
fn a_hanging_sheet_stays_within_its_limit() {
    for scheme in [Scheme::BackwardEuler, Scheme::Bdf2] {
        let free = run(&mut scene(sheet(12)).scheme(scheme).build().unwrap(), 60);
        assert!(free.largest[0] > 1.2 && free.last.tautest.is_none(), "{:?}", free.largest);
        println!("{scheme:?} free: {:?} {} {}", free.largest, free.iterations, free.rejected);
        for limit in [1.1, 1.05, 1.02, 1.005] {
            let limited = sheet(12).strain_limit(MaxStretch::any(limit));
            let held = run(&mut scene(limited).scheme(scheme).build().unwrap(), 60);
            println!("{scheme:?} {limit}: {:?} {} {}", held.largest, held.iterations, held.rejected);
            assert!(
                held.largest[0] < limit && held.largest[0] > 1.0 + 0.5 * (limit - 1.0),
                "{:?}",
                held.largest
            );
        }
        let limited = sheet(12).strain_limit(MaxStretch::warp_weft(1.02));
        let held = run(&mut scene(limited).scheme(scheme).build().unwrap(), 60);
        println!("{scheme:?} fibres: {:?} {} {}", held.largest, held.iterations, held.rejected);
        assert!(held.largest[1] < 1.02 && held.largest[0] > 1.05, "{:?}", held.largest);
    }
}

#[test]
fn equilibria_stay_within_the_limit() {
    let soft = |limit: Option<MaxStretch>| {
        let sheet = sheet(12).rotated(rotation_degrees(90.0, 0.0, 0.0)).jittered(1e-4);
        let sheet = if let Some(limit) = limit { sheet.strain_limit(limit) } else { sheet };
        let mut scene = scene(sheet).scheme(Scheme::Quasistatic).build().unwrap();
        let run = run(&mut scene, 1);
        println!("{limit:?}: {:?} {} {}", run.largest, run.iterations, run.rejected);
        run.largest
    };
    assert!(soft(None)[0] > 1.2);
    assert!(soft(Some(MaxStretch::any(1.02)))[0] < 1.02);
    assert!(soft(Some(MaxStretch::warp_weft(1.02)))[1] < 1.02);
}
