//! Compiles the examples of the README and of the book.
