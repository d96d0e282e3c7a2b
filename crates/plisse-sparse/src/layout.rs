//! How the unknowns of a system are grouped into nodes.

use std::ops::Range;

use crate::error::PatternError;

/// The largest number of unknowns of a node.
pub const LARGEST_NODE: usize = 6;

/// How many unknowns each node has: one to six. A vector over the unknowns holds those of the first
/// node, then those of the second, and so on.
///
/// Positions in space have three unknowns, an angle has one, a crossing of two yarns has five.
/// Three for every node is the fast case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    nodes: usize,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Every node has so many unknowns.
    Uniform(u8),
    /// The first unknown of every node, and the end.
    Mixed(Vec<u32>),
}

impl Layout {
    /// Nodes with one unknown each.
    #[must_use]
    pub fn scalars(nodes: usize) -> Self {
        Self { nodes, kind: Kind::Uniform(1) }
    }

    /// Nodes with three unknowns each.
    #[must_use]
    pub fn vectors(nodes: usize) -> Self {
        Self { nodes, kind: Kind::Uniform(3) }
    }

    /// Nodes with these numbers of unknowns.
    ///
    /// # Errors
    /// If a node has none or more than six, or if there are too many for 32-bit indices.
    pub fn mixed(sizes: impl IntoIterator<Item = usize>) -> Result<Self, PatternError> {
        let mut starts = vec![0u32];
        let mut total = 0;
        let mut first = None;
        let mut uniform = true;
        for (node, size) in sizes.into_iter().enumerate() {
            if !(1..=LARGEST_NODE).contains(&size) {
                return Err(PatternError::NodeSize { node, size });
            }
            uniform &= *first.get_or_insert(size) == size;
            total += size;
            starts.push(u32::try_from(total).map_err(|_| PatternError::TooLarge { count: total })?);
        }
        let nodes = starts.len() - 1;
        let kind = if uniform { Kind::Uniform(first.unwrap_or(1) as u8) } else { Kind::Mixed(starts) };
        Ok(Self { nodes, kind })
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Number of unknowns of all nodes.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        self.start(self.nodes)
    }

    /// Number of unknowns of a node.
    #[inline]
    #[must_use]
    pub fn size(&self, node: usize) -> usize {
        match &self.kind {
            Kind::Uniform(size) => usize::from(*size),
            Kind::Mixed(starts) => (starts[node + 1] - starts[node]) as usize,
        }
    }

    /// The first unknown of a node; of the number of nodes, the number of unknowns.
    #[inline]
    #[must_use]
    pub fn start(&self, node: usize) -> usize {
        match &self.kind {
            Kind::Uniform(size) => node * usize::from(*size),
            Kind::Mixed(starts) => starts[node] as usize,
        }
    }

    /// The unknowns of a node.
    #[inline]
    #[must_use]
    pub fn range(&self, node: usize) -> Range<usize> {
        self.start(node)..self.start(node + 1)
    }

    /// The number of unknowns that every node has; none if they differ.
    #[inline]
    #[must_use]
    pub fn uniform(&self) -> Option<usize> {
        match &self.kind {
            Kind::Uniform(size) => Some(usize::from(*size)),
            Kind::Mixed(_) => None,
        }
    }
}
