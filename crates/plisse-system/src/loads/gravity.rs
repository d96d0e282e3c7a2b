//! Gravity.

use glam::DVec3;
use plisse_core::{Field, Psd, SATURATION, Space, range};
use plisse_sparse::Sink;

use crate::error::SetupError;
use crate::pose::Pose;
use crate::term::{Gradient, Role, Term, Unknown};

/// A uniform acceleration: `E = -Σ mᵢ a·xᵢ`.
#[derive(Clone, Debug)]
pub struct Gravity<S: Space> {
    name: String,
    weight: Field<S, DVec3>,
}

impl<S: Space> Gravity<S> {
    /// Gravity with this acceleration in m/s² on these masses in kilograms.
    pub fn new(acceleration: DVec3, mass: &Field<S, f64>) -> Result<Self, SetupError> {
        let weight = mass.map(|m| acceleration * *m);
        crate::state::check_finite("the weight", &weight)?;
        let weight = weight.map(|w| range::limit_vector(*w, SATURATION));
        Ok(Self { name: "gravity".to_owned(), weight })
    }

    /// The same load under another name.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }
}

impl<S: Space> Term<S> for Gravity<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn role(&self) -> Role {
        Role::External
    }

    fn check(&self, size: usize) -> Result<(), SetupError> {
        self.weight.check_len(size).map_err(|source| SetupError::Length { what: "masses of gravity", source })
    }

    fn pattern(&self, _: &mut dyn FnMut(Unknown<S>, Unknown<S>)) {}

    fn energy(&self, pose: &Pose<'_, S>) -> f64 {
        let plain = -self.weight.iter().map(|(node, weight)| weight.dot(pose.x[node])).sum::<f64>();
        if plain.is_finite() { plain } else { -range::dot(self.weight.as_slice(), pose.x.as_slice()) }
    }

    fn add_gradient(&self, _: &Pose<'_, S>, gradient: &mut Gradient<'_, S>) {
        for (node, weight) in self.weight.iter() {
            gradient[node] -= *weight;
        }
    }

    fn add_hessian(&self, _: &Pose<'_, S>, _: Psd, _: &mut Sink<'_>) {}
}
