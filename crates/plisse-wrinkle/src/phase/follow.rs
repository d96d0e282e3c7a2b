//! A phase that continues the one of the frame before.

use std::f64::consts::TAU;

use plisse_core::{Edges, Field, Id};

use super::recover::{Phase, PhaseOptions, PhaseProblem, Setup};
use crate::complex::{KeptComplex, Nodes};
use crate::error::{WrinkleError, fits};
use crate::lattice::ClosestIntegers;

/// Like [`recover_phase`](crate::recover_phase), continuing the phase of an earlier frame on a mesh
/// with the same faces.
///
/// Three things are free in a phase, and each frame for itself would choose them anew (Chen21,
/// section 7, calls the result popping). Per component of the faces with a phase:
///
/// - *Sign.* `a cos φ` is even, so `ω` and `-ω` are the same wrinkles, but a mixture of both over
///   time is not. `ω` is turned around where `Σ D a² ω ω_before < 0`.
/// - *Numbers of waves.* Rounding flickers where the real number is close to a half. The numbers of
///   before stay unless others are better by more than `η ‖j - k‖²`, in the norm of the cost
///   ([`PhaseOptions::hysteresis`]). They are read off from `ω_before` around the loops of now,
///   which may differ because other faces have a phase; edges that had none count with their `ω` of
///   now, and loops all of whose edges are new start from the optimum.
/// - *Shift.* The constant that minimises `Σ a² A |exp iφ - exp iφ_before|²` over the corners of
///   faces that had a phase before: the mean of the differences, as angles. Whole turns are then
///   added so that values, not only their cosines, continue.
///
/// Components that did not exist before are as in [`recover_phase`](crate::recover_phase).
///
/// Where a number of waves changes, waves jump somewhere by half a turn. To keep the numbers, the
/// frequencies must be solved for with them: see [`WrinkleSequence`](crate::WrinkleSequence).
///
/// # Errors
/// As [`recover_phase`](crate::recover_phase), and [`WrinkleError::Length`] if `previous` belongs
/// to another mesh.
pub fn recover_phase_following(
    previous: &Phase,
    problem: &PhaseProblem<'_>,
    options: &PhaseOptions,
) -> Result<Phase, WrinkleError> {
    follow(previous, problem, options, Integers::Hysteresis)
}

/// The same with the numbers of waves of before, whatever that costs; loops all of whose edges are
/// new have the best ones.
pub(crate) fn recover_phase_keeping(
    previous: &Phase,
    problem: &PhaseProblem<'_>,
    options: &PhaseOptions,
) -> Result<Phase, WrinkleError> {
    follow(previous, problem, options, Integers::Kept)
}

/// Around each generator of the phase of now: how many turns the one before had there. `None` if no
/// edge of its loop had a phase.
///
/// The phase of now must follow that of before in its signs.
pub(crate) fn waves_before(previous: &Phase, now: &Phase) -> Vec<Option<i64>> {
    (0..now.complex.betti())
        .map(|k| turns_before(previous, &now.complex, k, |edge| now.omega[edge]))
        .collect()
}

/// `ω` of before where the edge had a phase, elsewhere that of now with the signs of before: what a
/// field that has moved little starts from.
pub(crate) fn omega_before(
    previous: &Phase,
    problem: &PhaseProblem<'_>,
    options: &PhaseOptions,
) -> Result<Field<Edges, f64>, WrinkleError> {
    let setup = Setup::new(problem, options)?;
    check(previous, problem)?;
    let flipped = opposite(previous, problem, &setup);
    let mut omega = problem.omega.clone();
    for edge in setup.complex.edges() {
        let now = turned(problem, &setup.complex, &flipped, edge.edge);
        omega[edge.edge] = if known(previous, edge.edge) { previous.omega[edge.edge] } else { now };
    }
    Ok(omega)
}

/// How the numbers of waves are chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Integers {
    Hysteresis,
    Kept,
}

fn follow(
    previous: &Phase,
    problem: &PhaseProblem<'_>,
    options: &PhaseOptions,
    integers: Integers,
) -> Result<Phase, WrinkleError> {
    let setup = Setup::new(problem, options)?;
    check(previous, problem)?;
    let flipped = opposite(previous, problem, &setup);
    let reduced = setup.reduced(problem, &flipped)?;
    let optimum = reduced.closest(options.node_limit)?;
    let now = |edge| turned(problem, &setup.complex, &flipped, edge);
    let first: Vec<i64> = (0..setup.complex.betti())
        .map(|k| turns_before(previous, &setup.complex, k, now).unwrap_or(optimum.integers[k]))
        .collect();
    let mut integers = match integers {
        Integers::Hysteresis => reduced.closest_from(&first, options.hysteresis, options.node_limit)?,
        Integers::Kept => {
            let proven = optimum.proven && first == optimum.integers;
            ClosestIntegers { cost: reduced.cost(&first), integers: first, nodes: 0, proven }
        }
    };
    integers.nodes += optimum.nodes;
    let phi = reduced.phase(&integers.integers);
    let mut phase = setup.finish(problem.mesh, &reduced, integers, phi, flipped);
    shift(previous, problem, &mut phase);
    Ok(phase)
}

