//! faer's Cholesky factors, for tests and benchmarks to compare our own with.

use std::sync::Arc;

use crate::error::LinearError;
use crate::indefinite::{FaerAnalysis, FaerFactor, Kind};
use crate::matrix::BlockMatrix;
use crate::pattern::Pattern;

/// Factors in single and in double precision of the matrices of one pattern.
pub struct FaerCholesky {
    analysis: Arc<FaerAnalysis>,
    single: Option<FaerFactor<f32>>,
    double: Option<FaerFactor<f64>>,
}

impl FaerCholesky {
    /// Analyses a pattern.
    ///
    /// # Errors
    /// [`LinearError::OutOfMemory`] if the factor does not fit into 32-bit indices.
    pub fn new(pattern: &Pattern) -> Result<Self, LinearError> {
        Ok(Self { analysis: Arc::new(FaerAnalysis::new(pattern)?), single: None, double: None })
    }

    /// Numbers in the factor.
    #[must_use]
    pub fn factor_len(&self) -> usize {
        self.analysis.factor_len()
    }

    /// A factor in single precision.
    ///
    /// # Errors
    /// [`LinearError::NotPositiveDefinite`] or [`LinearError::OutOfMemory`].
    pub fn factorise_single(&mut self, a: &BlockMatrix) -> Result<(), LinearError> {
        FaerFactor::fill(&mut self.single, &self.analysis, Kind::Llt, a).map(drop)
    }

    /// A factor in double precision.
    ///
    /// # Errors
    /// [`LinearError::NotPositiveDefinite`] or [`LinearError::OutOfMemory`].
    pub fn factorise_double(&mut self, a: &BlockMatrix) -> Result<(), LinearError> {
        FaerFactor::fill(&mut self.double, &self.analysis, Kind::Llt, a).map(drop)
    }

    /// Applies the last factor in single precision; leaves `x` as it is without one.
    pub fn substitute_single(&mut self, b: &[f64], x: &mut [f64]) {
        if let Some(factor) = &mut self.single {
            factor.solve(b, x);
        }
    }

    /// Applies the last factor in double precision; leaves `x` as it is without one.
    pub fn substitute_double(&mut self, b: &[f64], x: &mut [f64]) {
        if let Some(factor) = &mut self.double {
            factor.solve(b, x);
        }
    }
}
