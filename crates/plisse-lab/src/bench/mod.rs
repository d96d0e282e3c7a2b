//! Benchmarks: variants interleaved in one run, compared as ratios.

pub(crate) mod damping;
pub(crate) mod kernels;
pub(crate) mod step;
pub(crate) mod wrinkle;
