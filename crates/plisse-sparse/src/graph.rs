//! The graph of the nodes of a pattern.

use crate::pattern::Pattern;

/// Which nodes share a block, both ways, and how many unknowns each node has.
#[derive(Debug)]
pub(crate) struct Graph {
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    weights: Vec<u32>,
}

impl Graph {
    pub(crate) fn of(pattern: &Pattern) -> Self {
        let n = pattern.size();
        let mut starts = Vec::with_capacity(n + 1);
        let mut neighbours = Vec::with_capacity(2 * (pattern.block_count() - n));
        starts.push(0);
        for i in 0..n {
            neighbours.extend(pattern.left(i).iter().map(|(column, _)| *column));
            neighbours.extend(&pattern.rows_of_column(i)[1..]);
            starts.push(neighbours.len() as u32);
        }
        let weights = (0..n).map(|node| pattern.layout().size(node) as u32).collect();
        Self { starts, neighbours, weights }
    }

    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// The neighbours of a node, without itself.
    #[inline]
    pub(crate) fn neighbours(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.neighbours[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    #[inline]
    pub(crate) fn weight(&self, node: u32) -> u32 {
        self.weights[node as usize]
    }
}
