//! SO18, figure 2: a mass on a spring, thrown sideways. Strain-rate damping ends in a circle,
//! Rayleigh's at rest.

use anyhow::Result;
use glam::DVec3;
use plisse::bending::RodStretch;
use plisse::core::{Field, Id, Positive, Psd, Vertices};
use plisse::damping::{
    Dissipation, EdgeStretch, PositionJacobian, RayleighElement, RayleighStiffness, Viscosity,
};
use plisse::system::{
    Criterion, ElementTerm, HessianPolicy, Implicit, Integrator, LinearSolver, NewtonSettings, Scheme, State,
    SymplecticEuler, System,
};

use super::{Findings, Tolerance};

const LENGTH: Positive = Positive::literal(2.0);
const STIFFNESS: Positive = Positive::literal(100.0);

/// How the spring is damped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    Rayleigh,
    /// Strain rate from increments of strain.
    StrainRate,
    /// Strain rate from velocities, as in the paper.
    StrainRateOfVelocities,
}

/// How time advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    SymplecticEuler,
    BackwardEuler,
    /// With one linear solve per step, as in BW98.
    BackwardEulerOnce,
    Bdf2,
    Newmark,
}

/// Kinetic energies in J at `times`, which are multiples of the step.
pub(crate) fn kinetic(model: Model, beta: f64, method: Method, step: f64, times: &[f64]) -> Result<Vec<f64>> {
    let nodes: [Id<Vertices>; 2] = [Id::new(0), Id::new(1)];
    let spring = RodStretch::new(nodes, LENGTH, STIFFNESS);
    let beta = Positive::new(beta)?;
    let mass: Field<Vertices, f64> = Field::filled(2, 1.0);
    let mut builder =
        System::builder(mass).pins([nodes[0]]).term(ElementTerm::<_, 2>::new("spring", vec![spring]));
    // Forces that no potential has must not be judged by one.
    let mut potential = true;
    builder = match model {
        Model::Rayleigh => {
            potential = false;
            let element = RayleighElement::new(spring, beta).with_stiffness(RayleighStiffness::AtEnd);
            builder.term(ElementTerm::<_, 2>::new("damping", vec![element]))
        }
        Model::StrainRate | Model::StrainRateOfVelocities => {
            let viscosity = Viscosity::of_elasticity(beta, &[[STIFFNESS.get()]])?;
            let element = Dissipation::<_, _, 2, 1>::new(nodes, EdgeStretch::new(LENGTH), viscosity, LENGTH);
            if model == Model::StrainRateOfVelocities {
                potential = false;
                let element = element.in_velocity_form(PositionJacobian::Full);
                builder.term(ElementTerm::<_, 2>::new("damping", vec![element]))
            } else {
                builder.term(ElementTerm::<_, 2>::new("damping", vec![element]))
            }
        }
    };
    let system = builder.build()?;
    let settings = NewtonSettings {
        criterion: Criterion::ForcePerMass(Positive::literal(1e-9)),
        solver: LinearSolver::Cholesky,
        line_search: potential,
        hessian: if potential { HessianPolicy::OnDemand } else { HessianPolicy::Always(Psd::Exact) },
        ..NewtonSettings::default()
    };
    let implicit = |scheme| -> Result<Box<dyn Integrator<Vertices>>> {
        Ok(Box::new(Implicit::new(&system, scheme, settings)?))
    };
    let mut integrator: Box<dyn Integrator<Vertices>> = match method {
        Method::SymplecticEuler => Box::new(SymplecticEuler::new(&system)?),
        Method::BackwardEuler => implicit(Scheme::BackwardEuler)?,
        Method::BackwardEulerOnce => Box::new(Implicit::one_iteration(&system, Psd::Clamp, settings)?),
        Method::Bdf2 => implicit(Scheme::Bdf2)?,
        Method::Newmark => implicit(Scheme::NEWMARK)?,
    };
    let x = Field::from_vec(vec![DVec3::ZERO, DVec3::new(2.0, 0.0, 0.0)]);
    let v = Field::from_vec(vec![DVec3::ZERO, DVec3::new(0.0, 20.0, 0.0)]);
    let mut state = State::new(x, v)?;
    let (dt, mut done, mut energies) = (Positive::new(step)?, 0, Vec::new());
    for time in times {
        let until = (time / step).round() as usize;
        while done < until {
            integrator.step(&system, &mut state, dt)?;
            done += 1;
        }
        energies.push(0.5 * state.v()[nodes[1]].length_squared());
    }
    Ok(energies)
}

