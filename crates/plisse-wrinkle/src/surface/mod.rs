//! The wrinkled surface: subdivision and displacement.
