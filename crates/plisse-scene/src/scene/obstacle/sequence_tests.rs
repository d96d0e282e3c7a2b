//! Meshes that deform: where they are, how far away, and what is refused.

use glam::{DQuat, DVec3};
use plisse_core::{Field, generate};
use proptest::prelude::*;

use super::{MeshFrame, Obstacle};
use crate::scene::{Keyframe, Keyframes, SceneError};

/// A ball that grows and moves.
fn balls(sizes: &[(f64, f64, DVec3)]) -> Result<Obstacle, SceneError> {
    let (mesh, x) = generate::sphere(2, 1.0).unwrap();
    let frame =
        |&(time, size, by): &(f64, f64, DVec3)| MeshFrame { time, positions: x.map(|x| *x * size + by) };
    Obstacle::mesh_sequence(&mesh, sizes.iter().map(frame).collect())
}

fn growing() -> Obstacle {
    balls(&[(1.0, 0.2, DVec3::ZERO), (2.0, 0.4, DVec3::X * 0.1), (4.0, 0.3, DVec3::Z)]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// At any time it is the mesh that it is at that time, also with a motion.
    #[test]
    fn a_sequence_is_a_mesh_at_every_time(x in prop::array::uniform3(-1.0..1.0f64), time in 0.0..5.0f64) {
        let (mesh, positions) = generate::sphere(2, 1.0).unwrap();
        let (size, by) = if time < 1.0 {
            (0.2, DVec3::ZERO)
        } else if time < 2.0 {
            (0.2 + 0.2 * (time - 1.0), DVec3::X * 0.1 * (time - 1.0))
        } else {
            let s = ((time - 2.0) / 2.0).min(1.0);
            (0.4 - 0.1 * s, (DVec3::X * 0.1).lerp(DVec3::Z, s))
        };
        let frame = |time: f64, x: f64| Keyframe {
            time,
            translation: DVec3::Y * x,
            rotation: DQuat::from_rotation_y(x),
        };
        let motion = Keyframes::new(vec![frame(0.0, 0.0), frame(5.0, 1.0)]).unwrap().linear();
        // The first frame has its centre at the origin, about which the motion turns.
        let placed = positions.map(|x| motion.place(time, DVec3::ZERO, *x * size + by));
        let still = Obstacle::mesh(&mesh, &placed).unwrap();
        let moving = growing().moving(motion);
        let (a, b) = (moving.distance(time, x.into()), still.distance(0.0, x.into()));
        prop_assert!((a.value - b.value).abs() < 1e-12, "{a:?} {b:?}");
        let (drawn, _) = moving.surface(time).unwrap();
        prop_assert!(drawn.iter().zip(placed.as_slice()).all(|(a, b)| a.distance(*b) < 1e-12));
        let mut parts = vec![DVec3::ZERO; drawn.len()];
        moving.place_parts(time, &[], &mut parts);
        prop_assert_eq!(parts, drawn);
        #[cfg(feature = "wrinkle")]
        {
            let rest = moving.at_rest(time);
            prop_assert!(!rest.moves() && (rest.distance(0.0, x.into()).value - b.value).abs() < 1e-12);
        }
    }
}

#[test]
fn it_moves_if_frames_differ() {
    assert!(growing().moves());
    assert!(!balls(&[(0.0, 1.0, DVec3::ZERO), (1.0, 1.0, DVec3::ZERO)]).unwrap().moves());
}

/// Between two good meshes, triangles may collapse: distances are finite all the same.
#[test]
fn collapsed_meshes_have_a_distance() {
    let (mesh, x) = generate::sphere(1, 1.0).unwrap();
    // By a half turn about z, all vertices go through the axis.
    let turned = x.map(|x| DVec3::new(-x.x, -x.y, x.z));
    let frames = [(0.0, x), (1.0, turned)].map(|(time, positions)| MeshFrame { time, positions });
    let obstacle = Obstacle::mesh_sequence(&mesh, frames.into()).unwrap();
    for point in [DVec3::X * 2.0, DVec3::Z * 3.0, DVec3::ZERO, DVec3::ONE] {
        let d = obstacle.distance(0.5, point);
        let expected = point.distance(DVec3::Z * point.z.clamp(-1.0, 1.0));
        assert!((d.value.abs() - expected).abs() < 1e-12, "{point} {d:?}");
        assert!((d.gradient.length() - 1.0).abs() < 1e-12 && d.hessian.is_finite(), "{d:?}");
    }
}

#[test]
fn bad_sequences_name_the_frame() {
    let message = |sizes: &[(f64, f64, DVec3)]| balls(sizes).unwrap_err().to_string();
    let o = DVec3::ZERO;
    for (sizes, expected) in [
        (vec![], "frame 0 of a mesh sequence: a sequence needs at least two meshes"),
        (vec![(0.0, 1.0, o)], "frame 1 of a mesh sequence: a sequence needs at least two meshes"),
        (vec![(0.0, 1.0, o), (0.0, 2.0, o)], "frame 1 of a mesh sequence: times must ascend"),
        (vec![(0.0, 1.0, o), (f64::NAN, 2.0, o)], "frame 1 of a mesh sequence: its time is not finite"),
        (vec![(0.0, 1.0, o), (1.0, 0.0, o)], "frame 1 of a mesh sequence: the mesh of an obstacle: "),
        (vec![(0.0, 1.0, o), (1.0, -1.0, o)], "frame 1 of a mesh sequence: the mesh of an obstacle: "),
        (
            vec![(0.0, 1.0, o), (1.0, 1.0, o * f64::NAN)],
            "frame 1 of a mesh sequence: the mesh of an obstacle: ",
        ),
    ] {
        let found = message(&sizes);
        assert!(found.starts_with(expected), "{found}");
    }
    let (mesh, x) = generate::sphere(1, 1.0).unwrap();
    let short = Field::from_vec(x.as_slice()[1..].to_vec());
    let frames = [(0.0, x), (1.0, short)].map(|(time, positions)| MeshFrame { time, positions });
    assert!(matches!(
        Obstacle::mesh_sequence(&mesh, frames.into()),
        Err(SceneError::SequenceFrame { frame: 1, .. })
    ));
}
