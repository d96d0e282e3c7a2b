//! Benchmarks: variants interleaved in one run, compared as ratios.

mod clock;
pub(crate) mod contact;
pub(crate) mod damping;
pub(crate) mod developable;
pub(crate) mod kernels;
pub(crate) mod second;
pub(crate) mod shell;
pub(crate) mod step;
pub(crate) mod wrinkle;
pub(crate) mod yarn;
