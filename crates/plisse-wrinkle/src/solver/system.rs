//! The reduced energy: unknowns without constraints but `a ≥ 0`, its gradient and its Newton
//! matrix.

use plisse_core::{Edges, Faces, Field, Id, IsotropicSheet, Vertices};

use super::factor::NewtonMatrix;
use super::problem::WrinkleProblem;
use super::projection::FaceHessian;
use crate::energy::Quadrature;
use crate::error::WrinkleError;
use crate::geometry::BaseFace;
use crate::start::WrinkleStart;

/// An unknown that is not there: a held amplitude, the phase at the root of a component.
const FIXED: u32 = u32::MAX;

/// Amplitudes in metres, and the phase along each edge in radians.
type AmplitudesAndForm = (Field<Vertices, f64>, Field<Edges, f64>);

/// A kept face, with everything that depends on the unknowns it sees.
struct FaceEntry {
    id: Id<Faces>,
    corners: [Id<Vertices>; 3],
    /// Edges 01 and 02 with their signs.
    edges: [(Id<Edges>, f64); 2],
    amplitudes: [u32; 3],
    /// Phases and periods, in `forms`.
    forms: std::ops::Range<u32>,
    /// Where its lower triangle goes, in `slots`: amplitudes first, then `forms`.
    slots: u32,
}

/// A phase or a period that a face sees.
#[derive(Clone, Copy)]
struct FormUnknown {
    unknown: u32,
    /// Derivatives of `ω01` and `ω02`.
    by: [f64; 2],
}

/// The wrinkle energy as a function of unknowns that only `a ≥ 0` restrains: free amplitudes,
/// phases, periods, in this order.
///
/// The pattern of the matrix and the place of every face in it are made once. Nothing is allocated
/// afterwards.
///
/// This is the machine inside of [`solve_wrinkles`](crate::solve_wrinkles), public for those who
/// measure or drive it themselves.
pub struct WrinkleSystem<'a> {
    problem: &'a WrinkleProblem,
    entries: Vec<FaceEntry>,
    forms: Vec<FormUnknown>,
    slots: Vec<u32>,
    matrix: NewtonMatrix,
    /// The vertex of each amplitude.
    free: Vec<Id<Vertices>>,
    /// Per node, its unknown.
    phase_unknown: Vec<u32>,
    first_period: usize,
    /// Energy of the faces without wrinkles, in J.
    constant: f64,
    /// Energy that no wrinkles relieve, in J.
    floor: f64,
    /// Energy that the best wrinkles relieve, in J.
    relievable: f64,
}

