//! A binary tree of boxes with one part in every leaf, built once and refitted as parts move.
//!
//! Nodes are stored in preorder: the left child of a node follows it, and every child comes after
//! its parent, so that one loop from the back refits all boxes. Bodies have subtrees of their own
//! below a tree of bodies: they move against each other without spoiling the tree, and a filter of
//! bodies cuts whole subtrees off.

use glam::Vec3A;

use crate::bounds::Bounds;
use crate::colliders::Body;

/// One node of the tree, without its box.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The right child, or a part with the highest bit set.
    to: u32,
    /// The place of the body of everything below, or [`SEVERAL`].
    body: u32,
}

const LEAF: u32 = 1 << 31;
/// Several bodies below; no place in a list.
const SEVERAL: u32 = u32::MAX;

/// What a node holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    Part(u32),
    Children(u32, u32),
}

/// A part while the tree is built.
#[derive(Clone, Copy)]
struct Leaf {
    centre: Vec3A,
    part: u32,
}

/// The tree. Its boxes are empty until the first [`Tree::refit`].
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    bounds: Vec<Bounds>,
    links: Vec<Link>,
    /// Every body once.
    bodies: Vec<Body>,
}

impl Tree {
    /// A tree over parts with these bodies and boxes.
    pub(crate) fn new(parts: impl Iterator<Item = (Body, Bounds)>) -> Self {
        let mut leaves: Vec<(Body, Leaf)> = parts
            .enumerate()
            .map(|(i, (body, bounds))| (body, Leaf { centre: bounds.centre(), part: i as u32 }))
            .collect();
        // Stable: the parts of a body keep their order.
        leaves.sort_by_key(|(body, _)| *body);
        let mut groups: Vec<Group> = leaves
            .chunk_by(|a, b| a.0 == b.0)
            .enumerate()
            .map(|(body, chunk)| {
                let leaves: Vec<Leaf> = chunk.iter().map(|(_, leaf)| *leaf).collect();
                Group { body: body as u32, centre: middle(leaves.iter().map(|leaf| leaf.centre)), leaves }
            })
            .collect();
        let bodies = leaves.chunk_by(|a, b| a.0 == b.0).map(|chunk| chunk[0].0).collect();
        let nodes = (2 * leaves.len()).saturating_sub(1);
        let mut tree = Self { bounds: vec![Bounds::EMPTY; nodes], links: Vec::with_capacity(nodes), bodies };
        if !groups.is_empty() {
            tree.add_groups(&mut groups);
        }
        tree
    }

    /// Whether it has no part.
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Gives every leaf the box of its part, and every other node the box of its children.
    pub(crate) fn refit(&mut self, bounds_of: impl Fn(u32) -> Bounds) {
        for node in (0..self.links.len()).rev() {
            self.bounds[node] = match self.below(node as u32) {
                Below::Part(part) => bounds_of(part),
                Below::Children(left, right) => self.bounds[left as usize].union(self.bounds[right as usize]),
            };
        }
    }

    #[inline]
    pub(crate) fn bounds(&self, node: u32) -> &Bounds {
        &self.bounds[node as usize]
    }

    #[inline]
    pub(crate) fn below(&self, node: u32) -> Below {
        let to = self.links[node as usize].to;
        if to & LEAF == 0 { Below::Children(node + 1, to) } else { Below::Part(to & !LEAF) }
    }

    /// The body of everything below a node, if it is one.
    #[inline]
    pub(crate) fn body(&self, node: u32) -> Option<Body> {
        self.bodies.get(self.links[node as usize].body as usize).copied()
    }

    /// Adds the nodes of these bodies: the two halves along the longest side of their centres.
    fn add_groups(&mut self, groups: &mut [Group]) {
        if let [group] = groups {
            self.add_leaves(&mut group.leaves, group.body);
            return;
        }
        let axis = longest_axis(groups.iter().map(|group| group.centre));
        let half = groups.len() / 2;
        groups.select_nth_unstable_by(half, |a, b| {
            a.centre[axis].total_cmp(&b.centre[axis]).then(a.body.cmp(&b.body))
        });
        let (left, right) = groups.split_at_mut(half);
        self.add_parent(SEVERAL, |tree| tree.add_groups(left), |tree| tree.add_groups(right));
    }

