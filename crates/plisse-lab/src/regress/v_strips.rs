//! WK23, section 5.2: V-shaped strips of growing bending stiffness, one linear solve per step of
//! 1/30 s, without contact.
//!
//! The paper gives no size, density or membrane stiffness; ours are below. Membranes are projected
//! in every row: the rows differ in the Hessian of the hinges alone.

use anyhow::Result;
use glam::DVec3;
use plisse::bending::{HingeElement, HingeWeight, QuadraticAngle};
use plisse::core::{Field, Id, Positive, Psd, RestShape, Vertices, generate};
use plisse::membrane::{Arap, MembraneElement};
use plisse::system::{
    ElementTerm, Gravity, Implicit, Integrator, LinearSolver, NewtonSettings, State, System,
};

use super::gauss_newton::{AlwaysProjected, Filter, Hinge};
use super::progress::Progress;
use super::{Findings, Tolerance};

const STEPS: usize = 300;
const ALONG: usize = 40;
const ACROSS: usize = 6;
/// Newton metres per radian² of the paper's μ: chosen so that μ = 1 hangs down and μ = 1e5 does not
/// bend.
const UNIT: f64 = 1e-3;
/// N/m. A stiff membrane would hide what the bending does.
const MEMBRANE: f64 = 30.0;
const SIZE: [f64; 2] = [1.0, 0.15];

pub(crate) fn run() -> Result<Findings> {
    let mut findings = Findings::new("v-strips");
    println!(
        "V strips (WK23 5.2): {STEPS} steps of 1/30 s, one linear solve each, {ALONG} x {ACROSS} cells of 1 m x 0.15 m,"
    );
    println!(
        "ARAP {MEMBRANE} N/m, 1 kg/m2, fold at rest at pi/4, mu in {UNIT} N m. ok: speed at the end; x: step at which it failed, and how\n"
    );
    println!(
        "{:<9}{:<13}{:>16}{:>16}{:>16}{:>16}{:>16}{:>16}",
        "solver", "bending", "mu = 1", "10", "1e2", "1e3", "1e4", "1e5"
    );
    let mut progress = Progress::new("v-strips");
    for (name, solver) in [("PCG", LinearSolver::BlockJacobi), ("Cholesky", LinearSolver::Ldlt)] {
        for filter in [Filter::Unfiltered, Filter::GaussNewton, Filter::Filtered] {
            print!("{name:<9}{:<13}", format!("{filter:?}"));
            let mut all_stable = true;
            for mu in [1.0, 10.0, 1e2, 1e3, 1e4, 1e5] {
                let outcome = strip(mu, filter, solver)?;
                print!("{:>16}", outcome.to_string());
                let row = format!("{name}, {filter:?}, mu {mu}");
                progress.at(|| row.clone());
                match outcome {
                    // Strips that swing are compared coarsely: one linear solve per step is no
                    // converged solution.
                    Outcome::Stable { speed } => {
                        findings.figure(
                            format!("{row}: speed at the end (m/s)"),
                            speed,
                            Tolerance::Either(0.2, 0.01),
                        );
                    }
                    // The step at which an indefinite matrix shows depends on rounding; that it
                    // does not.
                    Outcome::Failed { reason, .. } => {
                        all_stable = false;
                        findings.text(format!("{row}: fails"), reason);
                    }
                }
            }
            match filter {
                Filter::Filtered => {
                    findings.require(
                        format!("{name}: filtered strips of every stiffness are stable"),
                        all_stable,
                    );
                }
                Filter::Unfiltered => {
                    findings.require(format!("{name}: some strip fails with the exact Hessian"), !all_stable);
                }
                // The paper saw it explode on contact with a wall, which these strips do not have.
                Filter::GaussNewton => {}
            }
            println!();
        }
    }
    Ok(findings)
}