impl<'a> WrinkleSystem<'a> {
    /// Numbers the unknowns and analyses the matrix.
    ///
    /// # Errors
    /// [`WrinkleError::OutOfMemory`] if the factor does not fit in memory.
    pub fn new(problem: &'a WrinkleProblem) -> Result<Self, WrinkleError> {
        let (sheet, complex) = (problem.sheet(), problem.complex());
        let mut unknowns = 0u32;
        let mut next = || {
            unknowns += 1;
            unknowns - 1
        };
        let mut free = Vec::new();
        let amplitude_unknown = problem.held().map(|held| if *held { FIXED } else { next() });
        free.extend(problem.held().iter().filter(|(_, held)| !**held).map(|(vertex, _)| vertex));
        let roots = complex.roots();
        let phase_unknown: Vec<u32> = (complex.node_components().iter())
            .map(|(node, component)| if roots[*component as usize] == node { FIXED } else { next() })
            .collect();
        let first_period = unknowns as usize;
        let size = first_period + complex.betti();

        let mut entries = Vec::new();
        let mut forms: Vec<FormUnknown> = Vec::new();
        let (mut constant, mut floor, mut relievable) = (0.0, 0.0, 0.0);
        for (id, corners) in sheet.mesh().faces().iter() {
            let Some(nodes) = complex.face_nodes(id) else {
                constant += sheet.faces()[id].energy([0.0; 3], [0.0; 2], problem.quadrature());
                continue;
            };
            let lowest = relaxed(&sheet.faces()[id], sheet.sheet());
            floor += lowest;
            relievable +=
                (sheet.faces()[id].energy([0.0; 3], [0.0; 2], problem.quadrature()) - lowest).max(0.0);
            // The walk goes 1 → 2, 2 → 0, 0 → 1.
            let steps = complex.face_steps(id);
            let edges = [(steps[2].edge, steps[2].sign), (steps[1].edge, -steps[1].sign)];
            let start = forms.len();
            let of_corner = [[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]];
            for (node, by) in nodes.into_iter().zip(of_corner) {
                forms.push(FormUnknown { unknown: phase_unknown[node.index()], by });
            }
            for (k, (edge, sign)) in edges.into_iter().enumerate() {
                for crossing in complex.crossings(edge) {
                    let unknown = (first_period + crossing.generator) as u32;
                    let at = forms[start..].iter().position(|form| form.unknown == unknown);
                    let at = at.map_or_else(
                        || {
                            forms.push(FormUnknown { unknown, by: [0.0; 2] });
                            forms.len() - 1
                        },
                        |at| start + at,
                    );
                    forms[at].by[k] += sign * crossing.sign;
                }
            }
            entries.push(FaceEntry {
                id,
                corners: *corners,
                edges,
                amplitudes: corners.map(|v| amplitude_unknown[v]),
                forms: start as u32..forms.len() as u32,
                slots: 0,
            });
        }

        let locals = |entry: &FaceEntry, forms: &[FormUnknown]| -> Vec<u32> {
            let list = forms[entry.forms.start as usize..entry.forms.end as usize].iter();
            entry.amplitudes.into_iter().chain(list.map(|form| form.unknown)).collect()
        };
        let mut pairs = Vec::new();
        for entry in &entries {
            let locals = locals(entry, &forms);
            for (at, &i) in locals.iter().enumerate().filter(|(_, i)| **i != FIXED) {
                pairs.extend(locals[..at].iter().filter(|j| **j != FIXED).map(|&j| (i.min(j), i.max(j))));
            }
        }
        let matrix = NewtonMatrix::new(size, pairs)?;
        let mut slots = Vec::new();
        for entry in &mut entries {
            entry.slots = slots.len() as u32;
            let locals = locals(entry, &forms);
            for (at, &i) in locals.iter().enumerate() {
                for &j in &locals[..=at] {
                    let fixed = i == FIXED || j == FIXED;
                    slots.push(if fixed { matrix.nowhere() } else { matrix.place(i, j) });
                }
            }
        }
        Ok(Self {
            problem,
            entries,
            forms,
            slots,
            matrix,
            free,
            phase_unknown,
            first_period,
            constant,
            floor: constant + floor,
            relievable,
        })
    }

    /// Amplitudes and frequencies of a start. Overwrites the matrix.
    ///
    /// # Errors
    /// [`WrinkleError::Lattice`] if rest areas are so different that no start can be computed.
    pub fn start(&mut self, start: WrinkleStart) -> Result<AmplitudesAndForm, WrinkleError> {
        let point = crate::start::start(self, start)?;
        Ok((point.a, point.omega))
    }

    /// How many unknowns.
    #[must_use]
    pub fn unknown_count(&self) -> usize {
        self.matrix.size()
    }

    /// How many of them are amplitudes; they come first.
    #[must_use]
    pub fn amplitude_count(&self) -> usize {
        self.free.len()
    }

    /// The vertices of the amplitudes.
    #[must_use]
    pub fn free_vertices(&self) -> &[Id<Vertices>] {
        &self.free
    }

    /// How many numbers the Cholesky factor has.
    #[must_use]
    pub fn factor_len(&self) -> usize {
        self.matrix.factor_len()
    }

