//! An energy with a constant matrix that acts on each coordinate alike, such as quadratic bending.

use glam::{DMat3, DVec3};
use plisse_core::range::{FACTOR, largest_coordinate, multiply};
use plisse_core::{Field, FieldError, Id, Psd, Space, rarely, saturate};
use plisse_sparse::Sink;

use crate::error::SetupError;
use crate::pose::Pose;
use crate::term::{Gradient, Role, Term, Unknown};

/// `E = ½ Σᵢⱼ qᵢⱼ xᵢ·xⱼ` with a constant, symmetric, positive semidefinite matrix `q` in N/m.
///
/// The Hessian is `q ⊗ I₃` under every policy: it is never projected.
#[derive(Clone, Debug)]
pub struct ConstantTerm<S: Space> {
    name: String,
    /// All entries of row `i` are `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    entries: Vec<(Id<S>, f64)>,
}

impl<S: Space> ConstantTerm<S> {
    /// Takes both triangles of the matrix, row by row; for example
    /// `ConstantTerm::from_rows("bending", bending.size(), |i| bending.row(i))`.
    #[must_use]
    pub fn from_rows<R: Iterator<Item = (Id<S>, f64)>>(
        name: impl Into<String>,
        size: usize,
        row: impl Fn(Id<S>) -> R,
    ) -> Self {
        let mut starts = vec![0];
        let mut entries = Vec::new();
        for i in 0..size {
            entries.extend(row(Id::new(i as u32)));
            starts.push(entries.len());
        }
        Self { name: name.into(), starts, entries }
    }

    fn energy_at(&self, x: &Field<S, DVec3>) -> f64 {
        let mut sum = 0.0;
        for (i, entries) in self.rows() {
            sum += 0.5 * x[i].dot(row_product(entries, x));
        }
        sum
    }

    fn rows(&self) -> impl Iterator<Item = (Id<S>, &[(Id<S>, f64)])> {
        let ranges = self.starts.windows(2).map(|w| &self.entries[w[0]..w[1]]);
        ranges.enumerate().map(|(i, entries)| (Id::new(i as u32), entries))
    }
}

impl<S: Space> Term<S> for ConstantTerm<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::Elastic
    }

    fn check(&self, size: usize) -> Result<(), SetupError> {
        let found = self.starts.len() - 1;
        if found != size {
            let source = FieldError { space: S::NAME, expected: size, found };
            return Err(SetupError::Length { what: "rows of a constant term", source });
        }
        for (j, value) in &self.entries {
            if j.index() >= size {
                let (term, node) = (self.name.clone(), j.to_string());
                return Err(SetupError::NodeOutOfRange { term, node, count: size });
            }
            if !(-FACTOR..=FACTOR).contains(value) {
                let expected = "give numbers up to 1e150";
                return Err(SetupError::BadParameter {
                    what: "an entry of a constant term",
                    value: *value,
                    expected,
                });
            }
        }
        Ok(())
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<S>, Unknown<S>)) {
        for (i, entries) in self.rows() {
            for (j, _) in entries.iter().filter(|(j, _)| *j <= i) {
                pair(i.into(), (*j).into());
            }
        }
    }

    fn energy(&self, pose: &Pose<'_, S>) -> f64 {
        let plain = self.energy_at(pose.x);
        if plain.is_finite() {
            return plain;
        }
        let largest = largest_coordinate(pose.x.as_slice());
        saturate(saturate(self.energy_at(&pose.x.map(|x| *x / largest)) * largest) * largest)
    }

    fn add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Gradient<'_, S>) {
        for (i, entries) in self.rows() {
            gradient[i] += row_product(entries, pose.x);
        }
    }

    fn add_hessian(&self, _: &Pose<'_, S>, _: Psd, sink: &mut Sink<'_>) {
        let mut index = 0;
        for (i, entries) in self.rows() {
            for (_, q) in entries.iter().filter(|(j, _)| *j <= i) {
                sink.add(index, &DMat3::from_diagonal(DVec3::splat(*q)));
                index += 1;
            }
        }
    }
}

fn row_product<S: Space>(entries: &[(Id<S>, f64)], x: &Field<S, DVec3>) -> DVec3 {
    let mut sum = DVec3::ZERO;
    for (j, q) in entries {
        sum += x[*j] * *q;
    }
    if sum.is_finite() { sum } else { rarely(|| row_product_of_far_points(entries, x)) }
}

/// The same on positions divided by the largest coordinate, and saturated.
fn row_product_of_far_points<S: Space>(entries: &[(Id<S>, f64)], x: &Field<S, DVec3>) -> DVec3 {
    let largest = largest_coordinate(x.as_slice());
    multiply(entries.iter().map(|(j, q)| x[*j] / largest * *q).sum(), largest)
}
