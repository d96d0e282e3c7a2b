//! What a failed step says: the worst vertex as users know it, what is around it, and advice that
//! fits.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use glam::DVec3;
use plisse_core::{Field, Positive};
use plisse_scene::scene::{Cloth, Material, Pick, Scene, Settings};
use plisse_system::{Criterion, NewtonSettings, Scheme, State};

/// The message of a step of a sheet that is folded by 90 degrees and stretched by a fifth on one
/// side, if it has one iteration for a tolerance that no arithmetic reaches. All its free vertices
/// lie on the fold, so that the worst one does, whatever the last bits of a processor make of it.
fn message(scheme: Scheme, time_step: f64) -> String {
    let time_step = Positive::new(time_step).unwrap();
    let newton = NewtonSettings {
        criterion: Criterion::ForcePerMass(Positive::literal(1e-50)),
        max_iterations: 1,
        ..NewtonSettings::default()
    };
    let settings = Settings { time_step, shortest_step: None, scheme, newton };
    let napkin = Cloth::sheet([2, 2], [0.2, 0.2]).unwrap().named("napkin").at(DVec3::Z * 5.0);
    let towel = Cloth::sheet([2, 4], [1.0, 1.0]).unwrap().named("towel").material(Material::cotton());
    let builder = Scene::builder().settings(settings);
    let mut scene = builder
        .cloth(napkin.pin(Pick::group("corners")))
        .cloth(towel.pin(Pick::group("left")).pin(Pick::group("right")))
        .build()
        .unwrap();
    let towel = scene.bodies()[1].vertices.clone();
    let x = scene.state().x();
    let folded = Field::from_fn(x.len(), |i| match x[i] {
        DVec3 { x, y, z } if towel.contains(&i.index()) && x > 0.0 => DVec3::new(0.0, y, z + 1.2 * x),
        x => x,
    });
    scene.set_state(State::at_rest(folded).unwrap()).unwrap();
    scene.step().unwrap_err().to_string()
}

#[test]
fn the_worst_vertex_is_named_with_its_surroundings() {
    let said = message(Scheme::BackwardEuler, 0.01);
    for part in ["step of 0.01 s", "worst: vertex ", " of towel at (", "its face ", "of its size"] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    assert!(said.contains("stretched to 1.2"), "{said}");
    assert!(said.contains("the sharpest fold there"), "{said}");
}

/// Equilibria have no step, and a step that is as short as that is not to blame.
#[test]
fn advice_fits() {
    let shorter = "shorter step";
    let said = message(Scheme::BackwardEuler, 0.01);
    assert!(said.contains(shorter), "{said}");
    let said = message(Scheme::BackwardEuler, 1e-5);
    assert!(!said.contains(shorter) && said.contains("The step is short enough"), "{said}");
    let said = message(Scheme::Quasistatic, 0.01);
    assert!(!said.contains(shorter) && said.contains("equilibrium from t = 0 s"), "{said}");
}
