//! Curvature of the base surface along wrinkle crests.
