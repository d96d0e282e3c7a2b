//! Memory for what is left of fronts, used again from one front to the next.

use std::sync::{Mutex, PoisonError};

use super::real::Real;
use crate::error::LinearError;

/// Buffers that nobody uses, by size. One list for all threads that never shrinks: new memory costs
/// more than what is done with it.
pub(super) struct Pool<T: Real>(Mutex<Vec<Vec<Vec<T::Line>>>>);

/// Sizes: powers of two, and one and a half times these.
fn class(lines: usize) -> (usize, usize) {
    let power = lines.max(4).next_power_of_two();
    let between = power / 4 * 3;
    let k = 2 * power.trailing_zeros() as usize;
    if lines <= between { (k - 1, between) } else { (k, power) }
}

impl<T: Real> Pool<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// At least so many lines, with anything in them.
    pub(super) fn take(&self, lines: usize) -> Result<Vec<T::Line>, LinearError> {
        if lines == 0 {
            return Ok(Vec::new());
        }
        let (class, size) = class(lines);
        // A thread that panicked leaves whole lists.
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(buffer) = lists.get_mut(class).and_then(Vec::pop) {
            return Ok(buffer);
        }
        drop(lists);
        lines_of_zeros::<T>(size)
    }

    pub(super) fn give(&self, buffer: Vec<T::Line>) {
        if buffer.is_empty() {
            return;
        }
        let (class, _) = class(buffer.len());
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lists.len() <= class {
            lists.resize_with(class + 1, Vec::new);
        }
        lists[class].push(buffer);
    }

    pub(super) fn bytes(&self) -> usize {
        let lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.iter().flatten().map(|buffer| size_of_val(buffer.as_slice())).sum()
    }
}

/// Memory; refuses instead of aborting when there is not enough.
pub(super) fn lines_of_zeros<T: Real>(count: usize) -> Result<Vec<T::Line>, LinearError> {
    let mut out = Vec::new();
    out.try_reserve_exact(count).map_err(|_| LinearError::OutOfMemory)?;
    out.resize(count, T::zeros());
    Ok(out)
}
