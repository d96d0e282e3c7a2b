//! Energies that are not among the choices of a material.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Something of the user's own behind a trait.
pub(super) struct Own<T: ?Sized>(pub(super) Arc<T>);

impl<T: ?Sized> Clone for Own<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Deref for Own<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Traits of energies do not ask for a text.
impl<T: ?Sized> fmt::Debug for Own<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Own")
    }
}
