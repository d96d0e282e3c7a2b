//! What a system, a state or an integrator refuses when it is built.

use plisse_core::{FieldError, InvertedPiece};
use plisse_sparse::PatternError;
use thiserror::Error;

/// A set-up that cannot be simulated. The message names the element and the remedy.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// A field has the wrong number of values.
    #[error("{what}: {source}")]
    Length {
        /// Which field.
        what: &'static str,
        /// Expected and found numbers.
        source: FieldError,
    },
    /// A mass is negative, infinite or NaN.
    #[error("{node} has mass {mass} kg; masses must be finite and not negative")]
    BadMass {
        /// The node, with the name of its space.
        node: String,
        /// Its mass.
        mass: f64,
    },
    /// A node that may move has no mass.
    #[error(
        "{node} has no mass: nothing resists its acceleration. Pin it, give it mass (is it in no triangle?), or build the \
         system with `System::massless` for equilibria only"
    )]
    ZeroMass {
        /// The node, with the name of its space.
        node: String,
    },
    /// A system without mass needs something that holds it.
    #[error(
        "the system has neither mass nor pins: its equilibrium is not unique. Pin at least one {space} or give masses"
    )]
    NothingHolds {
        /// What the unknowns live on.
        space: &'static str,
    },
    /// A dynamic integrator was given a system without mass.
    #[error(
        "{integrator} needs masses, but the system was built with `System::massless`; use `System::builder(mass)`"
    )]
    Massless {
        /// The integrator.
        integrator: &'static str,
    },
    /// No term and no pin acts on a node, so that an equilibrium leaves it undetermined.
    #[error(
        "no term acts on {node} and it is not pinned: its equilibrium position is undetermined. Pin or remove it"
    )]
    Loose {
        /// The node, with the name of its space.
        node: String,
    },
    /// A convergence criterion that needs masses was used without.
    #[error("a criterion of force per mass needs masses; use `Criterion::Decrement` for a system without")]
    CriterionNeedsMass,
    /// A force without potential, and a solver that judges steps by energy.
    #[error(
        "the term \"{term}\" has a force that is no derivative of an energy; set `line_search: false`, or use its form with a potential"
    )]
    NoPotential {
        /// Name of the term.
        term: String,
    },
    /// One node was given two different constraints.
    #[error("{node} is constrained twice, as {first} and as {second}; keep one of them")]
    ConflictingPins {
        /// The node, with the name of its space.
        node: String,
        /// The first constraint.
        first: &'static str,
        /// The second constraint.
        second: &'static str,
    },
    /// A constraint on a node that does not exist.
    #[error("{node} is constrained, but there are only {count}")]
    PinOutOfRange {
        /// The node, with the name of its space.
        node: String,
        /// How many there are.
        count: usize,
    },
    /// A direction of a constraint is zero or not finite.
    #[error("the {what} of the constraint on {node} is {value:?}: give a finite vector that is not zero")]
    NoDirection {
        /// Normal or direction.
        what: &'static str,
        /// The node, with the name of its space.
        node: String,
        /// The vector.
        value: [f64; 3],
    },
    /// A term refers to a node that does not exist.
    #[error("term \"{term}\" refers to {node}, but there are only {count}")]
    NodeOutOfRange {
        /// Name of the term.
        term: String,
        /// The node, with the name of its space.
        node: String,
        /// How many there are.
        count: usize,
    },
    /// An unknown of a term has no finite value at the start, or no positive arm.
    #[error(
        "unknown {index} of the term \"{term}\" starts at {start} with an arm of {arm} m: give a finite value and a positive arm"
    )]
    BadOwnUnknown {
        /// Name of the term.
        term: String,
        /// Which of its unknowns.
        index: usize,
        /// Its value at the start.
        start: f64,
        /// Its arm.
        arm: f64,
    },
    /// A term with unknowns or inertia of its own, and an integrator that knows masses of nodes
    /// only.
    #[error(
        "the term \"{term}\" has unknowns or inertia of its own, which {integrator} does not know; backward Euler does"
    )]
    OwnInertia {
        /// Name of the term.
        term: String,
        /// The integrator.
        integrator: &'static str,
    },
    /// A term that shares the unknowns of another, which is not there or comes later.
    #[error(
        "the term \"{term}\" shares the unknowns of \"{with}\", which must come before it, and brings none itself"
    )]
    NothingToShare {
        /// Name of the term.
        term: String,
        /// The name that it asks for.
        with: String,
    },
    /// Two terms have one name, so that reports could not tell them apart.
    #[error("two terms are called \"{name}\"; give each a name of its own")]
    DuplicateTerm {
        /// The name.
        name: String,
    },
    /// A position, velocity, force or parameter is NaN or infinite.
    #[error("{what} of {node} is {value:?}, which is not finite")]
    NotFinite {
        /// Which quantity.
        what: &'static str,
        /// The node, with the name of its space.
        node: String,
        /// The value.
        value: [f64; 3],
    },
    /// A parameter is outside its domain.
    #[error("{what} is {value}; {expected}")]
    BadParameter {
        /// Which parameter.
        what: &'static str,
        /// The value.
        value: f64,
        /// What is accepted.
        expected: &'static str,
    },
    /// A surface that should enclose a volume has a boundary.
    #[error(
        "the surface is open: {edge} has one face. Pressure and volume need a closed surface; close the hole or sew it"
    )]
    OpenSurface {
        /// A boundary edge.
        edge: String,
    },
    /// A closed surface with faces turned inwards.
    #[error("{0}")]
    InsideOut(InvertedPiece),
    /// A matrix too large for 31-bit indices.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}