/// Kinetic energy of the circle that has the angular momentum of the start, J.
const CIRCLE: f64 = 83.929;
const TIMES: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0];

pub(crate) fn run() -> Result<Findings> {
    let mut findings = Findings::new("spring");
    println!(
        "spring (SO18, figure 2): kinetic energy in J of 1 kg on a spring of 2 m and 100 N, thrown with 20 m/s;"
    );
    println!("strain-rate damping keeps the angular momentum and ends in a circle with {CIRCLE} J\n");
    print!("{:<8}{:<26}{:<20}{:>8}", "beta", "damping", "scheme", "step");
    TIMES.iter().for_each(|t| print!("{t:>9}"));
    println!();
    for beta in [0.01, 0.05, 0.1, 0.2] {
        for (model, method, step) in [
            (Model::StrainRate, Method::Newmark, 5e-4),
            (Model::StrainRate, Method::Newmark, 0.01),
            (Model::StrainRateOfVelocities, Method::Newmark, 0.01),
            (Model::StrainRate, Method::Bdf2, 0.01),
            (Model::StrainRate, Method::BackwardEuler, 0.01),
            (Model::StrainRate, Method::BackwardEulerOnce, 0.01),
            (Model::StrainRate, Method::SymplecticEuler, 0.01),
            (Model::StrainRateOfVelocities, Method::Newmark, 0.1),
            (Model::Rayleigh, Method::Newmark, 5e-4),
            (Model::Rayleigh, Method::Newmark, 0.01),
            (Model::Rayleigh, Method::SymplecticEuler, 0.01),
        ] {
            // 0.25 s is no multiple of 0.1 s.
            let times: Vec<f64> = TIMES.into_iter().filter(|t| step < 0.1 || *t >= 0.5).collect();
            print!("{beta:<8}{:<26}{:<20}{step:>8}", format!("{model:?}"), format!("{method:?}"));
            print!("{}", " ".repeat(9 * (TIMES.len() - times.len())));
            let energies = kinetic(model, beta, method, step, &times)?;
            for (time, e) in times.iter().zip(&energies) {
                print!("{e:>9.3}");
                // Ten seconds of a motion without branches: rounding does not show.
                findings.figure(
                    format!("beta {beta}, {model:?}, {method:?}, step {step} s: energy at {time} s (J)"),
                    *e,
                    Tolerance::Either(1e-3, 1e-3),
                );
            }
            judge(&mut findings, (model, method, step, beta), &energies);
            println!();
        }
    }
    Ok(findings)
}

/// The paper: with strain-rate damping the mass ends in its circle, with Rayleigh's it comes to
/// rest.
fn judge(findings: &mut Findings, (model, method, step, beta): (Model, Method, f64, f64), energies: &[f64]) {
    let Some(&last) = energies.last() else { return };
    // Short steps of a scheme that does not lose energy by itself; the weakest damping takes longer
    // than the run.
    if method != Method::Newmark || step > 1e-3 || beta < 0.05 {
        return;
    }
    match model {
        Model::Rayleigh => {
            let name = format!("beta {beta}: Rayleigh damping leaves less than 2 % of 200 J");
            findings.require(name, last < 4.0);
        }
        _ => {
            let name = format!("beta {beta}: strain-rate damping ends in the circle of {CIRCLE} J");
            findings.require(name, (last - CIRCLE).abs() < 0.05);
        }
    }
}
