//! Which of several fields a component takes.

use plisse_core::{Edges, Faces, Field, Vertices};

use crate::solver::{WrinkleField, WrinkleProblem};

/// The least part of [`Energies::scale`] that counts: energies are solved for, and sums of many faces.
const ROUNDING: f64 = 1e-6;

/// Where a component goes on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The field before, with its numbers of waves.
    Kept,
    /// The field before with other numbers of waves.
    Released,
    /// One of the usual starts.
    Anew,
}

/// Energies of a component, in J.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Energies {
    pub(super) energy: f64,
    /// Bending of the waves.
    bending: f64,
    /// What it would be without wrinkles.
    smooth: f64,
}

impl Energies {
    /// What costs are compared with.
    ///
    /// Bending alone is too much next to the onset of wrinkling: there it exceeds the gain, and flat would be good enough.
    pub(super) fn scale(&self) -> f64 {
        self.bending.min(self.smooth - self.energy).max(0.0)
    }
}

/// The components of the faces that may wrinkle. Their energies are independent but for amplitudes at vertices where they touch.
pub(super) struct Components<'a> {
    problem: &'a WrinkleProblem,
    /// Per face, its component.
    of_face: Field<Faces, Option<usize>>,
    count: usize,
}

impl<'a> Components<'a> {
    pub(super) fn new(problem: &'a WrinkleProblem) -> Self {
        let complex = problem.complex();
        let of_face = Field::from_fn(problem.kept().len(), |face| {
            complex.face_nodes(face).map(|nodes| complex.node_components()[nodes[0]] as usize)
        });
        Self { problem, of_face, count: complex.component_count() }
    }

    fn energies(&self, field: &WrinkleField) -> Vec<Energies> {
        let (sheet, quadrature) = (self.problem.sheet(), self.problem.quadrature());
        let mut all = vec![Energies::default(); self.count];
        for (face, component) in self.of_face.iter() {
            let Some(component) = *component else { continue };
            let a = sheet.mesh().faces()[face].map(|v| field.amplitude[v]);
            let terms = sheet.faces()[face].terms(a, sheet.face_omega(face, &field.omega), quadrature);
            all[component].energy += terms.total();
            all[component].bending += terms.wrinkle_bending;
            all[component].smooth += sheet.faces()[face].energy([0.0; 3], [0.0; 2], quadrature);
        }
        all
    }

    /// Per component, the first field that is not much worse than the best. Fields in the order of the choices.
    pub(super) fn choose(&self, fields: [&WrinkleField; 3], snap: f64) -> Vec<Choice> {
        let [kept, released, anew] = fields.map(|field| self.energies(field));
        (0..self.count)
            .map(|c| {
                let best = lowest(&[kept[c], released[c], anew[c]]);
                // Infinity times zero is no number; nothing is visible there.
                let most = if best.scale() > 0.0 { snap.max(ROUNDING) * best.scale() } else { 0.0 };
                let good = |energies: Energies| energies.energy - best.energy <= most;
                if good(kept[c]) {
                    Choice::Kept
                } else if good(released[c]) {
                    Choice::Released
                } else {
                    Choice::Anew
                }
            })
            .collect()
    }

    /// The energies of the whole sheet: the lowest of the fields on every component, and the faces that may not wrinkle.
    pub(super) fn lowest(&self, fields: [&WrinkleField; 3]) -> Energies {
        let of_fields = fields.map(|field| self.energies(field));
        let total = fields[0].report.terms.total();
        let mut sum = Energies { energy: total, bending: 0.0, smooth: fields[0].report.smooth_energy };
        for c in 0..self.count {
            let best = lowest(&[of_fields[0][c], of_fields[1][c], of_fields[2][c]]);
            sum.energy += best.energy - of_fields[0][c].energy;
            sum.bending += best.bending;
        }
        sum
    }

    /// Amplitudes and frequencies with every component from the field of its choice.
    pub(super) fn compose(
        &self,
        choices: &[Choice],
        amplitudes: [&Field<Vertices, f64>; 3],
        omegas: [&Field<Edges, f64>; 3],
    ) -> (Field<Vertices, f64>, Field<Edges, f64>) {
        let (mesh, complex) = (self.problem.sheet().mesh(), self.problem.complex());
        let mut amplitude = amplitudes[0].clone();
        for (face, component) in self.of_face.iter() {
            let Some(component) = component else { continue };
            for v in mesh.faces()[face] {
                amplitude[v] = amplitudes[choices[*component] as usize][v];
            }
        }
        let mut omega = omegas[0].clone();
        for edge in complex.edges() {
            let component = complex.node_components()[edge.nodes[0]] as usize;
            omega[edge.edge] = omegas[choices[component] as usize][edge.edge];
        }
        (amplitude, omega)
    }
}

fn lowest(of: &[Energies; 3]) -> Energies {
    let [first, rest @ ..] = of;
    rest.iter().fold(*first, |best, other| if other.energy < best.energy { *other } else { best })
}
