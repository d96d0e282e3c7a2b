//! A step that finds no room says what is closest to what, and where.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use glam::{DQuat, DVec3};
use plisse_core::Positive;
use plisse_scene::scene::{BodyContact, Cloth, Distance, Keyframe, Keyframes, Obstacle, Scene, Settings};
use plisse_system::{Closest, NewtonSettings, StepError};

fn p(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

/// A sheet of 4 mm on a floor, under a press whose lower side comes down to 1 mm within 0.2 s.
fn press() -> Scene {
    let floor = Obstacle::plane(DVec3::ZERO, DVec3::Z).unwrap();
    let down = |time, z| Keyframe { time, translation: DVec3::Z * z, rotation: DQuat::IDENTITY };
    let motion = Keyframes::new(vec![down(0.0, 0.0), down(0.2, -0.019)]).unwrap().linear();
    let press = Obstacle::cuboid(DVec3::Z * 0.07, [p(0.5), p(0.5), p(0.1)], DQuat::IDENTITY);
    let contact = BodyContact { thickness: 4e-3, ..BodyContact::default() };
    let towel = Cloth::sheet([4, 4], [0.2, 0.2]).unwrap().named("towel").contact(contact);
    Scene::builder()
        .cloth(towel.at(DVec3::Z * 0.004))
        .obstacle(floor.named("floor"))
        .obstacle(press.named("press").moving(motion))
        .build()
        .unwrap()
}

/// The smallest gap that the failure tells.
fn of_failure(error: &StepError) -> Closest {
    match error {
        StepError::TooShort { last, .. } => of_failure(last),
        StepError::NotConverged { closest, .. } => *closest.clone().unwrap(),
        other => panic!("{other}"),
    }
}

#[test]
fn the_closest_pair_is_named() {
    let mut scene = press();
    let mut smallest = f64::INFINITY;
    let error = loop {
        match scene.step() {
            Ok(report) => smallest = report.closest.map_or(smallest, |closest| smallest.min(closest.gap)),
            Err(error) => break error,
        }
        assert!(scene.time() < 0.2, "the press has gone through");
    };
    // The press is less than four millimetres above the floor from 0.168 s on.
    assert!((0.1..0.17).contains(&scene.time()), "{}", scene.time());
    let closest = of_failure(&error);
    let [towel, obstacle] = &closest.parts;
    assert!(towel.starts_with("vertex ") && towel.ends_with(" of towel"), "{closest}");
    assert!(obstacle == "floor" || obstacle == "press", "{closest}");
    assert!(closest.gap > 0.0 && closest.gap < smallest, "{closest} {smallest}");
    // Between the floor and the press, in the sheet.
    let DVec3 { x, y, z } = closest.place;
    assert!(x.abs() < 0.11 && y.abs() < 0.11 && (-1e-4..5e-3).contains(&z), "{closest}");
    let said = error.to_string();
    assert!(said.contains(&format!("closest: {closest}")), "{said}");
    assert!(said.contains(" m at ("), "{said}");
}

/// A solver that gives up while contact cuts its steps short says where that is.
#[test]
fn contact_that_limits_the_solver_is_named() {
    let floor = Obstacle::plane(DVec3::ZERO, DVec3::Z).unwrap().named("floor");
    let towel = Cloth::sheet([4, 4], [0.2, 0.2]).unwrap().named("towel").velocity(DVec3::Z * -20.0);
    let newton = NewtonSettings { max_iterations: 3, ..NewtonSettings::default() };
    let settings = Settings { shortest_step: None, newton, ..Settings::default() };
    let builder = Scene::builder().cloth(towel.at(DVec3::Z * 0.1)).obstacle(floor).settings(settings);
    let mut scene = builder.build().unwrap();
    let error = (0..3).find_map(|_| scene.step().err()).expect("three iterations are too few");
    let closest = of_failure(&error);
    assert!(closest.parts[0].ends_with(" of towel") && closest.parts[1] == "floor", "{closest}");
    assert!(closest.gap > 0.0 && closest.place.z.abs() < 0.01, "{closest}");
    let said = error.to_string();
    assert!(said.contains("steps cut short by contact") && said.contains(&closest.to_string()), "{said}");
}

/// A floor that is known by its distance alone has a name, too.
#[test]
fn shapes_of_ones_own_are_named() {
    let below = |x: DVec3| Distance::without_curvature(x.z, DVec3::Z);
    let towel = Cloth::sheet([4, 4], [0.2, 0.2]).unwrap().named("towel").at(DVec3::Z * 0.004);
    let floor = Obstacle::solid(below).named("floor");
    let mut scene = Scene::builder().cloth(towel).obstacle(floor).build().unwrap();
    let closest = scene.advance(p(0.05)).unwrap().closest.unwrap();
    assert!(closest.parts[0].starts_with("vertex ") && closest.parts[0].ends_with(" of towel"), "{closest}");
    assert_eq!(closest.parts[1], "floor");
    assert!((0.0..0.004).contains(&closest.gap) && (0.0..0.004).contains(&closest.place.z), "{closest}");
}
