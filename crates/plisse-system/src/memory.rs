//! What a term keeps of the start of a step.

use std::any::Any;

/// Numbers of a term that stay the same during a step, in whatever form the term likes. See
/// [`Term::remember`](crate::Term::remember).
#[derive(Debug, Default)]
pub struct Memory(Option<Box<dyn Any + Send + Sync>>);

impl Memory {
    /// Takes out what was kept, whose memory can be filled anew; empty if there was none of this
    /// type.
    pub fn take<T: Any + Default>(&mut self) -> T {
        self.0.take().and_then(|kept| kept.downcast::<T>().ok()).map_or_else(T::default, |kept| *kept)
    }

    /// Keeps something in place of what was kept before.
    pub fn keep<T: Any + Send + Sync>(&mut self, value: T) {
        self.0 = Some(Box::new(value));
    }

    /// What was kept, if it was a `T`.
    #[must_use]
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_ref()?.downcast_ref()
    }
}
