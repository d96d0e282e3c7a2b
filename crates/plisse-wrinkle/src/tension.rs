//! The base mesh: equilibrium of a sheet that cannot bear compression.
