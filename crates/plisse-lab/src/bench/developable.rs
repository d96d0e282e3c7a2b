//! Developable cloth: what a step of the two-pin scene costs, by solver, beside an elastic step of
//! the same size.

use std::time::Instant;

use anyhow::{Result, anyhow};
use glam::DVec3;
use plisse::constrained::{CrMesh, Developable, DevelopableBuilder, ProjectionSettings};
use plisse::core::{Field, Id, Positive, RestShape, Vertices, generate};
use plisse::scene::{Cloth, Material, Pick, Scene};
use plisse::sparse::LinearSolver;
use plisse::system::{Adaptive, Integrator, Scheme, State, System};

/// Length of a step, and how many are taken.
const DT: Positive = Positive::literal(0.005);
const STEPS: usize = 20;

/// Steps of sheets of these numbers of cells, or of 25, 50 and 100.
pub(crate) fn run(sizes: &[&str]) -> Result<()> {
    let sizes: Vec<usize> = match sizes {
        [] => vec![25, 50, 100],
        words => words.iter().map(|word| word.parse()).collect::<Result<_, _>>()?,
    };
    println!(
        "two corners pinned, {STEPS} steps of {} ms; per accepted step: seconds, iterations of the",
        1e3 * DT.get()
    );
    println!("projection, factorisations, iterations of the linear solver");
    for n in sizes {
        let elastic = elastic(n)?;
        println!("{n:4} x {n:<4} elastic       {elastic:8.4} s");
        for solver in [LinearSolver::Cholesky, LinearSolver::StaleCholesky] {
            let [seconds, iterations, factorisations, linear, substeps] = developable(n, solver)?;
            println!(
                "{n:4} x {n:<4} {:13} {seconds:8.4} s {iterations:6.1} its {factorisations:6.1} factors \
                 {linear:6.1} linear; {:.2} x elastic, {:.1} x real time, {substeps} substeps",
                format!("{solver:?}"),
                seconds / elastic,
                seconds * substeps / (STEPS as f64 * DT.get()),
            );
        }
    }
    Ok(())
}

/// The sheet of formula sheet A6: a polygonal cylinder that turns by half a radian.
fn sheet(n: usize, solver: LinearSolver) -> Result<(Developable, Field<Vertices, DVec3>)> {
    let (mesh, uv) = generate::grid(n, n, [1.0, 1.0], generate::Diagonal::Right)?;
    let turn = 0.5;
    let angle = |i: usize| turn * ((i as f64 + 0.5) / n as f64 - 0.5);
    let mut columns = vec![DVec3::ZERO];
    for i in 0..n {
        columns.push(columns[i] + DVec3::new(angle(i).cos(), 0.0, angle(i).sin()) / n as f64);
    }
    let x = uv.map(|u| columns[(u.x * n as f64).round() as usize] + DVec3::Y * u.y);
    let rest = RestShape::from_uv(&mesh, &uv)?;
    let settings = ProjectionSettings { solver, ..ProjectionSettings::implicit() };
    let mut builder = DevelopableBuilder::new(CrMesh::new(mesh, &rest)?, Positive::literal(0.2))
        .bending(Positive::literal(1e-5))
        .gravity(DVec3::NEG_Z * 9.81)
        .projection(settings);
    for corner in [n * (n + 1), (n + 1) * (n + 1) - 1] {
        let vertex = Id::new(corner as u32);
        builder = builder.pin(vertex, x[vertex]);
    }
    Ok((builder.build()?, x))
}

/// Seconds, iterations, factorisations and linear iterations per substep, and how many there were.
fn developable(n: usize, solver: LinearSolver) -> Result<[f64; 5]> {
    let (sheet, x) = sheet(n, solver)?;
    let mut sheet = Counted { sheet, sums: [0.0; 4] };
    let system = System::builder(Field::filled(x.len(), 1.0)).build()?;
    let mut state = State::at_rest(x)?;
    let mut adaptive = Adaptive::new(&mut sheet, Positive::literal(1e-5));
    let start = Instant::now();
    for _ in 0..STEPS {
        adaptive.step(&system, &mut state, DT)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let [accepted, iterations, factorisations, linear] = sheet.sums;
    if accepted == 0.0 {
        return Err(anyhow!("no step of {n} x {n} cells was accepted"));
    }
    Ok([seconds / accepted, iterations / accepted, factorisations / accepted, linear / accepted, accepted])
}

/// Adds up what accepted substeps did.
struct Counted {
    sheet: Developable,
    sums: [f64; 4],
}

impl Integrator<Vertices> for &mut Counted {
    fn step(
        &mut self,
        system: &System<Vertices>,
        state: &mut State<Vertices>,
        dt: Positive,
    ) -> Result<plisse::system::StepReport, plisse::system::StepError> {
        let report = self.sheet.step(system, state, dt)?;
        let last = &self.sheet.last().projection;
        let counts = [1, last.iterations(), last.factorisations, last.linear_iterations];
        self.sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count as f64);
        Ok(report)
    }
}

/// Seconds per step of an elastic sheet of cotton, held likewise.
fn elastic(n: usize) -> Result<f64> {
    let cloth = Cloth::grid([n, n], [1.0, 1.0], generate::Diagonal::Right)?
        .material(Material::cotton())
        .apart()
        .pin(Pick::group("top-left"))
        .pin(Pick::group("top-right"));
    let mut scene = Scene::builder().cloth(cloth).scheme(Scheme::Bdf2).time_step(DT).build()?;
    let start = Instant::now();
    for _ in 0..STEPS {
        scene.step()?;
    }
    Ok(start.elapsed().as_secs_f64() / STEPS as f64)
}
