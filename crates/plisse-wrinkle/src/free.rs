//! Faces that are free of wrinkles.
