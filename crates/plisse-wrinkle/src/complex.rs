//! The kept faces as a complex: split vertices, spanning trees, generators.
