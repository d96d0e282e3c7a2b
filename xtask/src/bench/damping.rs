//! What damping costs: steps of a hanging sheet with and without it, interleaved.

use std::time::Instant;

use anyhow::{Context, Result};
use plisse::core::Positive;
use plisse::membrane::Lame;
use plisse::scene::{Bending, Cloth, Damping, Material, Membrane, Pick, Scene, StrainRate, Stretching};

/// Factor of the proportional models, s. Small enough that all sheets move nearly alike.
const BETA: Positive = Positive::literal(1e-3);

/// `cargo xtask bench damping [N]`: a sheet of N x N vertices, 60 unless told.
pub(crate) fn run(size: Option<&str>) -> Result<()> {
    let n: usize =
        size.map_or(Ok(60), str::parse).context("the number of vertices along a side is not a number")?;
    anyhow::ensure!(n >= 2, "a sheet has at least 2 x 2 vertices");
    println!(
        "hanging sheet of {n} x {n} vertices, 1 m, backward Euler, default solver, one thread; damping factor 1 ms"
    );
    println!(
        "ms per step (mean of interleaved steps after 0.2 s), in units of the undamped step, and Newton iterations\n"
    );
    println!("{:<14}{:<22}{:>7}{:>10}{:>9}{:>9}", "membrane", "damping", "dt", "ms/step", "ratio", "newton");
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for (name, material) in materials()? {
        for dt in [0.005, 0.0333] {
            one.install(|| compare(name, material, n, dt))?;
        }
    }
    Ok(())
}

fn materials() -> Result<[(&'static str, Material); 3]> {
    let denim = Material::denim();
    let lame = Lame::plane_stress(Positive::literal(400.0), 0.3, Positive::ONE)?;
    let with = |stretching| Material { membrane: Membrane::isotropic(stretching), ..denim };
    Ok([
        ("fibres", denim),
        ("stvk", with(Stretching::StVenantKirchhoff(lame))),
        ("corotational", with(Stretching::Corotational(lame))),
    ])
}

fn compare(name: &str, material: Material, n: usize, dt: f64) -> Result<()> {
    let strain = Damping::strain_rate(BETA);
    let variants = [
        ("none", Damping::NONE),
        ("strain rate", strain),
        ("strain rate + bending", Damping { bending: Some(BETA), ..strain }),
        ("viscosity", Damping { membrane: StrainRate::Isotropic { lambda: 0.1, mu: 0.1 }, ..Damping::NONE }),
        ("Rayleigh", Damping { rayleigh: Some(BETA), ..Damping::NONE }),
    ];
    debug_assert!(material.bending != Bending::None);
    let build = |damping: Damping, dt: f64| -> Result<Scene> {
        let cloth = Cloth::sheet([n - 1, n - 1], [1.0, 1.0])?
            .material(Material { damping, ..material })
            .pin(Pick::group("top-left"))
            .pin(Pick::group("top-right"));
        Ok(Scene::builder().cloth(cloth).time_step(Positive::new(dt)?).build()?)
    };
    let mut first = build(Damping::NONE, 0.01)?;
    for _ in 0..20 {
        first.step()?;
    }
    let mut scenes = Vec::new();
    for (_, damping) in variants {
        let mut scene = build(damping, dt)?;
        scene.set_state(first.state().clone())?;
        // The first step pays for memory and analysis.
        scene.step()?;
        scenes.push((scene, 0.0, 0));
    }
    // Large sheets and long steps say the same with fewer steps.
    let steps = if n > 80 || dt > 0.01 { 20 } else { 60 };
    for _ in 0..steps {
        for (scene, ms, iterations) in &mut scenes {
            let start = Instant::now();
            let report = scene.step()?;
            *ms += start.elapsed().as_secs_f64() * 1e3;
            *iterations += report.iterations();
        }
    }
    let unit = scenes[0].1;
    for ((label, _), (_, ms, iterations)) in variants.iter().zip(&scenes) {
        println!(
            "{name:<14}{label:<22}{dt:>7}{:>10.2}{:>9.3}{:>9.2}",
            ms / f64::from(steps),
            ms / unit,
            *iterations as f64 / f64::from(steps)
        );
    }
    println!();
    Ok(())
}
