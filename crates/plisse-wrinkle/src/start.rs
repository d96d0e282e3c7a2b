//! Where the solver starts.
