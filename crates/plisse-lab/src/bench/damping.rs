//! What damping costs: steps of a hanging sheet with and without it, interleaved.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use glam::DVec3;
use plisse::core::{Field, Past, PoissonRatio, Positive, Psd, Vertices};
use plisse::membrane::Lame;
use plisse::scene::{Bending, Cloth, Damping, Material, Membrane, Pick, Scene, StrainRate, Stretching};
use plisse::system::{BlockMatrix, Gradient, Iteration, Memory, Pose, StepMap};

/// Factor of the proportional models, s. Small enough that all sheets move nearly alike.
const BETA: Positive = Positive::literal(1e-3);

/// `cargo xtask bench damping [N [MEMBRANE [STEPS]]]`: a sheet of N x N vertices, 60 unless told,
/// of one kind of membrane or of all; so many steps of 5 ms, 60 unless told, and a third of that of
/// 33 ms, which say the same with fewer of them.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    let number = |index: usize, what: &str, least: usize| -> Result<usize> {
        let Some(text) = args.get(index) else { return Ok(60) };
        let value: usize = text.parse().with_context(|| format!("{text:?} is no {what}"))?;
        anyhow::ensure!(value >= least, "{value} is no {what}: at least {least}");
        Ok(value)
    };
    let (n, steps) = (number(0, "number of vertices along a side", 2)?, number(2, "number of steps", 3)?);
    let (membrane, materials) = (args.get(1), materials()?);
    anyhow::ensure!(
        args.len() <= 3 && membrane.is_none_or(|m| materials.iter().any(|(name, _)| name == m)),
        "give the vertices along a side, then fibres, stvk or corotational, then the number of steps"
    );
    println!(
        "hanging sheet of {n} x {n} vertices, 1 m, backward Euler, default solver, one thread; damping factor 1 ms"
    );
    println!(
        "means of interleaved steps after 0.2 s: time, in units of the undamped step; Newton iterations, conjugate gradients\nand factorisations of solves that succeeded; Hessians, also of those that did not; and the ratio if the passes over the terms were as many as in the undamped step\n"
    );
    println!(
        "{:<14}{:<22}{:>7}{:>10}{:>9}{:>9}{:>8}{:>9}{:>10}{:>8}",
        "membrane", "damping", "dt", "ms/step", "ratio", "newton", "cg", "factors", "hessians", "equal"
    );
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for (name, material) in materials.into_iter().filter(|(name, _)| membrane.is_none_or(|m| m == name)) {
        for (dt, steps) in [(0.005, steps), (0.0333, steps / 3)] {
            one.install(|| compare(name, material, n, dt, steps))?;
        }
    }
    Ok(())
}

fn materials() -> Result<[(&'static str, Material); 3]> {
    let denim = Material::denim();
    let lame = Lame::from_tensile(Positive::literal(400.0), PoissonRatio::literal(0.3))?;
    let with = |stretching| Material { membrane: Membrane::isotropic(stretching), ..denim };
    Ok([
        ("fibres", denim),
        ("stvk", with(Stretching::StVenantKirchhoff(lame))),
        ("corotational", with(Stretching::Corotational(lame))),
    ])
}

fn compare(name: &str, material: Material, n: usize, dt: f64, steps: usize) -> Result<()> {
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
        scenes.push((scene, 0.0, [0; 3], Evaluations::default()));
    }
    let before = first.state().clone();
    for _ in 0..steps {
        for (scene, ms, [newton, cg, factors], evaluations) in &mut scenes {
            let start = Instant::now();
            let report = scene.step()?;
            *ms += start.elapsed().as_secs_f64() * 1e3;
            evaluations.starts += report.solves.len();
            for iteration in report.solves.iter().flat_map(|solve| &solve.iterations) {
                evaluations.count(iteration);
                *newton += 1;
                *cg += iteration.linear.iterations;
                *factors += iteration.linear.factorisations;
            }
        }
    }
    // The motions differ, and with them the iterations, by more than damping costs. At equal counts
    // it costs what its evaluation does.
    let mean = |count: usize| count as f64 / steps as f64;
    let counts = scenes[0].3;
    let mut passes: Vec<Passes<'_>> =
        scenes.iter().map(|(scene, ..)| Passes::new(scene, before.x(), dt)).collect();
    for _ in 0..30 {
        passes.iter_mut().for_each(Passes::time);
    }
    let evaluations: Vec<f64> = passes.iter().map(|passes| passes.total(&counts)).collect();
    let unit = scenes[0].1;
    for (((label, _), (_, ms, counts, own)), evaluation) in variants.iter().zip(&scenes).zip(&evaluations) {
        let [newton, cg, factors] = counts.map(mean);
        let time = ms / steps as f64;
        println!(
            "{name:<14}{label:<22}{dt:>7}{time:>10.2}{:>9.3}{newton:>9.2}{cg:>8.2}{factors:>9.2}{:>10.2}{:>8.3}",
            ms / unit,
            mean(own.hessians),
            1.0 + (evaluation - evaluations[0]) / unit
        );
    }
    println!();
    Ok(())
}

