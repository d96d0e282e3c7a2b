//! A term seen through a constant sparse map.

use std::sync::Arc;

use glam::{DMat3, DVec3};
use plisse_core::{Field, Id, Past, Psd, Space, StepEnergy};
use plisse_sparse::{BlockMatrix, Layout, Pattern, Sink, Slot};

use crate::error::SetupError;
use crate::memory::Memory;
use crate::pose::{Inertia, Pose, StepMap};
use crate::term::{Gradient, RankOne, Role, Term, Unknown};

/// The energy `E(A x)` of a term `E` over other nodes than those of the system: each of them is a
/// fixed combination of the system's. A surface that follows the midpoints of edges, for instance,
/// or a fine mesh on a coarse one.
///
/// Derivatives are `Aᵀ ∇E` and `Aᵀ ∇²E A`; a projected Hessian stays positive semidefinite. The
/// inner term sees positions, velocities and inertia through the same map. It must have neither
/// unknowns of its own nor pairs that change with the pose.
pub struct MappedTerm<T, S: Space, R: Space> {
    inner: T,
    map: SparseMap<S, R>,
    /// Blocks of the inner term, and where each of its pairs goes.
    pattern: Arc<Pattern>,
    slots: Vec<Slot>,
}

/// A matrix `A` whose rows have few entries: nodes of `R` as combinations of nodes of `S`.
#[derive(Clone, Debug)]
pub struct SparseMap<S: Space, R: Space> {
    rows: Field<R, Vec<(Id<S>, f64)>>,
    /// Nodes of `S`.
    size: usize,
}

impl<S: Space, R: Space> SparseMap<S, R> {
    /// A map from fields with `size` values, by its rows.
    ///
    /// # Errors
    /// [`SetupError`] if an entry is outside of the field or not finite.
    pub fn new(size: usize, rows: Field<R, Vec<(Id<S>, f64)>>) -> Result<Self, SetupError> {
        for (node, weight) in rows.as_slice().iter().flatten() {
            if node.index() >= size {
                let term = "a sparse map".to_owned();
                return Err(SetupError::NodeOutOfRange { term, node: node.to_string(), count: size });
            }
            if !weight.is_finite() {
                let (what, expected) = ("a weight of a sparse map", "give finite numbers");
                return Err(SetupError::BadParameter { what, value: *weight, expected });
            }
        }
        Ok(Self { rows, size })
    }

    /// Number of rows.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// `A x`.
    #[must_use]
    pub fn apply(&self, x: &Field<S, DVec3>) -> Field<R, DVec3> {
        self.rows.map(|row| row.iter().map(|(node, weight)| x[*node] * *weight).sum())
    }

    /// Adds `Aᵀ y`.
    pub fn add_transposed(&self, y: &Field<R, DVec3>, out: &mut Field<S, DVec3>) {
        for (row, y) in self.rows.iter().map(|(_, row)| row).zip(y.as_slice()) {
            for (node, weight) in row {
                out[*node] += *y * *weight;
            }
        }
    }

    /// The pairs of nodes to which a block of two rows contributes, with its factor; of equal rows
    /// each pair once. `true` where the transposed block contributes, too.
    fn pairs(&self, a: usize, b: usize) -> impl Iterator<Item = (Id<S>, Id<S>, f64, bool)> + '_ {
        let (first, second) = (&self.rows.as_slice()[a], &self.rows.as_slice()[b]);
        first.iter().enumerate().flat_map(move |(k, &(i, w))| {
            let count = if a == b { k + 1 } else { second.len() };
            second[..count]
                .iter()
                .enumerate()
                .map(move |(l, &(j, v))| (i, j, w * v, i == j && (a != b || k != l)))
        })
    }
}

impl<T: Term<R>, S: Space, R: Space> MappedTerm<T, S, R> {
    /// A term through a map.
    ///
    /// # Errors
    /// [`SetupError`] if the term does not fit the rows of the map, or has unknowns of its own.
    pub fn new(inner: T, map: SparseMap<S, R>) -> Result<Self, SetupError> {
        let count = map.row_count();
        inner.check(count)?;
        if !inner.own().is_empty() {
            let (term, integrator) = (inner.name().to_owned(), "a map of nodes");
            return Err(SetupError::OwnInertia { term, integrator });
        }
        let (mut pairs, mut outside) = (Vec::new(), None);
        inner.pattern(&mut |a, b| match (a, b) {
            (Unknown::Node(a), Unknown::Node(b)) if a.index().max(b.index()) < count => {
                pairs.push(Some((a.get(), b.get())));
            }
            (Unknown::Held, _) | (_, Unknown::Held) => pairs.push(None),
            _ => outside = Some((a, b)),
        });
        if let Some((a, b)) = outside {
            let term = inner.name().to_owned();
            return Err(SetupError::NodeOutOfRange { term, node: format!("{a:?} or {b:?}"), count });
        }
        let pattern = Pattern::new(Layout::vectors(count), pairs.iter().flatten().copied())?;
        let slot = |pair: Option<(u32, u32)>| pair.and_then(|(i, j)| pattern.slot(i, j));
        let slots = pairs.into_iter().map(|pair| slot(pair).unwrap_or(Slot::NONE)).collect();
        Ok(Self { inner, map, pattern, slots })
    }

