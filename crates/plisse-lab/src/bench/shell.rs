//! What free directors cost: whole runs of a sheet with mid-edge bending, interleaved step by step.

use std::time::Duration;

use anyhow::{Context, Result};
use glam::DVec3;
use plisse::bending::{
    Director, DirectorBending, HingeElement, HingeWeight, KoiterBending, Plate, QuadraticAngle,
};
use plisse::core::{Id, IsotropicSheet, PoissonRatio, Positive, RestShape, TriMesh, Vertices, generate};
use plisse::membrane::{Corotational, Lame, MembraneElement};
use plisse::system::{
    ElementTerm, Gravity, Implicit, Integrator, MixedTerm, NewtonSettings, OwnUnknown, Scheme, State, System,
    Term,
};

use super::clock::thread_time;

const SIZES: [usize; 3] = [20, 40, 80];
/// kg/m², N/m, N m.
const SHEET: [f64; 3] = [0.15, 500.0, 1.3e-4];
const POISSON: PoissonRatio = PoissonRatio::literal(0.3);
const STEPS: usize = 100;

/// `cargo xtask bench shell [N…]`, for sheets of `N × N` cells.
pub(crate) fn run(sizes: &[&str]) -> Result<()> {
    let sizes: Vec<usize> = if sizes.is_empty() {
        SIZES.to_vec()
    } else {
        let number = |s: &&str| s.parse().with_context(|| format!("\"{s}\" is not a number of cells"));
        sizes.iter().map(number).collect::<Result<_>>()?
    };
    anyhow::ensure!(sizes.iter().all(|n| *n >= 1), "a sheet has at least one cell");
    println!(
        "sheet of 1 m between two corners, {STEPS} steps of 10 ms, backward Euler, one thread, CPU time per step\n"
    );
    println!(
        "{:>7}{:>16}{:>10}{:>10}{:>10}{:>10}",
        "cells", "bending", "unknowns", "newton", "ms/step", "ratio"
    );
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for n in sizes {
        one.install(|| table(n))?;
    }
    Ok(())
}

/// A sheet with one kind of bending, and what it has cost so far.
struct Runner {
    name: &'static str,
    system: System<Vertices>,
    state: State<Vertices>,
    integrator: Implicit<Vertices>,
    time: Duration,
    iterations: usize,
}

fn table(n: usize) -> Result<()> {
    let (mesh, uv) = generate::grid(n, n, [1.0, 1.0], generate::Diagonal::Alternating)?;
    let rest = RestShape::from_uv(&mesh, &uv)?;
    let kinds: [(&str, Box<dyn Term<Vertices>>); 3] = [
        ("hinges", hinges(&rest)?),
        ("mean normals", mean_normals(&mesh, &rest)?),
        ("directors", directors(&mesh, &rest)?),
    ];
    let mut runners = Vec::new();
    for (name, bending) in kinds {
        let system = sheet(&mesh, &rest, bending, [0, n as u32])?;
        let state = State::at_rest(generate::embed(&uv))?;
        let integrator = Implicit::new(&system, Scheme::BackwardEuler, NewtonSettings::default())?;
        runners.push(Runner { name, system, state, integrator, time: Duration::ZERO, iterations: 0 });
    }
    for _ in 0..STEPS {
        for runner in &mut runners {
            let start = thread_time();
            let dt = Positive::literal(0.01);
            let report = runner.integrator.step(&runner.system, &mut runner.state, dt)?;
            runner.time += thread_time() - start;
            runner.iterations += report.iterations();
        }
    }
    let unit = runners[1].time.as_secs_f64();
    for Runner { name, system, time, iterations, .. } in &runners {
        let unknowns = system.pattern().layout().unknowns();
        let (newton, ms) = (*iterations as f64 / STEPS as f64, time.as_secs_f64() * 1e3 / STEPS as f64);
        let ratio = time.as_secs_f64() / unit;
        println!("{n:>7}{name:>16}{unknowns:>10}{newton:>10.2}{ms:>10.2}{ratio:>10.2}");
    }
    Ok(())
}

fn sheet(
    mesh: &TriMesh,
    rest: &RestShape,
    bending: Box<dyn Term<Vertices>>,
    pins: [u32; 2],
) -> Result<System<Vertices>> {
    let mass = rest.vertex_areas(mesh).map(|a| SHEET[0] * a);
    let sheet = IsotropicSheet::new(Positive::new(SHEET[1])?, POISSON, Positive::ONE);
    let lame = Lame::plane_stress(&sheet)?;
    let energy = Corotational::new(lame);
    let faces = mesh.faces().iter();
    let membrane = faces.map(|(face, v)| MembraneElement::new(*v, *rest.map(face), energy)).collect();
    let gravity = Gravity::new(DVec3::new(0.0, 0.0, -9.81), &mass)?;
    let builder = System::builder(mass).term(ElementTerm::<_, 3>::new("membrane", membrane));
    Ok(builder.boxed_term(bending).term(gravity).pins(pins.map(Id::new)).build()?)
}

fn hinges(rest: &RestShape) -> Result<Box<dyn Term<Vertices>>> {
    let rigidity = Positive::new(SHEET[2])?;
    let element = |h| HingeElement::new(h, QuadraticAngle, rigidity, HingeWeight::AreaSum);
    Ok(Box::new(ElementTerm::<_, 4>::new("bending", rest.hinges().iter().map(element).collect())))
}

fn plate() -> Result<Plate> {
    Ok(Plate::new(Positive::new(SHEET[2])?, POISSON))
}

fn mean_normals(mesh: &TriMesh, rest: &RestShape) -> Result<Box<dyn Term<Vertices>>> {
    let plate = plate()?;
    let face = |face| KoiterBending::new(mesh, rest, face, Director::Average, &plate);
    Ok(Box::new(ElementTerm::<_, 6>::new("bending", mesh.faces().ids().map(face).collect())))
}

fn directors(mesh: &TriMesh, rest: &RestShape) -> Result<Box<dyn Term<Vertices>>> {
    let plate = plate()?;
    let face =
        |face| DirectorBending::new(KoiterBending::new(mesh, rest, face, Director::Sine, &plate), rest);
    let arm = (rest.area() / mesh.face_count() as f64).sqrt();
    let unknowns = vec![OwnUnknown { start: 0.0, arm }; mesh.edge_count()];
    Ok(Box::new(MixedTerm::new("bending", mesh.faces().ids().map(face).collect(), unknowns)))
}
