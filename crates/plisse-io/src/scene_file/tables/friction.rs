//! Friction of single pairs of bodies.

use crate::scene_file::read::table;
use crate::scene_file::values::NonNegative;

table! {
    /// Friction of two bodies, or of a body and an obstacle, in place of what follows from the
    /// coefficients of each.
    pub struct FrictionTable ("[[friction]]") {
        /// The names of both; the same name twice for a body on itself. Without a name of their own
        /// they are called `cloth 1`, `wires 1`, `obstacle 1` and so on, in the order of the file.
        between: BetweenNames = required,
        /// Coefficient of friction.
        coefficient: NonNegative = required,
    }
}

/// Names of two bodies.
pub type BetweenNames = [String; 2];