/// How often the terms were evaluated.
#[derive(Clone, Copy, Default)]
struct Evaluations {
    starts: usize,
    gradients: usize,
    energies: usize,
    hessians: usize,
}

impl Evaluations {
    /// Those of an iteration, besides the first energy and gradient of a step.
    fn count(&mut self, iteration: &Iteration) {
        self.hessians += iteration.hessians;
        // A full step is tried with its gradient. Others are found by halving or doubling with
        // energies alone, then evaluated once more.
        let trials = iteration.length.max(1e-12).log2().abs().round() as usize;
        self.gradients += if trials == 0 { 1 } else { 2 };
        self.energies += trials;
    }
}

/// Milliseconds that the terms of a scene take, the best of many: what they keep of the start of a
/// step, energies and gradient, energies, Hessian.
struct Passes<'a> {
    scene: &'a Scene,
    step: StepMap<'a, Vertices>,
    gradient: Field<Vertices, DVec3>,
    matrix: BlockMatrix,
    memories: Vec<Memory>,
    best: [f64; 4],
}

impl<'a> Passes<'a> {
    fn new(scene: &'a Scene, start: &'a Field<Vertices, DVec3>, dt: f64) -> Self {
        let system = scene.system();
        Self {
            scene,
            step: StepMap {
                start,
                dt,
                reference: start,
                rate: 1.0 / dt,
                past: Past::Start,
                own: &[],
                inertia: None,
                memory: None,
            },
            gradient: Field::filled(start.len(), DVec3::ZERO),
            matrix: BlockMatrix::zeros(Arc::clone(system.pattern())),
            memories: system.terms().map(|_| Memory::default()).collect(),
            best: [f64::INFINITY; 4],
        }
    }

    /// Once more.
    fn time(&mut self) {
        let (system, x, step) = (self.scene.system(), self.scene.state().x(), self.step);
        let mut lap = Lap(Instant::now());
        for (term, memory) in system.terms().zip(&mut self.memories) {
            term.remember(&step, memory);
        }
        let remember = lap.next();
        let memories = &self.memories;
        let pose = |i: usize| Pose {
            x,
            own: &[],
            time: 0.0,
            step: Some(StepMap { memory: memories.get(i), ..step }),
        };
        for (i, term) in system.terms().enumerate() {
            std::hint::black_box(
                term.energy_and_add_gradient(&pose(i), &mut Gradient::by_nodes(&mut self.gradient)),
            );
        }
        let gradient = lap.next();
        for (i, term) in system.terms().enumerate() {
            std::hint::black_box(term.energy(&pose(i)));
        }
        let energy = lap.next();
        system.hessian_with(pose, Psd::Exact, &mut self.matrix);
        let hessian = lap.next();
        for (best, now) in self.best.iter_mut().zip([remember, gradient, energy, hessian]) {
            *best = best.min(now);
        }
    }

    /// So many of them.
    fn total(&self, count: &Evaluations) -> f64 {
        let [remember, gradient, energy, hessian] = self.best;
        let counts = [count.starts, count.starts + count.gradients, count.energies, count.hessians];
        [remember, gradient, energy, hessian].iter().zip(counts).map(|(ms, n)| ms * n as f64).sum()
    }
}

/// A watch that gives the milliseconds since it was read last.
struct Lap(Instant);

impl Lap {
    fn next(&mut self) -> f64 {
        let now = Instant::now();
        (now - std::mem::replace(&mut self.0, now)).as_secs_f64() * 1e3
    }
}