    /// The term itself.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// Evaluates the inner term at a pose.
    fn with<Q>(&self, pose: &Pose<'_, S>, evaluate: impl FnOnce(&Pose<'_, R>) -> Q) -> Q {
        let x = self.map.apply(pose.x);
        let still = Pose { x: &x, own: &[], time: pose.time, step: None };
        match &pose.step {
            None => evaluate(&still),
            Some(step) => self.with_step(step, |step| evaluate(&Pose { step: Some(*step), ..still })),
        }
    }

    fn with_step<Q>(&self, step: &StepMap<'_, S>, evaluate: impl FnOnce(&StepMap<'_, R>) -> Q) -> Q {
        let apply = |field: &Field<S, DVec3>| self.map.apply(field);
        let (start, reference) = (apply(step.start), apply(step.reference));
        let past = step.past.map(apply);
        let target = step.inertia.map(|inertia| apply(inertia.target));
        let inertia = step.inertia.zip(target.as_ref()).map(|(inertia, target)| Inertia {
            factor: inertia.factor,
            target,
            own_target: &[],
        });
        let past = match &past {
            Past::Start => Past::Start,
            Past::Velocity { time, v } => Past::Velocity { time: *time, v },
            Past::Earlier { weight, x } => Past::Earlier { weight: *weight, x },
        };
        let StepMap { dt, rate, memory, .. } = *step;
        evaluate(&StepMap { start: &start, dt, reference: &reference, rate, past, own: &[], inertia, memory })
    }
}

impl<T: Term<R>, S: Space, R: Space> Term<S> for MappedTerm<T, S, R> {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn role(&self) -> Role {
        self.inner.role()
    }
    fn depends_on_time(&self) -> bool {
        self.inner.depends_on_time()
    }
    fn drives(&self) -> bool {
        self.inner.drives()
    }
    fn has_potential(&self) -> bool {
        self.inner.has_potential()
    }

    fn check(&self, size: usize) -> Result<(), SetupError> {
        let source = plisse_core::FieldError { space: S::NAME, expected: size, found: self.map.size };
        if size == self.map.size {
            Ok(())
        } else {
            Err(SetupError::Length { what: "columns of a sparse map", source })
        }
    }

    fn pattern(&self, pair: &mut dyn FnMut(Unknown<S>, Unknown<S>)) {
        for b in 0..self.pattern.size() {
            for &a in self.pattern.rows_of_column(b) {
                for (i, j, ..) in self.map.pairs(a as usize, b) {
                    pair(i.into(), j.into());
                }
            }
        }
    }

    fn energy(&self, pose: &Pose<'_, S>) -> f64 {
        self.with(pose, |pose| self.inner.energy(pose))
    }

    fn add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Gradient<'_, S>) {
        let mut inner = Field::filled(self.map.row_count(), DVec3::ZERO);
        self.with(pose, |pose| self.inner.add_gradient(pose, &mut Gradient::by_nodes(&mut inner)));
        self.map.add_transposed(&inner, gradient.nodes);
    }

    fn energy_and_add_gradient(&self, pose: &Pose<'_, S>, gradient: &mut Gradient<'_, S>) -> StepEnergy {
        let mut inner = Field::filled(self.map.row_count(), DVec3::ZERO);
        let energy = self
            .with(pose, |pose| self.inner.energy_and_add_gradient(pose, &mut Gradient::by_nodes(&mut inner)));
        self.map.add_transposed(&inner, gradient.nodes);
        energy
    }

    fn add_hessian(&self, pose: &Pose<'_, S>, psd: Psd, sink: &mut Sink<'_>) {
        let mut matrix = BlockMatrix::zeros(Arc::clone(&self.pattern));
        self.with(pose, |pose| self.inner.add_hessian(pose, psd, &mut Sink::new(&mut matrix, &self.slots)));
        let mut index = 0;
        for b in 0..self.pattern.size() {
            for (a, numbers) in self.pattern.column(b) {
                let block = DMat3::from_cols_slice(&matrix.values()[numbers]);
                for (_, _, factor, both) in self.map.pairs(a, b) {
                    let block = if both { block + block.transpose() } else { block };
                    sink.add(index, &(block * factor));
                    index += 1;
                }
            }
        }
    }

    fn remember(&self, step: &StepMap<'_, S>, memory: &mut Memory) {
        self.with_step(step, |step| self.inner.remember(step, memory));
    }

    fn rank_ones(&self, pose: &Pose<'_, S>, out: &mut Vec<RankOne<S>>) {
        let mut inner = Vec::new();
        self.with(pose, |pose| self.inner.rank_ones(pose, &mut inner));
        out.extend(inner.into_iter().map(|part| {
            let mut vector = Field::filled(self.map.size, DVec3::ZERO);
            self.map.add_transposed(&part.vector, &mut vector);
            RankOne { weight: part.weight, vector }
        }));
    }

    fn longest_step(&self, pose: &Pose<'_, S>, to: &Pose<'_, S>) -> f64 {
        self.with(pose, |pose| self.with(to, |to| self.inner.longest_step(pose, to)))
    }
}
