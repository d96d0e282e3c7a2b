//! Benchmarks: variants interleaved in one run, compared as ratios.

pub(crate) mod kernels;
pub(crate) mod step;
