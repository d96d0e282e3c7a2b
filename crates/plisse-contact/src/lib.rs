//! Barrier contact and friction: cloth with cloth, with itself, with wires and obstacles.
//!
//! | what | items |
//! |---|---|
//! | the term | [`ContactTerm`], [`ContactBuilder`], [`ContactError`] |
//! | how bodies touch | [`Touching`], [`Barrier`], [`Coulomb`] |
//! | obstacles | [`Shape`], [`Kinematic`], [`Near`] |

mod barrier;
mod builder;
mod friction;
mod groups;
mod impact;
mod list;
mod model;
mod neighbours;
mod stencil;
mod tangle;
mod term;
mod touching;
mod weights;

pub use barrier::Barrier;
pub use builder::{ContactBuilder, ContactError, Shape};
pub use friction::Coulomb;
pub use model::{Kinematic, Near};
pub use term::ContactTerm;
pub use touching::Touching;