    /// Memory of the matrix and its factor in bytes: values, pattern, numbers and scratch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.matrix.bytes()
    }

    /// The problem.
    #[must_use]
    pub fn problem(&self) -> &'a WrinkleProblem {
        self.problem
    }

    /// The energy in J that is left when wrinkles relieve all compression at no cost: that of a
    /// tension field, and the bending of the base. What lies above it is what wrinkles are about.
    #[must_use]
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// What an energy has above the floor, in J: the measure for gains and residuals. At least a
    /// millionth of what could be relieved at all, where three-point quadrature or rounding come
    /// below the floor.
    pub(super) fn excess(&self, energy: f64) -> f64 {
        (energy - self.floor).max(1e-6 * self.relievable)
    }

    /// Energy in J of amplitudes in m and frequencies in rad per edge, faces without wrinkles
    /// included.
    ///
    /// # Panics
    /// If a field is too short for the mesh, here and below.
    #[must_use]
    pub fn energy(&self, a: &Field<Vertices, f64>, omega: &Field<Edges, f64>) -> f64 {
        let (faces, quadrature) = (self.problem.sheet().faces(), self.problem.quadrature());
        let mut sum = self.constant;
        for entry in &self.entries {
            let (a, omega) = entry.see(a, omega);
            sum += faces[entry.id].energy(a, omega, quadrature);
        }
        sum
    }

    /// Derivative of the energy by the unknowns, in J/m and J/rad.
    ///
    /// # Panics
    /// Also if `out` is not as long as there are unknowns.
    pub fn gradient(&self, a: &Field<Vertices, f64>, omega: &Field<Edges, f64>, out: &mut [f64]) {
        let (faces, quadrature) = (self.problem.sheet().faces(), self.problem.quadrature());
        out.fill(0.0);
        for entry in &self.entries {
            let (a, omega) = entry.see(a, omega);
            self.scatter(entry, faces[entry.id].gradient(a, omega, quadrature), out);
        }
    }

    /// Evaluates the exact Hessian, and what the policy adds to it; [`load`](Self::load) makes a
    /// matrix of them.
    pub fn assemble(&mut self, a: &Field<Vertices, f64>, omega: &Field<Edges, f64>, policy: FaceHessian) {
        let (faces, quadrature) = (self.problem.sheet().faces(), self.problem.quadrature());
        let [hessians, corrections] = self.matrix.clear();
        for entry in &self.entries {
            let (a, omega) = entry.see(a, omega);
            let hessian = faces[entry.id].hessian(a, omega, quadrature);
            scatter_matrix(entry, &self.forms, &self.slots, &hessian, hessians);
            if let Some(correction) = policy.correction(&hessian) {
                scatter_matrix(entry, &self.forms, &self.slots, &correction, corrections);
            }
        }
    }

    /// Makes the matrix: the exact Hessian, `part` (zero to one) of what the policy added to it,
    /// and on the diagonal `amplitudes` and `forms` times the mean of the positive diagonal entries
    /// of their kind. The rows of held unknowns are those of the identity; `held` is one flag per
    /// unknown.
    pub fn load(&mut self, part: f64, amplitudes: f64, forms: f64, held: &[bool]) {
        self.matrix.load(part);
        let (count, n) = (self.free.len(), self.matrix.size());
        for (range, factor) in [(0..count, amplitudes), (count..n, forms)] {
            let mean = range.clone().map(|i| self.matrix.diagonal(i).max(0.0)).sum::<f64>()
                / range.len().max(1) as f64;
            // A unit where everything is zero: such unknowns do not matter, but they must not stop
            // the factorisation.
            let shift = if mean > 0.0 { factor * mean } else { 1.0 };
            if shift > 0.0 {
                range.for_each(|i| self.matrix.add_to_diagonal(i, shift));
            }
        }
        if held.iter().any(|held| *held) {
            self.matrix.hold(held);
        }
    }

    /// Factorises the matrix; `false` if it is not positive definite.
    pub fn factorise(&mut self) -> bool {
        self.matrix.factorise()
    }

    /// Replaces `b` by the solution, with the last factor.
    ///
    /// # Panics
    /// If `b` is not as long as there are unknowns.
    pub fn solve(&mut self, b: &mut [f64]) {
        assert_eq!(b.len(), self.matrix.size(), "one number per unknown");
        self.matrix.solve(b);
    }

    /// The closed form nearest to a covector per face, in the sense of `Σ 2A |w - target|²` over
    /// the kept faces. Overwrites the matrix.
    ///
    /// # Errors
    /// [`WrinkleError::Lattice`] if areas are so different that rounding leaves no positive
    /// definite matrix.
    pub(crate) fn nearest_form(
        &mut self,
        target: &Field<Faces, glam::DVec2>,
    ) -> Result<(Vec<f64>, Vec<f64>), WrinkleError> {
        let faces = self.problem.sheet().faces();
        let [values, _] = self.matrix.clear();
        let mut rhs = vec![0.0; self.first_period + self.problem.complex().betti()];
        for entry in &self.entries {
            let face = &faces[entry.id];
            let g = [face.covector([1.0, 0.0]), face.covector([0.0, 1.0])];
            let (mut hessian, mut gradient) = ([[0.0; 5]; 5], [0.0; 5]);
            for i in 0..2 {
                gradient[3 + i] = 2.0 * face.area() * g[i].dot(target[entry.id]);
                for j in 0..2 {
                    hessian[3 + i][3 + j] = 2.0 * face.area() * g[i].dot(g[j]);
                }
            }
            scatter_matrix(entry, &self.forms, &self.slots, &hessian, values);
            scatter_vector(entry, &self.forms, gradient, &mut rhs);
        }
        let mut held = vec![false; rhs.len()];
        held[..self.free.len()].fill(true);
        // Positive definite but for rounding: every phase is on a kept face.
        let definite = [1e-14, 1e-11, 1e-8].into_iter().any(|shift| {
            self.load(0.0, 0.0, shift, &held);
            self.matrix.factorise()
        });
        if !definite {
            let reason = "rest areas of faces are too different for a start; repair the mesh".to_owned();
            return Err(WrinkleError::Lattice { reason });
        }
        self.matrix.solve(&mut rhs);
        let mut phi = vec![0.0; self.phase_unknown.len()];
        self.add_phases(&rhs, 1.0, &mut phi);
        Ok((phi, rhs[self.first_period..].to_vec()))
    }

    /// Adds a multiple of the phases in a vector of unknowns to phases per node.
    pub(super) fn add_phases(&self, step: &[f64], length: f64, phi: &mut [f64]) {
        for (phi, &unknown) in phi.iter_mut().zip(&self.phase_unknown) {
            if unknown != FIXED {
                *phi += length * step[unknown as usize];
            }
        }
    }

    /// Where the unknowns of the periods begin; they are the last ones.
    pub(super) fn first_period(&self) -> usize {
        self.first_period
    }

    /// The unknowns of the periods in a vector of unknowns.
    pub(super) fn periods<'b>(&self, step: &'b [f64]) -> &'b [f64] {
        &step[self.first_period..]
    }

    fn scatter(&self, entry: &FaceEntry, gradient: [f64; 5], out: &mut [f64]) {
        scatter_vector(entry, &self.forms, gradient, out);
    }

    #[cfg(test)]
    pub(super) fn matrix_entry(&self, i: usize, j: usize) -> f64 {
        self.matrix.entry(i as u32, j as u32)
    }
}

