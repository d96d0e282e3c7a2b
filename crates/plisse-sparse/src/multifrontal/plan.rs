//! What is known of a factor before its numbers: fronts in unknowns, and what goes where.

use std::ops::Range;

use super::dense::Shape;
use super::tree::{NONE, Tree};
use crate::graph::Graph;
use crate::pattern::Pattern;

/// A block of the matrix and its place in the front that eliminates one of its nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Its first number in the matrix.
    pub(super) numbers: u32,
    /// Its first row and column in the front.
    pub(super) row: u32,
    pub(super) column: u32,
    /// Its size as it is stored in the matrix.
    pub(super) rows: u8,
    pub(super) columns: u8,
    /// Whether rows of the matrix are columns of the front.
    pub(super) is_turned: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FrontPlan {
    pub(super) shape: Shape,
    /// Its first pivot among the unknowns in the order of elimination.
    pub(super) first: u32,
    pub(super) parent: u32,
    /// Its rows begin here in [`Plan::map`].
    rows: u32,
    /// Its blocks end here in [`Plan::blocks`].
    blocks: u32,
    /// Its children end here in [`Plan::children`].
    children: u32,
    /// The first front of its subtree.
    pub(super) subtree: u32,
    /// Multiplications of its subtree.
    pub(super) work: f64,
}

/// Fronts in postorder, in unknowns.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) fronts: Vec<FrontPlan>,
    /// The unknowns in the order of their elimination.
    pub(super) order: Vec<u32>,
    /// For each row of each front its row in the front of the parent.
    map: Vec<u32>,
    blocks: Vec<Block>,
    children: Vec<u32>,
}

impl Plan {
    /// The plan for a pattern whose nodes are eliminated in this order, or in one of the same fill.
    pub(crate) fn new(pattern: &Pattern, graph: &Graph, order: &[u32]) -> Self {
        let tree = Tree::new(graph, order);
        let layout = pattern.layout();
        let mut position = vec![0u32; tree.order.len()];
        // The first unknown of each position, and the end.
        let mut starts = vec![0u32; tree.order.len() + 1];
        let mut unknowns = Vec::with_capacity(layout.unknowns());
        for (at, &node) in tree.order.iter().enumerate() {
            position[node as usize] = at as u32;
            unknowns.extend(layout.range(node as usize).map(|unknown| unknown as u32));
            starts[at + 1] = unknowns.len() as u32;
        }
        let size = |at: u32| starts[at as usize + 1] - starts[at as usize];
        let mut plan = Self {
            fronts: Vec::with_capacity(tree.fronts.len()),
            order: unknowns,
            map: Vec::new(),
            blocks: Vec::with_capacity(pattern.block_count()),
            children: Vec::with_capacity(tree.fronts.len()),
        };
        // Where the rows of the front at hand begin in it.
        let mut local = vec![0u32; tree.order.len()];
        let mut families: Vec<Vec<u32>> = vec![Vec::new(); tree.fronts.len()];
        for (k, front) in tree.fronts.iter().enumerate() {
            let last = front.first + front.pivots;
            let first = starts[front.first as usize];
            let mut next = 0;
            let own_rows = tree.rows_of(k);
            for at in (front.first..last).chain(own_rows.iter().copied()) {
                local[at as usize] = next;
                next += size(at);
            }
            let pivots = starts[last as usize] - first;
            let shape = Shape { pivots: pivots as usize, rows: (next - pivots) as usize };
            for at in front.first..last {
                let node = tree.order[at as usize];
                let column = local[at as usize];
                let j = node as usize;
                let mut push = |other: u32, place: usize, is_turned: bool| {
                    let place_of_other = position[other as usize];
                    if place_of_other < at {
                        return;
                    }
                    let (own, other) = (layout.size(j) as u8, layout.size(other as usize) as u8);
                    let (rows, columns) = if is_turned { (own, other) } else { (other, own) };
                    plan.blocks.push(Block {
                        numbers: pattern.numbers_before(place) as u32,
                        row: local[place_of_other as usize],
                        column,
                        rows,
                        columns,
                        is_turned,
                    });
                };
                for &(other, place) in pattern.left(j) {
                    push(other, place as usize, true);
                }
                for entry in pattern.entries(j) {
                    push(pattern.rows()[entry], pattern.place(entry), false);
                }
            }
            let family = std::mem::take(&mut families[k]);
            let subtree = family.first().map_or(k as u32, |child| plan.fronts[*child as usize].subtree);
            let below: f64 = family.iter().map(|child| plan.fronts[*child as usize].work).sum();
            plan.children.extend(&family);
            if front.parent != NONE {
                families[front.parent as usize].push(k as u32);
            }
            plan.fronts.push(FrontPlan {
                shape,
                first,
                parent: front.parent,
                rows: 0,
                blocks: plan.blocks.len() as u32,
                children: plan.children.len() as u32,
                subtree,
                work: below + shape.work(),
            });
        }
        plan.fill_map(&tree, &starts);
        plan
    }

    /// Rows of fronts in their parents. Both lists ascend.
    fn fill_map(&mut self, tree: &Tree, starts: &[u32]) {
        let total = self.fronts.iter().map(|front| front.shape.rows).sum();
        self.map.reserve_exact(total);
        for k in 0..tree.fronts.len() {
            self.fronts[k].rows = self.map.len() as u32;
            let parent = tree.fronts[k].parent;
            if parent == NONE {
                continue;
            }
            let front = &tree.fronts[parent as usize];
            let last = front.first + front.pivots;
            let others = tree.rows_of(parent as usize);
            let (mut at, mut below) = (0, starts[last as usize] - starts[front.first as usize]);
            let size = |row: u32| starts[row as usize + 1] - starts[row as usize];
            for &row in tree.rows_of(k) {
                let first = if row < last {
                    starts[row as usize] - starts[front.first as usize]
                } else {
                    while others[at] < row {
                        below += size(others[at]);
                        at += 1;
                    }
                    below
                };
                self.map.extend(first..first + size(row));
            }
        }
    }

    /// For each row of a front its row in the front of the parent.
    #[inline]
    pub(super) fn map(&self, front: usize) -> &[u32] {
        let FrontPlan { rows, shape, parent, .. } = &self.fronts[front];
        if *parent == NONE { &[] } else { &self.map[*rows as usize..*rows as usize + shape.rows] }
    }

    pub(super) fn blocks(&self, front: usize) -> &[Block] {
        let start = front.checked_sub(1).map_or(0, |before| self.fronts[before].blocks);
        &self.blocks[start as usize..self.fronts[front].blocks as usize]
    }

    pub(super) fn children(&self, front: usize) -> &[u32] {
        let start = front.checked_sub(1).map_or(0, |before| self.fronts[before].children);
        &self.children[start as usize..self.fronts[front].children as usize]
    }

    /// The unknowns that a front eliminates.
    pub(super) fn unknowns(&self, front: usize) -> &[u32] {
        let FrontPlan { first, shape, .. } = &self.fronts[front];
        let range: Range<usize> = *first as usize..*first as usize + shape.pivots;
        &self.order[range]
    }

    /// Numbers in the triangular factor.
    pub(crate) fn factor_len(&self) -> usize {
        let numbers = |shape: Shape| shape.pivots * (shape.pivots + 1) / 2 + shape.pivots * shape.rows;
        self.fronts.iter().map(|front| numbers(front.shape)).sum()
    }

    /// Multiplications of a factorisation.
    pub(crate) fn work(&self) -> f64 {
        self.fronts.iter().map(|front| front.shape.work()).sum()
    }
}
