//! Integer least squares: lattice reduction and enumeration.