/// How a strip ended.
enum Outcome {
    Stable { speed: f64 },
    Failed { step: usize, reason: &'static str },
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stable { speed } => write!(f, "ok {speed:.3}"),
            Self::Failed { step, reason } => write!(f, "x {step} {reason}"),
        }
    }
}

fn strip(mu: f64, filter: Filter, solver: LinearSolver) -> Result<Outcome> {
    let (mesh, uv) = generate::grid(ALONG, ACROSS, SIZE, generate::Diagonal::Alternating)?;
    let rest = RestShape::from_uv(&mesh, &uv)?;
    let fold = 0.5 * SIZE[0];
    let angle = std::f64::consts::FRAC_PI_4;
    let (sin, cos) = angle.sin_cos();
    // The first arm points away from the wall, the second is turned by the angle of the fold.
    let x = uv.map(|u| {
        let beyond = (u.x - fold).max(0.0);
        DVec3::new(u.x.min(fold) + cos * beyond, u.y, sin * beyond)
    });
    let shape = RestShape::from_uv(&mesh, &uv)?.with_rest_angles(&x)?;
    let density = 1.0;
    let mass: Field<Vertices, f64> = rest.vertex_areas(&mesh).map(|a| density * a);
    let stiffness = Positive::new(UNIT * mu)?;
    let hinge =
        |h| Hinge { element: HingeElement::new(h, QuadraticAngle, stiffness, HingeWeight::Unit), filter };
    let energy = Arap::new(Positive::literal(MEMBRANE));
    let faces = mesh.faces().iter();
    let membrane =
        faces.map(|(face, v)| MembraneElement::new(*v, *rest.map(face), AlwaysProjected(energy))).collect();
    let wall = x.iter().filter(|(_, x)| x.x < 1.5 * SIZE[0] / ALONG as f64).map(|(node, _)| node);
    let wall: Vec<Id<Vertices>> = wall.collect();
    let system = System::builder(mass.clone())
        .term(ElementTerm::<_, 3>::new("membrane", membrane))
        .term(ElementTerm::<_, 4>::new("bending", shape.hinges().iter().map(hinge).collect()))
        .term(Gravity::new(DVec3::new(0.0, 0.0, -9.81), &mass)?)
        .pins(wall)
        .build()?;
    let settings = NewtonSettings {
        solver,
        linear_tolerance: Some(Positive::literal(1e-6)),
        ..NewtonSettings::default()
    };
    let mut integrator = Implicit::one_iteration(&system, Psd::Clamp, settings)?;
    let mut state = State::at_rest(x)?;
    for step in 0..STEPS {
        if let Err(error) = integrator.step(&system, &mut state, Positive::literal(1.0 / 30.0)) {
            let reason = if error.to_string().contains("negative") { "indefinite" } else { "no solution" };
            return Ok(Outcome::Failed { step, reason });
        }
        if state.x().as_slice().iter().any(|x| x.length() > 5.0) {
            return Ok(Outcome::Failed { step, reason: "explodes" });
        }
    }
    let speed = state.v().as_slice().iter().map(|v| v.length()).fold(0.0, f64::max);
    Ok(if speed > 5.0 {
        Outcome::Failed { step: STEPS, reason: "jitters" }
    } else {
        Outcome::Stable { speed }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The filtered hinge is stable with every stiffness and solver; the exact one is not.
    #[test]
    fn filtered_strips_are_stable() {
        for (mu, solver) in [
            (1.0, LinearSolver::Ldlt),
            (1e3, LinearSolver::BlockJacobi),
            (1e4, LinearSolver::Ldlt),
            (1e5, LinearSolver::Ldlt),
        ] {
            let outcome = strip(mu, Filter::Filtered, solver).unwrap();
            assert!(matches!(outcome, Outcome::Stable { .. }), "{mu} {solver:?}: {outcome}");
        }
        let outcome = strip(1e4, Filter::Unfiltered, LinearSolver::Ldlt).unwrap();
        assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome}");
    }
}
