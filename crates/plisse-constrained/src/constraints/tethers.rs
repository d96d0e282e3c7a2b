//! Nodes on spheres around fixed points: pendulums.

use glam::DVec3;
use plisse_core::{Field, Id, Positive, Space};

use crate::constraint::{Constraint, Rows};
use crate::error::ConstrainedError;

/// `c = (|x - p|² - r²)/(2 r²)`: a node keeps its distance from a point in space.
#[derive(Clone, Debug)]
pub struct Tethers<S: Space> {
    tethers: Vec<(Id<S>, DVec3, f64)>,
}

impl<S: Space> Tethers<S> {
    /// Nodes with a point in metres and a distance each.
    ///
    /// # Errors
    /// [`ConstrainedError::BadNumber`] for a point that is not finite.
    pub fn new(
        tethers: impl IntoIterator<Item = (Id<S>, DVec3, Positive)>,
    ) -> Result<Self, ConstrainedError> {
        let tether = |(node, point, radius): (Id<S>, DVec3, Positive)| {
            if let Some(value) = point.to_array().into_iter().find(|x| !x.is_finite()) {
                let (what, expected) = (format!("the point of the tether of {node}"), "finite coordinates");
                return Err(ConstrainedError::BadNumber { what, value, expected });
            }
            Ok((node, point, 1.0 / (radius.get() * radius.get())))
        };
        Ok(Self { tethers: tethers.into_iter().map(tether).collect::<Result<_, _>>()? })
    }
}

impl<S: Space> Constraint<S> for Tethers<S> {
    fn name(&self) -> &str {
        "tethers"
    }

    fn groups(&self) -> usize {
        self.tethers.len()
    }

    fn nodes(&self, group: usize) -> &[Id<S>] {
        std::slice::from_ref(&self.tethers[group].0)
    }

    fn rows(&self, _: usize) -> usize {
        1
    }

    fn evaluate(&self, group: usize, x: &Field<S, DVec3>, _: f64, out: &mut Rows<'_>) {
        let (node, point, weight) = self.tethers[group];
        let u = x[node] - point;
        out.set(0, 0.5 * (u.length_squared() * weight - 1.0));
        out.add(0, 0, u * weight);
    }

    fn tension(&self, group: usize, multipliers: &[f64], out: &mut [f64]) {
        out[0] = (-multipliers[0] * self.tethers[group].2).max(0.0);
    }

    fn is_curved(&self) -> bool {
        true
    }

    fn describe(&self, group: usize) -> String {
        format!("the tether of {}", self.tethers[group].0)
    }
}
