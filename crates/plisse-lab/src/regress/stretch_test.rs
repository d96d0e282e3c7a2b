//! Kim20, figure 5: a stretched sheet without gravity; how fast each Hessian finds the buckled
//! shape.
//!
//! The paper does not say how the sheet is held. Pulled evenly by two sides, this cloth has nothing
//! to buckle for: it has no Poisson effect. Here it is pulled by its corners.

use anyhow::Result;
use glam::{DVec2, DVec3};
use plisse::bending::{HingeElement, HingeWeight, QuadraticAngle};
use plisse::core::{Field, Id, Positive, Psd, RestShape, Vertices, generate};
use plisse::membrane::{BaraffWitkin, MembraneElement, MembraneEnergy};
use plisse::system::{
    Criterion, ElementTerm, HessianPolicy, Implicit, LinearSolver, NewtonSettings, Pose, Scheme, State,
    System,
};

use super::gauss_newton::{Filter, GaussNewtonCloth, Hinge};
use super::progress::Progress;
use super::{Findings, Tolerance};

const CELLS: usize = 60;
const STRETCH: f64 = 1.2;
const MODULI: [f64; 3] = [100.0; 3];

pub(crate) fn run() -> Result<Findings> {
    let mut findings = Findings::new("stretch-test");
    println!(
        "stretch test (Kim20, figure 5): {CELLS} x {CELLS} cells, k = 100 N/m, bending 1e-4, corners pulled to {STRETCH}, no gravity;"
    );
    println!(
        "energy above the lowest found, in J, after 1 to 4 Newton iterations, and iterations to 1e-2 m/s2\n"
    );
    let variants: [(&str, bool, HessianPolicy); 4] = [
        ("projection", false, HessianPolicy::Always(Psd::Clamp)),
        ("Abs", false, HessianPolicy::Always(Psd::Abs)),
        ("Gauss-Newton", true, HessianPolicy::Always(Psd::Clamp)),
        ("projection, then exact", false, HessianPolicy::ProjectedThenExact),
    ];
    let mut rows: Vec<Row> = Vec::new();
    let mut progress = Progress::new("stretch-test");
    for (name, gauss_newton, hessian) in variants {
        progress.at(|| name.to_owned());
        let (system, start) = sheet(gauss_newton)?;
        let energy = |state: &State<Vertices>| system.energy(&Pose::at(state.x()));
        let settings = NewtonSettings {
            criterion: Criterion::ForcePerMass(Positive::literal(1e-2)),
            hessian,
            solver: LinearSolver::Cholesky,
            max_iterations: 300,
            ..NewtonSettings::default()
        };
        let mut first = Vec::new();
        for iterations in 1..=4 {
            let mut state = start.clone();
            let fixed = NewtonSettings { fixed: true, max_iterations: iterations, ..settings };
            Implicit::new(&system, Scheme::Quasistatic, fixed)?.equilibrate(&system, &mut state)?;
            first.push(energy(&state));
        }
        let mut state = start.clone();
        let ended = Implicit::new(&system, Scheme::Quasistatic, settings)?.equilibrate(&system, &mut state);
        let ended = ended.ok().map(|report| {
            let height = state.x().as_slice().iter().map(|x| x.z.abs()).fold(0.0, f64::max);
            Ended { iterations: report.iterations(), height, energy: energy(&state) }
        });
        rows.push((name, first, ended));
    }
    let lowest = rows.iter().filter_map(|(_, _, ended)| ended.as_ref());
    let lowest = lowest.map(|ended| ended.energy).fold(f64::INFINITY, f64::min);
    findings.figure("lowest energy (J)", lowest, Tolerance::Relative(1e-4));
    println!("{:<24}{:>11}{:>11}{:>11}{:>11}{:>14}", "Hessian", "1", "2", "3", "4", "iterations");
    for (name, first, ended) in &rows {
        print!("{name:<24}");
        for (iteration, e) in (1..).zip(first) {
            print!("{:>11.2e}", e - lowest);
            // Smooth functions of the start up to here. Later a line search may have doubled a step
            // or not, which hangs on the last bits: of `Abs`, both happened.
            if iteration <= 2 {
                findings.figure(
                    format!("{name}: energy above the lowest after {iteration} iterations (J)"),
                    e - lowest,
                    Tolerance::Relative(0.05),
                );
            }
        }
        match ended {
            Some(Ended { iterations, height, .. }) => {
                println!("{iterations:>6}   wrinkles {:.1} mm", 1e3 * height);
                findings
                    .figure(format!("{name}: iterations"), *iterations as f64, Tolerance::Either(0.25, 4.0))
                    .figure(
                        format!("{name}: height of wrinkles (mm)"),
                        1e3 * height,
                        Tolerance::Relative(0.02),
                    );
            }
            None => {
                println!("{:>14}", ">300");
                findings.text(format!("{name}: iterations"), "more than 300");
            }
        }
    }
    let [projected, _, gauss_newton, _] = rows.as_slice() else { return Ok(findings) };
    let after_two = |row: &Row| (row.1[0] - lowest, row.1[1] - lowest);
    findings
        .require("projection converges", projected.2.is_some())
        .require(
            "projection gets 95 % of the energy in its second iteration",
            after_two(projected).1 < 0.05 * after_two(projected).0,
        )
        .require(
            "Gauss-Newton gets no tenth of it",
            after_two(gauss_newton).1 > 0.9 * after_two(gauss_newton).0,
        )
        .require("Gauss-Newton does not converge in 300 iterations", gauss_newton.2.is_none());
    Ok(findings)
}

