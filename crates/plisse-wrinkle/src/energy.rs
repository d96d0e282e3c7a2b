//! The wrinkle energy of a face and its derivatives.
