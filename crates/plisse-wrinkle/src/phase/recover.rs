//! The phase that fits given frequencies best, with whole numbers of waves around every hole.

use std::f64::consts::TAU;

use plisse_core::{Edges, Faces, Field, Id, TriMesh, TriangleMap, Vertices};

use super::field::{CornerPhase, LARGEST_PHASE, PhaseField};
use super::reduced::Reduced;
use crate::complex::{KeptComplex, Nodes};
use crate::error::{WrinkleError, fits};
use crate::lattice::{ClosestIntegers, DEFAULT_NODE_LIMIT};

/// Amplitudes up to here (m) are accepted: their squares are weights.
const LARGEST_AMPLITUDE: f64 = 1e70;

/// What a phase is recovered from.
#[derive(Clone, Copy, Debug)]
pub struct PhaseProblem<'a> {
    /// The base mesh.
    pub mesh: &'a TriMesh,
    /// Its rest shape; only the areas matter here.
    pub rest: &'a Field<Faces, TriangleMap>,
    /// Amplitudes in m.
    pub amplitude: &'a Field<Vertices, f64>,
    /// Differences of phase along edges, from the smaller to the larger vertex, in radians; without
    /// curl on the faces that have a phase, or nearly so. Elsewhere they do not matter.
    pub omega: &'a Field<Edges, f64>,
    /// Wrinkle-free faces; they have no phase.
    pub free: &'a Field<Faces, bool>,
}

/// Which faces get a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhaseFaces {
    /// Faces that are not wrinkle-free and have a positive amplitude at some corner: what is seen
    /// (Chen21's program does the same).
    #[default]
    Visible,
    /// All faces that are not wrinkle-free: those on which the frequencies were solved for.
    /// [`Phase::waves`] then belong to the same generators as the periods of the solver.
    Wrinkling,
}

/// How a phase is recovered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseOptions {
    /// Nodes of the search for integers; see [`closest_integers`](crate::closest_integers).
    pub node_limit: usize,
    /// `η` of [`recover_phase_following`](crate::recover_phase_following): how much better than the
    /// old numbers of waves new ones must be. With a single loop, the number changes when the real
    /// one is more than `(1 + η)/2` away. Zero: not at all. At least 0, default 0.2.
    pub hysteresis: f64,
    /// Which faces get a phase.
    pub faces: PhaseFaces,
}

impl Default for PhaseOptions {
    fn default() -> Self {
        Self { node_limit: DEFAULT_NODE_LIMIT, hysteresis: 0.2, faces: PhaseFaces::default() }
    }
}

impl PhaseOptions {
    pub(crate) fn check(&self) -> Result<(), WrinkleError> {
        if self.hysteresis >= 0.0 && self.hysteresis.is_finite() {
            return Ok(());
        }
        let reason = format!("the hysteresis is {}; give a number from 0 on, such as 0.2", self.hysteresis);
        Err(WrinkleError::Lattice { reason })
    }
}

/// A phase with whole numbers of waves, and how well it fits.
#[derive(Clone, Debug)]
pub struct Phase {
    /// The phase on the faces that have one.
    pub field: PhaseField,
    /// `ω_k = B φ + 2π Γ k`: the differences of this phase along edges, from the smaller to the
    /// larger vertex, in radians. Its periods are whole turns. Zero on edges of no face with a
    /// phase.
    pub omega: Field<Edges, f64>,
    /// `k`: turns around the primal loop of each generator of [`Self::complex`].
    pub waves: Vec<i64>,
    /// `k*`: what they would be without rounding.
    pub real_waves: Vec<f64>,
    /// `Σ D (ω_k - ω)²` in rad² m².
    pub cost: f64,
    /// The largest `|ω_k - ω|` in radians.
    pub deviation: f64,
    /// Nodes of the search for integers.
    pub nodes: usize,
    /// Whether the integers are known to be the best; see [`ClosestIntegers::proven`].
    pub proven: bool,
    /// Per component of [`Self::complex`], whether `ω` was taken with the opposite sign, to
    /// continue an earlier phase. The wrinkles are the same: the cosine is even.
    pub flipped: Vec<bool>,
    /// The faces that have a phase, cut open.
    pub complex: KeptComplex,
}

impl Phase {
    /// The periods `c = 2π k` in radians. With [`PhaseFaces::Wrinkling`] they are those of the
    /// solver's generators: amplitudes and phase can be optimised once more with `ω = B φ + Γ c`
    /// and these `c` held fixed, and recovering the phase of the result rounds nothing.
    #[must_use]
    pub fn periods(&self) -> Vec<f64> {
        self.waves.iter().map(|k| TAU * *k as f64).collect()
    }

    /// The largest `|k - k*|`: how far the numbers of waves had to be rounded. Zero without loops.
    #[must_use]
    pub fn rounding(&self) -> f64 {
        self.waves.iter().zip(&self.real_waves).fold(0.0, |m: f64, (k, real)| m.max((*k as f64 - real).abs()))
    }
}

