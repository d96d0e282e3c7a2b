//! Which unknowns are eliminated together, and in which order: the tree of fronts.
//!
//! A front is a dense matrix: the pivots that are eliminated in it, and the rows that these are
//! coupled with. What is left of the rows is added to the front of the next of them, the parent.
//! The tree is found on the graph of nodes, in four steps: the elimination tree (Liu 1986), its
//! postorder, chains of nodes with the same rows (supernodes), and the union of small ones with
//! their parents where few zeros are stored for that.

use crate::graph::Graph;

/// No node, no front.
pub(crate) const NONE: u32 = u32::MAX;

/// Pivots and rows of a front, in nodes, and its parent.
#[derive(Debug)]
pub(crate) struct Front {
    /// The first of its pivots among the positions of [`Tree::order`]; they are consecutive.
    pub(crate) first: u32,
    /// Nodes that are eliminated.
    pub(crate) pivots: u32,
    /// Its rows begin here among [`Tree::rows`], and end where those of the next front begin.
    pub(crate) rows: u32,
    pub(crate) parent: u32,
}

/// Fronts in postorder: children before their parents, and each subtree consecutive.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The nodes in the order of their elimination.
    pub(crate) order: Vec<u32>,
    pub(crate) fronts: Vec<Front>,
    /// Rows of all fronts, as positions in the order, ascending within a front.
    pub(crate) rows: Vec<u32>,
}

impl Tree {
    /// The tree of the graph when its nodes are eliminated in this order, which is changed to one
    /// of the same fill.
    pub(crate) fn new(graph: &Graph, order: &[u32]) -> Self {
        let order = postordered(&elimination_tree(graph, order), order);
        let groups = Groups::new(graph, &order);
        groups.into_tree(&order)
    }

    /// The rows of a front.
    pub(crate) fn rows_of(&self, front: usize) -> &[u32] {
        let end = self.fronts.get(front + 1).map_or(self.rows.len(), |next| next.rows as usize);
        &self.rows[self.fronts[front].rows as usize..end]
    }
}

fn ranks(order: &[u32]) -> Vec<u32> {
    let mut rank = vec![0; order.len()];
    for (position, &node) in order.iter().enumerate() {
        rank[node as usize] = position as u32;
    }
    rank
}

/// The parent of each position: the first later position that it is coupled with when all before
/// are eliminated.
fn elimination_tree(graph: &Graph, order: &[u32]) -> Vec<u32> {
    let rank = ranks(order);
    let mut parent = vec![NONE; order.len()];
    // Shortcuts to an ancestor.
    let mut ancestor = vec![NONE; order.len()];
    for (position, &node) in order.iter().enumerate() {
        let position = position as u32;
        for &other in graph.neighbours(node) {
            let mut at = rank[other as usize];
            while at < position {
                let next = std::mem::replace(&mut ancestor[at as usize], position);
                if next == NONE {
                    parent[at as usize] = position;
                }
                if next == NONE || next == position {
                    break;
                }
                at = next;
            }
        }
    }
    parent
}

/// Children of each node of a forest, as linked lists: the first child and the next sibling, in
/// ascending order.
fn children(parent: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let (mut first, mut next) = (vec![NONE; parent.len()], vec![NONE; parent.len()]);
    for child in (0..parent.len()).rev() {
        if parent[child] != NONE {
            let head = &mut first[parent[child] as usize];
            next[child] = std::mem::replace(head, child as u32);
        }
    }
    (first, next)
}

/// The nodes of a forest, children before parents, subtrees consecutive.
fn postorder(parent: &[u32]) -> Vec<u32> {
    let (mut first, next) = children(parent);
    let mut out = Vec::with_capacity(parent.len());
    let mut path = Vec::new();
    for root in (0..parent.len()).filter(|node| parent[*node] == NONE) {
        path.push(root as u32);
        while let Some(&node) = path.last() {
            let child = first[node as usize];
            if child == NONE {
                out.push(node);
                path.pop();
            } else {
                first[node as usize] = next[child as usize];
                path.push(child);
            }
        }
    }
    out
}

