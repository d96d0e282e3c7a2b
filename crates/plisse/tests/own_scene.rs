//! The example of a scene with an energy, a term and an obstacle of one's own: it runs, and its
//! formulas are right.
#![cfg(all(feature = "scene", feature = "io", feature = "picture"))]
#![allow(clippy::unwrap_used, reason = "tests may panic")]

#[path = "../examples/own_scene.rs"]
mod own_scene;

use own_scene::{Swelling, ring};
use plisse::core::{Mat3x2, Psd};
use plisse::io::read_bytes;
use plisse::membrane::MembraneEnergy;
use plisse::scene::Checkpoint;

/// The only test of this process that depends on the folder it runs in.
#[test]
fn the_example_leaves_checkpoints_and_pictures() {
    let folder = tempfile::tempdir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    own_scene::main().unwrap();
    for frame in 1..=4 {
        let bytes = read_bytes(&folder.path().join(format!("out/{frame}.plisse"))).unwrap();
        let checkpoint = Checkpoint::from_bytes(&bytes).unwrap();
        assert_eq!((checkpoint.frame, checkpoint.tag), (frame, 1));
        assert!((checkpoint.state.time() - 0.04 * f64::from(frame)).abs() < 1e-12);
        let x = checkpoint.state.x().as_slice();
        assert!(x.iter().all(|x| ring(*x).value > 0.0), "a vertex is inside of the ring");
        if frame == 4 {
            // It rests on the ring, and its middle and its corners hang down.
            let closest = x.iter().map(|x| ring(*x).value).fold(f64::INFINITY, f64::min);
            let [middle, corner] = [x[12 * 25 + 12].z, x[0].z];
            assert!(closest < 0.02 && middle < 0.06 && corner < 0.03, "{closest} {middle} {corner}");
        }
        let picture = read_bytes(&folder.path().join(format!("out/{frame}.png"))).unwrap();
        assert!(picture.starts_with(b"\x89PNG") && picture.len() > 10_000);
    }
    // What is still open in it cannot be removed everywhere.
    std::env::set_current_dir(std::env::temp_dir()).unwrap();
}

/// Stress against differences of the energy, the Hessian against differences of the stress, and its
/// eigenvalues.
#[test]
fn the_energy_of_the_example_has_its_derivatives() {
    let energy = Swelling(3.0);
    for numbers in [[1.1, 0.2, -0.3, 0.1, 0.9, 0.4], [0.4, 0.1, 0.0, -0.2, 0.5, 0.1]] {
        let f = Mat3x2::from_array(numbers);
        let (stress, hessian) = (energy.pk1(&f), energy.hessian(&f, Psd::Exact));
        let h = 1e-6;
        for k in 0..6 {
            let at = |step: f64| {
                let mut moved = numbers;
                moved[k] += step;
                Mat3x2::from_array(moved)
            };
            let slope = (energy.energy(&at(h)) - energy.energy(&at(-h))) / (2.0 * h);
            assert!((slope - stress.to_array()[k]).abs() < 1e-8, "{k}");
            let change = (energy.pk1(&at(h)) - energy.pk1(&at(-h))) * (0.5 / h);
            for (row, value) in change.to_array().into_iter().enumerate() {
                assert!((value - hessian.entry(row, k)).abs() < 1e-7, "{row} {k}");
            }
        }
        let clamped = plisse::core::symmetric_eigen(&energy.hessian(&f, Psd::Clamp).to_matrix::<6>()).0;
        let exact = plisse::core::symmetric_eigen(&hessian.to_matrix::<6>()).0;
        for (clamped, exact) in clamped.iter().zip(exact) {
            assert!((clamped - exact.max(0.0)).abs() < 1e-12, "{clamped} {exact}");
        }
    }
}