/// A converged equilibrium.
struct Ended {
    iterations: usize,
    /// Of the highest vertex, m.
    height: f64,
    energy: f64,
}

/// Name, energies after one to four iterations, and how it ended; none if it did not.
type Row = (&'static str, Vec<f64>, Option<Ended>);

/// Four corners pulled apart sideways; the rest of the sheet starts flat at its rest size,
/// disturbed by a tenth of a millimetre.
fn sheet(gauss_newton: bool) -> Result<(System<Vertices>, State<Vertices>)> {
    let (mesh, uv) = generate::grid(CELLS, CELLS, [1.0, 1.0], generate::Diagonal::Alternating)?;
    let rest = RestShape::from_uv(&mesh, &uv)?;
    let mass: Field<Vertices, f64> = rest.vertex_areas(&mesh).map(|a| 0.1 * a);
    let [warp, weft, shear] = MODULI.map(Positive::new);
    let cloth = BaraffWitkin::from_moduli(warp?, weft?, shear?);
    let filter = if gauss_newton { Filter::GaussNewton } else { Filter::Unfiltered };
    // The paper's bending constant multiplies (θ - θ₀)², without one half.
    let rigidity = Positive::literal(2e-4);
    let element = |h| HingeElement::new(h, QuadraticAngle, rigidity, HingeWeight::DiscreteShells);
    // A tenth of each side, at the corners.
    let held = |u: &DVec2| (u.x <= 0.0 || u.x >= 1.0) && (u.y <= 0.1 || u.y >= 0.9);
    let corners: Vec<Id<Vertices>> = uv.iter().filter(|(_, u)| held(u)).map(|(node, _)| node).collect();
    let builder = System::builder(mass).pins(corners);
    let builder = if gauss_newton {
        let energy = || Box::new(GaussNewtonCloth { cloth, moduli: MODULI }) as Box<dyn MembraneEnergy>;
        let membrane =
            mesh.faces().iter().map(|(f, v)| MembraneElement::new(*v, *rest.map(f), energy())).collect();
        let bending = rest.hinges().iter().map(|h| Hinge { element: element(h), filter }).collect();
        builder
            .term(ElementTerm::<_, 3>::new("membrane", membrane))
            .term(ElementTerm::<_, 4>::new("bending", bending))
    } else {
        let membrane =
            mesh.faces().iter().map(|(f, v)| MembraneElement::new(*v, *rest.map(f), cloth)).collect();
        let bending = rest.hinges().iter().map(element).collect();
        builder
            .term(ElementTerm::<_, 3>::new("membrane", membrane))
            .term(ElementTerm::<_, 4>::new("bending", bending))
    };
    let x = uv.map(|u| {
        let bump = 1e-4 * (40.0 * u.y).sin() * (std::f64::consts::PI * u.x).sin();
        let x = if held(u) { 0.5 + STRETCH * (u.x - 0.5) } else { u.x };
        DVec3::new(x, u.y, bump)
    });
    Ok((builder.build()?, State::at_rest(x)?))
}
