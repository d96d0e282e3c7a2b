//! Minimises the wrinkle energy.
