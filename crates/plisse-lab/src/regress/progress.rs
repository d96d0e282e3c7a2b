//! Words about experiments that take long, on standard error.

use std::time::{Duration, Instant};

/// How long an experiment may be silent.
const SILENCE: Duration = Duration::from_secs(10);

/// Tells now and then where an experiment is, never twice within ten seconds.
pub(crate) struct Progress {
    name: String,
    last: Instant,
}

impl Progress {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), last: Instant::now() }
    }

    /// Tells where it is, if it was silent for long.
    pub(crate) fn at(&mut self, place: impl FnOnce() -> String) {
        if self.last.elapsed() >= SILENCE {
            eprintln!("   {}: {}", self.name, place());
            self.last = Instant::now();
        }
    }
}
