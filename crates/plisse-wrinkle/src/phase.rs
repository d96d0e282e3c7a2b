//! The phase of wrinkles from their frequencies.
