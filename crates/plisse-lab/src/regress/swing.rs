//! SO18, figure 3: a sheet that hangs and a sheet that swings, without damping, with Rayleigh's and
//! with strain-rate damping.
//!
//! The paper gives no moduli, time step or poses. Ours: `fixtures/scenes/swinging-sheet.toml` and
//! `sagging-sheet.toml`, with 17 x 17 or 33 x 33 vertices.

use std::path::Path;

use anyhow::{Context, Result};
use glam::DVec3;
use plisse::bending::QuadraticBending;
use plisse::core::{Field, Id, PoissonRatio, Positive, Psd, RestShape, Vertices, generate};
use plisse::damping::{Dissipation, GreenStrain, OnTriangle, PositionJacobian, Viscosity};
use plisse::file::Loaded;
use plisse::membrane::{Lame, MembraneElement, StVenantKirchhoff};
use plisse::system::{
    ConstantTerm, Criterion, ElementTerm, Gravity, HessianPolicy, Implicit, Integrator, LinearSolver,
    NewtonSettings, Scheme, State, System,
};

use super::progress::Progress;
use super::{Findings, Tolerance};
use crate::repository_root;

/// What the sheet does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Let go vertical and unstretched.
    Hanging,
    /// Let go flat at 45 degrees.
    Swinging,
}

/// How it is damped; the factor is 0.15 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    None,
    Rayleigh,
    /// From increments of strain: a potential of the step.
    StrainRate,
    /// From velocities, as in the paper. No potential has this force, so scenes do not offer it.
    StrainRateOfVelocities,
}

/// How far the equations of a step are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Solve {
    Converged,
    /// One linear solve per step, as in BW98 and SO18.
    Once,
}

/// Kinetic energy after every step of one run, in J.
pub(crate) struct Run {
    pub(crate) step: f64,
    pub(crate) kinetic: Vec<f64>,
}

impl Run {
    /// Runs `cells` x `cells` cells for `duration` seconds.
    pub(crate) fn new(start: Start, model: Model, cells: usize, step: f64, duration: f64) -> Result<Self> {
        if model == Model::StrainRateOfVelocities {
            return Self::of_velocities(start, Solve::Converged, cells, step, duration);
        }
        let name = match start {
            Start::Hanging => "sagging-sheet.toml",
            Start::Swinging => "swinging-sheet.toml",
        };
        let path = repository_root().join("fixtures/scenes").join(name);
        let mut text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut replace = |from: &str, to: &str| {
            assert!(text.contains(from), "the scene has changed: no {from}");
            text = text.replace(from, to);
        };
        replace("cells = [16, 16]", &format!("cells = [{cells}, {cells}]"));
        replace("step = 0.005\nshortest_step = 0.005", &format!("step = {step}\nshortest_step = {step}"));
        match model {
            Model::None => replace(", damping = { strain_rate = 0.15 }", ""),
            Model::Rayleigh => replace("strain_rate = 0.15", "rayleigh = 0.15"),
            Model::StrainRate | Model::StrainRateOfVelocities => {}
        }
        let mut scene = Loaded::parse(&text, name, Path::new(""))?.scene;
        let steps = (duration / step).round() as usize;
        let kinetic = (0..steps).map(|_| Ok(scene.step()?.energies.kinetic)).collect::<Result<_>>()?;
        Ok(Self { step, kinetic })
    }

    /// The same sheet, term by term, with the strain rate of velocities.
    pub(crate) fn of_velocities(
        start: Start,
        solve: Solve,
        cells: usize,
        step: f64,
        duration: f64,
    ) -> Result<Self> {
        let (mesh, uv) = generate::grid(cells, cells, [1.0, 1.0], generate::Diagonal::Right)?;
        let rest = RestShape::from_uv(&mesh, &uv)?;
        let mass: Field<Vertices, f64> = rest.vertex_areas(&mesh).map(|a| 0.2 * a);
        let lame = Lame::from_tensile(Positive::literal(50.0), PoissonRatio::literal(0.3))?;
        let energy = StVenantKirchhoff::new(lame);
        let viscosity = Viscosity::isotropic(0.15 * lame.lambda(), 0.15 * lame.mu())?;
        let mut dampers = Vec::new();
        for (face, nodes) in mesh.faces().iter() {
            let (map, area) = (*rest.map(face), Positive::new(rest.map(face).area())?);
            let strain = OnTriangle::new(map, GreenStrain::default());
            let damper = Dissipation::<_, _, 3, 3>::new(*nodes, strain, viscosity, area);
            dampers.push(damper.in_velocity_form(PositionJacobian::Symmetric));
        }
        let membrane: Vec<_> =
            mesh.faces().iter().map(|(f, v)| MembraneElement::new(*v, *rest.map(f), energy)).collect();
        let bending = QuadraticBending::on_vertices(&mesh, &rest, Positive::literal(1e-4));
        let bending = ConstantTerm::from_rows("bending", bending.size(), |i| bending.row(i));
        let gravity = Gravity::new(DVec3::new(0.0, 0.0, -9.81), &mass)?;
        let top: Vec<Id<Vertices>> = uv.iter().filter(|(_, u)| u.y >= 1.0).map(|(i, _)| i).collect();
        let system = System::builder(mass)
            .term(ElementTerm::<_, 3>::new("membrane", membrane))
            .term(bending)
            .term(ElementTerm::<_, 3>::new("damping", dampers))
            .term(gravity)
            .pins(top)
            .build()?;
        let angle: f64 = if start == Start::Hanging { 90.0 } else { 45.0 };
        let (sin, cos) = angle.to_radians().sin_cos();
        let x = uv.map(|u| DVec3::new(u.x, cos * (u.y - 1.0), sin * (u.y - 1.0)));
        let mut state = State::at_rest(x)?;
        let settings = NewtonSettings {
            criterion: Criterion::ForcePerMass(Positive::literal(1e-3)),
            // Forces that no potential has must not be judged by one.
            line_search: false,
            hessian: HessianPolicy::Always(Psd::Clamp),
            solver: LinearSolver::Cholesky,
            ..NewtonSettings::default()
        };
        let mut integrator = match solve {
            Solve::Converged => Implicit::new(&system, Scheme::BackwardEuler, settings)?,
            Solve::Once => Implicit::one_iteration(&system, Psd::Clamp, settings)?,
        };
        let (dt, steps) = (Positive::new(step)?, (duration / step).round() as usize);
        let mut one = || Ok(integrator.step(&system, &mut state, dt)?.energies.kinetic);
        Ok(Self { step, kinetic: (0..steps).map(|_| one()).collect::<Result<_>>()? })
    }

