//! The matrix of a projection along implicit directions: `M + h² K + T + Σ κ ∇c ∇cᵀ` over the free
//! nodes. `K` is the stiffness of the terms, `T` that of tension across itself, and `κ` the
//! stiffness of rows, so large that they hold.

use std::sync::Arc;

use glam::{DMat3, DVec3};
use plisse_core::{Field, Id, Space};
use plisse_sparse::{BlockMatrix, Layout, Linear, LinearError, LinearSolver, Pattern, Revision, Sink, Slot};

use crate::constraint::Constraint;
use crate::error::ConstrainedError;

/// A matrix over the free nodes of groups, and its solver.
pub(crate) struct Tangent<S: Space> {
    free: Vec<Id<S>>,
    /// Pairs of places of each group, lower triangle, group by group.
    slots: Vec<Slot>,
    /// Blocks of the stiffness, column by column, and which pattern they are of.
    of_terms: Option<(Revision, Vec<Slot>)>,
    matrix: BlockMatrix,
    linear: Linear,
    right: Vec<f64>,
    change: Vec<f64>,
    room: Vec<f64>,
    has_factor: bool,
}

/// A group of rows with numbers.
pub(crate) struct Stiff<'a, S: Space> {
    pub(crate) nodes: usize,
    /// Row by row, a derivative for each node.
    pub(crate) gradients: &'a [DVec3],
    /// Stiffness of each row.
    pub(crate) kappa: &'a [f64],
    pub(crate) multipliers: &'a [f64],
    /// What says its tension, and its number there; none for linear rows.
    pub(crate) curved: Option<(&'a dyn Constraint<S>, usize)>,
}

/// A pair of nodes among the free ones.
type Pair = Option<(u32, u32)>;

impl<S: Space> Tangent<S> {
    /// For groups over these nodes and a stiffness of this pattern; held nodes, whose weights are
    /// zero, take no part.
    pub(crate) fn new<'a>(
        weights: &Field<S, f64>,
        groups: impl Iterator<Item = &'a [Id<S>]> + Clone,
        stiffness: Option<&Pattern>,
    ) -> Result<Self, ConstrainedError> {
        let free: Vec<Id<S>> = weights.iter().filter(|(_, w)| **w > 0.0).map(|(node, _)| node).collect();
        let mut number = Field::filled(weights.len(), None);
        for (k, node) in free.iter().enumerate() {
            number[*node] = Some(k as u32);
        }
        let of_pair = |a: Id<S>, b: Id<S>| -> Pair { number[a].zip(number[b]) };
        let of_group = |nodes: &'a [Id<S>]| {
            (0..nodes.len()).flat_map(move |i| (0..=i).map(move |j| (nodes[i], nodes[j])))
        };
        let pairs: Vec<Pair> = groups.flat_map(of_group).map(|(a, b)| of_pair(a, b)).collect();
        // Unknowns of terms' own come after those of nodes, and stay out.
        let of_terms = |pattern: &Pattern| -> Vec<Pair> {
            let column = |j: usize| pattern.column(j).map(move |(i, _)| (i as u32, j as u32));
            let all = (0..pattern.size()).flat_map(column);
            all.map(|(i, j)| ((i as usize) < free.len()).then_some((i, j))).collect()
        };
        let terms = stiffness.map(|pattern| (pattern.revision(), of_terms(pattern)));
        let more = terms.iter().flat_map(|(_, pairs)| pairs.iter());
        let layout = Layout::vectors(free.len());
        let pattern = Pattern::new(layout, pairs.iter().chain(more).flatten().copied())?;
        let slot = |pair: &Pair| pair.and_then(|(i, j)| pattern.slot(i, j)).unwrap_or(Slot::NONE);
        Ok(Self {
            slots: pairs.iter().map(slot).collect(),
            of_terms: terms.map(|(revision, pairs)| (revision, pairs.iter().map(slot).collect())),
            right: vec![0.0; 3 * free.len()],
            change: vec![0.0; 3 * free.len()],
            matrix: BlockMatrix::zeros(pattern),
            linear: Linear::new(LinearSolver::Cholesky),
            room: Vec::new(),
            has_factor: false,
            free,
        })
    }

    /// Numbers in the triangular factor, once there was one.
    pub(crate) fn factor_len(&self) -> Option<usize> {
        self.linear.factor_len()
    }

    /// `stiffness` in N/m times `factor` in s².
    pub(crate) fn assemble<'a>(
        &mut self,
        weights: &Field<S, f64>,
        (stiffness, factor): (Option<&BlockMatrix>, f64),
        groups: impl Iterator<Item = Stiff<'a, S>>,
    ) where
        S: 'a,
    {
        let pattern = Arc::clone(self.matrix.pattern());
        self.matrix.reset(&pattern);
        let known = |revision: &Revision| stiffness.filter(|k| k.pattern().revision() == *revision);
        if let Some((stiffness, slots)) =
            self.of_terms.as_ref().and_then(|(revision, slots)| Some((known(revision)?, slots)))
        {
            let mut sink = Sink::new(&mut self.matrix, slots);
            let mut index = 0;
            for j in 0..stiffness.pattern().size() {
                for (_, numbers) in stiffness.pattern().column(j) {
                    if let Ok(block) = <&[f64; 9]>::try_from(&stiffness.values()[numbers]) {
                        sink.add(index, &(DMat3::from_cols_array(block) * factor));
                    }
                    index += 1;
                }
            }
        }
        let mut sink = Sink::new(&mut self.matrix, &self.slots);
        let mut index = 0;
        for Stiff { nodes, gradients, kappa, multipliers, curved } in groups {
            self.room.clear();
            self.room.resize(nodes * nodes, 0.0);
            if let Some((constraint, local)) = curved {
                constraint.tension(local, multipliers, &mut self.room);
            }
            for i in 0..nodes {
                for j in 0..=i {
                    let mut block = DMat3::from_diagonal(DVec3::splat(self.room[i * nodes + j]));
                    for (row, kappa) in kappa.iter().enumerate() {
                        let (a, b) = (gradients[row * nodes + i], gradients[row * nodes + j] * *kappa);
                        block += DMat3::from_cols(a * b.x, a * b.y, a * b.z);
                    }
                    sink.add(index, &block);
                    index += 1;
                }
            }
        }
        for (k, node) in self.free.iter().enumerate() {
            self.matrix.add_to_diagonal(k, 1.0 / weights[*node]);
        }
    }

    /// Makes a factor of the matrix.
    pub(crate) fn factorise(&mut self) -> Result<(), LinearError> {
        self.has_factor = false;
        self.linear.factorise(&self.matrix)?;
        self.has_factor = true;
        Ok(())
    }

    /// Whether there is a factor, be it old.
    pub(crate) fn has_factor(&self) -> bool {
        self.has_factor
    }

    /// Solves for a change of positions with the last factor.
    pub(crate) fn substitute(&mut self, right: &Field<S, DVec3>) {
        for (k, node) in self.free.iter().enumerate() {
            self.right[3 * k..3 * k + 3].copy_from_slice(&right[*node].to_array());
        }
        self.linear.substitute(&self.right, &mut self.change);
    }

    /// What the last solve has found.
    pub(crate) fn change(&self) -> impl Iterator<Item = (Id<S>, DVec3)> + '_ {
        self.free.iter().copied().zip(self.change.chunks_exact(3).map(DVec3::from_slice))
    }

    pub(crate) fn forget(&mut self) {
        self.has_factor = false;
    }
}
