//! The solver against other routes to the same minimum.
