//! Pairs of leaves whose boxes overlap, of one tree or of two.

use rayon::prelude::*;

use crate::colliders::Body;
use crate::tree::{Below, Tree};

/// Where the pairs of nodes are enough to be shared out between threads. The number does not depend
/// on how many threads there are.
const TASKS: usize = 64;

/// Two parts.
pub(crate) type Pair = (u32, u32);

/// A traversal of two trees, or of one against itself.
struct Traversal<'a, B, P> {
    trees: [&'a Tree; 2],
    /// Whether both trees are the same one: then a pair of equal nodes stands for all pairs below.
    itself: bool,
    /// Whether parts of these two bodies may be a pair.
    bodies: B,
    /// Whether these two parts may be a pair.
    parts: P,
}

/// All pairs of a part of `a` and a part of `b` whose boxes overlap and that both filters admit,
/// ascending.
pub(crate) fn between(
    a: &Tree,
    b: &Tree,
    bodies: impl Fn(Body, Body) -> bool + Sync,
    parts: impl Fn(u32, u32) -> bool + Sync,
) -> Vec<Pair> {
    if a.is_empty() || b.is_empty() || !a.bounds(0).overlaps(b.bounds(0)) {
        return Vec::new();
    }
    Traversal { trees: [a, b], itself: false, bodies, parts }.run()
}

/// All pairs of two parts of one tree whose boxes overlap and that both filters admit, the smaller
/// number first, ascending.
pub(crate) fn within(
    tree: &Tree,
    bodies: impl Fn(Body, Body) -> bool + Sync,
    parts: impl Fn(u32, u32) -> bool + Sync,
) -> Vec<Pair> {
    if tree.is_empty() {
        return Vec::new();
    }
    Traversal { trees: [tree, tree], itself: true, bodies, parts }.run()
}

impl<B, P> Traversal<'_, B, P>
where
    B: Fn(Body, Body) -> bool + Sync,
    P: Fn(u32, u32) -> bool + Sync,
{
    fn run(&self) -> Vec<Pair> {
        let mut found = Vec::new();
        // Breadth first, one level after the other, until there is work for all threads.
        let mut tasks = vec![(0, 0)];
        while !tasks.is_empty() && tasks.len() < TASKS {
            let mut next = Vec::new();
            for (a, b) in tasks {
                self.visit(a, b, &mut next, &mut found);
            }
            tasks = next;
        }
        let parts: Vec<Vec<Pair>> = tasks.into_par_iter().map(|task| self.below(task)).collect();
        for part in parts {
            found.extend(part);
        }
        // The order must not depend on the shape of the tree.
        found.sort_unstable();
        found
    }

    /// All pairs below two nodes.
    fn below(&self, task: Pair) -> Vec<Pair> {
        let (mut open, mut found) = (vec![task], Vec::new());
        while let Some((a, b)) = open.pop() {
            self.visit(a, b, &mut open, &mut found);
        }
        found
    }

    /// Replaces two nodes whose boxes overlap by the pairs of their children whose boxes do, or
    /// takes them if both are leaves.
    #[inline]
    fn visit(&self, a: u32, b: u32, open: &mut Vec<Pair>, found: &mut Vec<Pair>) {
        let [first, second] = self.trees;
        if let (Some(one), Some(other)) = (first.body(a), second.body(b))
            && !(self.bodies)(one.min(other), one.max(other))
        {
            return;
        }
        let (above, below) = (first.below(a), second.below(b));
        if self.itself && a == b {
            if let Below::Children(left, right) = above {
                open.extend([(left, left), (right, right)]);
                self.push(left, right, open);
            }
            return;
        }
        match (above, below) {
            (Below::Children(l, r), Below::Children(m, s)) => {
                self.push(l, m, open);
                self.push(l, s, open);
                self.push(r, m, open);
                self.push(r, s, open);
            }
            (Below::Children(l, r), Below::Part(_)) => {
                self.push(l, b, open);
                self.push(r, b, open);
            }
            (Below::Part(_), Below::Children(m, s)) => {
                self.push(a, m, open);
                self.push(a, s, open);
            }
            (Below::Part(p), Below::Part(q)) => {
                let pair = if self.itself { (p.min(q), p.max(q)) } else { (p, q) };
                if (self.parts)(pair.0, pair.1) {
                    found.push(pair);
                }
            }
        }
    }

    #[inline]
    fn push(&self, a: u32, b: u32, open: &mut Vec<Pair>) {
        if self.trees[0].bounds(a).overlaps(self.trees[1].bounds(b)) {
            open.push((a, b));
        }
    }
}
