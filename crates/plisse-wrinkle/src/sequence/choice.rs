//! Which of several fields a component takes.

use plisse_core::{Edges, Faces, Field, Vertices};

use crate::solver::{WrinkleField, WrinkleProblem};

/// The least part of [`Energies::scale`] that counts: energies are solved for, and sums of many
/// faces.
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
    /// Bending alone is too much next to the onset of wrinkling: there it exceeds the gain, and
    /// flat would be good enough.
    pub(super) fn scale(&self) -> f64 {
        self.bending.min(self.smooth - self.energy).max(0.0)
    }
}

/// The components of the faces that may wrinkle. Their energies are independent but for amplitudes
/// at vertices where they touch.
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

    /// Per component, the first field that is not much worse than the best. Fields in the order of
    /// the choices.
    pub(super) fn choose(&self, fields: [&WrinkleField; 3], snap: f64) -> Vec<Choice> {
        let [kept, released, anew] = fields.map(|field| self.energies(field));
        let converged = fields.map(|field| field.report.converged());
        (0..self.count).map(|c| first_good([kept[c], released[c], anew[c]], converged, snap)).collect()
    }

    /// The energies of the whole sheet: the lowest of the fields on every component, and the faces
    /// that may not wrinkle.
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

/// The first field that is not much worse than the best.
///
/// One that has not converged is none, unless no other is better in that. A flat one is none where
/// another wrinkles: whoever is to keep any number of waves still wants waves.
fn first_good(of: [Energies; 3], converged: [bool; 3], snap: f64) -> Choice {
    let best = lowest(&of);
    // Infinity times zero is no number; nothing is visible there.
    let most = if best.scale() > 0.0 { snap.max(ROUNDING) * best.scale() } else { 0.0 };
    let good = |i: usize| {
        let wrinkles = of[i].bending > 0.0 || best.scale() == 0.0;
        wrinkles && of[i].energy - best.energy <= most && (converged[i] || converged == [false; 3])
    };
    if good(0) {
        Choice::Kept
    } else if good(1) {
        Choice::Released
    } else {
        Choice::Anew
    }
}

fn lowest(of: &[Energies; 3]) -> Energies {
    let [first, rest @ ..] = of;
    rest.iter().fold(*first, |best, other| if other.energy < best.energy { *other } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn energies(energy: f64, bending: f64) -> Energies {
        Energies { energy, bending, smooth: 10.0 }
    }

    #[test]
    fn numbers_are_kept_until_they_cost_too_much() {
        let fields = [energies(1.4, 1.0), energies(1.1, 1.0), energies(1.0, 1.0)];
        for (snap, expected) in [
            (f64::INFINITY, Choice::Kept),
            (0.5, Choice::Kept),
            (0.3, Choice::Released),
            (0.05, Choice::Anew),
            (0.0, Choice::Anew),
        ] {
            assert_eq!(first_good(fields, [true; 3], snap), expected, "{snap}");
        }
    }

    #[test]
    fn flat_is_not_kept_where_others_wrinkle() {
        // Next to the onset the gain is less than the bending of the waves.
        let flat = energies(10.0, 0.0);
        let wrinkled = energies(9.9, 0.5);
        for snap in [0.5, 1.0, 100.0, f64::INFINITY] {
            assert_eq!(first_good([flat, flat, wrinkled], [true; 3], snap), Choice::Anew);
            assert_eq!(first_good([flat, flat, flat], [true; 3], snap), Choice::Kept);
        }
    }

    #[test]
    fn what_has_not_converged_is_left() {
        let fields = [energies(1.1, 1.0), energies(1.1, 1.0), energies(1.0, 1.0)];
        assert_eq!(first_good(fields, [false, true, true], 0.5), Choice::Released);
        assert_eq!(first_good(fields, [false, false, true], 0.5), Choice::Anew);
        assert_eq!(first_good(fields, [false; 3], 0.5), Choice::Kept);
    }
}
