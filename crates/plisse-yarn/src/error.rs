//! Why a patch was refused.

use thiserror::Error;

/// A patch that cannot be woven. Yarns and crossings are named.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PatchError {
    /// Nothing at all.
    #[error("the patch has no node; give at least two crossings in each direction")]
    Empty,
    /// A yarn with fewer than two nodes.
    #[error("{yarn} has {nodes} crossing(s); a yarn needs at least two")]
    Short {
        /// The yarn.
        yarn: String,
        /// How many nodes it has.
        nodes: usize,
    },
    /// A number of a material that makes no sense.
    #[error("{what} of {yarn} is {value}; {expected}")]
    Material {
        /// The yarn.
        yarn: String,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is possible.
        expected: &'static str,
    },
    /// A number of the contacts between yarns that makes no sense.
    #[error("{what} between yarns is {value}; {expected}")]
    Contacts {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is possible.
        expected: &'static str,
    },
    /// Arc lengths that do not increase.
    #[error(
        "between {crossing} and the next one, {yarn} has {spacing} m of material; give a positive spacing"
    )]
    Spacing {
        /// The yarn.
        yarn: String,
        /// The first of the two crossings.
        crossing: String,
        /// Material between them, m.
        spacing: f64,
    },
    /// Yarns that are too thick for their spacing.
    #[error(
        "between {crossing} and the next one, {yarn} has {spacing} m of material, but the yarns there need {needed} m: \
         give them smaller radii or a larger spacing"
    )]
    Overlap {
        /// The yarn.
        yarn: String,
        /// The first of the two crossings.
        crossing: String,
        /// Material between them, m.
        spacing: f64,
        /// Sum of the radii, m.
        needed: f64,
    },
    /// A yarn that names a node that is not there.
    #[error("{yarn} passes node {node}, but there are {count}")]
    NoNode {
        /// The yarn.
        yarn: String,
        /// The node.
        node: u32,
        /// How many there are.
        count: usize,
    },
    /// A yarn whose lists have different lengths.
    #[error("{yarn} has {nodes} nodes and {lengths} arc lengths; give one for each")]
    Lengths {
        /// The yarn.
        yarn: String,
        /// Number of nodes.
        nodes: usize,
        /// Number of arc lengths.
        lengths: usize,
    },
    /// A node that three yarns pass, or that two of one family pass.
    #[error("node {node} is on {first} and on {second}; one warp yarn and one weft yarn can cross there")]
    Crowded {
        /// The node.
        node: u32,
        /// A yarn.
        first: String,
        /// Another yarn, or the same.
        second: String,
    },
    /// A node that no yarn passes.
    #[error("no yarn passes node {node}; leave it out")]
    LooseNode {
        /// The node.
        node: u32,
    },
    /// A position that is not finite.
    #[error("node {node} is at {value:?}; give finite numbers")]
    NotFinite {
        /// The node.
        node: u32,
        /// Its position.
        value: [f64; 3],
    },
    /// A list of sides that does not fit.
    #[error("{found} nodes have a yarn on top, but there are {expected}; give one for each")]
    Sides {
        /// Number of nodes.
        expected: usize,
        /// Number of entries.
        found: usize,
    },
    /// Quads whose edges cannot be two families of yarns.
    #[error(
        "quad {quad} turns {yarn} into the other family: its edges cannot be warp and weft; \
         use quads that form a grid locally"
    )]
    Families {
        /// The quad.
        quad: usize,
        /// The yarn.
        yarn: String,
    },
    /// A node where quads meet that do not form a grid.
    #[error(
        "at node {node} yarns branch: {count} edges of one family meet; at most four quads may meet there"
    )]
    Branch {
        /// The node.
        node: u32,
        /// Edges of one family.
        count: usize,
    },
    /// A weave without an entry.
    #[error("the weave has no entry; give at least one row with one column")]
    EmptyWeave,
    /// A weave with rows of different lengths.
    #[error(
        "row {row} of the weave has {found} entries, the first one has {expected}; give all the same number"
    )]
    RaggedWeave {
        /// The row.
        row: usize,
        /// Entries of the first row.
        expected: usize,
        /// Entries of this one.
        found: usize,
    },
    /// A yarn that does not interlace.
    #[error("{yarn} of the weave stays on one side, so that nothing holds it; let it change sides")]
    LooseYarn {
        /// The yarn.
        yarn: String,
    },
    /// A twill that is none.
    #[error("a twill over {over} and under {under} is none; give two positive numbers with a sum up to 64")]
    Twill {
        /// Floats on top.
        over: usize,
        /// Floats below.
        under: usize,
    },
    /// A satin that is none.
    #[error(
        "a satin of {size} with step {step} is none; give a size from 5 to 64 and a step from 2 to size - 2 without \
         a common divisor"
    )]
    Satin {
        /// Yarns of the repeat.
        size: usize,
        /// Step from row to row.
        step: usize,
    },
}