/// The phase whose differences along edges fit `ω` best, with whole numbers of turns around every
/// loop.
///
/// Minimises `Σ D_e (B φ + 2π Γ k - ω)_e²` over real `φ` per node and integers `k` per generator
/// (Chen21, section E.4), where `D_e` is the sum of the rest areas of the one or two faces of the
/// edge that have a phase ([`PhaseFaces`] says which do). The integers are the exact optimum, see
/// [`closest_integers`](crate::closest_integers).
///
/// `φ` is zero at the smallest node of each component: nothing in the problem knows where the first
/// crest should be.
///
/// # Errors
/// [`WrinkleError::Length`] for values of another mesh, [`WrinkleError::Phase`] for a value that is
/// not finite or absurdly large, [`WrinkleError::Lattice`] if the least-squares problem has no
/// solution in working precision.
pub fn recover_phase(problem: &PhaseProblem<'_>, options: &PhaseOptions) -> Result<Phase, WrinkleError> {
    let setup = Setup::new(problem, options)?;
    let flipped = vec![false; setup.complex.component_count()];
    let reduced = setup.reduced(problem, &flipped)?;
    let integers = reduced.closest(options.node_limit)?;
    let phi = reduced.phase(&integers.integers);
    Ok(setup.finish(problem.mesh, &reduced, integers, phi, flipped))
}

/// The complex and the weights of its edges.
pub(super) struct Setup {
    pub(super) complex: KeptComplex,
    pub(super) weights: Vec<f64>,
}

impl Setup {
    pub(super) fn new(problem: &PhaseProblem<'_>, options: &PhaseOptions) -> Result<Self, WrinkleError> {
        let mesh = problem.mesh;
        fits("rest shapes", problem.rest, mesh.face_count())?;
        fits("amplitudes", problem.amplitude, mesh.vertex_count())?;
        fits("omega", problem.omega, mesh.edge_count())?;
        fits("wrinkle-free faces", problem.free, mesh.face_count())?;
        if let Some((vertex, a)) =
            problem.amplitude.iter().find(|(_, a)| a.is_nan() || a.abs() > LARGEST_AMPLITUDE)
        {
            return Err(refused(&vertex, "amplitude in m", *a, LARGEST_AMPLITUDE));
        }
        options.check()?;
        let kept = Field::from_fn(mesh.face_count(), |face| {
            let visible = mesh.faces()[face].iter().any(|v| problem.amplitude[*v] > 0.0);
            !problem.free[face] && (visible || options.faces == PhaseFaces::Wrinkling)
        });
        let complex = KeptComplex::new(mesh, &kept)?;
        let mut weights = Vec::with_capacity(complex.edges().len());
        for edge in complex.edges() {
            let omega = problem.omega[edge.edge];
            if omega.is_nan() || omega.abs() > LARGEST_PHASE {
                return Err(refused(&edge.edge, "difference of phase in radians", omega, LARGEST_PHASE));
            }
            let (left, right) = mesh.edges()[edge.edge].faces;
            let faces = [Some(left), right].into_iter().flatten().filter(|face| kept[*face]);
            weights.push(faces.map(|face| problem.rest[face].area()).sum());
        }
        Ok(Self { complex, weights })
    }

    /// With `ω` turned around on the components in question.
    pub(super) fn reduced(
        &self,
        problem: &PhaseProblem<'_>,
        flipped: &[bool],
    ) -> Result<Reduced, WrinkleError> {
        let of_edge = self.complex.edges().iter().map(|edge| {
            let component = self.complex.node_components()[edge.nodes[0]];
            let omega = problem.omega[edge.edge];
            if flipped[component as usize] { -omega } else { omega }
        });
        Reduced::new(&self.complex, self.weights.clone(), of_edge.collect())
    }

    pub(super) fn finish(
        self,
        mesh: &TriMesh,
        reduced: &Reduced,
        integers: ClosestIntegers,
        phi: Field<Nodes, f64>,
        flipped: Vec<bool>,
    ) -> Phase {
        let complex = self.complex;
        let waves = integers.integers;
        let corners = Field::from_fn(mesh.face_count(), |face| corner_phases(&complex, face, &waves));
        let field = PhaseField::from_parts(phi, corners);
        let omega = field.differential(mesh);
        let (cost, deviation) = reduced.misfit(&complex, &omega);
        Phase {
            field,
            omega,
            waves,
            real_waves: reduced.real.clone(),
            cost,
            deviation,
            nodes: integers.nodes,
            proven: integers.proven,
            flipped,
            complex,
        }
    }
}

/// Turns at the corners of a face: none at the first, and at the others those of the edges that
/// lead there.
fn corner_phases(complex: &KeptComplex, face: Id<Faces>, waves: &[i64]) -> Option<[CornerPhase; 3]> {
    let nodes = complex.face_nodes(face)?;
    let steps = complex.face_steps(face);
    let along = |i: usize| -> i64 {
        let crossings = complex.crossings(steps[i].edge).iter();
        crossings.map(|c| (c.sign * steps[i].sign) as i64 * waves[c.generator]).sum()
    };
    // Edge 2 leads from corner 0 to corner 1, edge 1 from corner 2 to corner 0.
    let turns = [0, along(2), -along(1)];
    Some(std::array::from_fn(|i| CornerPhase { node: nodes[i], turns: turns[i] }))
}

fn refused(place: &dyn std::fmt::Display, what: &str, value: f64, most: f64) -> WrinkleError {
    let reason = format!("the {what} is {value:e}; numbers up to {most:e} are accepted, check the unit");
    WrinkleError::Phase { place: place.to_string(), reason }
}