    /// Adds the nodes of these parts of one body: the two halves along the longest side of their
    /// centres. Ties are broken by number, so that the tree is the same on every machine.
    fn add_leaves(&mut self, leaves: &mut [Leaf], body: u32) {
        if let [leaf] = leaves {
            self.links.push(Link { to: leaf.part | LEAF, body });
            return;
        }
        let axis = longest_axis(leaves.iter().map(|leaf| leaf.centre));
        let half = leaves.len() / 2;
        leaves.select_nth_unstable_by(half, |a, b| {
            a.centre[axis].total_cmp(&b.centre[axis]).then(a.part.cmp(&b.part))
        });
        let (left, right) = leaves.split_at_mut(half);
        self.add_parent(body, |tree| tree.add_leaves(left, body), |tree| tree.add_leaves(right, body));
    }

    fn add_parent(&mut self, body: u32, left: impl FnOnce(&mut Self), right: impl FnOnce(&mut Self)) {
        let node = self.links.len();
        self.links.push(Link { to: 0, body });
        left(self);
        self.links[node].to = self.links.len() as u32;
        right(self);
    }
}

/// The parts of a body while the tree is built.
struct Group {
    /// Its place in the list of bodies.
    body: u32,
    centre: Vec3A,
    leaves: Vec<Leaf>,
}

fn range(centres: impl Iterator<Item = Vec3A>) -> (Vec3A, Vec3A) {
    centres.fold((Vec3A::INFINITY, Vec3A::NEG_INFINITY), |(low, high), c| (low.min(c), high.max(c)))
}

fn middle(centres: impl Iterator<Item = Vec3A>) -> Vec3A {
    let (low, high) = range(centres);
    (low + high) * 0.5
}

fn longest_axis(centres: impl Iterator<Item = Vec3A>) -> usize {
    let (low, high) = range(centres);
    let size = high - low;
    // The first of equals. Sizes that are no numbers lose, which costs time but no pair.
    let first = if size.y > size.x { 1 } else { 0 };
    if size.z > size[first] { 2 } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::Frame;
    use glam::DVec3;
    use plisse_core::SplitMix;

    fn boxes(count: usize) -> Vec<(Body, Bounds)> {
        let mut random = SplitMix::new(1);
        let mut number = || random.signed();
        let points: Vec<DVec3> = (0..count).map(|_| DVec3::new(number(), number(), number())).collect();
        let frame = Frame::around(points.iter().copied());
        points.iter().enumerate().map(|(i, x)| (Body(i as u32 % 3), frame.point(*x))).collect()
    }

    #[test]
    fn every_part_is_in_one_leaf_and_in_all_boxes_above() {
        for count in [0, 1, 2, 3, 7, 64, 100] {
            let parts = boxes(count);
            let mut tree = Tree::new(parts.iter().copied());
            tree.refit(|part| parts[part as usize].1);
            let mut seen = vec![0; count];
            let mut open: Vec<(u32, Vec<u32>)> = Vec::new();
            if !tree.is_empty() {
                open.push((0, vec![]));
            }
            while let Some((node, mut above)) = open.pop() {
                above.push(node);
                match tree.below(node) {
                    Below::Children(left, right) => {
                        open.push((left, above.clone()));
                        open.push((right, above));
                    }
                    Below::Part(part) => {
                        seen[part as usize] += 1;
                        let (body, bounds) = parts[part as usize];
                        for node in above {
                            let outer = tree.bounds(node);
                            assert!(outer.low.cmple(bounds.low).all() && bounds.high.cmple(outer.high).all());
                            assert!(tree.body(node).is_none_or(|one| one == body));
                        }
                    }
                }
            }
            assert!(seen.iter().all(|n| *n == 1), "{count}: {seen:?}");
        }
    }
}