/// The order with subtrees consecutive.
fn postordered(parent: &[u32], order: &[u32]) -> Vec<u32> {
    postorder(parent).into_iter().map(|position| order[position as usize]).collect()
}

/// Numbers of a triangle of `pivots` and the rows below it.
fn numbers(pivots: u64, rows: u64) -> u64 {
    pivots * (pivots + 1) / 2 + pivots * rows
}

/// A set of nodes that are eliminated together.
struct Group {
    /// Positions of its own nodes.
    nodes: Vec<u32>,
    /// The rows of all its nodes: positions beyond them, ascending.
    rows: Vec<u32>,
    parent: u32,
    /// In unknowns.
    pivots: u64,
    height: u64,
    /// Numbers that are not zero by the pattern.
    filled: u64,
    /// Taken up by another group.
    is_gone: bool,
}

struct Groups(Vec<Group>);

impl Groups {
    /// Chains of positions with the same rows, then unions.
    fn new(graph: &Graph, order: &[u32]) -> Self {
        let mut groups = Self(Self::chains(graph, order));
        groups.unite();
        groups
    }

    fn chains(graph: &Graph, order: &[u32]) -> Vec<Group> {
        let rank = ranks(order);
        let weight = |position: u32| u64::from(graph.weight(order[position as usize]));
        let mut groups: Vec<Group> = Vec::new();
        // The groups that wait for a position to be eliminated: first and next.
        let mut waiting = vec![NONE; order.len()];
        let mut next: Vec<u32> = Vec::new();
        let mut mark = vec![NONE; order.len()];
        for (position, &node) in order.iter().enumerate() {
            let position = position as u32;
            let later = || graph.neighbours(node).iter().map(|other| rank[*other as usize]);
            let child = waiting[position as usize];
            // The only child, which has just been finished, so that its marks are still there.
            if child != NONE && next[child as usize] == NONE && child as usize + 1 == groups.len() {
                let group = &mut groups[child as usize];
                if later().all(|row| row <= position || mark[row as usize] == child) {
                    group.nodes.push(position);
                    let inside = group.nodes.len() - 1;
                    if let Some(parent) = group.rows.get(inside) {
                        wait(&mut waiting, &mut next, child, *parent);
                    }
                    continue;
                }
            }
            let new = groups.len() as u32;
            let mut rows = Vec::new();
            let mut add = |row: u32| {
                if row > position && mark[row as usize] != new {
                    mark[row as usize] = new;
                    rows.push(row);
                }
            };
            later().for_each(&mut add);
            let mut child = child;
            while child != NONE {
                let group = &mut groups[child as usize];
                group.parent = new;
                let own = group.nodes.len() - 1;
                group.rows.drain(..own);
                group.rows[1..].iter().copied().for_each(&mut add);
                child = next[child as usize];
            }
            rows.sort_unstable();
            next.push(NONE);
            if let Some(parent) = rows.first() {
                wait(&mut waiting, &mut next, new, *parent);
            }
            let nodes = vec![position];
            groups.push(Group { nodes, rows, parent: NONE, pivots: 0, height: 0, filled: 0, is_gone: false });
        }
        for group in &mut groups {
            // Roots still hold their own nodes.
            let last = *group.nodes.last().unwrap_or(&0);
            let own = group.rows.partition_point(|row| *row <= last);
            group.rows.drain(..own);
            group.pivots = group.nodes.iter().map(|node| weight(*node)).sum();
            group.height = group.rows.iter().map(|row| weight(*row)).sum();
            group.filled = numbers(group.pivots, group.height);
        }
        groups
    }

