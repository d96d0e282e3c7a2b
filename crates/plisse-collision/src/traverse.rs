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
        // Breadth first, one level after the other, until there is work for all threads.
        let mut found = Vec::new();
        let mut tasks = vec![(0, 0)];
        loop {
            // Nodes of bodies that may not touch end here, before they are counted as work.
            tasks.retain(|(a, b)| self.may_touch(*a, *b) != Some(false));
            if tasks.is_empty() || tasks.len() >= TASKS {
                break;
            }
            let mut next = Vec::new();
            for (a, b) in tasks {
                self.replace(a, b, &mut next, &mut found);
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
        let (mut open, mut inner, mut found) = (vec![task], Vec::new(), Vec::new());
        while let Some((a, b)) = open.pop() {
            match self.may_touch(a, b) {
                None => self.replace(a, b, &mut open, &mut found),
                Some(false) => {}
                Some(true) => {
                    // From here on the bodies are known, and need not be asked again.
                    inner.push((a, b));
                    while let Some((a, b)) = inner.pop() {
                        self.replace(a, b, &mut inner, &mut found);
                    }
                }
            }
        }
        found
    }

    /// Whether the bodies of two nodes may touch, if each has only one.
    fn may_touch(&self, a: u32, b: u32) -> Option<bool> {
        let (one, other) = (self.trees[0].body(a)?, self.trees[1].body(b)?);
        Some((self.bodies)(one.min(other), one.max(other)))
    }

    /// Replaces two nodes by the pairs of their children whose boxes overlap, or takes them if both
    /// are leaves. Taking leaves at once, without a way through `open`, was slower.
    #[inline(always)]
    fn replace(&self, a: u32, b: u32, open: &mut Vec<Pair>, found: &mut Vec<Pair>) {
        let [first, second] = self.trees;
        match (first.below(a), second.below(b)) {
            (Below::Children(l, r), _) if self.itself && a == b => {
                open.extend([(l, l), (r, r)]);
                self.keep(l, r, open);
            }
            (Below::Children(l, r), Below::Children(m, s)) => {
                self.keep(l, m, open);
                self.keep(l, s, open);
                self.keep(r, m, open);
                self.keep(r, s, open);
            }
            (Below::Children(l, r), Below::Part(_)) => {
                self.keep(l, b, open);
                self.keep(r, b, open);
            }
            (Below::Part(_), Below::Children(m, s)) => {
                self.keep(a, m, open);
                self.keep(a, s, open);
            }
            (Below::Part(p), Below::Part(q)) => {
                let pair = if self.itself { (p.min(q), p.max(q)) } else { (p, q) };
                if !(self.itself && p == q) && (self.parts)(pair.0, pair.1) {
                    found.push(pair);
                }
            }
        }
    }

    #[inline(always)]
    fn keep(&self, a: u32, b: u32, open: &mut Vec<Pair>) {
        if self.trees[0].bounds(a).overlaps(self.trees[1].bounds(b)) {
            open.push((a, b));
        }
    }
}