    /// Kinetic energy at a time.
    pub(crate) fn at(&self, time: f64) -> f64 {
        let index = (time / self.step).round() as usize;
        index.checked_sub(1).and_then(|index| self.kinetic.get(index)).copied().unwrap_or(0.0)
    }

    /// Time and height of the highest kinetic energy within a range of times.
    #[cfg(test)]
    pub(crate) fn peak(&self, times: std::ops::Range<f64>) -> (f64, f64) {
        let all = self.kinetic.iter().enumerate().map(|(k, energy)| (self.step * (k + 1) as f64, *energy));
        all.filter(|(t, _)| times.contains(t)).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0.0, 0.0))
    }

    /// How long it ran, s.
    #[cfg(test)]
    pub(crate) fn duration(&self) -> f64 {
        self.step * self.kinetic.len() as f64
    }

    /// Its integral over time, J s.
    pub(crate) fn integral(&self) -> f64 {
        self.step * self.kinetic.iter().sum::<f64>()
    }
}

const TIMES: [f64; 8] = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0];

pub(crate) fn run() -> Result<Findings> {
    let mut findings = Findings::new("swing");
    println!("hanging and swinging sheet (SO18, figure 3): kinetic energy in J; damping factor 0.15 s\n");
    let mut progress = Progress::new("swing");
    for (cells, step, start, duration) in [
        (16, 0.005, Start::Hanging, 2.0),
        (16, 0.005, Start::Swinging, 2.0),
        (32, 0.01, Start::Hanging, 0.4),
        (32, 0.01, Start::Swinging, 1.0),
    ] {
        println!("{0} x {0} vertices, {start:?}, steps of {step} s", cells + 1);
        print!("{:<24}", "t");
        TIMES.iter().filter(|t| **t <= duration).for_each(|t| print!("{t:>9}"));
        println!("{:>11}", "integral");
        let mut integrals = Vec::new();
        for model in [Model::None, Model::Rayleigh, Model::StrainRate, Model::StrainRateOfVelocities] {
            let run = Run::new(start, model, cells, step, duration)?;
            print!("{:<24}", format!("{model:?}"));
            TIMES.iter().filter(|t| **t <= duration).for_each(|t| print!("{:>9.5}", run.at(*t)));
            println!("{:>11.6}", run.integral());
            integrals.push(run.integral());
            let row = format!("{start:?}, {} vertices, {model:?}", cells + 1);
            progress.at(|| row.clone());
            // Undamped ripples keep what rounding and the tolerance of the solver leave; damped
            // motion forgets it.
            let tolerance = if model == Model::None { 0.05 } else { 0.01 };
            for time in TIMES.iter().filter(|t| **t <= duration) {
                findings.figure(
                    format!("{row}: kinetic energy at {time} s (J)"),
                    run.at(*time),
                    Tolerance::Either(tolerance, 1e-4),
                );
            }
            findings.figure(
                format!("{row}: integral of kinetic energy (J s)"),
                run.integral(),
                Tolerance::Relative(tolerance),
            );
        }
        println!(
            "integrals, increments (velocities): strain rate / none {:.4} ({:.4}), Rayleigh / none {:.4}, strain rate / Rayleigh {:.4} ({:.4})\n",
            integrals[2] / integrals[0],
            integrals[3] / integrals[0],
            integrals[1] / integrals[0],
            integrals[2] / integrals[1],
            integrals[3] / integrals[1]
        );
        let place = format!("{start:?}, {} vertices", cells + 1);
        let (strain_rate, rayleigh) = (integrals[2] / integrals[0], integrals[1] / integrals[0]);
        match start {
            Start::Swinging => findings
                .require(format!("{place}: strain-rate damping keeps 95 % of the swing"), strain_rate > 0.95)
                .require(format!("{place}: Rayleigh damping takes half of it"), rayleigh < 0.5),
            Start::Hanging => findings.require(
                format!("{place}: both dampings do the same, within 3 %"),
                (integrals[2] / integrals[1] - 1.0).abs() < 0.03,
            ),
        };
    }
    println!(
        "13 x 13 vertices, Swinging, steps of 0.005 s, strain rate of velocities: one linear solve per step"
    );
    let run = |solve| Run::of_velocities(Start::Swinging, solve, 12, 0.005, 1.0);
    let (once, converged) = (run(Solve::Once)?, run(Solve::Converged)?);
    for time in TIMES.iter().filter(|t| **t <= 1.0) {
        let (once, converged) = (once.at(*time), converged.at(*time));
        let change = 100.0 * (once / converged - 1.0);
        let name = format!("one linear solve: change of the kinetic energy at {time} s (%)");
        findings.figure(name, change, Tolerance::Absolute(0.1));
        println!("{time:<24}{once:>9.5} instead of {converged:.5} ({change:+.3} %)");
    }
    Ok(findings)
}