    /// Unites groups with their parents where that stores few zeros: fewer and larger fronts.
    fn unite(&mut self) {
        let groups = &mut self.0;
        let mut families: Vec<Vec<u32>> = vec![Vec::new(); groups.len()];
        for k in 0..groups.len() {
            if groups[k].parent != NONE {
                families[groups[k].parent as usize].push(k as u32);
            }
        }
        for k in 0..groups.len() {
            let mut queue = std::mem::take(&mut families[k]);
            // Those that add the fewest zeros first: the highest fronts.
            queue.sort_by_key(|child| std::cmp::Reverse((groups[*child as usize].height, *child)));
            let mut kept = Vec::new();
            let mut at = 0;
            while at < queue.len() {
                let child = queue[at];
                at += 1;
                let (c, p) = (&groups[child as usize], &groups[k]);
                let (pivots, filled) = (c.pivots + p.pivots, c.filled + p.filled);
                let stored = numbers(pivots, p.height);
                if !pays(pivots, stored, stored - filled) {
                    kept.push(child);
                    continue;
                }
                let taken = std::mem::take(&mut groups[child as usize].nodes);
                groups[child as usize].is_gone = true;
                groups[child as usize].rows = Vec::new();
                let parent = &mut groups[k];
                parent.pivots = pivots;
                parent.filled = filled;
                parent.nodes.extend(taken);
                let grandchildren = std::mem::take(&mut families[child as usize]);
                for &grandchild in &grandchildren {
                    groups[grandchild as usize].parent = k as u32;
                }
                queue.extend(grandchildren);
            }
            families[k] = kept;
            groups[k].nodes.sort_unstable();
        }
    }

    fn into_tree(self, order: &[u32]) -> Tree {
        let mut groups = self.0;
        // Those that are left, with their parents among themselves.
        let mut name = vec![NONE; groups.len()];
        for (left, k) in (0..groups.len()).filter(|k| !groups[*k].is_gone).enumerate() {
            name[k] = left as u32;
        }
        groups.retain(|group| !group.is_gone);
        for group in groups.iter_mut().filter(|group| group.parent != NONE) {
            group.parent = name[group.parent as usize];
        }
        let parents: Vec<u32> = groups.iter().map(|group| group.parent).collect();
        let sequence = postorder(&parents);
        let mut place = vec![0; sequence.len()];
        for (at, &group) in sequence.iter().enumerate() {
            place[group as usize] = at as u32;
        }
        // Positions in the final order.
        let mut moved = vec![0; order.len()];
        let mut new_order = Vec::with_capacity(order.len());
        for &group in &sequence {
            for &position in &groups[group as usize].nodes {
                moved[position as usize] = new_order.len() as u32;
                new_order.push(order[position as usize]);
            }
        }
        let mut fronts = Vec::with_capacity(sequence.len());
        let mut rows = Vec::with_capacity(groups.iter().map(|group| group.rows.len()).sum());
        let mut first = 0;
        for &group in &sequence {
            let group = &groups[group as usize];
            let pivots = group.nodes.len() as u32;
            let parent = if group.parent == NONE { NONE } else { place[group.parent as usize] };
            fronts.push(Front { first, pivots, rows: rows.len() as u32, parent });
            first += pivots;
            let start = rows.len();
            rows.extend(group.rows.iter().map(|row| moved[*row as usize]));
            rows[start..].sort_unstable();
        }
        Tree { order: new_order, fronts, rows }
    }
}

/// Puts a group into the list of those that wait for a position.
fn wait(waiting: &mut [u32], next: &mut [u32], group: u32, position: u32) {
    next[group as usize] = std::mem::replace(&mut waiting[position as usize], group);
}

/// Whether a front of so many pivots may store so many zeros among its numbers. Small fronts cost
/// more than their zeros do.
fn pays(pivots: u64, stored: u64, zeros: u64) -> bool {
    let percent = match pivots {
        0..=12 => return true,
        13..=48 => 35,
        49..=96 => 15,
        _ => 6,
    };
    100 * zeros < percent * stored
}