/// Energy of a face in J that can bear no compression (Chen21, section 4): the smaller strain is
/// the larger one's own contraction at most.
fn relaxed(face: &BaseFace, sheet: IsotropicSheet) -> f64 {
    let [along, across] = face.strains();
    let along = along.max(0.0);
    let across = across.max(-sheet.poisson() * along);
    let (sum, squares) = (along + across, along * along + across * across);
    let stretch = 0.5 * sheet.alpha() * sum * sum + sheet.beta() * squares;
    0.25 * face.area() * sheet.thickness() * stretch
        + face.terms([0.0; 3], [0.0; 2], Quadrature::Exact).base_bending
}

impl FaceEntry {
    #[inline]
    fn see(&self, a: &Field<Vertices, f64>, omega: &Field<Edges, f64>) -> ([f64; 3], [f64; 2]) {
        (self.corners.map(|v| a[v]), self.edges.map(|(edge, sign)| sign * omega[edge]))
    }
}

fn scatter_vector(entry: &FaceEntry, forms: &[FormUnknown], gradient: [f64; 5], out: &mut [f64]) {
    for (unknown, value) in entry.amplitudes.into_iter().zip(gradient) {
        if unknown != FIXED {
            out[unknown as usize] += value;
        }
    }
    for form in &forms[entry.forms.start as usize..entry.forms.end as usize] {
        if form.unknown != FIXED {
            out[form.unknown as usize] += form.by[0] * gradient[3] + form.by[1] * gradient[4];
        }
    }
}

/// Adds `Jᵀ H J`, `J` being the derivative of `(a0, a1, a2, ω01, ω02)` by the unknowns of the face.
#[inline]
fn scatter_matrix(
    entry: &FaceEntry,
    forms: &[FormUnknown],
    slots: &[u32],
    h: &[[f64; 5]; 5],
    values: &mut [f64],
) {
    let forms = &forms[entry.forms.start as usize..entry.forms.end as usize];
    let count = 3 + forms.len();
    let mut slots = slots[entry.slots as usize..][..count * (count + 1) / 2].iter();
    let mut add = |value: f64| {
        if let Some(slot) = slots.next() {
            values[*slot as usize] += value;
        }
    };
    for i in 0..3 {
        for j in 0..=i {
            add(h[i][j]);
        }
    }
    for (at, form) in forms.iter().enumerate() {
        let row: [f64; 5] = std::array::from_fn(|j| form.by[0] * h[3][j] + form.by[1] * h[4][j]);
        for j in 0..3 {
            add(row[j]);
        }
        for other in &forms[..=at] {
            add(row[3] * other.by[0] + row[4] * other.by[1]);
        }
    }
}