/// That both frames are on one mesh.
fn check(previous: &Phase, problem: &PhaseProblem<'_>) -> Result<(), WrinkleError> {
    fits("the omega before", &previous.omega, problem.mesh.edge_count())?;
    fits("the phases before", previous.field.corners(), problem.mesh.face_count())
}

/// Whether the edge belonged to a face with a phase.
fn known(previous: &Phase, edge: Id<Edges>) -> bool {
    previous.complex.edge_place(edge).is_some()
}

/// The components on which `ω` points against that of before.
fn opposite(previous: &Phase, problem: &PhaseProblem<'_>, setup: &Setup) -> Vec<bool> {
    let mut agreement = vec![0.0; setup.complex.component_count()];
    for (edge, weight) in setup.complex.edges().iter().zip(&setup.weights) {
        if !known(previous, edge.edge) {
            continue;
        }
        let visible: f64 =
            problem.mesh.edges()[edge.edge].vertices.iter().map(|v| problem.amplitude[*v].powi(2)).sum();
        let component = setup.complex.node_components()[edge.nodes[0]] as usize;
        agreement[component] += weight * visible * problem.omega[edge.edge] * previous.omega[edge.edge];
    }
    agreement.into_iter().map(|sum| sum < 0.0).collect()
}

/// `ω` of now on an edge of the complex, with the sign of its component.
fn turned(problem: &PhaseProblem<'_>, complex: &KeptComplex, flipped: &[bool], edge: Id<Edges>) -> f64 {
    let component =
        complex.edge_place(edge).map(|at| complex.node_components()[complex.edges()[at].nodes[0]]);
    let turn = component.is_some_and(|component| flipped[component as usize]);
    if turn { -problem.omega[edge] } else { problem.omega[edge] }
}

/// Turns of the previous phase around the loop of a generator of now; `None` if no edge of it had a
/// phase then.
///
/// With new edges on the loop the sum is not whole, but off by what `ω` has changed there, which is
/// little.
fn turns_before(
    previous: &Phase,
    complex: &KeptComplex,
    k: usize,
    now: impl Fn(Id<Edges>) -> f64,
) -> Option<i64> {
    let (mut sum, mut any) = (0.0, false);
    for step in complex.primal_loop(k) {
        let old = known(previous, step.edge);
        sum += step.sign * if old { previous.omega[step.edge] } else { now(step.edge) };
        any |= old;
    }
    any.then(|| (sum / TAU).round() as i64)
}

/// Adds a constant to each component.
fn shift(previous: &Phase, problem: &PhaseProblem<'_>, phase: &mut Phase) {
    #[derive(Clone, Copy, Default)]
    struct Mean {
        sine: f64,
        cosine: f64,
        /// The corner that is seen best: its weight and its difference of phase.
        heaviest: (f64, f64),
    }
    let mut means = vec![Mean::default(); phase.complex.component_count()];
    let component = |complex: &KeptComplex, node: Id<Nodes>| complex.node_components()[node] as usize;
    for (face, corners) in problem.mesh.faces().iter() {
        let (before, now) = (previous.field.at(face), phase.field.at(face));
        let (Some(before), Some(now), Some(nodes)) = (before, now, phase.complex.face_nodes(face)) else {
            continue;
        };
        for i in 0..3 {
            let weight = problem.amplitude[corners[i]].powi(2) * problem.rest[face].area();
            let off = before[i] - now[i];
            let mean = &mut means[component(&phase.complex, nodes[i])];
            let (sine, cosine) = off.sin_cos();
            mean.sine += weight * sine;
            mean.cosine += weight * cosine;
            if weight > mean.heaviest.0 {
                mean.heaviest = (weight, off);
            }
        }
    }
    let shifts: Vec<f64> = means
        .iter()
        .map(|mean| {
            let angle = mean.sine.atan2(mean.cosine);
            let turns = ((mean.heaviest.1 - angle) / TAU).round();
            angle + TAU * turns
        })
        .collect();
    let complex = &phase.complex;
    for (node, value) in phase.field.values_mut().as_mut_slice().iter_mut().enumerate() {
        *value += shifts[component(complex, Id::new(node as u32))];
    }
}
