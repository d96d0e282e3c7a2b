//! What the projection needs to know of a constraint.

use glam::DVec3;
use plisse_core::{Field, Id, Space};

/// The largest number of rows of a group.
pub const LARGEST_GROUP: usize = plisse_sparse::LARGEST_NODE;

/// Many small sets of equations `c(x, t) = 0`, each a *group* of one to six scalar rows over the
/// same few nodes: the three lengths of a triangle, the three coordinates of a pin.
///
/// Rows should be dimensionless, about the relative error of a length: the projection ends when the
/// largest `|c|` is small, and regularises all rows alike. Rows must not depend on each other where
/// the constraint holds, or the matrix of the projection is singular.
///
/// Evaluation never fails and never allocates. A user adds a constraint by implementing this trait,
/// and nothing else: see the chapter *Constraints* of the book.
pub trait Constraint<S: Space>: Send + Sync {
    /// Name in messages.
    fn name(&self) -> &str;

    /// How many groups there are.
    fn groups(&self) -> usize;

    /// The nodes of a group, each once.
    fn nodes(&self, group: usize) -> &[Id<S>];

    /// How many rows a group has, one to [`LARGEST_GROUP`].
    fn rows(&self, group: usize) -> usize;

    /// Writes the values of a group's rows and their derivatives at these positions and this time.
    fn evaluate(&self, group: usize, x: &Field<S, DVec3>, time: f64, out: &mut Rows<'_>);

    /// How much a row of a group gives way, in 1/J: it then stores the energy `c²/(2 compliance)`
    /// together with the row's multiplier. Zero is a hard constraint.
    fn compliance(&self, group: usize, row: usize) -> f64 {
        _ = (group, row);
        0.0
    }

    /// How the multipliers `λ` of a group stiffen it: writes a matrix `w` over its nodes, row by
    /// row, with `w ⊗ I₃` near `-Σ λ ∂²c/∂xᵢ∂xⱼ` and positive semi-definite. Rows that pull have
    /// such a stiffness. With it the tension of the last step turns with the rows during this one.
    /// Without it, steps must be shorter than the time that a wave of tension takes for an edge.
    /// `out` is zero before. Called if [`Self::is_curved`].
    fn tension(&self, group: usize, multipliers: &[f64], out: &mut [f64]) {
        _ = (group, multipliers, out);
    }

    /// Whether [`Self::tension`] writes anything. Linear rows have none.
    fn is_curved(&self) -> bool {
        false
    }

    /// Whether the rows change with time at fixed positions, as those of a moving pin do. What such
    /// rows do on the nodes counts as work from outside.
    fn depends_on_time(&self) -> bool {
        false
    }

    /// A group in words, for messages.
    fn describe(&self, group: usize) -> String {
        format!("{} {group}", self.name())
    }
}

/// Where a group writes its values and derivatives.
#[derive(Debug)]
pub struct Rows<'a> {
    values: &'a mut [f64],
    gradients: &'a mut [DVec3],
}

impl<'a> Rows<'a> {
    /// Room for `values.len()` rows over `gradients.len() / values.len()` nodes. Everything is set
    /// to zero.
    ///
    /// # Panics
    /// If the derivatives are not a whole number of nodes per row.
    #[must_use]
    pub fn new(values: &'a mut [f64], gradients: &'a mut [DVec3]) -> Self {
        assert!(gradients.len().is_multiple_of(values.len().max(1)), "a derivative per row and node");
        values.fill(0.0);
        gradients.fill(DVec3::ZERO);
        Self { values, gradients }
    }

    /// Sets the value of a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn set(&mut self, row: usize, value: f64) {
        self.values[row] = value;
    }

    /// Adds to the derivative of a row by the position of a node of the group.
    ///
    /// # Panics
    /// If there is no such row or node.
    #[inline]
    pub fn add(&mut self, row: usize, node: usize, gradient: DVec3) {
        let nodes = self.gradients.len() / self.values.len();
        self.gradients[row * nodes + node] += gradient;
    }
}
