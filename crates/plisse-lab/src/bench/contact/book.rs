//! Where the time of a step goes, kept from outside: by the calls that a solver makes to terms.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::bench::clock::thread_time;

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Broad phase, lists of close pairs, normal forces of friction.
    Lists,
    /// Continuous collision detection of steps and of first guesses.
    Ccd,
    /// Energies and forces of contact.
    ContactForces,
    /// Hessians of contact, and the pairs that they have.
    ContactHessians,
    /// Energies and forces of everything else.
    Forces,
    /// Hessians of everything else.
    Hessians,
    /// The pattern of a Hessian and the places of its blocks.
    Pattern,
    /// Analysis, factors and conjugate gradients.
    Linear,
    /// What is left.
    Rest,
}

impl Work {
    pub(super) const COUNT: usize = 9;
}

/// A call to a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Lists,
    Ccd,
    Forces,
    Pairs,
    Hessian,
}

/// Sums of times. What happens between two calls is known by these: the linear solve comes after
/// the last Hessian.
#[derive(Default)]
pub(super) struct Book {
    times: [Duration; Work::COUNT],
    since: Duration,
    last: Option<Call>,
    /// Calls outside of steps do not count.
    is_open: bool,
    blocks: usize,
    hessians: usize,
}

/// One that terms can write to.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Book>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// A step begins.
    pub(super) fn open(&mut self) {
        self.last = None;
        self.is_open = true;
        self.since = thread_time();
    }

    /// A step has ended.
    pub(super) fn close(&mut self) {
        self.add(Work::Rest);
        self.is_open = false;
    }

    /// A call begins.
    pub(super) fn enter(&mut self, call: Call) {
        self.add(match (self.last, call) {
            (Some(Call::Pairs), Call::Pairs | Call::Hessian) | (Some(Call::Hessian), Call::Hessian) => {
                Work::Pattern
            }
            (Some(Call::Hessian), _) => Work::Linear,
            _ => Work::Rest,
        });
        self.last = Some(call);
    }

    /// The call that has begun last ends.
    pub(super) fn leave(&mut self, is_contact: bool) {
        let Some(call) = self.last else { return };
        self.add(match (call, is_contact) {
            (Call::Lists, _) => Work::Lists,
            (Call::Ccd, _) => Work::Ccd,
            (Call::Forces, true) => Work::ContactForces,
            (Call::Pairs | Call::Hessian, true) => Work::ContactHessians,
            (Call::Forces, false) => Work::Forces,
            (Call::Pairs | Call::Hessian, false) => Work::Hessians,
        });
    }

    /// Contact has named so many blocks of a Hessian.
    pub(super) fn count(&mut self, blocks: usize) {
        if self.is_open {
            self.blocks += blocks;
            self.hessians += 1;
        }
    }

    fn add(&mut self, work: Work) {
        if !self.is_open {
            return;
        }
        let now = thread_time();
        self.times[work as usize] += now.saturating_sub(self.since);
        self.since = now;
    }

    /// Milliseconds.
    pub(super) fn time(&self, work: Work) -> f64 {
        self.times[work as usize].as_secs_f64() * 1e3
    }

    /// Blocks of contact in the mean Hessian.
    pub(super) fn mean_blocks(&self) -> f64 {
        self.blocks as f64 / self.hessians.max(1) as f64
    }
}
