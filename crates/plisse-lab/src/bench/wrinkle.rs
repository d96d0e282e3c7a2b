//! The wrinkle solver in units of one unconstrained factorisation and solution.
//!
//! The unit is the matrix of all unknowns (amplitudes, phases, periods) with the projected Hessian
//! of every face and no unknown held: factorised and solved with once, its symbolic analysis kept.
//! Whatever a step of the solver adds (gradient, Hessians, projection, bounds, repeated
//! factorisations, line search) is in the ratio. Each round runs everything in turn: the machine is
//! noisy, ratios are less so.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use plisse::core::{Id, Psd};
use plisse::wrinkle::beds::{self, Bed};
use plisse::wrinkle::{
    FaceHessian, WrinkleField, WrinkleProblem, WrinkleReport, WrinkleSettings, WrinkleStart, WrinkleSystem,
    solve_wrinkles,
};

use crate::wrinkles::wrinkle_problem;

/// Name, bed, faces around which wrinkles are excluded, rounds: fewer where a solve takes long.
type Case = (&'static str, Bed, usize, usize);

/// Times of one kind of work, ms.
#[derive(Clone, Debug, Default)]
struct Times(Vec<f64>);

impl Times {
    fn time<T>(&mut self, body: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = body();
        self.0.push(start.elapsed().as_secs_f64() * 1e3);
        result
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    fn least(&self) -> f64 {
        self.0.iter().fold(f64::INFINITY, |m, t| m.min(*t))
    }
}

/// `cargo xtask bench wrinkle [NAME…]`.
pub(crate) fn run(names: &[&str]) -> Result<()> {
    println!(
        "wrinkle solver, default settings, one thread; means of interleaved rounds, the best in brackets"
    );
    println!(
        "unit: one factorisation and solution of the matrix of all unknowns, none held, symbolic analysis kept\n"
    );
    let cases: [Case; 5] = [
        ("twisted cylinder", beds::twisted_cylinder(10.0, 40, 1)?, 0, 20),
        ("twisted cylinder, buttons", beds::twisted_cylinder(10.0, 40, 1)?, 24, 20),
        ("disk balloon", beds::disk_balloon(600.0, 18, 1)?, 0, 10),
        ("torus", beds::torus(2000.0, 11, 1)?, 0, 3),
        ("sheet stretched 5 %", beds::stretched_sheet(0.05, 22, 1)?, 0, 10),
    ];
    for (name, bed, buttons, rounds) in cases {
        if names.is_empty() || names.contains(&name) {
            case(name, &bed, buttons, rounds).with_context(|| name)?;
        }
    }
    if let Some(peak) = peak_memory() {
        println!("peak memory of this process, all cases: {:.1} MB", peak as f64 / 1e6);
    }
    Ok(())
}

/// Excludes wrinkles around this many faces, spread evenly over the numbers of faces: holes, each
/// of which has a period.
fn with_buttons(bed: &Bed, problem: WrinkleProblem, buttons: usize) -> Result<WrinkleProblem> {
    if buttons == 0 {
        return Ok(problem);
    }
    let mesh = bed.problem.mesh();
    let mut free = problem.kept().map(|kept| !kept);
    for k in 0..buttons {
        let middle = Id::new(((2 * k + 1) * mesh.face_count() / (2 * buttons)) as u32);
        for vertex in mesh.faces()[middle] {
            for face in mesh.vertex_faces(vertex) {
                free[*face] = true;
            }
        }
    }
    let held: Vec<_> = bed.problem.pinned().iter().map(|(v, _)| *v).collect();
    Ok(WrinkleProblem::with_free_faces(problem.sheet().clone(), &free)?.with_clamped(&held)?)
}

fn case(name: &str, bed: &Bed, buttons: usize, rounds: usize) -> Result<()> {
    let (_, problem) = wrinkle_problem(bed, true)?;
    let problem = with_buttons(bed, problem, buttons)?;
    let with =
        |starts: &[WrinkleStart]| WrinkleSettings { starts: starts.to_vec(), ..WrinkleSettings::default() };
    let settings = [
        with(&[WrinkleStart::Strain]),
        with(&[WrinkleStart::Stress]),
        with(&[WrinkleStart::Strain, WrinkleStart::Stress]),
    ];
    let mut system = WrinkleSystem::new(&problem)?;
    println!(
        "{name}: {} vertices, {} unknowns ({} amplitudes), b1 {}; matrix and factor {:.2} MB, {} entries in the factor",
        bed.problem.mesh().vertex_count(),
        system.unknown_count(),
        system.amplitude_count(),
        problem.complex().betti(),
        system.bytes() as f64 / 1e6,
        system.factor_len()
    );

    let mut fields: [Option<WrinkleField>; 3] = Default::default();
    let mut solve: [Times; 3] = Default::default();
    let mut begin: [Times; 2] = Default::default();
    let (mut setup, mut unit, mut parts) = (Times::default(), Times::default(), Parts::default());
    for round in 0..=rounds {
        if round == 1 {
            // The first one has paid for memory.
            solve = Default::default();
            begin = Default::default();
            (setup, unit, parts) = Default::default();
        }
        for ((times, settings), field) in solve.iter_mut().zip(&settings).zip(&mut fields) {
            *field = Some(times.time(|| solve_wrinkles(&problem, settings))?);
        }
        setup.time(|| WrinkleSystem::new(&problem).map(|_| ()))?;
        for (times, start) in begin.iter_mut().zip([WrinkleStart::Strain, WrinkleStart::Stress]) {
            times.time(|| system.start(start))?;
        }
        if let Some(field) = &fields[2] {
            parts.measure(&mut system, field, &mut unit)?;
        }
    }

    for ((label, start), (times, field)) in
        [("from Strain", 0..1), ("from Stress", 1..2), ("from both", 0..2)]
            .into_iter()
            .zip(solve.iter().zip(&fields))
    {
        let Some(field) = field else { continue };
        let report = &field.report;
        let steps: usize = report.runs.iter().map(|run| run.iterations.len()).sum();
        // Analysis and starts are not steps.
        let before = setup.mean() + begin[start].iter().map(Times::mean).sum::<f64>();
        let step = (times.mean() - before) / steps.max(1) as f64;
        println!(
            "  {label:<12} {:>8.1} ms [{:.1}], {steps:>3} steps of {:.2} ms = {:.2} units; {}, energy {:.9} J, smooth {:.9} J",
            times.mean(),
            times.least(),
            step,
            step / unit.mean(),
            if report.converged() { "converged" } else { "NOT converged" },
            report.terms.total(),
            report.smooth_energy,
        );
    }
    println!(
        "  unit         {:>8.3} ms [{:.3}]; analysis of the matrix {:.2} ms",
        unit.mean(),
        unit.least(),
        setup.mean()
    );
    if let Some(field) = &fields[2] {
        parts.print(&field.report, &unit);
    }
    println!();
    Ok(())
}

/// The work of a step, piece by piece.
#[derive(Clone, Debug, Default)]
struct Parts {
    energy: Times,
    gradient: Times,
    exact: Times,
    projected: Times,
    load: Times,
    factor: Times,
    solve: Times,
}

impl Parts {
    fn measure(
        &mut self,
        system: &mut WrinkleSystem<'_>,
        field: &WrinkleField,
        unit: &mut Times,
    ) -> Result<()> {
        let (a, omega) = (&field.amplitude, &field.omega);
        let n = system.unknown_count();
        let scale = a.as_slice().iter().fold(0.0f64, |m, a| m.max(*a)).max(f64::MIN_POSITIVE);
        let (mut b, mut held) = (vec![0.0; n], vec![false; n]);
        self.energy.time(|| system.energy(a, omega));
        self.gradient.time(|| system.gradient(a, omega, &mut b));
        self.exact.time(|| system.assemble(a, omega, FaceHessian::Exact));
        self.projected.time(|| system.assemble(a, omega, FaceHessian::Scaled(Psd::Abs, scale)));
        // Several: this is what everything is measured in.
        for _ in 0..5 {
            system.load(1.0, 1e-10, 1e-10, &held);
            let mut x = b.clone();
            let done = unit.time(|| {
                let done = system.factorise();
                system.solve(&mut x);
                done
            });
            ensure!(done, "the projected matrix is not positive definite");
        }
        for (k, vertex) in system.free_vertices().to_vec().into_iter().enumerate() {
            held[k] = a[vertex] <= 0.0;
        }
        self.load.time(|| system.load(1.0, 1e-10, 1e-10, &held));
        ensure!(
            self.factor.time(|| system.factorise()),
            "the matrix with held unknowns is not positive definite"
        );
        self.solve.time(|| system.solve(&mut b));
        Ok(())
    }

    fn print(&self, report: &WrinkleReport, unit: &Times) {
        println!(
            "  pieces, ms   energy {:.3}, gradient {:.3}, Hessian exact {:.3}, projected {:.3}, load {:.3}, factor {:.3}, solve {:.3}",
            self.energy.mean(),
            self.gradient.mean(),
            self.exact.mean(),
            self.projected.mean(),
            self.load.mean(),
            self.factor.mean(),
            self.solve.mean()
        );
        type Kind = fn(f64) -> bool;
        let kinds: [(&str, Kind); 3] = [
            ("whole projection", |part| part >= 1.0),
            ("part of it", |part| part > 0.0 && part < 1.0),
            ("exact", |part| part <= 0.0),
        ];
        for (name, is) in kinds {
            let steps: Vec<_> =
                report.runs.iter().flat_map(|run| &run.iterations).filter(|step| is(step.part)).collect();
            if steps.is_empty() {
                continue;
            }
            let count = steps.len() as f64;
            let factors = steps.iter().map(|s| s.factorisations).sum::<usize>() as f64 / count;
            let energies = steps.iter().map(|s| s.evaluations).sum::<usize>() as f64 / count;
            let hessian = if name == "exact" { &self.exact } else { &self.projected };
            let ms = |of: fn(&Times) -> f64| {
                of(&self.gradient)
                    + of(hessian)
                    + factors * (of(&self.load) + of(&self.factor) + of(&self.solve))
                    + energies * of(&self.energy)
            };
            println!(
                "  {name:<17}{:>3} steps, {factors:.2} factorisations, {energies:.2} energies: pieces add to {:.2} ms = {:.2} [{:.2}] units",
                steps.len(),
                ms(Times::mean),
                ms(Times::mean) / unit.mean(),
                ms(Times::least) / unit.least()
            );
        }
    }
}

/// The largest memory this process has had, in bytes, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| 1024 * kb)
}
