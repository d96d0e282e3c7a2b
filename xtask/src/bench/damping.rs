//! What damping costs: steps of a hanging sheet with and without it, interleaved.

use std::time::Instant;

use anyhow::{Context, Result};
use plisse::core::Positive;
use plisse::membrane::Lame;
use plisse::scene::{Bending, Cloth, Damping, Material, Membrane, Pick, Scene, StrainRate, Stretching};

/// Factor of the proportional models, s. Small enough that all sheets move nearly alike.
const BETA: Positive = Positive::literal(1e-3);

/// `cargo xtask bench damping [N [MEMBRANE]]`: a sheet of N x N vertices, 60 unless told, of one kind of membrane or of all.
pub(crate) fn run(size: Option<&str>, membrane: Option<&str>) -> Result<()> {
    let n: usize =
        size.map_or(Ok(60), str::parse).context("the number of vertices along a side is not a number")?;
    anyhow::ensure!(n >= 2, "a sheet has at least 2 x 2 vertices");
    println!(
        "hanging sheet of {n} x {n} vertices, 1 m, backward Euler, default solver, one thread; damping factor 1 ms"
    );
    println!(
        "means of interleaved steps after 0.2 s: time, in units of the undamped step; Newton iterations, conjugate gradients and factorisations\n"
    );
    println!(
        "{:<14}{:<22}{:>7}{:>10}{:>9}{:>9}{:>8}{:>9}",
        "membrane", "damping", "dt", "ms/step", "ratio", "newton", "cg", "factors"
    );
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for (name, material) in materials()?.into_iter().filter(|(name, _)| membrane.is_none_or(|m| m == *name)) {
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
        scenes.push((scene, 0.0, [0; 3]));
    }
    // Long steps say the same with fewer of them.
    let steps = if dt > 0.01 { 20 } else { 60 };
    for _ in 0..steps {
        for (scene, ms, [newton, cg, factors]) in &mut scenes {
            let start = Instant::now();
            let report = scene.step()?;
            *ms += start.elapsed().as_secs_f64() * 1e3;
            for iteration in report.solves.iter().flat_map(|solve| &solve.iterations) {
                *newton += 1;
                *cg += iteration.linear.iterations;
                *factors += iteration.linear.factorisations;
            }
        }
    }
    let unit = scenes[0].1;
    for ((label, _), (_, ms, counts)) in variants.iter().zip(&scenes) {
        let [newton, cg, factors] = counts.map(|count| count as f64 / f64::from(steps));
        let time = ms / f64::from(steps);
        println!(
            "{name:<14}{label:<22}{dt:>7}{time:>10.2}{:>9.3}{newton:>9.2}{cg:>8.2}{factors:>9.2}",
            ms / unit
        );
    }
    println!();
    Ok(())
}
