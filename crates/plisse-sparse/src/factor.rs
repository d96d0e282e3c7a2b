//! Cholesky factors of block matrices, with the analysis kept.

use std::sync::Arc;

use crate::dissection;
use crate::error::LinearError;
use crate::graph::Graph;
use crate::matrix::BlockMatrix;
use crate::multifrontal::{Multifrontal, Plan, Real};
use crate::order;
use crate::pattern::{Pattern, Revision};

/// Patterns of so many nodes are ordered by nested dissection, which takes several times as long as
/// minimum degree: some factors with less fill must pay for it.
const DISSECTED: usize = 20_000;

/// The order of elimination and the fronts of a pattern.
pub(crate) struct Analysis {
    revision: Revision,
    plan: Arc<Plan>,
}

impl Analysis {
    /// With the order of nodes, or of groups of nodes where that has less fill; see
    /// [`order`](crate::order). By nested dissection where that pays: patterns that have grown will
    /// soon change again.
    pub(crate) fn new(pattern: &Pattern) -> Result<Self, LinearError> {
        let graph = Graph::of(pattern);
        let nodes = if pattern.size() >= DISSECTED && pattern.is_in_order() {
            dissection::order(&graph)
        } else {
            order::by_nodes(pattern)?
        };
        let plan = Plan::new(pattern, &graph, &nodes);
        let groups = order::by_groups(pattern)?.map(|order| Plan::new(pattern, &graph, &order));
        let plan = match groups {
            Some(groups) if groups.factor_len() < plan.factor_len() => groups,
            _ => plan,
        };
        Ok(Self { revision: pattern.revision(), plan: Arc::new(plan) })
    }

    pub(crate) fn is_of(&self, pattern: &Pattern) -> bool {
        self.revision == pattern.revision()
    }

    /// Numbers in the factor.
    pub(crate) fn factor_len(&self) -> usize {
        self.plan.factor_len()
    }
}

/// A factor `L Lᵀ` with its analysis and memory, reused from one factorisation to the next.
pub(crate) struct Factor<T: Real> {
    is_filled: bool,
    numbers: Multifrontal<T>,
}

impl<T: Real> Factor<T> {
    /// Makes room for a factor in `place`, unless it is there.
    pub(crate) fn make_room<'a>(
        place: &'a mut Option<Self>,
        analysis: &Analysis,
    ) -> Result<&'a mut Self, LinearError> {
        Ok(match place.take().filter(|old| old.numbers.is_of(&analysis.plan)) {
            Some(old) => place.insert(old),
            None => place.insert(Self { is_filled: false, numbers: Multifrontal::new(&analysis.plan)? }),
        })
    }

    /// Factorises a matrix of the analysed pattern into `place`, with the memory that is there if
    /// it fits. After an error the memory stays, but there is no factor.
    ///
    /// # Errors
    /// [`LinearError::NotPositiveDefinite`] if a pivot is not positive, and
    /// [`LinearError::OutOfMemory`].
    pub(crate) fn fill<'a>(
        place: &'a mut Option<Self>,
        analysis: &Analysis,
        a: &BlockMatrix,
    ) -> Result<&'a mut Self, LinearError> {
        let factor = Self::make_room(place, analysis)?;
        factor.factorise(a)?;
        Ok(factor)
    }

    /// Factorises a matrix of the pattern that there is room for.
    pub(crate) fn factorise(&mut self, a: &BlockMatrix) -> Result<(), LinearError> {
        self.is_filled = false;
        self.numbers.factorise(a)?;
        self.is_filled = true;
        Ok(())
    }

    /// Whether the matrix of a factorisation that has just failed is indefinite beyond rounding
    /// errors, so that more precision would not help.
    pub(crate) fn is_surely_indefinite(&mut self, a: &BlockMatrix) -> bool {
        self.numbers.is_surely_indefinite(a)
    }

    /// `out = A⁻¹ b` with the matrix of the last factorisation.
    ///
    /// # Panics
    /// If that has failed.
    pub(crate) fn solve(&mut self, b: &[f64], out: &mut [f64]) {
        assert!(self.is_filled, "the last factorisation has succeeded");
        self.numbers.solve(b, out);
    }

    /// Bytes of factor and work space.
    pub(crate) fn bytes(&self) -> usize {
        self.numbers.bytes()
    }
}
